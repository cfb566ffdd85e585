//! Arrays of the caller, borrowed.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::fault::fault;

/// Numbers as the caller has them, f32 or f64: nothing is converted that the core can compute with.
#[derive(FromPyObject)]
pub enum Numbers<'py> {
    /// f32
    Narrow(PyReadonlyArray1<'py, f32>),
    /// f64
    Wide(PyReadonlyArray1<'py, f64>),
}

/// One truth value a row, as booleans or as bytes.
///
/// A boolean of NumPy is a byte that may hold any number: `.view(bool)` and other libraries make such arrays. A `bool` of Rust is 0 or 1,
/// and a slice of others is undefined behaviour. So the bytes are read, and this is the one place where truth values come in.
#[derive(FromPyObject)]
pub enum Flags<'py> {
    /// NumPy's booleans, of which no slice may be made.
    Booleans(Bound<'py, PyArray1<bool>>),
    /// Bytes: 0 is false.
    Bytes(PyReadonlyArray1<'py, u8>),
}

/// The same with their weights, as slices.
#[derive(Clone, Copy)]
pub enum Weighed<'a> {
    /// f32
    Narrow(&'a [f32], Option<&'a [f32]>),
    /// f64
    Wide(&'a [f64], Option<&'a [f64]>),
}

/// The memory of an array that is one piece.
pub fn slice<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| fault("arrays must be contiguous: give `numpy.ascontiguousarray(…)`"))
}

impl Flags<'_> {
    /// True where the byte is not 0, as NumPy takes it.
    pub fn read(&self) -> PyResult<Vec<bool>> {
        fn truth(bytes: &[u8]) -> Vec<bool> {
            bytes.iter().map(|byte| *byte != 0).collect()
        }
        match self {
            Flags::Booleans(array) => {
                let bytes: PyReadonlyArray1<'_, u8> = array.call_method1("view", ("uint8",))?.extract()?;
                Ok(truth(slice(&bytes)?))
            }
            Flags::Bytes(bytes) => Ok(truth(slice(bytes)?)),
        }
    }
}

impl Numbers<'_> {
    /// With weights of the same kind.
    pub fn weighed<'a>(&'a self, weights: &'a Option<Numbers<'_>>) -> PyResult<Weighed<'a>> {
        Ok(match (self, weights) {
            (Numbers::Narrow(numbers), None) => Weighed::Narrow(slice(numbers)?, None),
            (Numbers::Wide(numbers), None) => Weighed::Wide(slice(numbers)?, None),
            (Numbers::Narrow(numbers), Some(Numbers::Narrow(weights))) => {
                Weighed::Narrow(slice(numbers)?, Some(slice(weights)?))
            }
            (Numbers::Wide(numbers), Some(Numbers::Wide(weights))) => {
                Weighed::Wide(slice(numbers)?, Some(slice(weights)?))
            }
            _ => {
                return Err(fault("weights must be of the same kind as the predictions, both float32 or both float64"));
            }
        })
    }
}

/// Does the same with rows of either kind of number; `$kind` is `Logits` or `Probabilities`.
macro_rules! with_rows {
    ($kind:path, $weighed:expr, $labels:expr, $rows:ident => $result:expr) => {
        match $weighed {
            $crate::arrays::Weighed::Narrow(numbers, weights) => {
                let rows = scorewise::Rows::new($kind(numbers), $labels)?;
                let $rows = if let Some(weights) = weights { rows.weighted(weights)? } else { rows };
                $result
            }
            $crate::arrays::Weighed::Wide(numbers, weights) => {
                let rows = scorewise::Rows::new($kind(numbers), $labels)?;
                let $rows = if let Some(weights) = weights { rows.weighted(weights)? } else { rows };
                $result
            }
        }
    };
}

pub(crate) use with_rows;
