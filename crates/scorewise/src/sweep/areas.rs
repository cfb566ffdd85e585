//! Measures of a forecast that do not depend on a threshold: the area under the ROC curve and the average precision.
//!
//! ```text
//! area = P(prediction of a positive > that of a negative) + ½ P(equal)        average precision = Σ (recallₖ − recallₖ₋₁) precisionₖ
//! ```
//!
//! Rows with equal predictions form a single step k of the sum, so the result does not depend on their order.

use super::ranked::{RankedRows, RankedTable};

/// The area under the ROC curve and the average precision, which measure how well a forecast ranks the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveAreas {
    /// The area under the ROC curve; `None` if a class has no rows.
    pub roc: Option<f64>,
    /// The average precision; `None` if there are no positives.
    pub average_precision: Option<f64>,
}

/// The area under the ROC curve and the average precision, computed from the sorted rows of `table`.
pub(crate) fn curve_areas<T: RankedRows>(table: &RankedTable<T>) -> CurveAreas {
    let (rows, counts) = (&table.rows, &table.counts);
    let (mut tp, mut fp) = (0.0, 0.0);
    let (mut pairs, mut precisions) = (0.0, 0.0);
    let (mut hits, mut alarms) = (0.0, 0.0);
    for rank in 0..rows.len() {
        let mass = rows.class_weights(rank);
        hits += mass.0;
        alarms += mass.1;
        if rows.ends_group_of_equal_predictions(rank) {
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
    CurveAreas {
        roc: (total > 0.0).then_some(pairs / total),
        average_precision: (counts.positives > 0.0).then_some(precisions / counts.positives),
    }
}
