//! Two numbers that need all thresholds at once: the area under the ROC curve and the average precision.
//!
//! ```text
//! area = P(a positive's prediction above a negative's) + ½ P(equal)        average precision = Σ (recallₖ − recallₖ₋₁) precisionₖ
//! ```
//!
//! Both go through groups of equal predictions as one step, so the order of equal rows does not matter.

use super::ranked::{Ranked, Table};

/// What a forecast ranks, whatever the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Areas {
    /// The area under the ROC curve; nothing without both classes.
    pub roc: Option<f64>,
    /// The average precision; nothing without positives.
    pub average_precision: Option<f64>,
}

pub(crate) fn areas<T: Ranked>(table: &Table<T>) -> Areas {
    let (rows, counts) = (&table.rows, &table.counts);
    let (mut tp, mut fp) = (0.0, 0.0);
    let (mut pairs, mut precisions) = (0.0, 0.0);
    let (mut hits, mut alarms) = (0.0, 0.0);
    for rank in 0..rows.len() {
        let mass = rows.mass(rank);
        hits += mass.0;
        alarms += mass.1;
        if rows.ends_group(rank) {
            pairs += alarms * (tp + 0.5 * hits);
            tp += hits;
            fp += alarms;
            if hits > 0.0 {
                precisions += hits * (tp / (tp + fp));
            }
            (hits, alarms) = (0.0, 0.0);
        }
    }
    let total = counts.positives * counts.negatives;
    Areas {
        roc: (total > 0.0).then_some(pairs / total),
        average_precision: (counts.positives > 0.0).then_some(precisions / counts.positives),
    }
}
