//! The two passes over the rows that compute a score-oriented loss.
//!
//! The first pass sums w F(p) and w for each class, the second writes the gradient w d f(p) p (1 − p); the score is evaluated in between. Here
//! w is the weight of a row, p its probability, F the distribution function and f the density of the prior, and d the derivative of the loss
//! with respect to F(p) for rows of weight 1, one number per class. The second pass recomputes p from the logit instead of storing it,
//! because for many rows memory bandwidth is the bottleneck.
//!
//! Every sum is accumulated as sixteen partial sums in f64, which are added in a fixed order, so the results are bit-identical for all
//! instruction sets.

use super::ClassDerivatives;
use crate::confusion::Confusion;
use crate::error::Result;
use crate::formula::ClassCounts;
use crate::prior::{Prior, RowDistribution, RowTask, with_row_distribution};
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::simd::{InstructionSet, Vectorised, run_vectorised};

/// Number of rows that are processed together: their contributions are first stored, in the L1 cache, and then summed.
const CHUNK_ROWS: usize = 512;
/// Every sum is accumulated as this many partial sums in f64; a vector instruction updates several of them at once.
const PARTIAL_SUMS: usize = 16;

/// The expected confusion matrix of the rows.
pub(crate) fn expected_confusion<P: Predictions>(prior: &Prior, rows: &Rows<'_, P>) -> Result<Confusion> {
    expected_confusion_with_instructions(InstructionSet::best(), prior, rows)
}

/// Same as [`expected_confusion`], but with the given instruction set instead of the best one.
pub(crate) fn expected_confusion_with_instructions<P: Predictions>(
    instructions: InstructionSet,
    prior: &Prior,
    rows: &Rows<'_, P>,
) -> Result<Confusion> {
    let sums = with_row_distribution(prior, ExpectTask { instructions, rows });
    if !(sums.tp + sums.fp + sums.positives + sums.negatives).is_finite() {
        rows.check()?;
    }
    // A row that is not predicted positive is predicted negative, so fn and tn follow from the class counts.
    Ok(Confusion::at(sums.tp, sums.fp, &ClassCounts { positives: sums.positives, negatives: sums.negatives }))
}

/// Writes the gradient w d f(p) p (1 − p) of each row to `gradient`. Here w is the weight of the row, p its probability, f the density of the
/// prior, and d the entry of `derivatives` for the class of the row: the derivative of the loss with respect to the distribution function at p.
pub(crate) fn write_gradient<R: Real>(
    prior: &Prior,
    rows: &Rows<'_, Logits<'_, R>>,
    derivatives: ClassDerivatives,
    gradient: &mut [R],
) {
    write_gradient_with_instructions(InstructionSet::best(), prior, rows, derivatives, gradient);
}

/// Same as [`write_gradient`], but with the given instruction set instead of the best one.
pub(crate) fn write_gradient_with_instructions<R: Real>(
    instructions: InstructionSet,
    prior: &Prior,
    rows: &Rows<'_, Logits<'_, R>>,
    derivatives: ClassDerivatives,
    gradient: &mut [R],
) {
    if derivatives.positive.abs().max(derivatives.negative.abs()) <= R::MAX_DERIVATIVE {
        with_row_distribution(prior, GradientTask { instructions, rows, derivatives, gradient });
        return;
    }
    // If all predictions of a batch lie in the far lower tail of the prior, a derivative (such as that of precision) can exceed the range of f32
    // although its product with the density does not. The gradient of such a batch is computed row by row in f64.
    for (row, out) in gradient.iter_mut().enumerate() {
        let derivative = if rows.labels[row] { derivatives.positive } else { derivatives.negative };
        let density = prior.logit_density(rows.predictions.0[row].to_f64());
        *out = R::from_f64_clamped(derivative * (rows.weight(row) * density));
    }
}

/// The first pass over the rows: computes the sums from which the expected confusion matrix is calculated.
struct ExpectTask<'a, 'b, P: Predictions> {
    instructions: InstructionSet,
    rows: &'a Rows<'b, P>,
}

impl<P: Predictions> RowTask<P::Number> for ExpectTask<'_, '_, P> {
    /// The sums over the rows of each class.
    type Output = ClassTotals;
    fn run<D: RowDistribution<P::Number>>(self, distribution: D) -> ClassTotals {
        let ExpectTask { instructions, rows } = self;
        match rows.weights {
            None => run_vectorised(instructions, ExpectLoop { rows, distribution, weights: Ones }),
            Some(weights) => run_vectorised(instructions, ExpectLoop { rows, distribution, weights }),
        }
    }
}

/// Sums over the rows of each class. `fp` and `tp` sum the row weight w times F(p), the distribution function of the prior at the prediction;
/// `negatives` and `positives` sum w. An invalid row makes at least one sum NaN or infinite; the caller then searches for the invalid row.
struct ClassTotals {
    fp: f64,
    tp: f64,
    negatives: f64,
    positives: f64,
}

/// The weights of the rows, either given or all 1. With this trait a loop is written once and compiled for both cases.
trait RowWeights<R>: Copy {
    /// Whether the rows have weights; false if every row has weight 1.
    const HAS_WEIGHTS: bool;
    /// The weights of the rows from `start` to `end`.
    #[must_use]
    fn weights_in_range(self, start: usize, end: usize) -> Self;
    /// The weight of a row.
    fn weight_of(&self, row: usize) -> R;
}

/// Takes the place of the weights if none are given: every row has weight 1.
#[derive(Clone, Copy)]
struct Ones;

impl<R: Real> RowWeights<R> for Ones {
    const HAS_WEIGHTS: bool = false;
    #[inline(always)]
    /// Returns itself, because all rows of the range have weight 1.
    fn weights_in_range(self, _: usize, _: usize) -> Self {
        self
    }
    #[inline(always)]
    /// The weight 1, which every row has.
    fn weight_of(&self, _: usize) -> R {
        R::ONE
    }
}

impl<R: Real> RowWeights<R> for &[R] {
    const HAS_WEIGHTS: bool = true;
    #[inline(always)]
    fn weights_in_range(self, start: usize, end: usize) -> Self {
        &self[start..end]
    }
    #[inline(always)]
    fn weight_of(&self, row: usize) -> R {
        self[row]
    }
}

/// The loop of the first pass, which computes the sums over the rows; compiled for each prior, each instruction set, and with or without
/// weights.
struct ExpectLoop<'a, 'b, P: Predictions, D, W> {
    rows: &'a Rows<'b, P>,
    distribution: D,
    weights: W,
}

impl<P: Predictions, D: RowDistribution<P::Number>, W: RowWeights<P::Number>> Vectorised
    for ExpectLoop<'_, '_, P, D, W>
{
    /// The sums over the rows of each class.
    type Output = ClassTotals;

    /// Runs the first pass over all rows.
    #[inline(always)]
    fn run(self) -> ClassTotals {
        let mut predicted_positive = ClassSums::new();
        let mut total_weight = ClassSums::new();
        let mut count = 0;
        let values = self.rows.predictions.values();
        for start in (0..values.len()).step_by(CHUNK_ROWS) {
            let end = (start + CHUNK_ROWS).min(values.len());
            let values = &values[start..end];
            let labels = &self.rows.labels[start..end];
            let weights = self.weights.weights_in_range(start, end);
            predicted_positive
                .add(labels, values, |row, value| weights.weight_of(row) * P::cdf(&self.distribution, value));
            if W::HAS_WEIGHTS {
                // A negative weight is replaced by NaN, so that the sum of the weights is NaN, which reveals the invalid weight. An infinite weight
                // makes the sum infinite, which reveals it as well.
                let checked = |weight: P::Number| if weight >= P::Number::ZERO { weight } else { P::Number::NAN };
                total_weight.add(labels, values, |row, _| checked(weights.weight_of(row)));
            } else {
                count += labels.iter().filter(|label| **label).count();
            }
        }
        let (positives, negatives) =
            if W::HAS_WEIGHTS { total_weight.totals() } else { (count as f64, (values.len() - count) as f64) };
        let (tp, fp) = predicted_positive.totals();
        ClassTotals { fp, tp, negatives, positives }
    }
}

/// A sum over the positive rows and a sum over the negative rows, each accumulated as sixteen partial sums in f64.
struct ClassSums<R> {
    positive: [R; CHUNK_ROWS],
    negative: [R; CHUNK_ROWS],
    positive_sums: [f64; PARTIAL_SUMS],
    negative_sums: [f64; PARTIAL_SUMS],
}

impl<R: Real> ClassSums<R> {
    #[inline(always)]
    fn new() -> Self {
        let (chunk, sums) = ([R::ZERO; CHUNK_ROWS], [0.0; PARTIAL_SUMS]);
        ClassSums { positive: chunk, negative: chunk, positive_sums: sums, negative_sums: sums }
    }

    /// Adds the contribution of each row to the sum of its class.
    #[inline(always)]
    fn add(&mut self, labels: &[bool], values: &[R], contribution: impl Fn(usize, R) -> R) {
        let out = self.positive.iter_mut().zip(&mut self.negative);
        for (row, (((positive, negative), label), value)) in out.zip(labels).zip(values).enumerate() {
            let contribution_of_row = contribution(row, *value);
            // Multiplying by the label (1 or 0) avoids a branch: the product is the contribution of a positive row, and 0 for a negative row. The
            // difference `contribution_of_row - positive_part` is 0 for a positive row, and the contribution of a negative row. Both are exact.
            let positive_part = R::from_label(*label) * contribution_of_row;
            *positive = positive_part;
            *negative = contribution_of_row - positive_part;
        }
        // A chunk whose length is not a multiple of `PARTIAL_SUMS` is padded with zeros.
        let padded = labels.len().next_multiple_of(PARTIAL_SUMS);
        self.positive[labels.len()..padded].fill(R::ZERO);
        self.negative[labels.len()..padded].fill(R::ZERO);
        add_to_partial_sums(&mut self.positive_sums, &self.positive[..padded]);
        add_to_partial_sums(&mut self.negative_sums, &self.negative[..padded]);
    }

    /// The sum over the positive rows and the sum over the negative rows.
    #[inline(always)]
    fn totals(&self) -> (f64, f64) {
        (self.positive_sums.iter().sum(), self.negative_sums.iter().sum())
    }
}

/// Adds the values to the partial sums: value i to the partial sum with index i modulo [`PARTIAL_SUMS`].
#[inline(always)]
fn add_to_partial_sums<R: Real>(partial_sums: &mut [f64; PARTIAL_SUMS], values: &[R]) {
    let mut sums = *partial_sums;
    for values in values.chunks_exact(PARTIAL_SUMS) {
        for lane in 0..PARTIAL_SUMS {
            sums[lane] += values[lane].to_f64();
        }
    }
    *partial_sums = sums;
}

/// The second pass over the rows: writes the gradient.
struct GradientTask<'a, 'b, 'c, R: Real> {
    instructions: InstructionSet,
    rows: &'a Rows<'b, Logits<'c, R>>,
    derivatives: ClassDerivatives,
    gradient: &'a mut [R],
}

impl<R: Real> RowTask<R> for GradientTask<'_, '_, '_, R> {
    /// The gradient is written to a slice, so nothing is returned.
    type Output = ();
    fn run<D: RowDistribution<R>>(self, distribution: D) {
        let GradientTask { instructions, rows, derivatives, gradient } = self;
        match rows.weights {
            None => {
                run_vectorised(instructions, GradientLoop { rows, derivatives, gradient, distribution, weights: Ones });
            }
            Some(weights) => {
                run_vectorised(instructions, GradientLoop { rows, derivatives, gradient, distribution, weights });
            }
        }
    }
}

/// The loop of the second pass, which writes the gradient; compiled for each prior, each instruction set, and with or without weights.
struct GradientLoop<'a, 'b, 'c, R: Real, D, W> {
    rows: &'a Rows<'b, Logits<'c, R>>,
    derivatives: ClassDerivatives,
    gradient: &'a mut [R],
    distribution: D,
    weights: W,
}

impl<R: Real, D: RowDistribution<R>, W: RowWeights<R>> Vectorised for GradientLoop<'_, '_, '_, R, D, W> {
    /// The gradient is written to a slice, so nothing is returned.
    type Output = ();

    /// Runs the second pass over all rows.
    #[inline(always)]
    fn run(self) {
        let (positive, negative) = (R::from_f64(self.derivatives.positive), R::from_f64(self.derivatives.negative));
        let rows = self.gradient.iter_mut().zip(self.rows.predictions.0).zip(self.rows.labels);
        let weights = self.weights.weights_in_range(0, self.rows.len());
        for (row, ((out, z), label)) in rows.enumerate() {
            let derivative = if *label { positive } else { negative };
            *out = derivative * (weights.weight_of(row) * self.distribution.density_of_logit(*z));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrix_and_gradient_are_bit_identical_for_every_instruction_set() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let logits: Vec<f32> = (0..5003).map(|_| 12.0 * random() - 6.0).collect();
        let labels: Vec<bool> = (0..5003).map(|_| random() < 0.2).collect();
        let weights: Vec<f32> = (0..5003).map(|_| random()).collect();
        let rows = Rows::new(Logits(&logits), &labels).unwrap().weighted(&weights).unwrap();
        for text in ["uniform", "cosine:0.5,0.1", "quartic:0.4,0.3", "mix:0.1,triangular:0.5,0.5", "beta:2,5"] {
            let prior: Prior = text.parse().unwrap();
            let run = |instructions: InstructionSet| {
                let derivatives = ClassDerivatives { positive: -0.25, negative: 0.125 };
                let mut gradient = vec![0f32; logits.len()];
                write_gradient_with_instructions(instructions, &prior, &rows, derivatives, &mut gradient);
                (expected_confusion_with_instructions(instructions, &prior, &rows).unwrap(), gradient)
            };
            let portable = run(InstructionSet::Portable);
            for instructions in InstructionSet::supported() {
                assert!(run(instructions) == portable, "{instructions:?}, {text}");
            }
        }
    }
}
