//! `scorewise compare`: compares two forecasts of the same rows, with a bootstrap interval for the difference of their scores.

use std::path::Path;

use scorewise::sweep::PairedScores;
use scorewise::{Real, Score};
use scorewise_report::document::Document;
use scorewise_report::evaluation::{
    ComparedMeasure, ComparedThresholds, Estimate, ForecastComparison, ForecastPair, ProbabilityComparison,
};

use crate::costs::{CostOptions, cost_rows};
use crate::counts::{self, COUNTS, CountComparisonRequest, CountOptions};
use crate::formatting::{aligned_table, format_number, format_optional, pretty_json};
use crate::outcome::{Failure, Outcome, note};
use crate::predictions::{self, BinaryPredictions, FloatValues, PROBABILITY, PredictionColumns};
use crate::report_output::ReportArguments;
use crate::report_output::provenance::provenance;
use crate::resampling::{self, BootstrapOptions};
use crate::score::{note_missing_class, parse_threshold};
use crate::temporal::TemporalOptions;

/// Arguments of `scorewise compare`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise compare new.csv old.csv --score tss                          two files with the same rows\n  \
    scorewise compare p.csv --probability model,persistence --score csi    two columns of one file\n  \
    scorewise compare a.csv b.csv --thresholds 0.31,0.5                    each at its own threshold\n  \
    scorewise compare a.csv b.csv --temporal value                         errors near an event or alarm count less\n  \
    scorewise compare a.csv b.csv --cost-fp 5 --cost-fn amount             costs that differ from row to row, read from the first table\n  \
    scorewise compare a.csv b.csv --tuned                                  each at its best threshold, found anew in each bootstrap replicate\n  \
    scorewise compare a.csv b.csv --counts --on date --score csi           confusion matrices of each day")]
pub struct CompareArguments {
    /// Table with a label and a probability in each row; - for standard input
    first: String,
    /// Second table with the same rows in the same order; not needed if --probability names two columns of the first table
    second: Option<String>,
    #[command(flatten)]
    columns: PredictionColumns,
    /// Probability columns of the two forecasts, or one name for both files [default: probability]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    probability: Vec<String>,
    /// Score to compare, by name or formula [default: the score of the first forecast's model if its table names one, else tss]
    #[arg(long)]
    score: Option<String>,
    /// Threshold of both forecasts; a row is predicted positive above it [default: the threshold of each model if its table has one, else 0.5]
    #[arg(long, value_parser = parse_threshold)]
    threshold: Option<f64>,
    /// Thresholds of the first and the second forecast
    #[arg(long, value_name = "FIRST,SECOND", value_delimiter = ',', value_parser = parse_threshold, conflicts_with_all = ["threshold", "counts"])]
    thresholds: Vec<f64>,
    /// Compare each forecast at its own best threshold
    #[arg(long, conflicts_with_all = ["threshold", "thresholds", "counts"])]
    tuned: bool,
    #[command(flatten)]
    counts: CountOptions,
    /// Columns that identify a row in both tables, such as a date and a station [default: rows are paired in their order]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "counts", help_heading = COUNTS)]
    on: Vec<String>,
    #[command(flatten)]
    resampling: BootstrapOptions,
    #[command(flatten)]
    temporal: TemporalOptions,
    #[command(flatten)]
    costs: CostOptions,
    #[command(flatten)]
    report: ReportArguments,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Compares two forecasts from one or two tables.
pub fn run(arguments: &CompareArguments) -> Result<Outcome, Failure> {
    arguments.temporal.refuse("counts", arguments.counts.counts)?;
    arguments.costs.refuse("counts", arguments.counts.counts)?;
    arguments.costs.refuse("temporal", arguments.temporal.temporal.is_some())?;
    arguments.costs.refuse("score", arguments.score.is_some())?;
    if arguments.counts.counts {
        return run_counts(arguments);
    }
    arguments.temporal.refuse("report", arguments.report.is_requested())?;
    arguments.temporal.refuse("tuned", arguments.tuned)?;
    let (predictions, names) = read_forecasts(arguments)?;
    let score = predictions.score(arguments.score.as_deref())?;
    if predictions.costs.is_none() {
        score.caution().iter().for_each(note);
    }
    let files: Vec<&Path> =
        [Some(&arguments.first), arguments.second.as_ref()].into_iter().flatten().map(Path::new).collect();
    let report_files = arguments.report.open(&files)?;
    let (labels, weights) = (predictions.labels.as_slice(), predictions.weights.as_ref());
    let comparison = match predictions.forecasts.as_slice() {
        [_, _] if predictions.costs.is_some() => compare_costs(arguments, names, &predictions)?,
        [FloatValues::F32(first), FloatValues::F32(second)] => {
            let weights = weights.map(|numbers| match numbers {
                FloatValues::F32(weights) => weights.as_slice(),
                FloatValues::F64(_) => &[],
            });
            let pair = ForecastPair { names, forecasts: [first, second], labels, weights };
            compare(arguments, pair, &score, &predictions)?
        }
        [FloatValues::F64(first), FloatValues::F64(second)] => {
            let weights = weights.map(|numbers| match numbers {
                FloatValues::F64(weights) => weights.as_slice(),
                FloatValues::F32(_) => &[],
            });
            let pair = ForecastPair { names, forecasts: [first, second], labels, weights };
            compare(arguments, pair, &score, &predictions)?
        }
        _ => return Err(Failure("two forecasts are needed".into())),
    };
    note_missing_class(&predictions);
    let summary = comparison.summary();
    arguments.report.write(report_files, || {
        let mut data = predictions.data_source();
        if let Some(second) = &arguments.second {
            data.name = format!("{}, {second}", data.name);
        }
        let provenance = provenance(Some(arguments.resampling.seed), vec![data]);
        let page = Some(comparison.page());
        Ok(Document { comparison: page, ..Document::new(provenance, summary.clone().into()) })
    })?;
    Ok(if arguments.json { pretty_json(&summary) } else { comparison_text(&comparison) }.into())
}

/// Compares two tables of counts.
fn run_counts(arguments: &CompareArguments) -> Result<Outcome, Failure> {
    let Some(second) = &arguments.second else {
        return Err(Failure("there is only one table of counts\nhint: name two files".into()));
    };
    let score = Score::parse(arguments.score.as_deref().unwrap_or("tss"))?;
    score.caution().iter().for_each(note);
    counts::compare(&CountComparisonRequest {
        files: [&arguments.first, second],
        options: &arguments.counts,
        on: &arguments.on,
        score: &score,
        resampling: &arguments.resampling,
        report: &arguments.report,
        json: arguments.json,
    })
}

/// Reads the two forecasts; returns the forecasts and their names.
fn read_forecasts(arguments: &CompareArguments) -> Result<(BinaryPredictions, [String; 2]), Failure> {
    let default_column = || String::from(PROBABILITY);
    let columns_of_first = PredictionColumns {
        group: arguments.temporal.group_column(&arguments.resampling)?.map(str::to_owned),
        costs: arguments.costs.sources(),
        ..arguments.columns.clone()
    };
    match (&arguments.second, arguments.probability.as_slice()) {
        (None, [first, second]) => {
            let columns = [first.clone(), second.clone()];
            Ok((predictions::read(&arguments.first, &columns_of_first, &columns)?.into_binary()?, columns))
        }
        (Some(second), names) if names.len() <= 2 => {
            let column = |k: usize| names.get(k).or(names.first()).cloned().into_iter().collect::<Vec<_>>();
            let mut predictions = predictions::read(&arguments.first, &columns_of_first, &column(0))?.into_binary()?;
            // Both files have the same rows, so weights and costs are read from the first file only.
            let columns = PredictionColumns { weight: None, costs: None, ..arguments.columns.clone() };
            let others = predictions::read(second, &columns, &column(1))?.into_binary()?;
            predictions.join(others)?;
            let names = if arguments.first == *second {
                [0, 1].map(|k| column(k).pop().unwrap_or_else(default_column)).to_vec()
            } else {
                vec![arguments.first.clone(), second.clone()]
            };
            Ok((predictions, [names[0].clone(), names[1].clone()]))
        }
        (None, _) => Err(Failure(
            "there is only one forecast\nhint: name two files, or two columns of one file: --probability FIRST,SECOND"
                .into(),
        )),
        (Some(_), names) => Err(Failure(format!(
            "--probability names {} columns for two files\nhint: give one name for both files, or one for each",
            names.len()
        ))),
    }
}

/// Compares the two forecasts. With `--tuned`, each is evaluated at its own best threshold. Otherwise each is evaluated at the threshold that the
/// user gave for it, else at the threshold of its model, else at 0.5.
fn compare<R: Real>(
    arguments: &CompareArguments,
    pair: ForecastPair<'_, R>,
    score: &Score,
    predictions: &BinaryPredictions,
) -> Result<ForecastComparison, Failure> {
    let thresholds = compared_thresholds(arguments, predictions)?;
    if thresholds == ComparedThresholds::Best {
        resampling::note_approximate_interval(pair.labels.len());
    }
    let groups = predictions.groups.as_deref();
    let bootstrap = arguments.temporal.bootstrap(&arguments.resampling, groups);
    let (series, with_curves) = (arguments.temporal.series(groups), arguments.report.is_requested());
    Ok(ForecastComparison::new(pair, score, thresholds, series.as_ref(), &bootstrap, with_curves)?)
}

/// The thresholds at which the forecasts are compared.
fn compared_thresholds(
    arguments: &CompareArguments,
    predictions: &BinaryPredictions,
) -> Result<ComparedThresholds, Failure> {
    Ok(match (arguments.tuned, arguments.thresholds.as_slice()) {
        (true, _) => ComparedThresholds::Best,
        (false, []) => {
            let threshold = |forecast: usize| arguments.threshold.or(predictions.thresholds[forecast]).unwrap_or(0.5);
            ComparedThresholds::Given([threshold(0), threshold(1)])
        }
        (false, &[first, second]) => ComparedThresholds::Given([first, second]),
        (false, other) => {
            return Err(Failure(format!("--thresholds needs two numbers (FIRST,SECOND), not {}", other.len())));
        }
    })
}

/// Compares the mean costs of the two forecasts.
fn compare_costs(
    arguments: &CompareArguments,
    names: [String; 2],
    predictions: &BinaryPredictions,
) -> Result<ForecastComparison, Failure> {
    let (Some(first), Some(second)) = (cost_rows(predictions, 0)?, cost_rows(predictions, 1)?) else {
        return Err(Failure("both --cost-fp and --cost-fn are needed".into()));
    };
    let at = compared_thresholds(arguments, predictions)?;
    let bootstrap = arguments.resampling.bootstrap(predictions.groups.as_deref());
    Ok(ForecastComparison::of_costs(names, [&first, &second], at, predictions.positives(), &bootstrap)?)
}

/// A table as text that compares the probabilities of both forecasts by the Brier score, the log-loss and other measures.
fn probabilities_text(probabilities: &ProbabilityComparison) -> String {
    let row = |(name, measure): (&str, ComparedMeasure)| {
        let end = |end: Option<f64>| end.map_or(String::new(), format_number);
        let Estimate { value, low, high } = measure.difference;
        let values = [measure.first.value, measure.second.value, value].map(format_optional);
        [vec![name.to_owned()], values.to_vec(), vec![end(low), end(high)]].concat()
    };
    let rows: Vec<Vec<String>> = probabilities.named().into_iter().map(row).collect();
    format!("\n{}", aligned_table(&["probabilities", "first", "second", "difference", "low", "high"], &rows))
}

/// The comparison as text for the terminal.
pub fn comparison_text(comparison: &ForecastComparison) -> String {
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
    // Forecasts that are known only by their counts have no threshold, so the column of thresholds is left out.
    let columns = if thresholds.iter().all(Option::is_none) { 4 } else { 5 };
    let rows = rows.map(|row| row[..columns].to_vec());
    let table = aligned_table(&["forecast", score.name(), "low", "high", "threshold"][..columns], &rows);
    let [first, second] = comparison.shares().map(|share| format!("{:.1}", 100.0 * share));
    let probabilities = comparison.probabilities().map_or(String::new(), probabilities_text);
    format!(
        "{table}\nThe first forecast is better in {first} % of {} bootstrap replicates, the second in {second} %.\n{}\n{probabilities}",
        comparison.replicates(),
        comparison.verdict()
    )
}
