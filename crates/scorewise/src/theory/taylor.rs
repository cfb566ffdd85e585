//! The second-order approximation of the expected score around the expected matrix, from the remark on nonlinear
//! scores in Marchetti et al. (2022).
//!
//! ```text
//! E[s] ≈ s(E[CM]) + ½ Σᵢⱼ ∂²s/∂xᵢ∂xⱼ Cov(xᵢ, xⱼ)        x = (TP, FP), FN = P − TP, TN = N − FP
//! ```
//!
//! The approximation is exact for linear scores and accurate for narrow priors. Computing the exact E[s] costs no more
//! ([`ScoreDistribution`](super::ScoreDistribution)); this approximation shows the effect of the curvature of the score.

use super::matrices::Matrices;
use crate::score::Score;

/// The second-order approximation of the expected score; `None` if it is not finite.
#[must_use]
pub fn taylor(score: &Score, matrices: &Matrices) -> Option<f64> {
    let mean = matrices.expected();
    let (curvature, covariance) = (score.formula().second_derivatives(&mean), matrices.covariance());
    let products = curvature.iter().flatten().zip(covariance.iter().flatten()).map(|(d, c)| d * c);
    let value = score.value(&mean) + 0.5 * products.sum::<f64>();
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prior, Probabilities, Rows};

    #[test]
    fn second_order_approximation_is_exact_for_quadratic_scores() {
        // A quadratic score has no terms beyond the second order, so its approximation is exact; for example, E[TP²] = E[TP]² + Var TP.
        let rows = Rows::new(Probabilities(&[0.75, 0.5, 0.25]), &[true, false, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let quadratic = Score::parse("tp*tp + 3*tp*fp").unwrap();
        let exact = matrices.score_distribution(&quadratic).unwrap().mean();
        assert!((taylor(&quadratic, &matrices).unwrap() - exact).abs() < 1e-15);
    }
}
