//! Common implementation of the normal and the logistic prior: a distribution with location μ and scale s, truncated to [0, 1] and renormalised.
//!
//! ```text
//! t = (x − μ) / s        F(x) = (G(t) − G(t₀)) / Z        f(x) = g(t) / sZ        Z = G(t₁) − G(t₀)
//! ```
//!
//! Here G and g are the standard distribution function and density, and t₀ and t₁ the values of t at x = 0 and x = 1. Mean and variance of the
//! prior are those of the truncated distribution, not μ and s².

use super::Probability;
use super::distribution::{ThresholdDistribution, integral, invert_cdf};
use crate::error::{Error, Result};

/// A standard distribution on the real line, with location 0 and scale 1.
pub trait StandardDistribution: Copy {
    /// The name of the prior in strings such as `logistic:0.5,0.1`.
    const NAME: &'static str;
    /// The standard density g(t) is negligible for |t| above this number.
    const NEGLIGIBLE_BEYOND: f64;
    /// G(b) − G(a) for a ≤ b, where G is the standard distribution function, without cancellation in the tails.
    fn probability_between(a: f64, b: f64) -> f64;
    /// The product `factor` · g(t), where g is the standard density.
    fn density_times(factor: f64, t: f64) -> f64;
    /// The quantile of the truncated prior: the x with F(x) = level.
    fn quantile(prior: &Truncated<Self>, level: f64) -> f64 {
        invert_cdf(level, (0.0, 1.0), |x| (prior.cdf(x), prior.pdf(x)))
    }
}

/// A standard distribution moved to μ, scaled by s and truncated to [0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truncated<S> {
    mu: f64,
    scale: f64,
    /// Z: the probability that the distribution has on [0, 1] before the truncation.
    mass: f64,
    standard: S,
}

impl<S: StandardDistribution> Truncated<S> {
    /// A prior with location μ and scale s; an error if μ or s is out of range.
    pub(super) fn from_standard(mu: f64, scale: f64, standard: S) -> Result<Self> {
        let refuse =
            |reason: &str| Err(Error::Prior { text: format!("{}:{mu},{scale}", S::NAME), reason: reason.into() });
        if !(0.0..=1.0).contains(&mu) {
            return refuse("the centre must lie in [0, 1]");
        }
        if !(1e-6..=1e6).contains(&scale) {
            return refuse("the scale must lie between 1e-6 and 1e6");
        }
        let mass = S::probability_between(-mu / scale, (1.0 - mu) / scale);
        Ok(Truncated { mu, scale, mass, standard })
    }

    /// The location μ and the scale s.
    pub(super) fn parameters(&self) -> (f64, f64) {
        (self.mu, self.scale)
    }

    /// Z: the probability that the distribution has on [0, 1] before the truncation.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    /// t₀ and t₁: the values of t = (x − μ)/s at x = 0 and x = 1, where μ is the location and s the scale.
    pub(super) fn ends(&self) -> (f64, f64) {
        (-self.mu / self.scale, (1.0 - self.mu) / self.scale)
    }

    /// t = (x − μ)/s, where μ is the location and s the scale. It is computed from the smaller of x and 1 − x, which has the smaller rounding error.
    fn standardised(&self, x: Probability) -> f64 {
        if x.p <= x.q { (x.p - self.mu) / self.scale } else { ((1.0 - self.mu) - x.q) / self.scale }
    }

    /// The mean of h(t), where t = (τ − μ)/s, the threshold τ follows the prior, μ is the location and s the scale. The mean is integrated
    /// numerically. Closed forms would lose precision by cancellation for a truncated normal distribution with a scale much larger than 1. For a
    /// truncated logistic distribution, the second moment has no elementary form.
    fn mean_of(&self, h: impl Fn(f64) -> f64) -> f64 {
        let (low, high) = self.ends();
        integral(low.max(-S::NEGLIGIBLE_BEYOND), high.min(S::NEGLIGIBLE_BEYOND), |t| S::density_times(h(t), t))
            / self.mass
    }
}

impl<S: StandardDistribution> ThresholdDistribution for Truncated<S> {
    fn cdf(&self, x: Probability) -> f64 {
        let (low, high) = self.ends();
        let t = self.standardised(x);
        if t <= 0.0 {
            S::probability_between(low, t.max(low)) / self.mass
        } else {
            1.0 - S::probability_between(t.min(high), high) / self.mass
        }
    }
    fn pdf(&self, x: Probability) -> f64 {
        S::density_times(1.0, self.standardised(x)) / (self.scale * self.mass)
    }
    fn quantile(&self, level: f64) -> f64 {
        S::quantile(self, level)
    }
    fn mean(&self) -> f64 {
        self.mu + self.scale * self.mean_of(|t| t)
    }
    fn variance(&self) -> f64 {
        let mean = self.mean_of(|t| t);
        self.scale * self.scale * self.mean_of(|t| (t - mean) * (t - mean))
    }
}
