//! Scores at one threshold, at all thresholds, and under a random threshold.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use scorewise::multiclass::MultiConfusion;
use scorewise::sweep::{self, BlockLength, Bootstrap, Condition, Resampling};
use scorewise::{Confusion, Logits, Prior, Probabilities, Score};
use scorewise_report::evaluation::{
    BestThreshold, ComparedThresholds, CountRows, CountSummary, ForecastComparison, ForecastPair, ScoreDescription,
    ScoreSummary, SmoothThreshold, TheorySummary, ThresholdBootstrap, best_threshold_bootstrap, corrected_score,
    no_best_threshold, prior_families, registered_scores, smooth_threshold_bootstrap,
};
use scorewise_table::groups::Groups;
use scorewise_train::plan::multi_score;
use serde_json::json;

use crate::arrays::{FloatArray, FloatSlices, RowArrays, slice, with_rows};
use crate::errors::value_error;

/// The settings of a bootstrap: in Python the tuple `(replicates, seed, dependence)`; the last one is `None` for independent rows.
#[derive(FromPyObject)]
pub struct BootstrapSettings<'py>(usize, u64, Option<RowDependence<'py>>);

/// Which rows depend on each other, and are therefore resampled together.
#[derive(FromPyObject)]
enum RowDependence<'py> {
    /// Rows follow each other in time, and blocks of this length (in rows) are resampled.
    Block(usize),
    /// Rows follow each other in time, and blocks are resampled whose length is estimated from the rows: in Python the string `auto`.
    Auto(String),
    /// Rows of the same group depend on each other; the array contains the number of the group of each row.
    Groups(PyReadonlyArray1<'py, u32>),
}

impl BootstrapSettings<'_> {
    /// Converts the settings to a [`Bootstrap`].
    ///
    /// # Errors
    /// If the number of replicates or the length of a block is 0, or if the dependence is a string other than `auto`.
    pub fn to_bootstrap(&self) -> PyResult<Bootstrap<'_>> {
        let BootstrapSettings(replicates, seed, dependence) = self;
        let resampling = match dependence {
            None => Resampling::Poisson,
            Some(RowDependence::Block(length)) => Resampling::Blocks(BlockLength::Rows(*length)),
            Some(RowDependence::Auto(text)) if text == "auto" => Resampling::Blocks(BlockLength::Auto),
            Some(RowDependence::Auto(text)) => {
                return Err(value_error(format!("block must be a number of rows or \"auto\", not {text:?}")));
            }
            Some(RowDependence::Groups(groups)) => Resampling::Groups(slice(groups)?),
        };
        if *replicates == 0 || resampling == Resampling::Blocks(BlockLength::Rows(0)) {
            return Err(value_error("replicates and block must be at least 1, not 0"));
        }
        Ok(Bootstrap { resampling, replicates: *replicates, seed: *seed })
    }
}

/// Parses a score; an error becomes a `ValueError`.
pub fn parse_score(score: &str) -> PyResult<Score> {
    Score::parse(score).map_err(value_error)
}

/// Parses the named scores; `None` stands for all registered scores.
fn parse_scores(scores: Option<Vec<String>>) -> PyResult<Vec<Score>> {
    match scores {
        Some(scores) => scores.iter().map(|score| parse_score(score)).collect(),
        None => Ok(Score::all().collect()),
    }
}

/// Parses conditions such as `precision >= 0.3`; an error becomes a `ValueError`.
pub fn parse_conditions(conditions: &[String]) -> PyResult<Vec<Condition>> {
    let mut parsed = Vec::new();
    for condition in conditions {
        parsed.extend(Condition::parse(condition).map_err(value_error)?);
    }
    Ok(parsed)
}

/// The confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
#[pyfunction]
#[pyo3(signature = (rows, threshold))]
pub fn confusion(py: Python<'_>, rows: RowArrays<'_>, threshold: f64) -> PyResult<[f64; 4]> {
    let slices = rows.to_slices()?;
    let confusion = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, slices, rows => sweep::confusion(&rows, threshold))
    });
    Ok(confusion.map_err(value_error)?.array())
}

/// Scores at a threshold with their confidence intervals, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, threshold, scores, bootstrap))]
pub fn score(
    py: Python<'_>,
    rows: RowArrays<'_>,
    threshold: f64,
    scores: Option<Vec<String>>,
    bootstrap: BootstrapSettings<'_>,
) -> PyResult<String> {
    let (scores, bootstrap, slices) = (parse_scores(scores)?, bootstrap.to_bootstrap()?, rows.to_slices()?);
    let summary = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, slices, rows => {
            ScoreSummary::new(&rows, threshold, &scores, &bootstrap)?.with_probabilities(&rows, &bootstrap)
        })
    });
    Ok(json!(summary.map_err(value_error)?.with_bootstrap(&bootstrap)).to_string())
}

/// A comparison of two forecasts of the same rows, as JSON. `rows` contains the first forecast. Without `thresholds`, each forecast is compared at its own
/// best threshold.
#[pyfunction]
#[pyo3(signature = (rows, second, names, score, thresholds, bootstrap))]
pub fn compare(
    py: Python<'_>,
    rows: RowArrays<'_>,
    second: FloatArray<'_>,
    names: [String; 2],
    score: &str,
    thresholds: Option<[f64; 2]>,
    bootstrap: BootstrapSettings<'_>,
) -> PyResult<String> {
    let (score, bootstrap, slices) = (parse_score(score)?, bootstrap.to_bootstrap()?, rows.to_slices()?);
    let at = thresholds.map_or(ComparedThresholds::Best, ComparedThresholds::Given);
    let labels = slices.labels.as_slice();
    let second = second.with_weights(None)?;
    let comparison = py.detach(|| match (slices.floats, second) {
        (FloatSlices::F32(first, weights), FloatSlices::F32(second, _)) => {
            let pair = ForecastPair { names, forecasts: [first, second], labels, weights };
            Some(ForecastComparison::new(pair, &score, at, None, &bootstrap, false))
        }
        (FloatSlices::F64(first, weights), FloatSlices::F64(second, _)) => {
            let pair = ForecastPair { names, forecasts: [first, second], labels, weights };
            Some(ForecastComparison::new(pair, &score, at, None, &bootstrap, false))
        }
        _ => None,
    });
    let different = || value_error("both forecasts must have the same type, float32 or float64");
    let comparison = comparison.ok_or_else(different)?.map_err(value_error)?;
    Ok(json!(comparison.summary()).to_string())
}

/// Four arrays of counts: tn, fp, fn and tp of each row.
type CountArrays<'py> =
    (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// Scores of the sum of confusion matrices, with their confidence intervals, as JSON. `counts` are the arrays of tn, fp, fn and tp. `by` is a pair:
/// the number of the group of each row, and the names of the groups. Each group gets its own scores.
#[pyfunction]
#[pyo3(signature = (counts, scores, by, bootstrap))]
pub fn score_counts(
    py: Python<'_>,
    counts: CountArrays<'_>,
    scores: Option<Vec<String>>,
    by: Option<(PyReadonlyArray1<'_, u32>, Vec<String>)>,
    bootstrap: BootstrapSettings<'_>,
) -> PyResult<String> {
    let (scores, bootstrap) = (parse_scores(scores)?, bootstrap.to_bootstrap()?);
    let cells = [slice(&counts.0)?, slice(&counts.1)?, slice(&counts.2)?, slice(&counts.3)?];
    let rows = cells[0].len();
    if let Some(other) = cells.iter().find(|cell| cell.len() != rows) {
        return Err(value_error(format!("tn, fp, fn and tp must have equal lengths, not {rows} and {}", other.len())));
    }
    let matrices = (0..rows).map(|row| Confusion::new(cells[0][row], cells[1][row], cells[2][row], cells[3][row]));
    let groups = match bootstrap.resampling {
        Resampling::Groups(groups) if groups.len() != rows => {
            return Err(value_error(format!("groups must have {rows} values, not {}", groups.len())));
        }
        Resampling::Groups(groups) => Some(groups.to_vec()),
        _ => None,
    };
    let rows = CountRows { matrices: matrices.collect(), groups, steps: None };
    let by = match &by {
        Some((codes, names)) => {
            let codes = slice(codes)?.to_vec();
            if codes.len() != rows.matrices.len() || codes.iter().any(|code| *code as usize >= names.len()) {
                let (length, groups) = (rows.matrices.len(), names.len());
                return Err(value_error(format!("by must have {length} values, each a group number below {groups}")));
            }
            Some(Groups { codes, names: names.iter().cloned().map(Some).collect() })
        }
        None => None,
    };
    let summary = py.detach(|| CountSummary::new(&rows, by.as_ref().map(|groups| ("by", groups)), &scores, &bootstrap));
    Ok(json!(summary.map_err(value_error)?).to_string())
}

/// A score of the predicted classes: a score of the whole confusion matrix (`mcc`, `gerrity`, …), or an average over the classes
/// (`macro(f1)`). A score of two classes, such as `f1`, is macro-averaged. `None` when the score is undefined.
#[pyfunction]
#[pyo3(signature = (classes, labels, predicted, weights, score))]
pub fn class_score(
    classes: usize,
    labels: PyReadonlyArray1<'_, u32>,
    predicted: PyReadonlyArray1<'_, u32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    score: &str,
) -> PyResult<Option<f64>> {
    let score = multi_score(score).map_err(value_error)?;
    let weights = weights.as_ref().map(slice).transpose()?;
    let matrix =
        MultiConfusion::from_labels(classes, slice(&labels)?, slice(&predicted)?, weights).map_err(value_error)?;
    Ok(score.checked(&matrix))
}

/// The distribution of a score under a random threshold, as JSON.
#[pyfunction]
#[pyo3(signature = (rows, score, prior, from_logits))]
pub fn theory(py: Python<'_>, rows: RowArrays<'_>, score: &str, prior: &str, from_logits: bool) -> PyResult<String> {
    let (score, prior) = (parse_score(score)?, prior.parse::<Prior>().map_err(value_error)?);
    let slices = rows.to_slices()?;
    let document = py.detach(|| -> scorewise::Result<_> {
        match from_logits {
            true => with_rows!(Logits, slices, rows => TheorySummary::new(&score, &prior, &rows)),
            false => with_rows!(Probabilities, slices, rows => TheorySummary::new(&score, &prior, &rows)),
        }
    });
    Ok(json!(document.map_err(value_error)?).to_string())
}

/// The registered scores, as JSON.
#[pyfunction]
pub fn scores() -> String {
    let all: Vec<_> = registered_scores().map(|score| ScoreDescription::new(&score, None)).collect();
    json!(all).to_string()
}

/// The families of threshold priors, as JSON.
#[pyfunction]
pub fn priors() -> String {
    json!(prior_families()).to_string()
}

/// The confusion matrices of a set of predictions at all thresholds.
#[pyclass(frozen, name = "Sweep")]
pub struct PySweep(sweep::Sweep);

#[pymethods]
impl PySweep {
    #[new]
    #[pyo3(signature = (rows))]
    fn new(py: Python<'_>, rows: RowArrays<'_>) -> PyResult<Self> {
        let slices = rows.to_slices()?;
        let sweep =
            py.detach(|| -> scorewise::Result<_> { with_rows!(Probabilities, slices, rows => sweep::sweep(&rows)) });
        Ok(PySweep(sweep.map_err(value_error)?))
    }

    /// The number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The total weight of the positive rows and of the negative rows.
    #[getter]
    fn counts(&self) -> (f64, f64) {
        let counts = self.0.counts();
        (counts.positives, counts.negatives)
    }

    /// The confusion matrix at a threshold, as `[tn, fp, fn, tp]`.
    fn at(&self, threshold: f64) -> [f64; 4] {
        self.0.at(threshold).array()
    }

    /// The best threshold among those that satisfy the conditions, as JSON.
    fn best(&self, py: Python<'_>, score: &str, subject_to: Vec<String>) -> PyResult<String> {
        let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
        py.detach(|| match self.0.best_subject_to(&score, &conditions) {
            Some(best) => Ok(json!(BestThreshold::new(&score, &conditions, &best)).to_string()),
            None => Err(no_best_threshold(&self.0, &score, &conditions)),
        })
        .map_err(value_error)
    }

    /// The threshold at which the average of a score over nearby thresholds is best. The result is JSON with the keys of `smooth` in the output of
    /// `scorewise tune --json` and two more keys: `score`, the name of the score, and `interval`, the range of thresholds that give the same
    /// confusion matrix as this threshold.
    fn smooth_best(&self, py: Python<'_>, score: &str, width: f64) -> PyResult<String> {
        let score = parse_score(score)?;
        let smooth = py.detach(|| SmoothThreshold::without_bootstrap(&self.0, &score, width)).map_err(value_error)?;
        let Some(threshold) = smooth.threshold else {
            return Err(value_error(no_best_threshold(&self.0, &score, &[])));
        };
        let mut json = json!(smooth);
        json["score"] = json!(score.name());
        json["interval"] = json!(self.0.step(threshold).thresholds);
        Ok(json.to_string())
    }

    /// Scores by threshold as three arrays with about `points` rows. Each row stands for an interval of thresholds with the same confusion
    /// matrix. The arrays hold the lower end of the interval, the confusion matrix (columns tn, fp, fn, tp), and the scores (one column for each
    /// score, NaN where it is undefined).
    #[allow(clippy::type_complexity)] // three arrays
    fn curve<'py>(
        &self,
        py: Python<'py>,
        scores: Vec<String>,
        points: usize,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let scores = parse_scores(Some(scores))?;
        let curve = py.detach(|| self.0.curve(&scores, points.max(2)));
        let cells: Vec<f64> = curve.iter().flat_map(|point| point.confusion.array()).collect();
        let value = |point: &sweep::CurvePoint, score: &Score| score.checked(&point.confusion).unwrap_or(f64::NAN);
        let values: Vec<f64> =
            curve.iter().flat_map(|point| scores.iter().map(move |score| value(point, score))).collect();
        let thresholds: Vec<f64> = curve.iter().map(|point| point.thresholds.0).collect();
        let rows = thresholds.len();
        Ok((
            thresholds.into_pyarray(py),
            cells.into_pyarray(py).reshape([rows, 4])?,
            values.into_pyarray(py).reshape([rows, scores.len()])?,
        ))
    }

    /// Confidence intervals of the smoothed threshold and of the score at this threshold, as JSON. `rows` must be the rows that the sweep was made
    /// from.
    #[pyo3(signature = (rows, score, width, bootstrap))]
    fn smooth_bootstrap(
        &self,
        py: Python<'_>,
        rows: RowArrays<'_>,
        score: &str,
        width: f64,
        bootstrap: BootstrapSettings<'_>,
    ) -> PyResult<String> {
        let (score, bootstrap, slices) = (parse_score(score)?, bootstrap.to_bootstrap()?, rows.to_slices()?);
        let found = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, slices, rows => {
                smooth_threshold_bootstrap(&rows, Some(&self.0), &score, width, &bootstrap)
            })
        });
        Ok(json!(ThresholdBootstrap::new(&found.map_err(value_error)?, &bootstrap)).to_string())
    }

    /// An estimate of the score that the best threshold, or with `width` the smoothed threshold, will have on new rows. The result is JSON with the
    /// estimate and its 95 % interval, or `None` if there is no estimate. `rows` must be the rows that the sweep was made from.
    #[pyo3(signature = (rows, score, subject_to, width, bootstrap))]
    fn corrected(
        &self,
        py: Python<'_>,
        rows: RowArrays<'_>,
        score: &str,
        subject_to: Vec<String>,
        width: Option<f64>,
        bootstrap: BootstrapSettings<'_>,
    ) -> PyResult<Option<String>> {
        let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
        let (bootstrap, slices) = (bootstrap.to_bootstrap()?, rows.to_slices()?);
        let found = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, slices, rows => {
                corrected_score(&rows, &self.0, &score, &conditions, width, &bootstrap)
            })
        });
        Ok(found.map_err(value_error)?.map(|estimate| json!(estimate).to_string()))
    }

    /// Confidence intervals of the best threshold and of its score, as JSON. `rows` must be the rows that the sweep was made from.
    #[pyo3(signature = (rows, score, subject_to, bootstrap))]
    fn bootstrap(
        &self,
        py: Python<'_>,
        rows: RowArrays<'_>,
        score: &str,
        subject_to: Vec<String>,
        bootstrap: BootstrapSettings<'_>,
    ) -> PyResult<String> {
        let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
        let (bootstrap, slices) = (bootstrap.to_bootstrap()?, rows.to_slices()?);
        let bests = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, slices, rows => {
                best_threshold_bootstrap(&rows, Some(&self.0), &score, &conditions, &bootstrap)
            })
        });
        Ok(json!(ThresholdBootstrap::new(&bests.map_err(value_error)?, &bootstrap)).to_string())
    }
}
