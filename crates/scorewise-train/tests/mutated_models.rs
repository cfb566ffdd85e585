//! Reads 70 000 damaged model files with networks, trees, or both. If the checksum was not corrected after the damage, the file either fails to load
//! or predicts the same bits as the original. If the checksum was corrected, as an attacker would do, the file loads or gives a clear error. No file
//! causes a panic or takes more memory than `docs/model-file.md` states.

// Tests and their helpers may call `unwrap`, because a panic fails the test.
#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use crate::models::random_bits;
use scorewise_train::model::{Decision, Model, Predictor};
use scorewise_train::{Location, onnx};
use serde_json::{Value, json};

/// The documented limit of the peak memory is this number times the file size plus [`CONSTANT_MEMORY_BYTES`].
const MEMORY_BYTES_PER_FILE_BYTE: usize = 160;
/// The part of the documented limit that does not depend on the file size, in bytes.
const CONSTANT_MEMORY_BYTES: usize = 64 << 10;

/// An allocator that counts the bytes that the current thread has allocated. While a list grows, its old and its new memory are both counted,
/// because both may exist at the same time.
struct CountingAllocator;

thread_local! {
    /// Number of bytes that this thread has allocated and not yet freed since [`peak_memory`] was called.
    static ALLOCATED_BYTES: Cell<usize> = const { Cell::new(0) };
    /// The greatest value of [`ALLOCATED_BYTES`] since [`peak_memory`] was called.
    static PEAK_BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all calls are forwarded to the system allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_add(layout.size()));
        // If this thread frees memory that another thread has allocated, the counter falls below 0 and wraps around to a very large number, which
        // must not count as a peak.
        if ALLOCATED_BYTES.get() < usize::MAX / 2 {
            PEAK_BYTES.set(PEAK_BYTES.get().max(ALLOCATED_BYTES.get()));
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The peak memory of a computation in bytes, and its result.
pub fn peak_memory<T>(work: impl FnOnce() -> T) -> (usize, T) {
    ALLOCATED_BYTES.set(0);
    PEAK_BYTES.set(0);
    let result = work();
    (PEAK_BYTES.get(), result)
}

/// A reproducible random number generator for tests that damage files at random.
pub struct MutationRandom {
    pub seed: u64,
    pub numbers_drawn: u64,
}

impl MutationRandom {
    /// The next random number, from 0 to `count` − 1.
    pub fn number_below(&mut self, count: usize) -> usize {
        self.numbers_drawn += 1;
        ((u128::from(random_bits(self.seed, self.numbers_drawn)) * count as u128) >> 64) as usize
    }

    /// The next random number, from 0 to 255.
    fn random_byte(&mut self) -> u8 {
        self.number_below(256) as u8
    }
}

/// Loads a file, and checks how much memory this takes. If the file does not load, checks the error message; otherwise uses the model. Returns
/// whether the file loaded.
fn check_loading(bytes: &[u8], what: &str) -> bool {
    let (peak, result) = peak_memory(|| Model::from_bytes("m.scorewise", bytes));
    let limit = MEMORY_BYTES_PER_FILE_BYTE * bytes.len() + CONSTANT_MEMORY_BYTES;
    assert!(
        peak <= limit,
        "{what}: loading took {peak} bytes of memory for a file of {} bytes, more than {limit}",
        bytes.len()
    );
    match result {
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("m.scorewise: "), "{what}: {message}");
            assert!(message.contains("\nhint: ") && message.len() < 2000, "{what}: {message}");
            false
        }
        Ok(model) => {
            let features = model.encoder.width();
            let (_, matrix) = crate::models::random_rows(features, 3, 1);
            let predictor = Predictor::new(&model);
            if let Ok(probabilities) = predictor.probabilities(&matrix, |_| Location::default()) {
                assert!(probabilities.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)), "{what}");
                let labels = predictor.labels(&probabilities);
                assert!(labels.iter().all(|label| (*label as usize) < model.classes.len()), "{what}");
            }
            assert_eq!(Model::from_bytes("again", &model.to_bytes().unwrap()).unwrap(), model, "{what}");
            assert!(!onnx::export(&model).unwrap().is_empty());
            true
        }
    }
}

/// The bytes of model files that are not damaged.
fn original_files() -> Vec<Vec<u8>> {
    let small = [
        crate::models::two_class_model(12, &[], 1, 0.3),
        crate::models::two_class_model(1, &[3], 2, 0.5),
        crate::models::two_class_model(12, &[4, 2], 2, 0.4),
        crate::models::binned_model(&[4], 2),
        crate::models::binned_model(&[], 1),
        crate::models::model_of_trees(),
        crate::models::pooled_model(),
        crate::models::pooled_multiclass_model(),
        crate::models::multiclass_model(9, &[3], 3, 2, Decision::Greatest),
        crate::models::multiclass_model(9, &[], 3, 1, Decision::Centres { centres: vec![0.1, 0.2, 0.3] }),
    ];
    small.iter().map(|model| model.to_bytes().unwrap()).collect()
}

/// Changes one of the files at random. Returns the index of the file, the kind of change as a number from 0 to 6, and the new bytes.
pub fn mutated_file(originals: &[Vec<u8>], random: &mut MutationRandom) -> (usize, usize, Vec<u8>) {
    let index = random.number_below(originals.len());
    let original = &originals[index];
    let mut bytes = original.clone();
    let change = random.number_below(7);
    match change {
        0 => {
            for _ in 0..=random.number_below(4) {
                let offset = random.number_below(bytes.len());
                bytes[offset] ^= 1 << random.number_below(8);
            }
        }
        1 => {
            for _ in 0..=random.number_below(8) {
                let offset = random.number_below(bytes.len());
                bytes[offset] = random.random_byte();
            }
        }
        2 => bytes.truncate(random.number_below(bytes.len())),
        3 => {
            let (start, end) = (random.number_below(bytes.len()), random.number_below(bytes.len()));
            bytes.drain(start.min(end)..start.max(end));
        }
        4 => {
            let other = &originals[random.number_below(originals.len())];
            let (head, tail) = (random.number_below(bytes.len()), random.number_below(other.len()));
            bytes.truncate(head);
            bytes.extend_from_slice(&other[tail..]);
        }
        5 => {
            let offset = random.number_below(8);
            bytes[offset] = random.random_byte();
            if random.number_below(2) == 0 {
                let near = (u64::from_le_bytes(original[..8].try_into().unwrap()))
                    .wrapping_add_signed(random.number_below(64) as i64 - 32);
                bytes[..8].copy_from_slice(&near.to_le_bytes());
            }
        }
        _ => {
            // This kind of damage changes only the weights. Apart from the checksum, most such files are still valid. A message to a worker may have
            // no tensors; then its last byte is changed.
            let start = (8 + u64::from_le_bytes(original[..8].try_into().unwrap()) as usize).min(bytes.len() - 1);
            for _ in 0..=random.number_below(16) {
                let offset = start + random.number_below(bytes.len() - start);
                bytes[offset] = random.random_byte();
            }
        }
    }
    (index, change, bytes)
}

#[test]
fn a_damaged_file_is_rejected_or_gives_bit_identical_predictions() {
    let originals = original_files();
    let models: Vec<Model> = originals.iter().map(|bytes| Model::from_bytes("m.scorewise", bytes).unwrap()).collect();
    let mut random = MutationRandom { seed: 4, numbers_drawn: 0 };
    let mut loaded = 0;
    for round in 0..20_000 {
        let (index, change, bytes) = mutated_file(&originals, &mut random);
        let what = format!("round {round}, kind of change {change}");
        check_loading(&bytes, &what);
        let Ok(model) = Model::from_bytes("m.scorewise", &bytes) else { continue };
        // A change of kind 4 joins the beginning of one file to the end of another file. The result may be equal to the second file.
        let source = originals.iter().position(|original| *original == bytes).unwrap_or(index);
        let prediction_bits = |model: &Model| -> Vec<u64> {
            let (_, matrix) = crate::models::random_rows(models[source].encoder.width(), 50, 1);
            let probabilities = Predictor::new(model).probabilities(&matrix, |_| Location::default()).unwrap();
            probabilities.into_iter().map(f64::to_bits).collect()
        };
        assert_eq!(prediction_bits(&model), prediction_bits(&models[source]), "{what}");
        loaded += 1;
    }
    // A few files load, because they are not really damaged: a byte was replaced by the same byte, or no byte was removed.
    assert!(loaded < 600, "{loaded} of 20000 damaged files loaded");
}

#[test]
fn a_damaged_file_with_a_correct_checksum_either_loads_or_gives_a_clear_error() {
    let originals = original_files();
    let mut random = MutationRandom { seed: 5, numbers_drawn: 0 };
    let mut accepted = 0;
    for round in 0..40_000 {
        let (_, change, bytes) = mutated_file(&originals, &mut random);
        accepted += usize::from(check_loading(
            &crate::models::with_checksum(bytes),
            &format!("round {round}, kind of change {change}"),
        ));
    }
    assert!((2000..30_000).contains(&accepted), "{accepted} of 40000 damaged files were accepted");
}

#[test]
fn a_file_with_invalid_field_values_either_loads_or_gives_a_clear_error() {
    let originals = original_files();
    let mut random = MutationRandom { seed: 6, numbers_drawn: 0 };
    let mut accepted = 0;
    for round in 0..10_000 {
        let bytes = &originals[random.number_below(originals.len())];
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let text = header["__metadata__"]["scorewise"].as_str().unwrap();
        let mut description: Value = serde_json::from_str(text).unwrap();
        let in_description = random.number_below(4) > 0;
        for _ in 0..=random.number_below(2) {
            replace_random_value(if in_description { &mut description } else { &mut header }, &mut random);
        }
        // Numbers and nested lists that `serde_json::Value` cannot represent are inserted into the JSON text.
        let replaced = |value: &Value, random: &mut MutationRandom| {
            let raw = ["1e999", "-1e400", "99999999999999999999999999", "1e-400", "-0.0", &"[".repeat(5000), "nul"];
            value.to_string().replace("\"HOSTILE\"", raw[random.number_below(raw.len())])
        };
        if in_description {
            let text = replaced(&description, &mut random);
            header["__metadata__"]["scorewise"] = text.into();
        }
        let header = replaced(&header, &mut random);
        let bytes = file_with_checksum(&header, &bytes[8 + length..]);
        accepted += usize::from(check_loading(&bytes, &format!("round {round}: {header}")));
    }
    assert!((100..9_000).contains(&accepted), "{accepted} of 10000 files with invalid values were accepted");
}

/// Replaces one random value in a JSON tree.
pub fn replace_random_value(tree: &mut Value, random: &mut MutationRandom) {
    let mut node = tree;
    loop {
        let children = match node {
            Value::Array(items) => items.len(),
            Value::Object(items) => items.len(),
            _ => 0,
        };
        if children == 0 || random.number_below(6) == 0 {
            break;
        }
        let child = random.number_below(children);
        node = match node {
            Value::Array(items) => &mut items[child],
            Value::Object(items) => items.values_mut().nth(child).unwrap(),
            _ => unreachable!("only arrays and objects have children"),
        };
    }
    let old = node.take();
    *node = match random.number_below(16) {
        0 => json!(u64::MAX),
        1 => json!(-1),
        2 => json!(i64::MIN),
        3 => json!(1e300),
        4 => json!(0),
        5 => json!(0.5),
        6 => json!("\u{0}\u{1f600}\\\""),
        7 => json!([]),
        8 => json!({}),
        9 => Value::Null,
        10 => json!(true),
        11 => json!([old, {"a": [[[[1]]]]}]),
        12 => json!("x".repeat(3000)),
        13 => json!(vec![1; 2000]),
        14 => match old {
            Value::Array(mut items) => {
                let copy = items.clone();
                items.extend(copy);
                Value::Array(items)
            }
            Value::Object(mut items) => {
                let first = items.keys().next().cloned().unwrap_or_default();
                items.remove(&first);
                Value::Object(items)
            }
            Value::Number(number) => json!(number.as_f64().unwrap_or(0.0) * 1e9 + 1.0),
            other => other,
        },
        _ => json!("HOSTILE"),
    };
}

#[test]
fn memory_stays_within_the_documented_limit_for_json_that_expands_the_most() {
    // These JSON values take far more memory than their text in the file.
    let nested = format!("{}0{},", "[".repeat(100), "]".repeat(100));
    let lists = ["[],", "{\"\":0},", "0,", "\"\",", "[0],", nested.as_str()];
    let fields = ["results", "classes", "encoder", "reading", "members", "none of them"];
    let bytes = crate::models::two_class_model(12, &[], 1, 0.3).to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let description: Value = serde_json::from_str(header["__metadata__"]["scorewise"].as_str().unwrap()).unwrap();
    for item in lists {
        // The number of elements is just above a power of two. A list that doubles its capacity wastes the most memory with such a number.
        let list = format!("[{}0]", item.repeat((60_000 / item.len()).next_power_of_two() + 1));
        for field in fields {
            let mut edited = description.clone();
            edited[field] = json!("HOSTILE");
            let mut header = header.clone();
            header["__metadata__"]["scorewise"] = edited.to_string().replace("\"HOSTILE\"", &list).into();
            check_loading(
                &file_with_checksum(&header.to_string(), &bytes[8 + length..]),
                &format!("list of {item} in the field {field}"),
            );
        }
        for (field, value) in [
            (
                "inputs",
                format!("[{{\"column\":\"a\",\"kind\":\"number\",\"lag\":0,\"coding\":\"onehot\",\"levels\":{list}}}]"),
            ),
            ("group", list.clone()),
        ] {
            let mut edited = description.clone();
            edited["encoder"][field] = json!("HOSTILE");
            let mut header = header.clone();
            header["__metadata__"]["scorewise"] = edited.to_string().replace("\"HOSTILE\"", &value).into();
            check_loading(
                &file_with_checksum(&header.to_string(), &bytes[8 + length..]),
                &format!("list of {item} in the field encoder.{field}"),
            );
        }
        let mut outer = header.clone();
        outer["x"] = json!({"dtype": "F32", "shape": "HOSTILE", "data_offsets": [0, 0]});
        check_loading(
            &file_with_checksum(&outer.to_string().replace("\"HOSTILE\"", &list), &bytes[8 + length..]),
            &format!("list of {item} in the shape of a tensor"),
        );
    }
    let many: String = (0..20_000)
        .map(|name| format!("\"{name}\":{{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}},"))
        .collect();
    let header = format!("{{{many}{}", &header.to_string()[1..]);
    check_loading(&file_with_checksum(&header, &bytes[8 + length..]), "many tensors");
}

/// A model file with this header and these tensors, and with a correct checksum.
pub fn file_with_checksum(header: &str, data: &[u8]) -> Vec<u8> {
    crate::models::with_checksum([&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat())
}
