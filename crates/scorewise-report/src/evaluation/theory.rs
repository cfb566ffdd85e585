//! The distribution of a score under a random threshold: exact values beside the bounds of Marchetti et al. (2022).

use scorewise::theory::{DEFAULT_FRACTIONS, ScoreDistribution, Theory, report};
use scorewise::{Confusion, Predictions, Prior, Result, Rows, Score};
use serde::{Deserialize, Deserializer, Serialize};

use crate::document;

/// Approximate maximum number of points in the distribution function of a score on a page.
const MAX_DISTRIBUTION_POINTS: usize = 400;

/// Exact results about a score under a random threshold, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheorySummary {
    /// Name of the score.
    pub score: String,
    /// The prior of the threshold, as text such as `cosine:0.5,0.1`.
    pub prior: String,
    /// Expected confusion matrix, `E[CM]`.
    #[serde(with = "super::json::confusion")]
    pub expected_confusion: Confusion,
    /// Score of the expected confusion matrix, `s(E[CM])`.
    #[serde(deserialize_with = "number_or_nan")]
    pub score_of_expectation: f64,
    /// Expected score, `E[s]`.
    #[serde(deserialize_with = "number_or_nan")]
    pub expected_score: f64,
    /// Expected score minus the score of the expected confusion matrix, `E[s] − s(E[CM])`.
    #[serde(deserialize_with = "number_or_nan")]
    pub jensen_gap: f64,
    /// Standard deviation of the score under the prior of the threshold.
    #[serde(deserialize_with = "number_or_nan")]
    pub deviation: f64,
    /// Second-order Taylor approximation of the expected score `E[s]` around `E[CM]`; `None` if it is not finite.
    pub taylor: Option<f64>,
    /// Lipschitz constant of the score; `None` when the score is not Lipschitz continuous.
    pub lipschitz: Option<f64>,
    /// Best threshold that a calibrated forecast would have; `None` when there is no such threshold.
    pub calibrated_threshold: Option<f64>,
    /// The bounds of Marchetti et al. (2022), each with the exact value of the bounded quantity. Errors in the paper are corrected.
    pub bounds: Vec<BoundSummary>,
}

/// An upper bound of a quantity, and the exact value of that quantity, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundSummary {
    /// The bounded quantity, written as a formula.
    pub name: String,
    /// The upper bound; `None` when the bound is infinite.
    pub bound: Option<f64>,
    /// The exact value of the bounded quantity; `None` when that value is infinite or NaN.
    pub exact: Option<f64>,
}

impl TheorySummary {
    /// Computes exact results about a score on these rows, for a threshold with this prior.
    pub fn new<P: Predictions>(score: &Score, prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        Ok(TheorySummary::from_theory(score, prior, &report(score, prior, rows, &DEFAULT_FRACTIONS, None)?))
    }

    /// Converts exact results about a score to the form that is written as JSON.
    #[must_use]
    pub fn from_theory(score: &Score, prior: &Prior, theory: &Theory) -> Self {
        let bounds = theory.bounds.iter().map(|bound| BoundSummary {
            name: bound.name.clone(),
            bound: finite_or_none(bound.bound),
            exact: finite_or_none(bound.exact),
        });
        TheorySummary {
            score: score.name().into(),
            prior: prior.to_string(),
            expected_confusion: theory.expected_confusion,
            score_of_expectation: theory.score_of_expectation,
            expected_score: theory.expected_score,
            jensen_gap: theory.jensen_gap,
            deviation: theory.deviation,
            taylor: theory.taylor,
            lipschitz: theory.lipschitz,
            calibrated_threshold: theory.calibrated_threshold,
            bounds: bounds.collect(),
        }
    }
}

/// Converts exact results about a score under a random threshold to the data of a page.
#[must_use]
pub fn theory_page(
    score: &Score,
    prior: &Prior,
    theory: &Theory,
    distribution: &ScoreDistribution,
) -> document::TheoryReport {
    let bounds = theory.bounds.iter().map(|bound| document::TheoryBound {
        name: bound.name.clone(),
        exact: finite_or_none(bound.exact),
        bound: finite_or_none(bound.bound),
    });
    let atoms = distribution.atoms();
    let stride = atoms.len().div_ceil(MAX_DISTRIBUTION_POINTS).max(1);
    let mut cumulative = 0.0;
    let mut steps = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        cumulative += atom.probability;
        if at == 0 || at + 1 == atoms.len() || at % stride == 0 {
            steps.push((atom.value, cumulative.min(1.0)));
        }
    }
    document::TheoryReport {
        score: score.name().into(),
        prior: prior.to_string(),
        expected: theory.expected_confusion.array(),
        score_of_expectation: theory.score_of_expectation,
        expected_score: theory.expected_score,
        jensen_gap: theory.jensen_gap,
        deviation: theory.deviation,
        calibrated_threshold: theory.calibrated_threshold,
        bounds: bounds.collect(),
        distribution: steps,
    }
}

/// Returns the value, or `None` if it is infinite or NaN.
fn finite_or_none(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// Reads a number from JSON, and `null` as NaN. JSON cannot express infinite numbers and NaN, so they are written as `null`.
fn number_or_nan<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}
