//! Cross-entropy, unweighted or with class weights: the usual loss of a classifier, provided for comparison.
//!
//! ```text
//! ℓ = Σ wᵢ c(yᵢ) ln(1 + e^(∓zᵢ)) / Σ wᵢ c(yᵢ)        ∂ℓ/∂zᵢ = wᵢ c(yᵢ) (pᵢ − yᵢ) / Σ w c
//! ```
//!
//! Here zᵢ is the logit of row i, wᵢ its weight, yᵢ its label (the sign ∓ is − for positive rows and + for negative rows), pᵢ = σ(zᵢ), and c(y) the
//! weight of class y, which is 1 without class weights. The loss is computed from the logit and never as the logarithm of
//! a sigmoid, which is 0 or 1 after rounding for large logits.

use super::check_gradient_length;
use crate::error::{Error, Result};
use crate::formula::{ClassCounts, ratio};
use crate::prior::Probability;
use crate::real::Real;
use crate::rows::{Logits, Rows};

/// Cross-entropy with class weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossEntropy {
    positive: f64,
    negative: f64,
}

impl CrossEntropy {
    /// Cross-entropy with both class weights 1.
    #[must_use]
    pub fn plain() -> Self {
        CrossEntropy { positive: 1.0, negative: 1.0 }
    }

    /// Cross-entropy with the given class weights, which must be at least 0 and not both 0.
    pub fn weighted(positive: f64, negative: f64) -> Result<Self> {
        let is_valid = |weight: f64| weight.is_finite() && weight >= 0.0;
        if is_valid(positive) && is_valid(negative) && positive + negative > 0.0 {
            return Ok(CrossEntropy { positive, negative });
        }
        let reason = format!("must both be at least 0, and one must be above 0; they are {positive} and {negative}");
        Err(Error::Setting { what: "class weights", reason })
    }

    /// Cross-entropy with class weights n/2P and n/2N, where P and N are the total weights of positives and negatives and n = P + N, so that both
    /// classes have the same total weight ("balanced" in scikit-learn).
    pub fn balanced(counts: &ClassCounts) -> Result<Self> {
        let total = counts.positives + counts.negatives;
        Self::weighted(ratio(total, 2.0 * counts.positives), ratio(total, 2.0 * counts.negatives))
    }

    /// The weight of the positive class, then the weight of the negative class.
    #[must_use]
    pub fn class_weights(&self) -> (f64, f64) {
        (self.positive, self.negative)
    }

    /// The loss ℓ of the rows.
    pub fn value<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>) -> Result<f64> {
        rows.check()?;
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, z) in rows.predictions.0.iter().enumerate() {
            let (z, label) = (z.to_f64(), rows.labels[row]);
            let weight = self.row_weight(rows, row);
            if weight == 0.0 {
                continue; // the loss of this row may be infinite, and 0 · ∞ is NaN
            }
            // The loss of a row is ln(1 + e^−m) with the margin m = z for positives and −z for negatives. Written as max(−m, 0) + ln(1 + e^−|m|), it
            // does not overflow.
            let margin = if label { z } else { -z };
            sum += weight * ((-margin).max(0.0) + (-margin.abs()).exp().ln_1p());
            total += weight;
        }
        let value = ratio(sum, total);
        if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { score: "cross-entropy".into() }) }
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        check_gradient_length(rows, gradient)?;
        let value = self.value(rows)?;
        let total: f64 = (0..rows.len()).map(|row| self.row_weight(rows, row)).sum();
        for (row, out) in gradient.iter_mut().enumerate() {
            let at = Probability::from_logit(rows.predictions.0[row].to_f64());
            let error = if rows.labels[row] { -at.q } else { at.p };
            *out = R::from_f64(ratio(self.row_weight(rows, row) * error, total));
        }
        Ok(value)
    }

    /// The weight of a row multiplied by the weight of its class.
    fn row_weight<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, row: usize) -> f64 {
        rows.weight(row) * if rows.labels[row] { self.positive } else { self.negative }
    }
}
