//! NOTE: what was decided for the user without being asked, said so that it can be decided otherwise.

use std::fmt;

use crate::setting::{self, Words};

/// Something that a user should know and that is no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The column it is about.
    pub column: Option<String>,
    /// What was done, why, and how to have it otherwise; settings are mentioned through [`Setting`](setting::Setting).
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

    /// The note as a front end writes it.
    #[must_use]
    pub fn render(&self, words: Words<'_>) -> String {
        setting::render(&format!("{self:#}"), words)
    }
}

/// Settings by their bare names; `{:#}` keeps the marks around them, for [`render`](setting::render).
impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(out, "column `{}`: ", column.escape_debug())?;
        }
        if out.alternate() { out.write_str(&self.text) } else { out.write_str(&setting::plain(&self.text)) }
    }
}
