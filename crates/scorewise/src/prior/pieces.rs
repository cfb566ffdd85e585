//! A prior as piecewise polynomials: F(σ(z)) as a function of the logit z, which any framework can evaluate. F is the distribution function of the
//! prior, σ the logistic function.
//!
//! A framework that computes on its own tensors needs F(σ(z)) and its derivative for every family of priors, and every family has its own
//! special functions and numerical problems near the ends of [0, 1]. The polynomials are evaluated in the same way for every
//! prior, by a table lookup and Horner's rule, and agree with [`Prior::cdf_at`] and [`Prior::logit_density`] to about 1e-12.
//!
//! A segment is a range of logits, divided into panels: intervals of equal width, each with its own polynomial V.
//!
//! ```text
//! F(σ(z)) = base + Σ over segments of Vᵢ(s)        i: the panel that contains z        s = 2 (z − middle of panel i)/width ∈ [−1, 1]
//! ```
//!
//! For z below a segment, the segment contributes 0; for z above the segment, the value at the end of its last panel. dF/dz is computed as the
//! derivative of these polynomials.

use super::{Prior, Probability};

/// Number of coefficients of each polynomial: its variable is s, and 1, s, …, s⁸ have one coefficient each.
pub const COEFFICIENTS: usize = 9;
/// Number of points in each panel (an interval of logits with its own polynomial) at which the derivative of the polynomial equals the density.
const INTERPOLATION_POINTS: usize = COEFFICIENTS - 1;
/// The lower tail of a prior is cut off where its distribution function is below this value.
const NEGLIGIBLE_PROBABILITY: f64 = 1e-17;
/// Only logits between −700 and 700 are considered; for all other logits, the logistic function differs from 0 or 1 by less than 1e-304.
const LARGEST_LOGIT: f64 = 700.0;
/// Largest number of panels, the intervals with one polynomial each, into which a segment is divided.
const MAX_PANELS: usize = 1 << 13;
/// Panels are halved until the largest error of the density between the interpolation points, divided by the maximum of the density, is at most this
/// number. Halving also stops when it hardly reduces an error that is already small.
const DENSITY_TOLERANCE: f64 = 2e-14;

/// The distribution function F(σ(z)) of a prior as piecewise polynomials of the logit z, where σ is the logistic function. A segment is a range of
/// logits, divided into panels of equal width with one polynomial each. F(σ(z)) is `base` plus the value of one polynomial per segment, that of the
/// panel that contains z. A segment above z contributes 0, a segment below z its value at its upper end.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewisePolynomial {
    /// The value of the distribution function for logits below all segments (ranges of logits); 0 unless the lower tail of the prior extends below
    /// the lowest segment.
    pub base: f64,
    /// The segments (ranges of logits), whose contributions to the distribution function are added.
    pub segments: Vec<Segment>,
}

/// A range of logits, divided into panels of equal width with one polynomial each.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The lowest logit of the segment.
    pub low: f64,
    /// The width of each panel (an interval of logits with its own polynomial), as a difference of logits.
    pub width: f64,
    /// For each panel (an interval of logits), the coefficients of 1, s, …, s⁸ in its polynomial. Here s is −1 at the lower end of the panel and 1 at
    /// its upper end.
    pub panels: Vec<[f64; COEFFICIENTS]>,
}

impl Prior {
    /// The prior as piecewise polynomials of the logit.
    #[must_use]
    pub fn piecewise_polynomial(&self) -> PiecewisePolynomial {
        if let Prior::Mixture(mixture) = self {
            // The two priors of a mixture have separate panels (intervals with one polynomial each). If they shared panels, all panels would have to
            // be as narrow as the narrower prior requires.
            let (mut main, mut uniform) =
                (mixture.main().piecewise_polynomial(), Prior::uniform().piecewise_polynomial());
            main.scale_by(1.0 - mixture.share());
            uniform.scale_by(mixture.share());
            main.base += uniform.base;
            main.segments.extend(uniform.segments);
            return main;
        }
        let (low, high) = self.logit_range();
        let kink = matches!(self, Prior::Triangular(_)).then(|| log_odds(self.mean()));
        let breaks: Vec<f64> = [low].into_iter().chain(kink).chain([high]).collect();
        let segments = breaks.windows(2).map(|ends| self.segment(ends[0], ends[1])).collect();
        PiecewisePolynomial { base: self.cdf_at(Probability::from_logit(low)), segments }
    }

    /// The lowest and the highest logit between which F rises from 0 to 1. Where the support ends at 0 or 1, its logit is infinite, and the logit
    /// beyond which the tail is negligible is used instead.
    fn logit_range(&self) -> (f64, f64) {
        let (low, high) = self.support();
        let cdf = |z: f64| self.cdf_at(Probability::from_logit(z));
        let below = first_logit(|z| cdf(z) > NEGLIGIBLE_PROBABILITY);
        let above = first_logit(|z| cdf(z) >= 1.0 - 2e-16);
        // The exact logit at which a tail is cut off does not matter. It is rounded such that f32 can represent the ends of all panels exactly.
        let step = 2f64.powf((above - below).log2().floor() - 4.0);
        let (first, last) = ((below / step).floor() * step, (above / step).ceil() * step);
        (if low > 0.0 { log_odds(low) } else { first }, if high < 1.0 { log_odds(high) } else { last })
    }

    /// The segment between two logits. It is divided into as many panels (intervals with one polynomial each) as the accuracy requires.
    fn segment(&self, low: f64, high: f64) -> Segment {
        let (mut panels, mut previous_error) = (8, f64::INFINITY);
        loop {
            let segment = self.segment_with_panels(low, high, panels);
            let error = self.relative_error(&segment);
            // Halving the width of the panels divides the error by about 256, until only the rounding error of the density is left.
            if panels >= MAX_PANELS || error <= DENSITY_TOLERANCE || (error < 1e-9 && error > 0.25 * previous_error) {
                return segment;
            }
            (panels, previous_error) = (2 * panels, error);
        }
    }

    /// The segment between two logits, divided into the given number of panels (intervals with one polynomial each).
    fn segment_with_panels(&self, low: f64, high: f64, panels: usize) -> Segment {
        let width = (high - low) / panels as f64;
        let start = self.cdf_at(Probability::from_logit(low));
        let panel = |number: usize| {
            let middle = low + (number as f64 + 0.5) * width;
            let density = interpolate(|s| self.logit_density(middle + 0.5 * width * s));
            let mut value = [0.0; COEFFICIENTS];
            for (power, coefficient) in density.iter().enumerate() {
                value[power + 1] = 0.5 * width * coefficient / (power as f64 + 1.0);
            }
            // The constant term makes F exact at the left end of the panel, so that no error accumulates from panel to panel.
            value[0] =
                self.cdf_at(Probability::from_logit(middle - 0.5 * width)) - start - polynomial_value(&value, -1.0);
            value
        };
        Segment { low, width, panels: (0..panels).map(panel).collect() }
    }

    /// The largest error of the density at points between the interpolation points, relative to the maximum of the density.
    fn relative_error(&self, segment: &Segment) -> f64 {
        let (mut worst, mut greatest) = (0.0f64, f64::MIN_POSITIVE);
        for (number, panel) in segment.panels.iter().enumerate() {
            for s in [-0.93, -0.4, 0.07, 0.55, 0.97] {
                let z = segment.low + (number as f64 + 0.5 * (1.0 + s)) * segment.width;
                let density = self.logit_density(z);
                worst = worst.max((polynomial_derivative(panel, s) * 2.0 / segment.width - density).abs());
                greatest = greatest.max(density);
            }
        }
        worst / greatest
    }
}

impl PiecewisePolynomial {
    /// Multiplies the distribution function by `share`, its weight in a mixture.
    fn scale_by(&mut self, share: f64) {
        self.base *= share;
        let panels = self.segments.iter_mut().flat_map(|segment| &mut segment.panels);
        panels.flatten().for_each(|coefficient| *coefficient *= share);
    }

    /// F(σ(z)) and its derivative with respect to z. They are computed from the polynomials, as a framework does on its own tensors.
    #[must_use]
    pub fn value_and_derivative(&self, z: f64) -> (f64, f64) {
        let (mut value, mut derivative) = (self.base, 0.0);
        for segment in &self.segments {
            let last = segment.panels.len() - 1;
            let position = (z - segment.low) / segment.width;
            let number = (position.max(0.0) as usize).min(last);
            let s = (2.0 * (position - number as f64) - 1.0).clamp(-1.0, 1.0);
            value += polynomial_value(&segment.panels[number], s);
            if position >= 0.0 && position < segment.panels.len() as f64 {
                derivative += polynomial_derivative(&segment.panels[number], s) * 2.0 / segment.width;
            }
        }
        (value, derivative)
    }
}

/// The logit ln(p / (1 − p)) of a probability p.
fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// The smallest logit at which `is_past` returns true, found by bisection. If `is_past` is true at one logit, it must be true at all larger ones.
fn first_logit(is_past: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-LARGEST_LOGIT, LARGEST_LOGIT);
    if is_past(low) {
        return low;
    }
    while high - low > 1e-6 * (high.abs() + low.abs()).max(1e-3) {
        let middle = 0.5 * (low + high);
        if is_past(middle) { high = middle } else { low = middle }
    }
    high
}

/// The polynomial that interpolates a function at the Chebyshev points of [−1, 1].
fn interpolate(function: impl Fn(f64) -> f64) -> [f64; INTERPOLATION_POINTS] {
    let node = |at: usize| -((2 * at + 1) as f64 * std::f64::consts::PI / (2 * INTERPOLATION_POINTS) as f64).cos();
    let nodes: [f64; INTERPOLATION_POINTS] = std::array::from_fn(node);
    let mut differences: [f64; INTERPOLATION_POINTS] = nodes.map(function);
    for order in 1..INTERPOLATION_POINTS {
        for at in (order..INTERPOLATION_POINTS).rev() {
            differences[at] = (differences[at] - differences[at - 1]) / (nodes[at] - nodes[at - order]);
        }
    }
    // Expands the Newton form of the interpolating polynomial into powers of s, starting with the innermost factor.
    let mut coefficients = [0.0; INTERPOLATION_POINTS];
    for at in (0..INTERPOLATION_POINTS).rev() {
        for power in (1..INTERPOLATION_POINTS).rev() {
            coefficients[power] = coefficients[power - 1] - nodes[at] * coefficients[power];
        }
        coefficients[0] = differences[at] - nodes[at] * coefficients[0];
    }
    coefficients
}

/// The value at s of a polynomial; `panel` contains its coefficients of 1, s, …, s⁸.
fn polynomial_value(panel: &[f64; COEFFICIENTS], s: f64) -> f64 {
    panel.iter().rev().fold(0.0, |sum, coefficient| sum * s + coefficient)
}

/// The derivative at s of a polynomial; `panel` contains its coefficients of 1, s, …, s⁸.
fn polynomial_derivative(panel: &[f64; COEFFICIENTS], s: f64) -> f64 {
    panel.iter().enumerate().skip(1).rev().fold(0.0, |sum, (power, coefficient)| sum * s + power as f64 * coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piecewise_polynomials_agree_with_the_prior_they_represent() {
        let more_priors = [
            "uniform:0.2,0.7",
            "cosine:0.5,0.5",
            "cosine:0.01,0.01",
            "cosine:0.3,0.001",
            "triangular:0.9,0.1",
            "quartic:0.5,0.5",
            "epanechnikov:0.05,0.05",
            "beta:0.5,0.5",
            "beta:0.1,3",
            "beta:200,900",
            "beta:1,1",
            "kumaraswamy:0.3,0.4",
            "kumaraswamy:30,60",
            "normal:0.5,3",
            "normal:0.02,0.004",
            "logistic:0.5,0.001",
            "mix:0.01,triangular:0.5,0.002",
        ];
        for text in super::super::FAMILIES.iter().map(|family| family.example).chain(more_priors) {
            let prior: Prior = text.parse().unwrap();
            let pieces = prior.piecewise_polynomial();
            let greatest = (-4000..4000).map(|at| prior.logit_density(f64::from(at) / 100.0)).fold(0.0, f64::max);
            let near_quantiles: Vec<f64> =
                (0..2000).map(|at| log_odds(prior.quantile((f64::from(at) + 0.5) / 2000.0))).collect();
            for z in (-6000..6000).map(|at| f64::from(at) / 100.0).chain(near_quantiles) {
                let (value, derivative) = pieces.value_and_derivative(z);
                let (cdf, density) = (prior.cdf_at(Probability::from_logit(z)), prior.logit_density(z));
                assert!((value - cdf).abs() < 2e-12, "{text} at {z}: F is {value}, expected {cdf}");
                assert!(
                    (derivative - density).abs() < 2e-12 * greatest.max(1.0),
                    "{text} at {z}: the derivative is {derivative}, expected {density}"
                );
            }
            let panels: usize = pieces.segments.iter().map(|segment| segment.panels.len()).sum();
            assert!(
                panels <= 4096,
                "{text} needs {panels} panels (intervals with one polynomial each), but at most 4096 are allowed"
            );
        }
    }
}
