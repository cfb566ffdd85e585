//! Calibrates the predictions of a model, on rows that its members were not trained on.

use scorewise::calibration::{CalibrationChoice, choose};
use scorewise::sweep::{BlockLength, Bootstrap, Resampling};
use scorewise::{Probabilities, Purpose, Rows, stream};
use scorewise_table::dependence::Dependence;
use scorewise_table::error::Result;

use super::finish::LabelledPredictions;

/// Chooses the calibration of a model with two classes, as [`choose`] describes. `held_out` holds predictions for rows that the members of the model
/// were not trained on. `seed` is the seed of the training.
pub(super) fn calibrate(held_out: &LabelledPredictions, seed: u64) -> Result<CalibrationChoice> {
    let seed = stream(seed, Purpose::Calibration, 0);
    let choose = |predictions: &[f64], labels: &[bool], weights: Option<&[f64]>, resampling: Resampling<'_>| {
        let rows = Rows::new(Probabilities(predictions), labels)?.with_weights(weights)?;
        choose(&rows, &Bootstrap { resampling, replicates: 1, seed })
    };
    let (labels, weights) = (held_out.positives(), held_out.weights.as_deref());
    Ok(match &held_out.dependence {
        Dependence::Independent => choose(&held_out.probabilities, &labels, weights, Resampling::Poisson),
        Dependence::Groups(groups) => choose(&held_out.probabilities, &labels, weights, Resampling::Groups(groups)),
        Dependence::Time { positions, block } => {
            // Folds of a time series are pieces of consecutive rows, so the rows are put into the order of time.
            let mut order: Vec<usize> = (0..positions.len()).collect();
            order.sort_by_key(|row| positions[*row]);
            let select = |numbers: &[f64]| order.iter().map(|row| numbers[*row]).collect::<Vec<f64>>();
            let labels: Vec<bool> = order.iter().map(|row| labels[*row]).collect();
            let length = BlockLength::Rows(block.unwrap_or(1));
            let weights = weights.map(select);
            choose(&select(&held_out.probabilities), &labels, weights.as_deref(), Resampling::Blocks(length))
        }
    }?)
}
