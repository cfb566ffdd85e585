//! The command `scorewise`. The code is in the library, so that the Python package can install the same command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(scorewise_cli::main(std::env::args_os()))
}
