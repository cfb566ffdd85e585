//! Tests of `tune` with conditions that end with a confidence, such as `with 95%`, and with conditions that limit the number of alarms.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// A folder with a table of 400 rows, four in each hour. Every fourth row is an event, and events have higher predictions on average.
fn folder_with_predictions(name: &str) -> Folder {
    let folder = Folder::new(name);
    let mut table = "hour,label,probability\n".to_string();
    for row in 0..400 {
        let label = row % 4 == 0;
        let noise = f64::from(row * 7919 % 1000) / 1000.0;
        let probability = 0.5 * noise + if label { 0.35 } else { 0.1 };
        writeln!(table, "{},{},{probability}", row / 4, u8::from(label)).unwrap();
    }
    fs::write(folder.0.join("p.csv"), table).unwrap();
    folder
}

/// The exit code, the standard output and the standard error of `tune p.csv` with these arguments.
fn tune(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    let output = folder.command(&[&["tune", "p.csv", "--replicates", "50"], arguments].concat()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn tune_names_the_test_that_showed_a_condition_with_a_confidence() {
    let folder = folder_with_predictions("guarantee-tune");
    let (code, text, _) = tune(&folder, &["--score", "recall", "--subject-to", "precision >= 0.5 with 95%"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("precision >= 0.5 with 95%") && text.contains("exact binomial test at the level 5 %"),
        "{text}"
    );
    let json = |arguments: &[&str]| -> Value {
        folder.json(&[&["tune", "p.csv", "--replicates", "500", "--score", "recall", "--json"], arguments].concat())
    };
    let (plain, sure) =
        (json(&["--subject-to", "precision >= 0.5"]), json(&["--subject-to", "precision >= 0.5 with 95%"]));
    assert!(plain["guarantee"].is_null() && plain["threshold"].as_f64() < sure["threshold"].as_f64());
    assert_eq!(sure["guarantee"]["conditions"][0]["test"], "exact binomial test");
    assert_eq!(sure["guarantee"]["needed"], Value::Null);
    assert_eq!(sure["subject_to"], serde_json::json!(["precision >= 0.5 with 95%"]));
    let grouped = json(&["--subject-to", "precision >= 0.5 with 95%", "--resample", "group:hour"]);
    assert_eq!(grouped["guarantee"]["conditions"][0]["test"], "binomial test with the effective number of rows");
    let tss = json(&["--subject-to", "tss >= 0.1 and recall >= 0.4 with 90%"]);
    assert_eq!(tss["guarantee"]["conditions"][0]["test"], "bootstrap");
    assert!((tss["guarantee"]["conditions"][1]["level"].as_f64().unwrap() - 0.05).abs() < 1e-12);
    let budget = json(&["--subject-to", "alarms <= 100 per 1000"]);
    let alarms = budget["confusion"]["fp"].as_f64().unwrap() + budget["confusion"]["tp"].as_f64().unwrap();
    assert_eq!(alarms, 40.0);
    let sure = json(&["--subject-to", "alarms <= 100 per 1000 with 95%"]);
    assert!(sure["confusion"]["fp"].as_f64().unwrap() + sure["confusion"]["tp"].as_f64().unwrap() < 35.0);
}

#[test]
fn if_no_threshold_qualifies_the_exit_code_is_1_and_the_message_says_how_many_more_events_are_needed() {
    let folder = folder_with_predictions("guarantee-unmet");
    let arguments = ["--subject-to", "recall >= 0.97 and precision >= 0.4 with 99%"];
    let (code, text, message) = tune(&folder, &arguments);
    assert_eq!((code, text.as_str()), (1, ""), "{message}");
    assert!(
        message.starts_with("no threshold was shown to satisfy `") && message.contains("more events ("),
        "{message}"
    );
    let (code, text, _) = tune(&folder, &[&arguments[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &json["threshold"]), (1, &Value::Null));
    let needed = &json["guarantee"]["needed"];
    assert!(needed["events"].as_f64().unwrap() >= 1.0 && needed["rows"].as_f64() >= needed["events"].as_f64());
    // On these rows, no threshold satisfies the next condition even without a confidence.
    let (code, _, message) = tune(&folder, &["--subject-to", "csi >= 0.99 with 95%"]);
    assert_eq!(code, 1);
    assert!(message.starts_with("no threshold satisfies `csi >= 0.99`; threshold "), "{message}");
    let report = [&arguments[..], &["--report", "page.html"]].concat();
    assert_eq!(tune(&folder, &report).0, 1);
    assert!(fs::read_to_string(folder.0.join("page.html")).unwrap().contains("more events"));
}

#[test]
fn invalid_conditions_and_options_that_contradict_a_confidence_are_refused() {
    let folder = folder_with_predictions("guarantee-mistakes");
    for (arguments, part) in [
        (&["--subject-to", "precision >= 0.3 with 0.95"][..], "`%` is missing"),
        (&["--subject-to", "precision >= 0.3 with 100%"], "from 50 to below 100"),
        (&["--subject-to", "precision >= 0.3 per 1000"], "only a number of rows"),
        (&["--subject-to", "precision >= 0.3 with 95%", "--temporal", "value"], "weighted by their timing"),
        (&["--subject-to", "precision >= 0.3 with 95%", "--smooth"], "leave out `--smooth` or `--subject-to`"),
    ] {
        let (code, text, message) = tune(&folder, arguments);
        assert_eq!((code, text.as_str()), (2, ""), "{message}");
        assert!(message.contains(part), "{message}");
    }
}
