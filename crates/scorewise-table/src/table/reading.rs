//! How a table is to be read: what the user says of it, and what counts as missing.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Kind, number};
use crate::error::{Error, Place, Result};

/// What the user says of a table. Everything left out is recognised from the table itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// What stands between cells; recognised among comma, semicolon, tab and pipe where not given.
    pub delimiter: Option<char>,
    /// Whether numbers have a decimal comma; recognised where not given.
    pub decimal_comma: Option<bool>,
    /// The columns' names. Where they are given, the file has no header: its first line is a row.
    pub columns: Option<Vec<String>>,
    /// Whether dates with the year last have the month first, `01/31/2010`; recognised where not given.
    pub month_first: Option<bool>,
    /// Texts that mean a missing value, beyond those that always do (see [the table](crate::table#missing-values)). One that is
    /// a number also matches other ways to write it: `-200` is also `-200.0`.
    pub missing: Vec<String>,
    /// Kinds of columns that are not to be recognised.
    /// (A name that is no column changes nothing: a model knows columns that another table need not have.)
    pub kinds: BTreeMap<String, Kind>,
    /// Read just these columns, in the order of the file.
    pub only: Option<Vec<String>>,
    /// How another table was written that this one is to be read like: for `predict`, the table of the training.
    /// It decides where this table's own cells do not.
    pub writing: Option<Writing>,
}

/// How a table was written, as far as a cell alone does not show it. [`Reader::writing`](super::Reader::writing) tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Writing {
    /// Whether numbers have a decimal comma; `None` where no number has decimals.
    pub decimal_comma: Option<bool>,
    /// The columns in which there is something to tell.
    pub columns: BTreeMap<String, Style>,
}

/// How the cells of a column are written, as far as a cell alone does not show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Style {
    /// Whether the month comes before the day; `None` where no date has the year last.
    pub month_first: Option<bool>,
    /// The sign beside numbers, `%` or that of a currency. Numbers without it mean the same: `3.1%` and `3.1` are both 3.1.
    pub sign: Option<char>,
    /// Whether the cells are times of day without a date.
    pub is_clock: bool,
}

/// A column as it will be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// As in the header.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// The texts and numbers that stand for a missing value.
#[derive(Clone, Debug, Default)]
pub(super) struct Markers {
    texts: Vec<Vec<u8>>,
    numbers: Vec<f64>,
}

impl Markers {
    pub(super) fn new(missing: &[String]) -> Self {
        let texts: Vec<Vec<u8>> = missing.iter().map(|text| text.trim().as_bytes().to_vec()).collect();
        let numbers = texts.iter().filter_map(|text| number::parse(text, b'.').or_else(|| number::parse(text, b',')));
        Markers { numbers: numbers.collect(), texts }
    }

    /// Whether a number stands for a missing value.
    #[inline]
    pub(super) fn is_number(&self, value: f64) -> bool {
        !self.numbers.is_empty() && self.numbers.contains(&value)
    }

    /// Whether a text that need not be a number stands for a missing value.
    #[inline]
    pub(super) fn is_text(&self, cell: &[u8]) -> bool {
        // `NA` in capitals alone: Na may be sodium. `None` and `null` may be classes: see `is_word`.
        cell.is_empty()
            || cell == b"?"
            || cell == b"NA"
            || (cell.len() == 3 && (cell.eq_ignore_ascii_case(b"nan") || cell == b"NaT"))
            || (cell.len() == 4 && (cell.eq_ignore_ascii_case(b"<na>") || cell.eq_ignore_ascii_case(b"#n/a")))
            || self.texts.iter().any(|text| text == cell)
    }

    /// Whether a cell means a missing value among numbers, dates and booleans, where it can be nothing else. In a column of
    /// texts it may be a class.
    pub(super) fn is_word(cell: &[u8]) -> bool {
        const WORDS: [&[u8]; 11] =
            [b"-", b"--", b".", b"na", b"n/a", b"n.a.", b"nat", b"null", b"none", b"nil", b"\\N"];
        cell.len() <= 4 && WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
    }

    /// Whether a cell of any kind stands for a missing value, however a number in it is written.
    pub(super) fn holds(&self, cell: &[u8], mark: u8) -> bool {
        self.is_text(cell)
            || !self.numbers.is_empty() && number::parse(cell, mark).is_some_and(|value| self.is_number(value))
    }
}

/// The candidate nearest to a name that nobody has, if any is near.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let wanted = plain(name);
    let likeness = |candidate: &str| {
        let candidate_plain = plain(candidate);
        let begins = !wanted.is_empty() && candidate_plain.starts_with(&wanted);
        // Letters that changed places in a short name are near too.
        let away = strsim::damerau_levenshtein(&wanted, &candidate_plain);
        let is_slip = 3 * away <= wanted.chars().count().max(candidate_plain.chars().count());
        let least = if begins { 0.9 } else { 0.8 * f64::from(u8::from(is_slip)) };
        strsim::jaro_winkler(&wanted, &candidate_plain).max(least)
    };
    // `max_by` keeps the last of equals; a strict comparison keeps the first, as the file has them.
    let mut best: Option<(&str, f64)> = None;
    for candidate in candidates {
        let likeness = likeness(candidate);
        if likeness >= 0.8 && best.is_none_or(|(_, so_far)| likeness > so_far) {
            best = Some((candidate, likeness));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// The fault of a column that is asked for and not there.
pub(super) fn no_column<'a>(file: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Error {
    let name = name.escape_debug();
    match nearest(&name.to_string(), names.clone()) {
        Some(near) => Error::data(
            Place::file(file),
            format!("no column `{name}`; did you mean `{}`?", near.escape_debug()),
            String::new(),
        ),
        None => {
            const SHOWN: usize = 20;
            let total = names.clone().count();
            let mut list =
                names.take(SHOWN).map(|name| format!("`{}`", name.escape_debug())).collect::<Vec<_>>().join(", ");
            if total > SHOWN {
                list += &format!(" and {} more", total - SHOWN);
            }
            Error::data(Place::file(file), format!("no column `{name}`"), format!("the columns are {list}"))
        }
    }
}

/// Checks that all columns the user speaks of are there.
pub(super) fn check_names(file: &str, reading: &Reading, names: &[&str]) -> Result<()> {
    let Some(spoken) = &reading.only else { return Ok(()) };
    let known: HashSet<&str> = names.iter().copied().collect();
    for name in spoken {
        if !known.contains(name.as_str()) {
            return Err(no_column(file, name, names.iter().copied()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_forgives_case_marks_and_slips() {
        let names = ["No", "pm2.5", "DEWP", "education-num", "hours-per-week"];
        assert_eq!(nearest("pm25", names), Some("pm2.5"));
        assert_eq!(nearest("dewp", names), Some("DEWP"));
        assert_eq!(nearest("education_num", names), Some("education-num"));
        assert_eq!(nearest("hours", names), Some("hours-per-week"));
        assert_eq!(nearest("income", names), None);
    }

    #[test]
    fn markers_match_as_text_and_as_number() {
        let markers = Markers::new(&["-200".into(), "n/a".into()]);
        for cell in ["", "?", "NA", "NaN", "nan", "n/a", "-200", "-200.0", "-2e2"] {
            assert!(markers.holds(cell.as_bytes(), b'.'), "{cell}");
        }
        assert!(markers.holds(b"-200,0", b','));
        for cell in ["<NA>", "#N/A", "NaT"] {
            assert!(markers.holds(cell.as_bytes(), b'.') && !Markers::is_word(b"x"), "{cell}");
        }
        for cell in ["None", "null", "NULL", "Na", "na", "-", "--", ".", "N/A", "nil", "\\N", "n.a."] {
            assert!(!markers.holds(cell.as_bytes(), b'.') && Markers::is_word(cell.as_bytes()), "{cell}");
        }
        assert!(!markers.holds(b"200", b'.') && !Markers::is_word(b"200") && !Markers::is_word(b""));
    }
}
