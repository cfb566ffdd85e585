//! Probabilities and weights, checked on their way in and kept as f32 where that loses nothing.

use scorewise_table::table::{Column, Table, Values};
use scorewise_train::{Error, Result};

/// A column of numbers, as f32 where no value needs more: hundreds of millions of predictions should not take twice the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Every value is exact as f32.
    F32(Vec<f32>),
    /// At least one value is not.
    F64(Vec<f64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::F32(Vec::new())
    }
}

impl Numbers {
    pub(super) fn add(
        &mut self,
        table: &Table,
        column: &Column,
        what: &str,
        is_good: &dyn Fn(f64) -> bool,
        hint: &str,
    ) -> Result<()> {
        self.extend(checked(table, column, what, is_good, hint)?);
        Ok(())
    }

    fn extend(&mut self, values: &[f64]) {
        match self {
            Numbers::F64(all) => all.extend_from_slice(values),
            Numbers::F32(all) if values.iter().all(|value| f64::from(*value as f32) == *value) => {
                all.extend(values.iter().map(|value| *value as f32));
            }
            Numbers::F32(_) => {
                self.widen();
                self.extend(values);
            }
        }
    }

    pub(super) fn widen(&mut self) {
        if let Numbers::F32(all) = self {
            *self = Numbers::F64(all.iter().map(|value| f64::from(*value)).collect());
        }
    }
}

/// The numbers of a column, all of them good.
pub(super) fn checked<'a>(
    table: &Table,
    column: &'a Column,
    what: &str,
    is_good: &dyn Fn(f64) -> bool,
    hint: &str,
) -> Result<&'a [f64]> {
    let fault = |row: usize, problem: String, hint: &str| {
        Err(Error::data(table.place(row).column(&column.name), problem, hint))
    };
    let Values::Number(values) = &column.values else {
        return fault(0, format!("a {what} is a number"), hint);
    };
    match values.iter().position(|value| !is_good(*value)) {
        Some(row) if values[row].is_nan() => {
            fault(row, format!("the {what} is missing"), "remove the rows without one from the file")
        }
        Some(row) => fault(row, format!("`{}` is not a {what}", values[row]), hint),
        None => Ok(values),
    }
}
