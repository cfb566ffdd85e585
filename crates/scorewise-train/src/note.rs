//! NOTE: what was decided for the user without being asked, said so that it can be decided otherwise.

use std::fmt;

/// Something that a user should know and that is no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The column it is about.
    pub column: Option<String>,
    /// What was done, why, and how to have it otherwise.
    pub text: String,
}

impl Note {
    /// About the whole.
    pub fn new(text: impl Into<String>) -> Self {
        Note { column: None, text: text.into() }
    }

    /// About a column.
    pub fn of(column: &str, text: impl Into<String>) -> Self {
        Note { column: Some(column.into()), text: text.into() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.column {
            Some(column) => write!(out, "column `{}`: {}", column.escape_debug(), self.text),
            None => out.write_str(&self.text),
        }
    }
}
