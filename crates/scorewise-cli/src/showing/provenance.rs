//! Where a result comes from: what was typed, when, on which data.

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use scorewise_report::document::{Data, Provenance};
use scorewise_train::model::Fingerprint;

use crate::predictions::{ClassPredictions, Numbers, Predictions};

/// What was typed. Commands get their arguments read, not as they were written, so the text is kept here on its way.
static TYPED: Mutex<String> = Mutex::new(String::new());

/// Keeps what was typed.
pub fn remember(arguments: &[OsString]) {
    let words = arguments.iter().skip(1).map(|word| quoted(&word.to_string_lossy()));
    let typed = std::iter::once("scorewise".to_string()).chain(words).collect::<Vec<_>>().join(" ");
    if let Ok(mut text) = TYPED.lock() {
        *text = typed;
    }
}

/// As a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:,=+@%".contains(letter);
    let needs_none = !word.is_empty() && word.chars().all(is_plain);
    if needs_none { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The provenance of a result.
pub fn provenance(seed: Option<u64>, data: Vec<Data>) -> Provenance {
    let command = TYPED.lock().map(|text| text.clone()).unwrap_or_default();
    Provenance { command, time: now(), seed, data }
}

/// The time in UTC; `SOURCE_DATE_EPOCH` sets it where the same bytes are wanted again.
fn now() -> String {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<i64>().ok());
    let seconds = given.or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    });
    let time = seconds.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    time.map_or(String::new(), |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// Numbers as they are kept.
#[derive(Clone, Copy, Debug)]
pub enum Kept<'a> {
    /// f32
    Narrow(&'a [f32]),
    /// f64
    Wide(&'a [f64]),
}

/// Labels, forecasts and weights as data of this name.
pub fn data_of<'a>(name: &str, labels: &[bool], columns: impl IntoIterator<Item = Kept<'a>>) -> Data {
    let mut hash = Fingerprint::new().bits(labels.len(), labels.iter().map(|label| u64::from(*label)));
    for column in columns {
        // Equal numbers have equal fingerprints, however wide they are kept; adding 0 turns −0 into 0.
        hash = match column {
            Kept::Narrow(values) => {
                hash.bits(values.len(), values.iter().map(|value| (f64::from(*value) + 0.0).to_bits()))
            }
            Kept::Wide(values) => hash.bits(values.len(), values.iter().map(|value| (value + 0.0).to_bits())),
        };
    }
    Data { name: name.into(), rows: labels.len(), fingerprint: hash.hex() }
}

/// The table of predictions.
pub fn data(predictions: &Predictions) -> Data {
    let columns = predictions.forecasts.iter().chain(&predictions.weights).map(kept);
    data_of(&predictions.file, &predictions.labels, columns)
}

/// The table of predictions of more than two classes.
pub fn class_data(predictions: &ClassPredictions) -> Data {
    let mut hash =
        Fingerprint::new().texts(&predictions.classes).labels(&predictions.labels).labels(&predictions.decisions);
    for column in predictions.probabilities.iter().chain(&predictions.weights) {
        hash = hash.numbers(column);
    }
    Data { name: predictions.file.clone(), rows: predictions.labels.len(), fingerprint: hash.hex() }
}

fn kept(numbers: &Numbers) -> Kept<'_> {
    match numbers {
        Numbers::Narrow(values) => Kept::Narrow(values),
        Numbers::Wide(values) => Kept::Wide(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_equal_fingerprints_however_wide() {
        let labels = [true, false];
        let narrow = data_of("a", &labels, [Kept::Narrow(&[0.5, 0.25])]);
        assert_eq!(narrow.fingerprint, data_of("b", &labels, [Kept::Wide(&[0.5, 0.25])]).fingerprint);
        assert_ne!(narrow.fingerprint, data_of("a", &labels, [Kept::Wide(&[0.5, 0.26])]).fingerprint);
        assert_ne!(narrow.fingerprint, data_of("a", &[true, true], [Kept::Narrow(&[0.5, 0.25])]).fingerprint);
    }

    #[test]
    fn what_was_typed_can_be_typed_again() {
        assert_eq!(quoted("p.csv"), "p.csv");
        assert_eq!(quoted("pm2.5 > 400"), "'pm2.5 > 400'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
