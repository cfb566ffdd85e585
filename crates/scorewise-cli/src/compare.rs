//! `scorewise compare`: which of two forecasts of the same events is better, and how sure is that?

use std::path::Path;

use scorewise::sweep::{Paired, confusion, sweep};
use scorewise::{Direction, Probabilities, Real, Rows, Score};
use scorewise_report::document::{self, Document, Kind, Point};
use serde_json::{Value, json};

use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{self, Columns, Numbers, PROBABILITY, Predictions};
use crate::resampling::{self, EXACT_ROWS, RUNS};
use crate::score::{note_classes, threshold};
use crate::showing;
use crate::showing::forecast::points;
use crate::showing::provenance::{data, provenance};
use crate::table::{aligned, pretty, short, shown};

/// What `scorewise compare` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise compare new.csv old.csv --score tss                          two files of the same rows\n  \
    scorewise compare p.csv --probability model,persistence --score csi    two columns of one file\n  \
    scorewise compare a.csv b.csv --thresholds 0.31,0.5                    each at its own threshold\n  \
    scorewise compare a.csv b.csv --tuned                                  each at its best, found anew in each replicate")]
pub struct Arguments {
    /// A table with a label and a probability in each row; - for standard input
    first: String,
    /// A second one with the same rows in the same order; or else name two columns of the first
    second: Option<String>,
    #[command(flatten)]
    columns: Columns,
    /// The column of each forecast, or one name for both files [default: probability]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    probability: Vec<String>,
    /// The score to compare, by name or formula [default: the first model's, where the predictions have it, else tss]
    #[arg(long)]
    score: Option<String>,
    /// Above it a forecast counts as positive [default: each model's own, where the predictions have it, else 0.5]
    #[arg(long, value_parser = threshold)]
    threshold: Option<f64>,
    /// A threshold for each forecast
    #[arg(long, value_name = "FIRST,SECOND", value_delimiter = ',', value_parser = threshold, conflicts_with = "threshold")]
    thresholds: Vec<f64>,
    /// Each forecast at its best threshold
    #[arg(long, conflicts_with_all = ["threshold", "thresholds"])]
    tuned: bool,
    #[command(flatten)]
    resampling: resampling::Options,
    #[command(flatten)]
    showing: showing::Looking,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// Two forecasts and their difference.
struct Comparison {
    names: [String; 2],
    thresholds: [Option<f64>; 2],
    values: [Option<f64>; 2],
    paired: Paired,
    replicates: usize,
    over: Option<[(Vec<Point>, Option<f64>); 2]>,
}

/// The threshold of each forecast, where its model has one.
type Thresholds = [Option<f64>; 2];

/// Compares the forecasts of one table or two.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let (predictions, names, own) = read(arguments)?;
    let score = predictions.score(arguments.score.as_deref())?;
    score.caution().iter().for_each(note);
    let files: Vec<&Path> =
        [Some(&arguments.first), arguments.second.as_ref()].into_iter().flatten().map(Path::new).collect();
    let places = arguments.showing.places(&files)?;
    let found = match predictions.forecasts.as_slice() {
        [Numbers::Narrow(first), Numbers::Narrow(second)] => {
            let weights = predictions.weights.as_ref().map(|numbers| match numbers {
                Numbers::Narrow(weights) => weights.as_slice(),
                Numbers::Wide(_) => &[],
            });
            compare(arguments, &score, &predictions.labels, weights, [first, second], own)?
        }
        [Numbers::Wide(first), Numbers::Wide(second)] => {
            let weights = predictions.weights.as_ref().map(|numbers| match numbers {
                Numbers::Wide(weights) => weights.as_slice(),
                Numbers::Narrow(_) => &[],
            });
            compare(arguments, &score, &predictions.labels, weights, [first, second], own)?
        }
        _ => return Err(Failure("two forecasts are needed to compare".into())),
    };
    note_classes(&predictions);
    let found = Comparison { names, ..found };
    let document = found.json(arguments, &score, &predictions);
    arguments.showing.write(places, || {
        let mut both = data(&predictions);
        if let Some(second) = &arguments.second {
            both.name = format!("{}, {second}", both.name);
        }
        let provenance = provenance(Some(arguments.resampling.seed), vec![both]);
        let comparison = Some(found.view(&score));
        Ok(Document { comparison, ..Document::new(Kind::Compare, provenance, document.clone()) })
    })?;
    Ok(if arguments.json { pretty(&document) } else { found.text(&score) }.into())
}

/// The two forecasts, and what to call them.
fn read(arguments: &Arguments) -> Result<(Predictions, [String; 2], Thresholds), Failure> {
    let usual = || String::from(PROBABILITY);
    match (&arguments.second, arguments.probability.as_slice()) {
        (None, [first, second]) => {
            let columns = [first.clone(), second.clone()];
            let predictions = predictions::read(&arguments.first, &arguments.columns, &columns)?.binary()?;
            // The threshold of a model is that of its own column.
            let own = columns.each_ref().map(|name| predictions.model.threshold.filter(|_| name == PROBABILITY));
            Ok((predictions, columns, own))
        }
        (Some(second), names) if names.len() <= 2 => {
            let column = |k: usize| names.get(k).or(names.first()).cloned().into_iter().collect::<Vec<_>>();
            let mut predictions = predictions::read(&arguments.first, &arguments.columns, &column(0))?.binary()?;
            // The rows are the same, so are their weights.
            let columns = Columns { weight: None, ..arguments.columns.clone() };
            let others = predictions::read(second, &columns, &column(1))?.binary()?;
            let own = [predictions.model.threshold, others.model.threshold];
            predictions.join(others)?;
            let names = if arguments.first == *second {
                [0, 1].map(|k| column(k).pop().unwrap_or_else(usual)).to_vec()
            } else {
                vec![arguments.first.clone(), second.clone()]
            };
            Ok((predictions, [names[0].clone(), names[1].clone()], own))
        }
        (None, _) => Err(Failure(
            "one forecast cannot be compared\nhint: give two files, or two columns of one: --probability FIRST,SECOND"
                .into(),
        )),
        (Some(_), names) => Err(Failure(format!(
            "--probability names {} columns for two files\nhint: one name for both, or one for each",
            names.len()
        ))),
    }
}

fn compare<R: Real>(
    arguments: &Arguments,
    score: &Score,
    labels: &[bool],
    weights: Option<&[R]>,
    forecasts: [&[R]; 2],
    own: Thresholds,
) -> Result<Comparison, Failure> {
    let rows_of = |forecast: usize| -> Result<Rows<'_, Probabilities<'_, R>>, scorewise::Error> {
        let rows = Rows::new(Probabilities(forecasts[forecast]), labels)?;
        weights.map_or(Ok(rows), |weights| rows.weighted(weights))
    };
    let rows = [rows_of(0)?, rows_of(1)?];
    let bootstrap = arguments.resampling.bootstrap();
    let second = Probabilities(forecasts[1]);
    let (mut thresholds, mut values) = ([None; 2], [None; 2]);
    let paired = if arguments.tuned {
        for (k, rows) in rows.iter().enumerate() {
            let best = sweep(rows)?.best(score);
            (thresholds[k], values[k]) =
                (best.as_ref().map(|best| best.threshold), best.as_ref().map(|best| best.value));
        }
        let at_most = if labels.len() <= EXACT_ROWS { usize::MAX } else { RUNS };
        if at_most == RUNS {
            resampling::note_runs(labels.len());
        }
        bootstrap.paired_best(&rows[0], second, score, &[], at_most)?
    } else {
        let given = match arguments.thresholds.as_slice() {
            [] => own.map(|own| arguments.threshold.or(own).unwrap_or(0.5)),
            &[first, second] => [first, second],
            other => return Err(Failure(format!("--thresholds has {} numbers; write two: FIRST,SECOND", other.len()))),
        };
        for (k, rows) in rows.iter().enumerate() {
            (thresholds[k], values[k]) = (Some(given[k]), score.checked(&confusion(rows, given[k])?));
        }
        let scores = std::slice::from_ref(score);
        let mut paired = bootstrap.paired(&rows[0], second, (given[0], given[1]), scores)?;
        paired.swap_remove(0)
    };
    let over_thresholds = |rows| -> Result<(Vec<Point>, Option<f64>), scorewise::Error> {
        let marks: Vec<f64> = thresholds.iter().flatten().copied().collect();
        let sweep = sweep(rows)?;
        Ok((points(&sweep, &marks), sweep.areas().roc))
    };
    let over = match arguments.showing.are_used() {
        true => Some([over_thresholds(&rows[0])?, over_thresholds(&rows[1])?]),
        false => None,
    };
    let names = Default::default();
    Ok(Comparison { names, thresholds, values, paired, replicates: bootstrap.replicates, over })
}

impl Comparison {
    fn difference(&self) -> Option<f64> {
        Some(self.values[0]? - self.values[1]?)
    }

    /// Which one is better beyond doubt: the whole interval of the difference lies on one side.
    fn better(&self, score: &Score) -> Option<usize> {
        let (low, high) = self.paired.difference.interval(0.95)?;
        match score.direction() {
            Direction::Higher if low > 0.0 => Some(0),
            Direction::Higher if high < 0.0 => Some(1),
            Direction::Lower if high < 0.0 => Some(0),
            Direction::Lower if low > 0.0 => Some(1),
            // Where a value is aimed at, the sign of the difference says nothing: the replicates say which is nearer.
            Direction::Toward(_) => {
                let most = 0.975 * self.paired.difference.values().len() as f64;
                [self.paired.first_better, self.paired.second_better].iter().position(|better| *better as f64 > most)
            }
            _ => None,
        }
    }

    fn share(&self, better: usize) -> f64 {
        better as f64 / self.replicates as f64
    }

    fn verdict(&self, score: &Score) -> String {
        let name = score.name();
        if self.difference().is_none() {
            return format!("{name} is undefined for at least one of them: they cannot be compared by it.");
        }
        let words = match score.direction() {
            Direction::Higher => "higher is better",
            Direction::Lower => "lower is better",
            Direction::Toward(_) => "nearer to its ideal is better",
        };
        match self.better(score) {
            Some(better) => {
                format!("{} is better by {name} ({words}); the rows leave little doubt.", self.names[better])
            }
            None => format!("By {name} ({words}) the rows do not tell which is better."),
        }
    }

    /// For a page.
    fn view(&self, score: &Score) -> document::Comparison {
        let mut differences = self.paired.difference.values().to_vec();
        differences.sort_by(f64::total_cmp);
        document::Comparison {
            score: score.name().into(),
            names: self.names.clone(),
            thresholds: self.thresholds,
            areas: self.over.as_ref().map_or([None; 2], |over| over.each_ref().map(|(_, area)| *area)),
            points: self
                .over
                .as_ref()
                .map_or_else(Default::default, |over| over.each_ref().map(|(points, _)| points.clone())),
            verdict: self.verdict(score),
            difference: self.difference(),
            interval: self.paired.difference.interval(0.95),
            differences,
        }
    }

    fn text(&self, score: &Score) -> String {
        let ends = |interval: Option<(f64, f64)>| {
            interval.map_or([String::new(), String::new()], |(low, high)| [short(low), short(high)])
        };
        let row = |name: &str, value: Option<f64>, interval, threshold: Option<f64>| {
            let [low, high] = ends(interval);
            vec![name.to_string(), shown(value), low, high, threshold.map_or(String::new(), short)]
        };
        let Paired { first, second, difference, first_better, second_better } = &self.paired;
        let rows = [
            row(&self.names[0], self.values[0], first.interval(0.95), self.thresholds[0]),
            row(&self.names[1], self.values[1], second.interval(0.95), self.thresholds[1]),
            row("difference", self.difference(), difference.interval(0.95), None),
        ];
        let table = aligned(&["forecast", score.name(), "low", "high", "threshold"], &rows);
        let share = |better: usize| format!("{:.1}", 100.0 * self.share(better));
        format!(
            "{table}\nThe first is better in {} %, the second in {} % of {} replicates.\n{}\n",
            share(*first_better),
            share(*second_better),
            self.replicates,
            self.verdict(score)
        )
    }

    fn json(&self, arguments: &Arguments, score: &Score, predictions: &Predictions) -> Value {
        let spread = |value: Option<f64>, interval: Option<(f64, f64)>| json!({ "value": value, "low": interval.map(|ends| ends.0), "high": interval.map(|ends| ends.1) });
        let Paired { first, second, difference, first_better, second_better } = &self.paired;
        let forecast = |k: usize, interval, better: usize| {
            let mut document = json!({ "name": self.names[k], "threshold": self.thresholds[k] });
            let Value::Object(members) = spread(self.values[k], interval) else { return document };
            members.into_iter().for_each(|(name, value)| document[name] = value);
            document["better"] = json!(self.share(better));
            document
        };
        json!({
            "score": score.name(),
            "rows": predictions.labels.len(),
            "positives": predictions.positives(),
            "first": forecast(0, first.interval(0.95), *first_better),
            "second": forecast(1, second.interval(0.95), *second_better),
            "difference": spread(self.difference(), difference.interval(0.95)),
            "better": self.better(score).map(|better| &self.names[better]),
            "replicates": self.replicates,
            "seed": arguments.resampling.seed,
        })
    }
}
