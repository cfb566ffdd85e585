//! The exact distribution of a quantity that depends on the threshold: finitely many values with their probabilities.
//!
//! ```text
//! E[s] = Σ mₖ sₖ        Var[s] = Σ mₖ (sₖ − E[s])²        P(|s − c| ≥ ε) = Σ mₖ over |sₖ − c| ≥ ε
//! ```
//!
//! The confusion matrix, and so every score, changes only where the threshold passes a prediction. A score therefore has at most
//! rows + 1 values, and no simulation or approximation is needed.

use super::matrices::Matrices;
use super::sum::compensated_sum;
use crate::error::Result;
use crate::prior::Prior;
use crate::rows::{Predictions, Rows};
use crate::score::Score;

/// A value that a quantity, such as a score, takes with positive probability, and this probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atom {
    /// The value of the quantity, such as a score.
    pub value: f64,
    /// The probability that the quantity has this value; always greater than 0.
    pub probability: f64,
}

/// The distribution of a score, or of any other function of the confusion matrix, under a random threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreDistribution {
    /// The possible values with their probabilities, in ascending order. The values are distinct, and there is at least one.
    atoms: Vec<Atom>,
}

impl ScoreDistribution {
    /// The distribution of a score over the threshold; the values are those used in a loss, where x/0 := 0.
    ///
    /// For several scores on the same rows, [`Matrices::score_distribution`] sorts the rows only once.
    pub fn new<P: Predictions>(score: &Score, prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        Matrices::new(prior, rows)?.score_distribution(score)
    }

    /// A distribution from values in any order, with probabilities that sum to 1.
    pub(super) fn from_values_and_probabilities(values: impl Iterator<Item = (f64, f64)>) -> Self {
        let possible = values.filter(|(_, probability)| *probability > 0.0);
        // Adding 0 turns −0 into 0, so that both are recognised as the same value.
        let mut atoms: Vec<_> = possible.map(|(value, probability)| Atom { value: value + 0.0, probability }).collect();
        assert!(!atoms.is_empty(), "probabilities sum to 1, so one of them is above 0");
        atoms.sort_by(|a, b| a.value.total_cmp(&b.value));
        atoms.dedup_by(|next, kept| {
            let is_equal = next.value == kept.value;
            if is_equal {
                kept.probability += next.probability;
            }
            is_equal
        });
        ScoreDistribution { atoms }
    }

    /// Every value with positive probability, in ascending order.
    #[must_use]
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The smallest and the largest possible value.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.atoms[0].value, self.atoms[self.atoms.len() - 1].value)
    }

    /// The expectation `E[g(s)]`.
    fn expectation(&self, g: impl Fn(f64) -> f64) -> f64 {
        compensated_sum(self.atoms.iter().map(|atom| atom.probability * g(atom.value)))
    }

    /// The probability of the values for which `is_counted` is true.
    fn probability_that(&self, is_counted: impl Fn(f64) -> bool) -> f64 {
        self.expectation(|value| f64::from(u8::from(is_counted(value)))).min(1.0)
    }

    /// The mean `E[s]`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.expectation(|value| value)
    }

    /// The variance `Var[s]`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        self.expectation(|value| (value - mean) * (value - mean))
    }

    /// The standard deviation `√Var[s]`.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The expectation E|s − centre|, which is the mean absolute deviation if the centre is the mean.
    #[must_use]
    pub fn mean_absolute_deviation(&self, centre: f64) -> f64 {
        self.expectation(|value| (value - centre).abs())
    }

    /// The tail probability P(|s − centre| ≥ ε): how likely the value is at least ε away from `centre`.
    #[must_use]
    pub fn tail_probability(&self, centre: f64, epsilon: f64) -> f64 {
        self.probability_that(|value| (value - centre).abs() >= epsilon)
    }

    /// The distribution function P(s ≤ x).
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.probability_that(|value| value <= x)
    }

    /// The quantile: the smallest value x with P(s ≤ x) ≥ level.
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        let mut cumulative = 0.0;
        let reaches = |atom: &&Atom| {
            cumulative += atom.probability;
            cumulative >= level
        };
        // Because of rounding, the probabilities may sum to slightly less than `level` = 1; the quantile is then the largest value.
        self.atoms.iter().find(reaches).map_or(self.range().1, |atom| atom.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example_distribution() -> ScoreDistribution {
        ScoreDistribution::from_values_and_probabilities(
            [(2.0, 0.25), (0.0, 0.5), (9.0, 0.0), (2.0, 0.125), (-0.0, 0.0625), (-4.0, 0.0625)].into_iter(),
        )
    }

    #[test]
    fn equal_values_are_merged_and_values_of_probability_zero_are_dropped() {
        let atoms: Vec<_> = example_distribution().atoms().iter().map(|atom| (atom.value, atom.probability)).collect();
        assert_eq!(atoms, [(-4.0, 0.0625), (0.0, 0.5625), (2.0, 0.375)]);
        assert_eq!(example_distribution().range(), (-4.0, 2.0));
    }

    #[test]
    fn moments_and_tails_are_sums_over_the_values() {
        let distribution = example_distribution();
        assert_eq!(distribution.mean(), -0.25 + 0.75);
        assert_eq!(distribution.variance(), 4.5 * 4.5 / 16.0 + 0.25 * 9.0 / 16.0 + 2.25 * 6.0 / 16.0);
        assert_eq!(distribution.standard_deviation(), distribution.variance().sqrt());
        assert_eq!(distribution.mean_absolute_deviation(0.0), 0.25 + 0.75);
        assert_eq!(
            (
                distribution.tail_probability(0.0, 2.0),
                distribution.tail_probability(0.0, 2.1),
                distribution.tail_probability(0.0, 5.0)
            ),
            (0.4375, 0.0625, 0.0)
        );
    }

    #[test]
    fn quantile_inverts_the_cdf() {
        let distribution = example_distribution();
        assert_eq!(
            (distribution.cdf(-5.0), distribution.cdf(-4.0), distribution.cdf(1.0), distribution.cdf(2.0)),
            (0.0, 0.0625, 0.625, 1.0)
        );
        assert_eq!(
            [0.0, 0.0625, 0.07, 0.625, 0.63, 1.0].map(|level| distribution.quantile(level)),
            [-4.0, -4.0, 0.0, 0.0, 2.0, 2.0]
        );
    }
}
