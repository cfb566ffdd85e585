//! The threshold at which a calibrated model would be optimal, as a check of the threshold found on the data.
//!
//! ```text
//! s = (a₀ + a₁ TP + a₂ FP) / (b₀ + b₁ TP + b₂ FP)
//! predict positive if  P(y = 1 | x) ≥ (s* b₂ − a₂) / [(a₁ − s* b₁) − (a₂ − s* b₂)]        s* is the best value
//! ```
//!
//! At the optimum the score cannot be improved by changing the prediction of a row. With A = a₁ − s* b₁ and B = a₂ − s* b₂, a positive
//! prediction for a row with probability p adds p A + (1 − p) B to (numerator − s* denominator), and improves the score as long as this
//! term is positive. The threshold is ½ for accuracy, the base rate for TSS, F1*/2 for F1, CSI*/(1 + CSI*) for CSI, and
//! c_FP/(c_FP + c_FN) for costs. If the threshold found on the data is far from this value, the model is not calibrated.
//!
//! Koyejo, O., Natarajan, N., Ravikumar, P. & Dhillon, I. S. (2014). Consistent binary classification with generalized
//! performance metrics. NIPS 27, 2744–2752.

use crate::formula::{ClassCounts, LinearFraction};
use crate::score::{Direction, Score};

/// The threshold at which a calibrated model reaches `optimum`, the best value of the score; 0 if every row should be
/// predicted positive, 1 if none should. (For a linear score the threshold does not depend on the optimum.)
///
/// The result is `None` if a class is absent, if the score is not a quotient of two linear functions of the matrix, if the denominator of this
/// quotient changes its sign, or if the best value of the score is neither its maximum nor its minimum (such as 1 for the bias). It is also `None`
/// if the gain from predicting a row as positive does not increase with the probability of the row.
#[must_use]
pub fn calibrated_threshold(score: &Score, counts: &ClassCounts, optimum: f64) -> Option<f64> {
    if counts.positives <= 0.0 || counts.negatives <= 0.0 {
        return None;
    }
    let fraction = score.formula().linear_fraction(counts.positives, counts.negatives)?;
    // An increase of (numerator − optimum · denominator) improves the score. The sign changes if lower scores are better, and once more if the
    // denominator is negative.
    let direction = match score.direction() {
        Direction::Higher => 1.0,
        Direction::Lower => -1.0,
        Direction::Toward(_) => return None,
    };
    let sign = direction * denominator_sign(&fraction, counts)?;
    let ([_, a1, a2], [_, b1, b2]) = (fraction.above, fraction.below);
    let (if_positive, if_negative) = (sign * (a1 - optimum * b1), sign * (a2 - optimum * b2));
    let threshold = -if_negative / (if_positive - if_negative);
    (if_positive > if_negative && threshold.is_finite()).then(|| threshold.clamp(0.0, 1.0))
}

/// The sign of the denominator if it is the same for all matrices with these class counts, otherwise `None`. The denominator is linear, so
/// only the corners of the set of matrices are checked.
fn denominator_sign(fraction: &LinearFraction, counts: &ClassCounts) -> Option<f64> {
    let [b0, b1, b2] = fraction.below;
    let (tp, fp) = (b1 * counts.positives, b2 * counts.negatives);
    let corners = [b0, b0 + tp, b0 + fp, b0 + tp + fp];
    let (low, high) =
        (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max));
    // The denominator may be 0 at a corner, where the score is undefined. Rounding may turn this 0 into a small number, so numbers below the
    // tolerance count as 0.
    let tolerance = 1e-12 * (b0.abs() + tp.abs() + fp.abs());
    if low >= -tolerance && high > tolerance {
        Some(1.0)
    } else if high <= tolerance && low < -tolerance {
        Some(-1.0)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The optimal threshold of a calibrated model for 30 positives and 170 negatives, given the best value of the score.
    fn calibrated_threshold_of(score: &str, optimum: f64) -> Option<f64> {
        calibrated_threshold(&Score::parse(score).unwrap(), &ClassCounts { positives: 30.0, negatives: 170.0 }, optimum)
    }

    #[test]
    fn optimal_thresholds_of_a_calibrated_model_match_known_formulas() {
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
            ("fp/n - tp/p", -0.5, 0.15), // the negative of tss, so the threshold is that of tss
            ("recall", 1.0, 0.0),
            ("specificity", 1.0, 1.0),
        ] {
            let found = calibrated_threshold_of(score, optimum);
            let Some(found) = found else { panic!("{score}: no threshold") };
            assert!((found - expected).abs() < 1e-12, "{score}: {found}, expected {expected}");
        }
    }

    #[test]
    fn some_scores_have_no_known_optimal_threshold_of_a_calibrated_model() {
        for score in ["mcc", "frequency_bias", "cost(fp=-1, fn=-1)", "tp/(tp - fp)", "1"] {
            assert_eq!(calibrated_threshold_of(score, 0.5), None, "{score}");
        }
    }

    #[test]
    fn there_is_no_optimal_threshold_if_a_class_is_absent() {
        let counts = ClassCounts { positives: 0.0, negatives: 5.0 };
        assert_eq!(calibrated_threshold(&Score::parse("tss").unwrap(), &counts, 0.0), None);
    }
}
