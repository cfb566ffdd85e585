//! `scorewise tune`: the exact best threshold of a score, and how sure it is.

use scorewise::sweep::{Best, BestDistribution, Bootstrap, Condition, Sweep, confusion, sweep};
use scorewise::{Probabilities, Real, Rows, Score};
use scorewise_report::document::{self, Document, Kind};
use scorewise_train::{Error, Place};
use serde_json::{Value, json};

use crate::outcome::{Failure, Outcome, note};
use crate::plot::Plot;
use crate::predictions::{ClassPredictions, Forecast, Forecasts, Predictions, class_score, with_rows};
use crate::resampling::{self, EXACT_ROWS, RUNS};
use crate::showing;
use crate::showing::forecast::{Question, forecast};
use crate::showing::provenance::{class_data, data, provenance};
use crate::table::{aligned, confusion_json, ends, facts, matrix, pretty, short, shown, with_interval};

/// What `scorewise tune` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise tune predictions.csv --score f1\n  \
    scorewise tune p.csv --score tss --subject-to \"precision >= 0.3\"\n  \
    scorewise tune p.csv --score \"cost(fp=1, fn=10)\" --json\n\n\
    Exit code 1: no threshold satisfies the conditions.")]
pub struct Arguments {
    #[command(flatten)]
    forecast: Forecast,
    /// The score to be best at, by name or formula [default: the model's, where the predictions have it, else tss]
    #[arg(long)]
    score: Option<String>,
    /// Conditions that the threshold must satisfy
    #[arg(long, value_name = "CONDITIONS")]
    subject_to: Vec<String>,
    #[command(flatten)]
    resampling: resampling::Options,
    #[command(flatten)]
    showing: showing::Looking,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// The best threshold, and what there is to look at.
struct Tuned {
    best: Best,
    spread: BestDistribution,
    plot: Plot,
    forecast: Option<document::Forecast>,
    /// The model's own threshold and the score there.
    model: Option<(f64, Option<f64>)>,
}

/// The best threshold of the predictions of a table.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut conditions = Vec::new();
    for text in &arguments.subject_to {
        conditions.extend(Condition::parse(text)?);
    }
    let predictions = match arguments.forecast.read()? {
        Forecasts::Binary(predictions) => predictions,
        Forecasts::Classes(predictions) => return run_classes(arguments, &predictions, &conditions),
    };
    let score = predictions.score(arguments.score.as_deref())?;
    score.caution().iter().for_each(note);
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    let tuned = with_rows!(&predictions, 0, rows => tune(arguments, &predictions, &rows, &score, &conditions)?);
    match tuned {
        Ok(tuned) => {
            let document = json(&score, &conditions, &tuned, &arguments.resampling.bootstrap());
            arguments.showing.write(places, || {
                let provenance = provenance(Some(arguments.resampling.seed), vec![data(&predictions)]);
                Ok(Document {
                    forecast: tuned.forecast.clone(),
                    ..Document::new(Kind::Tune, provenance, document.clone())
                })
            })?;
            Ok(if arguments.json { pretty(&document) } else { text(&score, &conditions, &tuned) }.into())
        }
        Err(sentence) => {
            let empty = json!({
                "score": score.name(), "threshold": null, "interval": null, "value": null, "confusion": null, "bootstrap": null,
            });
            arguments.showing.write(places, || {
                let provenance = provenance(Some(arguments.resampling.seed), vec![data(&predictions)]);
                let notes = vec![sentence.clone()];
                Ok(Document { notes, ..Document::new(Kind::Tune, provenance, empty.clone()) })
            })?;
            let text = if arguments.json { pretty(&empty) } else { String::new() };
            Ok(Outcome { text, unmet: Some(sentence) })
        }
    }
}

/// What was found, or why no threshold satisfies the conditions.
fn tune<R: Real>(
    arguments: &Arguments,
    predictions: &Predictions,
    rows: &Rows<'_, Probabilities<'_, R>>,
    score: &Score,
    conditions: &[Condition],
) -> Result<Result<Tuned, String>, Failure> {
    let sweep = sweep(rows)?;
    let Some(best) = sweep.best_subject_to(score, conditions) else {
        return match unmet(&sweep, score, conditions) {
            Some(sentence) => Ok(Err(sentence)),
            None => Err(undefined(&arguments.forecast.predictions, &sweep, score).into()),
        };
    };
    if rows.len() > EXACT_ROWS {
        resampling::note_runs(rows.len());
    }
    let spread = spread(rows, &sweep, score, conditions, &arguments.resampling.bootstrap())?;
    let plot = Plot::new(&sweep, score, best.threshold, spread.threshold.interval(0.95));
    let forecast = match arguments.showing.are_used() {
        true => {
            let mut question = Question { score, conditions, classes: predictions.classes(), ..Question::default() };
            question.tuned(&best, &spread);
            question.judge(rows, &arguments.resampling.bootstrap())?;
            Some(forecast(&sweep, &question))
        }
        false => None,
    };
    // By the function that `score` and `train` count with: sums in another order may differ in their last digit.
    let at = |threshold: f64| Ok((threshold, score.checked(&confusion(rows, threshold)?)));
    let model =
        predictions.model.threshold.map(at).transpose().map_err(|error: scorewise::Error| Failure::from(error))?;
    Ok(Ok(Tuned { best, spread, plot, forecast, model }))
}

/// The best threshold of each of more than two classes against all others.
fn run_classes(
    arguments: &Arguments,
    predictions: &ClassPredictions,
    conditions: &[Condition],
) -> Result<Outcome, Failure> {
    let score = match (&arguments.score, &predictions.score) {
        (Some(text), _) => Score::parse(text)?,
        (None, Some(text)) => class_score(text)?,
        (None, None) => Score::parse("f1")?,
    };
    let places = arguments.showing.places(&[arguments.forecast.predictions.as_ref()])?;
    let bootstrap = arguments.resampling.bootstrap();
    let (mut lines, mut classes) = (Vec::new(), Vec::new());
    for (class, name) in predictions.classes.iter().enumerate() {
        let labels: Vec<bool> = predictions.labels.iter().map(|label| *label as usize == class).collect();
        let rows = Rows::new(Probabilities(predictions.probabilities[class].as_slice()), &labels)?;
        let rows = match &predictions.weights {
            Some(weights) => rows.weighted(weights)?,
            None => rows,
        };
        let sweep = sweep(&rows)?;
        let positives = labels.iter().filter(|label| **label).count();
        let Some(best) = sweep.best_subject_to(&score, conditions) else {
            lines.push(vec![name.clone(), positives.to_string(), "none".into(), shown(None)]);
            classes.push(json!({ "class": name, "threshold": null, "interval": null, "value": null, "confusion": null, "bootstrap": null }));
            continue;
        };
        let spread = spread(&rows, &sweep, &score, conditions, &bootstrap)?;
        lines.push(vec![
            name.clone(),
            positives.to_string(),
            with_interval(best.threshold, spread.threshold.interval(0.95)),
            with_interval(best.value, spread.value.interval(0.95)),
        ]);
        let mut document = json!({ "class": name });
        let Value::Object(found) = best_json(&score, conditions, &best) else { continue };
        found
            .into_iter()
            .filter(|(key, _)| key != "score" && key != "subject_to")
            .for_each(|(key, value)| document[key] = value);
        document["bootstrap"] = spread_json(&spread, &bootstrap);
        classes.push(document);
    }
    let conditions: Vec<_> = conditions.iter().map(Condition::text).collect();
    let document = json!({ "score": score.name(), "classes": classes, "subject_to": conditions });
    arguments.showing.write(places, || {
        let provenance = provenance(Some(bootstrap.seed), vec![class_data(predictions)]);
        Ok(Document::new(Kind::Tune, provenance, document.clone()))
    })?;
    if arguments.json {
        return Ok(pretty(&document).into());
    }
    let head = facts(&[
        ("score", format!("{}, of each class against all others", score.name())),
        ("subject to", conditions.join(" and ")),
    ]);
    Ok(format!("{head}\n{}", aligned(&["class", "rows", "threshold", "value"], &lines)).into())
}

/// The best threshold of each replicate: of all rows, or of runs of them where there are very many.
pub fn spread<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    sweep: &Sweep,
    score: &Score,
    conditions: &[Condition],
    bootstrap: &Bootstrap,
) -> Result<BestDistribution, scorewise::Error> {
    match rows.len() {
        0..=EXACT_ROWS => bootstrap.best(rows, score, conditions),
        _ => bootstrap.best_of_runs(rows, &sweep.runs(RUNS), score, conditions),
    }
}

/// Which condition is out of reach and what comes nearest to it; nothing where the conditions are not what is in the way.
pub fn unmet(sweep: &Sweep, score: &Score, conditions: &[Condition]) -> Option<String> {
    sweep.best(score)?;
    let alone = |condition: &&Condition| sweep.best_subject_to(score, std::slice::from_ref(condition)).is_none();
    let Some(condition) = conditions.iter().find(alone) else {
        let all: Vec<_> = conditions.iter().map(|condition| format!("`{}`", condition.text())).collect();
        return Some(format!("no threshold satisfies {} together; each alone can be satisfied", all.join(" and ")));
    };
    let left = condition.text().split(['<', '>', '=', '!', '≤', '≥', '≠']).next().unwrap_or("").trim();
    let nearest = sweep.nearest(condition);
    let reached = nearest.as_ref().and_then(|best| condition.sides(&best.confusion)[0]);
    Some(match (nearest, reached) {
        (Some(best), Some(value)) => format!(
            "no threshold satisfies `{}`; the nearest, {}, has {left} = {}",
            condition.text(),
            short(best.threshold),
            short(value)
        ),
        _ => format!("no threshold satisfies `{}`: {left} is undefined at every threshold", condition.text()),
    })
}

/// Why a score has no best threshold.
pub fn undefined(file: &str, sweep: &Sweep, score: &Score) -> Error {
    let counts = sweep.counts();
    let class = if counts.positives == 0.0 {
        "no row is positive, and "
    } else if counts.negatives == 0.0 {
        "no row is negative, and "
    } else {
        ""
    };
    let when = score.formula().undefined_when();
    let hint = if when.is_empty() { String::new() } else { format!("it is undefined where {}", when.join(", or ")) };
    Error::data(Place::file(file), format!("{class}`{}` is undefined at every threshold", score.name()), hint)
}

fn text(score: &Score, conditions: &[Condition], tuned: &Tuned) -> String {
    let best = &tuned.best;
    let conditions: Vec<_> = conditions.iter().map(Condition::text).collect();
    let end = if best.interval.1 == 1.0 { "to" } else { "up to but not" };
    let others = if best.intervals > 1 { format!("; {} intervals are as good", best.intervals) } else { String::new() };
    let (low, high) = ends(best.interval.0, best.interval.1);
    let lines = facts(&[
        ("score", score.name().to_string()),
        ("subject to", conditions.join(" and ")),
        ("threshold", with_interval(best.threshold, tuned.spread.threshold.interval(0.95))),
        ("interval", format!("{low} {end} {high}{others}")),
        ("value", with_interval(best.value, tuned.spread.value.interval(0.95))),
        (
            "model",
            tuned.model.map_or(String::new(), |(threshold, value)| {
                format!("its own threshold {} has {}", short(threshold), shown(value))
            }),
        ),
    ]);
    format!("{lines}\n{}\n{}", matrix(&best.confusion), tuned.plot.text(score))
}

/// The best threshold by the names that stay.
pub fn best_json(score: &Score, conditions: &[Condition], best: &Best) -> Value {
    json!({
        "score": score.name(),
        "threshold": best.threshold,
        "interval": [best.interval.0, best.interval.1],
        "value": best.value,
        "confusion": confusion_json(&best.confusion),
        "subject_to": conditions.iter().map(Condition::text).collect::<Vec<_>>(),
    })
}

/// How sure it is, by the names that stay.
pub fn spread_json(spread: &BestDistribution, bootstrap: &Bootstrap) -> Value {
    let both = |interval: Option<(f64, f64)>| (interval.map(|ends| ends.0), interval.map(|ends| ends.1));
    let (low, high) = both(spread.threshold.interval(0.95));
    let (value_low, value_high) = both(spread.value.interval(0.95));
    json!({
        "low": low,
        "high": high,
        "value": { "low": value_low, "high": value_high },
        "replicates": bootstrap.replicates,
        "seed": bootstrap.seed,
    })
}

fn json(score: &Score, conditions: &[Condition], tuned: &Tuned, bootstrap: &Bootstrap) -> Value {
    let mut document = best_json(score, conditions, &tuned.best);
    // The conditions stay last.
    let conditions = document.as_object_mut().and_then(|fields| fields.shift_remove("subject_to"));
    document["bootstrap"] = spread_json(&tuned.spread, bootstrap);
    document["subject_to"] = conditions.unwrap_or_default();
    if let Some((threshold, value)) = tuned.model {
        document["model"] = json!({ "threshold": threshold, "value": value });
    }
    document
}
