//! Radix sort of predictions by the bits of their keys.
//!
//! A large set of keys is first partitioned into buckets by eleven bits, beginning with the highest bit in which the keys differ. Large buckets are
//! partitioned again by lower bits. Buckets that fit into the L2 cache are sorted byte by byte, from the least significant byte on. All
//! steps are stable.
//!
//! With the `rayon` feature, the keys are divided into chunks that are partitioned in parallel: each chunk counts its digits, the output
//! positions of each digit are assigned to the chunks in order, and each chunk writes to its own positions. The buckets are then sorted in
//! parallel. A stable sort has only one possible result, so the result is the same for any number of threads.
//!
//! The sort is implemented here because an f32 probability and its label fit into a key of 31 bits. Sorting such keys takes a third of the time of
//! sorting pairs by comparison.

use crate::real::Real;

/// An unsigned integer by which rows are sorted.
pub(crate) trait RadixKey: Copy + Ord + Send + Sync + 'static {
    /// The number of bits of the integer type.
    const BITS: u32;
    /// The integer 0.
    const ZERO: Self;
    /// The digit of the key that starts at bit `shift`: the key is shifted right by `shift` bits, and only the bits that are set in `mask`
    /// are kept.
    fn digit(self, shift: u32, mask: usize) -> usize;
    /// The bits in which two keys differ, as a key with exactly these bits set.
    #[must_use]
    fn differing_bits(self, other: Self) -> Self;
    /// The bitwise or of two keys.
    #[must_use]
    fn or(self, other: Self) -> Self;
    /// The number of bits up to and including the highest bit that is set.
    fn bit_width(self) -> u32;
}

macro_rules! radix_key {
    ($integer:ty) => {
        impl RadixKey for $integer {
            const BITS: u32 = <$integer>::BITS;
            const ZERO: Self = 0;
            /// The bits that remain after the key is shifted right by `shift` bits and masked with `mask`.
            #[inline(always)]
            fn digit(self, shift: u32, mask: usize) -> usize {
                (self >> shift) as usize & mask
            }
            #[inline(always)]
            fn differing_bits(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            fn bit_width(self) -> u32 {
                <$integer>::BITS - self.leading_zeros()
            }
        }
    };
}
radix_key!(u32);
radix_key!(u64);

/// Number of bits by which a large set of keys is partitioned.
const PARTITION_BITS: u32 = 11;
/// Number of bits by which one pass of [`sort_bytes`] sorts. A pass then has only 256 write positions, which stay in the L1 cache.
const BYTE_BITS: u32 = 8;
/// Largest number of keys for which insertion sort is used, because it is faster than radix sort for few keys.
const INSERTION_SORT_LIMIT: usize = 128;
/// Largest number of keys that fit into the L2 cache together with their workspace.
const MAX_CACHED_KEYS: usize = 1 << 17;

/// Sorts keys in ascending order and moves each value with its key; equal keys keep their order.
pub(crate) fn sort<K: RadixKey, V: Copy + Default + Send + Sync>(keys: &mut [K], values: &mut [V]) {
    debug_assert_eq!(keys.len(), values.len());
    let mut spare_keys = vec![K::ZERO; keys.len()];
    let mut spare_values = vec![V::default(); values.len()];
    sort_into(KeyedValues { keys, values }, KeyedValues { keys: &mut spare_keys, values: &mut spare_values }, false);
}

/// Keys, and the values that are moved together with the keys.
struct KeyedValues<'a, K, V> {
    keys: &'a mut [K],
    values: &'a mut [V],
}

impl<'a, K, V> KeyedValues<'a, K, V> {
    /// Splits into the first `length` entries and the remaining entries.
    fn split(self, length: usize) -> (Self, Self) {
        let (keys, more_keys) = self.keys.split_at_mut(length);
        let (values, more_values) = self.values.split_at_mut(length);
        (KeyedValues { keys, values }, KeyedValues { keys: more_keys, values: more_values })
    }
}

/// Sorts `data`, using `spare` as workspace. The result is written to `spare` if `in_spare` is true, otherwise to `data`.
fn sort_into<K: RadixKey, V: Copy + Send + Sync>(
    data: KeyedValues<'_, K, V>,
    spare: KeyedValues<'_, K, V>,
    in_spare: bool,
) {
    let length = data.keys.len();
    if length <= INSERTION_SORT_LIMIT {
        insertion_sort(data.keys, data.values);
        if in_spare {
            spare.keys.copy_from_slice(data.keys);
            spare.values.copy_from_slice(data.values);
        }
        return;
    }
    let first = data.keys[0];
    let varying = data.keys.iter().fold(K::ZERO, |bits, key| bits.or(key.differing_bits(first)));
    if length <= MAX_CACHED_KEYS || varying.bit_width() <= PARTITION_BITS {
        sort_bytes(data, spare, varying, in_spare);
        return;
    }
    let shift = varying.bit_width() - PARTITION_BITS;
    let ends = partition(data.keys, data.values, spare.keys, spare.values, shift);
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
    // `partition` has written the keys and values to `spare`, so each bucket is sorted from `spare`, with `data` as workspace.
    map_parallel(buckets, |(bucket, spare)| sort_into(bucket, spare, !in_spare));
}

/// Radix sort, starting with the least significant byte and skipping bytes in which the keys do not differ.
fn sort_bytes<K: RadixKey, V: Copy>(
    data: KeyedValues<'_, K, V>,
    spare: KeyedValues<'_, K, V>,
    varying: K,
    in_spare: bool,
) {
    /// The lowest [`BYTE_BITS`] bits are set: the mask of one digit.
    const MASK: usize = (1 << BYTE_BITS) - 1;
    let (mut from, mut to, mut is_spare) = (data, spare, false);
    for shift in (0..K::BITS).step_by(BYTE_BITS as usize) {
        if varying.digit(shift, MASK) == 0 {
            continue;
        }
        let mut positions = [0usize; MASK + 1];
        for key in from.keys.iter() {
            positions[key.digit(shift, MASK)] += 1;
        }
        let mut next = 0;
        for position in &mut positions {
            let count = *position;
            *position = next;
            next += count;
        }
        for (key, value) in from.keys.iter().zip(from.values.iter()) {
            let position = &mut positions[key.digit(shift, MASK)];
            to.keys[*position] = *key;
            to.values[*position] = *value;
            *position += 1;
        }
        (from, to, is_spare) = (to, from, !is_spare);
    }
    if is_spare != in_spare {
        to.keys.copy_from_slice(from.keys);
        to.values.copy_from_slice(from.values);
    }
}

/// Sorts keys in ascending order by insertion and moves each value with its key; equal keys keep their order.
fn insertion_sort<K: RadixKey, V: Copy>(keys: &mut [K], values: &mut [V]) {
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

/// Partitions the keys by the digit at bit `shift`; keys with the same digit keep their order. Returns, for each digit, the position after
/// its last key.
fn partition<K: RadixKey, V: Copy + Send + Sync>(
    keys: &[K],
    values: &[V],
    to_keys: &mut [K],
    to_values: &mut [V],
    shift: u32,
) -> Vec<usize> {
    /// The lowest [`PARTITION_BITS`] bits are set: the mask of one digit.
    const MASK: usize = (1 << PARTITION_BITS) - 1;
    let length = keys.len().div_ceil(thread_count()).max(1);
    let count = |chunk: &[K]| {
        let mut counts = vec![0usize; MASK + 1];
        for key in chunk {
            counts[key.digit(shift, MASK)] += 1;
        }
        counts
    };
    let mut positions = map_parallel(keys.chunks(length).collect(), count);
    // Converts the counts to positions: for each digit and each chunk, the position at which the chunk writes its first key with that digit.
    let mut next = 0;
    let mut ends = Vec::with_capacity(MASK + 1);
    for digit in 0..=MASK {
        for chunk in &mut positions {
            let count = chunk[digit];
            chunk[digit] = next;
            next += count;
        }
        ends.push(next);
    }
    let target = SharedOutput { keys: to_keys.as_mut_ptr(), values: to_values.as_mut_ptr(), length: to_keys.len() };
    let chunks: Vec<_> = keys.chunks(length).zip(values.chunks(length)).zip(positions).collect();
    map_parallel(chunks, |((keys, values), mut positions)| {
        for (key, value) in keys.iter().zip(values) {
            let position = &mut positions[key.digit(shift, MASK)];
            // SAFETY: the counts of all chunks divide 0..length into disjoint ranges, so every position is written once, by one chunk.
            unsafe { target.write(*position, *key, *value) };
            *position += 1;
        }
    });
    ends
}

/// The output of a partitioning pass, to which several threads write at disjoint positions.
struct SharedOutput<K, V> {
    keys: *mut K,
    values: *mut V,
    length: usize,
}

// SAFETY: the pointers are used only by `write`, and no two threads call it with the same position.
unsafe impl<K: Send, V: Send> Sync for SharedOutput<K, V> {}

impl<K, V> SharedOutput<K, V> {
    /// # Safety
    /// `position` must be below the length of the output, and no other thread may write to it.
    #[inline(always)]
    unsafe fn write(&self, position: usize, key: K, value: V) {
        debug_assert!(position < self.length);
        // SAFETY: the caller guarantees that `position` is below the length of the output and that no other thread writes to it.
        unsafe {
            self.keys.add(position).write(key);
            self.values.add(position).write(value);
        }
    }
}

/// The number of threads that partition keys in parallel.
#[cfg(feature = "rayon")]
fn thread_count() -> usize {
    rayon::current_num_threads()
}

/// The number of threads that partition keys in parallel; 1 without the `rayon` feature.
#[cfg(not(feature = "rayon"))]
fn thread_count() -> usize {
    1
}

/// Applies a function to every item, on all cores with the `rayon` feature; the results are in the order of the items.
pub(crate) fn map_parallel<T: Send, U: Send>(items: Vec<T>, function: impl Fn(T) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        items.into_par_iter().map(function).collect()
    }
    #[cfg(not(feature = "rayon"))]
    {
        items.into_iter().map(function).collect()
    }
}

/// Row indices in descending order of their values; equal values keep the order of the rows.
pub(crate) fn order_descending<R: Real>(values: &[R]) -> crate::Result<Vec<u32>> {
    let mut rows = row_indices(values.len())?;
    let mut keys: Vec<u64> = values.iter().map(|value| descending_bits(value.to_f64())).collect();
    sort(&mut keys, &mut rows);
    Ok(rows)
}

/// The row indices from 0 to `length` − 1; an error if there are too many rows for u32.
pub(crate) fn row_indices(length: usize) -> crate::Result<Vec<u32>> {
    let length = u32::try_from(length).map_err(|_| crate::Error::Setting {
        what: "number of rows",
        reason: format!("must be at most {}, not {length}", u32::MAX),
    })?;
    Ok((0..length).collect())
}

/// The bits of a value as an integer, changed so that the integer increases as the value decreases; −0 counts as 0.
fn descending_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    // The bits of negative numbers already increase as the number decreases. The bits of positive numbers are inverted except for the sign bit,
    // so that they also increase as the number decreases, and stay below the bits of all negative numbers.
    if bits >> 63 == 1 { bits } else { !bits & (u64::MAX >> 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_standard_library_below_and_above_every_size_limit() {
        let mut state = 7u64;
        for length in [
            0,
            1,
            2,
            INSERTION_SORT_LIMIT,
            INSERTION_SORT_LIMIT + 1,
            5000,
            MAX_CACHED_KEYS,
            MAX_CACHED_KEYS + 1,
            400_000,
        ] {
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 16
            };
            let unsorted: Vec<u64> = (0..length).map(|_| random() % 1_000_003 * 977).collect();
            let mut keys = unsorted.clone();
            let mut values: Vec<u32> = (0..length as u32).collect();
            sort(&mut keys, &mut values);
            let mut expected: Vec<(u64, u32)> = unsorted.iter().copied().zip(0..).collect();
            expected.sort();
            assert!(keys.iter().zip(&values).eq(expected.iter().map(|(key, value)| (key, value))), "{length}");
            let mut keys_u32: Vec<u32> = unsorted.iter().map(|key| *key as u32).collect();
            let mut expected = keys_u32.clone();
            expected.sort_unstable();
            sort(&mut keys_u32, &mut vec![(); length]);
            assert!(keys_u32 == expected, "{length}");
        }
    }

    #[test]
    fn one_key_far_from_all_others_is_sorted_correctly() {
        let mut keys: Vec<u64> = (0..300_000u64).map(|k| k.wrapping_mul(2_654_435_761) % 100_003).collect();
        keys[7] = u64::MAX;
        let mut expected = keys.clone();
        expected.sort_unstable();
        sort(&mut keys, &mut [(); 300_000]);
        assert!(keys == expected);
    }

    #[test]
    fn descending_order_handles_negative_values_and_signed_zeros() {
        let values = [0.0, -1.5, 3.0, -0.0, 1e300, -1e-300];
        assert_eq!(order_descending(&values).unwrap(), [4, 2, 0, 3, 5, 1]);
    }
}
