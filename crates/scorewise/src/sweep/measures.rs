//! Measures of the probabilities themselves: Brier score, log-loss, area under the ROC curve and average precision, with confidence intervals.
//!
//! They do not depend on a threshold, and are not functions of one confusion matrix as scores are.
//!
//! ```text
//! Brier score          mean of (p − y)²                                 y: 1 for a positive, 0 for a negative
//! log-loss             mean of −ln p for positives, −ln(1 − p) for negatives; p is limited to [2⁻⁵², 1 − 2⁻⁵²], as in scikit-learn
//! ROC area             P(prediction of a positive > that of a negative) + ½ P(equal)
//! average precision    Σ (recallₖ − recallₖ₋₁) precisionₖ               one term for each distinct prediction
//! ```
//!
//! **Intervals.** The error of a measure is approximately a sum with one term ψ for each row: ψ is the weight of the row times the derivative of the
//! measure with respect to this weight. For a mean of losses ℓ with weights w, for example, ψ = w (ℓ − mean) / Σw. The variance V of this sum is
//! estimated as for scores ([`effective`](super::effective)): from single rows, from groups or from blocks of rows. No replicates are drawn, so the
//! rows are sorted only once. With the quantile t of Student's distribution, the interval is
//!
//! ```text
//! logit m ± t √V / (m (1 − m))        for a measure m between 0 and 1
//! ln m ± t √V / m                     for the log-loss
//! d ± t √V                            for the difference of the measures of two forecasts, V from the differences of ψ
//! ```
//!
//! If m is 0 or 1, then V = 0. The interval is then [0, 1 − 0.025^(1/n)] for m = 0 and [0.025^(1/n), 1] for m = 1. Here n is the number of
//! independent rows, groups or blocks; only the smaller class is counted for the ROC area, and only the positives for the average precision. For a
//! share of n rows this is the interval of Clopper and Pearson.
//!
//! **Parts of the Brier score** (Murphy 1973): Brier score = reliability − resolution + uncertainty. They are computed with isotonic regression
//! instead of bins, so they depend on no choice of bins and add up exactly (Dimitriadis, Gneiting and Jordan 2021).
//!
//! DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated receiver operating characteristic
//! curves. Biometrics 44(3), 837–845. Dimitriadis, T., Gneiting, T. & Jordan, A. I. (2021). Stable reliability diagrams for probabilistic
//! classifiers. PNAS 118(8), e2016191118. Murphy, A. H. (1973). A new vector partition of the probability score. Journal of Applied Meteorology 12,
//! 595–600.

use super::bootstrap::{BlockLength, Bootstrap, Resampling};
use super::effective::{
    degrees_of_freedom, powers, safe_block_length, student_quantile, variance_of_blocks, variance_of_groups,
};
use super::sort::order_descending;
use crate::calibration::isotonic::{PooledRows, pooled};
use crate::error::Result;
use crate::prior::Probability;
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows, check_same_length};

/// A measure of predicted probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbabilityMeasure {
    /// The mean squared difference between the probability and the label, 1 or 0.
    Brier,
    /// The mean negative logarithm of the probability of the true class.
    LogLoss,
    /// The area under the ROC curve.
    RocArea,
    /// The average precision: the area under the precision-recall curve, without interpolation.
    AveragePrecision,
}

impl ProbabilityMeasure {
    /// All measures, in the order in which they are shown.
    pub const ALL: [ProbabilityMeasure; 4] = [
        ProbabilityMeasure::Brier,
        ProbabilityMeasure::LogLoss,
        ProbabilityMeasure::RocArea,
        ProbabilityMeasure::AveragePrecision,
    ];

    /// The name of the measure, as in JSON: `brier`, `log_loss`, `roc_area` or `average_precision`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ProbabilityMeasure::Brier => "brier",
            ProbabilityMeasure::LogLoss => "log_loss",
            ProbabilityMeasure::RocArea => "roc_area",
            ProbabilityMeasure::AveragePrecision => "average_precision",
        }
    }

    /// Whether lower values are better.
    #[must_use]
    pub fn lower_is_better(self) -> bool {
        matches!(self, ProbabilityMeasure::Brier | ProbabilityMeasure::LogLoss)
    }
}

/// The value of a measure and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureEstimate {
    /// The value of the measure.
    pub value: f64,
    /// The 95 % interval; `None` if it cannot be computed.
    pub interval: Option<(f64, f64)>,
}

/// A measure of two forecasts of the same rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedMeasure {
    /// The measure.
    pub measure: ProbabilityMeasure,
    /// The measure of the first forecast and of the second; `None` where it is undefined.
    pub values: [Option<MeasureEstimate>; 2],
    /// The measure of the first forecast minus that of the second; `None` if one of them is undefined.
    pub difference: Option<MeasureEstimate>,
}

/// The parts of the Brier score: Brier score = reliability − resolution + uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrierParts {
    /// By how much the Brier score would fall if the predictions were recalibrated; 0 is best.
    pub reliability: f64,
    /// By how much the Brier score of the recalibrated predictions is below that of always predicting the base rate; greater is better.
    pub resolution: f64,
    /// The Brier score of always predicting the base rate. It does not depend on the forecast.
    pub uncertainty: f64,
}

impl Bootstrap<'_> {
    /// The value of each measure of [`ProbabilityMeasure::ALL`] with its 95 % interval; `None` where a measure is undefined because a class has no
    /// rows. The resampling of the bootstrap says which rows depend on each other. No random numbers are drawn.
    ///
    /// ```
    /// use scorewise::sweep::{Bootstrap, Resampling};
    /// use scorewise::{Probabilities, Rows};
    ///
    /// let labels = [true, false, false, true, false, true];
    /// let rows = Rows::new(Probabilities(&[0.9, 0.1, 0.2, 0.8, 0.1, 0.7]), &labels)?;
    /// let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 1000, seed: 0 };
    /// let [brier, _, roc_area, _] = bootstrap.probability_measures(&rows)?.map(Option::unwrap);
    /// assert!((brier.value - 0.2 / 6.0).abs() < 1e-12);
    /// assert_eq!(roc_area.value, 1.0);
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn probability_measures<'a, R: Real>(
        &self,
        rows: &Rows<'a, Probabilities<'a, R>>,
    ) -> Result<[Option<MeasureEstimate>; 4]> {
        self.check_settings_for(rows.len())?;
        let ranked = RowsByPrediction::new(rows)?;
        Ok(ProbabilityMeasure::ALL.map(|measure| {
            let linear = ranked.linear(measure)?;
            Some(self.estimate(measure, &ranked, &linear))
        }))
    }

    /// The measures of two forecasts of the same rows, and their differences with 95 % intervals. `first` provides the labels and weights for both.
    pub fn paired_probability_measures<'a, R: Real>(
        &self,
        first: &Rows<'a, Probabilities<'a, R>>,
        second: Probabilities<'a, R>,
    ) -> Result<[PairedMeasure; 4]> {
        self.check_settings_for(first.len())?;
        check_same_length("the second forecast", first.len(), second.values().len())?;
        let second = Rows { predictions: second, ..*first };
        let ranked = [RowsByPrediction::new(first)?, RowsByPrediction::new(&second)?];
        Ok(ProbabilityMeasure::ALL.map(|measure| {
            let linear = ranked.each_ref().map(|ranked| ranked.linear(measure));
            let values = [0, 1].map(|at| Some(self.estimate(measure, &ranked[at], linear[at].as_ref()?)));
            let difference = match linear {
                [Some(mut one), Some(other)] => {
                    one.terms.iter_mut().zip(&other.terms).for_each(|(one, other)| *one -= other);
                    let value = one.value - other.value;
                    let reach = self.reach(&one.terms);
                    let interval = reach.is_finite().then_some((value - reach, value + reach));
                    Some(MeasureEstimate { value, interval })
                }
                _ => None,
            };
            PairedMeasure { measure, values, difference }
        }))
    }

    /// The value of a measure with its interval.
    fn estimate<R: Real>(
        &self,
        measure: ProbabilityMeasure,
        ranked: &RowsByPrediction<'_, R>,
        linear: &Linear,
    ) -> MeasureEstimate {
        let (value, reach) = (linear.value, self.reach(&linear.terms));
        let interval = match measure {
            // If the log-loss is nearly 0, the forecast was certain and right for every row. Nothing is known about the cost of a mistake.
            ProbabilityMeasure::LogLoss if value < 1e-12 || !reach.is_finite() => None,
            ProbabilityMeasure::LogLoss => {
                let factor = (reach / value).exp();
                Some((value / factor, value * factor)).filter(|(_, high)| high.is_finite())
            }
            _ if value <= 0.0 || value >= 1.0 => {
                let share = 0.025f64.powf(1.0 / self.independent_units(measure, ranked).max(1.0));
                Some(if value <= 0.0 { (0.0, 1.0 - share) } else { (share, 1.0) })
            }
            _ => {
                let at = Probability::new(value);
                let (logit, reach) = (at.ln_p() - at.ln_q(), reach / (at.p * at.q));
                let end = |logit: f64| Probability::from_logit(logit).p;
                // The interval contains the value even if the logit is rounded.
                Some((end(logit - reach).min(value), end(logit + reach).max(value)))
            }
        };
        MeasureEstimate { value, interval }
    }

    /// Half the length of the 95 % interval of the sum of these terms: the standard deviation of the sum times the quantile of Student's
    /// distribution.
    fn reach(&self, terms: &[f64]) -> f64 {
        let (variance, freedom) = match self.resampling {
            Resampling::Poisson | Resampling::Stratified => {
                let (squares, fourth_powers) = powers(terms.iter().copied());
                let count = terms.len() as f64;
                (squares * count / (count - 1.0).max(1.0), degrees_of_freedom(count, squares, fourth_powers))
            }
            Resampling::Groups(groups) => variance_of_groups(terms, groups),
            Resampling::Blocks(length) => variance_of_blocks(terms, length),
        };
        if variance == 0.0 { 0.0 } else { student_quantile(freedom) * variance.sqrt() }
    }

    /// The number of independent units (rows, groups or blocks, depending on the resampling) for the interval of a measure with the value 0 or 1.
    /// Rows with weights w count as (Σw)² / Σw² rows.
    fn independent_units<R: Real>(&self, measure: ProbabilityMeasure, ranked: &RowsByPrediction<'_, R>) -> f64 {
        let (rows, labels) = (ranked.labels.len(), ranked.labels);
        let of = |is_counted: &dyn Fn(usize) -> bool| match self.resampling {
            Resampling::Groups(groups) => {
                let mut present: Vec<u32> = (0..rows).filter(|row| is_counted(*row)).map(|row| groups[row]).collect();
                present.sort_unstable();
                present.dedup();
                present.len() as f64
            }
            _ => {
                let weights = (0..rows).filter(|row| is_counted(*row)).map(|row| ranked.weight(row));
                let (sum, square) =
                    weights.fold((0.0, 0.0), |(sum, square), weight| (sum + weight, square + weight * weight));
                let count = if square > 0.0 { sum * sum / square } else { 0.0 };
                match self.resampling {
                    Resampling::Blocks(BlockLength::Rows(length)) => count / length as f64,
                    Resampling::Blocks(BlockLength::Auto) => {
                        // The contributions of all rows are 0 here, so the length of the blocks is computed from the labels.
                        let labels: Vec<f64> = labels.iter().map(|label| f64::from(u8::from(*label))).collect();
                        count / safe_block_length(&labels) as f64
                    }
                    _ => count,
                }
            }
        };
        let of_class = |class: bool| of(&|row| labels[row] == class);
        match measure {
            ProbabilityMeasure::Brier | ProbabilityMeasure::LogLoss => of(&|_| true),
            ProbabilityMeasure::RocArea => of_class(true).min(of_class(false)),
            ProbabilityMeasure::AveragePrecision => of_class(true),
        }
    }
}

/// The parts of the Brier score; `None` if all weights are 0.
pub fn brier_parts<'a, R: Real>(rows: &Rows<'a, Probabilities<'a, R>>) -> Result<Option<BrierParts>> {
    let ranked = RowsByPrediction::new(rows)?;
    let total = ranked.positives + ranked.negatives;
    let Some(Linear { value: brier, .. }) = ranked.linear(ProbabilityMeasure::Brier) else { return Ok(None) };
    // The groups are in descending order of their predictions; isotonic regression needs ascending order.
    let steps = ranked.steps();
    let blocks = steps.iter().rev().map(|step| PooledRows { positives: step.hits, negatives: step.alarms, sum: 0.0 });
    let recalibrated: f64 =
        pooled(blocks).iter().map(|block| block.positives * block.negatives / block.weight()).sum::<f64>() / total;
    let uncertainty = ranked.positives / total * (ranked.negatives / total);
    Ok(Some(BrierParts {
        reliability: (brier - recalibrated).max(0.0),
        resolution: (uncertainty - recalibrated).max(0.0),
        uncertainty,
    }))
}

/// The value of a measure, and the contribution of each row to its error.
struct Linear {
    value: f64,
    /// For each row, its contribution ψ to the error of the measure: its weight times the derivative of the measure with respect to this weight.
    terms: Vec<f64>,
}

/// A group of rows with the same prediction, which is one step of the ROC curve.
struct Step {
    /// The index after the last row of the group in [`RowsByPrediction::order`].
    end: usize,
    /// The weight of the positives with this prediction.
    hits: f64,
    /// The weight of the negatives with this prediction.
    alarms: f64,
}

/// Rows and their order by prediction.
struct RowsByPrediction<'a, R: Real> {
    predictions: &'a [R],
    labels: &'a [bool],
    /// The weights of the rows; `None` if every row has weight 1.
    weights: Option<&'a [R]>,
    /// The indices of the rows in descending order of their predictions.
    order: Vec<u32>,
    positives: f64,
    negatives: f64,
}

impl<'a, R: Real> RowsByPrediction<'a, R> {
    /// Checks and sorts the rows.
    fn new(rows: &Rows<'a, Probabilities<'a, R>>) -> Result<Self> {
        rows.check()?;
        let (mut positives, mut negatives) = (0.0, 0.0);
        for (row, label) in rows.labels.iter().enumerate() {
            *(if *label { &mut positives } else { &mut negatives }) += rows.weight(row);
        }
        let Rows { predictions: Probabilities(predictions), labels, weights } = *rows;
        Ok(RowsByPrediction {
            predictions,
            labels,
            weights,
            order: order_descending(predictions)?,
            positives,
            negatives,
        })
    }

    /// The weight of a row; 1 if the rows have no weights.
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row].to_f64())
    }

    /// Groups of rows with the same prediction, in descending order of their predictions.
    fn steps(&self) -> Vec<Step> {
        let value = |position: usize| self.predictions[self.order[position] as usize].to_f64();
        let (mut steps, mut hits, mut alarms) = (Vec::new(), 0.0, 0.0);
        for (position, row) in self.order.iter().enumerate() {
            let row = *row as usize;
            *(if self.labels[row] { &mut hits } else { &mut alarms }) += self.weight(row);
            if position + 1 == self.order.len() || value(position) != value(position + 1) {
                steps.push(Step { end: position + 1, hits, alarms });
                (hits, alarms) = (0.0, 0.0);
            }
        }
        steps
    }

    /// The value of a measure and the contribution of each row to its error; `None` if the measure is undefined.
    fn linear(&self, measure: ProbabilityMeasure) -> Option<Linear> {
        match measure {
            ProbabilityMeasure::Brier => self.mean(|p, label| if label { p.q * p.q } else { p.p * p.p }),
            ProbabilityMeasure::LogLoss => self.mean(|p, label| {
                let limited = Probability::new(p.p.clamp(f64::EPSILON, 1.0 - f64::EPSILON));
                if label { -limited.ln_p() } else { -limited.ln_q() }
            }),
            ProbabilityMeasure::RocArea => self.roc_area(),
            ProbabilityMeasure::AveragePrecision => self.average_precision(),
        }
    }

    /// The weighted mean of a loss.
    fn mean(&self, loss: impl Fn(Probability, bool) -> f64) -> Option<Linear> {
        let total = self.positives + self.negatives;
        if total <= 0.0 {
            return None;
        }
        let values = self.predictions.iter().zip(self.labels);
        let mut terms: Vec<f64> = values.map(|(value, label)| loss(Probability::new(value.to_f64()), *label)).collect();
        let value = terms.iter().enumerate().map(|(row, loss)| self.weight(row) * loss).sum::<f64>() / total;
        terms.iter_mut().enumerate().for_each(|(row, term)| *term = self.weight(row) * (*term - value) / total);
        Some(Linear { value, terms })
    }

    /// The area under the ROC curve. Its derivative with respect to the weight of a positive is the share of negatives with lower predictions minus
    /// the area, divided by the weight of all positives. Its derivative with respect to the weight of a negative is the share of positives with
    /// higher predictions minus the area, divided by the weight of all negatives. Equal predictions count ½ in both shares.
    fn roc_area(&self) -> Option<Linear> {
        let (positives, negatives) = (self.positives, self.negatives);
        if positives <= 0.0 || negatives <= 0.0 {
            return None;
        }
        let steps = self.steps();
        let (mut tp, mut fp, mut pairs);
        (tp, pairs) = (0.0, 0.0);
        for step in &steps {
            pairs += step.alarms * (tp + 0.5 * step.hits);
            tp += step.hits;
        }
        let value = pairs / (positives * negatives);
        let mut terms = vec![0.0; self.order.len()];
        let mut start = 0;
        (tp, fp) = (0.0, 0.0);
        for Step { end, hits, alarms } in steps {
            let of_positive = ((negatives - fp - 0.5 * alarms) / negatives - value) / positives;
            let of_negative = ((tp + 0.5 * hits) / positives - value) / negatives;
            for row in &self.order[start..end] {
                let row = *row as usize;
                terms[row] = self.weight(row) * if self.labels[row] { of_positive } else { of_negative };
            }
            (tp, fp, start) = (tp + hits, fp + alarms, end);
        }
        Some(Linear { value, terms })
    }

    /// The average precision. Let hₖ be the weight of the positives at the k-th highest distinct prediction, Tₖ the weight of the positives with this
    /// or a higher prediction, Nₖ the weight of all rows with this or a higher prediction, and P the weight of all positives. Then the average
    /// precision is Σ hₖ Tₖ/Nₖ / P. Its derivative with respect to the weight of a row with label y (1 or 0) at the k-th highest prediction is
    ///
    /// ```text
    /// [ y (Tₖ/Nₖ − value) + Σ hⱼ (y/Nⱼ − Tⱼ/Nⱼ²) ] / P        sum over j ≥ k
    /// ```
    fn average_precision(&self) -> Option<Linear> {
        let positives = self.positives;
        if positives <= 0.0 {
            return None;
        }
        let steps = self.steps();
        let (mut cumulative, mut tp, mut fp, mut sum) = (Vec::with_capacity(steps.len()), 0.0, 0.0, 0.0);
        for step in &steps {
            (tp, fp) = (tp + step.hits, fp + step.alarms);
            if step.hits > 0.0 {
                sum += step.hits * (tp / (tp + fp));
            }
            cumulative.push((tp, tp + fp));
        }
        let value = sum / positives;
        let mut terms = vec![0.0; self.order.len()];
        let (mut of_hits, mut of_all) = (0.0, 0.0);
        for (at, step) in steps.iter().enumerate().rev() {
            let (hits, all) = cumulative[at];
            if all <= 0.0 {
                continue;
            }
            of_hits += step.hits / all;
            of_all += step.hits * hits / (all * all);
            let of_positive = (hits / all - value + of_hits - of_all) / positives;
            let of_negative = -of_all / positives;
            let start = if at == 0 { 0 } else { steps[at - 1].end };
            for row in &self.order[start..step.end] {
                let row = *row as usize;
                terms[row] = self.weight(row) * if self.labels[row] { of_positive } else { of_negative };
            }
        }
        Some(Linear { value, terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predictions with ties, labels and weights of a few rows.
    fn rows() -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let values = vec![0.9, 0.8, 0.8, 0.8, 0.6, 0.4, 0.4, 0.3, 0.1, 0.1];
        let labels = [1, 1, 0, 1, 0, 1, 0, 0, 0, 1].map(|label| label == 1).to_vec();
        let weights = vec![1.0, 2.0, 0.5, 1.0, 3.0, 1.5, 1.0, 0.25, 2.0, 1.0];
        (values, labels, weights)
    }

    #[test]
    fn the_contribution_of_a_row_is_its_weight_times_the_derivative_with_respect_to_it() {
        let (values, labels, weights) = rows();
        let value = |weights: &[f64], measure| {
            let rows = Rows::new(Probabilities(&values), &labels).unwrap().weighted(weights).unwrap();
            RowsByPrediction::new(&rows).unwrap().linear(measure).unwrap().value
        };
        for measure in ProbabilityMeasure::ALL {
            let rows = Rows::new(Probabilities(&values), &labels).unwrap().weighted(&weights).unwrap();
            let linear = RowsByPrediction::new(&rows).unwrap().linear(measure).unwrap();
            for row in 0..labels.len() {
                let moved = |step: f64| {
                    let mut moved = weights.clone();
                    moved[row] += step;
                    value(&moved, measure)
                };
                let derivative = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let expected = weights[row] * derivative;
                assert!(
                    (linear.terms[row] - expected).abs() < 1e-8,
                    "{measure:?} {row} {} {expected}",
                    linear.terms[row]
                );
            }
            assert!(linear.terms.iter().sum::<f64>().abs() < 1e-12);
        }
    }

    #[test]
    fn the_parts_of_the_brier_score_add_up_to_it() {
        let (values, labels, weights) = rows();
        let rows = Rows::new(Probabilities(&values), &labels).unwrap().weighted(&weights).unwrap();
        let brier = RowsByPrediction::new(&rows).unwrap().linear(ProbabilityMeasure::Brier).unwrap().value;
        let parts = brier_parts(&rows).unwrap().unwrap();
        assert!((parts.reliability - parts.resolution + parts.uncertainty - brier).abs() < 1e-12);
        assert!(parts.reliability > 0.0 && parts.resolution > 0.0);
        // A forecast of the base rate is reliable but has no resolution.
        let constant = Rows::new(Probabilities(&[0.25; 4]), &[true, false, false, false]).unwrap();
        let parts = brier_parts(&constant).unwrap().unwrap();
        assert_eq!((parts.reliability, parts.resolution, parts.uncertainty), (0.0, 0.0, 3.0 / 16.0));
    }
}
