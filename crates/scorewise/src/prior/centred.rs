//! Priors around a centre μ with half-width δ: one bump k on [−1, 1], moved and scaled.
//!
//! ```text
//! v = distance to the nearer end of [μ − δ, μ + δ], over δ        v runs 0 … 1 from an end to the centre
//! F(x) = T(v) below the centre, 1 − T(v) above                    f(x) = k(v) / δ
//! ```
//!
//! A bump says its tail T and density k, counted from the nearer end, which keeps the digits of both tails; the same two for
//! f32 rows in few steps without branches; and its variance.

use super::Chance;
use super::law::{Law, invert};
use crate::error::{Error, Result};
use crate::real::at_least;

/// A symmetric density on [−1, 1], told from its end: v = 0 at the end, v = 1 at the centre.
pub trait Bump: Copy + Send + Sync {
    /// The name in text form.
    const NAME: &'static str;
    /// The variance for δ = 1.
    const VARIANCE: f64;
    /// T(v): the probability between the end and v.
    fn tail(v: f64) -> f64;
    /// k(v).
    fn density(v: f64) -> f64;
    /// T(v) to f32's precision, also relative to itself near the end.
    fn narrow_tail(v: f32) -> f32;
    /// k(v) to f32's precision.
    fn narrow_density(v: f32) -> f32;
    /// F at u = (x − μ)/δ for f32 rows; u may lie outside [−1, 1].
    #[inline(always)]
    fn climb(u: f32) -> f32 {
        let tail = Self::narrow_tail(end_to_centre(u));
        if u < 0.0 { tail } else { 1.0 - tail }
    }
    /// f δ at u for f32 rows; u may lie outside [−1, 1].
    #[inline(always)]
    fn height(u: f32) -> f32 {
        Self::narrow_density(end_to_centre(u))
    }
}

/// v of u: 0 at the ends and outside; NaN stays.
#[inline(always)]
fn end_to_centre(u: f32) -> f32 {
    at_least(1.0 - u.abs(), 0.0)
}

/// The least half-width: narrower, and neighbouring probabilities are all that is left of it.
const NARROWEST: f64 = 1e-9;

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
        if delta < NARROWEST {
            return refuse(format!("a half-width below {NARROWEST} is a fixed threshold, not a prior"));
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

    /// How far x lies above the lower and below the upper end of the support, from p or from q, whichever is the smaller and so
    /// has more digits.
    fn distances(&self, x: Chance) -> (f64, f64) {
        if x.p <= x.q {
            (x.p - self.ends.0, self.ends.1 - x.p)
        } else {
            ((1.0 - self.ends.0) - x.q, x.q - (1.0 - self.ends.1))
        }
    }

    /// v: 0 at the nearer end of the support and outside, 1 at the centre (which may come out a hair above).
    fn end_to_centre(&self, nearer: f64) -> f64 {
        (nearer / self.delta).clamp(0.0, 1.0)
    }
}

impl<B: Bump> Law for Centred<B> {
    fn cdf(&self, x: Chance) -> f64 {
        let (low, high) = self.distances(x);
        let tail = B::tail(self.end_to_centre(low.min(high)));
        if low < high { tail } else { 1.0 - tail }
    }
    fn pdf(&self, x: Chance) -> f64 {
        let (low, high) = self.distances(x);
        let nearer = low.min(high);
        if nearer >= 0.0 { B::density(self.end_to_centre(nearer)) / self.delta } else { 0.0 }
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
