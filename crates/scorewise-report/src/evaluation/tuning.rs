//! The best threshold of a score: where it is, how certain it is, and why there may be none.

use scorewise::sweep::{Best, BestDistribution, Bootstrap, Condition, Sweep, sweep};
use scorewise::{Confusion, Probabilities, Real, Result, Rows, Score};
use scorewise_train::{Error, Location};
use serde::{Deserialize, Serialize};

use crate::number::format_number;

/// Up to this many rows, every replicate of the bootstrap looks at every threshold.
pub const EXACT_ROWS: usize = 200_000;

/// With more rows, replicates look only at the thresholds between this many runs of neighbouring rows. The rank of the best threshold is
/// uncertain by about n^⅔ of n rows, so this is much finer than needed.
pub const RUNS: usize = 1 << 16;

/// The best threshold of a score on some rows, with what it was found from.
#[derive(Debug)]
pub struct Tuning {
    /// All thresholds of the rows.
    pub sweep: Sweep,
    /// The best threshold.
    pub best: Best,
    /// The best thresholds and values of the bootstrap replicates.
    pub distribution: BestDistribution,
}

/// The best threshold, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestThreshold {
    /// The name of the score.
    pub score: String,
    /// The threshold.
    pub threshold: f64,
    /// All thresholds from the first up to but not including the second are equally good.
    pub interval: (f64, f64),
    /// The score at the threshold.
    pub value: f64,
    /// The confusion matrix at the threshold.
    #[serde(with = "super::json::confusion")]
    pub confusion: Confusion,
    /// The conditions that the threshold satisfies.
    pub subject_to: Vec<String>,
}

/// The bootstrap of the best threshold, as JSON: 95 % intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdBootstrap {
    /// The lower end of the interval of the best threshold.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The interval of the score at the best threshold.
    pub value: IntervalEnds,
    /// The number of replicates.
    pub replicates: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

/// The ends of an interval; `None` when the replicates have none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalEnds {
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// The result of `scorewise tune`, of two classes or of more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TuneSummary {
    /// One threshold for each class against all others.
    Classes(ClassTuningSummary),
    /// One threshold.
    Binary(TuningSummary),
}

/// The best threshold of a forecast of two classes, as JSON; all but the score is `None` when no threshold satisfies the conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuningSummary {
    /// The name of the score.
    pub score: String,
    /// The threshold.
    pub threshold: Option<f64>,
    /// All thresholds from the first up to but not including the second are equally good.
    pub interval: Option<(f64, f64)>,
    /// The score at the threshold.
    pub value: Option<f64>,
    /// The confusion matrix at the threshold.
    #[serde(default, with = "super::json::optional_confusion")]
    pub confusion: Option<Confusion>,
    /// How certain the threshold is.
    pub bootstrap: Option<ThresholdBootstrap>,
    /// The conditions that the threshold satisfies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_to: Option<Vec<String>>,
    /// The threshold of the model that made the predictions, where they carry one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelThreshold>,
}

/// The threshold of the model that made the predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelThreshold {
    /// The threshold.
    pub threshold: f64,
    /// The score at that threshold.
    pub value: Option<f64>,
}

/// The best threshold of each of more than two classes against all others, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassTuningSummary {
    /// The name of the score.
    pub score: String,
    /// One threshold for each class.
    pub classes: Vec<ClassThreshold>,
    /// The conditions that each threshold satisfies.
    pub subject_to: Vec<String>,
}

/// The best threshold of one class against all others; all but the class is `None` when no threshold satisfies the conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassThreshold {
    /// The name of the class.
    pub class: String,
    /// The threshold.
    pub threshold: Option<f64>,
    /// All thresholds from the first up to but not including the second are equally good.
    pub interval: Option<(f64, f64)>,
    /// The score at the threshold.
    pub value: Option<f64>,
    /// The confusion matrix at the threshold.
    #[serde(default, with = "super::json::optional_confusion")]
    pub confusion: Option<Confusion>,
    /// How certain the threshold is.
    pub bootstrap: Option<ThresholdBootstrap>,
    /// How many rows belong to the class; for tables, not part of the JSON.
    #[serde(skip)]
    pub rows: usize,
}

impl Tuning {
    /// The best threshold that satisfies the conditions, with its bootstrap; `Err` with the sweep when there is none.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        conditions: &[Condition],
        bootstrap: &Bootstrap,
    ) -> Result<std::result::Result<Self, Sweep>> {
        let sweep = sweep(rows)?;
        let Some(best) = sweep.best_subject_to(score, conditions) else { return Ok(Err(sweep)) };
        let distribution = best_threshold_bootstrap(rows, Some(&sweep), score, conditions, bootstrap)?;
        Ok(Ok(Tuning { sweep, best, distribution }))
    }

    /// The result as JSON; `model` is the threshold of the model that made the predictions.
    #[must_use]
    pub fn summary(
        &self,
        score: &Score,
        conditions: &[Condition],
        bootstrap: &Bootstrap,
        model: Option<ModelThreshold>,
    ) -> TuningSummary {
        TuningSummary {
            score: score.name().into(),
            threshold: Some(self.best.threshold),
            interval: Some(self.best.interval),
            value: Some(self.best.value),
            confusion: Some(self.best.confusion),
            bootstrap: Some(ThresholdBootstrap::new(&self.distribution, bootstrap)),
            subject_to: Some(texts(conditions)),
            model,
        }
    }
}

impl BestThreshold {
    /// The best threshold of a sweep.
    #[must_use]
    pub fn new(score: &Score, conditions: &[Condition], best: &Best) -> Self {
        BestThreshold {
            score: score.name().into(),
            threshold: best.threshold,
            interval: best.interval,
            value: best.value,
            confusion: best.confusion,
            subject_to: texts(conditions),
        }
    }
}

impl ThresholdBootstrap {
    /// The intervals of the replicates.
    #[must_use]
    pub fn new(distribution: &BestDistribution, bootstrap: &Bootstrap) -> Self {
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

    /// The interval of the best threshold.
    #[must_use]
    pub fn threshold_interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The interval of the score at the best threshold.
    #[must_use]
    pub fn value_interval(&self) -> Option<(f64, f64)> {
        self.value.low.zip(self.value.high)
    }
}

/// The best threshold of each class against all others. For each class, `probabilities` has one value per row.
pub fn tune_classes(
    classes: &[String],
    labels: &[u32],
    probabilities: &[Vec<f64>],
    weights: Option<&[f64]>,
    score: &Score,
    conditions: &[Condition],
    bootstrap: &Bootstrap,
) -> Result<ClassTuningSummary> {
    let mut thresholds = Vec::with_capacity(classes.len());
    for (number, (class, probabilities)) in (0..).zip(classes.iter().zip(probabilities)) {
        let is_class: Vec<bool> = labels.iter().map(|label| *label == number).collect();
        let rows = Rows::new(Probabilities(probabilities.as_slice()), &is_class)?;
        let rows = weights.map_or(Ok(rows), |weights| rows.weighted(weights))?;
        let tuning = Tuning::new(&rows, score, conditions, bootstrap)?.ok();
        let best = tuning.as_ref().map(|tuning| &tuning.best);
        thresholds.push(ClassThreshold {
            class: class.clone(),
            threshold: best.map(|best| best.threshold),
            interval: best.map(|best| best.interval),
            value: best.map(|best| best.value),
            confusion: best.map(|best| best.confusion),
            bootstrap: tuning.as_ref().map(|tuning| ThresholdBootstrap::new(&tuning.distribution, bootstrap)),
            rows: is_class.iter().filter(|is_class| **is_class).count(),
        });
    }
    Ok(ClassTuningSummary { score: score.name().into(), classes: thresholds, subject_to: texts(conditions) })
}

/// The best threshold of each bootstrap replicate: among all thresholds, or between [`RUNS`] runs of rows when there are more than
/// [`EXACT_ROWS`]. For that the rows are swept unless their sweep is given.
pub fn best_threshold_bootstrap<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    swept: Option<&Sweep>,
    score: &Score,
    conditions: &[Condition],
    bootstrap: &Bootstrap,
) -> Result<BestDistribution> {
    if rows.len() <= EXACT_ROWS {
        return bootstrap.best(rows, score, conditions);
    }
    let runs = match swept {
        Some(sweep) => sweep.runs(RUNS),
        None => sweep(rows)?.runs(RUNS),
    };
    bootstrap.best_of_runs(rows, &runs, score, conditions)
}

/// Why there is no best threshold: a condition that cannot be met, or a score that is undefined at every threshold.
#[must_use]
pub fn no_best_threshold(sweep: &Sweep, score: &Score, conditions: &[Condition]) -> String {
    let undefined = || undefined_everywhere("predictions", sweep, score).to_string();
    unmet_conditions(sweep, score, conditions).unwrap_or_else(undefined)
}

/// Which condition cannot be met and what comes nearest to it; `None` when the score itself is undefined at every threshold.
#[must_use]
pub fn unmet_conditions(sweep: &Sweep, score: &Score, conditions: &[Condition]) -> Option<String> {
    sweep.best(score)?;
    let is_unmet = |condition: &&Condition| sweep.best_subject_to(score, std::slice::from_ref(condition)).is_none();
    let Some(condition) = conditions.iter().find(is_unmet) else {
        let all: Vec<_> = conditions.iter().map(|condition| format!("`{}`", condition.text())).collect();
        return Some(format!("no threshold satisfies {} together; each alone can be satisfied", all.join(" and ")));
    };
    let left = condition.text().split(['<', '>', '=', '!', '≤', '≥', '≠']).next().unwrap_or("").trim();
    let nearest = sweep.nearest(condition);
    let reached = nearest.as_ref().and_then(|best| condition.sides(&best.confusion)[0]);
    Some(match (nearest, reached) {
        (Some(best), Some(value)) => format!(
            "no threshold satisfies `{}`; the nearest, {}, has {left} = {}",
            condition.text(),
            format_number(best.threshold),
            format_number(value)
        ),
        _ => format!("no threshold satisfies `{}`: {left} is undefined at every threshold", condition.text()),
    })
}

/// The error of a score that is undefined at every threshold of the rows of this file.
#[must_use]
pub fn undefined_everywhere(file: &str, sweep: &Sweep, score: &Score) -> Error {
    let counts = sweep.counts();
    let class = if counts.positives == 0.0 {
        "no row is positive, and "
    } else if counts.negatives == 0.0 {
        "no row is negative, and "
    } else {
        ""
    };
    let when = score.formula().undefined_when();
    let hint = if when.is_empty() { String::new() } else { format!("it is undefined where {}", when.join(", or ")) };
    Error::data(Location::file(file), format!("{class}`{}` is undefined at every threshold", score.name()), hint)
}

fn texts(conditions: &[Condition]) -> Vec<String> {
    conditions.iter().map(|condition| condition.text().to_string()).collect()
}
