//! Conversion of errors of the Rust crates to `ValueError`. Settings named in a message, such as `weight-decay`, become Python parameters:
//! `weight_decay`.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use scorewise_table::setting::render;

/// A `ValueError` with the message of an error. Settings named in the message are written as Python parameters.
pub fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(with_parameter_names(error))
}

/// The text of a message, with settings such as `weight-decay` written as Python parameters: `weight_decay`, `split="time"`.
pub fn with_parameter_names(text: impl Display) -> String {
    render(&format!("{text:#}"), &|name, value| {
        let name = name.replace('-', "_");
        Some(match value {
            Some(value) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
            Some(value) => format!("{name}=\"{}\"", value.replace('\\', r"\\").replace('"', r#"\""#)),
            None => name,
        })
    })
}
