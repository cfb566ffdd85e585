//! Logistic prior with location μ and scale s, truncated to [0, 1] and renormalised.
//!
//! ```text
//! t = (x − μ) / s        F(x) = (σ(t) − σ(t₀)) / Z        f(x) = σ(t) σ(−t) / sZ        Z = σ(t₁) − σ(t₀)
//! ```
//!
//! Here t₀ and t₁ are the values of t at x = 0 and x = 1. `logistic:0.5,0.0137` (s ≈ 1/73) gives the loss called AnyLoss.

use super::Probability;
use super::truncated::{StandardDistribution, Truncated};
use crate::error::Result;

/// The standard logistic distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardLogistic;

/// A truncated logistic prior.
pub type Logistic = Truncated<StandardLogistic>;

impl Logistic {
    /// A logistic prior with location μ in [0, 1] and scale s, both before the truncation.
    pub fn new(mu: f64, scale: f64) -> Result<Self> {
        Truncated::from_standard(mu, scale, StandardLogistic)
    }
}

impl StandardDistribution for StandardLogistic {
    const NAME: &'static str = "logistic";
    /// Beyond ±50, the standard logistic density is below 1e-21, which is negligible.
    const NEGLIGIBLE_BEYOND: f64 = 50.0;
    /// The probability of the interval [a, b] under the standard logistic distribution.
    fn probability_between(a: f64, b: f64) -> f64 {
        // σ(b) − σ(a) = σ(b) σ(−a) (1 − e^(a−b)), which is accurate even if a and b are close.
        let (at_a, at_b) = (Probability::from_logit(a), Probability::from_logit(b));
        at_b.p * at_a.q * -(a - b).exp_m1()
    }
    /// The product `factor` · g(t), where g is the standard logistic density.
    fn density_times(factor: f64, t: f64) -> f64 {
        let at = Probability::from_logit(t);
        factor * at.p * at.q
    }
    fn quantile(prior: &Truncated<Self>, level: f64) -> f64 {
        let (low, high) = prior.ends();
        let (mu, scale) = prior.parameters();
        let below = Probability::from_logit(low).p + level * prior.mass();
        let above = Probability::from_logit(high).q + (1.0 - level) * prior.mass();
        (mu + scale * (below.ln() - above.ln())).clamp(0.0, 1.0)
    }
}
