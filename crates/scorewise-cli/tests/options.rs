//! Scores whose direction is found, options that contradict each other, bounds, and signs of leakage: through the command.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod folder;

use std::fs;

use folder::Folder;
use serde_json::Value;

/// Rows `x,noise,kind,y`: y is 1 where x is large, and not always; kind is one of three, by x.
fn rows(count: usize) -> String {
    let row = |i: usize| {
        let (x, chance) = ((i * 7919) % 1000, (i * 104_729) % 97);
        let y = u8::from(x > 800) ^ u8::from(chance < 5);
        let kind = ["low", "middle", "high"][(x * 3 / 1000 + usize::from(chance < 5)) % 3];
        format!("{},{},{kind},{y}\n", x as f64 / 1000.0, (i * 31) % 17)
    };
    std::iter::once("x,noise,kind,y\n".to_string()).chain((0..count).map(row)).collect()
}

const QUICK: [&str; 8] = ["--epochs", "3", "--hidden", "4", "--replicates", "20", "--report", "none"];

fn with_table(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("t.csv"), rows(600)).unwrap();
    folder
}

/// What a command says on standard error, and its exit code.
fn said(folder: &Folder, arguments: &[&str]) -> (String, i32) {
    let output = folder.command(arguments).output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

fn train<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["train", "t.csv", "--target", target][..], &QUICK, more].concat()
}

/// It is refused with exit code 2, says all of these, and writes nothing.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    let (errors, code) = said(folder, arguments);
    assert_eq!(code, 2, "{arguments:?}: {errors}");
    parts.iter().for_each(|part| assert!(errors.contains(part), "{arguments:?}: {errors}"));
    assert!(!folder.0.join("model.scorewise").exists(), "{arguments:?} left a model");
}

/// It works, and says all of these on the way.
#[track_caller]
fn works(folder: &Folder, arguments: &[&str], parts: &[&str]) -> String {
    let (errors, code) = said(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {errors}");
    parts.iter().for_each(|part| assert!(errors.contains(part), "{arguments:?}: {errors}"));
    let _ = fs::remove_file(folder.0.join("model.scorewise"));
    errors
}

/// Predictions of fair quality for 400 rows, a quarter of them positive.
fn predictions(folder: &Folder) {
    let row = |i: usize| {
        let (label, noise) = (u8::from(i.is_multiple_of(4)), (i * 7919) % 1000);
        format!("{label},{}\n", (300.0 * f64::from(label) + 0.7 * noise as f64) / 1000.0)
    };
    let text: String = std::iter::once("label,probability\n".into()).chain((0..400).map(row)).collect();
    fs::write(folder.0.join("p.csv"), text).unwrap();
}

#[test]
fn a_cost_is_minimised_and_said_to_be() {
    let folder = Folder::new("options-cost");
    predictions(&folder);
    let tuned = |score: &str| folder.json(&["tune", "p.csv", "--score", score, "--replicates", "20", "--json"]);
    // The same threshold however the cost is written.
    let by_name = tuned("cost(fp=1, fn=10)");
    for same in ["fp + 10*fn", "2*(fp/2 + 5*fn)", "(fp + 10*fn)/total", "1*fp + 10*fn - 3*tn/1000000000"] {
        assert_eq!(tuned(same)["confusion"], by_name["confusion"], "{same}");
        let (errors, _) = said(&folder, &["tune", "p.csv", "--score", same, "--replicates", "20"]);
        assert!(errors.contains("falls when forecasts improve: lower is better, and it is minimised"), "{errors}");
    }
    let negated = folder.json(&["tune", "p.csv", "--score=-(fp + 10*fn)", "--replicates", "20", "--json"]);
    assert_eq!(negated["confusion"], by_name["confusion"]);
    let (errors, _) = said(&folder, &["tune", "p.csv", "--score=-(fp + 10*fn)", "--replicates", "20"]);
    assert!(!errors.contains("minimised"), "{errors}");
    for command in [&["theory", "p.csv"][..], &["compare", "p.csv", "p.csv", "--replicates", "20"]] {
        let (errors, code) = said(&folder, &[command, &["--score", "fp + 10*fn"]].concat());
        assert!(code == 0 && errors.contains("it is minimised"), "{errors}");
    }
    // Looking at one is no question of better or worse.
    let scored =
        String::from_utf8(folder.run(&["score", "p.csv", "--score", "fp + fn", "--replicates", "20"])).unwrap();
    assert!(scored.contains("lower"), "{scored}");
    // A score that is the same everywhere, and one of which nobody can say.
    let (errors, _) = said(&folder, &["tune", "p.csv", "--score", "p/total", "--replicates", "20"]);
    assert!(
        errors.contains("`p/total` is the same for every forecast: no threshold is better than another"),
        "{errors}"
    );
    let (errors, _) = said(&folder, &["tune", "p.csv", "--score", "tp + fp", "--replicates", "20"]);
    assert!(errors.contains("higher is taken as better; write `-(tp + fp)` if lower is"), "{errors}");
}

#[test]
fn a_model_trained_for_a_cost_does_not_miss_every_event() {
    let folder = with_table("options-cost-train");
    let more = ["--score", "fp + 10*fn", "--json", "--epochs", "60", "--replicates", "20", "--report", "none"];
    let trained = folder.json(&[&["train", "t.csv", "--target", "y"][..], &more].concat());
    let test = &trained["test"]["confusion"];
    let cell = |name: &str| test[name].as_f64().unwrap();
    // Missing every event costs ten for each; alarms for all rows cost one for each of the others.
    let (fp, fn_, tp, tn) = (cell("fp"), cell("fn"), cell("tp"), cell("tn"));
    assert!(fp + 10.0 * fn_ < (10.0 * (tp + fn_)).min(fp + tn), "{test}");
    assert_eq!(trained["test"]["scores"]["fp + 10*fn"]["value"].as_f64(), Some(fp + 10.0 * fn_));
    let notes = trained["notes"].to_string();
    assert!(notes.contains("lower is better, and it is minimised"), "{notes}");
}

#[test]
fn costs_without_names_are_refused() {
    let folder = Folder::new("options-positional");
    let parts = [
        "the numbers of `cost` need names",
        "\n       ^",
        "hint: write them with their cells, such as `cost(fp=1, fn=10)`",
    ];
    refused(&folder, &["scores", "cost(1, 10)"], &parts);
    refused(&folder, &["scores", "utility(1)"], &["such as `utility(tn=1, tp=10)`"]);
    refused(&folder, &["scores", "1 - cost(fp=1, 10)"], &["the numbers of `cost` need names"]);
    works(&folder, &["scores", "cost(fp=1, fn=10)"], &[]);
    works(&folder, &["scores", "fbeta(2)"], &[]);
}

#[test]
fn scores_of_many_classes_are_shown() {
    let folder = Folder::new("options-macro");
    let shown = String::from_utf8(folder.run(&["scores", "macro(f1)"])).unwrap();
    assert!(shown.contains("the mean of f1 over the classes, each against the rest"), "{shown}");
    let json = folder.json(&["scores", "micro(recall)", "--matrix", "2680,72,23,28", "--json"]);
    assert_eq!(
        (&json["name"], &json["average"], &json["of"]["name"]),
        (&"micro(recall)".into(), &"micro".into(), &"recall".into())
    );
    assert_eq!(json["value"].as_f64(), Some((2680.0 + 28.0) / 2803.0));
    assert_eq!(folder.json(&["scores", "gerrity", "--json"])["average"], Value::Null);
    refused(&folder, &["scores", "macro(f11)"], &["`f11` is not a score", "did you mean `f1`?"]);
    refused(&folder, &["scores", "makro(f1)"], &["`makro` is not a score"]);
}

#[test]
fn replicates_are_bounded_in_every_command() {
    let folder = with_table("options-replicates");
    predictions(&folder);
    let short = ["train", "t.csv", "--target", "y", "--epochs", "1"];
    let commands: [&[&str]; 4] = [&short, &["score", "p.csv"], &["tune", "p.csv"], &["compare", "p.csv", "p.csv"]];
    for command in commands {
        let with = |number| [command, &["--replicates", number]].concat();
        refused(&folder, &with("0"), &["--replicates", "an interval needs replicates; 1000 are usual"]);
        for many in ["1000001", "1000000000", "99999999999999999999"] {
            refused(&folder, &with(many), &["--replicates", "give a whole number from 1 to 1000000"]);
        }
    }
}

#[test]
fn numbers_of_networks_and_repeats_are_bounded() {
    let folder = with_table("options-members");
    for many in ["1001", "100000", "18446744073709551615"] {
        let parts = [format!("--ensemble: must be at most 1000, not {many}")];
        refused(&folder, &train("y", &["--ensemble", many]), &[&parts[0]]);
    }
    refused(&folder, &train("y", &["--ensemble", "0"]), &["--ensemble: must be at least 1, not 0"]);
    refused(
        &folder,
        &train("y", &["--folds", "3", "--repeats", "1000000"]),
        &["--repeats: 1000000 repeats are too many; at most 1000 are allowed"],
    );
    let parts = ["--folds: 1000000000 folds, but only 600 rows have a target"];
    refused(&folder, &train("y", &["--folds", "1000000000", "--split", "time"]), &parts);
}

#[test]
fn which_weights_are_left_has_an_option_of_its_own() {
    let folder = with_table("options-weights");
    let cure = "for the weights that a training leaves write `--keep-weights last`";
    refused(
        &folder,
        &train("y", &["--keep", "last"]),
        &["--keep: names columns, and `t.csv` has no column `last`", cure],
    );
    refused(&folder, &train("y", &["--keep", "noise,best"]), &["has no column `best`", "`--keep-weights best`"]);
    works(&folder, &train("y", &["--keep-weights", "last", "--keep", "noise"]), &[]);
    // A column of that name is a column.
    fs::write(folder.0.join("t.csv"), rows(600).replace("noise", "last")).unwrap();
    works(&folder, &train("y", &["--keep", "last"]), &[]);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let folder = with_table("options-contradictions");
    let two = |more: &[&str], parts: &[&str]| refused(&folder, &train("y", more), parts);
    let test = "--test: every fold tests on its own rows of the table, so no further test is made";
    two(&["--folds", "3", "--test", "0.3"], &[test, "leave out `--test` or `--folds`"]);
    two(&["--folds", "3", "--test", "t.csv"], &[test]);
    two(&["--repeats", "2"], &["--folds"]);
    two(&["--validation", "0"], &["--validation: no rows are left on which to stop the training"]);
    two(&["--lag-columns", "x"], &["--lags"]);
    for loss in ["ce", "weighted-ce"] {
        two(&["--loss", loss, "--prior", "uniform"], &["--prior: cross-entropy has no random threshold"]);
        two(&["--loss", loss, "--warm-start"], &["--warm-start: trains with cross-entropy before the loss of a score"]);
        two(&["--loss", loss, "--threshold", "centre"], &["--threshold: cross-entropy has no prior"]);
        two(&["--loss", loss, "--multiclass", "simplex"], &["--multiclass: cross-entropy trains any number"]);
    }
    two(&["--no-cure", "--warm-start"], &["--no-cure: follows the paper to the letter"]);
    two(&["--multiclass", "simplex"], &["--multiclass: is for more than two classes, and there are two"]);
    two(&["--multiclass", "one-versus-rest"], &["--multiclass: is for more than two classes, and there are two"]);
    refused(&folder, &train("x > 0.5", &["--positive", "1"]), &["--positive: `1` applies to a column of classes"]);
    predictions(&folder);
    let compare = ["compare", "p.csv", "p.csv", "--tuned"];
    refused(&folder, &[&compare[..], &["--thresholds", "0.3,0.5"]].concat(), &["cannot be used with"]);
    refused(&folder, &[&compare[..], &["--threshold", "0.3"]].concat(), &["cannot be used with"]);
    works(&folder, &train("y", &["--folds", "2", "--test", "0"]), &[]);
}

#[test]
fn many_classes_take_no_threshold_and_have_a_default_that_works() {
    let folder = with_table("options-classes");
    let many = |more: &[&str], parts: &[&str]| refused(&folder, &train("kind", more), parts);
    for threshold in ["tuned", "centre", "0.4"] {
        let parts =
            ["--threshold: is for two classes, and there are 3", "a row gets the class with the greatest probability"];
        many(&["--score", "macro(f1)", "--threshold", threshold], &parts);
    }
    many(
        &["--prior", "uniform"],
        &["--prior: 3 classes are told apart by one decision", "`--multiclass one-versus-rest`"],
    );
    works(&folder, &train("kind", &["--multiclass", "one-versus-rest"]), &["note: the score is macro(tss)"]);
    works(&folder, &train("kind", &["--multiclass", "one-versus-rest", "--prior", "uniform"]), &[]);
    works(&folder, &train("kind", &["--multiclass", "simplex"]), &["note: the score is tss"]);
    works(&folder, &train("kind", &["--positive", "high", "--threshold", "0.4"]), &[]);
}

/// Two further columns: one that is the target with a little noise, one that says it in words.
fn leaking(count: usize) -> String {
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
    rows(count).lines().enumerate().map(line).collect()
}

#[test]
fn columns_that_know_the_target_are_told() {
    let folder = with_table("options-leak");
    let clean = works(&folder, &train("y", &[]), &[]);
    assert!(!clean.contains("almost perfectly"), "{clean}");
    fs::write(folder.0.join("t.csv"), leaking(600)).unwrap();
    let perfect = "alone predicts the target almost perfectly";
    let parts = [
        format!(
            "note: column `paid`: {perfect} (ROC area 1.0000): is it known when the forecast is made? `--drop paid` leaves it out"
        ),
        format!("note: column `verdict`: {perfect} (its values determine the class of all "),
        format!("note: column `late`: {perfect}"),
    ];
    let errors = works(&folder, &train("y", &[]), &[&parts[0], &parts[1], &parts[2]]);
    assert_eq!(errors.matches(perfect).count(), 3, "{errors}");
    let dropped = works(&folder, &train("y", &["--drop", "paid,verdict,late"]), &[]);
    assert!(!dropped.contains(perfect), "{dropped}");
    // With a lead the target's own column is known, however much it says of the next row.
    let steady: String = (0..900).map(|i| format!("{},{}\n", f64::from(u8::from(i / 300 % 2 == 1)), i % 7)).collect();
    fs::write(folder.0.join("t.csv"), format!("y,noise\n{steady}")).unwrap();
    let ahead = works(&folder, &train("y", &["--lead", "1", "--split", "random"]), &[]);
    assert!(!ahead.contains(perfect), "{ahead}");
}

#[test]
fn test_rows_that_were_learnt_from_are_told() {
    let folder = with_table("options-twice");
    let told = "test rows (";
    assert!(!works(&folder, &train("y", &[]), &[]).contains(told));
    // Every row twice.
    let text = rows(600);
    let (head, body) = text.split_once('\n').unwrap();
    fs::write(folder.0.join("t.csv"), format!("{head}\n{body}{body}")).unwrap();
    let errors = works(&folder, &train("y", &[]), &[told]);
    assert!(errors.contains(" of 240 test rows ("), "{errors}");
    // A test table of rows that were learnt from, and one of others.
    fs::write(folder.0.join("t.csv"), &text).unwrap();
    let body: Vec<&str> = body.lines().collect();
    fs::write(folder.0.join("seen.csv"), format!("{head}\n{}\n", body[..100].join("\n"))).unwrap();
    works(
        &folder,
        &train("y", &["--test", "seen.csv"]),
        &["100 of 100 test rows (100.0 %) are equal to rows that the model was trained on"],
    );
    let others: String = rows(900).lines().skip(601).map(|line| format!("{line}\n")).collect();
    fs::write(folder.0.join("others.csv"), format!("{head}\n{others}")).unwrap();
    let few = works(&folder, &train("y", &["--test", "others.csv"]), &[]);
    assert!(!few.contains(told), "{few}");
    // Rows of two columns with few values are alike by nature.
    let coarse: String = (0..2000)
        .map(|i| format!("{},{},{}\n", (i * 7919) % 11 % 4, (i * 104_729) % 13 % 5, u8::from((i * 31) % 17 > 12)))
        .collect();
    fs::write(folder.0.join("t.csv"), format!("a,b,y\n{coarse}")).unwrap();
    let alike = works(&folder, &train("y", &[]), &[]);
    assert!(!alike.contains(told), "{alike}");
}

#[test]
fn the_built_in_tables_give_no_sign_of_leakage() {
    let folder = Folder::new("options-built-in");
    for table in ["adult", "pollution"] {
        let (errors, code) = said(
            &folder,
            &["train", table, "--epochs", "1", "--ensemble", "1", "--replicates", "20", "--report", "none"],
        );
        assert_eq!(code, 0, "{errors}");
        assert!(!errors.contains("almost perfectly") && !errors.contains("test rows ("), "{errors}");
    }
}
