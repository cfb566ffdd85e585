//! Tables of typed columns. A missing value is NaN, [`Category::MISSING`], `None` or [`Values::NO_TIME`], depending on the column type.

use serde::{Deserialize, Serialize};

use crate::error::{Location, Result};
use crate::names::missing_columns_error;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Strings, treated as the levels of a categorical variable.
    Category,
    /// Booleans.
    Boolean,
    /// Dates with or without a time of day, or times of day without a date.
    Time,
}

/// The values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Finite numbers; NaN for a missing value.
    Number(Vec<f64>),
    /// Strings, treated as the levels of a categorical variable.
    Category(Category),
    /// Booleans; `None` for a missing value.
    Boolean(Vec<Option<bool>>),
    /// Times in seconds since 1970-01-01 00:00, without a time zone; [`Values::NO_TIME`] for a missing value.
    Time(Vec<i64>),
}

/// The strings of a column, stored as a list of the distinct strings and, for each row, an index into this list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Category {
    /// For each row, an index into `levels`; [`Category::MISSING`] for a missing value.
    pub codes: Vec<u32>,
    /// The distinct strings. [`read`](super::read) lists them in order of first appearance.
    pub levels: Vec<String>,
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The values of the column, one for each row.
    pub values: Values,
}

/// Where the rows of a table are in the file: their line numbers in a text file, or their row numbers in a Parquet or Arrow file, which has no lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// In a Parquet or Arrow file: no row of the file comes before the first row of the table.
    #[default]
    None,
    /// In a Parquet or Arrow file: this many rows of the file come before the first row of the table.
    After(u64),
    /// In a text file: the line of the first row. Each further row is on the line after the previous row.
    From(u64),
    /// In a text file: the line of each row.
    Each(Vec<u64>),
    /// In a Parquet or Arrow file: the number of each row in the file, counted from 1.
    EachRow(Vec<u64>),
}

/// A table: columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The name of the file as the user wrote it, for error messages.
    pub file: String,
    /// The columns of the table.
    pub columns: Vec<Column>,
    /// The line or row numbers of the rows in the file, for error messages.
    pub lines: Lines,
}

/// The number of seconds in a day.
const DAY: i64 = 86_400;

/// Whether a value of a column of times is a time of day without a date.
pub(super) fn is_time_of_day(time: i64) -> bool {
    (Values::TIME_OF_DAY_ORIGIN..Values::TIME_OF_DAY_ORIGIN + DAY).contains(&time)
}

impl Category {
    /// The code of a missing value.
    pub const MISSING: u32 = u32::MAX;
}

impl Values {
    /// Stands for a missing value in a column of times.
    pub const NO_TIME: i64 = i64::MIN;
    /// Times of day without a date are stored as seconds after this midnight, 1,000,000 days before 1970. No table contains that date,
    /// so times of day cannot be confused with times that have a date.
    pub const TIME_OF_DAY_ORIGIN: i64 = -1_000_000 * DAY;

    /// An empty list of values for a column of this type.
    #[must_use]
    pub fn empty(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Number => Values::Number(Vec::new()),
            ColumnKind::Category => Values::Category(Category::default()),
            ColumnKind::Boolean => Values::Boolean(Vec::new()),
            ColumnKind::Time => Values::Time(Vec::new()),
        }
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Number(values) => values.len(),
            Values::Category(values) => values.codes.len(),
            Values::Boolean(values) => values.len(),
            Values::Time(values) => values.len(),
        }
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column type of these values.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        match self {
            Values::Number(_) => ColumnKind::Number,
            Values::Category(_) => ColumnKind::Category,
            Values::Boolean(_) => ColumnKind::Boolean,
            Values::Time(_) => ColumnKind::Time,
        }
    }

    /// The value of a row as a string, as in a CSV file; an empty string if the value is missing.
    #[must_use]
    pub fn text(&self, row: usize) -> String {
        if self.is_missing(row) {
            return String::new();
        }
        match self {
            Values::Number(values) => (values[row] + 0.0).to_string(),
            Values::Category(values) => values.levels.get(values.codes[row] as usize).cloned().unwrap_or_default(),
            Values::Boolean(values) => values[row].map_or(String::new(), |yes| yes.to_string()),
            Values::Time(values) => match chrono::DateTime::from_timestamp(values[row], 0) {
                Some(time) if is_time_of_day(values[row]) => time.format("%H:%M:%S").to_string(),
                Some(time) => time.format("%Y-%m-%dT%H:%M:%S").to_string(),
                None => values[row].to_string(),
            },
        }
    }

    /// The values of the given rows, in the order of `rows`.
    fn select_rows(&self, rows: &[usize]) -> Values {
        match self {
            Values::Number(values) => Values::Number(rows.iter().map(|row| values[*row]).collect()),
            Values::Category(Category { codes, levels }) => Values::Category(Category {
                codes: rows.iter().map(|row| codes[*row]).collect(),
                levels: levels.clone(),
            }),
            Values::Boolean(values) => Values::Boolean(rows.iter().map(|row| values[*row]).collect()),
            Values::Time(values) => Values::Time(rows.iter().map(|row| values[*row]).collect()),
        }
    }

    /// Whether this is a column of times of day without a date ([`Values::TIME_OF_DAY_ORIGIN`]), by which rows cannot be ordered.
    #[must_use]
    pub fn are_times_of_day(&self) -> bool {
        let Values::Time(values) = self else { return false };
        let mut times = values.iter().filter(|time| **time != Values::NO_TIME).peekable();
        times.peek().is_some() && times.all(|time| is_time_of_day(*time))
    }

    /// Whether the value of a row is missing.
    #[must_use]
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Values::Number(values) => values[row].is_nan(),
            Values::Category(values) => values.codes[row] == Category::MISSING,
            Values::Boolean(values) => values[row].is_none(),
            Values::Time(values) => values[row] == Values::NO_TIME,
        }
    }
}

impl Table {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column with this name; `None` if the table has no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The column with this name, or an error that suggests a similar name.
    pub fn required_column(&self, name: &str) -> Result<&Column> {
        self.column(name).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            missing_columns_error(&self.file, &[name], &names)
        })
    }

    /// A table that consists of the given rows, in the order of `rows`.
    ///
    /// # Panics
    /// If `rows` contains a number that is not less than the number of rows of the table.
    #[must_use]
    pub fn select_rows(&self, rows: &[usize]) -> Table {
        let column = |column: &Column| Column { name: column.name.clone(), values: column.values.select_rows(rows) };
        let number = |row: &usize| {
            let place = self.place(*row);
            place.line.or(place.row).unwrap_or(0)
        };
        let lines = match self.lines {
            Lines::None | Lines::After(_) | Lines::EachRow(_) => Lines::EachRow(rows.iter().map(number).collect()),
            Lines::From(_) | Lines::Each(_) => Lines::Each(rows.iter().map(number).collect()),
        };
        Table { file: self.file.clone(), columns: self.columns.iter().map(column).collect(), lines }
    }

    /// The location of a row in the file that the table was read from.
    #[must_use]
    pub fn place(&self, row: usize) -> Location {
        let (line, number) = match &self.lines {
            Lines::None => (None, Some(row as u64 + 1)),
            Lines::After(rows) => (None, Some(rows + row as u64 + 1)),
            Lines::From(first) => (Some(first + row as u64), None),
            Lines::Each(lines) => (lines.get(row).copied(), None),
            Lines::EachRow(numbers) => (None, numbers.get(row).copied()),
        };
        Location { line, row: number, ..Location::file(&self.file) }
    }
}
