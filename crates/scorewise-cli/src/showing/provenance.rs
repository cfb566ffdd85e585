//! Where a result comes from: the command line, the time and the data.

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use scorewise_report::document::{DataSource, Provenance};

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
pub fn provenance(seed: Option<u64>, data: Vec<DataSource>) -> Provenance {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_can_be_typed_again() {
        assert_eq!(quoted("p.csv"), "p.csv");
        assert_eq!(quoted("pm2.5 > 400"), "'pm2.5 > 400'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
