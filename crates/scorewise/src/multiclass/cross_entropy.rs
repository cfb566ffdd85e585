//! Softmax cross-entropy, unweighted or with class weights: the usual loss of a classifier, for comparison and for initial
//! training.
//!
//! ```text
//! ℓ = − Σ wᵢ c(yᵢ) ln p(yᵢ) / Σ wᵢ c(yᵢ)        p = softmax(z)        ∂ℓ/∂zₖ = wᵢ c(yᵢ) (pₖ − [k = yᵢ]) / Σ w c
//! ```
//!
//! Here z are the logits of a row, wᵢ is the weight of row i, yᵢ its class, and c(y) the weight of class y, which is 1 without class weights.
//! The loss of a row, −ln p(y) = z_max − z(y) + ln(1 + Σ e^(zₖ − z_max)), is computed from the logits, never as the logarithm of a softmax; the
//! sum runs over all classes k except the class with the largest logit z_max. With two classes the loss is the
//! [`CrossEntropy`](crate::CrossEntropy) of z₁ − z₀.

use super::link::RowSoftmax;
use super::rows::{ClassRows, OneOf};
use crate::error::{Error, Result};
use crate::formula::ratio;
use crate::real::Real;

/// Softmax cross-entropy with optional class weights.
///
/// ```
/// use scorewise::multiclass::{ClassRows, OneOf, SoftmaxCrossEntropy};
///
/// let logits = [0.0, 2f64.ln(), 0.0, /* second row */ 3f64.ln(), 0.0, 0.0];
/// let rows = ClassRows::new(&logits, 3, OneOf(&[1, 0]))?; // probabilities of the true classes: 2/4 and 3/5
/// let value = SoftmaxCrossEntropy::plain().value(&rows)?;
/// assert!((value - -(0.5f64.ln() + 0.6f64.ln()) / 2.0).abs() < 1e-15);
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SoftmaxCrossEntropy {
    /// One weight per class; empty if all class weights are 1.
    weights: Vec<f64>,
}

impl SoftmaxCrossEntropy {
    /// Cross-entropy with all class weights 1.
    #[must_use]
    pub fn plain() -> Self {
        SoftmaxCrossEntropy { weights: Vec::new() }
    }

    /// Cross-entropy with the given class weights.
    pub fn weighted(weights: Vec<f64>) -> Result<Self> {
        let is_valid = weights.iter().all(|weight| (0.0..f64::INFINITY).contains(weight));
        if is_valid && weights.iter().any(|weight| *weight > 0.0) {
            return Ok(SoftmaxCrossEntropy { weights });
        }
        Err(Error::Setting {
            what: "class weights",
            reason: "must be finite and 0 or above, and at least one of them above 0".into(),
        })
    }

    /// Cross-entropy with class weights n/(m nₖ), where nₖ is the total weight of class k, m the number of classes and n the total weight of all
    /// rows, so that all classes have the same total weight ("balanced" in scikit-learn). The weight of a class without rows is 0.
    pub fn balanced(counts: &[f64]) -> Result<Self> {
        let total: f64 = counts.iter().sum();
        Self::weighted(counts.iter().map(|count| ratio(total, counts.len() as f64 * count)).collect())
    }

    /// The class weights; empty if all class weights are 1.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The loss ℓ of the rows.
    pub fn value<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>) -> Result<f64> {
        self.check_weight_count(rows.classes())?;
        let mut softmax = RowSoftmax::new(rows.classes());
        let (mut sum, mut total) = (0.0, 0.0);
        for row in 0..rows.len() {
            let (logits, weight) = (rows.logits(row), self.row_weight(rows, row));
            softmax.load(logits.iter().map(|logit| logit.to_f64()), 1.0);
            let gap = logits[softmax.top_class()].to_f64() - logits[rows.label(row)].to_f64();
            sum += weight * (gap + softmax.sum_without_top_class().ln_1p());
            total += weight;
        }
        let value = ratio(sum, total);
        if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { score: "cross-entropy".into() }) }
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`, row by row with one value per class.
    pub fn value_and_gradient<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>, gradient: &mut [R]) -> Result<f64> {
        rows.check_gradient_length(gradient)?;
        let value = self.value(rows)?;
        let total: f64 = (0..rows.len()).map(|row| self.row_weight(rows, row)).sum();
        let mut softmax = RowSoftmax::new(rows.classes());
        for (row, gradient) in gradient.chunks_exact_mut(rows.classes()).enumerate() {
            let (truth, share) = (rows.label(row), ratio(self.row_weight(rows, row), total));
            softmax.load(rows.logits(row).iter().map(|logit| logit.to_f64()), 1.0);
            for (class, out) in gradient.iter_mut().enumerate() {
                // For the true class, the derivative p − 1 is computed as −q, where q is the accurate complement of p; p − 1 would lose precision
                // where p is close to 1.
                let probability = softmax.probability_with_complement(class);
                *out = R::from_f64(share * if class == truth { -probability.q } else { probability.p });
            }
        }
        Ok(value)
    }

    fn check_weight_count(&self, classes: usize) -> Result<()> {
        if self.weights.is_empty() || self.weights.len() == classes {
            return Ok(());
        }
        let reason = format!("must contain one weight for each of the {classes} classes, not {}", self.weights.len());
        Err(Error::Setting { what: "class weights", reason })
    }

    /// The weight of a row multiplied by the weight of its class.
    fn row_weight<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>, row: usize) -> f64 {
        rows.weight(row) * self.weights.get(rows.label(row)).unwrap_or(&1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::CrossEntropy;
    use crate::rows::{Logits, Rows};

    /// The logits of four rows with three classes, row by row.
    const LOGITS: [f64; 12] = [0.3, -1.2, 0.8, 2.0, 0.1, -0.4, -3.0, 1.5, 0.0, 0.6, 0.7, -0.2];
    /// The true classes of the four rows.
    const LABELS: [u32; 4] = [2, 0, 0, 1];
    /// The weights of the four rows.
    const WEIGHTS: [f64; 4] = [1.0, 0.5, 2.0, 3.0];

    #[test]
    fn gradient_matches_central_difference() {
        let losses = [SoftmaxCrossEntropy::plain(), SoftmaxCrossEntropy::balanced(&[2.5, 3.0, 1.0]).unwrap()];
        for loss in losses {
            let value_at = |logits: &[f64]| {
                let rows = ClassRows::new(logits, 3, OneOf(&LABELS)).unwrap().weighted(&WEIGHTS).unwrap();
                loss.value(&rows).unwrap()
            };
            let rows = ClassRows::new(&LOGITS, 3, OneOf(&LABELS)).unwrap().weighted(&WEIGHTS).unwrap();
            let mut gradient = [0.0; 12];
            assert_eq!(loss.value_and_gradient(&rows, &mut gradient).unwrap(), value_at(&LOGITS));
            for at in 0..12 {
                let value_after = |by: f64| {
                    let mut logits = LOGITS;
                    logits[at] += by;
                    value_at(&logits)
                };
                let difference =
                    (8.0 * (value_after(1e-3) - value_after(-1e-3)) - (value_after(2e-3) - value_after(-2e-3))) / 12e-3;
                assert!((gradient[at] - difference).abs() < 1e-10, "{at}: {}, expected {difference}", gradient[at]);
            }
        }
    }

    #[test]
    fn loss_of_two_classes_equals_the_binary_loss_of_the_logit_difference() {
        let labels = [1, 0, 1];
        let rows = ClassRows::new(&[0.2, 1.0, -0.5, 0.4, 3.0, 0.1], 2, OneOf(&labels)).unwrap();
        let (differences, positives) = ([0.8, 0.9, -2.9], labels.map(|label| label == 1));
        let binary = Rows::new(Logits(&differences), &positives).unwrap();
        let plain = SoftmaxCrossEntropy::plain().value(&rows).unwrap();
        assert!((plain - CrossEntropy::plain().value(&binary).unwrap()).abs() < 1e-15);
        let weighted = SoftmaxCrossEntropy::weighted(vec![1.0, 4.0]).unwrap().value(&rows).unwrap();
        assert!((weighted - CrossEntropy::weighted(4.0, 1.0).unwrap().value(&binary).unwrap()).abs() < 1e-15);
    }

    #[test]
    fn balanced_weights_give_classes_equal_influence_and_the_loss_of_extreme_logits_is_finite() {
        // Three rows of class 0 and one row of class 1, with probabilities 3/4 and 1/4. The class weights are 4/6 and 4/2, so each class
        // has half of the total weight.
        let logits = [3f64.ln(), 0.0].repeat(4);
        let rows = ClassRows::new(&logits, 2, OneOf(&[0, 0, 0, 1])).unwrap();
        let balanced = SoftmaxCrossEntropy::balanced(&[3.0, 1.0]).unwrap();
        assert_eq!(balanced.weights(), [4.0 / 6.0, 2.0]);
        let value = balanced.value(&rows).unwrap();
        assert!((value - -(0.75f64.ln() + 0.25f64.ln()) / 2.0).abs() < 1e-15);
        let extreme = ClassRows::new(&[1e30, 0.0, -1e30], 3, OneOf(&[1])).unwrap();
        let mut gradient = [0.0; 3];
        assert_eq!(SoftmaxCrossEntropy::plain().value_and_gradient(&extreme, &mut gradient).unwrap(), 1e30);
        assert_eq!(gradient, [1.0, -1.0, 0.0]);
    }

    #[test]
    fn invalid_class_weights_are_rejected() {
        assert!(SoftmaxCrossEntropy::weighted(vec![0.0, 0.0]).is_err());
        assert!(SoftmaxCrossEntropy::weighted(vec![1.0, f64::NAN]).is_err());
        let rows = ClassRows::new(&[0.0, 0.0, 0.0], 3, OneOf(&[1])).unwrap();
        let error = SoftmaxCrossEntropy::weighted(vec![1.0, 2.0]).unwrap().value(&rows).unwrap_err();
        assert_eq!(error.to_string(), "class weights must contain one weight for each of the 3 classes, not 2");
    }
}
