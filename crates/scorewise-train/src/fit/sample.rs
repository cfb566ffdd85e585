//! The data of a training: a matrix with its labels, and which rows are for steps and which for validation.

use super::objective::Objective;
use crate::net::Shape;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Result};
use scorewise_table::split::Hand;

/// The data of a training, borrowed: many trainings share one matrix.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The features.
    pub matrix: &'a Matrix,
    /// The class of each row of the matrix, from 0; with two classes 1 is the positive one.
    pub labels: &'a [u32],
    /// One weight a row of the matrix, where there are any.
    pub weights: Option<&'a [f32]>,
    /// Rows to learn from.
    pub training: &'a [u32],
    /// Rows to stop by.
    pub validation: &'a [u32],
}

impl<'a> Sample<'a> {
    /// The same data with the rows of a hand.
    #[must_use]
    pub fn with(self, hand: &'a Hand) -> Self {
        Sample { training: &hand.training, validation: &hand.validation, ..self }
    }

    /// The weight of each class among the rows to learn from: what a balanced cross-entropy needs to know.
    #[must_use]
    pub fn class_weights(&self, classes: usize) -> Vec<f64> {
        let mut sums = vec![0.0; classes];
        for row in self.training.iter().map(|row| *row as usize) {
            if let Some(sum) = sums.get_mut(self.labels[row] as usize) {
                *sum += self.weights.map_or(1.0, |weights| f64::from(weights[row]));
            }
        }
        sums
    }

    /// Whether all of it fits together, looked at once.
    pub(super) fn check(&self, shape: &Shape, objective: &Objective) -> Result<()> {
        let rows = self.matrix.rows();
        let refuse = |what: &str, problem: String| Err(Error::setting(what, problem, ""));
        let (inputs, outputs) = (shape.widths()[0], shape.widths()[shape.widths().len() - 1]);
        if inputs != self.matrix.columns() {
            return refuse("network", format!("has {inputs} inputs for {} features", self.matrix.columns()));
        }
        if objective.is_binary() != (outputs == 1) {
            let wanted = if objective.is_binary() { "one output for two classes" } else { "an output for each class" };
            return refuse("network", format!("must have {wanted}, not {outputs}"));
        }
        for (what, got) in [("labels", self.labels.len()), ("weights", self.weights.map_or(rows, <[f32]>::len))] {
            if got != rows {
                return Err(scorewise::Error::LengthMismatch { what, expected: rows, got }.into());
            }
        }
        if self.training.is_empty() || self.validation.is_empty() {
            return Err(scorewise::Error::Empty.into());
        }
        let classes = outputs.max(2);
        for row in self.training.iter().chain(self.validation).map(|row| *row as usize) {
            if row >= rows {
                return refuse("rows", format!("must lie below {rows}, and {row} does not"));
            }
            if self.labels[row] as usize >= classes {
                let problem =
                    format!("row {row} is of class {}, and the classes are 0 to {}", self.labels[row], classes - 1);
                return refuse("labels", problem);
            }
            if let Some(weight) = self.weights.map(|weights| weights[row])
                && !(0.0..f32::INFINITY).contains(&weight)
            {
                return refuse("weights", format!("row {row} weighs {weight}, and weights are 0 or above"));
            }
        }
        Ok(())
    }
}
