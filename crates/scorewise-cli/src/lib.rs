//! The command `scorewise`. Results on standard output, everything else on standard error; exit code 0 done, 1 an asked-for
//! bar was not met, 2 usage or data, 130 ended by Ctrl-C, 143 by SIGTERM.

mod outcome;
mod typed;
mod interrupt;
mod table;
mod plot;
mod predictions;
mod train;
mod predict;
mod export;
mod resampling;
mod showing;
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

/// Train for the score you will be judged by.
#[derive(Parser)]
#[command(name = "scorewise", version, about, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train on a table for a score, and write a model that carries its threshold
    Train(Box<train::Arguments>),
    /// Probabilities and labels for the rows of a table
    Predict(predict::Arguments),
    /// Every score of a forecast at a threshold, with intervals
    Score(score::Arguments),
    /// The exact best threshold of a score, and how sure it is
    Tune(tune::Arguments),
    /// Which of two forecasts is better, and how sure that is
    Compare(compare::Arguments),
    /// A score under a random threshold: exact expectation, Jensen gap, bounds
    Theory(theory::Arguments),
    /// The paper's experiments, beside its own numbers, and beyond them
    Reproduce(reproduce::Arguments),
    /// A page, or pictures, from the data of a result
    Report(report::Arguments),
    /// A model as an ONNX file
    Export(export::Arguments),
    /// The scores: formulas, aliases, ranges; one in detail; all on a confusion matrix
    Scores(scores::Arguments),
    /// The priors of the threshold: families, or one in detail
    Priors(priors::Arguments),
    /// The names of commands and options for a shell to complete
    Completions(completions::Arguments),
}

/// The whole program: [`run`] in a process of its own, which ends well on Ctrl-C and SIGTERM. A training keeps the best model so far,
/// no command leaves a partial file, and the exit code is 130 or 143.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::install();
    silence_guarded_panics();
    let code = run(arguments);
    interrupt::exit_code().unwrap_or(code)
}

/// Leaves out the message of a panic in a decoder: the command reports it as an error that names the file.
fn silence_guarded_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_guarded() {
            before(panic);
        }
    }));
}

/// Runs the command with these arguments, the program's own name first, and returns its exit code. Signals are left to the caller.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    showing::provenance::remember(&arguments);
    let arguments = typed::Typed::new(&Arguments::command(), arguments);
    outcome::offer(arguments.options());
    let command = match Arguments::try_parse_from(arguments.joined()) {
        Ok(arguments) => arguments.command,
        Err(fault) => {
            if let Some(failure) = typed::explained(&fault) {
                return outcome::report(Err(failure));
            }
            // Help goes to standard output and is no fault: clap knows which it is.
            let text = fault.render().to_string();
            if fault.use_stderr() {
                outcome::tell(&text);
                return outcome::USAGE;
            }
            return outcome::report(Ok(text.into()));
        }
    };
    outcome::report(perform(&command))
}

fn perform(command: &Command) -> Result<Outcome, Failure> {
    match command {
        Command::Train(arguments) => train::run(arguments),
        Command::Predict(arguments) => predict::run(arguments),
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
