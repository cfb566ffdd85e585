//! Draws all figures of a result. The HTML page, the option `--plots` and notebooks show the same figures.

use scorewise::sweep::Condition;
use scorewise::{Prior, Score};

use crate::alarms::{AlarmChart, AlarmPanel, figure_alarms};
use crate::classes::{ClassBin, ClassHistograms, figure_classes};
use crate::decision::{DecisionCurve, figure_decision};
use crate::dependence::{DependenceCurves, figure_dependence};
use crate::difference::{Differences, figure_difference};
use crate::document::{
    AlarmStretch, AlarmTimeline, CommandResult, Document, ForecastCurves, ForecastEvaluation, PredictionBin,
    RowOutcome, ScoreSeries, ScoreThresholds, SeriesPoint, TheoryReport, ThresholdPoint, TrainingHistory,
    confusion_from_cells,
};
use crate::error::{Error, Result};
use crate::evaluation::{
    ClassMeans, ColumnImportance, Explanation, GridValue, MonitorSummary, PartialDependence, PeriodSummary,
};
use crate::importance::{ImportanceBar, ImportanceBars, figure_importance};
use crate::lines::NamedLine;
use crate::number::format_rounded;
use crate::performance::{Performance, figure_performance};
use crate::periods::{PeriodScores, figure_periods};
use crate::picture::Picture;
use crate::precision_recall::{PrecisionRecall, figure_precision_recall};
use crate::priors::{NamedPrior, PriorRow, figure_priors};
use crate::reliability::{Reliability, ReliabilityBin, figure_reliability};
use crate::roc::{Roc, figure_roc};
use crate::score_distribution::{ScoreDistributionFigure, figure_score_distribution};
use crate::scores::{ScoreCurves, figure_scores};
use crate::series::{CumulativeScore, SeriesCurve, figure_series};
use crate::thresholds::{ThresholdPanel, figure_thresholds};
use crate::training::{EpochValues, MemberCurves, ScoreByEpoch, TrainingCurves, figure_training};

/// A figure of a result, with its file name, title and caption.
#[derive(Debug)]
pub struct ReportFigure {
    /// File name of the figure, without extension.
    pub name: String,
    /// Title of the figure.
    pub title: String,
    /// Caption that explains how to read the figure.
    pub caption: String,
    /// The mark in this figure that moves with the threshold slider on an HTML page.
    pub moving: MovingMark,
    /// The picture itself.
    pub picture: Picture,
}

/// A mark that moves with the threshold slider on an HTML page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovingMark {
    /// The figure has no moving mark.
    Absent,
    /// A vertical line at the current threshold.
    Line,
    /// A dot at the current threshold; x and y are the values of the two scores with these names.
    Dot(&'static str, &'static str),
}

/// All figures of a result, in the order in which the page shows them.
pub fn figures(document: &Document) -> Result<Vec<ReportFigure>> {
    let mut figures = Vec::new();
    if let Some(forecast) = &document.forecast {
        figures.extend(forecast_figures(forecast)?);
    }
    if let Some(explanation) = document.explanation() {
        figures.extend(explanation_figures(explanation)?);
    }
    if let Some(training) = &document.training {
        figures.extend(training_figure(training)?);
    }
    if let Some(theory) = &document.theory {
        figures.extend(theory_figure(theory)?);
    }
    if let Some(comparison) = &document.comparison {
        figures.extend(comparison_figures(comparison)?);
    }
    if let Some(series) = &document.series {
        figures.extend(series_figure(series)?);
    }
    if let CommandResult::Monitor(result) = &document.result {
        figures.extend(periods_figure(result)?);
    }
    if let Some(alarms) = &document.alarms {
        figures.extend(alarms_figure(alarms)?);
    }
    if let Some(reproduction) = &document.reproduction {
        if !reproduction.priors.is_empty() {
            let caption =
                "Priors of the threshold: the density on the left, the cumulative distribution function on the right.";
            let picture = paper_figure_1(&reproduction.priors);
            figures.extend(figure_unless_empty(
                "figure-1",
                "Figure 1: the priors",
                caption,
                MovingMark::Absent,
                picture,
            )?);
        }
        for figure in &reproduction.thresholds {
            let name = match reproduction.thresholds.len() {
                1 => "figure-2".into(),
                _ => format!("figure-2-{}", score_file_name(&figure.score)),
            };
            let title = format!("Figure 2: best thresholds, {}", figure.score);
            let caption = "Histograms of the best thresholds of all training runs, with the prior used in training.";
            figures.extend(figure_unless_empty(&name, &title, caption, MovingMark::Absent, paper_figure_2(figure))?);
        }
    }
    Ok(figures)
}

/// Turns the name of a score, which may be a formula, into part of a file name: everything but letters and digits becomes a dash.
#[must_use]
pub fn score_file_name(score: &str) -> String {
    score.chars().map(|character| if character.is_alphanumeric() { character } else { '-' }).collect()
}

/// The figure of scores by threshold. If `is_narrow` is true, the figure is half as wide as usual.
pub fn forecast_scores_figure(forecast: &ForecastEvaluation, is_narrow: bool) -> Result<ReportFigure> {
    let scores: Vec<Score> = plotted_scores(forecast);
    let curve =
        |score: &Score| NamedLine { name: score.name().into(), points: score_by_threshold(&forecast.points, score) };
    let picture = figure_scores(ScoreCurves {
        title: "Scores by threshold".into(),
        lines: scores.iter().map(curve).collect(),
        prior: parsed_prior(forecast)?,
        mark: Some(forecast.threshold),
        interval: forecast.interval,
        spread: forecast.spread,
        infeasible: infeasible_ranges(forecast)?,
        is_narrow,
    })?;
    Ok(ReportFigure {
        name: "scores".into(),
        title: "Scores by threshold".into(),
        caption:
            "Each score at every threshold. A curve shows the best value, where it is reached, and how much other thresholds lose."
                .into(),
        moving: MovingMark::Line,
        picture,
    })
}

/// The scores to plot: the score by which the forecast is evaluated, then f1, precision, recall, tss and csi.
fn plotted_scores(forecast: &ForecastEvaluation) -> Vec<Score> {
    let all = forecast.scores();
    let is_common = |score: &&Score| ["f1", "precision", "recall", "tss", "csi"].contains(&score.name());
    all.iter().take(1).chain(all.iter().skip(1).filter(is_common)).take(6).cloned().collect()
}

/// The figures about a forecast at all thresholds, such as the ROC curve.
fn forecast_figures(forecast: &ForecastEvaluation) -> Result<Vec<ReportFigure>> {
    let parse = |name: &str| -> Result<Score> { Score::parse(name).map_err(|error| Error::Drawing(error.to_string())) };
    let (precision, recall, pofd) = (parse("precision")?, parse("recall")?, parse("pofd")?);
    let line = |x: &Score, y: &Score| {
        let pair = |point: &ThresholdPoint| {
            let matrix = point.confusion();
            x.checked(&matrix).map(|x| (x, y.checked(&matrix)))
        };
        vec![NamedLine { name: "forecast".into(), points: forecast.points.iter().filter_map(pair).collect() }]
    };
    let at_threshold = |x: &Score, y: &Score| {
        let matrix = forecast.point()?.confusion();
        Some((x.checked(&matrix)?, y.checked(&matrix)?))
    };
    let (positives, negatives) = class_weights(forecast);
    let base_rate = (positives + negatives > 0.0).then(|| positives / (positives + negatives));
    let mark = Some(forecast.threshold);
    let interval = |name: &str| {
        let found = forecast.intervals.iter().find(|interval| interval.score == name)?;
        Some((found.low, found.high))
    };
    let mut figures: Vec<ReportFigure> = none_if_empty(forecast_scores_figure(forecast, false))?.into_iter().collect();
    // The page shows figures in pairs, so figures of equal height come one after the other.
    figures.extend(figure_unless_empty(
        "predictions",
        "Predictions by class",
        "Distribution of the predictions of each class. A forecast that separates the classes well has two peaks with the threshold between them.",
        MovingMark::Line,
        figure_classes(ClassHistograms {
            title: "Predictions by class".into(),
            bins: forecast.bins.iter().map(class_bin).collect(),
            prior: parsed_prior(forecast)?,
            mark,
            names: forecast.classes.clone(),
        }),
    )?);
    figures.extend(figure_unless_empty(
        "decision",
        "Decision curve",
        "Net benefit: hits minus false alarms, weighted by their costs. At threshold probability p, a miss costs (1 − p)/p times as much as a false alarm. The forecast is worth using where its line lies above both other lines. Band: 95 % interval of its net benefit at each threshold probability.",
        MovingMark::Line,
        decision_figure(forecast),
    )?);
    figures.extend(figure_unless_empty(
        "roc",
        "ROC curve",
        "Vertical: share of events that are detected. Horizontal: share of non-events with a false alarm. The diagonal is a random forecast.",
        MovingMark::Dot("pofd", "recall"),
        figure_roc(Roc {
            title: "ROC curve".into(),
            lines: line(&pofd, &recall),
            areas: vec![forecast.roc_area],
            mark: at_threshold(&pofd, &recall),
        }),
    )?);
    figures.extend(figure_unless_empty(
        "precision-recall",
        "Precision and recall",
        &format!(
            "Vertical: share of alarms that are correct. Horizontal: share of events that are detected. The dashed line is a random forecast.{}",
            forecast.average_precision.map_or(String::new(), |area| format!(" Average precision {}.", format_rounded(area)))
        ),
        MovingMark::Dot("recall", "precision"),
        figure_precision_recall(PrecisionRecall {
            title: "Precision and recall".into(),
            lines: line(&recall, &precision),
            base_rate,
            mark: at_threshold(&recall, &precision),
        }),
    )?);
    figures.extend(figure_unless_empty(
        "performance",
        "Performance diagram",
        "Up and to the right is better. Points on a solid grey curve have equal CSI; points on a dashed ray have equal frequency bias (alarms per event).",
        MovingMark::Dot("precision", "recall"),
        figure_performance(Performance {
            title: "Performance diagram".into(),
            lines: line(&precision, &recall),
            mark: at_threshold(&precision, &recall),
            whiskers: interval("precision").zip(interval("recall")),
        }),
    )?);
    figures.extend(figure_unless_empty(
        "reliability",
        "Reliability diagram",
        if forecast.calibrated.is_some() {
            "How often the event occurred at each calibrated probability. A calibrated forecast lies on the diagonal; bars are 95 % Wilson intervals (not shown for weighted rows)."
        } else {
            "How often the event occurred at each predicted probability. A calibrated forecast lies on the diagonal; bars are 95 % Wilson intervals (not shown for weighted rows). A model trained for a score need not be calibrated, because only its decisions at the threshold count."
        },
        MovingMark::Absent,
        figure_reliability(Reliability {
            title: "Reliability".into(),
            bins: reliability_bins(forecast.probability_bins(), forecast.is_weighted),
            base_rate: base_rate.unwrap_or(0.0),
        }),
    )?);
    Ok(figures)
}

/// A figure with its title and caption; `None` when there is nothing to plot, for example because no row is positive.
fn figure_unless_empty(
    name: &str,
    title: &str,
    caption: &str,
    moving: MovingMark,
    picture: Result<Picture>,
) -> Result<Option<ReportFigure>> {
    let with_texts =
        |picture| ReportFigure { name: name.into(), title: title.into(), caption: caption.into(), moving, picture };
    Ok(none_if_empty(picture)?.map(with_texts))
}

/// Returns `None` if the figure has no data ([`Error::Empty`]), and any other error unchanged.
fn none_if_empty<T>(figure: Result<T>) -> Result<Option<T>> {
    match figure {
        Ok(figure) => Ok(Some(figure)),
        Err(Error::Empty) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The prior of the threshold; `None` if the forecast has none.
fn parsed_prior(forecast: &ForecastEvaluation) -> Result<Option<Prior>> {
    let parse = |text: &String| text.parse().map_err(|error: scorewise::Error| Error::Drawing(error.to_string()));
    forecast.prior.as_ref().map(parse).transpose()
}

/// Total weight of the positive and of the negative rows.
fn class_weights(forecast: &ForecastEvaluation) -> (f64, f64) {
    let sum = |weight: fn(&PredictionBin) -> f64| forecast.bins.iter().map(weight).sum::<f64>();
    (sum(|bin| bin.positives), sum(|bin| bin.negatives))
}

/// Converts a bin of predictions to a bin of the histograms of both classes.
fn class_bin(bin: &PredictionBin) -> ClassBin {
    ClassBin { low: bin.low, high: bin.high, positives: bin.positives, negatives: bin.negatives }
}

/// The points of the step function that maps a threshold to the score.
fn score_by_threshold(points: &[ThresholdPoint], score: &Score) -> Vec<(f64, Option<f64>)> {
    let step = |point: &ThresholdPoint| {
        let value = score.checked(&point.confusion());
        [(point.low, value), (point.high, value)]
    };
    points.iter().flat_map(step).collect()
}

/// The ranges of thresholds at which at least one condition of the user (such as `precision >= 0.3`) is not met.
pub(crate) fn infeasible_ranges(forecast: &ForecastEvaluation) -> Result<Vec<(f64, f64)>> {
    let mut ranges: Vec<(f64, f64)> = Vec::new();
    let mut is_open = false;
    for (point, holds) in forecast.points.iter().zip(conditions_met(forecast)?) {
        match (holds, is_open) {
            (false, false) => ranges.push((point.low, point.high)),
            (false, true) => ranges.last_mut().expect("`is_open` is true only after a range was added").1 = point.high,
            _ => {}
        }
        is_open = !holds;
    }
    Ok(ranges)
}

/// Whether all conditions of the user (such as `precision >= 0.3`) are met, for each threshold of `forecast.points`.
pub(crate) fn conditions_met(forecast: &ForecastEvaluation) -> Result<Vec<bool>> {
    let mut conditions = Vec::new();
    for text in &forecast.conditions {
        conditions.extend(Condition::parse(text).map_err(|error| Error::Drawing(error.to_string()))?);
    }
    let qualifies = |point: &ThresholdPoint| {
        let contains = |(low, high): &(f64, f64)| *low <= point.threshold && (point.threshold < *high || low == high);
        forecast.qualifying.as_ref().is_none_or(|intervals| intervals.iter().any(contains))
    };
    let holds = |point: &ThresholdPoint| {
        qualifies(point) && conditions.iter().all(|condition| condition.holds(&point.confusion()))
    };
    Ok(forecast.points.iter().map(holds).collect())
}

/// The bins of the reliability diagram, at most ten. Each is merged from adjacent bins of the report document, `bins`.
fn reliability_bins(bins: &[PredictionBin], is_weighted: bool) -> Vec<ReliabilityBin> {
    let bin = |group: &[PredictionBin]| {
        let positives: f64 = group.iter().map(|bin| bin.positives).sum();
        let weight: f64 = positives + group.iter().map(|bin| bin.negatives).sum::<f64>();
        let sum: f64 = group.iter().filter_map(|bin| Some(bin.mean? * (bin.positives + bin.negatives))).sum();
        // The Wilson interval is computed from counts. Weighted rows have no counts, so their bins get no interval.
        let frequency = positives / weight;
        let (low, high) = if is_weighted { (frequency, frequency) } else { wilson_interval(positives, weight) };
        (weight > 0.0).then(|| ReliabilityBin { mean: sum / weight, frequency, low, high, weight })
    };
    bins.chunks(bins.len().div_ceil(10).max(1)).filter_map(bin).collect()
}

/// The 95 % Wilson score interval of a frequency.
///
/// Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
/// Statistical Association 22, 209–212. doi:10.1080/01621459.1927.10502953
fn wilson_interval(hits: f64, total: f64) -> (f64, f64) {
    /// The 97.5 % quantile of the standard normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if total <= 0.0 {
        return (0.0, 1.0);
    }
    let (frequency, square) = (hits / total, Z * Z / total);
    let middle = (frequency + 0.5 * square) / (1.0 + square);
    let half = Z / (1.0 + square) * (frequency * (1.0 - frequency) / total + 0.25 * square / total).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// The decision curve of a forecast.
fn decision_figure(forecast: &ForecastEvaluation) -> Result<Picture> {
    let (positives, negatives) = class_weights(forecast);
    let always_yes = confusion_from_cells([0.0, negatives, 0.0, positives]);
    let mut lines = [("forecast", Vec::new()), ("always yes", Vec::new()), ("always no", Vec::new())];
    for point in forecast.points.iter().filter(|point| point.threshold <= 0.99) {
        let score = Score::parse(&format!("net_benefit(threshold={})", point.threshold));
        let score = score.map_err(|error| Error::Drawing(error.to_string()))?;
        lines[0].1.push((point.threshold, score.checked(&point.confusion())));
        lines[1].1.push((point.threshold, score.checked(&always_yes)));
        lines[2].1.push((point.threshold, Some(0.0)));
    }
    figure_decision(DecisionCurve {
        title: "Decision curve".into(),
        lines: lines.map(|(name, points)| NamedLine { name: name.into(), points }).to_vec(),
        band: forecast.net_benefit.iter().map(|at| (at.threshold, (at.low, at.high))).collect(),
        mark: Some(forecast.threshold),
    })
}

/// The figure of the training history; `None` if no epoch was recorded.
fn training_figure(training: &TrainingHistory) -> Result<Option<ReportFigure>> {
    let values = |epochs: &[crate::document::EpochRecord]| -> Vec<EpochValues> {
        let value = |epoch: &crate::document::EpochRecord| EpochValues {
            training: epoch.training,
            validation: epoch.validation,
            coverage: epoch.coverage.unwrap_or(f64::NAN),
        };
        epochs.iter().map(value).collect()
    };
    let member = |member: &crate::document::MemberHistory| MemberCurves {
        warm_up: values(&member.warm_up),
        main: values(&member.epochs),
        kept: member.kept,
    };
    let score_values =
        |member: &crate::document::MemberHistory| member.epochs.iter().filter_map(|epoch| epoch.score).collect();
    let score = training.score.as_ref().map(|name| ScoreByEpoch {
        name: format!("{name} of the expected confusion matrix"),
        values: training.members.iter().map(score_values).collect(),
    });
    let picture = figure_training(&TrainingCurves {
        members: training.members.iter().map(member).collect(),
        loss: training.loss.clone(),
        score,
    });
    let members = match training.members.len() {
        1 => "The mark shows the epoch whose weights were kept.".into(),
        members => {
            format!(
                "The line is the median of {members} ensemble members, and the band covers all of them. Marks show the epochs whose weights were kept."
            )
        }
    };
    let support = match training.score {
        Some(_) => " When no prediction lies inside the prior's support, the gradient is zero and nothing is learnt.",
        None => "",
    };
    let caption = format!("{members}{support}");
    figure_unless_empty("training", "Training, epoch by epoch", &caption, MovingMark::Absent, picture)
}

/// The maximum number of columns in the figure of importance; the table on the page lists all columns.
const MAX_PLOTTED_COLUMNS: usize = 20;

/// The figure of the importance of columns, and the figures of partial dependence.
fn explanation_figures(explanation: &Explanation) -> Result<Vec<ReportFigure>> {
    let bar = |importance: &ColumnImportance| {
        let value = importance.value?;
        let interval = importance.low.zip(importance.high).unwrap_or((f64::NAN, f64::NAN));
        Some(ImportanceBar { name: importance.column.clone(), value, interval })
    };
    let defined: Vec<ImportanceBar> = explanation.importance.iter().filter_map(bar).collect();
    let which = if defined.len() > MAX_PLOTTED_COLUMNS {
        format!(" The figure shows the {MAX_PLOTTED_COLUMNS} most important of {} columns.", defined.len())
    } else {
        String::new()
    };
    let caption = format!(
        "By how much {} gets worse when the values of one column are shuffled among the rows. A column whose interval contains 0 may be of no use to the model.{which}",
        explanation.score
    );
    let mut figures = Vec::new();
    figures.extend(figure_unless_empty(
        "importance",
        "Importance of the columns",
        &caption,
        MovingMark::Absent,
        figure_importance(ImportanceBars {
            title: "Importance of the columns".into(),
            score: explanation.score.clone(),
            bars: defined.into_iter().take(MAX_PLOTTED_COLUMNS).collect(),
        }),
    )?);
    for (at, dependence) in explanation.partial_dependence.iter().enumerate() {
        figures.extend(dependence_figure(at, dependence, &explanation.classes)?);
    }
    Ok(figures)
}

/// The maximum number of classes whose probabilities are plotted in a figure of partial dependence.
const MAX_PLOTTED_CLASSES: usize = 6;

/// The figure of the partial dependence on one column. `number` counts the figures of partial dependence from 0.
fn dependence_figure(
    number: usize,
    dependence: &PartialDependence,
    classes: &[String],
) -> Result<Option<ReportFigure>> {
    let PartialDependence { column, part, values, probability, positive_share } = dependence;
    let weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let text = |value: &GridValue| match value {
        GridValue::Text(text) => text.clone(),
        GridValue::Number(number) => weekdays.get(*number as usize).map_or_else(String::new, ToString::to_string),
    };
    let is_named = part.as_deref() == Some("weekday") || values.iter().any(|value| matches!(value, GridValue::Text(_)));
    let levels: Vec<String> = if is_named { values.iter().map(text).collect() } else { Vec::new() };
    let x = |(at, value): (usize, &GridValue)| match value {
        GridValue::Number(number) if !is_named => *number,
        _ => at as f64,
    };
    let line = |name: String, numbers: Vec<f64>| NamedLine {
        name,
        points: values.iter().enumerate().map(x).zip(numbers.into_iter().map(Some)).collect(),
    };
    let positive = classes.get(1).map_or("positive", String::as_str);
    let (lines, which) = match (probability, positive_share) {
        (ClassMeans::Positive(probability), ClassMeans::Positive(share)) => {
            let lines = vec![
                line(format!("mean probability of {positive}"), probability.clone()),
                line(format!("share of rows predicted as {positive}"), share.clone()),
            ];
            (lines, String::new())
        }
        (ClassMeans::Classes(rows), _) => {
            let of_class = |class: usize| rows.iter().map(|row| row.get(class).copied().unwrap_or(f64::NAN)).collect();
            let range = |class: &usize| {
                let numbers: Vec<f64> = of_class(*class);
                let ends = |fold: fn(f64, f64) -> f64| numbers.iter().copied().fold(f64::NAN, fold);
                ends(f64::max) - ends(f64::min)
            };
            let mut chosen: Vec<usize> = (0..classes.len()).collect();
            chosen.sort_by(|a, b| range(b).total_cmp(&range(a)));
            chosen.truncate(MAX_PLOTTED_CLASSES);
            chosen.sort_unstable();
            let which = if classes.len() > MAX_PLOTTED_CLASSES {
                format!(" The figure shows the {MAX_PLOTTED_CLASSES} classes whose probability changes most.")
            } else {
                String::new()
            };
            let name = |class: usize| format!("mean probability of {}", classes[class]);
            (chosen.into_iter().map(|class| line(name(class), of_class(class))).collect(), which)
        }
        _ => (Vec::new(), String::new()),
    };
    let label = part.as_ref().map_or_else(|| column.clone(), |part| format!("{part} of {column}"));
    let title = format!("Dependence on {label}");
    let caption = format!(
        "The mean prediction over the rows if every row had this value of {label} and kept its other values.{which}"
    );
    let picture = figure_dependence(DependenceCurves { title: title.clone(), label, levels, lines });
    figure_unless_empty(&format!("dependence-{}", number + 1), &title, &caption, MovingMark::Absent, picture)
}

/// The figure of the distribution of a score under a random threshold.
fn theory_figure(theory: &TheoryReport) -> Result<Option<ReportFigure>> {
    let picture = figure_score_distribution(ScoreDistributionFigure {
        title: format!("{} under a random threshold", theory.score),
        score: theory.score.clone(),
        steps: theory.distribution.clone(),
        expected_score: theory.expected_score,
        score_of_expectation: theory.score_of_expectation,
    });
    let caption = format!(
        "Cumulative distribution of {} when the threshold is random with the prior {}. The steeper the line, the less the threshold matters.",
        theory.score, theory.prior
    );
    figure_unless_empty("law", "The score under a random threshold", &caption, MovingMark::Absent, picture)
}

/// The figures that compare two forecasts.
fn comparison_figures(comparison: &ForecastCurves) -> Result<Vec<ReportFigure>> {
    let parse = |name: &str| Score::parse(name).map_err(|error| Error::Drawing(error.to_string()));
    let (score, pofd, recall) = (parse(&comparison.score)?, parse("pofd")?, parse("recall")?);
    let both = || comparison.names.iter().zip(&comparison.points);
    let title = format!("{} by threshold", comparison.score);
    let curve = |(name, points): (&String, &Vec<ThresholdPoint>)| NamedLine {
        name: name.clone(),
        points: score_by_threshold(points, &score),
    };
    let mut figures = Vec::new();
    figures.extend(figure_unless_empty(
        "scores",
        &title,
        "The score of each forecast at every threshold.",
        MovingMark::Absent,
        figure_scores(ScoreCurves {
            title: title.clone(),
            lines: both().map(curve).collect(),
            mark: comparison.thresholds[0].filter(|_| comparison.thresholds[0] == comparison.thresholds[1]),
            ..ScoreCurves::default()
        }),
    )?);
    let pair = |point: &ThresholdPoint| {
        let matrix = point.confusion();
        pofd.checked(&matrix).map(|x| (x, recall.checked(&matrix)))
    };
    let line = |(name, points): (&String, &Vec<ThresholdPoint>)| NamedLine {
        name: name.clone(),
        points: points.iter().filter_map(pair).collect(),
    };
    figures.extend(figure_unless_empty(
        "roc",
        "ROC curves",
        "Vertical: share of events that are detected. Horizontal: share of non-events with a false alarm.",
        MovingMark::Absent,
        figure_roc(Roc {
            title: "ROC curves".into(),
            lines: both().map(line).collect(),
            areas: comparison.areas.to_vec(),
            mark: None,
        }),
    )?);
    if let (Some(mean), Some(interval)) = (comparison.difference, comparison.interval) {
        let caption = format!(
            "Score of the first forecast minus score of the second: {} (95 % interval {} to {}). Bars: the difference in the bootstrap replicates. If the whole interval lies on one side of 0, the data clearly favour one forecast.",
            format_rounded(mean),
            format_rounded(interval.0),
            format_rounded(interval.1)
        );
        let picture = figure_difference(Differences {
            title: format!("{} minus {}", comparison.names[0], comparison.names[1]),
            score: comparison.score.clone(),
            values: comparison.differences.clone(),
            difference: mean,
            interval,
        });
        let title = format!("Difference of {}", comparison.score);
        figures.extend(figure_unless_empty("difference", &title, &caption, MovingMark::Absent, picture)?);
    }
    Ok(figures)
}

/// The figure of a score over time.
fn series_figure(series: &ScoreSeries) -> Result<Option<ReportFigure>> {
    let point = |point: &SeriesPoint| CumulativeScore {
        step: point.step as f64,
        value: point.value,
        interval: point.low.zip(point.high),
    };
    let label = match &series.times {
        Some(times) => format!("times of {}, from {} to {}", times.column, times.first, times.last),
        None => "rows of the table".into(),
    };
    let picture = figure_series(SeriesCurve {
        title: format!("{} over time", series.score),
        label,
        score: series.score.clone(),
        points: series.points.iter().map(point).collect(),
        steps: series.steps.clone(),
    });
    let caption = "Line: at each time, the score of the counts summed up to this time, with its 95 % interval. Dots: the score of each time alone. It has no interval, because the counts of a single time do not show how much the score varies between times.";
    figure_unless_empty("series", &format!("{} over time", series.score), caption, MovingMark::Absent, picture)
}

/// The figure of the score of a model in each period after its training.
fn periods_figure(result: &MonitorSummary) -> Result<Option<ReportFigure>> {
    let period = |period: &PeriodSummary| (period.value.value, period.value.interval());
    let ends = result.periods.each.first().zip(result.periods.each.last());
    let range = ends.map_or(String::new(), |(first, last)| match first.name == last.name {
        true => format!(": {}", first.name),
        false => format!(", from {} to {}", first.name, last.name),
    });
    let label = match &result.periods.column {
        Some(column) => format!("periods of {column}{range}"),
        None => format!("periods{range}"),
    };
    let then = result.value.then;
    let picture = figure_periods(PeriodScores {
        title: format!("{} over time", result.score),
        label,
        score: result.score.clone(),
        periods: result.periods.each.iter().map(period).collect(),
        before: then.value,
        interval_before: then.interval(),
    });
    let caption = "The score of each period alone at the threshold of the model, with its 95 % interval, beside the score on the rows that were held out of the training. By chance alone, about one period in twenty differs from the earlier score.";
    figure_unless_empty("periods", &format!("{} over time", result.score), caption, MovingMark::Absent, picture)
}

/// The figure of events and alarms over time.
fn alarms_figure(alarms: &AlarmTimeline) -> Result<Option<ReportFigure>> {
    let panel = |stretch: &AlarmStretch| {
        let last = stretch.first.saturating_add(stretch.predictions.len()).saturating_sub(1);
        AlarmPanel {
            title: format!("rows {} to {last}", stretch.first),
            first: stretch.first as f64,
            predictions: stretch.predictions.clone(),
            outcomes: stretch.outcomes.clone(),
        }
    };
    let picture = figure_alarms(AlarmChart {
        panels: alarms.stretches.iter().map(panel).collect(),
        label: alarms.unit.clone(),
        threshold: alarms.threshold,
    });
    let rows = |outcome: RowOutcome| {
        alarms.counts.iter().find(|count| count.outcome == outcome).map_or(0, |count| count.rows).to_string()
    };
    let shown: usize = alarms.stretches.iter().map(|stretch| stretch.predictions.len()).sum();
    let which = if shown < alarms.rows {
        format!(" The figure shows {shown} of {} rows: the parts of the table with the most events.", alarms.rows)
    } else {
        String::new()
    };
    let caption = format!(
        "Above: events. Below: alarms. In all rows: {} hits, {} alarms shortly before an event, {} other false alarms, {} events missed shortly after an alarm, {} other missed events.{which}",
        rows(RowOutcome::Hit),
        rows(RowOutcome::EarlyAlarm),
        rows(RowOutcome::FalseAlarm),
        rows(RowOutcome::MissAfterAlarm),
        rows(RowOutcome::Miss)
    );
    figure_unless_empty("alarms", "Events and alarms over time", &caption, MovingMark::Absent, picture)
}

/// Draws these priors in the same way as Figure 1 of Marchetti et al. (2022).
pub fn paper_figure_1(priors: &[String]) -> Result<Picture> {
    let mut rows = Vec::new();
    for text in priors {
        let prior: Prior = text.parse().map_err(|error: scorewise::Error| Error::Drawing(error.to_string()))?;
        rows.push(PriorRow { title: prior_title(text), priors: vec![NamedPrior { name: text.clone(), prior }] });
    }
    figure_priors(&rows)
}

/// Draws the best thresholds of training runs in the same way as Figure 2 of Marchetti et al. (2022), with one panel for each prior.
pub fn paper_figure_2(figure: &ScoreThresholds) -> Result<Picture> {
    let mut panels = Vec::new();
    for (text, thresholds) in &figure.panels {
        let prior = text.parse().map_err(|error: scorewise::Error| Error::Drawing(error.to_string()))?;
        panels.push(ThresholdPanel { title: prior_title(text), prior, thresholds: thresholds.clone() });
    }
    figure_thresholds(&panels)
}

/// Formats a prior in the notation of Marchetti et al. (2022): `cosine:0.5,0.1` becomes `Raised cosine: μ = 0.5, δ = 0.1`.
fn prior_title(text: &str) -> String {
    match text.strip_prefix("cosine:").and_then(|numbers| numbers.split_once(',')) {
        Some((mu, delta)) => format!("Raised cosine: μ = {mu}, δ = {delta}"),
        None if text == "uniform" => "Uniform".into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_interval_matches_a_hand_calculation() {
        // For 5 hits in 10 rows, the 95 % Wilson interval has the centre ½ and the half-width z/(1 + z²/10) · √(1/40 + z²/400), where z is the
        // 97.5 % quantile of the standard normal distribution.
        let z = 1.959_963_984_540_054f64;
        let half = z / (1.0 + z * z / 10.0) * (1.0 / 40.0 + z * z / 400.0).sqrt();
        let (low, high) = wilson_interval(5.0, 10.0);
        assert!((low - (0.5 - half)).abs() < 1e-15 && (high - (0.5 + half)).abs() < 1e-15);
        assert_eq!(wilson_interval(0.0, 4.0).0, 0.0);
        assert_eq!(wilson_interval(4.0, 4.0).1, 1.0);
    }

    #[test]
    fn reliability_bins_merge_five_bins_by_weighted_means() {
        let bin = |low: f64, mean: f64, positives: f64, negatives: f64| PredictionBin {
            low,
            high: low + 0.02,
            mean: Some(mean),
            positives,
            negatives,
        };
        let empty = |low: f64| PredictionBin { low, high: low + 0.02, mean: None, positives: 0.0, negatives: 0.0 };
        let mut bins = vec![bin(0.0, 0.01, 1.0, 9.0), bin(0.02, 0.03, 2.0, 3.0)];
        bins.extend((2..50).map(|k| empty(0.02 * f64::from(k))));
        let merged_bins = reliability_bins(&bins, false);
        assert_eq!(merged_bins.len(), 1);
        assert!((merged_bins[0].mean - (0.01 * 10.0 + 0.03 * 5.0) / 15.0).abs() < 1e-15);
        assert_eq!((merged_bins[0].frequency, merged_bins[0].weight), (3.0 / 15.0, 15.0));
    }
}
