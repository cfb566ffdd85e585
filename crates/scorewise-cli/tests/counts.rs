//! Tests of `score --counts` and `compare --counts`: tables whose rows are confusion matrices.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::folder::Folder;

/// Finley's tornado forecasts of 1884 (28 hits, 72 false alarms, 23 misses, 2680 correct negatives), divided into two rows.
const FINLEY: &str = "half,hits,misses,false alarms,correct_negatives\nfirst,15,10,40,1300\nsecond,13,13,32,1380\n";

/// A pseudorandom number from 0 to below 1.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as f64) / (1u64 << 31) as f64
}

/// Random forecasts of two systems for some days at two stations: a table with one row for each pair of forecasts, and for each system a table with
/// one confusion matrix for each day and station, at the threshold 0.5. The quality of the forecasts differs between days.
fn forecasts_and_counts(seed: u64, days: usize) -> (String, [String; 2]) {
    let mut state = seed;
    let mut forecasts = String::from("day,station,label,p,q\n");
    let mut counts = [String::from("day,station,tn,fp,fn,tp\n"), String::from("day,station,tn,fp,fn,tp\n")];
    for day in 0..days {
        for station in ["a", "b"] {
            let (rate, skill) = (0.1 + 0.3 * random(&mut state), 0.2 + 0.6 * random(&mut state));
            let mut cells = [[0; 4]; 2];
            for _ in 0..25 {
                let label = random(&mut state) < rate;
                let shared = random(&mut state);
                let mut forecast = |skill: f64| {
                    let p = 0.5 * shared + 0.3 * random(&mut state);
                    if label { (p + skill * 0.7).min(1.0) } else { p }
                };
                let both = [forecast(skill), forecast(0.8 * skill)];
                for (cells, p) in cells.iter_mut().zip(both) {
                    // The probability is rounded as in the file, so that the command finds the same alarms.
                    let is_alarm = format!("{p:.4}").parse::<f64>().unwrap() > 0.5;
                    cells[2 * usize::from(label) + usize::from(is_alarm)] += 1;
                }
                writeln!(forecasts, "{day}{station},{station},{},{:.4},{:.4}", u8::from(label), both[0], both[1])
                    .unwrap();
            }
            for (counts, [tn, fp, fn_, tp]) in counts.iter_mut().zip(cells) {
                writeln!(counts, "2024-{:02}-{:02},{station},{tn},{fp},{fn_},{tp}", day / 28 + 1, day % 28 + 1)
                    .unwrap();
            }
        }
    }
    (forecasts, counts)
}

/// The value of a score and the two ends of its interval.
fn estimate(result: &Value, score: &str) -> [f64; 3] {
    ["value", "low", "high"].map(|key| result["scores"][score][key].as_f64().unwrap())
}

/// Asserts that all scores of two results are equal up to rounding.
#[track_caller]
fn assert_same_scores(found: &Value, expected: &Value) {
    let expected = expected["scores"].as_object().unwrap();
    assert_eq!(found["scores"].as_object().unwrap().len(), expected.len());
    for (name, score) in expected {
        for key in ["value", "low", "high"] {
            match (found["scores"][name][key].as_f64(), score[key].as_f64()) {
                (Some(found), Some(expected)) => {
                    assert!(
                        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                        "{name} {key}: {found}, expected {expected}"
                    );
                }
                (found, expected) => assert_eq!(found, expected, "{name} {key}"),
            }
        }
    }
}

#[test]
fn finleys_tornado_table_divided_into_two_rows_has_the_scores_of_the_whole_table() {
    let folder = Folder::new("counts-finley");
    fs::write(folder.0.join("finley.csv"), FINLEY).unwrap();
    let result = folder.json(&["score", "finley.csv", "--counts", "--json"]);
    assert_eq!(result["confusion"], serde_json::json!({"tn": 2680, "fp": 72, "fn": 23, "tp": 28}));
    assert_eq!((&result["rows"], &result["forecasts"], &result["positives"]), (&2.into(), &2803.into(), &51.into()));
    assert!(result.get("threshold").is_none() && result.get("groups").is_none());
    // Wilks, Statistical Methods in the Atmospheric Sciences, section 8.2.2, prints these values with three digits: 0.966, 0.228, 1.96, 0.720,
    // 0.549, 0.0262, 0.523, 0.355, 0.216.
    let expected_hits = (28.0 + 23.0) * (28.0 + 72.0) / 2803.0;
    for (score, expected) in [
        ("accuracy", (28.0 + 2680.0) / 2803.0),
        ("csi", 28.0 / (28.0 + 72.0 + 23.0)),
        ("frequency_bias", (28.0 + 72.0) / (28.0 + 23.0)),
        ("far", 72.0 / (28.0 + 72.0)),
        ("recall", 28.0 / (28.0 + 23.0)),
        ("pofd", 72.0 / (72.0 + 2680.0)),
        ("tss", 28.0 / 51.0 - 72.0 / 2752.0),
        (
            "hss",
            2.0 * (28.0 * 2680.0 - 72.0 * 23.0) / ((28.0 + 23.0) * (23.0 + 2680.0) + (28.0 + 72.0) * (72.0 + 2680.0)),
        ),
        ("ets", (28.0 - expected_hits) / (28.0 + 72.0 + 23.0 - expected_hits)),
    ] {
        let [value, low, high] = estimate(&result, score);
        assert!((value - expected).abs() < 1e-14, "{score}: {value}, expected {expected}");
        assert!(low < value && value < high, "{score}: {low} to {high}");
    }
    let text = String::from_utf8(folder.run(&["score", "finley.csv", "--counts"])).unwrap();
    assert!(text.contains("forecasts  2803") && text.contains("by resampling rows of the table"), "{text}");
}

#[test]
fn columns_of_counts_are_recognised_by_common_names_or_named_with_the_option_cells() {
    let folder = Folder::new("counts-names");
    let rows = "15,10,40,1300\n13,13,32,1380\n";
    for (file, head) in [
        ("short.csv", "tp,fn,fp,tn"),
        ("long.csv", "Hits,Misses,False_Alarms,Correct Negatives"),
        ("met.csv", "FY_OY,FN_OY,FY_ON,FN_ON"),
        ("own.csv", "w,x,y,z"),
    ] {
        fs::write(folder.0.join(file), format!("{head}\n{rows}")).unwrap();
    }
    fs::write(folder.0.join("tabs.tsv"), format!("tp\tfn\tfp\ttn\n{}", rows.replace(',', "\t"))).unwrap();
    let expected = folder.run(&["score", "short.csv", "--counts", "--json"]);
    for file in ["long.csv", "met.csv", "tabs.tsv"] {
        assert_eq!(folder.run(&["score", file, "--counts", "--json"]), expected, "{file}");
    }
    assert_eq!(folder.run(&["score", "own.csv", "--counts", "--cells", "z,y,x,w", "--json"]), expected);
}

#[test]
fn resampling_rows_of_counts_gives_the_same_intervals_as_resampling_groups_of_forecasts() {
    let folder = Folder::new("counts-groups");
    let (forecasts, [counts, _]) = forecasts_and_counts(1, 30);
    fs::write(folder.0.join("p.csv"), forecasts).unwrap();
    fs::write(folder.0.join("c.csv"), counts).unwrap();
    // In the table of forecasts, the column `day` names the day and the station, such as `3a`. Each row of the table of counts sums the forecasts of
    // one day and station, so it is one group of forecasts.
    let forecasts = folder.json(&["score", "p.csv", "--probability", "p", "--resample", "group:day", "--json"]);
    assert_same_scores(&folder.json(&["score", "c.csv", "--counts", "--json"]), &forecasts);
    let by_station = ["--resample", "group:station", "--json"];
    let forecasts = folder.json(&[&["score", "p.csv", "--probability", "p"][..], &by_station].concat());
    assert_same_scores(&folder.json(&[&["score", "c.csv", "--counts"][..], &by_station].concat()), &forecasts);
}

#[test]
fn each_group_gets_the_scores_of_the_sum_of_its_rows() {
    let folder = Folder::new("counts-by");
    let (_, [counts, _]) = forecasts_and_counts(2, 20);
    let of_station = |station: &str| {
        let is_kept = |line: &&str| line.starts_with("day") || line.contains(&format!(",{station},"));
        counts.lines().filter(is_kept).fold(String::new(), |text, line| text + line + "\n")
    };
    fs::write(folder.0.join("b.csv"), of_station("b")).unwrap();
    fs::write(folder.0.join("c.csv"), &counts).unwrap();
    let result = folder.json(&["score", "c.csv", "--counts", "--by", "station", "--json"]);
    assert_same_scores(&result, &folder.json(&["score", "c.csv", "--counts", "--json"]));
    assert_eq!(result["by"], "station");
    let groups = result["groups"].as_array().unwrap();
    let names: Vec<&Value> = groups.iter().map(|group| &group["group"]).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!((&groups[1]["rows"], &groups[1]["forecasts"]), (&20.into(), &500.into()));
    assert_same_scores(&groups[1], &folder.json(&["score", "b.csv", "--counts", "--json"]));
    let text = folder.run(&["score", "c.csv", "--counts", "--by", "station", "--score", "csi"]);
    let text = String::from_utf8(text).unwrap();
    let starts: Vec<&str> = text.lines().map(|line| line.split_whitespace().next().unwrap_or("")).collect();
    assert_eq!(starts[..4], ["STATION", "(all)", "a", "b"], "{text}");
    let blocks = String::from_utf8(folder.run(&["score", "c.csv", "--counts", "--by", "station"])).unwrap();
    assert!(blocks.contains("all rows\n") && blocks.contains("\nstation = b\n"), "{blocks}");
}

#[test]
fn rows_of_the_same_time_are_in_the_same_block_of_the_bootstrap() {
    let folder = Folder::new("counts-time");
    let (_, [counts, _]) = forecasts_and_counts(3, 40);
    // `days.csv` has the summed counts of both stations for each day; `c.csv` has one row for each station and day, in reverse order.
    let cells = |line: &str| line.split(',').skip(2).map(|cell| cell.parse::<u32>().unwrap()).collect::<Vec<_>>();
    let lines: Vec<&str> = counts.lines().skip(1).collect();
    let mut days = String::from("tn,fp,fn,tp\n");
    for pair in lines.chunks(2) {
        let sums: Vec<String> = cells(pair[0]).iter().zip(cells(pair[1])).map(|(a, b)| (a + b).to_string()).collect();
        writeln!(days, "{}", sums.join(",")).unwrap();
    }
    let reversed: Vec<&str> = lines.iter().rev().copied().collect();
    fs::write(folder.0.join("days.csv"), days).unwrap();
    fs::write(folder.0.join("c.csv"), format!("day,station,tn,fp,fn,tp\n{}\n", reversed.join("\n"))).unwrap();
    for resample in ["blocks", "blocks:3"] {
        let of_days = folder.json(&["score", "days.csv", "--counts", "--resample", resample, "--json"]);
        let result = folder.json(&["score", "c.csv", "--counts", "--time", "day", "--resample", resample, "--json"]);
        assert_same_scores(&result, &of_days);
        assert!(result["resampled"].as_str().unwrap().contains("time steps") || resample == "blocks", "{result}");
    }
}

#[test]
fn compare_pairs_the_rows_of_two_tables_of_counts() {
    let folder = Folder::new("counts-compare");
    let (forecasts, [first, second]) = forecasts_and_counts(4, 60);
    fs::write(folder.0.join("p.csv"), forecasts).unwrap();
    fs::write(folder.0.join("a.csv"), &first).unwrap();
    fs::write(folder.0.join("b.csv"), &second).unwrap();
    let lines: Vec<&str> = second.lines().collect();
    let shuffled: Vec<&str> = lines[1..].iter().rev().copied().collect();
    fs::write(folder.0.join("shuffled.csv"), format!("{}\n{}\n", lines[0], shuffled.join("\n"))).unwrap();
    let compare = |arguments: &[&str]| folder.json(&[&["compare"], arguments, &["--score", "csi", "--json"]].concat());
    let result = compare(&["a.csv", "b.csv", "--counts"]);
    let mut paired = compare(&["a.csv", "shuffled.csv", "--counts", "--on", "day,station"]);
    paired["second"]["name"] = result["second"]["name"].clone();
    assert_eq!(paired, result);
    let keys: Vec<&String> = result.as_object().unwrap().keys().collect();
    let expected = compare(&["p.csv", "--probability", "p,q", "--resample", "group:day"]);
    // A table of counts has no probabilities, so only the result for forecasts has the key `probabilities`.
    let expected_keys = expected.as_object().unwrap().keys().filter(|key| *key != "probabilities");
    assert_eq!(keys, expected_keys.collect::<Vec<_>>());
    assert_eq!((&result["better"], &result["first"]["threshold"]), (&"a.csv".into(), &Value::Null));
    // Comparing the single forecasts instead of their counts gives the same difference, with nearly the same interval.
    let number = |result: &Value, key: &str| result["difference"][key].as_f64().unwrap();
    assert!((number(&result, "value") - number(&expected, "value")).abs() < 1e-12);
    let width = number(&expected, "high") - number(&expected, "low");
    for end in ["low", "high"] {
        let (found, expected) = (number(&result, end), number(&expected, end));
        assert!((found - expected).abs() < 0.15 * width, "{end}: {found}, expected {expected}, width {width}");
    }
    let equal = compare(&["a.csv", "a.csv", "--counts"]);
    assert_eq!(["value", "low", "high"].map(|key| number(&equal, key)), [0.0; 3]);
    let text = folder.run(&["compare", "a.csv", "b.csv", "--counts", "--report", "r.html", "--plots", "figures"]);
    assert!(!String::from_utf8(text).unwrap().contains("THRESHOLD"));
    assert!(folder.0.join("figures/difference.svg").exists());
}

#[test]
fn a_report_shows_the_score_over_time_and_the_scores_of_groups() {
    let folder = Folder::new("counts-report");
    let (_, [counts, _]) = forecasts_and_counts(5, 15);
    fs::write(folder.0.join("c.csv"), counts).unwrap();
    let asked = ["--counts", "--by", "station", "--time", "day", "--score", "csi", "--replicates", "200"];
    let outputs = ["--report", "r.json", "--plots", "figures", "--json"];
    let result = folder.json(&[&["score", "c.csv"], &asked[..], &outputs].concat());
    let svg = String::from_utf8(folder.bytes("figures/series.svg")).unwrap();
    for text in ["csi over time", "times of day, from 2024-01-01 to 2024-01-15", "score up to each time"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(folder.bytes("figures/series.png").starts_with(b"\x89PNG"));
    // A point of the series is the score of all rows up to its time. So the last point is the score of all rows, with the same interval.
    let document: Value = serde_json::from_slice(&folder.bytes("r.json")).unwrap();
    let last = document["series"]["points"].as_array().unwrap().last().unwrap();
    assert_eq!(["value", "low", "high"].map(|key| last[key].as_f64().unwrap()), estimate(&result, "csi"));
    assert_eq!((document["series"]["steps"].as_array().unwrap().len(), &last["step"]), (15, &15.into()));
    folder.run(&["report", "r.json", "-o", "r.html"]);
    let page = String::from_utf8(folder.bytes("r.html")).unwrap();
    for text in ["Scores of the summed counts", "Scores with 95 % intervals, station b", "The score over time"] {
        assert!(page.contains(text), "{text}");
    }
}

/// Asserts that the command fails with exit code 2, prints this message to standard error, and prints nothing to standard output.
#[track_caller]
fn refuses(folder: &Folder, arguments: &[&str], message: &str) {
    let output = folder.command(arguments).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains(message), "{errors}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{errors}");
}

#[test]
fn invalid_counts_are_refused_with_a_message_that_names_the_file_the_line_and_the_column() {
    let folder = Folder::new("counts-bad");
    let write = |name: &str, text: &str| fs::write(folder.0.join(name), text).unwrap();
    let score = |file: &'static str, message: &str| refuses(&folder, &["score", file, "--counts"], message);
    write("negative.csv", "tn,fp,fn,tp\n9,1,1,1\n9,-2,1,1\n");
    score("negative.csv", "negative.csv:3, column `fp`: `-2` is not a count\nhint: counts must be numbers, 0 or above");
    write("missing.csv", "tn,fp,misses,tp\n9,1,,1\n");
    score("missing.csv", "missing.csv:2, column `misses`: the count is missing\nhint: write 0 if nothing was counted");
    write("text.csv", "tn,fp,fn,tp\n9,1,1,1\n9,1,many,1\n");
    score("text.csv", "text.csv:3, column `fn`: `many` is not a number");
    write("without.csv", "tn,fp,hits\n9,1,1\n");
    score(
        "without.csv",
        "without.csv: has no column of counts for fn (misses)\nhint: the recognised names are `fn`, `misses`, `false_negatives`, `FN_OY`",
    );
    write("twice.csv", "tn,fp,fa,fn,tp\n9,1,1,1,1\n");
    score("twice.csv", "several columns could be fp (false alarms): `fp`, `fa`");
    write("empty.csv", "tn,fp,fn,tp\n");
    score("empty.csv", "empty.csv: has a header but no rows\nhint: a table needs at least one row");
    write("good.csv", "day,tn,fp,fn,tp\nx,9,1,1,1\ny,8,2,1,1\n");
    refuses(
        &folder,
        &["score", "good.csv", "--counts", "--by", "dya"],
        "has no column `dya`\nhint: did you mean `day`?",
    );
    refuses(&folder, &["score", "good.csv", "--counts", "--time", "day"], "`day` holds neither times nor numbers");
    refuses(&folder, &["score", "good.csv", "--counts", "--threshold", "0.5"], "cannot be used with");
    refuses(&folder, &["score", "good.csv", "--by", "day"], "--counts");
    refuses(&folder, &["score", "good.csv", "--counts", "--cells", "tn,fp,fn"], "four different columns");
    write("other.csv", "day,tn,fp,fn,tp\ny,8,2,1,1\nx,9,1,1,1\n");
    write("longer.csv", "day,tn,fp,fn,tp\nx,9,1,1,1\ny,8,2,1,1\ny,8,2,1,1\n");
    refuses(
        &folder,
        &["compare", "good.csv", "other.csv", "--counts"],
        "other.csv:2, column `day`: `y`, but good.csv has `x` in this row\nhint: pair the rows by the columns that identify them: `--on day`",
    );
    refuses(
        &folder,
        &["compare", "good.csv", "longer.csv", "--counts"],
        "longer.csv: has 3 rows, but good.csv has 2\nhint: name the columns that identify a row in both tables: `--on COLUMN`",
    );
    refuses(
        &folder,
        &["compare", "good.csv", "longer.csv", "--counts", "--on", "day"],
        "longer.csv:4: the values `y` occur in line 3 already",
    );
    refuses(&folder, &["compare", "good.csv", "--counts"], "name two files");
}

#[test]
fn a_table_with_a_single_row_or_with_only_zeros_gets_a_note() {
    let folder = Folder::new("counts-notes");
    let note = |text: &str, arguments: &[&str]| {
        fs::write(folder.0.join("c.csv"), text).unwrap();
        let output = folder.command(&[&["score", "c.csv", "--counts"], arguments].concat()).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let message = note("tn,fp,fn,tp\n9,1,1,1\n", &["--json"]);
    assert!(message.contains("a single row does not show how much rows differ"), "{message}");
    let message = note("tn,fp,fn,tp\n0,0,0,0\n0,0,0,0\n", &["--json"]);
    assert!(message.contains("all counts are 0"), "{message}");
    assert_eq!(note("tn,fp,fn,tp\n0.5,1.25,1,1\n3,1,1,1\n", &["--resample", "rows"]), "");
}
