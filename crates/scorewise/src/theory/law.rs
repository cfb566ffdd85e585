//! The exact law of a number that depends on the threshold: a few values, each with its probability.
//!
//! ```text
//! E[s] = Σ mₖ sₖ        Var[s] = Σ mₖ (sₖ − E[s])²        P(|s − c| ≥ ε) = Σ mₖ over |sₖ − c| ≥ ε
//! ```
//!
//! Between two neighbouring predictions the matrix does not change and neither does a score of it, so there are no more
//! values than rows + 1, and nothing here is simulated or approximated.

use super::matrices::Matrices;
use super::sum::sum;
use crate::error::Result;
use crate::prior::Prior;
use crate::rows::{Predictions, Rows};
use crate::score::Score;

/// A value and how probable it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atom {
    /// The value.
    pub value: f64,
    /// Its probability, above 0.
    pub probability: f64,
}

/// The law of a score, or of any other number, while the threshold is random.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// In rising order of the values, no value twice, at least one.
    atoms: Vec<Atom>,
}

impl Law {
    /// The law of a score over the threshold; its values are those of the loss, x/0 := 0.
    ///
    /// To ask several scores of the same rows, sort once: [`Matrices::law`].
    pub fn new<P: Predictions>(score: &Score, prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        Matrices::new(prior, rows)?.law(score)
    }

    /// From values in any order, with probabilities that add up to 1.
    pub(super) fn of(values: impl Iterator<Item = (f64, f64)>) -> Self {
        let possible = values.filter(|(_, probability)| *probability > 0.0);
        // Adding 0 turns −0 into 0: the two are one value.
        let mut atoms: Vec<_> = possible.map(|(value, probability)| Atom { value: value + 0.0, probability }).collect();
        assert!(!atoms.is_empty(), "probabilities add up to 1, so one of them is above 0");
        atoms.sort_by(|a, b| a.value.total_cmp(&b.value));
        atoms.dedup_by(|next, kept| {
            let same = next.value == kept.value;
            if same {
                kept.probability += next.probability;
            }
            same
        });
        Law { atoms }
    }

    /// Every value that occurs with positive probability, in rising order.
    #[must_use]
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The least and the greatest of them.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.atoms[0].value, self.atoms[self.atoms.len() - 1].value)
    }

    /// `E[g(s)]`.
    fn expect(&self, g: impl Fn(f64) -> f64) -> f64 {
        sum(self.atoms.iter().map(|atom| atom.probability * g(atom.value)))
    }

    /// The probability of the values that `is_counted` picks.
    fn probability(&self, is_counted: impl Fn(f64) -> bool) -> f64 {
        self.expect(|value| f64::from(u8::from(is_counted(value)))).min(1.0)
    }

    /// `E[s]`.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.expect(|value| value)
    }

    /// `Var[s]`.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        self.expect(|value| (value - mean) * (value - mean))
    }

    /// `√Var[s]`.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// E|s − centre|: the mean absolute deviation where the centre is the mean.
    #[must_use]
    pub fn mean_absolute_deviation(&self, centre: f64) -> f64 {
        self.expect(|value| (value - centre).abs())
    }

    /// P(|s − centre| ≥ ε).
    #[must_use]
    pub fn tail(&self, centre: f64, epsilon: f64) -> f64 {
        self.probability(|value| (value - centre).abs() >= epsilon)
    }

    /// P(s ≤ x).
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.probability(|value| value <= x)
    }

    /// The least value x that occurs with P(s ≤ x) ≥ level.
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        let mut below = 0.0;
        let reaches = |atom: &&Atom| {
            below += atom.probability;
            below >= level
        };
        // The probabilities may add up to a little less than 1: a level of 1 is the last value.
        self.atoms.iter().find(reaches).map_or(self.range().1, |atom| atom.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Law {
        Law::of([(2.0, 0.25), (0.0, 0.5), (9.0, 0.0), (2.0, 0.125), (-0.0, 0.0625), (-4.0, 0.0625)].into_iter())
    }

    #[test]
    fn equal_values_are_one_and_impossible_ones_none() {
        let atoms: Vec<_> = three().atoms().iter().map(|atom| (atom.value, atom.probability)).collect();
        assert_eq!(atoms, [(-4.0, 0.0625), (0.0, 0.5625), (2.0, 0.375)]);
        assert_eq!(three().range(), (-4.0, 2.0));
    }

    #[test]
    fn moments_and_tails_are_sums_over_the_values() {
        let law = three();
        assert_eq!(law.mean(), -0.25 + 0.75);
        assert_eq!(law.variance(), 4.5 * 4.5 / 16.0 + 0.25 * 9.0 / 16.0 + 2.25 * 6.0 / 16.0);
        assert_eq!(law.standard_deviation(), law.variance().sqrt());
        assert_eq!(law.mean_absolute_deviation(0.0), 0.25 + 0.75);
        assert_eq!((law.tail(0.0, 2.0), law.tail(0.0, 2.1), law.tail(0.0, 5.0)), (0.4375, 0.0625, 0.0));
    }

    #[test]
    fn quantile_inverts_the_cdf() {
        let law = three();
        assert_eq!((law.cdf(-5.0), law.cdf(-4.0), law.cdf(1.0), law.cdf(2.0)), (0.0, 0.0625, 0.625, 1.0));
        assert_eq!(
            [0.0, 0.0625, 0.07, 0.625, 0.63, 1.0].map(|level| law.quantile(level)),
            [-4.0, -4.0, 0.0, 0.0, 2.0, 2.0]
        );
    }
}
