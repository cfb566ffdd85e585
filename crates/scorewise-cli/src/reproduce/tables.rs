//! The tables of a reproduction, as text and as Markdown.

use scorewise_report::evaluation::PaperComparison;

use super::arguments::{Arguments, Cure};
use crate::table::aligned;

/// For the terminal.
pub fn text(results: &PaperComparison) -> String {
    let mut text = String::new();
    for grid in results.grids() {
        let heading: Vec<&str> = grid.heading.iter().map(String::as_str).collect();
        text += &format!("{}\n\n{}\n", grid.title, aligned(&heading, &grid.rows));
    }
    for line in results.remarks() {
        text += &format!("{line}\n");
    }
    text
}

/// For a document.
pub fn markdown(results: &PaperComparison, arguments: &Arguments) -> String {
    let (command, seed) = (command(arguments), arguments.seed);
    let mut text = format!("`{command}`, version {}, seed {seed}.\n", env!("CARGO_PKG_VERSION"));
    for grid in results.grids() {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        text += &format!("\n{}\n\n{}", grid.title, row(&grid.heading));
        text += &format!("|{}\n", "---|".repeat(grid.heading.len()));
        text.extend(grid.rows.iter().map(|cells| row(cells)));
    }
    text += "\n";
    for line in results.remarks() {
        text += &format!("- {line}\n");
    }
    text
}

/// The command with which the tables can be made again.
fn command(arguments: &Arguments) -> String {
    let mut command = format!("scorewise reproduce {}", arguments.experiment);
    let mut add = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{option} {}", if value.contains(' ') { format!("\"{value}\"") } else { value });
        }
    };
    add("repeats", (arguments.repeats != 100).then(|| arguments.repeats.to_string()));
    add("priors", arguments.priors.clone());
    add("scores", arguments.scores.clone());
    add("seed", (arguments.seed != 0).then(|| arguments.seed.to_string()));
    add(
        "cure",
        match arguments.cure {
            Cure::Both => None,
            Cure::On => Some("on".into()),
            Cure::Off => Some("off".into()),
        },
    );
    if arguments.beyond {
        command += " --beyond";
    }
    command
}
