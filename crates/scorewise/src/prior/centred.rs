//! Priors around a centre μ with half-width δ: one bump k on [−1, 1], moved and scaled.
//!
//! ```text
//! v = distance to the nearer end of [μ − δ, μ + δ], over δ        v runs 0 … 1 from an end to the centre
//! F(x) = T(v) below the centre, 1 − T(v) above                    f(x) = k(v) / δ
//! ```
//!
//! A bump says only its tail T, its density k and its variance on δ = 1; counting from the nearer end keeps the digits of
//! both tails. The same bodies serve f64 and, vectorised, f32 rows.

use super::Chance;
use super::law::{Law, invert};
use crate::error::{Error, Result};
use crate::real::{Real, least, only_if};

/// A symmetric density on [−1, 1], told from its end: v = 0 at the end, v = 1 at the centre.
pub trait Bump: Copy + Send + Sync {
    /// The name in text form.
    const NAME: &'static str;
    /// The variance for δ = 1.
    const VARIANCE: f64;
    /// T(v): the probability between the end and v.
    fn tail<R: Real>(v: R) -> R;
    /// k(v).
    fn density<R: Real>(v: R) -> R;
}

/// A bump moved to μ and scaled to half-width δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centred<B> {
    mu: f64,
    delta: f64,
    /// The ends of the support; private like all: they lie in [0, 1], `new` has checked it.
    ends: (f64, f64),
    bump: B,
}

impl<B: Bump> Centred<B> {
    pub(crate) fn with(mu: f64, delta: f64, bump: B) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Prior { text: format!("{}:{mu},{delta}", B::NAME), reason });
        if !mu.is_finite() || !delta.is_finite() {
            return refuse("centre and half-width must be numbers".into());
        }
        if delta <= 0.0 {
            return refuse("the half-width must be above 0".into());
        }
        // 0.3 − 0.3 is 0, but 0.9 + 0.1 may round to a hair above 1: a hair is forgiven.
        let (low, high) = (mu - delta, mu + delta);
        if low < -1e-12 || high > 1.0 + 1e-12 {
            return refuse(format!("the support [{low}, {high}] must lie in [0, 1]; move the centre or narrow it"));
        }
        Ok(Centred { mu, delta, ends: (low.max(0.0), high.min(1.0)), bump })
    }

    /// With the ends as they were given, to the last digit, where those and not the centre were given.
    pub(crate) fn with_ends(mut self, low: f64, high: f64) -> Self {
        self.ends = (low, high);
        self
    }

    /// The centre μ.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The half-width δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// F by what lies below and above x inside the support; see the module.
    #[inline(always)]
    pub(crate) fn cdf_between<R: Real>(from_low: R, from_high: R, per_delta: R) -> R {
        let v = inside(from_low, from_high, per_delta).1;
        let tail = B::tail(v);
        if from_low < from_high { tail } else { R::ONE - tail }
    }

    /// k(v), 0 outside the support.
    #[inline(always)]
    pub(crate) fn density_between<R: Real>(from_low: R, from_high: R, per_delta: R) -> R {
        let (is_inside, v) = inside(from_low, from_high, per_delta);
        only_if(is_inside, B::density(v))
    }

    /// How far x lies above the lower and below the upper end of the support. Where an end of the support is an end of
    /// [0, 1], p or q itself is the distance, to the last digit.
    fn distances(&self, x: Chance) -> (f64, f64) {
        (x.p - self.ends.0, x.q - (1.0 - self.ends.1))
    }
}

/// Whether x lies in the support, and v.
#[inline(always)]
fn inside<R: Real>(from_low: R, from_high: R, per_delta: R) -> (bool, R) {
    let nearer = least(from_low, from_high);
    let v = nearer * per_delta;
    // The middle may come out a hair above 1, the outside is below 0.
    (nearer >= R::ZERO, least(only_if(v > R::ZERO, v), R::ONE))
}

impl<B: Bump> Law for Centred<B> {
    fn cdf(&self, x: Chance) -> f64 {
        let (low, high) = self.distances(x);
        Self::cdf_between(low, high, 1.0 / self.delta)
    }
    fn pdf(&self, x: Chance) -> f64 {
        let (low, high) = self.distances(x);
        Self::density_between(low, high, 1.0 / self.delta) / self.delta
    }
    fn quantile(&self, level: f64) -> f64 {
        let v = |tail: f64| 2.0 * invert(tail, (0.0, 0.5), |x| (B::tail(2.0 * x.p), 2.0 * B::density(2.0 * x.p)));
        let (low, high) = self.support();
        if level >= 1.0 {
            high
        } else if level < 0.5 {
            low + self.delta * v(level)
        } else {
            high - self.delta * v(1.0 - level)
        }
    }
    fn mean(&self) -> f64 {
        self.mu
    }
    fn variance(&self) -> f64 {
        B::VARIANCE * self.delta * self.delta
    }
    fn support(&self) -> (f64, f64) {
        self.ends
    }
}
