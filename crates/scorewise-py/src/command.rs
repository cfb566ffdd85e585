//! The entry point of the command `scorewise`, for the script that the wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `scorewise` with these arguments, the program's name first, and returns its exit code. The process is taken to be the
/// command's own, with its signals.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| scorewise_cli::main(arguments))
}
