//! From encoded rows to probabilities and labels.

use rayon::prelude::*;
use scorewise::Real;

use super::Model;
use crate::engine::{Engine, Matrix};
use crate::error::{Error, Place, Result};

/// Rows that one thread takes at a time.
const ROWS: usize = 4096;

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
        let outputs = model.members.first().and_then(|member| member.shape().widths().last().copied());
        Predictor { model, outputs: outputs.unwrap_or(1) }
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
        let mut probabilities = vec![0.0; matrix.rows() * self.outputs];
        probabilities.par_chunks_mut(ROWS * self.outputs).enumerate().for_each(|(chunk, sums)| {
            let first = chunk * ROWS;
            let order: Vec<u32> = (first as u32..).take(sums.len() / self.outputs).collect();
            let mut logits = vec![0.0; sums.len()];
            for member in &self.model.members {
                Engine::new(member.shape()).forward(member, matrix, &order, &mut logits);
                for (sums, logits) in sums.chunks_exact_mut(self.outputs).zip(logits.chunks_exact(self.outputs)) {
                    add(sums, logits);
                }
            }
            let members = self.model.members.len() as f64;
            sums.iter_mut().for_each(|sum| *sum /= members);
        });
        match probabilities.iter().position(|p| p.is_nan()) {
            Some(bad) => {
                let problem = "its values are so large that the network's answer is not a number";
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

/// Adds the probabilities of a row's logits.
fn add(sums: &mut [f64], logits: &[f32]) {
    if let ([sum], [logit]) = (&mut *sums, logits) {
        *sum += f64::from(*logit).sigmoid().0;
        return;
    }
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exponential = |logit: &f32| (f64::from(*logit) - f64::from(greatest)).exp();
    let total: f64 = logits.iter().map(exponential).sum();
    for (sum, logit) in sums.iter_mut().zip(logits) {
        *sum += exponential(logit) / total;
    }
}
