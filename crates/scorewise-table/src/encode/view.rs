//! A column of the table at hand as an input reads it: the levels of the table are looked up once, not for every row.

use std::collections::HashMap;

use super::judge::boolean;
use super::{Coding, Encoder, Input};
use crate::error::{Error, Place, Result};
use crate::names::{LISTED, by_name, listed, quoted};
use crate::table::nearest;
use crate::table::{Category, Column, Kind, Table, Values};

/// The place of a value that is none of the levels.
pub(super) const UNSEEN: u32 = u32::MAX - 1;
/// The place of a missing value.
pub(super) const MISSING: u32 = u32::MAX;

/// What a coding reads from a column.
pub(super) enum View<'a> {
    Number(&'a [f64]),
    Boolean(&'a [Option<bool>]),
    Time(&'a [i64]),
    /// The place of each level of the table among those of the coding.
    Codes(&'a [u32], Vec<u32>),
    /// The levels that are numbers, in order, with their places.
    Numbers(&'a [f64], Vec<(f64, u32)>),
    /// The places of no and yes.
    Booleans(&'a [Option<bool>], [u32; 2]),
    /// A column without any value.
    Nothing,
}

impl View<'_> {
    #[inline]
    pub fn number(&self, row: usize) -> f64 {
        match self {
            View::Number(values) => values[row],
            View::Boolean(values) => boolean(values[row]),
            _ => f64::NAN,
        }
    }

    #[inline]
    pub fn time(&self, row: usize) -> i64 {
        match self {
            View::Time(values) => values[row],
            _ => Values::NO_TIME,
        }
    }

    #[inline]
    pub fn level(&self, row: usize) -> u32 {
        match self {
            View::Codes(codes, places) => places.get(codes[row] as usize).copied().unwrap_or(MISSING),
            View::Numbers(values, places) => {
                let x = values[row] + 0.0;
                if x.is_nan() {
                    return MISSING;
                }
                places.binary_search_by(|(level, _)| level.total_cmp(&x)).map_or(UNSEEN, |at| places[at].1)
            }
            View::Booleans(values, places) => values[row].map_or(MISSING, |yes| places[usize::from(yes)]),
            _ => MISSING,
        }
    }
}

impl Input {
    /// The column as this input reads it.
    pub(super) fn view<'a>(&self, table: &'a Table, column: &'a Column) -> Result<View<'a>> {
        let view = match (&self.coding, &column.values) {
            (Coding::Number { .. }, Values::Number(values)) => View::Number(values),
            (Coding::Number { .. }, Values::Boolean(values)) => View::Boolean(values),
            (Coding::Time { .. }, Values::Time(values)) => View::Time(values),
            (Coding::OneHot { levels, .. } | Coding::Ordinal { levels, .. }, values) => match values {
                Values::Category(Category { codes, levels: of_table }) => {
                    let places = places(levels);
                    let place = |level: &String| places.get(level.as_str()).copied().unwrap_or(UNSEEN);
                    View::Codes(codes, of_table.iter().map(place).collect())
                }
                Values::Number(values) => {
                    let number = |(at, level): (usize, &String)| Some((level.parse::<f64>().ok()? + 0.0, at as u32));
                    let mut places: Vec<(f64, u32)> = levels.iter().enumerate().filter_map(number).collect();
                    places.sort_by(|a, b| a.0.total_cmp(&b.0));
                    View::Numbers(values, places)
                }
                Values::Boolean(values) => {
                    let places = places(levels);
                    View::Booleans(values, ["false", "true"].map(|level| places.get(level).copied().unwrap_or(UNSEEN)))
                }
                Values::Time(_) => self.stand_in(table, column)?,
            },
            _ => self.stand_in(table, column)?,
        };
        Ok(view)
    }

    /// Nothing where the column holds nothing, which may look like any kind; otherwise the fault, at the first value.
    fn stand_in<'a>(&self, table: &Table, column: &Column) -> Result<View<'a>> {
        let Some(row) = (0..column.values.len()).find(|row| !column.values.is_missing(*row)) else {
            return Ok(View::Nothing);
        };
        let value = match &column.values {
            Values::Category(values) => values.levels.get(values.codes[row] as usize).cloned(),
            Values::Number(values) => Some(values[row].to_string()),
            _ => None,
        };
        let shown = value.map_or(String::new(), |value| format!("{} is no {}: ", quoted(&value), singular(self.kind)));
        let problem = format!(
            "{shown}the column holds {}, the model expects {}",
            plural(column.values.kind()),
            plural(self.kind)
        );
        Err(Error::data(
            table.place(row).column(&column.name),
            problem,
            "give a table like the one the model was trained on",
        ))
    }
}

fn places(levels: &[String]) -> HashMap<&str, u32> {
    levels.iter().enumerate().map(|(at, level)| (level.as_str(), at as u32)).collect()
}

fn singular(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "number",
        Kind::Category => "text",
        Kind::Boolean => "yes or no",
        Kind::Time => "time",
    }
}

fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "numbers",
        Kind::Category => "texts",
        Kind::Boolean => "yes and no",
        Kind::Time => "times",
    }
}

impl Encoder {
    /// The views of all inputs; where columns are missing, a fault that names them all.
    pub(super) fn views<'a>(&self, table: &'a Table) -> Result<Vec<View<'a>>> {
        let columns = by_name(table);
        let absent: Vec<&str> =
            self.columns().into_iter().map(|(name, _)| name).filter(|name| !columns.contains_key(name)).collect();
        if !absent.is_empty() {
            let word = if absent.len() == 1 { "column" } else { "columns" };
            let others: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let near = |name: &&str| {
                nearest(name, others.iter().copied()).map(|near| format!("{} for {}", quoted(near), quoted(name)))
            };
            let near: Vec<String> = absent.iter().take(LISTED).filter_map(near).collect();
            let hint = match near.is_empty() {
                true => "give a table with the columns the model was trained on".to_string(),
                false => format!("did you mean {}?", near.join(", ")),
            };
            return Err(Error::data(Place::file(&table.file), format!("lacks the {word} {}", listed(&absent)), hint));
        }
        self.inputs
            .iter()
            .map(|input| match columns.get(input.column.as_str()) {
                Some(column) => input.view(table, column),
                None => Ok(View::Nothing),
            })
            .collect()
    }
}
