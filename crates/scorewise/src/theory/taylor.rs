//! The paper's remark on scores that are not linear: the expected score to second order around the expected matrix.
//!
//! ```text
//! E[s] ≈ s(E[CM]) + ½ Σᵢⱼ ∂²s/∂xᵢ∂xⱼ Cov(xᵢ, xⱼ)        x = (TP, FP), FN = P − TP, TN = N − FP
//! ```
//!
//! Exact where s is linear, good where the prior is narrow. The exact E[s] costs no more here ([`Law`](super::Law)); this is
//! for seeing what the score's curvature does to it.

use super::matrices::Matrices;
use crate::score::Score;

/// The expected score to second order; nothing where the curvature at the expected matrix is not finite.
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
    fn square_is_its_own_second_order() {
        // E[TP²] = E[TP]² + Var TP, whatever the rows.
        let rows = Rows::new(Probabilities(&[0.75, 0.5, 0.25]), &[true, false, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let square = Score::parse("tp*tp + 3*tp*fp").unwrap();
        let exact = matrices.law(&square).unwrap().mean();
        assert!((taylor(&square, &matrices).unwrap() - exact).abs() < 1e-15);
    }
}
