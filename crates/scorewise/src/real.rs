//! The floating-point operations that the loops over the rows of a data set need, for f32 and f64.
//!
//! For f64 the operations are functions of the standard library. For f32 they are short polynomials without branches or table
//! look-ups, because the compiler can vectorise a loop over them, which it cannot do with functions of the standard library.
//! Products are added with a fused multiply-add, which rounds once, and no operation is reordered, so that every instruction
//! set gives the same bits. (A processor without fused multiply-add, older than 2013, gets the same bits from a slow library
//! function.)

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::error::Result;
use crate::prior::{Prior, Probability, RowTask, with_f32_distribution, with_f64_distribution};
use crate::rows::{Probabilities, Rows};
use crate::sweep::{RankedTable, Sorted, SortedRows};

mod sealed {
    /// Prevents other crates from implementing [`Real`](super::Real).
    pub trait SealedReal {}
    impl SealedReal for f32 {}
    impl SealedReal for f64 {}
}

/// The floating-point type of predictions and weights: f32 or f64.
pub trait Real:
    sealed::SealedReal
    + Copy
    + std::fmt::Debug
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    /// The number 0.
    const ZERO: Self;
    /// The number 1.
    const ONE: Self;
    /// A NaN of this type.
    const NAN: Self;
    /// The value of this type nearest to an f64.
    fn from_f64(value: f64) -> Self;
    /// The finite value of this type nearest to an f64; NaN stays NaN.
    fn from_f64_clamped(value: f64) -> Self;
    /// Largest magnitude of a derivative that can be multiplied by row weights and densities in this type without overflow; infinite (no limit)
    /// for f64.
    const MAX_DERIVATIVE: f64;
    /// 1 for the positive class (`true`), 0 for the negative class (`false`).
    fn from_label(label: bool) -> Self;
    /// This value as an f64.
    fn to_f64(self) -> f64;
    /// `self · factor + term`, rounded only once.
    #[must_use]
    fn fused(self, factor: Self, term: Self) -> Self;
    /// σ(z) and σ(−z) for the logit z = `self`. Neither is computed as 1 minus the other, so that both are accurate even near 0.
    #[must_use]
    fn sigmoid(self) -> (Self, Self);
    /// Selects the implementation of `prior` for rows of this type, f32 or f64, and runs `task` with it.
    #[doc(hidden)]
    #[allow(private_interfaces, private_bounds)]
    fn with_row_distribution<T: RowTask<Self>>(prior: &Prior, task: T) -> T::Output;
    /// The rows sorted by prediction. Predictions are stored in this floating-point type. If the rows have weights, these are stored in it too.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn sorted(rows: &Rows<'_, Probabilities<'_, Self>>) -> Result<Sorted>;
}

/// The smaller of `value` and `limit`; NaN if `value` is NaN. An invalid row therefore makes the sums over the rows NaN.
/// Because `limit` is on the left of the comparison, the function compiles to one vector instruction.
#[inline(always)]
pub(crate) fn at_most<R: Real>(value: R, limit: R) -> R {
    if limit < value { limit } else { value }
}

/// The larger of `value` and `limit`; NaN if `value` is NaN.
#[inline(always)]
pub(crate) fn at_least<R: Real>(value: R, limit: R) -> R {
    if limit > value { limit } else { value }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const NAN: Self = f64::NAN;
    /// Infinity, because f64 needs no limit for derivatives.
    const MAX_DERIVATIVE: f64 = f64::INFINITY;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    /// The finite f64 nearest to `value`; NaN stays NaN.
    fn from_f64_clamped(value: f64) -> Self {
        value.clamp(-f64::MAX, f64::MAX)
    }
    /// 1 for the positive class (`true`), 0 for the negative class (`false`).
    #[inline(always)]
    fn from_label(label: bool) -> Self {
        f64::from(u8::from(label))
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    /// `self · factor + term`, rounded only once.
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    /// σ(z) and σ(−z) for the logit z = `self`.
    #[inline(always)]
    fn sigmoid(self) -> (Self, Self) {
        let at = Probability::from_logit(self);
        (at.p, at.q)
    }
    /// Runs `task` with the prior computed in f64.
    #[allow(private_interfaces, private_bounds)]
    fn with_row_distribution<T: RowTask<Self>>(prior: &Prior, task: T) -> T::Output {
        with_f64_distribution(prior, task)
    }
    /// The rows sorted by prediction, with f64 predictions and, if the rows have weights, f64 weights.
    #[allow(private_interfaces)]
    fn sorted(rows: &Rows<'_, Probabilities<'_, Self>>) -> Result<Sorted> {
        Ok(match rows.weights {
            None => Sorted::F64(RankedTable::new(SortedRows::new(rows, vec![(); rows.len()])?)),
            Some(weights) => Sorted::F64Weighted(RankedTable::new(SortedRows::new(rows, weights.to_vec())?)),
        })
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const NAN: Self = f32::NAN;
    /// The largest magnitude of a derivative that can be multiplied by row weights and densities in f32 without overflow.
    const MAX_DERIVATIVE: f64 = 1e20;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    /// The finite f32 nearest to `value`; NaN stays NaN.
    fn from_f64_clamped(value: f64) -> Self {
        value.clamp(f64::from(-f32::MAX), f64::from(f32::MAX)) as f32
    }
    /// 1 for the positive class (`true`), 0 for the negative class (`false`).
    #[inline(always)]
    fn from_label(label: bool) -> Self {
        f32::from(u8::from(label))
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    /// `self · factor + term`, rounded only once.
    #[inline(always)]
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    /// σ(z) and σ(−z) for the logit z = `self`.
    #[inline(always)]
    fn sigmoid(self) -> (Self, Self) {
        let e = exp_minus(self);
        let p = 1.0 / (1.0 + e);
        (p, e * p)
    }
    /// Runs `task` with the prior computed in f32 where that is accurate enough, otherwise in f64.
    #[allow(private_interfaces, private_bounds)]
    fn with_row_distribution<T: RowTask<Self>>(prior: &Prior, task: T) -> T::Output {
        with_f32_distribution(prior, task)
    }
    /// The rows sorted by prediction, with f32 predictions and, if the rows have weights, f32 weights.
    #[allow(private_interfaces)]
    fn sorted(rows: &Rows<'_, Probabilities<'_, Self>>) -> Result<Sorted> {
        Ok(match rows.weights {
            None => Sorted::F32(RankedTable::new(SortedRows::new(rows, vec![(); rows.len()])?)),
            Some(weights) => Sorted::F32Weighted(RankedTable::new(SortedRows::new(rows, weights.to_vec())?)),
        })
    }
}

/// e^(−z), with z clamped to [−87, 87]. Within these limits the result is a normal f32 number, and p = σ(z), q = σ(−z) and pq stay above 0.
#[inline(always)]
fn exp_minus(z: f32) -> f32 {
    // e^(−z) = 2^k e^r with an integer k and |r| ≤ ln 2 / 2; e^r is computed by a Chebyshev fit with an error of 8e-8.
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    const LN_2_HIGH: f32 = 0.693_359_4; // ln 2 rounded to few bits, so that its product with any small integer is exact
    const LN_2_LOW: f32 = -2.121_944_4e-4; // ln 2 − LN_2_HIGH
    const ROUNDING_SHIFT: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds a number to an integer and leaves that integer in the low bits of the sum
    let z = at_least(at_most(z, 87.0), -87.0);
    let shifted = z.fused(-LOG2_E, ROUNDING_SHIFT);
    let k = shifted - ROUNDING_SHIFT;
    let r = k.fused(-LN_2_LOW, k.fused(-LN_2_HIGH, -z));
    let e = r.fused(
        r.fused(r.fused(r.fused(r.fused(0.008_369_148, 0.041_917_507), 0.166_665_05), 0.499_988_7), 1.0),
        1.000_000_1,
    );
    e * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f32_sigmoid_is_accurate_to_a_few_units_in_the_last_place() {
        for k in -870_000..=870_000 {
            let z = k as f32 * 1e-4;
            let ((p, q), expected) = (z.sigmoid(), Probability::from_logit(z.to_f64()));
            assert!((p.to_f64() - expected.p).abs() <= 5e-7 * expected.p, "σ({z}): {p}, expected {}", expected.p);
            assert!((q.to_f64() - expected.q).abs() <= 5e-7 * expected.q, "σ(−{z}): {q}, expected {}", expected.q);
        }
    }

    #[test]
    fn f32_sigmoid_is_1_or_almost_0_in_the_tails() {
        for z in [88.0f32, 1e4, f32::MAX, f32::INFINITY] {
            let ((p, q), (below, above)) = (z.sigmoid(), (-z).sigmoid());
            assert!(p == 1.0 && q < 1e-37 && above == 1.0 && below < 1e-37, "{z}");
        }
    }
}
