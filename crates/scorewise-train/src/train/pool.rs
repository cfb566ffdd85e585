//! Chooses the weights of the learners in the mean of their predictions.
//!
//! All learners are trained on the same folds, so each has out-of-fold predictions of the same rows. The weights are found by greedy selection
//! with replacement (Caruana, Niculescu-Mizil, Crew, Ksikes 2004, Ensemble selection from libraries of models, ICML): start with the best
//! learner, then add the learner with which the mean is best, again and again. The weight of a learner is the share of times that it was added.
//!
//! What judges the mean is the score under a random threshold: the score of the expected confusion matrix, with the centre of the threshold's
//! prior at its best place. The score at the single best threshold would depend by chance on few rows, and log-loss would ignore the score.

use scorewise::Score;
use scorewise::multiclass::{MultiScore, SimplexLoss};
use scorewise_table::error::Result;

use super::finish::LabelledPredictions;
use super::prepare::LabelledTable;
use crate::ensemble::Ensemble;
use crate::fit::{Batch, Objective};
use crate::job::Dataset;

/// Number of times that a learner is added to the mean.
const ADDITIONS: usize = 20;
/// Half-width of the prior under which the mean is judged, where its centre is ½.
const WIDTH: f64 = 0.4;

/// The members of one learner, with their predictions of rows that they were not trained on.
pub(super) struct Candidate {
    pub ensemble: Ensemble,
    /// Indices of the rows in ascending order.
    pub rows: Vec<u32>,
    pub probabilities: Vec<f64>,
}

/// The weighted mean of the candidates that has the best score on the rows that they were not trained on. If the candidates have not predicted
/// the same rows, because the user stopped the training run, the one with the most rows is used alone.
pub(super) fn pool(
    labelled: &LabelledTable<'_>,
    dataset: &Dataset,
    mut candidates: Vec<Candidate>,
) -> Result<Candidate> {
    let most = candidates.iter().map(|candidate| candidate.rows.len()).max().unwrap_or(0);
    candidates.retain(|candidate| candidate.rows.len() == most);
    if candidates.len() < 2 || candidates.iter().any(|candidate| candidate.rows != candidates[0].rows) {
        return Ok(candidates.swap_remove(0));
    }
    let probabilities: Vec<&[f64]> = candidates.iter().map(|candidate| candidate.probabilities.as_slice()).collect();
    let rows = candidates[0].rows.clone();
    let judge = Judge::new(labelled, labelled.with_labels(&rows, Vec::new()), dataset.classes)?;
    let counts = select(&probabilities, |mean| judge.value(mean))?;
    let total: usize = counts.iter().sum();
    let mut mean = vec![0.0; probabilities[0].len()];
    for (probabilities, count) in probabilities.iter().zip(&counts) {
        let weight = *count as f64 / total as f64;
        mean.iter_mut().zip(*probabilities).for_each(|(mean, probability)| *mean += weight * probability);
    }
    let (mut members, mut weights) = (Vec::new(), Vec::new());
    for (candidate, count) in candidates.into_iter().zip(counts).filter(|(_, count)| *count > 0) {
        let of_candidate = candidate.ensemble.members();
        weights.extend(vec![count as f64 / total as f64 / of_candidate.len() as f64; of_candidate.len()]);
        members.extend_from_slice(of_candidate);
    }
    let ensemble = Ensemble::new(members)?;
    // The only learner that is left has equal weights.
    let ensemble = if counts_one(&weights) { ensemble } else { ensemble.with_weights(weights)? };
    Ok(Candidate { ensemble, rows, probabilities: mean })
}

fn counts_one(weights: &[f64]) -> bool {
    weights.iter().all(|weight| *weight == weights[0])
}

/// How often each candidate is added to the mean. `value` judges a mean; greater is better.
fn select(candidates: &[&[f64]], value: impl Fn(&[f64]) -> Result<f64>) -> Result<Vec<usize>> {
    let (mut counts, mut sum) = (vec![0; candidates.len()], vec![0.0; candidates[0].len()]);
    let (mut best, mut best_counts) = (f64::NEG_INFINITY, counts.clone());
    let mut mean = sum.clone();
    for added in 1..=ADDITIONS {
        let mut next: Option<(f64, usize)> = None;
        for (index, candidate) in candidates.iter().enumerate() {
            for ((mean, sum), probability) in mean.iter_mut().zip(&sum).zip(*candidate) {
                *mean = (sum + probability) / added as f64;
            }
            let value = value(&mean)?;
            if next.is_none_or(|(greatest, _)| value > greatest) {
                next = Some((value, index));
            }
        }
        let Some((value, index)) = next else { break };
        counts[index] += 1;
        sum.iter_mut().zip(candidates[index]).for_each(|(sum, probability)| *sum += probability);
        if value > best {
            (best, best_counts) = (value, counts.clone());
        }
    }
    Ok(best_counts)
}

/// Judges predictions by the score under a random threshold.
enum Judge {
    Binary { rows: LabelledPredictions, score: Score },
    Classes { objective: Objective, batch: Batch },
}

impl Judge {
    fn new(labelled: &LabelledTable<'_>, rows: LabelledPredictions, classes: usize) -> Result<Self> {
        if classes == 2 {
            return Ok(Judge::Binary { rows, score: labelled.plan.score.binary()? });
        }
        let score: MultiScore = labelled.plan.score.multiclass();
        let mut batch = Batch::default();
        let weights: Option<Vec<f32>> =
            rows.weights.as_ref().map(|weights| weights.iter().map(|weight| *weight as f32).collect());
        let all: Vec<u32> = (0..rows.labels.len() as u32).collect();
        batch.gather(&rows.labels, weights.as_deref(), &all, classes);
        Ok(Judge::Classes { objective: Objective::Simplex(SimplexLoss::new(score)), batch })
    }

    fn value(&self, probabilities: &[f64]) -> Result<f64> {
        match self {
            Judge::Binary { rows, score } => {
                let best = rows.sweep(probabilities, None)?.smooth_best(score, WIDTH)?;
                Ok(best.map_or(f64::NEG_INFINITY, |best| score.oriented_value(best.expected_value)))
            }
            Judge::Classes { objective, batch } => {
                let mut batch = batch.clone();
                batch.logits.iter_mut().zip(probabilities).for_each(|(logit, p)| *logit = p.max(1e-30).ln() as f32);
                Ok(-objective.value(&batch)?)
            }
        }
    }
}
