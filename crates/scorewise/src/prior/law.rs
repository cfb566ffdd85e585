//! What a prior is: one trait, the same methods in the same order in every file of this folder.

use super::Chance;

/// A distribution of the threshold on [0, 1].
pub(crate) trait Law {
    /// F(x): the probability that the threshold lies at or below x, and so that a prediction x counts as positive.
    fn cdf(&self, x: Chance) -> f64;

    /// f(x).
    fn pdf(&self, x: Chance) -> f64;

    /// f(p) p (1 − p) = dF(σ(z))/dz, finite also where f is not.
    fn logit_density(&self, x: Chance) -> f64 {
        self.pdf(x) * x.p * x.q
    }

    /// The x with F(x) = level.
    fn quantile(&self, level: f64) -> f64 {
        invert(level, self.support(), |x| (self.cdf(x), self.pdf(x)))
    }

    /// The mean, E τ.
    fn mean(&self) -> f64;

    /// The variance, Var τ.
    fn variance(&self) -> f64;

    /// The smallest interval that holds all the probability.
    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }
}

/// The root of F(x) = level by Newton's steps, kept inside a bracket that halves whenever a step leaves it.
pub(crate) fn invert(level: f64, (low, high): (f64, f64), law: impl Fn(Chance) -> (f64, f64)) -> f64 {
    if level <= 0.0 {
        return low;
    }
    if level >= 1.0 {
        return high;
    }
    let (mut low, mut high) = (low, high);
    let mut x = 0.5 * (low + high);
    for _ in 0..200 {
        let (cdf, pdf) = law(Chance::new(x));
        if cdf < level {
            low = x;
        } else {
            high = x;
        }
        if high - low <= 2.0 * f64::EPSILON * high {
            break;
        }
        let newton = x - (cdf - level) / pdf;
        // A step that leaves the bracket, or no number at all (pdf = 0 or ∞), is replaced by halving.
        x = if newton > low && newton < high && (newton - x).abs() < 0.4 * (high - low) {
            newton
        } else {
            0.5 * (low + high)
        };
        if x == low || x == high {
            break;
        }
        if newton == x && (cdf - level).abs() <= 2.0 * f64::EPSILON * level {
            break;
        }
    }
    x
}
