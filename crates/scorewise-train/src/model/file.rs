//! Writes and reads model files. A model file is a safetensors file whose metadata contains a JSON string with everything except the weights.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::calibrated::CalibrationDescription;
use super::header::{self, EncodedTensor, FileContents, HeaderError, shortened};
use super::{Decision, Model, Reference};
use crate::ensemble::MeanOf;
use crate::learner::{Member, MemberDescription, NamedTensor};
use crate::plan::Plan;
use scorewise_table::encode::Encoder;
use scorewise_table::error::{Error, Location, Result};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::table::Reading;
use scorewise_table::target::Target;

/// The number of the file format that is written. Files of older formats can still be read. Format 2 added the checksum; format 3 added binned
/// inputs; format 4 added trees and the weights of the members; format 5 added calibrations, decisions by expected costs, errors weighted by their
/// timing, and the reference with which later rows are compared.
pub const FORMAT: u64 = 5;
/// The version of scorewise that trains and writes models.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Maximum size of a model file in bytes: 4 GiB, enough for about 2³⁰ parameters, far more than networks for tables usually have. Larger files are
/// not read.
const MAX_FILE_BYTES: u64 = 4 << 30;

const COPY_AGAIN_HINT: &str = "copy the file again from its source, or train the model again";
const GIVE_A_MODEL_HINT: &str = "give a file that was written by `scorewise train`";

/// Everything in a model file except the weights. It is written as JSON, with the keys in the order of these fields.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct ModelDescription {
    format: u64,
    version: String,
    score: String,
    prior: Option<String>,
    loss: String,
    decision: Decision,
    classes: Vec<String>,
    target: Target,
    reading: Reading,
    encoder: Encoder,
    /// Present only in files of format 1, which have this key instead of `members`.
    #[serde(default, skip_serializing)]
    network: Option<NetworkSize>,
    #[serde(default)]
    members: Vec<MemberDescription>,
    /// The weights of the members. Files before format 4 do not have this key; their members all have the same weight.
    #[serde(default)]
    weights: Vec<f64>,
    /// What is averaged over the members. Files before format 4 do not have this key; their models average probabilities.
    #[serde(default)]
    mean: MeanOf,
    /// The calibration of the probabilities. Files before format 5 do not have this key.
    #[serde(default)]
    calibration: Option<CalibrationDescription>,
    seed: u64,
    fingerprint: String,
    #[serde(default)]
    plan: Option<Plan>,
    /// Present only in files of format 1, which have this key instead of `plan`.
    #[serde(default, skip_serializing)]
    settings: Option<IgnoredAny>,
    /// The distributions and the score with which `scorewise monitor` compares later rows. Files before format 5 do not have this key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<Reference>,
    results: Value,
}

/// Number of networks in a file of format 1, and the layer widths that all of them have.
#[derive(Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct NetworkSize {
    members: u64,
    widths: Vec<usize>,
}

/// The format number in the JSON metadata of a model file, without the other keys. It is parsed first, because the other keys depend on the format.
#[derive(Deserialize)]
struct FormatNumber {
    format: u64,
}

impl Model {
    /// Writes the model file atomically. An existing file is replaced only if it is a model file.
    pub fn save(&self, path: &Path) -> Result<()> {
        Outputs::new().write(path, OutputKind::Model, &self.to_bytes()?)
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fault = |problem: String, hint: &str| Error::data(Location::file(&name), problem, hint);
        let unreadable = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => fault("there is no such file".into(), GIVE_A_MODEL_HINT),
            ErrorKind::PermissionDenied => fault("permission denied".into(), "ask for permission to read it"),
            _ => fault(format!("cannot be read: {error}"), ""),
        };
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(fault("is a folder, not a model file".into(), GIVE_A_MODEL_HINT));
        }
        if !metadata.is_file() {
            return Err(fault("is not a regular file".into(), GIVE_A_MODEL_HINT));
        }
        if metadata.len() > MAX_FILE_BYTES {
            return Err(fault(
                format!("has {} bytes; a model has at most {MAX_FILE_BYTES}", metadata.len()),
                GIVE_A_MODEL_HINT,
            ));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        // If the file grows while it is read, the bytes beyond its checked length are ignored, so the size limit holds.
        File::open(path).and_then(|file| file.take(metadata.len()).read_to_end(&mut bytes)).map_err(unreadable)?;
        Model::from_bytes(&name, &bytes)
    }

    /// The contents of the model file. Equal models have equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let invalid = |problem: String| Error::setting("model", problem, "");
        self.check().map_err(invalid)?;
        let description = self.description();
        let text = serde_json::to_string(&description).map_err(|error| invalid(error.to_string()))?;
        // JSON has no NaN or infinity, so a description with such a number cannot be loaded again. Parsing the JSON here finds the error before the
        // file is written.
        match serde_json::from_str::<ModelDescription>(&text) {
            Ok(parsed) if parsed == description => {}
            Ok(_) => return Err(invalid("its description changes when it is written as JSON and read again".into())),
            Err(error) => return Err(invalid(format!("its description cannot be written as JSON: {error}"))),
        }
        let mut tensors = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            for NamedTensor { name, shape, values } in member.tensors() {
                let bytes = header::to_bytes(&values, f32::to_le_bytes);
                tensors.push(EncodedTensor { name: tensor_name(number, &name), dtype: "F32", shape, bytes });
            }
        }
        header::write(&text, tensors).map_err(invalid)
    }

    /// Reads a model from the bytes of a file; `name` is the file name in error messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let fault = |problem: String, hint: &str| Error::data(Location::file(name), problem, hint);
        let damaged = |problem: String| fault(format!("is damaged: {}", shortened(problem)), COPY_AGAIN_HINT);
        if bytes.is_empty() {
            return Err(fault("is empty".into(), COPY_AGAIN_HINT));
        }
        let contents = header::read(bytes).map_err(|error| match error {
            HeaderError::Foreign => fault("is not a scorewise model".into(), GIVE_A_MODEL_HINT),
            HeaderError::Truncated(problem) => fault(problem, COPY_AGAIN_HINT),
            HeaderError::Damaged(problem) => damaged(problem),
        })?;
        let Some(text) = contents.description.as_deref() else {
            return Err(fault("is a safetensors file but not a scorewise model".into(), GIVE_A_MODEL_HINT));
        };
        if contents.checksum.is_some() && !contents.has_correct_checksum(bytes) {
            return Err(damaged("its checksum does not match".into()));
        }
        let unparsable = |error: serde_json::Error| damaged(format!("its description cannot be parsed: {error}"));
        let FormatNumber { format } = serde_json::from_str(text).map_err(unparsable)?;
        if format > FORMAT {
            let problem = format!("has format {format}, but this version of scorewise reads formats up to {FORMAT}");
            return Err(fault(problem, "update scorewise"));
        }
        if format == 0 {
            return Err(damaged("its format number is 0, but the first format has the number 1".into()));
        }
        // The metadata of a file of format 1 has no key except that of the description. If the key `checksum` of a later format is damaged, there is
        // still a second key, so the file is not mistaken for a file of format 1.
        let is_consistent = match format {
            1 => contents.checksum.is_none() && !contents.has_more,
            _ => contents.checksum.is_some(),
        };
        if !is_consistent {
            let must_have = if format == 1 { "must not have" } else { "must have" };
            return Err(damaged(format!("a file of format {format} {must_have} a checksum")));
        }
        let description: ModelDescription = serde_json::from_str(text).map_err(unparsable)?;
        let members = build_members(&description, &contents).map_err(damaged)?;
        let model = description.into_model(members).map_err(damaged)?;
        model.check().map_err(damaged)?;
        Ok(model)
    }

    /// The JSON metadata of the model file: everything except the weights.
    pub fn description_json(&self) -> Result<String> {
        serde_json::to_string(&self.description())
            .map_err(|error| Error::data(Location::file("model"), error.to_string(), ""))
    }

    /// Everything that the model file contains except the weights.
    fn description(&self) -> ModelDescription {
        ModelDescription {
            format: FORMAT,
            version: self.version.clone(),
            score: self.score.clone(),
            prior: self.prior.clone(),
            loss: self.loss.clone(),
            decision: self.decision.clone(),
            classes: self.classes.clone(),
            target: self.target.clone(),
            reading: self.reading.clone(),
            encoder: self.encoder.clone(),
            network: None,
            members: self.members.iter().map(Member::description).collect(),
            weights: self.weights.clone(),
            mean: self.mean,
            calibration: self.calibration.as_ref().map(CalibrationDescription::new),
            seed: self.seed,
            fingerprint: self.fingerprint.clone(),
            plan: self.plan.clone(),
            settings: None,
            reference: self.reference.clone(),
            results: self.results.clone(),
        }
    }
}

impl ModelDescription {
    /// Builds the model from this description and the members, which have been built from the tensors of the file.
    fn into_model(self, members: Vec<Member>) -> std::result::Result<Model, String> {
        Ok(Model {
            version: self.version,
            mean: self.mean,
            weights: if self.format < 4 { vec![1.0; members.len()] } else { self.weights },
            reading: self.reading,
            encoder: self.encoder,
            target: self.target,
            classes: self.classes,
            members,
            score: self.score,
            prior: self.prior,
            loss: self.loss,
            decision: self.decision,
            calibration: self.calibration.map(CalibrationDescription::calibration).transpose()?,
            seed: self.seed,
            fingerprint: self.fingerprint,
            plan: self.plan,
            reference: self.reference,
            results: self.results,
        })
    }
}

/// Builds the members from the tensors of a model file. It is an error if a tensor is missing, has the wrong shape, or belongs to no member.
fn build_members(
    description: &ModelDescription,
    contents: &FileContents<'_>,
) -> std::result::Result<Vec<Member>, String> {
    let tensors = contents.tensors.len();
    let described = match (&description.network, description.format) {
        (Some(size), 1) => {
            let member = MemberDescription::Network { widths: size.widths.clone(), positions: Vec::new() };
            // The number of members comes from the file and may be wrong, so it is compared with the number of tensors before memory is allocated.
            let tensors_each = member.tensor_count()? as u64;
            if size.members == 0 || size.members.checked_mul(tensors_each) != Some(tensors as u64) {
                return Err(format!(
                    "the file has {tensors} tensors, but {} members need {tensors_each} each",
                    size.members
                ));
            }
            vec![member; size.members as usize]
        }
        (None, 2..) => description.members.clone(),
        _ => return Err("the description does not list the members of the ensemble".into()),
    };
    let mut expected = 0;
    for member in &described {
        expected += member.tensor_count()?;
    }
    if described.is_empty() || expected != tensors {
        return Err(format!("the file has {tensors} tensors, but its {} members need {expected}", described.len()));
    }
    let member = |(number, description): (usize, &MemberDescription)| {
        let mut tensors = HashMap::new();
        for (name, shape) in description.expected_tensors() {
            let shape: Vec<u64> = shape.iter().map(|width| *width as u64).collect();
            let bytes = contents.tensor(&tensor_name(number, &name), ("F32", 4), &shape)?;
            tensors.insert(name, header::from_bytes(bytes, f32::from_le_bytes));
        }
        description.member(tensors)
    };
    described.iter().enumerate().map(member).collect()
}

/// The name that the tensor `name` of a member has in the model file.
fn tensor_name(member: usize, name: &str) -> String {
    format!("member.{member}.{name}")
}
