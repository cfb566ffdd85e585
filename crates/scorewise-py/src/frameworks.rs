//! Data from which PyTorch or Keras code computes a loss on its own tensors: scores as Python source, priors as polynomials.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use scorewise::prior::COEFFICIENTS;
use scorewise::{Direction, Prior, Score};
use scorewise_report::evaluation::ScoreDescription;
use serde_json::json;

use crate::errors::value_error;

/// Describes a score: its name, its formula as Python source (variables `tn fp fn tp p n total`, functions that return 0 where undefined),
/// its ideal value (+∞ if higher is better, −∞ if lower is better), and a full description as JSON.
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

/// Describes a prior: its canonical text, mean, support, and the 1 % and 99 % quantiles.
#[pyfunction]
#[allow(clippy::type_complexity)] // a tuple of four values
pub fn prior_facts(prior: &str) -> PyResult<(String, f64, (f64, f64), (f64, f64))> {
    let prior: Prior = prior.parse().map_err(value_error)?;
    let quantiles = (prior.quantile(0.01), prior.quantile(0.99));
    Ok((prior.to_string(), prior.mean(), prior.support(), quantiles))
}

/// The cdf of a prior as piecewise polynomials of the logit: the value of the cdf below the first range of logits; and for each range, its
/// lower end, the width of the intervals it is divided into, and the polynomial coefficients, one row for each interval.
#[pyfunction]
#[allow(clippy::type_complexity)] // a number and a list of ranges
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
