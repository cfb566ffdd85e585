//! What can be wrong with what a caller gives: the place at the front, the cure at the end.

use std::fmt;

use crate::setting::{self, Hint, Setting, Words, visible};

/// A fault in a caller's input. Problems and hints mention settings through [`Setting`]: a front end that shows an error to its users
/// calls [`Error::render`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A fault that the numbers found.
    Numbers(#[from] scorewise::Error),
    /// Something in a file or table that cannot be used.
    Data {
        /// Where.
        place: Box<Place>,
        /// What is there and what should be.
        problem: String,
        /// What to do; may be empty.
        hint: String,
    },
    /// A setting that cannot be used.
    Setting {
        /// Its bare name, words joined by hyphens: `weight-decay`.
        setting: String,
        /// What is wrong with it.
        problem: String,
        /// What to do; may be empty.
        hint: String,
    },
}

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a file a fault lies: `flares.csv:812, column `bz``.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1, where the file has lines.
    pub line: Option<u64>,
    /// The row, from 1, where it has none.
    pub row: Option<u64>,
    /// The column's name.
    pub column: Option<String>,
}

impl Place {
    /// A whole file.
    #[must_use]
    pub fn file(file: &str) -> Self {
        Place { file: file.into(), ..Place::default() }
    }

    /// The same in this column.
    #[must_use]
    pub fn column(self, column: &str) -> Self {
        Place { column: Some(column.into()), ..self }
    }
}

impl fmt::Display for Place {
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
    /// A fault of the data at a place.
    pub fn data(place: Place, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Data { place: Box::new(place), problem: problem.into(), hint: hint.into() }
    }

    /// A fault of a setting, which is given by its bare name: `weight-decay`.
    pub fn setting(setting: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Setting { setting: setting.into(), problem: problem.into(), hint: hint.into() }
    }

    /// The sentence as a front end writes it.
    #[must_use]
    pub fn render(&self, words: Words<'_>) -> String {
        setting::render(&format!("{self:#}"), words)
    }
}

/// Settings by their bare names; `{:#}` keeps the marks around them, for [`render`](setting::render).
impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Error::Numbers(error) => return error.fmt(out),
            Error::Data { place, problem, hint } => format!("{place}: {problem}{}", Hint(hint)),
            Error::Setting { setting, problem, hint } => format!("{}: {problem}{}", Setting(setting), Hint(hint)),
        };
        if out.alternate() { out.write_str(&message) } else { out.write_str(&setting::plain(&message)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_comes_first_and_cure_last() {
        let place = Place { line: Some(812), ..Place::file("flares.csv") }.column("bz");
        let hint = format!("add `{}` to read it as missing", Setting("missing").to("n/a"));
        let error = Error::data(place, "`n/a` is not a number", hint);
        let expected =
            "flares.csv:812, column `bz`: `n/a` is not a number\nhint: add `missing n/a` to read it as missing";
        assert_eq!(error.to_string(), expected);
    }
}
