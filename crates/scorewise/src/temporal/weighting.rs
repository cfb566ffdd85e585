//! How much an error counts, depending on its distance from an event or an alarm.
//!
//! The three weightings combine two choices: whether the credits from several nearby rows are added or only the largest is used, and whether
//! an isolated error counts twice.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A weighting of errors: one weight for each of the distances 1, 2, … in rows, and how the weights are combined. The window around an error has as
/// many rows before the error as there are weights, and as many rows after it.
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
    /// The credits of Guastavino et al. (2021) for distances of one, two and three steps; the paper calls them masks. An error counts as 1 minus its
    /// credit: an alarm one step before an event, or a miss one step after an alarm, counts as ½; at two steps it counts as ⅔, at three steps as ¾.
    pub const MASKS: [f64; 3] = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0];

    /// The weights of the weighted score-oriented losses (wSOL, Legnaro et al. 2026). They are halved at each step, so that their sum stays below 1
    /// for any window.
    pub const WEIGHTS: [f64; 3] = [1.0 / 2.0, 1.0 / 4.0, 1.0 / 8.0];

    /// The value-weighted matrix of Guastavino et al. (2021): only the largest credit is used, and isolated errors count twice.
    ///
    /// `masks` are the credits for the distances 1, 2, … They must lie in [0, 1] and must not increase with distance.
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

/// The weightings of errors that users can name, each with the weights of the distances 1, 2 and 3 that it has by default.
const WEIGHTINGS: [(&str, [f64; 3]); 3] =
    [("value", Weighting::MASKS), ("sum", Weighting::WEIGHTS), ("maximum", Weighting::WEIGHTS)];

impl FromStr for Weighting {
    type Err = Error;

    /// Parses a name, `value`, `sum` or `maximum`, with or without the weights of the distances 1, 2, … in rows: `value`, or `sum:0.5,0.25`. `wsol`
    /// is another name of `sum`.
    ///
    /// ```
    /// use scorewise::temporal::Weighting;
    ///
    /// assert_eq!("value".parse::<Weighting>()?, Weighting::default());
    /// assert_eq!("wsol:0.5,0.25".parse::<Weighting>()?, Weighting::sum(&[0.5, 0.25])?);
    /// assert!("sum:0.5,0.75".parse::<Weighting>().is_err()); // weights must not increase with distance
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let refuse = |reason: String| Error::Setting { what: "temporal", reason };
        let (name, numbers) = match text.trim().split_once(':') {
            Some((name, numbers)) => (name.trim(), Some(numbers)),
            None => (text.trim(), None),
        };
        let name = if name == "wsol" { "sum" } else { name };
        let Some((name, default)) = WEIGHTINGS.iter().find(|(known, _)| *known == name) else {
            return Err(refuse(format!("must be value, sum or maximum, not `{}`", name.escape_debug())));
        };
        let weights = match numbers {
            None => default.to_vec(),
            Some(numbers) => numbers
                .split(',')
                .map(|number| {
                    let invalid =
                        || refuse(format!("must have numbers as weights, not `{}`", number.trim().escape_debug()));
                    number.trim().parse::<f64>().map_err(|_| invalid())
                })
                .collect::<Result<Vec<f64>>>()?,
        };
        match *name {
            "value" => Weighting::value_weighted(&weights),
            "sum" => Weighting::sum(&weights),
            _ => Weighting::maximum(&weights),
        }
    }
}

/// Writes the name and the weights, such as `sum:0.5,0.25`.
impl fmt::Display for Weighting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match (self.credit, self.isolation_penalty > 0.0) {
            (CreditCombination::Sum, _) => "sum",
            (CreditCombination::Maximum, true) => "value",
            (CreditCombination::Maximum, false) => "maximum",
        };
        let weights: Vec<String> = self.weights.iter().map(ToString::to_string).collect();
        write!(out, "{name}:{}", weights.join(","))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighting_is_unchanged_after_it_is_written_and_parsed() {
        for text in ["value", "sum", "maximum", "wsol", "value:1,0.5", "sum:0.5", "maximum:1,1,0", " sum : 0.25, 0.25 "]
        {
            let weighting: Weighting = text.parse().unwrap();
            assert_eq!(weighting.to_string().parse::<Weighting>().unwrap(), weighting, "{text}");
        }
        assert_eq!("sum:0.5,0.25".parse::<Weighting>().unwrap().to_string(), "sum:0.5,0.25");
        let message = |text: &str| text.parse::<Weighting>().unwrap_err().to_string();
        assert_eq!(message("mean"), "temporal must be value, sum or maximum, not `mean`");
        assert_eq!(message("sum:0.5,a"), "temporal must have numbers as weights, not `a`");
        assert_eq!(message("value:"), "temporal must have numbers as weights, not ``");
        assert_eq!(message("value:0.5,NaN"), "masks must be between 0 and 1, not NaN");
        assert_eq!(message("sum:0.5,0.6"), "weights must not increase with distance, but 0.6 follows 0.5");
    }
}
