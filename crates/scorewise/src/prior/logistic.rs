//! Logistic(μ, s), cut to [0, 1] and renormalised.
//!
//! ```text
//! t = (x − μ) / s        F(x) = (σ(t) − σ(t₀)) / Z        f(x) = σ(t) σ(−t) / sZ        Z = σ(t₁) − σ(t₀)
//! ```
//!
//! with t₀, t₁ at x = 0, 1. `logistic:0.5,0.0137` (s = 1/73) is the approximation called AnyLoss.

use super::Chance;
use super::law::{Law, integral};
use super::normal::centre_and_scale;
use crate::error::Result;

/// A truncated logistic prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic {
    mu: f64,
    scale: f64,
    mass: f64,
}

impl Logistic {
    /// Around μ in [0, 1] with scale s.
    pub fn new(mu: f64, scale: f64) -> Result<Self> {
        centre_and_scale("logistic", mu, scale)?;
        Ok(Logistic { mu, scale, mass: between(-mu / scale, (1.0 - mu) / scale) })
    }

    pub(crate) fn parts(&self) -> (f64, f64) {
        (self.mu, self.scale)
    }

    fn ends(&self) -> (f64, f64) {
        (-self.mu / self.scale, (1.0 - self.mu) / self.scale)
    }

    fn standard(&self, x: Chance) -> f64 {
        if x.p <= x.q { (x.p - self.mu) / self.scale } else { ((1.0 - self.mu) - x.q) / self.scale }
    }
}

/// σ(b) − σ(a) for a ≤ b. With tanh ½(b − a) in front, close arguments keep their digits.
fn between(a: f64, b: f64) -> f64 {
    // σ(b) − σ(a) = σ(b) σ(−a) (1 − e^(a−b))
    let (at_a, at_b) = (Chance::from_logit(a), Chance::from_logit(b));
    at_b.p * at_a.q * -(a - b).exp_m1()
}

impl Law for Logistic {
    fn cdf(&self, x: Chance) -> f64 {
        let (low, high) = self.ends();
        let t = self.standard(x);
        if t <= 0.0 { between(low, t.max(low)) / self.mass } else { 1.0 - between(t.min(high), high) / self.mass }
    }
    fn pdf(&self, x: Chance) -> f64 {
        let at = Chance::from_logit(self.standard(x));
        at.p * at.q / (self.scale * self.mass)
    }
    fn quantile(&self, level: f64) -> f64 {
        let (low, high) = self.ends();
        let below = Chance::from_logit(low).p + level * self.mass;
        let above = Chance::from_logit(high).q + (1.0 - level) * self.mass;
        (self.mu + self.scale * (below.ln() - above.ln())).clamp(0.0, 1.0)
    }
    fn mean(&self) -> f64 {
        self.mu + self.scale * self.moment(|t| t)
    }
    fn variance(&self) -> f64 {
        let mean = self.moment(|t| t);
        self.scale * self.scale * self.moment(|t| (t - mean) * (t - mean))
    }
}

impl Logistic {
    /// The mean of g(t): the second moment has no elementary closed form. Beyond |t| = 50 the density is below 1e-21.
    fn moment(&self, g: impl Fn(f64) -> f64) -> f64 {
        let (low, high) = self.ends();
        let weighted = |t: f64| {
            let at = Chance::from_logit(t);
            g(t) * at.p * at.q
        };
        integral(low.max(-50.0), high.min(50.0), weighted) / self.mass
    }
}
