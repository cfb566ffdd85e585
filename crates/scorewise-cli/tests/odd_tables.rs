//! Real data that is not nice trains without any editing by hand: the built-in sets, written the way such files come.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use scorewise_table::table::{BuiltIn, Reading, Source, Table, read};
use serde_json::Value;

fn table(built_in: BuiltIn) -> Table {
    read(&Source::BuiltIn(built_in), &Reading::default()).unwrap()
}

/// The table as text: cells by `cell(column, row)`, everything else as given.
fn text(
    table: &Table,
    rows: &[usize],
    mark: char,
    tail: &str,
    end: &str,
    cell: impl Fn(usize, usize) -> String,
) -> String {
    let mark_text = mark.to_string();
    let heading: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let mut text = heading.join(&mark_text) + tail + end;
    for row in rows {
        let cells: Vec<String> = (0..table.columns.len()).map(|column| cell(column, *row)).collect();
        write!(text, "{}{tail}{end}", cells.join(&mark_text)).unwrap();
    }
    text
}

/// Trains on a text and gives what `--json` says.
fn train(name: &str, text: &str, arguments: &[&str]) -> Value {
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
fn semicolons_decimal_commas_and_minus_200_as_missing() {
    let table = table(BuiltIn::Pollution);
    let rows: Vec<usize> = (0..9000).collect();
    let cell = |column: usize, row: usize| {
        let values = &table.columns[column].values;
        if values.is_missing(row) { "-200".into() } else { values.text(row).replace('.', ",") }
    };
    // As such files come from spreadsheets: a byte order mark, two empty columns at the end, empty rows after the last.
    let empty = ";".repeat(table.columns.len() + 1) + "\r\n";
    let text = format!("\u{feff}{}{}\r\n", text(&table, &rows, ';', ";;", "\r\n", cell), empty.repeat(3));
    let arguments = ["--target", "pm2.5 > 150", "--lead", "1", "--missing", "-200", "--drop", "No", "--epochs", "20"];
    let result = train("semicolons", &text, &arguments);
    assert!(result["test"]["scores"]["tss"]["value"].as_f64().unwrap() > 0.5, "{result}");
    let features = result["features"].to_string();
    assert!(features.contains("pm2.5 missing") && features.contains("cbwd = NW"), "{features}");
}

#[test]
fn question_marks_in_a_file_sorted_by_class() {
    let table = table(BuiltIn::Adult);
    let income = table.column("income").unwrap();
    let mut rows: Vec<usize> = (0..6000).collect();
    rows.sort_by_key(|row| income.values.text(*row));
    let cell = |column: usize, row: usize| {
        let text = table.columns[column].values.text(row);
        if text.is_empty() { " ?".into() } else { format!(" {text}") }
    };
    let text = text(&table, &rows, ',', "", "\n", cell);
    let result = train("sorted", &text, &["--target", "income", "--score", "f1", "--epochs", "20"]);
    assert_eq!(result["classes"][1], ">50K");
    assert!(result["test"]["scores"]["f1"]["value"].as_f64().unwrap() > 0.55, "{result}");
}

#[test]
fn none_is_a_class_like_any_other() {
    let table = table(BuiltIn::Adult);
    let cell = |column: usize, row: usize| {
        let text = table.columns[column].values.text(row);
        match (table.columns[column].name.as_str(), text.as_str()) {
            ("income", "<=50K") => "None".into(),
            (_, "") => "NA".into(),
            _ => text,
        }
    };
    let text = text(&table, &(0..4000).collect::<Vec<_>>(), '|', "", "\n", cell);
    let result =
        train("none", &text, &["--target", "income", "--positive", "None", "--score", "tss", "--epochs", "10"]);
    assert_eq!(result["classes"], serde_json::json!([">50K", "None"]));
}

#[test]
fn a_time_series_with_lead_and_lags() {
    let table = table(BuiltIn::Pollution);
    let cell = |column: usize, row: usize| table.columns[column].values.text(row);
    let text = text(&table, &(0..12_000).collect::<Vec<_>>(), '\t', "", "\n", cell);
    let arguments =
        ["--target", "pm2.5 > 150", "--lead", "1", "--lags", "2", "--drop", "No,year,month,day,hour", "--epochs", "20"];
    let result = train("lead", &text, &arguments);
    assert!(result["test"]["scores"]["tss"]["value"].as_f64().unwrap() > 0.6, "{result}");
    assert!(result["features"].to_string().contains("pm2.5 (2 before)"), "{}", result["features"]);
}

#[test]
fn more_than_two_classes() {
    let table = table(BuiltIn::Pollution);
    let cell = |column: usize, row: usize| table.columns[column].values.text(row);
    let text = text(&table, &(0..6000).collect::<Vec<_>>(), ',', "", "\n", cell);
    for manner in ["simplex", "one-versus-rest"] {
        let arguments =
            ["--target", "cbwd", "--score", "macro(f1)", "--multiclass", manner, "--drop", "No", "--epochs", "30"];
        let result = train(manner, &text, &arguments);
        assert_eq!(result["classes"], serde_json::json!(["NE", "NW", "SE", "cv"]));
        let f1 = result["test"]["scores"]["macro(f1)"]["value"].as_f64().unwrap();
        // One class for all gives at most a quarter of what the best class reaches alone.
        assert!(f1 > 0.3, "{manner}: {f1}");
    }
}
