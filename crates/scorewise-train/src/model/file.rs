//! Writes and reads model files. A model file is a safetensors file whose metadata contains a JSON string with everything except the weights.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::header::{self, CHECKSUM_DIGITS, CHECKSUM_KEY, DESCRIPTION_KEY, FileContents, HeaderError};
use super::{Decision, Model};
use crate::ensemble::MeanOf;
use crate::learner::{Member, MemberDescription, NamedTensor};
use crate::plan::Plan;
use scorewise_table::encode::Encoder;
use scorewise_table::error::{Error, Location, Result};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::table::Reading;
use scorewise_table::target::Target;

/// The number of the file format that is written. Files of the older formats can still be read: format 1 has no checksum and only networks, format
/// 2 has no binned inputs, and format 3 has no weights of the members.
pub const FORMAT: u64 = 4;
/// The version of scorewise that trains and writes models.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Maximum size of a model file in bytes: 4 GiB, enough for about 2³⁰ parameters, far more than networks for tables usually have. Larger files are
/// not read.
const MAX_FILE_BYTES: u64 = 4 << 30;

const COPY_AGAIN_HINT: &str = "copy the file again from its source, or train the model again";
const GIVE_A_MODEL_HINT: &str = "give a file that was written by `scorewise train`";

/// The JSON metadata of a model file: everything except the weights. The keys are written in the order of the fields.
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
    /// Missing in files before format 4, whose members all have the same weight.
    #[serde(default)]
    weights: Vec<f64>,
    /// Missing in files before format 4, which average probabilities.
    #[serde(default)]
    mean: MeanOf,
    seed: u64,
    fingerprint: String,
    #[serde(default)]
    plan: Option<Plan>,
    /// Present only in files of format 1, which have this key instead of `plan`.
    #[serde(default, skip_serializing)]
    settings: Option<IgnoredAny>,
    results: Value,
}

/// Number of networks in a file of format 1, and the layer widths that all of them have.
#[derive(Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct NetworkSize {
    members: u64,
    widths: Vec<usize>,
}

/// Only the format number of the JSON metadata. It is parsed first, because the other keys depend on the format.
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
            Ok(_) => return Err(invalid("its description is different after it is written and read".into())),
            Err(error) => return Err(invalid(format!("its description cannot be written: {error}"))),
        }
        let mut tensors = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            for NamedTensor { name, shape, values } in member.tensors() {
                tensors.push((tensor_name(number, &name), shape, little_endian_bytes(&values)));
            }
        }
        file_bytes(&text, tensors).map_err(invalid)
    }

    /// Reads a model from the bytes of a file; `name` is the file name in error messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let fault = |problem: String, hint: &str| Error::data(Location::file(name), problem, hint);
        let damaged = |problem: String| fault(format!("is damaged: {}", limit_length(problem)), COPY_AGAIN_HINT);
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
        if let Some(digits) = &contents.checksum
            && header::checksum_offset(bytes, digits).is_none_or(|offset| header::checksum(bytes, offset) != **digits)
        {
            return Err(damaged("its checksum does not match".into()));
        }
        let unparsable = |error: serde_json::Error| damaged(format!("its description cannot be parsed: {error}"));
        let FormatNumber { format } = serde_json::from_str(text).map_err(unparsable)?;
        if format > FORMAT {
            let problem = format!("has format {format}, but this version of scorewise reads formats up to {FORMAT}");
            return Err(fault(problem, "update scorewise"));
        }
        if format == 0 {
            return Err(damaged("there is no format 0".into()));
        }
        // Files of format 1 have neither a checksum nor other metadata. In a file of a later format, a damaged checksum key counts as other metadata,
        // so the file cannot pass for a file of format 1.
        let is_consistent = match format {
            1 => contents.checksum.is_none() && !contents.has_more,
            _ => contents.checksum.is_some(),
        };
        if !is_consistent {
            return Err(damaged(format!(
                "a file of format {format} must {} a checksum",
                if format == 1 { "not have" } else { "have" }
            )));
        }
        let description: ModelDescription = serde_json::from_str(text).map_err(unparsable)?;
        let members = build_members(&description, &contents).map_err(damaged)?;
        let model = description.into_model(members);
        model.check().map_err(damaged)?;
        Ok(model)
    }

    /// The JSON metadata of the model file: everything except the weights.
    pub fn description_json(&self) -> Result<String> {
        serde_json::to_string(&self.description())
            .map_err(|error| Error::data(Location::file("model"), error.to_string(), ""))
    }

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
            seed: self.seed,
            fingerprint: self.fingerprint.clone(),
            plan: self.plan.clone(),
            settings: None,
            results: self.results.clone(),
        }
    }
}

impl ModelDescription {
    fn into_model(self, members: Vec<Member>) -> Model {
        Model {
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
            seed: self.seed,
            fingerprint: self.fingerprint,
            plan: self.plan,
            results: self.results,
        }
    }
}

/// Name, shape and little-endian bytes of an f32 tensor.
type EncodedTensor = (String, Vec<usize>, Vec<u8>);

/// The contents of a model file: the header with the checksum and the JSON metadata `text`, then the tensors sorted by name.
fn file_bytes(text: &str, mut tensors: Vec<EncodedTensor>) -> std::result::Result<Vec<u8>, String> {
    tensors.sort_by(|one, other| one.0.cmp(&other.0));
    let mut header = json!({ "__metadata__": { CHECKSUM_KEY: "0".repeat(CHECKSUM_DIGITS), DESCRIPTION_KEY: text } });
    let mut end = 0;
    for (name, shape, bytes) in &tensors {
        let start = end;
        end += bytes.len();
        header[name] = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, end] });
    }
    let mut header = header.to_string();
    // The header is padded with spaces, so that the tensors begin at a multiple of 8 bytes.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    if header.len() as u64 > header::MAX_HEADER_BYTES {
        return Err(format!("its description has {} bytes, more than {}", header.len(), header::MAX_HEADER_BYTES));
    }
    let mut file = Vec::with_capacity(8 + header.len() + end);
    file.extend((header.len() as u64).to_le_bytes());
    file.extend(header.as_bytes());
    tensors.iter().for_each(|(_, _, bytes)| file.extend(bytes));
    let offset = 8 + format!("{{\"__metadata__\":{{\"{CHECKSUM_KEY}\":\"").len();
    let checksum = header::checksum(&file, offset);
    file[offset..offset + CHECKSUM_DIGITS].copy_from_slice(checksum.as_bytes());
    Ok(file)
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
                return Err(format!("it has {tensors} tensors, but {} members need {tensors_each} each", size.members));
            }
            vec![member; size.members as usize]
        }
        (None, 2..) => description.members.clone(),
        _ => return Err("its description does not list the members of the ensemble".into()),
    };
    let mut expected = 0;
    for member in &described {
        expected += member.tensor_count()?;
    }
    if described.is_empty() || expected != tensors {
        return Err(format!("it has {tensors} tensors, but its {} members need {expected}", described.len()));
    }
    let member = |(number, description): (usize, &MemberDescription)| {
        let mut tensors = HashMap::new();
        for (name, shape) in description.expected_tensors() {
            let shape: Vec<u64> = shape.iter().map(|width| *width as u64).collect();
            let values = tensor_values(contents, &tensor_name(number, &name), &shape)?;
            tensors.insert(name, values);
        }
        description.member(tensors)
    };
    described.iter().enumerate().map(member).collect()
}

/// The name in the model file of the tensor `name` of a member.
fn tensor_name(member: usize, name: &str) -> String {
    format!("member.{member}.{name}")
}

/// The values of the f32 tensor with this name; an error if it is missing or has another type or shape.
fn tensor_values(contents: &FileContents<'_>, name: &str, shape: &[u64]) -> std::result::Result<Vec<f32>, String> {
    let tensor = contents.tensors.get(name).ok_or_else(|| format!("the tensor `{name}` is missing"))?;
    if tensor.dtype != "F32" {
        return Err(format!("the tensor `{name}` has the type `{}`, not `F32`", tensor.dtype.escape_debug()));
    }
    let bytes = shape.iter().try_fold(4, |product: u64, width| product.checked_mul(*width));
    if tensor.shape != shape || bytes != Some(tensor.bytes.len() as u64) {
        let got = FirstFew(&tensor.shape);
        return Err(format!("the tensor `{name}` has shape {got:?} in {} bytes, not {shape:?}", tensor.bytes.len()));
    }
    Ok(tensor.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn little_endian_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Limits an error message to 300 characters, because it may quote any amount of text from a damaged file.
fn limit_length(mut problem: String) -> String {
    if let Some((end, _)) = problem.char_indices().nth(300) {
        problem.truncate(end);
        problem.push('…');
    }
    problem
}

/// Formats at most the first eight elements of a list.
struct FirstFew<'a, T>(&'a [T]);

impl<T: std::fmt::Debug> std::fmt::Debug for FirstFew<'_, T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut list = out.debug_list();
        list.entries(self.0.iter().take(8));
        if self.0.len() > 8 { list.finish_non_exhaustive() } else { list.finish() }
    }
}
