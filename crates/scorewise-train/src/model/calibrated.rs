//! Turns raw predictions and their threshold into calibrated probabilities, and describes a calibration in the model file.
//!
//! The members, the prior and the decision rule of a model use raw predictions. Users see calibrated probabilities. The calibration is a strictly
//! increasing curve, so probabilities have the same order as raw predictions. Probabilities compared with the calibrated threshold give the same
//! labels as raw predictions compared with the raw threshold.

use std::borrow::Cow;

use scorewise::calibration::{Calibration, CalibrationMethod};
use serde::{Deserialize, Serialize};

use super::Model;

impl Model {
    /// Calibrates the raw predictions that [`Predictor::probabilities`](super::Predictor::probabilities) returns. If the model has no calibration,
    /// the raw predictions are returned.
    #[must_use]
    pub fn calibrated<'a>(&self, raw: &'a [f64]) -> Cow<'a, [f64]> {
        match (&self.calibration, self.decision.threshold()) {
            (Some(calibration), Some(threshold)) => Cow::Owned(calibration.probabilities(raw, threshold)),
            _ => Cow::Borrowed(raw),
        }
    }

    /// The threshold for calibrated probabilities: a row is predicted positive if its calibrated probability is greater. `None` with more than two
    /// classes. The threshold for raw predictions is [`Decision::threshold`](super::Decision::threshold).
    #[must_use]
    pub fn probability_threshold(&self) -> Option<f64> {
        let threshold = self.decision.threshold()?;
        Some(self.calibration.as_ref().map_or(threshold, |calibration| calibration.threshold(threshold)))
    }
}

/// A calibration in the JSON of the model file.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct CalibrationDescription {
    method: MethodName,
    /// Raw predictions and their calibrated probabilities.
    knots: Vec<(f64, f64)>,
}

/// The name of a calibration method in the model file.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum MethodName {
    Beta,
    Isotonic,
}

impl CalibrationDescription {
    /// The description of a calibration.
    pub fn new(calibration: &Calibration) -> Self {
        let method = match calibration.method() {
            CalibrationMethod::Beta => MethodName::Beta,
            CalibrationMethod::Isotonic => MethodName::Isotonic,
        };
        CalibrationDescription { method, knots: calibration.knots().to_vec() }
    }

    /// The calibration that is described. The error says what is wrong with the knots.
    pub fn calibration(self) -> Result<Calibration, String> {
        let method = match self.method {
            MethodName::Beta => CalibrationMethod::Beta,
            MethodName::Isotonic => CalibrationMethod::Isotonic,
        };
        Calibration::new(method, self.knots).map_err(|error| error.to_string())
    }
}
