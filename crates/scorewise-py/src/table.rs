//! Conversion of columns from Python to a table.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use scorewise_table::table::{Category, Column, Table, Values};

use crate::arrays::slice;

/// The name and the values of a column.
pub type NamedColumn<'py> = (String, ColumnValues<'py>);

/// The values of a column, by type.
#[derive(FromPyObject)]
pub enum ColumnValues<'py> {
    /// Floats; NaN means missing.
    Number(PyReadonlyArray1<'py, f64>),
    /// Indices into a list of strings, and the list; 2³² − 1 means missing.
    Category((PyReadonlyArray1<'py, u32>, Vec<String>)),
    /// Seconds since 1970; the smallest 64-bit integer means missing.
    Time(PyReadonlyArray1<'py, i64>),
    /// 0 and 1; any other number means missing.
    Boolean(PyReadonlyArray1<'py, i8>),
}

/// A table that owns copies of the columns.
pub fn table(columns: &[NamedColumn<'_>]) -> PyResult<Table> {
    let mut owned = Vec::with_capacity(columns.len());
    for (name, column_values) in columns {
        let values = match column_values {
            ColumnValues::Number(values) => Values::Number(slice(values)?.to_vec()),
            ColumnValues::Category((codes, levels)) => {
                Values::Category(Category { codes: slice(codes)?.to_vec(), levels: levels.clone() })
            }
            ColumnValues::Time(values) => Values::Time(slice(values)?.to_vec()),
            ColumnValues::Boolean(values) => {
                let to_boolean = |value: &i8| (0..=1).contains(value).then_some(*value == 1);
                Values::Boolean(slice(values)?.iter().map(to_boolean).collect())
            }
        };
        owned.push(Column { name: name.clone(), values });
    }
    Ok(Table { file: "X".into(), columns: owned, ..Table::default() })
}
