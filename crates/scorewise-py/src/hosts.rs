//! What a framework needs to compute a loss on its own tensors: the score as source text, the prior as polynomials.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use scorewise::prior::COEFFICIENTS;
use scorewise::{Direction, Prior, Score};
use scorewise_report::evaluation::ScoreDescription;
use serde_json::json;

use crate::fault::fault;

/// A score: name, Python source over `tn fp fn tp p n total` and the guarded functions, the value it aims at (+∞ where higher is better,
/// −∞ where lower is), and all else as JSON.
#[pyfunction]
pub fn score_facts(score: &str) -> PyResult<(String, String, f64, String)> {
    let score = Score::parse(score).map_err(fault)?;
    let aim = match score.direction() {
        Direction::Higher => f64::INFINITY,
        Direction::Lower => f64::NEG_INFINITY,
        Direction::Toward(ideal) => ideal,
    };
    let description = json!(ScoreDescription::new(&score, None)).to_string();
    Ok((score.name().to_string(), score.formula().python(), aim, description))
}

/// A prior: as it is written, its mean, its support, and where its middle 98 % lie.
#[pyfunction]
#[allow(clippy::type_complexity)] // four facts
pub fn prior_facts(prior: &str) -> PyResult<(String, f64, (f64, f64), (f64, f64))> {
    let prior: Prior = prior.parse().map_err(fault)?;
    let middle = (prior.quantile(0.01), prior.quantile(0.99));
    Ok((prior.to_string(), prior.mean(), prior.support(), middle))
}

/// A prior as polynomials of the logit: F before all stretches, and of each stretch its beginning, the width of a panel, and the
/// coefficients, a row for each panel.
#[pyfunction]
#[allow(clippy::type_complexity)] // a list of stretches
pub fn pieces<'py>(py: Python<'py>, prior: &str) -> PyResult<(f64, Vec<(f64, f64, Bound<'py, PyArray2<f64>>)>)> {
    let pieces = prior.parse::<Prior>().map_err(fault)?.piecewise_polynomial();
    let mut segments = Vec::with_capacity(pieces.segments.len());
    for stretch in pieces.segments {
        let rows = stretch.panels.len();
        let coefficients = stretch.panels.concat().into_pyarray(py).reshape([rows, COEFFICIENTS])?;
        segments.push((stretch.low, stretch.width, coefficients));
    }
    Ok((pieces.base, segments))
}
