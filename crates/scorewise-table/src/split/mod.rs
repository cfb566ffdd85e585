//! Splits the rows of a table into a training, a validation and a test set, and into cross-validation folds.
//!
//! Networks are trained on the training set, stopped early by the validation set, and evaluated on the test set.
//!
//! ```
//! use scorewise_table::split::{SplitShares, Split};
//! use scorewise_table::table::{Column, Table, Values};
//! use scorewise_table::target::Labels;
//!
//! let values = Values::Number((0..30).map(f64::from).collect());
//! let table = Table { columns: vec![Column { name: "x".into(), values }], ..Table::default() };
//! let names = vec!["no".to_string(), "yes".to_string()];
//! let labels = Labels { classes: (0..30).map(|row| u32::from(row % 3 == 0)).collect(), names, ahead: None };
//! let (parts, _) = Split::parse("random")?.split_rows(&table, &labels, &SplitShares { test: 0.2, validation: 1.0 / 3.0 }, 7)?;
//! assert_eq!((parts.training.len(), parts.validation.len(), parts.test.len()), (16, 8, 6));
//! // A third of the rows is positive, and so is a third of the test rows.
//! assert_eq!(parts.test.iter().filter(|row| labels.classes[**row as usize] == 1).count(), 2);
//! # Ok::<(), scorewise_table::Error>(())
//! ```

mod shuffle;
mod random;
mod time;
mod group;
mod folds;
mod members;
mod cross_fit;

pub use cross_fit::{check_cross_fit, rarest_class};
pub use folds::CrossValidation;
pub use members::{MemberSplit, member_splits};
pub use shuffle::{random, shuffle};
pub use time::time_positions;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names::{self, quoted};
use crate::note::Note;
use crate::setting::Setting;
use crate::table::Table;
use crate::target::Labels;

/// How rows are assigned to the training, validation and test sets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Rows are assigned at random, with the same share of each class in every set.
    #[default]
    Random,
    /// By time: the last rows are the test set, and the rows before the test set are the validation set. Rows are ordered by the given
    /// column; if it is `None`, by the first column of dates, or as in the file if the table has no dates.
    Time(Option<String>),
    /// By the values of a column: all rows with the same value are in the same set.
    Group(String),
}

/// The sizes of the test and validation sets as shares from 0 to below 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitShares {
    /// The share of all rows that forms the test set.
    pub test: f64,
    /// The share of the rows outside the test set that forms the validation set.
    pub validation: f64,
}

/// The rows of the training, validation and test sets, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitRows {
    /// The rows to train on.
    pub training: Vec<u32>,
    /// The rows that decide when training stops.
    pub validation: Vec<u32>,
    /// The rows to evaluate on.
    pub test: Vec<u32>,
    /// The set of each row of the table, including rows without a label: 0 for training, 1 for validation, 2 for test, 3 for rows after the test
    /// set (in folds by time). Lags do not reach from one set into another. [`NO_SET`] stands for a row that belongs to no set; lags from any set
    /// may reach such a row.
    pub set_of_row: Vec<u8>,
}

/// The entry of [`SplitRows::set_of_row`] for a row that belongs to no set.
pub const NO_SET: u8 = u8::MAX;
/// The entry of [`SplitRows::set_of_row`] for a row of the training set.
const TRAINING: u8 = 0;
/// The entry of [`SplitRows::set_of_row`] for a row of the validation set.
const VALIDATION: u8 = 1;
/// The entry of [`SplitRows::set_of_row`] for a row of the test set.
const TEST: u8 = 2;
/// The entry of [`SplitRows::set_of_row`] for a row after the test set. Only cross-validation folds by time have such rows.
const UNUSED: u8 = 3;

impl Split {
    /// Parses `random`, `time`, `time:COLUMN` or `group:COLUMN`.
    pub fn parse(text: &str) -> Result<Self> {
        let (word, column) = match text.split_once(':') {
            Some((word, column)) => (word.trim(), Some(column.trim()).filter(|column| !column.is_empty())),
            None => (text.trim(), None),
        };
        match (word, column, text.contains(':')) {
            ("random", None, false) => Ok(Split::Random),
            ("time", column, named) if named == column.is_some() => Ok(Split::Time(column.map(Into::into))),
            ("group", Some(column), _) => Ok(Split::Group(column.into())),
            _ => {
                let hint = "write `random`, `time`, `time:COLUMN` or `group:COLUMN`";
                Err(Error::setting("split", format!("{} is not a valid split", quoted(text)), hint))
            }
        }
    }

    /// Checks that the table has the column that this split names.
    pub fn check_column(&self, table: &Table) -> Result<()> {
        match self {
            Split::Time(Some(name)) | Split::Group(name) => names::column(table, "split", name).map(|_| ()),
            Split::Random | Split::Time(None) => Ok(()),
        }
    }

    /// Assigns the rows that have a label to the sets. The same seed gives the same sets.
    pub fn split_rows(
        &self,
        table: &Table,
        labels: &Labels,
        shares: &SplitShares,
        seed: u64,
    ) -> Result<(SplitRows, Vec<Note>)> {
        shares.check()?;
        assert_eq!(labels.classes.len(), table.rows(), "there must be one label for each row");
        let (set_of_row, mut notes) = match self {
            Split::Random => (random::assign(labels, shares, seed), Vec::new()),
            Split::Time(column) => time::assign(table, labels, column.as_deref(), shares)?,
            Split::Group(column) => (group::assign(table, labels, column, shares, seed)?, Vec::new()),
        };
        let (parts, left_out) = self.gather(set_of_row, labels);
        notes.extend(left_out);
        let test_setting = (shares.test > 0.0).then_some("test");
        notes.extend(self.check(&parts, labels, shares.validation > 0.0, test_setting)?);
        Ok((parts, notes))
    }

    /// Divides the training and validation rows anew for each network of an ensemble, with the same share of each class in every set.
    /// Returns an empty vector unless the split is [`Split::Random`], because a random division would separate rows that a split by time or
    /// by group keeps together.
    #[must_use]
    pub fn member_splits(&self, parts: &SplitRows, labels: &Labels, networks: usize, seed: u64) -> Vec<MemberSplit> {
        if *self != Split::Random {
            return Vec::new();
        }
        let pool = [&parts.training[..], &parts.validation].concat();
        let mut strata = vec![Vec::new(); labels.names.len()];
        pool.iter().for_each(|row| strata[labels.classes[*row as usize] as usize].push(*row));
        let blocks = (pool.len() as f64 / parts.validation.len().max(1) as f64).round() as usize;
        member_splits(&strata, blocks.max(2), networks, seed)
    }

    /// The labelled rows of each set, and a note to the user if rows are left out. In a split by time, a row is left out if its label comes from a
    /// row of a later set, because a set must not contain information from a later set.
    fn gather(&self, set_of_row: Vec<u8>, labels: &Labels) -> (SplitRows, Option<Note>) {
        let mut parts = SplitRows { set_of_row, ..SplitRows::default() };
        let mut left_out = 0;
        for row in labels.rows() {
            let set = parts.set_of_row[row as usize];
            let set_of_label =
                labels.ahead.as_ref().and_then(|ahead| parts.set_of_row.get(ahead[row as usize] as usize));
            if matches!(self, Split::Time(_)) && set_of_label.is_some_and(|other| *other != set) {
                left_out += usize::from(set != UNUSED);
                continue;
            }
            match set {
                TRAINING => parts.training.push(row),
                VALIDATION => parts.validation.push(row),
                TEST => parts.test.push(row),
                _ => {}
            }
        }
        let note = match left_out {
            1 => "1 row is left out: its label comes from a row of the next set".into(),
            _ => format!("{left_out} rows are left out: their labels come from rows of the next set"),
        };
        (parts, (left_out > 0).then(|| Note::new(note)))
    }

    /// Checks that every requested set contains every class. With more than two classes, a class that is absent from the validation or test set
    /// gives a note instead of an error. `validation` says whether a validation set is requested. `test_setting` is the name of the setting that
    /// determines the size of the test set; `None` if no test set is requested.
    fn check(
        &self,
        parts: &SplitRows,
        labels: &Labels,
        validation: bool,
        test_setting: Option<&str>,
    ) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        let sets = [
            ("training", &parts.training, true),
            ("validation", &parts.validation, validation),
            ("test", &parts.test, test_setting.is_some()),
        ];
        for (set, rows, _) in sets.into_iter().filter(|(_, _, is_requested)| *is_requested) {
            let mut seen = vec![false; labels.names.len()];
            rows.iter().for_each(|row| seen[labels.classes[*row as usize] as usize] = true);
            for (class, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
                let what = match (labels.names.len(), class) {
                    _ if rows.is_empty() => "rows".to_string(),
                    (2, 0) => "negatives".to_string(),
                    (2, _) => "positives".to_string(),
                    _ => format!("rows of class {}", quoted(&labels.names[class])),
                };
                if labels.names.len() > 2 && set != "training" && !rows.is_empty() {
                    notes.push(Note::new(format!("the {set} set has no {what}")));
                    continue;
                }
                let problem = format!("the {set} set has no {what}");
                let hint = self.hint(set, labels.counts()[class], validation, test_setting);
                return Err(Error::setting("split", problem, hint));
            }
        }
        Ok(notes)
    }

    /// A hint on what to do if `set` has no row of a class, although the table has `rows_of_class` rows of this class. `validation` says whether a
    /// validation set is requested. `test_setting` is the name of the setting that determines the size of the test set, if one is requested.
    fn hint(&self, set: &str, rows_of_class: usize, validation: bool, test_setting: Option<&str>) -> String {
        let setting = match self {
            // A single row of a class cannot be in two sets, so other shares do not help.
            _ if rows_of_class < 2 => return "give more rows".into(),
            // A random split takes the test rows first and leaves at least one row of each class. Two rows of a class are enough for the training
            // and the validation set, so only a smaller test set helps. In a cross-validation, another number of folds may help or not, depending
            // on the rows, so the hint does not suggest one.
            Split::Random => test_setting.filter(|setting| *setting != "folds"),
            _ if set != "test" && validation => Some("validation"),
            _ => test_setting,
        };
        let size = setting.map(|setting| match setting {
            "folds" => format!("fewer folds with `{}`", Setting("folds")),
            _ => format!("another share with `{}`", Setting(setting)),
        });
        let split = (*self != Split::Random).then(|| format!("`{}`", Setting("split").to("random")));
        match (size, split) {
            (Some(size), Some(split)) => format!("give more rows, {size}, or {split}"),
            (Some(other), None) | (None, Some(other)) => format!("give more rows, or {other}"),
            (None, None) => "give more rows".into(),
        }
    }
}

impl SplitShares {
    /// Checks that both shares are from 0 to below 1.
    fn check(&self) -> Result<()> {
        for (setting, share) in [("test", self.test), ("validation", self.validation)] {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::setting(
                    setting,
                    format!("{share} is not a share of the rows"),
                    "give a number from 0 to below 1",
                ));
            }
        }
        Ok(())
    }

    /// The sizes of the training, validation and test sets, in this order, as shares of all rows.
    fn of_all(&self) -> [f64; 3] {
        let remaining = 1.0 - self.test;
        [remaining * (1.0 - self.validation), remaining * self.validation, self.test]
    }
}

/// The number of rows that make up `share` of `rows` rows, rounded up so that a set is never one row too small. The tolerance of 1e-9 times the
/// number of rows prevents rounding errors from adding a row.
fn rows_of(share: f64, rows: usize) -> usize {
    (share * rows as f64 - 1e-9 * rows as f64).ceil().max(0.0) as usize
}
