//! From encoded rows to probabilities and labels.

use super::Model;
use crate::ensemble::mean_probabilities;
use crate::learner::Member;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Place, Result};

/// Applies a model, chunk by chunk of a table of any length.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    model: &'a Model,
    outputs: usize,
}

impl<'a> Predictor<'a> {
    /// For a model.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        Predictor { model, outputs: model.members.first().map_or(1, Member::outputs) }
    }

    /// Probabilities of a row: 1 with two classes (that of the second), else one a class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The probabilities of the rows of an encoded matrix, row by row: the mean over the members of the sigmoid or softmax of
    /// their logits, in f64. `place` says where a row stands, for the message about one that is beyond what f32 can hold.
    ///
    /// # Panics
    /// Where the matrix has not the columns that the model's encoder gives.
    pub fn probabilities(&self, matrix: &Matrix, place: impl Fn(usize) -> Place) -> Result<Vec<f64>> {
        let rows: Vec<u32> = (0..matrix.rows() as u32).collect();
        let probabilities = mean_probabilities(&self.model.members, matrix, &rows);
        match probabilities.iter().position(|p| p.is_nan()) {
            Some(bad) => {
                let problem = "its values are so large that the prediction is not a number";
                Err(Error::data(place(bad / self.outputs), problem, "correct or remove the row"))
            }
            None => Ok(probabilities),
        }
    }

    /// The labels of rows, from their probabilities.
    #[must_use]
    pub fn labels(&self, probabilities: &[f64]) -> Vec<u32> {
        probabilities.chunks_exact(self.outputs).map(|row| self.model.decision.label(row)).collect()
    }
}
