//! Raised cosine prior on [μ − δ, μ + δ]: most of the probability lies near μ, none outside the interval.
//!
//! ```text
//! u = (x − μ) / δ        F(x) = ½ (1 + u + sin(πu) / π)        f(x) = (1 + cos(πu)) / 2δ        for |u| < 1
//! ```
//!
//! Mean μ, variance δ²(π² − 6) / 3π². As δ → 0 the loss approaches the loss at the fixed threshold μ.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.

use std::f64::consts::{FRAC_1_PI, PI};

use super::centred::{Centred, Kernel};
use crate::error::Result;
use crate::real::Real;

/// The kernel ½ (1 + cos(πu)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cosine;

/// A raised cosine prior.
pub type RaisedCosine = Centred<Cosine>;

impl RaisedCosine {
    /// A raised cosine with centre μ and half-width δ.
    pub fn new(mu: f64, delta: f64) -> Result<Self> {
        Centred::from_kernel(mu, delta, Cosine)
    }
}

impl Kernel for Cosine {
    const NAME: &'static str = "cosine";
    /// The variance of a prior with half-width δ = 1.
    const VARIANCE_AT_DELTA_1: f64 = (PI * PI - 6.0) / (3.0 * PI * PI);
    /// T(v): the probability of all points within distance v of one end of [−1, 1].
    fn tail_probability(v: f64) -> f64 {
        // With u = v − 1 the tail probability is T(v) = ½ (v − sin(πv)/π). For v near 0 the two terms cancel, so a series is used there.
        let x = PI * v;
        if v < 0.1 {
            let t = x * x;
            let series = 1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t * (1.0 / 362_880.0 - t / 39_916_800.0)));
            return 0.5 * FRAC_1_PI * x * t * series;
        }
        0.5 * (v - FRAC_1_PI * x.sin())
    }
    /// k(v): the density at distance v from the nearer end of [−1, 1].
    fn density(v: f64) -> f64 {
        // ½ (1 − cos(πv)) = sin²(πv/2), which has no cancellation for v near 0.
        let sine = (0.5 * PI * v).sin();
        sine * sine
    }
    /// T(v) in f32: the probability of all points within distance v of one end of [−1, 1].
    #[inline(always)]
    fn tail_probability_f32(v: f32) -> f32 {
        // The tail probability is computed as v³ R(v²), which is accurate even for v near 0; R is a Chebyshev fit with an error of 2e-9.
        let t = v * v;
        let r = t.fused(t.fused(-6.443_24e-5, 0.001_162_278_7), -0.013_068_402);
        let r = t.fused(t.fused(t.fused(r, 0.095_374_62), -0.405_871_1), 0.822_467);
        v * t * r
    }
    /// k(v) in f32: the density at distance v from the nearer end of [−1, 1].
    #[inline(always)]
    fn density_f32(v: f32) -> f32 {
        // The density sin²(πv/2) is computed as v² D(v²); D is a Chebyshev fit with an error of 2e-8.
        let t = v * v;
        let d = t.fused(t.fused(-8.193_625e-4, 0.012_743_942), -0.117_583_59);
        let d = t.fused(t.fused(t.fused(d, 0.667_612_4), -2.029_354_4), 2.467_401);
        t * d
    }
}
