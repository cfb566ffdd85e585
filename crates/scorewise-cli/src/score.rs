//! `scorewise score`: scores of a forecast at a threshold, with intervals.

use scorewise::Score;
use scorewise::sweep::{ProbabilityMeasure, Sweep, sweep};
use scorewise_report::document::{AlarmTimeline, Document};
use scorewise_report::evaluation::{
    ClassSummary, CostSummary, Estimate, Evaluation, ForecastOptions, NamedEstimate, ProbabilitySummary, ScoreSummary,
    common_class_scores, forecast, forecast_of_series, net_benefit_intervals,
};
use scorewise_train::Error;
use scorewise_train::plan::multi_score;

use crate::costs::{CostOptions, cost_lines, cost_rows};
use crate::counts::{self, COUNTS, CountOptions, CountScoreRequest};
use crate::formatting::{
    aligned_table, class_summary_text, confusion_table, format_number, format_optional, key_value_lines, pretty_json,
};
use crate::outcome::{Failure, Outcome, note};
use crate::plot::TerminalPlot;
use crate::predictions::{BinaryPredictions, ClassPredictions, ForecastArguments, PredictionTable, with_rows};
use crate::report_output::ReportArguments;
use crate::report_output::provenance::provenance;
use crate::resampling::BootstrapOptions;
use crate::scores::direction_text;
use crate::temporal::{TemporalOptions, timing_text};

/// Arguments of `scorewise score`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise score predictions.csv                              all scores at the model's threshold, or at 0.5\n  \
    scorewise predict model.scorewise new.csv | scorewise score -\n  \
    scorewise score p.parquet --label y --probability p_hat --threshold 0.31\n  \
    scorewise score p.csv --positive storm --score tss,csi       two scores, labels as strings\n  \
    scorewise score hourly.csv --resample blocks --json          time series\n  \
    scorewise score patients.csv --resample group:patient        several rows for each patient\n  \
    scorewise score hourly.csv --temporal value --score csi      errors near an event or alarm count less\n  \
    scorewise score p.csv --cost-fp 5 --cost-fn amount           a false alarm costs 5, a miss the amount of the row\n  \
    scorewise score counts.csv --counts --by station --score csi  confusion matrices of days and stations, summed")]
pub struct ScoreArguments {
    #[command(flatten)]
    forecast: ForecastArguments,
    /// Threshold; a row is predicted positive above it [default: the threshold of the model if the table has one, else 0.5]
    #[arg(long, value_parser = parse_threshold)]
    threshold: Option<f64>,
    /// Scores by name or formula, separated by commas [default: all]
    #[arg(long, value_name = "SCORES")]
    score: Vec<String>,
    #[command(flatten)]
    counts: CountOptions,
    /// Column that divides the rows into groups; scores are computed for each group and for all rows together
    #[arg(long, value_name = "COLUMN", requires = "counts", help_heading = COUNTS)]
    by: Option<String>,
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

/// Computes the scores of a table of predictions.
pub fn run(arguments: &ScoreArguments) -> Result<Outcome, Failure> {
    let temporal = &arguments.temporal;
    temporal.refuse("counts", arguments.counts.counts)?;
    arguments.costs.refuse("counts", arguments.counts.counts)?;
    arguments.costs.refuse("temporal", temporal.temporal.is_some())?;
    if arguments.counts.counts {
        return counts::score(&CountScoreRequest {
            file: &arguments.forecast.predictions,
            options: &arguments.counts,
            by: arguments.by.as_deref(),
            scores: &arguments.score,
            resampling: &arguments.resampling,
            report: &arguments.report,
            json: arguments.json,
        });
    }
    let predictions =
        match arguments.forecast.read(temporal.group_column(&arguments.resampling)?, arguments.costs.sources())? {
            PredictionTable::Binary(predictions) => predictions,
            PredictionTable::Classes(predictions) => return run_multiclass(arguments, &predictions),
        };
    let scores = parse_scores(&arguments.score)?;
    let bootstrap = temporal.bootstrap(&arguments.resampling, predictions.groups.as_deref());
    let series = temporal.series(predictions.groups.as_deref());
    let report_score = if arguments.score.is_empty() { predictions.score(None)? } else { scores[0].clone() };
    let (threshold, origin) = predictions.threshold(arguments.threshold);
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    // Only the report and the plot need the sweep, which gives the confusion matrix at every threshold.
    let needs_sweep = arguments.report.is_requested() || !arguments.json && series.is_none();
    let costs = cost_rows(&predictions, 0)?;
    let (mut summary, swept) = with_rows!(&predictions, 0, rows => {
        let summary = match &series {
            None => {
                ScoreSummary::new(&rows, threshold, &scores, &bootstrap)?.with_probabilities(&rows, &bootstrap)?
            }
            Some(series) => ScoreSummary::of_series(&rows, threshold, &scores, series, &bootstrap)?,
        };
        let summary = summary.with_bootstrap(&bootstrap);
        let is_reported = arguments.report.is_requested();
        let net_benefit = if is_reported { net_benefit_intervals(&rows, &bootstrap)? } else { Vec::new() };
        (summary, if needs_sweep { Some((sweep(&rows)?, net_benefit)) } else { None })
    });
    summary.costs = costs.map(|rows| CostSummary::new(&rows, threshold, &bootstrap)).transpose()?;
    arguments.report.write(report_files, || {
        let options = ForecastOptions {
            score: &report_score,
            threshold,
            chosen: origin.into(),
            classes: predictions.classes(),
            intervals: summary.intervals(),
            net_benefit: swept.as_ref().map_or(Vec::new(), |(_, net_benefit)| net_benefit.clone()),
            ..ForecastOptions::default()
        };
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
        let document = Document::new(provenance, Evaluation::Binary(summary.clone()).into());
        let Some((sweep, _)) = &swept else { return Ok(document) };
        let Some(series) = &series else {
            return Ok(Document { forecast: Some(forecast(sweep, &options)), ..document });
        };
        with_rows!(&predictions, 0, rows => {
            let forecast = Some(forecast_of_series(sweep, &series.sweep(&rows)?, &options));
            let alarms = Some(AlarmTimeline::new(&rows, threshold, series, "row of the table")?);
            Ok(Document { forecast, alarms, ..document })
        })
    })?;
    note_missing_class(&predictions);
    if summary.confusion.fp + summary.confusion.fn_ == 0.0 && summary.positives > 0 {
        note(
            "every row is predicted correctly; check that the label column is the truth and not the decision of the forecast",
        );
    }
    if arguments.json {
        return Ok(pretty_json(&summary).into());
    }
    let plot = |sweep: &Sweep| TerminalPlot::new(sweep, &report_score, threshold, None).text(&report_score);
    let plot = swept.as_ref().filter(|_| series.is_none()).map_or(String::new(), |(sweep, _)| plot(sweep));
    let gap = if plot.is_empty() { "" } else { "\n" };
    Ok(format!("{}{gap}{plot}", summary_text(&summary, &scores, origin)).into())
}

/// Computes the scores of a table with more than two classes.
fn run_multiclass(arguments: &ScoreArguments, predictions: &ClassPredictions) -> Result<Outcome, Failure> {
    if arguments.threshold.is_some() {
        let problem = format!(
            "a threshold applies to two classes, but {} has {} classes",
            predictions.file,
            predictions.classes.len()
        );
        let hint = "remove this option, or evaluate one class against all others with --positive";
        return Err(Error::setting("threshold", problem, hint).into());
    }
    arguments.temporal.refuse_classes(predictions)?;
    arguments.costs.refuse_classes(predictions)?;
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    let scores = if arguments.score.is_empty() {
        common_class_scores(multi_score(predictions.score.as_deref().unwrap_or("macro(f1)"))?)?
    } else {
        let names = arguments.score.iter().flat_map(|text| split_at_commas(text));
        names.map(multi_score).collect::<Result<Vec<_>, Error>>()?
    };
    let ClassPredictions { classes, labels, decisions, weights, .. } = predictions;
    let summary = ClassSummary::new(classes, labels, decisions, weights.as_deref(), &scores)?;
    arguments.report.write(report_files, || {
        let provenance = provenance(None, vec![predictions.data_source()]);
        Ok(Document::new(provenance, Evaluation::Classes(summary.clone()).into()))
    })?;
    Ok(if arguments.json { pretty_json(&summary) } else { class_summary_text(&summary) }.into())
}

/// Parses a threshold, a number between 0 and 1.
pub fn parse_threshold(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("a threshold must be a number between 0 and 1".into()),
    }
}

/// Parses comma-separated scores; all registered scores if `texts` is empty.
pub fn parse_scores(texts: &[String]) -> Result<Vec<Score>, Failure> {
    if texts.is_empty() {
        return Ok(Score::all().collect());
    }
    let mut scores = Vec::new();
    for text in texts.iter().flat_map(|text| split_at_commas(text)) {
        scores.push(Score::parse(text)?);
    }
    Ok(scores)
}

/// Splits a text at commas outside parentheses.
pub fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Prints a note if no row is positive or every row is positive.
pub fn note_missing_class(predictions: &BinaryPredictions) {
    let (rows, positives) = (predictions.labels.len(), predictions.positives());
    if positives == 0 {
        note(format!("{}: no row is positive; scores that need positives are undefined", predictions.file));
    } else if positives == rows {
        note(format!("{}: every row is positive; scores that need negatives are undefined", predictions.file));
    }
}

/// A table of measures of the quality of the probabilities, such as the Brier score.
fn probabilities_text(probabilities: &ProbabilitySummary) -> String {
    let row = |(measure, (name, Estimate { value, low, high })): (ProbabilityMeasure, (&str, Estimate))| {
        let end = |end: Option<f64>| end.map_or(String::new(), format_number);
        let direction = if measure.lower_is_better() { "lower" } else { "higher" };
        vec![name.to_owned(), format_optional(value), end(low), end(high), direction.to_owned()]
    };
    let rows: Vec<Vec<String>> = ProbabilityMeasure::ALL.into_iter().zip(probabilities.named()).map(row).collect();
    let parts = probabilities.brier_parts.map_or(String::new(), |parts| {
        let [reliability, resolution, uncertainty] =
            [parts.reliability, parts.resolution, parts.uncertainty].map(format_number);
        format!("Brier score = reliability {reliability} − resolution {resolution} + uncertainty {uncertainty}\n")
    });
    format!("\n{}{parts}", aligned_table(&["probabilities", "value", "low", "high", "best"], &rows))
}

/// The scores as text; `origin` says where the threshold comes from.
fn summary_text(summary: &ScoreSummary, scores: &[Score], origin: &str) -> String {
    let row = |(NamedEstimate { name, estimate }, score): (&NamedEstimate, &Score)| {
        let end = |end: Option<f64>| end.map_or(String::new(), format_number);
        vec![
            name.clone(),
            format_optional(estimate.value),
            end(estimate.low),
            end(estimate.high),
            direction_text(score),
        ]
    };
    let rows: Vec<Vec<String>> = summary.scores.iter().zip(scores).map(row).collect();
    let mut head = vec![
        ("rows", summary.rows.to_string()),
        ("positives", summary.positives.to_string()),
        ("base rate", format_number(summary.positives as f64 / summary.rows as f64)),
        ("threshold", format!("{} ({origin})", format_number(summary.threshold))),
        ("errors", timing_text(summary.temporal.as_ref())),
        ("intervals", summary.resampled.as_ref().map_or(String::new(), |what| format!("by resampling {what}"))),
    ];
    head.extend(summary.costs.iter().flat_map(|costs| cost_lines(costs, true)));
    let head = key_value_lines(&head);
    let table = aligned_table(&["score", "value", "low", "high", "best"], &rows);
    let probabilities = summary.probabilities.as_deref().map_or(String::new(), probabilities_text);
    format!("{head}\n{}\n{table}{probabilities}", confusion_table(&summary.confusion))
}
