//! `scorewise tune`: the threshold with exactly the best score, with its interval; with `--smooth`, a threshold that depends less on single rows.

use scorewise::sweep::{Condition, CostRows, SMOOTHING_WIDTHS, confusion, sweep};
use scorewise::{Confusion, Score};
use scorewise_report::document::{self, AlarmTimeline, Document, scores_in_display_order};
use scorewise_report::evaluation::{
    ClassThreshold, Estimate, ForecastOptions, GuaranteeSummary, ModelThreshold, ScoreSummary, SeriesOptions,
    SmoothThreshold, ThresholdBootstrap, TuneSummary, Tuning, TuningOptions, TuningSummary, forecast,
    forecast_of_series, tune_classes, tune_costs, tune_series, undefined_everywhere, unmet_conditions,
};
use scorewise_train::Error;

use crate::costs::{CostOptions, cost_lines, cost_rows};
use crate::formatting::{
    aligned_table, confusion_table, format_number, format_optional, format_threshold_range, format_with_interval,
    key_value_lines, pretty_json,
};
use crate::outcome::{Failure, Outcome, note};
use crate::plot::TerminalPlot;
use crate::predictions::{
    BinaryPredictions, ClassPredictions, ForecastArguments, PredictionTable, one_versus_rest_score, with_rows,
};
use crate::report_output::provenance::provenance;
use crate::report_output::{ReportArguments, ReportFiles};
use crate::resampling::{self, BootstrapOptions};
use crate::temporal::{TemporalOptions, timing_text};

/// Arguments of `scorewise tune`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise tune predictions.csv --score f1\n  \
    scorewise tune p.csv --score tss --subject-to \"precision >= 0.3\"\n  \
    scorewise tune p.csv --subject-to \"precision >= 0.3 with 95%\"      also on future rows, with this confidence\n  \
    scorewise tune p.csv --subject-to \"alarms <= 50 per 1000\"          at most 50 alarms in 1000 rows\n  \
    scorewise tune p.csv --score \"cost(fp=1, fn=10)\" --json\n  \
    scorewise tune p.csv --cost-fp 5 --cost-fn amount                     a false alarm costs 5, a miss the amount of the row\n  \
    scorewise tune p.csv --score csi --smooth                             averaged over nearby thresholds\n  \
    scorewise tune hourly.csv --score csi --temporal value                errors near an event or alarm count less\n\n\
    Exit code 1: no threshold satisfies the conditions.")]
pub struct TuneArguments {
    #[command(flatten)]
    forecast: ForecastArguments,
    /// Score to optimise, by name or formula [default: the score of the model if the table names one, else tss]
    #[arg(long)]
    score: Option<String>,
    /// Conditions that the threshold must satisfy on these rows, such as "precision >= 0.3" or "alarms <= 50 per 1000"; or for future rows, with a
    /// confidence: "precision >= 0.3 with 95%"
    #[arg(long, value_name = "CONDITIONS")]
    subject_to: Vec<String>,
    /// Propose the threshold with the best average score over nearby thresholds, which depends less on single rows than the threshold with the best
    /// score. At threshold 0.5, the average is over the thresholds from 0.5 - WIDTH to 0.5 + WIDTH [WIDTH: 0.2 if it is left out]
    #[arg(long, value_name = "WIDTH", num_args = 0..=1, default_missing_value = "0.2", value_parser = parse_width)]
    smooth: Option<f64>,
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

/// Parses the width of the smoothing.
fn parse_width(text: &str) -> Result<f64, String> {
    let expected = format!("a width is a number from {} to below {}", SMOOTHING_WIDTHS.start, SMOOTHING_WIDTHS.end);
    match text.trim().parse() {
        Ok(width) if SMOOTHING_WIDTHS.contains(&width) => Ok(width),
        Ok(_) => Err(format!("{expected}; 0.2 is usual")),
        // If the user writes `--smooth FILE`, clap takes the name of the file as the width.
        Err(_) => Err(format!("{expected}; name the file before `--smooth`, or write `--smooth=0.2`")),
    }
}

/// The tuned threshold of a forecast, and the data for the report.
struct TunedForecast {
    tuning: Tuning,
    /// Data of the forecast for the report; `None` if no report is requested.
    forecast: Option<document::ForecastEvaluation>,
    /// The threshold of the model that made the predictions, and the score at this threshold; `None` if the table does not name a threshold.
    model: Option<ModelThreshold>,
}

/// Tunes the threshold for a table of predictions.
pub fn run(arguments: &TuneArguments) -> Result<Outcome, Failure> {
    let mut conditions = Vec::new();
    for text in &arguments.subject_to {
        conditions.extend(Condition::parse(text)?);
    }
    if arguments.smooth.is_some() && !conditions.is_empty() {
        let problem = "smoothing averages over nearby thresholds, some of which would not satisfy the conditions of `--subject-to`";
        return Err(Error::setting("smooth", problem, "leave out `--smooth` or `--subject-to`").into());
    }
    let temporal = &arguments.temporal;
    temporal.refuse("smooth", arguments.smooth.is_some())?;
    let costs = &arguments.costs;
    costs.refuse("temporal", temporal.temporal.is_some())?;
    costs.refuse("report", arguments.report.is_requested())?;
    costs.refuse("smooth", arguments.smooth.is_some())?;
    costs.refuse("score", arguments.score.is_some())?;
    let predictions = match arguments.forecast.read(temporal.group_column(&arguments.resampling)?, costs.sources())? {
        PredictionTable::Binary(predictions) => predictions,
        PredictionTable::Classes(predictions) => return run_multiclass(arguments, &predictions, &conditions),
    };
    if let Some(rows) = cost_rows(&predictions, 0)? {
        return tune_cost(arguments, &predictions, &rows, &conditions);
    }
    let score = predictions.score(arguments.score.as_deref())?;
    score.caution().iter().for_each(note);
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    let bootstrap = temporal.bootstrap(&arguments.resampling, predictions.groups.as_deref());
    let options =
        TuningOptions { score: &score, conditions: &conditions, smooth: arguments.smooth, bootstrap: &bootstrap };
    if let Some(series) = temporal.series(predictions.groups.as_deref()) {
        return tune_time_series(arguments, &predictions, &options, &series, report_files);
    }
    let tuned = tune(arguments, &predictions, &options)?;
    let summary = match &tuned {
        Ok(tuned) => tuned.tuning.summary(&options, tuned.model),
        Err((_, guarantee)) => {
            TuningSummary { score: score.name().into(), guarantee: guarantee.clone(), ..TuningSummary::default() }
        }
    };
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
        let document = Document::new(provenance, TuneSummary::Binary(Box::new(summary.clone())).into());
        Ok(match &tuned {
            Ok(tuned) => Document { forecast: tuned.forecast.clone(), ..document },
            Err((sentence, _)) => Document { notes: vec![sentence.clone()], ..document },
        })
    })?;
    let json = arguments.json.then(|| pretty_json(&summary));
    Ok(match tuned {
        Ok(tuned) => json.unwrap_or_else(|| tuning_text(&options, &tuned)).into(),
        Err((sentence, _)) => Outcome { text: json.unwrap_or_default(), unmet: Some(sentence) },
    })
}

/// Tunes the threshold for a time series whose errors are weighted by their timing.
fn tune_time_series(
    arguments: &TuneArguments,
    predictions: &BinaryPredictions,
    options: &TuningOptions<'_>,
    series: &SeriesOptions<'_>,
    report_files: ReportFiles,
) -> Result<Outcome, Failure> {
    let TuningOptions { score, conditions, bootstrap, .. } = *options;
    if conditions.iter().any(|condition| condition.confidence().is_some()) {
        let problem = "a condition with a confidence cannot be tested if errors are weighted by their timing";
        return Err(Error::setting(
            "subject-to",
            problem,
            "leave out `--temporal`, or the confidence of the condition",
        )
        .into());
    }
    let found = with_rows!(predictions, 0, rows => tune_series(&rows, options, series)?);
    let Some((best, summary)) = found else {
        let texts: Vec<_> = conditions.iter().map(Condition::text).collect();
        let sentence = match texts.as_slice() {
            [] => format!("`{}` is undefined at every threshold if errors are weighted by their timing", score.name()),
            texts => format!("no threshold satisfies {} if errors are weighted by their timing", texts.join(" and ")),
        };
        let summary = TuningSummary { score: score.name().into(), ..TuningSummary::default() };
        arguments.report.write(report_files, || {
            let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
            let document = Document::new(provenance, TuneSummary::Binary(Box::new(summary.clone())).into());
            Ok(Document { notes: vec![sentence.clone()], ..document })
        })?;
        let text = if arguments.json { pretty_json(&summary) } else { String::new() };
        return Ok(Outcome { text, unmet: Some(sentence) });
    };
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
        let document = Document::new(provenance, TuneSummary::Binary(Box::new(summary.clone())).into());
        with_rows!(predictions, 0, rows => {
            let scores = scores_in_display_order(Some(score.clone()));
            let at_best = ScoreSummary::of_series(&rows, best.threshold, &scores, series, bootstrap)?;
            let chosen = format!("best {} on these rows, with errors weighted by their timing", score.name());
            let options = ForecastOptions {
                score,
                conditions,
                threshold: best.threshold,
                classes: predictions.classes(),
                chosen,
                interval: Some(best.interval),
                spread: summary.bootstrap.as_ref().and_then(ThresholdBootstrap::threshold_interval),
                intervals: at_best.intervals(),
                ..ForecastOptions::default()
            };
            let forecast = Some(forecast_of_series(&sweep(&rows)?, &series.sweep(&rows)?, &options));
            let alarms = Some(AlarmTimeline::new(&rows, best.threshold, series, "row of the table")?);
            Ok(Document { forecast, alarms, ..document })
        })
    })?;
    if arguments.json {
        return Ok(pretty_json(&summary).into());
    }
    let [threshold, value] = threshold_and_value(summary.threshold, summary.value, summary.bootstrap.as_ref());
    let others = match best.intervals {
        1 => String::new(),
        many => format!("; {many} intervals of thresholds are equally good"),
    };
    let head = key_value_lines(&[
        ("score", score.name().to_string()),
        ("errors", timing_text(summary.temporal.as_ref())),
        ("subject to", conditions.iter().map(Condition::text).collect::<Vec<_>>().join(" and ")),
        ("threshold", threshold),
        ("interval", format!("{}{others}", format_threshold_range(best.interval.0, best.interval.1, false))),
        ("value", value),
    ]);
    Ok(format!("{head}\n{}", confusion_table(&best.confusion)).into())
}

/// Finds the threshold with the lowest cost, for errors whose costs differ from row to row.
fn tune_cost(
    arguments: &TuneArguments,
    predictions: &BinaryPredictions,
    rows: &CostRows<'_>,
    conditions: &[Condition],
) -> Result<Outcome, Failure> {
    let bootstrap = arguments.resampling.bootstrap(predictions.groups.as_deref());
    let score = rows.score();
    let Some((best, mut summary)) = tune_costs(rows, conditions, &bootstrap)? else {
        // No threshold satisfies the conditions. Without conditions a threshold is always found, because every threshold has a cost.
        let sweep = with_rows!(predictions, 0, rows => sweep(&rows)?);
        let any = Score::parse("accuracy")?;
        let sentence = unmet_conditions(&sweep, &any, conditions);
        let sentence = sentence.unwrap_or_else(|| "no threshold satisfies the conditions".into());
        let empty = TuningSummary { score: score.name().into(), ..TuningSummary::default() };
        let text = if arguments.json { pretty_json(&empty) } else { String::new() };
        return Ok(Outcome { text, unmet: Some(sentence) });
    };
    if let Some(threshold) = predictions.thresholds[0] {
        summary.model = Some(ModelThreshold { threshold, value: Some(rows.at(threshold).per_row()) });
    }
    if arguments.json {
        return Ok(pretty_json(&summary).into());
    }
    let [threshold, value] = threshold_and_value(summary.threshold, summary.value, summary.bootstrap.as_ref());
    let others = match best.intervals {
        1 => String::new(),
        many => format!("; {many} intervals of thresholds are equally good"),
    };
    let includes_1 = best.interval.1 == 1.0 && rows.at(1.0) == best.costs;
    let mut lines = vec![
        ("score", score.name().to_string()),
        ("subject to", conditions.iter().map(Condition::text).collect::<Vec<_>>().join(" and ")),
        ("threshold", threshold),
        ("interval", format!("{}{others}", format_threshold_range(best.interval.0, best.interval.1, includes_1))),
        ("value", value),
        ("on new rows", score_on_new_rows(summary.corrected.as_ref())),
    ];
    if let Some(ModelThreshold { threshold, value }) = summary.model {
        let text =
            format!("value {} at the model's own threshold {}", format_optional(value), format_number(threshold));
        lines.push(("model", text));
    }
    lines.extend(summary.costs.iter().flat_map(|costs| cost_lines(costs, false)));
    Ok(format!("{}\n{}", key_value_lines(&lines), confusion_table(&best.confusion)).into())
}

/// Returns the tuned threshold. If no threshold satisfies the conditions of the user, returns a sentence that says so, and how conditions with a
/// confidence were tested.
fn tune(
    arguments: &TuneArguments,
    predictions: &BinaryPredictions,
    options: &TuningOptions<'_>,
) -> Result<Result<TunedForecast, (String, Option<GuaranteeSummary>)>, Failure> {
    let TuningOptions { score, conditions, bootstrap, .. } = *options;
    with_rows!(predictions, 0, rows => {
        let tuning = match Tuning::new(&rows, options)? {
            Ok(tuning) => tuning,
            Err(reason) => {
                return match reason.sentence(score, conditions) {
                    Some(sentence) => Ok(Err((sentence, reason.guarantee))),
                    None => Err(undefined_everywhere(&arguments.forecast.predictions, &reason.sweep, score).into()),
                };
            }
        };
        resampling::note_approximate_interval(rows.len());
        if tuning.smooth.as_ref().is_some_and(|smooth| smooth.threshold.is_none()) {
            note(format!("the average of `{}` over nearby thresholds is undefined at every threshold, so there is no smoothed threshold", score.name()));
        }
        let mut report_forecast = None;
        if arguments.report.is_requested() {
            let classes = predictions.classes();
            let conditions = &tuning.conditions;
            let mut options = ForecastOptions { score, conditions, classes, ..ForecastOptions::default() };
            options.set_tuned(&tuning);
            options.set_intervals(&rows, bootstrap)?;
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
    arguments.temporal.refuse_classes(predictions)?;
    arguments.costs.refuse_classes(predictions)?;
    let report_files = arguments.report.open(&[arguments.forecast.predictions.as_ref()])?;
    let bootstrap = arguments.resampling.bootstrap(predictions.groups.as_deref());
    let ClassPredictions { classes, labels, probabilities, weights, .. } = predictions;
    let options = TuningOptions { score: &score, conditions, smooth: arguments.smooth, bootstrap: &bootstrap };
    let summary = tune_classes(classes, labels, probabilities, weights.as_deref(), &options)?;
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(bootstrap.seed), vec![predictions.data_source()]);
        Ok(Document::new(provenance, TuneSummary::Classes(summary.clone()).into()))
    })?;
    if arguments.json {
        return Ok(pretty_json(&summary).into());
    }
    let row = |class: &ClassThreshold| {
        let mut row = vec![class.class.clone(), class.rows.to_string()];
        if let Some(smooth) = &class.smooth {
            row.extend(threshold_and_value(smooth.threshold, smooth.value, smooth.bootstrap.as_ref()));
        } else if arguments.smooth.is_some() {
            row.extend(threshold_and_value(None, None, None));
        }
        row.extend(threshold_and_value(class.threshold, class.value, class.bootstrap.as_ref()));
        row.push(score_on_new_rows(class.corrected.as_ref()));
        row
    };
    let rows: Vec<Vec<String>> = summary.classes.iter().map(row).collect();
    let head = key_value_lines(&[
        ("score", format!("{}, each class against all others", score.name())),
        ("subject to", summary.subject_to.join(" and ")),
        ("smooth", arguments.smooth.map_or(String::new(), smoothing_text)),
    ]);
    let heading: &[&str] = match arguments.smooth {
        Some(_) => &["class", "rows", "smoothed threshold", "value", "exact threshold", "value", "on new rows"],
        None => &["class", "rows", "threshold", "value", "on new rows"],
    };
    Ok(format!("{head}\n{}", aligned_table(heading, &rows)).into())
}

/// Two cells of a table: a threshold, and the score at this threshold, each with its bootstrap interval.
fn threshold_and_value(
    threshold: Option<f64>,
    value: Option<f64>,
    bootstrap: Option<&ThresholdBootstrap>,
) -> [String; 2] {
    let threshold = threshold.map_or("none".into(), |threshold| {
        format_with_interval(threshold, bootstrap.and_then(ThresholdBootstrap::threshold_interval))
    });
    let value = value.map_or(format_optional(None), |value| {
        format_with_interval(value, bootstrap.and_then(ThresholdBootstrap::value_interval))
    });
    [threshold, value]
}

/// The score to expect on new rows, with its interval, as text.
fn score_on_new_rows(corrected: Option<&Estimate>) -> String {
    let value = |estimate: &Estimate| Some(format_with_interval(estimate.value?, estimate.interval()));
    corrected.and_then(value).unwrap_or_else(|| format_optional(None))
}

/// Says in words how a smoothed threshold was chosen.
fn smoothing_text(width: f64) -> String {
    format!("averaged over nearby thresholds, width {}", format_number(width))
}

/// The tuned threshold as text for the terminal.
fn tuning_text(options: &TuningOptions<'_>, TunedForecast { tuning, model, .. }: &TunedForecast) -> String {
    let Tuning { sweep, best, distribution, corrected, smooth, guarantee, .. } = tuning;
    let TuningOptions { score, bootstrap, .. } = *options;
    let exact = ThresholdBootstrap::new(distribution, bootstrap);
    let model_line = model.map_or(String::new(), |ModelThreshold { threshold, value }| {
        format!("value {1} at the model's own threshold {0}", format_number(threshold), format_optional(value))
    });
    let plot = |interval| TerminalPlot::new(sweep, score, tuning.proposed_threshold(), interval);
    let text = |head: String, confusion: &Confusion, plot: TerminalPlot| {
        format!("{head}\n{}\n{}", confusion_table(confusion), plot.text(score))
    };
    if let Some(SmoothThreshold {
        width,
        threshold,
        value,
        expected_value,
        confusion: Some(confusion),
        corrected: smooth_corrected,
        bootstrap: interval,
    }) = smooth
    {
        let head = key_value_lines(&[
            ("score", score.name().to_string()),
            ("smooth", smoothing_text(*width)),
            ("model", model_line),
        ]);
        let row = |name: &str, cells: [String; 2], corrected: &Option<Estimate>, expected: Option<f64>| {
            let expected = expected.map_or(String::new(), format_number);
            [vec![name.to_string()], cells.to_vec(), vec![score_on_new_rows(corrected.as_ref()), expected]].concat()
        };
        let rows = [
            row(
                "smoothed",
                threshold_and_value(*threshold, *value, interval.as_ref()),
                smooth_corrected,
                *expected_value,
            ),
            row("exact", threshold_and_value(Some(best.threshold), Some(best.value), Some(&exact)), corrected, None),
        ];
        let table = aligned_table(&["", "threshold", "value", "on new rows", "expected value"], &rows);
        let interval = interval.as_ref().and_then(ThresholdBootstrap::threshold_interval);
        return text(format!("{head}\n{table}"), confusion, plot(interval).smoothed());
    }
    let conditions: Vec<_> = options.conditions.iter().map(Condition::text).collect();
    let others = if best.intervals > 1 {
        format!("; {} intervals of thresholds are equally good", best.intervals)
    } else {
        String::new()
    };
    let is_prediction_of_1 = sweep.step(1.0).thresholds.0 == 1.0;
    let (low, high) = best.interval;
    let interval = format_threshold_range(low, high, high == 1.0 && !is_prediction_of_1);
    let [threshold, value] = threshold_and_value(Some(best.threshold), Some(best.value), Some(&exact));
    let head = key_value_lines(&[
        ("score", score.name().to_string()),
        ("subject to", conditions.join(" and ")),
        ("shown by", guarantee.as_ref().map_or(String::new(), |guarantee| GuaranteeSummary::from(guarantee).text())),
        ("threshold", threshold),
        ("interval", format!("{interval}{others}")),
        ("value", value),
        ("on new rows", score_on_new_rows(corrected.as_ref())),
        ("model", model_line),
    ]);
    text(head, &best.confusion, plot(exact.threshold_interval()))
}
