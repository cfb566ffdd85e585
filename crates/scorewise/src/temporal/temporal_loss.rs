//! The loss ℓ of a score on the expected time-weighted matrix under one random threshold. If higher values of the score s are better, ℓ = 1 − s(TN,
//! wFP, wFN, TP). The gradient of the loss is
//!
//! ```text
//! ∂ℓ/∂zⱼ = f(pⱼ) pⱼ (1 − pⱼ) Σ wₜ ∂ℓ/∂cell · (± size)        sum over all bands that end at row j
//! ```
//!
//! Here zⱼ is the logit of row j, pⱼ its probability, f the density of the prior, and wₜ the weight of the row t to which the band belongs. The sign
//! is + if row j is the upper end of the band, and − if it is the lower end. `band.rs` explains bands and `size`.
//!
//! As with [`ScoreLoss`](crate::ScoreLoss), the matrices of batches can be added, and the gradient of each batch is computed from the
//! derivatives with respect to the four cells of the sum. A batch must consist of whole sequences, because a window does not extend from one
//! batch into another.
//!
//! Where predictions within a window are equal, the loss has a kink. The later row then counts as if its prediction were slightly higher, so
//! the gradient is the limit for predictions that differ slightly, which is a Clarke subgradient.

use super::band::{FN, for_each_band};
use super::series::Series;
use super::weighting::Weighting;
use crate::confusion::{Confusion, is_positive};
use crate::error::{Error, Result};
use crate::formula::CellDerivatives;
use crate::loss::finite_derivative;
use crate::prior::{Prior, RowDistribution, RowTask, with_row_distribution};
use crate::real::Real;
use crate::rows::{Logits, Predictions, check_same_length};
use crate::score::Score;

/// A score-oriented loss for time series: a score, the prior of the threshold, and the weighting of errors by their timing.
#[derive(Clone, Debug, PartialEq)]
pub struct TemporalLoss {
    score: Score,
    prior: Prior,
    weighting: Weighting,
}

impl TemporalLoss {
    /// A loss for the given score, prior and weighting.
    #[must_use]
    pub fn new(score: Score, prior: Prior, weighting: Weighting) -> Self {
        TemporalLoss { score, prior, weighting }
    }

    /// The score that the loss is based on.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior of the threshold.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The weighting of errors by their timing.
    #[must_use]
    pub fn weighting(&self) -> &Weighting {
        &self.weighting
    }

    /// The time-weighted confusion matrix at one threshold.
    #[must_use]
    pub fn at<P: Predictions>(&self, series: &Series<'_, P>, threshold: f64) -> Confusion {
        let alarm = |value: &P::Number| f64::from(u8::from(is_positive(P::probability(*value).p, threshold)));
        let alarms = series.rows().predictions.values().iter().map(alarm).collect();
        let alarm_probabilities = with_virtual_rows(alarms);
        self.matrix_from_alarm_probabilities(series, &alarm_probabilities, &alarm_probabilities)
    }

    /// The exact expectation of the time-weighted confusion matrix over the random threshold. The matrices of separate sequences add up to the
    /// matrix of all rows.
    #[must_use]
    pub fn expect<P: Predictions>(&self, series: &Series<'_, P>) -> Confusion {
        let alarm_probabilities =
            with_virtual_rows(with_row_distribution(&self.prior, PriorCdfTask(series.rows().predictions)));
        self.matrix_from_alarm_probabilities(series, &alarm_probabilities, series.rows().predictions.values())
    }

    /// The time-weighted confusion matrix, given the probability of an alarm at each row. The order of the `predictions` determines the bands of
    /// thresholds in which a row contributes to the matrix.
    fn matrix_from_alarm_probabilities<P: Predictions, T: PartialOrd>(
        &self,
        series: &Series<'_, P>,
        alarm_probabilities: &[f64],
        predictions: &[T],
    ) -> Confusion {
        let mut cells = [0.0; 4];
        for_each_band(&self.weighting, series, predictions, |row, band| {
            let probability = alarm_probabilities[band.upper] - alarm_probabilities[band.lower];
            cells[band.cell] += series.rows().weight(row) * band.size * probability;
        });
        // Credits are subtracted from the weight of a miss, so rounding may make the false negatives slightly negative; they are clamped at 0.
        cells[FN] = cells[FN].max(0.0);
        let [tn, fp, fn_, tp] = cells;
        Confusion::new(tn, fp, fn_, tp)
    }

    /// The loss of a time-weighted confusion matrix.
    pub fn of(&self, confusion: &Confusion) -> Result<f64> {
        self.value_and_derivatives(confusion).map(|(value, _)| value)
    }

    /// The derivatives of the loss with respect to the cells of a time-weighted matrix. Pass them to
    /// [`gradient_with`](TemporalLoss::gradient_with) for every batch that contributed to the matrix.
    pub fn derivatives(&self, confusion: &Confusion) -> Result<CellDerivatives> {
        self.value_and_derivatives(confusion).map(|(_, derivatives)| derivatives)
    }

    /// The loss of a time-weighted confusion matrix, and the derivatives of the loss with respect to the cells.
    fn value_and_derivatives(&self, confusion: &Confusion) -> Result<(f64, CellDerivatives)> {
        let (value, by_cell) = self.score.formula().value_and_derivatives(confusion);
        let loss_derivative = self.score.loss_derivative(value);
        let [tn, fp, fn_, tp] = [by_cell.tn, by_cell.fp, by_cell.fn_, by_cell.tp]
            .map(|derivative| finite_derivative(loss_derivative * derivative));
        if !value.is_finite() {
            return Err(Error::NotFinite { score: self.score.name().to_string() });
        }
        Ok((self.score.loss(value), CellDerivatives { tn, fp, fn_, tp }))
    }

    /// Writes the gradient of the loss with respect to the logits of these rows to `gradient`. `derivatives` is the result of
    /// [`derivatives`](TemporalLoss::derivatives) for the time-weighted matrix of these rows or, if the rows are one of several batches, for
    /// the sum of the matrices of all batches.
    pub fn gradient_with<R: Real>(
        &self,
        derivatives: CellDerivatives,
        series: &Series<'_, Logits<'_, R>>,
        gradient: &mut [R],
    ) -> Result<()> {
        check_same_length("gradient", series.len(), gradient.len())?;
        let logits = series.rows().predictions.0;
        let by_cell = [derivatives.tn, derivatives.fp, derivatives.fn_, derivatives.tp];
        // The derivative of the loss with respect to the alarm probability of every row. The last two derivatives belong to the virtual rows that
        // serve as ends of bands; they are not used, because virtual rows have no logit.
        let mut by_alarm_probability = with_virtual_rows(vec![0.0; logits.len()]);
        for_each_band(&self.weighting, series, logits, |row, band| {
            let derivative = series.rows().weight(row) * by_cell[band.cell] * band.size;
            by_alarm_probability[band.upper] += derivative;
            by_alarm_probability[band.lower] -= derivative;
        });
        with_row_distribution(
            &self.prior,
            TemporalGradientTask { logits, by_alarm_probability: &by_alarm_probability, gradient },
        );
        Ok(())
    }

    /// The loss ℓ of a series.
    pub fn value<P: Predictions>(&self, series: &Series<'_, P>) -> Result<f64> {
        self.of(&self.expect(series))
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, series: &Series<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        let (value, derivatives) = self.value_and_derivatives(&self.expect(series))?;
        self.gradient_with(derivatives, series, gradient)?;
        Ok(value)
    }
}

/// Appends the alarm probabilities of the two virtual rows that serve as ends of threshold bands: 1 for a row that is always above the threshold,
/// 0 for a row that never is.
fn with_virtual_rows(mut alarm_probabilities: Vec<f64>) -> Vec<f64> {
    alarm_probabilities.extend([1.0, 0.0]);
    alarm_probabilities
}

/// Computes the distribution function of the prior at the prediction of every row, in the floating-point type of the row.
struct PriorCdfTask<P>(P);

impl<P: Predictions> RowTask<P::Number> for PriorCdfTask<P> {
    type Output = Vec<f64>;
    fn run<D: RowDistribution<P::Number>>(self, distribution: D) -> Vec<f64> {
        self.0.values().iter().map(|value| P::cdf(&distribution, *value).to_f64()).collect()
    }
}

/// Computes the derivative of the loss with respect to the logit of every row: the derivative with respect to the alarm probability of the row times
/// the derivative of the alarm probability with respect to the logit.
struct TemporalGradientTask<'a, R> {
    logits: &'a [R],
    by_alarm_probability: &'a [f64],
    gradient: &'a mut [R],
}

impl<R: Real> RowTask<R> for TemporalGradientTask<'_, R> {
    type Output = ();
    fn run<D: RowDistribution<R>>(self, distribution: D) {
        for ((out, z), derivative) in self.gradient.iter_mut().zip(self.logits).zip(self.by_alarm_probability) {
            *out = R::from_f64_clamped(derivative * distribution.density_of_logit(*z).to_f64());
        }
    }
}
