//! LOSS: one door to all of them. Rows in; a value, and the gradient with respect to the logits, out.
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
//! assert!(gradient[0] < 0.0 && gradient[1] > 0.0); // descent lifts positives and sinks negatives
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
pub(crate) use score_loss::value_and_slopes;

use crate::error::Result;
use crate::real::Real;
use crate::rows::{Logits, Rows, same_length};

/// ∂ℓ/∂F of a positive and of a negative row with weight 1: the two numbers that a batch tells its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slopes {
    /// Of a positive: −g₁ where higher is better.
    pub positive: f64,
    /// Of a negative: −g₀ where higher is better.
    pub negative: f64,
}

/// Any of the losses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Loss {
    /// 1 − the score of the expected matrix: the paper's.
    Score(ScoreLoss),
    /// 1 − the exact expected score.
    Exact(ExactLoss),
    /// Cross-entropy, plain or weighted by class.
    CrossEntropy(CrossEntropy),
}

impl Loss {
    /// ℓ.
    pub fn value<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>) -> Result<f64> {
        match self {
            Loss::Score(loss) => loss.value(rows),
            Loss::Exact(loss) => loss.value(rows),
            Loss::CrossEntropy(loss) => loss.value(rows),
        }
    }

    /// ℓ, and ∂ℓ/∂z into the caller's slice.
    pub fn value_and_gradient<R: Real>(&self, rows: &Rows<'_, Logits<'_, R>>, gradient: &mut [R]) -> Result<f64> {
        match self {
            Loss::Score(loss) => loss.value_and_gradient(rows, gradient),
            Loss::Exact(loss) => loss.value_and_gradient(rows, gradient),
            Loss::CrossEntropy(loss) => loss.value_and_gradient(rows, gradient),
        }
    }
}

/// A slope that can be multiplied. Where a whole batch lies in the far tail, a quotient such as 2/(2tp + fp + fn) overflows, but its
/// product with the density, which vanishes there, need not: it is cut to what leaves room for weights up to 1e12. Two such
/// slopes against each other say nothing, and count 0.
pub(crate) fn finite_slope(slope: f64) -> f64 {
    if slope.is_nan() { 0.0 } else { slope.clamp(-1e290, 1e290) }
}

fn check_gradient<R: Real>(rows: &Rows<'_, Logits<'_, R>>, gradient: &[R]) -> Result<()> {
    same_length("gradient", rows.len(), gradient.len())
}
