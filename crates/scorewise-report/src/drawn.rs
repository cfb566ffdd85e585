//! Which figures a result has: the same for a page, for `--plots` and for a notebook.

use scorewise::sweep::Condition;
use scorewise::{Prior, Score};

use crate::classes::{ClassBin, Classes, figure_classes};
use crate::decision::{DecisionCurve, figure_decision};
use crate::difference::{Differences, figure_difference};
use crate::document::{Bin, Comparison, Document, Forecast, Point, Theory, ThresholdsOf, Training, matrix};
use crate::error::{Error, Result};
use crate::law::{ScoreLaw, figure_law};
use crate::lines::NamedLine;
use crate::number::spoken;
use crate::performance::{Performance, figure_performance};
use crate::picture::Picture;
use crate::precision_recall::{PrecisionRecall, figure_precision_recall};
use crate::priors::{NamedPrior, PriorRow, figure_priors};
use crate::reliability::{Reliability, ReliabilityBin, figure_reliability};
use crate::roc::{Roc, figure_roc};
use crate::scores::{ScoreCurves, figure_scores};
use crate::thresholds::{Thresholds, figure_thresholds};
use crate::training::{EpochValues, MemberCurves, ScoreByEpoch, TrainingCurves, figure_training};

/// A figure of a result.
#[derive(Debug)]
pub struct Drawn {
    /// The name of its file, without the ending.
    pub name: String,
    /// What it is.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// What moves in it with the threshold.
    pub moving: Moving,
    /// The figure.
    pub picture: Picture,
}

/// What moves in a figure with the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moving {
    /// Nothing.
    Still,
    /// An upright line at the threshold.
    Line,
    /// A dot whose place is told by two scores.
    Dot(&'static str, &'static str),
}

/// All figures of a result, in the order of a page.
pub fn figures(document: &Document) -> Result<Vec<Drawn>> {
    let mut found = Vec::new();
    if let Some(forecast) = &document.forecast {
        found.extend(of_forecast(forecast)?);
    }
    if let Some(training) = &document.training {
        found.extend(of_training(training)?);
    }
    if let Some(theory) = &document.theory {
        found.extend(of_theory(theory)?);
    }
    if let Some(comparison) = &document.comparison {
        found.extend(of_comparison(comparison)?);
    }
    if let Some(reproduction) = &document.reproduction {
        if !reproduction.priors.is_empty() {
            let caption = "Priors of the threshold: the density on the left, the probability of a threshold at most τ on the right.";
            let picture = paper_priors(&reproduction.priors);
            found.extend(drawn("figure-1", "Figure 1: the priors", caption, Moving::Still, picture)?);
        }
        for figure in &reproduction.thresholds {
            let name = match reproduction.thresholds.len() {
                1 => "figure-2".into(),
                _ => format!("figure-2-{}", file_name(&figure.score)),
            };
            let title = format!("Figure 2: best thresholds, {}", figure.score);
            let caption =
                "Where the best thresholds of the trainings fell, under the prior that they were trained with.";
            found.extend(drawn(&name, &title, caption, Moving::Still, paper_thresholds(figure))?);
        }
    }
    Ok(found)
}

/// A score may be a formula; a file's name is letters, digits and dashes.
#[must_use]
pub fn file_name(score: &str) -> String {
    score.chars().map(|sign| if sign.is_alphanumeric() { sign } else { '-' }).collect()
}

/// The scores over the threshold, the figure that says the most about a forecast.
pub fn figure_of_scores(forecast: &Forecast, is_narrow: bool) -> Result<Drawn> {
    let scores: Vec<Score> = shown_scores(forecast);
    let curve =
        |score: &Score| NamedLine { name: score.name().into(), points: over_thresholds(&forecast.points, score) };
    let picture = figure_scores(ScoreCurves {
        title: "Scores over the threshold".into(),
        lines: scores.iter().map(curve).collect(),
        prior: prior(forecast)?,
        mark: Some(forecast.threshold),
        interval: forecast.interval,
        spread: forecast.spread,
        infeasible: infeasible(forecast)?,
        is_narrow,
    })?;
    Ok(Drawn {
        name: "scores".into(),
        title: "Scores over the threshold".into(),
        caption: "Each score at every threshold: how high it gets, where, and how much a threshold beside the best one costs.".into(),
        moving: Moving::Line,
        picture,
    })
}

/// The score that decides, and a few more that can stand on the same axis.
fn shown_scores(forecast: &Forecast) -> Vec<Score> {
    let all = forecast.scores();
    let is_usual = |score: &&Score| ["f1", "precision", "recall", "tss", "csi"].contains(&score.name());
    all.iter().take(1).chain(all.iter().skip(1).filter(is_usual)).take(6).cloned().collect()
}

fn of_forecast(forecast: &Forecast) -> Result<Vec<Drawn>> {
    let value = |name: &str| -> Result<Score> { Score::parse(name).map_err(|fault| Error::Drawing(fault.to_string())) };
    let (precision, recall, pofd) = (value("precision")?, value("recall")?, value("pofd")?);
    let pairs = |across: &Score, up: &Score| {
        let pair = |point: &Point| {
            let matrix = point.confusion();
            across.checked(&matrix).map(|across| (across, up.checked(&matrix)))
        };
        vec![NamedLine { name: "forecast".into(), points: forecast.points.iter().filter_map(pair).collect() }]
    };
    let at_mark = |across: &Score, up: &Score| {
        let matrix = forecast.point()?.confusion();
        Some((across.checked(&matrix)?, up.checked(&matrix)?))
    };
    let (positives, negatives) = classes(forecast);
    let base_rate = (positives + negatives > 0.0).then(|| positives / (positives + negatives));
    let mark = Some(forecast.threshold);
    let interval = |name: &str| {
        let found = forecast.intervals.iter().find(|interval| interval.score == name)?;
        Some((found.low, found.high))
    };
    let mut found: Vec<Drawn> = drawable(figure_of_scores(forecast, false))?.into_iter().collect();
    // Those of equal height follow each other: figures stand in pairs.
    found.extend(drawn(
        "predictions",
        "Predictions by class",
        "How the predictions of each class are spread. A forecast that tells the classes apart has two heaps with the threshold between them.",
        Moving::Line,
        figure_classes(Classes {
            title: "Predictions by class".into(),
            bins: forecast.bins.iter().map(class_bin).collect(),
            prior: prior(forecast)?,
            mark,
            names: forecast.classes.clone(),
        }),
    )?);
    found.extend(drawn(
        "decision",
        "Decision curve",
        "Net benefit: hits less false alarms, weighed by what they cost. At p, a miss costs (1 − p)/p as much as a false alarm. Where the forecast lies above both other lines, using it pays.",
        Moving::Line,
        decision(forecast),
    )?);
    found.extend(drawn(
        "roc",
        "ROC curve",
        "Events caught against false alarms among quiet cases. The diagonal is a forecast by the toss of a coin.",
        Moving::Dot("pofd", "recall"),
        figure_roc(Roc {
            title: "ROC curve".into(),
            lines: pairs(&pofd, &recall),
            areas: vec![forecast.roc_area],
            mark: at_mark(&pofd, &recall),
        }),
    )?);
    found.extend(drawn(
        "precision-recall",
        "Precision and recall",
        &format!(
            "Of the alarms, how many were right, against how many of the events were caught. The dashed level is an alarm at random.{}",
            forecast.average_precision.map_or(String::new(), |area| format!(" Average precision {}.", spoken(area)))
        ),
        Moving::Dot("recall", "precision"),
        figure_precision_recall(PrecisionRecall {
            title: "Precision and recall".into(),
            lines: pairs(&recall, &precision),
            base_rate,
            mark: at_mark(&recall, &precision),
        }),
    )?);
    found.extend(drawn(
        "performance",
        "Performance diagram",
        "As forecasters draw it: up and to the right is better. Curves have equal CSI, rays equal frequency bias (alarms per event).",
        Moving::Dot("precision", "recall"),
        figure_performance(Performance {
            title: "Performance diagram".into(),
            lines: pairs(&precision, &recall),
            mark: at_mark(&precision, &recall),
            whiskers: interval("precision").zip(interval("recall")),
        }),
    )?);
    found.extend(drawn(
        "reliability",
        "Reliability diagram",
        "How often the event came where the forecast said so many per cent. On the diagonal a forecast is calibrated; bars are 95 % intervals (Wilson; none with weights). A model trained for a score need not be calibrated: it is made for its threshold.",
        Moving::Still,
        figure_reliability(Reliability {
            title: "Reliability".into(),
            bins: reliability(&forecast.bins, forecast.is_weighted),
            base_rate: base_rate.unwrap_or(0.0),
        }),
    )?);
    Ok(found)
}

/// A figure with its words; nothing where there is nothing to draw, as without a positive row.
fn drawn(name: &str, title: &str, caption: &str, moving: Moving, picture: Result<Picture>) -> Result<Option<Drawn>> {
    let with_words =
        |picture| Drawn { name: name.into(), title: title.into(), caption: caption.into(), moving, picture };
    Ok(drawable(picture)?.map(with_words))
}

fn drawable<T>(figure: Result<T>) -> Result<Option<T>> {
    match figure {
        Ok(figure) => Ok(Some(figure)),
        Err(Error::Empty) => Ok(None),
        Err(other) => Err(other),
    }
}

fn prior(forecast: &Forecast) -> Result<Option<Prior>> {
    let parse = |text: &String| text.parse().map_err(|fault: scorewise::Error| Error::Drawing(fault.to_string()));
    forecast.prior.as_ref().map(parse).transpose()
}

fn classes(forecast: &Forecast) -> (f64, f64) {
    let sum = |of: fn(&Bin) -> f64| forecast.bins.iter().map(of).sum::<f64>();
    (sum(|bin| bin.positives), sum(|bin| bin.negatives))
}

fn class_bin(bin: &Bin) -> ClassBin {
    ClassBin { low: bin.low, high: bin.high, positives: bin.positives, negatives: bin.negatives }
}

/// A score over the threshold: each step from its first end to its second.
fn over_thresholds(points: &[Point], score: &Score) -> Vec<(f64, Option<f64>)> {
    let step = |point: &Point| {
        let value = score.checked(&point.confusion());
        [(point.low, value), (point.high, value)]
    };
    points.iter().flat_map(step).collect()
}

/// Stretches of thresholds that break a condition.
pub(crate) fn infeasible(forecast: &Forecast) -> Result<Vec<(f64, f64)>> {
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    let mut is_open = false;
    for (point, holds) in forecast.points.iter().zip(feasible(forecast)?) {
        match (holds, is_open) {
            (false, false) => stretches.push((point.low, point.high)),
            (false, true) => stretches.last_mut().expect("one is open").1 = point.high,
            _ => {}
        }
        is_open = !holds;
    }
    Ok(stretches)
}

/// Whether each point satisfies all conditions.
pub(crate) fn feasible(forecast: &Forecast) -> Result<Vec<bool>> {
    let mut conditions = Vec::new();
    for text in &forecast.conditions {
        conditions.extend(Condition::parse(text).map_err(|fault| Error::Drawing(fault.to_string()))?);
    }
    let holds = |point: &Point| conditions.iter().all(|condition| condition.holds(&point.confusion()));
    Ok(forecast.points.iter().map(holds).collect())
}

/// Bins of a reliability diagram, five of ours to one.
fn reliability(bins: &[Bin], is_weighted: bool) -> Vec<ReliabilityBin> {
    let bin = |group: &[Bin]| {
        let positives: f64 = group.iter().map(|bin| bin.positives).sum();
        let weight: f64 = positives + group.iter().map(|bin| bin.negatives).sum::<f64>();
        let sum: f64 = group.iter().filter_map(|bin| Some(bin.mean? * (bin.positives + bin.negatives))).sum();
        // Weights are no counts: of how many rows they come the bins do not tell, so there is no interval.
        let frequency = positives / weight;
        let (low, high) = if is_weighted { (frequency, frequency) } else { wilson(positives, weight) };
        (weight > 0.0).then(|| ReliabilityBin { mean: sum / weight, frequency, low, high, weight })
    };
    bins.chunks(bins.len().div_ceil(10).max(1)).filter_map(bin).collect()
}

/// The 95 % interval of a frequency.
///
/// Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. Journal of the American
/// Statistical Association 22, 209–212. doi:10.1080/01621459.1927.10502953
fn wilson(hits: f64, total: f64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    if total <= 0.0 {
        return (0.0, 1.0);
    }
    let (share, square) = (hits / total, Z * Z / total);
    let middle = (share + 0.5 * square) / (1.0 + square);
    let half = Z / (1.0 + square) * (share * (1.0 - share) / total + 0.25 * square / total).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

fn decision(forecast: &Forecast) -> Result<Picture> {
    let (positives, negatives) = classes(forecast);
    let always_yes = matrix([0.0, negatives, 0.0, positives]);
    let mut lines = [("forecast", Vec::new()), ("always yes", Vec::new()), ("always no", Vec::new())];
    for point in forecast.points.iter().filter(|point| point.threshold <= 0.99) {
        let score = Score::parse(&format!("net_benefit(threshold={})", point.threshold));
        let score = score.map_err(|fault| Error::Drawing(fault.to_string()))?;
        lines[0].1.push((point.threshold, score.checked(&point.confusion())));
        lines[1].1.push((point.threshold, score.checked(&always_yes)));
        lines[2].1.push((point.threshold, Some(0.0)));
    }
    figure_decision(DecisionCurve {
        title: "Decision curve".into(),
        lines: lines.map(|(name, points)| NamedLine { name: name.into(), points }).to_vec(),
        mark: Some(forecast.threshold),
    })
}

fn of_training(training: &Training) -> Result<Option<Drawn>> {
    let values = |epochs: &[crate::document::Epoch]| -> Vec<EpochValues> {
        let value = |epoch: &crate::document::Epoch| EpochValues {
            training: epoch.training,
            validation: epoch.validation,
            coverage: epoch.coverage.unwrap_or(f64::NAN),
        };
        epochs.iter().map(value).collect()
    };
    let member = |member: &crate::document::Member| MemberCurves {
        warm_up: values(&member.warm_up),
        main: values(&member.epochs),
        kept: member.kept,
    };
    let told = |member: &crate::document::Member| member.epochs.iter().filter_map(|epoch| epoch.score).collect();
    let score = training.score.as_ref().map(|name| ScoreByEpoch {
        name: format!("{name} of the expected matrix"),
        values: training.members.iter().map(told).collect(),
    });
    let picture = figure_training(&TrainingCurves {
        members: training.members.iter().map(member).collect(),
        loss: training.loss.clone(),
        score,
    });
    let members = match training.members.len() {
        1 => "A mark where the weights were kept.".into(),
        members => {
            format!("{members} networks: the median as a line, all of them as a band. Marks where weights were kept.")
        }
    };
    let support = match training.score {
        Some(_) => " Where no prediction lies inside the prior's support, nothing is learnt.",
        None => "",
    };
    let caption = format!("{members}{support}");
    drawn("training", "Training, epoch by epoch", &caption, Moving::Still, picture)
}

fn of_theory(theory: &Theory) -> Result<Option<Drawn>> {
    let picture = figure_law(ScoreLaw {
        title: format!("{} under a random threshold", theory.score),
        score: theory.score.clone(),
        steps: theory.law.clone(),
        expected_score: theory.expected_score,
        score_of_expectation: theory.score_of_expectation,
    });
    let caption = format!(
        "The probability that {} is at most so high while the threshold is drawn from {}. The steeper the line, the less the threshold matters.",
        theory.score, theory.prior
    );
    drawn("law", "The score under a random threshold", &caption, Moving::Still, picture)
}

fn of_comparison(comparison: &Comparison) -> Result<Vec<Drawn>> {
    let parse = |name: &str| Score::parse(name).map_err(|fault| Error::Drawing(fault.to_string()));
    let (score, pofd, recall) = (parse(&comparison.score)?, parse("pofd")?, parse("recall")?);
    let both = || comparison.names.iter().zip(&comparison.points);
    let title = format!("{} over the threshold", comparison.score);
    let curve = |(name, points): (&String, &Vec<Point>)| NamedLine {
        name: name.clone(),
        points: over_thresholds(points, &score),
    };
    let mut found = Vec::new();
    found.extend(drawn(
        "scores",
        &title,
        "Each forecast at every threshold.",
        Moving::Still,
        figure_scores(ScoreCurves {
            title: title.clone(),
            lines: both().map(curve).collect(),
            mark: comparison.thresholds[0].filter(|_| comparison.thresholds[0] == comparison.thresholds[1]),
            ..ScoreCurves::default()
        }),
    )?);
    let pair = |point: &Point| {
        let matrix = point.confusion();
        pofd.checked(&matrix).map(|across| (across, recall.checked(&matrix)))
    };
    let line = |(name, points): (&String, &Vec<Point>)| NamedLine {
        name: name.clone(),
        points: points.iter().filter_map(pair).collect(),
    };
    found.extend(drawn(
        "roc",
        "ROC curves",
        "Events caught against false alarms among quiet cases.",
        Moving::Still,
        figure_roc(Roc {
            title: "ROC curves".into(),
            lines: both().map(line).collect(),
            areas: comparison.areas.to_vec(),
            mark: None,
        }),
    )?);
    if let (Some(mean), Some(interval)) = (comparison.difference, comparison.interval) {
        let caption = format!(
            "The difference in resampled rows, first less second: {} (95 % {} to {}). Where all of it lies on one side of 0, the rows leave little doubt.",
            spoken(mean),
            spoken(interval.0),
            spoken(interval.1)
        );
        let picture = figure_difference(Differences {
            title: format!("{} less {}", comparison.names[0], comparison.names[1]),
            score: comparison.score.clone(),
            values: comparison.differences.clone(),
            difference: mean,
            interval,
        });
        let title = format!("Difference of {}", comparison.score);
        found.extend(drawn("difference", &title, &caption, Moving::Still, picture)?);
    }
    Ok(found)
}

/// Figure 1 of the paper: these priors.
pub fn paper_priors(priors: &[String]) -> Result<Picture> {
    let mut rows = Vec::new();
    for text in priors {
        let prior: Prior = text.parse().map_err(|fault: scorewise::Error| Error::Drawing(fault.to_string()))?;
        rows.push(PriorRow { title: prior_title(text), priors: vec![NamedPrior { name: text.clone(), prior }] });
    }
    figure_priors(&rows)
}

/// Figure 2 of the paper: the best thresholds of trainings.
pub fn paper_thresholds(figure: &ThresholdsOf) -> Result<Picture> {
    let mut panels = Vec::new();
    for (text, thresholds) in &figure.panels {
        let prior = text.parse().map_err(|fault: scorewise::Error| Error::Drawing(fault.to_string()))?;
        panels.push(Thresholds { title: prior_title(text), prior, thresholds: thresholds.clone() });
    }
    figure_thresholds(&panels)
}

/// As the paper writes it: `cosine:0.5,0.1` is a raised cosine with μ = 0.5 and δ = 0.1.
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
    fn frequencies_have_the_interval_of_wilson() {
        // Worked by hand for 5 of 10: middle ½, half z/(1 + z²/10) · √(1/40 + z²/400).
        let z = 1.959_963_984_540_054f64;
        let half = z / (1.0 + z * z / 10.0) * (1.0 / 40.0 + z * z / 400.0).sqrt();
        let (low, high) = wilson(5.0, 10.0);
        assert!((low - (0.5 - half)).abs() < 1e-15 && (high - (0.5 + half)).abs() < 1e-15);
        assert_eq!(wilson(0.0, 4.0).0, 0.0);
        assert_eq!(wilson(4.0, 4.0).1, 1.0);
    }

    #[test]
    fn reliability_bins_are_weighted_means_of_five() {
        let bin = |low: f64, mean: f64, positives: f64, negatives: f64| Bin {
            low,
            high: low + 0.02,
            mean: Some(mean),
            positives,
            negatives,
        };
        let empty = |low: f64| Bin { low, high: low + 0.02, mean: None, positives: 0.0, negatives: 0.0 };
        let mut bins = vec![bin(0.0, 0.01, 1.0, 9.0), bin(0.02, 0.03, 2.0, 3.0)];
        bins.extend((2..50).map(|k| empty(0.02 * f64::from(k))));
        let found = reliability(&bins, false);
        assert_eq!(found.len(), 1);
        assert!((found[0].mean - (0.01 * 10.0 + 0.03 * 5.0) / 15.0).abs() < 1e-15);
        assert_eq!((found[0].frequency, found[0].weight), (3.0 / 15.0, 15.0));
    }
}
