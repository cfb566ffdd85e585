//! Forty thousand damaged models. Those whose checksum was left as it was predict the very bits of the original where they load at all.
//! Those that were given a checksum that fits, as by a hostile author, end in an answer or a clear error each, without a panic, and with
//! memory within the multiple that `docs/model-file.md` states.

// The helpers of these tests are tests too.
#![allow(clippy::unwrap_used)]

mod models;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use models::stream;
use scorewise_train::model::{Decision, Model, Predictor};
use scorewise_train::{Place, onnx};
use serde_json::{Value, json};

/// As the documentation states it: bytes at the same time, for each byte of the file, and beyond that.
const MULTIPLE: usize = 160;
const CONSTANT: usize = 64 << 10;

/// Counts what one thread holds. Growing a list counts as the old and the new one, since that may be so.
struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get().wrapping_add(layout.size()));
        // What was made elsewhere and is freed here wraps around; that is no peak.
        if HELD.get() < usize::MAX / 2 {
            PEAK.set(PEAK.get().max(HELD.get()));
        }
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The peak of what a piece of work allocates, and what it gives.
fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    HELD.set(0);
    PEAK.set(0);
    let result = work();
    (PEAK.get(), result)
}

struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.thrown += 1;
        ((u128::from(stream(self.seed, self.thrown)) * count as u128) >> 64) as usize
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

/// Loads it, and uses it where that works. Whether it was accepted.
fn tried(bytes: &[u8], what: &str) -> bool {
    let (peak, result) = peak(|| Model::from_bytes("m.scorewise", bytes));
    let limit = MULTIPLE * bytes.len() + CONSTANT;
    assert!(peak <= limit, "{what}: {peak} bytes for a file of {}, more than {limit}", bytes.len());
    match result {
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("m.scorewise: "), "{what}: {message}");
            assert!(message.contains("\nhint: ") && message.len() < 2000, "{what}: {message}");
            false
        }
        Ok(model) => {
            let features = model.encoder.width();
            let (_, matrix) = models::rows(features, 3, 1);
            let predictor = Predictor::new(&model);
            if let Ok(probabilities) = predictor.probabilities(&matrix, |_| Place::default()) {
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

fn originals() -> Vec<Vec<u8>> {
    let small = [
        models::binary(12, &[], 1, 0.3),
        models::binary(1, &[3], 2, 0.5),
        models::binary(12, &[4, 2], 2, 0.4),
        models::classes(9, &[3], 3, 2, Decision::Greatest),
        models::classes(9, &[], 3, 1, Decision::Centres { centres: vec![0.1, 0.2, 0.3] }),
    ];
    small.iter().map(|model| model.to_bytes().unwrap()).collect()
}

/// Changes the bytes of one of the files at random. Gives which file it was, the way, and what became of it.
fn mutated(originals: &[Vec<u8>], dice: &mut Dice) -> (usize, usize, Vec<u8>) {
    let which = dice.below(originals.len());
    let original = &originals[which];
    let mut bytes = original.clone();
    let way = dice.below(7);
    match way {
        0 => {
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
            }
        }
        1 => {
            for _ in 0..=dice.below(8) {
                let at = dice.below(bytes.len());
                bytes[at] = dice.byte();
            }
        }
        2 => bytes.truncate(dice.below(bytes.len())),
        3 => {
            let (at, end) = (dice.below(bytes.len()), dice.below(bytes.len()));
            bytes.drain(at.min(end)..at.max(end));
        }
        4 => {
            let other = &originals[dice.below(originals.len())];
            let (head, tail) = (dice.below(bytes.len()), dice.below(other.len()));
            bytes.truncate(head);
            bytes.extend_from_slice(&other[tail..]);
        }
        5 => {
            let at = dice.below(8);
            bytes[at] = dice.byte();
            if dice.below(2) == 0 {
                let near = (u64::from_le_bytes(original[..8].try_into().unwrap()))
                    .wrapping_add_signed(dice.below(64) as i64 - 32);
                bytes[..8].copy_from_slice(&near.to_le_bytes());
            }
        }
        _ => {
            // In the weights alone, where most changes leave a model.
            let start = 8 + u64::from_le_bytes(original[..8].try_into().unwrap()) as usize;
            for _ in 0..=dice.below(16) {
                let at = start + dice.below(bytes.len() - start);
                bytes[at] = dice.byte();
            }
        }
    }
    (which, way, bytes)
}

#[test]
fn what_loads_of_ten_thousand_damaged_files_predicts_the_very_bits_of_the_original() {
    let originals = originals();
    let models: Vec<Model> = originals.iter().map(|bytes| Model::from_bytes("m.scorewise", bytes).unwrap()).collect();
    let mut dice = Dice { seed: 4, thrown: 0 };
    let mut loaded = 0;
    for round in 0..10_000 {
        let (which, way, bytes) = mutated(&originals, &mut dice);
        let what = format!("round {round}, way {way}");
        tried(&bytes, &what);
        let Ok(model) = Model::from_bytes("m.scorewise", &bytes) else { continue };
        // What was put together of two files may be all of the other one.
        let same = originals.iter().position(|original| *original == bytes).unwrap_or(which);
        let answers = |model: &Model| -> Vec<u64> {
            let (_, matrix) = models::rows(models[same].encoder.width(), 50, 1);
            let probabilities = Predictor::new(model).probabilities(&matrix, |_| Place::default()).unwrap();
            probabilities.into_iter().map(f64::to_bits).collect()
        };
        assert_eq!(answers(&model), answers(&models[same]), "{what}");
        loaded += 1;
    }
    // A byte may be replaced by itself, and nothing be cut out.
    assert!(loaded < 300, "{loaded} of 10000 loaded");
}

#[test]
fn bytes_flipped_cut_and_spliced_and_signed() {
    let originals = originals();
    let mut dice = Dice { seed: 5, thrown: 0 };
    let mut accepted = 0;
    for round in 0..20_000 {
        let (_, way, bytes) = mutated(&originals, &mut dice);
        accepted += usize::from(tried(&models::signed(bytes), &format!("round {round}, way {way}")));
    }
    assert!((1000..15_000).contains(&accepted), "{accepted} of 20000 were accepted");
}

#[test]
fn fields_edited_to_hostile_values() {
    let originals = originals();
    let mut dice = Dice { seed: 6, thrown: 0 };
    let mut accepted = 0;
    for round in 0..10_000 {
        let bytes = &originals[dice.below(originals.len())];
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let text = header["__metadata__"]["scorewise"].as_str().unwrap();
        let mut description: Value = serde_json::from_str(text).unwrap();
        let inner = dice.below(4) > 0;
        for _ in 0..=dice.below(2) {
            edit(if inner { &mut description } else { &mut header }, &mut dice);
        }
        // Numbers and nesting that a JSON value cannot hold are put in as text.
        let replaced = |value: &Value, dice: &mut Dice| {
            let raw = ["1e999", "-1e400", "99999999999999999999999999", "1e-400", "-0.0", &"[".repeat(5000), "nul"];
            value.to_string().replace("\"HOSTILE\"", raw[dice.below(raw.len())])
        };
        if inner {
            let text = replaced(&description, &mut dice);
            header["__metadata__"]["scorewise"] = text.into();
        }
        let header = replaced(&header, &mut dice);
        let bytes = file(&header, &bytes[8 + length..]);
        accepted += usize::from(tried(&bytes, &format!("round {round}: {header}")));
    }
    assert!((100..9_000).contains(&accepted), "{accepted} of 10000 were accepted");
}

/// Changes one value somewhere in a tree.
fn edit(tree: &mut Value, dice: &mut Dice) {
    let mut at = tree;
    loop {
        let inside = match at {
            Value::Array(items) => items.len(),
            Value::Object(items) => items.len(),
            _ => 0,
        };
        if inside == 0 || dice.below(6) == 0 {
            break;
        }
        let place = dice.below(inside);
        at = match at {
            Value::Array(items) => &mut items[place],
            Value::Object(items) => items.values_mut().nth(place).unwrap(),
            _ => unreachable!("only these have items"),
        };
    }
    let old = at.take();
    *at = match dice.below(16) {
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
fn the_most_memory_for_the_fewest_bytes() {
    // Each of these makes a reader keep far more than it reads.
    let nested = format!("{}0{},", "[".repeat(100), "]".repeat(100));
    let lists = ["[],", "{\"\":0},", "0,", "\"\",", "[0],", nested.as_str()];
    let fields = ["results", "classes", "encoder", "reading", "members", "none of them"];
    let bytes = models::binary(12, &[], 1, 0.3).to_bytes().unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let description: Value = serde_json::from_str(header["__metadata__"]["scorewise"].as_str().unwrap()).unwrap();
    for item in lists {
        // Just above a power of two, where a list that doubles has the most room to spare.
        let list = format!("[{}0]", item.repeat((60_000 / item.len()).next_power_of_two() + 1));
        for field in fields {
            let mut edited = description.clone();
            edited[field] = json!("HOSTILE");
            let mut header = header.clone();
            header["__metadata__"]["scorewise"] = edited.to_string().replace("\"HOSTILE\"", &list).into();
            tried(&file(&header.to_string(), &bytes[8 + length..]), &format!("{item} in {field}"));
        }
        for (place, value) in [
            (
                "inputs",
                format!("[{{\"column\":\"a\",\"kind\":\"number\",\"lag\":0,\"coding\":\"onehot\",\"levels\":{list}}}]"),
            ),
            ("group", list.clone()),
        ] {
            let mut edited = description.clone();
            edited["encoder"][place] = json!("HOSTILE");
            let mut header = header.clone();
            header["__metadata__"]["scorewise"] = edited.to_string().replace("\"HOSTILE\"", &value).into();
            tried(&file(&header.to_string(), &bytes[8 + length..]), &format!("{item} in encoder.{place}"));
        }
        let mut outer = header.clone();
        outer["x"] = json!({"dtype": "F32", "shape": "HOSTILE", "data_offsets": [0, 0]});
        tried(
            &file(&outer.to_string().replace("\"HOSTILE\"", &list), &bytes[8 + length..]),
            &format!("{item} in a shape"),
        );
    }
    let many: String =
        (0..20_000).map(|at| format!("\"{at}\":{{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}},")).collect();
    let header = format!("{{{many}{}", &header.to_string()[1..]);
    tried(&file(&header, &bytes[8 + length..]), "many tensors");
}

/// A file with a checksum that fits.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    models::signed([&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat())
}
