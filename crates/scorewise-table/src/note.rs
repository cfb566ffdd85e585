//! Notes, which tell the user about automatic decisions and how to override them.

use std::fmt;

use crate::setting::{self, SettingFormatter};

/// A message to the user that is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The name of the column that the note is about; `None` for a note about the whole table.
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

    /// Returns this note with a prefix that names the cross-validation fold: `fold 3 of repeat 10: `. Both numbers are counted from 1.
    #[must_use]
    pub fn about_fold(&self, fold: usize, repeat: usize) -> Self {
        Note { column: self.column.clone(), text: format!("fold {fold} of repeat {repeat}: {}", self.text) }
    }

    /// Whether this note says the same as `other`, apart from numbers such as counts of rows. A note about a fold also repeats the same
    /// note without a fold.
    #[must_use]
    pub fn repeats(&self, other: &Note) -> bool {
        let without_numbers = |note: &Note| note.text.replace(|c: char| c.is_ascii_digit(), "");
        let text = without_numbers(self);
        let is_same = |other: &Note| text == without_numbers(other);
        self.column == other.column && (is_same(other) || is_same(&other.about_fold(1, 1)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_differ_only_in_numbers_or_in_the_fold_repeat_each_other() {
        let note = |column: &str, rows: usize| Note::about_column(column, format!("{rows} rows have no value"));
        assert!(note("x1", 12).repeats(&note("x1", 7)));
        assert!(note("x1", 12).about_fold(3, 10).repeats(&note("x1", 7)));
        assert!(!note("x1", 12).repeats(&note("x2", 12)));
        assert!(!note("x1", 12).repeats(&Note::about_column("x1", "12 rows have a value")));
        assert_eq!(
            note("x1", 12).about_fold(3, 10).to_string(),
            "column `x1`: fold 3 of repeat 10: 12 rows have no value"
        );
    }
}
