//! Triangular on [μ − δ, μ + δ]: straight lines up to μ and down again.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ½ (1 + u)² for u ≤ 0, 1 − ½ (1 − u)² above        f(x) = (1 − |u|) / δ
//! ```
//!
//! Mean μ, variance δ²/6. The cheapest compact prior whose density has no jump.

use super::centred::{Bump, Centred};
use crate::error::Result;

/// The triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle;

/// A triangular prior.
pub type Triangular = Centred<Triangle>;

impl Triangular {
    /// Around μ with half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::with(mu, delta, Triangle)
    }
}

impl Bump for Triangle {
    const NAME: &'static str = "triangular";
    const VARIANCE: f64 = 1.0 / 6.0;
    fn tail(v: f64) -> f64 {
        0.5 * v * v
    }
    fn density(v: f64) -> f64 {
        v
    }
    #[inline(always)]
    fn narrow_tail(v: f32) -> f32 {
        0.5 * v * v
    }
    #[inline(always)]
    fn narrow_density(v: f32) -> f32 {
        v
    }
}
