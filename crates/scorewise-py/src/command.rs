//! The entry point of the command `scorewise`, for the script that the wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `scorewise` and returns its exit code; the first argument is the name of the program. Installs signal handlers, so it
/// must be called only by the script `scorewise` that the wheel installs.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| scorewise_cli::main(arguments))
}
