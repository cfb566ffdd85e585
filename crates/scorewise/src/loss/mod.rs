//! Losses. A loss is computed from rows, together with its gradient with respect to their logits.
//!
//! ```
//! use scorewise::{Logits, Loss, Prior, Rows, Score, ScoreLoss};
//!
//! let (logits, labels) = ([2.0f32, -1.0, 0.3, -2.5], [true, false, true, false]);
//! let rows = Rows::new(Logits(&logits), &labels)?;
//! let loss = Loss::Score(ScoreLoss::new(Score::parse("f1")?, Prior::uniform()));
//! let mut gradient = [0.0; 4];
//! let value = loss.value_and_gradient(&rows, &mut gradient)?;
//! assert!(value > 0.0 && value < 1.0);
//! // Gradient descent raises the logits of positives and lowers those of negatives.
//! assert!(gradient[0] < 0.0 && gradient[1] > 0.0);
//! # Ok::<(), scorewise::Error>(())
//! ```

mod kernel;
mod score_loss;
mod curvature;
mod exact;
mod cross_entropy;

pub use cross_entropy::CrossEntropy;
pub use exact::ExactLoss;
pub(crate) use exact::{Steps, score_values};
pub use score_loss::ScoreLoss;
pub(crate) use score_loss::value_and_derivatives;

use crate::error::Result;
use crate::real::Real;
use crate::rows::{Logits, Rows, check_same_length};

/// The derivatives ∂ℓ/∂F of a loss ℓ for a positive and for a negative row of weight 1. F is the distribution function of the prior at the
/// predicted probability of the row. The gradient of a row depends on the other rows only through these two derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassDerivatives {
    /// The derivative of the loss ℓ with respect to F, the probability that a row is predicted positive, for a positive row. It
    /// equals ∂s/∂FN − ∂s/∂TP if higher values of the score s are better.
    pub positive: f64,
    /// The derivative of the loss ℓ with respect to F, the probability that a row is predicted positive, for a negative row. It
    /// equals ∂s/∂TN − ∂s/∂FP if higher values of the score s are better.
    pub negative: f64,
}

/// Any of the losses for binary labels.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// The loss of the expected confusion matrix, as in Marchetti et al. (2022). It is 1 − the score of this matrix if higher scores are better.
    Score(ScoreLoss),
    /// The expected loss over the random threshold, computed exactly. It is 1 − the expected score if higher scores are better.
    Exact(ExactLoss),
    /// Cross-entropy, unweighted or with class weights.
    CrossEntropy(CrossEntropy),
}

impl Loss {
    /// The loss of the rows.
    pub fn value<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>) -> Result<f64> {
        match self {
            Loss::Score(loss) => loss.value(rows),
            Loss::Exact(loss) => loss.value(rows),
            Loss::CrossEntropy(loss) => loss.value(rows),
        }
    }

    /// Returns the loss and writes its gradient with respect to the logits to `gradient`.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        match self {
            Loss::Score(loss) => loss.value_and_gradient(rows, gradient),
            Loss::Exact(loss) => loss.value_and_gradient(rows, gradient),
            Loss::CrossEntropy(loss) => loss.value_and_gradient(rows, gradient),
        }
    }
}

/// The derivative clamped to a finite range. If all predictions of a batch lie in the far lower tail of the prior, tp and fp are almost 0, and a
/// derivative of the precision tp/(tp + fp) can overflow, although its product with the density of the prior, which is almost 0 there too, may be
/// finite. The limit is low enough that a clamped derivative can be multiplied by weights up to 1e12. NaN, the difference of two infinite
/// derivatives, becomes 0.
pub(crate) fn finite_derivative(derivative: f64) -> f64 {
    if derivative.is_nan() { 0.0 } else { derivative.clamp(-1e290, 1e290) }
}

fn check_gradient_length<R: Real>(rows: &Rows<'_, Logits<'_, R>>, gradient: &[R]) -> Result<()> {
    check_same_length("gradient", rows.len(), gradient.len())
}
