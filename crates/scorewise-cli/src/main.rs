//! The command `scorewise`. Results on standard output, everything else on standard error; exit code 0 done, 2 usage or data.

mod priors;
mod scores;
mod table;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Train for the score you will be judged by.
#[derive(Parser)]
#[command(name = "scorewise", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The scores: formulas, aliases, ranges; one in detail; all on a confusion matrix
    Scores(scores::Arguments),
    /// The priors of the threshold: families, or one in detail
    Priors(priors::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Scores(arguments) => scores::run(&arguments),
        Command::Priors(arguments) => priors::run(&arguments),
    };
    match result.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Writes the result; a reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> Result<(), String> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}
