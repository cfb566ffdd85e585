//! Finds the best threshold exactly by branch and bound over the sorted rows, without evaluating every threshold.
//!
//! For all thresholds between two ranks of the sorted rows, the numbers of hits and false alarms lie in a rectangle (a box), and interval arithmetic
//! on the formula of the score bounds the score over that box. The range of ranks with the highest bound is split first; ranges whose bound is below
//! the best score found are never examined. Ranges that cannot be excluded are split down to blocks, which are evaluated rank by rank. The result is
//! the same as that of evaluating every threshold, since the bounds hold for the computed values, rounding included.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Condition;
use super::ranked::{RANKS_PER_BLOCK, RankedRows, RankedTable};
use crate::confusion::Confusion;
use crate::formula::{Checked, Interval};
use crate::score::Score;

/// The best threshold of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The best value of the score.
    pub value: f64,
    /// The threshold to use, which is the middle of `interval`.
    pub threshold: f64,
    /// An interval of thresholds that all give the best value, from the first end up to but not including the second. (If the second end is 1 and
    /// no prediction is 1, the interval includes 1.) If several separate intervals give the best value, this is the widest.
    pub interval: (f64, f64),
    /// The number of separate intervals of thresholds that give the best value.
    pub intervals: usize,
    /// The confusion matrix at `threshold`.
    pub confusion: Confusion,
}

/// Number of rows of a sub-block. The sorted rows of a block are divided into sub-blocks, and a bound of the score is computed for each sub-block.
const ROWS_PER_SUBBLOCK: usize = 16;

/// A range of consecutive blocks of sorted rows in which the best threshold may lie.
struct BlockRange {
    bound: f64,
    first: usize,
    end: usize,
}

impl PartialEq for BlockRange {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for BlockRange {}
impl PartialOrd for BlockRange {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for BlockRange {
    fn cmp(&self, other: &Self) -> Ordering {
        // If two ranges have equal bounds, the one with the higher predictions comes first, so that the order of evaluation is always the same.
        self.bound.total_cmp(&other.bound).then(other.first.cmp(&self.first))
    }
}

/// The best threshold of a score among the thresholds that satisfy the conditions; `None` if no threshold satisfies them, or if the score is
/// undefined at every threshold that does.
pub(crate) fn best_threshold<T: RankedRows>(
    table: &RankedTable<T>,
    score: &Score,
    conditions: &[Condition],
) -> Option<Best> {
    let mut search = BestThresholdSearch::new(table, score, conditions);
    search.evaluate_threshold_with_rows_above(0);
    search.push_blocks(0, table.block_count());
    while let Some(range) = search.queue.pop() {
        if range.bound < search.best {
            break; // all remaining ranges have equal or lower bounds
        }
        if range.end - range.first == 1 {
            search.evaluate_block(range.first);
        } else {
            let middle = range.first + (range.end - range.first) / 2;
            search.push_blocks(range.first, middle);
            search.push_blocks(middle, range.end);
        }
    }
    search.into_best()
}

/// The state of the search for the best threshold.
struct BestThresholdSearch<'a, T> {
    table: &'a RankedTable<T>,
    score: &'a Score,
    conditions: &'a [Condition],
    /// The highest [`Score::oriented_value`] found so far (higher is always better).
    best: f64,
    /// The thresholds that attain the value `best`. A threshold is represented by the number of rows whose predictions lie above it, and each entry
    /// is a range of such numbers: its first and its last number, both included.
    attained: Vec<(usize, usize)>,
    queue: BinaryHeap<BlockRange>,
    /// For each rank in the block that is being evaluated, the true positives up to and including this rank. A rank is a row in descending order of
    /// predictions, or a group of such rows.
    tp: Vec<f64>,
    /// For each rank in the block that is being evaluated, the false positives up to and including this rank. A rank is a row in descending order of
    /// predictions, or a group of such rows.
    fp: Vec<f64>,
    /// Scratch buffer for evaluating formulas at one threshold.
    checked: Vec<Checked>,
    /// Scratch buffer for computing bounds of a formula over all confusion matrices whose hits (true positives) lie in one interval and whose false
    /// alarms (false positives) lie in another.
    bounds: Vec<Interval>,
}

impl<'a, T: RankedRows> BestThresholdSearch<'a, T> {
    fn new(table: &'a RankedTable<T>, score: &'a Score, conditions: &'a [Condition]) -> Self {
        BestThresholdSearch {
            table,
            score,
            conditions,
            best: f64::NEG_INFINITY,
            attained: Vec::new(),
            queue: BinaryHeap::new(),
            tp: Vec::with_capacity(RANKS_PER_BLOCK),
            fp: Vec::with_capacity(RANKS_PER_BLOCK),
            checked: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// An upper bound of [`Score::oriented_value`] over a box: all confusion matrices whose hits lie in the interval `tp` and whose false alarms lie
    /// in the interval `fp`. The second result is whether all points of the box have exactly this value and satisfy the conditions. `None` if no
    /// point of the box can satisfy the conditions.
    fn bound_in_box(&mut self, tp: Interval, fp: Interval) -> Option<(f64, bool)> {
        let counts = &self.table.counts;
        for condition in self.conditions {
            if !condition.may_hold(tp, fp, counts, &mut self.bounds) {
                return None;
            }
        }
        let value = self.score.formula().bounds_in_box(tp, fp, counts, &mut self.bounds);
        let is_constant = value.is_point()
            && value.defined
            && value.low.is_finite()
            && self
                .conditions
                .iter()
                .all(|condition| !condition.is_restricted() && condition.must_hold(tp, fp, counts, &mut self.bounds));
        Some((self.score.oriented_bound(value), is_constant))
    }

    /// Adds a range of blocks of sorted rows to the queue if the best threshold may lie in it. If the score is the same at all
    /// thresholds of the range, the range is not queued but recorded at once.
    fn push_blocks(&mut self, first: usize, end: usize) {
        if first == end {
            return;
        }
        let (low, high) =
            (self.table.hits_and_alarms_before_block(first), self.table.hits_and_alarms_before_block(end));
        match self.bound_in_box(Interval::new(low.0, high.0), Interval::new(low.1, high.1)) {
            Some((bound, true)) => {
                // No threshold separates rows with equal predictions. So the recorded range begins at the first rank that is followed by a lower
                // prediction.
                let last = (end * RANKS_PER_BLOCK).min(self.table.rows.len());
                let is_separable = |above: &usize| self.table.threshold_interval(*above).is_some();
                if let Some(first) = (first * RANKS_PER_BLOCK + 1..=last).find(is_separable) {
                    self.record_if_best(bound, first, last);
                }
            }
            Some((bound, false)) if bound >= self.best => {
                self.queue.push(BlockRange { bound, first, end });
            }
            _ => {}
        }
    }

    /// Evaluates the score at the thresholds of one block of sorted rows. A group of `ROWS_PER_SUBBLOCK` rows is skipped if the bound of the score
    /// in it is below the best value found so far.
    fn evaluate_block(&mut self, block: usize) {
        let (mut tp, mut fp) = (std::mem::take(&mut self.tp), std::mem::take(&mut self.fp));
        self.table.cumulative_hits_and_alarms(block, &mut tp, &mut fp);
        let mut before = self.table.hits_and_alarms_before_block(block);
        for start in (0..tp.len()).step_by(ROWS_PER_SUBBLOCK) {
            let end = (start + ROWS_PER_SUBBLOCK).min(tp.len());
            let after = (tp[end - 1], fp[end - 1]);
            let bound = self.bound_in_box(Interval::new(before.0, after.0), Interval::new(before.1, after.1));
            if bound.is_some_and(|(bound, _)| bound >= self.best) {
                for at in start..end {
                    let rank = block * RANKS_PER_BLOCK + at;
                    if self.table.rows.ends_group_of_equal_predictions(rank) {
                        self.evaluate_threshold(rank + 1, tp[at], fp[at]);
                    }
                }
            }
            before = after;
        }
        (self.tp, self.fp) = (tp, fp);
    }

    /// Evaluates the score at the threshold at which exactly the rows with the `above` highest predictions are predicted positive.
    fn evaluate_threshold_with_rows_above(&mut self, above: usize) {
        let (tp, fp) = self.table.hits_and_alarms(above);
        self.evaluate_threshold(above, tp, fp);
    }

    /// Evaluates the score at the threshold at which exactly the first `above` sorted rows are predicted positive. At this threshold there are
    /// `tp` hits and `fp` false alarms.
    fn evaluate_threshold(&mut self, above: usize, tp: f64, fp: f64) {
        let counts = &self.table.counts;
        let value = self.score.formula().checked_at(tp, fp, counts, &mut self.checked);
        if !value.defined || !value.value.is_finite() {
            return;
        }
        let oriented_value = self.score.oriented_value(value.value);
        let Some(interval) = self.table.threshold_interval(above) else { return };
        if oriented_value < self.best {
            return;
        }
        let is_met = |condition: &Condition| {
            condition.allows(middle(interval)) && condition.holds_at(tp, fp, counts, &mut self.checked)
        };
        if self.conditions.iter().all(is_met) {
            self.record_if_best(oriented_value, above, above);
        }
    }

    /// Records the thresholds at which `first` to `last` rows are predicted positive, if the score there is at least as good as the best value
    /// found so far.
    fn record_if_best(&mut self, oriented_value: f64, first: usize, last: usize) {
        if oriented_value > self.best {
            self.best = oriented_value;
            self.attained.clear();
        }
        if oriented_value == self.best {
            self.attained.push((first, last));
        }
    }

    /// The result of the search, with the widest interval of thresholds that attain the best value.
    fn into_best(mut self) -> Option<Best> {
        self.attained.sort_unstable();
        let mut merged: Vec<(f64, f64)> = Vec::new();
        for &(first, last) in &self.attained {
            // At some ranks there is no threshold: inside a group of equal predictions, and after a prediction of 0. A recorded range may end at
            // such a rank, so the first and the last rank of the range with a threshold are used.
            let thresholds = |above: usize| self.table.threshold_interval(above);
            let (Some((_, high)), Some((low, _))) =
                ((first..=last).find_map(thresholds), (first..=last).rev().find_map(thresholds))
            else {
                continue;
            };
            match merged.last_mut() {
                Some(previous) if previous.0 == high => previous.0 = low,
                _ => merged.push((low, high)),
            }
        }
        let widest = |a: &&(f64, f64), b: &&(f64, f64)| (a.1 - a.0).total_cmp(&(b.1 - b.0)).then(a.0.total_cmp(&b.0));
        let &interval = merged.iter().max_by(widest)?;
        let threshold = middle(interval);
        let (tp, fp) = self.table.hits_and_alarms(count_above(&self.table.rows, threshold));
        let confusion = Confusion::at(tp, fp, &self.table.counts);
        let value = self.score.value(&confusion);
        Some(Best { value, threshold, interval, intervals: merged.len(), confusion })
    }
}

/// The middle of [low, high); it lies in this interval even if `low` and `high` are adjacent floating-point numbers.
pub(crate) fn middle((low, high): (f64, f64)) -> f64 {
    let middle = 0.5 * (low + high);
    if middle < high { middle } else { low }
}

/// The number of rows whose predictions are above a threshold.
pub(crate) fn count_above<T: RankedRows>(rows: &T, threshold: f64) -> usize {
    let (mut low, mut high) = (0, rows.len());
    while low < high {
        let rank = low + (high - low) / 2;
        if crate::is_positive(rows.prediction(rank), threshold) {
            low = rank + 1;
        } else {
            high = rank;
        }
    }
    low
}
