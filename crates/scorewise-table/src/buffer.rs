//! A vector of f32 aligned to a cache line. Loading a vector register takes twice as long when the numbers lie across two cache lines,
//! which can happen with a `Vec<f32>`, because its alignment is only guaranteed to be 4 bytes.

use std::ops::{Deref, DerefMut};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A cache line: 16 numbers in 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct CacheLine([f32; 16]);

/// A vector of f32 whose first element is at the beginning of a cache line. It is serialised as a plain list of numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<f32>", into = "Vec<f32>")]
pub struct AlignedBuffer {
    lines: Vec<CacheLine>,
    length: usize,
}

impl AlignedBuffer {
    /// A buffer of zeros.
    pub fn zeros(length: usize) -> Self {
        let mut buffer = AlignedBuffer::default();
        buffer.resize(length);
        buffer
    }

    /// A buffer of zeros, written by all cores in parallel. One core would be slow, because the operating system allocates each memory page
    /// at the first write to it.
    pub(crate) fn zeros_in_parallel(length: usize) -> Self {
        let zero = |_| CacheLine([0.0; 16]);
        let lines = (0..length.div_ceil(16)).into_par_iter().with_min_len(1 << 14).map(zero).collect();
        AlignedBuffer { lines, length }
    }

    /// Changes the length of the buffer. New elements are 0.
    pub fn resize(&mut self, length: usize) {
        self.lines.resize(length.div_ceil(16), CacheLine([0.0; 16]));
        // Elements that are cut off stay in memory, in the last cache line. They are set to 0 so that they do not reappear when the buffer grows
        // again.
        if let Some(CacheLine(last)) = self.lines.last_mut().filter(|_| length < self.length) {
            last[(length - 1) % 16 + 1..].fill(0.0);
        }
        self.length = length;
    }
}

impl From<Vec<f32>> for AlignedBuffer {
    fn from(numbers: Vec<f32>) -> Self {
        let mut buffer = AlignedBuffer::zeros(numbers.len());
        buffer.copy_from_slice(&numbers);
        buffer
    }
}

impl From<AlignedBuffer> for Vec<f32> {
    fn from(buffer: AlignedBuffer) -> Self {
        buffer.to_vec()
    }
}

impl Deref for AlignedBuffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        // SAFETY: `lines` is one contiguous allocation of arrays of f32 and has at least `length` numbers in total.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.length) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: `lines` is one contiguous allocation of at least `length` numbers of type f32, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resize_keeps_the_numbers_and_the_alignment() {
        let mut buffer = AlignedBuffer::zeros(5);
        buffer.copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        buffer.resize(1000);
        assert_eq!(
            (buffer.as_ptr() as usize % 64, buffer.len(), &buffer[..6]),
            (0, 1000, &[1.0, 2.0, 3.0, 4.0, 5.0, 0.0][..])
        );
    }

    #[test]
    fn elements_that_were_cut_off_are_zero_when_the_buffer_grows_again() {
        for shorter in [0, 1, 15, 16, 17, 32, 39] {
            let mut buffer = AlignedBuffer::zeros(40);
            buffer.fill(1.0);
            buffer.resize(shorter);
            buffer.resize(100);
            let ones = buffer.iter().take_while(|number| **number == 1.0).count();
            assert_eq!((ones, buffer.iter().sum::<f32>()), (shorter, shorter as f32));
        }
    }

    #[test]
    fn a_buffer_is_serialised_as_a_plain_list_of_numbers() {
        let buffer = AlignedBuffer::from(vec![1.0, -2.5, 0.0]);
        let text = serde_json::to_string(&buffer).unwrap();
        assert_eq!(text, "[1.0,-2.5,0.0]");
        assert_eq!(serde_json::from_str::<AlignedBuffer>(&text).unwrap(), buffer);
    }
}
