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
    /// Numbers; NaN means that a value is missing.
    Number(PyReadonlyArray1<'py, f64>),
    /// The index of each row's category in a list of strings, and the list. The index 2³² − 1 means that the value is missing.
    Category((PyReadonlyArray1<'py, u32>, Vec<String>)),
    /// Times in seconds since 1970; the smallest 64-bit integer means that a value is missing.
    Time(PyReadonlyArray1<'py, i64>),
    /// Booleans as 0 and 1; any other number means that a value is missing.
    Boolean(PyReadonlyArray1<'py, i8>),
}

/// Makes a table from copies of the columns.
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
