//! How much an error counts, by its distance from an event or an alarm.
//!
//! The three weightings are two choices: credits of several neighbours add up or the best one is taken; an error that
//! stands alone counts 1 more or not.

use crate::error::{Error, Result};

/// The weights of the distances 1, 2, … and how they are put together. Its window is as long as there are weights.
///
/// The default is [`value_weighted`](Weighting::value_weighted) with [`MASKS`](Weighting::MASKS), the form that the
/// literature on forecast value reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighting {
    weights: Vec<f64>, // private: they do not rise, which the closed form of the maximum needs
    credit: Credit,
    isolated: f64,
}

/// What becomes of the credits of several neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Credit {
    /// They add up.
    Sum,
    /// The highest counts: as weights do not rise, that of the nearest.
    Maximum,
}

impl Weighting {
    /// The masks of 2021: an error one step off is half forgiven, and one three steps off still a quarter.
    pub const MASKS: [f64; 3] = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0];

    /// The weights of wSOL: halved at each step, so that their sum stays below 1 whatever the window.
    pub const WEIGHTS: [f64; 3] = [1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0];

    /// The value-weighted matrix of 2021: the best credit, and errors that stand alone count 2.
    ///
    /// Masks lie in [0, 1] and do not rise.
    pub fn value_weighted(masks: &[f64]) -> Result<Self> {
        check("masks", masks)?;
        Ok(Weighting { weights: masks.to_vec(), credit: Credit::Maximum, isolated: 1.0 })
    }

    /// wSOL by sum: every event soon after an alarm, every alarm shortly before a miss, gives its credit.
    ///
    /// Weights lie in [0, 1], do not rise, and sum to at most 1, so that no error counts less than nothing.
    pub fn sum(weights: &[f64]) -> Result<Self> {
        check("weights", weights)?;
        let sum: f64 = weights.iter().sum();
        // Room for the rounding of decimals that sum to 1 on paper.
        if sum > 1.0 + 1e-12 {
            let reason =
                format!("must sum to at most 1, not {sum}; make them smaller, or take the maximum instead of the sum");
            return Err(Error::Setting { what: "weights", reason });
        }
        Ok(Weighting { weights: weights.to_vec(), credit: Credit::Sum, isolated: 0.0 })
    }

    /// wSOL by maximum: the nearest event or alarm gives the credit.
    ///
    /// Weights lie in [0, 1] and do not rise.
    pub fn maximum(weights: &[f64]) -> Result<Self> {
        check("weights", weights)?;
        Ok(Weighting { weights: weights.to_vec(), credit: Credit::Maximum, isolated: 0.0 })
    }

    /// The weights of the distances 1, 2, …
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// How many rows before and after one can change what its error counts.
    #[must_use]
    pub fn window(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn credit(&self) -> Credit {
        self.credit
    }

    /// What an error that stands alone counts more.
    pub(super) fn isolated(&self) -> f64 {
        self.isolated
    }
}

impl Default for Weighting {
    fn default() -> Self {
        Weighting { weights: Weighting::MASKS.to_vec(), credit: Credit::Maximum, isolated: 1.0 }
    }
}

fn check(what: &'static str, weights: &[f64]) -> Result<()> {
    let refuse = |reason: String| Err(Error::Setting { what, reason });
    if weights.is_empty() {
        return refuse("are missing; give at least one, for the nearest row".into());
    }
    if let Some(weight) = weights.iter().find(|weight| !(0.0..=1.0).contains(*weight)) {
        return refuse(format!("must lie between 0 and 1, not at {weight}"));
    }
    match weights.windows(2).find(|pair| pair[1] > pair[0]) {
        Some(pair) => refuse(format!("must not rise with the distance, but {} follows {}", pair[1], pair[0])),
        None => Ok(()),
    }
}
