//! A mixture of another prior, with weight 1 − ε, and the uniform prior on [0, 1], with weight ε.
//!
//! ```text
//! F(x) = (1 − ε) G(x) + ε x        f(x) = (1 − ε) g(x) + ε
//! ```
//!
//! Here G and g are the distribution function and the density of the other prior.
//!
//! Outside the support of a prior the density is 0, so a row whose prediction lies there has gradient 0; if this is so for all rows, training
//! is stuck. A small share of the uniform prior keeps the density above 0 on all of [0, 1], so that every row contributes to the gradient.

use super::distribution::ThresholdDistribution;
use super::{Prior, Probability};
use crate::error::{Error, Result};

/// A mixture of another prior and the uniform prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    share: f64,
    main: Prior,
}

impl Mixture {
    /// A mixture with weight `share` on the uniform prior and the rest on `main`, which must not be a mixture itself.
    pub fn new(share: f64, main: Prior) -> Result<Self> {
        let refuse = |reason: &str| Err(Error::Prior { text: format!("mix:{share},{main}"), reason: reason.into() });
        if !(share > 0.0 && share < 1.0) {
            return refuse("the share of the uniform prior must be above 0 and below 1");
        }
        if matches!(main, Prior::Mixture(_)) {
            return refuse("a mixture cannot contain another mixture; write one mixture with one share");
        }
        Ok(Mixture { share, main })
    }

    /// The weight ε of the uniform prior.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The prior that is mixed with the uniform prior.
    #[must_use]
    pub fn main(&self) -> &Prior {
        &self.main
    }

    /// The mean of a quantity over the two priors, weighted by their shares: (1 − ε) · `main` + ε · `uniform`.
    fn weighted_mean(&self, main: f64, uniform: f64) -> f64 {
        (1.0 - self.share) * main + self.share * uniform
    }
}

impl ThresholdDistribution for Mixture {
    fn cdf(&self, x: Probability) -> f64 {
        self.weighted_mean(self.main.distribution().cdf(x), x.p)
    }
    fn pdf(&self, x: Probability) -> f64 {
        self.weighted_mean(self.main.distribution().pdf(x), 1.0)
    }
    fn logit_density(&self, x: Probability) -> f64 {
        self.weighted_mean(self.main.distribution().logit_density(x), x.p * x.q)
    }
    fn mean(&self) -> f64 {
        self.weighted_mean(self.main.mean(), 0.5)
    }
    fn variance(&self) -> f64 {
        let squared_distance = |mean: f64| (mean - self.mean()) * (mean - self.mean());
        self.weighted_mean(
            self.main.variance() + squared_distance(self.main.mean()),
            1.0 / 12.0 + squared_distance(0.5),
        )
    }
}
