//! Which rows of a table depend on each other. Confidence intervals must take this into account: a hundred rows of one storm contain less
//! information than one row each of a hundred storms.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::groups::Groups;
use crate::names;
use crate::split::{Split, time_positions};
use crate::table::Table;

/// What is resampled for confidence intervals, as users write it: `rows`, `blocks`, `blocks:48` or `group:COLUMN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resample {
    /// Single rows, which are independent of each other.
    Rows,
    /// Blocks of rows that follow each other in time. A block has this number of rows; with `None`, the number is estimated from the data.
    Blocks(Option<usize>),
    /// All rows that have the same value in this column.
    Group(String),
}

impl FromStr for Resample {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = || {
            let problem = format!("`{}` is not a way to resample", text.escape_debug());
            Error::setting("resample", problem, "write `rows`, `blocks`, `blocks:48` or `group:COLUMN`")
        };
        match text.split_once(':') {
            None if text == "rows" => Ok(Resample::Rows),
            None if text == "blocks" => Ok(Resample::Blocks(None)),
            Some(("blocks", length)) => match length.trim().parse() {
                Ok(length) if length > 0 => Ok(Resample::Blocks(Some(length))),
                _ => Err(refuse()),
            },
            Some(("group", column)) if !column.is_empty() => Ok(Resample::Group(column.into())),
            _ => Err(refuse()),
        }
    }
}

impl fmt::Display for Resample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resample::Rows => out.write_str("rows"),
            Resample::Blocks(None) => out.write_str("blocks"),
            Resample::Blocks(Some(length)) => write!(out, "blocks:{length}"),
            Resample::Group(column) => write!(out, "group:{column}"),
        }
    }
}

impl Serialize for Resample {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Resample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Which rows of a set of rows depend on each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Dependence {
    /// No rows depend on each other.
    #[default]
    Independent,
    /// Rows that follow each other in time depend on each other.
    Time {
        /// The position of each row in the order of time.
        positions: Vec<u32>,
        /// The number of rows of a block; with `None`, it is estimated from the data.
        block: Option<usize>,
    },
    /// Rows of the same group depend on each other. The vector holds the group of each row.
    Groups(Vec<u32>),
}

impl Dependence {
    /// Which rows of a table depend on each other. `resample` decides if it is `Some`; otherwise the split decides. If the split is by group, rows of
    /// the same group depend on each other. If the split is by time, rows that follow each other in time depend on each other. If the split is
    /// random, they do so only if `is_series` says that values of other rows are inputs or targets.
    pub fn of_table(table: &Table, resample: Option<&Resample>, split: &Split, is_series: bool) -> Result<Self> {
        let in_time = |block: Option<usize>| {
            let column = if let Split::Time(column) = split { column.as_deref() } else { None };
            Ok(Dependence::Time { positions: time_positions(table, column)?, block })
        };
        let in_groups = |setting: &'static str, column: &str| {
            Ok(Dependence::Groups(Groups::new(names::column(table, setting, column)?).codes))
        };
        match (resample, split) {
            (Some(Resample::Rows), _) => Ok(Dependence::Independent),
            (Some(Resample::Blocks(length)), _) => in_time(*length),
            (Some(Resample::Group(column)), _) => in_groups("resample", column),
            (None, Split::Group(column)) => in_groups("split", column),
            (None, Split::Time(_)) => in_time(None),
            (None, Split::Random) if is_series => in_time(None),
            (None, Split::Random) => Ok(Dependence::Independent),
        }
    }

    /// Which of the given rows depend on each other. The result is in the order of `rows`.
    #[must_use]
    pub fn of_rows(&self, rows: &[u32]) -> Self {
        let select = |numbers: &[u32]| rows.iter().map(|row| numbers[*row as usize]).collect();
        match self {
            Dependence::Independent => Dependence::Independent,
            Dependence::Time { positions, block } => Dependence::Time { positions: select(positions), block: *block },
            Dependence::Groups(groups) => Dependence::Groups(select(groups)),
        }
    }

    /// Appends further rows of the same table. `further` says which of them depend on each other and must be of the same variant as `self`.
    pub fn extend(&mut self, further: Dependence) {
        match (self, further) {
            (Dependence::Time { positions, .. }, Dependence::Time { positions: more, .. }) => positions.extend(more),
            (Dependence::Groups(groups), Dependence::Groups(more)) => groups.extend(more),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resample_rule_is_parsed_and_printed() {
        for text in ["rows", "blocks", "blocks:48", "group:station"] {
            assert_eq!(text.parse::<Resample>().unwrap().to_string(), text);
        }
        for text in ["", "row", "blocks:", "blocks:0", "blocks:x", "group:", "groups"] {
            let message = text.parse::<Resample>().unwrap_err().to_string();
            assert!(message.contains("blocks:48"), "{text}: {message}");
        }
    }

    #[test]
    fn selected_rows_keep_their_groups_and_their_positions_in_time() {
        let groups = Dependence::Groups(vec![0, 0, 1, 2]);
        assert_eq!(groups.of_rows(&[3, 1]), Dependence::Groups(vec![2, 0]));
        let mut time = Dependence::Time { positions: vec![2, 0, 1], block: Some(4) }.of_rows(&[0, 2]);
        time.extend(Dependence::Time { positions: vec![0], block: Some(4) });
        assert_eq!(time, Dependence::Time { positions: vec![2, 1, 0], block: Some(4) });
    }
}
