//! Kumaraswamy(a, b): similar to the beta distribution, but with a distribution function in closed form.
//!
//! ```text
//! F(x) = 1 − (1 − x^a)^b        f(x) = a b x^(a−1) (1 − x^a)^(b−1)
//! ```
//!
//! Moments E[τ^k] = b B(1 + k/a, b).
//!
//! Kumaraswamy, P. (1980). A generalized probability density function for double-bounded random processes. Journal of
//! Hydrology 46, 79–88. doi:10.1016/0022-1694(80)90036-0

use statrs::function::beta::ln_beta;

use super::Probability;
use super::beta::check_shape_parameters;
use super::distribution::{ThresholdDistribution, integral};
use crate::error::Result;

/// A Kumaraswamy prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kumaraswamy {
    a: f64,
    b: f64,
}

impl Kumaraswamy {
    /// A Kumaraswamy prior with shape parameters a, b between 0.01 and 1000.
    pub fn new(a: f64, b: f64) -> Result<Self> {
        check_shape_parameters("kumaraswamy", a, b)?;
        Ok(Kumaraswamy { a, b })
    }

    /// The shape parameters a and b.
    pub(crate) fn shape_parameters(&self) -> (f64, f64) {
        (self.a, self.b)
    }

    /// The moment E[τ^k] of the threshold τ.
    fn moment(&self, k: f64) -> f64 {
        self.b * ln_beta(1.0 + k / self.a, self.b).exp()
    }

    /// ln (1 − x^a), accurate near x = 0 and near x = 1.
    fn ln_one_minus_power(&self, x: Probability) -> f64 {
        let power = self.a * x.ln_p();
        if x.q < 1e-17 {
            // For 1 − x below 1e-17, 1 − x^a equals a (1 − x) to full precision, even where a ln x underflows.
            return self.a.ln() + x.ln_q();
        }
        // For a ln x < ln ½, x^a is small and ln_1p gives ln(1 − x^a) accurately; otherwise exp_m1 gives 1 − x^a accurately.
        if power < -std::f64::consts::LN_2 { (-power.exp()).ln_1p() } else { (-power.exp_m1()).ln() }
    }

    /// (x (1 − x))^`power` · f(x), computed as one exponential so that ∞ · 0 cannot occur. The power is 0 for the density and 1 for the density with
    /// respect to the logit.
    fn density_times_power(&self, x: Probability, power: f64) -> f64 {
        if x.p <= 0.0 {
            let exponent = self.a - 1.0 + power;
            return if exponent > 0.0 {
                0.0
            } else if exponent == 0.0 {
                self.a * self.b
            } else {
                f64::INFINITY
            };
        }
        if x.q <= 0.0 {
            let exponent = self.b - 1.0 + power;
            return if exponent > 0.0 {
                0.0
            } else if exponent == 0.0 {
                self.a
            } else {
                f64::INFINITY
            };
        }
        let rest = if self.b == 1.0 { 0.0 } else { (self.b - 1.0) * self.ln_one_minus_power(x) };
        let base = (self.a - 1.0 + power) * x.ln_p() + rest;
        let complement = if power == 0.0 { 0.0 } else { power * x.ln_q() };
        self.a * self.b * (base + complement).exp()
    }
}

impl ThresholdDistribution for Kumaraswamy {
    fn cdf(&self, x: Probability) -> f64 {
        if x.p <= 0.0 {
            0.0
        } else if x.q <= 0.0 {
            1.0
        } else {
            -(self.b * self.ln_one_minus_power(x)).exp_m1()
        }
    }
    fn pdf(&self, x: Probability) -> f64 {
        self.density_times_power(x, 0.0)
    }
    fn logit_density(&self, x: Probability) -> f64 {
        self.density_times_power(x, 1.0)
    }
    fn quantile(&self, level: f64) -> f64 {
        let rest = -((-level).ln_1p() / self.b).exp_m1();
        rest.powf(1.0 / self.a)
    }
    fn mean(&self) -> f64 {
        self.moment(1.0)
    }
    fn variance(&self) -> f64 {
        let closed = self.moment(2.0) - self.moment(1.0) * self.moment(1.0);
        if closed > 1e-3 * self.moment(1.0) * self.moment(1.0) {
            return closed;
        }
        // For a narrow prior the closed form of the variance loses its precision by cancellation. The density is then a single smooth peak, which is
        // integrated numerically between extreme quantiles.
        let (low, high) = (self.quantile(1e-18), self.quantile(1.0 - 1e-16));
        let step = (high - low) / 40.0;
        let mean_of = |g: &dyn Fn(f64) -> f64| {
            step * integral(0.0, 40.0, |s| g(low + s * step) * self.pdf(Probability::new(low + s * step)))
        };
        let mean = mean_of(&|x| x);
        mean_of(&|x| (x - mean) * (x - mean))
    }
}
