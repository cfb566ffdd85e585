//! Sorting by radix: predictions are numbers, and their bits in order are the order.
//!
//! Least significant digit first, stable, eleven bits a pass; digits that all keys share are skipped. With the `rayon`
//! feature every pass is spread over the cores: each part counts its digits, each digit's places are dealt out to the parts
//! in order, and each part writes to its own places. A stable sort has one result, so it is the same for any number of
//! threads. Written by hand because the keys are ours: a probability and its label fit 31 bits, and nothing else needs to
//! be moved.

use crate::real::Real;

/// An unsigned number whose order is that of the predictions.
pub(crate) trait Key: Copy + Ord + Send + Sync + 'static {
    const BITS: u32;
    const ZERO: Self;
    /// The digit of `DIGIT` bits above `shift`.
    fn digit(self, shift: u32) -> usize;
    /// The bits in which two keys differ.
    #[must_use]
    fn differing(self, other: Self) -> Self;
    /// The bits set in either.
    #[must_use]
    fn or(self, other: Self) -> Self;
}

macro_rules! key {
    ($kind:ty) => {
        impl Key for $kind {
            const BITS: u32 = <$kind>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn digit(self, shift: u32) -> usize {
                (self >> shift) as usize & (BUCKETS - 1)
            }
            #[inline(always)]
            fn differing(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
        }
    };
}
key!(u32);
key!(u64);

const DIGIT: u32 = 11;
const BUCKETS: usize = 1 << DIGIT;
/// Below this, counting buckets costs more than comparing.
const SMALL: usize = 1 << 11;

/// Sorts keys in rising order and moves each value with its key; equal keys keep their order.
pub(crate) fn sort<K: Key, V: Copy + Default + Send + Sync>(keys: &mut Vec<K>, values: &mut Vec<V>) {
    debug_assert_eq!(keys.len(), values.len());
    if keys.len() < SMALL {
        let mut pairs: Vec<(K, V)> = keys.iter().copied().zip(values.iter().copied()).collect();
        pairs.sort_by_key(|pair| pair.0);
        for (at, (key, value)) in pairs.into_iter().enumerate() {
            keys[at] = key;
            values[at] = value;
        }
        return;
    }
    let first = keys[0];
    let varying = keys.iter().fold(K::ZERO, |bits, key| bits.or(key.differing(first)));
    let mut spare_keys = vec![K::ZERO; keys.len()];
    let mut spare_values = vec![V::default(); values.len()];
    for shift in (0..K::BITS).step_by(DIGIT as usize) {
        if varying.digit(shift) == 0 {
            continue;
        }
        pass(keys, values, &mut spare_keys, &mut spare_values, shift);
        std::mem::swap(keys, &mut spare_keys);
        std::mem::swap(values, &mut spare_values);
    }
}

/// One pass: from `keys`, `values` into `to_keys`, `to_values`, ordered by the digit at `shift`.
fn pass<K: Key, V: Copy + Send + Sync>(keys: &[K], values: &[V], to_keys: &mut [K], to_values: &mut [V], shift: u32) {
    let length = keys.len().div_ceil(parts()).max(1);
    let count = |part: &[K]| {
        let mut counts = vec![0usize; BUCKETS];
        for key in part {
            counts[key.digit(shift)] += 1;
        }
        counts
    };
    let mut places = each_part(keys.chunks(length).collect(), count);
    // Digit by digit, part by part: the place where each part's next key with that digit goes.
    let mut next = 0;
    for digit in 0..BUCKETS {
        for part in &mut places {
            let here = part[digit];
            part[digit] = next;
            next += here;
        }
    }
    let target = Target { keys: to_keys.as_mut_ptr(), values: to_values.as_mut_ptr(), length: to_keys.len() };
    let work: Vec<_> = keys.chunks(length).zip(values.chunks(length)).zip(places).collect();
    each_part(work, |((keys, values), mut places)| {
        for (key, value) in keys.iter().zip(values) {
            let place = &mut places[key.digit(shift)];
            // SAFETY: the counts of all parts partition 0..length, so every place is written once, by one part.
            unsafe { target.write(*place, *key, *value) };
            *place += 1;
        }
    });
}

/// Where a pass writes: several parts at once, each to places of its own.
struct Target<K, V> {
    keys: *mut K,
    values: *mut V,
    length: usize,
}

// SAFETY: the pointers are only written through `write`, whose callers never share a place.
unsafe impl<K: Send, V: Send> Sync for Target<K, V> {}

impl<K, V> Target<K, V> {
    /// # Safety
    /// No other thread writes to this place.
    #[inline(always)]
    unsafe fn write(&self, place: usize, key: K, value: V) {
        debug_assert!(place < self.length);
        // SAFETY: `place` lies below the length of both slices, and the caller owns it.
        unsafe {
            self.keys.add(place).write(key);
            self.values.add(place).write(value);
        }
    }
}

#[cfg(feature = "rayon")]
fn parts() -> usize {
    rayon::current_num_threads()
}

#[cfg(not(feature = "rayon"))]
fn parts() -> usize {
    1
}

/// The work of each part, on all cores when the `rayon` feature is on; results in the order of the parts.
pub(crate) fn each_part<T: Send, U: Send>(parts: Vec<T>, work: impl Fn(T) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        parts.into_par_iter().map(work).collect()
    }
    #[cfg(not(feature = "rayon"))]
    {
        parts.into_iter().map(work).collect()
    }
}

/// Row numbers in falling order of their values; equal values keep the order of the rows.
pub(crate) fn order_descending<R: Real>(values: &[R]) -> crate::Result<Vec<u32>> {
    let mut rows = row_numbers(values.len())?;
    let mut keys: Vec<u64> = values.iter().map(|value| descending_bits(value.wide())).collect();
    sort(&mut keys, &mut rows);
    Ok(rows)
}

pub(crate) fn row_numbers(length: usize) -> crate::Result<Vec<u32>> {
    let length = u32::try_from(length).map_err(|_| crate::Error::Setting {
        what: "rows",
        reason: format!("must number at most {} here, not {length}", u32::MAX),
    })?;
    Ok((0..length).collect())
}

/// Bits that rise as the value falls; −0 counts as 0.
fn descending_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    // A negative number's bits rise as it falls already; a positive one's are turned round below them.
    if bits >> 63 == 1 { bits } else { !bits & (u64::MAX >> 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_standard_library_at_every_size() {
        let mut state = 7u64;
        for length in [0, 1, 2, 100, SMALL - 1, SMALL, 5000, 70_001] {
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 16
            };
            let wide: Vec<u64> = (0..length).map(|_| random() % 1_000_003 * 977).collect();
            let mut keys = wide.clone();
            let mut values: Vec<u32> = (0..length as u32).collect();
            sort(&mut keys, &mut values);
            let mut expected: Vec<(u64, u32)> = wide.iter().copied().zip(0..).collect();
            expected.sort();
            assert!(keys.iter().zip(&values).eq(expected.iter().map(|(key, value)| (key, value))), "{length}");
            let mut narrow: Vec<u32> = wide.iter().map(|key| *key as u32).collect();
            let mut expected = narrow.clone();
            expected.sort_unstable();
            sort(&mut narrow, &mut vec![(); length]);
            assert_eq!(narrow, expected);
        }
    }

    #[test]
    fn order_descends_over_signs_and_zeros() {
        let values = [0.0, -1.5, 3.0, -0.0, 1e300, -1e-300];
        assert_eq!(order_descending(&values).unwrap(), [4, 2, 0, 3, 5, 1]);
    }
}
