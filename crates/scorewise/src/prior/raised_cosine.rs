//! Raised cosine on [μ − δ, μ + δ]: most of the weight near μ, none outside.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ½ (1 + u + sin(πu) / π)        f(x) = (1 + cos(πu)) / 2δ        for |u| < 1
//! ```
//!
//! Mean μ, variance δ²(π² − 6) / 3π². As δ → 0 the loss approaches the score at the fixed threshold μ.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.

use std::f64::consts::{FRAC_1_PI, PI};

use super::centred::{Bump, Centred, clamped};
use crate::error::Result;
use crate::real::Real;

/// The cosine bump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cosine;

/// A raised cosine prior.
pub type RaisedCosine = Centred<Cosine>;

impl RaisedCosine {
    /// Around μ with half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::with(mu, delta, Cosine)
    }
}

impl Bump for Cosine {
    const NAME: &'static str = "cosine";
    const VARIANCE: f64 = (PI * PI - 6.0) / (3.0 * PI * PI);
    fn tail(v: f64) -> f64 {
        // u = v − 1, so T(v) = ½ (v − sin(πv)/π): near the end the difference cancels, and its series takes over.
        let x = PI * v;
        if v < 0.1 {
            let t = x * x;
            let series = 1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t * (1.0 / 362_880.0 - t / 39_916_800.0)));
            return 0.5 * FRAC_1_PI * x * t * series;
        }
        0.5 * (v - FRAC_1_PI * x.sin())
    }
    fn density(v: f64) -> f64 {
        // ½ (1 − cos(πv)) = sin²(πv/2): no cancellation near the end.
        let sine = (0.5 * PI * v).sin();
        sine * sine
    }
    #[inline(always)]
    fn climb(u: f32) -> f32 {
        // ½ + u (½ + (1 − u²) S(u²)), right at both ends by its form; Chebyshev fit of S, error of F below 5e-8.
        let u = clamped(u);
        let t = u * u;
        let s =
            t.fused(t.fused(t.fused(t.fused(9.380_88e-4, -0.011_831_69), 0.083_354_72), -0.322_460_9), 0.499_999_88);
        u.fused((1.0 - t).fused(s, 0.5), 0.5)
    }
    #[inline(always)]
    fn height(u: f32) -> f32 {
        // (1 − u²)² H(u²), 0 at both ends by its form; Chebyshev fit of H, error 9e-8.
        let u = clamped(u);
        let t = u * u;
        let rest = 1.0 - t;
        let h =
            t.fused(t.fused(t.fused(t.fused(7.536_409e-4, -0.011_026_095), 0.094_519_75), -0.467_396_86), 0.999_999_9);
        rest * rest * h
    }
}
