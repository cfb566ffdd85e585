//! The entry point of the command `scorewise`, for the script that the wheel installs.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `scorewise` and returns its exit code. The first argument is the name of the program. This function installs signal
/// handlers, so only the script `scorewise`, which the wheel installs, may call it.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| scorewise_cli::main(arguments))
}
