//! Calibration: a strictly increasing curve that turns the predictions of a classifier into probabilities.
//!
//! A classifier that was trained for a score separates the classes at its threshold, but its predictions are not probabilities: of the rows with the
//! prediction 0.7, any share may be positive. A calibration maps predictions to shares, without changing the order of two predictions or the class
//! that is predicted for a row. It is a piecewise linear curve through knots (p, c): a prediction p has the calibrated probability c.
//!
//! ```text
//! c(p) = cᵢ + (p − pᵢ) (cᵢ₊₁ − cᵢ)/(pᵢ₊₁ − pᵢ)        pᵢ ≤ p < pᵢ₊₁, with p₁ = 0 and the last p = 1
//! ```
//!
//! The operations of this formula are monotone in floating-point arithmetic too: a greater prediction never gets a smaller probability. Only
//! predictions that differ by less than about 10⁻¹² may get the same probability. [`Calibration::probability`] makes sure that this never changes the
//! predicted class of a row.
//!
//! [`choose`] fits two kinds of curves: beta calibration (`beta`), which has three parameters and needs few rows, and isotonic regression
//! (`isotonic`), which can take any increasing shape and needs many rows. [`choose`] returns the curve with the lower log-loss on rows that were not
//! used to fit it, or no curve if the log-loss is lowest without calibration.
//!
//! ```
//! use scorewise::calibration::{Calibration, CalibrationMethod};
//!
//! let knots = vec![(0.0, 0.0), (0.5, 0.1), (1.0, 0.9)];
//! let calibration = Calibration::new(CalibrationMethod::Isotonic, knots)?;
//! let threshold = 0.5;
//! assert_eq!(calibration.threshold(threshold), 0.1);
//! assert_eq!(calibration.probability(0.25, threshold), 0.05);
//! # Ok::<(), scorewise::Error>(())
//! ```

pub(crate) mod isotonic;
mod beta;
mod bins;
mod choice;

use std::fmt;

pub use choice::{CalibrationChoice, CalibrationLosses, choose};

use crate::error::{Error, Result};

/// Maximum number of knots of a calibration. Fitted calibrations have a few dozen to a few hundred.
pub const MAX_KNOTS: usize = 10_000;

/// The kind of curve that was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationMethod {
    /// Beta calibration, a curve with three parameters.
    Beta,
    /// Isotonic regression, whose steps are joined by straight lines.
    Isotonic,
}

impl CalibrationMethod {
    /// All methods.
    pub const ALL: [CalibrationMethod; 2] = [CalibrationMethod::Beta, CalibrationMethod::Isotonic];

    /// The name of the method: `beta` or `isotonic`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CalibrationMethod::Beta => "beta",
            CalibrationMethod::Isotonic => "isotonic",
        }
    }
}

impl fmt::Display for CalibrationMethod {
    /// Writes the name of the method.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A strictly increasing curve from predictions to probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    method: CalibrationMethod,
    /// Predictions and their calibrated probabilities. Both increase strictly; the predictions begin with 0 and end with 1.
    knots: Vec<(f64, f64)>,
}

impl Calibration {
    /// A curve through these knots, each a prediction and its calibrated probability. Both must increase strictly and lie between 0 and 1; the first
    /// prediction must be 0 and the last 1.
    pub fn new(method: CalibrationMethod, knots: Vec<(f64, f64)>) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Setting { what: "calibration", reason });
        if !(2..=MAX_KNOTS).contains(&knots.len()) {
            return refuse(format!("must have 2 to {MAX_KNOTS} knots, not {}", knots.len()));
        }
        let is_probability = |value: f64| (0.0..=1.0).contains(&value);
        if let Some((p, c)) = knots.iter().find(|(p, c)| !is_probability(*p) || !is_probability(*c)) {
            return refuse(format!("both numbers of the knot ({p}, {c}) must lie between 0 and 1"));
        }
        // Knots that are extremely close together would have a slope that is not finite.
        let is_steep = |pair: &[(f64, f64)]| !((pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)).is_finite();
        let is_ascending = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
        if let Some(pair) = knots.windows(2).find(|pair| !is_ascending(pair) || is_steep(pair)) {
            let [(p, c), (next_p, next_c)] = [pair[0], pair[1]];
            let reason = "its knots must increase and have finite slopes";
            return refuse(format!("{reason}, but ({next_p}, {next_c}) follows ({p}, {c})"));
        }
        if knots[0].0 != 0.0 || knots[knots.len() - 1].0 != 1.0 {
            return refuse("the predictions of its knots must begin with 0 and end with 1".into());
        }
        Ok(Calibration { method, knots })
    }

    /// The kind of curve.
    #[must_use]
    pub fn method(&self) -> CalibrationMethod {
        self.method
    }

    /// Predictions and their calibrated probabilities, in ascending order.
    #[must_use]
    pub fn knots(&self) -> &[(f64, f64)] {
        &self.knots
    }

    /// The slopes of the lines between neighbouring knots.
    #[must_use]
    pub fn slopes(&self) -> Vec<f64> {
        self.knots.windows(2).map(slope).collect()
    }

    /// The calibrated probability of a prediction for a classifier that predicts the positive class above `threshold`. It is above
    /// [`Calibration::threshold`] exactly if the prediction is above `threshold`.
    #[must_use]
    pub fn probability(&self, prediction: f64, threshold: f64) -> f64 {
        let [at_most, at_least] = self.limits(threshold);
        let value = self.on_curve(prediction);
        if crate::is_positive(prediction, threshold) { value.max(at_least) } else { value.min(at_most) }
    }

    /// The calibrated probability of each prediction; see [`Calibration::probability`].
    #[must_use]
    pub fn probabilities(&self, predictions: &[f64], threshold: f64) -> Vec<f64> {
        predictions.iter().map(|prediction| self.probability(*prediction, threshold)).collect()
    }

    /// The threshold on the scale of calibrated probabilities that separates the same rows as `threshold` does on the scale of predictions.
    #[must_use]
    pub fn threshold(&self, threshold: f64) -> f64 {
        self.limits(threshold)[0]
    }

    /// The calibrated threshold and the next greater number. A negative prediction has at most the first number as its calibrated probability, a
    /// positive prediction at least the second.
    #[must_use]
    pub fn limits(&self, threshold: f64) -> [f64; 2] {
        // The calibrated threshold stays below 1, so that the next greater number is a probability too.
        let calibrated = self.on_curve(threshold).min(1.0f64.next_down());
        [calibrated, calibrated.next_up()]
    }

    /// The point of the curve at a prediction; a prediction outside [0, 1] is treated as the nearest number inside.
    fn on_curve(&self, prediction: f64) -> f64 {
        let after = self.knots.partition_point(|(p, _)| *p <= prediction).clamp(1, self.knots.len() - 1);
        let ((p, c), (_, next)) = (self.knots[after - 1], self.knots[after]);
        (c + (prediction - p).max(0.0) * slope(&self.knots[after - 1..=after])).min(next)
    }
}

/// The slope of the line between two knots.
fn slope(pair: &[(f64, f64)]) -> f64 {
    (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)
}

/// At a knot, the calibrated probability is a weighted mean of the fitted value and the prediction. This is the weight of the prediction. It makes
/// the curve strictly increasing even where the fitted values are equal.
const SHARE_OF_PREDICTION: f64 = 1e-5;

/// A calibration through fitted points: logits of predictions in ascending order, and probabilities that do not decrease. At prediction 0, the curve
/// is halfway between 0 and the probability of the first point; at prediction 1, it is halfway between the probability of the last point and 1.
fn through_points(method: CalibrationMethod, points: impl Iterator<Item = (f64, f64)>) -> Result<Calibration> {
    let mut knots = vec![(0.0, 0.0)];
    for (logit, value) in points {
        let p = crate::prior::Probability::from_logit(logit).p;
        let c = (1.0 - SHARE_OF_PREDICTION) * value + SHARE_OF_PREDICTION * p;
        let last = knots[knots.len() - 1];
        if p > last.0 && p < 1.0 && c > last.1 && c < 1.0 {
            knots.push((p, c));
        }
    }
    let (first, last) = (knots.get(1).map_or(0.0, |knot| knot.1), knots[knots.len() - 1].1);
    knots[0].1 = 0.5 * first;
    knots.push((1.0, 0.5 * (1.0 + last)));
    Calibration::new(method, knots)
}
