//! Writes models, rows and our own answers into a folder, for another runtime to compare with: `onnx_case FOLDER`.
//!
//! For each case a folder with `model.onnx`, `model.scorewise`, `rows.f32`, `probability.f64`, `label.i64` (numbers end to end,
//! lowest byte first) and `case.json` with their shape.

#[path = "../tests/models/mod.rs"]
mod models;

use std::path::Path;

use scorewise_train::model::{Predictor, write_safely};
use scorewise_train::{Place, onnx};
use serde_json::json;

const ROWS: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: onnx_case FOLDER")?;
    for (seed, (name, model)) in models::all().into_iter().enumerate() {
        let folder = Path::new(&folder).join(name);
        std::fs::create_dir_all(&folder)?;
        let features = model.encoder.width();
        let (values, matrix) = models::rows(features, ROWS, seed as u64);
        let predictor = Predictor::new(&model);
        let probabilities = predictor.probabilities(&matrix, |_| Place::default())?;
        let labels = predictor.labels(&probabilities);
        let case = json!({
            "rows": ROWS, "features": features, "outputs": predictor.outputs(), "classes": model.classes,
            "names": model.encoder.names(), "score": model.score, "threshold": model.decision.threshold(),
        });
        write_safely(&folder.join("model.onnx"), &onnx::export(&model)?)?;
        model.save(&folder.join("model.scorewise"))?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        write_safely(&folder.join("rows.f32"), &bytes)?;
        let bytes: Vec<u8> = probabilities.iter().flat_map(|value| value.to_le_bytes()).collect();
        write_safely(&folder.join("probability.f64"), &bytes)?;
        let bytes: Vec<u8> = labels.iter().flat_map(|label| i64::from(*label).to_le_bytes()).collect();
        write_safely(&folder.join("label.i64"), &bytes)?;
        write_safely(&folder.join("case.json"), case.to_string().as_bytes())?;
    }
    Ok(())
}
