//! Tests of the protection of files: input files are never overwritten, existing files that are not outputs of the same kind are kept, and no
//! partial file remains, however a command ends.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

/// The text of a table with two classes that depend on the column `a`.
fn csv_table(rows: usize) -> String {
    let row = |k: usize| format!("{},{},{}\n", k % 97, (k * 31) % 17, u8::from((k * 7) % 97 > 70));
    std::iter::once("a,b,y\n".to_string()).chain((0..rows).map(row)).collect()
}

/// Arguments of a short training run on `t.csv`.
const SHORT_TRAINING: [&str; 12] =
    ["train", "t.csv", "--target", "y", "--score", "f1", "--epochs", "2", "--replicates", "20", "--hidden", "4"];

/// A folder with two tables, a model, the model's predictions and a saved result.
fn folder_with_model(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("t.csv"), csv_table(300)).unwrap();
    fs::write(folder.0.join("t2.csv"), csv_table(120)).unwrap();
    folder.run(&[&SHORT_TRAINING[..], &["-o", "m.scorewise", "--report", "r.json"]].concat());
    folder.run(&["predict", "m.scorewise", "t.csv", "-o", "p.csv"]);
    folder
}

/// The path and the bytes of every file in the folder and its subfolders.
fn file_contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.0.clone()];
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Asserts that the command fails with exactly this message and changes no file.
#[track_caller]
fn assert_refused(folder: &Folder, arguments: &[&str], message: &str) {
    let before = file_contents(folder);
    let output = folder.command(arguments).output().unwrap();
    assert_error(&output, message, arguments);
    assert!(file_contents(folder) == before, "{arguments:?} changed a file");
}

/// Asserts that a command has failed, and that `message` is all it printed to standard error except for notes.
#[track_caller]
fn assert_error(output: &Output, message: &str, arguments: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors.lines().filter(|line| !line.starts_with("note: ")).collect();
    assert_eq!(lines.join("\n"), message, "{arguments:?}");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
}

#[cfg(unix)]
#[test]
fn no_command_overwrites_its_input() {
    let folder = folder_with_model("files-inputs");
    let m = "m.scorewise";
    let train: &[&str] = &SHORT_TRAINING;
    let scored = |command: &'static str| [command, "p.csv"];
    // Each case consists of an input file and a command that reads it. The loop below appends the name of the output file to the command.
    let cases: Vec<(&str, Vec<&str>)> = vec![
        ("t.csv", [train, &["-o"]].concat()),
        ("t.csv", [train, &["--report"]].concat()),
        ("t2.csv", [train, &["--test", "t2.csv", "-o"]].concat()),
        ("t2.csv", [train, &["--test", "t2.csv", "--report"]].concat()),
        ("t.csv", vec!["predict", m, "t.csv", "-o"]),
        (m, vec!["predict", m, "t.csv", "-o"]),
        (m, vec!["export", m, "--onnx"]),
        ("p.csv", [&scored("score")[..], &["--report"]].concat()),
        ("p.csv", [&scored("tune")[..], &["--report"]].concat()),
        ("p.csv", [&scored("theory")[..], &["--report"]].concat()),
        ("p.csv", vec!["compare", "p.csv", "p.csv", "--report"]),
        ("r.json", vec!["report", "r.json", "-o"]),
    ];
    for (input, command) in cases {
        let (link, hard) = (format!("link-to-{input}"), format!("hard-link-to-{input}"));
        if !folder.0.join(&link).exists() {
            std::os::unix::fs::symlink(folder.0.join(input), folder.0.join(&link)).unwrap();
            fs::hard_link(folder.0.join(input), folder.0.join(&hard)).unwrap();
        }
        for name in [input, &link, &hard, &format!("./{input}")] {
            let message =
                format!("error: {name}: is an input of this command and would be overwritten\nhint: name another file");
            assert_refused(&folder, &[&command[..], &[name]].concat(), &message);
            assert_refused(&folder, &[&command[..], &[name, "--overwrite"]].concat(), &message);
        }
    }
    // The input is also protected if the command reads it through a link or from standard input.
    let message = "error: t.csv: is an input of this command and would be overwritten\nhint: name another file";
    assert_refused(&folder, &["predict", m, "link-to-t.csv", "-o", "t.csv", "--overwrite"], message);
    let before = file_contents(&folder);
    let arguments = ["predict", m, "-", "-o", "t.csv", "--overwrite"];
    let table = fs::File::open(folder.0.join("t.csv")).unwrap();
    assert_error(&folder.command(&arguments).stdin(table).output().unwrap(), message, &arguments);
    assert!(file_contents(&folder) == before);
}

#[test]
fn a_file_of_another_kind_is_replaced_only_with_the_option_overwrite() {
    let folder = folder_with_model("files-kinds");
    let m = "m.scorewise";
    // The start of a PNG file that scorewise did not write.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and so on";
    let cases: Vec<(Vec<&str>, &str)> = vec![
        ([&SHORT_TRAINING[..], &["--report", "none", "-o"]].concat(), "a scorewise model"),
        ([&SHORT_TRAINING[..], &["--report"]].concat(), "a scorewise report"),
        (vec!["predict", m, "t.csv", "-o"], "a table of predictions"),
        (vec!["export", m, "--onnx"], "an ONNX file written by scorewise"),
        (vec!["report", "r.json", "-o"], "a scorewise report"),
        (vec!["score", "p.csv", "--replicates", "20", "--report"], "a scorewise report"),
    ];
    for (command, kind) in &cases {
        // The command must refuse to replace a file of another kind. `own` is left out, because the command writes files of its kind. The folder
        // contains no ONNX file; for `export`, the file `r.json` is left out all the same.
        let own = match *kind {
            "a scorewise model" => "m.scorewise",
            "a table of predictions" => "p.csv",
            _ => "r.json",
        };
        let others = ["m.scorewise", "p.csv", "r.json", "t2.csv"].into_iter();
        let others = others.filter(|other| *other != own && !command.contains(other));
        for name in ["notes", "photo.png"].into_iter().chain(others) {
            fs::write(folder.0.join("notes"), "three weeks of notes\n").unwrap();
            fs::write(folder.0.join("photo.png"), png).unwrap();
            let hint = "name another file, or add `--overwrite` to replace this one";
            let message = format!("error: {name}: already exists and is not {kind}\nhint: {hint}");
            assert_refused(&folder, &[&command[..], &[name]].concat(), &message);
        }
        folder.run(&[&command[..], &["notes", "--overwrite"]].concat());
        assert_ne!(folder.bytes("notes"), b"three weeks of notes\n", "{command:?}");
        // The file `notes` is now an output of the kind that the command writes, so it is replaced without `--overwrite`. An empty file is
        // replaced too.
        folder.run(&[&command[..], &["notes"]].concat());
        fs::write(folder.0.join("notes"), "").unwrap();
        folder.run(&[&command[..], &["notes"]].concat());
    }
    // A JSON file that scorewise did not write is replaced only with `--overwrite`. After that the file is a scorewise result, which is replaced
    // without this option.
    let save_result = |name: &str, more: &[&str]| {
        let mut arguments = vec!["score", "p.csv", "--replicates", "20", "--report", name];
        arguments.extend(more);
        folder.command(&arguments).output().unwrap().status.code()
    };
    fs::write(folder.0.join("own.json"), "{\"a\": 1}").unwrap();
    assert_eq!(
        (save_result("own.json", &[]), save_result("own.json", &["--overwrite"]), save_result("own.json", &[])),
        (Some(2), Some(0), Some(0))
    );
}

#[test]
fn an_image_file_that_scorewise_did_not_write_is_replaced_by_a_figure_only_with_the_option_overwrite() {
    let folder = folder_with_model("files-figures");
    let plots = ["score", "p.csv", "--replicates", "20", "--plots", "figures", "--report", "page.html"];
    folder.run(&plots);
    folder.run(&plots);
    for (name, bytes) in [("roc.png", &b"\x89PNG\r\n\x1a\nmine"[..]), ("roc.svg", b"<svg xmlns=\"mine\"/>")] {
        fs::write(folder.0.join("figures").join(name), bytes).unwrap();
        let message = format!(
            "error: figures/{name}: already exists and is not a scorewise figure\nhint: name another file, or add `--overwrite` to replace this one"
        );
        assert_refused(&folder, &plots, &message);
        folder.run(&[&plots[..], &["--overwrite"]].concat());
        assert_ne!(fs::read(folder.0.join("figures").join(name)).unwrap(), bytes);
    }
}

#[test]
fn two_outputs_of_one_command_cannot_be_the_same_file() {
    let folder = folder_with_model("files-twice");
    let message = |name: &str| {
        format!("error: {name}: is the path of two outputs of this command\nhint: name two different files")
    };
    assert_refused(&folder, &[&SHORT_TRAINING[..], &["-o", "x", "--report", "x"]].concat(), &message("x"));
    assert_refused(
        &folder,
        &[&SHORT_TRAINING[..], &["-o", "x", "--report", "./x", "--overwrite"]].concat(),
        &message("./x"),
    );
    let model = [&SHORT_TRAINING[..], &["-o", "m.scorewise", "--report", "m.scorewise", "--overwrite"]].concat();
    assert_refused(&folder, &model, &message("m.scorewise"));
    let page =
        ["score", "p.csv", "--report", "figures/roc.svg", "--plots", "figures", "--replicates", "20", "--overwrite"];
    fs::create_dir(folder.0.join("figures")).unwrap();
    assert_refused(&folder, &page, &message("figures/roc.svg"));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_can_be_outputs() {
    let folder = folder_with_model("files-devices");
    let file = folder.bytes("p.csv");
    let piped = folder.run(&["predict", "m.scorewise", "t.csv", "-o", "/dev/stdout"]);
    assert!(piped.starts_with(&file));
    folder.run(&["predict", "m.scorewise", "t.csv", "-o", "/dev/null"]);
    folder.run(&["export", "m.scorewise", "--onnx", "/dev/null"]);
    folder.run(&[&SHORT_TRAINING[..], &["-o", "/dev/null", "--report", "/dev/null"]].concat());
    // A device may be both input and output of a command, because writing to it destroys nothing.
    let output = folder
        .command(&[&SHORT_TRAINING[..1], &["/dev/null"], &SHORT_TRAINING[2..], &["-o", "/dev/null"]].concat())
        .output();
    assert!(String::from_utf8_lossy(&output.unwrap().stderr).contains("/dev/null: is empty"));
    // Standard output may be redirected to a new file.
    let new = fs::File::create(folder.0.join("new.csv")).unwrap();
    let mut command = folder.command(&["predict", "m.scorewise", "t.csv", "-o", "/dev/stdout"]);
    assert!(command.stdout(new).stderr(Stdio::null()).status().unwrap().success());
    assert!(folder.bytes("new.csv").starts_with(&file));
}

#[test]
fn reproduce_fails_before_training_if_it_would_replace_a_file_of_another_kind() {
    let folder = Folder::new("files-reproduce");
    fs::create_dir(folder.0.join("out")).unwrap();
    let arguments = ["reproduce", "adult", "--out", "out", "--repeats", "1", "--priors", "uniform"];
    let hint = "name another file, or add `--overwrite` to replace this one";
    for (name, kind) in [
        ("table.md", "a Markdown file with the tables of `scorewise reproduce`"),
        ("figure-1.svg", "a scorewise figure"),
        ("figure-2.png", "a scorewise figure"),
    ] {
        fs::write(folder.0.join("out").join(name), "my own").unwrap();
        let output = folder.command(&arguments).output().unwrap();
        let message = format!("error: out/{name}: already exists and is not {kind}\nhint: {hint}");
        assert_error(&output, &message, &arguments);
        assert_eq!(fs::read(folder.0.join("out").join(name)).unwrap(), b"my own");
        fs::remove_file(folder.0.join("out").join(name)).unwrap();
    }
    let arguments = ["reproduce", "adult", "--out", "out", "--report", "out/trainings.csv", "--overwrite"];
    let output = folder.command(&arguments).output().unwrap();
    let message =
        "error: out/trainings.csv: is the path of two outputs of this command\nhint: name two different files";
    assert_error(&output, message, &arguments);
}

/// The names of the signals that stop a command, each with the exit code of the stopped command.
#[cfg(unix)]
const SIGNALS: [(&str, i32); 2] = [("INT", 130), ("TERM", 143)];

/// The names of the files in the folder, sorted.
#[cfg(unix)]
fn file_names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Starts a command and does not wait until it ends.
#[cfg(unix)]
fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the folder contains a file whose name ends with `suffix`.
#[cfg(unix)]
fn wait_for_file(folder: &Folder, suffix: &str) {
    let start = Instant::now();
    while !file_names(folder).iter().any(|name| name.ends_with(suffix)) {
        assert!(start.elapsed() < Duration::from_secs(60), "no {suffix} in {:?}", file_names(folder));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal, such as `INT`, to a running command.
#[cfg(unix)]
fn send_signal(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap().success());
}

/// Waits for a command to end, asserts its exit code, and returns its standard error.
#[cfg(unix)]
#[track_caller]
fn assert_exit_code(child: Child, code: i32) -> String {
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{errors}");
    errors
}

#[cfg(unix)]
#[test]
fn a_signal_during_training_saves_the_best_model_and_its_report() {
    for (name, code) in SIGNALS {
        let folder = folder_with_model(&format!("files-train-{name}"));
        let before = file_names(&folder);
        let long = ["--epochs", "100000000", "--patience", "100000000", "-o", "new.scorewise", "--report", "new.html"];
        let arguments = [&SHORT_TRAINING[..6], &SHORT_TRAINING[8..], &long].concat();
        let child = spawn(&folder, &arguments);
        wait_for_file(&folder, ".partial");
        std::thread::sleep(Duration::from_secs(2)); // the training is running by now
        send_signal(&child, name);
        let errors = assert_exit_code(child, code);
        let signal_name = if code == 130 { "Ctrl-C" } else { "SIGTERM" };
        assert!(errors.contains(&format!("stopped by {signal_name}; the best model so far is saved")), "{errors}");
        let after: Vec<String> = file_names(&folder).into_iter().filter(|name| !before.contains(name)).collect();
        assert_eq!(after, ["new.html", "new.scorewise"]);
        folder.run(&["predict", "new.scorewise", "t.csv", "-o", "new.csv"]);
        // A second signal ends the process at once and leaves no partial file either.
        let child = spawn(&folder, &arguments);
        wait_for_file(&folder, ".partial");
        std::thread::sleep(Duration::from_millis(500));
        send_signal(&child, name);
        send_signal(&child, name);
        assert_exit_code(child, code);
        assert!(file_names(&folder).iter().all(|name| !name.ends_with(".partial")), "{:?}", file_names(&folder));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_during_predict_score_or_tune_leaves_no_partial_file() {
    for (name, code) in SIGNALS {
        let folder = folder_with_model(&format!("files-others-{name}"));
        let before = file_names(&folder);
        // A thread writes rows to standard input without end, so the command is still running when the signal arrives.
        let mut child = spawn(&folder, &["predict", "m.scorewise", "-", "-o", "new.csv"]);
        let mut input = child.stdin.take().unwrap();
        let feed = std::thread::spawn(move || {
            let _ = input.write_all(b"a,b,y\n");
            while input.write_all("5,3,0\n".repeat(10_000).as_bytes()).is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        wait_for_file(&folder, ".partial");
        send_signal(&child, name);
        assert_exit_code(child, code);
        feed.join().unwrap();
        assert_eq!(file_names(&folder), before);
        let rows: String =
            (0..20_000).map(|k| format!("{},{}\n", k % 2, f64::from(k * 7 % 10_007) / 10_007.0)).collect();
        fs::write(folder.0.join("large.csv"), format!("label,probability\n{rows}")).unwrap();
        for command in ["score", "tune"] {
            let arguments =
                [command, "large.csv", "--replicates", "100000", "--report", "new.html", "--plots", "figures"];
            let child = spawn(&folder, &arguments);
            wait_for_file(&folder, ".partial");
            send_signal(&child, name);
            assert_exit_code(child, code);
            fs::remove_file(folder.0.join("large.csv")).unwrap();
            assert_eq!(file_names(&folder), before, "{command}");
            fs::write(folder.0.join("large.csv"), format!("label,probability\n{rows}")).unwrap();
        }
    }
}

#[cfg(unix)]
#[test]
fn a_signal_during_reproduce_keeps_the_finished_training_runs() {
    let folder = Folder::new("files-reproduce-signal");
    let arguments = ["reproduce", "adult", "--repeats", "50", "--priors", "uniform", "--report", "page.html"];
    let child = spawn(&folder, &arguments);
    wait_for_file(&folder, ".partial");
    std::thread::sleep(Duration::from_secs(1));
    send_signal(&child, "TERM");
    assert_exit_code(child, 143);
    assert_eq!(file_names(&folder), ["reproduce-adult"]);
    let journal = fs::read_to_string(folder.0.join("reproduce-adult/trainings.csv")).unwrap();
    assert!(journal.starts_with("version,experiment,seed,"), "{journal}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    let folder = folder_with_model("files-full");
    let before = file_names(&folder);
    let full = "cannot be written: No space left on device (os error 28)";
    let hint = "free some space, or name a file on another disk";
    for arguments in [
        &[&SHORT_TRAINING[..], &["-o", "/dev/full", "--report", "none"]].concat()[..],
        &["predict", "m.scorewise", "t.csv", "-o", "/dev/full"],
        &["export", "m.scorewise", "--onnx", "/dev/full"],
        &["score", "p.csv", "--replicates", "20", "--report", "/dev/full"],
        &["report", "r.json", "-o", "/dev/full"],
    ] {
        let output = folder.command(arguments).output().unwrap();
        assert_error(&output, &format!("error: /dev/full: {full}\nhint: {hint}"), arguments);
    }
    let arguments = ["predict", "m.scorewise", "t.csv"];
    let device = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = folder.command(&arguments).stdout(device).output().unwrap();
    assert_error(&output, &format!("error: standard output: {full}"), &arguments);
    // A file larger than the limit of `ulimit -f` is an error too, and the process is not killed.
    let line = format!("ulimit -f 4; exec '{}' predict m.scorewise t.csv -o new.csv", env!("CARGO_BIN_EXE_scorewise"));
    let output = Command::new("sh").args(["-c", &line]).current_dir(&folder.0).output().unwrap();
    let message = format!("error: new.csv: cannot be written: File too large (os error 27)\nhint: {hint}");
    assert_error(&output, &message, &[&line]);
    assert_eq!(file_names(&folder), before);
}

#[test]
fn train_predict_and_score_work_on_a_table_with_twenty_thousand_columns() {
    // With an algorithm that is quadratic in the number of columns, this test would take minutes.
    let folder = Folder::new("files-wide");
    let header: String = (0..20_000).map(|column| format!("c{column},")).collect();
    let row = |row: usize| {
        let cells: String = (0..20_000).map(|column| format!("{},", (row * 31 + column * 7) % 101)).collect();
        format!("{cells}{}\n", u8::from(row * 31 % 101 > 60))
    };
    let rows: String = (0..60).map(row).collect();
    fs::write(folder.0.join("t.csv"), format!("{header}y\n{rows}")).unwrap();
    let quick = ["--hidden", "none", "--epochs", "1", "--replicates", "20", "--report", "none"];
    folder.run(&[&["train", "t.csv", "--target", "y", "--score", "f1"], &quick[..]].concat());
    folder.run(&["predict", "model.scorewise", "t.csv", "-o", "p.csv"]);
    assert_eq!(fs::read_to_string(folder.0.join("p.csv")).unwrap().lines().count(), 61);
    folder.run(&["score", "t.csv", "--label", "y", "--probability", "y", "--replicates", "20"]);
    // If the table lacks all columns that the model needs, the message names only some of them.
    fs::write(folder.0.join("other.csv"), format!("{}\n{rows}", format!("{header}y").replace('c', "d"))).unwrap();
    let output = folder.command(&["predict", "model.scorewise", "other.csv"]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("has no columns `c0`, `c1`,") && errors.contains("and 19988 more"), "{errors}");
}

/// Whether a text contains control characters other than line feeds, or characters that change the direction of writing. A terminal does not show
/// such characters but obeys them.
fn has_hidden_characters(bytes: &[u8]) -> bool {
    let text = str::from_utf8(bytes).unwrap();
    let changes_direction = |character: char| matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(|character| character != '\n' && (character.is_control() || changes_direction(character)))
}

#[test]
fn control_characters_in_names_are_escaped_on_the_terminal_in_reports_and_in_figures() {
    let folder = Folder::new("files-control");
    // Terminal escape sequences, DEL, a C1 control character, and a right-to-left override.
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{7f}\u{9b}31m\u{202e}";
    let table = format!("t{evil}.csv");
    let row = |k: usize| {
        let class = ["calm", "storm", "rain"][if k * 7 % 97 > 70 { 1 } else { usize::from(k % 97 > 80) * 2 }];
        format!("{},level{}{evil},{class}{evil}\n", k % 97, k % 3)
    };
    let rows: String = (0..400).map(row).collect();
    fs::write(folder.0.join(&table), format!("x{evil},sort{evil},y{evil}\n{rows}")).unwrap();
    let (target, condition) = (format!("y{evil}"), format!("y{evil} = \"storm{evil}\""));
    let quick = ["--epochs", "2", "--replicates", "20", "--hidden", "4", "--report", "page.html", "--plots", "figures"];
    let run = |arguments: &[&str]| {
        let output = folder.command(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(
            !has_hidden_characters(&output.stdout) && !has_hidden_characters(&output.stderr),
            "{arguments:?}: {}",
            text.escape_debug()
        );
        (output.status.code(), text)
    };
    let model = format!("m{evil}.scorewise");
    let train_three_classes = ["train", &table, "--target", &target, "--score", "macro(f1)", "-o", &model];
    let (code, text) = run(&[&train_three_classes[..], &quick].concat());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\\u001b]0;owned\\u0007"), "{text}");
    let train_two_classes = ["train", &table, "--target", &condition, "--score", "f1", "-o", "two.scorewise", "--json"];
    let (code, text) = run(&[&train_two_classes[..], &quick].concat());
    assert_eq!(code, Some(0), "{text}");
    let trained = &text[text.find("{\n").unwrap()..=text.rfind("\n}").unwrap() + 1];
    assert!(serde_json::from_str::<serde_json::Value>(trained).unwrap()["target"].as_str().unwrap().contains(evil));
    assert!(!has_hidden_characters(&folder.bytes("page.html")));
    for entry in fs::read_dir(folder.0.join("figures")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "svg") {
            assert!(!has_hidden_characters(&fs::read(&path).unwrap()), "{}", path.display());
        }
    }
    // A file of predictions contains data, so names of columns and classes are not escaped in it. In messages they are escaped.
    let predictions = format!("p{evil}.csv");
    assert_eq!(run(&["predict", &model, &table, "-o", &predictions]).0, Some(0));
    // Names are also escaped in errors about files, columns, cells and arguments.
    let nowhere = format!("{evil}.csv");
    fs::write(folder.0.join("other.csv"), format!("x{evil},sort{evil}\n{evil},new\n")).unwrap();
    let failing_commands: [&[&str]; 7] = [
        &["train", &nowhere, "--target", "y"],
        &["train", &table, "--target", &nowhere],
        &["predict", &nowhere, &table],
        &["predict", &model, "other.csv", "-o", "new.csv"],
        &["score", &predictions, "--label", &nowhere],
        &["score", &table, "--label", &target, "--probability", &target],
        &["score", &nowhere, &nowhere, &nowhere],
    ];
    for command in failing_commands {
        assert_eq!(run(command).0, Some(2), "{command:?}");
    }
}
