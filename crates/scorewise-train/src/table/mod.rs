//! TABLE: rows and typed columns, from whatever file they came.

mod column;

pub use column::{Category, Column, Kind, Lines, Table, Values};
