//! Every score of a forecast at a threshold, with bootstrap intervals.

use scorewise::sweep::{Bootstrap, Resampling, confusion};
use scorewise::{Confusion, Probabilities, Real, Result, Rows, Score};
use serde::{Deserialize, Serialize};

use super::costs::CostSummary;
use super::probabilities::ProbabilitySummary;
use super::series::TimingSummary;
use crate::document::ScoreInterval;

/// A number and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The number; `None` when it is undefined. In JSON the key `value` must be present, which distinguishes an estimate from other objects.
    #[serde(deserialize_with = "Option::deserialize")]
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of the number.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the number.
    #[serde(default)]
    pub high: Option<f64>,
}

/// The name of a score with its value and 95 % interval.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEstimate {
    /// Name of the score.
    pub name: String,
    /// Value of the score and its 95 % interval.
    pub estimate: Estimate,
}

/// Scores of a binary forecast at one threshold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreSummary {
    /// Number of rows.
    pub rows: usize,
    /// Number of positive rows.
    pub positives: usize,
    /// The threshold at which the scores are computed.
    pub threshold: f64,
    /// The confusion matrix at the threshold.
    #[serde(with = "super::json::confusion")]
    pub confusion: Confusion,
    /// The scores, in the order in which the caller listed them.
    #[serde(with = "super::json::named_estimates")]
    pub scores: Vec<NamedEstimate>,
    /// Measures of the probabilities, which do not depend on the threshold; `None` if they were not computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Box<ProbabilitySummary>>,
    /// Number of bootstrap replicates; `None` when the summary is part of a larger result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicates: Option<usize>,
    /// What the bootstrap draws, such as `blocks of 24 rows` or `groups of rows`; `None` for single rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resampled: Option<String>,
    /// Seed of the bootstrap; `None` when the summary is part of a larger result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How errors are weighted by their timing; `None` if every error counts 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporal: Option<TimingSummary>,
    /// The costs of the errors; `None` unless the rows have costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostSummary>,
}

impl Estimate {
    /// Creates an estimate from a value and the two ends of its interval; pass `None` for an undefined value or interval.
    #[must_use]
    pub fn new(value: Option<f64>, interval: Option<(f64, f64)>) -> Self {
        Estimate { value, low: interval.map(|ends| ends.0), high: interval.map(|ends| ends.1) }
    }

    /// The two ends of the 95 % interval; `None` unless both are defined.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }
}

impl ScoreSummary {
    /// Computes `scores` on `rows` at `threshold`, with 95 % intervals from `bootstrap`. If the bootstrap draws blocks whose
    /// length is not given, the length chosen for the first score is used for all scores.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: &[Score],
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        let confusion = confusion(rows, threshold)?;
        let bootstrap = scores.first().map_or(*bootstrap, |first| bootstrap.with_block_length(rows, threshold, first));
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
            probabilities: None,
            replicates: None,
            resampled: Some(bootstrap.resampling.to_string()).filter(|_| bootstrap.resampling != Resampling::Poisson),
            seed: None,
            temporal: None,
            costs: None,
        })
    }

    /// Adds the measures of the probabilities of `rows`, with intervals from `bootstrap`.
    pub fn with_probabilities<'a, R: Real>(
        self,
        rows: &Rows<'a, Probabilities<'a, R>>,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        Ok(ScoreSummary { probabilities: Some(Box::new(ProbabilitySummary::new(rows, bootstrap)?)), ..self })
    }

    /// Adds the number of replicates and the seed of the bootstrap to the summary.
    #[must_use]
    pub fn with_bootstrap(self, bootstrap: &Bootstrap<'_>) -> Self {
        ScoreSummary { replicates: Some(bootstrap.replicates), seed: Some(bootstrap.seed), ..self }
    }

    /// The 95 % intervals of all scores whose interval is defined.
    #[must_use]
    pub fn intervals(&self) -> Vec<ScoreInterval> {
        let interval = |NamedEstimate { name, estimate }: &NamedEstimate| {
            let (low, high) = estimate.interval()?;
            Some(ScoreInterval { score: name.clone(), low, high })
        };
        self.scores.iter().filter_map(interval).collect()
    }
}
