//! Uniform prior on [a, b]: all thresholds in the interval are equally likely.
//!
//! ```text
//! F(x) = (x − a) / (b − a)        f(x) = 1 / (b − a)        for a ≤ x ≤ b
//! ```
//!
//! Mean (a + b)/2, variance (b − a)²/12. The uniform prior on [0, 1] gives the common soft-Dice and soft-F1 losses, because the expected
//! confusion matrix is then computed from the predicted probabilities themselves.

use super::centred::{Centred, Kernel};
use crate::error::{Error, Result};
use crate::real::{Real, at_least, at_most};

/// The constant kernel ½.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flat;

/// A uniform prior.
pub type Uniform = Centred<Flat>;

impl Uniform {
    /// A uniform prior on [low, high].
    pub fn new(low: f64, high: f64) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Prior { text: format!("uniform:{low},{high}"), reason });
        if !low.is_finite() || !high.is_finite() {
            return refuse("both ends of the interval must be finite numbers".into());
        }
        if low >= high {
            return refuse("the lower end must come first and must be below the upper end".into());
        }
        if low < 0.0 || high > 1.0 {
            return refuse(format!("the support [{low}, {high}] must lie in [0, 1]"));
        }
        Ok(Centred::from_kernel(0.5 * (low + high), 0.5 * (high - low), Flat)?.with_ends(low, high))
    }
}

impl Kernel for Flat {
    const NAME: &'static str = "uniform";
    /// The variance of a prior with half-width δ = 1.
    const VARIANCE_AT_DELTA_1: f64 = 1.0 / 3.0;
    /// T(v): the probability of all points within distance v of one end of [−1, 1].
    fn tail_probability(v: f64) -> f64 {
        0.5 * v
    }
    /// The density, which is the same at every point of [−1, 1].
    fn density(_: f64) -> f64 {
        0.5
    }
    /// T(v) in f32: the probability of all points within distance v of one end of [−1, 1].
    #[inline(always)]
    fn tail_probability_f32(v: f32) -> f32 {
        0.5 * v
    }
    /// The density in f32, which is the same at every point of [−1, 1].
    #[inline(always)]
    fn density_f32(_: f32) -> f32 {
        0.5
    }
    /// The distribution function F(x) in f32 as a function of u = (x − μ)/δ, where μ is the centre and δ the half-width of the prior. In the support
    /// of a uniform prior F is linear, so the distance from the nearer end, which the default method computes, is not needed.
    #[inline(always)]
    fn cdf_f32(u: f32) -> f32 {
        at_least(at_most(u, 1.0), -1.0).fused(0.5, 0.5)
    }
    /// The scaled density δ f(x) in f32 as a function of u = (x − μ)/δ, where μ is the centre and δ the half-width of the prior. The density of a
    /// uniform prior does not fall to 0 at the ends, so it is set to 0 outside the support.
    #[inline(always)]
    fn pdf_f32(u: f32) -> f32 {
        if u.abs() <= 1.0 { 0.5 } else { 0.0 }
    }
}
