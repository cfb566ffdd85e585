//! Predicts probabilities and labels of encoded rows.

use super::Model;
use crate::ensemble::mean_probabilities;
use crate::learner::Member;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Location, Result};

/// Applies a model to encoded rows. A table of any length can be predicted one chunk at a time.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    model: &'a Model,
    outputs: usize,
}

impl<'a> Predictor<'a> {
    /// A predictor for this model.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        Predictor { model, outputs: model.members.first().map_or(1, Member::outputs) }
    }

    /// Number of probabilities of a row: with two classes 1, the probability of the second class; with more, one for each class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The probabilities of the rows of an encoded matrix, row by row: the mean over the members of the sigmoid or softmax of
    /// their logits, in f64. `place` gives the position of a row in its file, for the error message about a row whose values overflow f32.
    ///
    /// # Panics
    /// If the number of columns is not that of the model's encoder.
    pub fn probabilities(&self, matrix: &Matrix, place: impl Fn(usize) -> Location) -> Result<Vec<f64>> {
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

    /// The labels of rows, given their probabilities.
    #[must_use]
    pub fn labels(&self, probabilities: &[f64]) -> Vec<u32> {
        probabilities.chunks_exact(self.outputs).map(|row| self.model.decision.label(row)).collect()
    }
}
