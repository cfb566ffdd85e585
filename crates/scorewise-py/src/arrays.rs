//! Arrays of the caller, borrowed.

use numpy::{Element, PyReadonlyArray1};
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
