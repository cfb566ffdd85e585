//! `scorewise report`: a page, or pictures, from the data of a result.

use std::path::PathBuf;

use scorewise_report::document::Document;
use scorewise_table::output::Outputs;
use scorewise_table::table::Source;
use scorewise_train::{Error, Place};

use crate::outcome::{Failure, Outcome};
use crate::showing;

/// What `scorewise report` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise tune p.csv --report tuned.json && scorewise report tuned.json      the page of a result, tuned.html\n  \
    scorewise report tuned.json --plots figures                                  its figures as SVG and PNG\n  \
    scorewise score p.csv --json | scorewise report - -o scores.html             what `--json` has: tables, but no threshold to move")]
pub struct Arguments {
    /// What `--report results.json` wrote, or what a command printed with `--json`; - for standard input
    results: String,
    /// Where the page goes [default: the name of the results, with .html]
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Every figure as SVG and PNG, into this folder; then no page unless it is named
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Replace files that are not older outputs of scorewise of the same kind; never the results
    #[arg(long)]
    overwrite: bool,
}

/// Draws the page and the pictures.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let fault = |problem: String, hint: &str| Error::data(Place::file(&arguments.results), problem, hint);
    let text = if arguments.results == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(&arguments.results)
    };
    let text = text.map_err(|error| fault(error.to_string(), "name a file that can be read"))?;
    let hint = "write one with `--report results.json`, or with `--json`, of any command";
    let document = Document::read(&text).map_err(|problem| fault(problem.to_string(), hint))?;
    let usual = || match arguments.results.as_str() {
        "-" => PathBuf::from("report.html"),
        name => PathBuf::from(name).with_extension("html"),
    };
    let report = match (&arguments.output, &arguments.plots) {
        (None, Some(_)) => None,
        (output, _) => Some(output.clone().unwrap_or_else(usual)),
    };
    let results = match arguments.results.as_str() {
        "-" => Source::Stdin,
        name => Source::File(name.into()),
    };
    let outputs = Outputs::new().reads(&results).overwrites(showing::OVERWRITE, arguments.overwrite);
    let files = showing::ReportFiles { report, plots: arguments.plots.clone(), overwrite: arguments.overwrite };
    files.places_among(outputs)?.write(&document)?;
    Ok(Outcome::default())
}
