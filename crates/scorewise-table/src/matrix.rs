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

    /// A matrix from the bytes that [`Matrix::to_bytes`] returns. `None` when `columns` is 0 or the bytes are not a whole number of rows.
    #[must_use]
    pub fn from_bytes(columns: usize, bytes: &[u8]) -> Option<Self> {
        let row_bytes = columns.checked_mul(size_of::<f32>())?;
        let rows = bytes.len().checked_div(row_bytes).filter(|rows| rows * row_bytes == bytes.len())?;
        let mut matrix = Matrix::zeros(rows, columns)?;
        let (values, stride) = matrix.padded_mut();
        for (row, bytes) in values.chunks_exact_mut(stride).zip(bytes.chunks_exact(row_bytes)) {
            row.iter_mut().zip(bytes.as_chunks().0).for_each(|(value, bytes)| *value = f32::from_le_bytes(*bytes));
        }
        Some(matrix)
    }

    /// The values of all rows, row by row and without the padding, as little-endian bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.rows * self.columns * size_of::<f32>());
        for row in 0..self.rows {
            bytes.extend(self.row(row).iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_from_bytes_has_the_same_bits_and_the_same_padding() {
        for (rows, columns) in [(0, 1), (1, 1), (3, 15), (5, 16), (2, 17), (70, 33)] {
            let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::MIN_POSITIVE / 3.0, 1.0 / 3.0];
            let values: Vec<f32> = special.into_iter().cycle().take(rows * columns).collect();
            let matrix = Matrix::new(columns, &values).unwrap();
            let copy = Matrix::from_bytes(columns, &matrix.to_bytes()).unwrap();
            let bits = |matrix: &Matrix| matrix.padded().0.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!((copy.rows(), copy.columns(), copy.padded().1), (rows, columns, matrix.padded().1));
            assert_eq!(bits(&copy), bits(&matrix));
            assert_eq!(copy.padded().0.as_ptr() as usize % 64, 0);
        }
        assert!(Matrix::from_bytes(3, &[0; 16]).is_none() && Matrix::from_bytes(0, &[]).is_none());
        assert!(Matrix::from_bytes(usize::MAX, &[0; 16]).is_none());
    }
}
