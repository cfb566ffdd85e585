//! Predictions in equal bins: how they are spread over the classes, and how often the event came where they said it would.

use super::best::rank_above;
use super::ranked::{Ranked, Table};
use super::sort::each_part;

/// The predictions from `low` up to but not including `high` (1 included in the last).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Where it begins.
    pub low: f64,
    /// Where the next one begins.
    pub high: f64,
    /// The weighted mean of its predictions; nothing where it is empty.
    pub mean: Option<f64>,
    /// The weight of its positives.
    pub positives: f64,
    /// The weight of its negatives.
    pub negatives: f64,
}

/// Equal bins over [0, 1] in rising order, empty ones too.
pub(crate) fn bins<T: Ranked>(table: &Table<T>, count: usize) -> Vec<Bin> {
    let rows = &table.rows;
    let edge = |number: usize| number as f64 / count as f64;
    // Predictions at an edge and above it: those above the number just below the edge.
    let above = |number: usize| if number == 0 { rows.len() } else { rank_above(rows, edge(number).next_down()) };
    each_part((0..count).collect(), |number| {
        let first = if number + 1 == count { 0 } else { above(number + 1) };
        let (mut positives, mut negatives, mut sum) = (0.0, 0.0, 0.0);
        for rank in first..above(number) {
            let mass = rows.mass(rank);
            positives += mass.0;
            negatives += mass.1;
            sum += (mass.0 + mass.1) * rows.value(rank);
        }
        let weight = positives + negatives;
        let mean = (weight > 0.0).then_some(sum / weight);
        Bin { low: edge(number), high: edge(number + 1), mean, positives, negatives }
    })
}
