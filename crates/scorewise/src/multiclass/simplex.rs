//! One decision among all classes, under thresholds that follow a Gumbel distribution.
//!
//! ```text
//! class = argmaxₖ (zₖ − τₖ)        τₖ = μₖ − Gₖ/λ, Gₖ independent with P(G ≤ x) = exp(−e^(−x))
//! P(j) = softmax(λ(z − μ))ⱼ        Eᵧⱼ = Σ w P(j) over rows of class y
//! ∂ℓ/∂zⱼ = λ w pⱼ (Sᵧⱼ − Σᵢ pᵢ Sᵧᵢ)        S = ∂ℓ/∂E
//! ```
//!
//! A row is shared out among the classes and no more, so the matrix keeps its row sums. With two classes and λ = 1, P(1) =
//! σ(z₁ − z₀): the uniform prior. λ is the sharpness: 1 by default, because the probabilities are then the network's own softmax;
//! as λ grows the matrix approaches the one counted with argmax (z − μ). A greater μₖ makes class k harder to predict.

use super::confusion::MultiConfusion;
use super::link::Softmax;
use super::rows::{ClassRows, OneOf};
use super::score::MultiScore;
use crate::error::{Error, Result};
use crate::real::Real;

/// A score-oriented loss over the m×m matrix expected under Gumbel thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct SimplexLoss {
    score: MultiScore,
    sharpness: f64,
    /// One for all classes, or one for each.
    centres: Vec<f64>,
}

impl SimplexLoss {
    /// A loss for this score with λ = 1 and μ = 0.
    #[must_use]
    pub fn new(score: MultiScore) -> Self {
        SimplexLoss { score, sharpness: 1.0, centres: vec![0.0] }
    }

    /// The same with another λ, between 1e-6 and 1e6.
    pub fn with_sharpness(self, sharpness: f64) -> Result<Self> {
        if !(1e-6..=1e6).contains(&sharpness) {
            let reason = format!("must be above 0 (between 1e-6 and 1e6), not {sharpness}");
            return Err(Error::Setting { what: "sharpness", reason });
        }
        Ok(SimplexLoss { sharpness, ..self })
    }

    /// The same with other centres μ of the thresholds, one for all classes (which changes nothing) or one for each,
    /// between −1e6 and 1e6.
    pub fn with_centres(self, centres: Vec<f64>) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Setting { what: "centres", reason });
        if centres.is_empty() {
            return refuse("must be one for all classes or one for each, not none".into());
        }
        match centres.iter().position(|centre| !(-1e6..=1e6).contains(centre)) {
            Some(class) => {
                refuse(format!("must lie between -1e6 and 1e6; that of class {class} is {}", centres[class]))
            }
            None => Ok(SimplexLoss { centres, ..self }),
        }
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &MultiScore {
        &self.score
    }

    /// λ.
    #[must_use]
    pub fn sharpness(&self) -> f64 {
        self.sharpness
    }

    /// μ: one for all classes, or one for each.
    #[must_use]
    pub fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// The expected confusion matrix of these rows. Matrices of batches add up to that of the whole.
    pub fn expect<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>) -> Result<MultiConfusion> {
        let centres = self.centres_of(rows.classes())?;
        let mut expected = MultiConfusion::empty(rows.classes())?;
        let mut softmax = Softmax::new(rows.classes());
        for row in 0..rows.len() {
            let weight = rows.weight(row);
            softmax.set(shifted(rows.logits(row), &centres), self.sharpness);
            for class in 0..rows.classes() {
                expected.count(rows.label(row), class, weight * softmax.probability(class));
            }
        }
        Ok(expected)
    }

    /// The loss of a confusion matrix.
    pub fn of(&self, matrix: &MultiConfusion) -> Result<f64> {
        let value = self.score.loss(matrix);
        if value.is_finite() { Ok(value) } else { Err(self.not_finite()) }
    }

    /// ∂ℓ/∂E by all m² cells, row by row: what finishes the gradient of every batch in this matrix.
    pub fn slopes(&self, matrix: &MultiConfusion) -> Result<Vec<f64>> {
        self.value_and_slopes(matrix).map(|(_, slopes)| slopes)
    }

    fn value_and_slopes(&self, matrix: &MultiConfusion) -> Result<(f64, Vec<f64>)> {
        let (value, slopes) = self.score.loss_and_slopes(matrix);
        if value.is_finite() && slopes.iter().all(|slope| slope.is_finite()) {
            return Ok((value, slopes));
        }
        Err(self.not_finite())
    }

    fn not_finite(&self) -> Error {
        Error::NotFinite { score: self.score.to_string() }
    }

    /// Writes ∂ℓ/∂z of these rows, the slopes being those of the whole batch that they belong to.
    pub fn gradient_with<R: Real>(
        &self,
        slopes: &[f64],
        rows: &ClassRows<'_, R, OneOf<'_>>,
        gradient: &mut [R],
    ) -> Result<()> {
        rows.check_gradient(gradient)?;
        let classes = rows.classes();
        let centres = self.centres_of(classes)?;
        if slopes.len() != classes * classes {
            let reason = format!("must be one for each of {classes}×{classes} cells, not {}", slopes.len());
            return Err(Error::Setting { what: "slopes", reason });
        }
        let mut softmax = Softmax::new(classes);
        for (row, gradient) in gradient.chunks_exact_mut(classes).enumerate() {
            let scale = self.sharpness * rows.weight(row);
            let slopes = &slopes[rows.label(row) * classes..][..classes];
            softmax.set(shifted(rows.logits(row), &centres), self.sharpness);
            // Slopes are counted from that of the greatest class: then its own is the mean alone, small and to all digits, where
            // S − mean would cancel.
            let from_top = |class: usize| slopes[class] - slopes[softmax.top()];
            let mean: f64 = (0..classes).map(|class| softmax.probability(class) * from_top(class)).sum();
            for (class, out) in gradient.iter_mut().enumerate() {
                *out = R::of(scale * softmax.probability(class) * (from_top(class) - mean));
            }
        }
        Ok(())
    }

    /// ℓ.
    pub fn value<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// ℓ, and ∂ℓ/∂z into the caller's slice, row by row with one number a class.
    pub fn value_and_gradient<R: Real>(&self, rows: &ClassRows<'_, R, OneOf<'_>>, gradient: &mut [R]) -> Result<f64> {
        let (value, slopes) = self.value_and_slopes(&self.expect(rows)?)?;
        self.gradient_with(&slopes, rows, gradient)?;
        Ok(value)
    }

    /// The centre of every class.
    fn centres_of(&self, classes: usize) -> Result<Vec<f64>> {
        match self.centres.as_slice() {
            [one] => Ok(vec![*one; classes]),
            all if all.len() == classes => Ok(all.to_vec()),
            all => {
                let reason = format!("must be one for all classes or one for each of the {classes}, not {}", all.len());
                Err(Error::Setting { what: "centres", reason })
            }
        }
    }
}

/// z − μ.
fn shifted<R: Real>(logits: &[R], centres: &[f64]) -> impl Iterator<Item = f64> {
    logits.iter().zip(centres).map(|(logit, centre)| logit.wide() - centre)
}
