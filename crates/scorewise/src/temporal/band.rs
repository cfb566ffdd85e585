//! A weighted matrix as a list of bands of the threshold: the one body behind value, gradient and the plain form.
//!
//! Everything that a row counts, it counts while τ lies between two predictions. With L(row) = F(p) of a row,
//!
//! ```text
//! cell = Σ weight · size · (L(upper) − L(lower))
//! ```
//!
//! is the expectation; its gradient reads off the same list; and with L(row) = 1 where p > τ, else 0, it is the matrix at
//! one threshold. Two rows that do not exist close the list: one always above the threshold, L = 1, and one never, L = 0.

use std::ops::Range;

use super::series::Series;
use super::weighting::{Credit, Weighting};
use crate::rows::Predictions;

/// The cells by their place in tn, fp, fn, tp.
const TN: usize = 0;
const FP: usize = 1;
pub(super) const FN: usize = 2;
const TP: usize = 3;

/// A row counts `size` in `cell` while τ lies at or above the prediction of `lower` and below that of `upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub cell: usize,
    pub size: f64,
    pub upper: usize,
    pub lower: usize,
}

/// Shows every row with each of its bands.
///
/// `heights` order the predictions. Of equal ones the later row counts as the higher, everywhere: the bands have no width
/// there, and the gradient is the one that predictions a little apart in this order would have.
pub(super) fn each_band<P: Predictions, H: PartialOrd>(
    weighting: &Weighting,
    series: &Series<'_, P>,
    heights: &[H],
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
                if weighting.isolated() > 0.0 {
                    let highest = highest(heights, past.start..future.end);
                    visit(row, Band { cell: FN, size: weighting.isolated(), upper: always, lower: highest });
                }
                let mut lower = row;
                for (alarm, weight) in past.rev().zip(weighting.weights()) {
                    if heights[alarm] > heights[lower] {
                        visit(row, Band { cell: FN, size: -weight, upper: alarm, lower });
                        // Only what rises above all nearer rows can be the nearest alarm.
                        if weighting.credit() == Credit::Maximum {
                            lower = alarm;
                        }
                    }
                }
            } else {
                visit(row, Band { cell: TN, size: 1.0, upper: always, lower: row });
                let size = alarm_size(weighting, labels, past, future);
                visit(row, Band { cell: FP, size, upper: row, lower: never });
            }
        }
    }
}

/// What a false alarm counts; the labels alone decide.
fn alarm_size(weighting: &Weighting, labels: &[bool], past: Range<usize>, future: Range<usize>) -> f64 {
    let alone = !labels[past.start..future.end].contains(&true);
    let mut credits =
        labels[future].iter().zip(weighting.weights()).filter(|(label, _)| **label).map(|(_, weight)| *weight);
    let credit = match weighting.credit() {
        Credit::Sum => credits.sum(),
        Credit::Maximum => credits.next().unwrap_or(0.0),
    };
    // Weights that sum to 1 on paper may exceed it in the last place.
    (1.0 - credit).max(0.0) + if alone { weighting.isolated() } else { 0.0 }
}

/// The highest of the rows, of equal ones the last.
fn highest<H: PartialOrd>(heights: &[H], rows: Range<usize>) -> usize {
    rows.reduce(|best, row| if heights[row] >= heights[best] { row } else { best }).expect("a window holds its own row")
}
