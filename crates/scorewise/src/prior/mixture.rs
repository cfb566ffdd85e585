//! (1 − ε) · another prior + ε · uniform on [0, 1].
//!
//! ```text
//! F(x) = (1 − ε) G(x) + ε x        f(x) = (1 − ε) g(x) + ε
//! ```
//!
//! Outside the support of a compact prior the density is 0 and so is the gradient: a prediction there never moves again. A
//! small share of the uniform prior keeps it moving.

use super::law::Law;
use super::{Chance, Prior};
use crate::error::{Error, Result};

/// A prior with a share of the uniform one.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    share: f64,
    main: Prior,
}

impl Mixture {
    /// `share` of the uniform prior, the rest of `main`, which is no mixture itself.
    pub fn new(share: f64, main: Prior) -> Result<Self> {
        let refuse = |reason: &str| Err(Error::Prior { text: format!("mix:{share},{main}"), reason: reason.into() });
        if !(share > 0.0 && share < 1.0) {
            return refuse("the share of the uniform prior must lie between 0 and 1");
        }
        if matches!(main, Prior::Mixture(_)) {
            return refuse("a mixture of a mixture is a mixture: write one share");
        }
        Ok(Mixture { share, main })
    }

    /// ε.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The prior that is mixed with the uniform one.
    #[must_use]
    pub fn main(&self) -> &Prior {
        &self.main
    }

    fn mixed(&self, main: f64, uniform: f64) -> f64 {
        (1.0 - self.share) * main + self.share * uniform
    }
}

impl Law for Mixture {
    fn cdf(&self, x: Chance) -> f64 {
        self.mixed(self.main.law().cdf(x), x.p)
    }
    fn pdf(&self, x: Chance) -> f64 {
        self.mixed(self.main.law().pdf(x), 1.0)
    }
    fn logit_density(&self, x: Chance) -> f64 {
        self.mixed(self.main.law().logit_density(x), x.p * x.q)
    }
    fn mean(&self) -> f64 {
        self.mixed(self.main.mean(), 0.5)
    }
    fn variance(&self) -> f64 {
        let spread = |mean: f64| (mean - self.mean()) * (mean - self.mean());
        self.mixed(self.main.variance() + spread(self.main.mean()), 1.0 / 12.0 + spread(0.5))
    }
}
