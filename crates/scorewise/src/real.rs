//! f32 and f64 rows in one body: what the hot loops need of either.
//!
//! For f64 these are the standard library's functions. For f32 they are short polynomials without branches or table
//! look-ups, so that the compiler turns a loop over rows into vector instructions; written by hand because no function of
//! the standard library can be vectorised. Products and sums are rounded one by one, never fused, so that every instruction
//! set gives the same bits.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::error::Result;
use crate::rows::{Probabilities, Rows};
use crate::sweep::{Run, Sorted, Table};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A row's number: f32 or f64.
pub trait Real:
    sealed::Sealed
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
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The nearest number of this kind.
    fn of(value: f64) -> Self;
    /// 1 for the positive class, 0 for the negative.
    fn of_label(label: bool) -> Self;
    /// As f64, without loss.
    fn wide(self) -> f64;
    /// |x|.
    #[must_use]
    fn magnitude(self) -> Self;
    /// e^(−x) for x ≥ 0; below the smallest number of its kind it stays there, and never is 0 · ∞.
    #[must_use]
    fn exp_minus(self) -> Self;
    /// sin(πx) for 0 ≤ x ≤ ½.
    #[must_use]
    fn sin_pi(self) -> Self;
    /// Whether every bit of the caller's f64 work is kept: false for f32.
    const EXACT: bool;
    /// The rows sorted, in the fewest bytes that hold them.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn sorted(rows: &Rows<'_, Probabilities<'_, Self>>) -> Result<Sorted>;
}

/// The smaller; plain comparison, so that a loop becomes one vector instruction.
#[inline(always)]
pub(crate) fn least<R: Real>(a: R, b: R) -> R {
    if a < b { a } else { b }
}

/// `value` where `condition` holds, else 0.
#[inline(always)]
pub(crate) fn only_if<R: Real>(condition: bool, value: R) -> R {
    if condition { value } else { R::ZERO }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EXACT: bool = true;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn of_label(label: bool) -> Self {
        f64::from(u8::from(label))
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn exp_minus(self) -> Self {
        (-self).exp()
    }
    #[inline(always)]
    fn sin_pi(self) -> Self {
        (std::f64::consts::PI * self).sin()
    }
    #[allow(private_interfaces)]
    fn sorted(rows: &Rows<'_, Probabilities<'_, Self>>) -> Result<Sorted> {
        Ok(match rows.weights {
            None => Sorted::Wide(Table::new(Run::new(rows, vec![(); rows.len()])?)),
            Some(weights) => Sorted::WideWeighted(Table::new(Run::new(rows, weights.to_vec())?)),
        })
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const EXACT: bool = false;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn of_label(label: bool) -> Self {
        f32::from(u8::from(label))
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn magnitude(self) -> Self {
        self.abs()
    }
    #[inline(always)]
    fn exp_minus(self) -> Self {
        // e^(−x) = 2^k e^r with |r| ≤ ln 2 / 2; Chebyshev fit of e^r, error 2e-9. Above 87 the power of two would leave f32.
        const LOG2_E: f32 = std::f32::consts::LOG2_E;
        const LN_2_HIGH: f32 = 0.693_359_4; // few bits, so that k · high is exact
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to a whole number, which stands in the low bits
        let x = -least(self, 87.0);
        let shifted = x * LOG2_E + ROUND;
        let k = shifted - ROUND;
        let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
        let tail = 0.041_666_353 + r * (0.008_375_126_4 + r * 0.001_394_110_8);
        let e = 1.0 + r * (1.0 + r * (0.5 + r * (0.166_664_16 + r * tail)));
        e * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
    }
    #[inline(always)]
    fn sin_pi(self) -> Self {
        // x · Q(x²), Chebyshev fit on [0, ½], error 1e-8.
        let t = self * self;
        self * (3.141_592_6 + t * (-5.167_710_0 + t * (2.550_077_4 + t * (-0.598_290_4 + t * 0.077_655_91))))
    }
    #[allow(private_interfaces)]
    fn sorted(rows: &Rows<'_, Probabilities<'_, Self>>) -> Result<Sorted> {
        Ok(match rows.weights {
            None => Sorted::Narrow(Table::new(Run::new(rows, vec![(); rows.len()])?)),
            Some(weights) => Sorted::NarrowWeighted(Table::new(Run::new(rows, weights.to_vec())?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_polynomials_are_good_to_the_last_places_of_f32() {
        for k in 0..=870_000 {
            let x = k as f32 * 1e-4;
            let (got, expected) = (x.exp_minus().wide(), (-x.wide()).exp());
            assert!((got - expected).abs() <= 3e-7 * expected, "e^-{x}: {got} for {expected}");
        }
        for k in 0..=500_000 {
            let x = k as f32 * 1e-6;
            let (got, expected) = (x.sin_pi().wide(), (std::f64::consts::PI * x.wide()).sin());
            assert!((got - expected).abs() <= 2e-7, "sin pi {x}: {got} for {expected}");
        }
    }

    #[test]
    fn far_tail_stays_finite_and_small() {
        for x in [88.0f32, 1e4, f32::INFINITY] {
            assert!(x.exp_minus() >= 0.0 && x.exp_minus() < 1e-37);
        }
    }
}
