//! Tests of the messages that send data sets, jobs and training results as bytes. A round trip preserves every bit. Each of 27 000 damaged or
//! malicious messages either can be read and used or gives a clear error; none causes a panic or takes much memory.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use scorewise_table::encode::BinnedColumn;
use scorewise_train::backend::{Backend, Cpu, Remote, RemoteRun, train_chunk};
use scorewise_train::ensemble::Ensemble;
use scorewise_train::fit::Epoch;
use scorewise_train::job::{Dataset, Job, RowSplit};
use scorewise_train::learner::Learner;
use scorewise_train::network::NetworkSettings;
use scorewise_train::trees::TreeSettings;
use scorewise_train::{Matrix, Result};
use serde_json::{Value, json};

use crate::models::with_checksum;
use crate::mutated_models::{MutationRandom, file_with_checksum, mutated_file, peak_memory, replace_random_value};

/// Three data sets: two with binned inputs that share everything except their splits, and one with dense inputs, some of which are not finite.
pub fn datasets() -> Vec<Dataset> {
    let number = BinnedColumn {
        knots: vec![-1.5, 0.1, 0.7],
        own: vec![0.3, 1.0 / 3.0],
        own_positions: vec![1.25, 1.5],
        levels: 1,
    };
    let category = BinnedColumn { levels: 18, ..BinnedColumn::default() };
    let values: Vec<f32> = (0..40)
        .flat_map(|row| [(row * 7 % 11) as f32 * 0.2, if row % 5 == 0 { 5.0 } else { 3.0 }, (row % 17) as f32])
        .collect();
    let split = |first: u32| {
        let (validation, training) = (0..40).partition(|row| (row + first).is_multiple_of(3));
        RowSplit { training, validation }
    };
    let first = Dataset {
        matrix: Matrix::new(3, &values).unwrap(),
        binned: Some([number.clone(), number, category].into()),
        labels: (0..40).map(|row| u32::from(row % 4 == 0 || row % 7 == 2)).collect(),
        classes: 2,
        weights: Some((0..40).map(|row| 0.5 + row as f32 / 30.0).collect()),
        places: Some((0..40).map(|row| row * 7 % 40 + u32::from(row % 2 == 0)).collect()),
        splits: vec![split(0), split(1)],
    };
    let second = Dataset { splits: vec![split(2)], ..first.clone() };
    let special = [0.0, -0.0, 1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 7.0, 0.1];
    let values: Vec<f32> = special.into_iter().cycle().take(30 * 17).collect();
    let third = Dataset {
        matrix: Matrix::new(17, &values).unwrap(),
        binned: None,
        labels: (0..30).map(|row| row % 3).collect(),
        classes: 3,
        weights: None,
        places: None,
        splits: vec![RowSplit { training: (0..20).collect(), validation: (20..30).collect() }],
    };
    vec![first, second, third]
}

/// All fields of a data set, with the bits of floating-point numbers as integers, so that a NaN equals itself.
fn bits(dataset: &Dataset) -> impl PartialEq + std::fmt::Debug + use<> {
    let list = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let Dataset { matrix, binned, labels, classes, weights, places, splits } = dataset;
    let column =
        |column: &BinnedColumn| (list(&column.knots), list(&column.own), list(&column.own_positions), column.levels);
    let binned = binned.as_deref().map(|columns| columns.iter().map(column).collect::<Vec<_>>());
    let matrix = (matrix.rows(), matrix.columns(), matrix.padded().1, list(matrix.padded().0));
    (
        matrix,
        binned,
        labels.to_vec(),
        *classes,
        weights.as_deref().map(list),
        places.as_deref().map(<[u32]>::to_vec),
        splits.clone(),
    )
}

/// Short jobs with different losses and learners.
pub fn jobs() -> Vec<Job> {
    let network = |hidden: &str, optimiser: &str| {
        let mut settings = NetworkSettings {
            hidden: hidden.parse().unwrap(),
            optimiser: serde_json::from_value(json!(optimiser)).unwrap(),
            ..Default::default()
        };
        (settings.epochs, settings.learning_rate) = (2, 0.1 / 3.0);
        Learner::Network(settings)
    };
    let trees =
        |settings: TreeSettings| Learner::Trees(TreeSettings { rounds: 2, patience: 2, min_rows: 2, ..settings });
    let loss = |text: &str| serde_json::from_str(text).unwrap();
    let job = |dataset, split, learner, objective, seed| Job { dataset, split, learner, objective, seed };
    vec![
        job(0, 0, network("4,3", "adam"), loss(r#"{"loss":"sol","score":"tss","prior":"cosine:0.5,0.1"}"#), u64::MAX),
        job(0, 1, trees(TreeSettings::symmetric()), loss(r#"{"loss":"exact","score":"csi","prior":"beta:2,5"}"#), 1),
        job(
            1,
            0,
            network("none", "adam"),
            loss(r#"{"loss":"cross-entropy","positive_weight":0.3,"negative_weight":7.5}"#),
            2,
        ),
        job(2, 0, trees(TreeSettings::leaf_wise()), loss(r#"{"loss":"softmax","class_weights":[0.1,2.0,1.0]}"#), 3),
        job(
            2,
            0,
            network("3", "adam"),
            loss(r#"{"loss":"simplex","score":"mcc","sharpness":3.0,"centres":[0.1,-0.2,0.0]}"#),
            4,
        ),
    ]
}

#[test]
fn data_sets_keep_their_bits_and_still_share_their_values_after_they_are_written_and_read() {
    let originals = datasets();
    let bytes = Dataset::to_bytes(&originals).unwrap();
    let copies = Dataset::from_bytes(&bytes).unwrap();
    assert_eq!(copies.len(), 3);
    for (copy, original) in copies.iter().zip(&originals) {
        assert_eq!(bits(copy), bits(original));
        assert_eq!(copy.matrix.padded().0.as_ptr() as usize % 64, 0);
    }
    assert!(copies[0].matrix.shares_values_with(&copies[1].matrix));
    assert!(Arc::ptr_eq(&copies[0].labels, &copies[1].labels));
    assert!(Dataset::to_bytes(&copies).unwrap() == bytes, "equal data sets have equal bytes");
    // The first two data sets share their values, so the second one adds only its splits and its binned columns to the message.
    assert!(
        bytes.len()
            < Dataset::to_bytes(&originals[..1]).unwrap().len()
                + Dataset::to_bytes(&originals[2..]).unwrap().len()
                + 700
    );
    assert!(Dataset::from_bytes(&Dataset::to_bytes(&[]).unwrap()).unwrap().is_empty());
}

#[test]
fn data_sets_that_cannot_be_trained_on_are_refused() {
    let original = &datasets()[0];
    let matrix = |value: f32| {
        let mut values: Vec<f32> = (0..40).flat_map(|row| original.matrix.row(row).to_vec()).collect();
        values[3 * 17] = value;
        Matrix::new(3, &values).unwrap()
    };
    let labels: Arc<[u32]> = original.labels[1..].into();
    for (dataset, part) in [
        (Dataset { labels, ..original.clone() }, "has 40 rows, but a different number of labels or weights"),
        (Dataset { weights: Some([1.0].into()), ..original.clone() }, "a different number of labels or weights"),
        (
            Dataset { places: Some([1].into()), ..original.clone() },
            "gives the order in time of a different number of rows",
        ),
        (Dataset { classes: 1, ..original.clone() }, "has 1 classes; it must have 2 to 100"),
        (Dataset { classes: usize::MAX, ..original.clone() }, "classes; it must have 2 to 100"),
        (
            Dataset { matrix: matrix(6.0), ..original.clone() },
            "has the number 6 in row 17 of column 0, but the positions of this column are 0 to 5",
        ),
        (Dataset { matrix: matrix(f32::NAN), ..original.clone() }, "has the number NaN in row 17"),
        (
            Dataset { binned: Some([].into()), ..original.clone() },
            "has 3 columns, but describes the knots and levels of 0 columns",
        ),
        (Dataset { matrix: Matrix::default(), ..original.clone() }, "has 0 rows and 0 columns"),
    ] {
        let error = Dataset::to_bytes(&[original.clone(), dataset]).unwrap_err().to_string();
        assert!(
            error.starts_with("message with data sets: cannot be written: data set 1 ") && error.contains(part),
            "{error}"
        );
    }
}

#[test]
fn messages_of_other_versions_and_other_kinds_are_refused() {
    let bytes = Job::to_bytes(&jobs()).unwrap();
    let edited = |from: &str, to: &str| {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = std::str::from_utf8(&bytes[8..8 + length]).unwrap().replacen(from, to, 1);
        Job::from_bytes(&file_with_checksum(&header, &[])).unwrap_err().to_string()
    };
    let version = format!(r#"\"version\":\"{}\""#, env!("CARGO_PKG_VERSION"));
    let other = edited(&version, r#"\"version\":\"9.9.9\""#);
    assert!(other.starts_with("message with jobs: was written by scorewise 9.9.9 in format 2, but this is"), "{other}");
    assert!(other.ends_with("\nhint: install the same version on all machines"), "{other}");
    assert!(edited(r#"\"format\":2"#, r#"\"format\":3"#).contains("in format 3, but this is"));
    let error = Dataset::from_bytes(&bytes).unwrap_err().to_string();
    assert!(error.starts_with("message with data sets: contains jobs, not data sets"), "{error}");
    let model = crate::models::two_class_model(3, &[], 1, 0.5).to_bytes().unwrap();
    assert!(Job::from_bytes(&model).unwrap_err().to_string().starts_with("message with jobs: is damaged"));
}

/// Decodes the message `bytes` by calling `read`. Checks that this needs little memory, and that an error is short and names the kind of the message.
/// Returns the decoded value, or `None` after an error.
fn read_message<T>(bytes: &[u8], what: &str, read: impl FnOnce() -> Result<T>) -> Option<T> {
    let (peak, result) = peak_memory(read);
    let limit = 160 * bytes.len() + (64 << 10);
    assert!(peak <= limit, "{what}: reading took {peak} bytes of memory for a message of {} bytes", bytes.len());
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("message with ") || message.starts_with("chunk 1 of 1 "), "{what}: {message}");
            assert!(message.len() < 2000, "{what}: {message}");
            None
        }
    }
}

/// In each round, damages a message with `mutate` and reads it. There are three kinds of messages, which take turns: data sets, jobs, and training
/// results. The contents of an accepted message are used: data sets and jobs for training, and training results for predictions. Returns how many
/// messages of each kind were accepted.
fn read_mutated(rounds: usize, mut mutate: impl FnMut(&[Vec<u8>], usize) -> Vec<u8>) -> [usize; 3] {
    let (datasets, jobs) = (datasets(), jobs());
    let (dataset_bytes, job_bytes) = (Dataset::to_bytes(&datasets).unwrap(), Job::to_bytes(&jobs).unwrap());
    let response = train_chunk(&dataset_bytes, &job_bytes, 1);
    let originals = [dataset_bytes, job_bytes, response];
    let stop = |_: usize, number: usize, _: &Epoch| {
        if number > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let is_small = |job: &Job| match &job.learner {
        Learner::Network(settings) => settings.hidden.widths().iter().all(|width| *width < 100),
        Learner::Trees(_) => true,
    };
    let mut accepted = [0; 3];
    for round in 0..rounds {
        let kind = round % 3;
        let bytes = mutate(&originals, kind);
        let what = format!("round {round}");
        let is_accepted = match kind {
            0 => {
                let read = read_message(&bytes, &what, || Dataset::from_bytes(&bytes));
                for (index, dataset) in read.iter().flatten().enumerate() {
                    for job in jobs.iter().filter(|job| job.dataset == index && job.split < dataset.splits.len()) {
                        let job = Job { dataset: 0, ..job.clone() };
                        let _ = Cpu { threads: 1 }.fit(std::slice::from_ref(dataset), &[job], &stop);
                    }
                }
                read.is_some()
            }
            1 => {
                let read = read_message(&bytes, &what, || Job::from_bytes(&bytes));
                let exists =
                    |job: &Job| datasets.get(job.dataset).is_some_and(|dataset| job.split < dataset.splits.len());
                for job in read.iter().flatten().filter(|job| is_small(job) && exists(job)) {
                    let _ = Cpu { threads: 1 }.fit(&datasets, std::slice::from_ref(job), &stop);
                }
                read.is_some()
            }
            _ => {
                let received = Mutex::new(false);
                let transport = |run: &RemoteRun<'_>| -> Result<()> {
                    *received.lock().unwrap() = read_message(&bytes, &what, || run.receive(0, &bytes)).is_some();
                    Ok(())
                };
                let fits = Remote { chunks: 1, transport }
                    .fit(&datasets, &jobs, &|_: usize, _: usize, _: &Epoch| ControlFlow::Continue(()));
                let received = received.into_inner().unwrap();
                for (fit, job) in fits.into_iter().flatten().flatten().zip(&jobs).filter(|_| received) {
                    let ensemble = Ensemble::of_fits(&[fit]).unwrap();
                    let _ = ensemble.probabilities(&datasets[job.dataset].matrix, &[0, 1, 2]);
                }
                received
            }
        };
        accepted[kind] += usize::from(is_accepted);
    }
    accepted
}

#[test]
fn damaged_messages_give_a_clear_error() {
    let mut random = MutationRandom { seed: 21, numbers_drawn: 0 };
    let accepted = read_mutated(9_000, |originals, kind| mutated_file(&originals[kind..=kind], &mut random).2);
    // A few messages are accepted, because some changes replace a byte by the same byte or remove no bytes.
    assert!(accepted.iter().all(|accepted| *accepted < 90), "{accepted:?}");
}

#[test]
fn a_damaged_message_with_a_correct_checksum_is_either_usable_or_gives_a_clear_error() {
    let mut random = MutationRandom { seed: 22, numbers_drawn: 0 };
    let accepted =
        read_mutated(9_000, |originals, kind| with_checksum(mutated_file(&originals[kind..=kind], &mut random).2));
    assert!(accepted.iter().all(|accepted| (20..2_900).contains(accepted)), "{accepted:?}");
}

#[test]
fn a_message_with_invalid_values_is_either_usable_or_gives_a_clear_error() {
    let mut random = MutationRandom { seed: 23, numbers_drawn: 0 };
    let accepted = read_mutated(9_000, |originals, kind| {
        let bytes = &originals[kind];
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let text = header["__metadata__"]["scorewise"].as_str().unwrap();
        let mut description: Value = serde_json::from_str(text).unwrap();
        if random.number_below(4) > 0 {
            replace_random_value(&mut description["contents"], &mut random);
            let raw = ["1e999", "-1", "99999999999999999999999999", "1e-400", "-0.0", &"[".repeat(5000), "nul"];
            let text = description.to_string().replace("\"HOSTILE\"", raw[random.number_below(raw.len())]);
            header["__metadata__"]["scorewise"] = text.into();
        } else {
            replace_random_value(&mut header, &mut random);
        }
        file_with_checksum(&header.to_string(), &bytes[8 + length..])
    });
    assert!(accepted.iter().all(|accepted| (20..2_900).contains(accepted)), "{accepted:?}");
}
