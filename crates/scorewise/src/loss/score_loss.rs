//! The score-oriented loss of Marchetti et al. (2022): the loss of the expected confusion matrix. For a score where higher is better:
//!
//! ```text
//! ℓ = 1 − s(TN, FP, FN, TP)        ∂ℓ/∂zᵢ = − wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = g₁ for positives, g₀ for negatives
//! ```
//!
//! Here s is the score, TN, FP, FN, TP the expected confusion matrix, zᵢ the logit of row i, wᵢ its weight, pᵢ = σ(zᵢ) its probability, f the
//! density of the prior, g₁ = ∂s/∂TP − ∂s/∂FN and g₀ = ∂s/∂FP − ∂s/∂TN.
//!
//! The rows interact only through the two scalars g₁ and g₀, so the loss can be computed batch by batch: compute the matrix of each batch with
//! [`expect`](ScoreLoss::expect), add the matrices, compute the [`derivatives`](ScoreLoss::derivatives) at the sum once, then compute the
//! gradient of each batch with [`gradient_with`](ScoreLoss::gradient_with). The result is the same as for a single large batch.

use super::{ClassDerivatives, check_gradient_length, finite_derivative, kernel};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::{ClassCounts, Shape};
use crate::prior::Prior;
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::score::{Direction, Score};

/// The score-oriented loss of Marchetti et al. (2022): the loss of the confusion matrix that is expected under the prior of the threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreLoss {
    score: Score,
    prior: Prior,
    data_set: Option<DataSet>,
}

/// Class counts and number of rows of the data set that the batches are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DataSet {
    counts: ClassCounts,
    rows: usize,
}

impl ScoreLoss {
    /// A loss for the given score and prior.
    #[must_use]
    pub fn new(score: Score, prior: Prior) -> Self {
        ScoreLoss { score, prior, data_set: None }
    }

    /// The same loss with the class counts of the whole data set instead of those of a batch. The expected loss of a
    /// random mini-batch is then the loss of the whole data set, even if some batches contain no positives. This is allowed only for scores
    /// that are linear at fixed class counts and have no ideal value ([`Direction::Toward`]).
    ///
    /// With this setting the matrix of a batch estimates the matrix of the whole data set, so matrices of batches are averaged, not added.
    pub fn with_class_counts(mut self, counts: ClassCounts, rows: usize) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Setting { what: "class counts", reason });
        if let Direction::Toward(ideal) = self.score.direction() {
            return refuse(format!(
                "can be set only for a loss that is linear in the confusion matrix; the loss of `{}` is the distance from {ideal}, which is not linear",
                self.score
            ));
        }
        let shape_at_counts = self.score.formula().shape_at(counts.positives, counts.negatives);
        if self.score.shape() != Shape::Linear || shape_at_counts != Shape::Linear {
            return refuse(format!(
                "can be set only for a score that is linear in the matrix; `{}` is not",
                self.score
            ));
        }
        if !(counts.positives > 0.0 && counts.negatives > 0.0 && (counts.positives + counts.negatives).is_finite()) {
            return refuse(format!(
                "must both be above 0, not {} positives and {} negatives",
                counts.positives, counts.negatives
            ));
        }
        if rows == 0 {
            return refuse(
                "can be set only together with the number of rows of the whole data set, which must not be 0".into(),
            );
        }
        self.data_set = Some(DataSet { counts, rows });
        Ok(self)
    }

    /// The score that the loss is based on.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior of the threshold.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The expected confusion matrix of these rows. The matrices of several batches add up to the matrix of all their rows, unless the class
    /// counts of the whole data set were set with [`with_class_counts`](ScoreLoss::with_class_counts).
    pub fn expect<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<Confusion> {
        let batch = kernel::expected_confusion(&self.prior, rows)?;
        let Some(data_set) = self.data_set else { return Ok(batch) };
        // Scaling gives an unbiased estimate of the true and false positives of the whole data set. The cells fn and tn may be negative for
        // some batches, which does no harm because the score is linear.
        let scale = data_set.rows as f64 / rows.len() as f64;
        let (tp, fp) = (scale * batch.tp, scale * batch.fp);
        Ok(Confusion::new(data_set.counts.negatives - fp, fp, data_set.counts.positives - tp, tp))
    }

    /// The loss of a confusion matrix.
    pub fn of(&self, confusion: &Confusion) -> Result<f64> {
        self.value_and_derivatives(confusion).map(|(value, _)| value)
    }

    /// The derivatives of the loss at a confusion matrix. Pass them to [`gradient_with`](ScoreLoss::gradient_with) for every batch that
    /// contributed to the matrix.
    pub fn derivatives(&self, confusion: &Confusion) -> Result<ClassDerivatives> {
        self.value_and_derivatives(confusion).map(|(_, derivatives)| derivatives)
    }

    /// The loss of a confusion matrix and its derivatives for positive and for negative rows.
    fn value_and_derivatives(&self, confusion: &Confusion) -> Result<(f64, ClassDerivatives)> {
        value_and_derivatives(&self.score, confusion)
    }

    /// Writes the gradient of the loss with respect to the logits of these rows to `gradient`. Compute `derivatives` with
    /// [`derivatives`](ScoreLoss::derivatives) from the expected matrix of these rows. If the rows are one of several batches, compute them from
    /// the sum of the matrices of all batches instead.
    pub fn gradient_with<R: Real>(
        &self,
        derivatives: ClassDerivatives,
        rows: &Rows<'_, Logits<'_, R>>,
        gradient: &mut [R],
    ) -> Result<()> {
        check_gradient_length(rows, gradient)?;
        kernel::write_gradient(&self.prior, rows, self.scaled_derivatives(derivatives, rows.len()), gradient);
        Ok(())
    }

    /// The derivatives of the loss for the rows of one batch. If the class counts of the whole data set are set, `expect` scales the matrix of the
    /// batch up to the size of the data set, so the derivatives are multiplied by the same factor.
    pub(super) fn scaled_derivatives(&self, derivatives: ClassDerivatives, rows: usize) -> ClassDerivatives {
        let scale = self.data_set.map_or(1.0, |data_set| data_set.rows as f64 / rows as f64);
        ClassDerivatives { positive: scale * derivatives.positive, negative: scale * derivatives.negative }
    }

    /// The loss ℓ of the rows.
    pub fn value<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        let (value, derivatives) = self.value_and_derivatives(&self.expect(rows)?)?;
        self.gradient_with(derivatives, rows, gradient)?;
        Ok(value)
    }
}

/// The loss of a score at a confusion matrix, and the derivatives of this loss for positive and for negative rows (see [`ClassDerivatives`]).
pub(crate) fn value_and_derivatives(score: &Score, confusion: &Confusion) -> Result<(f64, ClassDerivatives)> {
    let reduced = score.formula().reduced(confusion);
    let loss_derivative = score.loss_derivative(reduced.value);
    if !reduced.value.is_finite() {
        return Err(Error::NotFinite { score: score.name().to_string() });
    }
    // A class whose total weight is 0 contributes nothing to the loss, so its derivative is set to 0, even where the formula gives a large one.
    let counts = confusion.counts();
    let derivative = |derivative: f64, weight: f64| {
        if weight == 0.0 { 0.0 } else { finite_derivative(loss_derivative * derivative) }
    };
    let positive = derivative(reduced.positive, counts.positives);
    let negative = derivative(reduced.negative, counts.negatives);
    Ok((score.loss(reduced.value), ClassDerivatives { positive, negative }))
}
