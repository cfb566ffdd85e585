//! Encodes columns as a matrix of f32. Means, standard deviations, knots and levels are taken from the training rows only.
//!
//! There are two forms of encoding. A *dense* encoding gives the numbers that a network multiplies by its weights: standardised numbers, and one
//! column for each level. A *binned* encoding gives one number for each input, the position of the value among knots or levels, by which a
//! network looks up the contribution of the input.
//!
//! ```
//! use scorewise_table::encode::{EncodingOptions, Encoder};
//! use scorewise_table::table::{Category, Column, Table, Values};
//!
//! let age = Column { name: "age".into(), values: Values::Number(vec![20.0, 40.0, 60.0, f64::NAN]) };
//! let levels = vec!["red".to_string(), "blue".to_string()];
//! let colour = Column { name: "colour".into(), values: Values::Category(Category { codes: vec![0, 1, 0, 1], levels }) };
//! let table = Table { file: "people.csv".into(), columns: vec![age, colour], ..Table::default() };
//!
//! // The encoder is fitted on the first three rows. The missing age of the last row is replaced by the mean age of these three rows.
//! let (encoder, notes) = Encoder::fit(&table, &[0, 1, 2], &EncodingOptions::default())?;
//! assert_eq!(encoder.names(), ["age", "colour = blue", "colour = red"]);
//! let encoded = encoder.encode(&table)?;
//! assert_eq!(encoded.matrix.row(1), [0.0, 1.0, 0.0]);
//! assert_eq!(encoded.matrix.row(3), [0.0, 1.0, 0.0]);
//! assert_eq!(
//!     encoded.unexpected.notes(&encoder)[0].to_string(),
//!     "column `age`: 1 row has no value, but every training row had one: a missing value is replaced by the mean"
//! );
//! assert!(notes.is_empty());
//! # Ok::<(), scorewise_table::Error>(())
//! ```

mod options;
mod statistics;
mod decide;
mod fit;
mod view;
mod write;
mod check;

pub use options::EncodingOptions;
pub use write::{Encoded, MAX_DEVIATIONS, UnexpectedValues};

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::groups::RowOrder;
use crate::table::ColumnKind;

/// Encodes the columns of a table as numbers. An encoder is fitted on the training rows only and stored in the model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    /// The inputs, in the order of the columns of the matrix. Each input is encoded as one or more columns of the matrix.
    pub inputs: Vec<InputColumn>,
    /// How rows are ordered for lags, which refer to earlier rows.
    #[serde(flatten)]
    pub order: RowOrder,
}

/// An input: the values of a column of the table, in the row itself or in an earlier row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputColumn {
    /// The name of the column in the table.
    pub column: String,
    /// The type of the column in the table to which the encoder was fitted.
    pub kind: ColumnKind,
    /// How many steps earlier the value is taken from: 0 for the row itself, 1 for the row one step before. A step is one row, or one time step in
    /// a regular time series. If there is no such row, the value is missing.
    pub lag: usize,
    /// The part of a time that is encoded. `None` for a column that does not hold times, and in a dense encoding, where times are encoded by
    /// calendar cycles instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<TimePart>,
    /// How the values of the column are encoded as numbers.
    #[serde(flatten)]
    pub coding: ColumnEncoding,
}

/// A part of a time that is encoded as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimePart {
    /// The hour of the day with its fraction, from 0 to below 24.
    Hour,
    /// The day of the week: 0 for Monday to 6 for Sunday.
    Weekday,
    /// The day of the year, counted from 0. All years are taken to have the mean length of 365.2425 days, so this number may differ from the
    /// calendar by a day or two.
    YearDay,
}

/// How the values of a column are encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "coding", rename_all = "lowercase")]
pub enum ColumnEncoding {
    /// The standardised number (x − mean)/deviation, or 0 if x is missing.
    Number {
        /// The mean of the column over the training rows.
        mean: f64,
        /// The standard deviation of the column over the training rows; 1 if all training rows have the same value.
        deviation: f64,
        /// Whether there is an extra column that is 1 for missing values and 0 otherwise.
        indicator: bool,
    },
    /// One column for each level, which is 1 for rows with that level and 0 otherwise. For a value that is not in `levels`, these columns are 0
    /// and the extra column of `rest`, if there is one, is 1.
    OneHot {
        /// The levels that have a column of the matrix to themselves, in alphabetical order.
        levels: Vec<String>,
        /// Whether there is an extra column that is 1 for values that are not in `levels` and 0 otherwise.
        rest: bool,
        /// Whether there is an extra column that is 1 for missing values and 0 otherwise.
        indicator: bool,
        /// The mean and standard deviation of each column of the encoding, including the extra columns of `rest` and `indicator`. Empty if the
        /// columns are not standardised.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scales: Vec<Standardisation>,
    },
    /// The position of the value in the ordered list of levels, counted from 0 and then standardised.
    Ordinal {
        /// The levels in order, lowest first.
        levels: Vec<String>,
        /// The mean of the positions of the levels over the training rows.
        mean: f64,
        /// The standard deviation of the positions of the levels over the training rows; 1 if all positions are equal.
        deviation: f64,
        /// Whether there is an extra column that is 1 for values that are missing or not in `levels`, and 0 otherwise.
        indicator: bool,
    },
    /// The sine and cosine of the phase of a time in calendar cycles: day, week and year.
    Time {
        /// The cycles (day, week, year) that are encoded. A cycle is left out if the times of the training rows hardly vary within it.
        cycles: Vec<Cycle>,
        /// Whether there is an extra column that is 1 for missing values and 0 otherwise.
        indicator: bool,
    },
    /// The position of a number among knots, which are counted from 0: the position 2.25 is a quarter of the way from knot 2 to knot 3. The look-up
    /// layer of a network reads this position (see [`BinnedColumn`]).
    Knots {
        /// The knots in ascending order: quantiles of the values in the training rows, or all values if there are few. A number below the first knot
        /// is encoded like the first knot, and a number above the last knot like the last knot.
        knots: Vec<f64>,
        /// The numbers that occur very often, in ascending order. Each has a position of its own (an integer that stands for it in the matrix), after
        /// the positions of the knots.
        own: Vec<f64>,
        /// The median of the values in the training rows. It replaces a missing value if no value was missing in the training rows.
        median: f64,
        /// The interquartile range of the values in the training rows, by which numbers are divided; the standard deviation if the interquartile
        /// range is 0.
        spread: f64,
        /// Whether missing values have a position of their own (an integer that stands for them in the matrix), after the positions of the knots and
        /// of the frequent values.
        missing: bool,
    },
    /// The index of the value in the list of levels. A value that is not in the list gets the index after the last level.
    Levels {
        /// The levels, in alphabetical order or in the order that the user gave.
        levels: Vec<String>,
        /// Whether the order of the levels has a meaning.
        ordered: bool,
        /// Whether the training rows have levels that are not in `levels`, because they are rare or because there are too many levels.
        rest: bool,
        /// Whether missing values have an index of their own, after all other indices. If not, they are treated like values that are not in `levels`.
        missing: bool,
    },
}

/// The positions that a binned input can have, for the look-up layer of a network: first the knots, between which positions are
/// interpolated, then frequent values, then levels and missing values. Knots and frequent values also have a scaled value, which the layer
/// multiplies by the weights of a linear term.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BinnedColumn {
    /// The scaled value at each knot. If the input has levels with an order, each level is a knot, and the scaled values go from −1 to 1. Empty for
    /// levels without an order.
    pub knots: Vec<f32>,
    /// For each frequent value, the scaled number that the network multiplies by the weights of a linear term. Every frequent value has a position
    /// of its own: an integer greater than the positions of all knots.
    pub own: Vec<f32>,
    /// For each frequent value, the position that it would have among the knots if it had no position of its own. By these positions,
    /// frequent values can be compared with all other values.
    pub own_positions: Vec<f32>,
    /// The number of positions (integers in the matrix) that come after those of the knots and of the frequent values: one for each level without an
    /// order, one for all unknown levels if the input has levels, and one for missing values if they are told apart from other values.
    pub levels: usize,
}

impl BinnedColumn {
    /// The number of knots, frequent values and levels of the input in total. Each of them has a position: an integer, counted from 0, that stands
    /// for it in the matrix.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.knots.len() + self.own.len() + self.levels
    }
}

/// The mean and standard deviation by which a number x is standardised: (x − mean)/deviation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardisation {
    /// The mean of the numbers in the training rows.
    pub mean: f64,
    /// The standard deviation of the numbers in the training rows; 1 if all of them are equal.
    pub deviation: f64,
}

/// A cycle of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cycle {
    /// The daily cycle: the time of day.
    Day,
    /// The weekly cycle: the day of the week.
    Week,
    /// The yearly cycle: the day of the year.
    Year,
}

impl Encoder {
    /// The number of columns of the matrix.
    #[must_use]
    pub fn width(&self) -> usize {
        self.inputs.iter().map(InputColumn::width).sum()
    }

    /// The names of the columns of the matrix: `age`, `sex = Male`, `pm2.5 missing`, `pm2.5 (1 before)`, `time day sin`.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.inputs.iter().flat_map(InputColumn::names).collect()
    }

    /// The columns that a table must have, without repetition, with the types that they had when the encoder was fitted. If there are lags, the
    /// columns that group and order the rows come last; their type is `None`.
    #[must_use]
    pub fn columns(&self) -> Vec<(&str, Option<ColumnKind>)> {
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

    /// For each input, its knots, frequent values and levels, in the order of the columns of the matrix. The matrix holds positions among these.
    /// `None` if the encoding is dense, so that the matrix holds numbers that a network multiplies by its weights.
    #[must_use]
    pub fn binned_columns(&self) -> Option<Vec<BinnedColumn>> {
        self.inputs.iter().map(|input| input.coding.binned_column()).collect()
    }

    /// The largest lag of all inputs, not the number of lags. A lag of 2 means that an input is taken from two rows earlier. 0 if there are no lags.
    #[must_use]
    pub fn lags(&self) -> usize {
        self.inputs.iter().map(|input| input.lag).max().unwrap_or(0)
    }
}

impl Encoder {
    /// For each column of the table, the indices of the columns of the matrix that encode it, including its lags and all parts of a time. The
    /// columns of the table are in the order in which they first appear among the inputs; columns that only group or order the rows are left out.
    #[must_use]
    pub fn matrix_columns(&self) -> Vec<(&str, Vec<usize>)> {
        let (mut columns, mut index_of, mut offset) = (Vec::new(), HashMap::new(), 0);
        for input in &self.inputs {
            let index = *index_of.entry(input.column.as_str()).or_insert_with(|| {
                columns.push((input.column.as_str(), Vec::new()));
                columns.len() - 1
            });
            columns[index].1.extend(offset..offset + input.width());
            offset += input.width();
        }
        columns
    }

    /// An encoder of a single column of the table. Lagged values are read from the row itself, as if earlier rows had the same value. The columns
    /// of its matrix are those that [`Encoder::matrix_columns`] lists for the column, in the same order.
    #[must_use]
    pub fn of_column(&self, column: &str) -> Encoder {
        let inputs = self.inputs.iter().filter(|input| input.column == column);
        let inputs = inputs.map(|input| InputColumn { lag: 0, ..input.clone() }).collect();
        Encoder { inputs, order: RowOrder::default() }
    }
}

impl InputColumn {
    /// The number of columns of the matrix that encode this input.
    #[must_use]
    pub fn width(&self) -> usize {
        match &self.coding {
            ColumnEncoding::Number { indicator, .. } | ColumnEncoding::Ordinal { indicator, .. } => {
                1 + usize::from(*indicator)
            }
            ColumnEncoding::OneHot { levels, rest, indicator, .. } => {
                levels.len() + usize::from(*rest) + usize::from(*indicator)
            }
            ColumnEncoding::Time { cycles, indicator } => 2 * cycles.len() + usize::from(*indicator),
            ColumnEncoding::Knots { .. } | ColumnEncoding::Levels { .. } => 1,
        }
    }

    /// The names of the columns of the matrix that encode this input.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let base = match self.part {
            Some(part) => format!("{} {}", self.column, part.name()),
            None => self.column.clone(),
        };
        let base = match self.lag {
            0 => base,
            lag => format!("{base} ({lag} before)"),
        };
        let (mut names, indicator) = match &self.coding {
            ColumnEncoding::Number { indicator, .. } | ColumnEncoding::Ordinal { indicator, .. } => {
                (vec![base.clone()], indicator)
            }
            ColumnEncoding::OneHot { levels, rest, indicator, .. } => {
                let level_names = levels.iter().map(|level| format!("{base} = {level}"));
                (level_names.chain(rest.then(|| format!("{base} rest"))).collect(), indicator)
            }
            ColumnEncoding::Time { cycles, indicator } => {
                let cycle_names = |cycle: &Cycle| ["sin", "cos"].map(|wave| format!("{base} {} {wave}", cycle.name()));
                (cycles.iter().flat_map(cycle_names).collect(), indicator)
            }
            ColumnEncoding::Knots { .. } | ColumnEncoding::Levels { .. } => return vec![base],
        };
        names.extend(indicator.then(|| format!("{base} missing")));
        names
    }
}

impl ColumnEncoding {
    /// The knots, frequent values and levels of a binned encoding; `None` for a dense encoding.
    fn binned_column(&self) -> Option<BinnedColumn> {
        match self {
            ColumnEncoding::Knots { knots, own, median, spread, missing } => {
                let scaled =
                    |values: &[f64]| values.iter().map(|x| smooth_clip((x - median) / spread) as f32).collect();
                let own_positions = own.iter().map(|x| statistics::position(knots, *x) as f32).collect();
                let levels = usize::from(*missing);
                Some(BinnedColumn { knots: scaled(knots), own: scaled(own), own_positions, levels })
            }
            ColumnEncoding::Levels { levels, ordered, missing, .. } => {
                let scaled = |rank: usize| (2.0 * rank as f64 / (levels.len() - 1).max(1) as f64 - 1.0) as f32;
                let knots: Vec<f32> = if *ordered { (0..levels.len()).map(scaled).collect() } else { Vec::new() };
                let others = levels.len() - knots.len();
                Some(BinnedColumn { knots, levels: others + 1 + usize::from(*missing), ..BinnedColumn::default() })
            }
            _ => None,
        }
    }
}

/// A smooth function that is nearly x near 0 and stays between −3 and 3, so that extreme values do not dominate: x/√(1 + (x/3)²).
///
/// Holzmüller, Grinsztajn, Steinwart (2024). Better by default: strong pre-tuned MLPs and boosted trees on tabular data. NeurIPS 37.
fn smooth_clip(x: f64) -> f64 {
    let third = (x / 3.0).clamp(-1e100, 1e100);
    3.0 * third / (1.0 + third * third).sqrt()
}

impl TimePart {
    /// All parts of a time.
    pub const ALL: [TimePart; 3] = [TimePart::Hour, TimePart::Weekday, TimePart::YearDay];

    /// The name of the part as it appears in the names of the columns of the matrix.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TimePart::Hour => "hour",
            TimePart::Weekday => "weekday",
            TimePart::YearDay => "day of the year",
        }
    }

    /// Returns `time` with this part replaced by `value`: the hour of the same day (0 to 23; minutes and seconds become 0), the weekday of the same
    /// week (0 for Monday to 6 for Sunday), or the day of the same year (0 to 364). A missing time stays missing.
    #[must_use]
    pub fn set(self, time: i64, value: u32) -> i64 {
        statistics::with_time_part(self, time, value)
    }
}

impl Cycle {
    /// The name of the cycle as it appears in the names of the columns of the matrix.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Cycle::Day => "day",
            Cycle::Week => "week",
            Cycle::Year => "year",
        }
    }
}
