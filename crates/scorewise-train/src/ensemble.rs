//! Ensembles, which average the probabilities or the logits of their members. A single fitted model is an ensemble with one member.

use std::borrow::Borrow;

use rayon::prelude::*;
use scorewise::multiclass::softmax;
use scorewise::prior::Probability;
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Result};

use serde::{Deserialize, Serialize};

use crate::fit::{Fit, Sample};
use crate::learner::{LogitEngine, Member};

/// Maximum number of members of an ensemble. All members are held in memory and stored in the model file, and beyond a few dozen of them
/// the mean of their probabilities hardly changes.
pub const MAX_MEMBERS: usize = 1000;

/// Checks that the number of members of an ensemble is between 1 and [`MAX_MEMBERS`].
pub fn check_members(members: usize) -> Result<()> {
    match members {
        0 => Err(Error::setting("ensemble", "must be at least 1, not 0", "")),
        1..=MAX_MEMBERS => Ok(()),
        _ => {
            let problem = format!("must be at most {MAX_MEMBERS}, not {members}");
            Err(Error::setting("ensemble", problem, "5 to 20 members are usual; more members hardly change the mean"))
        }
    }
}

/// Number of rows that a thread predicts at a time.
const ROWS_PER_BLOCK: usize = 1024;

/// What an ensemble averages: the probabilities or the logits of its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeanOf {
    /// The mean of the probabilities of the members. Used if one learner trained all of them.
    #[default]
    Probabilities,
    /// The sigmoid or softmax of the mean of the logits of the members. Used if several learners trained them.
    Logits,
}

/// Fitted models whose predictions are averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    members: Vec<Member>,
    /// The weight of each member in the mean.
    weights: Vec<f64>,
    mean: MeanOf,
}

impl Ensemble {
    /// Creates an ensemble that averages the probabilities of its members with equal weights. It is an error if there are no members, or if they
    /// differ in their number of inputs or outputs.
    pub fn new(members: Vec<Member>) -> Result<Self> {
        let refuse = |problem: &str| Err(Error::setting("ensemble", problem, ""));
        let Some(first) = members.first() else { return refuse("has no members") };
        let widths = |member: &Member| (member.inputs(), member.outputs());
        if members.iter().any(|member| widths(member) != widths(first)) {
            return refuse("has members with different numbers of inputs or outputs");
        }
        let weights = vec![1.0; members.len()];
        Ok(Ensemble { members, weights, mean: MeanOf::Probabilities })
    }

    /// Creates an ensemble that averages the logits of its members with the given weights. There must be one positive weight for each member, and all
    /// members must have the same number of inputs and the same number of outputs; otherwise an error is returned.
    pub fn of_logits(members: Vec<Member>, weights: Vec<f64>) -> Result<Self> {
        check_weights(&weights, members.len()).map_err(|problem| Error::setting("ensemble", problem, ""))?;
        Ok(Ensemble { weights, mean: MeanOf::Logits, ..Ensemble::new(members)? })
    }

    /// Creates an ensemble from the members whose training runs learnt something ([`Fit::success`]), or from all members if none of the runs did. A
    /// member that learnt nothing is left out, because its predictions would distort the mean probability of every row.
    pub fn of_fits<F: Borrow<Fit>>(fits: &[F]) -> Result<Self> {
        Ensemble::new(fits_to_use(fits).map(|fit| fit.member.clone()).collect())
    }

    /// The members of the ensemble.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The weight of each member in the mean. The weights need not sum to 1.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What is averaged: the probabilities or the logits of the members.
    #[must_use]
    pub fn mean(&self) -> MeanOf {
        self.mean
    }

    /// Number of probabilities that are predicted for a row: 1 for two classes, otherwise the number of classes.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.members[0].outputs()
    }

    /// The probabilities that the ensemble predicts for the given rows of a matrix, in the order of `rows`. With two classes there is one number
    /// for each row, the probability of the positive class; with more classes there is one number for each row and class, row by row.
    ///
    /// Runs on the threads of the current rayon pool. Every row is computed independently of the other rows, so the number of threads does not
    /// change the result.
    ///
    /// # Panics
    /// If the number of columns of the matrix differs from the number of inputs of the members, or if the matrix lacks one of the rows.
    #[must_use]
    pub fn probabilities(&self, matrix: &Matrix, rows: &[u32]) -> Vec<f64> {
        mean_probabilities(&self.members, &self.weights, self.mean, matrix, rows)
    }
}

/// The training results that an ensemble uses if all members have the same validation rows: those of runs that learnt something, or all results if
/// no run did.
fn fits_to_use<F: Borrow<Fit>>(fits: &[F]) -> impl Iterator<Item = &Fit> {
    let some_succeeded = fits.iter().any(|fit| fit.borrow().success);
    fits.iter().map(Borrow::borrow).filter(move |fit| fit.success || !some_succeeded)
}

/// For each training run of a learner, whether its result becomes a member of the ensemble. Normally only the results of runs that learnt something
/// become members; but if a validation row would then have no prediction, the results of all runs do. `samples` has one entry for each element of
/// `fits`.
pub(crate) fn is_used<F: Borrow<Fit>>(fits: &[F], samples: &[Sample<'_>]) -> Vec<bool> {
    let rows = samples.first().map_or(0, |sample| sample.matrix.rows());
    let (mut is_predicted, mut is_needed) = (vec![false; rows], vec![false; rows]);
    for (fit, sample) in fits.iter().zip(samples) {
        for row in sample.validation {
            is_needed[*row as usize] = true;
            is_predicted[*row as usize] |= fit.borrow().success;
        }
    }
    fits.iter().map(|fit| fit.borrow().success || is_predicted != is_needed).collect()
}

/// Predictions of validation rows: the row indices in ascending order, and the mean probabilities of each row. The mean is taken only over the
/// members for which the row is a validation row, because they were not trained on the row. `samples` has one entry for each element of `fits`.
#[must_use]
pub fn held_out_probabilities<F: Borrow<Fit>>(fits: &[F], samples: &[Sample<'_>]) -> (Vec<u32>, Vec<f64>) {
    let used = fits.iter().zip(samples).zip(is_used(fits, samples)).filter(|(_, is_used)| *is_used);
    let (fits, samples): (Vec<&Fit>, Vec<Sample<'_>>) = used.map(|((fit, sample), _)| (fit.borrow(), *sample)).unzip();
    held_out_means(&fits, &samples, MeanOf::Probabilities)
}

/// The row indices and the mean probabilities or logits of validation rows, as [`held_out_probabilities`] returns them, except that members that
/// learnt nothing are included in the means.
pub(crate) fn held_out_means<F: Borrow<Fit>>(fits: &[F], samples: &[Sample<'_>], mean: MeanOf) -> (Vec<u32>, Vec<f64>) {
    let (Some(matrix), Some(outputs)) =
        (samples.first().map(|sample| sample.matrix), fits.first().map(|fit| fit.borrow().member.outputs()))
    else {
        return (Vec::new(), Vec::new());
    };
    let (mut sums, mut counts) = (vec![0.0; matrix.rows() * outputs], vec![0u32; matrix.rows()]);
    for (fit, sample) in fits.iter().zip(samples) {
        let (fit, validation) = (fit.borrow(), sample.validation);
        let predictions = weighted_means(std::slice::from_ref(&fit.member), &[1.0], mean, matrix, validation);
        for (row, predictions) in validation.iter().zip(predictions.chunks_exact(outputs)) {
            let row = *row as usize;
            counts[row] += 1;
            sums[row * outputs..][..outputs]
                .iter_mut()
                .zip(predictions)
                .for_each(|(sum, prediction)| *sum += prediction);
        }
    }
    let rows: Vec<u32> = (0..matrix.rows() as u32).filter(|row| counts[*row as usize] > 0).collect();
    let row_means = |row: &u32| {
        let (row, count) = (*row as usize, f64::from(counts[*row as usize]));
        sums[row * outputs..][..outputs].iter().map(move |sum| sum / count)
    };
    let means = rows.iter().flat_map(row_means).collect();
    (rows, means)
}

/// The probabilities that an ensemble with these members and weights predicts for each row, in the same order as those that
/// [`Ensemble::probabilities`] returns. All members must have the same number of outputs.
pub(crate) fn mean_probabilities(
    members: &[Member],
    weights: &[f64],
    mean: MeanOf,
    matrix: &Matrix,
    rows: &[u32],
) -> Vec<f64> {
    let mut means = weighted_means(members, weights, mean, matrix, rows);
    if mean == MeanOf::Logits {
        to_probabilities(&mut means, members.first().map_or(1, Member::outputs));
    }
    means
}

/// Replaces logits by probabilities: the sigmoid if a row has one logit, otherwise the softmax.
pub(crate) fn to_probabilities(logits: &mut [f64], outputs: usize) {
    if outputs == 1 {
        logits.iter_mut().for_each(|logit| *logit = Probability::from_logit(*logit).p);
        return;
    }
    let mut probabilities = vec![0.0; outputs];
    for logits in logits.chunks_exact_mut(outputs) {
        softmax(logits, &mut probabilities);
        logits.copy_from_slice(&probabilities);
    }
}

/// For each row, the weighted mean of the probabilities or of the logits of the members.
fn weighted_means(members: &[Member], weights: &[f64], mean: MeanOf, matrix: &Matrix, rows: &[u32]) -> Vec<f64> {
    let Some(outputs) = members.first().map(Member::outputs) else { return Vec::new() };
    let mut means = vec![0.0; rows.len() * outputs];
    let total: f64 = weights.iter().sum();
    let workspace = || (LogitEngine::default(), vec![0.0; ROWS_PER_BLOCK * outputs], vec![0.0; outputs]);
    means.par_chunks_mut(ROWS_PER_BLOCK * outputs).zip(rows.par_chunks(ROWS_PER_BLOCK)).for_each_init(
        workspace,
        |(engine, logits, row_probabilities), (means, rows)| {
            let logits = &mut logits[..rows.len() * outputs];
            for (member, weight) in members.iter().zip(weights) {
                engine.predict(member, matrix, rows, logits);
                match mean {
                    MeanOf::Probabilities => add_probabilities(logits, *weight, row_probabilities, means),
                    MeanOf::Logits => {
                        let logits = logits.iter().map(|logit| f64::from(*logit));
                        means.iter_mut().zip(logits).for_each(|(sum, logit)| *sum += weight * logit);
                    }
                }
            }
            means.iter_mut().for_each(|mean| *mean /= total);
        },
    );
    means
}

/// Adds the probabilities of each row, multiplied by `weight`, to `sums`. If a row has one logit, its probability is the sigmoid of this logit;
/// otherwise its probabilities are the softmax of its logits. `row_probabilities` is scratch space for the probabilities of one row.
fn add_probabilities(logits: &[f32], weight: f64, row_probabilities: &mut [f64], sums: &mut [f64]) {
    if let [_] = row_probabilities {
        sums.iter_mut()
            .zip(logits)
            .for_each(|(sum, logit)| *sum += weight * Probability::from_logit(f64::from(*logit)).p);
        return;
    }
    let outputs = row_probabilities.len();
    for (sums, logits) in sums.chunks_exact_mut(outputs).zip(logits.chunks_exact(outputs)) {
        softmax(logits, row_probabilities);
        sums.iter_mut().zip(&*row_probabilities).for_each(|(sum, probability)| *sum += weight * probability);
    }
}

/// Checks that there is one weight for each member, and that all weights are above 0 and at most 10⁶. The error describes the problem.
pub(crate) fn check_weights(weights: &[f64], members: usize) -> std::result::Result<(), String> {
    if weights.len() != members {
        return Err(format!("there are {} weights for {members} members", weights.len()));
    }
    match weights.iter().find(|weight| !(**weight > 0.0 && **weight <= 1e6)) {
        Some(weight) => Err(format!("the weight of a member must be above 0 and at most 1e6, not {weight}")),
        None => Ok(()),
    }
}
