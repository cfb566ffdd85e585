//! The paper's loss: 1 − the score of the expected confusion matrix.
//!
//! ```text
//! ℓ = 1 − s(TN, FP, FN, TP)        ∂ℓ/∂zᵢ = − wᵢ g f(pᵢ) pᵢ (1 − pᵢ)        g = g₁ for positives, g₀ for negatives
//! ```
//!
//! Two scalars, g₁ and g₀, carry everything that the rows need to know of each other. So the loss can be taken apart:
//! [`expect`](ScoreLoss::expect) batches anywhere and add the matrices up, take [`slopes`](ScoreLoss::slopes) once, then
//! finish each batch with [`gradient_with`](ScoreLoss::gradient_with); the result is that of one whole batch.

use super::{Slopes, check_gradient, finite_slope, kernel};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::{Counts, Shape};
use crate::prior::Prior;
use crate::real::Real;
use crate::rows::{Logits, Predictions, Rows};
use crate::score::{Direction, Score};

/// A score-oriented loss: a score, and the distribution of the threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreLoss {
    score: Score,
    prior: Prior,
    whole: Option<Whole>,
}

/// The data set that batches are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Whole {
    counts: Counts,
    rows: usize,
}

impl ScoreLoss {
    /// A loss for this score under this prior.
    #[must_use]
    pub fn new(score: Score, prior: Prior) -> Self {
        ScoreLoss { score, prior, whole: None }
    }

    /// The same loss with the class counts of the whole data set, so that the mean over mini-batches is the loss of the
    /// whole and a batch without positives does no harm. Only for scores that are linear at fixed class counts.
    ///
    /// A batch's matrix is then a guess of the whole's: guesses are averaged, not added.
    pub fn with_class_counts(mut self, counts: Counts, rows: usize) -> Result<Self> {
        let refuse = |reason: String| Err(Error::Setting { what: "class counts", reason });
        if let Direction::Toward(ideal) = self.score.direction() {
            return refuse(format!(
                "help only a loss that is linear; that of `{}` is its distance from {ideal}",
                self.score
            ));
        }
        let here = self.score.formula().shape_at(counts.positives, counts.negatives);
        if self.score.shape() != Shape::Linear || here != Shape::Linear {
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
        self.whole = Some(Whole { counts, rows });
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

    /// The expected confusion matrix of these rows. Matrices of batches add up to that of the whole.
    pub fn expect<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<Confusion> {
        let batch = kernel::expect(&self.prior, rows)?;
        let Some(whole) = self.whole else { return Ok(batch) };
        // An unbiased guess of the whole data set's hits and false alarms. Its rest may fall below 0 in an unlucky batch;
        // a linear score does not mind.
        let scale = whole.rows as f64 / rows.len() as f64;
        let (tp, fp) = (scale * batch.tp, scale * batch.fp);
        Ok(Confusion::new(whole.counts.negatives - fp, fp, whole.counts.positives - tp, tp))
    }

    /// The loss of a confusion matrix.
    pub fn of(&self, confusion: &Confusion) -> Result<f64> {
        self.value_and_slopes(confusion).map(|(value, _)| value)
    }

    /// The two scalars of a confusion matrix that finish the gradient of every batch in it.
    pub fn slopes(&self, confusion: &Confusion) -> Result<Slopes> {
        self.value_and_slopes(confusion).map(|(_, slopes)| slopes)
    }

    fn value_and_slopes(&self, confusion: &Confusion) -> Result<(f64, Slopes)> {
        value_and_slopes(&self.score, confusion)
    }

    /// Writes ∂ℓ/∂z of these rows, the slopes being those of the whole batch that they belong to.
    pub fn gradient_with<R: Real>(
        &self,
        slopes: Slopes,
        rows: &Rows<'_, Logits<'_, R>>,
        gradient: &mut [R],
    ) -> Result<()> {
        check_gradient(rows, gradient)?;
        kernel::gradient(&self.prior, rows, self.scaled(slopes, rows.len()), gradient);
        Ok(())
    }

    pub(super) fn scaled(&self, slopes: Slopes, rows: usize) -> Slopes {
        let scale = self.whole.map_or(1.0, |whole| whole.rows as f64 / rows as f64);
        Slopes { positive: scale * slopes.positive, negative: scale * slopes.negative }
    }

    /// ℓ.
    pub fn value<P: Predictions>(&self, rows: &Rows<'_, P>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// ℓ, and ∂ℓ/∂z into the caller's slice.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        let (value, slopes) = self.value_and_slopes(&self.expect(rows)?)?;
        self.gradient_with(slopes, rows, gradient)?;
        Ok(value)
    }
}

/// The loss of a score on a confusion matrix, and its two scalars.
pub(crate) fn value_and_slopes(score: &Score, confusion: &Confusion) -> Result<(f64, Slopes)> {
    let reduced = score.formula().reduced(confusion);
    let loss = score.loss_slope(reduced.value);
    if !reduced.value.is_finite() {
        return Err(Error::NotFinite { score: score.name().to_string() });
    }
    // A class without weight moves nothing, however steep the score would be if it did.
    let counts = confusion.counts();
    let slope = |slope: f64, weight: f64| if weight == 0.0 { 0.0 } else { finite_slope(loss * slope) };
    let positive = slope(reduced.positive, counts.positives);
    let negative = slope(reduced.negative, counts.negatives);
    Ok((score.loss(reduced.value), Slopes { positive, negative }))
}
