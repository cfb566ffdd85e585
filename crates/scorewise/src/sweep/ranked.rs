//! Rows in descending order of their predictions, with cumulative weights stored for every 256th row.

use super::sort::{RadixKey, map_parallel, sort};
use crate::error::Result;
use crate::formula::ClassCounts;
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows};

/// Rows in descending order of their predictions; a rank is the position of a row in this order. Bins of a histogram, and runs (groups of consecutive
/// rows), implement this trait too; there, a rank is the position of a bin or run.
pub(crate) trait RankedRows: Send + Sync {
    /// The number of ranks. Each rank is a row in descending order of predictions, or a group of such rows: a bin of a histogram or a run of
    /// consecutive rows.
    fn len(&self) -> usize;
    /// The prediction at a rank.
    fn prediction(&self, rank: usize) -> f64;
    /// The weight of the positives and the weight of the negatives at a rank.
    fn class_weights(&self, rank: usize) -> (f64, f64);
    /// Whether the prediction at a rank differs from that at the next rank, so that a threshold can lie between the two.
    fn ends_group_of_equal_predictions(&self, rank: usize) -> bool;
    /// The lowest threshold at which no row of this rank is predicted positive. (A rank can be a bin of a histogram or a run of consecutive rows,
    /// which contains several rows.)
    fn lowest_threshold_above(&self, rank: usize) -> f64 {
        self.prediction(rank)
    }
}

/// Sorted rows: for each row a key that contains its probability and label, and a weight if the rows have weights.
///
/// The sign bit of a probability is 0 and need not be stored. With the label as the last bit instead, an f32 fits into a u32, and an f64 into a u64.
/// The key is the bitwise complement of these bits, so that ascending keys are descending probabilities.
#[derive(Clone, Debug)]
pub(crate) struct SortedRows<R: SortKey, W> {
    keys: Vec<R::Key>,
    weights: Vec<W>,
}

/// A probability that can be stored with its label as a sortable key.
pub(crate) trait SortKey: Real {
    /// The unsigned integer that contains the probability and the label.
    type Key: RadixKey;
    /// The key of a row with this probability and label.
    fn pack(probability: Self, label: bool) -> Self::Key;
    /// The probability and the label that a key contains.
    fn unpack(key: Self::Key) -> (f64, bool);
}

macro_rules! sort_key {
    ($real:ty, $key:ty) => {
        impl SortKey for $real {
            type Key = $key;
            /// The key of a row with this probability and label.
            #[inline(always)]
            fn pack(probability: Self, label: bool) -> $key {
                // Adding 0 turns −0 into 0: both are the same prediction and must have the same key.
                !((probability + 0.0).to_bits() << 1 | <$key>::from(label))
            }
            /// The probability and the label that a key contains.
            #[inline(always)]
            fn unpack(key: $key) -> (f64, bool) {
                (<$real>::from_bits(!key >> 1).to_f64(), !key & 1 == 1)
            }
        }
    };
}
sort_key!(f32, u32);
sort_key!(f64, u64);

/// The weight stored with the key of a row; `()` if every row has weight 1.
pub(crate) trait Weight: Copy + Default + Send + Sync + 'static {
    /// The weight of the row as an f64.
    fn weight(self) -> f64;
}

impl Weight for () {
    /// The weight 1 of a row that has no stored weight.
    #[inline(always)]
    fn weight(self) -> f64 {
        1.0
    }
}

impl Weight for f32 {
    #[inline(always)]
    fn weight(self) -> f64 {
        f64::from(self)
    }
}

impl Weight for f64 {
    #[inline(always)]
    fn weight(self) -> f64 {
        self
    }
}

/// Number of rows that one parallel task converts to keys.
const ROWS_PER_TASK: usize = 1 << 16;

impl<R: SortKey, W: Weight> SortedRows<R, W> {
    /// Converts the rows to keys and sorts them; there must be one weight per row.
    pub fn new(rows: &Rows<'_, Probabilities<'_, R>>, mut weights: Vec<W>) -> Result<Self> {
        rows.check()?;
        let values = rows.predictions.values();
        let mut keys = vec![<R::Key as RadixKey>::ZERO; values.len()];
        let tasks =
            keys.chunks_mut(ROWS_PER_TASK).zip(values.chunks(ROWS_PER_TASK)).zip(rows.labels.chunks(ROWS_PER_TASK));
        map_parallel(tasks.collect(), |((keys, values), labels)| {
            for ((key, value), label) in keys.iter_mut().zip(values).zip(labels) {
                *key = R::pack(*value, *label);
            }
        });
        sort(&mut keys, &mut weights);
        Ok(SortedRows { keys, weights })
    }

    /// Merges two sorted sets of rows.
    pub fn merged(&self, other: &Self) -> Self {
        let total = self.keys.len() + other.keys.len();
        let mut result = SortedRows { keys: Vec::with_capacity(total), weights: Vec::with_capacity(total) };
        let (mut a, mut b) = (0, 0);
        while a < self.keys.len() || b < other.keys.len() {
            let from_first = b == other.keys.len() || (a < self.keys.len() && self.keys[a] <= other.keys[b]);
            let (run, at) = if from_first { (self, &mut a) } else { (other, &mut b) };
            result.keys.push(run.keys[*at]);
            result.weights.push(run.weights[*at]);
            *at += 1;
        }
        result
    }
}

impl<R: SortKey, W: Weight> RankedRows for SortedRows<R, W> {
    fn len(&self) -> usize {
        self.keys.len()
    }
    /// The prediction of the row at a rank.
    #[inline(always)]
    fn prediction(&self, rank: usize) -> f64 {
        R::unpack(self.keys[rank]).0
    }
    /// The weight of the row at a rank: (weight, 0) for a positive row, (0, weight) for a negative row.
    #[inline(always)]
    fn class_weights(&self, rank: usize) -> (f64, f64) {
        split_by_label(R::unpack(self.keys[rank]).1, self.weights[rank].weight())
    }
    /// Whether the row at a rank is the last row or has another prediction than the next row.
    #[inline(always)]
    fn ends_group_of_equal_predictions(&self, rank: usize) -> bool {
        rank + 1 == self.keys.len() || R::unpack(self.keys[rank]).0 != R::unpack(self.keys[rank + 1]).0
    }
}

/// The weight of a row as a pair: (weight, 0) for a positive row, (0, weight) for a negative row.
#[inline(always)]
pub(crate) fn split_by_label(label: bool, weight: f64) -> (f64, f64) {
    if label { (weight, 0.0) } else { (0.0, weight) }
}

/// Number of ranks in one block of a [`RankedTable`].
pub(crate) const RANKS_PER_BLOCK: usize = 256;

/// Rows in descending order of their predictions, with the cumulative hits and false alarms at the start of every block of 256 rows.
///
/// Within a block, weights are summed from 0, and the sum is added to the value at the start of the block. So rounding cannot make a
/// cumulative value exceed the one at the start of the next block, and the values do not depend on which thread computes which block.
#[derive(Debug)]
pub(crate) struct RankedTable<T> {
    pub rows: T,
    /// Cumulative hits and false alarms before each block; the last entry is the total.
    starts: Vec<(f64, f64)>,
    pub counts: ClassCounts,
}

impl<T: RankedRows> RankedTable<T> {
    /// Computes the cumulative hits and false alarms of rows that are already in descending order of their predictions.
    pub fn new(rows: T) -> Self {
        let blocks: Vec<usize> = (0..rows.len().div_ceil(RANKS_PER_BLOCK)).collect();
        // Each parallel task processes many blocks, so that the overhead of a task is negligible.
        let sums = map_parallel(blocks.chunks(256).collect(), |blocks: &[usize]| {
            let ranks = |block: usize| block * RANKS_PER_BLOCK..((block + 1) * RANKS_PER_BLOCK).min(rows.len());
            blocks.iter().map(|block| sum_class_weights(&rows, ranks(*block))).collect::<Vec<_>>()
        });
        let mut starts = Vec::with_capacity(blocks.len() + 1);
        let (mut tp, mut fp) = (0.0, 0.0);
        starts.push((tp, fp));
        for (hits, alarms) in sums.into_iter().flatten() {
            tp += hits;
            fp += alarms;
            starts.push((tp, fp));
        }
        RankedTable { rows, starts, counts: ClassCounts { positives: tp, negatives: fp } }
    }

    /// The number of blocks of consecutive ranks.
    pub fn block_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Cumulative hits and false alarms of all ranks before a block.
    pub fn hits_and_alarms_before_block(&self, block: usize) -> (f64, f64) {
        self.starts[block]
    }

    /// Writes the cumulative hits and false alarms up to and including each rank of a block to `tp` and `fp`.
    pub fn cumulative_hits_and_alarms(&self, block: usize, tp: &mut Vec<f64>, fp: &mut Vec<f64>) {
        tp.clear();
        fp.clear();
        let (start_tp, start_fp) = self.starts[block];
        let (mut hits, mut alarms) = (0.0, 0.0);
        for rank in block * RANKS_PER_BLOCK..((block + 1) * RANKS_PER_BLOCK).min(self.rows.len()) {
            let mass = self.rows.class_weights(rank);
            hits += mass.0;
            alarms += mass.1;
            tp.push(start_tp + hits);
            fp.push(start_fp + alarms);
        }
    }

    /// Hits and false alarms at a threshold at which exactly the first `above` ranks are predicted positive.
    pub fn hits_and_alarms(&self, above: usize) -> (f64, f64) {
        let block = above / RANKS_PER_BLOCK;
        let (hits, alarms) = sum_class_weights(&self.rows, block * RANKS_PER_BLOCK..above);
        let start = self.starts[block];
        (start.0 + hits, start.1 + alarms)
    }

    /// The interval of thresholds at which exactly the first `above` ranks are predicted positive; `None` if there is no such threshold in [0, 1].
    /// The interval contains its lower end but not its upper end; only the interval with `above = 0` also contains its upper end, 1.
    pub fn threshold_interval(&self, above: usize) -> Option<(f64, f64)> {
        let length = self.rows.len();
        let low = if above == length { 0.0 } else { self.rows.lowest_threshold_above(above) };
        if above == 0 {
            return Some((low, 1.0));
        }
        let high = self.rows.prediction(above - 1);
        (low < high).then_some((low, high))
    }
}

/// The total weights of the positives and of the negatives at these ranks, summed in order of rank.
fn sum_class_weights<T: RankedRows>(rows: &T, ranks: std::ops::Range<usize>) -> (f64, f64) {
    ranks.map(|rank| rows.class_weights(rank)).fold((0.0, 0.0), |total, mass| (total.0 + mass.0, total.1 + mass.1))
}
