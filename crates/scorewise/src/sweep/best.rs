//! The best threshold, exactly, without looking at every threshold: branch and bound over the sorted rows.
//!
//! Between two ranks hits and false alarms lie in a box; interval arithmetic on the score's own formula bounds the score
//! over that box, for any formula. The stretch with the highest bound is split first; stretches that cannot reach the
//! best score found are never opened. What is left, a few blocks around the optimum, is looked at rank by rank. The result
//! is the same as looking everywhere: bounds hold for the computed values, rounding included.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Condition;
use super::ranked::{BLOCK, Ranked, Table};
use crate::confusion::Confusion;
use crate::formula::{Checked, Interval};
use crate::score::Score;

/// The best threshold of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The score at its best.
    pub value: f64,
    /// The middle of the interval: the threshold to use.
    pub threshold: f64,
    /// All thresholds from the first end up to but not including the second (1 included) give this value; where several
    /// intervals do, this is the widest.
    pub interval: (f64, f64),
    /// How many separate intervals give this value.
    pub intervals: usize,
    /// The confusion matrix at the threshold.
    pub confusion: Confusion,
}

/// Ranks looked at together inside a block, under one bound.
const HANDFUL: usize = 16;

/// A stretch of blocks that may hold the optimum.
struct Stretch {
    bound: f64,
    first: usize,
    end: usize,
}

impl PartialEq for Stretch {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Stretch {}
impl PartialOrd for Stretch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Stretch {
    fn cmp(&self, other: &Self) -> Ordering {
        // The earlier one first where bounds are equal, so that the order of work is fixed.
        self.bound.total_cmp(&other.bound).then(other.first.cmp(&self.first))
    }
}

/// The best threshold among those that satisfy the conditions; nothing where none does, or the score is undefined at all.
pub(crate) fn best<T: Ranked>(table: &Table<T>, score: &Score, conditions: &[Condition]) -> Option<Best> {
    let mut search = Search::new(table, score, conditions);
    search.point(0);
    search.open(0, table.blocks());
    while let Some(stretch) = search.stretches.pop() {
        if stretch.bound < search.best {
            break; // and so are all others
        }
        if stretch.end - stretch.first == 1 {
            search.block(stretch.first);
        } else {
            let middle = stretch.first + (stretch.end - stretch.first) / 2;
            search.open(stretch.first, middle);
            search.open(middle, stretch.end);
        }
    }
    search.result()
}

struct Search<'a, T> {
    table: &'a Table<T>,
    score: &'a Score,
    conditions: &'a [Condition],
    /// The merit of the best point so far.
    best: f64,
    /// Numbers of rows above the threshold that attain it, as ranges: first and last.
    attained: Vec<(usize, usize)>,
    stretches: BinaryHeap<Stretch>,
    tp: Vec<f64>,
    fp: Vec<f64>,
    checked: Vec<Checked>,
    bounds: Vec<Interval>,
}

impl<'a, T: Ranked> Search<'a, T> {
    fn new(table: &'a Table<T>, score: &'a Score, conditions: &'a [Condition]) -> Self {
        Search {
            table,
            score,
            conditions,
            best: f64::NEG_INFINITY,
            attained: Vec::new(),
            stretches: BinaryHeap::new(),
            tp: Vec::with_capacity(BLOCK),
            fp: Vec::with_capacity(BLOCK),
            checked: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// The highest merit that a box of hits and false alarms allows, if it may satisfy the conditions; and whether it is
    /// the merit of all its points.
    fn bound(&mut self, tp: Interval, fp: Interval) -> Option<(f64, bool)> {
        let counts = &self.table.counts;
        for condition in self.conditions {
            if !condition.may_hold(tp, fp, counts, &mut self.bounds) {
                return None;
            }
        }
        let value = self.score.formula().bound(tp, fp, counts, &mut self.bounds);
        let same = value.is_point()
            && value.defined
            && value.low.is_finite()
            && self.conditions.iter().all(|condition| condition.must_hold(tp, fp, counts, &mut self.bounds));
        Some((self.score.merit_bound(value), same))
    }

    /// Puts a stretch of blocks on the pile, unless it cannot win or all of it is equal.
    fn open(&mut self, first: usize, end: usize) {
        if first == end {
            return;
        }
        let (low, high) = (self.table.start(first), self.table.start(end));
        match self.bound(Interval::new(low.0, high.0), Interval::new(low.1, high.1)) {
            Some((merit, true)) => {
                // Inside a group of equal predictions no threshold passes: the stretch counts from the first that does.
                let last = (end * BLOCK).min(self.table.rows.len());
                let passes = |above: &usize| self.table.thresholds(*above).is_some();
                if let Some(first) = (first * BLOCK + 1..=last).find(passes) {
                    self.attain(merit, first, last);
                }
            }
            Some((merit, false)) if merit >= self.best => {
                self.stretches.push(Stretch { bound: merit, first, end });
            }
            _ => {}
        }
    }

    /// Looks into one block, a handful of ranks at a time.
    fn block(&mut self, block: usize) {
        let (mut tp, mut fp) = (std::mem::take(&mut self.tp), std::mem::take(&mut self.fp));
        self.table.cumulative(block, &mut tp, &mut fp);
        let mut before = self.table.start(block);
        for start in (0..tp.len()).step_by(HANDFUL) {
            let end = (start + HANDFUL).min(tp.len());
            let after = (tp[end - 1], fp[end - 1]);
            let bound = self.bound(Interval::new(before.0, after.0), Interval::new(before.1, after.1));
            if bound.is_some_and(|(merit, _)| merit >= self.best) {
                for at in start..end {
                    let rank = block * BLOCK + at;
                    if self.table.rows.ends_group(rank) {
                        self.look(rank + 1, tp[at], fp[at]);
                    }
                }
            }
            before = after;
        }
        (self.tp, self.fp) = (tp, fp);
    }

    fn point(&mut self, above: usize) {
        let (tp, fp) = self.table.above(above);
        self.look(above, tp, fp);
    }

    /// One threshold: with `above` rows above it.
    fn look(&mut self, above: usize, tp: f64, fp: f64) {
        let counts = &self.table.counts;
        let value = self.score.formula().checked_at(tp, fp, counts, &mut self.checked);
        if !value.defined || !value.value.is_finite() {
            return;
        }
        let merit = self.score.merit(value.value);
        if merit < self.best || self.table.thresholds(above).is_none() {
            return;
        }
        if self.conditions.iter().all(|condition| condition.holds_at(tp, fp, counts, &mut self.checked)) {
            self.attain(merit, above, above);
        }
    }

    fn attain(&mut self, merit: f64, first: usize, last: usize) {
        if merit > self.best {
            self.best = merit;
            self.attained.clear();
        }
        if merit == self.best {
            self.attained.push((first, last));
        }
    }

    /// The attaining points as intervals of thresholds, the widest one chosen.
    fn result(mut self) -> Option<Best> {
        self.attained.sort_unstable();
        let mut merged: Vec<(f64, f64)> = Vec::new();
        for &(first, last) in &self.attained {
            // A range may end inside a group of equal predictions, where no threshold passes, and with all rows above, a
            // smallest prediction of 0 leaves no threshold either.
            let ends = |above: usize| self.table.thresholds(above);
            let (Some((_, high)), Some((low, _))) =
                ((first..=last).find_map(ends), (first..=last).rev().find_map(ends))
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
        let (tp, fp) = self.table.above(rank_above(&self.table.rows, threshold));
        let confusion = Confusion::at(tp, fp, &self.table.counts);
        let value = self.score.value(&confusion);
        Some(Best { value, threshold, interval, intervals: merged.len(), confusion })
    }
}

/// The middle of [low, high), which belongs to it also where the two are neighbours.
pub(super) fn middle((low, high): (f64, f64)) -> f64 {
    let middle = 0.5 * (low + high);
    if middle < high { middle } else { low }
}

/// How many rows are above a threshold: the first rank that is not.
pub(crate) fn rank_above<T: Ranked>(rows: &T, threshold: f64) -> usize {
    let (mut low, mut high) = (0, rows.len());
    while low < high {
        let rank = low + (high - low) / 2;
        if crate::is_positive(rows.value(rank), threshold) {
            low = rank + 1;
        } else {
            high = rank;
        }
    }
    low
}
