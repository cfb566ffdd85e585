//! Tests that files in unusual formats can be used for training without editing them by hand. The files are made from the built-in tables.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use scorewise_table::table::{BuiltIn, Reading, Source, Table, read};
use serde_json::Value;

/// Reads a built-in table.
fn read_built_in(built_in: BuiltIn) -> Table {
    read(&Source::BuiltIn(built_in), &Reading::default()).unwrap()
}

/// The header and some rows of a table as the text of a file. `cell(column, row)` returns the text of a cell. Each line is followed by `tail`,
/// such as the delimiters of empty columns, and by the line break `end`.
fn table_text(
    table: &Table,
    rows: &[usize],
    delimiter: char,
    tail: &str,
    end: &str,
    cell: impl Fn(usize, usize) -> String,
) -> String {
    let delimiter = delimiter.to_string();
    let heading: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = heading.join(&delimiter) + tail + end;
    for row in rows {
        let cells: Vec<String> = (0..table.columns.len()).map(|column| cell(column, *row)).collect();
        write!(text, "{}{tail}{end}", cells.join(&delimiter)).unwrap();
    }
    text
}

/// Writes the text of a table to a file, trains on this file, and returns the output of `train --json`.
fn train_on_text(name: &str, text: &str, arguments: &[&str]) -> Value {
    let folder: PathBuf = std::env::temp_dir().join(format!("scorewise-odd-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("table.csv"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_scorewise"))
        .current_dir(&folder)
        .args(["train", "table.csv", "--json", "--hidden", "15,8", "--replicates", "20"])
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    fs::remove_dir_all(&folder).unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_file_with_semicolons_decimal_commas_and_minus_200_for_missing_values_is_read() {
    let table = read_built_in(BuiltIn::Pollution);
    let rows: Vec<usize> = (0..9000).collect();
    let cell = |column: usize, row: usize| {
        let values = &table.columns[column].values;
        if values.is_missing(row) { "-200".into() } else { values.text(row).replace('.', ",") }
    };
    // The file looks like an export of a spreadsheet: a byte order mark, two empty columns at the end, and empty rows after the last row.
    let empty = ";".repeat(table.columns.len() + 1) + "\r\n";
    let text = format!("\u{feff}{}{}\r\n", table_text(&table, &rows, ';', ";;", "\r\n", cell), empty.repeat(3));
    let arguments = ["--target", "pm2.5 > 150", "--lead", "1", "--missing", "-200", "--drop", "No", "--epochs", "20"];
    let result = train_on_text("semicolons", &text, &arguments);
    assert!(result["test"]["scores"]["tss"]["value"].as_f64().unwrap() > 0.5, "{result}");
    let features = result["features"].to_string();
    assert!(features.contains("\"pm2.5\"") && features.contains("cbwd"), "{features}");
    let dense = train_on_text("semicolons", &text, &[&arguments[..], &["--recipe", "paper"]].concat());
    let features = dense["features"].to_string();
    assert!(features.contains("pm2.5 missing") && features.contains("cbwd = NW"), "{features}");
}

#[test]
fn a_file_that_is_sorted_by_class_and_marks_missing_values_with_a_question_mark_is_read() {
    let table = read_built_in(BuiltIn::Adult);
    let income = table.column("income").unwrap();
    let mut rows: Vec<usize> = (0..6000).collect();
    rows.sort_by_key(|row| income.values.text(*row));
    let cell = |column: usize, row: usize| {
        let text = table.columns[column].values.text(row);
        if text.is_empty() { " ?".into() } else { format!(" {text}") }
    };
    let text = table_text(&table, &rows, ',', "", "\n", cell);
    let result = train_on_text("sorted", &text, &["--target", "income", "--score", "f1", "--epochs", "20"]);
    assert_eq!(result["classes"][1], ">50K");
    assert!(result["test"]["scores"]["f1"]["value"].as_f64().unwrap() > 0.55, "{result}");
}

#[test]
fn the_string_none_can_be_a_class() {
    let table = read_built_in(BuiltIn::Adult);
    let cell = |column: usize, row: usize| {
        let text = table.columns[column].values.text(row);
        match (table.columns[column].name.as_str(), text.as_str()) {
            ("income", "<=50K") => "None".into(),
            (_, "") => "NA".into(),
            _ => text,
        }
    };
    let text = table_text(&table, &(0..4000).collect::<Vec<_>>(), '|', "", "\n", cell);
    let result =
        train_on_text("none", &text, &["--target", "income", "--positive", "None", "--score", "tss", "--epochs", "10"]);
    assert_eq!(result["classes"], serde_json::json!([">50K", "None"]));
}

#[test]
fn training_on_a_time_series_with_lead_and_lags_works() {
    let table = read_built_in(BuiltIn::Pollution);
    let cell = |column: usize, row: usize| table.columns[column].values.text(row);
    let text = table_text(&table, &(0..12_000).collect::<Vec<_>>(), '\t', "", "\n", cell);
    let arguments =
        ["--target", "pm2.5 > 150", "--lead", "1", "--lags", "2", "--drop", "No,year,month,day,hour", "--epochs", "20"];
    let result = train_on_text("lead", &text, &arguments);
    assert!(result["test"]["scores"]["tss"]["value"].as_f64().unwrap() > 0.6, "{result}");
    assert!(result["features"].to_string().contains("pm2.5 (2 before)"), "{}", result["features"]);
}

#[test]
fn training_on_a_target_with_more_than_two_classes_works() {
    let table = read_built_in(BuiltIn::Pollution);
    let cell = |column: usize, row: usize| table.columns[column].values.text(row);
    let text = table_text(&table, &(0..6000).collect::<Vec<_>>(), ',', "", "\n", cell);
    for mode in ["simplex", "one-versus-rest"] {
        let arguments =
            ["--target", "cbwd", "--score", "macro(f1)", "--multiclass", mode, "--drop", "No", "--epochs", "30"];
        let result = train_on_text(mode, &text, &arguments);
        assert_eq!(result["classes"], serde_json::json!(["NE", "NW", "SE", "cv"]));
        let f1 = result["test"]["scores"]["macro(f1)"]["value"].as_f64().unwrap();
        // Predicting the same class for all rows gives a macro F1 of at most 1/4, because the F1 of the other three classes is 0.
        assert!(f1 > 0.3, "{mode}: {f1}");
    }
}
