//! Epanechnikov on [μ − δ, μ + δ]: a parabola.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ¼ (2 + 3u − u³)        f(x) = ¾ (1 − u²) / δ        for |u| < 1
//! ```
//!
//! Mean μ, variance δ²/5.
//!
//! Epanechnikov, V. A. (1969). Non-parametric estimation of a multivariate probability density. Theory of Probability and
//! its Applications 14, 153–158. doi:10.1137/1114019

use super::centred::{Bump, Centred};
use crate::error::Result;
use crate::real::Real;

/// The parabola.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parabola;

/// An Epanechnikov prior.
pub type Epanechnikov = Centred<Parabola>;

impl Epanechnikov {
    /// Around μ with half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::with(mu, delta, Parabola)
    }
}

impl Bump for Parabola {
    const NAME: &'static str = "epanechnikov";
    const VARIANCE: f64 = 0.2;
    #[inline(always)]
    fn tail<R: Real>(v: R) -> R {
        R::of(0.25) * v * v * (R::of(3.0) - v)
    }
    #[inline(always)]
    fn density<R: Real>(v: R) -> R {
        R::of(0.75) * v * (R::of(2.0) - v)
    }
}
