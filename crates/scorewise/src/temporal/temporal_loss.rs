//! The loss of a score over a weighted matrix: 1 − s(TN, wFP, wFN, TP) under one random threshold.
//!
//! ```text
//! ∂ℓ/∂zⱼ = f(pⱼ) pⱼ (1 − pⱼ) Σ wₜ ∂ℓ/∂cell · (± size)        over the bands of all rows t that end at row j
//! ```
//!
//! As with [`ScoreLoss`](crate::ScoreLoss), matrices add up over batches — of whole sequences, as a window does not reach
//! from one batch into another — and four slopes finish the gradient of each.
//!
//! Where predictions within a window are equal, the loss has a kink. The later row then counts as the higher, so the
//! gradient is the limit from predictions that are a little apart: a subgradient in the sense of Clarke.

use super::band::{FN, each_band};
use super::series::Series;
use super::weighting::Weighting;
use crate::confusion::{Confusion, is_positive};
use crate::error::{Error, Result};
use crate::formula::CellSlopes;
use crate::loss::finite_slope;
use crate::prior::{Prior, RowDistribution, RowTask, with_row_distribution};
use crate::real::Real;
use crate::rows::{Logits, Predictions, same_length};
use crate::score::Score;

/// A score, the distribution of the threshold, and how errors weigh in time.
#[derive(Clone, Debug, PartialEq)]
pub struct TemporalLoss {
    score: Score,
    prior: Prior,
    weighting: Weighting,
}

impl TemporalLoss {
    /// A loss for this score under this prior, errors weighing so.
    #[must_use]
    pub fn new(score: Score, prior: Prior, weighting: Weighting) -> Self {
        TemporalLoss { score, prior, weighting }
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// How errors weigh in time.
    #[must_use]
    pub fn weighting(&self) -> &Weighting {
        &self.weighting
    }

    /// The weighted matrix at one threshold.
    #[must_use]
    pub fn at<P: Predictions>(&self, series: &Series<'_, P>, threshold: f64) -> Confusion {
        let alarm = |value: &P::Number| f64::from(u8::from(is_positive(P::chance(*value).p, threshold)));
        let alarms = series.rows().predictions.values().iter().map(alarm).collect();
        let levels = closed(alarms);
        self.matrix(series, &levels, &levels)
    }

    /// The weighted matrix in exact expectation over the threshold. Matrices of whole sequences add up to that of all.
    #[must_use]
    pub fn expect<P: Predictions>(&self, series: &Series<'_, P>) -> Confusion {
        let levels = closed(with_row_distribution(&self.prior, Levels(series.rows().predictions)));
        self.matrix(series, &levels, series.rows().predictions.values())
    }

    fn matrix<P: Predictions, H: PartialOrd>(
        &self,
        series: &Series<'_, P>,
        levels: &[f64],
        heights: &[H],
    ) -> Confusion {
        let mut cells = [0.0; 4];
        each_band(&self.weighting, series, heights, |row, band| {
            cells[band.cell] += series.rows().weight(row) * band.size * (levels[band.upper] - levels[band.lower]);
        });
        // Credits are taken off; what they leave of nothing may be a rounding below 0.
        cells[FN] = cells[FN].max(0.0);
        let [tn, fp, fn_, tp] = cells;
        Confusion::new(tn, fp, fn_, tp)
    }

    /// The loss of a weighted matrix.
    pub fn of(&self, confusion: &Confusion) -> Result<f64> {
        self.value_and_slopes(confusion).map(|(value, _)| value)
    }

    /// ∂ℓ by each cell of a weighted matrix: what finishes the gradient of every batch in it.
    pub fn slopes(&self, confusion: &Confusion) -> Result<CellSlopes> {
        self.value_and_slopes(confusion).map(|(_, slopes)| slopes)
    }

    fn value_and_slopes(&self, confusion: &Confusion) -> Result<(f64, CellSlopes)> {
        let (value, by_cell) = self.score.formula().value_and_slopes(confusion);
        let loss = self.score.loss_slope(value);
        let [tn, fp, fn_, tp] =
            [by_cell.tn, by_cell.fp, by_cell.fn_, by_cell.tp].map(|slope| finite_slope(loss * slope));
        if !value.is_finite() {
            return Err(Error::NotFinite { score: self.score.name().to_string() });
        }
        Ok((self.score.loss(value), CellSlopes { tn, fp, fn_, tp }))
    }

    /// Writes ∂ℓ/∂z of these rows, the slopes being those of the whole batch that they belong to.
    pub fn gradient_with<R: Real>(
        &self,
        slopes: CellSlopes,
        series: &Series<'_, Logits<'_, R>>,
        gradient: &mut [R],
    ) -> Result<()> {
        same_length("gradient", series.len(), gradient.len())?;
        let logits = series.rows().predictions.0;
        let by_cell = [slopes.tn, slopes.fp, slopes.fn_, slopes.tp];
        // ∂ℓ/∂L of every row, and of the two that close the list and have no logit.
        let mut by_level = closed(vec![0.0; logits.len()]);
        each_band(&self.weighting, series, logits, |row, band| {
            let slope = series.rows().weight(row) * by_cell[band.cell] * band.size;
            by_level[band.upper] += slope;
            by_level[band.lower] -= slope;
        });
        with_row_distribution(&self.prior, Gradient { logits, by_level: &by_level, gradient });
        Ok(())
    }

    /// ℓ.
    pub fn value<P: Predictions>(&self, series: &Series<'_, P>) -> Result<f64> {
        self.of(&self.expect(series))
    }

    /// ℓ, and ∂ℓ/∂z into the caller's slice.
    pub fn value_and_gradient<R: Real>(&self, series: &Series<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        let (value, slopes) = self.value_and_slopes(&self.expect(series))?;
        self.gradient_with(slopes, series, gradient)?;
        Ok(value)
    }
}

/// The levels of the rows, then of the row that is always above the threshold and of the one that never is.
fn closed(mut levels: Vec<f64>) -> Vec<f64> {
    levels.extend([1.0, 0.0]);
    levels
}

/// F of every row, in the row's own precision as everywhere.
struct Levels<P>(P);

impl<P: Predictions> RowTask<P::Number> for Levels<P> {
    type Output = Vec<f64>;
    fn run<L: RowDistribution<P::Number>>(self, law: L) -> Vec<f64> {
        self.0.values().iter().map(|value| P::cdf(&law, *value).wide()).collect()
    }
}

/// ∂ℓ/∂L times dL/dz.
struct Gradient<'a, R> {
    logits: &'a [R],
    by_level: &'a [f64],
    gradient: &'a mut [R],
}

impl<R: Real> RowTask<R> for Gradient<'_, R> {
    type Output = ();
    fn run<L: RowDistribution<R>>(self, law: L) {
        for ((out, z), slope) in self.gradient.iter_mut().zip(self.logits).zip(self.by_level) {
            *out = R::of_clamped(slope * law.density_of_logit(*z).wide());
        }
    }
}
