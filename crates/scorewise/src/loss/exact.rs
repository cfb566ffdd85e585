//! The exact expected score: the expectation over τ of s(CM(τ)), for any score.
//!
//! CM(τ) is constant between two neighbouring predictions, so
//!
//! ```text
//! E[s] = Σₖ sₖ (F(p₍ₖ₎) − F(p₍ₖ₊₁₎))          predictions in descending order, k of them above τ, p₍₀₎ = 1, p₍ₙ₊₁₎ = 0
//! ∂E/∂pᵢ = f(pᵢ) [s(row i predicted positive) − s(row i predicted negative)]                          at τ = pᵢ
//! ```
//!
//! This takes one sort and no derivative of s. Where predictions are equal, E has a kink and the gradient is the mean of the
//! two one-sided gradients.

use super::check_gradient;
use crate::error::{Error, Result};
use crate::formula::{ClassCounts, LANES};
use crate::prior::Prior;
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::score::Score;
use crate::sweep::order_descending;

/// 1 − E[s(τ)], or E[s] if lower is better, or E|s − ideal| if there is an ideal value.
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

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The loss ℓ.
    pub fn value<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<f64> {
        let steps = Steps::new(&self.prior, rows)?;
        Ok(steps.mean(&self.losses(&steps)?))
    }

    /// The loss ℓ; the gradient ∂ℓ/∂z is written to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        check_gradient(rows, gradient)?;
        let steps = Steps::new(&self.prior, rows)?;
        let losses = self.losses(&steps)?;
        let value = steps.mean(&losses);
        let mut single = vec![0.0; 2];
        for group in &steps.groups {
            // If the row moves up, it is the only row of its group above the threshold; if it moves down, the only one below.
            // For a group of one row, these are the two neighbouring steps and no further matrices are needed.
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

    fn losses(&self, steps: &Steps) -> Result<Vec<f64>> {
        let mut losses = vec![0.0; steps.tp.len()];
        self.losses_at(&steps.tp, &steps.fp, &steps.counts, &mut losses)?;
        Ok(losses)
    }

    /// The loss of each matrix.
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

/// The score at each pair (TP, FP), evaluated eight at a time.
pub(crate) fn score_values(score: &Score, tp: &[f64], fp: &[f64], counts: &ClassCounts, values: &mut [f64]) {
    let mut scratch = Vec::new();
    for start in (0..tp.len()).step_by(LANES) {
        let length = LANES.min(tp.len() - start);
        // The unused lanes repeat the last matrix, so that no lane computes with undefined values.
        let lane = |from: &[f64]| std::array::from_fn(|k| from[start + k.min(length - 1)]);
        let evaluated = score.formula().lanes(&lane(tp), &lane(fp), counts, &mut scratch);
        values[start..start + length].copy_from_slice(&evaluated[..length]);
    }
}

/// All confusion matrices that occur as the threshold falls from 1 to 0, and their probabilities.
pub(crate) struct Steps {
    /// True positives at each step: none at step 0, all at the last step.
    pub tp: Vec<f64>,
    /// False positives at each step.
    pub fp: Vec<f64>,
    /// The probability that the threshold lies in each step; they sum to 1.
    pub masses: Vec<f64>,
    pub counts: ClassCounts,
    /// Row indices in descending order of the predictions.
    order: Vec<u32>,
    groups: Vec<TiedRows>,
}

/// Rows with equal predictions, which become positive together between `step` and `step + 1`.
struct TiedRows {
    rows: std::ops::Range<usize>,
    step: usize,
}

impl Steps {
    pub fn new<P: Predictions>(prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        rows.check()?;
        let values = rows.predictions.values();
        let order = order_descending(values)?;
        let (mut tp, mut fp, mut masses) = (vec![0.0], vec![0.0], Vec::new());
        let mut groups = Vec::new();
        let mut upper_cdf = 1.0; // F at the upper end of the current step
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

    /// The expectation of a value that is given for each step.
    fn mean(&self, values: &[f64]) -> f64 {
        self.masses.iter().zip(values).map(|(mass, value)| mass * value).sum()
    }
}
