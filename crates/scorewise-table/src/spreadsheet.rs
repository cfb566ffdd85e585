//! Escapes CSV cells that a spreadsheet program would run as formulas.
//!
//! A string of a table may begin with `=`, and a spreadsheet program that opens the predictions would evaluate it. Such a cell is written
//! with a leading apostrophe, which spreadsheet programs read as "this is text"; scorewise removes the apostrophe when it reads predictions.
//! Only CSV files need this, because Parquet and Arrow files store the type of every column.
//!
//! ```
//! use scorewise_table::spreadsheet::{escape_formula, unescape_formula};
//!
//! assert_eq!(escape_formula("=1+1"), "'=1+1");
//! assert_eq!(unescape_formula("'=1+1"), "=1+1");
//! assert_eq!(escape_formula("-1.5"), "-1.5"); // a number is not a formula
//! assert_eq!(escape_formula("it's rain"), "it's rain");
//! ```

use std::borrow::Cow;

/// Returns the string as a CSV cell, with a leading apostrophe if a spreadsheet program would run it as a formula.
#[must_use]
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    if needs_apostrophe(text) { format!("'{text}").into() } else { text.into() }
}

/// Returns the string from which [`escape_formula`] made this cell: removes the leading apostrophe if `escape_formula` added it.
#[must_use]
pub fn unescape_formula(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| needs_apostrophe(text)).unwrap_or(cell)
}

/// Whether a spreadsheet program would run a string as a formula: it begins like a formula and is neither a number nor a single character.
/// Leading apostrophes are ignored, so `'=1` is written as `''=1`, and when the cell is read, only the added apostrophe is removed.
fn needs_apostrophe(text: &str) -> bool {
    let formula = text.trim_start_matches('\'');
    // Spreadsheet programs also accept the full-width characters of East Asian keyboards.
    let starts_like_formula = formula.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let is_single_character = formula.chars().count() == 1;
    starts_like_formula && !is_single_character && !is_number(formula)
}

/// Whether a string is a number written in digits: `-1`, `+2.5e-3`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_do_not() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-inf", "=5"]
        {
            assert_eq!(escape_formula(formula), format!("'{formula}"));
        }
        for plain in ["", "rain", "1", "-1", "+1", "-1.5e-3", "-.5", "+", "-", "=", "'", "'tis", "a=b", "''", "1-2"] {
            assert_eq!(escape_formula(plain), plain);
        }
    }

    #[test]
    fn every_string_is_read_back_unchanged_and_no_two_strings_give_the_same_cell() {
        let parts = ["", "'", "''", "=", "-", "-1", "+", "@", "x", "1", "\t"];
        let mut cells = std::collections::HashSet::new();
        let mut texts = std::collections::HashSet::new();
        for first in parts {
            for second in parts {
                for third in parts {
                    let text = format!("{first}{second}{third}");
                    let cell = escape_formula(&text).into_owned();
                    assert_eq!(unescape_formula(&cell), text, "{cell}");
                    cells.insert(cell);
                    texts.insert(text);
                }
            }
        }
        assert_eq!(cells.len(), texts.len());
    }
}
