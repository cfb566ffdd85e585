//! ENCODE: from columns to a matrix of f32, with what the training rows have taught.
//!
//! ```
//! use scorewise_table::encode::{Choice, Encoder};
//! use scorewise_table::table::{Category, Column, Table, Values};
//!
//! let age = Column { name: "age".into(), values: Values::Number(vec![20.0, 40.0, 60.0, f64::NAN]) };
//! let levels = vec!["red".to_string(), "blue".to_string()];
//! let colour = Column { name: "colour".into(), values: Values::Category(Category { codes: vec![0, 1, 0, 1], levels }) };
//! let table = Table { file: "people.csv".into(), columns: vec![age, colour], ..Table::default() };
//!
//! // The first three rows teach; the last is encoded with what they taught: its age, missing, is their mean.
//! let (encoder, notes) = Encoder::fit(&table, &[0, 1, 2], &Choice::default())?;
//! assert_eq!(encoder.names(), ["age", "colour = blue", "colour = red"]);
//! let encoded = encoder.encode(&table)?;
//! assert_eq!(encoded.matrix.row(1), [0.0, 1.0, 0.0]);
//! assert_eq!(encoded.matrix.row(3), [0.0, 1.0, 0.0]);
//! assert_eq!(
//!     encoded.surprises.notes(&encoder)[0].to_string(),
//!     "column `age`: 1 row without a value, where no training row lacks one: taken as the mean"
//! );
//! assert!(notes.is_empty());
//! # Ok::<(), scorewise_table::Error>(())
//! ```

mod choice;
mod statistics;
mod judge;
mod fit;
mod view;
mod write;
mod check;

pub use choice::Choice;
pub use write::{Encoded, FARTHEST, Surprises};

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::groups::RowOrder;
use crate::table::Kind;

/// How columns become numbers: fitted on the training rows alone, carried in the model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// One after the other; each gives one or more columns of the matrix.
    pub inputs: Vec<Input>,
    /// How rows follow each other, which lags count by.
    #[serde(flatten)]
    pub order: RowOrder,
}

/// One column of the table, at this row or some rows before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The column's name.
    pub column: String,
    /// What the column held when the encoder was fitted.
    pub kind: Kind,
    /// 0 for this row, 1 for the row before, …; a row before the first is a missing value.
    pub lag: usize,
    /// How its values become numbers.
    #[serde(flatten)]
    pub coding: Coding,
}

/// How values become numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "coding", rename_all = "lowercase")]
pub enum Coding {
    /// (x − mean)/deviation, and 0 where x is missing, with a further column that says so where the training rows had missing values.
    Number {
        /// Of the training rows.
        mean: f64,
        /// Of the training rows; 1 where they are all alike.
        deviation: f64,
        /// Whether a column says that the value is missing.
        indicator: bool,
    },
    /// A column for each level, one for all the rarer ones where some were left out, one for missing values where there were any.
    /// A value that is none of them goes with the rarer ones, or gives zeros.
    OneHot {
        /// In alphabetical order.
        levels: Vec<String>,
        /// Whether there is a column for all other levels.
        rest: bool,
        /// Whether there is a column for missing values.
        indicator: bool,
        /// One for each of these columns where they are standardised too, else none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scales: Vec<Scale>,
    },
    /// The place of a level in a given order, standardised as a number is.
    Ordinal {
        /// Lowest first.
        levels: Vec<String>,
        /// Of the places in the training rows.
        mean: f64,
        /// Of the places in the training rows; 1 where they are all alike.
        deviation: f64,
        /// Whether a column says that the value is missing or not in the list.
        indicator: bool,
    },
    /// Sine and cosine of hour in the day, day in the week, day in the year, as far as the training rows vary in them.
    Time {
        /// Which of them.
        cycles: Vec<Cycle>,
        /// Whether a column says that the value is missing.
        indicator: bool,
    },
}

/// How a number is standardised: (x − mean)/deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Of the training rows.
    pub mean: f64,
    /// Of the training rows; 1 where they are all alike.
    pub deviation: f64,
}

/// A cycle of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cycle {
    /// The time in the day.
    Day,
    /// The day in the week.
    Week,
    /// The day in the year.
    Year,
}

impl Encoder {
    /// How many columns the matrix has.
    #[must_use]
    pub fn width(&self) -> usize {
        self.inputs.iter().map(Input::width).sum()
    }

    /// What each column of the matrix means: `age`, `sex = Male`, `pm2.5 missing`, `pm2.5 (1 before)`, `time day sin`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.inputs.iter().flat_map(Input::names).collect()
    }

    /// The columns that a table must have, with what they held at the fit: each once; those that order the rows for lags come last.
    #[must_use]
    pub fn columns(&self) -> Vec<(&str, Option<Kind>)> {
        let (mut columns, mut seen) = (Vec::new(), HashSet::new());
        let order = [&self.order.group, &self.order.time].into_iter().flatten().filter(|_| self.lags() > 0);
        let inputs = self.inputs.iter().map(|input| (input.column.as_str(), Some(input.kind)));
        for (name, kind) in inputs.chain(order.map(|name| (name.as_str(), None))) {
            if seen.insert(name) {
                columns.push((name, kind));
            }
        }
        columns
    }

    /// How many rows back the farthest input looks.
    #[must_use]
    pub fn lags(&self) -> usize {
        self.inputs.iter().map(|input| input.lag).max().unwrap_or(0)
    }
}

impl Input {
    /// How many columns of the matrix it gives.
    #[must_use]
    pub fn width(&self) -> usize {
        match &self.coding {
            Coding::Number { indicator, .. } | Coding::Ordinal { indicator, .. } => 1 + usize::from(*indicator),
            Coding::OneHot { levels, rest, indicator, .. } => {
                levels.len() + usize::from(*rest) + usize::from(*indicator)
            }
            Coding::Time { cycles, indicator } => 2 * cycles.len() + usize::from(*indicator),
        }
    }

    /// What these columns mean.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let base = match self.lag {
            0 => self.column.clone(),
            lag => format!("{} ({lag} before)", self.column),
        };
        let (mut names, indicator) = match &self.coding {
            Coding::Number { indicator, .. } | Coding::Ordinal { indicator, .. } => (vec![base.clone()], indicator),
            Coding::OneHot { levels, rest, indicator, .. } => {
                let named = levels.iter().map(|level| format!("{base} = {level}"));
                (named.chain(rest.then(|| format!("{base} rest"))).collect(), indicator)
            }
            Coding::Time { cycles, indicator } => {
                let named = |cycle: &Cycle| ["sin", "cos"].map(|wave| format!("{base} {} {wave}", cycle.name()));
                (cycles.iter().flat_map(named).collect(), indicator)
            }
        };
        names.extend(indicator.then(|| format!("{base} missing")));
        names
    }
}

impl Cycle {
    /// As in the names of columns.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cycle::Day => "day",
            Cycle::Week => "week",
            Cycle::Year => "year",
        }
    }
}
