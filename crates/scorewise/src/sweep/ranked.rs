//! Rows in falling order of their predictions, and a table of what lies above every 256th of them.

use super::sort::{Key, each_part, sort};
use crate::error::Result;
use crate::formula::Counts;
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows};

/// Rows that stand in falling order of their predictions.
pub(crate) trait Ranked: Send + Sync {
    /// How many.
    fn len(&self) -> usize;
    /// The prediction at a rank.
    fn value(&self, rank: usize) -> f64;
    /// The weight of positives and of negatives at a rank.
    fn mass(&self, rank: usize) -> (f64, f64);
    /// Whether the prediction at a rank differs from the next one's: here a threshold can pass.
    fn ends_group(&self, rank: usize) -> bool;
    /// The lowest threshold that is not below the prediction at a rank.
    fn ceiling(&self, rank: usize) -> f64 {
        self.value(rank)
    }
}

/// A sorted run: probability and label in one key, the weight beside it where there is one.
///
/// A probability lies in [0, 1], so its sign bit is 0 and its exponent's top bit too: with the label as the last bit an f32
/// fits a u32, an f64 a u64. The complement is stored, so that rising keys are falling probabilities.
#[derive(Clone, Debug)]
pub(crate) struct Run<R: Packs, W> {
    keys: Vec<R::Packed>,
    weights: Vec<W>,
}

/// A row's probability as a sortable key.
pub(crate) trait Packs: Real {
    type Packed: Key;
    fn pack(probability: Self, label: bool) -> Self::Packed;
    fn unpack(key: Self::Packed) -> (f64, bool);
}

macro_rules! packs {
    ($real:ty, $key:ty) => {
        impl Packs for $real {
            type Packed = $key;
            #[inline(always)]
            fn pack(probability: Self, label: bool) -> $key {
                // + 0 turns −0 into 0, the same threshold.
                !((probability + 0.0).to_bits() << 1 | <$key>::from(label))
            }
            #[inline(always)]
            fn unpack(key: $key) -> (f64, bool) {
                (<$real>::from_bits(!key >> 1).wide(), !key & 1 == 1)
            }
        }
    };
}
packs!(f32, u32);
packs!(f64, u64);

/// A weight beside a key, or none: then every row weighs 1.
pub(crate) trait Weight: Copy + Default + Send + Sync + 'static {
    fn weight(self) -> f64;
}

impl Weight for () {
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

/// Rows that one core packs at a time.
const PACKED: usize = 1 << 16;

impl<R: Packs, W: Weight> Run<R, W> {
    /// Packs and sorts the rows; `weights` has one a row.
    pub fn new(rows: &Rows<'_, Probabilities<'_, R>>, mut weights: Vec<W>) -> Result<Self> {
        rows.check()?;
        let values = rows.predictions.values();
        let mut keys = vec![R::Packed::ZERO; values.len()];
        let parts = keys.chunks_mut(PACKED).zip(values.chunks(PACKED)).zip(rows.labels.chunks(PACKED));
        each_part(parts.collect(), |((keys, values), labels)| {
            for ((key, value), label) in keys.iter_mut().zip(values).zip(labels) {
                *key = R::pack(*value, *label);
            }
        });
        sort(&mut keys, &mut weights);
        Ok(Run { keys, weights })
    }

    /// Two runs as one, in one pass.
    pub fn merged(&self, other: &Self) -> Self {
        let total = self.keys.len() + other.keys.len();
        let mut result = Run { keys: Vec::with_capacity(total), weights: Vec::with_capacity(total) };
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

impl<R: Packs, W: Weight> Ranked for Run<R, W> {
    fn len(&self) -> usize {
        self.keys.len()
    }
    #[inline(always)]
    fn value(&self, rank: usize) -> f64 {
        R::unpack(self.keys[rank]).0
    }
    #[inline(always)]
    fn mass(&self, rank: usize) -> (f64, f64) {
        by_label(R::unpack(self.keys[rank]).1, self.weights[rank].weight())
    }
    #[inline(always)]
    fn ends_group(&self, rank: usize) -> bool {
        rank + 1 == self.keys.len() || R::unpack(self.keys[rank]).0 != R::unpack(self.keys[rank + 1]).0
    }
}

/// A row's weight on the side of its label: positives, negatives.
#[inline(always)]
pub(crate) fn by_label(label: bool, weight: f64) -> (f64, f64) {
    if label { (weight, 0.0) } else { (0.0, weight) }
}

/// Ranks in one block of the table.
pub(crate) const BLOCK: usize = 256;

/// Ranked rows with the hits and false alarms above every block.
///
/// A sum inside a block starts at 0 and is added to the block's own start: so it never passes the start of the next block,
/// not even by rounding, and it does not depend on who computed which block.
#[derive(Debug)]
pub(crate) struct Table<T> {
    pub rows: T,
    /// Hits and false alarms above each block, and above the end.
    starts: Vec<(f64, f64)>,
    pub counts: Counts,
}

impl<T: Ranked> Table<T> {
    pub fn new(rows: T) -> Self {
        let blocks: Vec<usize> = (0..rows.len().div_ceil(BLOCK)).collect();
        // Many blocks a part, so that handing out parts costs nothing.
        let sums = each_part(blocks.chunks(256).collect(), |blocks: &[usize]| {
            let ranks = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(rows.len());
            blocks.iter().map(|block| sum(&rows, ranks(*block))).collect::<Vec<_>>()
        });
        let mut starts = Vec::with_capacity(blocks.len() + 1);
        let (mut tp, mut fp) = (0.0, 0.0);
        starts.push((tp, fp));
        for (hits, alarms) in sums.into_iter().flatten() {
            tp += hits;
            fp += alarms;
            starts.push((tp, fp));
        }
        Table { rows, starts, counts: Counts { positives: tp, negatives: fp } }
    }

    pub fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Hits and false alarms above a block.
    pub fn start(&self, block: usize) -> (f64, f64) {
        self.starts[block]
    }

    /// Hits and false alarms after each rank of a block: with `rank` and all before it above the threshold.
    pub fn cumulative(&self, block: usize, tp: &mut Vec<f64>, fp: &mut Vec<f64>) {
        tp.clear();
        fp.clear();
        let (start_tp, start_fp) = self.starts[block];
        let (mut hits, mut alarms) = (0.0, 0.0);
        for rank in block * BLOCK..((block + 1) * BLOCK).min(self.rows.len()) {
            let mass = self.rows.mass(rank);
            hits += mass.0;
            alarms += mass.1;
            tp.push(start_tp + hits);
            fp.push(start_fp + alarms);
        }
    }

    /// Hits and false alarms with the first `above` ranks above the threshold.
    pub fn above(&self, above: usize) -> (f64, f64) {
        let block = above / BLOCK;
        let (hits, alarms) = sum(&self.rows, block * BLOCK..above);
        let start = self.starts[block];
        (start.0 + hits, start.1 + alarms)
    }

    /// The thresholds with exactly the first `above` ranks above them: from the first end up to but not including the
    /// second (with none above, 1 included). Nothing where no threshold in [0, 1] does that.
    pub fn thresholds(&self, above: usize) -> Option<(f64, f64)> {
        let length = self.rows.len();
        let low = if above == length { 0.0 } else { self.rows.ceiling(above) };
        if above == 0 {
            return Some((low, 1.0));
        }
        let high = self.rows.value(above - 1);
        (low < high).then_some((low, high))
    }
}

/// The weight of positives and negatives at these ranks, summed in their order.
fn sum<T: Ranked>(rows: &T, ranks: std::ops::Range<usize>) -> (f64, f64) {
    ranks.map(|rank| rows.mass(rank)).fold((0.0, 0.0), |total, mass| (total.0 + mass.0, total.1 + mass.1))
}
