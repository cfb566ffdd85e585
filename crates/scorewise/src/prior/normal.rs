//! Normal(μ, σ), cut to [0, 1] and renormalised.
//!
//! ```text
//! t = (x − μ) / σ        F(x) = (Φ(t) − Φ(t₀)) / Z        f(x) = φ(t) / σZ        Z = Φ(t₁) − Φ(t₀)
//! ```
//!
//! with t₀, t₁ at x = 0, 1. Mean and variance are those of the cut distribution, not μ and σ².

use std::f64::consts::{FRAC_1_SQRT_2, PI};

// The special functions crate used for the beta prior has an erf good to 1e-10 only; this one is good to the last place.
use libm::{erf, erfc};

use super::Chance;
use super::law::{Law, integral};
use crate::error::{Error, Result};

/// A truncated normal prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    mu: f64,
    sigma: f64,
    mass: f64,
}

impl Normal {
    /// Around μ in [0, 1], with σ the deviation before the cut.
    pub fn new(mu: f64, sigma: f64) -> Result<Self> {
        centre_and_scale("normal", mu, sigma)?;
        Ok(Normal { mu, sigma, mass: between(-mu / sigma, (1.0 - mu) / sigma) })
    }

    pub(crate) fn parts(&self) -> (f64, f64) {
        (self.mu, self.sigma)
    }

    fn ends(&self) -> (f64, f64) {
        (-self.mu / self.sigma, (1.0 - self.mu) / self.sigma)
    }

    /// (x − μ)/σ, counted from the nearer end of [0, 1].
    fn standard(&self, x: Chance) -> f64 {
        if x.p <= x.q { (x.p - self.mu) / self.sigma } else { ((1.0 - self.mu) - x.q) / self.sigma }
    }
}

/// The check that both truncated priors share.
pub(crate) fn centre_and_scale(name: &str, mu: f64, scale: f64) -> Result<()> {
    let refuse = |reason: &str| Err(Error::Prior { text: format!("{name}:{mu},{scale}"), reason: reason.into() });
    if !(0.0..=1.0).contains(&mu) {
        return refuse("the centre must lie in [0, 1]");
    }
    if !(1e-6..=1e6).contains(&scale) {
        return refuse("the width must be above 0 (between 1e-6 and 1e6)");
    }
    Ok(())
}

/// Φ(b) − Φ(a) for a ≤ b, from the tail on whose side both lie, so that nothing cancels there.
fn between(a: f64, b: f64) -> f64 {
    let (a, b) = (a * FRAC_1_SQRT_2, b * FRAC_1_SQRT_2);
    if a > 0.0 {
        0.5 * (erfc(a) - erfc(b))
    } else if b < 0.0 {
        0.5 * (erfc(-b) - erfc(-a))
    } else {
        0.5 * (erf(b) - erf(a))
    }
}

fn phi(t: f64) -> f64 {
    (-0.5 * t * t).exp() / (2.0 * PI).sqrt()
}

impl Law for Normal {
    fn cdf(&self, x: Chance) -> f64 {
        let (low, high) = self.ends();
        let t = self.standard(x);
        if t <= 0.0 { between(low, t.max(low)) / self.mass } else { 1.0 - between(t.min(high), high) / self.mass }
    }
    fn pdf(&self, x: Chance) -> f64 {
        phi(self.standard(x)) / (self.sigma * self.mass)
    }
    fn mean(&self) -> f64 {
        self.mu + self.sigma * self.moment(|t| t)
    }
    fn variance(&self) -> f64 {
        let mean = self.moment(|t| t);
        self.sigma * self.sigma * self.moment(|t| (t - mean) * (t - mean))
    }
}

impl Normal {
    /// The mean of g(t). (The closed forms of the moments cancel where σ is large against [0, 1].) Beyond |t| = 12 the density
    /// is below 1e-31.
    fn moment(&self, g: impl Fn(f64) -> f64) -> f64 {
        let (low, high) = self.ends();
        integral(low.max(-12.0), high.min(12.0), |t| g(t) * phi(t)) / self.mass
    }
}
