//! Errors of the Rust crates as `ValueError`s: their sentences are written for users already, and name settings as parameters here.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use scorewise_table::setting::render;

/// A fault in what the caller gave.
pub fn fault(error: impl Display) -> PyErr {
    PyValueError::new_err(with_parameters(error))
}

/// An error, a note or any other text, with settings as parameters: `weight_decay`, `split="time"`.
pub fn with_parameters(text: impl Display) -> String {
    render(&format!("{text:#}"), &|name, value| {
        let name = name.replace('-', "_");
        Some(match value {
            Some(value) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
            Some(value) => format!("{name}=\"{}\"", value.replace('\\', r"\\").replace('"', r#"\""#)),
            None => name,
        })
    })
}
