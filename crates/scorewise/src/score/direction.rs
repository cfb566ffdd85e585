//! Which way is better, found from the slopes of a formula.
//!
//! A forecast improves when a false alarm becomes a correct rejection (fp to tn) or a miss becomes a hit (fn to tp). A formula that no
//! such step raises anywhere, and that some lower, is a cost: lower is better.

use crate::confusion::Confusion;
use crate::formula::Formula;

/// What better forecasts do to the value of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Improvement {
    /// It rises somewhere and falls nowhere.
    Raises,
    /// It falls somewhere and rises nowhere.
    Lowers,
    /// It rises with some improvements and falls with others.
    Either,
    /// It is the same for all forecasts.
    Nothing,
}

/// Rows, shares of positives, of positives that are hit and of negatives that are false alarms: every combination is a matrix at which
/// slopes are taken. Two sizes, since a formula may contain numbers of rows (`max(fp - 50, 0)`).
const ROWS: [f64; 2] = [200.0, 20_000.0];
const BASE_RATES: [f64; 5] = [0.01, 0.1, 0.3, 0.5, 0.8];
const HIT_RATES: [f64; 5] = [0.05, 0.3, 0.52, 0.75, 0.97];
const FALSE_ALARM_RATES: [f64; 5] = [0.01, 0.08, 0.27, 0.5, 0.9];

/// What better forecasts do to a formula, on matrices of all kinds.
pub(super) fn improvement(formula: &Formula) -> Improvement {
    // Changes of the value, were all rows to be improved: slopes that are rounding errors are small beside the values.
    let mut changes = Vec::new();
    let mut largest_value = 0.0f64;
    for rows in ROWS {
        for base_rate in BASE_RATES {
            let (positives, negatives) = (rows * base_rate, rows * (1.0 - base_rate));
            for hit_rate in HIT_RATES {
                for false_alarm_rate in FALSE_ALARM_RATES {
                    let (tp, fp) = (positives * hit_rate, negatives * false_alarm_rate);
                    let matrix = Confusion::new(negatives - fp, fp, positives - tp, tp);
                    let slopes = formula.reduced(&matrix);
                    let change = [slopes.positive * rows, -slopes.negative * rows];
                    changes.extend(change.into_iter().filter(|change| change.is_finite()));
                    if slopes.value.is_finite() {
                        largest_value = largest_value.max(slopes.value.abs());
                    }
                }
            }
        }
    }
    let least = 1e-9 * changes.iter().fold(1e-3 * largest_value, |most, change| most.max(change.abs()));
    let rises = changes.iter().any(|change| *change > least);
    let falls = changes.iter().any(|change| *change < -least);
    match (rises, falls) {
        (true, false) => Improvement::Raises,
        (false, true) => Improvement::Lowers,
        (true, true) => Improvement::Either,
        (false, false) => Improvement::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Direction, ROWS, Score};

    #[test]
    fn the_direction_of_every_registered_score_is_found_from_its_formula() {
        for row in ROWS.iter().filter(|row| !matches!(row.direction, Direction::Toward(_))) {
            let text = Score::example(row).unwrap().formula().text();
            let own = Score::parse(&text).unwrap();
            assert_eq!((own.row(), own.direction()), (None, row.direction), "{}: {text}", row.name);
            let negated = Score::parse(&format!("-({text})")).unwrap();
            if row.direction == Direction::Lower {
                assert_eq!((negated.direction(), negated.caution()), (Direction::Higher, None), "{}", row.name);
                assert!(own.caution().unwrap().contains("lower is better, and it is minimised"));
            }
        }
    }

    #[test]
    fn costs_are_told_from_scores() {
        let of = |text: &str| improvement(&Formula::parse(text).unwrap());
        let costs = [
            "fp + 10*fn",
            "fp/n",
            "fn/(fn + tp)",
            "1 - f1",
            "max(fp - 50, 0) + fn",
            "-tp",
            "fp - tp",
            "ln(1 + fp + fn)",
            "far + miss_rate",
            "sqrt(fp*fn)",
            "cost(fp=1, fn=10)",
            "1/(1 + tp)",
            "exp(-accuracy)",
            "total - tn - tp",
        ];
        costs.iter().for_each(|text| assert_eq!(of(text), Improvement::Lowers, "{text}"));
        let scores = [
            "-(fp + 10*fn)",
            "tn - fp",
            "tp/(tp + fp)",
            "tp",
            "tn",
            "tp - 0.1*fp",
            "0.5*tss + 0.5*csi",
            "-cost(fp=1, fn=10)",
            "min(tp, 5)",
            "1/fp",
            "-ln(fp + fn)",
        ];
        scores.iter().for_each(|text| assert_eq!(of(text), Improvement::Raises, "{text}"));
        for text in ["(tp + fp)/p", "tp + fp", "fp - fn", "abs(fp - fn)", "tp*fp"] {
            assert_eq!(of(text), Improvement::Either, "{text}");
        }
        for text in ["1", "0", "p/total", "tp/p + fn/p", "tn + fp - n", "1e300", "(tp + fn)/3", "0*tp"] {
            assert_eq!(of(text), Improvement::Nothing, "{text}");
        }
    }
}
