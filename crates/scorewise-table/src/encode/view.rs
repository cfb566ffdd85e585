//! Views of the columns of a table, in the form that an encoding needs. The strings of a categorical column are looked up once for each distinct
//! string, not once for each row.

use std::collections::HashMap;

use super::decide::boolean;
use super::{ColumnEncoding, Encoder, InputColumn};
use crate::error::{Error, Result};
use crate::names::{by_name, missing_columns_error, quoted};
use crate::table::{Category, Column, ColumnKind, Table, Values};

/// The level index of a value that is not among the levels of the encoding.
pub(super) const UNSEEN_LEVEL: u32 = u32::MAX - 1;
/// The level index of a missing value.
pub(super) const MISSING_LEVEL: u32 = u32::MAX;

/// The values of a column of the table, in the form that the encoding needs.
pub(super) enum View<'a> {
    Number(&'a [f64]),
    Boolean(&'a [Option<bool>]),
    Time(&'a [i64]),
    /// A categorical column: for each row, the index of its level in the column; and for each level of the column, its index among the levels
    /// of the encoding.
    Codes(&'a [u32], Vec<u32>),
    /// Numbers that are encoded as levels. The second field holds the levels of the encoding that are numbers, sorted, with their indices.
    Numbers(&'a [f64], Vec<(f64, u32)>),
    /// Booleans that are encoded as levels, and the indices of the levels `false` and `true`.
    Booleans(&'a [Option<bool>], [u32; 2]),
    /// A column in which every value is missing.
    Empty,
}

impl View<'_> {
    #[inline]
    /// The number in a row, or the boolean as 0 or 1; NaN if the value is missing.
    pub fn number(&self, row: usize) -> f64 {
        match self {
            View::Number(values) => values[row],
            View::Boolean(values) => boolean(values[row]),
            _ => f64::NAN,
        }
    }

    #[inline]
    /// The time in a row; [`Values::NO_TIME`] if it is missing.
    pub fn time(&self, row: usize) -> i64 {
        match self {
            View::Time(values) => values[row],
            _ => Values::NO_TIME,
        }
    }

    #[inline]
    /// The index that the level of a row has in the encoding, or [`UNSEEN_LEVEL`] or [`MISSING_LEVEL`].
    pub fn level(&self, row: usize) -> u32 {
        match self {
            View::Codes(codes, indices) => indices.get(codes[row] as usize).copied().unwrap_or(MISSING_LEVEL),
            View::Numbers(values, sorted_levels) => {
                let x = values[row] + 0.0;
                if x.is_nan() {
                    return MISSING_LEVEL;
                }
                sorted_levels
                    .binary_search_by(|(level, _)| level.total_cmp(&x))
                    .map_or(UNSEEN_LEVEL, |at| sorted_levels[at].1)
            }
            View::Booleans(values, indices) => values[row].map_or(MISSING_LEVEL, |yes| indices[usize::from(yes)]),
            _ => MISSING_LEVEL,
        }
    }
}

impl InputColumn {
    /// Returns the view of a column for this input, or an error if the values do not fit the encoding.
    pub(super) fn view<'a>(&self, table: &'a Table, column: &'a Column) -> Result<View<'a>> {
        let view = match (&self.coding, &column.values) {
            (ColumnEncoding::Number { .. } | ColumnEncoding::Knots { .. }, Values::Number(values)) => {
                View::Number(values)
            }
            (ColumnEncoding::Number { .. } | ColumnEncoding::Knots { .. }, Values::Boolean(values)) => {
                View::Boolean(values)
            }
            (ColumnEncoding::Time { .. } | ColumnEncoding::Knots { .. }, Values::Time(values)) => View::Time(values),
            (
                ColumnEncoding::OneHot { levels, .. }
                | ColumnEncoding::Ordinal { levels, .. }
                | ColumnEncoding::Levels { levels, .. },
                values,
            ) => match values {
                Values::Category(Category { codes, levels: table_levels }) => {
                    let indices = level_indices(levels);
                    let index = |level: &String| indices.get(level.as_str()).copied().unwrap_or(UNSEEN_LEVEL);
                    View::Codes(codes, table_levels.iter().map(index).collect())
                }
                Values::Number(values) => {
                    let number = |(at, level): (usize, &String)| Some((level.parse::<f64>().ok()? + 0.0, at as u32));
                    let mut sorted_levels: Vec<(f64, u32)> = levels.iter().enumerate().filter_map(number).collect();
                    sorted_levels.sort_by(|a, b| a.0.total_cmp(&b.0));
                    View::Numbers(values, sorted_levels)
                }
                Values::Boolean(values) => {
                    let indices = level_indices(levels);
                    View::Booleans(
                        values,
                        ["false", "true"].map(|level| indices.get(level).copied().unwrap_or(UNSEEN_LEVEL)),
                    )
                }
                Values::Time(_) => self.empty_view(table, column)?,
            },
            _ => self.empty_view(table, column)?,
        };
        Ok(view)
    }

    /// The view of a column whose type does not fit the encoding. If all its values are missing, this is [`View::Empty`], since such a column
    /// fits every encoding; otherwise it is an error that names the first value that is not missing.
    fn empty_view<'a>(&self, table: &Table, column: &Column) -> Result<View<'a>> {
        let Some(row) = (0..column.values.len()).find(|row| !column.values.is_missing(*row)) else {
            return Ok(View::Empty);
        };
        let value = match &column.values {
            Values::Category(values) => values.levels.get(values.codes[row] as usize).cloned(),
            Values::Number(values) => Some(values[row].to_string()),
            _ => None,
        };
        let problem = format!(
            "the column holds {}, the model expects {}",
            plural_noun(column.values.kind()),
            plural_noun(self.kind)
        );
        let problem = match value {
            Some(value) => format!("{} is not a {}: {problem}", quoted(&value), singular_noun(self.kind)),
            None => problem,
        };
        Err(Error::data(
            table.place(row).column(&column.name),
            problem,
            "give a table like the one the model was trained on",
        ))
    }
}

/// A map from each level to its index.
fn level_indices(levels: &[String]) -> HashMap<&str, u32> {
    levels.iter().enumerate().map(|(at, level)| (level.as_str(), at as u32)).collect()
}

/// The noun for one value of a column of this type, in messages.
fn singular_noun(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number => "number",
        ColumnKind::Category => "string",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Time => "time",
    }
}

/// The noun for the values of a column of this type, in messages.
fn plural_noun(kind: ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Number => "numbers",
        ColumnKind::Category => "text",
        ColumnKind::Boolean => "booleans",
        ColumnKind::Time => "times",
    }
}

impl Encoder {
    /// The views of the columns of all inputs. If the table lacks some of these columns, a single error names all that are missing.
    pub(super) fn views<'a>(&self, table: &'a Table) -> Result<Vec<View<'a>>> {
        let columns = by_name(table);
        let missing: Vec<&str> =
            self.columns().into_iter().map(|(name, _)| name).filter(|name| !columns.contains_key(name)).collect();
        if !missing.is_empty() {
            let available: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            return Err(missing_columns_error(&table.file, &missing, &available));
        }
        self.inputs
            .iter()
            .map(|input| match columns.get(input.column.as_str()) {
                Some(column) => input.view(table, column),
                None => Ok(View::Empty),
            })
            .collect()
    }
}
