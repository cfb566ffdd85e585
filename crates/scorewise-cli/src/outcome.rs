//! How a command ends: with a text for standard output, with a bar that was not met, or with what is wrong.
//!
//! All text for people goes through here, and what a user has named may hold anything: control characters are written out.

use std::fmt::Display;
use std::io::Write;

use scorewise_report::visible;

use crate::plot::painted_sign;

/// Exit code: done.
pub const DONE: u8 = 0;
/// Exit code: what was asked for cannot be reached.
pub const UNMET: u8 = 1;
/// Exit code: the command or its data cannot be used.
pub const USAGE: u8 = 2;

/// What a command that could do its work has to say.
#[derive(Debug, Default)]
pub struct Outcome {
    /// For standard output, the last line ended.
    pub text: String,
    /// Which asked-for bar was not met, as a sentence.
    pub unmet: Option<String>,
}

/// Why a command could not do its work, with its cure.
#[derive(Debug)]
pub struct Failure(pub String);

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Outcome { text, unmet: None }
    }
}

/// Every error that a command meets has its sentence already.
impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.to_string())
    }
}

/// Something worth knowing that changes nothing, on standard error.
pub fn note(text: impl Display) {
    tell(&format!("note: {text}\n"));
}

/// Says how a command ended and returns its exit code.
pub fn report(result: Result<Outcome, Failure>) -> u8 {
    match result.and_then(|outcome| print(&outcome.text).map(|()| outcome.unmet)) {
        Ok(None) => DONE,
        Ok(Some(sentence)) => {
            tell(&format!("{sentence}\n"));
            UNMET
        }
        Err(Failure(message)) => {
            tell(&format!("error: {message}\n"));
            USAGE
        }
    }
}

/// Writes to standard error.
pub fn tell(text: &str) {
    let _ = std::io::stderr().write_all(visible(text).as_bytes());
}

/// The text without control characters but line feeds and the colours of a plot.
fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        safe.push_str(&visible(before));
        // A painted sign as it is, or the escape character written out.
        let length = painted_sign(from);
        let (sign, after) = from.split_at(length.unwrap_or(1));
        safe.push_str(&if length.is_some() { sign.into() } else { visible(sign) });
        rest = after;
    }
    safe + &visible(rest)
}

/// Writes the result; a reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(harmless(text).as_bytes()) {
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
    fn the_colours_of_a_plot_stay_and_those_of_a_name_do_not() {
        let painted = "0 \u{1b}[1;36m▲\u{1b}[0m 1\n";
        assert_eq!(harmless(painted), painted);
        assert_eq!(harmless("\u{1b}[1;36mname\u{1b}[0m\u{1b}"), "\\u001b[1;36mname\\u001b[0m\\u001b");
        assert_eq!(harmless("a\u{7}\u{1b}[1;36m█\u{1b}[0m\u{202e}"), "a\\u0007\u{1b}[1;36m█\u{1b}[0m\\u202e");
    }

    #[test]
    fn exit_codes_tell_done_unmet_and_wrong_apart() {
        assert_eq!(report(Ok(Outcome::default())), 0);
        assert_eq!(report(Ok(Outcome { unmet: Some("a bar".into()), ..Outcome::default() })), 1);
        assert_eq!(report(Err("a fault".into())), 2);
    }
}
