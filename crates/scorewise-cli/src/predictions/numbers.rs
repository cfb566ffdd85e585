//! Probabilities and weights, checked on their way in and kept as f32 where that loses nothing.

use scorewise_table::table::{Column, Table, Values};
use scorewise_train::{Error, Result};

/// Numbers as narrow as they are: predictions by the hundred million should not take twice their room.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// All of them are f32 numbers.
    Narrow(Vec<f32>),
    /// At least one is not.
    Wide(Vec<f64>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Narrow(Vec::new())
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
            Numbers::Wide(all) => all.extend_from_slice(values),
            Numbers::Narrow(all) if values.iter().all(|value| f64::from(*value as f32) == *value) => {
                all.extend(values.iter().map(|value| *value as f32));
            }
            Numbers::Narrow(_) => {
                self.widen();
                self.extend(values);
            }
        }
    }

    pub(super) fn widen(&mut self) {
        if let Numbers::Narrow(all) = self {
            *self = Numbers::Wide(all.iter().map(|value| f64::from(*value)).collect());
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
