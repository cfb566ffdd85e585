//! The exact expected score: the expectation of s(CM(τ)) over the random threshold τ, where s is any score and CM(τ) is the confusion matrix at
//! the threshold τ.
//!
//! The matrix CM(τ) changes only where τ passes a prediction, so the expectation is a finite sum:
//!
//! ```text
//! E[s] = Σₖ sₖ (F(p₍ₖ₎) − F(p₍ₖ₊₁₎))          predictions in descending order, k of them above τ, p₍₀₎ = 1, p₍ₙ₊₁₎ = 0
//! ∂E/∂pᵢ = f(pᵢ) [s(row i predicted positive) − s(row i predicted negative)]                          at τ = pᵢ
//! ```
//!
//! Here F is the distribution function and f the density of τ, p the predictions, and sₖ the score when k rows are predicted positive.
//!
//! The computation sorts the rows once and needs no derivative of s. Where predictions are equal, the expected score has a kink, and the gradient
//! is the mean of the two one-sided gradients.

use super::check_gradient_length;
use crate::error::{Error, Result};
use crate::formula::{ClassCounts, LANES};
use crate::prior::Prior;
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::score::Score;
use crate::sweep::order_descending;

/// The expected loss over the random threshold τ, computed exactly. If s(τ) is the score at the threshold τ, the loss is 1 − `E[s(τ)]` if higher
/// is better, `E[s(τ)]` if lower is better, and `E|s(τ) − ideal|` if there is an ideal value.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLoss {
    score: Score,
    prior: Prior,
}

impl ExactLoss {
    /// A loss for the given score and prior.
    #[must_use]
    pub fn new(score: Score, prior: Prior) -> Self {
        ExactLoss { score, prior }
    }

    /// The score that the loss is based on.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior of the threshold.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The loss ℓ of the rows.
    pub fn value<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<f64> {
        let steps = Steps::new(&self.prior, rows)?;
        Ok(steps.expectation(&self.losses(&steps)?))
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        check_gradient_length(rows, gradient)?;
        let steps = Steps::new(&self.prior, rows)?;
        let losses = self.losses(&steps)?;
        let value = steps.expectation(&losses);
        let mut single = vec![0.0; 2];
        for group in &steps.groups {
            // A group consists of rows with equal predictions. If the prediction of one row rises slightly, there are thresholds at which
            // this row is predicted positive and all other rows of the group negative. If the prediction falls slightly, there are
            // thresholds at which only this row of the group is predicted negative. If the group consists of one row, the matrices of these
            // two cases are already known: in the first case the whole group is predicted positive, in the second it is predicted negative.
            let (above, below) = (losses[group.step], losses[group.step + 1]);
            for &row in &steps.order[group.rows.clone()] {
                let row = row as usize;
                let change = if group.rows.len() == 1 {
                    below - above
                } else {
                    let weight = rows.weight(row);
                    let (up, down) = if rows.labels[row] {
                        ((weight, 0.0), (-weight, 0.0))
                    } else {
                        ((0.0, weight), (0.0, -weight))
                    };
                    let alone = [
                        (steps.tp[group.step] + up.0, steps.fp[group.step] + up.1),
                        (steps.tp[group.step + 1] + down.0, steps.fp[group.step + 1] + down.1),
                    ];
                    self.losses_at(&alone.map(|a| a.0), &alone.map(|a| a.1), &steps.counts, &mut single)?;
                    0.5 * ((single[0] - above) + (below - single[1]))
                };
                gradient[row] = R::from_f64(change * self.prior.logit_density(rows.predictions.0[row].to_f64()));
            }
        }
        Ok(value)
    }

    /// The loss of each confusion matrix of `steps`.
    fn losses(&self, steps: &Steps) -> Result<Vec<f64>> {
        let mut losses = vec![0.0; steps.tp.len()];
        self.losses_at(&steps.tp, &steps.fp, &steps.counts, &mut losses)?;
        Ok(losses)
    }

    /// For each i, writes the loss of the confusion matrix with `tp[i]` true positives and `fp[i]` false positives to `losses[i]`.
    fn losses_at(&self, tp: &[f64], fp: &[f64], counts: &ClassCounts, losses: &mut [f64]) -> Result<()> {
        score_values(&self.score, tp, fp, counts, losses);
        for loss in losses.iter_mut() {
            *loss = self.score.loss(*loss);
            if !loss.is_finite() {
                return Err(Error::NotFinite { score: self.score.name().to_string() });
            }
        }
        Ok(())
    }
}

/// Writes the score at each pair (TP, FP) to `values`; eight pairs are evaluated at a time.
pub(crate) fn score_values(score: &Score, tp: &[f64], fp: &[f64], counts: &ClassCounts, values: &mut [f64]) {
    let mut scratch = Vec::new();
    for start in (0..tp.len()).step_by(LANES) {
        let length = LANES.min(tp.len() - start);
        // If fewer than eight pairs are left for the last block, the last pair is repeated, so that all eight pairs are valid.
        let lane = |from: &[f64]| std::array::from_fn(|k| from[start + k.min(length - 1)]);
        let evaluated = score.formula().values_at_lanes(&lane(tp), &lane(fp), counts, &mut scratch);
        values[start..start + length].copy_from_slice(&evaluated[..length]);
    }
}

/// All confusion matrices that occur as the threshold falls from 1 to 0, and their probabilities.
pub(crate) struct Steps {
    /// The true positives of each confusion matrix, from 0 in the first matrix to all positives in the last.
    pub tp: Vec<f64>,
    /// The false positives of each confusion matrix, from 0 in the first matrix to all negatives in the last.
    pub fp: Vec<f64>,
    /// For each confusion matrix, the probability that the threshold leads to it. The probabilities sum to 1.
    pub masses: Vec<f64>,
    pub counts: ClassCounts,
    /// Row indices in descending order of the predictions.
    order: Vec<u32>,
    groups: Vec<TiedRows>,
}

/// Rows with equal predictions, as a range of indices into `Steps::order`. In the confusion matrix with index `step` these rows are predicted
/// negative, in the next matrix positive.
struct TiedRows {
    rows: std::ops::Range<usize>,
    step: usize,
}

impl Steps {
    /// Sorts the rows and computes all confusion matrices and their probabilities under the prior.
    pub fn new<P: Predictions>(prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        rows.check()?;
        let values = rows.predictions.values();
        let order = order_descending(values)?;
        let (mut tp, mut fp, mut masses) = (vec![0.0], vec![0.0], Vec::new());
        let mut groups = Vec::new();
        let mut upper_cdf = 1.0; // the distribution function of the prior at the upper end of the current step
        let mut at = 0;
        while at < order.len() {
            let value = values[order[at] as usize];
            let start = at;
            let (mut true_positives, mut false_positives) = (tp[groups.len()], fp[groups.len()]);
            while at < order.len() && values[order[at] as usize] == value {
                let row = order[at] as usize;
                if rows.labels[row] {
                    true_positives += rows.weight(row);
                } else {
                    false_positives += rows.weight(row);
                }
                at += 1;
            }
            let cdf = prior.cdf_at(P::probability(value)).min(upper_cdf);
            masses.push(upper_cdf - cdf);
            upper_cdf = cdf;
            groups.push(TiedRows { rows: start..at, step: groups.len() });
            tp.push(true_positives);
            fp.push(false_positives);
        }
        masses.push(upper_cdf);
        let last = groups.len();
        let counts = ClassCounts { positives: tp[last], negatives: fp[last] };
        Ok(Steps { tp, fp, masses, counts, order, groups })
    }

    /// The expectation of a quantity over the random threshold, given the value of the quantity for each confusion matrix.
    fn expectation(&self, values: &[f64]) -> f64 {
        self.masses.iter().zip(values).map(|(mass, value)| mass * value).sum()
    }
}
