//! Tests of `scorewise explain`: its numbers, its output files, and its errors.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// Rows of a table with the columns `a`, `b`, `colour` and `y`. Except in a few rows, `y` is determined by `a`; `b` and `colour` are unrelated to
/// `y`.
fn csv_rows(from: u32, to: u32) -> String {
    let row = |k: u32| {
        let (a, b) = ((k * 37) % 101, (k * 61) % 89);
        let y = u8::from(a > 60) ^ u8::from(k.is_multiple_of(41));
        format!("{a},{b},{},{y}\n", ["red", "green", "blue"][(k * 7 % 13 % 3) as usize])
    };
    (from..to).map(row).collect()
}

/// A folder with a training table, a table of other rows, and a model.
fn folder_with_model(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("t.csv"), format!("a,b,colour,y\n{}", csv_rows(0, 400))).unwrap();
    fs::write(folder.0.join("new.csv"), format!("a,b,colour,y\n{}", csv_rows(400, 700))).unwrap();
    folder.run(&[
        "train",
        "t.csv",
        "--target",
        "y",
        "--score",
        "f1",
        "--recipe",
        "quick",
        "--report",
        "none",
        "--replicates",
        "20",
    ]);
    folder
}

/// Runs a command that must succeed, and returns its standard output as text.
fn text_of(folder: &Folder, arguments: &[&str]) -> String {
    String::from_utf8(folder.run(arguments)).unwrap()
}

/// Runs a command that must fail, and returns its exit code and its error message.
fn failure(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = folder.command(arguments).output().unwrap();
    assert!(output.stdout.is_empty(), "a command that fails must not print a result");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_output_for_a_model_with_trees_contains_the_gain_of_each_column() {
    let folder = folder_with_model("explain-gain");
    let train =
        ["train", "t.csv", "--target", "y", "--score", "f1", "--learners", "trees", "--replicates", "20", "--json"];
    let trained = folder.json(&[&train[..], &["-o", "trees.scorewise", "--report", "trees.html"]].concat());
    let gains: Vec<(&str, f64)> = trained["gain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gain| (gain["column"].as_str().unwrap(), gain["gain"].as_f64().unwrap()))
        .collect();
    assert!(gains[0].0 == "a" && gains[0].1 > 0.5 && gains.is_sorted_by(|one, next| one.1 >= next.1), "{gains:?}");
    assert!((gains.iter().map(|gain| gain.1).sum::<f64>() - 1.0).abs() < 1e-6, "{gains:?}");
    let explain = ["explain", "trees.scorewise", "new.csv", "--permutations", "2"];
    let explained = folder.json(&[&explain[..], &["--json"]].concat());
    for column in explained["importance"].as_array().unwrap() {
        let expected = gains.iter().find(|gain| column["column"] == gain.0).unwrap().1;
        assert_eq!(column["gain"].as_f64(), Some(expected));
    }
    let text = text_of(&folder, &[&explain[..], &["--csv", "importance.csv"]].concat());
    assert!(text.contains("GAIN") && text.contains(&scorewise_report::format_number(gains[0].1)), "{text}");
    assert!(folder.bytes("importance.csv").starts_with(b"column,value,low,high,gain\n"));
    let page = String::from_utf8(folder.bytes("trees.html")).unwrap();
    assert!(page.contains("gain of trees") && page.contains(&scorewise_report::format_number(gains[0].1)));
    // Only trees have a gain. The model consists of networks, so the output contains no gain.
    let networks = folder.json(&["explain", "model.scorewise", "new.csv", "--permutations", "2", "--json"]);
    assert!(networks["importance"][0].get("gain").is_none());
    assert!(!text_of(&folder, &["explain", "model.scorewise", "new.csv", "--permutations", "2"]).contains("GAIN"));
}

#[test]
fn text_json_csv_and_html_output_show_the_same_numbers() {
    let folder = folder_with_model("explain-numbers");
    let explain = ["explain", "model.scorewise", "new.csv", "--permutations", "4", "--rows", "250", "--seed", "7"];
    let with = |more: &[&'static str]| [&explain[..], more].concat();
    let json: Value = folder.json(&with(&["--json"]));
    assert_eq!((json["score"].as_str(), json["rows"].as_u64()), (Some("f1"), Some(250)));
    assert_eq!((json["permutations"].as_u64(), json["available_rows"].as_u64()), (Some(4), Some(300)));
    assert!(json["threshold"].is_f64() && json["value"].as_f64().unwrap() > 0.7);
    let importance = json["importance"].as_array().unwrap();
    assert_eq!(importance.len(), 3);
    assert_eq!(importance[0]["column"].as_str(), Some("a"));
    let dependence = json["partial_dependence"].as_array().unwrap();
    assert_eq!(dependence.len(), 3);
    for each in dependence {
        let lengths = ["values", "probability", "positive_share"].map(|key| each[key].as_array().unwrap().len());
        assert!(lengths[0] > 1 && lengths.iter().all(|length| *length == lengths[0]), "{each}");
    }

    let text = text_of(&folder, &with(&["--csv", "importance.csv", "--report", "page.html", "--plots", "figures"]));
    assert!(text.contains("rows       250 drawn from 300 with a known class\n"), "{text}");
    let table: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("COLUMN"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().collect())
        .collect();
    let csv = String::from_utf8(folder.bytes("importance.csv")).unwrap();
    let mut csv_lines = csv.lines();
    assert_eq!(csv_lines.next(), Some("column,value,low,high"));
    let page = String::from_utf8(folder.bytes("page.html")).unwrap();
    assert_eq!(table.len(), 3);
    for ((row, line), expected) in table.iter().zip(csv_lines).zip(importance) {
        let number = |key: &str| expected[key].as_f64().unwrap();
        let shown = ["value", "low", "high"].map(|key| scorewise_report::format_number(number(key)));
        assert_eq!(row[0], expected["column"].as_str().unwrap());
        assert_eq!(row[1..4], shown);
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], row[0]);
        for (cell, key) in cells[1..].iter().zip(["value", "low", "high"]) {
            assert_eq!(cell.parse::<f64>().unwrap(), number(key));
        }
        let cells = shown.map(|number| format!("<td>{number}</td>")).concat();
        assert!(page.contains(&format!("<th scope=\"row\">{}</th>{cells}", row[0])), "{row:?}");
    }
    for name in ["importance.svg", "dependence-1.svg", "dependence-3.png"] {
        assert!(folder.0.join("figures").join(name).is_file(), "{name}");
    }
    // `scorewise report` makes a report with figures from the output of `--json`.
    fs::write(folder.0.join("saved.json"), folder.run(&with(&["--json"]))).unwrap();
    folder.run(&["report", "saved.json"]);
    let later = String::from_utf8(folder.bytes("saved.html")).unwrap();
    assert!(later.contains("Which columns matter") && later.contains("figure-importance"));
}

#[test]
fn the_same_seed_gives_the_same_output_for_any_number_of_threads() {
    let folder = folder_with_model("explain-threads");
    let on = |threads: &str| folder.run(&["explain", "model.scorewise", "new.csv", "--json", "--threads", threads]);
    let one = on("1");
    assert!(!one.is_empty());
    assert_eq!(on("2"), one);
    assert_eq!(on("7"), one);
}

#[test]
fn explaining_a_model_on_its_training_table_prints_a_note() {
    let folder = folder_with_model("explain-training-table");
    let notes = |table: &str| {
        let output = folder.command(&["explain", "model.scorewise", table, "--permutations", "1"]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(notes("t.csv").contains("note: t.csv: the model was trained on this table"), "{}", notes("t.csv"));
    assert!(!notes("new.csv").contains("trained on this table"));
    // The training table is also recognised if the classes are words such as `true` and `false`, or any other strings.
    for [negative, positive] in [["false", "true"], ["calm", "storm"]] {
        let line = |row: &str| {
            let (features, class) = row.rsplit_once(',').unwrap();
            format!("{features},{}\n", if class == "1" { positive } else { negative })
        };
        let text: String = csv_rows(0, 300).lines().map(line).collect();
        fs::write(folder.0.join("words.csv"), format!("a,b,colour,y\n{text}")).unwrap();
        let quick = ["--recipe", "quick", "--epochs", "3", "--report", "none", "--replicates", "20"];
        folder.run(&[&["train", "words.csv", "--target", "y"], &quick[..]].concat());
        assert!(notes("words.csv").contains("note: words.csv: the model was trained on this table"), "{positive}");
    }
}

#[test]
fn bad_input_gives_an_error_message_and_exit_code_2() {
    let folder = folder_with_model("explain-errors");
    let write = |name: &str, text: &str| fs::write(folder.0.join(name), text).unwrap();
    write("no-target.csv", "a,b,colour\n1,2,red\n3,4,blue\n");
    write("no-input.csv", "a,colour,y\n1,red,0\n3,blue,1\n");
    write("no-labels.csv", "a,b,colour,y\n1,2,red,\n3,4,blue,\n");
    write("other.scorewise", "not a model");
    let cases: [(&[&str], &str); 8] = [
        (&["model.scorewise", "no-target.csv"], "no-target.csv: has no column `y`, the target of the model"),
        (&["model.scorewise", "no-input.csv"], "no-input.csv: has no column `b`; the model needs it"),
        (&["model.scorewise", "no-labels.csv"], "no-labels.csv, column `y`: no row has a class of the model"),
        (&["other.scorewise", "new.csv"], "other.scorewise: "),
        (&["model.scorewise", "nowhere.csv"], "nowhere.csv"),
        (&["model.scorewise", "new.csv", "--permutations", "0"], "give an integer from 1 to 1000"),
        (&["model.scorewise", "new.csv", "--rows", "none"], "give an integer, 1 or above"),
        (&["model.scorewise", "new.csv", "--csv", "new.csv"], "is an input of this command"),
    ];
    for (arguments, message) in cases {
        let (code, error) = failure(&folder, &[&["explain"], arguments].concat());
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
        assert!(!error.contains("panicked"), "{error}");
    }
    // `--csv` does not replace a file that `explain` has not written, and accepts only names that end in .csv.
    write("mine.csv", "my,own\n1,2\n");
    let (code, error) = failure(&folder, &["explain", "model.scorewise", "new.csv", "--csv", "mine.csv"]);
    assert!(code == Some(2) && error.contains("already exists and is not a table of importance"), "{error}");
    let (code, error) = failure(&folder, &["explain", "model.scorewise", "new.csv", "--csv", "i.parquet"]);
    assert!(code == Some(2) && error.contains("name a file that ends in .csv"), "{error}");
    let again = ["explain", "model.scorewise", "new.csv", "--permutations", "1", "--csv", "i.csv"];
    folder.run(&again);
    folder.run(&again);
}

#[test]
fn the_report_of_train_shows_which_columns_matter() {
    let folder = Folder::new("explain-train");
    fs::write(folder.0.join("t.csv"), format!("a,b,colour,y\n{}", csv_rows(0, 400))).unwrap();
    let train = ["train", "t.csv", "--target", "y", "--score", "f1", "--recipe", "quick", "--replicates", "20"];
    folder.run(&[&train[..], &["--report", "page.html"]].concat());
    let page = String::from_utf8(folder.bytes("page.html")).unwrap();
    for text in ["Which columns matter", "figure-importance", "figure-dependence-3", "test rows not used in training"] {
        assert!(page.contains(text), "the report lacks `{text}`");
    }
    folder.run(&[&train[..], &["--test", "0", "--report", "data.json"]].concat());
    let data: Value = serde_json::from_slice(&folder.bytes("data.json")).unwrap();
    let part = data["explanation"]["part"].as_str().unwrap();
    assert!(part.contains("because there are no test rows"), "{part}");
    assert_eq!(data["explanation"]["importance"][0]["column"].as_str(), Some("a"));
    // If `--test` names a table, the model is explained on the rows of that table.
    folder.run(&[&train[..], &["--test", "t.csv", "--report", "data.json"]].concat());
    let data: Value = serde_json::from_slice(&folder.bytes("data.json")).unwrap();
    assert_eq!(data["explanation"]["rows"].as_u64(), Some(400));
    assert_eq!(data["explanation"]["value"], data["result"]["test"]["scores"]["f1"]["value"]);
}
