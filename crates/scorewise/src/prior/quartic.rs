//! Quartic (biweight) prior on [μ − δ, μ + δ], whose density has no kink at the ends.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ½ + (15u − 10u³ + 3u⁵) / 16        f(x) = 15 (1 − u²)² / 16δ        for |u| < 1
//! ```
//!
//! Mean μ, variance δ²/7. The density is similar to the raised cosine, but is computed without trigonometric functions.

use super::centred::{Centred, Kernel};
use crate::error::Result;
use crate::real::Real;

/// The biweight kernel 15 (1 − u²)² / 16.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Biweight;

/// A quartic prior.
pub type Quartic = Centred<Biweight>;

impl Quartic {
    /// A quartic prior with centre μ and half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::from_kernel(mu, delta, Biweight)
    }
}

impl Kernel for Biweight {
    const NAME: &'static str = "quartic";
    /// The variance of a prior with half-width δ = 1.
    const VARIANCE_AT_DELTA_1: f64 = 1.0 / 7.0;
    /// T(v): the probability of all points within distance v of one end of [−1, 1].
    fn tail_probability(v: f64) -> f64 {
        v * v * v * (20.0 - v * (15.0 - 3.0 * v)) / 16.0
    }
    /// k(v): the density at distance v from the nearer end of [−1, 1].
    fn density(v: f64) -> f64 {
        let parabola = v * (2.0 - v);
        15.0 / 16.0 * parabola * parabola
    }
    /// T(v) in f32: the probability of all points within distance v of one end of [−1, 1].
    #[inline(always)]
    fn tail_probability_f32(v: f32) -> f32 {
        v * v * v * v.fused(v.fused(3.0 / 16.0, -15.0 / 16.0), 20.0 / 16.0)
    }
    /// k(v) in f32: the density at distance v from the nearer end of [−1, 1].
    #[inline(always)]
    fn density_f32(v: f32) -> f32 {
        let parabola = v * (2.0 - v);
        15.0 / 16.0 * parabola * parabola
    }
}
