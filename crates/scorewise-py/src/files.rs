//! Which files may be written over: the rule of the command, for files that Python writes.

use std::path::PathBuf;

use pyo3::prelude::*;
use scorewise_table::output::{OutputKind, Outputs};

use crate::fault::fault;

/// Refuses a place that holds a file of another kind, or whose name stands for one. The kinds are model, page, results, svg and png.
#[pyfunction]
pub fn check_output(path: PathBuf, kind: &str) -> PyResult<()> {
    let kind = match kind {
        "model" => OutputKind::Model,
        "page" => OutputKind::Page,
        "results" => OutputKind::Results,
        "svg" => OutputKind::Svg,
        "png" => OutputKind::Png,
        other => return Err(fault(format!("there is no kind of file `{other}`"))),
    };
    Outputs::new().check(&path, kind).map_err(fault)
}
