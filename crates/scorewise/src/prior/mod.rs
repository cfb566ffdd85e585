//! PRIOR: the threshold as a random variable on [0, 1].
//!
//! ```
//! use scorewise::Prior;
//!
//! let prior: Prior = "cosine:0.5,0.1".parse()?;
//! assert_eq!(prior.support(), (0.4, 0.6));
//! assert!((prior.cdf(0.5) - 0.5).abs() < 1e-15);
//! assert_eq!(prior.to_string(), "cosine:0.5,0.1");
//! assert!("cosine:0.95,0.1".parse::<Prior>().unwrap_err().to_string().contains("must lie in [0, 1]"));
//! # Ok::<(), scorewise::Error>(())
//! ```

mod chance;
mod law;
mod centred;
mod uniform;
mod raised_cosine;
mod triangular;
mod epanechnikov;
mod quartic;
mod beta;
mod kumaraswamy;
mod normal;
mod logistic;
mod mixture;
mod text;
mod pieces;
mod rows;

use rand_core::Rng;

pub use beta::Beta;
pub use centred::Centred;
pub use chance::Chance;
pub use epanechnikov::Epanechnikov;
pub use kumaraswamy::Kumaraswamy;
pub use logistic::Logistic;
pub use mixture::Mixture;
pub use normal::Normal;
pub use pieces::{COEFFICIENTS, Pieces, Stretch};
pub use quartic::Quartic;
pub use raised_cosine::RaisedCosine;
pub(crate) use rows::{RowLaw, RowWork, with_narrow_law, with_row_law, with_wide_law};
pub use text::{FAMILIES, Family};
pub use triangular::Triangular;
pub use uniform::Uniform;

use law::Law;

use crate::seed::{Purpose, generator};

/// The distribution of the threshold.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Prior {
    /// Flat on an interval.
    Uniform(Uniform),
    /// The paper's raised cosine.
    RaisedCosine(RaisedCosine),
    /// Straight up and down.
    Triangular(Triangular),
    /// A parabola.
    Epanechnikov(Epanechnikov),
    /// A parabola squared.
    Quartic(Quartic),
    /// Beta.
    Beta(Beta),
    /// Kumaraswamy.
    Kumaraswamy(Kumaraswamy),
    /// Truncated normal.
    Normal(Normal),
    /// Truncated logistic.
    Logistic(Logistic),
    /// Another prior with a share of the uniform one: never a zero gradient.
    Mixture(Box<Mixture>),
}

impl Prior {
    /// Uniform on [0, 1].
    #[must_use]
    pub fn uniform() -> Self {
        match Uniform::new(0.0, 1.0) {
            Ok(uniform) => Prior::Uniform(uniform),
            Err(_) => unreachable!("[0, 1] lies in [0, 1]"),
        }
    }

    /// The paper's raised cosine around μ with half-width δ.
    pub fn cosine(mu: f64, delta: f64) -> crate::Result<Self> {
        Ok(Prior::RaisedCosine(RaisedCosine::new(mu, delta)?))
    }

    fn law(&self) -> &dyn Law {
        match self {
            Prior::Uniform(law) => law,
            Prior::RaisedCosine(law) => law,
            Prior::Triangular(law) => law,
            Prior::Epanechnikov(law) => law,
            Prior::Quartic(law) => law,
            Prior::Beta(law) => law,
            Prior::Kumaraswamy(law) => law,
            Prior::Normal(law) => law,
            Prior::Logistic(law) => law,
            Prior::Mixture(law) => &**law,
        }
    }

    /// F(x): the probability that the threshold lies at or below x, and so that a prediction x counts as positive.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.cdf_at(Chance::new(x.clamp(0.0, 1.0)))
    }

    /// F at a probability that knows its complement.
    #[must_use]
    pub fn cdf_at(&self, x: Chance) -> f64 {
        // What is no number stays so, whatever a law's formula makes of it: a bad row must show in the sums.
        if x.p.is_nan() || x.q.is_nan() { f64::NAN } else { self.law().cdf(x) }
    }

    /// The density f(x); 0 outside the support, possibly infinite at an end of [0, 1].
    #[must_use]
    pub fn pdf(&self, x: f64) -> f64 {
        if (0.0..=1.0).contains(&x) { self.law().pdf(Chance::new(x)) } else { 0.0 }
    }

    /// dF(σ(z))/dz = f(p) p (1 − p), finite everywhere.
    #[must_use]
    pub fn logit_density(&self, z: f64) -> f64 {
        self.logit_density_at(Chance::from_logit(z))
    }

    /// f(p) p (1 − p) at a probability that knows its complement.
    #[must_use]
    pub fn logit_density_at(&self, x: Chance) -> f64 {
        if x.p.is_nan() || x.q.is_nan() { f64::NAN } else { self.law().logit_density(x) }
    }

    /// The x with F(x) = level, for a level in [0, 1].
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        self.law().quantile(level.clamp(0.0, 1.0))
    }

    /// The mean, E τ.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.law().mean()
    }

    /// The variance, Var τ.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.law().variance()
    }

    /// The smallest interval that holds all the probability.
    #[must_use]
    pub fn support(&self) -> (f64, f64) {
        self.law().support()
    }

    /// Thresholds drawn at random, the same for the same seed.
    pub fn sample(&self, seed: u64) -> impl Iterator<Item = f64> + '_ {
        let mut random = generator(seed, Purpose::Thresholds, 0);
        // 52 bits, moved by half a step: never 0 or 1, and no rounding.
        std::iter::repeat_with(move || ((random.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64)
            .map(|level| self.quantile(level))
    }
}
