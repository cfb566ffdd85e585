//! Tests of options of the command: whether a score is maximised or minimised, options that contradict each other, limits of values, and notes about
//! leakage.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use crate::folder::Folder;
use serde_json::Value;

/// The text of a table with `count` rows and the columns `x,noise,kind,y`. `y` is 1 if `x` is large. `kind` is one of three classes and depends on
/// `x`. A few random rows have another `y` and another `kind`.
fn csv_table(count: usize) -> String {
    let row = |i: usize| {
        let (x, random) = ((i * 7919) % 1000, (i * 104_729) % 97);
        let y = u8::from(x > 800) ^ u8::from(random < 5);
        let kind = ["low", "middle", "high"][(x * 3 / 1000 + usize::from(random < 5)) % 3];
        format!("{},{},{kind},{y}\n", x as f64 / 1000.0, (i * 31) % 17)
    };
    std::iter::once("x,noise,kind,y\n".to_string()).chain((0..count).map(row)).collect()
}

/// Options of a short training run.
const SHORT_TRAINING: [&str; 8] = ["--epochs", "3", "--hidden", "4", "--replicates", "20", "--report", "none"];

/// A folder with the training table `t.csv`.
fn folder_with_table(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("t.csv"), csv_table(600)).unwrap();
    folder
}

/// Runs a command, and returns its standard error and its exit code.
fn errors_and_code(folder: &Folder, arguments: &[&str]) -> (String, i32) {
    let output = folder.command(arguments).output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

/// The arguments of a short training run on `t.csv`.
fn train_arguments<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["train", "t.csv", "--target", target][..], &SHORT_TRAINING, more].concat()
}

/// Asserts that the command fails with exit code 2, prints every string in `parts` to standard error, and writes no model.
#[track_caller]
fn assert_refused(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    let (errors, code) = errors_and_code(folder, arguments);
    assert_eq!(code, 2, "{arguments:?}: {errors}");
    parts.iter().for_each(|part| assert!(errors.contains(part), "{arguments:?}: {errors}"));
    assert!(!folder.0.join("model.scorewise").exists(), "{arguments:?} left a model");
}

/// Asserts that the command succeeds and prints every string in `parts` to standard error; returns standard error.
#[track_caller]
fn assert_works(folder: &Folder, arguments: &[&str], parts: &[&str]) -> String {
    let (errors, code) = errors_and_code(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {errors}");
    parts.iter().for_each(|part| assert!(errors.contains(part), "{arguments:?}: {errors}"));
    let _ = fs::remove_file(folder.0.join("model.scorewise"));
    errors
}

/// Writes the file `p.csv` with predictions that are better than random, for 400 rows of which a quarter are positive.
fn write_predictions(folder: &Folder) {
    let row = |i: usize| {
        let (label, noise) = (u8::from(i.is_multiple_of(4)), (i * 7919) % 1000);
        format!("{label},{}\n", (300.0 * f64::from(label) + 0.7 * noise as f64) / 1000.0)
    };
    let text: String = std::iter::once("label,probability\n".into()).chain((0..400).map(row)).collect();
    fs::write(folder.0.join("p.csv"), text).unwrap();
}

#[test]
fn a_score_that_is_a_cost_is_minimised_and_gets_a_note() {
    let folder = Folder::new("options-cost");
    write_predictions(&folder);
    let tuned = |score: &str| folder.json(&["tune", "p.csv", "--score", score, "--replicates", "20", "--json"]);
    // The best threshold does not depend on how the cost is written.
    let by_name = tuned("cost(fp=1, fn=10)");
    for same in ["fp + 10*fn", "2*(fp/2 + 5*fn)", "(fp + 10*fn)/total", "1*fp + 10*fn - 3*tn/1000000000"] {
        assert_eq!(tuned(same)["confusion"], by_name["confusion"], "{same}");
        let (errors, _) = errors_and_code(&folder, &["tune", "p.csv", "--score", same, "--replicates", "20"]);
        assert!(
            errors.contains("falls when forecasts improve: lower values are better, so the formula is minimised"),
            "{errors}"
        );
    }
    let negated = folder.json(&["tune", "p.csv", "--score=-(fp + 10*fn)", "--replicates", "20", "--json"]);
    assert_eq!(negated["confusion"], by_name["confusion"]);
    let (errors, _) = errors_and_code(&folder, &["tune", "p.csv", "--score=-(fp + 10*fn)", "--replicates", "20"]);
    assert!(!errors.contains("minimised"), "{errors}");
    for command in [&["theory", "p.csv"][..], &["compare", "p.csv", "p.csv", "--replicates", "20"]] {
        let (errors, code) = errors_and_code(&folder, &[command, &["--score", "fp + 10*fn"]].concat());
        assert!(code == 0 && errors.contains("the formula is minimised"), "{errors}");
    }
    // `score` computes the value of the formula and minimises nothing. The column BEST of its output says that lower values are better.
    let scored =
        String::from_utf8(folder.run(&["score", "p.csv", "--score", "fp + fn", "--replicates", "20"])).unwrap();
    assert!(scored.contains("lower"), "{scored}");
    // A score that is the same for every forecast also gets a note, and so does a formula for which it is unknown whether higher or lower values are
    // better.
    let (errors, _) = errors_and_code(&folder, &["tune", "p.csv", "--score", "p/total", "--replicates", "20"]);
    assert!(
        errors.contains("`p/total` is the same for every forecast: no threshold is better than another"),
        "{errors}"
    );
    let (errors, _) = errors_and_code(&folder, &["tune", "p.csv", "--score", "tp + fp", "--replicates", "20"]);
    assert!(
        errors.contains("higher values are taken as better; write `-(tp + fp)` if lower values are better"),
        "{errors}"
    );
}

#[test]
fn a_model_trained_to_minimise_a_cost_does_not_miss_every_event() {
    let folder = folder_with_table("options-cost-train");
    let options = ["--score", "fp + 10*fn", "--json", "--epochs", "60", "--replicates", "20", "--report", "none"];
    let trained = folder.json(&[&["train", "t.csv", "--target", "y"][..], &options].concat());
    let test = &trained["test"]["confusion"];
    let cell = |name: &str| test[name].as_f64().unwrap();
    // The cost must be lower than the cost of never giving an alarm (10 for each event) and the cost of always giving an alarm (1 for each row
    // without an event).
    let (fp, fn_, tp, tn) = (cell("fp"), cell("fn"), cell("tp"), cell("tn"));
    assert!(fp + 10.0 * fn_ < (10.0 * (tp + fn_)).min(fp + tn), "{test}");
    assert_eq!(trained["test"]["scores"]["fp + 10*fn"]["value"].as_f64(), Some(fp + 10.0 * fn_));
    let notes = trained["notes"].to_string();
    assert!(notes.contains("lower values are better, so the formula is minimised"), "{notes}");
}

#[test]
fn the_parameters_of_the_score_cost_must_be_given_by_name() {
    let folder = Folder::new("options-positional");
    let parts = [
        "the parameters of `cost` must be given by name",
        "\n       ^",
        "hint: write the name of the cell before each number, such as `cost(fp=1, fn=10)`",
    ];
    assert_refused(&folder, &["scores", "cost(1, 10)"], &parts);
    assert_refused(&folder, &["scores", "utility(1)"], &["such as `utility(tn=1, tp=10)`"]);
    assert_refused(&folder, &["scores", "1 - cost(fp=1, 10)"], &["the parameters of `cost` must be given by name"]);
    assert_works(&folder, &["scores", "cost(fp=1, fn=10)"], &[]);
    assert_works(&folder, &["scores", "fbeta(2)"], &[]);
}

#[test]
fn scores_for_more_than_two_classes_are_described() {
    let folder = Folder::new("options-macro");
    let text = String::from_utf8(folder.run(&["scores", "macro(f1)"])).unwrap();
    assert!(text.contains("the mean over all classes of f1, computed for each class against the rest"), "{text}");
    let json = folder.json(&["scores", "micro(recall)", "--matrix", "2680,72,23,28", "--json"]);
    assert_eq!(
        (&json["name"], &json["average"], &json["of"]["name"]),
        (&"micro(recall)".into(), &"micro".into(), &"recall".into())
    );
    assert_eq!(json["value"].as_f64(), Some((2680.0 + 28.0) / 2803.0));
    assert_eq!(folder.json(&["scores", "gerrity", "--json"])["average"], Value::Null);
    assert_refused(&folder, &["scores", "macro(f11)"], &["`f11` is not a score", "did you mean `f1`?"]);
    assert_refused(&folder, &["scores", "makro(f1)"], &["`makro` is not a score"]);
}

#[test]
fn the_number_of_replicates_is_limited_in_every_command() {
    let folder = folder_with_table("options-replicates");
    write_predictions(&folder);
    let short = ["train", "t.csv", "--target", "y", "--epochs", "1"];
    let commands: [&[&str]; 4] = [&short, &["score", "p.csv"], &["tune", "p.csv"], &["compare", "p.csv", "p.csv"]];
    for command in commands {
        let with_replicates = |number| [command, &["--replicates", number]].concat();
        assert_refused(
            &folder,
            &with_replicates("0"),
            &["--replicates", "at least 1 replicate is needed; 1000 is common"],
        );
        for too_many in ["1000001", "1000000000", "99999999999999999999"] {
            assert_refused(&folder, &with_replicates(too_many), &["--replicates", "give an integer from 1 to 1000000"]);
        }
    }
}

#[test]
fn the_numbers_of_networks_repeats_and_folds_are_limited() {
    let folder = folder_with_table("options-members");
    for too_many in ["1001", "100000", "18446744073709551615"] {
        let message = format!("--ensemble: must be at most 1000, not {too_many}");
        assert_refused(&folder, &train_arguments("y", &["--ensemble", too_many]), &[&message]);
    }
    assert_refused(&folder, &train_arguments("y", &["--ensemble", "0"]), &["--ensemble: must be at least 1, not 0"]);
    assert_refused(
        &folder,
        &train_arguments("y", &["--folds", "3", "--repeats", "1000000"]),
        &["--repeats: 1000000 repeats are too many; at most 1000 are allowed"],
    );
    let parts = ["--folds: 1000000000 folds, but only 600 rows have a label"];
    assert_refused(&folder, &train_arguments("y", &["--folds", "1000000000", "--split", "time"]), &parts);
}

#[test]
fn the_error_message_for_keep_best_or_keep_last_suggests_the_option_keep_weights() {
    let folder = folder_with_table("options-weights");
    let hint = "to choose which weights the model keeps, write `--keep-weights last`";
    assert_refused(
        &folder,
        &train_arguments("y", &["--keep", "last"]),
        &["--keep: `t.csv` has no column `last`", hint],
    );
    assert_refused(
        &folder,
        &train_arguments("y", &["--keep", "noise,best"]),
        &["has no column `best`", "`--keep-weights best`"],
    );
    assert_works(&folder, &train_arguments("y", &["--keep-weights", "last", "--keep", "noise"]), &[]);
    // If the table has a column `last`, `--keep last` means that column.
    fs::write(folder.0.join("t.csv"), csv_table(600).replace("noise", "last")).unwrap();
    assert_works(&folder, &train_arguments("y", &["--keep", "last"]), &[]);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let folder = folder_with_table("options-contradictions");
    let assert_refused_for_two_classes =
        |more: &[&str], parts: &[&str]| assert_refused(&folder, &train_arguments("y", more), parts);
    let test =
        "--test: cross-validation takes its test rows from the training table, so other test rows are not possible";
    assert_refused_for_two_classes(&["--folds", "3", "--test", "0.3"], &[test, "leave out `--test` or `--folds`"]);
    assert_refused_for_two_classes(&["--folds", "3", "--test", "t.csv"], &[test]);
    assert_refused_for_two_classes(&["--repeats", "2"], &["--folds"]);
    assert_refused_for_two_classes(
        &["--validation", "0"],
        &["--validation: early stopping and the choice of the threshold need validation rows, but there are none"],
    );
    assert_refused_for_two_classes(&["--lag-columns", "x"], &["--lags"]);
    for loss in ["ce", "weighted-ce"] {
        assert_refused_for_two_classes(
            &["--loss", loss, "--prior", "uniform"],
            &["--prior: cross-entropy has no random threshold"],
        );
        assert_refused_for_two_classes(
            &["--loss", loss, "--warm-start"],
            &["--warm-start: trains with cross-entropy before the loss of a score"],
        );
        assert_refused_for_two_classes(
            &["--loss", loss, "--threshold", "centre"],
            &["--threshold: cross-entropy has no prior"],
        );
        assert_refused_for_two_classes(
            &["--loss", loss, "--multiclass", "simplex"],
            &["--multiclass: cross-entropy has only one form"],
        );
    }
    assert_refused_for_two_classes(
        &["--no-cure", "--warm-start"],
        &["--no-cure: this option trains exactly as in Marchetti et al. (2022)"],
    );
    assert_refused_for_two_classes(
        &["--multiclass", "simplex"],
        &["--multiclass: this option is for more than two classes, but the target has two"],
    );
    assert_refused_for_two_classes(
        &["--multiclass", "one-versus-rest"],
        &["--multiclass: this option is for more than two classes, but the target has two"],
    );
    assert_refused(
        &folder,
        &train_arguments("x > 0.5", &["--positive", "1"]),
        &["--positive: `1` cannot be the positive class"],
    );
    write_predictions(&folder);
    let compare = ["compare", "p.csv", "p.csv", "--tuned"];
    assert_refused(&folder, &[&compare[..], &["--thresholds", "0.3,0.5"]].concat(), &["cannot be used with"]);
    assert_refused(&folder, &[&compare[..], &["--threshold", "0.3"]].concat(), &["cannot be used with"]);
    assert_works(&folder, &train_arguments("y", &["--folds", "2", "--test", "0"]), &[]);
}

#[test]
fn a_target_with_three_classes_gets_a_default_score_and_only_tuned_thresholds() {
    let folder = folder_with_table("options-classes");
    let assert_refused_for_three_classes =
        |more: &[&str], parts: &[&str]| assert_refused(&folder, &train_arguments("kind", more), parts);
    for threshold in ["centre", "0.4"] {
        let parts = [
            "--threshold: a number or `centre` needs a target with two classes, but this target has 3",
            "write `tuned`, which multiplies the probability of each class by a tuned factor",
        ];
        assert_refused_for_three_classes(&["--score", "macro(f1)", "--threshold", threshold], &parts);
    }
    assert_refused_for_three_classes(
        &["--prior", "uniform"],
        &["--prior: with 3 classes, the simplex loss has its own distribution", "`--multiclass one-versus-rest`"],
    );
    assert_works(
        &folder,
        &train_arguments("kind", &["--multiclass", "one-versus-rest"]),
        &["note: the score is macro(tss)"],
    );
    assert_works(&folder, &train_arguments("kind", &["--multiclass", "one-versus-rest", "--prior", "uniform"]), &[]);
    assert_works(&folder, &train_arguments("kind", &["--multiclass", "simplex"]), &["note: the score is tss"]);
    assert_works(&folder, &train_arguments("kind", &["--positive", "high", "--threshold", "0.4"]), &[]);
    assert_works(&folder, &train_arguments("kind", &["--score", "macro(f1)", "--threshold", "tuned"]), &[]);
}

#[test]
fn cross_fitting_refuses_invalid_numbers_of_folds() {
    let folder = folder_with_table("options-cross-fit");
    assert_refused(
        &folder,
        &train_arguments("y", &["--cross-fit", "1"]),
        &["--cross-fit: 1 is not a valid number of folds"],
    );
    let parts = ["--cross-fit: 600 is not a valid number of folds", "give 2 to 100, or 0"];
    assert_refused(&folder, &train_arguments("y", &["--cross-fit", "600"]), &parts);
    let parts = ["--validation: with cross-fitting", "write `--cross-fit 0`"];
    assert_refused(&folder, &train_arguments("y", &["--cross-fit", "3", "--validation", "0.2"]), &parts);
    assert_works(&folder, &train_arguments("y", &["--validation", "0.2"]), &[]);
    assert_works(&folder, &train_arguments("y", &["--cross-fit", "3", "--split", "time"]), &[]);
    assert_works(&folder, &train_arguments("y", &["--cross-fit", "3", "--split", "group:noise"]), &[]);
    fs::write(folder.0.join("t.csv"), "x,y\n".to_string() + &"1,0\n2,0\n3,0\n".repeat(10) + "4,1\n5,1\n6,1\n7,1\n")
        .unwrap();
    let parts = ["--cross-fit: 9 folds, but the class `1` has only"];
    assert_refused(&folder, &train_arguments("y", &["--cross-fit", "9"]), &parts);
    assert_works(&folder, &train_arguments("y", &[]), &["3 folds instead of 5, because a class has few rows"]);
    // The final model after a cross-validation is trained on all rows, with 4 rows of the rare class; each fold is trained with 3. So the
    // note about the final model differs from the note about the folds, and only the note about the final model is printed.
    let notes = assert_works(&folder, &train_arguments("y", &["--folds", "4"]), &["4 folds instead of 5"]);
    assert_eq!(notes.matches("folds instead of 5").count(), 1, "{notes}");
    // Each class has a single row, which cannot be both a training row and a validation or test row.
    fs::write(folder.0.join("t.csv"), "x,y\n1,0\n2,1\n").unwrap();
    let (errors, code) = errors_and_code(&folder, &train_arguments("y", &[]));
    assert_eq!(code, 2);
    assert!(errors.ends_with("error: --split: the training set has no negatives\nhint: give more rows\n"), "{errors}");
}

/// The table of `csv_table` with three more columns that leak the target: a number, a word, and a date that is missing for one class.
fn leaking_csv_table(count: usize) -> String {
    let line = |(at, line): (usize, &str)| {
        let y = line.ends_with('1');
        if at == 0 {
            return format!("{line},paid,verdict,late\n");
        }
        let late = if y { format!("2020-01-{:02}", 1 + at % 27) } else { String::new() };
        format!(
            "{line},{},{},{late}\n",
            f64::from(u8::from(y)) + (at % 10) as f64 / 20.0,
            if y { "guilty" } else { "not" }
        )
    };
    csv_table(count).lines().enumerate().map(line).collect()
}

#[test]
fn columns_that_leak_the_target_get_a_note() {
    let folder = folder_with_table("options-leak");
    let clean = assert_works(&folder, &train_arguments("y", &[]), &[]);
    assert!(!clean.contains("almost perfectly"), "{clean}");
    fs::write(folder.0.join("t.csv"), leaking_csv_table(600)).unwrap();
    let perfect = "alone predicts the target almost perfectly";
    let parts = [
        format!(
            "note: column `paid`: {perfect} (ROC area 1.0000): is this column known when the forecast is made? `--drop paid` leaves it out"
        ),
        format!("note: column `verdict`: {perfect} (its values determine the class of all "),
        format!("note: column `late`: {perfect}"),
    ];
    let errors = assert_works(&folder, &train_arguments("y", &[]), &[&parts[0], &parts[1], &parts[2]]);
    assert_eq!(errors.matches(perfect).count(), 3, "{errors}");
    // The columns leak in every fold of a cross-validation and in the final model; each column is reported only once.
    let folds =
        assert_works(&folder, &train_arguments("y", &["--folds", "2", "--ensemble", "1"]), &[&parts[0], &parts[1]]);
    assert_eq!(folds.matches(perfect).count(), 3, "{folds}");
    let dropped = assert_works(&folder, &train_arguments("y", &["--drop", "paid,verdict,late"]), &[]);
    assert!(!dropped.contains(perfect), "{dropped}");
    // With `--lead 1`, the target is the value of `y` in the next row. The value of `y` in the current row is then a legitimate input, even if it is
    // nearly always equal to the next value.
    let steady: String = (0..900).map(|i| format!("{},{}\n", f64::from(u8::from(i / 300 % 2 == 1)), i % 7)).collect();
    fs::write(folder.0.join("t.csv"), format!("y,noise\n{steady}")).unwrap();
    let errors = assert_works(&folder, &train_arguments("y", &["--lead", "1", "--split", "random"]), &[]);
    assert!(!errors.contains(perfect), "{errors}");
}

#[test]
fn test_rows_that_are_equal_to_training_rows_get_a_note() {
    let folder = folder_with_table("options-twice");
    let note = "test rows (";
    assert!(!assert_works(&folder, &train_arguments("y", &[]), &[]).contains(note));
    // If the table contains every row twice, many test rows are equal to training rows.
    let text = csv_table(600);
    let (head, body) = text.split_once('\n').unwrap();
    fs::write(folder.0.join("t.csv"), format!("{head}\n{body}{body}")).unwrap();
    let errors = assert_works(&folder, &train_arguments("y", &[]), &[note]);
    assert!(errors.contains(" of 240 test rows ("), "{errors}");
    // The first test table, `seen.csv`, consists of training rows. The second, `others.csv`, contains no training rows.
    fs::write(folder.0.join("t.csv"), &text).unwrap();
    let body: Vec<&str> = body.lines().collect();
    fs::write(folder.0.join("seen.csv"), format!("{head}\n{}\n", body[..100].join("\n"))).unwrap();
    assert_works(
        &folder,
        &train_arguments("y", &["--test", "seen.csv"]),
        &["100 of 100 test rows (100.0 %) are equal to rows that the model was trained on"],
    );
    let others: String = csv_table(900).lines().skip(601).map(|line| format!("{line}\n")).collect();
    fs::write(folder.0.join("others.csv"), format!("{head}\n{others}")).unwrap();
    let errors = assert_works(&folder, &train_arguments("y", &["--test", "others.csv"]), &[]);
    assert!(!errors.contains(note), "{errors}");
    // In a table of two columns with few distinct values, equal rows are no sign of leakage, so there is no note.
    let coarse: String = (0..2000)
        .map(|i| format!("{},{},{}\n", (i * 7919) % 11 % 4, (i * 104_729) % 13 % 5, u8::from((i * 31) % 17 > 12)))
        .collect();
    fs::write(folder.0.join("t.csv"), format!("a,b,y\n{coarse}")).unwrap();
    let errors = assert_works(&folder, &train_arguments("y", &[]), &[]);
    assert!(!errors.contains(note), "{errors}");
}

#[test]
fn the_built_in_tables_get_no_note_about_leakage() {
    let folder = Folder::new("options-built-in");
    for table in ["adult", "pollution"] {
        let (errors, code) = errors_and_code(
            &folder,
            &["train", table, "--epochs", "1", "--ensemble", "1", "--replicates", "20", "--report", "none"],
        );
        assert_eq!(code, 0, "{errors}");
        assert!(!errors.contains("almost perfectly") && !errors.contains("test rows ("), "{errors}");
    }
}

#[test]
fn smoothed_thresholds_are_found_with_weights_and_for_more_than_two_classes() {
    let folder = Folder::new("options-smooth");
    let row = |i: usize| {
        let class = i % 3;
        let p = |k: usize| 1.0 + ((i * 37 + k * 11) % 50) as f64 / 25.0 + if k == class { 2.0 } else { 0.0 };
        let sum: f64 = (0..3).map(p).sum();
        let [a, b, c] = [0, 1, 2].map(|k| p(k) / sum);
        let name = ["a", "b", "c"][class];
        format!("{name},{name},macro(f1),{a},{b},{c},{}\n", i % 2)
    };
    let rows: String = (0..90).map(row).collect();
    let heading = "truth,decision,score,probability of a,probability of b,probability of c,w";
    fs::write(folder.0.join("all.csv"), format!("{heading}\n{rows}")).unwrap();
    // Rows of weight 0 have no effect, so a table without these rows must give the same result.
    let kept: String = (0..90).filter(|i| i % 2 == 1).map(row).collect();
    fs::write(folder.0.join("kept.csv"), format!("{heading}\n{kept}")).unwrap();
    let tuned = |file: &str, more: &[&str]| {
        let arguments = [&["tune", file, "--smooth", "0.3", "--replicates", "20", "--json"], more].concat();
        folder.json(&arguments)
    };
    let (weighted, kept) = (tuned("all.csv", &["--weight", "w"]), tuned("kept.csv", &[]));
    let plain = folder.json(&["tune", "kept.csv", "--replicates", "20", "--json"]);
    for class in 0..3 {
        let smooth = |result: &Value, key: &str| result["classes"][class]["smooth"][key].clone();
        assert_eq!(smooth(&weighted, "threshold"), smooth(&kept, "threshold"));
        assert_eq!(smooth(&weighted, "confusion"), smooth(&kept, "confusion"));
        assert_eq!(smooth(&kept, "width"), 0.3);
        assert!(smooth(&kept, "expected_value").as_f64() < kept["classes"][class]["value"].as_f64());
        // `--smooth` does not change the exact threshold.
        assert_eq!(kept["classes"][class]["threshold"], plain["classes"][class]["threshold"]);
        assert!(plain["classes"][class]["smooth"].is_null());
        // The smoothed threshold of each class is the same as if `--positive` named that class.
        let name = ["a", "b", "c"][class];
        let alone = tuned("kept.csv", &["--positive", name]);
        assert_eq!(alone["smooth"], kept["classes"][class]["smooth"]);
    }
    let text = String::from_utf8(folder.run(&["tune", "kept.csv", "--smooth", "--replicates", "20"])).unwrap();
    assert!(
        text.contains("SMOOTHED THRESHOLD") && text.contains("averaged over nearby thresholds, width 0.2"),
        "{text}"
    );
}
