//! Combines the learners of a plan into one forecast: the weighted mean of their calibrated logits, chosen by [`combine`] on out-of-fold predictions.

use std::ops::ControlFlow;

use scorewise_table::error::{Error, Result};

use super::combine::combine;
use super::prepare::LabelledTable;
use crate::ensemble::Ensemble;

/// The members that one learner has trained, and their predictions. Every row is predicted only by the members that were not trained on it.
pub(super) struct Candidate {
    pub ensemble: Ensemble,
    /// For each training run of the learner, whether its result is a member of the ensemble.
    pub is_used: Vec<bool>,
    /// Indices of the rows that were predicted, in ascending order.
    pub rows: Vec<u32>,
    /// The mean of the logits of the members for each row, or of their probabilities if there is only one learner.
    pub predictions: Vec<f64>,
}

/// The ensemble of all learners, and its predictions. Every row is predicted only by the members that were not trained on it.
pub(super) struct Pool {
    pub ensemble: Ensemble,
    /// Indices of the rows that were predicted, in ascending order.
    pub rows: Vec<u32>,
    /// The probabilities of each row, predicted by the members that were not trained on the row.
    pub probabilities: Vec<f64>,
}

/// Combines the predictions of the learners. All learners must have predicted the same rows.
pub(super) fn pool(labelled: &LabelledTable<'_>, classes: usize, mut candidates: Vec<Candidate>) -> Result<Pool> {
    let Some(rows) = candidates.first().map(|candidate| candidate.rows.clone()) else {
        return Err(Error::setting("training", "no training run has begun", ""));
    };
    let unpredicted = labelled.with_labels(&rows, Vec::new());
    let mut logits: Vec<Vec<f64>> =
        candidates.iter_mut().map(|candidate| std::mem::take(&mut candidate.predictions)).collect();
    // If the loss has a prior of the threshold, the logits are shifted so that the best threshold lies at the mean of the prior.
    let centre = labelled.plan.has_prior().then(|| labelled.plan.prior.mean());
    let proceed = || ControlFlow::Continue(());
    let combination = combine(
        &unpredicted,
        classes,
        &mut logits,
        (&labelled.plan.score, labelled.plan.temporal.as_ref()),
        centre,
        &proceed,
    )?;
    let (mut members, mut weights) = (Vec::new(), Vec::new());
    for ((candidate, weight), (scale, shift)) in
        candidates.into_iter().zip(combination.weights).zip(combination.calibrations)
    {
        let of_candidate = candidate.ensemble.members();
        weights.extend(vec![weight / of_candidate.len() as f64; of_candidate.len()]);
        members.extend(of_candidate.iter().cloned().map(|mut member| {
            member.rescale(scale, shift);
            member
        }));
    }
    let ensemble = Ensemble::of_logits(members, weights)?;
    Ok(Pool { ensemble, rows, probabilities: combination.probabilities })
}
