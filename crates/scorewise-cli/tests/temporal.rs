//! Tests of time series whose errors are weighted by their timing: `score`, `tune` and `compare` with `--temporal`.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// Two stations with eight hours each. At the threshold 0.5, station a has a false alarm one hour before its event and another far from any event,
/// and both stations miss their event.
const HOURS: &str = "station,label,probability
a,0,0.1
a,0,0.8
a,1,0.4
a,0,0.1
a,0,0.1
a,0,0.1
a,0,0.1
a,0,0.7
b,0,0.1
b,0,0.2
b,0,0.1
b,0,0.1
b,1,0.3
b,0,0.1
b,0,0.1
b,0,0.2
";

/// A folder with the table `HOURS`.
fn folder_with_hours(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("hours.csv"), HOURS).unwrap();
    folder
}

#[test]
fn errors_close_to_events_or_alarms_count_less_and_isolated_errors_count_twice() {
    let folder = folder_with_hours("temporal-score");
    let scores = ["score", "hours.csv", "--score", "csi,recall", "--json"];
    let plain = folder.json(&scores);
    assert_eq!(plain["confusion"], serde_json::json!({"tn": 12, "fp": 2, "fn": 2, "tp": 0}));
    assert_eq!(plain["temporal"], Value::Null);

    let weighted = folder.json(&[&scores[..], &["--temporal", "value", "--series", "station"]].concat());
    // The false alarm one hour before the event counts 1/2, the isolated false alarm 2. The missed event one hour after the alarm counts 1/2, the
    // isolated missed event 2.
    assert_eq!(weighted["confusion"], serde_json::json!({"tn": 12, "fp": 2.5, "fn": 2.5, "tp": 0}));
    assert_eq!(weighted["temporal"]["sequences"], 2);
    assert_eq!(weighted["temporal"]["weighting"], "value:0.5,0.3333333333333333,0.25");
    assert!(weighted["resampled"].as_str().is_some_and(|what| what.contains("block")), "{weighted}");

    let sum = folder.json(&[&scores[..], &["--temporal", "sum:0.5,0.25", "--series", "station"]].concat());
    assert_eq!(sum["confusion"], serde_json::json!({"tn": 12, "fp": 1.5, "fn": 1.5, "tp": 0}));
}

#[test]
fn scores_and_best_threshold_do_not_change_if_the_numbers_of_a_weighting_are_zero() {
    let folder = folder_with_hours("temporal-zero");
    for (plain, weighted) in [
        (vec!["score", "hours.csv", "--json"], "maximum:0"),
        (vec!["tune", "hours.csv", "--score", "csi", "--json", "--replicates", "20"], "sum:0,0"),
    ] {
        let found = folder.json(&[&plain[..], &["--temporal", weighted]].concat());
        let plain = folder.json(&plain);
        for key in ["confusion", "threshold", "interval", "value"] {
            assert_eq!(found[key], plain[key], "{key}");
        }
    }
}

#[test]
fn tune_finds_the_best_threshold_for_errors_weighted_by_their_timing() {
    let folder = folder_with_hours("temporal-tune");
    let tune = ["tune", "hours.csv", "--score", "csi", "--json", "--replicates", "50"];
    let found = folder.json(&[&tune[..], &["--temporal", "value", "--series", "station"]].concat());
    // At thresholds from 0.2 to below 0.3, both events are hits, one false alarm counts 1/2, and the other counts 2.
    assert_eq!(found["interval"], serde_json::json!([0.2, 0.3]));
    assert_eq!(found["value"], 2.0 / 4.5);
    assert_eq!(found, folder.json(&[&tune[..], &["--temporal", "value", "--series", "station"]].concat()));

    let unmet = ["tune", "hours.csv", "--temporal", "sum", "--subject-to", "precision >= 0.99"];
    let output = folder.command(&unmet).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("no threshold satisfies precision >= 0.99 if errors are weighted by their timing"),
        "{message}"
    );
}

#[test]
fn a_forecast_compared_with_itself_is_not_better() {
    let folder = folder_with_hours("temporal-compare");
    let found = folder.json(&[
        "compare",
        "hours.csv",
        "hours.csv",
        "--score",
        "csi",
        "--threshold",
        "0.25",
        "--temporal",
        "value",
        "--json",
    ]);
    assert_eq!(found["difference"]["value"], 0.0);
    assert_eq!(found["better"], Value::Null);
    assert_eq!(found["temporal"]["sequences"], 1);
}

#[test]
fn reports_show_the_weighted_counts_and_a_figure_of_events_and_alarms_over_time() {
    let folder = folder_with_hours("temporal-report");
    let of_station =
        ["--temporal", "value", "--series", "station", "--report", "r.json", "--overwrite", "--replicates", "20"];
    folder.run(&[&["score", "hours.csv", "--score", "csi"][..], &of_station].concat());
    let read = || serde_json::from_slice::<Value>(&folder.bytes("r.json")).unwrap();
    let scored = read();
    let outcomes = &scored["alarms"]["stretches"][0]["outcomes"];
    assert_eq!([&outcomes[1], &outcomes[2]], ["early_alarm", "miss_after_alarm"]);
    let points = scored["forecast"]["points"].as_array().unwrap();
    let at_half = points.iter().find(|point| point["threshold"] == 0.5).unwrap();
    assert_eq!(at_half["cells"], serde_json::json!([12.0, 2.5, 2.5, 0.0]));
    folder.run(&[&["tune", "hours.csv", "--score", "csi"][..], &of_station].concat());
    let tuned = read();
    assert_eq!(tuned["forecast"]["optima"][0]["value"], 2.0 / 4.5);
    folder.run(&["report", "r.json", "-o", "page.html", "--plots", "figures"]);
    assert!(folder.0.join("figures/alarms.svg").exists() && folder.0.join("figures/alarms.png").exists());
    assert!(String::from_utf8(folder.bytes("page.html")).unwrap().contains("Events and alarms over time"));
}

#[test]
fn train_chooses_the_threshold_by_the_weighted_score_and_predictions_have_the_same_score() {
    let folder = Folder::new("temporal-train");
    let wave = |row: usize| (row as f64 * 0.21).sin() + 0.7 * (row as f64 * 0.083).cos();
    let noise = |row: usize| ((row * 7919) % 101) as f64 / 101.0 - 0.5;
    let mut table = String::from("x,z,event\n");
    for row in 0..500 {
        let (x, z) = (wave(row) + 0.9 * noise(row), wave(row + 1) + 0.9 * noise(3 * row + 1));
        table += &format!("{x},{z},{}\n", u8::from(wave(row) > 1.0));
    }
    fs::write(folder.0.join("hours.csv"), table).unwrap();
    let trained = folder.json(&[
        "train",
        "hours.csv",
        "--target",
        "event",
        "--score",
        "csi",
        "--temporal",
        "value",
        "--cross-fit",
        "3",
        "--ensemble",
        "1",
        "--hidden",
        "8",
        "--epochs",
        "8",
        "--replicates",
        "20",
        "--out-of-fold",
        "oof.csv",
        "--report",
        "r.json",
        "--json",
    ]);
    let words = trained["decision"]["words"].as_str().unwrap();
    assert!(words.contains("with errors weighted by their timing"), "{words}");
    assert_eq!(trained["test"]["temporal"]["weighting"], "value:0.5,0.3333333333333333,0.25");
    assert!(trained["test"]["resampled"].as_str().is_some_and(|what| what.contains("block")), "{trained}");
    // `score` finds the same weighted counts on the same rows, which follow each other without a gap.
    let scored =
        folder.json(&["score", "oof.csv", "--score", "csi", "--temporal", "value", "--replicates", "20", "--json"]);
    assert_eq!(scored["confusion"], trained["validation"]["confusion"]);
    assert_eq!(scored["scores"]["csi"]["value"], trained["validation"]["scores"]["csi"]["value"]);
    let report: Value = serde_json::from_slice(&folder.bytes("r.json")).unwrap();
    assert_eq!(report["alarms"]["rows"], trained["test"]["rows"]);
    assert!(report["forecast"]["part"].as_str().unwrap().ends_with("with errors weighted by their timing"), "{report}");
}

#[test]
fn invalid_or_contradictory_options_for_time_series_are_refused() {
    let folder = folder_with_hours("temporal-refused");
    for (arguments, expected) in [
        (&["score", "hours.csv", "--temporal", "mean"][..], "must be value, sum or maximum, not `mean`"),
        (&["score", "hours.csv", "--temporal", "sum:0.9,0.9"], "must sum to at most 1"),
        (&["compare", "hours.csv", "hours.csv", "--temporal", "value", "--report", "x.html"], "--report"),
        (&["train", "hours.csv", "--target", "label", "--temporal", "value", "--split", "random"], "neighbouring rows"),
        (&["train", "hours.csv", "--target", "label", "--temporal", "value", "--loss", "exact"], "--loss exact"),
        (&["train", "hours.csv", "--target", "station", "--positive", "b", "--temporal", "all"], "not `all`"),
        (&["tune", "hours.csv", "--temporal", "value", "--smooth"], "--smooth"),
        (&["compare", "hours.csv", "hours.csv", "--temporal", "value", "--tuned"], "--tuned"),
        (&["score", "hours.csv", "--series", "station"], "--temporal"),
        (
            &["score", "hours.csv", "--temporal", "sum", "--series", "station", "--resample", "group:label"],
            "use one column for both",
        ),
    ] {
        let output = folder.command(arguments).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_station_whose_rows_are_not_consecutive_is_refused() {
    let folder = Folder::new("temporal-interrupted");
    fs::write(folder.0.join("mixed.csv"), "station,label,probability\na,0,0.1\nb,1,0.4\na,1,0.3\n").unwrap();
    let output =
        folder.command(&["score", "mixed.csv", "--temporal", "value", "--series", "station"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("put all rows of a sequence together, in time order"), "{message}");
}
