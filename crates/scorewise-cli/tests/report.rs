//! Tests of the reports and figures that the command writes: their contents, their files, and errors.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// Writes predictions for sixty hours, with a storm in every fifth hour; the forecast is better than random.
fn write_predictions(folder: &Folder) {
    let row = |hour: u32| {
        let storm = hour.is_multiple_of(5);
        let probability = f64::from((hour * 37) % 50 + if storm { 45 } else { 0 }) / 100.0;
        format!("{},{probability},{}\n", u8::from(storm), 1 + hour % 3)
    };
    let rows: String = (0..60).map(row).collect();
    fs::write(folder.0.join("p.csv"), format!("label,probability,hours\n{rows}")).unwrap();
}

/// The names of the files in the folder, sorted.
fn file_names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The content of a file in the folder as text.
fn file_text(folder: &Folder, name: &str) -> String {
    String::from_utf8(folder.bytes(name)).unwrap()
}

/// The lookup table that the HTML report contains for its script.
fn lookup_table(page: &str) -> Value {
    let start = page.find("id=\"table\">").unwrap() + "id=\"table\">".len();
    serde_json::from_str(&page[start..start + page[start..].find("</script>").unwrap()]).unwrap()
}

#[test]
fn the_commands_score_tune_theory_and_compare_write_reports() {
    let folder = Folder::new("report-commands");
    write_predictions(&folder);
    let commands: [(&str, &[&str], &[&str]); 5] = [
        ("score.html", &["score", "p.csv", "--threshold", "0.62"], &["tss is ", "at threshold 0.62", "always yes"]),
        ("tune.html", &["tune", "p.csv", "--score", "f1"], &["Predict yes above ", "Best f1 on these rows"]),
        (
            "smooth.html",
            &["tune", "p.csv", "--score", "f1", "--smooth"],
            &[
                "averaged over nearby thresholds",
                "Without smoothing, the best threshold of these rows is",
                "the smoothed threshold",
            ],
        ),
        ("theory.html", &["theory", "p.csv", "--score", "f1"], &["when the threshold is random", "Jensen gap"]),
        (
            "compare.html",
            &["compare", "p.csv", "--probability", "probability,probability"],
            &["these rows do not show which"],
        ),
    ];
    for (page, command, texts) in commands {
        let mut command_with_report = command.to_vec();
        command_with_report.extend(["--report", page]);
        folder.run(&command_with_report);
        let page = file_text(&folder, page);
        assert!(page.starts_with("<!doctype html>") && page.len() < 1_500_000);
        for text in texts {
            assert!(page.contains(text), "`{text}` is missing in the report of {command:?}");
        }
        assert!(page.contains(&format!("scorewise {}", command.join(" "))), "the report lacks the command line");
        assert!(
            !page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org").count()
        );
    }
}

#[test]
fn a_report_contains_the_best_threshold_of_every_score() {
    let folder = Folder::new("report-optima");
    write_predictions(&folder);
    folder.run(&["tune", "p.csv", "--score", "csi", "--weight", "hours", "--report", "page.html"]);
    let table = lookup_table(&file_text(&folder, "page.html"));
    let thresholds: Vec<f64> =
        table["threshold"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    assert!(thresholds.windows(2).all(|pair| pair[0] < pair[1]), "the thresholds are not in ascending order");
    let mut optima = 0;
    for score in table["scores"].as_array().unwrap() {
        let Some(index) = score["best"].as_u64() else { continue };
        let name = score["name"].as_str().unwrap();
        let best = folder.json(&["tune", "p.csv", "--score", name, "--weight", "hours", "--json", "--replicates", "1"]);
        assert_eq!(best["threshold"].as_f64().unwrap(), thresholds[index as usize], "{name}");
        optima += 1;
    }
    assert!(optima > 45, "{optima}");
    assert!(thresholds.contains(&0.5));
}

#[test]
fn a_result_saved_as_json_can_be_made_into_a_report_later() {
    let folder = Folder::new("report-data");
    write_predictions(&folder);
    let printed = folder.json(&["tune", "p.csv", "--score", "f1", "--json", "--report", "tuned.json"]);
    let saved: Value = serde_json::from_slice(&folder.bytes("tuned.json")).unwrap();
    assert_eq!(saved["result"], printed, "the saved result differs from the output of --json");
    folder.run(&["report", "tuned.json"]);
    folder.run(&["report", "tuned.json", "-o", "again.html"]);
    assert_eq!(folder.bytes("tuned.html"), folder.bytes("again.html"));
    folder.run(&["report", "tuned.json", "--plots", "figures"]);
    let mut figures: Vec<String> = fs::read_dir(folder.0.join("figures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    figures.sort();
    let stems = ["decision", "performance", "precision-recall", "predictions", "reliability", "roc", "scores"];
    let expected: Vec<String> = stems.iter().flat_map(|stem| [format!("{stem}.png"), format!("{stem}.svg")]).collect();
    assert_eq!(figures, expected);

    // The output of `--json` can be made into a report too.
    fs::write(folder.0.join("plain.json"), folder.run(&["score", "p.csv", "--json"])).unwrap();
    folder.run(&["report", "plain.json"]);
    let scores = folder.json(&["score", "p.csv", "--json"]);
    let f1 = scores["scores"]["f1"]["value"].as_f64().unwrap();
    assert!(
        file_text(&folder, "plain.html")
            .contains(&format!("<th scope=\"row\">f1</th><td>{}</td>", scorewise_report::format_number(f1)))
    );
}

#[test]
fn the_report_of_train_replaces_an_earlier_report_but_no_other_file() {
    let folder = Folder::new("report-train");
    let row = |k: u32| format!("{},{},{}\n", k % 97, (k * 31) % 17, u8::from((k * 7) % 97 > 70));
    let rows: String = (0..400).map(row).collect();
    fs::write(folder.0.join("t.csv"), format!("a,b,y\n{rows}")).unwrap();
    let train = ["train", "t.csv", "--target", "y", "--score", "f1", "--epochs", "3", "--replicates", "20"];
    folder.run(&train);
    assert_eq!(file_names(&folder), ["model.scorewise", "report.html", "t.csv"]);
    assert!(file_text(&folder, "report.html").contains("How the model was trained"));
    // An existing scorewise report is replaced, but any other HTML file is kept.
    fs::write(folder.0.join("report.html"), "<html>my own</html>").unwrap();
    let output = folder.command(&train).output().unwrap();
    assert!(output.status.success());
    assert_eq!(file_text(&folder, "report.html"), "<html>my own</html>");
    assert!(String::from_utf8_lossy(&output.stderr).contains("note: report.html is not a scorewise report"));
    let mut named = train.to_vec();
    named.extend(["--report", "report.html"]);
    assert_eq!(folder.command(&named).output().unwrap().status.code(), Some(2));
    assert_eq!(file_text(&folder, "report.html"), "<html>my own</html>");
    named.push("--overwrite");
    folder.run(&named);
    assert!(file_text(&folder, "report.html").contains("How the model was trained"));
    fs::remove_file(folder.0.join("report.html")).unwrap();
    let mut none = train.to_vec();
    none.extend(["--report", "none"]);
    folder.run(&none);
    assert_eq!(file_names(&folder), ["model.scorewise", "t.csv"]);
}

#[test]
fn a_command_that_fails_reports_the_problem_and_writes_no_file() {
    let folder = Folder::new("report-nowhere");
    write_predictions(&folder);
    fs::write(folder.0.join("file"), "").unwrap();
    let assert_refused = |arguments: &[&str], message: &str, code: i32| {
        let before = file_names(&folder);
        let output = folder.command(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        assert!(errors.contains(message), "{errors}");
        assert_eq!(file_names(&folder), before, "a file was written");
    };
    assert_refused(&["score", "p.csv", "--report", "nowhere/page.html"], "nowhere", 2);
    assert_refused(&["score", "p.csv", "--plots", "file/figures"], "file/figures", 2);
    assert_refused(
        &["score", "p.csv", "--report", "p.csv"],
        "p.csv: is an input of this command and would be overwritten",
        2,
    );
    assert_refused(&["score", "p.csv", "--report", "-"], "a report cannot be written to standard output", 2);
    assert_refused(
        &["tune", "p.csv", "--subject-to", "precision > 2", "--plots", "figures"],
        "no threshold satisfies",
        1,
    );
    fs::write(folder.0.join("broken.json"), "{\"scorewise\": \"0.1.0\", \"result\": {}}").unwrap();
    assert_refused(
        &["report", "broken.json"],
        "error: broken.json: the document was written by another version of scorewise or has been modified",
        2,
    );
    assert_refused(&["report", "p.csv"], "error: p.csv: the document is not valid JSON", 2);
    fs::write(folder.0.join("other.json"), "{\"a\": 1}").unwrap();
    assert_refused(&["report", "other.json"], "error: other.json: the document is not a result of scorewise", 2);
    assert_refused(&["report", "none.json"], "error: none.json: ", 2);
    fs::write(folder.0.join("kept.json"), folder.run(&["score", "p.csv", "--json"])).unwrap();
    fs::write(folder.0.join("kept.html"), "<html>my own</html>").unwrap();
    assert_refused(&["report", "kept.json"], "kept.html: already exists and is not a scorewise report", 2);
    assert_refused(
        &["report", "kept.json", "-o", "kept.json"],
        "kept.json: is an input of this command and would be overwritten",
        2,
    );
    assert_eq!(file_text(&folder, "kept.html"), "<html>my own</html>");
}

#[test]
fn a_report_says_that_no_threshold_satisfies_the_conditions() {
    let folder = Folder::new("report-unmet");
    write_predictions(&folder);
    let arguments = ["tune", "p.csv", "--subject-to", "precision > 2", "--report", "page.html"];
    assert_eq!(folder.command(&arguments).output().unwrap().status.code(), Some(1));
    let page = file_text(&folder, "page.html");
    assert!(page.contains("<h1>No threshold satisfies the conditions</h1>") && page.contains("the nearest"));
    folder.run(&["score", "p.csv", "--report", "none"]);
    assert_eq!(file_names(&folder), ["p.csv", "page.html"], "`--report none` wrote a file");
}

#[test]
fn the_lookup_table_of_a_report_covers_every_threshold_below_1_if_a_prediction_is_1() {
    let folder = Folder::new("report-certain");
    let table = "label,probability\n0,1\n1,1\n1,0.85\n0,0.4\n1,0.6\n0,0.2\n";
    fs::write(folder.0.join("p.csv"), table).unwrap();
    folder.run(&["score", "p.csv", "--threshold", "1", "--report", "page.html"]);
    let table = lookup_table(&file_text(&folder, "page.html"));
    let column = |name: &str| -> Vec<f64> {
        table[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let (from, to) = (column("from"), column("to"));
    for threshold in [0.0, 0.1, 0.2, 0.5, 0.6, 0.84, 0.85, 0.9, 0.999] {
        assert!(
            from.iter().zip(&to).any(|(from, to)| *from <= threshold && threshold < *to),
            "{threshold}: {from:?} {to:?}"
        );
    }
    assert_eq!(to.last(), Some(&1.0));
}

#[test]
fn persistence_is_a_reference_forecast_if_there_is_a_lead() {
    let folder = Folder::new("report-lead");
    // A storm lasts the first four of every ten hours, so the next hour is in the same state in eight of ten hours.
    let rows: String = (0..600).map(|hour| format!("{},{}\n", hour % 10, u8::from(hour % 10 < 4))).collect();
    fs::write(folder.0.join("t.csv"), format!("phase,storm\n{rows}")).unwrap();
    folder.run(&[
        "train",
        "t.csv",
        "--target",
        "storm > 0",
        "--lead",
        "1",
        "--epochs",
        "2",
        "--replicates",
        "20",
        "--report",
        "r.json",
    ]);
    let results: Value = serde_json::from_slice(&folder.bytes("r.json")).unwrap();
    let persistence = results["forecast"]["yardsticks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|reference| reference["name"] == "persistence");
    let cells: Vec<f64> =
        persistence.unwrap()["cells"].as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap()).collect();
    let rows = cells.iter().sum::<f64>();
    // With persistence, every ten hours have five true negatives, a false positive at the end of the storm, a false negative at the beginning
    // of the storm, and three true positives.
    for (cell, share) in cells.iter().zip([5.0, 1.0, 1.0, 3.0]) {
        assert!((cell - share * rows / 10.0).abs() <= 1.0, "{cells:?}");
    }
}
