//! Tests of bad input to `train`, `predict` and `export`, which gives an error message with a hint, exit code 2, and no partial file.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder for one test. It is removed when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    /// Creates the folder; its name contains `name` and the id of the process, so that tests do not share a folder.
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("scorewise-bad-input-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file in the folder.
    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    /// Runs the command `scorewise` in the folder; it may succeed or fail.
    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_scorewise")).current_dir(&self.0).args(arguments).output().unwrap()
    }

    /// Asserts that the command fails and writes no file, and that `message` is all it prints except for notes.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], message: &str) {
        let before = self.files();
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<&str> = errors.lines().filter(|line| !line.starts_with("note: ")).collect();
        assert_eq!(lines.join("\n"), message);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(output.stdout, b"");
        assert_eq!(self.files(), before, "a command that fails must not write a file");
    }

    /// Asserts that the command succeeds and that standard error contains `note`.
    #[track_caller]
    fn works(&self, arguments: &[&str], note: &str) -> Output {
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(output.status.success(), "{errors}");
        assert!(errors.contains(note), "{errors}");
        output
    }

    /// The paths of all files in the folder, sorted.
    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

impl Drop for Folder {
    /// Removes the folder with all its files.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The text of a table with columns `x,noise,y`, in which y is 1 if x is large.
fn csv_table(count: usize) -> String {
    let row = |i: usize| {
        let x = (i * 7919) % 1000;
        format!("{},{},{}\n", x as f64 / 1000.0, (i * 31) % 17, u8::from(x > 800))
    };
    std::iter::once("x,noise,y\n".to_string()).chain((0..count).map(row)).collect()
}

/// Options of a short training run.
const SHORT_TRAINING: [&str; 4] = ["--epochs", "3", "--hidden", "4"];

/// The arguments of a short training run.
fn train_arguments<'a>(table: &'a str, target: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["train", table, "--target", target, "--score", "f1"];
    arguments.extend(SHORT_TRAINING);
    arguments
}

#[test]
fn a_missing_file_is_reported() {
    let folder = Folder::new("missing");
    folder.refuses(&train_arguments("nowhere.csv", "y"), "error: nowhere.csv: no such file\nhint: check the name and the folder; the built-in tables are `adult`, `adult-test`, `pollution`");
}

#[test]
fn an_empty_file_is_reported() {
    let folder = Folder::new("empty");
    folder.write("t.csv", "");
    folder.refuses(
        &train_arguments("t.csv", "y"),
        "error: t.csv: is empty\nhint: a table needs a header and at least one row",
    );
}

#[test]
fn a_header_without_rows_is_reported() {
    let folder = Folder::new("header");
    folder.write("t.csv", "x,y\n");
    folder.refuses(
        &train_arguments("t.csv", "y"),
        "error: t.csv: has a header but no rows\nhint: a table needs at least one row",
    );
}

#[test]
fn a_misspelt_column_gets_a_suggestion() {
    let folder = Folder::new("column");
    folder.write("t.csv", csv_table(100).replace("noise", "wind speed"));
    folder.refuses(
        &train_arguments("t.csv", "wind_sped > 3"),
        "error: --target: `t.csv` has no column `wind_sped`\nhint: did you mean `wind speed`?",
    );
    folder.refuses(
        &[&train_arguments("t.csv", "y")[..], &["--drop", "wind spede"]].concat(),
        "error: --drop: `t.csv` has no column `wind spede`\nhint: did you mean `wind speed`?",
    );
}

#[test]
fn a_target_with_one_class_is_reported() {
    let folder = Folder::new("one-class");
    folder.write("t.csv", csv_table(100).replace(",1\n", ",0\n"));
    folder.refuses(&train_arguments("t.csv", "y"), "error: t.csv, column `y`: has only one class, `0`\nhint: give rows of another class, or choose another column with `--target`");
    folder.refuses(&train_arguments("t.csv", "x > 5"), "error: t.csv, column `x`: the condition `x > 5` holds in no row, so there is only one class\nhint: compare the column with another value");
}

#[test]
fn a_target_column_without_values_is_reported() {
    let folder = Folder::new("missing-target");
    folder.write("t.csv", csv_table(100).replace(",1\n", ",\n").replace(",0\n", ",NA\n"));
    folder.refuses(
        &train_arguments("t.csv", "y"),
        "error: t.csv, column `y`: no row has a value\nhint: choose another column with `--target`",
    );
}

#[test]
fn a_column_without_values_is_dropped_with_a_note() {
    let folder = Folder::new("missing-column");
    let text = csv_table(200)
        .lines()
        .map(|line| format!("{line},{}\n", if line.starts_with('x') { "gone" } else { "NA" }))
        .collect::<String>();
    folder.write("t.csv", text);
    folder.works(&train_arguments("t.csv", "y"), "note: column `gone`: dropped");
}

#[test]
fn a_row_with_too_few_or_too_many_cells_is_reported() {
    let folder = Folder::new("ragged");
    folder.write("t.csv", format!("{}0.5,3\n", csv_table(20)));
    folder.refuses(
        &train_arguments("t.csv", "y"),
        "error: t.csv:22: 2 cells, but the header has 3\nhint: complete the row or remove it",
    );
    folder.write("t.csv", format!("{}0.5,3,1,7\n", csv_table(20)));
    folder.refuses(&train_arguments("t.csv", "y"), "error: t.csv:22: 4 cells, but the header has 3\nhint: put cells that contain the delimiter in quotes, or remove the row");
}

#[test]
fn a_wrong_delimiter_is_reported() {
    let folder = Folder::new("delimiter");
    folder.write("t.csv", csv_table(20));
    folder.refuses(&[&train_arguments("t.csv", "y")[..], &["--delimiter", "semicolon"]].concat(), "error: t.csv: has one column when split at `;`; the file seems to use `,`\nhint: leave out `--delimiter`, or give the right one");
}

#[test]
fn cells_that_are_not_finite_numbers_are_reported() {
    let folder = Folder::new("cells");
    folder.write("t.csv", format!("{}inf,3,1\n", csv_table(40)));
    folder.refuses(&train_arguments("t.csv", "y"), "error: t.csv:42, column `x`: `inf` is not finite\nhint: add `--missing inf` to read it as missing, or `--categorical x` to read the column as text");
    folder.write("t.csv", format!("{}bad,3,1\n", csv_table(40)));
    folder.refuses(&train_arguments("t.csv", "y"), "error: t.csv:42, column `x`: `bad` is not a number\nhint: add `--missing bad` to read it as missing, or `--categorical x` to read the column as text");
    // A cell with the text NaN is a missing value, not an error.
    folder.write("t.csv", format!("{}NaN,3,1\nnan,3,0\n", csv_table(200)));
    folder.works(&train_arguments("t.csv", "y"), "");
}

#[test]
fn bytes_that_are_not_utf8_are_reported() {
    let folder = Folder::new("bytes");
    let mut bytes = b"name,x,y\n".to_vec();
    for i in 0..40u8 {
        bytes.extend(format!("level{},{},{}\n", i % 3, i, i % 2).bytes());
    }
    bytes.extend(b"caf\xe9,3,1\n");
    folder.write("t.csv", bytes);
    folder.refuses(&train_arguments("t.csv", "y"), "error: t.csv:42, column `name`: `caf�` is not UTF-8\nhint: save the file as UTF-8: `iconv -f latin1 -t utf-8 FILE > NEW`");
}

#[test]
fn huge_finite_values_are_accepted() {
    let folder = Folder::new("huge");
    folder.write("t.csv", format!("{}1e308,3,1\n-1e308,4,0\n", csv_table(200)));
    folder.works(&train_arguments("t.csv", "y"), "");
}

#[test]
fn in_a_column_with_many_categories_only_the_most_frequent_are_distinguished() {
    let folder = Folder::new("categories");
    // Each name occurs twice, so that the column does not look like a row identifier.
    let row = |i: usize| format!("name{},{},{}\n", i / 2, i % 10, u8::from(i % 10 > 7));
    let text: String = std::iter::once("name,x,y\n".into()).chain((0..200_000).map(row)).collect();
    folder.write("t.csv", text);
    folder.works(
        &[&train_arguments("t.csv", "y")[..], &["--keep", "name", "--batch", "1024", "--recipe", "paper"]].concat()[..],
        "note: column `name`: 78294 levels: the 64 most frequent",
    );
    folder.works(
        &[&train_arguments("t.csv", "y")[..], &["--keep", "name", "--batch", "1024", "--ensemble", "1"]].concat()[..],
        " levels, each with fewer than 3 training rows: all levels are treated as one",
    );
}

#[test]
fn duplicate_column_names_are_reported() {
    let folder = Folder::new("twice");
    folder.write("t.csv", csv_table(20).replace("noise", "x"));
    folder.refuses(&train_arguments("t.csv", "y"), "error: t.csv: columns 1 and 2 are both called `x`\nhint: rename one of them, or name all columns with `--columns` if the file has no header");
}

#[test]
fn a_directory_instead_of_a_file_is_reported() {
    let folder = Folder::new("directory");
    fs::create_dir(folder.0.join("d")).unwrap();
    folder
        .refuses(&train_arguments("d", "y"), "error: d: is a directory\nhint: name one of the files in this directory");
    folder.write("t.csv", csv_table(100));
    folder.refuses(
        &[&train_arguments("t.csv", "y")[..], &["-o", "d"]].concat(),
        "error: d: is a folder, not a file to write to\nhint: name a file in this folder: `d/model.scorewise`",
    );
}

#[test]
fn an_output_in_a_missing_folder_is_reported() {
    let folder = Folder::new("output");
    folder.write("t.csv", csv_table(100));
    folder.refuses(&[&train_arguments("t.csv", "y")[..], &["-o", "no/such/folder/m.scorewise"]].concat(), "error: no/such/folder/m.scorewise: the folder `no/such/folder` does not exist\nhint: create it first: mkdir -p 'no/such/folder'");
}

#[test]
fn invalid_values_of_options_are_reported() {
    let folder = Folder::new("settings");
    folder.write("t.csv", csv_table(100));
    let assert_refused_with = |options: &[&str], message: &str| {
        folder.refuses(&[&["train", "t.csv", "--target", "y"], options].concat(), message);
    };
    assert_refused_with(
        &["--hidden", "5,x"],
        "error: --hidden: `5,x` is not a list of widths\nhint: write widths separated by commas, such as 50,20,5, or `none` for a linear model",
    );
    assert_refused_with(
        &["--batch", "0"],
        "error: --batch: must be at least 1, not 0\nhint: `--batch full` takes all rows in every step",
    );
    assert_refused_with(
        &["--validation", "1.5"],
        "error: --validation: 1.5 is not a share of the rows\nhint: give a number from 0 to below 1",
    );
    assert_refused_with(
        &["--split", "sideways"],
        "error: --split: `sideways` is not a valid split\nhint: write `random`, `time`, `time:COLUMN` or `group:COLUMN`",
    );
    assert_refused_with(
        &["--positive", "7"],
        "error: --positive: `7` is not a class of `y`\nhint: the classes are `0`, `1`",
    );
    assert_refused_with(
        &["--score", "f11"],
        "error: `f11` is not a score, a cell or a function\n  f11\n  ^^^\nhint: did you mean `f1`?",
    );
    assert_refused_with(
        &["--prior", "cosine:0.5,0.9"],
        "error: prior `cosine:0.5,0.9`: the support [-0.4, 1.4] must lie in [0, 1]; move the centre or reduce the half-width",
    );
    assert_refused_with(
        &["--lags", "2", "--split", "random"],
        "error: --lags: with a random split, neighbouring rows would be in different sets (training, validation, test)\nhint: write `--split time` or `--split group:COLUMN`",
    );
    folder.refuses(&["train", "t.csv"], "error: --target: is required: it says what to predict\nhint: name a column, or a condition such as --target \"pm2.5 > 400\"");
}

/// A folder with a table and a trained model.
fn folder_with_model(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("t.csv", csv_table(200));
    folder.works(&train_arguments("t.csv", "y"), "");
    assert!(Path::new(&folder.0.join("model.scorewise")).exists());
    folder
}

#[test]
fn damaged_model_files_are_reported() {
    let folder = folder_with_model("damaged");
    let model = fs::read(folder.0.join("model.scorewise")).unwrap();
    folder.write("cut.scorewise", &model[..model.len() - 10]);
    let truncated = format!(
        "error: cut.scorewise: is truncated: it has {} of at least {} bytes\nhint: copy the file again from its source, or train the model again",
        model.len() - 10,
        model.len()
    );
    folder.refuses(&["predict", "cut.scorewise", "t.csv"], &truncated);
    folder.write("empty.scorewise", "");
    folder.refuses(
        &["predict", "empty.scorewise", "t.csv"],
        "error: empty.scorewise: is empty\nhint: copy the file again from its source, or train the model again",
    );
    folder.write("foreign.scorewise", csv_table(20));
    folder.refuses(
        &["export", "foreign.scorewise", "--onnx", "m.onnx"],
        "error: foreign.scorewise: is not a scorewise model\nhint: give a file that was written by `scorewise train`",
    );
    folder.refuses(
        &["predict", "none.scorewise", "t.csv"],
        "error: none.scorewise: there is no such file\nhint: give a file that was written by `scorewise train`",
    );
    // Flip one bit of a weight, so that the checksum of the file is wrong.
    let mut flipped = model.clone();
    let end = flipped.len();
    flipped[end - 2] ^= 1;
    folder.write("flipped.scorewise", flipped);
    let damaged = "error: flipped.scorewise: is damaged: its checksum does not match\nhint: copy the file again from its source, or train the model again";
    folder.refuses(&["predict", "flipped.scorewise", "t.csv"], damaged);
    folder.refuses(&["export", "flipped.scorewise", "--onnx", "m.onnx"], damaged);
}

#[test]
fn tables_that_do_not_fit_the_model_are_reported() {
    let folder = folder_with_model("unfit");
    folder.write("other.csv", "X,nois,z\n1,2,3\n");
    folder.refuses(&["predict", "model.scorewise", "other.csv"], "error: other.csv: has no columns `x`, `noise`; the model needs them\nhint: did you mean `X` for `x`, `nois` for `noise`?");
    folder.write("text.csv", "x,noise\n0.5,3\nhigh,4\n");
    folder.refuses(
        &["predict", "model.scorewise", "text.csv", "-o", "p.csv"],
        "error: text.csv:3, column `x`: `high` is not a number\nhint: add `--missing high` to read it as missing",
    );
}

#[test]
fn a_missing_gpu_is_an_error_unless_the_device_is_chosen_automatically() {
    if Path::new("/dev/nvidia0").exists() {
        return; // With a GPU, scripts/gpu-check.sh tests training on it.
    }
    let folder = Folder::new("gpu");
    folder.write("t.csv", csv_table(300));
    let message = "error: --device: the GPU cannot be used: there is no driver of NVIDIA (libcuda)\nhint: train with `--device cpu`";
    let mut arguments = train_arguments("t.csv", "y");
    arguments.extend(["--device", "cuda"]);
    folder.refuses(&arguments, message);
    folder.refuses(&["reproduce", "pollution", "--repeats", "1", "--device", "cuda"], message);
    arguments.pop();
    folder.works(&[arguments, vec!["auto", "--recipe", "quick"]].concat(), "");
}
