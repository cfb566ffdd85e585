//! Measures of the probabilities themselves, which do not depend on a threshold: Brier score, log-loss, area under the ROC curve, average precision.

use scorewise::sweep::{Bootstrap, BrierParts, MeasureEstimate, PairedMeasure, ProbabilityMeasure, brier_parts};
use scorewise::{Probabilities, Real, Result, Rows};
use serde::{Deserialize, Serialize};

use super::summary::Estimate;

/// Measures of the probabilities of a forecast, with 95 % intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbabilitySummary {
    /// The Brier score: the mean squared difference between the probability and the label.
    pub brier: Estimate,
    /// The log-loss: the mean negative logarithm of the probability of the true class.
    pub log_loss: Estimate,
    /// The area under the ROC curve.
    pub roc_area: Estimate,
    /// The average precision.
    pub average_precision: Estimate,
    /// The parts of the Brier score; `None` if it is undefined.
    #[serde(default)]
    pub brier_parts: Option<BrierPartsSummary>,
}

/// The parts of the Brier score, which is reliability − resolution + uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrierPartsSummary {
    /// By how much the Brier score would fall if the predictions were recalibrated; 0 is best.
    pub reliability: f64,
    /// By how much recalibrated predictions are better than always predicting the base rate; greater is better.
    pub resolution: f64,
    /// The Brier score of always predicting the base rate.
    pub uncertainty: f64,
}

/// Measures of the probabilities of two forecasts of the same rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbabilityComparison {
    /// The Brier score; lower is better.
    pub brier: ComparedMeasure,
    /// The log-loss; lower is better.
    pub log_loss: ComparedMeasure,
    /// The area under the ROC curve; higher is better.
    pub roc_area: ComparedMeasure,
    /// The average precision; higher is better.
    pub average_precision: ComparedMeasure,
}

/// One measure of the probabilities of two forecasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedMeasure {
    /// The measure of the first forecast.
    pub first: Estimate,
    /// The measure of the second forecast.
    pub second: Estimate,
    /// The measure of the first forecast minus that of the second.
    pub difference: Estimate,
}

impl ProbabilitySummary {
    /// Computes the measures of the probabilities of `rows`. Their intervals come from `bootstrap`.
    pub fn new<'a, R: Real>(rows: &Rows<'a, Probabilities<'a, R>>, bootstrap: &Bootstrap<'_>) -> Result<Self> {
        let [brier, log_loss, roc_area, average_precision] = bootstrap.probability_measures(rows)?.map(estimate);
        let parts = |BrierParts { reliability, resolution, uncertainty }| BrierPartsSummary {
            reliability,
            resolution,
            uncertainty,
        };
        let brier_parts = brier_parts(rows)?.map(parts);
        Ok(ProbabilitySummary { brier, log_loss, roc_area, average_precision, brier_parts })
    }

    /// The measures with their names in words, in the order in which they are shown.
    #[must_use]
    pub fn named(&self) -> [(&'static str, Estimate); 4] {
        let values = [self.brier, self.log_loss, self.roc_area, self.average_precision];
        std::array::from_fn(|at| (measure_title(ProbabilityMeasure::ALL[at]), values[at]))
    }
}

impl ProbabilityComparison {
    /// Compares the probabilities of two forecasts. `first` provides the labels and weights for both.
    pub fn new<'a, R: Real>(
        first: &Rows<'a, Probabilities<'a, R>>,
        second: Probabilities<'a, R>,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<Self> {
        let compared = |PairedMeasure { values, difference, .. }: PairedMeasure| {
            let [first, second] = values.map(estimate);
            ComparedMeasure { first, second, difference: estimate(difference) }
        };
        let [brier, log_loss, roc_area, average_precision] =
            bootstrap.paired_probability_measures(first, second)?.map(compared);
        Ok(ProbabilityComparison { brier, log_loss, roc_area, average_precision })
    }

    /// The measures with their names in words, in the order in which they are shown.
    #[must_use]
    pub fn named(&self) -> [(&'static str, ComparedMeasure); 4] {
        let values = [self.brier, self.log_loss, self.roc_area, self.average_precision];
        std::array::from_fn(|at| (measure_title(ProbabilityMeasure::ALL[at]), values[at]))
    }
}

/// The name of a measure in words.
#[must_use]
pub fn measure_title(measure: ProbabilityMeasure) -> &'static str {
    match measure {
        ProbabilityMeasure::Brier => "Brier score",
        ProbabilityMeasure::LogLoss => "log-loss",
        ProbabilityMeasure::RocArea => "ROC area",
        ProbabilityMeasure::AveragePrecision => "average precision",
    }
}

/// The value of a measure with its interval, in the form that is written as JSON.
fn estimate(measure: Option<MeasureEstimate>) -> Estimate {
    Estimate::new(measure.map(|measure| measure.value), measure.and_then(|measure| measure.interval))
}
