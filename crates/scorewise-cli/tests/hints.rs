//! Hints name options that the command in use has; values that begin with a hyphen are accepted, or explained.

#![allow(clippy::unwrap_used)] // a panic is the report

mod folder;

use folder::Folder;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("hints-{name}"));
    std::fs::write(folder.0.join("p.csv"), "probability,group,truth\n0.1,a,0\n0.8,b,1\n0.4,a,1\n0.2,b,0\n").unwrap();
    let rows: String = (0..60).map(|row| format!("{},{},{}\n", row % 7, row % 5, u8::from(row % 7 > 3))).collect();
    std::fs::write(folder.0.join("t.csv"), format!("x,station,y\n{rows}")).unwrap();
    folder
}

/// What the command says where it refuses, without its notes.
#[track_caller]
fn refusal(folder: &Folder, line: &str) -> String {
    let output = folder.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(output.stdout, b"", "{line}");
    let errors = String::from_utf8(output.stderr).unwrap();
    errors.lines().filter(|line| !line.starts_with("note: ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_column_of_text_as_the_forecast_hints_at_no_option_that_the_command_lacks() {
    let folder = folder("text");
    let expected =
        "error: p.csv:2, column `group`: `a` is not a number\nhint: name a column of numbers, or correct the cell";
    for line in [
        "score p.csv --probability group",
        "tune p.csv --probability group",
        "theory p.csv --probability group",
        "compare p.csv p.csv --probability group",
        "score p.csv --weight group",
    ] {
        assert_eq!(refusal(&folder, line), expected, "{line}");
    }
    // `train` has the option, so its hint stays.
    let rows: String = (0..3000).map(|row| format!("{row},{}\n", row % 2)).collect();
    std::fs::write(folder.0.join("late.csv"), format!("x,y\n{rows}n/x,1\n")).unwrap();
    let said = refusal(&folder, "train late.csv --target y");
    assert!(
        said.ends_with(
            "hint: add `--missing n/x` to read it as missing, or `--categorical x` to read the column as text"
        ),
        "{said}"
    );
}

#[test]
fn a_forecast_that_is_no_column_names_the_columns() {
    let folder = folder("column");
    let said = refusal(&folder, "score p.csv --probability probabilty");
    assert_eq!(said, "error: p.csv: has no column `probabilty`\nhint: did you mean `probability`?");
    let said = refusal(&folder, "score p.csv --probability g");
    assert!(said.starts_with("error: p.csv: has no column `g`") && !said.contains("--"), "{said}");
}

#[test]
fn a_split_by_a_column_that_is_not_there_names_it_and_the_nearest() {
    let folder = folder("split");
    let said = refusal(&folder, "train t.csv --target y --split group:sation");
    assert_eq!(said, "error: --split: `t.csv` has no column `sation`\nhint: did you mean `station`?");
    let said = refusal(&folder, "train t.csv --target y --split group:nope --lags 2 --lead 1");
    assert_eq!(said, "error: --split: `t.csv` has no column `nope`\nhint: the columns are `x`, `station`, `y`");
    let said = refusal(&folder, "train t.csv --target y --split time:sation");
    assert_eq!(said, "error: --split: `t.csv` has no column `sation`\nhint: did you mean `station`?");
    let said = refusal(&folder, "train t.csv --target y --split group:sation --folds 3");
    assert_eq!(said, "error: --split: `t.csv` has no column `sation`\nhint: did you mean `station`?");
}

#[test]
fn hidden_layers_beyond_the_limit_name_it() {
    let folder = folder("hidden");
    let hint = "hint: give at most 64 widths from 1 to 65536, or `none`";
    assert_eq!(
        refusal(&folder, "train t.csv --target y --hidden 1000000"),
        format!("error: --hidden: a layer of 1000000, and at most 65536 can be\n{hint}")
    );
    assert_eq!(
        refusal(&folder, &format!("train t.csv --target y --hidden {}1", "1,".repeat(64))),
        format!("error: --hidden: 65 layers, and at most 64 can be\n{hint}")
    );
}

#[test]
fn numbers_below_0_are_explained_by_the_option_they_were_given_to() {
    let folder = folder("negative");
    for option in ["lead", "lags", "epochs", "seed", "ensemble", "folds", "patience"] {
        let said = refusal(&folder, &format!("train t.csv --target y --{option} -1"));
        let expected =
            format!("error: --{option}: `-1` is no whole number of 0 or above\nhint: give a whole number, 0 or above");
        assert_eq!(said, expected);
        assert_eq!(refusal(&folder, &format!("train t.csv --target y --{option}=-1")), expected);
    }
    let said = refusal(&folder, "train t.csv --target y --validation -0.1");
    assert_eq!(said, "error: --validation: -0.1 is no share\nhint: give a number from 0 to below 1");
    let said = refusal(&folder, "train t.csv --target y --hidden -5");
    assert!(said.starts_with("error: --hidden: `-5` is no list of widths"), "{said}");
    let said = refusal(&folder, "score p.csv --threshold -1");
    assert!(said.contains("--threshold") && said.contains("a threshold is a number between 0 and 1"), "{said}");
    let said = refusal(&folder, "tune p.csv --replicates -3");
    assert!(said.contains("--replicates") && said.contains("give a whole number from 1 to 1000000"), "{said}");
}

#[test]
fn a_formula_or_a_class_that_begins_with_a_hyphen_is_a_value() {
    let folder = folder("formula");
    let [spaced, joined] = ["tune p.csv --score -(fp+10*fn)", "tune p.csv --score=-(fp+10*fn)"]
        .map(|line| folder.run(&line.split(' ').collect::<Vec<_>>()));
    assert_eq!(spaced, joined);
    // Whatever becomes of it, it is read as a formula.
    for line in ["tune p.csv --score -tss", "train t.csv --target y --score -tss --epochs 2 -o m.scorewise"] {
        let output = folder.command(&line.split(' ').collect::<Vec<_>>()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!said.contains("unexpected argument"), "{said}");
    }
    std::fs::write(folder.0.join("minus.csv"), "probability,truth\n0.1,-1\n0.8,1\n0.4,1\n0.2,-1\n").unwrap();
    let plain = folder.json(&["score", "minus.csv", "--positive=-1", "--json"]);
    assert_eq!(folder.json(&["score", "minus.csv", "--positive", "-1", "--json"]), plain);
}

#[test]
fn an_option_without_its_value_is_still_said_so() {
    let folder = folder("value");
    assert!(refusal(&folder, "train t.csv --score --json").contains("--score"));
    let said = refusal(&folder, "train t.csv --target -o m.scorewise");
    assert!(said.contains("a value is required for '--target"), "{said}");
}
