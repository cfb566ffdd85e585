//! Typed columns. A missing value is NaN, [`Category::MISSING`], `None` or [`Values::NO_TIME`], by kind.

use serde::{Deserialize, Serialize};

use super::reading::no_column;
use crate::error::{Place, Result};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    Number,
    /// One of a list of texts.
    Category,
    /// Yes or no.
    Boolean,
    /// A date, or a date with a time of day.
    Time,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Finite numbers; NaN is missing.
    Number(Vec<f64>),
    /// One of a list of texts.
    Category(Category),
    /// Yes or no; `None` is missing.
    Boolean(Vec<Option<bool>>),
    /// Seconds since 1970-01-01 00:00, without a time zone; [`Values::NO_TIME`] is missing.
    Time(Vec<i64>),
}

/// Texts as places in a list of levels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Category {
    /// A place in `levels` for each row; [`Category::MISSING`] is missing.
    pub codes: Vec<u32>,
    /// The different texts, in the order in which they first came.
    pub levels: Vec<String>,
}

/// A column: its name and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// As in the header.
    pub name: String,
    /// One value a row.
    pub values: Values,
}

/// Which line of a text file each row stood on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    /// The file has rows and no lines.
    #[default]
    None,
    /// Rows before this table's first, in a file without lines.
    After(u64),
    /// One row a line, beginning here.
    From(u64),
    /// The line of each row.
    Each(Vec<u64>),
    /// The number of each row, from 1, in a file without lines.
    EachRow(Vec<u64>),
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The file, as the user named it, for messages.
    pub file: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// Where the rows stood.
    pub lines: Lines,
}

const DAY: i64 = 86_400;

/// Whether a time is one of a day without a date.
pub(super) fn is_time_of_day(time: i64) -> bool {
    (Values::MIDNIGHT..Values::MIDNIGHT + DAY).contains(&time)
}

impl Category {
    /// The code of a missing value.
    pub const MISSING: u32 = u32::MAX;
}

impl Values {
    /// A missing time.
    pub const NO_TIME: i64 = i64::MIN;
    /// Midnight of times of day without a date: they are kept as times of a day that no table has, 1,000,000 days before 1970, so
    /// that they are told from times with a date. It is a whole number of days, so the time in the day is the usual one.
    pub const MIDNIGHT: i64 = -1_000_000 * DAY;

    /// No values, of this kind.
    #[must_use]
    pub fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Number => Values::Number(Vec::new()),
            Kind::Category => Values::Category(Category::default()),
            Kind::Boolean => Values::Boolean(Vec::new()),
            Kind::Time => Values::Time(Vec::new()),
        }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Values::Number(values) => values.len(),
            Values::Category(values) => values.codes.len(),
            Values::Boolean(values) => values.len(),
            Values::Time(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they are.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Values::Number(_) => Kind::Number,
            Values::Category(_) => Kind::Category,
            Values::Boolean(_) => Kind::Boolean,
            Values::Time(_) => Kind::Time,
        }
    }

    /// The value of a row as it would be written; nothing where it is missing.
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

    fn taken(&self, rows: &[usize]) -> Values {
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

    /// Whether these are times of day without a date ([`Values::MIDNIGHT`]): they do not order rows.
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
    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// A column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// A column by its name, or the fault that names the nearest.
    pub fn need(&self, name: &str) -> Result<&Column> {
        let names = self.columns.iter().map(|column| column.name.as_str());
        self.column(name).ok_or_else(|| no_column(&self.file, name, names))
    }

    /// Some of the rows, in the order given.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn taken(&self, rows: &[usize]) -> Table {
        let column = |column: &Column| Column { name: column.name.clone(), values: column.values.taken(rows) };
        let place = |row: &usize| {
            let place = self.place(*row);
            place.line.or(place.row).unwrap_or(0)
        };
        let lines = match self.lines {
            Lines::None | Lines::After(_) | Lines::EachRow(_) => Lines::EachRow(rows.iter().map(place).collect()),
            Lines::From(_) | Lines::Each(_) => Lines::Each(rows.iter().map(place).collect()),
        };
        Table { file: self.file.clone(), columns: self.columns.iter().map(column).collect(), lines }
    }

    /// Where a row stands in its file.
    #[must_use]
    pub fn place(&self, row: usize) -> Place {
        let (line, number) = match &self.lines {
            Lines::None => (None, Some(row as u64 + 1)),
            Lines::After(rows) => (None, Some(rows + row as u64 + 1)),
            Lines::From(first) => (Some(first + row as u64), None),
            Lines::Each(lines) => (lines.get(row).copied(), None),
            Lines::EachRow(numbers) => (None, numbers.get(row).copied()),
        };
        Place { line, row: number, ..Place::file(&self.file) }
    }
}
