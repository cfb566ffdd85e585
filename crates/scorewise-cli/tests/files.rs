//! Files of users: what a command reads is never written over, what is not an older output of the same kind is kept.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod folder;

use std::fs;
use std::process::{Output, Stdio};

use folder::Folder;

/// Two classes that a number tells apart.
fn table(rows: usize) -> String {
    let row = |k: usize| format!("{},{},{}\n", k % 97, (k * 31) % 17, u8::from((k * 7) % 97 > 70));
    std::iter::once("a,b,y\n".to_string()).chain((0..rows).map(row)).collect()
}

const TRAIN: [&str; 12] =
    ["train", "t.csv", "--target", "y", "--score", "f1", "--epochs", "2", "--replicates", "20", "--hidden", "4"];

/// A folder with two tables, a model, its predictions and a result.
fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.0.join("t.csv"), table(300)).unwrap();
    fs::write(folder.0.join("t2.csv"), table(120)).unwrap();
    folder.run(&[&TRAIN[..], &["-o", "m.scorewise", "--report", "r.json"]].concat());
    folder.run(&["predict", "m.scorewise", "t.csv", "-o", "p.csv"]);
    folder
}

/// Every file with its bytes, those of folders within too.
fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.0.clone()];
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], message: &str) {
    let before = contents(folder);
    let output = folder.command(arguments).output().unwrap();
    is_refusal(&output, message, arguments);
    assert!(contents(folder) == before, "{arguments:?} changed a file");
}

#[track_caller]
fn is_refusal(output: &Output, message: &str, arguments: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = errors.lines().filter(|line| !line.starts_with("note: ")).collect();
    assert_eq!(said.join("\n"), message, "{arguments:?}");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
}

#[cfg(unix)]
#[test]
fn no_command_writes_over_a_file_that_it_reads() {
    let folder = prepared("files-inputs");
    let m = "m.scorewise";
    let train: &[&str] = &TRAIN;
    let scored = |command: &'static str| [command, "p.csv"];
    // What is read, and the command up to the name of its output.
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
    for (read, command) in cases {
        let (link, hard) = (format!("link-to-{read}"), format!("hard-link-to-{read}"));
        if !folder.0.join(&link).exists() {
            std::os::unix::fs::symlink(folder.0.join(read), folder.0.join(&link)).unwrap();
            fs::hard_link(folder.0.join(read), folder.0.join(&hard)).unwrap();
        }
        for name in [read, &link, &hard, &format!("./{read}")] {
            let message =
                format!("error: {name}: is read by this command, and would be written over\nhint: name another file");
            refused(&folder, &[&command[..], &[name]].concat(), &message);
            refused(&folder, &[&command[..], &[name, "--overwrite"]].concat(), &message);
        }
    }
    // The table may also be the link, and come through standard input.
    let message = "error: t.csv: is read by this command, and would be written over\nhint: name another file";
    refused(&folder, &["predict", m, "link-to-t.csv", "-o", "t.csv", "--overwrite"], message);
    let before = contents(&folder);
    let arguments = ["predict", m, "-", "-o", "t.csv", "--overwrite"];
    let table = fs::File::open(folder.0.join("t.csv")).unwrap();
    is_refusal(&folder.command(&arguments).stdin(table).output().unwrap(), message, &arguments);
    assert!(contents(&folder) == before);
}

#[test]
fn a_file_of_another_kind_is_kept_unless_told_otherwise() {
    let folder = prepared("files-kinds");
    let m = "m.scorewise";
    // A picture that is not ours.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and so on";
    let cases: Vec<(Vec<&str>, &str)> = vec![
        ([&TRAIN[..], &["--report", "none", "-o"]].concat(), "a model of scorewise"),
        ([&TRAIN[..], &["--report"]].concat(), "a report of scorewise"),
        (vec!["predict", m, "t.csv", "-o"], "a table of predictions"),
        (vec!["export", m, "--onnx"], "an ONNX file of scorewise"),
        (vec!["report", "r.json", "-o"], "a report of scorewise"),
        (vec!["score", "p.csv", "--replicates", "20", "--report"], "a report of scorewise"),
    ];
    for (command, kind) in &cases {
        // Files of other kinds, of which the command reads none.
        let own = match *kind {
            "a model of scorewise" => "m.scorewise",
            "a table of predictions" => "p.csv",
            _ => "r.json",
        };
        let others = ["m.scorewise", "p.csv", "r.json", "t2.csv"].into_iter();
        let others = others.filter(|other| *other != own && !command.contains(other));
        for name in ["notes.txt", "photo.png"].into_iter().chain(others) {
            fs::write(folder.0.join("notes.txt"), "three weeks of notes\n").unwrap();
            fs::write(folder.0.join("photo.png"), png).unwrap();
            let hint = "name another file, or add `--overwrite` to replace this one";
            let message = format!("error: {name}: is there already and is not {kind}\nhint: {hint}");
            refused(&folder, &[&command[..], &[name]].concat(), &message);
        }
        folder.run(&[&command[..], &["notes.txt", "--overwrite"]].concat());
        assert_ne!(folder.bytes("notes.txt"), b"three weeks of notes\n", "{command:?}");
        // It is of that kind now, and an older output of the kind is replaced without a word.
        folder.run(&[&command[..], &["notes.txt"]].concat());
        fs::write(folder.0.join("notes.txt"), "").unwrap();
        folder.run(&[&command[..], &["notes.txt"]].concat());
    }
    // The data of a report and a page of it are two kinds.
    let json = |name: &str, more: &[&str]| {
        let mut arguments = vec!["score", "p.csv", "--replicates", "20", "--report", name];
        arguments.extend(more);
        folder.command(&arguments).output().unwrap().status.code()
    };
    fs::write(folder.0.join("own.json"), "{\"a\": 1}").unwrap();
    assert_eq!(
        (json("own.json", &[]), json("own.json", &["--overwrite"]), json("own.json", &[])),
        (Some(2), Some(0), Some(0))
    );
}

#[test]
fn figures_take_no_other_pictures_place_and_none_is_drawn_then() {
    let folder = prepared("files-figures");
    let plots = ["score", "p.csv", "--replicates", "20", "--plots", "figures", "--report", "page.html"];
    folder.run(&plots);
    folder.run(&plots);
    for (name, bytes) in [("roc.png", &b"\x89PNG\r\n\x1a\nmine"[..]), ("roc.svg", b"<svg xmlns=\"mine\"/>")] {
        fs::write(folder.0.join("figures").join(name), bytes).unwrap();
        let message = format!(
            "error: figures/{name}: is there already and is not a figure of scorewise\nhint: name another file, or add `--overwrite` to replace this one"
        );
        refused(&folder, &plots, &message);
        folder.run(&[&plots[..], &["--overwrite"]].concat());
        assert_ne!(fs::read(folder.0.join("figures").join(name)).unwrap(), bytes);
    }
}

#[test]
fn two_outputs_of_one_command_are_two_files() {
    let folder = prepared("files-twice");
    let message =
        |name: &str| format!("error: {name}: is the place of two outputs of this command\nhint: name two files");
    refused(&folder, &[&TRAIN[..], &["-o", "x", "--report", "x"]].concat(), &message("x"));
    refused(&folder, &[&TRAIN[..], &["-o", "x", "--report", "./x", "--overwrite"]].concat(), &message("./x"));
    let model = [&TRAIN[..], &["-o", "m.scorewise", "--report", "m.scorewise", "--overwrite"]].concat();
    refused(&folder, &model, &message("m.scorewise"));
    let page = ["score", "p.csv", "--report", "figures/roc.svg", "--plots", "figures", "--replicates", "20"];
    fs::create_dir(folder.0.join("figures")).unwrap();
    refused(&folder, &page, &message("figures/roc.svg"));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_stay_writable() {
    let folder = prepared("files-devices");
    let file = folder.bytes("p.csv");
    let piped = folder.run(&["predict", "m.scorewise", "t.csv", "-o", "/dev/stdout"]);
    assert!(piped.starts_with(&file));
    folder.run(&["predict", "m.scorewise", "t.csv", "-o", "/dev/null"]);
    folder.run(&["export", "m.scorewise", "--onnx", "/dev/null"]);
    folder.run(&[&TRAIN[..], &["-o", "/dev/null", "--report", "/dev/null"]].concat());
    // An input and an output that are one device are no file that could be lost.
    let output = folder.command(&[&TRAIN[..1], &["/dev/null"], &TRAIN[2..], &["-o", "/dev/null"]].concat()).output();
    assert!(String::from_utf8_lossy(&output.unwrap().stderr).contains("/dev/null: is empty"));
    // Standard output that the shell has sent to a new file.
    let new = fs::File::create(folder.0.join("new.csv")).unwrap();
    let mut command = folder.command(&["predict", "m.scorewise", "t.csv", "-o", "/dev/stdout"]);
    assert!(command.stdout(new).stderr(Stdio::null()).status().unwrap().success());
    assert!(folder.bytes("new.csv").starts_with(&file));
}

#[test]
fn reproduce_keeps_files_that_are_not_its_own_and_says_so_before_the_work() {
    let folder = Folder::new("files-reproduce");
    fs::create_dir(folder.0.join("out")).unwrap();
    let arguments = ["reproduce", "adult", "--out", "out", "--repeats", "1", "--priors", "uniform"];
    let hint = "name another file, or add `--overwrite` to replace this one";
    for (name, kind) in [
        ("table.md", "a file of tables of `scorewise reproduce`"),
        ("figure-1.svg", "a figure of scorewise"),
        ("figure-2.png", "a figure of scorewise"),
    ] {
        fs::write(folder.0.join("out").join(name), "my own").unwrap();
        let output = folder.command(&arguments).output().unwrap();
        let message = format!("error: out/{name}: is there already and is not {kind}\nhint: {hint}");
        is_refusal(&output, &message, &arguments);
        assert_eq!(fs::read(folder.0.join("out").join(name)).unwrap(), b"my own");
        fs::remove_file(folder.0.join("out").join(name)).unwrap();
    }
    let arguments = ["reproduce", "adult", "--out", "out", "--report", "out/trainings.csv", "--overwrite"];
    let output = folder.command(&arguments).output().unwrap();
    let message = "error: out/trainings.csv: is the place of two outputs of this command\nhint: name two files";
    is_refusal(&output, message, &arguments);
}
