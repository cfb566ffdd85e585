//! Tests of `scorewise reproduce`: its tables and figures, how it continues after the process was killed, and its errors.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::Folder;

/// Arguments of a small experiment with nine training runs.
const SMALL_EXPERIMENT: [&str; 9] =
    ["reproduce", "pollution", "--scores", "tss", "--priors", "ce,cosine:0.5,0.1", "--repeats", "3", "--json"];

/// The parts of the JSON output that must be the same whenever the command is repeated: all results, but not the durations.
fn results_without_durations(document: &Value) -> String {
    format!("{:#} {:#} {}", document["table"], document["paper"], document["epochs"])
}

#[test]
fn the_command_reproduce_continues_after_it_was_killed_and_gives_the_same_results() {
    let uninterrupted = Folder::new("reproduce-whole");
    let expected = uninterrupted.json(&SMALL_EXPERIMENT);
    assert_eq!(
        expected["table"].as_array().unwrap().len(),
        3,
        "the table has three rows: cross-entropy, the prior with `--cure off`, and the prior with `--cure on`"
    );
    assert_eq!(expected["trainings"], 9);

    let killed = Folder::new("reproduce-cut");
    let mut child = killed.command(&SMALL_EXPERIMENT).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = killed.0.join("reproduce-pollution").join("trainings.csv");
    let lines = || fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    let start = Instant::now();
    while lines() < 3 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap(); // SIGKILL cannot be handled by the process
    child.wait().unwrap();
    let before = lines();
    assert!((3..10).contains(&before), "the file had {before} lines when the process was killed");
    let resumed = killed.json(&SMALL_EXPERIMENT);
    assert_eq!(results_without_durations(&resumed), results_without_durations(&expected));

    // All training runs are finished now, so the same command returns at once and leaves the file of results unchanged.
    let written = fs::read(&file).unwrap();
    let start = Instant::now();
    assert_eq!(results_without_durations(&killed.json(&SMALL_EXPERIMENT)), results_without_durations(&expected));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(fs::read(&file).unwrap(), written);
}

#[test]
fn tables_and_figures_are_written_to_the_folder() {
    let folder = Folder::new("reproduce-adult");
    let arguments = [
        "reproduce",
        "adult",
        "--repeats",
        "1",
        "--priors",
        "uniform,cosine:0.3,0.1",
        "--cure",
        "on",
        "--out",
        "here",
        "--csv",
        "trainings.csv",
    ];
    let output = folder.command(&arguments).output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    let note =
        "note: table and figures written to the folder `here`, results of all training runs to `trainings.csv`\n";
    assert!(output.status.success() && notes.ends_with(note), "{notes}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("Adult, Table 1: f1\n") && text.contains("119.5 ± 44.0"), "{text}");
    let markdown = String::from_utf8(folder.bytes("here/table.md")).unwrap();
    let command = "`scorewise reproduce adult --repeats 1 --priors uniform,cosine:0.3,0.1 --cure on`, version ";
    assert!(markdown.starts_with(command) && markdown.contains("| uniform | cured | 1/1 | 0 |"), "{markdown}");
    for figure in ["figure-1", "figure-2"] {
        assert!(folder.bytes(&format!("here/{figure}.svg")).starts_with(b"<svg"));
        assert!(folder.bytes(&format!("here/{figure}.png")).starts_with(b"\x89PNG"));
    }
    assert_eq!(String::from_utf8(folder.bytes("trainings.csv")).unwrap().lines().count(), 3);
}

#[test]
fn invalid_arguments_are_reported_and_no_file_is_written() {
    let folder = Folder::new("reproduce-mistakes");
    let cases: [(&[&str], &str); 7] = [
        (&["iris"], "reproduce: there is no experiment `iris`\nhint: write `adult` or `pollution`"),
        (&["adult", "--repeats", "0"], "--repeats: must lie between 1 and 10000, not 0"),
        (&["pollution", "--repeats", "101"], "--repeats: must lie between 1 and 100, not 101"),
        (&["adult", "--beyond"], "--beyond: this option exists only for the experiment `pollution`"),
        (&["adult", "--priors", "cosine:2,0.1"], "cosine"),
        (&["adult", "--scores", "f7"], "f7"),
        (
            &["adult", "--priors", "persistence"],
            "--priors: `persistence` is not a prior\nhint: name priors, or `ce` for",
        ),
    ];
    for (arguments, message) in cases {
        let output = folder.command(&[&["reproduce"], arguments].concat()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    fs::write(folder.0.join("table.csv"), "a,b\n1,2\n").unwrap();
    let output = folder.command(&["reproduce", "adult", "--csv", "table.csv"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && errors.contains("table.csv: is not a results file"), "{errors}");
    assert_eq!(fs::read_to_string(folder.0.join("table.csv")).unwrap(), "a,b\n1,2\n");
}
