//! The rows of one training: a matrix with its labels, and which rows are trained on and which validate.

use scorewise_table::Matrix;
use scorewise_table::error::{Error, Result};

/// The rows of one training, borrowed: many trainings share one matrix.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The features.
    pub matrix: &'a Matrix,
    /// The class of each row of the matrix, from 0; with two classes 1 is the positive one.
    pub labels: &'a [u32],
    /// Number of classes.
    pub classes: usize,
    /// One weight for each row of the matrix, if there are any.
    pub weights: Option<&'a [f32]>,
    /// Rows that are trained on.
    pub training: &'a [u32],
    /// Rows that decide when to stop.
    pub validation: &'a [u32],
}

impl Sample<'_> {
    /// Total weight of each class among the training rows, for a balanced cross-entropy.
    #[must_use]
    pub fn class_weights(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes];
        for row in self.training.iter().map(|row| *row as usize) {
            if let Some(sum) = sums.get_mut(self.labels[row] as usize) {
                *sum += self.weights.map_or(1.0, |weights| f64::from(weights[row]));
            }
        }
        sums
    }

    /// Checks that labels, weights and row numbers fit the matrix.
    pub(crate) fn check(&self) -> Result<()> {
        let rows = self.matrix.rows();
        let refuse = |what: &str, problem: String| Err(Error::setting(what, problem, ""));
        for (what, got) in [("labels", self.labels.len()), ("weights", self.weights.map_or(rows, <[f32]>::len))] {
            if got != rows {
                return Err(scorewise::Error::LengthMismatch { what, expected: rows, got }.into());
            }
        }
        if self.training.is_empty() || self.validation.is_empty() {
            return Err(scorewise::Error::Empty.into());
        }
        for row in self.training.iter().chain(self.validation).map(|row| *row as usize) {
            if row >= rows {
                return refuse("rows", format!("row numbers must be below {rows}, not {row}"));
            }
            if self.labels[row] as usize >= self.classes {
                let (class, last) = (self.labels[row], self.classes - 1);
                return refuse("labels", format!("row {row} has class {class}, and the classes are 0 to {last}"));
            }
            if let Some(weight) = self.weights.map(|weights| weights[row])
                && !(0.0..f32::INFINITY).contains(&weight)
            {
                return refuse("weights", format!("row {row} has weight {weight}; weights are 0 or above"));
            }
        }
        Ok(())
    }
}
