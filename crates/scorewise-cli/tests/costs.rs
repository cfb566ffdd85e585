//! Tests of errors whose costs differ from row to row: `score`, `tune` and `compare` with `--cost-fp` and `--cost-fn`.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use serde_json::{Value, json};

use crate::folder::Folder;

/// Eight transactions. The cost of a false alarm is not known for frauds, and that of a missed fraud, its amount, not for good transactions.
const TRANSACTIONS: &str = "label,probability,other,inspection,amount,customer
1,0.9,0.2,,120,a
0,0.8,0.1,5,,a
0,0.7,0.3,5,,b
1,0.6,0.7,,40,b
1,0.5,0.6,,900,c
0,0.4,0.9,7,,c
0,0.2,0.3,5,,d
1,0.1,0.8,,3,d
";

/// The options that name the columns of costs.
const COSTS: [&str; 4] = ["--cost-fp", "inspection", "--cost-fn", "amount"];

/// A folder with the table `TRANSACTIONS`.
fn folder_with_transactions(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("p.csv"), TRANSACTIONS).unwrap();
    folder
}

/// Standard output of a command that must succeed, as text.
fn text_of(folder: &Folder, arguments: &[&str]) -> String {
    String::from_utf8(folder.run(arguments)).unwrap()
}

/// The message of a command that must fail with this exit code.
fn message_of(folder: &Folder, arguments: &[&str], code: i32) -> String {
    let output = folder.command(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn score_gives_the_cost_of_the_errors_beside_the_scores() {
    let folder = folder_with_transactions("costs-score");
    let found = folder.json(&[&["score", "p.csv", "--threshold", "0.55", "--json"], &COSTS[..]].concat());
    let costs = &found["costs"];
    assert_eq!((&costs["false_alarms"], &costs["misses"], &costs["total"]), (&json!(10.0), &json!(903.0), &json!(913.0)));
    assert_eq!(costs["per_row"]["value"], 913.0 / 8.0);
    assert!(costs["per_row"]["low"].as_f64().unwrap() < 913.0 / 8.0 && costs["per_row"]["high"].as_f64().unwrap() > 913.0 / 8.0);
    assert_eq!((&costs["always_alarm"], &costs["never_alarm"]), (&json!(22.0 / 8.0), &json!(1063.0 / 8.0)));
    // The scores themselves do not depend on the costs.
    let plain = folder.json(&["score", "p.csv", "--threshold", "0.55", "--json"]);
    assert_eq!((&plain["scores"], &plain["costs"]), (&found["scores"], &Value::Null));
    let text = text_of(&folder, &[&["score", "p.csv", "--threshold", "0.55"], &COSTS[..]].concat());
    assert!(text.contains("913 = 10 for false alarms + 903 for misses"), "{text}");
}

#[test]
fn tune_finds_the_threshold_with_the_lowest_cost() {
    let folder = folder_with_transactions("costs-tune");
    let found = folder.json(&[&["tune", "p.csv", "--json"], &COSTS[..]].concat());
    // Below 0.5 every fraud but the last is found, with two inspections.
    assert_eq!((&found["interval"], &found["value"], &found["score"]), (&json!([0.4, 0.5]), &json!(13.0 / 8.0), &json!("cost per row")));
    assert_eq!(found["confusion"], json!({"tn": 2, "fp": 2, "fn": 1, "tp": 3}));
    assert_eq!(found["costs"]["total"], 13.0);
    assert!(found["corrected"]["value"].as_f64().unwrap() >= 13.0 / 8.0, "{found}");
    // The conditions are about the counts and not about the costs.
    let fewer = folder.json(&[&["tune", "p.csv", "--json", "--subject-to", "tp + fp <= 4"], &COSTS[..]].concat());
    assert_eq!((&fewer["interval"], &fewer["value"]), (&json!([0.5, 0.6]), &json!(913.0 / 8.0)));
    let text = text_of(&folder, &[&["tune", "p.csv"], &COSTS[..]].concat());
    assert!(text.contains("13 = 10 for false alarms + 3 for misses"), "{text}");
    assert!(text.contains("2.75 with an alarm in every row, 132.9 without any alarm"), "{text}");
}

#[test]
fn a_number_is_the_same_cost_for_all_rows() {
    let folder = folder_with_transactions("costs-numbers");
    let found = folder.json(&["tune", "p.csv", "--json", "--cost-fp", "1", "--cost-fn", "10"]);
    let expected = folder.json(&["tune", "p.csv", "--json", "--score", "cost(fp=1, fn=10)"]);
    for key in ["threshold", "interval", "confusion"] {
        assert_eq!(found[key], expected[key], "{key}");
    }
    assert!((found["value"].as_f64().unwrap() - expected["value"].as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn compare_tells_which_forecast_is_cheaper() {
    let folder = folder_with_transactions("costs-compare");
    let arguments = [&["compare", "p.csv", "--probability", "probability,other", "--json"], &COSTS[..]].concat();
    let found = folder.json(&[&arguments[..], &["--threshold", "0.45"]].concat());
    assert_eq!((&found["first"]["value"], &found["second"]["value"]), (&json!(13.0 / 8.0), &json!(127.0 / 8.0)));
    assert_eq!(found["difference"]["value"], 13.0 / 8.0 - 127.0 / 8.0);
    let tuned = folder.json(&[&arguments[..], &["--tuned", "--resample", "group:customer"]].concat());
    assert_eq!(tuned["first"]["value"], 13.0 / 8.0);
    // A second file needs no columns of costs.
    fs::write(folder.0.join("q.csv"), "label,probability\n1,0.2\n0,0.1\n0,0.3\n1,0.7\n1,0.6\n0,0.9\n0,0.3\n1,0.8\n").unwrap();
    let two = folder.json(&[&["compare", "p.csv", "q.csv", "--json", "--threshold", "0.45"], &COSTS[..]].concat());
    assert_eq!(two["second"]["value"], 127.0 / 8.0);
}

#[test]
fn costs_that_are_missing_negative_or_not_numbers_are_reported_with_line_and_column() {
    let folder = folder_with_transactions("costs-messages");
    let hint = "hint: costs must be finite numbers, 0 or above; costs of errors that cannot happen to a row are not read";
    for (from, to, message) in [
        ("120", "", "p.csv, line 2, column `amount`: the cost of a miss is missing"),
        ("0.7,0.3,5", "0.7,0.3,-5", "p.csv, line 4, column `inspection`: `-5` is not a cost of a false alarm"),
    ] {
        fs::write(folder.0.join("p.csv"), TRANSACTIONS.replace(from, to)).unwrap();
        let error = message_of(&folder, &[&["tune", "p.csv"], &COSTS[..]].concat(), 2);
        assert!(error.contains(message) && error.contains(hint), "{error}");
    }
    fs::write(folder.0.join("p.csv"), TRANSACTIONS).unwrap();
    for (arguments, message) in [
        (&["tune", "p.csv", "--cost-fp", "5"][..], "--cost-fn"),
        (&["tune", "p.csv", "--cost-fp", "5", "--cost-fn", "amont"], "did you mean `amount`?"),
        (&["tune", "p.csv", "--cost-fp", "-5", "--cost-fn", "amount"], "--cost-fp is -5, which is not a cost of a false alarm"),
        (&["tune", "p.csv", "--cost-fp", "5", "--cost-fn", "amount", "--score", "f1"], "--score cannot be combined with `--cost-fp` and `--cost-fn`"),
        (&["score", "p.csv", "--cost-fp", "5", "--cost-fn", "amount", "--temporal", "value"], "cannot be combined"),
    ] {
        let error = message_of(&folder, arguments, 2);
        assert!(error.contains(message), "{error}");
    }
    let unmet = message_of(&folder, &[&["tune", "p.csv", "--subject-to", "precision >= 2"], &COSTS[..]].concat(), 1);
    assert!(unmet.contains("no threshold satisfies `precision >= 2`"), "{unmet}");
}
