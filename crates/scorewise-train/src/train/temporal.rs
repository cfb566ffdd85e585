//! Chooses the threshold if errors in a time series are weighted by their timing.
//!
//! The rules are those of `decide.rs`, but the score is computed from time-weighted counts. They are computed exactly for every threshold. The weight
//! of an error depends only on rows of the same stretch. A stretch is a sequence of neighbouring rows: it ends where a series ends, at a gap in time,
//! and at a row without a label.

use scorewise::temporal::{Series, TemporalSweep, Weighting};
use scorewise::{Confusion, Probabilities, Rows, Score};
use scorewise_table::error::{Error, Result};

use super::decide::{DecisionChoice, SMOOTHING};
use super::finish::LabelledPredictions;
use crate::model::{Decision, ThresholdSource};
use crate::plan::{Plan, ThresholdRule};

/// Words that are part of messages and of descriptions of a decision if errors are weighted by their timing.
const WEIGHTED: &str = "with errors weighted by their timing";

/// Number of blocks of consecutive rows that are left out in turn to find out whether a tuned threshold is better than the centre of the prior.
const TUNING_BLOCKS: usize = 20;

impl LabelledPredictions {
    /// The indices of the rows in the order of time, and for each row in this order the number of its stretch. A stretch consists of rows with
    /// consecutive places. If `places` is `None`, the rows keep their order, and all of them are one stretch.
    #[must_use]
    pub fn time_order(&self) -> (Vec<usize>, Vec<u32>) {
        let mut order: Vec<usize> = (0..self.labels.len()).collect();
        let Some(places) = &self.places else { return (order, vec![0; self.labels.len()]) };
        order.sort_by_key(|row| places[*row]);
        let mut stretches = Vec::with_capacity(order.len());
        let mut stretch = 0;
        for (index, row) in order.iter().enumerate() {
            if index > 0 && places[order[index - 1]].checked_add(1) != Some(places[*row]) {
                stretch += 1;
            }
            stretches.push(stretch);
        }
        (order, stretches)
    }

    /// The same rows in the order of time, and for each row the number of its stretch, as in [`time_order`](Self::time_order). The result has no
    /// persistence forecast, no dependence between rows and no places.
    #[must_use]
    pub fn in_time_order(&self) -> (LabelledPredictions, Vec<u32>) {
        let (order, stretches) = self.time_order();
        let select = |numbers: &[f64]| order.iter().map(|row| numbers[*row]).collect::<Vec<f64>>();
        let sorted = LabelledPredictions {
            labels: order.iter().map(|row| self.labels[*row]).collect(),
            probabilities: if self.probabilities.is_empty() { Vec::new() } else { select(&self.probabilities) },
            weights: self.weights.as_deref().map(select),
            ..LabelledPredictions::default()
        };
        (sorted, stretches)
    }
}

/// The rows of a time series in the order of time. Forecasts of these rows are judged by a score that is computed from time-weighted counts.
pub(super) struct TimeSeries<'a> {
    weighting: &'a Weighting,
    order: Vec<usize>,
    stretches: Vec<u32>,
    labels: Vec<bool>,
    weights: Option<Vec<f64>>,
}

impl<'a> TimeSeries<'a> {
    pub fn new(rows: &LabelledPredictions, weighting: &'a Weighting) -> Self {
        let (order, stretches) = rows.time_order();
        let labels = order.iter().map(|row| rows.labels[*row] == 1).collect();
        let weights = rows.weights.as_ref().map(|weights| order.iter().map(|row| weights[*row]).collect());
        TimeSeries { weighting, order, stretches, labels, weights }
    }

    /// The time-weighted confusion matrices at all thresholds. `probabilities` follow the original order of the rows, not the order of time.
    pub fn sweep(&self, probabilities: &[f64]) -> Result<TemporalSweep> {
        self.sweep_of(probabilities, |_| true)
    }

    /// The time-weighted confusion matrices of some rows at all thresholds. `counts` says whether a row is counted; its argument is the index of the
    /// row in the order of time. The rows that are not counted still affect the time weights of their neighbours.
    fn sweep_of(&self, probabilities: &[f64], counts: impl Fn(usize) -> bool) -> Result<TemporalSweep> {
        let sorted: Vec<f64> = self.order.iter().map(|row| probabilities[*row]).collect();
        let rows = Rows::new(Probabilities(&sorted), &self.labels)?;
        let weight = |index: usize| match &self.weights {
            _ if !counts(index) => 0.0,
            Some(weights) => weights[index],
            None => 1.0,
        };
        let weights: Vec<f64> = (0..self.labels.len()).map(weight).collect();
        let series = Series::new(rows.weighted(&weights)?)?.with_sequences(&self.stretches)?;
        Ok(TemporalSweep::new(self.weighting, &series))
    }

    /// How much better the score at a tuned threshold is than the score at the threshold `centre`, on rows that were not used for tuning. The rows
    /// are divided into [`TUNING_BLOCKS`] blocks of consecutive rows. For each block, a threshold is tuned on all other blocks. The result is 0 if a
    /// score is undefined.
    fn tuning_gain(&self, probabilities: &[f64], score: &Score, centre: f64) -> Result<f64> {
        let rows = self.labels.len();
        let (mut tuned, mut at_centre) = (Confusion::default(), Confusion::default());
        for block in 0..TUNING_BLOCKS {
            let is_in_block = |index: usize| index * TUNING_BLOCKS / rows.max(1) == block;
            if !(0..rows).any(|index| is_in_block(index) && self.has_weight(index)) {
                continue;
            }
            if !(0..rows).any(|index| !is_in_block(index) && self.has_weight(index)) {
                return Ok(0.0);
            }
            let others = self.sweep_of(probabilities, |index| !is_in_block(index))?;
            let Some(best) = others.smooth_best(score, SMOOTHING)? else { return Ok(0.0) };
            let left_out = self.sweep_of(probabilities, is_in_block)?;
            tuned += left_out.at(best.threshold);
            at_centre += left_out.at(centre);
        }
        let value = |matrix: &Confusion| score.checked(matrix).map(|value| score.oriented_value(value));
        Ok(value(&tuned).zip(value(&at_centre)).map_or(0.0, |(tuned, at_centre)| tuned - at_centre))
    }

    /// Whether the row with this index in the order of time has a weight above 0.
    fn has_weight(&self, index: usize) -> bool {
        self.weights.as_ref().is_none_or(|weights| weights[index] > 0.0)
    }
}

/// Chooses the decision threshold by a score that is computed from time-weighted counts. `centre` is the centre of the prior, or ½ for cross-entropy.
/// `source` and `words` say which of these two it is.
pub(super) fn decide_in_time(
    plan: &Plan,
    weighting: &Weighting,
    held_out: &LabelledPredictions,
    (centre, source, words): (f64, ThresholdSource, &str),
) -> Result<DecisionChoice> {
    let score = plan.score.binary()?;
    let series = TimeSeries::new(held_out, weighting);
    let sweep = series.sweep(&held_out.probabilities)?;
    let at = |threshold: f64, chosen: ThresholdSource, words: String| Decision::Threshold {
        threshold,
        interval: None,
        value: score.checked(&sweep.at(threshold)),
        chosen,
        words,
    };
    let only = |decision: Decision| Ok(DecisionChoice { decision, alternatives: Vec::new() });
    let at_centre = at(centre, source, format!("{words}, after training {WEIGHTED}"));
    match plan.threshold {
        ThresholdRule::Fixed(threshold) => return only(at(threshold, ThresholdSource::Given, "given".into())),
        ThresholdRule::Centre => return only(at_centre),
        ThresholdRule::Tuned | ThresholdRule::Auto => {}
    }
    let best = sweep.best(&score, &[]).ok_or_else(|| {
        let problem = format!("{score}, {WEIGHTED}, is undefined on the validation rows at every threshold");
        Error::setting("score", problem, "give more rows, or choose another score")
    })?;
    let words = format!("best {score} on the validation rows, {WEIGHTED}");
    let exact = Decision::best(&best, ThresholdSource::ValidationSweep, words.clone());
    if plan.threshold == ThresholdRule::Tuned && plan.cross_fit == 0 {
        return only(exact);
    }
    let tuned = match sweep.smooth_best(&score, SMOOTHING)? {
        Some(smooth) => {
            at(smooth.threshold, ThresholdSource::ValidationSweep, format!("{words}, averaged over nearby thresholds"))
        }
        None => exact.clone(),
    };
    let is_tuned = plan.threshold == ThresholdRule::Tuned
        || !plan.has_prior()
        || series.tuning_gain(&held_out.probabilities, &score, centre)? > 0.0;
    let (decision, other) = if is_tuned { (tuned, at_centre) } else { (at_centre, tuned) };
    Ok(DecisionChoice { decision, alternatives: vec![other, exact] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_threshold_has_the_best_weighted_score_of_all_thresholds() {
        // The rows are not in the order of time. No row has the place 70, so the rows form two stretches.
        let row = |row: u32| {
            let place = row * 13 % 120 + u32::from(row * 13 % 120 >= 70);
            let label = u32::from(place % 17 < 2);
            (place, label, f64::from((place + 16 * label + row % 5) % 23) / 23.0)
        };
        let rows: Vec<_> = (0..120).map(row).collect();
        let held_out = LabelledPredictions {
            labels: rows.iter().map(|row| row.1).collect(),
            probabilities: rows.iter().map(|row| row.2).collect(),
            places: Some(rows.iter().map(|row| row.0).collect()),
            ..LabelledPredictions::default()
        };
        let (order, stretches) = held_out.time_order();
        assert!(order.windows(2).all(|pair| rows[pair[0]].0 < rows[pair[1]].0));
        assert_eq!((stretches[69], stretches[70], stretches[119]), (0, 1, 1));
        for weighting in ["value", "sum", "maximum:0.5"] {
            let weighting: Weighting = weighting.parse().unwrap();
            let mut plan = Plan::new("y", "csi".parse().unwrap());
            plan.temporal = Some(weighting.clone());
            (plan.threshold, plan.cross_fit) = (ThresholdRule::Tuned, 0);
            let centre = (0.5, ThresholdSource::Prior, "the centre");
            let choice = decide_in_time(&plan, &weighting, &held_out, centre).unwrap();
            let Decision::Threshold { threshold, value: Some(value), words, .. } = &choice.decision else {
                panic!("{choice:?}");
            };
            assert!(words.contains("weighted by their timing"), "{words}");
            let sweep = TimeSeries::new(&held_out, &weighting).sweep(&held_out.probabilities).unwrap();
            let score = plan.score.binary().unwrap();
            assert_eq!(score.checked(&sweep.at(*threshold)), Some(*value));
            for step in 0..=230 {
                let other = score.checked(&sweep.at(f64::from(step) / 230.0)).unwrap_or(0.0);
                assert!(other < value + 1e-12, "{other} at {step}/230 is better than {value}");
            }
            (plan.threshold, plan.cross_fit) = (ThresholdRule::Auto, 5);
            let choice = decide_in_time(&plan, &weighting, &held_out, centre).unwrap();
            assert_eq!(choice.alternatives.len(), 2);
            assert!(choice.decision.words().contains("weighted by their timing"), "{choice:?}");
            assert!(choice.alternatives.contains(&Decision::best(
                &sweep.best(&score, &[]).unwrap(),
                ThresholdSource::ValidationSweep,
                words.clone()
            )));
        }
    }
}
