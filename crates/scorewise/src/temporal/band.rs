//! A weighted confusion matrix as a list of threshold bands, from which its value, its gradient and its value at one threshold
//! are computed.
//!
//! Everything that a row contributes to a cell, it contributes while τ lies between two predictions. With L(row) = F(p) of a row,
//!
//! ```text
//! cell = Σ weight · size · (L(upper) − L(lower))
//! ```
//!
//! is the expectation, and its gradient follows from the same list. With L(row) = 1 if p > τ and 0 otherwise, it is the matrix at
//! one threshold. Two virtual rows complete the list: one is always above the threshold, L = 1, and one never, L = 0.

use std::ops::Range;

use super::series::Series;
use super::weighting::{Credit, Weighting};
use crate::rows::Predictions;

/// Indices of the cells in the order tn, fp, fn, tp.
const TN: usize = 0;
const FP: usize = 1;
pub(super) const FN: usize = 2;
const TP: usize = 3;

/// A row contributes `size` to `cell` while prediction of `lower` ≤ τ < prediction of `upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub cell: usize,
    pub size: f64,
    pub upper: usize,
    pub lower: usize,
}

/// Calls `visit` with every row and each of its bands.
///
/// `predictions` define the order of the rows. Of equal predictions the later row counts as the higher one: the bands between
/// them have width 0, and the gradient is the one for predictions that differ slightly in this order.
pub(super) fn each_band<P: Predictions, T: PartialOrd>(
    weighting: &Weighting,
    series: &Series<'_, P>,
    predictions: &[T],
    mut visit: impl FnMut(usize, Band),
) {
    let labels = series.rows().labels;
    let (always, never) = (series.len(), series.len() + 1);
    for sequence in series.sequences() {
        for row in sequence.clone() {
            let past = row.saturating_sub(weighting.window()).max(sequence.start)..row;
            let future = row + 1..sequence.end.min(row + 1 + weighting.window());
            if labels[row] {
                visit(row, Band { cell: TP, size: 1.0, upper: row, lower: never });
                visit(row, Band { cell: FN, size: 1.0, upper: always, lower: row });
                if weighting.isolation_penalty() > 0.0 {
                    let highest = highest(predictions, past.start..future.end);
                    visit(row, Band { cell: FN, size: weighting.isolation_penalty(), upper: always, lower: highest });
                }
                let mut lower = row;
                for (alarm, weight) in past.rev().zip(weighting.weights()) {
                    if predictions[alarm] > predictions[lower] {
                        visit(row, Band { cell: FN, size: -weight, upper: alarm, lower });
                        // Only a row above all nearer rows can be the nearest alarm.
                        if weighting.credit() == Credit::Maximum {
                            lower = alarm;
                        }
                    }
                }
            } else {
                visit(row, Band { cell: TN, size: 1.0, upper: always, lower: row });
                let size = false_alarm_size(weighting, labels, past, future);
                visit(row, Band { cell: FP, size, upper: row, lower: never });
            }
        }
    }
}

/// The size of a false alarm, which depends on the labels only.
fn false_alarm_size(weighting: &Weighting, labels: &[bool], past: Range<usize>, future: Range<usize>) -> f64 {
    let is_isolated = !labels[past.start..future.end].contains(&true);
    let mut credits =
        labels[future].iter().zip(weighting.weights()).filter(|(label, _)| **label).map(|(_, weight)| *weight);
    let credit = match weighting.credit() {
        Credit::Sum => credits.sum(),
        Credit::Maximum => credits.next().unwrap_or(0.0),
    };
    // Weights that should sum to 1 may exceed it by a rounding error.
    (1.0 - credit).max(0.0) + if is_isolated { weighting.isolation_penalty() } else { 0.0 }
}

/// The row with the highest prediction, of equal ones the last.
fn highest<T: PartialOrd>(predictions: &[T], rows: Range<usize>) -> usize {
    rows.reduce(|best, row| if predictions[row] >= predictions[best] { row } else { best })
        .expect("a window contains its own row")
}
