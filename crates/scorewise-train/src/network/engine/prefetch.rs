//! Access to the rows of a batch: pointers to the rows of a panel, and prefetching of the rows of the next panel.

use scorewise_table::{Matrix, PAD};

use super::kernel::PANEL;
use super::simd_vector::SimdVector;

/// Pointers to the 32 rows of a panel. If the last panel of a batch has fewer rows, the other pointers point to a row of zeros.
///
/// # Safety
/// Every number in `order` must be below [`Matrix::rows`].
#[inline(always)]
pub(super) unsafe fn panel_rows(matrix: &Matrix, order: &[u32]) -> [*const f32; PANEL] {
    let (values, stride) = matrix.padded();
    let first = values.as_ptr();
    // SAFETY: `padded` returns one more row after the last row of the matrix; it contains zeros.
    let mut rows = [unsafe { first.add(matrix.rows() * stride) }; PANEL];
    for (pointer, row) in rows.iter_mut().zip(order) {
        // SAFETY: the caller guarantees that the row exists.
        *pointer = unsafe { first.add(*row as usize * stride) };
    }
    rows
}

/// Prefetches data that the next panel will read: rows of a shuffled batch, and a slice of other numbers. A cache miss takes as long as
/// hundreds of multiplications, so a few cache lines at a time are prefetched between the blocks of a matrix product.
pub(super) struct Prefetch<'a> {
    values: &'a [f32],
    stride: usize,
    order: &'a [u32],
    slice: &'a [f32],
    /// The number of rows and the number of elements of `slice` that one call of [`next`](Prefetch::next) prefetches.
    pace: (usize, usize),
}

impl<'a> Prefetch<'a> {
    /// Spreads the prefetching of the rows `order` and of `slice` over about `calls` calls of [`next`](Prefetch::next).
    #[inline(always)]
    pub fn new(matrix: &'a Matrix, order: &'a [u32], slice: &'a [f32], calls: usize) -> Self {
        let calls = calls.max(1);
        let (values, stride) = matrix.padded();
        Prefetch { values, stride, order, slice, pace: (order.len().div_ceil(calls), slice.len().div_ceil(calls)) }
    }

    /// Prefetches all data that [`next`](Prefetch::next) has not yet prefetched.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold.
    #[inline(always)]
    pub unsafe fn all<V: SimdVector>(&mut self) {
        self.pace = (self.order.len(), self.slice.len());
        // SAFETY: the caller guarantees the conditions of [`SimdVector`].
        unsafe { self.next::<V>() };
    }

    /// Prefetches the next few cache lines.
    ///
    /// # Safety
    /// The conditions of [`SimdVector`] must hold.
    #[inline(always)]
    pub unsafe fn next<V: SimdVector>(&mut self) {
        let (now, later) = self.order.split_at(self.pace.0.min(self.order.len()));
        self.order = later;
        for row in now {
            for column in (0..self.stride).step_by(PAD) {
                let address = self.values.as_ptr().wrapping_add(*row as usize * self.stride + column);
                // SAFETY: a prefetch is only a hint to the processor, so any address is allowed.
                unsafe { V::prefetch_at(address) };
            }
        }
        let (now, later) = self.slice.split_at(self.pace.1.min(self.slice.len()));
        self.slice = later;
        for line in now.chunks(PAD) {
            // SAFETY: a prefetch is only a hint to the processor, so any address is allowed.
            unsafe { V::prefetch_at(line.as_ptr()) };
        }
    }
}
