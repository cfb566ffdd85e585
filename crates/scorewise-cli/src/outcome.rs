//! The result of a command: text for standard output, an unmet condition, or an error; and the exit codes.
//!
//! All terminal output passes through this module. Names given by users may contain anything, so control characters are escaped.

use std::fmt::Display;
use std::io::Write;
use std::sync::{PoisonError, RwLock};

use scorewise_table::setting::render;

use scorewise_report::escape_control_characters;

use crate::plot::coloured_character_length;

/// Exit code: success.
pub const SUCCESS: u8 = 0;
/// Exit code: a condition given by the user, for example with `--subject-to`, was not met, or `train` saved a model but could not write its
/// report.
pub const UNMET: u8 = 1;
/// Exit code: bad usage or bad data.
pub const USAGE: u8 = 2;

/// The output of a command that ran without an error.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Text for standard output; ends with a line feed unless empty.
    pub text: String,
    /// Sentence that says what was not achieved, for example which condition was not met; `None` if everything was achieved.
    pub unmet: Option<String>,
}

/// Error message of a command that failed, including the hint.
#[derive(Debug)]
pub struct Failure(pub String);

impl From<String> for Outcome {
    /// The outcome of a command that did everything it was asked to do and prints this text.
    fn from(text: String) -> Self {
        Outcome { text, unmet: None }
    }
}

/// Every error can become a failure without a new message, because the error messages of all crates of this workspace are written for users.
impl<E: Display> From<E> for Failure {
    /// A failure with the message of the error. Names of settings in the message are written as command-line options.
    fn from(error: E) -> Self {
        Failure(with_options(error))
    }
}

/// Replaces the names of settings in a text by command-line options, such as `--split time`.
pub fn with_options(text: impl Display) -> String {
    let available = AVAILABLE_OPTIONS.read().unwrap_or_else(PoisonError::into_inner);
    render(&format!("{text:#}"), &|name, value| {
        let is_available = available.is_empty() || available.iter().any(|option| option == name);
        is_available.then(|| match value {
            Some(value) => format!("--{name} {}", shell_quoted(value)),
            None => format!("--{name}"),
        })
    })
}

/// Long options of the running subcommand. Hints mention no other options. Empty until the subcommand is known.
static AVAILABLE_OPTIONS: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// Sets the options that hints may mention.
pub fn set_available_options(options: Vec<String>) {
    *AVAILABLE_OPTIONS.write().unwrap_or_else(PoisonError::into_inner) = options;
}

/// The value of an option, quoted if a shell would change or split it.
fn shell_quoted(value: &str) -> String {
    let is_safe_in_shell = |character: char| character.is_alphanumeric() || "-_./:+,%=@".contains(character);
    if !value.is_empty() && value.chars().all(is_safe_in_shell) {
        value.into()
    } else if value.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", value.replace('\'', r"'\''"))
    } else {
        format!("\"{value}\"")
    }
}

/// Prints a note to standard error.
pub fn note(text: impl Display) {
    print_error(&format!("note: {}\n", with_options(text)));
}

/// Prints the result of a command and returns its exit code.
pub fn print_result(result: Result<Outcome, Failure>) -> u8 {
    match result.and_then(|outcome| print_to_standard_output(&outcome.text).map(|()| outcome.unmet)) {
        Ok(None) => SUCCESS,
        Ok(Some(sentence)) => {
            print_error(&format!("{sentence}\n"));
            UNMET
        }
        Err(Failure(message)) => {
            print_error(&format!("error: {message}\n"));
            USAGE
        }
    }
}

/// Writes to standard error, with control characters escaped.
pub fn print_error(text: &str) {
    let _ = std::io::stderr().write_all(escape_control_characters(text).as_bytes());
}

/// The text with all control characters escaped except line feeds and the escape sequences that colour a plot.
fn escaped_except_colours(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        safe.push_str(&escape_control_characters(before));
        // The escape sequences around a coloured character of a plot are kept; any other escape character is escaped.
        let length = coloured_character_length(from);
        let (sequence, after) = from.split_at(length.unwrap_or(1));
        safe.push_str(&if length.is_some() { sequence.into() } else { escape_control_characters(sequence) });
        rest = after;
    }
    safe + &escape_control_characters(rest)
}

/// Writes the result to standard output. A closed pipe, as in `| head`, is not an error.
fn print_to_standard_output(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(escaped_except_colours(text).as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_settings_in_messages_become_options_with_shell_quoted_values() {
        use scorewise_table::setting::Setting;
        let option = |value: &str| with_options(Setting("target").to(value));
        assert_eq!(with_options(Setting("weight-decay")), "--weight-decay");
        assert_eq!(option("pm2.5"), "--target pm2.5");
        assert_eq!(option("pm2.5 > 400"), "--target \"pm2.5 > 400\"");
        assert_eq!(option("state = \"on fire\""), "--target 'state = \"on fire\"'");
        assert_eq!(option("it's $5"), "--target 'it'\\''s $5'");
        assert_eq!(option(""), "--target \"\"");
        assert_eq!(with_options("a column called x--split"), "a column called x--split");
    }

    #[test]
    fn colours_of_a_plot_are_kept_and_escape_sequences_in_names_are_escaped() {
        let coloured = "0 \u{1b}[1;36m▲\u{1b}[0m 1\n";
        assert_eq!(escaped_except_colours(coloured), coloured);
        assert_eq!(escaped_except_colours("\u{1b}[1;36mname\u{1b}[0m\u{1b}"), "\\u001b[1;36mname\\u001b[0m\\u001b");
        assert_eq!(
            escaped_except_colours("a\u{7}\u{1b}[1;36m█\u{1b}[0m\u{202e}"),
            "a\\u0007\u{1b}[1;36m█\u{1b}[0m\\u202e"
        );
    }

    #[test]
    fn success_an_unmet_condition_and_an_error_have_different_exit_codes() {
        assert_eq!(print_result(Ok(Outcome::default())), 0);
        assert_eq!(print_result(Ok(Outcome { unmet: Some("a condition".into()), ..Outcome::default() })), 1);
        assert_eq!(print_result(Err("an error".into())), 2);
    }
}
