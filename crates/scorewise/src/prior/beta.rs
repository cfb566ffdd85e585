//! Beta(a, b) on [0, 1]. Depending on a and b, the density has a peak inside the interval, a peak at one end or at both ends, or is constant.
//!
//! ```text
//! F(x) = I_x(a, b)        f(x) = x^(a−1) (1−x)^(b−1) / B(a, b)
//! ```
//!
//! Mean a/(a + b), variance ab/((a + b)²(a + b + 1)).

use statrs::function::beta::{beta_reg, ln_beta};

use super::Probability;
use super::distribution::ThresholdDistribution;
use crate::error::{Error, Result};

/// A beta prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
    ln_beta: f64,
}

impl Beta {
    /// A beta prior with shape parameters a, b between 0.01 and 1000; outside this range
    /// almost all of the probability lies near one or two points.
    pub fn new(a: f64, b: f64) -> Result<Self> {
        check_shape_parameters("beta", a, b)?;
        Ok(Beta { a, b, ln_beta: ln_beta(a, b) })
    }

    /// The shape parameters a and b.
    pub(crate) fn shape_parameters(&self) -> (f64, f64) {
        (self.a, self.b)
    }
}

/// Returns an error unless both shape parameters of a beta or Kumaraswamy prior lie between 0.01 and 1000.
pub(crate) fn check_shape_parameters(name: &str, a: f64, b: f64) -> Result<()> {
    if (0.01..=1000.0).contains(&a) && (0.01..=1000.0).contains(&b) {
        return Ok(());
    }
    Err(Error::Prior {
        text: format!("{name}:{a},{b}"),
        reason: "both shape parameters must lie between 0.01 and 1000".into(),
    })
}

/// The logarithm of a power, `exponent · ln`, where `ln` is the logarithm of the base; 0 if `exponent` is 0, even where `ln` is infinite.
fn ln_power(exponent: f64, ln: f64) -> f64 {
    if exponent == 0.0 { 0.0 } else { exponent * ln }
}

impl ThresholdDistribution for Beta {
    fn cdf(&self, x: Probability) -> f64 {
        if x.p <= 0.0 {
            0.0
        } else if x.q <= 0.0 {
            1.0
        } else if x.p <= 0.5 {
            beta_reg(self.a, self.b, x.p)
        } else {
            1.0 - beta_reg(self.b, self.a, x.q)
        }
    }
    fn pdf(&self, x: Probability) -> f64 {
        (ln_power(self.a - 1.0, x.ln_p()) + ln_power(self.b - 1.0, x.ln_q()) - self.ln_beta).exp()
    }
    fn logit_density(&self, x: Probability) -> f64 {
        // f(x) x (1 − x) = x^a (1−x)^b / B(a, b), which is finite at x = 0 and x = 1 for all a and b.
        (self.a * x.ln_p() + self.b * x.ln_q() - self.ln_beta).exp()
    }
    fn mean(&self) -> f64 {
        self.a / (self.a + self.b)
    }
    fn variance(&self) -> f64 {
        let sum = self.a + self.b;
        self.a * self.b / (sum * sum * (sum + 1.0))
    }
}
