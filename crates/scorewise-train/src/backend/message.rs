//! Data sets, jobs and training results as bytes, for workers in other processes and on other machines.
//!
//! A message is a safetensors file with a checksum, like a model file. Its JSON string says what the message contains and which version of
//! scorewise has written it; a message of another version is refused, because another version may give different results for the same job.
//! Lists of numbers are tensors, so all their bits are kept, also those of losses that are not finite, which JSON cannot express.
//!
//! A message may be damaged or hostile, so everything that training relies on is checked, and sizes are compared with the length of the
//! message before memory is allocated.

use std::collections::HashMap;
use std::sync::Arc;

use scorewise_table::Matrix;
use scorewise_table::encode::BinnedColumn;
use scorewise_table::error::{Error, Location, Result};
use scorewise_table::target::MAX_CLASSES;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::fit::{Epoch, Fit, Phase, StopReason};
use crate::job::{Dataset, Job, RowSplit};
use crate::learner::{MemberDescription, NamedTensor};
use crate::model::VERSION;
use crate::model::header::{self, EncodedTensor, FileContents, HeaderError, from_bytes, shortened, to_bytes};

/// Version number of the message format.
const MESSAGE_FORMAT: u64 = 2;

/// Value of the field `kind` of a message that contains data sets. Errors about such messages also contain this text.
const DATASETS: &str = "data sets";
/// Value of the field `kind` of a message that contains jobs. Errors about such messages also contain this text.
const JOBS: &str = "jobs";
/// Value of the field `kind` of a message that contains the training results or the error of a worker. Errors about such messages also
/// contain this text.
const FITS: &str = "results";

/// The name of f32 numbers in safetensors, and the size of such a number in bytes.
const F32: (&str, u64) = ("F32", 4);
/// The name of f64 numbers in safetensors, and the size of such a number in bytes.
const F64: (&str, u64) = ("F64", 8);
/// The name of u32 numbers in safetensors, and the size of such a number in bytes.
const U32: (&str, u64) = ("U32", 4);

/// What is wrong, in words for an error message.
type Problem = String;

/// Everything in a message except the tensors. It is written as a JSON string.
#[derive(Serialize, Deserialize)]
struct MessageDescription<T> {
    kind: String,
    format: u64,
    version: String,
    contents: T,
}

/// The part of a data set that is written as JSON. The matrix, labels, weights and row indices are stored as tensors, and several data sets can refer
/// to the same tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatasetDescription {
    rows: usize,
    columns: usize,
    classes: usize,
    /// The name of the tensor with the features. The tensors that data sets can share have numbers as names.
    matrix: usize,
    labels: usize,
    weights: Option<usize>,
    places: Option<usize>,
    /// For each binned column, three numbers: how many knots, frequent values and levels it has.
    binned: Option<Vec<[usize; 3]>>,
    /// For each split, the number of training rows and the number of validation rows.
    splits: Vec<[usize; 2]>,
}

/// The response of a worker: either its training results, each with the duration of the training in seconds, or an error message.
pub(super) type Response = std::result::Result<Vec<(Fit, f64)>, String>;

/// The part of a [`Response`] that is written as JSON: everything except the tensors of the training results.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseDescription {
    /// Identifies the data sets and jobs that the worker received; computed by [`request_hash`].
    request_hash: String,
    fits: std::result::Result<Vec<FitDescription>, String>,
}

/// The part of a training result that is written as JSON. The parameters of the member and the losses of the epochs are stored as tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FitDescription {
    member: MemberDescription,
    /// Number of epochs of the warm-up.
    warm_up: usize,
    /// Number of epochs of the main phase.
    main: usize,
    kept: Option<usize>,
    stop_reason: StopReason,
    success: bool,
    restarts: usize,
}

impl Dataset {
    /// Encodes several data sets as bytes. A matrix that several data sets share is stored once.
    pub fn to_bytes(datasets: &[Dataset]) -> Result<Vec<u8>> {
        let mut tensors = Vec::new();
        // A tensor that several data sets may share has a number as its name. This map finds the number of a tensor by its type, its address in
        // memory and its shape.
        let mut numbers = HashMap::new();
        let mut share =
            |(dtype, _): (&'static str, u64), address: usize, shape: Vec<usize>, bytes: &dyn Fn() -> Vec<u8>| {
                let next = numbers.len();
                *numbers.entry((dtype, address, shape.clone())).or_insert_with(|| {
                    tensors.push(EncodedTensor { name: next.to_string(), dtype, shape, bytes: bytes() });
                    next
                })
            };
        let mut contents = Vec::with_capacity(datasets.len());
        let mut own = Vec::new();
        for (index, dataset) in datasets.iter().enumerate() {
            check(dataset).map_err(|problem| invalid(DATASETS, &format!("data set {index} {problem}")))?;
            let Dataset { matrix, binned, labels, classes, weights, places, splits } = dataset;
            let (rows, columns) = (matrix.rows(), matrix.columns());
            let binned = binned.as_deref().map(|binned| {
                let values: Vec<f32> =
                    binned.iter().flat_map(|b| [&b.knots, &b.own, &b.own_positions]).flatten().copied().collect();
                own.push(vector(format!("binned.{index}"), F32, values.len(), to_bytes(&values, f32::to_le_bytes)));
                binned.iter().map(|column| [column.knots.len(), column.own.len(), column.levels]).collect()
            });
            let row_numbers: Vec<u32> =
                splits.iter().flat_map(|split| [&split.training, &split.validation]).flatten().copied().collect();
            let bytes = to_bytes(&row_numbers, u32::to_le_bytes);
            own.push(vector(format!("splits.{index}"), U32, row_numbers.len(), bytes));
            contents.push(DatasetDescription {
                rows,
                columns,
                classes: *classes,
                matrix: share(F32, matrix.padded().0.as_ptr() as usize, vec![rows, columns], &|| matrix.to_bytes()),
                labels: share(U32, labels.as_ptr() as usize, vec![rows], &|| to_bytes(labels, u32::to_le_bytes)),
                weights: weights.as_ref().map(|weights| {
                    share(F32, weights.as_ptr() as usize, vec![rows], &|| to_bytes(weights, f32::to_le_bytes))
                }),
                places: places.as_ref().map(|places| {
                    share(U32, places.as_ptr() as usize, vec![rows], &|| to_bytes(places, u32::to_le_bytes))
                }),
                binned,
                splits: splits.iter().map(|split| [split.training.len(), split.validation.len()]).collect(),
            });
        }
        tensors.extend(own);
        write(DATASETS, &contents, tensors)
    }

    /// Decodes data sets from the bytes that [`Dataset::to_bytes`] returned. All numbers keep their bits, and data sets that shared a matrix
    /// share it again.
    pub fn from_bytes(bytes: &[u8]) -> Result<Vec<Dataset>> {
        let (descriptions, contents) = read::<Vec<DatasetDescription>>(DATASETS, bytes)?;
        let mut shared = SharedNumbers::default();
        let mut datasets = Vec::with_capacity(descriptions.len());
        for (index, description) in descriptions.iter().enumerate() {
            let dataset = dataset(index, description, &contents, &mut shared);
            datasets.push(dataset.map_err(|problem| damaged(DATASETS, format!("data set {index}: {problem}")))?);
        }
        let own: usize = descriptions.iter().map(|description| 1 + usize::from(description.binned.is_some())).sum();
        let used = own + shared.matrices.len() + shared.labels.len() + shared.weights.len() + shared.places.len();
        if used != contents.tensors.len() {
            return Err(damaged(DATASETS, "the message contains tensors that belong to none of its data sets".into()));
        }
        Ok(datasets)
    }
}

/// The tensors that have been decoded so far and that further data sets may share. The keys are the names of the tensors, which are
/// numbers.
#[derive(Default)]
struct SharedNumbers {
    matrices: HashMap<usize, Matrix>,
    labels: HashMap<usize, Arc<[u32]>>,
    weights: HashMap<usize, Arc<[f32]>>,
    places: HashMap<usize, Arc<[u32]>>,
}

/// Decodes the data set with this index from its description and the tensors of the message.
fn dataset(
    index: usize,
    description: &DatasetDescription,
    contents: &FileContents<'_>,
    shared: &mut SharedNumbers,
) -> std::result::Result<Dataset, Problem> {
    let DatasetDescription { rows, columns, classes, matrix, labels, weights, places, binned, splits } = description;
    // A matrix without rows is refused: its number of columns could be huge although the message is short, and memory is allocated for a row of
    // zeros that follows the rows of every matrix.
    if *rows == 0 {
        return Err("has no rows".into());
    }
    let vector_of = |number: &usize, dtype| contents.tensor(&number.to_string(), dtype, &[*rows as u64]);
    let bytes = contents.tensor(&matrix.to_string(), F32, &[*rows as u64, *columns as u64])?;
    if !shared.matrices.contains_key(matrix) {
        shared.matrices.insert(*matrix, Matrix::from_bytes(*columns, bytes).ok_or("has no columns")?);
    }
    let bytes = vector_of(labels, U32)?;
    let labels = shared.labels.entry(*labels).or_insert_with(|| from_bytes(bytes, u32::from_le_bytes).into()).clone();
    let weights = match weights {
        Some(weights) => {
            let bytes = vector_of(weights, F32)?;
            let read = || from_bytes(bytes, f32::from_le_bytes).into();
            Some(shared.weights.entry(*weights).or_insert_with(read).clone())
        }
        None => None,
    };
    let places = match places {
        Some(places) => {
            let bytes = vector_of(places, U32)?;
            let read = || from_bytes(bytes, u32::from_le_bytes).into();
            Some(shared.places.entry(*places).or_insert_with(read).clone())
        }
        None => None,
    };
    let binned = match binned {
        Some(binned) => {
            let lengths: Vec<usize> = binned.iter().flat_map(|[knots, own, _]| [*knots, *own, *own]).collect();
            let mut parts = parts(contents, &format!("binned.{index}"), F32, &lengths, f32::from_le_bytes)?.into_iter();
            let mut next = || parts.next().unwrap_or_default();
            let column = |[_, _, levels]: &[usize; 3]| BinnedColumn {
                knots: next(),
                own: next(),
                own_positions: next(),
                levels: *levels,
            };
            Some(binned.iter().map(column).collect())
        }
        None => None,
    };
    let lengths: Vec<usize> = splits.iter().flatten().copied().collect();
    let mut parts = parts(contents, &format!("splits.{index}"), U32, &lengths, u32::from_le_bytes)?.into_iter();
    let mut next = || parts.next().unwrap_or_default();
    let splits = splits.iter().map(|_| RowSplit { training: next(), validation: next() }).collect();
    let dataset =
        Dataset { matrix: shared.matrices[matrix].clone(), binned, labels, classes: *classes, weights, places, splits };
    check(&dataset)?;
    Ok(dataset)
}

/// Checks that a data set is not empty, that its lists have the right lengths, and that it has an allowed number of classes. If the columns are
/// binned, also checks that every number in the matrix lies between 0 and the last position of its column (see [`BinnedColumn::positions`]). Training
/// relies on these checks.
fn check(dataset: &Dataset) -> std::result::Result<(), Problem> {
    let Dataset { matrix, binned, labels, classes, weights, places, .. } = dataset;
    let (rows, columns) = (matrix.rows(), matrix.columns());
    if rows == 0 || columns == 0 {
        return Err(format!("has {rows} rows and {columns} columns, but needs at least one of each"));
    }
    if labels.len() != rows || weights.as_ref().is_some_and(|weights| weights.len() != rows) {
        return Err(format!("has {rows} rows, but a different number of labels or weights"));
    }
    if places.as_ref().is_some_and(|places| places.len() != rows) {
        return Err(format!("has {rows} rows, but gives the order in time of a different number of rows"));
    }
    if !(2..=MAX_CLASSES).contains(classes) {
        return Err(format!("has {classes} classes; it must have 2 to {MAX_CLASSES}"));
    }
    let Some(binned) = binned else { return Ok(()) };
    if binned.len() != columns {
        return Err(format!("has {columns} columns, but describes the knots and levels of {} columns", binned.len()));
    }
    for (number, column) in binned.iter().enumerate() {
        // Every level of a categorical column occurs in a row, so there are at most as many levels as rows. `levels` counts unknown levels as one
        // more level, and missing values as another.
        if column.own.len() != column.own_positions.len() || column.levels > rows + 2 || column.positions() == 0 {
            return Err(format!(
                "has a column {number} whose numbers of knots, frequent values and levels are inconsistent"
            ));
        }
        let last = (column.positions() - 1) as f32;
        if let Some(row) = (0..rows).find(|row| !(0.0..=last).contains(&matrix.row(*row)[number])) {
            let position = matrix.row(row)[number];
            return Err(format!(
                "has the number {position} in row {row} of column {number}, but the positions of this column are 0 to {last}"
            ));
        }
    }
    Ok(())
}

impl Job {
    /// Encodes several jobs as bytes.
    pub fn to_bytes(jobs: &[Job]) -> Result<Vec<u8>> {
        let bytes = write(JOBS, &jobs, Vec::new())?;
        // Some settings cannot be expressed in JSON, such as infinite numbers. Decoding the bytes here finds them before a worker receives them.
        match Job::from_bytes(&bytes) {
            Ok(copies) if copies == jobs => Ok(bytes),
            _ => Err(invalid(JOBS, "a setting cannot be written as JSON")),
        }
    }

    /// Decodes jobs from the bytes that [`Job::to_bytes`] returned.
    pub fn from_bytes(bytes: &[u8]) -> Result<Vec<Job>> {
        let (jobs, contents) = read::<Vec<Job>>(JOBS, bytes)?;
        if !contents.tensors.is_empty() {
            return Err(damaged(JOBS, "a message with jobs must not contain tensors".into()));
        }
        Ok(jobs)
    }
}

/// A hash that identifies the data sets and jobs that a worker received. The worker sends this hash with its response, so that the response to one
/// chunk of jobs cannot be mistaken for a response to another chunk or from another training run.
pub(super) fn request_hash(datasets: &[u8], jobs: &[u8]) -> String {
    let hash = |bytes: &[u8]| xxhash_rust::xxh3::xxh3_64(bytes);
    format!("{:016x}{:016x}", hash(datasets), hash(jobs))
}

/// Encodes the response of a worker as bytes. `request_hash` is the hash of the data sets and jobs that the worker received.
pub(super) fn response_bytes(request_hash: String, response: &Response) -> Result<Vec<u8>> {
    let mut tensors = Vec::new();
    let fits = match response {
        Ok(fits) => {
            let mut describe = |(number, (fit, seconds)): (usize, &(Fit, f64))| {
                let Fit { member, warm_up, first, history, kept, stop_reason, success, restarts } = fit;
                for NamedTensor { name, shape, values } in member.tensors() {
                    let (name, bytes) = (format!("{number}.{name}"), to_bytes(&values, f32::to_le_bytes));
                    tensors.push(EncodedTensor { name, dtype: F32.0, shape, bytes });
                }
                let epoch = |epoch: &Epoch| {
                    let phase = if epoch.phase == Phase::Main { 1.0 } else { 0.0 };
                    [phase, epoch.training, epoch.validation, epoch.coverage]
                };
                let epochs = warm_up.iter().chain(history).flat_map(epoch);
                let values: Vec<f64> = [*first, *seconds].into_iter().chain(epochs).collect();
                tensors.push(vector(format!("{number}"), F64, values.len(), to_bytes(&values, f64::to_le_bytes)));
                FitDescription {
                    member: member.description(),
                    warm_up: warm_up.len(),
                    main: history.len(),
                    kept: *kept,
                    stop_reason: *stop_reason,
                    success: *success,
                    restarts: *restarts,
                }
            };
            Ok(fits.iter().enumerate().map(&mut describe).collect())
        }
        Err(problem) => Err(problem.clone()),
    };
    write(FITS, &ResponseDescription { request_hash, fits }, tensors)
}

/// Decodes the response of a worker from its bytes. Returns an error if the worker received other data sets or jobs than those with the
/// hash `request_hash`.
pub(super) fn response_from_bytes(request_hash: &str, bytes: &[u8]) -> Result<Response> {
    let (response, contents) = read::<ResponseDescription>(FITS, bytes)?;
    if response.request_hash != request_hash {
        let problem = "contains the results of other jobs or other data sets";
        return Err(Error::data(place(FITS), problem, "pass the bytes that `train_chunk` returned for this chunk"));
    }
    let descriptions = match response.fits {
        Ok(descriptions) => descriptions,
        Err(problem) => return Ok(Err(problem)),
    };
    let mut used = 0;
    let mut fits = Vec::with_capacity(descriptions.len());
    for (number, description) in descriptions.into_iter().enumerate() {
        let fit = fit(number, description, &contents, &mut used);
        fits.push(fit.map_err(|problem| damaged(FITS, format!("training result {number}: {problem}")))?);
    }
    if used != contents.tensors.len() {
        return Err(damaged(FITS, "the response contains tensors that belong to none of its training results".into()));
    }
    Ok(Ok(fits))
}

/// Decodes the training result with this index, and the duration of its training in seconds. Adds the number of its tensors to `used`.
fn fit(
    number: usize,
    description: FitDescription,
    contents: &FileContents<'_>,
    used: &mut usize,
) -> std::result::Result<(Fit, f64), Problem> {
    let FitDescription { member, warm_up, main, kept, stop_reason, success, restarts } = description;
    let mut tensors = HashMap::new();
    // The number of tensors is checked before their names are listed, because a damaged description may ask for very many layers.
    if member.tensor_count()? > contents.tensors.len() {
        return Err("tensors are missing".into());
    }
    for (name, shape) in member.expected_tensors() {
        let shape: Vec<u64> = shape.iter().map(|width| *width as u64).collect();
        let bytes = contents.tensor(&format!("{number}.{name}"), F32, &shape)?;
        tensors.insert(name, from_bytes(bytes, f32::from_le_bytes));
    }
    *used += tensors.len() + 1;
    let member = member.member(tensors)?;
    let count = |epochs: usize| epochs.checked_mul(4).ok_or("the training result has too many epochs");
    let lengths = [2, count(warm_up)?, count(main)?];
    let parts = parts(contents, &number.to_string(), F64, &lengths, f64::from_le_bytes)?;
    let [numbers, warm_up, history] = &parts[..] else { return Err("the training result has no epochs".into()) };
    let epochs = |values: &[f64]| -> std::result::Result<Vec<Epoch>, Problem> {
        let epoch = |[phase, training, validation, coverage]: &[f64; 4]| {
            let phase = match *phase {
                0.0 => Phase::WarmUp,
                1.0 => Phase::Main,
                _ => return Err("an epoch has an unknown phase".into()),
            };
            Ok(Epoch { phase, training: *training, validation: *validation, coverage: *coverage })
        };
        values.as_chunks().0.iter().map(epoch).collect()
    };
    let (warm_up, history) = (epochs(warm_up)?, epochs(history)?);
    if !member.is_finite() || kept.is_some_and(|kept| kept >= history.len()) {
        return Err(
            "the weights of the member are not finite, or the epoch whose weights were kept does not exist".into()
        );
    }
    let fit = Fit { member, warm_up, first: numbers[0], history, kept, stop_reason, success, restarts };
    Ok((fit, numbers[1]))
}

/// A tensor with one dimension, to be written to a message.
fn vector(name: String, (dtype, _): (&'static str, u64), length: usize, bytes: Vec<u8>) -> EncodedTensor {
    EncodedTensor { name, dtype, shape: vec![length], bytes }
}

/// Reads the numbers of a tensor with one dimension, and divides them into lists of the given lengths.
fn parts<const N: usize, T: Clone>(
    contents: &FileContents<'_>,
    name: &str,
    dtype: (&str, u64),
    lengths: &[usize],
    number_of: fn([u8; N]) -> T,
) -> std::result::Result<Vec<Vec<T>>, Problem> {
    let sum = lengths.iter().try_fold(0u64, |sum, length| sum.checked_add(*length as u64));
    let bytes = contents.tensor(name, dtype, &[sum.ok_or("the total length of its lists does not fit in 64 bits")?])?;
    let numbers = from_bytes(bytes, number_of);
    let mut rest = &numbers[..];
    let part = |length: &usize| {
        let (part, after) = rest.split_at(*length);
        rest = after;
        part.to_vec()
    };
    Ok(lengths.iter().map(part).collect())
}

/// Encodes a message of the given kind as bytes: `contents` as JSON, followed by the tensors.
fn write<T: Serialize>(kind: &str, contents: &T, tensors: Vec<EncodedTensor>) -> Result<Vec<u8>> {
    let description =
        MessageDescription { kind: kind.into(), format: MESSAGE_FORMAT, version: VERSION.into(), contents };
    let text = serde_json::to_string(&description).map_err(|error| invalid(kind, &error.to_string()))?;
    header::write(&text, tensors).map_err(|problem| invalid(kind, &problem))
}

/// Decodes a message. Returns an error if the message is damaged, is of another kind, or was written by another version of scorewise.
fn read<'a, T: DeserializeOwned>(kind: &str, bytes: &'a [u8]) -> Result<(T, FileContents<'a>)> {
    let contents = header::read(bytes).map_err(|error| match error {
        HeaderError::Foreign => Error::data(place(kind), "is not a message of scorewise", AGAIN),
        HeaderError::Truncated(problem) => Error::data(place(kind), problem, AGAIN),
        HeaderError::Damaged(problem) => damaged(kind, problem),
    })?;
    if !contents.has_correct_checksum(bytes) {
        return Err(damaged(kind, "its checksum does not match".into()));
    }
    let text = contents.description.as_deref().unwrap_or_default();
    let unparsable = |error: serde_json::Error| damaged(kind, format!("its description cannot be parsed: {error}"));
    let head: MessageDescription<IgnoredAny> = serde_json::from_str(text).map_err(unparsable)?;
    if head.format != MESSAGE_FORMAT || head.version != VERSION {
        let problem = format!(
            "was written by scorewise {} in format {}, but this is scorewise {VERSION} with format {MESSAGE_FORMAT}",
            shortened(head.version.escape_debug().to_string()),
            head.format
        );
        return Err(Error::data(place(kind), problem, "install the same version on all machines"));
    }
    if head.kind != kind {
        let problem = format!("contains {}, not {kind}", shortened(head.kind.escape_debug().to_string()));
        let hint = "check that the bytes of data sets, jobs and results have not been mixed up";
        return Err(Error::data(place(kind), problem, hint));
    }
    let description: MessageDescription<T> = serde_json::from_str(text).map_err(unparsable)?;
    Ok((description.contents, contents))
}

/// The hint in errors about a damaged message.
const AGAIN: &str = "send the message again";

/// The location that errors about a message of this kind begin with.
fn place(kind: &str) -> Location {
    Location::file(&format!("message with {kind}"))
}

/// The error for a message that is damaged.
fn damaged(kind: &str, problem: Problem) -> Error {
    Error::data(place(kind), format!("is damaged: {}", shortened(problem)), AGAIN)
}

/// The error for values that cannot be sent.
fn invalid(kind: &str, problem: &str) -> Error {
    Error::data(place(kind), format!("cannot be written: {problem}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Member;
    use crate::network::{Network, NetworkShape};

    #[test]
    fn a_training_result_with_losses_that_are_not_finite_has_the_same_bits_after_a_round_trip() {
        let epoch = |phase, training, validation| Epoch { phase, training, validation, coverage: -0.0 };
        let network = Network::glorot(NetworkShape::look_up(vec![3, 2], &[5], 2).unwrap(), 3);
        let fit = Fit {
            member: Member::Network(network),
            warm_up: vec![epoch(Phase::WarmUp, f64::INFINITY, 0.1), epoch(Phase::WarmUp, 1.0 / 3.0, -f64::NAN)],
            first: f64::from_bits(0x7ff8_dead_beef_0001),
            history: vec![epoch(Phase::Main, f64::MIN_POSITIVE / 5.0, f64::NEG_INFINITY)],
            kept: Some(0),
            stop_reason: StopReason::Diverged,
            success: true,
            restarts: 7,
        };
        let request_hash = request_hash(b"data sets", b"jobs");
        let bytes = response_bytes(request_hash.clone(), &Ok(vec![(fit.clone(), 0.1), (fit.clone(), 2.5)])).unwrap();
        let copies = response_from_bytes(&request_hash, &bytes).unwrap().unwrap();
        let bits = |fit: &Fit| {
            let epochs = fit.warm_up.iter().chain(&fit.history);
            let numbers: Vec<f64> =
                epochs.flat_map(|e| [e.training, e.validation, e.coverage]).chain([fit.first]).collect();
            numbers.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        assert_eq!(copies.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>(), [0.1, 2.5]);
        for (copy, _) in copies {
            assert_eq!((bits(&copy), &copy.member, format!("{copy:?}")), (bits(&fit), &fit.member, format!("{fit:?}")));
        }
        let error = response_from_bytes(
            &request_hash,
            &response_bytes(request_hash.clone(), &Err("no memory".into())).unwrap(),
        );
        assert_eq!(error.unwrap().unwrap_err(), "no memory");
    }
}
