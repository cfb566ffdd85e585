//! Reports as HTML pages and figures, rendered by the same code as those of the command line.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scorewise::{Prior, Probabilities};
use scorewise_report::document::{Document, Provenance, TrainingHistory};
use scorewise_report::evaluation::{FloatColumn, ReportOptions, forecast_report, predictions_data};
use scorewise_report::{
    Error, NamedLine, ReportFigure, ScoreCurves, figure_scores, figures as report_figures, page as render_page,
};
use serde_json::Value;

use crate::arrays::{FloatSlices, RowArrays, slice, with_rows};
use crate::errors::value_error;
use crate::measures::{BootstrapSettings, parse_conditions, parse_score};

/// Computes the data of a report, as JSON. `facts` is also JSON, with the keys `chosen` (how the threshold was chosen), `classes` (the names of the
/// two classes), `training` (the loss curves, or null) and `provenance` (the command, the time and the data).
#[pyfunction]
#[pyo3(signature = (rows, score, threshold, prior, subject_to, bootstrap, facts))]
#[allow(clippy::too_many_arguments)] // the options of `scorewise.report`
pub fn report(
    py: Python<'_>,
    rows: RowArrays<'_>,
    score: &str,
    threshold: Option<f64>,
    prior: Option<&str>,
    subject_to: Vec<String>,
    bootstrap: BootstrapSettings<'_>,
    facts: &str,
) -> PyResult<String> {
    let facts: Value = serde_json::from_str(facts).map_err(value_error)?;
    let (score, conditions) = (parse_score(score)?, parse_conditions(&subject_to)?);
    let prior = prior.map(str::parse::<Prior>).transpose().map_err(value_error)?;
    let (bootstrap, slices) = (bootstrap.to_bootstrap()?, rows.to_slices()?);
    let classes: [String; 2] = serde_json::from_value(facts["classes"].clone()).map_err(value_error)?;
    let training: Option<TrainingHistory> = serde_json::from_value(facts["training"].clone()).map_err(value_error)?;
    let mut provenance: Provenance = serde_json::from_value(facts["provenance"].clone()).map_err(value_error)?;
    let columns: Vec<FloatColumn<'_>> = match slices.floats {
        FloatSlices::F32(values, weights) => std::iter::once(values).chain(weights).map(FloatColumn::F32).collect(),
        FloatSlices::F64(values, weights) => std::iter::once(values).chain(weights).map(FloatColumn::F64).collect(),
    };
    provenance.data.push(predictions_data("arrays", &slices.labels, columns));
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
    let document = py.detach(|| -> scorewise::Result<_> {
        with_rows!(Probabilities, slices, rows => forecast_report(&rows, options, &bootstrap))
    });
    Ok(document.map_err(value_error)?.map_err(value_error)?.write())
}

/// A report as one HTML page. `document` is the data of the report as JSON.
#[pyfunction]
pub fn page(py: Python<'_>, document: &str) -> PyResult<String> {
    py.detach(|| -> Result<_, String> { render_page(&parse_document(document)?).map_err(|error| error.to_string()) })
        .map_err(value_error)
}

/// The name, title, caption and SVG of each figure of a report.
#[pyfunction]
pub fn figures(py: Python<'_>, document: &str) -> PyResult<Vec<(String, String, String, String)>> {
    let parts = |figure: ReportFigure| -> Result<_, Error> {
        Ok((figure.name, figure.title, figure.caption, figure.picture.svg()?))
    };
    py.detach(|| -> Result<Vec<_>, String> {
        let figures = parse_figures(document)?;
        figures.into_iter().map(parts).collect::<Result<_, _>>().map_err(|error| error.to_string())
    })
    .map_err(value_error)
}

/// The figure called `name` in a report, as PNG. `document` is the data of the report as JSON.
#[pyfunction]
pub fn figure_png<'py>(py: Python<'py>, document: &str, name: &str) -> PyResult<Bound<'py, PyBytes>> {
    let png = py.detach(|| -> Result<Vec<u8>, String> {
        let mut figures = parse_figures(document)?.into_iter();
        let figure = figures.find(|figure| figure.name == name).ok_or(format!("there is no figure {name:?}"))?;
        figure.picture.png().map_err(|error| error.to_string())
    });
    Ok(PyBytes::new(py, &png.map_err(value_error)?))
}

/// Reads the data of a report from JSON.
fn parse_document(document: &str) -> Result<Document, String> {
    Document::read(document).map_err(|error| error.to_string())
}

/// Makes the figures of a report whose data are JSON.
fn parse_figures(document: &str) -> Result<Vec<ReportFigure>, String> {
    report_figures(&parse_document(document)?).map_err(|error| error.to_string())
}

/// A figure of scores by threshold, as SVG. `thresholds` must increase. `values` holds one array for each score, with one value for each
/// threshold, which is NaN where the score is undefined. Returns `None` if every value is undefined.
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
            return Err(value_error(format!(
                "{name} has {} values for {} thresholds",
                slice(values)?.len(),
                thresholds.len()
            )));
        }
        // A score keeps its value from one threshold up to the next, so each value is drawn as a horizontal segment.
        let mut points = Vec::new();
        for (at, value) in slice(values)?.iter().enumerate() {
            let value = value.is_finite().then_some(*value);
            let next = thresholds.get(at + 1).copied().unwrap_or(1.0);
            points.extend([(thresholds[at], value), (next, value)]);
        }
        lines.push(NamedLine { name, points });
    }
    let curves = ScoreCurves { title: "Scores by threshold".into(), lines, ..ScoreCurves::default() };
    match figure_scores(curves).and_then(|picture| picture.svg()) {
        Ok(svg) => Ok(Some(svg)),
        Err(Error::Empty) => Ok(None),
        Err(other) => Err(value_error(other)),
    }
}
