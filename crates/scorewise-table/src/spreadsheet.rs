//! SPREADSHEET: cells of CSV files that a spreadsheet would take for a formula.
//!
//! A class or a text of a table may begin with `=`, and whoever opens the predictions in a spreadsheet runs it. Such a cell is written with
//! an apostrophe before it, which spreadsheets take for "this is text"; our own readers of predictions take it off again. For CSV alone:
//! Parquet and Arrow have types and need no such mark.
//!
//! ```
//! use scorewise_table::spreadsheet::{spreadsheet_safe, spreadsheet_text};
//!
//! assert_eq!(spreadsheet_safe("=1+1"), "'=1+1");
//! assert_eq!(spreadsheet_text("'=1+1"), "=1+1");
//! assert_eq!(spreadsheet_safe("-1.5"), "-1.5"); // a number is no formula
//! assert_eq!(spreadsheet_safe("it's rain"), "it's rain");
//! ```

use std::borrow::Cow;

/// A text cell as it is written: with an apostrophe before it where a spreadsheet would take it for a formula.
#[must_use]
pub fn spreadsheet_safe(text: &str) -> Cow<'_, str> {
    if needs_mark(text) { format!("'{text}").into() } else { text.into() }
}

/// The text of a cell that [`spreadsheet_safe`] wrote; any other cell is as it is.
#[must_use]
pub fn spreadsheet_text(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| needs_mark(text)).unwrap_or(cell)
}

/// Whether a text begins as a formula does. Apostrophes before that count too, so that a text which has one of its own comes back as it was.
fn needs_mark(text: &str) -> bool {
    let formula = text.trim_start_matches('\'');
    // The wide forms are those of East Asian keyboards, which spreadsheets take for the plain ones.
    let begins = formula.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let is_sign_alone = formula.chars().count() == 1;
    begins && !is_sign_alone && !is_number(formula)
}

/// Whether a text is a number in digits: `-1`, `+2.5e-3`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_marked_and_a_number_is_not() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-inf", "=5"]
        {
            assert_eq!(spreadsheet_safe(formula), format!("'{formula}"));
        }
        for plain in ["", "rain", "1", "-1", "+1", "-1.5e-3", "-.5", "+", "-", "=", "'", "'tis", "a=b", "''", "1-2"] {
            assert_eq!(spreadsheet_safe(plain), plain);
        }
    }

    #[test]
    fn every_text_comes_back_and_no_two_texts_become_one_cell() {
        let parts = ["", "'", "''", "=", "-", "-1", "+", "@", "x", "1", "\t"];
        let mut cells = std::collections::HashSet::new();
        let mut texts = std::collections::HashSet::new();
        for first in parts {
            for second in parts {
                for third in parts {
                    let text = format!("{first}{second}{third}");
                    let cell = spreadsheet_safe(&text).into_owned();
                    assert_eq!(spreadsheet_text(&cell), text, "{cell}");
                    cells.insert(cell);
                    texts.insert(text);
                }
            }
        }
        assert_eq!(cells.len(), texts.len());
    }
}
