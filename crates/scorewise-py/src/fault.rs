//! Errors of the Rust crates as `ValueError`s: their sentences are written for users already.

use std::fmt::Display;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// A fault in what the caller gave.
pub fn fault(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
