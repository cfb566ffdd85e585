//! Combines the forecasts of several classifiers into one: the weighted mean of their logits.
//!
//! All classifiers have predicted the same rows, each row by members that were not trained on it. The calibration, the weights and the shift are
//! chosen on these predictions. The command `train`, if it trains several learners, and `ScorePool` in Python both call [`combine`].
//!
//! 1. *Calibration.* Classifiers differ in how far their logits spread: a loss that rewards confident decisions spreads them more than
//!    cross-entropy does. So that logits can be averaged and compared, each logit z of a classifier is replaced by a z + b, with the
//!    numbers a and b that give the lowest cross-entropy (Platt 1999, Probabilistic outputs for support vector machines); with more than
//!    two classes b is 0.
//! 2. *Weights*, by greedy selection with replacement (Caruana, Niculescu-Mizil, Crew, Ksikes 2004, Ensemble selection from libraries of models,
//!    ICML): begin with equal weights, then add the classifier with which the mean is best, again and again. The equal weights at the beginning
//!    keep the choice from depending on chance.
//! 3. *Shift*, if asked for: all logits are shifted so that the best threshold lies at a given probability.
//!
//! A mean is judged by the score under a random threshold: the score of the expected confusion matrix, with a prior of the threshold whose
//! centre is the one that gives the best score. The score at the single best threshold would depend by chance on few rows, and
//! cross-entropy would ignore the score. docs/quality.md compares the score under a random threshold with cross-entropy.

use std::ops::ControlFlow;

use scorewise::Score;
use scorewise::multiclass::{SimplexLoss, softmax};
use scorewise::sweep::SmoothBest;
use scorewise::temporal::Weighting;
use scorewise_table::error::{Error, Result};

use super::decide::SMOOTHING;
use super::finish::LabelledPredictions;
use super::temporal::TimeSeries;
use crate::ensemble::to_probabilities;
use crate::fit::{Batch, Objective};
use crate::network::log_odds;
use crate::plan::TrainingScore;

/// The weight of each classifier in the mean before the greedy selection begins. Each time the selection adds a classifier to the mean, the weight of
/// this classifier rises by 1.
const INITIAL: usize = 3;
/// Number of times that the greedy selection adds a classifier to the mean.
const ADDITIONS: usize = 20;
/// Maximum number of Newton steps by which the calibration of logits is found. Five are usually enough.
const STEPS: usize = 30;
/// Minimum and maximum of the factor by which the calibration multiplies logits.
const SCALES: (f64, f64) = (0.05, 20.0);

/// How the logits of several classifiers are combined. Classifier i has the logit zᵢ, the scale aᵢ, the shift bᵢ and the weight wᵢ. The forecast is
/// p(Σᵢ wᵢ (aᵢ zᵢ + bᵢ)), where p is the sigmoid or softmax.
#[derive(Clone, Debug, PartialEq)]
pub struct Combination {
    /// For each classifier, the scale aᵢ and the shift bᵢ of its logits.
    pub calibrations: Vec<(f64, f64)>,
    /// For each classifier, its weight wᵢ in the mean. The weights sum to 1.
    pub weights: Vec<f64>,
    /// The combined probabilities of the rows, in the form of [`LabelledPredictions::probabilities`].
    pub probabilities: Vec<f64>,
}

impl Combination {
    /// Combines the logits that several classifiers have predicted for the same rows. Returns the probabilities of the rows.
    #[must_use]
    pub fn apply(calibrations: &[(f64, f64)], weights: &[f64], candidates: &[&[f64]], outputs: usize) -> Vec<f64> {
        let mut mean = vec![0.0; candidates.first().map_or(0, |logits| logits.len())];
        for ((logits, weight), (scale, shift)) in candidates.iter().zip(weights).zip(calibrations) {
            mean.iter_mut().zip(*logits).for_each(|(mean, logit)| *mean += weight * (scale * logit + shift));
        }
        to_probabilities(&mut mean, outputs);
        mean
    }
}

/// Chooses how the logits of several classifiers are combined: calibrates the logits of each classifier, then chooses the weights of their mean.
///
/// `rows` has the classes and weights of the rows; its probabilities are not used. `candidates` holds the logits of each classifier for these rows,
/// predicted by members that were not trained on them: one logit for each row if there are two classes, otherwise one for each row and class, row by
/// row. The function overwrites `candidates` with the calibrated logits.
///
/// Each mean of the logits is judged by `score`. If `weighting` is given and there are two classes, `score` is computed from counts in which errors
/// are weighted by their timing. If `centre` is given and there are two classes, the returned calibrations also shift all logits so that the best
/// threshold lies at `centre`; the logits in `candidates` are not shifted. `proceed` is called before each mean is judged; if it returns `Break`, the
/// result is an error.
pub fn combine(
    rows: &LabelledPredictions,
    classes: usize,
    candidates: &mut [Vec<f64>],
    (score, weighting): (&TrainingScore, Option<&Weighting>),
    centre: Option<f64>,
    proceed: &dyn Fn() -> ControlFlow<()>,
) -> Result<Combination> {
    check(rows, classes, candidates)?;
    let outputs = if classes == 2 { 1 } else { classes };
    let judge = Judge::new(rows, classes, score, weighting)?;
    let mut calibrations = Vec::with_capacity(candidates.len());
    for logits in candidates.iter_mut() {
        let (scale, shift) = rows.calibration(logits, outputs);
        logits.iter_mut().for_each(|logit| *logit = scale * *logit + shift);
        calibrations.push((scale, shift));
    }
    let logits: Vec<&[f64]> = candidates.iter().map(Vec::as_slice).collect();
    let counts = select(&logits, |mean| match proceed() {
        ControlFlow::Continue(()) => judge.value(mean),
        ControlFlow::Break(()) => Err(Error::setting("training", "was stopped", "")),
    })?;
    let total = counts.iter().sum::<usize>() as f64;
    let weights: Vec<f64> = counts.iter().map(|count| *count as f64 / total).collect();
    let mut mean = vec![0.0; logits[0].len()];
    for (logits, weight) in logits.iter().zip(&weights) {
        mean.iter_mut().zip(*logits).for_each(|(mean, logit)| *mean += weight * logit);
    }
    let moved = judge.shift(centre, &mean)?;
    mean.iter_mut().for_each(|logit| *logit += moved);
    calibrations.iter_mut().for_each(|(_, shift)| *shift += moved);
    to_probabilities(&mut mean, outputs);
    Ok(Combination { calibrations, weights, probabilities: mean })
}

/// Checks that there is at least one classifier, and that all classifiers have finite logits for every row that has a label.
fn check(rows: &LabelledPredictions, classes: usize, candidates: &[Vec<f64>]) -> Result<()> {
    let refuse = |problem: &str| Err(Error::setting("candidates", problem, ""));
    let length = rows.labels.len() * if classes == 2 { 1 } else { classes };
    if candidates.is_empty() || rows.labels.is_empty() {
        return refuse("at least one classifier and one row are needed");
    }
    if candidates.iter().any(|logits| logits.len() != length) {
        return refuse(
            "each classifier must have one prediction for each row, or for each row and class if there are more than two classes",
        );
    }
    if rows.labels.iter().any(|label| *label as usize >= classes) {
        return refuse("a label is not below the number of classes");
    }
    if rows.weights.as_ref().is_some_and(|weights| weights.len() != rows.labels.len()) {
        return refuse("the number of weights differs from the number of rows");
    }
    match candidates.iter().flatten().all(|logit| logit.is_finite()) {
        true => Ok(()),
        false => refuse("a classifier has predicted a number that is not finite"),
    }
}

/// Selects classifiers greedily, and returns how often the logits of each classifier count in the mean. `value` returns how good a mean of logits is;
/// greater is better.
fn select(candidates: &[&[f64]], value: impl Fn(&[f64]) -> Result<f64>) -> Result<Vec<usize>> {
    let mut counts = vec![INITIAL; candidates.len()];
    let mut sum = vec![0.0; candidates[0].len()];
    for candidate in candidates {
        sum.iter_mut().zip(*candidate).for_each(|(sum, logit)| *sum += INITIAL as f64 * logit);
    }
    let initial = INITIAL * candidates.len();
    let mut mean: Vec<f64> = sum.iter().map(|sum| sum / initial as f64).collect();
    let (mut best, mut best_counts) = (value(&mean)?, counts.clone());
    for added in initial + 1..=initial + ADDITIONS {
        let mut next: Option<(f64, usize)> = None;
        for (index, candidate) in candidates.iter().enumerate() {
            for ((mean, sum), logit) in mean.iter_mut().zip(&sum).zip(*candidate) {
                *mean = (sum + logit) / added as f64;
            }
            let value = value(&mean)?;
            if next.is_none_or(|(greatest, _)| value > greatest) {
                next = Some((value, index));
            }
        }
        let Some((value, index)) = next else { break };
        counts[index] += 1;
        sum.iter_mut().zip(candidates[index]).for_each(|(sum, logit)| *sum += logit);
        if value > best {
            (best, best_counts) = (value, counts.clone());
        }
    }
    Ok(best_counts)
}

/// Computes how good the logits of a forecast are: the score of the forecast under a random threshold.
enum Judge<'a> {
    Binary { rows: &'a LabelledPredictions, score: Score },
    Temporal { series: TimeSeries<'a>, score: Score },
    Classes { objective: Objective, batch: Batch },
}

impl<'a> Judge<'a> {
    /// Prepares the computation. `rows` has the labels and sample weights of the rows whose logits are judged.
    fn new(
        rows: &'a LabelledPredictions,
        classes: usize,
        score: &TrainingScore,
        weighting: Option<&'a Weighting>,
    ) -> Result<Self> {
        if let (2, Some(weighting)) = (classes, weighting) {
            return Ok(Judge::Temporal { series: TimeSeries::new(rows, weighting), score: score.binary()? });
        }
        if classes == 2 {
            return Ok(Judge::Binary { rows, score: score.binary()? });
        }
        let mut batch = Batch::default();
        let weights: Option<Vec<f32>> =
            rows.weights.as_ref().map(|weights| weights.iter().map(|weight| *weight as f32).collect());
        let all: Vec<u32> = (0..rows.labels.len() as u32).collect();
        batch.gather(&rows.labels, weights.as_deref(), &all, classes);
        score.multiclass().check_classes(classes)?;
        let objective = Objective::Simplex(SimplexLoss::new(score.multiclass()));
        Ok(Judge::Classes { objective, batch })
    }

    /// The score of a forecast with these logits under a random threshold, transformed so that greater is better.
    fn value(&self, logits: &[f64]) -> Result<f64> {
        match self {
            Judge::Binary { score, .. } | Judge::Temporal { score, .. } => {
                let best = self.smooth_best(logits)?;
                Ok(best.map_or(f64::NEG_INFINITY, |best| score.oriented_value(best.expected_value)))
            }
            Judge::Classes { objective, batch } => {
                let mut batch = batch.clone();
                batch.logits.iter_mut().zip(logits).for_each(|(to, logit)| *to = *logit as f32);
                Ok(-objective.value(&batch)?)
            }
        }
    }

    /// The threshold around which the score, averaged over nearby thresholds, is best. `None` if the score is undefined at every threshold, or if
    /// there are more than two classes.
    fn smooth_best(&self, logits: &[f64]) -> Result<Option<SmoothBest>> {
        let mut probabilities = logits.to_vec();
        to_probabilities(&mut probabilities, 1);
        match self {
            Judge::Binary { rows, score } => Ok(rows.sweep(&probabilities, None)?.smooth_best(score, SMOOTHING)?),
            Judge::Temporal { series, score } => Ok(series.sweep(&probabilities)?.smooth_best(score, SMOOTHING)?),
            Judge::Classes { .. } => Ok(None),
        }
    }

    /// The number to add to all logits so that the best threshold lies at `centre`; 0 if there is no centre or there are more than two
    /// classes.
    fn shift(&self, centre: Option<f64>, logits: &[f64]) -> Result<f64> {
        let Some(centre) = centre else { return Ok(0.0) };
        Ok(self
            .smooth_best(logits)?
            .map_or(0.0, |best| log_odds(centre) - log_odds(best.threshold.clamp(1e-9, 1.0 - 1e-9))))
    }
}

impl LabelledPredictions {
    /// Finds, by Newton's method, the numbers a and b for which the logits a z + b have the lowest cross-entropy on these rows, where z are the given
    /// logits. With more than one logit for each row, b is 0. A tiny penalty keeps a from growing without limit if the logits separate the classes.
    fn calibration(&self, logits: &[f64], outputs: usize) -> (f64, f64) {
        /// Weight of the penalty (a − 1)²/2, which keeps the scale a of the calibration from growing without limit.
        const SCALE_PENALTY: f64 = 1e-3;
        let (mut scale, mut shift) = (1.0, 0.0);
        let mut probabilities = vec![0.0; outputs];
        for _ in 0..STEPS {
            // The gradient and the second derivatives of the cross-entropy with respect to the scale and the shift.
            let (mut gradient, mut curvature) = ([SCALE_PENALTY * (scale - 1.0), 0.0], [SCALE_PENALTY, 0.0, 0.0]);
            for (row, z) in logits.chunks_exact(outputs).enumerate() {
                let (weight, label) = (self.weight(row), self.labels[row]);
                if let [z] = z {
                    let p = 1.0 / (1.0 + (-(scale * z + shift)).exp());
                    let (error, slope) = (weight * (p - f64::from(label)), weight * p * (1.0 - p));
                    gradient = [gradient[0] + error * z, gradient[1] + error];
                    curvature = [curvature[0] + slope * z * z, curvature[1] + slope * z, curvature[2] + slope];
                    continue;
                }
                let scaled: Vec<f64> = z.iter().map(|z| scale * z).collect();
                softmax(&scaled, &mut probabilities);
                let mean: f64 = z.iter().zip(&probabilities).map(|(z, p)| z * p).sum();
                let square: f64 = z.iter().zip(&probabilities).map(|(z, p)| z * z * p).sum();
                gradient[0] += weight * (mean - z[label as usize]);
                curvature[0] += weight * (square - mean * mean);
            }
            let [zz, z1, one] = curvature;
            let (step, shift_step) = if outputs == 1 {
                let determinant = (zz * one - z1 * z1).max(1e-12 * zz * one).max(f64::MIN_POSITIVE);
                let [g, g1] = gradient;
                ((one * g - z1 * g1) / determinant, (zz * g1 - z1 * g) / determinant)
            } else {
                (gradient[0] / zz.max(f64::MIN_POSITIVE), 0.0)
            };
            if !(step.is_finite() && shift_step.is_finite()) {
                break;
            }
            // Far from the optimum a whole Newton step may overshoot, so the length of a step is limited.
            scale = (scale - step.clamp(-1.0, 1.0)).clamp(SCALES.0, SCALES.1);
            shift -= shift_step.clamp(-5.0, 5.0);
            if step.abs() < 1e-10 && shift_step.abs() < 1e-10 {
                break;
            }
        }
        (scale, shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with these labels, without predictions and weights.
    fn rows(labels: Vec<u32>) -> LabelledPredictions {
        LabelledPredictions { labels, ..LabelledPredictions::default() }
    }

    /// Logits that are not calibrated, and labels: a row with the logit z is positive with the probability sigmoid(2 z + 1).
    fn distorted(count: u32) -> (Vec<f64>, Vec<u32>) {
        let row = |row: u32| {
            let z = f64::from(row % 400) / 100.0 - 2.0;
            let uniform = f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
            (z, u32::from(uniform < 1.0 / (1.0 + (-(2.0 * z + 1.0)).exp())))
        };
        (0..count).map(row).unzip()
    }

    #[test]
    fn calibration_finds_the_scale_and_shift_by_which_logits_were_distorted() {
        let (logits, labels) = distorted(40_000);
        let (scale, shift) = rows(labels).calibration(&logits, 1);
        assert!((scale - 2.0).abs() < 0.1 && (shift - 1.0).abs() < 0.1, "{scale}, {shift}");
    }

    #[test]
    fn calibration_of_logits_that_separate_the_classes_is_finite() {
        let (scale, shift) = rows(vec![0, 0, 1, 1]).calibration(&[-2.0, -1.0, 1.0, 2.0], 1);
        assert!(scale.is_finite() && shift.is_finite() && scale <= SCALES.1, "{scale}, {shift}");
        let (scale, shift) = rows(vec![0, 1, 2]).calibration(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3);
        assert!(scale > 1.0 && scale <= SCALES.1 && shift == 0.0, "{scale}");
    }

    #[test]
    fn a_useless_classifier_gets_the_least_weight() {
        let good: Vec<f64> = (0..100).map(f64::from).collect();
        let bad: Vec<f64> = good.iter().map(|value| (value * 7919.0) % 100.0).collect();
        let distance = |mean: &[f64]| Ok(-mean.iter().zip(&good).map(|(a, b)| (a - b).powi(2)).sum::<f64>());
        let counts = select(&[&bad, &good], distance).unwrap();
        assert_eq!(counts, [INITIAL, INITIAL + ADDITIONS]);
    }
}
