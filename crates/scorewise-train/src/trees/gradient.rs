//! The gradient and the curvature of the cross-entropy with two classes, in one pass over the rows.
//!
//! [`Objective::gradient_and_curvature`] computes the same numbers for every loss, with one pass over the rows for the value, one for the gradient
//! and one for the curvature. Boosting rounds spend much of their time on these passes, so this loss, the most usual one, has a loop of its own, with
//! bit for bit the same results. Only the value of the loss may differ in its last digits. It contains the term ln(1 + e^−|z|) of every row, where z
//! is the logit. For rows of a block that have the same weight, one logarithm gives the sum of these terms:
//!
//! ```text
//! Σ ln(1 + e^−|z|) = ln Π (1 + e^−|z|)
//! ```
//!
//! A factor lies between 1 and 2, so the product of a block does not overflow.

use rayon::prelude::*;
use scorewise::{CrossEntropy, Loss};
use scorewise_table::error::Result;

use super::softmax_gradient::SoftmaxGradient;
use crate::fit::{Batch, Objective};

/// Number of rows of a block. The division into blocks does not depend on the number of threads.
pub(super) const BLOCK: usize = 512;
/// Minimum number of rows with which several threads compute the gradients.
const PARALLEL_ROWS: usize = 4096;
/// Minimum curvature of a row. It is above 0, so that sums of curvatures are positive.
pub(super) const MIN_CURVATURE: f32 = 1e-16;

/// Computes the gradient and the curvature of a cross-entropy. The stored numbers are the same for all rows of a batch.
#[derive(Clone, Debug)]
pub(super) enum CrossEntropyGradient {
    /// Two classes, with one logit for each row.
    Binary(BinaryGradient),
    /// One logit for each class.
    Softmax(SoftmaxGradient),
}

impl CrossEntropyGradient {
    /// Computes the numbers that are the same for all rows of a batch; `None` if the objective is not a cross-entropy, or if all
    /// rows have the weight 0.
    pub fn new(objective: &Objective, batch: &Batch) -> Option<Self> {
        let binary = BinaryGradient::new(objective, batch).map(CrossEntropyGradient::Binary);
        binary.or_else(|| SoftmaxGradient::new(objective, batch).map(CrossEntropyGradient::Softmax))
    }

    /// Whether this is the gradient of `objective`. `objective` must be the loss of the warm-up or of the main
    /// phase of the same training run; at most one of these two losses is a cross-entropy.
    pub fn is_gradient_of(&self, objective: &Objective) -> bool {
        matches!(objective, Objective::Binary(Loss::CrossEntropy(_)) | Objective::Softmax(_))
    }
}

/// Computes the gradient and the curvature of a cross-entropy with two classes. The fields are the same for all rows of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct BinaryGradient {
    /// The weights of the negative and of the positive class.
    class_weights: [f64; 2],
    /// The sum of the sample weights of all rows, each times the weight of the row's class.
    total: f64,
    /// The sum of the sample weights of all rows, by which every gradient is multiplied.
    factor: f32,
}

impl BinaryGradient {
    /// Computes the fields for a batch. Returns `None` if the objective is not a cross-entropy with two classes, or if all rows have the weight 0.
    pub fn new(objective: &Objective, batch: &Batch) -> Option<Self> {
        let Objective::Binary(Loss::CrossEntropy(loss)) = objective else { return None };
        let (positive, negative) = CrossEntropy::class_weights(loss);
        let class_weights = [negative, positive];
        let weight = |row: usize| batch.weights.as_ref().map_or(1.0, |weights| f64::from(weights[row]));
        let labels = batch.labels.iter().enumerate();
        let total: f64 = labels.map(|(row, label)| weight(row) * class_weights[usize::from(*label != 0)]).sum();
        let factor: f64 = match &batch.weights {
            Some(weights) => weights.iter().copied().map(f64::from).sum(),
            None => batch.labels.len() as f64,
        };
        (total > 0.0 && total.is_finite()).then_some(BinaryGradient { class_weights, total, factor: factor as f32 })
    }

    /// Writes gradients and curvatures for the given logits of the rows of the batch, as [`Objective::gradient_and_curvature`] does. Returns the
    /// value of the loss if `with_value` is set; otherwise the returned number has no meaning.
    pub fn compute(
        &self,
        batch: &Batch,
        logits: &[f32],
        gradient: &mut [f32],
        curvature: &mut [f32],
        threads: usize,
        with_value: bool,
    ) -> f64 {
        let block = |number: usize, gradient: &mut [f32], curvature: &mut [f32]| {
            let rows = number * BLOCK..number * BLOCK + gradient.len();
            let (labels, logits) = (&batch.labels[rows.clone()], &logits[rows.clone()]);
            match (&batch.weights, with_value) {
                (Some(weights), _) => {
                    let weights = &weights[rows];
                    self.block::<true>(labels, logits, |row| f64::from(weights[row]), gradient, curvature)
                }
                (None, true) => self.block::<true>(labels, logits, |_| 1.0, gradient, curvature),
                (None, false) => self.block::<false>(labels, logits, |_| 1.0, gradient, curvature),
            }
        };
        let sum: f64 = if threads > 1 && logits.len() >= PARALLEL_ROWS {
            let blocks = gradient.par_chunks_mut(BLOCK).zip(curvature.par_chunks_mut(BLOCK)).enumerate();
            let work = blocks.with_min_len(PARALLEL_ROWS / BLOCK);
            work.map(|(number, (gradient, curvature))| block(number, gradient, curvature))
                .collect::<Vec<f64>>()
                .iter()
                .sum()
        } else {
            let blocks = gradient.chunks_mut(BLOCK).zip(curvature.chunks_mut(BLOCK)).enumerate();
            blocks.map(|(number, (gradient, curvature))| block(number, gradient, curvature)).sum()
        };
        sum / self.total
    }

    /// Writes the gradients and curvatures of the rows of one block. Returns the sum of the losses of these rows, each times the weight of the row.
    /// If `WITH_VALUE` is false, the losses are not computed, and 0 is returned.
    #[inline(always)]
    fn block<const WITH_VALUE: bool>(
        &self,
        labels: &[u32],
        logits: &[f32],
        weight: impl Fn(usize) -> f64,
        gradient: &mut [f32],
        curvature: &mut [f32],
    ) -> f64 {
        // The loss of a row is max(−m, 0) + ln(1 + e^−|m|). The margin m is the logit z for positive rows and −z for negative rows. In each class,
        // the rows with the sample weight of the first row of the block share one logarithm, so there is a product for each class.
        let (mut sum, mut products) = (0.0, [1.0; 2]);
        let mut first_weight = None;
        for (row, (label, logit)) in labels.iter().zip(logits).enumerate() {
            let (z, class) = (f64::from(*logit), usize::from(*label != 0));
            let e = (-z.abs()).exp();
            let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
            // The error of a row is the predicted probability of the class that the row does not have: p for negative rows, 1 − p for positive rows.
            // It is the larger of p and 1 − p if the prediction is wrong.
            let is_wrong = (z >= 0.0) != (class == 1);
            let error = if is_wrong { large } else { small };
            let sample_weight = weight(row);
            let row_weight = sample_weight * self.class_weights[class];
            let error = if class == 1 { -error } else { error };
            let row_gradient = (row_weight * error / self.total) as f32 * self.factor;
            let p = 1.0 / (1.0 + (-*logit).exp());
            let share = if class == 0 { 1.0 - p } else { p };
            gradient[row] = row_gradient;
            curvature[row] = (row_gradient.abs() * share).max(MIN_CURVATURE);
            if !WITH_VALUE {
                continue;
            }
            if is_wrong {
                sum += row_weight * z.abs();
            }
            if *first_weight.get_or_insert(sample_weight) == sample_weight {
                products[class] *= 1.0 + e;
            } else if row_weight > 0.0 {
                sum += row_weight * e.ln_1p();
            }
        }
        let weight = first_weight.unwrap_or(0.0);
        for (product, class_weight) in products.into_iter().zip(self.class_weights) {
            let row_weight = weight * class_weight;
            sum += if row_weight > 0.0 { row_weight * product.ln() } else { 0.0 };
        }
        sum
    }
}

/// Writes the gradient of the training rows to `batch.gradient` and their curvature to `curvature`. Returns the value of the loss. If
/// `cross_entropy` is given, it must be the gradient of `objective`; it is used because it is faster.
pub(super) fn gradient_and_curvature(
    objective: &Objective,
    cross_entropy: Option<&CrossEntropyGradient>,
    batch: &mut Batch,
    curvature: &mut [f32],
    threads: usize,
) -> Result<f64> {
    if let Some(cross_entropy) = cross_entropy {
        let mut gradient = std::mem::take(&mut batch.gradient);
        let value = match cross_entropy {
            CrossEntropyGradient::Binary(binary) => {
                binary.compute(batch, &batch.logits, &mut gradient, curvature, threads, true)
            }
            CrossEntropyGradient::Softmax(softmax) => softmax.compute(batch, &mut gradient, curvature, threads),
        };
        batch.gradient = gradient;
        if value.is_finite() {
            return Ok(value);
        }
    }
    // This call handles all other losses. It also returns the error for logits that are not numbers.
    Ok(objective.gradient_and_curvature(batch, curvature)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_gradient_has_the_same_bits_as_the_gradient_of_the_objective() {
        let rows: Vec<u32> = (0..9000).collect();
        let labels: Vec<u32> = rows.iter().map(|row| row * 7 % 3 % 2).collect();
        let weights: Vec<f32> = rows.iter().map(|row| (row % 5) as f32 * 0.5).collect();
        let losses = [
            CrossEntropy::plain(),
            CrossEntropy::weighted(3.0, 0.25).unwrap(),
            CrossEntropy::weighted(1.0, 0.0).unwrap(),
        ];
        for loss in losses {
            let objective = Objective::Binary(Loss::CrossEntropy(loss));
            for weights in [None, Some(&weights[..])] {
                let mut batch = Batch::default();
                batch.gather(&labels, weights, &rows, 1);
                for (logit, row) in batch.logits.iter_mut().zip(&rows) {
                    *logit = ((*row as f32) * 0.37).sin() * 12.0;
                }
                let mut expected = vec![0.0; rows.len()];
                let value = objective.gradient_and_curvature(&mut batch, &mut expected).unwrap();
                let expected_gradient = batch.gradient.clone();
                for threads in [1, 2] {
                    let mut curvature = vec![0.0; rows.len()];
                    batch.gradient.fill(0.0);
                    let cross_entropy = CrossEntropyGradient::new(&objective, &batch);
                    assert!(cross_entropy.is_some());
                    let got =
                        gradient_and_curvature(&objective, cross_entropy.as_ref(), &mut batch, &mut curvature, threads)
                            .unwrap();
                    assert!((got - value).abs() < 1e-12 * value.max(1.0), "{got}, {value}");
                    assert!(batch.gradient == expected_gradient && curvature == expected);
                }
            }
        }
    }

    #[test]
    fn logits_that_are_not_numbers_are_an_error() {
        let mut batch = Batch::default();
        batch.gather(&[0, 1], None, &[0, 1], 1);
        batch.logits[1] = f32::NAN;
        let objective = Objective::Binary(Loss::CrossEntropy(CrossEntropy::plain()));
        let cross_entropy = CrossEntropyGradient::new(&objective, &batch);
        assert!(gradient_and_curvature(&objective, cross_entropy.as_ref(), &mut batch, &mut [0.0; 2], 1).is_err());
    }
}
