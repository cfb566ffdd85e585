//! The loss of the paper: 1 − the score of the expected confusion matrix.
//!
//! ```text
//! ℓ = 1 − s(TN, FP, FN, TP)        ∂ℓ/∂zᵢ = − wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = g₁ for positives, g₀ for negatives
//! ```
//!
//! The rows interact only through the two scalars g₁ and g₀, so the loss can be computed in parts: compute the matrix of each batch with
//! [`expect`](ScoreLoss::expect) and add them, compute the [`derivatives`](ScoreLoss::slopes) of the sum once, then compute the gradient of
//! each batch with [`gradient_with`](ScoreLoss::gradient_with). The result is that of a single large batch.

use super::{ClassDerivatives, check_gradient, finite_derivative, kernel};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::{ClassCounts, Shape};
use crate::prior::Prior;
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::score::{Direction, Score};

/// A score-oriented loss: a score and the prior of the threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreLoss {
    score: Score,
    prior: Prior,
    data_set: Option<DataSet>,
}

/// The data set that the batches are drawn from.
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

    /// The same loss with the class counts of the whole data set, so that the mean over mini-batches is the loss of the
    /// whole data set, and batches without positives are harmless. Only for scores that are linear at fixed class counts.
    ///
    /// The matrix of a batch is then an estimate of the matrix of the whole data set: estimates are averaged, not added.
    pub fn with_class_counts(mut self, counts: ClassCounts, rows: usize) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Setting { what: "class counts", reason });
        if let Direction::Toward(ideal) = self.score.direction() {
            return refuse(format!(
                "help only a loss that is linear; that of `{}` is its distance from {ideal}",
                self.score
            ));
        }
        let shape_at_counts = self.score.formula().shape_at(counts.positives, counts.negatives);
        if self.score.shape() != Shape::Linear || shape_at_counts != Shape::Linear {
            return refuse(format!("help only a score that is linear in the matrix; `{}` is not", self.score));
        }
        if !(counts.positives > 0.0 && counts.negatives > 0.0 && (counts.positives + counts.negatives).is_finite()) {
            return refuse(format!(
                "must both be above 0, not {} positives and {} negatives",
                counts.positives, counts.negatives
            ));
        }
        if rows == 0 {
            return refuse("need the number of rows of the whole data set".into());
        }
        self.data_set = Some(DataSet { counts, rows });
        Ok(self)
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The prior.
    #[must_use]
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The expected confusion matrix of these rows. The matrices of batches add up to that of all rows.
    pub fn expect<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<Confusion> {
        let batch = kernel::expect(&self.prior, rows)?;
        let Some(data_set) = self.data_set else { return Ok(batch) };
        // An unbiased estimate of the true and false positives of the whole data set. The other cells may be negative for some batches,
        // which is valid for a linear score.
        let scale = data_set.rows as f64 / rows.len() as f64;
        let (tp, fp) = (scale * batch.tp, scale * batch.fp);
        Ok(Confusion::new(data_set.counts.negatives - fp, fp, data_set.counts.positives - tp, tp))
    }

    /// The loss of a confusion matrix.
    pub fn of(&self, confusion: &Confusion) -> Result<f64> {
        self.value_and_derivatives(confusion).map(|(value, _)| value)
    }

    /// The derivatives with respect to a confusion matrix that [`gradient_with`](ScoreLoss::gradient_with) needs for every
    /// batch that contributed to it.
    pub fn derivatives(&self, confusion: &Confusion) -> Result<ClassDerivatives> {
        self.value_and_derivatives(confusion).map(|(_, derivatives)| derivatives)
    }

    fn value_and_derivatives(&self, confusion: &Confusion) -> Result<(f64, ClassDerivatives)> {
        value_and_derivatives(&self.score, confusion)
    }

    /// Writes ∂ℓ/∂z of these rows to `gradient`. The slopes must be those of the whole batch that the rows belong to.
    pub fn gradient_with<R: Real>(
        &self,
        derivatives: ClassDerivatives,
        rows: &Rows<'_, Logits<'_, R>>,
        gradient: &mut [R],
    ) -> Result<()> {
        check_gradient(rows, gradient)?;
        kernel::gradient(&self.prior, rows, self.scaled(derivatives, rows.len()), gradient);
        Ok(())
    }

    pub(super) fn scaled(&self, derivatives: ClassDerivatives, rows: usize) -> ClassDerivatives {
        let scale = self.data_set.map_or(1.0, |data_set| data_set.rows as f64 / rows as f64);
        ClassDerivatives { positive: scale * derivatives.positive, negative: scale * derivatives.negative }
    }

    /// The loss ℓ.
    pub fn value<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// The loss ℓ; the gradient ∂ℓ/∂z is written to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        let (value, derivatives) = self.value_and_derivatives(&self.expect(rows)?)?;
        self.gradient_with(derivatives, rows, gradient)?;
        Ok(value)
    }
}

/// The loss of a score on a confusion matrix, and its derivatives for the rows of the two classes.
pub(crate) fn value_and_derivatives(score: &Score, confusion: &Confusion) -> Result<(f64, ClassDerivatives)> {
    let reduced = score.formula().reduced(confusion);
    let loss = score.loss_derivative(reduced.value);
    if !reduced.value.is_finite() {
        return Err(Error::NotFinite { score: score.name().to_string() });
    }
    // A class without weight contributes nothing, however large the derivative.
    let counts = confusion.counts();
    let derivative =
        |derivative: f64, weight: f64| if weight == 0.0 { 0.0 } else { finite_derivative(loss * derivative) };
    let positive = derivative(reduced.positive, counts.positives);
    let negative = derivative(reduced.negative, counts.negatives);
    Ok((score.loss(reduced.value), ClassDerivatives { positive, negative }))
}
