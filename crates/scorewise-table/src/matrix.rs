//! A row-major matrix of f32 features, aligned for vector instructions.

use std::sync::Arc;

use crate::buffer::AlignedBuffer;

/// The length of a padded row is a multiple of this number: 16 numbers of type f32 fill one cache line, and one AVX-512 register.
pub const PAD: usize = 16;

/// A matrix of features. Every row is padded with zeros to a multiple of [`PAD`] numbers. Clones share one allocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stride: usize,
    values: Arc<AlignedBuffer>,
}

impl Matrix {
    /// A matrix from row-major values. `None` when `columns` is 0 or does not divide the number of values.
    #[must_use]
    pub fn new(columns: usize, values: &[f32]) -> Option<Self> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            return None;
        }
        let (rows, stride) = (values.len() / columns, columns.next_multiple_of(PAD));
        // There is one extra row of zeros at the end. The trainer uses it to fill the last block of 32 rows of a batch.
        let mut padded = AlignedBuffer::zeros((rows + 1) * stride);
        for (row, values) in padded.chunks_exact_mut(stride).zip(values.chunks_exact(columns)) {
            row[..columns].copy_from_slice(values);
        }
        Some(Matrix { rows, columns, stride, values: Arc::new(padded) })
    }

    /// A matrix of zeros. `None` when `columns` is 0 or the size overflows.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Option<Self> {
        let stride = columns.checked_next_multiple_of(PAD).filter(|stride| *stride > 0)?;
        let values = AlignedBuffer::zeros_in_parallel(rows.checked_add(1)?.checked_mul(stride)?);
        Some(Matrix { rows, columns, stride, values: Arc::new(values) })
    }

    /// The features of a row.
    ///
    /// # Panics
    /// If `row` is not less than the number of rows.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        assert!(row < self.rows, "row index {row}, but the number of rows is {}", self.rows);
        &self.values[row * self.stride..][..self.columns]
    }

    /// Returns the values of all rows and the length of a padded row. The values are stored row by row: each row is padded with zeros to
    /// this length, and one extra row of zeros follows the last row.
    #[must_use]
    pub fn padded(&self) -> (&[f32], usize) {
        (&self.values, self.stride)
    }

    /// Whether both matrices share one allocation, as a matrix and its clone do.
    #[must_use]
    pub fn shares_values_with(&self, other: &Matrix) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }

    /// Returns the values of all rows, each padded with zeros to the same length, and this length. The extra row of zeros at the end is left out.
    pub(crate) fn padded_mut(&mut self) -> (&mut [f32], usize) {
        let end = self.rows * self.stride;
        (&mut Arc::make_mut(&mut self.values)[..end], self.stride)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of features in a row.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }
}
