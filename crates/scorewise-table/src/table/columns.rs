//! What Parquet and Arrow files share: columns of known type, some of them chosen, that come as arrays and leave as tables.

use std::collections::HashSet;
use std::fmt;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::convert::{self, Manner};
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
    manner: Manner,
}

/// A column of a file: its name, its type, and whether values of that type can be there.
pub(super) type Described = (String, DataType, bool);

/// The columns to be read, and how far they were.
pub(super) struct Stack {
    file: String,
    format: &'static str,
    chosen: Vec<Chosen>,
    markers: Markers,
    rows: u64,
}

/// The fault of a file that is packed in a way that was not built in.
pub(super) fn packed(file: &str, codec: &str) -> Error {
    let problem = format!("is packed with {codec}, which cannot be read");
    Error::data(Place::file(file), problem, "write it again, packed with snappy or zstd")
}

/// The fault of a file that cannot be decoded.
pub(super) fn damaged(file: &str, format: &str, error: &impl fmt::Display) -> Error {
    let problem = format!("cannot be read as {format}: {error}");
    Error::data(Place::file(file), problem, "it may be damaged or cut; write or fetch it again")
}

impl Stack {
    /// Chooses columns by what the user says.
    pub(super) fn new(
        file: &str,
        format: &'static str,
        columns: &[Described],
        reading: &mut Reading,
        choose: &Choose<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let names: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
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
        let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
        let before = reading.writing.as_ref();
        let comma = reading.decimal_comma.or(before.and_then(|before| before.decimal_comma));
        let mark = if comma == Some(true) { b',' } else { b'.' };
        let only: Option<HashSet<&str>> = reading.only.as_ref().map(|only| only.iter().map(String::as_str).collect());
        for (at, (name, (_, data, is_sound))) in names.into_iter().zip(columns).enumerate() {
            let wanted = only.as_ref().map(|only| only.contains(name));
            let forced = reading.kinds.get(name).copied();
            if wanted == Some(false) {
                continue;
            }
            match convert::kind(data).filter(|_| *is_sound) {
                Some(natural) => {
                    let kind = forced.unwrap_or(natural);
                    let style = before.and_then(|before| before.columns.get(name)).cloned().unwrap_or_default();
                    let manner = Manner { mark, style, month_first: reading.month_first };
                    chosen.push(Chosen { at, name: name.into(), kind, forced: forced.is_some(), manner });
                }
                None => {
                    let (what, cure) = convert::unreadable(data);
                    if wanted == Some(true) || forced.is_some() {
                        let problem = format!("is of type {what}, which cannot be read");
                        return Err(Error::data(Place::file(file).column(name), problem, cure));
                    }
                    left_out.push((name, what, cure));
                }
            }
        }
        if chosen.is_empty() {
            let first = left_out.first().map(|(name, what, cure)| {
                (format!("has no columns that can be read: `{}` is of type {what}", name.escape_debug()), *cure)
            });
            let (problem, cure) = first.unwrap_or_else(|| ("has no columns".into(), "a table has at least one column"));
            return Err(Error::data(Place::file(file), problem, cure));
        }
        let left_out = left_out.iter().map(|(name, what, cure)| {
            format!("column `{}` is left out: its type {what} cannot be read; {cure}", name.escape_debug())
        });
        notes.extend(left_out);
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
            guarded(|| array.map(|array| convert::values(&array, chosen.kind, &self.markers, &chosen.manner)))
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
                    let (text, mark) = (refused.text.as_bytes(), chosen.manner.mark);
                    let refusal = super::text::refusal(place, chosen.kind, chosen.forced, text, mark);
                    return Some(Err(refusal));
                }
            }
        }
        let lines = Lines::After(self.rows);
        self.rows += rows as u64;
        Some(Ok(Table { file: self.file.clone(), columns, lines }))
    }
}
