//! Tests of tables of predictions: `predict | score -`, a file of predictions, and `train` give the same scores, and no column is mistaken for
//! another.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};

use scorewise_table::spreadsheet::unescape_formula;
use scorewise_table::table::{Reading, Source, Table, Values, read};
use serde_json::Value;

use crate::folder::Folder;

/// A pseudorandom number from 0 to below 1 that depends only on the seed and the row.
fn random(seed: u64, row: usize) -> f64 {
    let mut bits = (seed << 32) ^ row as u64;
    for _ in 0..3 {
        bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// The text of a table of hourly weather: numbers, a station, weights, and targets of several types.
fn csv_table(seed: u64, rows: usize) -> String {
    let mut text = String::from("time,station,x,z,w,event,state,kind\n");
    let mut z: f64 = 0.5;
    for row in 0..rows {
        z = 0.7 * z + 0.6 * random(seed, row) - 0.1;
        let x = z + 0.5 * random(seed + 1, row);
        let station = ["a", "b", "c", "d", "e", "f", "g", "h"][row % 8];
        let event = u8::from(z + 0.3 * random(seed + 2, row) > 1.0);
        let state = ["quiet, calm", "=storm"][usize::from(event)];
        let kind = ["=low", "middle", "high"][((3.0 * x) as usize).min(2)];
        let (day, hour) = (row / 24 % 28 + 1, row % 24);
        let month = row / 672 + 1;
        let w = 0.1 + random(seed + 3, row);
        writeln!(
            text,
            "2020-{month:02}-{day:02} {hour:02}:00,{station},{x:.4},{z:.4},{w:.3},{event},\"{state}\",{kind}"
        )
        .unwrap();
    }
    text
}

/// Options of a short training run. The last one is `--threads`, so the number of threads must be appended.
const SHORT_TRAINING: [&str; 10] =
    ["--epochs", "4", "--hidden", "6", "--replicates", "30", "--report", "none", "--json", "--threads"];

/// A test case: a training run with the options `arguments`, whose model then writes predictions to `file`.
struct TrainingCase {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Name of the file of predictions; its extension determines the format.
    file: &'static str,
}

/// Makes a test case.
const fn training_case(name: &'static str, arguments: &'static [&'static str], file: &'static str) -> TrainingCase {
    TrainingCase { name, arguments, file }
}

/// Training runs whose predictions must have the same scores from a pipe, from a file and in the output of `train`.
const TRAINING_CASES: [TrainingCase; 13] = [
    training_case("two classes", &["--target", "z > 0.9", "--drop", "state,event"], "p.csv"),
    training_case("many classes", &["--target", "kind", "--score", "macro(f1)"], "p.csv"),
    training_case("several classes with weights", &["--target", "kind", "--score", "hss", "--weight", "w"], "p.csv.gz"),
    training_case("lead", &["--target", "z > 0.9", "--lead", "1"], "p.csv"),
    training_case("lags", &["--target", "event", "--lags", "2", "--drop", "state"], "p.csv"),
    training_case("weights", &["--target", "event", "--weight", "w", "--score", "csi", "--drop", "state"], "p.csv"),
    training_case("group", &["--target", "z > 0.9", "--lead", "1", "--lags", "1", "--split", "group:station"], "p.tsv"),
    training_case("time split", &["--target", "event", "--split", "time", "--drop", "state"], "p.csv"),
    training_case("ensemble", &["--target", "event", "--ensemble", "3", "--drop", "state"], "p.csv"),
    training_case("text classes", &["--target", "state", "--drop", "event", "--score", "hss"], "p.csv"),
    training_case("0/1 classes", &["--target", "event", "--drop", "state", "--score", "f1"], "p.csv"),
    training_case("Parquet", &["--target", "state", "--drop", "event", "--weight", "w"], "p.parquet"),
    training_case("Arrow", &["--target", "kind"], "p.arrow"),
];

impl Folder {
    /// Runs a command with `input` on standard input.
    fn piped(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Runs a command that must succeed with `input` on standard input, and parses its standard output as JSON.
    fn piped_json(&self, arguments: &[&str], input: &[u8]) -> Value {
        let output = self.piped(arguments, input);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Writes a file in the folder.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// Reads a table in the folder.
    fn table(&self, name: &str) -> Table {
        read(&Source::File(self.0.join(name)), &Reading::default()).unwrap()
    }

    /// Runs a command that must fail with exit code 2, and returns its error message without notes.
    #[track_caller]
    fn error_message(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        errors.lines().filter(|line| !line.starts_with("note: ")).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn predictions_from_a_file_or_a_pipe_have_the_scores_that_train_printed() {
    let folder = Folder::new("predictions-set-ups");
    folder.write("table.csv", &csv_table(1, 900));
    folder.write("test.csv", &csv_table(5, 500));
    for TrainingCase { name, arguments, file } in TRAINING_CASES {
        let train =
            [&["train", "table.csv", "--test", "test.csv", "-o", "m.scorewise"], arguments, &SHORT_TRAINING, &["2"]];
        let out_of_fold = format!("out-of-fold-{file}");
        let trained = folder.json(&[&train.concat()[..], &["--out-of-fold", &out_of_fold]].concat());
        let held_out = folder.json(&["score", &out_of_fold, "--json", "--replicates", "1"]);
        for key in ["rows", "positives", "threshold", "confusion", "classes"] {
            assert_eq!(
                held_out[key], trained["validation"][key],
                "{name}: the out-of-fold predictions and `train` differ in {key}"
            );
        }
        let _ = fs::remove_file(folder.0.join(file));
        folder.run(&["predict", "m.scorewise", "test.csv", "-o", file]);
        let scored = folder.json(&["score", file, "--json", "--replicates", "30"]);
        let pipe = folder.run(&["predict", "m.scorewise", "test.csv"]);
        assert_eq!(scored, folder.piped_json(&["score", "-", "--json", "--replicates", "30"], &pipe), "{name}");
        for key in ["rows", "positives", "threshold", "confusion", "classes"] {
            assert_eq!(scored[key], trained["test"][key], "{name}: {key}");
        }
        // With a lead, lags, or a split by time or by group, `train` resamples blocks or groups, but `score` resamples rows. Then the scores are the
        // same, but their intervals differ.
        let resamples_rows = !["--lead", "--lags", "--split"].iter().any(|option| arguments.contains(option));
        let is_same = |key: &&str| *key == "value" || resamples_rows;
        for (score, of_train) in trained["test"]["scores"].as_object().unwrap() {
            for key in ["value", "low", "high"].iter().filter(|key| is_same(key)) {
                assert_eq!(
                    scored["scores"][score][key], of_train[key],
                    "{name}: `score` and `train` differ in the {key} of {score}"
                );
            }
        }
        let tuned = folder.json(&["tune", file, "--json", "--replicates", "30"]);
        assert_eq!(tuned, folder.piped_json(&["tune", "-", "--json", "--replicates", "30"], &pipe), "{name}");
        if trained["threshold"].is_number() {
            assert_eq!(tuned["score"], trained["score"], "{name}");
            assert_eq!(tuned["model"]["threshold"], trained["threshold"], "{name}");
            let score = trained["score"].as_str().unwrap();
            assert_eq!(tuned["model"]["value"], trained["test"]["scores"][score]["value"], "{name}");
            let theory = folder.json(&["theory", file, "--json"]);
            assert_eq!(theory["score"], trained["score"], "{name}");
            assert_eq!(theory, folder.piped_json(&["theory", "-", "--json"], &pipe), "{name}");
            let compared = folder.json(&["compare", file, file, "--json", "--replicates", "30"]);
            assert_eq!(compared["first"]["threshold"], trained["threshold"], "{name}");
            assert_eq!(compared["first"]["value"], trained["test"]["scores"][score]["value"], "{name}");
        } else {
            assert_eq!(tuned["classes"].as_array().unwrap().len(), 3, "{name}");
            let one = folder.json(&["score", file, "--positive", "high", "--json", "--replicates", "30"]);
            assert_eq!(one["rows"], scored["rows"], "{name}");
        }
    }
}

#[test]
fn out_of_fold_predictions_say_which_row_of_the_table_they_belong_to() {
    let folder = Folder::new("predictions-out-of-fold");
    folder.write("table.csv", &csv_table(1, 400));
    let arguments = ["train", "table.csv", "--target", "event", "--drop", "state", "--out-of-fold", "o.csv"];
    folder.json(&[&arguments[..], &["-o", "m.scorewise"], &SHORT_TRAINING, &["2"]].concat());
    let (table, predicted) = (folder.table("table.csv"), folder.table("o.csv"));
    let numbers = |table: &Table, name: &str| match &table.column(name).unwrap().values {
        Values::Number(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (rows, truth, event) = (numbers(&predicted, "row"), numbers(&predicted, "truth"), numbers(&table, "event"));
    // A fifth of the 400 rows are test rows. The file contains the predictions of the other 320 rows, in the order of the table.
    assert_eq!(rows.len(), 320);
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]) && rows[0] >= 1.0 && rows[319] <= 400.0);
    for (row, truth) in rows.iter().zip(truth) {
        assert_eq!(event[*row as usize - 1], truth, "row {row}");
    }
    let refused = folder.error_message(&[&arguments[..6], &["--out-of-fold", "table.csv"]].concat());
    assert!(refused.contains("table.csv: is an input of this command"), "{refused}");
}

#[test]
fn predictions_after_a_cross_validation_have_the_scores_that_train_printed() {
    let folder = Folder::new("predictions-folds");
    folder.write("table.csv", &csv_table(1, 600));
    let arguments = ["train", "table.csv", "--target", "event", "--drop", "state", "--folds", "3", "-o", "m.scorewise"];
    let trained = folder.json(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    let pipe = folder.run(&["predict", "m.scorewise", "table.csv"]);
    let scored = folder.piped_json(&["score", "-", "--json"], &pipe);
    // After a cross-validation the final model is trained on all rows, so all rows of the table are its training rows.
    assert_eq!(scored["confusion"], trained["train"]["confusion"]);
    folder.run(&["predict", "m.scorewise", "table.csv", "-o", "p.csv"]);
    assert_eq!(folder.json(&["score", "p.csv", "--json"]), scored);
}

#[test]
fn the_column_decision_is_never_read_as_the_truth() {
    let folder = Folder::new("predictions-no-truth");
    folder.write("table.csv", &csv_table(1, 400));
    let arguments = ["train", "table.csv", "--target", "event", "--drop", "state,kind", "-o", "m.scorewise"];
    folder.run(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    let without: String =
        csv_table(5, 100).lines().map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",") + "\n").collect();
    folder.write("new.csv", &without.replace("event", "other"));
    folder.run(&["predict", "m.scorewise", "new.csv", "-o", "p.csv"]);
    for command in ["score", "tune", "theory"] {
        let expected = "error: p.csv: has a column `decision` but no column `truth`, so the true classes are unknown\n\
            hint: run `scorewise predict` on a table that has the target, or name the column of true classes: --label COLUMN";
        assert_eq!(folder.error_message(&[command, "p.csv"]), expected);
        let output = folder.piped(&[command, "-"], &folder.bytes("p.csv"));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .contains("standard input: has a column `decision` but no column `truth`")
        );
    }
    assert!(folder.error_message(&["compare", "p.csv", "p.csv"]).contains("no column `truth`"));
    folder.write("other.csv", "probability,y\n0.5,1\n");
    let expected =
        "error: other.csv: has no column `truth` or `label`\nhint: name the column of true classes: --label COLUMN";
    assert_eq!(folder.error_message(&["score", "other.csv"]), expected);
}

#[test]
fn the_threshold_of_the_model_is_used_for_the_column_probability_only() {
    let folder = Folder::new("predictions-threshold");
    let rows = "0.2,0.1,0,0,0.3,csi\n0.4,0.6,1,0,0.3,csi\n0.6,0.4,1,1,0.3,csi\n0.9,0.8,1,1,0.3,csi\n";
    folder.write("p.csv", &format!("probability,other,decision,truth,threshold,score\n{rows}"));
    folder.write("q.csv", &format!("probability,other,decision,truth,threshold,score\n{}", rows.replace("0.3", "0.7")));
    let result = |arguments: &[&str]| folder.json(&[arguments, &["--json", "--replicates", "30"]].concat());
    let compared = |arguments: &[&str]| {
        let compared = result(arguments);
        ["first", "second"].map(|forecast| compared[forecast]["threshold"].as_f64().unwrap())
    };
    assert_eq!(result(&["score", "p.csv"])["threshold"], 0.3);
    assert_eq!(result(&["score", "p.csv", "--probability", "probability"])["threshold"], 0.3);
    assert_eq!(result(&["score", "p.csv", "--probability", "other"])["threshold"], 0.5);
    assert_eq!(result(&["tune", "p.csv"])["model"]["threshold"], 0.3);
    assert!(result(&["tune", "p.csv", "--probability", "other"])["model"].is_null());
    assert_eq!(compared(&["compare", "p.csv", "--probability", "other,probability"]), [0.5, 0.3]);
    assert_eq!(compared(&["compare", "p.csv", "q.csv"]), [0.3, 0.7]);
    assert_eq!(compared(&["compare", "p.csv", "q.csv", "--probability", "other"]), [0.5, 0.5]);
    assert_eq!(compared(&["compare", "p.csv", "q.csv", "--probability", "other,probability"]), [0.5, 0.7]);
    assert_eq!(compared(&["compare", "p.csv", "p.csv", "--probability", "probability,other"]), [0.3, 0.5]);
}

#[test]
fn the_interval_of_the_best_threshold_includes_1_only_if_no_prediction_is_1() {
    let folder = Folder::new("predictions-interval");
    let interval = |rows: &str, score: &str| {
        folder.write("p.csv", &format!("label,probability\n{rows}"));
        let text = String::from_utf8(folder.run(&["tune", "p.csv", "--score", score, "--replicates", "30"])).unwrap();
        let line = text.lines().find(|line| line.starts_with("interval")).unwrap();
        line.split_once(' ').unwrap().1.trim().to_owned()
    };
    assert_eq!(interval("0,0.2\n1,0.7\n", "f1"), "0.2 up to but not including 0.7");
    // At thresholds from 0.2 to below 1, only the positive row is predicted positive; at the threshold 1, no row is.
    assert_eq!(interval("0,0.2\n1,1\n", "f1"), "0.2 up to but not including 1");
    // At thresholds from 0.7 to 1, no row is predicted positive.
    assert_eq!(interval("0,0.7\n1,0.2\n", "pofd"), "0.7 to 1");
    assert_eq!(interval("0,1\n1,0.2\n", "pofd"), "1 to 1");
}

#[test]
fn process_substitution_can_be_an_input() {
    let folder = Folder::new("predictions-substitution");
    folder.write("p.csv", "probability,label\n0.9,1\n0.2,0\n0.6,0\n0.7,1\n");
    let scorewise = env!("CARGO_BIN_EXE_scorewise");
    let script = format!("'{scorewise}' score <(cat p.csv) --json");
    let output = std::process::Command::new("bash").current_dir(&folder.0).args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let scored: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(scored["rows"], 4);
}

#[test]
fn unknown_classes_get_a_note_and_the_words_yes_and_no_are_read_as_the_classes_1_and_0() {
    let folder = Folder::new("predictions-classes");
    folder.write("table.csv", &csv_table(1, 400));
    let arguments = ["train", "table.csv", "--target", "event", "--drop", "state", "-o", "m.scorewise"];
    folder.run(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    // The new table writes the classes 0 and 1 in another way, and has one unknown class and one missing value.
    let plain = csv_table(5, 200);
    for [no, yes] in [["no", "yes"], ["false", "true"], ["0.0", "1.0"]] {
        let other: String = plain
            .lines()
            .enumerate()
            .map(|(line, text)| {
                let mut cells: Vec<&str> = text.split(',').collect();
                if line > 0 {
                    cells[5] = match line {
                        7 => "maybe",
                        9 => "",
                        _ => [no, yes][usize::from(cells[5] == "1")],
                    };
                }
                cells.join(",") + "\n"
            })
            .collect();
        folder.write("other.csv", &other);
        let _ = fs::remove_file(folder.0.join("q.csv"));
        let output = folder.command(&["predict", "m.scorewise", "other.csv", "-o", "q.csv"]).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(
            notes.contains("column `event`: 1 row holds `maybe`, which is not one of the classes `0`, `1`"),
            "{notes}"
        );
        assert_eq!(notes.contains("are read as the classes"), no != "0.0", "{notes}");
        let _ = fs::remove_file(folder.0.join("p.csv"));
        folder.write("plain.csv", &plain);
        folder.run(&["predict", "m.scorewise", "plain.csv", "-o", "p.csv"]);
        let truth = |name: &str| match folder.table(name).column("truth").unwrap().values.clone() {
            Values::Number(values) => values,
            other => panic!("{other:?}"),
        };
        let (expected, got) = (truth("p.csv"), truth("q.csv"));
        assert_eq!(got.len(), 200);
        for row in 0..200 {
            let is_known = ![6, 8].contains(&row);
            assert!(if is_known { got[row] == expected[row] } else { got[row].is_nan() }, "row {row}");
        }
    }
}

#[test]
fn predictions_do_not_depend_on_whether_the_newest_row_is_first() {
    let folder = Folder::new("predictions-newest-first");
    let oldest_first = csv_table(1, 900);
    let reversed = |text: &str| {
        let (heading, rows) = text.split_once('\n').unwrap();
        let mut rows: Vec<&str> = rows.lines().collect();
        rows.reverse();
        format!("{heading}\n{}\n", rows.join("\n"))
    };
    folder.write("up.csv", &oldest_first);
    folder.write("down.csv", &reversed(&oldest_first));
    let arguments = ["--target", "z > 0.9", "--lead", "1", "--lags", "2"];
    let mut trained = Vec::new();
    for name in ["up", "down"] {
        let (csv, model) = (format!("{name}.csv"), format!("{name}.scorewise"));
        trained.push(folder.json(&[&["train", &csv, "-o", &model][..], &arguments, &SHORT_TRAINING, &["2"]].concat()));
    }
    // Both files give the same training, validation and test rows. Batches depend on the order of the rows in the file, so the two models
    // differ.
    for set in ["train", "validation", "test"] {
        assert_eq!(trained[0][set]["rows"], trained[1][set]["rows"]);
        assert_eq!(trained[0][set]["positives"], trained[1][set]["positives"]);
    }
    folder.run(&["predict", "up.scorewise", "up.csv", "-o", "up-p.csv"]);
    folder.run(&["predict", "up.scorewise", "down.csv", "-o", "down-p.csv"]);
    let (up, down) = (folder.bytes("up-p.csv"), folder.bytes("down-p.csv"));
    assert_eq!(reversed(&String::from_utf8(up).unwrap()), String::from_utf8(down).unwrap());
    let output = folder
        .command(&[&["train", "down.csv", "-o", "n.scorewise"][..], &arguments, &SHORT_TRAINING, &["2"]].concat())
        .output()
        .unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("column `time`: lags and leads follow the times in this column"), "{notes}");
    assert!(!notes.contains("in the order of the file"), "{notes}");
}

#[test]
fn with_a_lead_the_row_before_a_gap_in_the_series_has_no_true_class() {
    let folder = Folder::new("predictions-gap");
    folder.write("table.csv", &csv_table(1, 600));
    let arguments = ["train", "table.csv", "--target", "z > 0.9", "--lead", "1", "-o", "m.scorewise"];
    folder.run(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    let gapped: String = csv_table(5, 100)
        .lines()
        .enumerate()
        .filter(|(line, _)| *line != 50)
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    folder.write("gap.csv", &gapped);
    folder.run(&["predict", "m.scorewise", "gap.csv", "-o", "p.csv"]);
    let Values::Number(truth) = folder.table("p.csv").column("truth").unwrap().values.clone() else { panic!() };
    let missing: Vec<usize> = (0..truth.len()).filter(|row| truth[*row].is_nan()).collect();
    assert_eq!((truth.len(), missing), (99, vec![48, 98]), "the row before the gap and the last one have no next hour");
    // Without the time column the order of the rows is unknown, so the truth is not written.
    let arguments = ["train", "table.csv", "--target", "z > 0.9", "--lead", "1", "--drop", "time", "-o", "n.scorewise"];
    folder.run(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    let timeless: String = gapped.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect();
    folder.write("timeless.csv", &timeless);
    let output = folder.command(&["predict", "n.scorewise", "timeless.csv", "-o", "q.csv"]).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("the column `truth` is not written, because the table lacks the column `time`"), "{notes}");
    assert!(folder.table("q.csv").column("truth").is_none());
}

#[test]
fn a_table_of_several_stations_needs_the_option_group_or_gets_a_note() {
    let folder = Folder::new("predictions-stations");
    let mut text = String::from("time,station,z\n");
    for row in 0..400 {
        writeln!(
            text,
            "2020-01-{:02} {:02}:00,{},{:.3}",
            row / 48 + 1,
            row / 2 % 24,
            ["a", "b"][row % 2],
            random(3, row)
        )
        .unwrap();
    }
    folder.write("sorted.csv", &text);
    let (heading, rows) = text.split_once('\n').unwrap();
    let by_station = |station: &str| {
        rows.lines().filter(|line| line.contains(station)).map(|line| format!("{line}\n")).collect::<String>()
    };
    folder.write("by-station.csv", &format!("{heading}\n{}{}", by_station(",a,"), by_station(",b,")));
    let arguments = ["--target", "z > 0.7", "--lead", "1", "-o", "m.scorewise"];
    let refused = folder.error_message(&[&["train", "by-station.csv"][..], &arguments].concat());
    let expected = "error: --group: 200 of 400 rows have the same time in `time` as an earlier row, and the file is not sorted by time\n\
        hint: name the column that separates the series, such as a station: `--group COLUMN`";
    assert_eq!(refused, expected);
    let output =
        folder.command(&[&["train", "sorted.csv"][..], &arguments, &SHORT_TRAINING, &["2"]].concat()).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("200 rows have the same time as an earlier row"), "{notes}");
    // With `--group`, the rows of each station are one time series, so both files contain the same series.
    let with_group = [&arguments[..], &["--group", "station"]].concat();
    let positives = ["sorted.csv", "by-station.csv"].map(|file| {
        let trained = folder.json(&[&["train", file][..], &with_group, &SHORT_TRAINING, &["2"]].concat());
        ["train", "validation", "test"].map(|set| trained[set]["positives"].clone())
    });
    assert_eq!(positives[0], positives[1]);
}

#[test]
fn predictions_are_the_same_in_every_format_and_other_extensions_are_refused() {
    let folder = Folder::new("predictions-formats");
    folder.write("table.csv", &csv_table(1, 400));
    let arguments =
        ["train", "table.csv", "--target", "state", "--drop", "event", "--weight", "w", "-o", "m.scorewise"];
    folder.run(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    let mut tables = Vec::new();
    for file in ["p.csv", "p.tsv", "p.csv.gz", "p.parquet", "p.arrow", "p.feather"] {
        folder.run(&["predict", "m.scorewise", "table.csv", "--with", "time,station,w,state", "-o", file]);
        let table = folder.table(file);
        tables.push((file, table.columns));
    }
    let names: Vec<&str> = tables[0].1.iter().map(|column| column.name.as_str()).collect();
    let expected = [
        "probability",
        "decision",
        "truth",
        "threshold",
        "score",
        "negative",
        "positive",
        "raw",
        "raw_threshold",
        "weight",
        "time",
        "station",
        "w",
        "state",
    ];
    assert_eq!(names, expected);
    for (file, columns) in &mut tables {
        // Only text files have the apostrophe that stops spreadsheets from evaluating a cell as a formula.
        for column in columns.iter_mut() {
            if let Values::Category(values) = &mut column.values {
                values.levels.iter_mut().for_each(|level| *level = unescape_formula(level).to_owned());
            }
        }
        assert!(columns.iter().any(|column| column.values.text(0).contains("=storm")), "{file}");
    }
    for (file, columns) in &tables {
        assert_eq!(*columns, tables[0].1, "{file}");
    }
    // A spreadsheet would evaluate a class such as `=storm` as a formula.
    let text = String::from_utf8(folder.bytes("p.csv")).unwrap();
    assert!(text.contains(",'=storm,") && !text.contains(",=storm,"), "{text}");
    let first = |name: &str| folder.bytes(name)[..4].to_vec();
    assert_eq!(
        (&first("p.parquet")[..], &first("p.arrow")[..], &first("p.csv.gz")[..2]),
        (&b"PAR1"[..], &b"ARRO"[..], &[0x1f, 0x8b][..])
    );
    for file in ["p.json", "p.xlsx", "p.html", "p.scorewise"] {
        let refused = folder.error_message(&["predict", "m.scorewise", "table.csv", "-o", file]);
        let hint = "hint: name a file that ends in .csv, .tsv, .csv.gz, .parquet or .arrow";
        assert!(refused.starts_with(&format!("error: {file}: a table ")) && refused.ends_with(hint), "{refused}");
    }
    for report in ["x.pdf", "x.csv"] {
        let refused = folder.error_message(&["score", "p.csv", "--report", report]);
        assert!(
            refused.starts_with(&format!("error: {report}: a scorewise report cannot have this file extension")),
            "{refused}"
        );
    }
    let refused = folder.error_message(
        &[&["train", "table.csv", "--target", "event", "-o", "m.csv"][..], &SHORT_TRAINING, &["2"]].concat(),
    );
    assert!(refused.starts_with("error: m.csv: a scorewise model cannot have this file extension"), "{refused}");
}

#[test]
fn a_copied_column_with_the_name_of_an_output_column_is_renamed() {
    let folder = Folder::new("predictions-names");
    folder.write("table.csv", &csv_table(1, 300).replace(",station,", ",score,"));
    let arguments = ["train", "table.csv", "--target", "event", "--drop", "state", "-o", "m.scorewise"];
    folder.run(&[&arguments[..], &SHORT_TRAINING, &["2"]].concat());
    folder.run(&["predict", "m.scorewise", "table.csv", "--with", "score", "-o", "p.csv"]);
    let table = folder.table("p.csv");
    let Values::Category(values) = &table.column("score (table)").unwrap().values else { panic!() };
    assert_eq!(values.levels.len(), 8);
    assert_eq!(folder.json(&["score", "p.csv", "--json"])["rows"], 300);
}

#[test]
fn the_recipe_strong_says_why_training_and_validation_rows_overlap_and_takes_the_threshold_from_the_prior() {
    let folder = Folder::new("predictions-overlap");
    folder.write("table.csv", &csv_table(1, 400));
    let arguments =
        ["train", "table.csv", "--target", "event", "--drop", "state", "--recipe", "strong", "--epochs", "4"];
    let text = String::from_utf8(folder.run(&[&arguments[..], &["--report", "none"]].concat())).unwrap();
    assert!(
        text.contains("training and validation rows overlap, because each network has its own validation rows"),
        "{text}"
    );
    let trained = folder.json(&[&arguments[..], &["--report", "none", "--json"]].concat());
    assert_eq!(trained["decision"]["chosen"], "prior");
    let model = scorewise_train::Model::load(&folder.0.join("model.scorewise")).unwrap();
    let plan = model.plan.unwrap();
    assert_eq!(plan.recipe.as_deref(), Some("strong"));
    assert!(plan.own_validation && plan.network().unwrap().warm_start.is_some());
}

#[test]
fn intervals_are_wider_for_dependent_rows_and_tune_estimates_the_score_on_new_rows() {
    let folder = Folder::new("dependence");
    let mut text = String::from("patient,label,probability\n");
    for row in 0..900 {
        let patient = row / 9;
        let label = u8::from(random(1, patient) < 0.3);
        let probability = 0.3 * f64::from(label) + 0.6 * random(2, patient) + 0.01 * random(3, row);
        writeln!(text, "p{patient},{label},{probability}").unwrap();
    }
    fs::write(folder.0.join("p.csv"), text).unwrap();
    let width = |arguments: &[&str]| {
        let base = ["score", "p.csv", "--score", "tss", "--threshold", "0.4", "--json"];
        let summary = folder.json(&[&base, arguments].concat());
        let tss = &summary["scores"]["tss"];
        (tss["high"].as_f64().unwrap() - tss["low"].as_f64().unwrap(), summary["resampled"].clone())
    };
    let (rows, what) = width(&[]);
    assert!(what.is_null(), "{what}");
    let (groups, what) = width(&["--resample", "group:patient"]);
    assert_eq!(what, "groups of rows");
    assert!(groups > 2.0 * rows, "{groups}, {rows}");
    let (blocks, what) = width(&["--resample", "blocks"]);
    assert!(what.as_str().unwrap().starts_with("blocks of "), "{what}");
    assert!(blocks > 1.5 * rows, "{blocks}, {rows}");
    assert_eq!(width(&["--block", "20"]), width(&["--resample", "blocks:20"]));
    let tuned = folder.json(&["tune", "p.csv", "--score", "tss", "--json", "--resample", "group:patient"]);
    let corrected = tuned["corrected"]["value"].as_f64().unwrap();
    assert!(corrected <= tuned["value"].as_f64().unwrap(), "{tuned}");
    assert!(tuned["corrected"]["low"].as_f64().unwrap() < corrected, "{tuned}");
    let compare =
        ["compare", "p.csv", "--probability", "probability,probability", "--json", "--resample", "group:patient"];
    assert_eq!(folder.json(&compare)["difference"]["value"], 0.0);
    for (resample, expected) in
        [("group:station", "station"), ("weekly", "is not a way to resample"), ("blocks:0", "is not a way to resample")]
    {
        let output = folder.command(&["score", "p.csv", "--resample", resample]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{resample}: {message}");
        assert!(message.contains(expected), "{resample}: {message}");
    }
}

#[test]
fn calibrated_probabilities_of_real_models_keep_the_order_and_the_decisions_of_raw_predictions() {
    let folder = Folder::new("predictions-calibrated");
    folder.write("table.csv", &csv_table(1, 900));
    folder.write("new.csv", &csv_table(7, 1200));
    let learners = ["networks", "trees", "linear", "networks,trees"];
    let scores = ["tss", "f1", "csi", "hss"];
    let mut calibrated = 0;
    for (case, (learners, score)) in learners.iter().zip(scores).enumerate() {
        let seed = case.to_string();
        let options =
            ["--target", "event", "--drop", "state,kind", "--learners", learners, "--score", score, "--seed", &seed];
        let training = ["--cross-fit", "3", "--replicates", "20", "--report", "none", "--json", "--overwrite"];
        let files = ["-o", "m.scorewise", "--out-of-fold", "oof.csv"];
        let trained = folder.json(&[&["train", "table.csv"], &options[..], &training[..], &files[..]].concat());
        if trained["calibration"]["method"].is_null() {
            assert_eq!(trained["threshold"], trained["decision"]["threshold"]);
            continue;
        }
        calibrated += 1;
        assert_eq!(trained["raw_threshold"], trained["decision"]["threshold"]);
        let losses = &trained["calibration"]["log_loss"];
        assert!(losses["uncalibrated"].as_f64() > losses[trained["calibration"]["method"].as_str().unwrap()].as_f64());
        folder.run(&["predict", "m.scorewise", "new.csv", "-o", "p.csv", "--overwrite"]);
        for file in ["p.csv", "oof.csv"] {
            let table = read(&Source::parse(&folder.0.join(file).display().to_string()), &Reading::default()).unwrap();
            let numbers = |name: &str| match &table.column(name).unwrap().values {
                Values::Number(values) => values.clone(),
                Values::Boolean(values) => {
                    values.iter().map(|value| f64::from(u8::from(*value == Some(true)))).collect()
                }
                other => panic!("{name}: {other:?}"),
            };
            let (p, raw, decisions) = (numbers("probability"), numbers("raw"), numbers("decision"));
            let (threshold, raw_threshold) = (numbers("threshold")[0], numbers("raw_threshold")[0]);
            assert_eq!(Some(threshold), trained["threshold"].as_f64());
            assert_eq!(Some(raw_threshold), trained["raw_threshold"].as_f64());
            let mut order: Vec<usize> = (0..p.len()).collect();
            order.sort_by(|a, b| raw[*a].total_cmp(&raw[*b]));
            assert!(order.windows(2).all(|pair| p[pair[0]] < p[pair[1]] || raw[pair[1]] - raw[pair[0]] < 1e-9));
            for row in 0..p.len() {
                assert_eq!(p[row] > threshold, raw[row] > raw_threshold);
                assert_eq!(p[row] > threshold, decisions[row] == 1.0);
            }
        }
        // The columns `probability` and `raw` give the same scores if each is compared with its own threshold.
        let score = |arguments: &[&str]| folder.json(&[&["score", "p.csv", "--json"], arguments].concat());
        let (scored, scored_raw) = (score(&[]), score(&["--probability", "raw"]));
        assert_eq!(scored["confusion"], scored_raw["confusion"]);
        assert_eq!(scored["scores"], scored_raw["scores"]);
        let of_measure = |scored: &Value, measure: &str| scored["probabilities"][measure]["value"].as_f64().unwrap();
        for measure in ["roc_area", "average_precision"] {
            assert!((of_measure(&scored, measure) - of_measure(&scored_raw, measure)).abs() < 1e-9);
        }
        let compared =
            folder.json(&["compare", "p.csv", "--probability", "probability,raw", "--json", "--replicates", "20"]);
        assert_eq!(compared["difference"]["value"], 0.0);
        assert_eq!(
            compared["probabilities"]["log_loss"]["first"]["value"],
            scored["probabilities"]["log_loss"]["value"]
        );
        let tuned = |column: &str| {
            folder.json(&["tune", "p.csv", "--score", "f1", "--json", "--replicates", "20", "--probability", column])
        };
        assert_eq!(tuned("probability")["value"], tuned("raw")["value"]);
        // The option `--threshold` of `predict` sets the threshold of the column `probability`, not of the column `raw`.
        folder.run(&["predict", "m.scorewise", "new.csv", "-o", "q.csv", "--overwrite", "--threshold", "0.25"]);
        let at = folder.json(&["score", "q.csv", "--json"]);
        assert_eq!(
            (&at["threshold"], &at["confusion"]),
            (&Value::from(0.25), &score(&["--threshold", "0.25"])["confusion"])
        );
        assert_eq!(folder.json(&["score", "q.csv", "--probability", "raw", "--json"])["threshold"], 0.5);
    }
    assert!(calibrated >= 2, "{calibrated}");
}
