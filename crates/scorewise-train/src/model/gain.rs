//! How much the trees of a model use each column.

use super::Model;

impl Model {
    /// For each column of the table, its share in the sum of the gains of all splits of trees, in the order of the encoder. The gain of a split is
    /// twice the decrease of the second-order approximation of the training loss. Every member counts with its weight in the model, and the shares
    /// sum to 1. `None` if the model has no trees, or only trees of an older model file, which does not contain gains.
    #[must_use]
    pub fn gain_of_columns(&self) -> Option<Vec<(&str, f64)>> {
        let mut of_inputs = vec![0.0; self.encoder.width()];
        for (member, weight) in self.members.iter().zip(&self.weights) {
            for (sum, gain) in of_inputs.iter_mut().zip(member.gains_of_inputs().unwrap_or_default()) {
                *sum += weight * gain;
            }
        }
        let total: f64 = of_inputs.iter().sum();
        let share =
            |(name, inputs): (_, Vec<usize>)| (name, inputs.iter().map(|input| of_inputs[*input]).sum::<f64>() / total);
        (total > 0.0).then(|| self.encoder.matrix_columns().into_iter().map(share).collect())
    }
}
