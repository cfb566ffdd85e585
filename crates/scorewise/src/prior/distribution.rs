//! The trait that every family of priors implements, and numerical helpers. All implementations list the methods in the same order.

use super::Probability;

/// A distribution of the threshold on [0, 1].
pub(crate) trait ThresholdDistribution {
    /// F(x): the probability that the threshold lies at or below x, which is the probability that a prediction x counts as positive.
    fn cdf(&self, x: Probability) -> f64;

    /// The density f(x).
    fn pdf(&self, x: Probability) -> f64;

    /// The density with respect to the logit z of x: dF(σ(z))/dz = f(x) x (1 − x). It is finite even where f is infinite.
    fn logit_density(&self, x: Probability) -> f64 {
        self.pdf(x) * x.p * x.q
    }

    /// The quantile: the x with F(x) = level.
    fn quantile(&self, level: f64) -> f64 {
        invert_cdf(level, self.support(), |x| (self.cdf(x), self.pdf(x)))
    }

    /// The mean of the threshold, E τ.
    fn mean(&self) -> f64;

    /// The variance of the threshold, Var τ.
    fn variance(&self) -> f64;

    /// The support: the smallest interval that contains the threshold with probability 1.
    fn support(&self) -> (f64, f64) {
        (0.0, 1.0)
    }
}

/// The x in [low, high] at which the distribution function F(x) equals `level`. It is computed by Newton's method; an unsuitable step of this method
/// is replaced by bisection.
pub(crate) fn invert_cdf(level: f64, (low, high): (f64, f64), cdf_and_pdf: impl Fn(Probability) -> (f64, f64)) -> f64 {
    if level <= 0.0 {
        return low;
    }
    if level >= 1.0 {
        return high;
    }
    let (mut low, mut high) = (low, high);
    let mut x = 0.5 * (low + high);
    for _ in 0..400 {
        let (cdf, pdf) = cdf_and_pdf(Probability::new(x));
        if cdf < level {
            low = x;
        } else {
            high = x;
        }
        if high - low <= 2.0 * f64::EPSILON * high {
            break;
        }
        let newton = x - (cdf - level) / pdf;
        // A Newton step that leaves the interval [low, high], is long compared with it, or is not finite (pdf = 0 or ∞) is replaced by bisection.
        x = if newton > low && newton < high && (newton - x).abs() < 0.4 * (high - low) {
            newton
        } else {
            point_inside(low, high)
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

/// A point between `low` and `high`: their arithmetic mean, or their geometric mean if `high` is more than four times `low`. A beta prior with
/// small shape parameters has quantiles such as 1e-100, which arithmetic means would reach only after hundreds of steps.
fn point_inside(low: f64, high: f64) -> f64 {
    if low <= 0.0 {
        // The geometric mean of 0 and `high` is 0, so another point is used: the square of `high` if `high` is small, otherwise half of `high`. A
        // tiny `high` is halved too, because its square would underflow.
        return if high > 1e-150 && high < 1e-3 { high * high } else { 0.5 * high };
    }
    if high > 4.0 * low { low.sqrt() * high.sqrt() } else { 0.5 * (low + high) }
}

/// The integral of g over [low, high]. The interval is divided into subintervals of length at most ½; on each of them g must be smooth and is
/// integrated by Gauss–Legendre quadrature with eight points.
pub(crate) fn integral(low: f64, high: f64, g: impl Fn(f64) -> f64) -> f64 {
    // The positive nodes of the Gauss–Legendre rule with eight points on [−1, 1], each with its weight; the rule is symmetric.
    const NODES_AND_WEIGHTS: [(f64, f64); 4] = [
        (0.183_434_642_495_649_8, 0.362_683_783_378_362),
        (0.525_532_409_916_329, 0.313_706_645_877_887_3),
        (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
        (0.960_289_856_497_536_2, 0.101_228_536_290_376_3),
    ];
    let subintervals = (2.0 * (high - low)).ceil().max(1.0);
    let half = 0.5 * (high - low) / subintervals;
    let integral_over = |number: usize| {
        let centre = low + (2.0 * number as f64 + 1.0) * half;
        half * NODES_AND_WEIGHTS
            .iter()
            .map(|(x, weight)| weight * (g(centre - half * x) + g(centre + half * x)))
            .sum::<f64>()
    };
    (0..subintervals as usize).map(integral_over).sum()
}
