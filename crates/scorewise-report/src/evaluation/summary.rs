//! Every score of a forecast at a threshold, with bootstrap intervals.

use scorewise::sweep::{Bootstrap, confusion};
use scorewise::{Confusion, Probabilities, Real, Result, Rows, Score};
use serde::{Deserialize, Serialize};

use crate::document::ScoreInterval;

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// `None` when the number is undefined. The key is required, which tells an estimate from other objects.
    #[serde(deserialize_with = "Option::deserialize")]
    pub value: Option<f64>,
    /// The lower end of the interval.
    #[serde(default)]
    pub low: Option<f64>,
    /// The upper end of the interval.
    #[serde(default)]
    pub high: Option<f64>,
}

/// A score with its value and its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEstimate {
    /// The name of the score.
    pub name: String,
    /// Its value and interval.
    pub estimate: Estimate,
}

/// The scores of a forecast of two classes at a threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreSummary {
    /// How many rows there are.
    pub rows: usize,
    /// How many of them are positive.
    pub positives: usize,
    /// The threshold.
    pub threshold: f64,
    /// The confusion matrix at the threshold.
    #[serde(with = "super::json::confusion")]
    pub confusion: Confusion,
    /// The scores, in the order in which they were asked for.
    #[serde(with = "super::json::named_estimates")]
    pub scores: Vec<NamedEstimate>,
    /// The number of bootstrap replicates, where the summary stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicates: Option<usize>,
    /// The seed of the bootstrap, where the summary stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Estimate {
    /// A number and its interval; `None` for what is undefined.
    #[must_use]
    pub fn new(value: Option<f64>, interval: Option<(f64, f64)>) -> Self {
        Estimate { value, low: interval.map(|ends| ends.0), high: interval.map(|ends| ends.1) }
    }

    /// The ends of the interval.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

impl ScoreSummary {
    /// The scores of these rows at a threshold.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: &[Score],
        bootstrap: &Bootstrap,
    ) -> Result<Self> {
        let confusion = confusion(rows, threshold)?;
        let distributions = bootstrap.scores(rows, threshold, scores)?;
        let estimates = scores.iter().zip(distributions).map(|(score, distribution)| {
            let value = score.checked(&confusion);
            let interval = value.and(distribution.interval(0.95));
            NamedEstimate { name: score.name().to_string(), estimate: Estimate::new(value, interval) }
        });
        Ok(ScoreSummary {
            rows: rows.len(),
            positives: rows.labels().iter().filter(|label| **label).count(),
            threshold,
            confusion,
            scores: estimates.collect(),
            replicates: None,
            seed: None,
        })
    }

    /// The same summary with the settings of its bootstrap.
    #[must_use]
    pub fn with_bootstrap(self, bootstrap: &Bootstrap) -> Self {
        ScoreSummary { replicates: Some(bootstrap.replicates), seed: Some(bootstrap.seed), ..self }
    }

    /// The intervals of the scores that have one.
    #[must_use]
    pub fn intervals(&self) -> Vec<ScoreInterval> {
        let interval = |NamedEstimate { name, estimate }: &NamedEstimate| {
            let (low, high) = estimate.interval()?;
            Some(ScoreInterval { score: name.clone(), low, high })
        };
        self.scores.iter().filter_map(interval).collect()
    }
}
