//! Checks that a file may be written by Python code, with the rules of the command `scorewise`: files of another kind are not replaced.

use std::path::PathBuf;

use pyo3::prelude::*;
use scorewise_table::output::{OutputKind, Outputs};

use crate::errors::value_error;

/// Raises an error if an existing file at `path` is not an output of this kind, or if the extension of `path` belongs to another kind of
/// output. `kind` is `model`, `page`, `results`, `svg` or `png`.
#[pyfunction]
pub fn check_output(path: PathBuf, kind: &str) -> PyResult<()> {
    let kind = match kind {
        "model" => OutputKind::Model,
        "page" => OutputKind::Page,
        "results" => OutputKind::Results,
        "svg" => OutputKind::Svg,
        "png" => OutputKind::Png,
        other => return Err(value_error(format!("kind must be model, page, results, svg or png, not `{other}`"))),
    };
    Outputs::new().check(&path, kind).map_err(value_error)
}
