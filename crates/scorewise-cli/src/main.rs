//! The command `scorewise`; all of it is in the library, so that other front ends can carry it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(scorewise_cli::main(std::env::args_os()))
}
