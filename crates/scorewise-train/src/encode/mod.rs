//! ENCODE: from columns to a matrix of f32, with what the training rows have taught.

use serde::{Deserialize, Serialize};

use crate::table::Kind;

/// How columns become numbers: fitted on the training rows alone, carried in the model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// One after the other; each gives one or more columns of the matrix.
    pub inputs: Vec<Input>,
    /// Rows of different groups are no neighbours: a lag does not look across.
    pub group: Option<String>,
}

/// One column of the table, at this row or some rows before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The column's name.
    pub column: String,
    /// What the column holds.
    pub kind: Kind,
    /// 0 for this row, 1 for the row before, …; a row before the first is a missing value.
    pub lag: usize,
    /// How its values become numbers.
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
