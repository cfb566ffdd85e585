//! Tests of `scorewise monitor`: its exit code, its text, its JSON, its page and its messages.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// The text of a table with the columns `day`, `a`, `colour` and `y`; its rows are those numbered from `from` to below `to`. `colour` is one of
/// `colours`. Except in a few rows, `y` is 1 if `a` is above `limit`, and 0 otherwise.
fn csv_rows(from: u32, to: u32, limit: u32, colours: [&str; 3]) -> String {
    let row = |k: u32| {
        let a = (k * 37) % 101;
        let y = u8::from(a > limit) ^ u8::from(k.is_multiple_of(13));
        format!("2024-{:02}-{:02},{a},{},{y}\n", 1 + k / 28 % 12, 1 + k % 28, colours[(k * 7 % 13 % 3) as usize])
    };
    format!("day,a,colour,y\n{}", (from..to).map(row).collect::<String>())
}

/// A folder with a model, its training table `t.csv`, and three tables of new rows: in `same.csv` the rows are like the training rows, in
/// `changed.csv` they differ from them, and in `unlabelled.csv` they have no classes.
fn folder_with_model(name: &str) -> Folder {
    let folder = Folder::new(name);
    let colours = ["red", "green", "blue"];
    fs::write(folder.0.join("t.csv"), csv_rows(0, 600, 60, colours)).unwrap();
    fs::write(folder.0.join("same.csv"), csv_rows(600, 1000, 60, colours)).unwrap();
    fs::write(folder.0.join("changed.csv"), csv_rows(600, 1000, 30, ["red", "pink", "red"])).unwrap();
    let unlabelled = csv_rows(600, 1000, 60, colours).replace(",0\n", ",\n").replace(",1\n", ",\n");
    fs::write(folder.0.join("unlabelled.csv"), unlabelled).unwrap();
    folder.run(&[
        "train", "t.csv", "--target", "y", "--score", "tss", "--recipe", "quick", "--drop", "day", "--report", "none",
    ]);
    folder
}

/// Runs a command, and returns its exit code, its standard output and its standard error.
fn outputs(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = folder.command(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_exit_code_is_0_for_rows_like_the_training_rows_and_1_for_changed_rows() {
    let folder = folder_with_model("monitor-exit");
    let monitor = |table: &str| outputs(&folder, &["monitor", "model.scorewise", table]);
    let (code, text, error) = monitor("same.csv");
    assert_eq!((code, error.as_str()), (Some(0), ""), "{text}");
    assert!(text.contains("does not differ") && !text.contains("large"), "{text}");
    let (code, text, error) = monitor("changed.csv");
    assert_eq!(code, Some(1), "{text}");
    assert!(error.contains("tss is ") && error.contains("worse than the"), "{error}");
    let line = text.lines().find(|line| line.starts_with("colour ")).unwrap();
    assert!(line.contains("large") && line.ends_with("rows: pink"), "{line}");
    assert!(text.contains("2024-05"), "the periods are months: {text}");
    assert_eq!(monitor("changed.csv").1, text, "the output is the same each time");
}

#[test]
fn without_labels_the_inputs_are_compared_and_a_condition_on_the_score_is_refused() {
    let folder = folder_with_model("monitor-unlabelled");
    let (code, text, _) = outputs(&folder, &["monitor", "model.scorewise", "unlabelled.csv", "--json"]);
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &result["change"], &result["labelled"]), (Some(0), &"unknown".into(), &Value::Null));
    assert!(result["alarm_rate"]["now"]["value"].is_number() && result["predictions"]["psi"].is_number());
    assert_eq!(result["columns"].as_array().unwrap().len(), 2);
    let arguments = ["monitor", "model.scorewise", "unlabelled.csv", "--at-least", "0.5"];
    let (code, text, error) = outputs(&folder, &arguments);
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert!(error.contains("--at-least: the score needs the true class of each row"), "{error}");
}

#[test]
fn a_condition_that_the_score_does_not_meet_gives_exit_code_1() {
    let folder = folder_with_model("monitor-condition");
    let with = |limit: &str| outputs(&folder, &["monitor", "model.scorewise", "same.csv", "--at-least", limit]);
    assert_eq!(with("0.1").0, Some(0));
    let (code, _, error) = with("0.999");
    assert_eq!(code, Some(1));
    assert!(error.contains("does not meet --at-least 0.999"), "{error}");
}

#[test]
fn the_html_report_shows_periods_and_shifts_and_can_be_made_from_saved_json() {
    let folder = folder_with_model("monitor-page");
    let arguments = ["monitor", "model.scorewise", "changed.csv", "--every", "100", "--report", "p.html"];
    assert_eq!(outputs(&folder, &arguments).0, Some(1));
    let page = String::from_utf8(folder.bytes("p.html")).unwrap();
    for expected in ["figure-periods", "Are the rows still like the training rows?", "pink", "worse than the"] {
        assert!(page.contains(expected), "{expected}");
    }
    let (_, json, _) = outputs(&folder, &["monitor", "model.scorewise", "changed.csv", "--json"]);
    fs::write(folder.0.join("r.json"), json).unwrap();
    let (code, _, error) = outputs(&folder, &["report", "r.json", "-o", "again.html"]);
    assert_eq!(code, Some(0), "{error}");
}

#[test]
fn errors_name_the_wrong_option_or_column_or_say_what_to_write() {
    let folder = folder_with_model("monitor-messages");
    fs::write(folder.0.join("short.csv"), "colour,y\nred,1\n").unwrap();
    for (arguments, expected) in [
        (&["short.csv"][..], "has no column `a`"),
        (&["same.csv", "--time", "colour"], "--time: `colour` holds neither dates nor numbers"),
        (&["same.csv", "--every", "year"], "write `day`, `week`, `month` or a number of rows"),
        (&["same.csv", "--resample", "group:station"], "has no column `station`"),
        (&["same.csv", "--at-least", "high"], "give the least acceptable score"),
    ] {
        let (code, text, error) = outputs(&folder, &[&["monitor", "model.scorewise"], arguments].concat());
        assert_eq!((code, text.as_str()), (Some(2), ""), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}
