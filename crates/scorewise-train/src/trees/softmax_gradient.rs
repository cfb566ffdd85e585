//! The gradient and the curvature of the softmax cross-entropy, in one pass over the rows.
//!
//! As in the file `gradient`, the results are bit for bit those of [`Objective::gradient_and_curvature`], except for the last digits of the
//! value of the loss. The exponentials of a row are computed once instead of three times. The values of the leaves of a tree need the
//! gradient of only one class, which can be computed alone.

use rayon::prelude::*;

use super::gradient::{BLOCK, MIN_CURVATURE};
use crate::fit::{Batch, Objective};

/// Minimum number of logits with which several threads compute the gradients.
const PARALLEL_LOGITS: usize = 8192;

/// Computes the gradient and the curvature of a softmax cross-entropy. The fields are the same for all rows of a batch.
#[derive(Clone, Debug)]
pub(super) struct SoftmaxGradient {
    classes: usize,
    /// The weight of each class; empty if all are 1.
    class_weights: Vec<f64>,
    /// The sum of the sample weights of all rows, each times the weight of the row's class.
    total: f64,
    /// The sum of the sample weights of all rows, by which every gradient is multiplied.
    factor: f32,
}

/// The exponentials e^(z − m) of the logits z of a row, where m is the greatest of these logits.
struct RowExponentials<'a> {
    exponentials: &'a mut [f64],
    top: usize,
    /// The sum of the exponentials of all classes except the one with the greatest logit.
    others: f64,
    /// The sum of all exponentials, added in the order of the classes.
    sum: f64,
}

impl SoftmaxGradient {
    /// Computes the fields for a batch. Returns `None` if the objective is not a softmax cross-entropy, or if all rows have the weight 0.
    pub fn new(objective: &Objective, batch: &Batch) -> Option<Self> {
        let Objective::Softmax(loss) = objective else { return None };
        let class_weights = loss.weights().to_vec();
        let classes = batch.outputs();
        let factor: f64 = match &batch.weights {
            Some(weights) => weights.iter().copied().map(f64::from).sum(),
            None => batch.labels.len() as f64,
        };
        let mut softmax = SoftmaxGradient { classes, class_weights, total: 0.0, factor: factor as f32 };
        softmax.total = (0..batch.labels.len()).map(|row| softmax.row_weight(batch, row)).sum();
        let is_valid = softmax.class_weights.is_empty() || softmax.class_weights.len() == classes;
        (is_valid && softmax.total > 0.0 && softmax.total.is_finite()).then_some(softmax)
    }

    /// The sample weight of a row times the weight of its class.
    fn row_weight(&self, batch: &Batch, row: usize) -> f64 {
        let weight = batch.weights.as_ref().map_or(1.0, |weights| f64::from(weights[row]));
        weight * self.class_weights.get(batch.labels[row] as usize).unwrap_or(&1.0)
    }

    /// Writes the gradients and curvatures of all classes for the logits of the batch. Returns the value of the loss.
    pub fn compute(&self, batch: &Batch, gradient: &mut [f32], curvature: &mut [f32], threads: usize) -> f64 {
        let size = BLOCK * self.classes;
        let block = |(number, (gradient, curvature)): (usize, (&mut [f32], &mut [f32]))| {
            let mut exponentials = vec![0.0; self.classes];
            let mut sum = 0.0;
            let outputs = gradient.chunks_exact_mut(self.classes).zip(curvature.chunks_exact_mut(self.classes));
            for (row, (gradient, curvature)) in outputs.enumerate() {
                let row = number * BLOCK + row;
                let logits = &batch.logits[row * self.classes..][..self.classes];
                let softmax = RowExponentials::new(logits.iter().copied(), &mut exponentials);
                let (truth, weight) = (batch.labels[row] as usize, self.row_weight(batch, row));
                let gap = f64::from(logits[softmax.top]) - f64::from(logits[truth]);
                sum += weight * (gap + softmax.others.ln_1p());
                for (class, to) in gradient.iter_mut().zip(curvature).enumerate() {
                    (*to.0, *to.1) = self.of_class(&softmax, class, truth, weight);
                }
            }
            sum
        };
        let sum: f64 = if threads > 1 && gradient.len() >= PARALLEL_LOGITS {
            let blocks = gradient.par_chunks_mut(size).zip(curvature.par_chunks_mut(size)).enumerate();
            blocks.map(block).collect::<Vec<f64>>().iter().sum()
        } else {
            gradient.chunks_mut(size).zip(curvature.chunks_mut(size)).enumerate().map(block).sum()
        };
        sum / self.total
    }

    /// Writes the gradients and curvatures of one class. For this class, `logits` is used instead of the logits of the batch.
    pub fn compute_class(
        &self,
        batch: &Batch,
        class: usize,
        logits: &[f32],
        gradient: &mut [f32],
        curvature: &mut [f32],
        threads: usize,
    ) {
        let block = |(number, (gradient, curvature)): (usize, (&mut [f32], &mut [f32]))| {
            let mut exponentials = vec![0.0; self.classes];
            for (row, to) in gradient.iter_mut().zip(curvature).enumerate() {
                let row = number * BLOCK + row;
                let of_row = batch.logits[row * self.classes..][..self.classes].iter().copied().enumerate();
                let of_row = of_row.map(|(other, logit)| if other == class { logits[row] } else { logit });
                let softmax = RowExponentials::new(of_row, &mut exponentials);
                let (truth, weight) = (batch.labels[row] as usize, self.row_weight(batch, row));
                (*to.0, *to.1) = self.of_class(&softmax, class, truth, weight);
            }
        };
        if threads > 1 && batch.logits.len() >= PARALLEL_LOGITS {
            gradient.par_chunks_mut(BLOCK).zip(curvature.par_chunks_mut(BLOCK)).enumerate().for_each(block);
        } else {
            gradient.chunks_mut(BLOCK).zip(curvature.chunks_mut(BLOCK)).enumerate().for_each(block);
        }
    }

    /// Gradient and curvature of the loss of a row with respect to the logit of `class`. `truth` is the true class of the row.
    #[inline(always)]
    fn of_class(&self, softmax: &RowExponentials<'_>, class: usize, truth: usize, weight: f64) -> (f32, f32) {
        let (e, whole) = (softmax.exponentials[class], 1.0 + softmax.others);
        // For the true class, the error is p − 1, where p is its predicted probability. The difference would lose precision where p is close to 1, so
        // −(1 − p) is computed from the exponentials of the other classes.
        let error = if class != truth {
            e / whole
        } else if class == softmax.top {
            -(softmax.others / whole)
        } else {
            -((whole - e) / whole)
        };
        let gradient = (weight / self.total * error) as f32 * self.factor;
        let p = (e / softmax.sum) as f32;
        let share = if class == truth { p } else { 1.0 - p };
        (gradient, (gradient.abs() * share).max(MIN_CURVATURE))
    }
}

impl<'a> RowExponentials<'a> {
    /// Computes the exponentials of the logits of a row and stores them in the buffer `exponentials`.
    #[inline(always)]
    fn new(logits: impl Iterator<Item = f32>, exponentials: &'a mut [f64]) -> Self {
        exponentials.iter_mut().zip(logits).for_each(|(to, logit)| *to = f64::from(logit));
        let mut top = 0;
        for class in 1..exponentials.len() {
            if exponentials[class] > exponentials[top] {
                top = class;
            }
        }
        let greatest = exponentials[top];
        let (mut others, mut sum) = (0.0, 0.0);
        for (class, value) in exponentials.iter_mut().enumerate() {
            *value = (*value - greatest).exp();
            sum += *value;
            others += if class == top { 0.0 } else { *value };
        }
        RowExponentials { exponentials, top, others, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorewise::multiclass::SoftmaxCrossEntropy;

    #[test]
    fn the_fast_gradient_has_the_same_bits_as_the_gradient_of_the_objective() {
        let rows: Vec<u32> = (0..4000).collect();
        let labels: Vec<u32> = rows.iter().map(|row| row * 7 % 4).collect();
        let weights: Vec<f32> = rows.iter().map(|row| (row % 5) as f32 * 0.5).collect();
        for class_weights in [vec![], vec![0.5, 2.0, 0.0, 1.0]] {
            let loss = if class_weights.is_empty() {
                SoftmaxCrossEntropy::plain()
            } else {
                SoftmaxCrossEntropy::weighted(class_weights).unwrap()
            };
            let objective = Objective::Softmax(loss);
            for weights in [None, Some(&weights[..])] {
                let mut batch = Batch::default();
                batch.gather(&labels, weights, &rows, 4);
                for (index, logit) in batch.logits.iter_mut().enumerate() {
                    *logit = (index as f32 * 0.37).sin() * 9.0;
                }
                let softmax = SoftmaxGradient::new(&objective, &batch).unwrap();
                let general = |batch: &mut Batch| {
                    let mut curvature = vec![0.0; 16_000];
                    let value = objective.gradient_and_curvature(batch, &mut curvature).unwrap();
                    (value, batch.gradient.clone(), curvature)
                };
                let (value, expected_gradient, expected_curvature) = general(&mut batch);
                let mut moved = batch.clone();
                let logits: Vec<f32> =
                    (0..4000).map(|row| batch.logits[4 * row + 2] + (row % 3) as f32 * 0.4).collect();
                logits.iter().enumerate().for_each(|(row, logit)| moved.logits[4 * row + 2] = *logit);
                let (_, moved_gradient, moved_curvature) = general(&mut moved);
                let of_class = |values: &[f32]| -> Vec<f32> { values.iter().skip(2).step_by(4).copied().collect() };
                for threads in [1, 2] {
                    let (mut gradient, mut curvature) = (vec![0.0; 16_000], vec![0.0; 16_000]);
                    let got = softmax.compute(&batch, &mut gradient, &mut curvature, threads);
                    assert!((got - value).abs() < 1e-12 * value.max(1.0), "{got}, {value}");
                    assert!(gradient == expected_gradient && curvature == expected_curvature);
                    let (mut gradient, mut curvature) = (vec![0.0; 4000], vec![0.0; 4000]);
                    softmax.compute_class(&batch, 2, &logits, &mut gradient, &mut curvature, threads);
                    assert!(gradient == of_class(&moved_gradient) && curvature == of_class(&moved_curvature));
                }
            }
        }
    }
}
