//! Scores at one threshold, at all thresholds, and under a random threshold.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use scorewise::multiclass::MultiConfusion;
use scorewise::sweep::{self, BlockLength, Bootstrap, Condition, CostRows, Resampling};
use scorewise::{Confusion, Logits, Prior, Probabilities, Score};
use scorewise_report::evaluation::{
    BestThreshold, CostSummary, CountRows, CountSummary, GuaranteeSummary, ScoreDescription, ScoreSummary,
    SmoothThreshold, TheorySummary, ThresholdBootstrap, best_threshold_bootstrap, corrected_score, no_best_threshold,
    prior_families, registered_scores, smooth_threshold_bootstrap, tune_costs,
};
use scorewise_table::groups::Groups;
use scorewise_train::plan::multi_score;
use serde_json::json;

use crate::arrays::{RowArrays, slice, with_rows};
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
pub fn parse_scores(scores: Option<Vec<String>>) -> PyResult<Vec<Score>> {
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

/// The costs of the errors at `threshold`, as JSON. If `threshold` is `None`, the search finds the threshold with the lowest cost among those that
/// satisfy the conditions. `costs` holds the cost of a false alarm and the cost of a miss in each row.
#[pyfunction]
#[pyo3(signature = (rows, costs, threshold, subject_to, bootstrap))]
pub fn costs(
    py: Python<'_>,
    rows: RowArrays<'_>,
    costs: (PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>),
    threshold: Option<f64>,
    subject_to: Vec<String>,
    bootstrap: BootstrapSettings<'_>,
) -> PyResult<String> {
    let (conditions, bootstrap, slices) =
        (parse_conditions(&subject_to)?, bootstrap.to_bootstrap()?, rows.to_slices()?);
    let (false_alarms, misses) = (slice(&costs.0)?, slice(&costs.1)?);
    let json = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, slices, rows => {
            let costed = CostRows::new(&rows, false_alarms, misses)?;
            if let Some(threshold) = threshold {
                return Ok(Ok(json!(CostSummary::new(&costed, threshold, &bootstrap)?)));
            }
            Ok(match tune_costs(&costed, &conditions, &bootstrap)? {
                Some((_, summary)) => Ok(json!(summary)),
                // Every threshold has a cost. So if no threshold was found, the conditions exclude all thresholds.
                None => Err(match Score::parse("accuracy") {
                    Ok(any) => no_best_threshold(&sweep::sweep(&rows)?, &any, &conditions),
                    Err(error) => error.to_string(),
                }),
            })
        })
    });
    Ok(json.map_err(value_error)?.map_err(value_error)?.to_string())
}

/// Four arrays of counts: tn, fp, fn and tp of each row.
type CountArrays<'py> =
    (PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>);

/// Scores of a table whose rows are confusion matrices, with confidence intervals, as JSON: the scores of the sum of all rows and, with `by`, also of
/// the sum of the rows of each group. `counts` holds the columns tn, fp, fn and tp. `by` is a pair: the group number of each row, and the names of
/// the groups.
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
    score.check_classes(classes).map_err(value_error)?;
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

    /// The best threshold among those that satisfy the conditions, as JSON. The bootstrap is only used to test conditions with a confidence. `rows`
    /// must be the rows that the sweep was made from.
    #[pyo3(signature = (rows, score, subject_to, bootstrap))]
    fn best(
        &self,
        py: Python<'_>,
        rows: RowArrays<'_>,
        score: &str,
        subject_to: Vec<String>,
        bootstrap: BootstrapSettings<'_>,
    ) -> PyResult<String> {
        let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
        let (bootstrap, slices) = (bootstrap.to_bootstrap()?, rows.to_slices()?);
        let guarantee = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, slices, rows => bootstrap.guarantee(&rows, &conditions))
        });
        let guarantee = guarantee.map_err(value_error)?;
        let tested = guarantee.as_ref().map(|guarantee| guarantee.conditions(&conditions));
        let summary = guarantee.as_ref().map(GuaranteeSummary::from);
        py.detach(|| match self.0.best_subject_to(&score, tested.as_deref().unwrap_or(&conditions)) {
            Some(best) => {
                let best = BestThreshold::new(&score, &conditions, &best);
                Ok(json!(BestThreshold { guarantee: summary, ..best }).to_string())
            }
            None => {
                let sentence = summary.and_then(|summary| summary.no_best_threshold(&self.0, &score, &conditions));
                Err(sentence.unwrap_or_else(|| no_best_threshold(&self.0, &score, &conditions)))
            }
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

    /// Estimates the score on new rows: at the best threshold or, if `width` is given, at the smoothed threshold. The result is JSON with the
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
