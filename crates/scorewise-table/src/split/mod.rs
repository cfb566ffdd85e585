//! SPLIT: which rows are learnt from, which decide when to stop, and which are only looked at in the end.
//!
//! ```
//! use scorewise_table::split::{Shares, Split};
//! use scorewise_table::table::{Column, Table, Values};
//! use scorewise_table::target::Labels;
//!
//! let values = Values::Number((0..30).map(f64::from).collect());
//! let table = Table { columns: vec![Column { name: "x".into(), values }], ..Table::default() };
//! let names = vec!["no".to_string(), "yes".to_string()];
//! let labels = Labels { classes: (0..30).map(|row| u32::from(row % 3 == 0)).collect(), names, ahead: None };
//! let (parts, _) = Split::parse("random")?.parts(&table, &labels, &Shares { test: 0.2, validation: 1.0 / 3.0 }, 7)?;
//! assert_eq!((parts.training.len(), parts.validation.len(), parts.test.len()), (16, 8, 6));
//! // A third of the rows is positive, and so is a third of the test rows.
//! assert_eq!(parts.test.iter().filter(|row| labels.classes[**row as usize] == 1).count(), 2);
//! # Ok::<(), scorewise_table::Error>(())
//! ```

mod deal;
mod random;
mod time;
mod group;
mod folds;
mod hands;

pub use deal::{random, shuffle};
pub use folds::Folds;
pub use hands::Hand;
pub use hands::deal as deal_hands;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names::{self, quoted};
use crate::note::Note;
use crate::setting::Setting;
use crate::table::Table;
use crate::target::Labels;

/// How rows are divided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// At random, with the same share of each class in every part.
    #[default]
    Random,
    /// By time: the last rows are the test, the ones before them validation. By this column, or by the first one of times, or in the
    /// order of the file where there is none.
    Time(Option<String>),
    /// By the values of a column, none of which is found in two parts.
    Group(String),
}

/// How large the parts are to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Of all rows.
    pub test: f64,
    /// Of the rows that the test leaves.
    pub validation: f64,
}

/// The rows of each part, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// To learn from.
    pub training: Vec<u32>,
    /// To stop by.
    pub validation: Vec<u32>,
    /// To judge by.
    pub test: Vec<u32>,
    /// The side of the borders on which each row of the table lies, whether it is in a part or left out: 0 for training,
    /// 1 for validation, 2 for test, 3 for rows not used, [`NO_SIDE`] for a row that belongs nowhere and may be seen from everywhere.
    pub sides: Vec<u8>,
}

/// The side of a row that belongs nowhere.
pub const NO_SIDE: u8 = u8::MAX;
const TRAINING: u8 = 0;
const VALIDATION: u8 = 1;
const TEST: u8 = 2;
const UNUSED: u8 = 3;

impl Split {
    /// From `random`, `time`, `time:COLUMN` or `group:COLUMN`.
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
                Err(Error::setting("split", format!("{} is no way to split", quoted(text)), hint))
            }
        }
    }

    /// That the table has the column it names.
    pub fn check_column(&self, table: &Table) -> Result<()> {
        match self {
            Split::Time(Some(name)) | Split::Group(name) => names::column(table, "split", name).map(|_| ()),
            Split::Random | Split::Time(None) => Ok(()),
        }
    }

    /// Divides the rows that have a label. The same seed gives the same parts.
    pub fn parts(&self, table: &Table, labels: &Labels, shares: &Shares, seed: u64) -> Result<(Parts, Vec<Note>)> {
        shares.check()?;
        assert_eq!(labels.classes.len(), table.rows(), "one label a row");
        let (sides, mut notes) = match self {
            Split::Random => (random::sides(labels, shares, seed), Vec::new()),
            Split::Time(column) => time::sides(table, labels, column.as_deref(), shares)?,
            Split::Group(column) => (group::sides(table, labels, column, shares, seed)?, Vec::new()),
        };
        let (parts, told) = self.gather(sides, labels);
        notes.extend(told);
        notes.extend(self.check(&parts, labels, shares.validation > 0.0, shares.test > 0.0)?);
        Ok((parts, notes))
    }

    /// The rows of the training and validation parts dealt anew to each of so many networks, with the same share of each class in every
    /// hand. Only at random: rows of one time, or of one group, would be found on both sides, and then nothing is dealt.
    #[must_use]
    pub fn hands(&self, parts: &Parts, labels: &Labels, networks: usize, seed: u64) -> Vec<Hand> {
        if *self != Split::Random {
            return Vec::new();
        }
        let pool = [&parts.training[..], &parts.validation].concat();
        let mut strata = vec![Vec::new(); labels.names.len()];
        pool.iter().for_each(|row| strata[labels.classes[*row as usize] as usize].push(*row));
        let hands = (pool.len() as f64 / parts.validation.len().max(1) as f64).round() as usize;
        deal_hands(&strata, hands.max(2), networks, seed)
    }

    /// The labelled rows of each side. By time, a row whose label lies across a border is left out: the part that it would be in
    /// must know nothing of the one that follows.
    fn gather(&self, sides: Vec<u8>, labels: &Labels) -> (Parts, Option<Note>) {
        let mut parts = Parts { sides, ..Parts::default() };
        let mut across = 0;
        for row in labels.rows() {
            let side = parts.sides[row as usize];
            let answer = labels.ahead.as_ref().and_then(|ahead| parts.sides.get(ahead[row as usize] as usize));
            if matches!(self, Split::Time(_)) && answer.is_some_and(|answer| *answer != side) {
                across += usize::from(side != UNUSED);
                continue;
            }
            match side {
                TRAINING => parts.training.push(row),
                VALIDATION => parts.validation.push(row),
                TEST => parts.test.push(row),
                _ => {}
            }
        }
        let (are, its) = if across == 1 { ("row is", "its") } else { ("rows are", "their") };
        let note = format!("{across} {are} left out: {its} target lies in the next part");
        (parts, (across > 0).then(|| Note::new(note)))
    }

    /// Every part that was asked for must hold every class. Of more than two classes, a rare one may be missing where nothing is
    /// learnt, and that is told.
    fn check(&self, parts: &Parts, labels: &Labels, validation: bool, test: bool) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        let asked = [("training", &parts.training, true), ("validation", &parts.validation, validation)];
        for (part, rows, _) in asked.into_iter().chain([("test", &parts.test, test)]).filter(|(_, _, asked)| *asked) {
            let mut seen = vec![false; labels.names.len()];
            rows.iter().for_each(|row| seen[labels.classes[*row as usize] as usize] = true);
            for (class, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
                let what = match (labels.names.len(), class) {
                    _ if rows.is_empty() => "rows".to_string(),
                    (2, 0) => "negatives".to_string(),
                    (2, _) => "positives".to_string(),
                    _ => format!("rows of class {}", quoted(&labels.names[class])),
                };
                if labels.names.len() > 2 && part != "training" && !rows.is_empty() {
                    notes.push(Note::new(format!("the {part} part has no {what}")));
                    continue;
                }
                let problem = format!("the {part} part has no {what}");
                return Err(Error::setting("split", problem, self.cure(part)));
            }
        }
        Ok(notes)
    }

    fn cure(&self, part: &str) -> String {
        let share = Setting(if part == "test" { "test" } else { "validation" });
        match self {
            Split::Random => format!("give more rows, or another share with `{share}`"),
            _ => format!("give more rows, another share with `{share}`, or `{}`", Setting("split").to("random")),
        }
    }
}

impl Shares {
    fn check(&self) -> Result<()> {
        for (setting, share) in [("test", self.test), ("validation", self.validation)] {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::setting(setting, format!("{share} is no share"), "give a number from 0 to below 1"));
            }
        }
        Ok(())
    }

    /// Training, validation and test as shares of the whole.
    fn of_all(&self) -> [f64; 3] {
        let left = 1.0 - self.test;
        [left * (1.0 - self.validation), left * self.validation, self.test]
    }
}

/// So many rows of all, rounded up: the part of a table is never a row short. (Not where only rounding lies above a whole number.)
fn rows_of(share: f64, rows: usize) -> usize {
    (share * rows as f64 - 1e-9 * rows as f64).ceil().max(0.0) as usize
}
