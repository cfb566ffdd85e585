//! Priors: the distribution of the random threshold on [0, 1].
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

mod probability;
mod distribution;
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
mod truncated;
mod mixture;
mod text;
mod pieces;
mod rows;

use rand_core::Rng;

pub use beta::Beta;
pub use centred::Centred;
pub use epanechnikov::Epanechnikov;
pub use kumaraswamy::Kumaraswamy;
pub use logistic::Logistic;
pub use mixture::Mixture;
pub use normal::Normal;
pub use pieces::{COEFFICIENTS, PiecewisePolynomial, Segment};
pub use probability::Probability;
pub use quartic::Quartic;
pub use raised_cosine::RaisedCosine;
pub(crate) use rows::{RowDistribution, RowTask, with_f32_distribution, with_f64_distribution, with_row_distribution};
pub use text::{FAMILIES, Family};
pub use triangular::Triangular;
pub use uniform::Uniform;

use distribution::ThresholdDistribution;

use crate::seed::{Purpose, generator};

/// A prior: the distribution of the random threshold on [0, 1].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Prior {
    /// Uniform prior: the density is constant on an interval.
    Uniform(Uniform),
    /// Raised cosine prior of Marchetti et al. (2022).
    RaisedCosine(RaisedCosine),
    /// Triangular prior: the density is linear on both sides of the centre.
    Triangular(Triangular),
    /// Epanechnikov prior: the density is a parabola.
    Epanechnikov(Epanechnikov),
    /// Quartic prior: the density is the square of a parabola.
    Quartic(Quartic),
    /// Beta prior.
    Beta(Beta),
    /// Kumaraswamy prior.
    Kumaraswamy(Kumaraswamy),
    /// Normal prior, truncated to [0, 1].
    Normal(Normal),
    /// Logistic prior, truncated to [0, 1].
    Logistic(Logistic),
    /// A mixture of another prior and the uniform prior on [0, 1], so that the density is nowhere 0.
    Mixture(Box<Mixture>),
}

impl Prior {
    /// The uniform prior on [0, 1].
    #[must_use]
    pub fn uniform() -> Self {
        match Uniform::new(0.0, 1.0) {
            Ok(uniform) => Prior::Uniform(uniform),
            Err(_) => unreachable!("[0, 1] is a valid support"),
        }
    }

    /// The raised cosine prior of Marchetti et al. (2022), with centre μ and half-width δ.
    pub fn cosine(mu: f64, delta: f64) -> crate::Result<Self> {
        Ok(Prior::RaisedCosine(RaisedCosine::new(mu, delta)?))
    }

    /// This prior as a trait object, so that its methods can be called without naming its family.
    fn distribution(&self) -> &dyn ThresholdDistribution {
        match self {
            Prior::Uniform(prior) => prior,
            Prior::RaisedCosine(prior) => prior,
            Prior::Triangular(prior) => prior,
            Prior::Epanechnikov(prior) => prior,
            Prior::Quartic(prior) => prior,
            Prior::Beta(prior) => prior,
            Prior::Kumaraswamy(prior) => prior,
            Prior::Normal(prior) => prior,
            Prior::Logistic(prior) => prior,
            Prior::Mixture(prior) => &**prior,
        }
    }

    /// F(x): the probability that the threshold lies at or below x, which is the probability that a prediction x counts as positive.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.cdf_at(Probability::new(x.clamp(0.0, 1.0)))
    }

    /// The distribution function F at a probability that is given together with its complement.
    #[must_use]
    pub fn cdf_at(&self, x: Probability) -> f64 {
        // F of NaN is NaN for every family of priors, so that an invalid row makes the sums over the rows NaN.
        if x.p.is_nan() || x.q.is_nan() { f64::NAN } else { self.distribution().cdf(x) }
    }

    /// The density f(x); 0 outside the support, possibly infinite at an end of [0, 1].
    #[must_use]
    pub fn pdf(&self, x: f64) -> f64 {
        if (0.0..=1.0).contains(&x) { self.distribution().pdf(Probability::new(x)) } else { 0.0 }
    }

    /// The density with respect to the logit, dF(σ(z))/dz = f(p) p (1 − p) with p = σ(z), which is finite everywhere.
    #[must_use]
    pub fn logit_density(&self, z: f64) -> f64 {
        self.logit_density_at(Probability::from_logit(z))
    }

    /// The density with respect to the logit, f(p) p (1 − p), at a probability that is given together with its complement.
    #[must_use]
    pub fn logit_density_at(&self, x: Probability) -> f64 {
        if x.p.is_nan() || x.q.is_nan() { f64::NAN } else { self.distribution().logit_density(x) }
    }

    /// The quantile: the x with F(x) = level, for a level in [0, 1].
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        self.distribution().quantile(level.clamp(0.0, 1.0))
    }

    /// The mean of the threshold, E τ.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.distribution().mean()
    }

    /// The variance of the threshold, Var τ.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.distribution().variance()
    }

    /// The support: the smallest interval that contains the threshold with probability 1.
    #[must_use]
    pub fn support(&self) -> (f64, f64) {
        self.distribution().support()
    }

    /// An endless sequence of thresholds drawn from the prior; the seed determines the sequence.
    pub fn sample(&self, seed: u64) -> impl Iterator<Item = f64> + '_ {
        let mut random = generator(seed, Purpose::Thresholds, 0);
        // A uniform random number: the middle of one of 2⁵² equal subintervals of [0, 1], which is never 0 or 1 and is computed without rounding.
        std::iter::repeat_with(move || ((random.next_u64() >> 12) as f64 + 0.5) / (1u64 << 52) as f64)
            .map(|level| self.quantile(level))
    }
}
