//! Normal prior with mean μ and standard deviation σ, truncated to [0, 1] and renormalised.
//!
//! ```text
//! t = (x − μ) / σ        F(x) = (Φ(t) − Φ(t₀)) / Z        f(x) = φ(t) / σZ        Z = Φ(t₁) − Φ(t₀)
//! ```
//!
//! Here t₀ and t₁ are the values of t at x = 0 and x = 1. Mean and variance of the prior are those of the truncated distribution, not μ and σ².

use std::f64::consts::{FRAC_1_SQRT_2, PI};

// The erf of libm is used because it is accurate to the last place. The erf of statrs has an error of 1e-10.
use libm::{erf, erfc};

use super::truncated::{StandardDistribution, Truncated};
use crate::error::Result;

/// The standard normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardNormal;

/// A truncated normal prior.
pub type Normal = Truncated<StandardNormal>;

impl Normal {
    /// A normal prior with mean μ in [0, 1] and standard deviation σ, both before the truncation.
    pub fn new(mu: f64, sigma: f64) -> Result<Self> {
        Truncated::from_standard(mu, sigma, StandardNormal)
    }
}

impl StandardDistribution for StandardNormal {
    const NAME: &'static str = "normal";
    /// Beyond ±12, the standard normal density is below 1e-31, which is negligible.
    const NEGLIGIBLE_BEYOND: f64 = 12.0;
    /// The probability of the interval [a, b] under the standard normal distribution.
    fn probability_between(a: f64, b: f64) -> f64 {
        // If a and b lie in the same tail, a difference of values of erfc avoids the cancellation in erf(b) − erf(a).
        let (a, b) = (a * FRAC_1_SQRT_2, b * FRAC_1_SQRT_2);
        if a > 0.0 {
            0.5 * (erfc(a) - erfc(b))
        } else if b < 0.0 {
            0.5 * (erfc(-b) - erfc(-a))
        } else {
            0.5 * (erf(b) - erf(a))
        }
    }
    /// The product `factor` · g(t), where g is the standard normal density.
    fn density_times(factor: f64, t: f64) -> f64 {
        factor * ((-0.5 * t * t).exp() / (2.0 * PI).sqrt())
    }
}
