//! How a command ends: with a text for standard output, with a bar that was not met, or with what is wrong.

use std::fmt::Display;
use std::io::Write;

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
    let _ = writeln!(std::io::stderr(), "note: {text}");
}

/// Says how a command ended and returns its exit code.
pub fn report(result: Result<Outcome, Failure>) -> u8 {
    match result.and_then(|outcome| print(&outcome.text).map(|()| outcome.unmet)) {
        Ok(None) => DONE,
        Ok(Some(sentence)) => {
            let _ = writeln!(std::io::stderr(), "{sentence}");
            UNMET
        }
        Err(Failure(message)) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            USAGE
        }
    }
}

/// Writes the result; a reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
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
    fn exit_codes_tell_done_unmet_and_wrong_apart() {
        assert_eq!(report(Ok(Outcome::default())), 0);
        assert_eq!(report(Ok(Outcome { unmet: Some("a bar".into()), ..Outcome::default() })), 1);
        assert_eq!(report(Err("a fault".into())), 2);
    }
}
