//! Epanechnikov prior on [μ − δ, μ + δ], whose density is a parabola.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ¼ (2 + 3u − u³)        f(x) = ¾ (1 − u²) / δ        for |u| < 1
//! ```
//!
//! Mean μ, variance δ²/5.
//!
//! Epanechnikov, V. A. (1969). Non-parametric estimation of a multivariate probability density. Theory of Probability and
//! its Applications 14, 153–158. doi:10.1137/1114019

use super::centred::{Centred, Kernel};
use crate::error::Result;

/// The kernel whose density at the point u of [−1, 1] is ¾ (1 − u²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parabola;

/// An Epanechnikov prior.
pub type Epanechnikov = Centred<Parabola>;

impl Epanechnikov {
    /// An Epanechnikov prior with centre μ and half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::from_kernel(mu, delta, Parabola)
    }
}

impl Kernel for Parabola {
    const NAME: &'static str = "epanechnikov";
    /// The variance of a prior with half-width δ = 1.
    const VARIANCE_AT_DELTA_1: f64 = 0.2;
    /// T(v): the probability of all points within distance v of one end of [−1, 1].
    fn tail_probability(v: f64) -> f64 {
        0.25 * v * v * (3.0 - v)
    }
    /// k(v): the density at distance v from the nearer end of [−1, 1].
    fn density(v: f64) -> f64 {
        0.75 * v * (2.0 - v)
    }
    /// T(v) in f32: the probability of all points within distance v of one end of [−1, 1].
    #[inline(always)]
    fn tail_probability_f32(v: f32) -> f32 {
        0.25 * v * v * (3.0 - v)
    }
    /// k(v) in f32: the density at distance v from the nearer end of [−1, 1].
    #[inline(always)]
    fn density_f32(v: f32) -> f32 {
        0.75 * v * (2.0 - v)
    }
}
