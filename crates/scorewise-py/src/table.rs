//! Columns of the caller as a table.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use scorewise_table::table::{Category, Column, Table, Values};

use crate::arrays::slice;

/// A column: its name, and its values by kind.
pub type Named<'py> = (String, Cells<'py>);

/// The values of a column.
#[derive(FromPyObject)]
pub enum Cells<'py> {
    /// Numbers; NaN is missing.
    Number(PyReadonlyArray1<'py, f64>),
    /// Places in a list of texts, 2³² − 1 where missing; and the list.
    Category((PyReadonlyArray1<'py, u32>, Vec<String>)),
    /// Seconds since 1970, the least number where missing.
    Time(PyReadonlyArray1<'py, i64>),
    /// 0 and 1, any other number where missing.
    Boolean(PyReadonlyArray1<'py, i8>),
}

/// A table of copied columns: its rows are taken apart and kept.
pub fn table(columns: &[Named<'_>]) -> PyResult<Table> {
    let mut owned = Vec::with_capacity(columns.len());
    for (name, cells) in columns {
        let values = match cells {
            Cells::Number(values) => Values::Number(slice(values)?.to_vec()),
            Cells::Category((codes, levels)) => {
                Values::Category(Category { codes: slice(codes)?.to_vec(), levels: levels.clone() })
            }
            Cells::Time(values) => Values::Time(slice(values)?.to_vec()),
            Cells::Boolean(values) => {
                let is_known = |value: &i8| (0..=1).contains(value).then_some(*value == 1);
                Values::Boolean(slice(values)?.iter().map(is_known).collect())
            }
        };
        owned.push(Column { name: name.clone(), values });
    }
    Ok(Table { file: "X".into(), columns: owned, ..Table::default() })
}
