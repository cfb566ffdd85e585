//! Tests of `train`: its results, its options, an interrupted training run, and the export and the predictions of the trained model.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

#[test]
fn the_first_command_of_the_readme_reaches_an_f1_of_0_69() {
    let folder = Folder::new("train-adult");
    let trained = folder.json(&["train", "adult", "--json"]);
    let f1 = trained["test"]["scores"]["f1"]["value"].as_f64().unwrap();
    assert!(f1 >= 0.69, "F1 {f1}");
    assert_eq!(trained["test"]["rows"], 16281);
    assert_eq!(trained["success"], true);
    let names = ["model", "seed", "epochs", "seconds", "score", "prior", "threshold", "train", "validation"];
    assert!(names.iter().all(|name| !trained[name].is_null()), "{trained}");

    // The model file contains the threshold, so its predictions have exactly the scores that `train` printed.
    folder.run(&["predict", "model.scorewise", "adult-test", "-o", "predictions.csv"]);
    let threshold = trained["threshold"].to_string();
    let scored = folder.json(&["score", "predictions.csv", "--threshold", &threshold, "--json"]);
    assert_eq!(scored["confusion"], trained["test"]["confusion"]);
    assert_eq!(scored["scores"]["tss"]["value"], trained["test"]["scores"]["tss"]["value"]);
    let written = String::from_utf8(folder.bytes("predictions.csv")).unwrap();
    let above = written.lines().skip(1).filter(|line| line.split(',').nth(1) == Some("1")).count();
    let confusion = &trained["test"]["confusion"];
    assert_eq!(above as f64, confusion["tp"].as_f64().unwrap() + confusion["fp"].as_f64().unwrap());

    let exported = folder.json(&["export", "model.scorewise", "--onnx", "model.onnx", "--json"]);
    assert_eq!((&exported["threshold"], &exported["features"]), (&trained["threshold"], &trained["features"]));
    assert!(folder.bytes("model.onnx").len() > 10_000);
}

#[test]
fn model_files_are_identical_for_any_number_of_threads() {
    let folder = Folder::new("train-threads");
    let quick = ["--epochs", "4", "--replicates", "50"];
    let sets: [&[&str]; 3] = [
        &["adult", "--ensemble", "3"],
        &["pollution", "--batch", "full", "--lags", "1"],
        &["pollution", "--target", "cbwd", "--score", "macro(f1)", "--drop", "No"],
    ];
    for (number, arguments) in sets.iter().enumerate() {
        for threads in ["1", "2", "3"] {
            let output = format!("{number}-{threads}");
            let ends = ["--threads", threads, "-o", &output];
            folder.run(&[&["train"], *arguments, &quick, &ends].concat());
        }
        let one = folder.bytes(&format!("{number}-1"));
        assert!(one == folder.bytes(&format!("{number}-2")) && one == folder.bytes(&format!("{number}-3")), "{number}");
    }
}

#[test]
fn cross_validation_tests_every_row_once_in_each_repeat_and_trains_the_final_model_on_all_rows() {
    let folder = Folder::new("train-folds");
    let arguments =
        ["--folds", "3", "--repeats", "2", "--epochs", "3", "--ensemble", "1", "--replicates", "20", "--json"];
    let trained = folder.json(&[&["train", "adult", "--target", "income", "--score", "f1"][..], &arguments].concat());
    let each = trained["folds"]["each"].as_array().unwrap();
    assert_eq!(each.len(), 6);
    let rows = |repeat: u64| -> u64 {
        let folds = each.iter().filter(|fold| fold["repeat"] == repeat);
        folds.map(|fold| fold["test"]["rows"].as_u64().unwrap()).sum()
    };
    assert_eq!((rows(1), rows(2)), (32561, 32561));
    let scores: Vec<f64> = each.iter().map(|fold| fold["test"]["scores"]["f1"]["value"].as_f64().unwrap()).collect();
    let mean = scores.iter().sum::<f64>() / 6.0;
    assert!((trained["folds"]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(trained["test"].is_null());
    assert_eq!([&trained["train"]["rows"], &trained["validation"]["rows"]], [32561, 32561]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_saves_the_best_model_so_far() {
    let folder = Folder::new("train-interrupt");
    let arguments = ["train", "adult", "--epochs", "100000", "--patience", "100000", "--ensemble", "1"];
    let child = folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let started = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{errors}");
    assert!(errors.contains("stopped by Ctrl-C; the best model so far is saved"), "{errors}");
    assert!(started.elapsed() < Duration::from_secs(20), "the training must stop after the current epoch");
    folder.run(&["predict", "model.scorewise", "adult-test", "-o", "predictions.csv"]);
}

#[test]
fn predictions_can_be_piped_and_can_contain_columns_of_the_table() {
    let folder = Folder::new("train-pipes");
    folder.run(&["train", "pollution", "--epochs", "3", "--replicates", "20"]);
    let table = "No,pm2.5,DEWP,TEMP,PRES,cbwd,Iws,Is,Ir\n7,500,-10,3,1020,NE,1.5,0,0\n8,NA,-11,2,1021,XX,2.5,0,0\n";
    let mut child = folder
        .command(&["predict", "model.scorewise", "-", "--with", "No,cbwd"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), table.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (3, "probability,decision,truth,threshold,score,negative,positive,raw,raw_threshold,No,cbwd"),
        "{errors}"
    );
    assert!(lines[1].ends_with(",7,NE") && lines[2].ends_with(",8,XX"), "{text}");
    assert!(errors.contains("column `cbwd`: 1 row has a value not seen in training"), "{errors}");
}

#[test]
fn options_override_the_settings_of_a_recipe() {
    let folder = Folder::new("train-recipe");
    let short = ["train", "pollution", "--epochs", "2", "--json", "--replicates", "20"];
    let run = |more: &[&str]| folder.json(&[&short[..], more].concat());
    // The default recipe of the built-in table `pollution` is `strong`: six networks, and the centre of the prior as the threshold.
    let strong = run(&[]);
    assert_eq!((strong["decision"]["threshold"].as_f64(), strong["members"].as_array().unwrap().len()), (Some(0.5), 6));
    assert_eq!(strong["decision"]["words"], "the centre of the prior");
    let other = run(&["--recipe", "strong", "--prior", "cosine:0.3,0.1", "--ensemble", "2"]);
    assert!(
        (other["decision"]["threshold"].as_f64().unwrap() - 0.3).abs() < 1e-12
            && other["members"].as_array().unwrap().len() == 2
    );
    // After a warm start, the threshold is the centre of the prior, 0.5. The first three options train without a warm start, so the threshold is
    // tuned. The last option asks for a tuned threshold.
    for more in [&["--recipe", "plain"][..], &["--warm-start=false"], &["--loss", "ce"], &["--threshold", "tuned"]] {
        assert_ne!(run(more)["decision"]["threshold"].as_f64(), Some(0.5), "{more:?}");
    }
}
