//! The theorems of Marchetti et al. (2022) about a score under a random threshold, with the exact value next to each bound.
//!
//! ```text
//! rows, prior → matrices with their probabilities → distribution of the score → bounds, Taylor, calibrated threshold
//! ```
//!
//! The confusion matrix changes only where the threshold passes a prediction. So for any score, linear or not, the expectation, the deviation
//! and the tail probabilities over the threshold are finite sums, and the theorems can be checked. (The bounds of two of the theorems needed a
//! correction: see [`bounds`].)
//!
//! ```
//! use scorewise::theory::{self, DEFAULT_FRACTIONS, ScoreDistribution};
//! use scorewise::{Prior, Probabilities, Rows, Score};
//!
//! let probabilities = [0.9, 0.6, 0.4, 0.1];
//! let labels = [true, true, false, false];
//! let rows = Rows::new(Probabilities(&probabilities), &labels)?;
//! let (f1, prior) = (Score::parse("f1")?, Prior::uniform());
//!
//! // Probability times F1 for thresholds above 0.9, in 0.6–0.9, 0.4–0.6, 0.1–0.4 and below 0.1.
//! let expected = 0.1 * 0.0 + 0.3 * 2.0 / 3.0 + 0.2 * 1.0 + 0.3 * 4.0 / 5.0 + 0.1 * 2.0 / 3.0;
//! let distribution = ScoreDistribution::new(&f1, &prior, &rows)?;
//! assert!((distribution.mean() - expected).abs() < 1e-15);
//! assert!((distribution.cdf(0.7) - 0.5).abs() < 1e-15); // F1 is at most 0.7 with probability ½
//!
//! let theory = theory::report(&f1, &prior, &rows, &DEFAULT_FRACTIONS, None)?;
//! assert!((theory.score_of_expectation - 3.0 / 4.0).abs() < 1e-15); // 1.5 hits, half a false alarm, half a miss
//! assert!((theory.jensen_gap - (expected - 3.0 / 4.0)).abs() < 1e-15);
//! assert!(theory.bounds.iter().all(|bound| bound.exact <= bound.bound));
//! assert_eq!(theory.calibrated_threshold, Some(0.5)); // half of the best F1, which is 1
//! # Ok::<(), scorewise::Error>(())
//! ```

mod sum;
mod matrices;
mod score_distribution;
mod taylor;
mod lipschitz;
pub mod bounds;
mod calibrated;

pub use bounds::Bound;
pub use calibrated::calibrated_threshold;
pub use lipschitz::{lipschitz, lipschitz_as_printed};
pub use matrices::Matrices;
pub use score_distribution::{Atom, ScoreDistribution};
pub use taylor::taylor;

use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::prior::Prior;
use crate::rows::{Predictions, Rows};
use crate::score::Score;

/// The default fractions for [`report`], which bounds the probability that a quantity deviates from its mean by at least a given fraction of its
/// range. For fractions below about 0.59 the bounds exceed 1, and for fractions above 1 the probabilities are 0.
pub const DEFAULT_FRACTIONS: [f64; 3] = [0.6, 0.75, 0.9];

/// Exact values and bounds for a score under a random threshold. Undefined scores are treated as in a loss, where x/0 := 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Theory {
    /// The expected confusion matrix `E[CM]`.
    pub expected_confusion: Confusion,
    /// The score of the expected matrix, `s(E[CM])`, which training with a score-oriented loss maximises.
    pub score_of_expectation: f64,
    /// The exact expected score `E[s]`.
    pub expected_score: f64,
    /// The Jensen gap `E[s] − s(E[CM])`, which is 0 for a linear score.
    pub jensen_gap: f64,
    /// The standard deviation of the score over the random threshold.
    pub deviation: f64,
    /// The second-order approximation of `E[s]` around `E[CM]`; `None` if it is not finite.
    pub taylor: Option<f64>,
    /// The Lipschitz constant K = sup ‖∇s‖₁; `None` if the score is not Lipschitz. In that case `bounds` also contains no bound of
    /// `E|s − s(E[CM])|`, the mean deviation of the score from the score of the expected matrix.
    pub lipschitz: Option<f64>,
    /// The bounds of Marchetti et al. (2022), corrected, with the exact values of the bounded quantities.
    pub bounds: Vec<Bound>,
    /// The threshold at which a calibrated model would reach the best value of the score; `None` if it cannot be determined.
    pub calibrated_threshold: Option<f64>,
}

/// All exact values and bounds for one score on these rows. For each number in `fractions`, and for each of TN, TP, their sum and the score, the
/// result contains the probability of a deviation from the mean by at least this fraction of the range, and a bound of this probability;
/// [`DEFAULT_FRACTIONS`] are usual. The calibrated threshold is computed from `optimum`, the best value of the score; if `optimum` is `None`, the best
/// value on these rows is used.
pub fn report<P: Predictions>(
    score: &Score,
    prior: &Prior,
    rows: &Rows<'_, P>,
    fractions: &[f64],
    optimum: Option<f64>,
) -> Result<Theory> {
    if let Some(fraction) = fractions.iter().find(|fraction| !(**fraction > 0.0 && fraction.is_finite())) {
        let reason = format!("must be finite numbers above 0, not {fraction}");
        return Err(Error::Setting { what: "fractions", reason });
    }
    let matrices = Matrices::new(prior, rows)?;
    let distribution = matrices.score_distribution(score)?;
    let (expected_score, score_of_expectation) = (distribution.mean(), matrices.score_of_expectation(score)?);
    let lipschitz = lipschitz(score, &matrices.counts());
    let optimum = optimum.or_else(|| matrices.best(score));
    Ok(Theory {
        expected_confusion: matrices.expected(),
        score_of_expectation,
        expected_score,
        jensen_gap: expected_score - score_of_expectation,
        deviation: distribution.standard_deviation(),
        taylor: taylor(score, &matrices),
        lipschitz,
        bounds: bounds::all_bounds(score, &matrices, &distribution, lipschitz, fractions)?,
        calibrated_threshold: optimum.and_then(|best| calibrated_threshold(score, &matrices.counts(), best)),
    })
}
