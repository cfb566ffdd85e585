//! Quartic (biweight) on [μ − δ, μ + δ]: smooth at the ends as well.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ½ + (15u − 10u³ + 3u⁵) / 16        f(x) = 15 (1 − u²)² / 16δ        for |u| < 1
//! ```
//!
//! Mean μ, variance δ²/7. Close to the raised cosine, by multiplications alone.

use super::centred::{Bump, Centred, clamped};
use crate::error::Result;
use crate::real::Real;

/// The biweight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Biweight;

/// A quartic prior.
pub type Quartic = Centred<Biweight>;

impl Quartic {
    /// Around μ with half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::with(mu, delta, Biweight)
    }
}

impl Bump for Biweight {
    const NAME: &'static str = "quartic";
    const VARIANCE: f64 = 1.0 / 7.0;
    fn tail(v: f64) -> f64 {
        v * v * v * (20.0 - v * (15.0 - 3.0 * v)) / 16.0
    }
    fn density(v: f64) -> f64 {
        let parabola = v * (2.0 - v);
        15.0 / 16.0 * parabola * parabola
    }
    #[inline(always)]
    fn climb(u: f32) -> f32 {
        let u = clamped(u);
        let t = u * u;
        u.fused(t.fused(t.fused(3.0 / 16.0, -10.0 / 16.0), 15.0 / 16.0), 0.5)
    }
    #[inline(always)]
    fn height(u: f32) -> f32 {
        let u = clamped(u);
        let parabola = 1.0 - u * u;
        15.0 / 16.0 * parabola * parabola
    }
}
