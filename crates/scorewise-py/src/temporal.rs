//! Scores of a forecast of a time series, with errors weighted by their timing; and the comparison of two forecasts.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use scorewise::Probabilities;
use scorewise::temporal::{Series, TemporalSweep, Weighting};
use scorewise_report::evaluation::{
    BestThreshold, ComparedThresholds, ForecastComparison, ForecastPair, ScoreSummary, SeriesOptions,
    ThresholdBootstrap,
};
use serde_json::json;

use crate::arrays::{RowArrays, slice, with_rows};
use crate::errors::value_error;
use crate::measures::{BootstrapSettings, parse_conditions, parse_score, parse_scores};

/// How errors are weighted by their timing: in Python the tuple `(weighting, sequences)`. `sequences` holds one integer for each row, which
/// identifies the series of the row; `None` if all rows are one series.
#[derive(FromPyObject)]
pub struct SeriesSettings<'py>(String, Option<PyReadonlyArray1<'py, u32>>);

impl SeriesSettings<'_> {
    /// The parsed weighting, and for each row the integer that identifies its series.
    fn parts(&self) -> PyResult<(Weighting, Option<&[u32]>)> {
        let weighting = self.0.parse().map_err(value_error)?;
        Ok((weighting, self.1.as_ref().map(slice).transpose()?))
    }
}

/// Scores at a threshold with their confidence intervals, as JSON. The scores are computed from counts in which errors are weighted by their timing.
#[pyfunction]
#[pyo3(signature = (rows, threshold, scores, series, bootstrap))]
pub fn score_series(
    py: Python<'_>,
    rows: RowArrays<'_>,
    threshold: f64,
    scores: Option<Vec<String>>,
    series: SeriesSettings<'_>,
    bootstrap: BootstrapSettings<'_>,
) -> PyResult<String> {
    let (scores, bootstrap, slices) = (parse_scores(scores)?, bootstrap.to_bootstrap()?, rows.to_slices()?);
    let (weighting, sequences) = series.parts()?;
    let options = SeriesOptions { weighting: &weighting, sequences };
    let summary = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, slices, rows => {
            ScoreSummary::of_series(&rows, threshold, &scores, &options, &bootstrap)
        })
    });
    Ok(json!(summary.map_err(value_error)?.with_bootstrap(&bootstrap)).to_string())
}

/// The time-weighted confusion matrices of a series at all thresholds.
#[pyclass(frozen, name = "TemporalSweep")]
pub struct PyTemporalSweep(TemporalSweep);

#[pymethods]
impl PyTemporalSweep {
    #[new]
    #[pyo3(signature = (rows, series))]
    fn new(py: Python<'_>, rows: RowArrays<'_>, series: SeriesSettings<'_>) -> PyResult<Self> {
        let (slices, (weighting, sequences)) = (rows.to_slices()?, series.parts()?);
        let options = SeriesOptions { weighting: &weighting, sequences };
        let sweep =
            py.detach(|| -> scorewise::Result<_> { with_rows!(Probabilities, slices, rows => options.sweep(&rows)) });
        Ok(PyTemporalSweep(sweep.map_err(value_error)?))
    }

    /// The time-weighted confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
    fn at(&self, threshold: f64) -> [f64; 4] {
        self.0.at(threshold).array()
    }

    /// The best threshold among those that satisfy the conditions, as JSON.
    fn best(&self, py: Python<'_>, score: &str, subject_to: Vec<String>) -> PyResult<String> {
        let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
        match py.detach(|| self.0.best(&score, &conditions)) {
            Some(best) => Ok(json!(BestThreshold::new(&score, &conditions, &best)).to_string()),
            None if conditions.is_empty() => {
                Err(value_error(format!("{} is undefined at every threshold", score.name())))
            }
            None => Err(value_error(format!("no threshold satisfies {}", subject_to.join(" and ")))),
        }
    }

    /// Confidence intervals of the best threshold and of its score, as JSON. `rows` and `series` must be those that the sweep was made from.
    #[staticmethod]
    #[pyo3(signature = (rows, series, score, subject_to, bootstrap))]
    fn bootstrap(
        py: Python<'_>,
        rows: RowArrays<'_>,
        series: SeriesSettings<'_>,
        score: &str,
        subject_to: Vec<String>,
        bootstrap: BootstrapSettings<'_>,
    ) -> PyResult<String> {
        let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
        let (bootstrap, slices, (weighting, sequences)) =
            (bootstrap.to_bootstrap()?, rows.to_slices()?, series.parts()?);
        let found = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, slices, rows => {
                let series = Series::new(rows)?;
                let series = sequences.map_or(Ok(series), |sequences| series.with_sequences(sequences))?;
                bootstrap.best_of_series(&weighting, &series, &score, &conditions)
            })
        });
        Ok(json!(ThresholdBootstrap::new(&found.map_err(value_error)?, &bootstrap)).to_string())
    }
}

/// Compares two forecasts of the same rows and returns the result as JSON. Without `thresholds`, each forecast is judged at its own best threshold.
/// If `series` is given, errors are weighted by their timing.
#[pyfunction]
#[pyo3(signature = (labels, forecasts, weights, names, thresholds, score, series, bootstrap))]
#[allow(clippy::too_many_arguments)] // one for each argument of the Python function
pub fn compare(
    py: Python<'_>,
    labels: PyReadonlyArray1<'_, u8>,
    forecasts: (PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>),
    weights: Option<PyReadonlyArray1<'_, f64>>,
    names: [String; 2],
    thresholds: Option<[f64; 2]>,
    score: &str,
    series: Option<SeriesSettings<'_>>,
    bootstrap: BootstrapSettings<'_>,
) -> PyResult<String> {
    let (score, bootstrap) = (parse_score(score)?, bootstrap.to_bootstrap()?);
    let labels: Vec<bool> = slice(&labels)?.iter().map(|label| *label != 0).collect();
    let forecasts = [slice(&forecasts.0)?, slice(&forecasts.1)?];
    let weights = weights.as_ref().map(slice).transpose()?;
    let parts = series.as_ref().map(SeriesSettings::parts).transpose()?;
    let options = parts.as_ref().map(|(weighting, sequences)| SeriesOptions { weighting, sequences: *sequences });
    let comparison = py.detach(|| -> scorewise::Result<_> {
        let pair = ForecastPair { names, forecasts, labels: &labels, weights };
        let at = thresholds.map_or(ComparedThresholds::Best, ComparedThresholds::Given);
        ForecastComparison::new(pair, &score, at, options.as_ref(), &bootstrap, false)
    });
    Ok(json!(comparison.map_err(value_error)?.summary()).to_string())
}
