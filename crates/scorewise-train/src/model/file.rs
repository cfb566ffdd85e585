//! A model as bytes and back: safetensors with one JSON text.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::header::{self, CHECKSUM, Contents, DIGITS, Fault, KEY};
use super::{Decision, Model};
use crate::learner::{Member, MemberDescription, NamedTensor};
use crate::plan::Plan;
use scorewise_table::encode::Encoder;
use scorewise_table::error::{Error, Place, Result};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::table::Reading;
use scorewise_table::target::Target;

/// The number of the file format. scorewise reads its own format and all before it. Format 1 had no checksum and networks only.
pub const FORMAT: u64 = 2;
/// The version of scorewise that trains and writes models.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Files beyond this are refused unread: a network of a thousand million numbers is not ours.
const LARGEST: u64 = 4 << 30;

const AGAIN: &str = "copy the file again from where it came, or train the model anew";
const ANOTHER: &str = "name a file that `scorewise train` has written";

/// All of a model but its weights, in the order in which it is written.
#[derive(Serialize, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Description {
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
    /// What a file of format 1 has instead of `members`.
    #[serde(default, skip_serializing)]
    network: Option<NetworkSize>,
    #[serde(default)]
    members: Vec<MemberDescription>,
    seed: u64,
    fingerprint: String,
    #[serde(default)]
    plan: Option<Plan>,
    /// What a file of format 1 has instead of the plan.
    #[serde(default, skip_serializing)]
    settings: Option<IgnoredAny>,
    results: Value,
}

/// Number and widths of the networks of a file of format 1.
#[derive(Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct NetworkSize {
    members: u64,
    widths: Vec<usize>,
}

/// Read before the rest, which another format may have changed.
#[derive(Deserialize)]
struct Format {
    format: u64,
}

impl Model {
    /// Writes the file, whole or not at all. It takes the place of an older model, and of no other file.
    pub fn save(&self, path: &Path) -> Result<()> {
        Outputs::new().write(path, OutputKind::Model, &self.to_bytes()?)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let fault = |problem: String, hint: &str| Error::data(Place::file(&name), problem, hint);
        let unreadable = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => fault("there is no such file".into(), ANOTHER),
            ErrorKind::PermissionDenied => fault("may not be read".into(), "ask its owner for the right to read it"),
            _ => fault(format!("cannot be read: {error}"), ""),
        };
        let about = std::fs::metadata(path).map_err(unreadable)?;
        if about.is_dir() {
            return Err(fault("is a folder, not a model".into(), ANOTHER));
        }
        if !about.is_file() {
            return Err(fault("is no regular file".into(), ANOTHER));
        }
        if about.len() > LARGEST {
            return Err(fault(format!("has {} bytes; a model has at most {LARGEST}", about.len()), ANOTHER));
        }
        let mut bytes = Vec::with_capacity(about.len() as usize);
        // A file that grows meanwhile is read as far as it went at first.
        File::open(path).and_then(|file| file.take(about.len()).read_to_end(&mut bytes)).map_err(unreadable)?;
        Model::from_bytes(&name, &bytes)
    }

    /// The bytes of the file: the same for equal models.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let unfit = |problem: String| Error::setting("model", problem, "");
        self.check().map_err(unfit)?;
        let description = self.description();
        let text = serde_json::to_string(&description).map_err(|error| unfit(error.to_string()))?;
        // A number that JSON cannot hold would be found missing by whoever loads the file: find it now.
        match serde_json::from_str::<Description>(&text) {
            Ok(back) if back == description => {}
            Ok(_) => return Err(unfit("its description changes when it is written and read".into())),
            Err(error) => return Err(unfit(format!("its description cannot be written: {error}"))),
        }
        let mut tensors = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            for NamedTensor { name, shape, values } in member.tensors() {
                tensors.push((tensor_name(number, &name), shape, to_bytes(&values)));
            }
        }
        assembled(&text, tensors).map_err(unfit)
    }

    /// From the bytes of a file; `name` is for messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let fault = |problem: String, hint: &str| Error::data(Place::file(name), problem, hint);
        let damaged = |problem: String| fault(format!("is damaged: {}", clipped(problem)), AGAIN);
        if bytes.is_empty() {
            return Err(fault("is empty".into(), AGAIN));
        }
        let contents = header::read(bytes).map_err(|shell| match shell {
            Fault::Foreign => fault("is not a scorewise model".into(), ANOTHER),
            Fault::Cut(problem) => fault(problem, AGAIN),
            Fault::Damaged(problem) => damaged(problem),
        })?;
        let Some(text) = contents.description.as_deref() else {
            return Err(fault("is a safetensors file but not a scorewise model".into(), ANOTHER));
        };
        if let Some(digits) = &contents.checksum
            && header::place_of_digits(bytes, digits).is_none_or(|at| header::checksum(bytes, at) != **digits)
        {
            return Err(damaged("its checksum does not match".into()));
        }
        let description = |error: serde_json::Error| damaged(format!("its description does not read: {error}"));
        let Format { format } = serde_json::from_str(text).map_err(description)?;
        if format > FORMAT {
            let problem = format!("was written in format {format}; this scorewise reads up to {FORMAT}");
            return Err(fault(problem, "update scorewise"));
        }
        if format == 0 {
            return Err(damaged("there is no format 0".into()));
        }
        // Files of format 1 have neither a checksum nor anything in its place: one of a later format cannot pass for one of them.
        let fits = match format {
            1 => contents.checksum.is_none() && !contents.has_more,
            _ => contents.checksum.is_some(),
        };
        if !fits {
            return Err(damaged(format!(
                "a file of format {format} has {} checksum",
                if format == 1 { "no" } else { "a" }
            )));
        }
        let description: Description = serde_json::from_str(text).map_err(description)?;
        let members = members(&description, &contents).map_err(damaged)?;
        let model = description.with(members);
        model.check().map_err(damaged)?;
        Ok(model)
    }

    /// All but the weights, as the JSON text that stands in the file.
    pub fn description_json(&self) -> Result<String> {
        serde_json::to_string(&self.description())
            .map_err(|error| Error::data(Place::file("model"), error.to_string(), ""))
    }

    fn description(&self) -> Description {
        Description {
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
            seed: self.seed,
            fingerprint: self.fingerprint.clone(),
            plan: self.plan.clone(),
            settings: None,
            results: self.results.clone(),
        }
    }
}

impl Description {
    fn with(self, members: Vec<Member>) -> Model {
        Model {
            version: self.version,
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

/// The name, the shape and the bytes of a tensor of f32 numbers.
type Tensor = (String, Vec<usize>, Vec<u8>);

/// The bytes of a file: header, tensors by name, and the checksum over both.
fn assembled(text: &str, mut tensors: Vec<Tensor>) -> std::result::Result<Vec<u8>, String> {
    tensors.sort_by(|one, other| one.0.cmp(&other.0));
    let mut header = json!({ "__metadata__": { CHECKSUM: "0".repeat(DIGITS), KEY: text } });
    let mut end = 0;
    for (name, shape, bytes) in &tensors {
        let start = end;
        end += bytes.len();
        header[name] = json!({ "dtype": "F32", "shape": shape, "data_offsets": [start, end] });
    }
    let mut header = header.to_string();
    // Blanks at the end, so that the tensors begin at a multiple of 8.
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    if header.len() as u64 > header::LONGEST {
        return Err(format!("its description has {} bytes, more than {}", header.len(), header::LONGEST));
    }
    let mut file = Vec::with_capacity(8 + header.len() + end);
    file.extend((header.len() as u64).to_le_bytes());
    file.extend(header.as_bytes());
    tensors.iter().for_each(|(_, _, bytes)| file.extend(bytes));
    let at = 8 + format!("{{\"__metadata__\":{{\"{CHECKSUM}\":\"").len();
    let checksum = header::checksum(&file, at);
    file[at..at + DIGITS].copy_from_slice(checksum.as_bytes());
    Ok(file)
}

/// The members, if every tensor of their descriptions is there with its shape, and no other.
fn members(description: &Description, contents: &Contents<'_>) -> std::result::Result<Vec<Member>, String> {
    let tensors = contents.tensors.len();
    let described = match (&description.network, description.format) {
        (Some(size), 1) => {
            let member = MemberDescription::Network { widths: size.widths.clone() };
            // The number comes from the file: it is compared with the number of tensors before a list of that length is made.
            let each = member.tensor_count()? as u64;
            if size.members == 0 || size.members.checked_mul(each) != Some(tensors as u64) {
                return Err(format!("it has {tensors} tensors, but {} members need {each} each", size.members));
            }
            vec![member; size.members as usize]
        }
        (None, 2..) => description.members.clone(),
        _ => return Err("its description does not name its members".into()),
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
            let values = numbers(contents, &tensor_name(number, &name), &shape)?;
            tensors.insert(name, values);
        }
        description.member(tensors)
    };
    described.iter().enumerate().map(member).collect()
}

/// The name in the file of a member's tensor.
fn tensor_name(member: usize, name: &str) -> String {
    format!("member.{member}.{name}")
}

/// The numbers of a tensor of this shape.
fn numbers(contents: &Contents<'_>, name: &str, shape: &[u64]) -> std::result::Result<Vec<f32>, String> {
    let tensor = contents.tensors.get(name).ok_or_else(|| format!("the tensor `{name}` is missing"))?;
    if tensor.kind != "F32" {
        return Err(format!("the tensor `{name}` holds `{}`, not `F32`", tensor.kind.escape_debug()));
    }
    let bytes = shape.iter().try_fold(4, |product: u64, width| product.checked_mul(*width));
    if tensor.shape != shape || bytes != Some(tensor.bytes.len() as u64) {
        let got = Few(&tensor.shape);
        return Err(format!("the tensor `{name}` has shape {got:?} in {} bytes, not {shape:?}", tensor.bytes.len()));
    }
    Ok(tensor.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A message without the rest of what a damaged file made it quote.
fn clipped(mut problem: String) -> String {
    if let Some((end, _)) = problem.char_indices().nth(300) {
        problem.truncate(end);
        problem.push('…');
    }
    problem
}

/// The first few of a list that may be long.
struct Few<'a, T>(&'a [T]);

impl<T: std::fmt::Debug> std::fmt::Debug for Few<'_, T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut list = out.debug_list();
        list.entries(self.0.iter().take(8));
        if self.0.len() > 8 { list.finish_non_exhaustive() } else { list.finish() }
    }
}
