//! Gradient and positive curvature of the score loss, in the form that libraries for gradient-boosted trees require.
//!
//! ```text
//! gᵢ = n ∂ℓ/∂zᵢ        hᵢ = n max(|∂ℓ/∂zᵢ|, floor · d · wᵢ |∂ℓ/∂F|)        d = f(m) m (1 − m), m the mean of the prior
//! ```
//!
//! Here ℓ is the loss, n the number of rows, z the margin (a logit), w the weight, `floor` a fraction between 0 and 1, f the density of the prior,
//! and ∂ℓ/∂F the derivative for the class of the row ([`ClassDerivatives`](super::ClassDerivatives)).
//!
//! A leaf of a boosted tree gets the value −Σg / (Σh + λ), so h must be positive. The second derivative of ℓ is not always positive: it
//! changes sign within the support of the prior and is 0 outside. Therefore h is computed from |∂ℓ/∂z| instead. Then |Σg| ≤ Σh, so every leaf
//! value lies between −1 and 1 for any score and any event rate. Outside the support of the prior ∂ℓ/∂z is 0 as well. There h is `floor` times
//! the h of a row of the same class and weight whose prediction is the mean of the prior, so that rows outside the support still count in Σh and
//! keep the value of their leaf small. Finally h is at least 1e-16, so that it stays positive where ∂ℓ/∂F or the weight is 0.
//!
//! With the factor n the gradient of a row is of the order of 1, as the limits on Σh in libraries for boosted trees (`min_child_weight`,
//! `min_sum_hessian_in_leaf`) assume.

use super::{ScoreLoss, check_gradient_length};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Logits, Rows, check_same_length};

impl ScoreLoss {
    /// Writes a gradient and a positive curvature of each row to `gradient` and `curvature`, as libraries for gradient-boosted trees require them.
    /// The gradient of a row is n times the derivative of the loss with respect to its logit, where n is the number of rows.
    ///
    /// The curvature of a row is at least `floor` times the curvature of a row of the same class and weight whose prediction is the mean of the
    /// prior. `floor` must be greater than 0 and at most 1.
    ///
    /// ```
    /// use scorewise::{Logits, Prior, Rows, Score, ScoreLoss};
    ///
    /// let (margins, labels) = ([0.1_f32, -0.2, 4.0], [true, false, false]);
    /// let loss = ScoreLoss::new(Score::parse("f1")?, "cosine:0.5,0.1".parse::<Prior>()?);
    /// let (mut gradient, mut curvature) = ([0.0_f32; 3], [0.0; 3]);
    /// loss.gradient_and_curvature(&Rows::new(Logits(&margins), &labels)?, 0.1, &mut gradient, &mut curvature)?;
    /// assert_eq!(curvature[0], gradient[0].abs());
    /// assert!(gradient[2] == 0.0 && curvature[2] > 0.0); // outside the support of the prior
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn gradient_and_curvature<R: Real>(
        &self,
        rows: &Rows<'_, Logits<'_, R>>,
        floor: f64,
        gradient: &mut [R],
        curvature: &mut [R],
    ) -> Result<()> {
        if !(floor > 0.0 && floor <= 1.0) {
            return Err(Error::Setting {
                what: "floor",
                reason: format!("must be above 0 and at most 1, not {floor}"),
            });
        }
        check_gradient_length(rows, gradient)?;
        check_same_length("curvature", rows.len(), curvature.len())?;
        let derivatives = self.derivatives(&self.expect(rows)?)?;
        self.gradient_with(derivatives, rows, gradient)?;
        let derivatives = self.scaled_derivatives(derivatives, rows.len());
        let mean = self.prior().mean();
        let density = self.prior().logit_density((mean / (1.0 - mean)).ln()).max(f64::MIN_POSITIVE);
        let scale = rows.len() as f64;
        for (row, (gradient, curvature)) in gradient.iter_mut().zip(curvature).enumerate() {
            let derivative = if rows.labels()[row] { derivatives.positive } else { derivatives.negative };
            let minimum = floor * density * derivative.abs() * rows.weight(row);
            let derivative = gradient.to_f64();
            *curvature = R::from_f64((scale * derivative.abs().max(minimum)).max(1e-16));
            *gradient = R::from_f64(scale * derivative);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prior::Prior;
    use crate::score::Score;

    /// The labels of the six rows that the tests use.
    const LABELS: [bool; 6] = [true, false, true, false, false, true];
    /// The margins (logits) of the six rows that the tests use.
    const MARGINS: [f64; 6] = [0.3, -0.4, -0.1, 0.2, -9.0, 9.0];
    /// The weights of the six rows that the tests use.
    const WEIGHTS: [f64; 6] = [1.0, 2.0, 0.5, 1.5, 1.0, 3.0];
    /// A prior with support [0.3, 0.7]; the probabilities σ(−9) and σ(9) of the last two `MARGINS` lie outside it.
    const PRIOR: &str = "cosine:0.5,0.2";

    /// The loss of a score under a prior, both given as text.
    fn loss(score: &str, prior: &str) -> ScoreLoss {
        ScoreLoss::new(Score::parse(score).unwrap(), prior.parse::<Prior>().unwrap())
    }

    /// Rows with the given margins and with the labels and weights of the tests.
    fn rows(margins: &[f64]) -> Rows<'_, Logits<'_, f64>> {
        Rows::new(Logits(margins), &LABELS).unwrap().weighted(&WEIGHTS).unwrap()
    }

    /// The gradient and the curvature of the loss for rows with the given margins.
    fn gradient_and_curvature(loss: &ScoreLoss, margins: &[f64], floor: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut gradient, mut curvature) = (vec![0.0; margins.len()], vec![0.0; margins.len()]);
        loss.gradient_and_curvature(&rows(margins), floor, &mut gradient, &mut curvature).unwrap();
        (gradient, curvature)
    }

    #[test]
    fn gradient_matches_central_differences_and_curvature_is_its_absolute_value() {
        for score in ["f1", "csi", "tss", "hss"] {
            for prior in [PRIOR, "uniform", "beta:2,5"] {
                let loss = loss(score, prior);
                let (gradient, curvature) = gradient_and_curvature(&loss, &MARGINS, 1e-9);
                for row in 0..MARGINS.len() {
                    let value_after = |step: f64| {
                        let mut margins = MARGINS;
                        margins[row] += step;
                        loss.value(&rows(&margins)).unwrap()
                    };
                    let difference = 6.0 * (value_after(1e-5) - value_after(-1e-5)) / 2e-5;
                    assert!(
                        (gradient[row] - difference).abs() < 1e-8,
                        "wrong gradient of {score} under {prior}, row {row}"
                    );
                    assert!(
                        (curvature[row] - difference.abs()).abs() < 1e-8,
                        "wrong curvature of {score} under {prior}, row {row}"
                    );
                }
            }
        }
    }

    #[test]
    fn outside_the_support_of_the_prior_the_curvature_is_floor_times_the_curvature_at_the_mean() {
        let loss = loss("tss", PRIOR);
        let derivatives = loss.derivatives(&loss.expect(&rows(&MARGINS)).unwrap()).unwrap();
        let (gradient, curvature) = gradient_and_curvature(&loss, &MARGINS, 0.25);
        assert_eq!(gradient[4..], [0.0, 0.0]);
        // At the mean m = 0.5 the density of the prior is f(m) = 1/δ = 5, so its density with respect to the logit is f(m) m (1 − m) = 5 · 0.25.
        let expected = |derivative: f64, weight: f64| 6.0 * 0.25 * (5.0 * 0.25) * weight * derivative.abs();
        assert!((curvature[4] - expected(derivatives.negative, 1.0)).abs() < 1e-12);
        assert!((curvature[5] - expected(derivatives.positive, 3.0)).abs() < 1e-12);
    }

    #[test]
    fn curvature_is_positive_and_at_least_the_absolute_gradient() {
        for margins in [MARGINS, [800.0; 6], [-800.0; 6], [0.0; 6]] {
            for score in ["f1", "csi", "bias", "mcc"] {
                let (gradient, curvature) = gradient_and_curvature(&loss(score, PRIOR), &margins, 0.1);
                for (gradient, curvature) in gradient.iter().zip(&curvature) {
                    assert!(*curvature >= gradient.abs() && *curvature > 0.0, "{score}: {gradient}, {curvature}");
                }
            }
        }
    }

    #[test]
    fn a_floor_outside_its_range_and_slices_of_the_wrong_length_are_rejected() {
        let (loss, mut gradient, mut curvature) = (loss("f1", PRIOR), [0.0; 6], [0.0; 6]);
        for floor in [0.0, 1.5, f64::NAN] {
            let error = loss.gradient_and_curvature(&rows(&MARGINS), floor, &mut gradient, &mut curvature).unwrap_err();
            assert_eq!(error.to_string(), format!("floor must be above 0 and at most 1, not {floor}"));
        }
        let error = loss.gradient_and_curvature(&rows(&MARGINS), 0.1, &mut gradient, &mut curvature[..5]).unwrap_err();
        assert_eq!(error.to_string(), "wrong number of rows in curvature: 5, expected 6");
    }
}
