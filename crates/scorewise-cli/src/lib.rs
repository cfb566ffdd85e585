//! The command `scorewise`. Results go to standard output, everything else to standard error.
//!
//! Exit codes: 0 success, 1 a condition given by the user was not met (or `train` saved a model but could not write its report), 2 bad usage or
//! bad data, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.

mod outcome;
mod command_line;
mod interrupt;
mod formatting;
mod plot;
mod predictions;
mod train;
mod predict;
mod explain;
mod monitor;
mod export;
mod resampling;
mod temporal;
mod report_output;
mod costs;
mod counts;
mod score;
mod tune;
mod compare;
mod theory;
mod reproduce;
mod report;
mod scores;
mod priors;
mod completions;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use outcome::{Failure, Outcome};
use scorewise_table::table::is_guarded;

/// Train classifiers for the score they are judged by.
#[derive(Parser)]
#[command(name = "scorewise", version, about, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands of `scorewise`, with their arguments.
#[derive(Subcommand)]
enum Command {
    /// Train a model for a score; the model file contains the decision threshold
    Train(Box<train::TrainArguments>),
    /// Predict probabilities and classes for the rows of a table
    Predict(predict::PredictArguments),
    /// Measure how much each column helps the model's score, and how predictions depend on a column
    Explain(explain::ExplainArguments),
    /// Check whether a model is still good on new rows: the score over time, the threshold, and shifted columns
    Monitor(monitor::MonitorArguments),
    /// Compute scores of a forecast at a threshold, with intervals
    Score(score::ScoreArguments),
    /// Find the threshold with the best score and its interval, by an exact search
    Tune(tune::TuneArguments),
    /// Compare two forecasts of the same rows
    Compare(compare::CompareArguments),
    /// Compute a score under a random threshold: exact expectation, Jensen gap, bounds
    Theory(theory::TheoryArguments),
    /// Repeat the experiments of Marchetti et al. (2022) and compare with the published numbers
    Reproduce(reproduce::ReproduceArguments),
    /// Make an HTML report or figures from a saved result
    Report(report::ReportCommandArguments),
    /// Convert a model to ONNX
    Export(export::ExportArguments),
    /// List scores, describe one, or compute scores of a confusion matrix
    Scores(scores::ScoresArguments),
    /// List the priors of the threshold, or describe one
    Priors(priors::PriorsArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
}

/// Entry point of the program: installs signal handlers and calls [`run`]. On Ctrl-C or SIGTERM, `scorewise train` saves the best model so far,
/// partial files are removed, and the exit code is 130 or 143.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::install_signal_handlers();
    silence_caught_panics();
    let code = run(arguments);
    interrupt::exit_code().unwrap_or(code)
}

/// Suppresses the message of a panic that is caught while a file is decoded, because the command reports an error that names the file instead.
fn silence_caught_panics() {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_guarded() {
            default_hook(panic);
        }
    }));
}

/// Runs the command and returns its exit code; the first argument is the name of the program. Installs no signal handlers.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    report_output::provenance::set_command_line(&arguments);
    let arguments = command_line::RawArguments::new(&CommandLine::command(), arguments);
    outcome::set_available_options(arguments.long_options());
    let command = match CommandLine::try_parse_from(arguments.with_joined_values()) {
        Ok(arguments) => arguments.command,
        Err(error) => {
            if let Some(failure) = command_line::invalid_value_failure(&error) {
                return outcome::print_result(Err(failure));
            }
            // clap also returns the texts of `--help` and `--version` as errors; these texts go to standard output.
            let text = error.render().to_string();
            if error.use_stderr() {
                outcome::print_error(&text);
                return outcome::USAGE;
            }
            return outcome::print_result(Ok(text.into()));
        }
    };
    outcome::print_result(run_command(&command))
}

/// Runs a subcommand and returns what it prints.
fn run_command(command: &Command) -> Result<Outcome, Failure> {
    match command {
        Command::Train(arguments) => train::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Monitor(arguments) => monitor::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Score(arguments) => score::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Theory(arguments) => theory::run(arguments),
        Command::Reproduce(arguments) => reproduce::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Scores(arguments) => scores::run(arguments),
        Command::Priors(arguments) => priors::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
    }
}
