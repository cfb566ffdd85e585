//! The threshold that a calibrated model would need: a cross-check for every report.
//!
//! ```text
//! s = (a₀ + a₁ TP + a₂ FP) / (b₀ + b₁ TP + b₂ FP)
//! positive when  P(y = 1 | x) ≥ (s* b₂ − a₂) / [(a₁ − s* b₁) − (a₂ − s* b₂)]        s* the best value
//! ```
//!
//! At the optimum no row may be worth moving: a row with chance p adds p A + (1 − p) B to (numerator − s* denominator) when
//! it is called positive, with A = a₁ − s* b₁ and B = a₂ − s* b₂, and should be called so while that is a gain. It gives ½
//! for accuracy, the base rate for TSS, F1*/2 for F1, CSI*/(1 + CSI*) for CSI, c_FP/(c_FP + c_FN) for costs. A threshold
//! found on the data that lies far from it says that the model is not calibrated.
//!
//! Koyejo, O., Natarajan, N., Ravikumar, P. & Dhillon, I. S. (2014). Consistent binary classification with generalized
//! performance metrics. NIPS 27, 2744–2752.

use crate::formula::{Counts, LinearFraction};
use crate::score::{Direction, Score};

/// The threshold at which a calibrated model reaches `optimum`, the best value of the score; 0 where everything should be
/// called positive, 1 where nothing should. (A linear score needs the same threshold whatever its optimum.)
///
/// Nothing where a class is absent, where the score is not a quotient of two linear functions of the matrix, where a value is aimed at instead of a
/// maximum, or where calling a likely row positive does no more good than calling an unlikely one.
#[must_use]
pub fn calibrated_threshold(score: &Score, counts: &Counts, optimum: f64) -> Option<f64> {
    if counts.positives <= 0.0 || counts.negatives <= 0.0 {
        return None;
    }
    let fraction = score.formula().linear_fraction(counts.positives, counts.negatives)?;
    // A gain in the score is a gain in (numerator − s* denominator) times these two signs.
    let better = match score.direction() {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        Direction::Toward(_) => return None,
    };
    let sign = better * denominator_sign(&fraction, counts)?;
    let ([_, a1, a2], [_, b1, b2]) = (fraction.above, fraction.below);
    let (if_positive, if_negative) = (sign * (a1 - optimum * b1), sign * (a2 - optimum * b2));
    let threshold = -if_negative / (if_positive - if_negative);
    (if_positive > if_negative && threshold.is_finite()).then(|| threshold.clamp(0.0, 1.0))
}

/// The sign of the denominator over all matrices with these counts, if it has one: being linear, it has that of its corners.
fn denominator_sign(fraction: &LinearFraction, counts: &Counts) -> Option<f64> {
    let [b0, b1, b2] = fraction.below;
    let (tp, fp) = (b1 * counts.positives, b2 * counts.negatives);
    let corners = [b0, b0 + tp, b0 + fp, b0 + tp + fp];
    let (low, high) =
        (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max));
    // Corners at 0 are matrices where the score is undefined; rounding may push them past it.
    let room = 1e-12 * (b0.abs() + tp.abs() + fp.abs());
    if low >= -room && high > room {
        Some(1.0)
    } else if high <= room && low < -room {
        Some(-1.0)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(score: &str, optimum: f64) -> Option<f64> {
        calibrated_threshold(&Score::parse(score).unwrap(), &Counts { positives: 30.0, negatives: 170.0 }, optimum)
    }

    #[test]
    fn known_scores_have_their_known_thresholds() {
        for (score, optimum, expected) in [
            ("accuracy", 0.9, 0.5),
            ("tss", 0.7, 30.0 / 200.0),
            ("balanced_accuracy", 0.8, 30.0 / 200.0),
            ("f1", 0.64, 0.64 / 2.0),
            ("csi", 0.5, 0.5 / 1.5),
            ("precision", 0.9, 0.9),
            ("far", 0.1, 0.9),
            ("hss1", 0.3, 0.5),
            ("cost(fp=1, fn=10)", 0.2, 1.0 / 11.0),
            ("cost(fp=3, fn=1)", 0.2, 3.0 / 4.0),
            ("net_benefit(threshold=0.2)", 0.1, 0.2),
            ("-tp/(0 - tp - fp - fn)", 0.5, 0.5 / 1.5),
            ("fp/n - tp/p", -0.5, 0.15), // a cost, so it is minimised: that of tss
            ("recall", 1.0, 0.0),
            ("specificity", 1.0, 1.0),
        ] {
            let found = threshold(score, optimum);
            let Some(found) = found else { panic!("{score}: no threshold") };
            assert!((found - expected).abs() < 1e-12, "{score}: {found} for {expected}");
        }
    }

    #[test]
    fn no_threshold_where_there_is_none_to_give() {
        for score in ["mcc", "frequency_bias", "cost(fp=-1, fn=-1)", "tp/(tp - fp)", "1"] {
            assert_eq!(threshold(score, 0.5), None, "{score}");
        }
    }

    #[test]
    fn absent_class_gives_no_threshold() {
        let counts = Counts { positives: 0.0, negatives: 5.0 };
        assert_eq!(calibrated_threshold(&Score::parse("tss").unwrap(), &counts, 0.0), None);
    }
}
