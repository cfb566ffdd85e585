//! `scorewise export`: a model in a form that other programs run.

use std::path::PathBuf;

use scorewise_table::output::{OutputKind, Outputs};
use scorewise_train::model::Model;
use scorewise_train::onnx;
use serde_json::json;

use crate::outcome::{Failure, Outcome};
use crate::showing::OVERWRITE;
use crate::table::pretty;

/// What `scorewise export` takes.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  scorewise export model.scorewise --onnx model.onnx")]
pub struct Arguments {
    /// A model that `scorewise train` wrote
    model: PathBuf,
    /// Where the ONNX file goes: encoded matrix in, probability and label at the model's threshold out
    #[arg(long, value_name = "FILE", required = true)]
    onnx: PathBuf,
    /// Replace a file that is not an older ONNX file of scorewise; never the model
    #[arg(long)]
    overwrite: bool,
    /// One JSON document
    #[arg(long)]
    json: bool,
}

/// Writes the file.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let model = Model::load(&arguments.model)?;
    let mut outputs = Outputs::new().reads_file(&arguments.model).overwrites(OVERWRITE, arguments.overwrite);
    outputs.write(&arguments.onnx, OutputKind::Onnx, &onnx::export(&model)?)?;
    let features = model.encoder.width();
    if arguments.json {
        return Ok(pretty(&json!({
            "model": arguments.model.display().to_string(),
            "onnx": arguments.onnx.display().to_string(),
            "features": model.encoder.names(),
            "classes": model.classes,
            "score": model.score,
            "threshold": model.decision.threshold(),
        }))
        .into());
    }
    Ok(format!("{} written: {features} encoded features in, probability and label out\n", arguments.onnx.display())
        .into())
}
