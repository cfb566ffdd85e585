//! Numbers that begin on a cache line: a register loaded from across two lines takes twice as long, and an ordinary list begins
//! anywhere.

use std::ops::{Deref, DerefMut};

use rayon::prelude::*;

/// One cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// A list of f32 that begins on a cache line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buffer {
    lines: Vec<Line>,
    length: usize,
}

impl Buffer {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let mut buffer = Buffer::default();
        buffer.resize(length);
        buffer
    }

    /// So many zeros, written on all cores: the first touch of a page costs more than all that follow.
    pub fn many_zeros(length: usize) -> Self {
        let zero = |_| Line([0.0; 16]);
        let lines = (0..length.div_ceil(16)).into_par_iter().with_min_len(1 << 14).map(zero).collect();
        Buffer { lines, length }
    }

    /// To this length; what is new is 0.
    pub fn resize(&mut self, length: usize) {
        self.lines.resize(length.div_ceil(16), Line([0.0; 16]));
        self.length = length;
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: the lines are arrays of f32 one after the other, at least `length` of them in all.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_on_a_cache_line_and_keeps_its_numbers() {
        let mut buffer = Buffer::zeros(5);
        buffer.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        buffer.resize(1000);
        assert_eq!(
            (buffer.as_ptr() as usize % 64, buffer.len(), &buffer[..6]),
            (0, 1000, &[1.0, 2.0, 3.0, 4.0, 5.0, 0.0][..])
        );
    }
}
