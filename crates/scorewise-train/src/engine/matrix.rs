//! Rows of features, as the engine reads them.

use std::sync::Arc;

use super::buffer::Buffer;
use super::kernel::PANEL;
use super::lanes::Lanes;
use crate::net::PAD;

/// Rows of features, each padded with zeros to a whole number of registers. A copy shares the numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    stride: usize,
    values: Arc<Buffer>,
}

impl Matrix {
    /// From rows that stand one after the other; nothing where they are not whole.
    #[must_use]
    pub fn new(columns: usize, values: &[f32]) -> Option<Self> {
        if columns == 0 || !values.len().is_multiple_of(columns) {
            return None;
        }
        let (rows, stride) = (values.len() / columns, columns.next_multiple_of(PAD));
        // One row more than there are, of zeros: what a panel takes where the batch has no row left.
        let mut padded = Buffer::zeros((rows + 1) * stride);
        for (row, values) in padded.chunks_exact_mut(stride).zip(values.chunks_exact(columns)) {
            row[..columns].copy_from_slice(values);
        }
        Some(Matrix { rows, columns, stride, values: Arc::new(padded) })
    }

    /// So many rows of zeros; nothing where there is no column or the size is beyond counting.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Option<Self> {
        let stride = columns.checked_next_multiple_of(PAD).filter(|stride| *stride > 0)?;
        let values = Buffer::many_zeros(rows.checked_add(1)?.checked_mul(stride)?);
        Some(Matrix { rows, columns, stride, values: Arc::new(values) })
    }

    /// The features of a row.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        &self.values[row * self.stride..][..self.columns]
    }

    /// All rows with their padding, and how long a padded row is.
    pub(crate) fn padded_mut(&mut self) -> (&mut [f32], usize) {
        let end = self.rows * self.stride;
        (&mut Arc::make_mut(&mut self.values)[..end], self.stride)
    }

    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many features.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether both are the same numbers in the same place.
    pub(super) fn is(&self, other: &Matrix) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }

    /// Where the rows of a panel begin; rows that a last panel lacks are zeros.
    ///
    /// # Safety
    /// The rows lie below [`rows`](Matrix::rows).
    #[inline(always)]
    pub(super) unsafe fn panel(&self, order: &[u32]) -> [*const f32; PANEL] {
        let first = self.values.as_ptr();
        // SAFETY: there is one row more than `rows`.
        let mut places = [unsafe { first.add(self.rows * self.stride) }; PANEL];
        for (place, row) in places.iter_mut().zip(order) {
            // SAFETY: as the caller's.
            *place = unsafe { first.add(*row as usize * self.stride) };
        }
        places
    }
}

/// What will soon be needed: rows, which in a shuffled batch lie anywhere, and a stretch of other numbers. Fetching them takes as
/// long as hundreds of products: a few at a time are asked for between the blocks of a product, so that none waits for another.
pub(super) struct Ahead<'a> {
    matrix: &'a Matrix,
    order: &'a [u32],
    stretch: &'a [f32],
    /// How many rows and how much of the stretch at a time.
    pace: (usize, usize),
}

impl<'a> Ahead<'a> {
    /// These rows and this stretch, in about so many goes.
    #[inline(always)]
    pub fn new(matrix: &'a Matrix, order: &'a [u32], stretch: &'a [f32], goes: usize) -> Self {
        let goes = goes.max(1);
        Ahead { matrix, order, stretch, pace: (order.len().div_ceil(goes), stretch.len().div_ceil(goes)) }
    }

    /// Asks for the next few.
    ///
    /// # Safety
    /// As [`Lanes`].
    #[inline(always)]
    pub unsafe fn go<V: Lanes>(&mut self) {
        let (now, later) = self.order.split_at(self.pace.0.min(self.order.len()));
        self.order = later;
        for row in now {
            for at in (0..self.matrix.stride).step_by(PAD) {
                let place = self.matrix.values.as_ptr().wrapping_add(*row as usize * self.matrix.stride + at);
                // SAFETY: a hint, which reads nothing, wherever it points.
                unsafe { V::expect_at(place) };
            }
        }
        let (now, later) = self.stretch.split_at(self.pace.1.min(self.stretch.len()));
        self.stretch = later;
        for line in now.chunks(PAD) {
            // SAFETY: as above.
            unsafe { V::expect_at(line.as_ptr()) };
        }
    }
}
