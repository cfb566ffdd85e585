//! Scores at a threshold, all thresholds at once, and what the theory says.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use scorewise::multiclass::MultiConfusion;
use scorewise::sweep::{self, Bootstrap, Condition, Resampling};
use scorewise::{Logits, Prior, Probabilities, Score};
use scorewise_report::evaluation::{
    BestThreshold, ScoreDescription, ScoreSummary, TheorySummary, ThresholdBootstrap, best_threshold_bootstrap,
    no_best_threshold, prior_families, registered_scores,
};
use scorewise_train::train::Plan;
use serde_json::json;

use crate::arrays::{Flags, Numbers, slice, with_rows};
use crate::fault::fault;

pub fn read_score(text: &str) -> PyResult<Score> {
    Score::parse(text).map_err(fault)
}

fn read_scores(texts: Option<Vec<String>>) -> PyResult<Vec<Score>> {
    match texts {
        Some(texts) => texts.iter().map(|text| read_score(text)).collect(),
        None => Ok(Score::all().collect()),
    }
}

pub fn read_conditions(texts: &[String]) -> PyResult<Vec<Condition>> {
    let mut conditions = Vec::new();
    for text in texts {
        conditions.extend(Condition::parse(text).map_err(fault)?);
    }
    Ok(conditions)
}

pub fn bootstrap(replicates: usize, seed: u64, block: Option<usize>) -> PyResult<Bootstrap> {
    if replicates == 0 || block == Some(0) {
        return Err(fault("replicates and block must be at least 1, not 0"));
    }
    Ok(Bootstrap { resampling: block.map_or(Resampling::Poisson, Resampling::Blocks), replicates, seed })
}

/// tn, fp, fn, tp at a threshold.
#[pyfunction]
#[pyo3(signature = (labels, probabilities, weights, threshold))]
pub fn confusion(
    py: Python<'_>,
    labels: Flags<'_>,
    probabilities: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    threshold: f64,
) -> PyResult<[f64; 4]> {
    let (labels, weighed) = (&labels.read()?[..], probabilities.weighed(&weights)?);
    let found = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, weighed, labels, rows => sweep::confusion(&rows, threshold))
    });
    Ok(found.map_err(fault)?.array())
}

/// Scores at a threshold, with intervals, as JSON.
#[pyfunction]
#[pyo3(signature = (labels, probabilities, weights, threshold, scores, replicates, seed, block))]
#[allow(clippy::too_many_arguments)] // one for each of Python's
pub fn score(
    py: Python<'_>,
    labels: Flags<'_>,
    probabilities: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    threshold: f64,
    scores: Option<Vec<String>>,
    replicates: usize,
    seed: u64,
    block: Option<usize>,
) -> PyResult<String> {
    let (scores, bootstrap) = (read_scores(scores)?, bootstrap(replicates, seed, block)?);
    let (labels, weighed) = (&labels.read()?[..], probabilities.weighed(&weights)?);
    let found = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, weighed, labels, rows => ScoreSummary::new(&rows, threshold, &scores, &bootstrap))
    });
    Ok(json!(found.map_err(fault)?.with_bootstrap(&bootstrap)).to_string())
}

/// A score of many classes: of the whole matrix (`mcc`, `gerrity`, …), or an average over the classes (`macro(f1)`); of a score of two
/// classes, its macro average. Nothing where it is undefined.
#[pyfunction]
#[pyo3(signature = (classes, labels, predicted, weights, score))]
pub fn class_score(
    classes: usize,
    labels: PyReadonlyArray1<'_, u32>,
    predicted: PyReadonlyArray1<'_, u32>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    score: &str,
) -> PyResult<Option<f64>> {
    let plan = Plan::new("", score);
    let score = plan.multi_score().map_err(fault)?;
    let weights = weights.as_ref().map(slice).transpose()?;
    let matrix = MultiConfusion::from_labels(classes, slice(&labels)?, slice(&predicted)?, weights).map_err(fault)?;
    Ok(score.checked(&matrix))
}

/// A score under a random threshold, as JSON.
#[pyfunction]
#[pyo3(signature = (labels, predictions, weights, score, prior, from_logits))]
pub fn theory(
    py: Python<'_>,
    labels: Flags<'_>,
    predictions: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    score: &str,
    prior: &str,
    from_logits: bool,
) -> PyResult<String> {
    let (score, prior) = (read_score(score)?, prior.parse::<Prior>().map_err(fault)?);
    let (labels, weighed) = (&labels.read()?[..], predictions.weighed(&weights)?);
    let found = py.detach(|| -> scorewise::Result<_> {
        match from_logits {
            true => with_rows!(Logits, weighed, labels, rows => TheorySummary::new(&score, &prior, &rows)),
            false => with_rows!(Probabilities, weighed, labels, rows => TheorySummary::new(&score, &prior, &rows)),
        }
    });
    Ok(json!(found.map_err(fault)?).to_string())
}

/// The registered scores, as JSON.
#[pyfunction]
pub fn scores() -> String {
    let all: Vec<_> = registered_scores().map(|score| ScoreDescription::new(&score, None)).collect();
    json!(all).to_string()
}

/// The families of priors, as JSON.
#[pyfunction]
pub fn priors() -> String {
    json!(prior_families()).to_string()
}

/// All thresholds of a set of predictions.
#[pyclass(frozen)]
pub struct Sweep(sweep::Sweep);

#[pymethods]
impl Sweep {
    #[new]
    #[pyo3(signature = (labels, probabilities, weights))]
    fn new(
        py: Python<'_>,
        labels: Flags<'_>,
        probabilities: Numbers<'_>,
        weights: Option<Numbers<'_>>,
    ) -> PyResult<Self> {
        let (labels, weighed) = (&labels.read()?[..], probabilities.weighed(&weights)?);
        let swept = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, weighed, labels, rows => sweep::sweep(&rows))
        });
        Ok(Sweep(swept.map_err(fault)?))
    }

    /// How many rows.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The weight of the positives and of the negatives.
    #[getter]
    fn counts(&self) -> (f64, f64) {
        let counts = self.0.counts();
        (counts.positives, counts.negatives)
    }

    /// tn, fp, fn, tp at a threshold.
    fn at(&self, threshold: f64) -> [f64; 4] {
        self.0.at(threshold).array()
    }

    /// The best threshold, as JSON.
    fn best(&self, py: Python<'_>, score: &str, subject_to: Vec<String>) -> PyResult<String> {
        let (score, conditions) = (read_score(score)?, read_conditions(&subject_to)?);
        py.detach(|| match self.0.best_subject_to(&score, &conditions) {
            Some(best) => Ok(json!(BestThreshold::new(&score, &conditions, &best)).to_string()),
            None => Err(no_best_threshold(&self.0, &score, &conditions)),
        })
        .map_err(fault)
    }

    /// Thresholds (the lowest of each run of equally good ones), their matrices (one row each: tn, fp, fn, tp), and the values of the scores there (one column each; NaN where
    /// undefined).
    #[allow(clippy::type_complexity)] // three arrays
    fn curve<'py>(
        &self,
        py: Python<'py>,
        scores: Vec<String>,
        points: usize,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let scores = read_scores(Some(scores))?;
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

    /// How sure the best threshold is, as JSON. The arrays are those that the sweep was made from.
    #[pyo3(signature = (labels, probabilities, weights, score, subject_to, replicates, seed, block))]
    #[allow(clippy::too_many_arguments)] // one for each of Python's
    fn bootstrap(
        &self,
        py: Python<'_>,
        labels: Flags<'_>,
        probabilities: Numbers<'_>,
        weights: Option<Numbers<'_>>,
        score: &str,
        subject_to: Vec<String>,
        replicates: usize,
        seed: u64,
        block: Option<usize>,
    ) -> PyResult<String> {
        let (score, conditions) = (read_score(score)?, read_conditions(&subject_to)?);
        let bootstrap = bootstrap(replicates, seed, block)?;
        let (labels, weighed) = (&labels.read()?[..], probabilities.weighed(&weights)?);
        let found = py.detach(|| -> scorewise::Result<_> {
            with_rows!(Probabilities, weighed, labels, rows => {
                best_threshold_bootstrap(&rows, Some(&self.0), &score, &conditions, &bootstrap)
            })
        });
        Ok(json!(ThresholdBootstrap::new(&found.map_err(fault)?, &bootstrap)).to_string())
    }
}
