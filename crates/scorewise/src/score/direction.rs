//! Whether higher or lower values of a formula are better, found from the derivatives of the formula.
//!
//! A forecast improves when a false alarm becomes a correct rejection (fp to tn) or a miss becomes a hit (fn to tp). If such an
//! improvement never raises the value of a formula and sometimes lowers it, the formula is a cost: lower is better.

use crate::confusion::Confusion;
use crate::formula::Formula;

/// How the value of a formula changes when forecasts improve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImprovementEffect {
    /// The value never falls and sometimes rises when forecasts improve.
    Increases,
    /// The value never rises and sometimes falls when forecasts improve.
    Decreases,
    /// The value rises with some improvements and falls with others.
    Mixed,
    /// The value never changes when forecasts improve.
    Constant,
}

/// Numbers of rows of the confusion matrices at which [`effect_of_improvement`] evaluates the derivatives. There are two numbers of rows because
/// a formula may contain an absolute count, as in `max(fp - 50, 0)`, whose effect depends on the number of rows.
const ROW_COUNTS: [f64; 2] = [200.0, 20_000.0];
/// Base rates (shares of positive rows) of the confusion matrices at which [`effect_of_improvement`] evaluates the derivatives.
const BASE_RATES: [f64; 5] = [0.01, 0.1, 0.3, 0.5, 0.8];
/// Hit rates tp/p of the confusion matrices at which [`effect_of_improvement`] evaluates the derivatives.
const HIT_RATES: [f64; 5] = [0.05, 0.3, 0.52, 0.75, 0.97];
/// False alarm rates fp/n of the confusion matrices at which [`effect_of_improvement`] evaluates the derivatives.
const FALSE_ALARM_RATES: [f64; 5] = [0.01, 0.08, 0.27, 0.5, 0.9];

/// How the value of the formula changes when forecasts improve, evaluated on a grid of confusion matrices.
pub(super) fn effect_of_improvement(formula: &Formula) -> ImprovementEffect {
    // Each derivative is the change of the value when one miss becomes a hit or one correct rejection becomes a false alarm. Multiplied by the number
    // of rows, it is comparable with the value itself: a change that is tiny in comparison is a rounding error and is ignored.
    let mut changes = Vec::new();
    let mut largest_value = 0.0f64;
    for rows in ROW_COUNTS {
        for base_rate in BASE_RATES {
            let (positives, negatives) = (rows * base_rate, rows * (1.0 - base_rate));
            for hit_rate in HIT_RATES {
                for false_alarm_rate in FALSE_ALARM_RATES {
                    let (tp, fp) = (positives * hit_rate, negatives * false_alarm_rate);
                    let matrix = Confusion::new(negatives - fp, fp, positives - tp, tp);
                    let derivatives = formula.reduced(&matrix);
                    let change = [derivatives.positive * rows, -derivatives.negative * rows];
                    changes.extend(change.into_iter().filter(|change| change.is_finite()));
                    if derivatives.value.is_finite() {
                        largest_value = largest_value.max(derivatives.value.abs());
                    }
                }
            }
        }
    }
    let rounding = 1e-9 * changes.iter().fold(1e-3 * largest_value, |most, change| most.max(change.abs()));
    let rises = changes.iter().any(|change| *change > rounding);
    let falls = changes.iter().any(|change| *change < -rounding);
    match (rises, falls) {
        (true, false) => ImprovementEffect::Increases,
        (false, true) => ImprovementEffect::Decreases,
        (true, true) => ImprovementEffect::Mixed,
        (false, false) => ImprovementEffect::Constant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Direction, REGISTRY, Score};

    #[test]
    fn direction_of_registered_scores_without_ideal_value_follows_from_their_formulas() {
        for row in REGISTRY.iter().filter(|row| !matches!(row.direction, Direction::Toward(_))) {
            let text = Score::example(row).unwrap().formula().text();
            let unregistered = Score::parse(&text).unwrap();
            assert_eq!((unregistered.row(), unregistered.direction()), (None, row.direction), "{}: {text}", row.name);
            let negated = Score::parse(&format!("-({text})")).unwrap();
            if row.direction == Direction::Lower {
                assert_eq!((negated.direction(), negated.caution()), (Direction::Higher, None), "{}", row.name);
                assert!(
                    unregistered.caution().unwrap().contains("lower values are better, so the formula is minimised")
                );
            }
        }
    }

    #[test]
    fn costs_are_distinguished_from_scores() {
        let effect = |text: &str| effect_of_improvement(&Formula::parse(text).unwrap());
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
        costs.iter().for_each(|text| assert_eq!(effect(text), ImprovementEffect::Decreases, "{text}"));
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
        scores.iter().for_each(|text| assert_eq!(effect(text), ImprovementEffect::Increases, "{text}"));
        for text in ["(tp + fp)/p", "tp + fp", "fp - fn", "abs(fp - fn)", "tp*fp"] {
            assert_eq!(effect(text), ImprovementEffect::Mixed, "{text}");
        }
        for text in ["1", "0", "p/total", "tp/p + fn/p", "tn + fp - n", "1e300", "(tp + fn)/3", "0*tp"] {
            assert_eq!(effect(text), ImprovementEffect::Constant, "{text}");
        }
    }
}
