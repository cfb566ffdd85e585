//! `scorewise report`: an HTML report or figures from a saved result.

use std::path::PathBuf;

use scorewise_report::document::Document;
use scorewise_table::output::Outputs;
use scorewise_table::table::Source;
use scorewise_train::{Error, Location};

use crate::outcome::{Failure, Outcome};
use crate::report_output::{OVERWRITE, ReportArguments};

/// Arguments of `scorewise report`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    scorewise tune p.csv --report tuned.json && scorewise report tuned.json      report tuned.html\n  \
    scorewise report tuned.json --plots figures                                  figures as SVG and PNG\n  \
    scorewise score p.csv --json | scorewise report - -o scores.html             report without a movable threshold")]
pub struct ReportCommandArguments {
    /// JSON file written with `--report results.json`, or the `--json` output of a command; - for standard input
    results: String,
    /// HTML file to write [default: the name of the results, with .html]
    #[arg(short, long, value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Folder for the figures as SVG and PNG; the HTML file is then written only with -o
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Replace existing files whatever they contain; without this option, a file is replaced only by an output of its kind, such as a
    /// report by a report. The results are never replaced
    #[arg(long)]
    overwrite: bool,
}

/// Writes the report and the figures.
pub fn run(arguments: &ReportCommandArguments) -> Result<Outcome, Failure> {
    let data_error = |problem: String, hint: &str| Error::data(Location::file(&arguments.results), problem, hint);
    let text = if arguments.results == "-" {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(&arguments.results)
    };
    let text = text.map_err(|error| data_error(error.to_string(), "name a file that can be read"))?;
    let hint = "commands write their results with `--report results.json`, or print them with `--json`";
    let document = Document::read(&text).map_err(|problem| data_error(problem.to_string(), hint))?;
    let default_path = || match arguments.results.as_str() {
        "-" => PathBuf::from("report.html"),
        name => PathBuf::from(name).with_extension("html"),
    };
    let report = match (&arguments.output, &arguments.plots) {
        (None, Some(_)) => None,
        (output, _) => Some(output.clone().unwrap_or_else(default_path)),
    };
    let results = match arguments.results.as_str() {
        "-" => Source::Stdin,
        name => Source::File(name.into()),
    };
    let outputs = Outputs::new().reads(&results).overwrites(OVERWRITE, arguments.overwrite);
    let report_arguments = ReportArguments { report, plots: arguments.plots.clone(), overwrite: arguments.overwrite };
    report_arguments.open_with(outputs)?.write(&document)?;
    Ok(Outcome::default())
}
