//! The exact expected score: E over τ of s(CM(τ)), for any score, linear or not.
//!
//! Between two neighbouring predictions no row changes sides, so CM(τ) is constant there:
//!
//! ```text
//! E[s] = Σₖ sₖ (F(p₍ₖ₎) − F(p₍ₖ₊₁₎))                predictions in falling order, k of them above τ, p₍₀₎ = 1, p₍ₙ₊₁₎ = 0
//! ∂E/∂pᵢ = f(pᵢ) [s(i counted positive) − s(i counted negative)]                                     at τ = pᵢ
//! ```
//!
//! One sort, no derivative of s. Where predictions tie, E has a kink; the gradient is the mean of the two one-sided ones.

use super::check_gradient;
use crate::error::{Error, Result};
use crate::formula::{Counts, LANES};
use crate::prior::Prior;
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::score::Score;
use crate::sweep::order_descending;

/// 1 − E s(τ) (or E s, E|s − ideal| where that is better), exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLoss {
    score: Score,
    prior: Prior,
}

impl ExactLoss {
    /// A loss for this score under this prior.
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

    /// ℓ.
    pub fn value<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<f64> {
        let steps = Steps::new(&self.prior, rows)?;
        self.expected(&steps, &self.losses(&steps)?)
    }

    /// ℓ, and ∂ℓ/∂z into the caller's slice.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        check_gradient(rows, gradient)?;
        let steps = Steps::new(&self.prior, rows)?;
        let losses = self.losses(&steps)?;
        let value = self.expected(&steps, &losses)?;
        let mut single = vec![0.0; 2];
        for group in &steps.groups {
            // Moved up alone, the row is the only one of its group above the threshold; moved down, the only one below.
            // A group of one needs no further matrices: both sides are the neighbouring steps.
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
                gradient[row] = R::of(change * self.prior.logit_density(rows.predictions.0[row].wide()));
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
    fn losses_at(&self, tp: &[f64], fp: &[f64], counts: &Counts, losses: &mut [f64]) -> Result<()> {
        score_values(&self.score, tp, fp, counts, losses);
        for loss in losses.iter_mut() {
            *loss = self.score.loss(*loss);
            if !loss.is_finite() {
                return Err(Error::NotFinite { score: self.score.name().to_string() });
            }
        }
        Ok(())
    }

    fn expected(&self, steps: &Steps, losses: &[f64]) -> Result<f64> {
        Ok(steps.masses.iter().zip(losses).map(|(mass, loss)| mass * loss).sum())
    }
}

/// The score at each (TP, FP), eight at a time.
pub(crate) fn score_values(score: &Score, tp: &[f64], fp: &[f64], counts: &Counts, values: &mut [f64]) {
    let mut scratch = Vec::new();
    for start in (0..tp.len()).step_by(LANES) {
        let length = LANES.min(tp.len() - start);
        // The last lanes repeat a real matrix, so that no lane computes nonsense.
        let lane = |from: &[f64]| std::array::from_fn(|k| from[start + k.min(length - 1)]);
        let found = score.formula().lanes(&lane(tp), &lane(fp), counts, &mut scratch);
        values[start..start + length].copy_from_slice(&found[..length]);
    }
}

/// All the confusion matrices that occur as the threshold falls from 1 to 0, and the probability of each.
pub(crate) struct Steps {
    /// Hits and false alarms at each step: step 0 has none above the threshold, the last one all.
    pub tp: Vec<f64>,
    pub fp: Vec<f64>,
    /// The probability that the threshold lies in the step; they add up to 1.
    pub masses: Vec<f64>,
    pub counts: Counts,
    /// Rows in falling order of their predictions.
    order: Vec<u32>,
    groups: Vec<Group>,
}

/// Rows with equal predictions; they pass the threshold together, from `step` to `step + 1`.
struct Group {
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
        let mut above = 1.0; // F at the upper end of the current step
        let mut at = 0;
        while at < order.len() {
            let value = values[order[at] as usize];
            let start = at;
            let (mut hits, mut alarms) = (tp[groups.len()], fp[groups.len()]);
            while at < order.len() && values[order[at] as usize] == value {
                let row = order[at] as usize;
                if rows.labels[row] {
                    hits += rows.weight(row);
                } else {
                    alarms += rows.weight(row);
                }
                at += 1;
            }
            let cdf = prior.cdf_at(P::chance(value)).min(above);
            masses.push(above - cdf);
            above = cdf;
            groups.push(Group { rows: start..at, step: groups.len() });
            tp.push(hits);
            fp.push(alarms);
        }
        masses.push(above);
        let last = groups.len();
        let counts = Counts { positives: tp[last], negatives: fp[last] };
        Ok(Steps { tp, fp, masses, counts, order, groups })
    }
}
