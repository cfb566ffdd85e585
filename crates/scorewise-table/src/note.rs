//! Notes: automatic decisions that the user should know about and can override.

use std::fmt;

use crate::setting::{self, SettingFormatter};

/// A message to the user that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The column that the note is about; `None` for a note about the whole table.
    pub column: Option<String>,
    /// What was decided, why, and how to override the decision. Settings are mentioned through [`Setting`](setting::Setting).
    pub text: String,
}

impl Note {
    /// Creates a note about the whole table.
    pub fn new(text: impl Into<String>) -> Self {
        Note { column: None, text: text.into() }
    }

    /// Creates a note about one column.
    pub fn about_column(column: &str, text: impl Into<String>) -> Self {
        Note { column: Some(column.into()), text: text.into() }
    }

    /// Returns the text of the note in which every setting is written by `formatter`, the formatter of the front end.
    #[must_use]
    pub fn render(&self, formatter: SettingFormatter<'_>) -> String {
        setting::render(&format!("{self:#}"), formatter)
    }
}

/// Writes settings by their plain names. `{:#}` keeps the markers around the names of settings, which [`render`](setting::render) needs.
impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(out, "column `{}`: ", column.escape_debug())?;
        }
        if out.alternate() { out.write_str(&self.text) } else { out.write_str(&setting::plain(&self.text)) }
    }
}
