//! Preprocessing of the command line before clap parses it, and messages about invalid values.
//!
//! clap treats `-1` in `--lead -1` and `-tss` in `--score -tss` as unknown options. This module joins a value that begins with a hyphen
//! to the option before it, so negative numbers are accepted, or rejected with a message about that option.

use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::num::{ParseFloatError, ParseIntError};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use scorewise_train::Error;

use crate::outcome::{Failure, with_options};

/// The arguments of the process, and the subcommand that they name.
pub struct RawArguments {
    arguments: Vec<OsString>,
    /// The subcommand; `None` if the argument after the name of the program is not a subcommand.
    command: Option<Command>,
}

impl RawArguments {
    /// Looks up the subcommand that the second argument names; the first argument must be the name of the program.
    pub fn new(program: &Command, arguments: Vec<OsString>) -> Self {
        let command = arguments.get(1).and_then(|name| program.find_subcommand(name)).cloned();
        RawArguments { arguments, command }
    }

    /// The long options of the subcommand, without hyphens.
    pub fn long_options(&self) -> Vec<String> {
        let all = self.command.iter().flat_map(Command::get_arguments);
        all.filter_map(|argument| argument.get_long()).map(Into::into).collect()
    }

    /// The arguments, with `--option -value` rewritten as `--option=-value`.
    pub fn with_joined_values(&self) -> Vec<OsString> {
        let mut joined: Vec<OsString> = Vec::with_capacity(self.arguments.len());
        let mut expects_value = false;
        for argument in &self.arguments {
            match joined.last_mut() {
                Some(option) if expects_value && self.is_hyphenated_value(argument) => {
                    option.push("=");
                    option.push(argument);
                    expects_value = false;
                }
                _ => {
                    expects_value = self.takes_value(argument);
                    joined.push(argument.clone());
                }
            }
        }
        joined
    }

    /// Whether the argument is an option of the subcommand that takes a value.
    fn takes_value(&self, argument: &OsStr) -> bool {
        let Some(name) = argument.to_str().and_then(|text| text.strip_prefix("--")) else { return false };
        let mut all = self.command.iter().flat_map(Command::get_arguments);
        all.any(|option| option.get_long() == Some(name) && option.get_action().takes_values())
    }

    /// Whether the argument begins with exactly one hyphen and is a value: neither a short option of the subcommand nor a hyphen alone, which
    /// means standard input.
    fn is_hyphenated_value(&self, argument: &OsStr) -> bool {
        let Some(rest) = argument.to_str().and_then(|text| text.strip_prefix('-')) else { return false };
        let mut characters = rest.chars();
        let (first, is_single) = (characters.next(), characters.next().is_none());
        let is_option = |character: char| {
            let mut all = self.command.iter().flat_map(Command::get_arguments);
            matches!(character, 'h' | 'V') || all.any(|option| option.get_short() == Some(character))
        };
        first.is_some_and(|character| character != '-' && !(is_single && is_option(character)))
    }
}

/// The error message for an invalid value of an option, in clearer words than those of clap. `None` if clap's own message should be shown.
pub fn invalid_value_failure(error: &clap::Error) -> Option<Failure> {
    // An error from a scorewise crate already names the setting and says what to do, so its message is shown unchanged.
    if let Some(source) = error.source().and_then(|source| source.downcast_ref::<Error>()) {
        return Some(Failure(with_options(source)));
    }
    if let Some(source) = error.source().and_then(|source| source.downcast_ref::<scorewise::Error>()) {
        return Some(Failure(source.to_string()));
    }
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (context(ContextKind::InvalidArg)?, context(ContextKind::InvalidValue)?);
    if error.kind() != ErrorKind::ValueValidation || !value.starts_with('-') {
        return None;
    }
    let source = error.source()?;
    let (expected, hint) = if source.is::<ParseFloatError>() {
        ("a number", "give a number")
    } else if source.is::<ParseIntError>() {
        ("an integer of at least 0", "give an integer, 0 or above")
    } else {
        return None;
    };
    // clap gives the option with its placeholder, as in `--lead <ROWS>`; only the name is needed.
    let name = option.trim_start_matches('-').split([' ', '=']).next()?;
    Some(Error::setting(name, format!("`{}` is not {expected}", value.escape_debug()), hint).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;
    use clap::ArgAction::SetTrue;

    /// Joins each value that begins with a hyphen to the option before it. Returns the new command line.
    fn join_values(line: &str) -> String {
        let program = Command::new("p").subcommand(
            Command::new("train")
                .arg(Arg::new("table"))
                .arg(Arg::new("score").long("score"))
                .arg(Arg::new("lead").long("lead"))
                .arg(Arg::new("output").long("output").short('o'))
                .arg(Arg::new("json").long("json").action(SetTrue)),
        );
        let arguments = RawArguments::new(&program, line.split(' ').map(Into::into).collect());
        arguments.with_joined_values().iter().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_that_begins_with_a_hyphen_is_joined_to_its_option() {
        assert_eq!(join_values("p train t --lead -1 --score -tss"), "p train t --lead=-1 --score=-tss");
        assert_eq!(join_values("p train --score -(fp+fn) t"), "p train --score=-(fp+fn) t");
        assert_eq!(join_values("p train --score -odds t"), "p train --score=-odds t");
    }

    #[test]
    fn short_options_a_lone_hyphen_and_arguments_after_a_flag_are_not_joined_to_an_option() {
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
            assert_eq!(join_values(line), line);
        }
    }
}
