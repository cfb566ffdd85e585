//! Notes, which tell the user about automatic decisions and how to override them.

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

    /// Returns the text of the note with every setting written by `formatter`, which the front end provides.
    #[must_use]
    pub fn render(&self, formatter: SettingFormatter<'_>) -> String {
        setting::render(&format!("{self:#}"), formatter)
    }
}

/// `{}` writes settings by their plain names, such as `weight-decay`. `{:#}` keeps the marker characters around these names, by which
/// [`render`](setting::render) finds them.
impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(out, "column `{}`: ", column.escape_debug())?;
        }
        if out.alternate() { out.write_str(&self.text) } else { out.write_str(&setting::render_plain(&self.text)) }
    }
}
