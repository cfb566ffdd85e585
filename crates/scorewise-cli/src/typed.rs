//! The command line as it was typed, before clap parses it.
//!
//! clap takes `-1` in `--lead -1` and `-tss` in `--score -tss` for options of their own and explains neither. Here a value that begins with a
//! hyphen goes with the option before it: numbers below 0 are then accepted, or refused in a sentence about the option.

use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::num::{ParseFloatError, ParseIntError};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use scorewise_train::Error;

use crate::outcome::{Failure, with_options};

/// Arguments, and the command that they are for.
pub struct Typed {
    arguments: Vec<OsString>,
    /// The subcommand, where its name is known.
    command: Option<Command>,
}

impl Typed {
    /// The program's own name is the first argument.
    pub fn new(program: &Command, arguments: Vec<OsString>) -> Self {
        let command = arguments.get(1).and_then(|name| program.find_subcommand(name)).cloned();
        Typed { arguments, command }
    }

    /// The names of the command's options, without hyphens.
    pub fn options(&self) -> Vec<String> {
        let all = self.command.iter().flat_map(Command::get_arguments);
        all.filter_map(|argument| argument.get_long()).map(Into::into).collect()
    }

    /// The arguments, with `--option -value` as `--option=-value`.
    pub fn joined(&self) -> Vec<OsString> {
        let mut joined: Vec<OsString> = Vec::with_capacity(self.arguments.len());
        let mut is_waiting = false;
        for argument in &self.arguments {
            match joined.last_mut() {
                Some(option) if is_waiting && self.is_value(argument) => {
                    option.push("=");
                    option.push(argument);
                    is_waiting = false;
                }
                _ => {
                    is_waiting = self.wants_value(argument);
                    joined.push(argument.clone());
                }
            }
        }
        joined
    }

    /// Whether it is an option that needs a value.
    fn wants_value(&self, argument: &OsStr) -> bool {
        let Some(name) = argument.to_str().and_then(|text| text.strip_prefix("--")) else { return false };
        let mut all = self.command.iter().flat_map(Command::get_arguments);
        all.any(|option| option.get_long() == Some(name) && option.get_action().takes_values())
    }

    /// Whether it begins with one hyphen and is no option of the command. A hyphen alone is standard input.
    fn is_value(&self, argument: &OsStr) -> bool {
        let Some(rest) = argument.to_str().and_then(|text| text.strip_prefix('-')) else { return false };
        let mut signs = rest.chars();
        let (first, is_short) = (signs.next(), signs.next().is_none());
        let is_option = |sign: char| {
            let mut all = self.command.iter().flat_map(Command::get_arguments);
            matches!(sign, 'h' | 'V') || all.any(|option| option.get_short() == Some(sign))
        };
        first.is_some_and(|sign| sign != '-' && !(is_short && is_option(sign)))
    }
}

/// Our own message about a value that cannot be used; `None` when clap's message is shown.
pub fn explained(fault: &clap::Error) -> Option<Failure> {
    // Values of our own types have our own messages, which name the setting and say what to do.
    if let Some(error) = fault.source().and_then(|source| source.downcast_ref::<Error>()) {
        return Some(Failure(with_options(error)));
    }
    if let Some(error) = fault.source().and_then(|source| source.downcast_ref::<scorewise::Error>()) {
        return Some(Failure(error.to_string()));
    }
    let context = |kind| match fault.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
    if fault.kind() != ErrorKind::ValueValidation || !value.starts_with('-') {
        return None;
    }
    let source = fault.source()?;
    let words = if source.is::<ParseFloatError>() {
        ("number", "give a number")
    } else if source.is::<ParseIntError>() {
        ("whole number of 0 or above", "give a whole number, 0 or above")
    } else {
        return None;
    };
    // clap writes `--lead <ROWS>`.
    let name = option.trim_start_matches('-').split([' ', '=']).next()?;
    Some(Error::setting(name, format!("`{}` is no {}", value.escape_debug(), words.0), words.1).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;
    use clap::ArgAction::SetTrue;

    fn joined(line: &str) -> String {
        let program = Command::new("p").subcommand(
            Command::new("train")
                .arg(Arg::new("table"))
                .arg(Arg::new("score").long("score"))
                .arg(Arg::new("lead").long("lead"))
                .arg(Arg::new("output").long("output").short('o'))
                .arg(Arg::new("json").long("json").action(SetTrue)),
        );
        let typed = Typed::new(&program, line.split(' ').map(Into::into).collect());
        typed.joined().iter().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_that_begins_with_a_hyphen_goes_with_its_option() {
        assert_eq!(joined("p train t --lead -1 --score -tss"), "p train t --lead=-1 --score=-tss");
        assert_eq!(joined("p train --score -(fp+fn) t"), "p train --score=-(fp+fn) t");
        assert_eq!(joined("p train --score -odds t"), "p train --score=-odds t");
    }

    #[test]
    fn options_flags_and_standard_input_stay_as_they_are() {
        for line in [
            "p train --json -1",
            "p train --score -o m",
            "p train --score -h",
            "p train --score --json",
            "p train --output -",
            "p train --lead=-1 -2",
            "p nope --lead -1",
            "p",
            "p train --score tss -o m -",
        ] {
            assert_eq!(joined(line), line);
        }
    }
}
