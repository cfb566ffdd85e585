//! Code that the Parquet and Arrow readers share: it selects columns by name and type, and turns their arrays into tables.

use std::collections::HashSet;
use std::fmt;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::arrays::{self, StringFormat};
use super::catch_panic::catch_panic;
use super::reading::{MissingMarkers, check_names};
use super::{ChooseColumns, Column, ColumnKind, Field, Lines, Reading, Table};
use crate::error::{Error, Location, Result};

/// The approximate number of values to decode at once: rows times columns.
const BATCH_VALUES: usize = 1 << 20;

/// A column that is read from a Parquet or Arrow file.
pub(super) struct SelectedColumn {
    /// The index of the column among all columns of the file.
    pub(super) index: usize,
    name: String,
    kind: ColumnKind,
    /// Whether the user set the type of the column.
    is_forced: bool,
    string_format: StringFormat,
}

/// A column as the file declares it: its name, its type, and whether the declaration is valid. A column with an invalid declaration cannot be read.
pub(super) type DeclaredColumn = (String, DataType, bool);

/// The columns that are read from a Parquet or Arrow file, and the number of rows read so far.
pub(super) struct SelectedColumns {
    file: String,
    format: &'static str,
    columns: Vec<SelectedColumn>,
    markers: MissingMarkers,
    rows: u64,
}

/// The error for a file compressed with an unsupported codec.
pub(super) fn unsupported_codec_error(file: &str, codec: &str) -> Error {
    let problem = format!("is compressed with {codec}, which is not supported");
    Error::data(Location::file(file), problem, "write the file again, compressed with snappy or zstd")
}

/// The error for a file that cannot be decoded.
pub(super) fn damaged_error(file: &str, format: &str, error: &impl fmt::Display) -> Error {
    let problem = format!("cannot be read as {format}: {error}");
    Error::data(Location::file(file), problem, "the file may be damaged or truncated; write or download it again")
}

impl SelectedColumns {
    /// Selects the columns that the settings ask for. A column with a type that cannot be read is an error if the user named it, and is
    /// left out with a note otherwise.
    pub(super) fn new(
        file: &str,
        format: &'static str,
        columns: &[DeclaredColumn],
        reading: &mut Reading,
        choose: &ChooseColumns<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let names: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
        let given = reading.columns.clone();
        let given = given.as_ref();
        if given.is_some_and(|given| given.len() != names.len()) {
            let problem = format!(
                "the number of given names is {}, but the number of columns is {}",
                given.map_or(0, Vec::len),
                names.len()
            );
            return Err(Error::setting(
                "columns",
                problem,
                format!("leave the names out: {format} files contain the names of their columns"),
            ));
        }
        let names = given.map_or(names, |given| given.iter().map(String::as_str).collect());
        super::text::check_unique(file, &names, given.is_some())?;
        choose(&names, reading)?;
        check_names(file, reading, &names)?;
        let (mut selected, mut left_out) = (Vec::new(), Vec::new());
        let earlier = reading.writing.as_ref();
        let comma = reading.decimal_comma.or(earlier.and_then(|earlier| earlier.decimal_comma));
        let mark = if comma == Some(true) { b',' } else { b'.' };
        let only: Option<HashSet<&str>> = reading.only.as_ref().map(|only| only.iter().map(String::as_str).collect());
        for (index, (name, (_, data_type, is_valid))) in names.into_iter().zip(columns).enumerate() {
            let wanted = only.as_ref().map(|only| only.contains(name));
            let forced = reading.kinds.get(name).copied();
            if wanted == Some(false) {
                continue;
            }
            match arrays::column_kind(data_type).filter(|_| *is_valid) {
                Some(natural) => {
                    let kind = forced.unwrap_or(natural);
                    let style = earlier.and_then(|earlier| earlier.columns.get(name)).cloned().unwrap_or_default();
                    let string_format = StringFormat { mark, style, month_first: reading.month_first };
                    let is_forced = forced.is_some();
                    selected.push(SelectedColumn { index, name: name.into(), kind, is_forced, string_format });
                }
                None => {
                    let (type_name, hint) = arrays::unreadable_type(data_type);
                    if wanted == Some(true) || forced.is_some() {
                        let problem = format!("is of type {type_name}, which cannot be read");
                        return Err(Error::data(Location::file(file).column(name), problem, hint));
                    }
                    left_out.push((name, type_name, hint));
                }
            }
        }
        if selected.is_empty() {
            let first = left_out.first().map(|(name, type_name, hint)| {
                (format!("has no columns that can be read: `{}` is of type {type_name}", name.escape_debug()), *hint)
            });
            let (problem, hint) =
                first.unwrap_or_else(|| ("has no columns".into(), "a table needs at least one column"));
            return Err(Error::data(Location::file(file), problem, hint));
        }
        let left_out = left_out.iter().map(|(name, type_name, hint)| {
            format!("column `{}` is left out: columns of type {type_name} cannot be read; {hint}", name.escape_debug())
        });
        notes.extend(left_out);
        let markers = MissingMarkers::new(&reading.missing);
        Ok(SelectedColumns { file: file.into(), format, columns: selected, markers, rows: 0 })
    }

    /// The columns that are read, in the order of the file.
    pub(super) fn columns(&self) -> &[SelectedColumn] {
        &self.columns
    }

    /// The names and types of the columns that are read.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.columns.iter().map(|column| Field { name: column.name.clone(), kind: column.kind }).collect()
    }

    /// The number of rows to decode at once.
    pub(super) fn batch_rows(&self) -> usize {
        (BATCH_VALUES / self.columns.len().max(1)).clamp(1 << 12, 1 << 17)
    }

    /// Makes the next chunk of the table from decoded arrays, one for each column. After the last row, all arrays are `None`; the result is
    /// then `None` too, or an error if the file has no rows.
    pub(super) fn make_chunk(
        &mut self,
        arrays: Vec<std::result::Result<Option<ArrayRef>, String>>,
    ) -> Option<Result<Table>> {
        // If several columns have errors, the error of the first column is reported, so that the message does not depend on the speed of threads.
        let mut decoded = Vec::with_capacity(arrays.len());
        for array in arrays {
            match array {
                Ok(array) => decoded.push(array),
                Err(error) => return Some(Err(damaged_error(&self.file, self.format, &error))),
            }
        }
        if decoded.iter().all(Option::is_none) {
            let has_no_rows =
                || Error::data(Location::file(&self.file), "has no rows", "a table needs at least one row");
            return (self.rows == 0).then(|| Err(has_no_rows()));
        }
        let rows = decoded.iter().map(|array| array.as_ref().map_or(0, Array::len)).min().unwrap_or(0);
        if decoded.iter().any(|array| array.as_ref().map_or(0, Array::len) != rows) {
            return Some(Err(damaged_error(&self.file, self.format, &"the columns have different lengths")));
        }
        let convert = |(column, array): (&SelectedColumn, Option<ArrayRef>)| {
            catch_panic(|| {
                array.map(|array| arrays::convert_array(&array, column.kind, &self.markers, &column.string_format))
            })
        };
        let converted: Vec<_> = self.columns.par_iter().zip(decoded).map(convert).collect();
        let mut columns = Vec::with_capacity(converted.len());
        for (column, values) in self.columns.iter().zip(converted) {
            match values.flatten() {
                Some(Ok(values)) => columns.push(Column { name: column.name.clone(), values }),
                None => {
                    return Some(Err(damaged_error(&self.file, self.format, &"the values of a column are invalid")));
                }
                Some(Err(invalid)) => {
                    let row = Some(self.rows + invalid.row as u64 + 1);
                    let place = Location { row, ..Location::file(&self.file) }.column(&column.name);
                    let (text, mark) = (invalid.text.as_bytes(), column.string_format.mark);
                    return Some(Err(super::text::invalid_cell(place, column.kind, column.is_forced, text, mark)));
                }
            }
        }
        let lines = Lines::After(self.rows);
        self.rows += rows as u64;
        Some(Ok(Table { file: self.file.clone(), columns, lines }))
    }
}
