//! Tests of errors whose costs differ from row to row: `score`, `tune` and `compare` with `--cost-fp` and `--cost-fn`.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use serde_json::{Value, json};

use crate::folder::Folder;

/// Eight transactions. `inspection` is the cost of a false alarm, which only good transactions have. `amount` is the cost of a missed fraud, which
/// only frauds have.
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
    assert_eq!(
        (&costs["false_alarms"], &costs["misses"], &costs["total"]),
        (&json!(10.0), &json!(903.0), &json!(913.0))
    );
    assert_eq!(costs["per_row"]["value"], 913.0 / 8.0);
    assert!(
        costs["per_row"]["low"].as_f64().unwrap() < 913.0 / 8.0
            && costs["per_row"]["high"].as_f64().unwrap() > 913.0 / 8.0
    );
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
    // At thresholds from 0.4 to 0.5, every fraud but the last is found, and there are two false alarms.
    assert_eq!(
        (&found["interval"], &found["value"], &found["score"]),
        (&json!([0.4, 0.5]), &json!(13.0 / 8.0), &json!("cost per row"))
    );
    assert_eq!(found["confusion"], json!({"tn": 2, "fp": 2, "fn": 1, "tp": 3}));
    assert_eq!(found["costs"]["total"], 13.0);
    assert!(found["corrected"]["value"].as_f64().unwrap() >= 13.0 / 8.0, "{found}");
    // A condition compares counts of rows, such as `tp + fp`, which do not depend on the costs.
    let fewer = folder.json(&[&["tune", "p.csv", "--json", "--subject-to", "tp + fp <= 4"], &COSTS[..]].concat());
    assert_eq!((&fewer["interval"], &fewer["value"]), (&json!([0.5, 0.6]), &json!(913.0 / 8.0)));
    let text = text_of(&folder, &[&["tune", "p.csv"], &COSTS[..]].concat());
    assert!(text.contains("13 = 10 for false alarms + 3 for misses"), "{text}");
    assert!(text.contains("2.75 with an alarm in every row, 132.875 without any alarm"), "{text}");
}

#[test]
fn a_cost_given_as_a_number_applies_to_all_rows() {
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
    fs::write(folder.0.join("q.csv"), "label,probability\n1,0.2\n0,0.1\n0,0.3\n1,0.7\n1,0.6\n0,0.9\n0,0.3\n1,0.8\n")
        .unwrap();
    let two = folder.json(&[&["compare", "p.csv", "q.csv", "--json", "--threshold", "0.45"], &COSTS[..]].concat());
    assert_eq!(two["second"]["value"], 127.0 / 8.0);
}

#[test]
fn costs_that_are_missing_negative_or_not_numbers_are_reported_with_line_and_column() {
    let folder = folder_with_transactions("costs-messages");
    let hint = "hint: costs must be finite numbers, 0 or above; false alarms need costs only in negative rows, misses only in positive rows";
    for (from, to, message) in [
        ("120", "", "p.csv:2, column `amount`: the cost of a miss is missing"),
        ("0.7,0.3,5", "0.7,0.3,-5", "p.csv:4, column `inspection`: `-5` is not a cost of a false alarm"),
    ] {
        fs::write(folder.0.join("p.csv"), TRANSACTIONS.replace(from, to)).unwrap();
        let error = message_of(&folder, &[&["tune", "p.csv"], &COSTS[..]].concat(), 2);
        assert!(error.contains(message) && error.contains(hint), "{error}");
    }
    fs::write(folder.0.join("p.csv"), TRANSACTIONS).unwrap();
    for (arguments, message) in [
        (&["tune", "p.csv", "--cost-fp", "5"][..], "--cost-fn"),
        (&["tune", "p.csv", "--cost-fp", "5", "--cost-fn", "amont"], "did you mean `amount`?"),
        (&["tune", "p.csv", "--cost-fp", "-5", "--cost-fn", "amount"], "--cost-fp: -5 is not a cost of a false alarm"),
        (
            &["tune", "p.csv", "--cost-fp", "5", "--cost-fn", "amount", "--score", "f1"],
            "--score: cannot be combined with `--cost-fp` and `--cost-fn`",
        ),
        (&["score", "p.csv", "--cost-fp", "5", "--cost-fn", "amount", "--temporal", "value"], "cannot be combined"),
    ] {
        let error = message_of(&folder, arguments, 2);
        assert!(error.contains(message), "{error}");
    }
    let unmet = message_of(&folder, &[&["tune", "p.csv", "--subject-to", "precision >= 2"], &COSTS[..]].concat(), 1);
    assert!(unmet.contains("no threshold satisfies `precision >= 2`"), "{unmet}");
}

/// A table with three classes: the class depends on the number x, with noise, and severe cases are rare.
fn triage_table() -> String {
    let mut text = String::from("x,class\n");
    let mut state = 7u64;
    for _ in 0..400 {
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (x, noise) = (uniform(), uniform());
        let class = match x + 0.5 * noise {
            sum if sum > 1.15 => "severe",
            sum if sum > 0.7 => "moderate",
            _ => "mild",
        };
        text.push_str(&format!("{x:.4},{class}\n"));
    }
    text
}

/// Arguments of a fast training run on the table of [`triage_table`].
const TRIAGE: [&str; 13] = [
    "train",
    "triage.csv",
    "--target",
    "class",
    "--learners",
    "linear",
    "--loss",
    "ce",
    "--cross-fit",
    "2",
    "--report",
    "none",
    "--overwrite",
];

#[test]
fn a_model_trained_with_a_cost_matrix_predicts_the_class_with_the_lowest_expected_cost() {
    let folder = Folder::new("costs-matrix");
    fs::write(folder.0.join("triage.csv"), triage_table()).unwrap();
    // The classes may be in any order. Missing a severe case is expensive.
    let costs = "truth,severe,mild,moderate\nmild,2,0,1\nsevere,0,50,20\nmoderate,1,5,0\n";
    fs::write(folder.0.join("costs.csv"), costs).unwrap();
    let trained = folder.json(&[&TRIAGE[..], &["--costs", "costs.csv", "--json"]].concat());
    let score = "cost_matrix(0, 1, 2; 5, 0, 1; 50, 20, 0)";
    let mean = &trained["test"]["scores"][score];
    let [value, low, high] = ["value", "low", "high"].map(|key| mean[key].as_f64().unwrap());
    assert!(0.0 < low && low < value && value < high, "{mean}");
    assert_eq!(trained["decision"]["rule"], "costs", "{trained}");
    folder.run(&["predict", "model.scorewise", "triage.csv", "-o", "p.csv", "--overwrite"]);
    let predictions = String::from_utf8(folder.bytes("p.csv")).unwrap();
    let header: Vec<&str> = predictions.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|other| *other == name).unwrap();
    let classes = ["mild", "moderate", "severe"];
    let matrix = [[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [50.0, 20.0, 0.0]];
    let places = classes.map(|class| column(&format!("probability of {class}")));
    let mut differs_from_greatest = 0;
    for line in predictions.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let p = places.map(|place| cells[place].parse::<f64>().unwrap());
        let expected = |predicted: usize| (0..3).map(|truth| p[truth] * matrix[truth][predicted]).sum::<f64>();
        let cheapest = (0..3).min_by(|a, b| expected(*a).total_cmp(&expected(*b))).unwrap();
        let greatest = (0..3).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
        assert_eq!(cells[column("decision")], classes[cheapest]);
        differs_from_greatest += u32::from(cheapest != greatest);
    }
    assert!(differs_from_greatest > 10);
    // The table of predictions contains the name of the score, so `score` computes the mean cost.
    let scored = folder.json(&["score", "p.csv", "--json"]);
    assert!(scored["scores"][score]["value"].is_number(), "{scored}");
}

#[test]
fn with_two_classes_a_cost_matrix_gives_the_costs_of_false_alarms_and_misses() {
    let folder = Folder::new("costs-two");
    fs::write(folder.0.join("triage.csv"), triage_table().replace("moderate", "mild")).unwrap();
    fs::write(folder.0.join("costs.csv"), "truth,severe,mild\nmild,2,0\nsevere,0,50\n").unwrap();
    let trained = folder.json(&[&TRIAGE[..], &["--costs", "costs.csv", "--json"]].concat());
    assert_eq!(trained["score"], "cost(tn=0, fp=2, fn=50, tp=0)");
}

#[test]
fn a_cost_matrix_that_does_not_fit_the_classes_is_reported() {
    let folder = Folder::new("costs-matrix-messages");
    fs::write(folder.0.join("triage.csv"), triage_table()).unwrap();
    for (costs, message) in [
        ("truth,mild,severe\nmild,0,1\nsevere,5,0\n", "costs.csv: has no costs for the class `moderate`"),
        (
            "truth,mild,severe\nmild,0,1\nsever,5,0\n",
            "costs.csv:3, column `truth`: `sever` is not one of the predicted classes",
        ),
        ("truth,mild,severe\nmild,0,1\nmild,5,0\n", "`mild` has two rows of costs"),
        ("truth,mild,severe\nmild,0,1\n", "has no row with the costs of the true class `severe`"),
        ("truth,mild,severe\nmild,0,1\nsevere,,0\n", "costs.csv:3, column `mild`: the cost is missing"),
        ("truth,mild\nmild,0\n", "has costs for 1 predicted classes; at least two are needed"),
        (
            "truth,mild,moderate,severe,fatal\nmild,0,1,2,3\nmoderate,1,0,1,2\nsevere,1,1,0,1\nfatal,1,1,1,0\n",
            "has costs for `fatal`, which is not a class of the target",
        ),
    ] {
        fs::write(folder.0.join("costs.csv"), costs).unwrap();
        let error = message_of(&folder, &[&TRIAGE[..], &["--costs", "costs.csv"]].concat(), 2);
        assert!(error.contains(message), "{error}");
    }
    let error = message_of(&folder, &[&TRIAGE[..], &["--costs", "costs.csv", "--score", "f1"]].concat(), 2);
    assert!(error.contains("cannot be used with"), "{error}");
    let error = message_of(&folder, &[&TRIAGE[..], &["--score", "cost_matrix(0, 1; 1, 0)"]].concat(), 2);
    assert!(error.contains("is a matrix of costs for 2 classes, but there are 3"), "{error}");
}
