//! Predictions in bins of equal width: for each bin the weight of its positives, the weight of its negatives, and its mean prediction.

use super::best::count_above;
use super::ranked::{RankedRows, RankedTable};
use super::sort::map_parallel;

/// A bin of predictions from `low` up to but not including `high`; the last bin includes 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbabilityBin {
    /// The lower edge of the bin, which belongs to the bin.
    pub low: f64,
    /// The upper edge of the bin, which belongs to the bin only if it is 1.
    pub high: f64,
    /// The weighted mean of the predictions in the bin; `None` if the bin is empty.
    pub mean: Option<f64>,
    /// The total weight of the positives in the bin.
    pub positives: f64,
    /// The total weight of the negatives in the bin.
    pub negatives: f64,
}

/// Divides the predictions into `count` bins of equal width over [0, 1]. The bins are in ascending order and may be empty.
pub(crate) fn probability_bins<T: RankedRows>(table: &RankedTable<T>, count: usize) -> Vec<ProbabilityBin> {
    let rows = &table.rows;
    let edge = |number: usize| number as f64 / count as f64;
    // `above` returns the number of predictions at or above the edge with the given index. `count_above` counts only predictions above its argument,
    // so its argument is the largest floating-point number below the edge.
    let above = |number: usize| if number == 0 { rows.len() } else { count_above(rows, edge(number).next_down()) };
    map_parallel((0..count).collect(), |number| {
        let first = if number + 1 == count { 0 } else { above(number + 1) };
        let (mut positives, mut negatives, mut sum) = (0.0, 0.0, 0.0);
        for rank in first..above(number) {
            let mass = rows.class_weights(rank);
            positives += mass.0;
            negatives += mass.1;
            sum += (mass.0 + mass.1) * rows.prediction(rank);
        }
        let weight = positives + negatives;
        let mean = (weight > 0.0).then_some(sum / weight);
        ProbabilityBin { low: edge(number), high: edge(number + 1), mean, positives, negatives }
    })
}
