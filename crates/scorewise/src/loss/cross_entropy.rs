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
use crate::real::Real;
use crate::rows::{Logits, Rows};

/// Number of rows whose losses are computed together, as one logarithm of a product with one factor for each row. A factor is at most 2, so the
/// product does not overflow.
const ROWS_PER_LOGARITHM: usize = 512;

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
        let required = "must both be finite and at least 0, and at least one must be above 0";
        let reason = format!("{required}; they are {positive} and {negative}");
        Err(Error::Setting { what: "class weights", reason })
    }

    /// Cross-entropy with class weights n/(2P) and n/(2N), where P and N are the total weights of positives and negatives and n = P + N. With these
    /// class weights, both classes have the same total weight ("balanced" in scikit-learn).
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
        self.mean_loss(rows, self.total_weight(rows), |_, _| {})
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        check_gradient_length(rows, gradient)?;
        rows.check()?;
        let total = self.total_weight(rows);
        self.mean_loss(rows, total, |row, weighted_error| gradient[row] = R::from_f64(ratio(weighted_error, total)))
    }

    /// The sum of the weighted losses of all rows, divided by `total`. Calls `visit` for each row with its index and with the derivative of its
    /// weighted loss with respect to its logit.
    ///
    /// The loss of a row with the logit z is ln(1 + e^−m), where the margin m is z for positives and −z for negatives. It is computed as
    /// max(−m, 0) + ln(1 + e^−|m|), which does not overflow. Without sample weights, all rows of a class have the same weight. In each block of rows,
    /// the sum of ln(1 + e^−|m|) over a class is then computed as one logarithm of a product with a factor 1 + e^−|m| for each row. The product minus
    /// 1 is computed as a sum of positive numbers, so that it is accurate even if all predictions are almost certain.
    #[inline(always)]
    fn mean_loss<R: Real>(
        &self,
        rows: &Rows<'_, Logits<'_, R>>,
        total: f64,
        mut visit: impl FnMut(usize, f64),
    ) -> Result<f64> {
        let mut sum = 0.0;
        for (block, logits) in rows.predictions.0.chunks(ROWS_PER_LOGARITHM).enumerate() {
            let mut products_minus_1 = [0.0; 2];
            for (index, z) in logits.iter().enumerate() {
                let row = block * ROWS_PER_LOGARITHM + index;
                let (z, label, weight) = (z.to_f64(), rows.labels[row], self.row_weight(rows, row));
                let e = (-z.abs()).exp();
                let is_wrong = (z >= 0.0) != label;
                // The predicted probability of the wrong class: 1 − p for a positive row, p for a negative row.
                let error = if is_wrong { 1.0 } else { e } / (1.0 + e);
                visit(row, weight * if label { -error } else { error });
                if weight == 0.0 {
                    continue; // the loss of this row may be infinite, and 0 · ∞ is NaN
                }
                if is_wrong {
                    sum += weight * z.abs();
                }
                if rows.weights.is_some() {
                    sum += weight * e.ln_1p();
                } else {
                    let product = &mut products_minus_1[usize::from(label)];
                    *product += e + e * *product;
                }
            }
            sum += self.negative * products_minus_1[0].ln_1p() + self.positive * products_minus_1[1].ln_1p();
        }
        let value = ratio(sum, total);
        if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { score: "cross-entropy".into() }) }
    }

    /// The sum of the weights of all rows, each times the weight of the row's class.
    fn total_weight<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>) -> f64 {
        (0..rows.len()).map(|row| self.row_weight(rows, row)).sum()
    }

    /// The weight of a row multiplied by the weight of its class.
    fn row_weight<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, row: usize) -> f64 {
        rows.weight(row) * if rows.labels[row] { self.positive } else { self.negative }
    }
}
