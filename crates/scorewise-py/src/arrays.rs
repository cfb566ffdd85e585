//! NumPy arrays that Python code passes to this module, borrowed as slices.

use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Labels, predictions and optional weights of the same rows: in Python the tuple `(labels, predictions, weights)`.
#[derive(FromPyObject)]
pub struct RowArrays<'py>(BoolArray<'py>, FloatArray<'py>, Option<FloatArray<'py>>);

/// An array of float32 or float64 numbers. The crate `scorewise` can compute with both types, so arrays are not converted.
#[derive(FromPyObject)]
pub enum FloatArray<'py> {
    /// float32
    F32(PyReadonlyArray1<'py, f32>),
    /// float64
    F64(PyReadonlyArray1<'py, f64>),
}

/// A NumPy array of labels: booleans, or bytes in which 0 means false.
///
/// NumPy stores a boolean as a byte that may hold any value: `.view(bool)` and other libraries produce such arrays. A Rust `bool` must be
/// 0 or 1, and a slice of `bool` with other bytes is undefined behaviour. So the array is always read as bytes.
#[derive(FromPyObject)]
pub enum BoolArray<'py> {
    /// NumPy booleans, which must not be borrowed as a slice of `bool`.
    Booleans(Bound<'py, PyArray1<bool>>),
    /// An array of bytes, in which 0 means false and every other value true.
    Bytes(PyReadonlyArray1<'py, u8>),
}

/// Labels, predictions and optional weights of the same rows, in the types that the crate `scorewise` takes.
pub struct RowSlices<'a> {
    pub labels: Vec<bool>,
    pub floats: FloatSlices<'a>,
}

/// Predictions and optional weights, both f32 or both f64.
#[derive(Clone, Copy)]
pub enum FloatSlices<'a> {
    F32(&'a [f32], Option<&'a [f32]>),
    F64(&'a [f64], Option<&'a [f64]>),
}

/// Borrows a contiguous array as a slice.
///
/// # Errors
/// If the array is not contiguous.
pub fn slice<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| value_error("arrays must be contiguous: pass `numpy.ascontiguousarray(…)`"))
}

impl RowArrays<'_> {
    /// Copies the labels and borrows the predictions and weights.
    pub fn to_slices(&self) -> PyResult<RowSlices<'_>> {
        Ok(RowSlices { labels: self.0.to_bools()?, floats: self.1.with_weights(self.2.as_ref())? })
    }
}

impl BoolArray<'_> {
    /// Copies the array; every byte other than 0 is true, as in NumPy.
    pub fn to_bools(&self) -> PyResult<Vec<bool>> {
        /// Every byte other than 0 is true.
        fn to_bool(bytes: &[u8]) -> Vec<bool> {
            bytes.iter().map(|byte| *byte != 0).collect()
        }
        match self {
            BoolArray::Booleans(array) => {
                let bytes: PyReadonlyArray1<'_, u8> = array.call_method1("view", ("uint8",))?.extract()?;
                Ok(to_bool(slice(&bytes)?))
            }
            BoolArray::Bytes(bytes) => Ok(to_bool(slice(bytes)?)),
        }
    }
}

impl FloatArray<'_> {
    /// Borrows this array and the optional array of weights as slices.
    ///
    /// # Errors
    /// If one array is f32 and the other f64, or if an array is not contiguous.
    pub fn with_weights<'a>(&'a self, weights: Option<&'a FloatArray<'_>>) -> PyResult<FloatSlices<'a>> {
        Ok(match (self, weights) {
            (FloatArray::F32(values), None) => FloatSlices::F32(slice(values)?, None),
            (FloatArray::F64(values), None) => FloatSlices::F64(slice(values)?, None),
            (FloatArray::F32(values), Some(FloatArray::F32(weights))) => {
                FloatSlices::F32(slice(values)?, Some(slice(weights)?))
            }
            (FloatArray::F64(values), Some(FloatArray::F64(weights))) => {
                FloatSlices::F64(slice(values)?, Some(slice(weights)?))
            }
            _ => {
                return Err(value_error(
                    "weights must have the same type as the predictions, both float32 or both float64",
                ));
            }
        })
    }
}

/// Evaluates `$result`, in which `$values` and `$weights` stand for the two slices in `$floats`. It works for slices of f32 and for slices of f64.
macro_rules! with_floats {
    ($floats:expr, $values:ident, $weights:ident => $result:expr) => {
        match $floats {
            $crate::arrays::FloatSlices::F32($values, $weights) => $result,
            $crate::arrays::FloatSlices::F64($values, $weights) => $result,
        }
    };
}

/// Evaluates `$result`, in which `$rows` stands for `scorewise::Rows` made from `$slices`. `$kind` says whether the predictions are `Logits` or
/// `Probabilities`.
macro_rules! with_rows {
    ($kind:path, $slices:expr, $rows:ident => $result:expr) => {
        $crate::arrays::with_floats!($slices.floats, values, weights => {
            let $rows = scorewise::Rows::new($kind(values), &$slices.labels)?.with_weights(weights)?;
            $result
        })
    };
}

pub(crate) use {with_floats, with_rows};
