//! Columns of probabilities and weights. Their values are checked when they are read, and stored as f32 if that changes no value.

use scorewise_table::table::{Column, Table, Values};
use scorewise_train::{Error, Result};

/// A column of floats, stored as f32 if that changes no value, which halves the memory of large tables.
#[derive(Clone, Debug, PartialEq)]
pub enum FloatValues {
    /// The values of a column, if f32 represents all of them exactly.
    F32(Vec<f32>),
    /// The values of a column, if f32 would change at least one of them or if another column of the table is stored as f64.
    F64(Vec<f64>),
}

impl Default for FloatValues {
    /// An empty column, stored as f32 until a value needs f64.
    fn default() -> Self {
        FloatValues::F32(Vec::new())
    }
}

impl FloatValues {
    /// Appends the values of a column, or returns an error if `is_valid` is false for one of them. `quantity` is the noun that error messages use
    /// for a value, such as `probability`.
    pub(super) fn append_checked(
        &mut self,
        table: &Table,
        column: &Column,
        quantity: &str,
        is_valid: &dyn Fn(f64) -> bool,
        hint: &str,
    ) -> Result<()> {
        self.extend(checked_values(table, column, quantity, is_valid, hint)?);
        Ok(())
    }

    /// Appends values. If f32 would change one of them, all values are converted to f64.
    fn extend(&mut self, values: &[f64]) {
        match self {
            FloatValues::F64(all) => all.extend_from_slice(values),
            FloatValues::F32(all) if values.iter().all(|value| f64::from(*value as f32) == *value) => {
                all.extend(values.iter().map(|value| *value as f32));
            }
            FloatValues::F32(_) => {
                self.convert_to_f64();
                self.extend(values);
            }
        }
    }

    /// Converts the values to f64.
    pub(super) fn convert_to_f64(&mut self) {
        if let FloatValues::F32(all) = self {
            *self = FloatValues::F64(all.iter().map(|value| f64::from(*value)).collect());
        }
    }
}

/// The values of a numeric column, or an error if `is_valid` is false for one of them. `quantity` is the noun that error messages use for a value,
/// such as `probability`.
pub(super) fn checked_values<'a>(
    table: &Table,
    column: &'a Column,
    quantity: &str,
    is_valid: &dyn Fn(f64) -> bool,
    hint: &str,
) -> Result<&'a [f64]> {
    let data_error = |row: usize, problem: String, hint: &str| {
        Err(Error::data(table.place(row).column(&column.name), problem, hint))
    };
    let Values::Number(values) = &column.values else {
        return data_error(0, format!("a {quantity} must be a number"), hint);
    };
    match values.iter().position(|value| !is_valid(*value)) {
        Some(row) if values[row].is_nan() => {
            data_error(row, format!("the {quantity} is missing"), &format!("remove the rows without a {quantity}"))
        }
        Some(row) => data_error(row, format!("`{}` is not a {quantity}", values[row]), hint),
        None => Ok(values),
    }
}
