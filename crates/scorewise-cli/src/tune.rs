//! `scorewise tune`: the exact best threshold for a score, with its interval.

use scorewise::Score;
use scorewise::sweep::{Condition, confusion};
use scorewise_report::document::{self, Document};
use scorewise_report::evaluation::{
    ClassThreshold, ForecastOptions, ModelThreshold, ThresholdBootstrap, TuneSummary, Tuning, TuningSummary, forecast,
    tune_classes, undefined_everywhere, unmet_conditions,
};

use crate::formatting::{
    aligned_table, confusion_table, format_number, format_optional, format_threshold_range, format_with_interval,
    key_value_lines, pretty_json,
};
use crate::outcome::{Failure, Outcome, note};
use crate::plot::TerminalPlot;
use crate::predictions::{
    BinaryPredictions, ClassPredictions, ForecastArguments, PredictionTable, one_versus_rest_score, with_rows,
};
use crate::report_output::ReportArguments;
use crate::report_output::provenance::provenance;
use crate::resampling::{self, BootstrapOptions};

/// Arguments of `scorewise tune`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise tune predictions.csv --score f1\n  \
    scorewise tune p.csv --score tss --subject-to \"precision >= 0.3\"\n  \
    scorewise tune p.csv --score \"cost(fp=1, fn=10)\" --json\n\n\
    Exit code 1: no threshold satisfies the conditions.")]
pub struct TuneArguments {
    #[command(flatten)]
    forecast: ForecastArguments,
    /// Score to optimise, by name or formula [default: the model's score if the table has it, else tss]
    #[arg(long)]
    score: Option<String>,
    /// Conditions that the threshold must satisfy, such as "precision >= 0.3"
    #[arg(long, value_name = "CONDITIONS")]
    subject_to: Vec<String>,
    #[command(flatten)]
    resampling: BootstrapOptions,
    #[command(flatten)]
    report: ReportArguments,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The best threshold of a forecast, and the data for the report.
struct TunedForecast {
    tuning: Tuning,
    /// Data of the forecast for the report; `None` if no report is requested.
    forecast: Option<document::ForecastEvaluation>,
    /// The model's own threshold, if the table of predictions has it.
    model: Option<ModelThreshold>,
}

/// Finds the best threshold for a table of predictions.
pub fn run(arguments: &TuneArguments) -> Result<Outcome, Failure> {
    let mut conditions = Vec::new();
    for text in &arguments.subject_to {
        conditions.extend(Condition::parse(text)?);
    }
    let predictions = match arguments.forecast.read()? {
        PredictionTable::Binary(predictions) => predictions,
        PredictionTable::Classes(predictions) => return run_multiclass(arguments, &predictions, &conditions),
    };
    let score = predictions.score(arguments.score.as_deref())?;
    score.caution().iter().for_each(note);
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    let bootstrap = arguments.resampling.bootstrap();
    let tuned = tune(arguments, &predictions, &score, &conditions)?;
    let summary = match &tuned {
        Ok(tuned) => tuned.tuning.summary(&score, &conditions, &bootstrap, tuned.model),
        Err(_) => TuningSummary { score: score.name().into(), ..TuningSummary::default() },
    };
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
        let document = Document::new(provenance, TuneSummary::Binary(summary.clone()).into());
        Ok(match &tuned {
            Ok(tuned) => Document { forecast: tuned.forecast.clone(), ..document },
            Err(sentence) => Document { notes: vec![sentence.clone()], ..document },
        })
    })?;
    let json = arguments.json.then(|| pretty_json(&summary));
    Ok(match tuned {
        Ok(tuned) => json.unwrap_or_else(|| tuning_text(&score, &conditions, &tuned)).into(),
        Err(sentence) => Outcome { text: json.unwrap_or_default(), unmet: Some(sentence) },
    })
}

/// Returns the best threshold, or a sentence that says which conditions cannot be met.
fn tune(
    arguments: &TuneArguments,
    predictions: &BinaryPredictions,
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
        resampling::note_approximate_interval(rows.len());
        let mut report_forecast = None;
        if arguments.report.is_requested() {
            let classes = predictions.classes();
            let mut options = ForecastOptions { score, conditions, classes, ..ForecastOptions::default() };
            options.set_best(&tuning.best, &tuning.distribution);
            options.set_intervals(&rows, &bootstrap)?;
            report_forecast = Some(forecast(&tuning.sweep, &options));
        }
        // The score at the model's threshold is computed with `confusion`, as in `score` and `train`, so that all three commands print the same
        // number. The sweep adds the weights in another order, so its score could differ in the last digit.
        let mut model = None;
        if let Some(threshold) = predictions.thresholds[0] {
            model = Some(ModelThreshold { threshold, value: score.checked(&confusion(&rows, threshold)?) });
        }
        Ok(Ok(TunedForecast { tuning, forecast: report_forecast, model }))
    })
}

/// Finds the best threshold of each class against all others, for more than two classes.
fn run_multiclass(
    arguments: &TuneArguments,
    predictions: &ClassPredictions,
    conditions: &[Condition],
) -> Result<Outcome, Failure> {
    let score = match (&arguments.score, &predictions.score) {
        (Some(text), _) => Score::parse(text)?,
        (None, Some(text)) => one_versus_rest_score(text)?,
        (None, None) => Score::parse("f1")?,
    };
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    let bootstrap = arguments.resampling.bootstrap();
    let ClassPredictions { classes, labels, probabilities, weights, .. } = predictions;
    let summary = tune_classes(classes, labels, probabilities, weights.as_deref(), &score, conditions, &bootstrap)?;
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
        Ok(Document::new(provenance, TuneSummary::Classes(summary.clone()).into()))
    })?;
    if arguments.json {
        return Ok(pretty_json(&summary).into());
    }
    let row = |class: &ClassThreshold| {
        let bootstrap = class.bootstrap.as_ref();
        let threshold = class.threshold.map_or("none".into(), |threshold| {
            format_with_interval(threshold, bootstrap.and_then(ThresholdBootstrap::threshold_interval))
        });
        let value = class.value.map_or(format_optional(None), |value| {
            format_with_interval(value, bootstrap.and_then(ThresholdBootstrap::value_interval))
        });
        vec![class.class.clone(), class.rows.to_string(), threshold, value]
    };
    let rows: Vec<Vec<String>> = summary.classes.iter().map(row).collect();
    let head = key_value_lines(&[
        ("score", format!("{}, each class against all others", score.name())),
        ("subject to", summary.subject_to.join(" and ")),
    ]);
    Ok(format!("{head}\n{}", aligned_table(&["class", "rows", "threshold", "value"], &rows)).into())
}

fn tuning_text(score: &Score, conditions: &[Condition], TunedForecast { tuning, model, .. }: &TunedForecast) -> String {
    let Tuning { sweep, best, distribution } = tuning;
    let conditions: Vec<_> = conditions.iter().map(Condition::text).collect();
    let others = if best.intervals > 1 {
        format!("; {} intervals of thresholds are equally good", best.intervals)
    } else {
        String::new()
    };
    let is_prediction_of_1 = sweep.step(1.0).thresholds.0 == 1.0;
    let (low, high) = best.interval;
    let interval = format_threshold_range(low, high, high == 1.0 && !is_prediction_of_1);
    let threshold_interval = distribution.threshold.interval(0.95);
    let lines = key_value_lines(&[
        ("score", score.name().to_string()),
        ("subject to", conditions.join(" and ")),
        ("threshold", format_with_interval(best.threshold, threshold_interval)),
        ("interval", format!("{interval}{others}")),
        ("value", format_with_interval(best.value, distribution.value.interval(0.95))),
        (
            "model",
            model.map_or(String::new(), |ModelThreshold { threshold, value }| {
                format!("value {1} at the model's own threshold {0}", format_number(threshold), format_optional(value))
            }),
        ),
    ]);
    let plot = TerminalPlot::new(sweep, score, best.threshold, threshold_interval);
    format!("{lines}\n{}\n{}", confusion_table(&best.confusion), plot.text(score))
}
