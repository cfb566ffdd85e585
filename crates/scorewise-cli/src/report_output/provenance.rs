//! Provenance of a result: command line, time and data.

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use scorewise_report::document::{DataSource, Provenance};

/// The command line of this process. Commands receive parsed arguments, so the original text is stored here.
static COMMAND_LINE: Mutex<String> = Mutex::new(String::new());

/// Stores the command line.
pub fn set_command_line(arguments: &[OsString]) {
    let words = arguments.iter().skip(1).map(|word| shell_argument(&word.to_string_lossy()));
    let command_line = std::iter::once("scorewise".to_string()).chain(words).collect::<Vec<_>>().join(" ");
    if let Ok(mut text) = COMMAND_LINE.lock() {
        *text = command_line;
    }
}

/// The argument as it must be typed in a shell, quoted if necessary.
fn shell_argument(word: &str) -> String {
    let is_safe_in_shell = |character: char| character.is_alphanumeric() || "-_./:,=+@%".contains(character);
    let is_safe = !word.is_empty() && word.chars().all(is_safe_in_shell);
    if is_safe { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The provenance of a result: the command line, the time, the seed and the data.
pub fn provenance(seed: Option<u64>, data: Vec<DataSource>) -> Provenance {
    let command = COMMAND_LINE.lock().map(|text| text.clone()).unwrap_or_default();
    Provenance { command, time: current_utc_time(), seed, data }
}

/// The current time in UTC, or the time in `SOURCE_DATE_EPOCH`, which makes output reproducible.
fn current_utc_time() -> String {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<i64>().ok());
    let seconds = fixed.or_else(|| {
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(elapsed.as_secs()).ok()
    });
    let time = seconds.and_then(|seconds| chrono::DateTime::from_timestamp(seconds, 0));
    time.map_or(String::new(), |time| time.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_command_line_can_be_pasted_into_a_shell() {
        assert_eq!(shell_argument("p.csv"), "p.csv");
        assert_eq!(shell_argument("pm2.5 > 400"), "'pm2.5 > 400'");
        assert_eq!(shell_argument("it's"), "'it'\\''s'");
        assert_eq!(shell_argument(""), "''");
    }
}
