//! The confusion matrix: four numbers, always in the order tn, fp, fn, tp.
//!
//! The four numbers are counts of rows, sums of row weights, or expectations over a random threshold. The matrices of several batches
//! add up to the matrix of all their rows, so a score-oriented loss can be computed exactly over batches, threads and machines.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::formula::ClassCounts;

/// Whether a prediction counts as positive: the probability must be strictly greater than the threshold. No other code in this crate defines it.
#[inline]
#[must_use]
pub fn is_positive(probability: f64, threshold: f64) -> bool {
    probability > threshold
}

/// A confusion matrix of counts of rows, sums of row weights, or expected values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Confusion {
    /// True negatives.
    pub tn: f64,
    /// False positives: false alarms.
    pub fp: f64,
    /// False negatives: misses.
    pub fn_: f64,
    /// True positives: hits.
    pub tp: f64,
}

impl Confusion {
    /// A matrix from its four cells in the order tn, fp, fn, tp.
    #[must_use]
    pub const fn new(tn: f64, fp: f64, fn_: f64, tp: f64) -> Self {
        Confusion { tn, fp, fn_, tp }
    }

    /// A matrix from its true and false positives and the class counts: fn = P − tp and tn = N − fp.
    ///
    /// tp and fp are sums of row weights. Because of rounding they can slightly exceed the class counts, so fn and tn are clamped at 0.
    #[must_use]
    pub fn at(tp: f64, fp: f64, counts: &ClassCounts) -> Self {
        Confusion { tn: (counts.negatives - fp).max(0.0), fp, fn_: (counts.positives - tp).max(0.0), tp }
    }

    /// The cells of the matrix in the order tn, fp, fn, tp.
    #[must_use]
    pub const fn array(&self) -> [f64; 4] {
        [self.tn, self.fp, self.fn_, self.tp]
    }

    /// The class counts P = tp + fn and N = fp + tn.
    #[must_use]
    pub fn counts(&self) -> ClassCounts {
        ClassCounts { positives: self.tp + self.fn_, negatives: self.fp + self.tn }
    }

    /// The total weight of all rows: the sum of the four cells.
    #[must_use]
    pub fn total(&self) -> f64 {
        let counts = self.counts();
        counts.positives + counts.negatives
    }
}

impl Add for Confusion {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Confusion::new(self.tn + other.tn, self.fp + other.fp, self.fn_ + other.fn_, self.tp + other.tp)
    }
}

impl AddAssign for Confusion {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Confusion {
    fn sum<I: Iterator<Item = Self>>(matrices: I) -> Self {
        matrices.fold(Confusion::default(), Add::add)
    }
}
