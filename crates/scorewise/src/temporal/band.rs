//! A time-weighted confusion matrix as a list of threshold bands, from which the expected matrix, its gradient and the matrix at one threshold are
//! computed.
//!
//! A band is the interval of thresholds between two predictions. A row contributes a constant (`size`) to a cell of the matrix
//! while the threshold τ lies in a band, and nothing while τ lies outside. Let L(row) be the probability of an alarm at the row, which
//! is F(p), the distribution function of the prior at the prediction p of the row. Then the expected value of a cell is
//!
//! ```text
//! cell = Σ weight · size · (L(upper) − L(lower))
//! ```
//!
//! The gradient of the cell follows from the same list of bands. With L(row) = 1 if p > τ and 0 otherwise, the sum is the value of the cell at
//! one threshold τ. Two virtual rows serve as ends of bands: one is always above the threshold (L = 1), the other never (L = 0).

use std::ops::Range;

use super::series::Series;
use super::weighting::{CreditCombination, Weighting};
use crate::rows::Predictions;

/// Index of the true negatives in an array of the cells tn, fp, fn, tp of a confusion matrix.
const TN: usize = 0;
/// Index of the false positives in an array of the cells tn, fp, fn, tp of a confusion matrix.
const FP: usize = 1;
/// Index of the false negatives in an array of the cells tn, fp, fn, tp of a confusion matrix.
pub(super) const FN: usize = 2;
/// Index of the true positives in an array of the cells tn, fp, fn, tp of a confusion matrix.
const TP: usize = 3;

/// A band of thresholds: the thresholds τ with (prediction of row `lower`) ≤ τ < (prediction of row `upper`). At these thresholds, a row contributes
/// `size` to `cell`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThresholdBand {
    pub cell: usize,
    pub size: f64,
    pub upper: usize,
    pub lower: usize,
}

/// Calls `visit(row, band)` for every band of thresholds of every row.
///
/// Only the order of the `predictions` by size matters, not their values. If two predictions are equal, the later row counts as the higher one:
/// the band between the two has width 0, and the gradient is that of predictions that differ slightly in this order.
pub(super) fn for_each_band<P: Predictions, T: PartialOrd>(
    weighting: &Weighting,
    series: &Series<'_, P>,
    predictions: &[T],
    mut visit: impl FnMut(usize, ThresholdBand),
) {
    let labels = series.rows().labels;
    let (always, never) = (series.len(), series.len() + 1);
    for sequence in series.sequences() {
        for row in sequence.clone() {
            let past = row.saturating_sub(weighting.window()).max(sequence.start)..row;
            let future = row + 1..sequence.end.min(row + 1 + weighting.window());
            if labels[row] {
                visit(row, ThresholdBand { cell: TP, size: 1.0, upper: row, lower: never });
                visit(row, ThresholdBand { cell: FN, size: 1.0, upper: always, lower: row });
                if weighting.isolation_penalty() > 0.0 {
                    let highest = row_with_highest_prediction(predictions, past.start..future.end);
                    visit(
                        row,
                        ThresholdBand { cell: FN, size: weighting.isolation_penalty(), upper: always, lower: highest },
                    );
                }
                let mut lower = row;
                for (alarm, weight) in past.rev().zip(weighting.weights()) {
                    if predictions[alarm] > predictions[lower] {
                        visit(row, ThresholdBand { cell: FN, size: -weight, upper: alarm, lower });
                        // With `Maximum`, only the last alarm (a row predicted positive) before the missed event counts. At a threshold, a row is the
                        // last alarm if its prediction lies above the threshold and the predictions of the event and of all rows in between do not.
                        // So its prediction must be higher than the predictions of the event and of all rows in between.
                        if weighting.credit_combination() == CreditCombination::Maximum {
                            lower = alarm;
                        }
                    }
                }
            } else {
                visit(row, ThresholdBand { cell: TN, size: 1.0, upper: always, lower: row });
                let size = false_alarm_size(weighting, labels, past, future);
                visit(row, ThresholdBand { cell: FP, size, upper: row, lower: never });
            }
        }
    }
}

/// How much a false alarm counts, which depends only on the labels of the rows before it (`past`) and after it (`future`).
fn false_alarm_size(weighting: &Weighting, labels: &[bool], past: Range<usize>, future: Range<usize>) -> f64 {
    let is_isolated = !labels[past.start..future.end].contains(&true);
    let mut credits =
        labels[future].iter().zip(weighting.weights()).filter(|(label, _)| **label).map(|(_, weight)| *weight);
    let credit = match weighting.credit_combination() {
        CreditCombination::Sum => credits.sum(),
        CreditCombination::Maximum => credits.next().unwrap_or(0.0),
    };
    // Because of rounding, the credit may slightly exceed 1, so the difference is clamped at 0.
    (1.0 - credit).max(0.0) + if is_isolated { weighting.isolation_penalty() } else { 0.0 }
}

/// The row with the highest prediction; if several rows have it, the last of them.
fn row_with_highest_prediction<T: PartialOrd>(predictions: &[T], rows: Range<usize>) -> usize {
    rows.reduce(|best, row| if predictions[row] >= predictions[best] { row } else { best })
        .expect("the window around a row contains at least that row")
}
