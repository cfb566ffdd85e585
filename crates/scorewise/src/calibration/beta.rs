//! Beta calibration: a curve with the parameters a, b and d that maps a predicted probability p to a calibrated probability c.
//!
//! ```text
//! logit c = a ln p − b ln(1 − p) + d        a, b > 0
//! ```
//!
//! With a = b = 1 and d = 0, predictions are unchanged. The parameters minimise the sum of the log-losses of all rows plus the penalty
//! (a − 1)²/2 + (b − 1)²/2 + 10⁻⁶ d²/2. The penalty limits the parameters if there are few rows, or if the predictions separate the classes.
//!
//! Kull, M., Silva Filho, T. & Flach, P. (2017). Beta calibration: a well-founded and easily implemented improvement on logistic calibration for
//! binary classifiers. AISTATS, PMLR 54, 623–631.

use super::bins::Bin;
use super::{Calibration, CalibrationMethod, through_points};
use crate::error::Result;
use crate::prior::Probability;

/// Smallest value of the parameters a and b. With 0 the curve would be flat near 0 or near 1.
const MIN_EXPONENT: f64 = 0.01;
/// The penalty of each parameter (a, b, d) for its squared distance from the value that leaves predictions unchanged.
const PENALTIES: [f64; 3] = [1.0, 1.0, 1e-6];
/// The values of the parameters that leave predictions unchanged.
const UNCHANGED: [f64; 3] = [1.0, 1.0, 0.0];
/// Maximum number of Newton steps; about ten are usually enough.
const MAX_STEPS: usize = 100;
/// Distance between the logits of neighbouring knots of the curve. Straight lines join the knots, with an error of the probability below about 1 %.
const KNOT_DISTANCE: f64 = 0.25;
/// The logits of all knots of the curve lie between −`MAX_LOGIT` and `MAX_LOGIT`.
const MAX_LOGIT: f64 = 16.0;

/// Fits a calibration to bins in ascending order of their logits. The weights of the rows must have mean 1.
pub(super) fn fit(bins: &[Bin]) -> Result<Calibration> {
    let parameters = parameters(bins);
    let range = bins.first().zip(bins.last()).map_or((0.0, 0.0), |(first, last)| (first.logit, last.logit));
    let low = (range.0.clamp(-MAX_LOGIT, MAX_LOGIT) / KNOT_DISTANCE).floor() as i32;
    let high = (range.1.clamp(-MAX_LOGIT, MAX_LOGIT) / KNOT_DISTANCE).ceil() as i32;
    let point = |index: i32| {
        let logit = f64::from(index) * KNOT_DISTANCE;
        (logit, Probability::from_logit(calibrated_logit(&parameters, &features(logit))).p)
    };
    through_points(CalibrationMethod::Beta, (low..=high).map(point))
}

/// The parameters a, b and d of the beta calibration that is fitted to these bins.
fn parameters(bins: &[Bin]) -> [f64; 3] {
    let mut is_free = [true; 3];
    loop {
        let found = minimum(bins, is_free);
        match (0..2).find(|index| is_free[*index] && found[*index] < MIN_EXPONENT) {
            Some(index) => is_free[index] = false,
            None => return found,
        }
    }
}

/// Minimises the penalised log-loss over the parameters that are free. If a or b is not free, its value is `MIN_EXPONENT`.
fn minimum(bins: &[Bin], is_free: [bool; 3]) -> [f64; 3] {
    let mut parameters: [f64; 3] = std::array::from_fn(|at| if is_free[at] { UNCHANGED[at] } else { MIN_EXPONENT });
    let mut loss = penalised_loss(bins, &parameters);
    for _ in 0..MAX_STEPS {
        let (gradient, curvature) = derivatives(bins, &parameters, is_free);
        let step = solution(curvature, gradient);
        let mut length = 1.0;
        // Far from the minimum a whole Newton step may overshoot, so it is halved until the loss falls.
        let (next, next_loss) = loop {
            let next: [f64; 3] = std::array::from_fn(|at| parameters[at] - length * step[at]);
            let next_loss = penalised_loss(bins, &next);
            if next_loss <= loss || length < 1e-6 {
                break (next, next_loss);
            }
            length *= 0.5;
        };
        if next_loss.is_nan() || next_loss > loss {
            break;
        }
        let change = (0..3).map(|at| (next[at] - parameters[at]).abs()).fold(0.0, f64::max);
        (parameters, loss) = (next, next_loss);
        if change < 1e-10 {
            break;
        }
    }
    parameters
}

/// ln p, −ln(1 − p) and 1 for the prediction p with this logit.
fn features(logit: f64) -> [f64; 3] {
    // −ln(1 + exp(−z)) without overflow. If z is the logit of p, this is ln p. If z is the negative logit of p, it is ln(1 − p).
    let log_sigmoid = |z: f64| z.min(0.0) - (-z.abs()).exp().ln_1p();
    [log_sigmoid(logit), -log_sigmoid(-logit), 1.0]
}

/// The logit of the calibrated probability.
fn calibrated_logit(parameters: &[f64; 3], features: &[f64; 3]) -> f64 {
    parameters.iter().zip(features).map(|(parameter, feature)| parameter * feature).sum()
}

/// The sum of the log-losses of all rows plus the penalties of the parameters.
fn penalised_loss(bins: &[Bin], parameters: &[f64; 3]) -> f64 {
    let softplus = |z: f64| z.max(0.0) + (-z.abs()).exp().ln_1p();
    let of_bin = |bin: &Bin| {
        let z = calibrated_logit(parameters, &features(bin.logit));
        bin.positives * softplus(-z) + bin.negatives * softplus(z)
    };
    let penalty = |at: usize| 0.5 * PENALTIES[at] * (parameters[at] - UNCHANGED[at]).powi(2);
    bins.iter().map(of_bin).sum::<f64>() + (0..3).map(penalty).sum::<f64>()
}

/// The gradient and the Hessian of the penalised loss. For a parameter that is not free, the gradient is set to 0, and the row and the column of the
/// Hessian are set to those of the identity matrix. So a Newton step does not change this parameter.
fn derivatives(bins: &[Bin], parameters: &[f64; 3], is_free: [bool; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut gradient: [f64; 3] = std::array::from_fn(|at| PENALTIES[at] * (parameters[at] - UNCHANGED[at]));
    let mut curvature = [[0.0; 3]; 3];
    (0..3).for_each(|at| curvature[at][at] = PENALTIES[at]);
    for bin in bins {
        let features = features(bin.logit);
        let at = Probability::from_logit(calibrated_logit(parameters, &features));
        let slope = bin.negatives * at.p - bin.positives * at.q;
        let bend = (bin.positives + bin.negatives) * at.p * at.q;
        for (row, first) in features.iter().enumerate() {
            gradient[row] += slope * first;
            for (column, second) in features.iter().enumerate() {
                curvature[row][column] += bend * first * second;
            }
        }
    }
    for fixed in (0..3).filter(|at| !is_free[*at]) {
        gradient[fixed] = 0.0;
        (0..3).for_each(|other| (curvature[fixed][other], curvature[other][fixed]) = (0.0, 0.0));
        curvature[fixed][fixed] = 1.0;
    }
    (gradient, curvature)
}

/// The solution x of `matrix` x = `right`, for a symmetric positive definite matrix, by Gaussian elimination.
fn solution(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for pivot in 0..3 {
        for row in pivot + 1..3 {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            (pivot..3).for_each(|column| matrix[row][column] -= factor * matrix[pivot][column]);
            right[row] -= factor * right[pivot];
        }
    }
    let mut result = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| matrix[row][column] * result[column]).sum();
        result[row] = (right[row] - known) / matrix[row][row];
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_with_which_predictions_were_distorted_are_found() {
        // Each bin stands for many rows with exactly the expected share of positives.
        let wanted = [0.6, 1.8, -0.7];
        let bin = |index: i32| {
            let logit = f64::from(index) / 10.0;
            let share = Probability::from_logit(calibrated_logit(&wanted, &features(logit)));
            Bin { logit, positives: 1e4 * share.p, negatives: 1e4 * share.q }
        };
        let found = parameters(&(-40..=40).map(bin).collect::<Vec<_>>());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-3, "{found}, {wanted}");
        }
    }

    #[test]
    fn a_curve_fitted_to_predictions_in_the_wrong_order_still_increases() {
        let bin = |index: i32| Bin {
            logit: f64::from(index),
            positives: f64::from(5 - index),
            negatives: f64::from(5 + index),
        };
        let found = fit(&(-4..=4).map(bin).collect::<Vec<_>>()).unwrap();
        assert!(found.knots().windows(2).all(|pair| pair[0].1 < pair[1].1));
        assert!(found.knots().len() > 20);
    }

    #[test]
    fn separated_classes_give_finite_parameters() {
        let bin = |index: i32| Bin {
            logit: f64::from(index),
            positives: f64::from(u8::from(index > 0)),
            negatives: f64::from(u8::from(index <= 0)),
        };
        let found = parameters(&(-4..=4).map(bin).collect::<Vec<_>>());
        assert!(found.iter().all(|value| value.is_finite() && value.abs() < 20.0), "{found:?}");
    }
}
