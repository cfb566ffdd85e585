//! Predicts probabilities and labels of encoded rows.

use super::Model;
use crate::ensemble::mean_probabilities;
use crate::learner::Member;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Location, Result};

/// Applies a model to encoded rows. A table that is too large for memory can be predicted one chunk at a time.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    model: &'a Model,
    outputs: usize,
}

impl<'a> Predictor<'a> {
    /// Creates a predictor that applies `model`.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        Predictor { model, outputs: model.members.first().map_or(1, Member::outputs) }
    }

    /// Number of probabilities that are predicted for a row: with two classes 1, because only the probability of the second class is predicted;
    /// otherwise the number of classes.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The probabilities of the rows of an encoded matrix, row by row: the weighted mean of the members' predictions, as [`Model::mean`] says,
    /// computed in f64. If the values of a row overflow f32, the error message names the location that `place` returns for this row.
    ///
    /// # Panics
    /// If the number of columns of the matrix differs from the number that the model's encoder produces.
    pub fn probabilities(&self, matrix: &Matrix, place: impl Fn(usize) -> Location) -> Result<Vec<f64>> {
        let rows: Vec<u32> = (0..matrix.rows() as u32).collect();
        let probabilities =
            mean_probabilities(&self.model.members, &self.model.weights, self.model.mean, matrix, &rows);
        match probabilities.iter().position(|p| p.is_nan()) {
            Some(bad) => {
                let problem = "its values are so large that the prediction is not a number";
                Err(Error::data(place(bad / self.outputs), problem, "correct or remove the row"))
            }
            None => Ok(probabilities),
        }
    }

    /// The labels of rows. `probabilities` must have the form in which [`Predictor::probabilities`] returns the probabilities of these rows.
    #[must_use]
    pub fn labels(&self, probabilities: &[f64]) -> Vec<u32> {
        probabilities.chunks_exact(self.outputs).map(|row| self.model.decision.label(row)).collect()
    }
}
