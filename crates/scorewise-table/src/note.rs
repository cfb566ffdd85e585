//! Notes: automatic decisions that the user should know about and can override.

use std::fmt;

use crate::setting::{self, SettingFormatter};

/// A message to the user that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The column that it is about; `None` for a note about the whole table.
    pub column: Option<String>,
    /// What was done, why, and how to change it. Settings are mentioned through [`Setting`](setting::Setting).
    pub text: String,
}

impl Note {
    /// A note about the whole table.
    pub fn new(text: impl Into<String>) -> Self {
        Note { column: None, text: text.into() }
    }

    /// A note about one column.
    pub fn about_column(column: &str, text: impl Into<String>) -> Self {
        Note { column: Some(column.into()), text: text.into() }
    }

    /// The note with settings written by `words`, as the front end calls them.
    #[must_use]
    pub fn render(&self, words: SettingFormatter<'_>) -> String {
        setting::render(&format!("{self:#}"), words)
    }
}

/// Writes settings by their plain names; `{:#}` keeps the markers around them, which [`render`](setting::render) needs.
impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(out, "column `{}`: ", column.escape_debug())?;
        }
        if out.alternate() { out.write_str(&self.text) } else { out.write_str(&setting::plain(&self.text)) }
    }
}
