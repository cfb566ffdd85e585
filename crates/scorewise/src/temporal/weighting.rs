//! How much an error counts, depending on its distance from an event or an alarm.
//!
//! The three weightings combine two choices: whether the credits from several nearby rows are added or only the largest is used, and whether
//! an isolated error counts twice.

use crate::error::{Error, Result};

/// A weighting of errors: the weights of the distances 1, 2, … in time, and how the weights are combined. The window extends over as many rows
/// as there are weights.
///
/// The default is [`value_weighted`](Weighting::value_weighted) with [`MASKS`](Weighting::MASKS), the form used in the
/// literature on forecast value.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighting {
    weights: Vec<f64>, // private, because the closed form of the maximum is correct only if the weights do not increase
    credit: CreditCombination,
    isolation_penalty: f64,
}

/// How the credits from several rows within the window are combined. A credit lowers the weight of an error that is close to an event or an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreditCombination {
    /// The credits are added.
    Sum,
    /// Only the largest credit is used. It comes from the nearest event or alarm, because weights do not increase with distance.
    Maximum,
}

impl Weighting {
    /// The weights of Guastavino et al. (2021), there called masks. An alarm one step before an event, or a miss one step after an alarm,
    /// counts as ½ of an error; at a distance of three steps it counts as ¾.
    pub const MASKS: [f64; 3] = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0];

    /// The weights of the weighted score-oriented losses (wSOL, Legnaro et al. 2026). They are halved at each step, so that their sum stays below 1
    /// for any window.
    pub const WEIGHTS: [f64; 3] = [1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0];

    /// The value-weighted matrix of Guastavino et al. (2021): only the largest credit is used, and isolated errors count twice.
    ///
    /// Masks must lie in [0, 1] and must not increase with distance.
    pub fn value_weighted(masks: &[f64]) -> Result<Self> {
        check_weights_by_distance("masks", masks)?;
        Ok(Weighting { weights: masks.to_vec(), credit: CreditCombination::Maximum, isolation_penalty: 1.0 })
    }

    /// Weighted score-oriented losses (wSOL, Legnaro et al. 2026) with sums: every event soon after a false alarm, and every alarm shortly before
    /// a miss, lowers the weight of that error.
    ///
    /// Weights must lie in [0, 1], must not increase with distance, and must sum to at most 1, so that no error counts less than 0.
    pub fn sum(weights: &[f64]) -> Result<Self> {
        check_weights_by_distance("weights", weights)?;
        let sum: f64 = weights.iter().sum();
        // The tolerance allows for the rounding of decimal fractions that sum to 1.
        if sum > 1.0 + 1e-12 {
            let reason = format!(
                "must sum to at most 1, not {sum}; make the weights smaller, or use their maximum instead of their sum"
            );
            return Err(Error::Setting { what: "weights", reason });
        }
        Ok(Weighting { weights: weights.to_vec(), credit: CreditCombination::Sum, isolation_penalty: 0.0 })
    }

    /// Weighted score-oriented losses (wSOL, Legnaro et al. 2026) with maxima: only the nearest event after a false alarm, or the nearest alarm
    /// before a miss, lowers the weight of that error.
    ///
    /// Weights must lie in [0, 1] and must not increase with distance.
    pub fn maximum(weights: &[f64]) -> Result<Self> {
        check_weights_by_distance("weights", weights)?;
        Ok(Weighting { weights: weights.to_vec(), credit: CreditCombination::Maximum, isolation_penalty: 0.0 })
    }

    /// The weights of the distances 1, 2, … (in rows) between an error and an event or alarm.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The size of the window: how many rows before and how many rows after an error can change how much the error counts.
    #[must_use]
    pub fn window(&self) -> usize {
        self.weights.len()
    }

    /// How the credits from several rows within the window are combined. A credit lowers the weight of an error.
    pub(super) fn credit_combination(&self) -> CreditCombination {
        self.credit
    }

    /// The penalty that is added to the weight 1 of an isolated error: a false alarm far from any event, or a miss far from any alarm.
    pub(super) fn isolation_penalty(&self) -> f64 {
        self.isolation_penalty
    }
}

impl Default for Weighting {
    fn default() -> Self {
        Weighting { weights: Weighting::MASKS.to_vec(), credit: CreditCombination::Maximum, isolation_penalty: 1.0 }
    }
}

/// Returns an error unless there are weights, all of them lie in [0, 1], and they do not increase with distance.
fn check_weights_by_distance(what: &'static str, weights: &[f64]) -> Result<()> {
    let refuse = |reason: String| Err(Error::Setting { what, reason });
    if weights.is_empty() {
        return refuse(
            "must not be empty; the first one applies to errors one row away from an event or an alarm".into(),
        );
    }
    if let Some(weight) = weights.iter().find(|weight| !(0.0..=1.0).contains(*weight)) {
        return refuse(format!("must be between 0 and 1, not {weight}"));
    }
    match weights.windows(2).find(|pair| pair[1] > pair[0]) {
        Some(pair) => refuse(format!("must not increase with distance, but {} follows {}", pair[1], pair[0])),
        None => Ok(()),
    }
}
