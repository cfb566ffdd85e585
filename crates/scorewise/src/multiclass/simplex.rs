//! Simplex loss: a row is assigned to exactly one of all classes, with one random threshold per class that follows a Gumbel distribution.
//!
//! ```text
//! class = argmaxₖ (zₖ − τₖ)        τₖ = μₖ − Gₖ/λ, Gₖ independent with P(G ≤ x) = exp(−e^(−x))
//! pⱼ = P(class = j) = softmax(λ(z − μ))ⱼ        Eᵧⱼ = Σ w pⱼ over rows of class y
//! ∂ℓ/∂zⱼ = λ w pⱼ (Sᵧⱼ − Σᵢ pᵢ Sᵧᵢ)        S = ∂ℓ/∂E
//! ```
//!
//! Here z are the logits of a row, w is its weight and y its true class. E is the expected confusion matrix and ℓ its loss. The threshold τₖ of
//! class k has the centre μₖ; all thresholds have the same sharpness λ.
//!
//! The probabilities p of a row sum to 1, so each row sum of E is the total weight of the rows of that class. With two classes, λ = 1 and μ = 0,
//! p₁ = σ(z₁ − z₀), as with the uniform prior for binary labels. By default λ is 1 and μ is 0, so that p is the softmax of the logits. As λ grows,
//! E approaches the matrix of the predictions argmax (z − μ). A larger μₖ makes class k less likely to be predicted.

use super::confusion::MultiConfusion;
use super::link::RowSoftmax;
use super::rows::{ClassRows, OneOf, value_for_each_class};
use super::score::MultiScore;
use crate::error::{Error, Result};
use crate::real::Real;

/// A score-oriented loss for several classes: the loss of the m×m confusion matrix that is expected if the thresholds follow Gumbel distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplexLoss {
    score: MultiScore,
    sharpness: f64,
    /// The centres μ of the distributions of the random thresholds: a single value for all classes, or one value per class.
    centres: Vec<f64>,
}

impl SimplexLoss {
    /// A loss for the given score with λ = 1 and μ = 0.
    #[must_use]
    pub fn new(score: MultiScore) -> Self {
        SimplexLoss { score, sharpness: 1.0, centres: vec![0.0] }
    }

    /// The same loss with another sharpness λ, which must lie between 1e-6 and 1e6.
    pub fn with_sharpness(self, sharpness: f64) -> Result<Self> {
        if !(1e-6..=1e6).contains(&sharpness) {
            let reason = format!("must be between 1e-6 and 1e6, not {sharpness}");
            return Err(Error::Setting { what: "sharpness", reason });
        }
        Ok(SimplexLoss { sharpness, ..self })
    }

    /// The same loss with other centres μ of the distributions of the random thresholds: one value per class, or a single value for all classes. A
    /// single value has no effect, because the same shift of all logits does not change the prediction. Every centre must lie between −1e6 and 1e6.
    pub fn with_centres(self, centres: Vec<f64>) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Setting { what: "centres", reason });
        if centres.is_empty() {
            return refuse(
                "must contain one centre for all classes or one centre for each class, but the list is empty".into(),
            );
        }
        match centres.iter().position(|centre| !(-1e6..=1e6).contains(centre)) {
            Some(class) => {
                refuse(format!("must lie between -1e6 and 1e6; the centre of class {class} is {}", centres[class]))
            }
            None => Ok(SimplexLoss { centres, ..self }),
        }
    }

    /// The score that the loss is based on.
    #[must_use]
    pub fn score(&self) -> &MultiScore {
        &self.score
    }

    /// The sharpness λ of the class probabilities.
    #[must_use]
    pub fn sharpness(&self) -> f64 {
        self.sharpness
    }

    /// The centres μ of the distributions of the random thresholds: a single value for all classes, or one value per class.
    #[must_use]
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// The expected confusion matrix of these rows. The matrices of several batches add up to the matrix of all their rows.
    pub fn expect<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>) -> Result<MultiConfusion> {
        let centres = self.centre_of_each_class(rows.classes())?;
        let mut expected = MultiConfusion::empty(rows.classes())?;
        let mut softmax = RowSoftmax::new(rows.classes());
        for row in 0..rows.len() {
            let weight = rows.weight(row);
            softmax.load(shifted_logits(rows.logits(row), &centres), self.sharpness);
            for class in 0..rows.classes() {
                expected.add_weight(rows.label(row), class, weight * softmax.probability(class));
            }
        }
        Ok(expected)
    }

    /// The loss of a confusion matrix.
    pub fn of(&self, matrix: &MultiConfusion) -> Result<f64> {
        let value = self.score.loss(matrix);
        if value.is_finite() { Ok(value) } else { Err(self.not_finite_error()) }
    }

    /// The derivatives ∂ℓ/∂E with respect to all m² cells of the matrix, row by row. Pass them to
    /// [`gradient_with`](SimplexLoss::gradient_with) for every batch that contributed to the matrix.
    pub fn derivatives(&self, matrix: &MultiConfusion) -> Result<Vec<f64>> {
        self.value_and_derivatives(matrix).map(|(_, derivatives)| derivatives)
    }

    /// The loss of a confusion matrix and its derivatives with respect to all m² cells, row by row.
    fn value_and_derivatives(&self, matrix: &MultiConfusion) -> Result<(f64, Vec<f64>)> {
        let (value, derivatives) = self.score.loss_and_derivatives(matrix);
        if value.is_finite() && derivatives.iter().all(|derivative| derivative.is_finite()) {
            return Ok((value, derivatives));
        }
        Err(self.not_finite_error())
    }

    /// The error for a confusion matrix at which the score or one of its derivatives is not finite.
    fn not_finite_error(&self) -> Error {
        Error::NotFinite { score: self.score.to_string() }
    }

    /// Writes the gradient of the loss with respect to the logits of these rows to `gradient`. Compute `derivatives` with
    /// [`derivatives`](SimplexLoss::derivatives) from the expected matrix of these rows. If the rows are one of several batches, compute them from
    /// the sum of the matrices of all batches instead.
    pub fn gradient_with<R: Real>(
        &self,
        derivatives: &[f64],
        rows: &ClassRows<'_, R, OneOf<'_>>,
        gradient: &mut [R],
    ) -> Result<()> {
        rows.check_gradient_length(gradient)?;
        let classes = rows.classes();
        let centres = self.centre_of_each_class(classes)?;
        if derivatives.len() != classes * classes {
            let reason =
                format!("must contain one value for each of {classes}×{classes} cells, not {}", derivatives.len());
            return Err(Error::Setting { what: "derivatives", reason });
        }
        let mut softmax = RowSoftmax::new(classes);
        for (row, gradient) in gradient.chunks_exact_mut(classes).enumerate() {
            let scale = self.sharpness * rows.weight(row);
            let derivatives = &derivatives[rows.label(row) * classes..][..classes];
            softmax.load(shifted_logits(rows.logits(row), &centres), self.sharpness);
            // The gradient does not change if the same number is subtracted from all derivatives. Here the derivative for the top class, which has
            // the largest shifted logit z − μ, is subtracted. The difference (derivative − mean) of the top class is then −mean. It is accurate
            // even where it is small, because no two numbers of similar size are subtracted.
            let relative = |class: usize| derivatives[class] - derivatives[softmax.top_class()];
            let mean: f64 = (0..classes).map(|class| softmax.probability(class) * relative(class)).sum();
            for (class, out) in gradient.iter_mut().enumerate() {
                *out = R::from_f64(scale * softmax.probability(class) * (relative(class) - mean));
            }
        }
        Ok(())
    }

    /// The loss ℓ of the rows.
    pub fn value<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`, row by row with one value per class.
    pub fn value_and_gradient<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>, gradient: &mut [R]) -> Result<f64> {
        let (value, derivatives) = self.value_and_derivatives(&self.expect(rows)?)?;
        self.gradient_with(&derivatives, rows, gradient)?;
        Ok(value)
    }

    /// For each class, the centre of the distribution of its random threshold; a single centre is repeated for all classes.
    fn centre_of_each_class(&self, classes: usize) -> Result<Vec<&f64>> {
        value_for_each_class("centres", &self.centres, classes)
    }
}

/// The shifted logits z − μ of a row, where z are its logits and μ the centres of the distributions of the random thresholds, one for each class.
fn shifted_logits<R: Real>(logits: &[R], centres: &[&f64]) -> impl Iterator<Item = f64> {
    logits.iter().zip(centres).map(|(logit, centre)| logit.to_f64() - **centre)
}
