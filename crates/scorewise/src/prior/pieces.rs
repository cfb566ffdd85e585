//! A prior as numbers that any host can evaluate: F(σ(z)) as polynomials of the logit z, piece by piece.
//!
//! Frameworks that compute on their own tensors need F(σ(z)) and its slope for every family, each with special functions and pitfalls of
//! its own near the ends of [0, 1]. A polynomial has none: written once here, every host evaluates every prior, present and future,
//! by one lookup and Horner's rule, to about 1e-12 of what [`Prior::cdf_at`] and [`Prior::logit_density`] say.
//!
//! ```text
//! F(σ(z)) = base + Σ over stretches of Vᵢ(s)        i = the panel that z lies in, s = 2 (z − its middle)/width ∈ [−1, 1]
//! ```
//!
//! Before a stretch its part is 0, after it what its last panel ends with. The slope dF/dz is the derivative of the very same polynomials.

use super::{Chance, Prior};

/// Coefficients of a panel: of 1, s, …, s⁸.
pub const COEFFICIENTS: usize = 9;
/// Points of a panel at which the density is met exactly.
const NODES: usize = COEFFICIENTS - 1;
/// Below this F counts as 0, and above 1 less the like as 1.
const NOTHING: f64 = 1e-17;
/// Beyond these logits σ underflows.
const FARTHEST: f64 = 700.0;
const MOST_PANELS: usize = 1 << 13;
/// How far the density may be off between the nodes, by its greatest.
const TOLERANCE: f64 = 2e-14;

/// A prior as numbers: F(σ(z)) = base + Σ over stretches of Vᵢ(s), with i the panel that z lies in and s = 2 (z − its middle)/width.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// F before all stretches; 0 but where a tail is too heavy to end.
    pub base: f64,
    /// The stretches, whose parts add up.
    pub stretches: Vec<Stretch>,
}

/// A stretch of logits, divided into panels of one width.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// The logit it begins at.
    pub low: f64,
    /// The width of a panel.
    pub width: f64,
    /// The coefficients of each panel, by 1, s, …, s⁸.
    pub panels: Vec<[f64; COEFFICIENTS]>,
}

impl Prior {
    /// The prior as polynomials of the logit.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        if let Prior::Mixture(mixture) = self {
            // Two scales in one stretch would need the panels of the finer one everywhere.
            let (mut main, mut uniform) = (mixture.main().pieces(), Prior::uniform().pieces());
            main.scale(1.0 - mixture.share());
            uniform.scale(mixture.share());
            main.base += uniform.base;
            main.stretches.extend(uniform.stretches);
            return main;
        }
        let (low, high) = self.ends();
        let kink = matches!(self, Prior::Triangular(_)).then(|| log_odds(self.mean()));
        let breaks: Vec<f64> = [low].into_iter().chain(kink).chain([high]).collect();
        let stretches = breaks.windows(2).map(|ends| self.stretch(ends[0], ends[1])).collect();
        Pieces { base: self.cdf_at(Chance::from_logit(low)), stretches }
    }

    /// The logits between which F rises from 0 to 1: the support's ends, or where a tail has run out.
    fn ends(&self) -> (f64, f64) {
        let (low, high) = self.support();
        let cdf = |z: f64| self.cdf_at(Chance::from_logit(z));
        let below = first(|z| cdf(z) > NOTHING);
        let above = first(|z| cdf(z) >= 1.0 - 2e-16);
        // Where a tail ends is a matter of taste, so it ends at a number that panels, and f32, divide without rounding.
        let grain = 2f64.powf((above - below).log2().floor() - 4.0);
        let (first, last) = ((below / grain).floor() * grain, (above / grain).ceil() * grain);
        (if low > 0.0 { log_odds(low) } else { first }, if high < 1.0 { log_odds(high) } else { last })
    }

    fn stretch(&self, low: f64, high: f64) -> Stretch {
        let (mut panels, mut before) = (8, f64::INFINITY);
        loop {
            let stretch = self.divided(low, high, panels);
            let error = self.error(&stretch);
            // Halved panels are 256 times better until what is left is the rounding of the density itself.
            if panels >= MOST_PANELS || error <= TOLERANCE || (error < 1e-9 && error > 0.25 * before) {
                return stretch;
            }
            (panels, before) = (2 * panels, error);
        }
    }

    fn divided(&self, low: f64, high: f64, panels: usize) -> Stretch {
        let width = (high - low) / panels as f64;
        let start = self.cdf_at(Chance::from_logit(low));
        let panel = |number: usize| {
            let middle = low + (number as f64 + 0.5) * width;
            let density = through(|s| self.logit_density(middle + 0.5 * width * s));
            let mut value = [0.0; COEFFICIENTS];
            for (power, coefficient) in density.iter().enumerate() {
                value[power + 1] = 0.5 * width * coefficient / (power as f64 + 1.0);
            }
            // The integral begins with what F is at the panel's left end, so that no error is carried from panel to panel.
            value[0] = self.cdf_at(Chance::from_logit(middle - 0.5 * width)) - start - at(&value, -1.0);
            value
        };
        Stretch { low, width, panels: (0..panels).map(panel).collect() }
    }

    /// The greatest error of the density between the nodes, by the greatest density.
    fn error(&self, stretch: &Stretch) -> f64 {
        let (mut worst, mut greatest) = (0.0f64, f64::MIN_POSITIVE);
        for (number, panel) in stretch.panels.iter().enumerate() {
            for s in [-0.93, -0.4, 0.07, 0.55, 0.97] {
                let z = stretch.low + (number as f64 + 0.5 * (1.0 + s)) * stretch.width;
                let density = self.logit_density(z);
                worst = worst.max((slope(panel, s) * 2.0 / stretch.width - density).abs());
                greatest = greatest.max(density);
            }
        }
        worst / greatest
    }
}

impl Pieces {
    fn scale(&mut self, share: f64) {
        self.base *= share;
        let panels = self.stretches.iter_mut().flat_map(|stretch| &mut stretch.panels);
        panels.flatten().for_each(|coefficient| *coefficient *= share);
    }

    /// F(σ(z)) and dF/dz as a host computes them.
    #[must_use]
    pub fn value_and_slope(&self, z: f64) -> (f64, f64) {
        let (mut value, mut rise) = (self.base, 0.0);
        for stretch in &self.stretches {
            let last = stretch.panels.len() - 1;
            let place = (z - stretch.low) / stretch.width;
            let number = (place.max(0.0) as usize).min(last);
            let s = (2.0 * (place - number as f64) - 1.0).clamp(-1.0, 1.0);
            value += at(&stretch.panels[number], s);
            if place >= 0.0 && place < stretch.panels.len() as f64 {
                rise += slope(&stretch.panels[number], s) * 2.0 / stretch.width;
            }
        }
        (value, rise)
    }
}

fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// The first logit at which something that stays true begins to be.
fn first(is_past: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    if is_past(low) {
        return low;
    }
    while high - low > 1e-6 * (high.abs() + low.abs()).max(1e-3) {
        let middle = 0.5 * (low + high);
        if is_past(middle) { high = middle } else { low = middle }
    }
    high
}

/// The polynomial that meets a function at Chebyshev's points of [−1, 1].
fn through(function: impl Fn(f64) -> f64) -> [f64; NODES] {
    let node = |at: usize| -((2 * at + 1) as f64 * std::f64::consts::PI / (2 * NODES) as f64).cos();
    let nodes: [f64; NODES] = std::array::from_fn(node);
    let mut differences: [f64; NODES] = nodes.map(function);
    for order in 1..NODES {
        for at in (order..NODES).rev() {
            differences[at] = (differences[at] - differences[at - 1]) / (nodes[at] - nodes[at - order]);
        }
    }
    // Newton's form, multiplied out from the innermost bracket.
    let mut coefficients = [0.0; NODES];
    for at in (0..NODES).rev() {
        for power in (1..NODES).rev() {
            coefficients[power] = coefficients[power - 1] - nodes[at] * coefficients[power];
        }
        coefficients[0] = differences[at] - nodes[at] * coefficients[0];
    }
    coefficients
}

fn at(panel: &[f64; COEFFICIENTS], s: f64) -> f64 {
    panel.iter().rev().fold(0.0, |sum, coefficient| sum * s + coefficient)
}

fn slope(panel: &[f64; COEFFICIENTS], s: f64) -> f64 {
    panel.iter().enumerate().skip(1).rev().fold(0.0, |sum, (power, coefficient)| sum * s + power as f64 * coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_say_what_the_prior_says() {
        let more = [
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
        for text in super::super::FAMILIES.iter().map(|family| family.example).chain(more) {
            let prior: Prior = text.parse().unwrap();
            let pieces = prior.pieces();
            let greatest = (-4000..4000).map(|at| prior.logit_density(f64::from(at) / 100.0)).fold(0.0, f64::max);
            let near: Vec<f64> = (0..2000).map(|at| log_odds(prior.quantile((f64::from(at) + 0.5) / 2000.0))).collect();
            for z in (-6000..6000).map(|at| f64::from(at) / 100.0).chain(near) {
                let (value, slope) = pieces.value_and_slope(z);
                let (cdf, density) = (prior.cdf_at(Chance::from_logit(z)), prior.logit_density(z));
                assert!((value - cdf).abs() < 2e-12, "{text} at {z}: F {value} for {cdf}");
                assert!(
                    (slope - density).abs() < 2e-12 * greatest.max(1.0),
                    "{text} at {z}: slope {slope} for {density}"
                );
            }
            let panels: usize = pieces.stretches.iter().map(|stretch| stretch.panels.len()).sum();
            assert!(panels <= 4096, "{text} needs {panels} panels");
        }
    }
}
