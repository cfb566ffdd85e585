//! Tests that hints name only options of the running command, and that a value that begins with a hyphen is either accepted or rejected with a clear
//! message.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::folder::Folder;

/// A folder with a table of predictions, `p.csv`, and a training table, `t.csv`.
fn folder_with_tables(name: &str) -> Folder {
    let folder = Folder::new(&format!("hints-{name}"));
    std::fs::write(folder.0.join("p.csv"), "probability,group,truth\n0.1,a,0\n0.8,b,1\n0.4,a,1\n0.2,b,0\n").unwrap();
    let rows: String = (0..60).map(|row| format!("{},{},{}\n", row % 7, row % 5, u8::from(row % 7 > 3))).collect();
    std::fs::write(folder.0.join("t.csv"), format!("x,station,y\n{rows}")).unwrap();
    folder
}

/// Runs a command that must fail, and returns its error message without notes.
#[track_caller]
fn error_message(folder: &Folder, line: &str) -> String {
    let output = folder.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(output.stdout, b"", "{line}");
    let errors = String::from_utf8(output.stderr).unwrap();
    errors.lines().filter(|line| !line.starts_with("note: ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_hint_about_a_text_column_names_only_options_of_the_running_command() {
    let folder = folder_with_tables("text");
    let expected =
        "error: p.csv:2, column `group`: `a` is not a number\nhint: use a column of numbers, or correct the cell";
    for line in [
        "score p.csv --probability group",
        "tune p.csv --probability group",
        "theory p.csv --probability group",
        "compare p.csv p.csv --probability group",
        "score p.csv --weight group",
    ] {
        assert_eq!(error_message(&folder, line), expected, "{line}");
    }
    // `train` has the options `--missing` and `--categorical`, so its hint names them.
    let rows: String = (0..3000).map(|row| format!("{row},{}\n", row % 2)).collect();
    std::fs::write(folder.0.join("late.csv"), format!("x,y\n{rows}n/x,1\n")).unwrap();
    let message = error_message(&folder, "train late.csv --target y");
    assert!(
        message.ends_with(
            "hint: add `--missing n/x` to read it as missing, or `--categorical x` to read the column as text"
        ),
        "{message}"
    );
}

#[test]
fn a_misspelt_probability_column_gets_a_suggestion() {
    let folder = folder_with_tables("column");
    let message = error_message(&folder, "score p.csv --probability probabilty");
    assert_eq!(message, "error: p.csv: has no column `probabilty`\nhint: did you mean `probability`?");
    let message = error_message(&folder, "score p.csv --probability g");
    assert!(message.starts_with("error: p.csv: has no column `g`") && !message.contains("--"), "{message}");
}

#[test]
fn a_misspelt_split_column_gets_a_suggestion() {
    let folder = folder_with_tables("split");
    let message = error_message(&folder, "train t.csv --target y --split group:sation");
    assert_eq!(message, "error: --split: `t.csv` has no column `sation`\nhint: did you mean `station`?");
    let message = error_message(&folder, "train t.csv --target y --split group:nope --lags 2 --lead 1");
    assert_eq!(message, "error: --split: `t.csv` has no column `nope`\nhint: the columns are `x`, `station`, `y`");
    let message = error_message(&folder, "train t.csv --target y --split time:sation");
    assert_eq!(message, "error: --split: `t.csv` has no column `sation`\nhint: did you mean `station`?");
    let message = error_message(&folder, "train t.csv --target y --split group:sation --folds 3");
    assert_eq!(message, "error: --split: `t.csv` has no column `sation`\nhint: did you mean `station`?");
}

#[test]
fn errors_about_too_many_or_too_wide_hidden_layers_name_the_limit() {
    let folder = folder_with_tables("hidden");
    let hint = "hint: give at most 64 widths from 1 to 65536, or `none`";
    assert_eq!(
        error_message(&folder, "train t.csv --target y --hidden 1000000"),
        format!("error: --hidden: a layer of 1000000 units is too wide; the limit is 65536\n{hint}")
    );
    assert_eq!(
        error_message(&folder, &format!("train t.csv --target y --hidden {}1", "1,".repeat(64))),
        format!("error: --hidden: 65 layers are too many; the limit is 64\n{hint}")
    );
}

#[test]
fn errors_about_negative_numbers_name_the_option() {
    let folder = folder_with_tables("negative");
    for option in ["lead", "lags", "epochs", "seed", "ensemble", "folds", "patience"] {
        let message = error_message(&folder, &format!("train t.csv --target y --{option} -1"));
        let expected =
            format!("error: --{option}: `-1` is not an integer of at least 0\nhint: give an integer, 0 or above");
        assert_eq!(message, expected);
        assert_eq!(error_message(&folder, &format!("train t.csv --target y --{option}=-1")), expected);
    }
    let message = error_message(&folder, "train t.csv --target y --validation -0.1");
    assert_eq!(message, "error: --validation: -0.1 is not a share of the rows\nhint: give a number from 0 to below 1");
    let message = error_message(&folder, "train t.csv --target y --hidden -5");
    assert!(message.starts_with("error: --hidden: `-5` is not a list of widths"), "{message}");
    let message = error_message(&folder, "score p.csv --threshold -1");
    assert!(
        message.contains("--threshold") && message.contains("a threshold must be a number between 0 and 1"),
        "{message}"
    );
    let message = error_message(&folder, "tune p.csv --replicates -3");
    assert!(message.contains("--replicates") && message.contains("give an integer from 1 to 1000000"), "{message}");
}

#[test]
fn a_formula_or_a_class_may_begin_with_a_hyphen() {
    let folder = folder_with_tables("formula");
    let [spaced, joined] = ["tune p.csv --score -(fp+10*fn)", "tune p.csv --score=-(fp+10*fn)"]
        .map(|line| folder.run(&line.split(' ').collect::<Vec<_>>()));
    assert_eq!(spaced, joined);
    // `-tss` is read as the value of `--score`, not as an option. Whether the command succeeds is not tested.
    for line in ["tune p.csv --score -tss", "train t.csv --target y --score -tss --epochs 2 -o m.scorewise"] {
        let output = folder.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!message.contains("unexpected argument"), "{message}");
    }
    std::fs::write(folder.0.join("minus.csv"), "probability,truth\n0.1,-1\n0.8,1\n0.4,1\n0.2,-1\n").unwrap();
    let plain = folder.json(&["score", "minus.csv", "--positive=-1", "--json"]);
    assert_eq!(folder.json(&["score", "minus.csv", "--positive", "-1", "--json"]), plain);
}

#[test]
fn an_option_without_its_value_is_an_error() {
    let folder = folder_with_tables("value");
    assert!(error_message(&folder, "train t.csv --score --json").contains("--score"));
    let message = error_message(&folder, "train t.csv --target -o m.scorewise");
    assert!(message.contains("a value is required for '--target"), "{message}");
}
