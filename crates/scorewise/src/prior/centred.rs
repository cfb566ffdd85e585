//! Priors with a centre μ and a half-width δ: a kernel k on [−1, 1], shifted to μ and scaled by δ.
//!
//! ```text
//! v = (distance to the nearer end of [μ − δ, μ + δ]) / δ          v is 0 at an end and 1 at the centre
//! F(x) = T(v) below the centre, 1 − T(v) above                    f(x) = k(v) / δ
//! ```
//!
//! A kernel defines its variance, its tail probability T and its density k. T and k are functions of the distance v from the nearer end, so that
//! they are accurate in both tails. Both are also defined in f32, with few operations and without branches.

use super::Probability;
use super::distribution::{ThresholdDistribution, invert_cdf};
use crate::error::{Error, Result};
use crate::real::at_least;

/// A symmetric density on [−1, 1] as a function of v, the distance from the nearer end: v = 0 at the ends, v = 1 at the centre.
pub trait Kernel: Copy + Send + Sync {
    /// The name of the prior in strings such as `cosine:0.5,0.1`.
    const NAME: &'static str;
    /// The variance of the prior for half-width δ = 1.
    const VARIANCE_AT_DELTA_1: f64;
    /// T(v): the probability of all points within distance v of one end of [−1, 1].
    fn tail_probability(v: f64) -> f64;
    /// k(v): the density at distance v from the nearer end of [−1, 1].
    fn density(v: f64) -> f64;
    /// The tail probability T(v) in f32, with a small relative error even for v near 0.
    fn tail_probability_f32(v: f32) -> f32;
    /// The density k(v) in f32.
    fn density_f32(v: f32) -> f32;
    /// The distribution function F(x) in f32 as a function of u = (x − μ)/δ, which may lie outside [−1, 1].
    #[inline(always)]
    fn cdf_f32(u: f32) -> f32 {
        let tail = Self::tail_probability_f32(distance_from_end(u));
        if u < 0.0 { tail } else { 1.0 - tail }
    }
    /// The scaled density δ f(x) in f32 as a function of u = (x − μ)/δ, which may lie outside [−1, 1].
    #[inline(always)]
    fn pdf_f32(u: f32) -> f32 {
        Self::density_f32(distance_from_end(u))
    }
}

/// The distance v of u from the nearer end of [−1, 1]; 0 if u lies outside, NaN if u is NaN.
#[inline(always)]
fn distance_from_end(u: f32) -> f32 {
    at_least(1.0 - u.abs(), 0.0)
}

/// The smallest half-width δ allowed: a narrower prior is practically a fixed threshold, and its distribution function has a
/// rounding error of about 1e-16/δ.
const MIN_HALF_WIDTH: f64 = 1e-9;

/// A prior that consists of a kernel shifted to centre μ and scaled to half-width δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centred<K> {
    mu: f64,
    delta: f64,
    /// The lower and the upper end of the support, both in [0, 1].
    ends: (f64, f64),
    kernel: K,
}

impl<K: Kernel> Centred<K> {
    /// A prior with centre μ and half-width δ; an error if δ is too small or the support does not lie in [0, 1].
    pub(crate) fn from_kernel(mu: f64, delta: f64, kernel: K) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Prior { text: format!("{}:{mu},{delta}", K::NAME), reason });
        if !mu.is_finite() || !delta.is_finite() {
            return refuse("centre and half-width must be finite numbers".into());
        }
        if delta <= 0.0 {
            return refuse("the half-width must be above 0".into());
        }
        if delta < MIN_HALF_WIDTH {
            return refuse(format!("the half-width must be at least {MIN_HALF_WIDTH}"));
        }
        // The computed ends may lie slightly outside [0, 1] because of rounding, as in 0.3 − (0.1 + 0.2) < 0, so tiny excesses are accepted.
        let (low, high) = (mu - delta, mu + delta);
        if low < -1e-12 || high > 1.0 + 1e-12 {
            return refuse(format!(
                "the support [{low}, {high}] must lie in [0, 1]; move the centre or reduce the half-width"
            ));
        }
        Ok(Centred { mu, delta, ends: (low.max(0.0), high.min(1.0)), kernel })
    }

    /// The same prior with the given ends of the support. If the user gives the ends, μ ± δ may differ from them by a rounding error.
    pub(crate) fn with_ends(mut self, low: f64, high: f64) -> Self {
        self.ends = (low, high);
        self
    }

    /// The centre μ of the prior.
    #[must_use]
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The half-width δ of the prior.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The distances of x from the lower and the upper end of the support, negative if x lies outside. They are computed from the smaller of x and
    /// 1 − x, which has the smaller rounding error.
    fn distances_from_ends(&self, x: Probability) -> (f64, f64) {
        if x.p <= x.q {
            (x.p - self.ends.0, self.ends.1 - x.p)
        } else {
            ((1.0 - self.ends.0) - x.q, x.q - (1.0 - self.ends.1))
        }
    }

    /// Divides `nearer`, the distance of a point from the nearer end of the support, by the half-width δ. The result is 0 at the ends and outside the
    /// support, and 1 at the centre.
    fn scaled_distance(&self, nearer: f64) -> f64 {
        (nearer / self.delta).clamp(0.0, 1.0)
    }
}

impl<K: Kernel> ThresholdDistribution for Centred<K> {
    fn cdf(&self, x: Probability) -> f64 {
        let (low, high) = self.distances_from_ends(x);
        let tail = K::tail_probability(self.scaled_distance(low.min(high)));
        if low < high { tail } else { 1.0 - tail }
    }
    fn pdf(&self, x: Probability) -> f64 {
        let (low, high) = self.distances_from_ends(x);
        let nearer = low.min(high);
        if nearer >= 0.0 { K::density(self.scaled_distance(nearer)) / self.delta } else { 0.0 }
    }
    fn quantile(&self, level: f64) -> f64 {
        let v = |tail: f64| {
            2.0 * invert_cdf(tail, (0.0, 0.5), |x| (K::tail_probability(2.0 * x.p), 2.0 * K::density(2.0 * x.p)))
        };
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
        K::VARIANCE_AT_DELTA_1 * self.delta * self.delta
    }
    fn support(&self) -> (f64, f64) {
        self.ends
    }
}
