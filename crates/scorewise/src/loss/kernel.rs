//! The two passes over the rows that every score-oriented loss is made of.
//!
//! Pass one sums w F(p) and w by class; pass two writes −w g f(p) p (1 − p). Between them lies one scalar step. The
//! second pass computes σ again instead of reading it from memory: at ten million rows memory is what costs.
//!
//! Sums run in sixteen f64 lanes, whatever the machine, and are folded at the end in one order: same bits everywhere.

use super::Slopes;
use crate::confusion::Confusion;
use crate::error::Result;
use crate::prior::{Prior, RowLaw, RowWork, with_row_law};
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::simd::{Level, Vectorised, vectorised_at};

/// Rows that go through the elementwise part before they are summed: small enough for the first cache.
const CHUNK: usize = 512;
const LANES: usize = 16;

/// The expected confusion matrix of the rows.
pub(crate) fn expect<P: Predictions>(prior: &Prior, rows: &Rows<'_, P>) -> Result<Confusion> {
    expect_at(Level::best(), prior, rows)
}

pub(crate) fn expect_at<P: Predictions>(level: Level, prior: &Prior, rows: &Rows<'_, P>) -> Result<Confusion> {
    let sums = with_row_law(prior, Expect { level, rows });
    if sums.bad {
        rows.check()?;
    }
    let [fp, tp, negatives, positives] = sums.totals;
    // Row sums are kept: what is not predicted positive is predicted negative.
    Ok(Confusion::new((negatives - fp).max(0.0), fp, (positives - tp).max(0.0), tp))
}

/// −w g f(p) p (1 − p) into `gradient`, with g already multiplied by the slope of the loss.
pub(crate) fn gradient<R: Real>(prior: &Prior, rows: &Rows<'_, Logits<'_, R>>, slopes: Slopes, gradient: &mut [R]) {
    gradient_at(Level::best(), prior, rows, slopes, gradient);
}

pub(crate) fn gradient_at<R: Real>(
    level: Level,
    prior: &Prior,
    rows: &Rows<'_, Logits<'_, R>>,
    slopes: Slopes,
    gradient: &mut [R],
) {
    with_row_law(prior, Gradient { level, rows, slopes, gradient });
}

struct Expect<'a, 'b, P: Predictions> {
    level: Level,
    rows: &'a Rows<'b, P>,
}

impl<P: Predictions> RowWork<P::Number> for Expect<'_, '_, P> {
    type Output = Sums;
    fn run<L: RowLaw<P::Number>>(self, law: L) -> Sums {
        vectorised_at(self.level, ExpectLoop { rows: self.rows, law })
    }
}

struct Sums {
    /// Σ w F of negatives and positives, Σ w of negatives and positives.
    totals: [f64; 4],
    /// Some row cannot be used; which one is looked for afterwards.
    bad: bool,
}

struct ExpectLoop<'a, 'b, P: Predictions, L> {
    rows: &'a Rows<'b, P>,
    law: L,
}

impl<P: Predictions, L: RowLaw<P::Number>> Vectorised for ExpectLoop<'_, '_, P, L> {
    type Output = Sums;

    #[inline(always)]
    fn run(self) -> Sums {
        type Lanes = [f64; LANES];
        let zero = P::Number::ZERO;
        let ones = [P::Number::ONE; CHUNK];
        let mut expected = [zero; CHUNK];
        let mut lanes: [Lanes; 4] = [[0.0; LANES]; 4];
        let mut bad = false;
        let values = self.rows.predictions.values();
        for start in (0..values.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(values.len());
            let values = &values[start..end];
            let labels = &self.rows.labels[start..end];
            let weights = self.rows.weights.map_or(&ones[..values.len()], |weights| &weights[start..end]);
            let expected = &mut expected[..values.len()];
            let mut flags = 0u32;
            for (value, weight) in values.iter().zip(weights) {
                let is_weight = *weight >= zero && weight.wide() < f64::INFINITY;
                flags |= u32::from(P::is_bad(*value)) | u32::from(!is_weight);
            }
            bad |= flags != 0;
            for ((out, value), weight) in expected.iter_mut().zip(values).zip(weights) {
                *out = *weight * P::cdf(&self.law, *value);
            }
            let mut add = |lane: usize, expected: P::Number, weight: P::Number, label: bool| {
                let y = P::Number::of_label(label);
                let not_y = P::Number::ONE - y;
                lanes[0][lane] += (not_y * expected).wide();
                lanes[1][lane] += (y * expected).wide();
                lanes[2][lane] += (not_y * weight).wide();
                lanes[3][lane] += (y * weight).wide();
            };
            let whole = values.len() - values.len() % LANES;
            for at in (0..whole).step_by(LANES) {
                let expected: &[P::Number; LANES] = expected[at..at + LANES].try_into().expect("whole lanes");
                let weights: &[P::Number; LANES] = weights[at..at + LANES].try_into().expect("whole lanes");
                let labels: &[bool; LANES] = labels[at..at + LANES].try_into().expect("whole lanes");
                for lane in 0..LANES {
                    add(lane, expected[lane], weights[lane], labels[lane]);
                }
            }
            for at in whole..values.len() {
                add(at - whole, expected[at], weights[at], labels[at]);
            }
        }
        Sums { totals: lanes.map(|lanes| lanes.iter().sum()), bad }
    }
}

struct Gradient<'a, 'b, 'c, R: Real> {
    level: Level,
    rows: &'a Rows<'b, Logits<'c, R>>,
    slopes: Slopes,
    gradient: &'a mut [R],
}

impl<R: Real> RowWork<R> for Gradient<'_, '_, '_, R> {
    type Output = ();
    fn run<L: RowLaw<R>>(self, law: L) {
        let Gradient { level, rows, slopes, gradient } = self;
        vectorised_at(level, GradientLoop { rows, slopes, gradient, law });
    }
}

struct GradientLoop<'a, 'b, 'c, R: Real, L> {
    rows: &'a Rows<'b, Logits<'c, R>>,
    slopes: Slopes,
    gradient: &'a mut [R],
    law: L,
}

impl<R: Real, L: RowLaw<R>> Vectorised for GradientLoop<'_, '_, '_, R, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ones = [R::ONE; CHUNK];
        let (positive, negative) = (R::of(self.slopes.positive), R::of(self.slopes.negative));
        let values = self.rows.predictions.0;
        for start in (0..values.len()).step_by(CHUNK) {
            let end = (start + CHUNK).min(values.len());
            let values = &values[start..end];
            let labels = &self.rows.labels[start..end];
            let weights = self.rows.weights.map_or(&ones[..values.len()], |weights| &weights[start..end]);
            let gradient = &mut self.gradient[start..end];
            for (((out, z), label), weight) in gradient.iter_mut().zip(values).zip(labels).zip(weights) {
                let slope = if *label { positive } else { negative };
                *out = slope * (*weight * self.law.density_of_logit(*z));
            }
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
            let work = |level: Level| {
                let slopes = Slopes { positive: -0.25, negative: 0.125 };
                let mut gradient = vec![0f32; logits.len()];
                gradient_at(level, &prior, &rows, slopes, &mut gradient);
                (expect_at(level, &prior, &rows).unwrap(), gradient)
            };
            let portable = work(Level::Portable);
            assert!(work(Level::best()) == portable, "{text}");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                assert!(work(Level::Avx2) == portable, "{text}");
            }
        }
    }
}
