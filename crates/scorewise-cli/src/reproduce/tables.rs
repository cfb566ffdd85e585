//! Result tables of `scorewise reproduce`, as text and as Markdown.

use scorewise_report::evaluation::PaperComparison;

use super::arguments::{Cure, ReproduceArguments};
use crate::formatting::aligned_table;

/// The tables as text for the terminal.
pub fn tables_as_text(results: &PaperComparison) -> String {
    let mut text = String::new();
    for table in results.result_tables() {
        let heading: Vec<&str> = table.heading.iter().map(String::as_str).collect();
        text += &format!("{}\n\n{}\n", table.title, aligned_table(&heading, &table.rows));
    }
    for line in results.remarks() {
        text += &format!("{line}\n");
    }
    text
}

/// The tables as Markdown, with the command that produced them.
pub fn tables_as_markdown(results: &PaperComparison, arguments: &ReproduceArguments) -> String {
    let (command, seed) = (reproduce_command_line(arguments), arguments.seed);
    let mut text = format!("`{command}`, version {}, seed {seed}.\n", env!("CARGO_PKG_VERSION"));
    for table in results.result_tables() {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        text += &format!("\n{}\n\n{}", table.title, row(&table.heading));
        text += &format!("|{}\n", "---|".repeat(table.heading.len()));
        text.extend(table.rows.iter().map(|cells| row(cells)));
    }
    text += "\n";
    for line in results.remarks() {
        text += &format!("- {line}\n");
    }
    text
}

/// The command that reproduces the tables.
fn reproduce_command_line(arguments: &ReproduceArguments) -> String {
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
