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
            return refuse("both ends must be finite numbers".into());
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
    const VARIANCE_AT_DELTA_1: f64 = 1.0 / 3.0;
    fn tail_probability(v: f64) -> f64 {
        0.5 * v
    }
    fn density(_: f64) -> f64 {
        0.5
    }
    #[inline(always)]
    fn tail_probability_f32(v: f32) -> f32 {
        0.5 * v
    }
    #[inline(always)]
    fn density_f32(_: f32) -> f32 {
        0.5
    }
    // These two functions replace the default ones. In the support of a uniform prior, F is a single linear function, so the distance from the
    // nearer end is not needed. The density does not fall to 0 at the ends, so it is set to 0 outside the support.
    #[inline(always)]
    fn cdf_f32(u: f32) -> f32 {
        at_least(at_most(u, 1.0), -1.0).fused(0.5, 0.5)
    }
    #[inline(always)]
    fn pdf_f32(u: f32) -> f32 {
        if u.abs() <= 1.0 { 0.5 } else { 0.0 }
    }
}
