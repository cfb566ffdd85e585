//! Errors in files, tables and settings. A message begins with the location of the problem or the name of the setting. If there is advice on how to
//! correct it, the message ends with a hint.

use std::fmt;

use crate::setting::{self, HintLine, Setting, SettingFormatter, visible};

/// An error in a table, a file or a setting. Messages mention settings through [`Setting`]; a front end (the command line, Python) calls
/// [`Error::render`] to write the names of settings the way its users know them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error from the numerical core, the crate `scorewise`.
    Numbers(#[from] scorewise::Error),
    /// A file or a table that cannot be used.
    Data {
        /// The file, row and column in which the error was found.
        place: Box<Location>,
        /// What is wrong with the file or the table.
        problem: String,
        /// Text that says how to correct the error; empty when there is no advice.
        hint: String,
    },
    /// A setting that cannot be used.
    Setting {
        /// The plain name of the setting, with words joined by hyphens: `weight-decay`.
        setting: String,
        /// What is wrong with the setting.
        problem: String,
        /// Text that says how to correct the setting; empty when there is no advice.
        hint: String,
    },
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A location in a file, displayed as ``flares.csv:812, column `bz` ``.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The name of the file, as the user wrote it.
    pub file: String,
    /// The line number, counted from 1; `None` for a whole file, and for a Parquet or Arrow file, which has no lines.
    pub line: Option<u64>,
    /// The row number, counted from 1, in a Parquet or Arrow file; `None` otherwise.
    pub row: Option<u64>,
    /// The name of the column; `None` when the location is a whole row or file.
    pub column: Option<String>,
}

impl Location {
    /// The location of a whole file, without a line or a column.
    #[must_use]
    pub fn file(file: &str) -> Self {
        Location { file: file.into(), ..Location::default() }
    }

    /// Returns this location after setting the name of its column.
    #[must_use]
    pub fn column(self, column: &str) -> Self {
        Location { column: Some(column.into()), ..self }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&visible(&self.file))?;
        if let Some(line) = self.line {
            write!(out, ":{line}")?;
        }
        if let Some(row) = self.row {
            write!(out, ", row {row}")?;
        }
        match &self.column {
            Some(column) => write!(out, ", column `{}`", column.escape_debug()),
            None => Ok(()),
        }
    }
}

impl Error {
    /// Creates an [`Error::Data`] at the given location.
    pub fn data(place: Location, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Data { place: Box::new(place), problem: problem.into(), hint: hint.into() }
    }

    /// Creates an [`Error::Setting`]. `setting` is the plain name of the setting, such as `weight-decay`.
    pub fn setting(setting: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Setting { setting: setting.into(), problem: problem.into(), hint: hint.into() }
    }

    /// Returns the message with every setting written by `formatter`, which the front end provides.
    #[must_use]
    pub fn render(&self, formatter: SettingFormatter<'_>) -> String {
        setting::render(&format!("{self:#}"), formatter)
    }
}

/// `{}` writes settings by their plain names, such as `weight-decay`. `{:#}` keeps the marker characters around these names, by which
/// [`render`](setting::render) finds them.
impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Error::Numbers(error) => return error.fmt(out),
            Error::Data { place, problem, hint } => format!("{place}: {problem}{}", HintLine(hint)),
            Error::Setting { setting, problem, hint } => format!("{}: {problem}{}", Setting(setting), HintLine(hint)),
        };
        if out.alternate() { out.write_str(&message) } else { out.write_str(&setting::render_plain(&message)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_begins_with_the_location_and_ends_with_the_hint() {
        let place = Location { line: Some(812), ..Location::file("flares.csv") }.column("bz");
        let hint = format!("add `{}` to read it as missing", Setting("missing").to("n/a"));
        let error = Error::data(place, "`n/a` is not a number", hint);
        let expected =
            "flares.csv:812, column `bz`: `n/a` is not a number\nhint: add `missing n/a` to read it as missing";
        assert_eq!(error.to_string(), expected);
    }
}
