//! Scores as Python source, and priors as polynomials, so that Python code can compute a loss on tensors of PyTorch or Keras.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use scorewise::prior::COEFFICIENTS;
use scorewise::{Direction, Prior, Score};
use scorewise_report::evaluation::ScoreDescription;
use serde_json::json;

use crate::errors::value_error;

/// Describes a score. Returns its name; its formula as Python source; the value that it should approach (+∞ if higher values are better, −∞ if lower
/// values are better); and a full description as JSON.
///
/// The Python source contains the variables `tn fp fn tp p n total` and calls functions that the caller defines (see `ExpressionTree::python`). A
/// function must return 0 where its result is undefined.
#[pyfunction]
pub fn score_facts(score: &str) -> PyResult<(String, String, f64, String)> {
    let score = Score::parse(score).map_err(value_error)?;
    let ideal_value = match score.direction() {
        Direction::Higher => f64::INFINITY,
        Direction::Lower => f64::NEG_INFINITY,
        Direction::Toward(ideal) => ideal,
    };
    let description = json!(ScoreDescription::new(&score, None)).to_string();
    Ok((score.name().to_string(), score.formula().python(), ideal_value, description))
}

/// Describes a prior. Returns its text in the standard form, its mean, its support, and its 1 % and 99 % quantiles.
#[pyfunction]
#[allow(clippy::type_complexity)] // a tuple of four values
pub fn prior_facts(prior: &str) -> PyResult<(String, f64, (f64, f64), (f64, f64))> {
    let prior: Prior = prior.parse().map_err(value_error)?;
    let quantiles = (prior.quantile(0.01), prior.quantile(0.99));
    Ok((prior.to_string(), prior.mean(), prior.support(), quantiles))
}

/// The distribution function of a prior as piecewise polynomials of the logit. Returns the value of the function below all segments, and the
/// segments. A segment is a range of logits, divided into panels (intervals) of equal width. It is returned as a tuple: its lowest logit, the width
/// of a panel, and an array with the polynomial coefficients of one panel in each row.
#[pyfunction]
#[allow(clippy::type_complexity)] // a number and a list of segments
pub fn pieces<'py>(py: Python<'py>, prior: &str) -> PyResult<(f64, Vec<(f64, f64, Bound<'py, PyArray2<f64>>)>)> {
    let pieces = prior.parse::<Prior>().map_err(value_error)?.piecewise_polynomial();
    let mut segments = Vec::with_capacity(pieces.segments.len());
    for segment in pieces.segments {
        let rows = segment.panels.len();
        let coefficients = segment.panels.concat().into_pyarray(py).reshape([rows, COEFFICIENTS])?;
        segments.push((segment.low, segment.width, coefficients));
    }
    Ok((pieces.base, segments))
}
