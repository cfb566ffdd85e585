//! Checks of output files that Python writes, with the same rules as in the command.

use std::path::PathBuf;

use pyo3::prelude::*;
use scorewise_table::output::{OutputKind, Outputs};

use crate::errors::value_error;

/// Raises an error if the path is a file of another kind or has the extension of another kind. The kinds are model, page, results, svg
/// and png.
#[pyfunction]
pub fn check_output(path: PathBuf, kind: &str) -> PyResult<()> {
    let kind = match kind {
        "model" => OutputKind::Model,
        "page" => OutputKind::Page,
        "results" => OutputKind::Results,
        "svg" => OutputKind::Svg,
        "png" => OutputKind::Png,
        other => return Err(value_error(format!("`{other}` is not a kind of file"))),
    };
    Outputs::new().check(&path, kind).map_err(value_error)
}
