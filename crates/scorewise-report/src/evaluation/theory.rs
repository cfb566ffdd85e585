//! A score under a random threshold: the exact values beside the bounds of the paper.

use scorewise::theory::{DEFAULT_FRACTIONS, ScoreDistribution, Theory, report};
use scorewise::{Confusion, Predictions, Prior, Result, Rows, Score};
use serde::{Deserialize, Deserializer, Serialize};

use crate::document;

/// Points of the distribution function of a score on a page.
const STEPS: usize = 400;

/// A score under a random threshold, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheorySummary {
    /// The name of the score.
    pub score: String,
    /// The prior of the threshold.
    pub prior: String,
    /// `E[CM]`.
    #[serde(with = "super::json::confusion")]
    pub expected_confusion: Confusion,
    /// `s(E[CM])`.
    #[serde(deserialize_with = "number_or_nan")]
    pub score_of_expectation: f64,
    /// `E[s]`.
    #[serde(deserialize_with = "number_or_nan")]
    pub expected_score: f64,
    /// `E[s] − s(E[CM])`.
    #[serde(deserialize_with = "number_or_nan")]
    pub jensen_gap: f64,
    /// The standard deviation of s over the threshold.
    #[serde(deserialize_with = "number_or_nan")]
    pub deviation: f64,
    /// `E[s]` by a Taylor expansion of second order.
    pub taylor: Option<f64>,
    /// The Lipschitz constant of the score; `None` when it has none.
    pub lipschitz: Option<f64>,
    /// The threshold of a calibrated forecast.
    pub calibrated_threshold: Option<f64>,
    /// The bounds of the paper, corrected, beside the exact values.
    pub bounds: Vec<BoundSummary>,
}

/// A bound beside the exact value, as JSON; `None` for an infinite one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundSummary {
    /// What is bounded.
    pub name: String,
    /// The bound.
    pub bound: Option<f64>,
    /// The exact value.
    pub exact: Option<f64>,
}

impl TheorySummary {
    /// The theory of these rows, as JSON.
    pub fn new<P: Predictions>(score: &Score, prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        Ok(TheorySummary::from_theory(score, prior, &report(score, prior, rows, &DEFAULT_FRACTIONS, None)?))
    }

    /// The theory as JSON.
    #[must_use]
    pub fn from_theory(score: &Score, prior: &Prior, theory: &Theory) -> Self {
        let bounds = theory.bounds.iter().map(|bound| BoundSummary {
            name: bound.name.clone(),
            bound: finite(bound.bound),
            exact: finite(bound.exact),
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

/// The data of the page.
#[must_use]
pub fn theory_page(score: &Score, prior: &Prior, theory: &Theory, law: &ScoreDistribution) -> document::TheoryReport {
    let bounds = theory.bounds.iter().map(|bound| document::TheoryBound {
        name: bound.name.clone(),
        exact: finite(bound.exact),
        bound: finite(bound.bound),
    });
    let atoms = law.atoms();
    let every = atoms.len().div_ceil(STEPS).max(1);
    let mut cumulative = 0.0;
    let mut steps = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        cumulative += atom.probability;
        if at == 0 || at + 1 == atoms.len() || at % every == 0 {
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
        law: steps,
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// JSON has no NaN: a number that is not finite was written as `null`.
fn number_or_nan<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}
