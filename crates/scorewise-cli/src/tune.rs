//! `scorewise tune`: the exact best threshold of a score, and how certain it is.

use scorewise::Score;
use scorewise::sweep::{Condition, confusion};
use scorewise_report::document::{self, Document};
use scorewise_report::evaluation::{
    ClassThreshold, ForecastOptions, ModelThreshold, ThresholdBootstrap, TuneSummary, Tuning, TuningSummary, forecast,
    tune_classes, undefined_everywhere, unmet_conditions,
};

use crate::outcome::{Failure, Outcome, note};
use crate::plot::Plot;
use crate::predictions::{ClassPredictions, Forecast, Forecasts, Predictions, class_score, with_rows};
use crate::resampling;
use crate::showing;
use crate::showing::provenance::provenance;
use crate::table::{
    aligned, facts, format_interval_ends, format_number, format_optional, matrix, pretty, with_interval,
};

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
    showing: showing::ReportFiles,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// The best threshold of the predictions, and the data of its page.
struct TunedForecast {
    tuning: Tuning,
    forecast: Option<document::ForecastEvaluation>,
    model: Option<ModelThreshold>,
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
    let bootstrap = arguments.resampling.bootstrap();
    let found = find(arguments, &predictions, &score, &conditions)?;
    let summary = match &found {
        Ok(found) => found.tuning.summary(&score, &conditions, &bootstrap, found.model),
        Err(_) => TuningSummary { score: score.name().into(), ..TuningSummary::default() },
    };
    arguments.showing.write(places, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data()]);
        let document = Document::new(provenance, TuneSummary::Binary(summary.clone()).into());
        Ok(match &found {
            Ok(found) => Document { forecast: found.forecast.clone(), ..document },
            Err(sentence) => Document { notes: vec![sentence.clone()], ..document },
        })
    })?;
    let json = arguments.json.then(|| pretty(&summary));
    Ok(match found {
        Ok(found) => json.unwrap_or_else(|| text(&score, &conditions, &found)).into(),
        Err(sentence) => Outcome { text: json.unwrap_or_default(), unmet: Some(sentence) },
    })
}

/// The best threshold, or a sentence that says which conditions cannot be met.
fn find(
    arguments: &Arguments,
    predictions: &Predictions,
    score: &Score,
    conditions: &[Condition],
) -> Result<Result<TunedForecast, String>, Failure> {
    let bootstrap = arguments.resampling.bootstrap();
    with_rows!(predictions, 0, rows => {
        let tuning = match Tuning::new(&rows, score, conditions, &bootstrap)? {
            Ok(tuning) => tuning,
            Err(sweep) => {
                return match unmet_conditions(&sweep, score, conditions) {
                    Some(sentence) => Ok(Err(sentence)),
                    None => Err(undefined_everywhere(&arguments.forecast.predictions, &sweep, score).into()),
                };
            }
        };
        resampling::note_runs(rows.len());
        let mut forecast_of_page = None;
        if arguments.showing.are_used() {
            let classes = predictions.classes();
            let mut options = ForecastOptions { score, conditions, classes, ..ForecastOptions::default() };
            options.set_best(&tuning.best, &tuning.distribution);
            options.set_intervals(&rows, &bootstrap)?;
            forecast_of_page = Some(forecast(&tuning.sweep, &options));
        }
        // Counted by the same function as in `score` and `train`: sums in another order may differ in their last digit.
        let mut model = None;
        if let Some(threshold) = predictions.model.threshold {
            model = Some(ModelThreshold { threshold, value: score.checked(&confusion(&rows, threshold)?) });
        }
        Ok(Ok(TunedForecast { tuning, forecast: forecast_of_page, model }))
    })
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
    let ClassPredictions { classes, labels, probabilities, weights, .. } = predictions;
    let summary = tune_classes(classes, labels, probabilities, weights.as_deref(), &score, conditions, &bootstrap)?;
    arguments.showing.write(places, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data()]);
        Ok(Document::new(provenance, TuneSummary::Classes(summary.clone()).into()))
    })?;
    if arguments.json {
        return Ok(pretty(&summary).into());
    }
    let row = |class: &ClassThreshold| {
        let bootstrap = class.bootstrap.as_ref();
        let threshold = class.threshold.map_or("none".into(), |threshold| {
            with_interval(threshold, bootstrap.and_then(ThresholdBootstrap::threshold_interval))
        });
        let value = class.value.map_or(format_optional(None), |value| {
            with_interval(value, bootstrap.and_then(ThresholdBootstrap::value_interval))
        });
        vec![class.class.clone(), class.rows.to_string(), threshold, value]
    };
    let rows: Vec<Vec<String>> = summary.classes.iter().map(row).collect();
    let head = facts(&[
        ("score", format!("{}, of each class against all others", score.name())),
        ("subject to", summary.subject_to.join(" and ")),
    ]);
    Ok(format!("{head}\n{}", aligned(&["class", "rows", "threshold", "value"], &rows)).into())
}

fn text(score: &Score, conditions: &[Condition], TunedForecast { tuning, model, .. }: &TunedForecast) -> String {
    let Tuning { sweep, best, distribution } = tuning;
    let conditions: Vec<_> = conditions.iter().map(Condition::text).collect();
    let end = if best.interval.1 == 1.0 { "to" } else { "up to but not" };
    let others = if best.intervals > 1 { format!("; {} intervals are as good", best.intervals) } else { String::new() };
    let (low, high) = format_interval_ends(best.interval.0, best.interval.1);
    let threshold_interval = distribution.threshold.interval(0.95);
    let lines = facts(&[
        ("score", score.name().to_string()),
        ("subject to", conditions.join(" and ")),
        ("threshold", with_interval(best.threshold, threshold_interval)),
        ("interval", format!("{low} {end} {high}{others}")),
        ("value", with_interval(best.value, distribution.value.interval(0.95))),
        (
            "model",
            model.map_or(String::new(), |ModelThreshold { threshold, value }| {
                format!("its own threshold {} has {}", format_number(threshold), format_optional(value))
            }),
        ),
    ]);
    let plot = Plot::new(sweep, score, best.threshold, threshold_interval);
    format!("{lines}\n{}\n{}", matrix(&best.confusion), plot.text(score))
}
