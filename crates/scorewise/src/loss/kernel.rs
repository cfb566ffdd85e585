//! The two passes over the rows that every score-oriented loss is made of.
//!
//! Pass one sums w F(p) and w by class; pass two writes −w g f(p) p (1 − p). Between them lies one scalar step. The
//! second pass computes σ again instead of reading it from memory: at ten million rows memory is what costs.
//!
//! Sums run in sixteen f64 lanes, whatever the machine, and are folded at the end in one order: same bits everywhere.

use super::Slopes;
use crate::confusion::Confusion;
use crate::error::Result;
use crate::formula::Counts;
use crate::prior::{Prior, RowDistribution, RowTask, with_row_distribution};
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::simd::{InstructionSet, Vectorised, run_vectorised};

/// Rows that go through the elementwise part before they are summed: small enough for the first cache.
const CHUNK: usize = 512;
const LANES: usize = 16;

/// The expected confusion matrix of the rows.
pub(crate) fn expect<P: Predictions>(prior: &Prior, rows: &Rows<'_, P>) -> Result<Confusion> {
    expect_at(InstructionSet::best(), prior, rows)
}

pub(crate) fn expect_at<P: Predictions>(
    instructions: InstructionSet,
    prior: &Prior,
    rows: &Rows<'_, P>,
) -> Result<Confusion> {
    let sums = with_row_distribution(prior, Expect { instructions, rows });
    if !(sums.hits + sums.alarms + sums.positives + sums.negatives).is_finite() {
        rows.check()?;
    }
    // Row sums are kept: what is not predicted positive is predicted negative.
    Ok(Confusion::at(sums.hits, sums.alarms, &Counts { positives: sums.positives, negatives: sums.negatives }))
}

/// −w g f(p) p (1 − p) into `gradient`, with g already multiplied by the slope of the loss.
pub(crate) fn gradient<R: Real>(prior: &Prior, rows: &Rows<'_, Logits<'_, R>>, slopes: Slopes, gradient: &mut [R]) {
    gradient_at(InstructionSet::best(), prior, rows, slopes, gradient);
}

pub(crate) fn gradient_at<R: Real>(
    instructions: InstructionSet,
    prior: &Prior,
    rows: &Rows<'_, Logits<'_, R>>,
    slopes: Slopes,
    gradient: &mut [R],
) {
    if slopes.positive.abs().max(slopes.negative.abs()) <= R::STEEPEST {
        with_row_distribution(prior, Gradient { instructions, rows, slopes, gradient });
        return;
    }
    // Where all of a batch lies in the far tail, slopes exceed what f32 holds though their products with the density do
    // not: such a batch goes row by row in f64.
    for (row, out) in gradient.iter_mut().enumerate() {
        let slope = if rows.labels[row] { slopes.positive } else { slopes.negative };
        let density = prior.logit_density(rows.predictions.0[row].wide());
        *out = R::of_clamped(slope * (rows.weight(row) * density));
    }
}

struct Expect<'a, 'b, P: Predictions> {
    instructions: InstructionSet,
    rows: &'a Rows<'b, P>,
}

impl<P: Predictions> RowTask<P::Number> for Expect<'_, '_, P> {
    type Output = Sums;
    fn run<L: RowDistribution<P::Number>>(self, law: L) -> Sums {
        let Expect { instructions, rows } = self;
        match rows.weights {
            None => run_vectorised(instructions, ExpectLoop { rows, law, weights: Ones }),
            Some(weights) => run_vectorised(instructions, ExpectLoop { rows, law, weights }),
        }
    }
}

/// Σ w F of negatives and positives, Σ w of negatives and positives. A row that cannot be used makes one of them no number;
/// which row is looked for afterwards.
struct Sums {
    alarms: f64,
    hits: f64,
    negatives: f64,
    positives: f64,
}

/// One weight a row, given or 1: the loops are written once and compiled for both.
trait Weights<R>: Copy {
    const ARE_GIVEN: bool;
    /// Those of the rows from `start` to `end`.
    #[must_use]
    fn part(self, start: usize, end: usize) -> Self;
    fn at(&self, row: usize) -> R;
}

#[derive(Clone, Copy)]
struct Ones;

impl<R: Real> Weights<R> for Ones {
    const ARE_GIVEN: bool = false;
    #[inline(always)]
    fn part(self, _: usize, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn at(&self, _: usize) -> R {
        R::ONE
    }
}

impl<R: Real> Weights<R> for &[R] {
    const ARE_GIVEN: bool = true;
    #[inline(always)]
    fn part(self, start: usize, end: usize) -> Self {
        &self[start..end]
    }
    #[inline(always)]
    fn at(&self, row: usize) -> R {
        self[row]
    }
}

struct ExpectLoop<'a, 'b, P: Predictions, L, W> {
    rows: &'a Rows<'b, P>,
    law: L,
    weights: W,
}

impl<P: Predictions, L: RowDistribution<P::Number>, W: Weights<P::Number>> Vectorised for ExpectLoop<'_, '_, P, L, W> {
    type Output = Sums;

    #[inline(always)]
    fn run(self) -> Sums {
        let mut hits = Split::new();
        let mut weight = Split::new();
        let mut count = 0;
        let values = self.rows.predictions.values();
        for start in (0..values.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(values.len());
            let values = &values[start..end];
            let labels = &self.rows.labels[start..end];
            let weights = self.weights.part(start, end);
            hits.add(labels, values, |row, value| weights.at(row) * P::cdf(&self.law, value));
            if W::ARE_GIVEN {
                // A weight below 0 spoils the sum, so that it is noticed; infinite ones do so by themselves.
                let usable = |weight: P::Number| if weight >= P::Number::ZERO { weight } else { P::Number::NAN };
                weight.add(labels, values, |row, _| usable(weights.at(row)));
            } else {
                count += labels.iter().filter(|label| **label).count();
            }
        }
        let (positives, negatives) =
            if W::ARE_GIVEN { weight.totals() } else { (count as f64, (values.len() - count) as f64) };
        let (hits, alarms) = hits.totals();
        Sums { alarms, hits, negatives, positives }
    }
}

/// Sums by class, in sixteen f64 lanes each.
struct Split<R> {
    positive: [R; CHUNK],
    negative: [R; CHUNK],
    positive_lanes: [f64; LANES],
    negative_lanes: [f64; LANES],
}

impl<R: Real> Split<R> {
    #[inline(always)]
    fn new() -> Self {
        let (chunk, lanes) = ([R::ZERO; CHUNK], [0.0; LANES]);
        Split { positive: chunk, negative: chunk, positive_lanes: lanes, negative_lanes: lanes }
    }

    /// Adds what each row contributes to the sum of its class.
    #[inline(always)]
    fn add(&mut self, labels: &[bool], values: &[R], part: impl Fn(usize, R) -> R) {
        let out = self.positive.iter_mut().zip(&mut self.negative);
        for (row, (((positive, negative), label), value)) in out.zip(labels).zip(values).enumerate() {
            let all = part(row, *value);
            // A product, not a branch: all or 0, and the difference is 0 or all, without rounding.
            let mine = R::of_label(*label) * all;
            *positive = mine;
            *negative = all - mine;
        }
        // A last chunk that does not fill its lanes is filled with zeros.
        let whole = labels.len().next_multiple_of(LANES);
        self.positive[labels.len()..whole].fill(R::ZERO);
        self.negative[labels.len()..whole].fill(R::ZERO);
        add_lanes(&mut self.positive_lanes, &self.positive[..whole]);
        add_lanes(&mut self.negative_lanes, &self.negative[..whole]);
    }

    #[inline(always)]
    fn totals(&self) -> (f64, f64) {
        (self.positive_lanes.iter().sum(), self.negative_lanes.iter().sum())
    }
}

#[inline(always)]
fn add_lanes<R: Real>(lanes: &mut [f64; LANES], values: &[R]) {
    let mut sums = *lanes;
    for values in values.chunks_exact(LANES) {
        for lane in 0..LANES {
            sums[lane] += values[lane].wide();
        }
    }
    *lanes = sums;
}

struct Gradient<'a, 'b, 'c, R: Real> {
    instructions: InstructionSet,
    rows: &'a Rows<'b, Logits<'c, R>>,
    slopes: Slopes,
    gradient: &'a mut [R],
}

impl<R: Real> RowTask<R> for Gradient<'_, '_, '_, R> {
    type Output = ();
    fn run<L: RowDistribution<R>>(self, law: L) {
        let Gradient { instructions, rows, slopes, gradient } = self;
        match rows.weights {
            None => run_vectorised(instructions, GradientLoop { rows, slopes, gradient, law, weights: Ones }),
            Some(weights) => run_vectorised(instructions, GradientLoop { rows, slopes, gradient, law, weights }),
        }
    }
}

struct GradientLoop<'a, 'b, 'c, R: Real, L, W> {
    rows: &'a Rows<'b, Logits<'c, R>>,
    slopes: Slopes,
    gradient: &'a mut [R],
    law: L,
    weights: W,
}

impl<R: Real, L: RowDistribution<R>, W: Weights<R>> Vectorised for GradientLoop<'_, '_, '_, R, L, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (positive, negative) = (R::of(self.slopes.positive), R::of(self.slopes.negative));
        let rows = self.gradient.iter_mut().zip(self.rows.predictions.0).zip(self.rows.labels);
        let weights = self.weights.part(0, self.rows.len());
        for (row, ((out, z), label)) in rows.enumerate() {
            let slope = if *label { positive } else { negative };
            *out = slope * (weights.at(row) * self.law.density_of_logit(*z));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
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
            let work = |instructions: InstructionSet| {
                let slopes = Slopes { positive: -0.25, negative: 0.125 };
                let mut gradient = vec![0f32; logits.len()];
                gradient_at(instructions, &prior, &rows, slopes, &mut gradient);
                (expect_at(instructions, &prior, &rows).unwrap(), gradient)
            };
            let portable = work(InstructionSet::Portable);
            assert!(work(InstructionSet::best()) == portable, "{text}");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                assert!(work(InstructionSet::Avx2) == portable, "{text}");
            }
        }
    }
}
