//! Chooses the calibration with the lowest log-loss on rows that were not used to fit it.

use super::bins::{Bin, BinnedRows};
use super::{Calibration, CalibrationMethod, beta, isotonic};
use crate::error::Result;
use crate::prior::Probability;
use crate::rows::{Probabilities, Rows};
use crate::sweep::{Bootstrap, FOLDS};

/// The division into folds is repeated `FITTED_ROWS` / (number of rows) times, but at least once and at most [`MAX_REPEATS`] times.
const FITTED_ROWS: usize = 200_000;
/// Maximum number of times that the rows are divided into folds.
const MAX_REPEATS: usize = 10;

/// The mean log-loss of predictions without and with calibration, on rows that were not used to fit the calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationLosses {
    /// The log-loss of predictions that are not calibrated.
    pub uncalibrated: f64,
    /// The log-loss with beta calibration.
    pub beta: f64,
    /// The log-loss with isotonic regression.
    pub isotonic: f64,
}

/// The calibration with the lowest log-loss, and the log-losses of all candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationChoice {
    /// The calibration, fitted to all rows; `None` if predictions that are not calibrated have the lowest log-loss, or if there are too few
    /// rows of one class.
    pub calibration: Option<Calibration>,
    /// The log-losses of all candidates; `None` if there are too few rows of one class to fit a calibration.
    pub losses: Option<CalibrationLosses>,
}

/// Fits calibrations to predictions of rows that the classifier was not trained on, and chooses the one with the lowest log-loss in a
/// cross-validation: each calibration is fitted to four of five folds and judged on the fifth. The resampling and the seed of `folds`
/// determine the folds, so that rows that depend on each other are in the same fold. The number of replicates of `folds` is not used.
pub fn choose(rows: &Rows<'_, Probabilities<'_, f64>>, folds: &Bootstrap<'_>) -> Result<CalibrationChoice> {
    let binned = BinnedRows::new(rows)?;
    let all = binned.bins(rows.labels, |_| true);
    let repeats = (FITTED_ROWS / rows.len()).clamp(1, MAX_REPEATS);
    let (mut sums, mut weight) = ([0.0; 3], 0.0);
    for repeat in 0..repeats {
        let fold_of_row = folds.folds(rows.labels, repeat)?;
        for fold in 0..FOLDS as u8 {
            let fitted = binned.bins(rows.labels, |row| fold_of_row[row] != fold);
            let judged = binned.bins(rows.labels, |row| fold_of_row[row] == fold);
            if !has_both_classes(&fitted) {
                return Ok(CalibrationChoice { calibration: None, losses: None });
            }
            let candidates = [None, Some(beta::fit(&fitted)?), Some(isotonic::fit(&fitted)?)];
            sums.iter_mut().zip(&candidates).for_each(|(sum, candidate)| *sum += log_loss(&judged, candidate.as_ref()));
            weight += judged.iter().map(|bin| bin.positives + bin.negatives).sum::<f64>();
        }
    }
    let [uncalibrated, beta, isotonic] = sums.map(|sum| sum / weight);
    let calibration = match uncalibrated <= beta.min(isotonic) {
        true => None,
        false if beta <= isotonic => Some(beta::fit(&all)?),
        false => Some(isotonic::fit(&all)?),
    };
    Ok(CalibrationChoice { calibration, losses: Some(CalibrationLosses { uncalibrated, beta, isotonic }) })
}

impl Calibration {
    /// Fits a calibration to predictions of rows that the classifier was not trained on; `None` if one of the classes has no rows.
    pub fn fit(method: CalibrationMethod, rows: &Rows<'_, Probabilities<'_, f64>>) -> Result<Option<Self>> {
        let bins = BinnedRows::new(rows)?.bins(rows.labels, |_| true);
        if !has_both_classes(&bins) {
            return Ok(None);
        }
        match method {
            CalibrationMethod::Beta => beta::fit(&bins),
            CalibrationMethod::Isotonic => isotonic::fit(&bins),
        }
        .map(Some)
    }
}

/// Whether both classes have rows with a positive weight.
fn has_both_classes(bins: &[Bin]) -> bool {
    bins.iter().any(|bin| bin.positives > 0.0) && bins.iter().any(|bin| bin.negatives > 0.0)
}

/// The sum of the log-losses of all rows.
fn log_loss(bins: &[Bin], calibration: Option<&Calibration>) -> f64 {
    let of_bin = |bin: &Bin| {
        let prediction = Probability::from_logit(bin.logit).p;
        let p = calibration.map_or(prediction, |calibration| calibration.on_curve(prediction));
        let p = Probability::new(p.clamp(f64::EPSILON, 1.0 - f64::EPSILON));
        -(bin.positives * p.ln_p() + bin.negatives * p.ln_q())
    };
    bins.iter().map(of_bin).sum()
}
