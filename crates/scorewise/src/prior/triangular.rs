//! Triangular prior on [μ − δ, μ + δ], whose density rises linearly up to μ and then falls linearly.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ½ (1 + u)² for u ≤ 0, 1 − ½ (1 − u)² above        f(x) = (1 − |u|) / δ
//! ```
//!
//! Mean μ, variance δ²/6. Of all priors with a continuous density, this one is the cheapest to compute.

use super::centred::{Centred, Kernel};
use crate::error::Result;

/// The kernel 1 − |u|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle;

/// A triangular prior.
pub type Triangular = Centred<Triangle>;

impl Triangular {
    /// A triangular prior with centre μ and half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::from_kernel(mu, delta, Triangle)
    }
}

impl Kernel for Triangle {
    const NAME: &'static str = "triangular";
    /// The variance of a prior with half-width δ = 1.
    const VARIANCE_AT_DELTA_1: f64 = 1.0 / 6.0;
    /// T(v): the probability of all points within distance v of one end of [−1, 1].
    fn tail_probability(v: f64) -> f64 {
        0.5 * v * v
    }
    /// k(v): the density at distance v from the nearer end of [−1, 1].
    fn density(v: f64) -> f64 {
        v
    }
    /// T(v) in f32: the probability of all points within distance v of one end of [−1, 1].
    #[inline(always)]
    fn tail_probability_f32(v: f32) -> f32 {
        0.5 * v * v
    }
    /// k(v) in f32: the density at distance v from the nearer end of [−1, 1].
    #[inline(always)]
    fn density_f32(v: f32) -> f32 {
        v
    }
}
