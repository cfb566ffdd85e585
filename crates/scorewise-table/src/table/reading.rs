//! Settings for reading a table, and the strings and numbers that mean a missing value.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{ColumnKind, number};
use crate::error::Result;
use crate::names::missing_columns_error;

/// Settings for reading a table. What is not set is recognised from the table itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// The delimiter between cells; `None` to recognise a comma, semicolon, tab or pipe automatically.
    pub delimiter: Option<char>,
    /// Whether numbers have a decimal comma; `None` to recognise the decimal mark automatically.
    pub decimal_comma: Option<bool>,
    /// The names of the columns of a file without a header. The first line is then a row. `None` if the file has a header.
    pub columns: Option<Vec<String>>,
    /// Whether dates with the year last have the month first, as in `01/31/2010`; `None` to recognise the order automatically.
    pub month_first: Option<bool>,
    /// Further strings that mean a missing value, besides [the default ones](crate::table#missing-values). A number is recognised however it is
    /// written: `-200` also matches `-200.0`.
    pub missing: Vec<String>,
    /// The types of columns by name, for columns whose type is not to be recognised automatically. Names that the table does not have are
    /// ignored, because these settings may come from a model whose training table had more columns.
    pub kinds: BTreeMap<String, ColumnKind>,
    /// The names of the columns to read, in any order; `None` for all columns. Columns are read in the order of the file.
    pub only: Option<Vec<String>>,
    /// How numbers and dates are written in an earlier table (for `predict`, the training table). This decides how ambiguous cells are read.
    pub writing: Option<TextConventions>,
}

/// How numbers and dates are written in a table: conventions that a single cell may not show, such as the decimal mark. Returned by
/// [`Reader::writing`](super::Reader::writing).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TextConventions {
    /// Whether numbers have a decimal comma; `None` if no number has a decimal mark or a thousands separator.
    pub decimal_comma: Option<bool>,
    /// Conventions of single columns, by the name of the column.
    pub columns: BTreeMap<String, ColumnConventions>,
}

/// How the cells of a column are written: conventions that a single cell may not show, such as the order of day and month.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnConventions {
    /// Whether the month comes before the day in dates with the year last; `None` if the order makes no difference for any date of the column.
    pub month_first: Option<bool>,
    /// The per cent or currency sign that the numbers may have. It does not change the number: `3.1%` and `3.1` are both read as 3.1.
    pub sign: Option<char>,
    /// Whether the cells are times of day without a date.
    pub is_clock: bool,
}

/// The name and type of a column that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name of the column.
    pub name: String,
    /// The type of the column.
    pub kind: ColumnKind,
}

/// The strings and numbers that the user listed as missing values, in addition to the default strings.
#[derive(Clone, Debug, Default)]
pub(super) struct MissingMarkers {
    strings: Vec<Vec<u8>>,
    numbers: Vec<f64>,
}

impl MissingMarkers {
    /// Parses the strings that the user listed. A string that is a number is stored as a number too.
    pub(super) fn new(missing: &[String]) -> Self {
        let strings: Vec<Vec<u8>> = missing.iter().map(|marker| marker.trim().as_bytes().to_vec()).collect();
        let number = |marker: &Vec<u8>| number::parse(marker, b'.').or_else(|| number::parse(marker, b','));
        MissingMarkers { numbers: strings.iter().filter_map(number).collect(), strings }
    }

    /// Whether the user listed this number as a missing value.
    #[inline]
    pub(super) fn contains_number(&self, value: f64) -> bool {
        !self.numbers.is_empty() && self.numbers.contains(&value)
    }

    /// Whether a cell means a missing value in a column of any type. Cells are compared as strings, not as numbers.
    #[inline]
    pub(super) fn contains_string(&self, cell: &[u8]) -> bool {
        // `NA` must be in capitals, since `Na` may be sodium. `None` and `null` are not listed here, because they may be class labels: see
        // `is_missing_word`.
        cell.is_empty()
            || cell == b"?"
            || cell == b"NA"
            || (cell.len() == 3 && (cell.eq_ignore_ascii_case(b"nan") || cell == b"NaT"))
            || (cell.len() == 4 && (cell.eq_ignore_ascii_case(b"<na>") || cell.eq_ignore_ascii_case(b"#n/a")))
            || self.strings.iter().any(|marker| marker == cell)
    }

    /// Whether a cell is a word such as `none` or `null`, which means a missing value in a column of numbers, dates or booleans. In a column of
    /// strings it may be a class label.
    pub(super) fn is_missing_word(cell: &[u8]) -> bool {
        const MISSING_WORDS: [&[u8]; 11] =
            [b"-", b"--", b".", b"na", b"n/a", b"n.a.", b"nat", b"null", b"none", b"nil", b"\\N"];
        cell.len() <= 4 && MISSING_WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
    }

    /// Whether a cell means a missing value in a column of any type. Cells are compared both as strings and as numbers with the decimal mark `mark`.
    pub(super) fn contains(&self, cell: &[u8], mark: u8) -> bool {
        self.contains_string(cell)
            || !self.numbers.is_empty() && number::parse(cell, mark).is_some_and(|value| self.contains_number(value))
    }
}

/// The candidate that is most similar to a mistyped name; `None` if no candidate is similar enough.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let normalised =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let wanted = normalised(name);
    let similarity = |candidate: &str| {
        let candidate_text = normalised(candidate);
        let is_prefix = !wanted.is_empty() && candidate_text.starts_with(&wanted);
        // Jaro–Winkler underrates the similarity of short names with swapped letters, so the edit distance is used as well.
        let distance = strsim::damerau_levenshtein(&wanted, &candidate_text);
        let is_typo = 3 * distance <= wanted.chars().count().max(candidate_text.chars().count());
        let minimum = if is_prefix { 0.9 } else { 0.8 * f64::from(u8::from(is_typo)) };
        strsim::jaro_winkler(&wanted, &candidate_text).max(minimum)
    };
    // Among equally similar candidates the first is returned; `max_by` would return the last.
    let mut best: Option<(&str, f64)> = None;
    for candidate in candidates {
        let similarity = similarity(candidate);
        if similarity >= 0.8 && best.is_none_or(|(_, highest)| similarity > highest) {
            best = Some((candidate, similarity));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// Checks that the file has all columns that the settings ask for.
pub(super) fn check_names(file: &str, reading: &Reading, names: &[&str]) -> Result<()> {
    let Some(only) = &reading.only else { return Ok(()) };
    let available: HashSet<&str> = names.iter().copied().collect();
    let missing: Vec<&str> = only.iter().map(String::as_str).filter(|name| !available.contains(name)).collect();
    if missing.is_empty() { Ok(()) } else { Err(missing_columns_error(file, &missing, names)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found_despite_case_punctuation_and_typos() {
        let names = ["No", "pm2.5", "DEWP", "education-num", "hours-per-week"];
        assert_eq!(nearest("pm25", names), Some("pm2.5"));
        assert_eq!(nearest("dewp", names), Some("DEWP"));
        assert_eq!(nearest("education_num", names), Some("education-num"));
        assert_eq!(nearest("hours", names), Some("hours-per-week"));
        assert_eq!(nearest("income", names), None);
    }

    #[test]
    fn cells_are_compared_with_missing_markers_as_strings_and_as_numbers() {
        let markers = MissingMarkers::new(&["-200".into(), "n/a".into()]);
        for cell in ["", "?", "NA", "NaN", "nan", "n/a", "-200", "-200.0", "-2e2"] {
            assert!(markers.contains(cell.as_bytes(), b'.'), "{cell}");
        }
        assert!(markers.contains(b"-200,0", b','));
        for cell in ["<NA>", "#N/A", "NaT"] {
            assert!(markers.contains(cell.as_bytes(), b'.') && !MissingMarkers::is_missing_word(b"x"), "{cell}");
        }
        for cell in ["None", "null", "NULL", "Na", "na", "-", "--", ".", "N/A", "nil", "\\N", "n.a."] {
            assert!(
                !markers.contains(cell.as_bytes(), b'.') && MissingMarkers::is_missing_word(cell.as_bytes()),
                "{cell}"
            );
        }
        assert!(
            !markers.contains(b"200", b'.')
                && !MissingMarkers::is_missing_word(b"200")
                && !MissingMarkers::is_missing_word(b"")
        );
    }
}
