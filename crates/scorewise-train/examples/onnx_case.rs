//! Writes models, rows, and the predictions of scorewise for these rows into a folder. A test compares these predictions with
//! those of an ONNX runtime.
//!
//! `onnx_case FOLDER` writes a subfolder for each test model. The subfolder contains `model.onnx`, `model.scorewise`, three files of little-endian
//! numbers (`rows.f32`, `probability.f64` and `label.i64`), and `case.json` with the shapes of the arrays in these three files, the names of the
//! columns, the score and the threshold. `onnx_case FOLDER MODEL TABLE` writes the same files for a model file and a table into the folder itself.

#[path = "../tests/models/mod.rs"]
mod models;

use std::path::Path;

use scorewise_table::table::{Source, read};
use scorewise_train::model::{Model, Predictor};
use scorewise_train::{Location, Matrix, onnx};
use serde_json::json;

/// Number of random rows that are predicted with each test model.
const ROWS_PER_MODEL: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [folder] => {
            for (seed, (name, model)) in models::test_models().into_iter().enumerate() {
                let (values, matrix) = models::random_rows_for(&model, ROWS_PER_MODEL, seed as u64);
                write_case(&Path::new(folder).join(name), &model, &values, &matrix)?;
            }
            Ok(())
        }
        [folder, model, table] => {
            let model = Model::load(Path::new(model))?;
            let mut reading = model.reading.clone();
            let kinds = model.encoder.columns().into_iter().filter_map(|(name, kind)| Some((name.to_owned(), kind?)));
            reading.kinds.extend(kinds);
            let matrix = model.encoder.encode(&read(&Source::parse(table), &reading)?)?.matrix;
            let values: Vec<f32> = (0..matrix.rows()).flat_map(|row| matrix.row(row)).copied().collect();
            write_case(Path::new(folder), &model, &values, &matrix)
        }
        _ => Err("usage: onnx_case FOLDER [MODEL TABLE]".into()),
    }
}

/// Writes the files of one model: the model as an ONNX file and as a model file, the rows, and the predictions for them.
fn write_case(folder: &Path, model: &Model, values: &[f32], matrix: &Matrix) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let predictor = Predictor::new(model);
    let raw = predictor.probabilities(matrix, |_| Location::default())?;
    let labels = predictor.labels(&raw);
    let probabilities = model.calibrated(&raw);
    let case = json!({
        "rows": matrix.rows(), "features": matrix.columns(), "outputs": predictor.outputs(), "classes": model.classes,
        "names": model.encoder.names(), "score": model.score, "threshold": model.probability_threshold(),
    });
    std::fs::write(folder.join("model.onnx"), onnx::export(model)?)?;
    model.save(&folder.join("model.scorewise"))?;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.join("rows.f32"), &bytes)?;
    let bytes: Vec<u8> = probabilities.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.join("probability.f64"), &bytes)?;
    let bytes: Vec<u8> = labels.iter().flat_map(|label| i64::from(*label).to_le_bytes()).collect();
    std::fs::write(folder.join("label.i64"), &bytes)?;
    std::fs::write(folder.join("case.json"), case.to_string())?;
    Ok(())
}
