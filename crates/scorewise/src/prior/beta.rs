//! Beta(a, b): the conjugate shape on [0, 1], from a spike at an end to a bell.
//!
//! ```text
//! F(x) = I_x(a, b)        f(x) = x^(a−1) (1−x)^(b−1) / B(a, b)
//! ```
//!
//! Mean a/(a + b), variance ab/((a + b)²(a + b + 1)).

use statrs::function::beta::{beta_reg, ln_beta};

use super::Chance;
use super::law::Law;
use crate::error::{Error, Result};

/// A beta prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta {
    a: f64,
    b: f64,
    ln_beta: f64,
}

impl Beta {
    /// With exponents a, b between 0.01 and 1000: beyond them the density is a point mass for every practical purpose.
    pub fn new(a: f64, b: f64) -> Result<Self> {
        shapes("beta", a, b)?;
        Ok(Beta { a, b, ln_beta: ln_beta(a, b) })
    }

    pub(crate) fn shapes(&self) -> (f64, f64) {
        (self.a, self.b)
    }
}

/// The check that both two-shape priors share.
pub(crate) fn shapes(name: &str, a: f64, b: f64) -> Result<()> {
    if (0.01..=1000.0).contains(&a) && (0.01..=1000.0).contains(&b) {
        return Ok(());
    }
    Err(Error::Prior { text: format!("{name}:{a},{b}"), reason: "both shapes must lie between 0.01 and 1000".into() })
}

/// (a − 1) ln x, and 0 for a = 1 also where ln x is infinite.
fn power_term(exponent: f64, ln: f64) -> f64 {
    if exponent == 0.0 { 0.0 } else { exponent * ln }
}

impl Law for Beta {
    fn cdf(&self, x: Chance) -> f64 {
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
    fn pdf(&self, x: Chance) -> f64 {
        (power_term(self.a - 1.0, x.ln_p()) + power_term(self.b - 1.0, x.ln_q()) - self.ln_beta).exp()
    }
    fn logit_density(&self, x: Chance) -> f64 {
        // x^a (1−x)^b / B: finite at the ends whatever a and b.
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
