//! How a command ends: with a text for standard output, with a bar that was not met, or with what is wrong.
//!
//! All text for people goes through here, and what a user has named may hold anything: control characters are written out.

use std::fmt::Display;
use std::io::Write;
use std::sync::{PoisonError, RwLock};

use scorewise_table::setting::render;

use scorewise_report::escape_control_characters;

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
        Failure(with_options(error))
    }
}

/// An error, a note or any other text, with settings as options: `--split time`.
pub fn with_options(text: impl Display) -> String {
    let known = OFFERED.read().unwrap_or_else(PoisonError::into_inner);
    render(&format!("{text:#}"), &|name, value| {
        let is_offered = known.is_empty() || known.iter().any(|option| option == name);
        is_offered.then(|| match value {
            Some(value) => format!("--{name} {}", in_quotes(value)),
            None => format!("--{name}"),
        })
    })
}

/// The options of the command in use, so that no hint names one that it lacks; empty while there is no command.
static OFFERED: RwLock<Vec<String>> = RwLock::new(Vec::new());

/// From here on messages are those of a command with these options.
pub fn offer(options: Vec<String>) {
    *OFFERED.write().unwrap_or_else(PoisonError::into_inner) = options;
}

/// The value of an option, in quotes where a shell would change or split it.
fn in_quotes(value: &str) -> String {
    let plain = |sign: char| sign.is_alphanumeric() || "-_./:+,%=@".contains(sign);
    if !value.is_empty() && value.chars().all(plain) {
        value.into()
    } else if value.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", value.replace('\'', r"'\''"))
    } else {
        format!("\"{value}\"")
    }
}

/// Something worth knowing that changes nothing, on standard error.
pub fn note(text: impl Display) {
    tell(&format!("note: {}\n", with_options(text)));
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
    let _ = std::io::stderr().write_all(escape_control_characters(text).as_bytes());
}

/// The text without control characters but line feeds and the colours of a plot.
fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        safe.push_str(&escape_control_characters(before));
        // A painted sign as it is, or the escape character written out.
        let length = painted_sign(from);
        let (sign, after) = from.split_at(length.unwrap_or(1));
        safe.push_str(&if length.is_some() { sign.into() } else { escape_control_characters(sign) });
        rest = after;
    }
    safe + &escape_control_characters(rest)
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
    fn settings_are_named_as_options_with_values_that_a_shell_keeps() {
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
