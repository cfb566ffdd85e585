//! Chooses the rule that turns probabilities into labels, on predictions of rows that the members were not trained on.
//!
//! On a finite number of rows, the exactly best threshold depends by chance on single rows. So the tuned threshold is the one around which the score,
//! averaged over nearby thresholds, is best. More precisely, priors with the half-width `SMOOTHING` are compared by the score of the expected
//! confusion matrix, and the tuned threshold is the centre of the best prior. On the tables of docs/quality.md this threshold gave better scores on
//! new rows than the exactly best one. The exactly best threshold is used only if [`ThresholdRule::Tuned`] is chosen without cross-fitting.

use scorewise::multiclass::{CostMatrix, MultiConfusion, MultiScore};
use scorewise::sweep::{Bootstrap, Resampling, Sweep, sweep};
use scorewise::{Confusion, Probabilities, Purpose, Rows, Score, is_positive, stream};
use scorewise_table::error::{Error, Result};

use super::finish::LabelledPredictions;
use super::temporal::decide_in_time;
use crate::model::{Decision, ThresholdSource};
use crate::plan::{Plan, ThresholdRule};

/// Half-width of the interval of nearby thresholds over which a score is averaged. The interval around the threshold ½ reaches from 0.3 to 0.7; the
/// intervals around other thresholds have the same width in log-odds. [`Sweep::smooth_best`] takes this number as its argument `width`.
pub const SMOOTHING: f64 = 0.2;

/// The decision rule of a model, and the other rules that were considered.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionChoice {
    /// The rule of the model.
    pub decision: Decision,
    /// The other rules that were considered. Reports show their scores too.
    pub alternatives: Vec<Decision>,
}

/// Chooses the decision rule of a model. `held_out` holds predictions for rows that the members of the model were not trained on.
pub fn decide(plan: &Plan, held_out: &LabelledPredictions, classes: usize) -> Result<DecisionChoice> {
    let only = |decision: Decision| DecisionChoice { decision, alternatives: Vec::new() };
    if classes > 2 {
        if let MultiScore::Costs(costs) = plan.score.multiclass()
            && plan.threshold == ThresholdRule::Auto
        {
            return held_out.cost_decision(costs, classes);
        }
        return match plan.threshold {
            ThresholdRule::Auto | ThresholdRule::Tuned => {
                let (factors, gain) = held_out.stable_factors(&plan.score.multiclass(), classes, plan.seed)?;
                let is_tuned = plan.threshold == ThresholdRule::Tuned || gain > 0.0;
                let (decision, other) =
                    if is_tuned { (factors, Decision::Greatest) } else { (Decision::Greatest, factors) };
                Ok(DecisionChoice { decision, alternatives: vec![other] })
            }
            _ => Ok(only(Decision::Greatest)),
        };
    }
    let score = plan.score.binary()?;
    let (centre, source, words) = match plan.has_prior() {
        true => (plan.prior.mean(), ThresholdSource::Prior, "the centre of the prior"),
        false => (0.5, ThresholdSource::Given, "a threshold of 1/2, because cross-entropy has no prior"),
    };
    if let Some(weighting) = &plan.temporal {
        return decide_in_time(plan, weighting, held_out, (centre, source, words));
    }
    let at = |threshold: f64, chosen: ThresholdSource, words: &str| {
        let value = score.checked(&held_out.confusion(threshold, |row| held_out.weight(row)));
        Decision::Threshold { threshold, interval: None, value, chosen, words: words.into() }
    };
    let at_centre = at(centre, source, words);
    match plan.threshold {
        ThresholdRule::Fixed(threshold) => Ok(only(at(threshold, ThresholdSource::Given, "given"))),
        ThresholdRule::Centre => Ok(only(at_centre)),
        ThresholdRule::Tuned if plan.cross_fit == 0 => Ok(only(held_out.best_decision(&score)?)),
        ThresholdRule::Tuned | ThresholdRule::Auto => {
            let exact = held_out.best_decision(&score)?;
            let tuned = held_out.smooth_decision(&score, &exact)?;
            let is_tuned = plan.threshold == ThresholdRule::Tuned
                || !plan.has_prior()
                || held_out.tuning_gain(&score, centre, plan.seed)? > 0.0;
            let (decision, other) = if is_tuned { (tuned, at_centre) } else { (at_centre, tuned) };
            Ok(DecisionChoice { decision, alternatives: vec![other, exact] })
        }
    }
}

impl LabelledPredictions {
    /// The decision rule with the threshold that gives exactly the best score on the predicted rows.
    fn best_decision(&self, score: &Score) -> Result<Decision> {
        let best = self.sweep(&self.probabilities, None)?.best(score).ok_or_else(|| {
            let problem = format!("{score} is undefined on the validation rows at every threshold");
            Error::setting("score", problem, "give more rows, or choose another score")
        })?;
        Ok(Decision::best(&best, ThresholdSource::ValidationSweep, format!("best {score} on the validation rows")))
    }

    /// The decision rule with the threshold around which the score, averaged over nearby thresholds, is best. If the score is undefined at every
    /// threshold, a copy of the rule `exact` is returned.
    fn smooth_decision(&self, score: &Score, exact: &Decision) -> Result<Decision> {
        let Some(threshold) = self.smooth_threshold(score, None)? else { return Ok(exact.clone()) };
        let value = score.checked(&self.confusion(threshold, |row| self.weight(row)));
        let words = format!("best {score} on the validation rows, averaged over nearby thresholds");
        let (interval, chosen) = (None, ThresholdSource::ValidationSweep);
        Ok(Decision::Threshold { threshold, interval, value, chosen, words })
    }

    /// The sample weight of a row; 1 if the rows have no weights.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The confusion matrix at `threshold`. `weight` returns the weight with which a row counts.
    fn confusion(&self, threshold: f64, weight: impl Fn(usize) -> f64) -> Confusion {
        let mut cells = [0.0; 4];
        for (row, (label, probability)) in self.labels.iter().zip(&self.probabilities).enumerate() {
            cells[2 * usize::from(*label == 1) + usize::from(is_positive(*probability, threshold))] += weight(row);
        }
        Confusion::new(cells[0], cells[1], cells[2], cells[3])
    }

    /// Sorts the rows by the given probabilities, so that all thresholds can be evaluated. If `copies` is given, the row with index i counts
    /// `copies[i]` times.
    pub(super) fn sweep(&self, probabilities: &[f64], copies: Option<&[u32]>) -> Result<Sweep> {
        let labels = self.positives();
        let rows = Rows::new(Probabilities(probabilities), &labels)?;
        let weights: Option<Vec<f64>> = match copies {
            Some(copies) => Some((0..labels.len()).map(|row| f64::from(copies[row]) * self.weight(row)).collect()),
            None => self.weights.clone(),
        };
        Ok(match &weights {
            Some(weights) => sweep(&rows.weighted(weights)?)?,
            None => sweep(&rows)?,
        })
    }

    /// The threshold around which the score, averaged over nearby thresholds, is best; `None` if the score is undefined at every threshold. If
    /// `copies` is given, the row with index i counts `copies[i]` times.
    fn smooth_threshold(&self, score: &Score, copies: Option<&[u32]>) -> Result<Option<f64>> {
        Ok(self.sweep(&self.probabilities, copies)?.smooth_best(score, SMOOTHING)?.map(|best| best.threshold))
    }

    /// How much better the score at a tuned threshold is than the score at the threshold `centre`, on rows that were not used for tuning. For each
    /// bootstrap sample, a threshold is tuned on the sample, and both thresholds are compared on the rows outside the sample; the result is the mean
    /// difference over the samples.
    fn tuning_gain(&self, score: &Score, centre: f64, seed: u64) -> Result<f64> {
        let labels = self.positives();
        // With many rows fewer bootstrap samples are needed, because the score depends less on chance.
        let replicates = (4_000_000 / labels.len().max(1)).clamp(10, 100);
        let seed = stream(seed, Purpose::DecisionTuning, 0);
        let bootstrap = Bootstrap { resampling: Resampling::Stratified, replicates, seed };
        let mut copies = vec![0; labels.len()];
        let (mut sum, mut count) = (0.0, 0);
        for replicate in 0..replicates {
            bootstrap.copies(replicate, &labels, &mut copies)?;
            let Some(tuned) = self.smooth_threshold(score, Some(&copies))? else { continue };
            let left_out = |row: usize| if copies[row] == 0 { self.weight(row) } else { 0.0 };
            let value = |threshold: f64| score.checked(&self.confusion(threshold, left_out));
            if let (Some(tuned), Some(untuned)) = (value(tuned), value(centre)) {
                sum += score.oriented_value(tuned) - score.oriented_value(untuned);
                count += 1;
            }
        }
        Ok(if count == 0 { 0.0 } else { sum / f64::from(count) })
    }

    /// The decision rule that multiplies the probability of each class by a tuned factor and chooses the class with the greatest product, and its
    /// gain. The gain is the score of this rule minus the score of the rule that chooses the class with the greatest probability, on rows that were
    /// not used for tuning.
    ///
    /// The factor of a class is the geometric mean of the factors that are best in many bootstrap samples, because this mean depends less on single
    /// rows than the factor that is best for all rows.
    fn stable_factors(&self, score: &MultiScore, classes: usize, seed: u64) -> Result<(Decision, f64)> {
        let rows = self.labels.len();
        let replicates = (200_000 / rows.max(1)).clamp(5, 30);
        let seed = stream(seed, Purpose::DecisionTuning, 1);
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates, seed };
        let (labels, mut copies) = (vec![false; rows], vec![0; rows]);
        let (mut logarithms, mut sum, mut count) = (vec![0.0; classes], 0.0, 0);
        for replicate in 0..replicates {
            bootstrap.copies(replicate, &labels, &mut copies)?;
            let factors = self.best_factors(score, classes, |row| f64::from(copies[row]) * self.weight(row))?;
            let geometric_mean = factors.iter().map(|factor| factor.ln()).sum::<f64>() / classes as f64;
            logarithms.iter_mut().zip(&factors).for_each(|(sum, factor)| *sum += factor.ln() - geometric_mean);
            let decision = factor_decision(&factors, score);
            let value = |decision: &Decision| -> Result<Option<f64>> {
                let mut cells = vec![0.0; classes * classes];
                for (row, probabilities) in self.probabilities.chunks_exact(classes).enumerate() {
                    if copies[row] == 0 {
                        let cell = self.labels[row] as usize * classes + decision.label(probabilities) as usize;
                        cells[cell] += self.weight(row);
                    }
                }
                let matrix = MultiConfusion::new(classes, cells)?;
                Ok(score.checked(&matrix).map(|_| -score.loss(&matrix)))
            };
            if let (Some(tuned), Some(greatest)) = (value(&decision)?, value(&Decision::Greatest)?) {
                sum += tuned - greatest;
                count += 1;
            }
        }
        let factors: Vec<f64> = logarithms.iter().map(|sum| (sum / replicates as f64).exp()).collect();
        Ok((factor_decision(&factors, score), if count == 0 { 0.0 } else { sum / f64::from(count) }))
    }

    /// The decision rule for a matrix of costs. The class with the lowest expected cost is the best decision if the probabilities are calibrated, as
    /// those of cross-entropy are. A model that was trained for the costs themselves already puts its probability on the class with the lowest cost,
    /// so the class with the greatest probability may be better. Neither rule is tuned, so the one with the lower cost on these rows is chosen.
    fn cost_decision(&self, costs: CostMatrix, classes: usize) -> Result<DecisionChoice> {
        let expected = Decision::Costs { costs: costs.rows().map(<[f64]>::to_vec).collect() };
        let score = MultiScore::Costs(costs);
        score.check_classes(classes)?;
        let loss = |decision: &Decision| -> Result<f64> {
            let mut cells = vec![0.0; classes * classes];
            for (row, probabilities) in self.probabilities.chunks_exact(classes).enumerate() {
                cells[self.labels[row] as usize * classes + decision.label(probabilities) as usize] += self.weight(row);
            }
            Ok(score.loss(&MultiConfusion::new(classes, cells)?))
        };
        let is_greatest_better = loss(&Decision::Greatest)? < loss(&expected)?;
        let (decision, other) =
            if is_greatest_better { (Decision::Greatest, expected) } else { (expected, Decision::Greatest) };
        Ok(DecisionChoice { decision, alternatives: vec![other] })
    }

    /// The factors fₖ of the classes that give the best score, if each row gets the class k with the greatest fₖ pₖ, where pₖ is the probability of
    /// class k.
    /// `weight` returns the weight with which a row counts.
    ///
    /// The factors are optimised one at a time. A row gets class k if fₖ > maxⱼ fⱼ pⱼ / pₖ over the other classes j, so sorting the rows by this
    /// ratio gives the score for every value of fₖ. The optimisation of all factors is repeated until the score no longer improves, at most
    /// [`MAX_ROUNDS`] times.
    fn best_factors(&self, score: &MultiScore, classes: usize, weight: impl Fn(usize) -> f64) -> Result<Vec<f64>> {
        let rows = self.labels.len();
        let mut factors = vec![1.0; classes];
        let mut best = f64::NEG_INFINITY;
        for _ in 0..MAX_ROUNDS {
            let before = best;
            for class in 0..classes {
                let mut cells = vec![0.0; classes * classes];
                // For each row: the value that the factor of the class `class` must exceed so that this class is predicted for the row, the index of
                // the row, and the class that is predicted if the factor is lower.
                let mut moves: Vec<(f64, usize, usize)> = Vec::with_capacity(rows);
                for (row, probabilities) in self.probabilities.chunks_exact(classes).enumerate() {
                    let mut other = (f64::NEG_INFINITY, 0);
                    for (index, probability) in probabilities.iter().enumerate().filter(|(index, _)| *index != class) {
                        if probability * factors[index] > other.0 {
                            other = (probability * factors[index], index);
                        }
                    }
                    cells[self.labels[row] as usize * classes + other.1] += weight(row);
                    moves.push((other.0 / probabilities[class], row, other.1));
                }
                moves.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let mut found = None;
                for (index, (ratio, row, other)) in moves.iter().enumerate() {
                    let (truth, weight) = (self.labels[*row] as usize, weight(*row));
                    cells[truth * classes + other] -= weight;
                    cells[truth * classes + class] += weight;
                    let next = moves.get(index + 1).map_or(f64::INFINITY, |next| next.0);
                    if next == *ratio || !ratio.is_finite() || *ratio <= 0.0 {
                        continue;
                    }
                    let cells = cells.iter().map(|cell| cell.max(0.0)).collect();
                    let value = score.loss(&MultiConfusion::new(classes, cells)?);
                    if -value > best + 1e-12 {
                        best = -value;
                        // The score is the same for all factors of the class between `ratio` and `next`, so the factor is set to the geometric mean
                        // of these two.
                        found = Some(if next.is_finite() { (ratio * next).sqrt() } else { 2.0 * ratio });
                    }
                }
                if let Some(factor) = found.filter(|factor| factor.is_finite() && *factor > 0.0) {
                    factors[class] = factor;
                }
            }
            if best <= before {
                break;
            }
        }
        Ok(factors)
    }
}

/// The decision rule that multiplies the probabilities of the classes by the given factors, which are scaled so that the greatest factor is 1.
fn factor_decision(factors: &[f64], score: &MultiScore) -> Decision {
    let greatest = factors.iter().copied().fold(0.0, f64::max);
    // With the factor 0 a class would never be chosen, not even for a row whose probability of every other class is 0. So every factor is at least
    // 1e-12.
    let factors = factors.iter().map(|factor| (factor / greatest).max(1e-12)).collect();
    let words =
        format!("best {score} on the validation rows, with the probability of each class multiplied by a tuned factor");
    Decision::Factors { factors, chosen: ThresholdSource::ValidationSweep, words }
}

/// Maximum number of rounds in which the factors of the classes are optimised. A round optimises the factor of each class once. More rounds hardly
/// change the score.
const MAX_ROUNDS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LossName;

    /// Predictions of rows, each given by its probability and its label.
    fn predictions_of(rows: &[(f64, u32)]) -> LabelledPredictions {
        LabelledPredictions {
            labels: rows.iter().map(|(_, label)| *label).collect(),
            probabilities: rows.iter().map(|(probability, _)| *probability).collect(),
            ..LabelledPredictions::default()
        }
    }

    /// Calibrated predictions with evenly spaced probabilities p: a row is positive with probability p.
    fn calibrated_predictions(rows: u32) -> LabelledPredictions {
        let row = |row: u32| {
            let p = (f64::from(row) + 0.5) / f64::from(rows);
            let u = f64::from(row.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
            (p, u32::from(u < p))
        };
        predictions_of(&(0..rows).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn a_smooth_threshold_is_near_the_theoretical_optimum_of_calibrated_predictions() {
        // If predictions are calibrated, the threshold with the best TSS is the share of positive rows.
        let predictions = calibrated_predictions(4000);
        let share = f64::from(predictions.labels.iter().sum::<u32>()) / 4000.0;
        let score = Score::parse("tss").unwrap();
        let exact = predictions.best_decision(&score).unwrap();
        let smooth = predictions.smooth_decision(&score, &exact).unwrap().threshold().unwrap();
        assert!((smooth - share).abs() < 0.06, "{smooth}, {share}");
    }

    #[test]
    fn a_row_that_counts_twice_has_the_same_effect_as_two_equal_rows() {
        let once = predictions_of(&[(0.1, 0), (0.4, 1), (0.6, 0), (0.6, 0), (0.9, 1)]);
        let twice = predictions_of(&[(0.1, 0), (0.4, 1), (0.6, 0), (0.9, 1)]);
        let score = Score::parse("f1").unwrap();
        let copies = [1, 1, 2, 1];
        let (once, twice) = (once.smooth_threshold(&score, None), twice.smooth_threshold(&score, Some(&copies)));
        assert!((once.unwrap().unwrap() - twice.unwrap().unwrap()).abs() < 1e-9);
    }

    #[test]
    fn tuning_gain_is_large_only_if_the_centre_is_far_from_the_best_threshold() {
        let mut predictions = calibrated_predictions(2000);
        let score = Score::parse("f1").unwrap();
        predictions.probabilities.iter_mut().for_each(|p| *p *= 0.1);
        assert!(predictions.tuning_gain(&score, 0.5, 1).unwrap() > 0.3);
        assert!(predictions.tuning_gain(&score, 0.035, 1).unwrap() < 0.01);
    }

    #[test]
    fn the_threshold_is_described_as_the_centre_of_the_prior_only_if_there_is_a_prior() {
        let chosen = |loss: LossName, threshold: ThresholdRule| {
            let mut plan = Plan::new("y", "f1".parse().unwrap());
            (plan.loss, plan.threshold, plan.cross_fit) = (loss, threshold, 2);
            let choice = decide(&plan, &calibrated_predictions(200), 2).unwrap();
            let untuned = if threshold == ThresholdRule::Centre { &choice.decision } else { &choice.alternatives[0] };
            match untuned {
                Decision::Threshold { threshold, chosen, words, .. } => (*threshold, *chosen, words.clone()),
                other => panic!("{other:?}"),
            }
        };
        for threshold in [ThresholdRule::Centre, ThresholdRule::Tuned] {
            let (centre, source, words) = chosen(LossName::Sol, threshold);
            assert_eq!((centre, source, words.as_str()), (0.5, ThresholdSource::Prior, "the centre of the prior"));
            let (half, source, words) = chosen(LossName::CrossEntropy, threshold);
            let expected = (0.5, ThresholdSource::Given, "a threshold of 1/2, because cross-entropy has no prior");
            assert_eq!((half, source, words.as_str()), expected);
        }
    }

    #[test]
    fn tuned_factors_predict_a_rare_class_that_never_has_the_greatest_probability() {
        // The third class is rare, and its probability is always lower than that of the other classes.
        let mut probabilities = Vec::new();
        let mut labels = Vec::new();
        for row in 0..300u32 {
            let (label, p) = match row % 30 {
                0 => (2, [0.45, 0.35, 0.2]),
                1..=15 => (0, [0.6, 0.35, 0.05]),
                _ => (1, [0.35, 0.6, 0.05]),
            };
            labels.push(label);
            probabilities.extend(p);
        }
        let predictions = LabelledPredictions { labels, probabilities, ..LabelledPredictions::default() };
        let score = MultiScore::parse("macro(f1)").unwrap();
        let factors = predictions.best_factors(&score, 3, |_| 1.0).unwrap();
        let decision = factor_decision(&factors, &score);
        let value = |decision: &Decision| {
            let labels: Vec<u32> = predictions.probabilities.chunks_exact(3).map(|p| decision.label(p)).collect();
            score.value(&MultiConfusion::from_labels(3, &predictions.labels, &labels, None).unwrap())
        };
        assert_eq!(value(&decision), 1.0);
        assert!(value(&Decision::Greatest) < 0.7);
        let (stable, gain) = predictions.stable_factors(&score, 3, 1).unwrap();
        assert_eq!(value(&stable), 1.0);
        assert!(gain > 0.3, "{gain}");
    }
}
