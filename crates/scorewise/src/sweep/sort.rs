//! Sorting by radix: predictions are numbers, and their bits in order are the order.
//!
//! Large sets are first dealt out by the eleven highest bits in which their keys differ, each bucket by its own next bits
//! while it is large; what fits the second cache is sorted there, least significant byte first. Everything is stable. With the
//! `rayon` feature the dealing is spread over the cores (each part counts its digits, each digit's places are shared out to
//! the parts in order, each part writes to its own places) and so are the buckets. A stable sort has one result, so it is the
//! same for any number of threads. Written by hand because the keys are ours: a probability and its label fit 31 bits,
//! nothing else needs to be moved, and it takes a third of the time of sorting pairs by comparison.

use crate::real::Real;

/// An unsigned number whose order is that of the predictions.
pub(crate) trait Key: Copy + Ord + Send + Sync + 'static {
    const BITS: u32;
    const ZERO: Self;
    /// The bits from `shift` on, as many as `mask` has.
    fn digit(self, shift: u32, mask: usize) -> usize;
    /// The bits in which two keys differ.
    #[must_use]
    fn differing(self, other: Self) -> Self;
    /// The bits set in either.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// How many bits there are up to the highest one set.
    fn width(self) -> u32;
}

macro_rules! key {
    ($kind:ty) => {
        impl Key for $kind {
            const BITS: u32 = <$kind>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn digit(self, shift: u32, mask: usize) -> usize {
                (self >> shift) as usize & mask
            }
            #[inline(always)]
            fn differing(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            fn width(self) -> u32 {
                <$kind>::BITS - self.leading_zeros()
            }
        }
    };
}
key!(u32);
key!(u64);

/// Bits by which a large set is dealt out.
const DEAL: u32 = 11;
/// Bits of one pass in the cache: 256 places to write to stay in the first cache.
const BYTE: u32 = 8;
/// Below this many keys, comparing is cheaper than counting.
const SMALL: usize = 128;
/// Above this many keys, two copies no longer fit the second cache.
const LARGE: usize = 1 << 17;

/// Sorts keys in rising order and moves each value with its key; equal keys keep their order.
pub(crate) fn sort<K: Key, V: Copy + Default + Send + Sync>(keys: &mut [K], values: &mut [V]) {
    debug_assert_eq!(keys.len(), values.len());
    let mut spare_keys = vec![K::ZERO; keys.len()];
    let mut spare_values = vec![V::default(); values.len()];
    sort_into(Columns { keys, values }, Columns { keys: &mut spare_keys, values: &mut spare_values }, false);
}

/// Keys and what moves with them.
struct Columns<'a, K, V> {
    keys: &'a mut [K],
    values: &'a mut [V],
}

impl<'a, K, V> Columns<'a, K, V> {
    /// The first `length` rows, and the rest.
    fn split(self, length: usize) -> (Self, Self) {
        let (keys, more_keys) = self.keys.split_at_mut(length);
        let (values, more_values) = self.values.split_at_mut(length);
        (Columns { keys, values }, Columns { keys: more_keys, values: more_values })
    }
}

/// Sorts `data`, with `spare` to work in; the result stands in `spare` if `in_spare` says so, else in `data`.
fn sort_into<K: Key, V: Copy + Send + Sync>(data: Columns<'_, K, V>, spare: Columns<'_, K, V>, in_spare: bool) {
    let length = data.keys.len();
    if length <= SMALL {
        insertion_sort(data.keys, data.values);
        if in_spare {
            spare.keys.copy_from_slice(data.keys);
            spare.values.copy_from_slice(data.values);
        }
        return;
    }
    let first = data.keys[0];
    let varying = data.keys.iter().fold(K::ZERO, |bits, key| bits.or(key.differing(first)));
    if length <= LARGE || varying.width() <= DEAL {
        sort_bytes(data, spare, varying, in_spare);
        return;
    }
    let shift = varying.width() - DEAL;
    let ends = deal(data.keys, data.values, spare.keys, spare.values, shift);
    let (mut data, mut spare, mut start) = (data, spare, 0);
    let mut buckets = Vec::new();
    for end in ends {
        let (bucket, bucket_spare);
        (bucket, data) = data.split(end - start);
        (bucket_spare, spare) = spare.split(end - start);
        if end > start {
            buckets.push((bucket_spare, bucket));
        }
        start = end;
    }
    // What was dealt out stands in the spare columns: the two have changed places.
    each_part(buckets, |(bucket, spare)| sort_into(bucket, spare, !in_spare));
}

/// Least significant byte first, those bytes that differ.
fn sort_bytes<K: Key, V: Copy>(data: Columns<'_, K, V>, spare: Columns<'_, K, V>, varying: K, in_spare: bool) {
    const MASK: usize = (1 << BYTE) - 1;
    let (mut from, mut to, mut is_spare) = (data, spare, false);
    for shift in (0..K::BITS).step_by(BYTE as usize) {
        if varying.digit(shift, MASK) == 0 {
            continue;
        }
        let mut places = [0usize; MASK + 1];
        for key in from.keys.iter() {
            places[key.digit(shift, MASK)] += 1;
        }
        let mut next = 0;
        for place in &mut places {
            let here = *place;
            *place = next;
            next += here;
        }
        for (key, value) in from.keys.iter().zip(from.values.iter()) {
            let place = &mut places[key.digit(shift, MASK)];
            to.keys[*place] = *key;
            to.values[*place] = *value;
            *place += 1;
        }
        (from, to, is_spare) = (to, from, !is_spare);
    }
    if is_spare != in_spare {
        to.keys.copy_from_slice(from.keys);
        to.values.copy_from_slice(from.values);
    }
}

fn insertion_sort<K: Key, V: Copy>(keys: &mut [K], values: &mut [V]) {
    for start in 1..keys.len() {
        let (key, value) = (keys[start], values[start]);
        let mut at = start;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            values[at] = values[at - 1];
            at -= 1;
        }
        keys[at] = key;
        values[at] = value;
    }
}

/// Deals the rows out by the digit at `shift`, keeping their order within a digit; returns where each digit's rows end.
fn deal<K: Key, V: Copy + Send + Sync>(
    keys: &[K],
    values: &[V],
    to_keys: &mut [K],
    to_values: &mut [V],
    shift: u32,
) -> Vec<usize> {
    const MASK: usize = (1 << DEAL) - 1;
    let length = keys.len().div_ceil(parts()).max(1);
    let count = |part: &[K]| {
        let mut counts = vec![0usize; MASK + 1];
        for key in part {
            counts[key.digit(shift, MASK)] += 1;
        }
        counts
    };
    let mut places = each_part(keys.chunks(length).collect(), count);
    // Digit by digit, part by part: the place where each part's next key with that digit goes.
    let mut next = 0;
    let mut ends = Vec::with_capacity(MASK + 1);
    for digit in 0..=MASK {
        for part in &mut places {
            let here = part[digit];
            part[digit] = next;
            next += here;
        }
        ends.push(next);
    }
    let target = Target { keys: to_keys.as_mut_ptr(), values: to_values.as_mut_ptr(), length: to_keys.len() };
    let work: Vec<_> = keys.chunks(length).zip(values.chunks(length)).zip(places).collect();
    each_part(work, |((keys, values), mut places)| {
        for (key, value) in keys.iter().zip(values) {
            let place = &mut places[key.digit(shift, MASK)];
            // SAFETY: the counts of all parts partition 0..length, so every place is written once, by one part.
            unsafe { target.write(*place, *key, *value) };
            *place += 1;
        }
    });
    ends
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
        for length in [0, 1, 2, SMALL, SMALL + 1, 5000, LARGE, LARGE + 1, 400_000] {
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
            assert!(narrow == expected, "{length}");
        }
    }

    #[test]
    fn one_key_far_from_all_others_does_not_spoil_the_dealing() {
        let mut keys: Vec<u64> = (0..300_000u64).map(|k| k.wrapping_mul(2_654_435_761) % 100_003).collect();
        keys[7] = u64::MAX;
        let mut expected = keys.clone();
        expected.sort_unstable();
        sort(&mut keys, &mut [(); 300_000]);
        assert!(keys == expected);
    }

    #[test]
    fn order_descends_over_signs_and_zeros() {
        let values = [0.0, -1.5, 3.0, -0.0, 1e300, -1e-300];
        assert_eq!(order_descending(&values).unwrap(), [4, 2, 0, 3, 5, 1]);
    }
}
