//! Tests that `train` and `predict` read cells such as percentages, prices and dates as the same values.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A temporary folder for one test. It is removed when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    /// Creates the folder; its name contains `name` and the id of the process, so that tests do not share a folder.
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("scorewise-readings-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file in the folder.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    /// Runs the command `scorewise` in the folder; it may succeed or fail.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_scorewise")).current_dir(&self.0).args(arguments).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its standard output and standard error.
    #[track_caller]
    fn run_successfully(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{errors}");
        (String::from_utf8(output.stdout).unwrap(), errors)
    }

    /// Runs a command that must fail with exit code 2, and returns its standard error.
    #[track_caller]
    fn run_with_error(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(output.stdout, b"");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Trains on `t.csv` and returns the notes.
    #[track_caller]
    fn train(&self, options: &[&str]) -> String {
        let mut arguments = vec!["train", "t.csv", "--target", "y", "--score", "f1", "--epochs", "3", "--hidden", "4"];
        arguments.extend(["--replicates", "20", "--report", "none", "-o", "m.scorewise"]);
        arguments.extend(options);
        self.run_successfully(&arguments).1
    }
}

impl Drop for Folder {
    /// Removes the folder with all its files.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A row of the training table: a percentage, a price, a date with the month first, a time of day, a zip code, a number that is missing in some rows,
/// and the target.
fn row(i: usize) -> String {
    let x = (i * 7919) % 1000;
    let gap = if i % 8 == 3 { ["N/A", "null", "-", "None"][i / 8 % 4].into() } else { format!("{}", i % 13) };
    format!(
        "{}.{}%,\"${},{:03}.50\",{:02}/{:02}/2020,{}:{:02},{:05},{gap},{}\n",
        x / 10,
        x % 10,
        i % 9 + 1,
        x,
        i % 12 + 1,
        i % 28 + 1,
        i % 24,
        i % 60,
        (i % 5) * 2139,
        u8::from(x > 600)
    )
}

/// The header of the training table.
const HEADER: &str = "rate,price,day,at,zip,gaps,y\n";

#[test]
fn predict_reads_numbers_and_dates_in_the_formats_of_the_training_table() {
    let folder = Folder::new("alike");
    folder.write("t.csv", &(HEADER.to_owned() + &(0..400).map(row).collect::<String>()));
    let notes = folder.train(&[]);
    for expected in [
        "note: column `rate`: the per cent sign is dropped, `0.0%` is read as the number 0",
        "note: column `price`: the sign `$` is dropped, `$1,000.50` is read as the number 1000.5",
        "note: column `at` holds times of day without a date",
        "note: column `zip` is read as text: its cells have the same number of digits, some with a leading 0 (`00000`); \
         `--numeric zip` reads them as numbers",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
    let predictions = |name: &str, rows: &str| {
        folder.write(name, &(HEADER.to_owned() + rows));
        folder.run_successfully(&["predict", "m.scorewise", name]).0
    };
    // In these dates the first number could be the day or the month. `predict` reads it as the month, as in the training table, so the predictions
    // are the same as for ISO dates.
    let written = predictions(
        "written.csv",
        "61.5%,\"$4,200.00\",03/04/2020,14:30,02139,N/A,1\n3.5%,$900,05/06/2020,0:05,04278,5,0\n",
    );
    let plain =
        predictions("plain.csv", "61.5,4200,2020-03-04,14:30:00,02139,,1\n3.5,900,2020-05-06,00:05,04278,5,0\n");
    assert_eq!(written, plain);
    assert_eq!(written.lines().count(), 3);
    let other_day =
        predictions("other.csv", "61.5,4200,2020-04-03,14:30,02139,,1\n3.5,900,2020-06-05,00:05,04278,5,0\n");
    assert_ne!(
        written, other_day,
        "the predictions of this model depend on whether the day or the month is written first"
    );
    // Prices in another currency than in the training table are refused.
    folder.write("euros.csv", &(HEADER.to_owned() + "61.5%,€4200,2020-03-04,14:30,02139,,1\n"));
    let error = folder.run_with_error(&["predict", "m.scorewise", "euros.csv", "-o", "p.csv"]);
    assert!(
        error.contains("euros.csv:2, column `price`: `€4200` has the sign `€`, which the column's other numbers"),
        "{error}"
    );
}

#[test]
fn predictions_have_one_row_for_every_row_of_the_table() {
    let folder = Folder::new("rows");
    folder.write(
        "t.csv",
        &("x,y\n".to_owned()
            + &(0..300).map(|i| format!("{},{}\n", i % 50, u8::from(i % 50 > 30))).collect::<String>()),
    );
    folder.train(&[]);
    folder.write("five.csv", "x,y\n1,0\n,\n40,1\n\n45,\n\n\n");
    let (predictions, notes) = folder.run_successfully(&["predict", "m.scorewise", "five.csv"]);
    assert_eq!(predictions.lines().count(), 6, "{predictions}");
    assert!(notes.contains("note: line 5 is empty: it is read as a row of missing values"), "{notes}");
    // In a table with one column, an empty line is a row with a missing value.
    folder.write("one.csv", "x\n1\n\n40\n\"\"\n45\n");
    let (predictions, _) = folder.run_successfully(&["predict", "m.scorewise", "one.csv"]);
    assert_eq!(predictions.lines().count(), 6, "{predictions}");
}

#[test]
fn the_option_numeric_reads_dates_and_digits_with_a_leading_zero_as_numbers() {
    let folder = Folder::new("numeric");
    let day = |i: usize| format!("2020{:02}{:02},{:04},{}\n", i % 12 + 1, i % 28 + 1, i % 50, u8::from(i % 50 > 30));
    folder.write("t.csv", &("day,code,y\n".to_owned() + &(0..300).map(day).collect::<String>()));
    let notes = folder.train(&[]);
    assert!(
        notes.contains("note: column `day` is read as dates (`20200101`); `--numeric day` reads them as numbers"),
        "{notes}"
    );
    assert!(notes.contains("note: column `code` is read as text"), "{notes}");
    let notes = folder.train(&["--numeric", "day,code"]);
    assert!(!notes.contains("is read as"), "{notes}");
    let train = ["train", "t.csv", "--target", "y", "--score", "f1"];
    let error = folder.run_with_error(&[&train[..], &["--numeric", "dya"]].concat());
    assert!(error.contains("error: t.csv: has no column `dya`\nhint: did you mean `day`?"), "{error}");
    let error = folder.run_with_error(&[&train[..], &["--numeric", "day", "--categorical", "day"]].concat());
    assert!(error.contains("error: --numeric: `day` is also in --categorical"), "{error}");
}

#[test]
fn suspicious_values_get_a_note_in_train_but_not_in_predict() {
    let folder = Folder::new("odd");
    let row = |i: usize| {
        let x = if i.is_multiple_of(15) { "-200".into() } else { format!("{}.5", i % 50) };
        format!(
            "{x},{},{}\n",
            if i.is_multiple_of(4) { "broken".into() } else { (i % 20).to_string() },
            u8::from(i % 50 > 30)
        )
    };
    folder.write("t.csv", &("x,z,y\n".to_owned() + &(0..300).map(row).collect::<String>()));
    let notes = folder.train(&[]);
    assert!(notes.contains("does -200 mean missing? `--missing -200` reads it as missing"), "{notes}");
    assert!(notes.contains("column `z`: is read as text, although 225 of its 300 cells are numbers"), "{notes}");
    assert!(notes.contains("`--missing broken` reads it as missing"), "{notes}");
    let notes = folder.train(&["--missing", "-200,broken"]);
    assert!(!notes.contains("mean missing?") && !notes.contains("read as text"), "{notes}");
    let (_, notes) = folder.run_successfully(&["predict", "m.scorewise", "t.csv"]);
    assert!(!notes.contains("mean missing?"), "{notes}");
}
