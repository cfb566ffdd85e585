//! `scorewise export`: conversion of a model to ONNX.

use std::path::PathBuf;

use scorewise_table::output::{OutputKind, Outputs};
use scorewise_train::model::Model;
use scorewise_train::onnx;
use serde_json::json;

use crate::formatting::{count_text, pretty_json};
use crate::outcome::{Failure, Outcome};
use crate::report_output::OVERWRITE;

/// Arguments of `scorewise export`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  scorewise export model.scorewise --onnx model.onnx")]
pub struct ExportArguments {
    /// Model file written by `scorewise train`
    model: PathBuf,
    /// ONNX file to write; its input is the matrix of encoded columns, its outputs are probability and label at the model's threshold
    #[arg(long, value_name = "FILE", required = true)]
    onnx: PathBuf,
    /// Replace an existing file whatever it contains, not only an earlier ONNX file; the model is never replaced
    #[arg(long)]
    overwrite: bool,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

/// Writes the ONNX file.
pub fn run(arguments: &ExportArguments) -> Result<Outcome, Failure> {
    let model = Model::load(&arguments.model)?;
    let mut outputs = Outputs::new().reads_file(&arguments.model).overwrites(OVERWRITE, arguments.overwrite);
    outputs.write(&arguments.onnx, OutputKind::Onnx, &onnx::export(&model)?)?;
    if arguments.json {
        return Ok(pretty_json(&json!({
            "model": arguments.model.display().to_string(),
            "onnx": arguments.onnx.display().to_string(),
            "features": model.encoder.names(),
            "classes": model.classes,
            "score": model.score,
            "threshold": model.probability_threshold(),
        }))
        .into());
    }
    let features = count_text(model.encoder.width() as u64, "encoded feature");
    let path = arguments.onnx.display();
    Ok(format!("ONNX model written to {path}; input: {features}; outputs: probability and label\n").into())
}
