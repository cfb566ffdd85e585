//! `scorewise compare`: which of two forecasts of the same events is better, and how sure is that?

use std::path::Path;

use scorewise::sweep::PairedScores;
use scorewise::{Real, Score};
use scorewise_report::document::Document;
use scorewise_report::evaluation::{ComparedThresholds, ForecastComparison, ForecastPair};

use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{self, Columns, Numbers, PROBABILITY, Predictions};
use crate::resampling;
use crate::score::{note_classes, threshold};
use crate::showing;
use crate::showing::provenance::provenance;
use crate::table::{aligned, format_number, format_optional, pretty};

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
    showing: showing::ReportFiles,
    /// One JSON document
    #[arg(long)]
    json: bool,
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
    let (labels, weights) = (predictions.labels.as_slice(), predictions.weights.as_ref());
    let comparison = match predictions.forecasts.as_slice() {
        [Numbers::F32(first), Numbers::F32(second)] => {
            let weights = weights.map(|numbers| match numbers {
                Numbers::F32(weights) => weights.as_slice(),
                Numbers::F64(_) => &[],
            });
            let pair = ForecastPair { names, forecasts: [first, second], labels, weights };
            compare(arguments, pair, &score, own)?
        }
        [Numbers::F64(first), Numbers::F64(second)] => {
            let weights = weights.map(|numbers| match numbers {
                Numbers::F64(weights) => weights.as_slice(),
                Numbers::F32(_) => &[],
            });
            let pair = ForecastPair { names, forecasts: [first, second], labels, weights };
            compare(arguments, pair, &score, own)?
        }
        _ => return Err(Failure("two forecasts are needed to compare".into())),
    };
    note_classes(&predictions);
    let summary = comparison.summary();
    arguments.showing.write(places, || {
        let mut both = predictions.data();
        if let Some(second) = &arguments.second {
            both.name = format!("{}, {second}", both.name);
        }
        let provenance = provenance(Some(arguments.resampling.seed), vec![both]);
        let page = Some(comparison.page());
        Ok(Document { comparison: page, ..Document::new(provenance, summary.clone().into()) })
    })?;
    Ok(if arguments.json { pretty(&summary) } else { text(&comparison) }.into())
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
    pair: ForecastPair<'_, R>,
    score: &Score,
    own: Thresholds,
) -> Result<ForecastComparison, Failure> {
    let at = match (arguments.tuned, arguments.thresholds.as_slice()) {
        (true, _) => ComparedThresholds::Best,
        (false, []) => ComparedThresholds::Given(own.map(|own| arguments.threshold.or(own).unwrap_or(0.5))),
        (false, &[first, second]) => ComparedThresholds::Given([first, second]),
        (false, other) => {
            return Err(Failure(format!("--thresholds has {} numbers; write two: FIRST,SECOND", other.len())));
        }
    };
    if at == ComparedThresholds::Best {
        resampling::note_runs(pair.labels.len());
    }
    let (bootstrap, with_curves) = (arguments.resampling.bootstrap(), arguments.showing.are_used());
    Ok(ForecastComparison::new(pair, score, at, &bootstrap, with_curves)?)
}

fn text(comparison: &ForecastComparison) -> String {
    let ends = |interval: Option<(f64, f64)>| {
        interval.map_or([String::new(), String::new()], |(low, high)| [format_number(low), format_number(high)])
    };
    let row = |name: &str, value: Option<f64>, interval, threshold: Option<f64>| {
        let [low, high] = ends(interval);
        vec![name.to_string(), format_optional(value), low, high, threshold.map_or(String::new(), format_number)]
    };
    let ForecastComparison { score, names, thresholds, values, paired, .. } = comparison;
    let PairedScores { first, second, difference, .. } = paired;
    let rows = [
        row(&names[0], values[0], first.interval(0.95), thresholds[0]),
        row(&names[1], values[1], second.interval(0.95), thresholds[1]),
        row("difference", comparison.difference(), difference.interval(0.95), None),
    ];
    let table = aligned(&["forecast", score.name(), "low", "high", "threshold"], &rows);
    let [first, second] = comparison.shares().map(|share| format!("{:.1}", 100.0 * share));
    format!(
        "{table}\nThe first is better in {first} %, the second in {second} % of {} replicates.\n{}\n",
        comparison.replicates(),
        comparison.verdict()
    )
}
