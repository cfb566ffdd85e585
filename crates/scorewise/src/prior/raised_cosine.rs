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

use super::centred::{Bump, Centred};
use crate::error::Result;
use crate::real::{Real, least};

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
    #[inline(always)]
    fn tail<R: Real>(v: R) -> R {
        // u = v − 1, so T(v) = ½ (v − sin(πv)/π): near the end the difference cancels, and in f64 its series takes over.
        if R::EXACT && v < R::of(0.1) {
            let x = R::of(PI) * v;
            let t = x * x;
            let series = R::of(1.0 / 6.0)
                - t * (R::of(1.0 / 120.0)
                    - t * (R::of(1.0 / 5040.0) - t * (R::of(1.0 / 362_880.0) - t * R::of(1.0 / 39_916_800.0))));
            return R::of(0.5 * FRAC_1_PI) * x * t * series;
        }
        let sine = least(v, R::ONE - v).sin_pi();
        R::of(0.5) * (v - R::of(FRAC_1_PI) * sine)
    }
    #[inline(always)]
    fn density<R: Real>(v: R) -> R {
        // ½ (1 − cos(πv)) = sin²(πv/2): no cancellation near the end.
        let sine = (R::of(0.5) * v).sin_pi();
        sine * sine
    }
}
