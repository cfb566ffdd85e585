//! Reports: the same pages and figures as the command's.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scorewise::{Prior, Probabilities};
use scorewise_report::document::{Document, Provenance, Training};
use scorewise_report::evaluation::{FloatColumn, ReportOptions, forecast_report, predictions_data};
use scorewise_report::{Drawn, Error, NamedLine, ScoreCurves, figure_scores, figures as drawn, page as rendered};
use serde_json::Value;

use crate::arrays::{Flags, Numbers, Weighed, slice, with_rows};
use crate::fault::fault;
use crate::measures::{bootstrap, read_conditions, read_score};

/// A forecast as a page shows it, as JSON. `facts` are JSON too: `chosen`, `classes`, `training`, `provenance`.
#[pyfunction]
#[pyo3(signature = (labels, probabilities, weights, score, threshold, prior, subject_to, replicates, seed, block, facts))]
#[allow(clippy::too_many_arguments)] // one for each of Python's
pub fn report(
    py: Python<'_>,
    labels: Flags<'_>,
    probabilities: Numbers<'_>,
    weights: Option<Numbers<'_>>,
    score: &str,
    threshold: Option<f64>,
    prior: Option<&str>,
    subject_to: Vec<String>,
    replicates: usize,
    seed: u64,
    block: Option<usize>,
    facts: &str,
) -> PyResult<String> {
    let (score, conditions) = (read_score(score)?, read_conditions(&subject_to)?);
    let prior = prior.map(str::parse::<Prior>).transpose().map_err(fault)?;
    let bootstrap = bootstrap(replicates, seed, block)?;
    let facts: Value = serde_json::from_str(facts).map_err(fault)?;
    let classes: [String; 2] = serde_json::from_value(facts["classes"].clone()).map_err(fault)?;
    let training: Option<Training> = serde_json::from_value(facts["training"].clone()).map_err(fault)?;
    let mut provenance: Provenance = serde_json::from_value(facts["provenance"].clone()).map_err(fault)?;
    let (labels, weighed) = (&labels.read()?[..], probabilities.weighed(&weights)?);
    let columns: Vec<FloatColumn<'_>> = match weighed {
        Weighed::Narrow(numbers, weights) => std::iter::once(numbers).chain(weights).map(FloatColumn::F32).collect(),
        Weighed::Wide(numbers, weights) => std::iter::once(numbers).chain(weights).map(FloatColumn::F64).collect(),
    };
    provenance.data.push(predictions_data("arrays", labels, columns));
    let options = ReportOptions {
        score: &score,
        threshold,
        chosen: facts["chosen"].as_str().unwrap_or_default().into(),
        prior: prior.as_ref(),
        conditions: &conditions,
        classes,
        training,
        provenance,
    };
    let found = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, weighed, labels, rows => forecast_report(&rows, options, &bootstrap))
    });
    Ok(found.map_err(fault)?.map_err(fault)?.write())
}

/// The page of a report.
#[pyfunction]
pub fn page(py: Python<'_>, document: &str) -> PyResult<String> {
    py.detach(|| {
        rendered(&Document::read(document).map_err(|problem| problem.to_string())?).map_err(|fault| fault.to_string())
    })
    .map_err(fault)
}

/// Name, title, caption and SVG of each figure of a report.
#[pyfunction]
pub fn figures(py: Python<'_>, document: &str) -> PyResult<Vec<(String, String, String, String)>> {
    let one =
        |figure: Drawn| -> Result<_, Error> { Ok((figure.name, figure.title, figure.caption, figure.picture.svg()?)) };
    py.detach(|| -> Result<Vec<_>, String> {
        let document = Document::read(document).map_err(|problem| problem.to_string())?;
        let found = drawn(&document).map_err(|fault| fault.to_string())?;
        found.into_iter().map(one).collect::<Result<_, _>>().map_err(|fault| fault.to_string())
    })
    .map_err(fault)
}

/// One figure of a report as PNG.
#[pyfunction]
pub fn figure_png<'py>(py: Python<'py>, document: &str, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let png = py.detach(|| -> Result<Vec<u8>, String> {
        let document = Document::read(document).map_err(|problem| problem.to_string())?;
        let found = drawn(&document).map_err(|fault| fault.to_string())?;
        let figure =
            found.into_iter().find(|figure| figure.name == name).ok_or(format!("there is no figure {name:?}"))?;
        figure.picture.png().map_err(|fault| fault.to_string())
    });
    Ok(PyBytes::new(py, &png.map_err(fault)?))
}

/// Scores over the threshold as SVG: names, thresholds in rising order, and the values of each score (NaN where undefined). Nothing where
/// all of them are undefined.
#[pyfunction]
pub fn curves_svg(
    names: Vec<String>,
    thresholds: PyReadonlyArray1<'_, f64>,
    values: Vec<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Option<String>> {
    let thresholds = slice(&thresholds)?;
    let mut lines = Vec::new();
    for (name, values) in names.into_iter().zip(&values) {
        if slice(values)?.len() != thresholds.len() {
            return Err(fault(format!(
                "{name} has {} values for {} thresholds",
                slice(values)?.len(),
                thresholds.len()
            )));
        }
        // Each value holds from its threshold up to the next one.
        let mut points = Vec::new();
        for (at, value) in slice(values)?.iter().enumerate() {
            let value = value.is_finite().then_some(*value);
            let next = thresholds.get(at + 1).copied().unwrap_or(1.0);
            points.extend([(thresholds[at], value), (next, value)]);
        }
        lines.push(NamedLine { name, points });
    }
    let curves = ScoreCurves { title: "Scores over the threshold".into(), lines, ..ScoreCurves::default() };
    match figure_scores(curves).and_then(|picture| picture.svg()) {
        Ok(svg) => Ok(Some(svg)),
        Err(Error::Empty) => Ok(None),
        Err(other) => Err(fault(other)),
    }
}
