//! What Parquet and Arrow files share: columns of known type, some of them chosen, that come as arrays and leave as tables.

use std::collections::HashSet;
use std::fmt;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::convert;
use super::guard::guarded;
use super::reading::{Markers, check_names};
use super::{Choose, Column, Field, Kind, Lines, Reading, Table};
use crate::error::{Error, Place, Result};

/// Values that are decoded at once, over all columns.
const AT_ONCE: usize = 1 << 20;

/// A column to be read.
pub(super) struct Chosen {
    /// Its place in the file.
    pub(super) at: usize,
    name: String,
    kind: Kind,
    forced: bool,
}

/// The columns to be read, and how far they were.
pub(super) struct Stack {
    file: String,
    format: &'static str,
    chosen: Vec<Chosen>,
    markers: Markers,
    rows: u64,
}

/// The fault of a file that cannot be decoded.
pub(super) fn damaged(file: &str, format: &str, error: &impl fmt::Display) -> Error {
    let problem = format!("cannot be read as {format}: {error}");
    Error::data(Place::file(file), problem, "it may be damaged or cut; write or fetch it again")
}

impl Stack {
    /// Chooses columns by what the user says. `None` is a type that cannot be read.
    pub(super) fn new(
        file: &str,
        format: &'static str,
        columns: &[(String, Option<DataType>)],
        reading: &mut Reading,
        choose: &Choose<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let given = reading.columns.clone();
        let given = given.as_ref();
        if given.is_some_and(|given| given.len() != names.len()) {
            let problem = format!("{} names for a file of {} columns", given.map_or(0, Vec::len), names.len());
            return Err(Error::setting("columns", problem, format!("{format} files name their columns; leave it out")));
        }
        let names = given.map_or(names, |given| given.iter().map(String::as_str).collect());
        super::text::check_unique(file, &names, given.is_some())?;
        choose(&names, reading)?;
        check_names(file, reading, &names)?;
        let mut chosen = Vec::new();
        let only: Option<HashSet<&str>> = reading.only.as_ref().map(|only| only.iter().map(String::as_str).collect());
        for (at, (name, (_, data))) in names.into_iter().zip(columns).enumerate() {
            let wanted = only.as_ref().map(|only| only.contains(name));
            let forced = reading.kinds.get(name).copied();
            if wanted == Some(false) {
                continue;
            }
            match data.as_ref().and_then(convert::kind) {
                Some(natural) => {
                    let kind = forced.unwrap_or(natural);
                    chosen.push(Chosen { at, name: name.into(), kind, forced: forced.is_some() });
                }
                None if wanted == Some(true) || forced.is_some() => {
                    let problem = "holds neither numbers, texts, booleans nor dates";
                    return Err(Error::data(Place::file(file).column(name), problem, "leave the column out"));
                }
                None => notes
                    .push(format!("column `{name}` is left out: it holds neither numbers, texts, booleans nor dates")),
            }
        }
        if chosen.is_empty() {
            return Err(Error::data(Place::file(file), "has no columns that can be read", ""));
        }
        let markers = Markers::new(&reading.missing);
        Ok(Stack { file: file.into(), format, chosen, markers, rows: 0 })
    }

    pub(super) fn chosen(&self) -> &[Chosen] {
        &self.chosen
    }

    pub(super) fn fields(&self) -> Vec<Field> {
        self.chosen.iter().map(|chosen| Field { name: chosen.name.clone(), kind: chosen.kind }).collect()
    }

    /// How many rows to decode at once.
    pub(super) fn rows_at_once(&self) -> usize {
        (AT_ONCE / self.chosen.len().max(1)).clamp(1 << 12, 1 << 17)
    }

    /// The next table from the next arrays, one for each chosen column; `None` where a column has no more.
    pub(super) fn table(
        &mut self,
        arrays: Vec<std::result::Result<Option<ArrayRef>, String>>,
    ) -> Option<Result<Table>> {
        // The first fault in the order of columns is told, whichever thread saw one first.
        let mut parts = Vec::with_capacity(arrays.len());
        for array in arrays {
            match array {
                Ok(array) => parts.push(array),
                Err(error) => return Some(Err(damaged(&self.file, self.format, &error))),
            }
        }
        if parts.iter().all(Option::is_none) {
            let none: Option<Result<Table>> = (self.rows == 0)
                .then(|| Err(Error::data(Place::file(&self.file), "no rows", "a table has at least one row")));
            return none;
        }
        let rows = parts.iter().map(|part| part.as_ref().map_or(0, Array::len)).min().unwrap_or(0);
        if parts.iter().any(|part| part.as_ref().map_or(0, Array::len) != rows) {
            return Some(Err(damaged(&self.file, self.format, &"its columns have different lengths")));
        }
        let values = |(chosen, array): (&Chosen, Option<ArrayRef>)| {
            guarded(|| array.map(|array| convert::values(&array, chosen.kind, &self.markers)))
        };
        let converted: Vec<_> = self.chosen.par_iter().zip(parts).map(values).collect();
        let mut columns = Vec::with_capacity(converted.len());
        for (chosen, values) in self.chosen.iter().zip(converted) {
            match values.flatten() {
                Some(Ok(values)) => columns.push(Column { name: chosen.name.clone(), values }),
                None => return Some(Err(damaged(&self.file, self.format, &"its values make no sense"))),
                Some(Err(refused)) => {
                    let row = Some(self.rows + refused.row as u64 + 1);
                    let place = Place { row, ..Place::file(&self.file) }.column(&chosen.name);
                    let refusal =
                        super::text::refusal(place, chosen.kind, chosen.forced, refused.text.as_bytes(), b'.');
                    return Some(Err(refusal));
                }
            }
        }
        let lines = Lines::After(self.rows);
        self.rows += rows as u64;
        Some(Ok(Table { file: self.file.clone(), columns, lines }))
    }
}
