//! Finds the best threshold of a score and its uncertainty, or explains why no threshold is best.

use scorewise::sweep::{Best, BestDistribution, Bootstrap, Condition, CorrectedScore, Guarantee, Runs, Sweep, sweep};
use scorewise::{Confusion, Probabilities, Real, Result, Rows, Score};
use scorewise_train::{Error, Location};
use serde::{Deserialize, Serialize};

use super::costs::CostSummary;
use super::guarantee::{GuaranteeSummary, NoBestThreshold};
use super::series::TimingSummary;
use super::summary::Estimate;
use crate::number::format_number;

/// With at most this many rows, every bootstrap replicate searches all thresholds; with more rows, see [`THRESHOLD_RUNS`].
pub const MAX_EXACT_ROWS: usize = 200_000;

/// With more than [`MAX_EXACT_ROWS`] rows, the rows are sorted by prediction and divided into this many runs of consecutive rows, and bootstrap
/// replicates search only the thresholds at the boundaries of runs. This loses no accuracy: the sampling error of the rank of the best threshold
/// among n rows is about n^⅔, much more than the number of rows in a run.
pub const THRESHOLD_RUNS: usize = 1 << 16;

/// Settings for the search of the best threshold.
#[derive(Clone, Copy, Debug)]
pub struct TuningOptions<'a> {
    /// The score to optimise.
    pub score: &'a Score,
    /// Conditions that the best threshold must satisfy. The smoothed threshold ignores them.
    pub conditions: &'a [Condition],
    /// Width of the smoothing (see [`SmoothThreshold::width`]) if the smoothed threshold shall be computed as well; `None` otherwise.
    pub smooth: Option<f64>,
    /// Settings of the bootstrap that gives the 95 % intervals of the best and of the smoothed threshold.
    pub bootstrap: &'a Bootstrap<'a>,
}

/// The best threshold of a score on some rows, its distribution over bootstrap replicates, and the confusion matrices at all thresholds.
#[derive(Debug)]
pub struct Tuning {
    /// The confusion matrices of the rows at all thresholds.
    pub sweep: Sweep,
    /// The best threshold.
    pub best: Best,
    /// The best threshold of every bootstrap replicate, and the score at this threshold.
    pub distribution: BestDistribution,
    /// An estimate of the score that the best threshold has on new rows; `None` when it cannot be estimated.
    pub corrected: Option<Estimate>,
    /// The smoothed threshold, if it was asked for.
    pub smooth: Option<SmoothThreshold>,
    /// The conditions on the threshold. A condition with a confidence counts as satisfied only at the thresholds that passed its test.
    pub conditions: Vec<Condition>,
    /// The tests of the conditions with a confidence; `None` if no condition has one.
    pub guarantee: Option<Guarantee>,
}

/// The smoothed threshold, whose score is best on average over nearby thresholds, in the form that is written as JSON. The fields after `width` are
/// `None` when the score of the expected confusion matrix is undefined at every threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmoothThreshold {
    /// Width of the smoothing. The prior over nearby thresholds has a constant width on the scale of log-odds; if it is centred at ½, it reaches
    /// from ½ − `width` to ½ + `width`.
    pub width: f64,
    /// The smoothed threshold.
    pub threshold: Option<f64>,
    /// The score of the rows at the smoothed threshold; `None` when it is undefined there.
    pub value: Option<f64>,
    /// The score of the expected confusion matrix when the threshold is drawn from the prior over nearby thresholds.
    pub expected_value: Option<f64>,
    /// The confusion matrix at the smoothed threshold.
    #[serde(default, with = "super::json::optional_confusion")]
    pub confusion: Option<Confusion>,
    /// An estimate of the score that the smoothed threshold has on new rows, with a 95 % interval; `None` when it cannot be estimated.
    #[serde(default)]
    pub corrected: Option<Estimate>,
    /// 95 % intervals of the smoothed threshold and of its score, from the same bootstrap replicates as the intervals of the best
    /// threshold.
    #[serde(default)]
    pub bootstrap: Option<ThresholdBootstrap>,
}

/// The best threshold of a score, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestThreshold {
    /// Name of the score.
    pub score: String,
    /// The best threshold.
    pub threshold: f64,
    /// Start and end of the interval of equally good thresholds. The end belongs to the interval only if it is 1 and no prediction is 1.
    pub interval: (f64, f64),
    /// The score at the best threshold.
    pub value: f64,
    /// The confusion matrix at the best threshold.
    #[serde(with = "super::json::confusion")]
    pub confusion: Confusion,
    /// The conditions that the threshold had to satisfy, as texts such as `precision >= 0.3`.
    pub subject_to: Vec<String>,
    /// How conditions with a confidence were tested; `None` if no condition has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<GuaranteeSummary>,
}

/// 95 % intervals of the best threshold and of its score over bootstrap replicates, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdBootstrap {
    /// Lower end of the 95 % interval of the best threshold.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the best threshold.
    pub high: Option<f64>,
    /// 95 % interval of the score at the best threshold.
    pub value: IntervalEnds,
    /// Number of bootstrap replicates.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// The two ends of an interval; both are `None` when the interval is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalEnds {
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// The result of `scorewise tune`, for two or for more classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TuneSummary {
    /// With more than two classes: one threshold for each class against all others.
    Classes(ClassTuningSummary),
    /// With two classes: a single threshold.
    Binary(Box<TuningSummary>),
}

/// The best threshold of a binary forecast, in the form that is written as JSON. Every field but the score is `None` when there is no best threshold,
/// because no threshold satisfies the conditions or because the score is undefined at every threshold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuningSummary {
    /// Name of the score.
    pub score: String,
    /// The best threshold; `None` when there is none.
    pub threshold: Option<f64>,
    /// Start and end of the interval of equally good thresholds. The end belongs to the interval only if it is 1 and no prediction is 1.
    pub interval: Option<(f64, f64)>,
    /// The score at the best threshold.
    pub value: Option<f64>,
    /// An estimate of the score that the best threshold has on new rows, with a 95 % interval; `None` when it cannot be estimated. On average it is
    /// worse than `value`, which is measured on the rows on which the threshold was chosen.
    #[serde(default)]
    pub corrected: Option<Estimate>,
    /// The confusion matrix at the best threshold.
    #[serde(default, with = "super::json::optional_confusion")]
    pub confusion: Option<Confusion>,
    /// 95 % intervals of the best threshold and of its score.
    pub bootstrap: Option<ThresholdBootstrap>,
    /// The conditions that the threshold had to satisfy, as texts such as `precision >= 0.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_to: Option<Vec<String>>,
    /// How conditions with a confidence were tested; `None` if no condition has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<GuaranteeSummary>,
    /// The smoothed threshold, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<Box<SmoothThreshold>>,
    /// Threshold of the model that made the predictions, if the file of predictions contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelThreshold>,
    /// How errors are weighted by their timing; `None` if every error counts 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporal: Option<TimingSummary>,
    /// The costs of the errors at the threshold; `None` unless the rows have costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostSummary>,
}

/// The threshold of the model that made the predictions, and the score at this threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelThreshold {
    /// Threshold of the model.
    pub threshold: f64,
    /// The score at the threshold of the model; `None` when it is undefined.
    pub value: Option<f64>,
}

/// The best threshold of every class against all others, for more than two classes, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassTuningSummary {
    /// Name of the score.
    pub score: String,
    /// The best threshold of every class.
    pub classes: Vec<ClassThreshold>,
    /// The conditions that every threshold had to satisfy, as texts such as `precision >= 0.3`.
    pub subject_to: Vec<String>,
}

/// The best threshold of one class against all others. All fields but the class and its number of rows are `None` when there is no best threshold,
/// because no threshold satisfies the conditions or because the score is undefined at every threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassThreshold {
    /// Name of the class.
    pub class: String,
    /// The best threshold; `None` when there is none.
    pub threshold: Option<f64>,
    /// Start and end of the interval of equally good thresholds. The end belongs to the interval only if it is 1 and no prediction is 1.
    pub interval: Option<(f64, f64)>,
    /// The score at the best threshold.
    pub value: Option<f64>,
    /// An estimate of the score that the best threshold has on new rows, with a 95 % interval; `None` when it cannot be estimated.
    #[serde(default)]
    pub corrected: Option<Estimate>,
    /// The confusion matrix of this class against all others at the best threshold.
    #[serde(default, with = "super::json::optional_confusion")]
    pub confusion: Option<Confusion>,
    /// 95 % intervals of the best threshold and of its score.
    pub bootstrap: Option<ThresholdBootstrap>,
    /// The smoothed threshold of the class, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<SmoothThreshold>,
    /// How conditions with a confidence were tested; `None` if no condition has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<GuaranteeSummary>,
    /// Number of rows of the class; shown in tables, not part of the JSON.
    #[serde(skip)]
    pub rows: usize,
}

impl Tuning {
    /// Finds the best threshold that satisfies the conditions, and its distribution over bootstrap replicates. If the options ask for the smoothed
    /// threshold, it is computed too. If there is no best threshold, the inner `Err` holds the confusion matrices at all thresholds, which show why.
    /// Conditions with a confidence are tested only once, on the original rows. The bootstrap replicates search the thresholds that passed this test.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        options: &TuningOptions<'_>,
    ) -> Result<std::result::Result<Self, NoBestThreshold>> {
        let TuningOptions { score, conditions, smooth, bootstrap } = *options;
        let sweep = sweep(rows)?;
        let guarantee = bootstrap.guarantee(rows, conditions)?;
        let tested =
            guarantee.as_ref().map_or_else(|| conditions.to_vec(), |guarantee| guarantee.conditions(conditions));
        let conditions = tested.as_slice();
        let Some(best) = sweep.best_subject_to(score, conditions) else {
            return Ok(Err(NoBestThreshold { sweep, guarantee: guarantee.as_ref().map(GuaranteeSummary::from) }));
        };
        let bootstrap = &bootstrap.with_block_length(rows, best.threshold, score);
        let distribution = best_threshold_bootstrap(rows, Some(&sweep), score, conditions, bootstrap)?;
        let corrected = corrected_score(rows, &sweep, score, conditions, None, bootstrap)?;
        let smooth = match smooth {
            Some(width) => Some(SmoothThreshold::new(rows, &sweep, score, width, bootstrap)?),
            None => None,
        };
        Ok(Ok(Tuning { sweep, best, distribution, corrected, smooth, conditions: tested, guarantee }))
    }

    /// Converts the result to the form that is written as JSON; `model` is the threshold of the model that made the predictions, if it is known.
    #[must_use]
    pub fn summary(&self, options: &TuningOptions<'_>, model: Option<ModelThreshold>) -> TuningSummary {
        TuningSummary {
            score: options.score.name().into(),
            threshold: Some(self.best.threshold),
            interval: Some(self.best.interval),
            value: Some(self.best.value),
            corrected: self.corrected,
            confusion: Some(self.best.confusion),
            bootstrap: Some(ThresholdBootstrap::new(&self.distribution, options.bootstrap)),
            subject_to: Some(condition_texts(options.conditions)),
            guarantee: self.guarantee.as_ref().map(GuaranteeSummary::from),
            smooth: self.smooth.clone().map(Box::new),
            model,
            temporal: None,
            costs: None,
        }
    }

    /// The threshold to use: the smoothed one if there is one, otherwise the best one.
    #[must_use]
    pub fn proposed_threshold(&self) -> f64 {
        self.smooth.as_ref().and_then(|smooth| smooth.threshold).unwrap_or(self.best.threshold)
    }
}

impl TuningSummary {
    /// The threshold to use: the smoothed one if there is one, otherwise the best one; `None` when there is no best threshold.
    #[must_use]
    pub fn proposed_threshold(&self) -> Option<f64> {
        self.smooth.as_ref().and_then(|smooth| smooth.threshold).or(self.threshold)
    }
}

impl SmoothThreshold {
    /// Finds the smoothed threshold of a score and its distribution over bootstrap replicates. `sweep` must hold the confusion matrices of `rows` at
    /// all thresholds.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        sweep: &Sweep,
        score: &Score,
        width: f64,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        let smooth = SmoothThreshold::without_bootstrap(sweep, score, width)?;
        if smooth.threshold.is_none() {
            return Ok(smooth);
        }
        let distribution = smooth_threshold_bootstrap(rows, Some(sweep), score, width, bootstrap)?;
        let corrected = corrected_score(rows, sweep, score, &[], Some(width), bootstrap)?;
        Ok(SmoothThreshold { bootstrap: Some(ThresholdBootstrap::new(&distribution, bootstrap)), corrected, ..smooth })
    }

    /// Finds the smoothed threshold of a score from the confusion matrices at all thresholds, without bootstrap intervals.
    pub fn without_bootstrap(sweep: &Sweep, score: &Score, width: f64) -> Result<Self> {
        let best = sweep.smooth_best(score, width)?;
        Ok(SmoothThreshold {
            width,
            threshold: best.as_ref().map(|best| best.threshold),
            value: best.as_ref().and_then(|best| best.value),
            expected_value: best.as_ref().map(|best| best.expected_value),
            confusion: best.as_ref().map(|best| best.confusion),
            corrected: None,
            bootstrap: None,
        })
    }
}

impl BestThreshold {
    /// Converts a best threshold, as the search returns it, to the form that is written as JSON.
    #[must_use]
    pub fn new(score: &Score, conditions: &[Condition], best: &Best) -> Self {
        BestThreshold {
            score: score.name().into(),
            threshold: best.threshold,
            interval: best.interval,
            value: best.value,
            confusion: best.confusion,
            subject_to: condition_texts(conditions),
            guarantee: None,
        }
    }
}

impl ThresholdBootstrap {
    /// Computes 95 % intervals from the best thresholds of the bootstrap replicates and the scores at these thresholds.
    #[must_use]
    pub fn new(distribution: &BestDistribution, bootstrap: &Bootstrap<'_>) -> Self {
        let ends = |interval: Option<(f64, f64)>| IntervalEnds {
            low: interval.map(|ends| ends.0),
            high: interval.map(|ends| ends.1),
        };
        let IntervalEnds { low, high } = ends(distribution.threshold.interval(0.95));
        ThresholdBootstrap {
            low,
            high,
            value: ends(distribution.value.interval(0.95)),
            replicates: bootstrap.replicates,
            seed: bootstrap.seed,
        }
    }

    /// 95 % interval of the best threshold; `None` when it is undefined.
    #[must_use]
    pub fn threshold_interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// 95 % interval of the score at the best threshold; `None` when it is undefined.
    #[must_use]
    pub fn value_interval(&self) -> Option<(f64, f64)> {
        self.value.low.zip(self.value.high)
    }
}

/// Finds the best threshold of every class against all others. `probabilities` has one vector per class, with one value per row.
pub fn tune_classes(
    classes: &[String],
    labels: &[u32],
    probabilities: &[Vec<f64>],
    weights: Option<&[f64]>,
    options: &TuningOptions<'_>,
) -> Result<ClassTuningSummary> {
    let mut thresholds = Vec::with_capacity(classes.len());
    for (number, (class, probabilities)) in (0..).zip(classes.iter().zip(probabilities)) {
        let is_class: Vec<bool> = labels.iter().map(|label| *label == number).collect();
        let rows = Rows::new(Probabilities(probabilities.as_slice()), &is_class)?;
        let rows = weights.map_or(Ok(rows), |weights| rows.weighted(weights))?;
        let summary = match Tuning::new(&rows, options)? {
            Ok(tuning) => tuning.summary(options, None),
            Err(reason) => TuningSummary { guarantee: reason.guarantee, ..TuningSummary::default() },
        };
        thresholds.push(ClassThreshold {
            class: class.clone(),
            threshold: summary.threshold,
            interval: summary.interval,
            value: summary.value,
            corrected: summary.corrected,
            confusion: summary.confusion,
            bootstrap: summary.bootstrap,
            smooth: summary.smooth.map(|smooth| *smooth),
            guarantee: summary.guarantee,
            rows: is_class.iter().filter(|is_class| **is_class).count(),
        });
    }
    let subject_to = condition_texts(options.conditions);
    Ok(ClassTuningSummary { score: options.score.name().into(), classes: thresholds, subject_to })
}

/// The best threshold of every bootstrap replicate. With at most [`MAX_EXACT_ROWS`] rows, all thresholds are searched. With more rows, the rows are
/// sorted by prediction and divided into [`THRESHOLD_RUNS`] groups, and only the thresholds between the groups are searched. The groups are taken
/// from `swept`, the confusion matrices of the rows at all thresholds, which are computed first if `swept` is `None`.
pub fn best_threshold_bootstrap<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    swept: Option<&Sweep>,
    score: &Score,
    conditions: &[Condition],
    bootstrap: &Bootstrap<'_>,
) -> Result<BestDistribution> {
    if rows.len() <= MAX_EXACT_ROWS {
        return bootstrap.best(rows, score, conditions);
    }
    bootstrap.best_of_runs(rows, &bootstrap_runs(rows, swept)?, score, conditions)
}

/// An estimate, with its 95 % interval, of the score on new rows at the best threshold or, if `width` is given, at the smoothed threshold. `None` if
/// the score on new rows cannot be estimated. `swept` must hold the confusion matrices of `rows` at all thresholds.
pub fn corrected_score<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    swept: &Sweep,
    score: &Score,
    conditions: &[Condition],
    width: Option<f64>,
    bootstrap: &Bootstrap<'_>,
) -> Result<Option<Estimate>> {
    let runs = swept.runs(if rows.len() <= MAX_EXACT_ROWS { usize::MAX } else { THRESHOLD_RUNS });
    let corrected = match width {
        None => bootstrap.corrected_best(rows, &runs, score, conditions)?,
        Some(width) => bootstrap.corrected_smooth_best(rows, &runs, score, width)?,
    };
    Ok(corrected.and_then(|CorrectedScore { value, distribution, .. }| {
        Some(Estimate::new(Some(value?), distribution.interval(0.95)))
    }))
}

/// Groups of rows with consecutive predictions; the bootstrap searches only the thresholds between them. The groups are taken from `swept`, the
/// confusion matrices of `rows` at all thresholds, which are computed first if `swept` is `None`.
fn bootstrap_runs<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>, swept: Option<&Sweep>) -> Result<Runs> {
    match swept {
        Some(sweep) => Ok(sweep.runs(THRESHOLD_RUNS)),
        None => Ok(sweep(rows)?.runs(THRESHOLD_RUNS)),
    }
}

/// The smoothed threshold of every bootstrap replicate, from the same replicates as [`best_threshold_bootstrap`]. `swept` holds the confusion
/// matrices of the rows at all thresholds; if it is `None`, they are computed when they are needed.
pub fn smooth_threshold_bootstrap<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    swept: Option<&Sweep>,
    score: &Score,
    width: f64,
    bootstrap: &Bootstrap<'_>,
) -> Result<BestDistribution> {
    if rows.len() <= MAX_EXACT_ROWS {
        return bootstrap.smooth_best(rows, score, width);
    }
    bootstrap.smooth_best_of_runs(rows, &bootstrap_runs(rows, swept)?, score, width)
}

/// Explains why no threshold is best: a condition cannot be met, or the score is undefined at every threshold.
#[must_use]
pub fn no_best_threshold(sweep: &Sweep, score: &Score, conditions: &[Condition]) -> String {
    let undefined = || undefined_everywhere("predictions", sweep, score).to_string();
    unmet_conditions(sweep, score, conditions).unwrap_or_else(undefined)
}

/// A message about the conditions, for the case that no threshold satisfies them. It names the condition that cannot be met and the threshold
/// that comes nearest to meeting it. The result is `None` when the score is undefined at every threshold.
#[must_use]
pub fn unmet_conditions(sweep: &Sweep, score: &Score, conditions: &[Condition]) -> Option<String> {
    sweep.best(score)?;
    let is_unmet = |condition: &&Condition| sweep.best_subject_to(score, std::slice::from_ref(condition)).is_none();
    let Some(condition) = conditions.iter().find(is_unmet) else {
        let all: Vec<_> = conditions.iter().map(|condition| format!("`{}`", condition.text())).collect();
        return Some(format!(
            "no threshold satisfies {} together; each condition alone can be satisfied",
            all.join(" and ")
        ));
    };
    let left = condition.text().split(['<', '>', '=', '!', '≤', '≥', '≠']).next().unwrap_or("").trim();
    let nearest = sweep.nearest(condition);
    let reached = nearest.as_ref().and_then(|best| condition.sides(&best.confusion)[0]);
    Some(match (nearest, reached) {
        (Some(best), Some(value)) => format!(
            "no threshold satisfies `{}`; threshold {} comes nearest, with {left} = {}",
            condition.text(),
            format_number(best.threshold),
            format_number(value)
        ),
        _ => format!("no threshold satisfies `{}`: {left} is undefined at every threshold", condition.text()),
    })
}

/// The error for a score that is undefined at every threshold; `file` is the name of the input in the message.
#[must_use]
pub fn undefined_everywhere(file: &str, sweep: &Sweep, score: &Score) -> Error {
    let counts = sweep.counts();
    let reason = if counts.positives == 0.0 {
        Some("no row is positive")
    } else if counts.negatives == 0.0 {
        Some("no row is negative")
    } else {
        None
    };
    let when = score.formula().undefined_when();
    let hint = if when.is_empty() {
        String::new()
    } else {
        format!("`{}` is undefined where {}", score.name(), when.join(", or "))
    };
    let undefined = format!("`{}` is undefined at every threshold", score.name());
    let problem = match reason {
        Some(reason) => format!("{reason}, and {undefined}"),
        None => undefined,
    };
    Error::data(Location::file(file), problem, hint)
}

/// The texts of the conditions as the user wrote them, such as `precision >= 0.3`.
pub(super) fn condition_texts(conditions: &[Condition]) -> Vec<String> {
    conditions.iter().map(|condition| condition.text().to_string()).collect()
}
