//! THEORY: what the paper states about a score under a random threshold, each statement beside the exact value.
//!
//! ```text
//! rows, prior → matrices, each with its probability → law of the score → bounds, Taylor, calibrated threshold
//! ```
//!
//! The matrix is constant between neighbouring predictions, so for any score, linear or not, expectation, deviation and
//! tails over the threshold are finite sums, and the paper's theorems can be looked at instead of believed. (Two of them
//! needed a correction: [`bounds`].)
//!
//! ```
//! use scorewise::theory::{self, FRACTIONS, Law};
//! use scorewise::{Prior, Probabilities, Rows, Score};
//!
//! let probabilities = [0.9, 0.6, 0.4, 0.1];
//! let labels = [true, true, false, false];
//! let rows = Rows::new(Probabilities(&probabilities), &labels)?;
//! let (f1, prior) = (Score::parse("f1")?, Prior::uniform());
//!
//! // Thresholds above 0.9, then down to 0.6, to 0.4, to 0.1 and to 0.
//! let expected = 0.1 * 0.0 + 0.3 * 2.0 / 3.0 + 0.2 * 1.0 + 0.3 * 4.0 / 5.0 + 0.1 * 2.0 / 3.0;
//! let law = Law::new(&f1, &prior, &rows)?;
//! assert!((law.mean() - expected).abs() < 1e-15);
//! assert!((law.cdf(0.7) - 0.5).abs() < 1e-15); // in half of all cases F1 is at most 0.7
//!
//! let theory = theory::report(&f1, &prior, &rows, &FRACTIONS, None)?;
//! assert!((theory.score_of_expectation - 3.0 / 4.0).abs() < 1e-15); // 1.5 hits, half a false alarm, half a miss
//! assert!((theory.jensen_gap - (expected - 3.0 / 4.0)).abs() < 1e-15);
//! assert!(theory.bounds.iter().all(|bound| bound.exact <= bound.bound));
//! assert_eq!(theory.calibrated_threshold, Some(0.5)); // half of the best F1, which is 1
//! # Ok::<(), scorewise::Error>(())
//! ```

mod sum;
mod matrices;
mod law;
mod taylor;
mod lipschitz;
pub mod bounds;
mod calibrated;

pub use bounds::Bound;
pub use calibrated::calibrated_threshold;
pub use law::{Atom, Law};
pub use lipschitz::{lipschitz, lipschitz_as_printed};
pub use matrices::Matrices;
pub use taylor::taylor;

use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::prior::Prior;
use crate::rows::{Predictions, Rows};
use crate::score::Score;

/// Where tails are bounded unless asked otherwise, as fractions of the range of what is bounded: below 0.59 the bounds
/// exceed 1, above 1 there is nothing left to bound.
pub const FRACTIONS: [f64; 3] = [0.6, 0.75, 0.9];

/// A score under a random threshold. Values are those of the loss: x/0 := 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Theory {
    /// `E[CM]`.
    pub expected_confusion: Confusion,
    /// `s(E[CM])`, what a score-oriented loss maximises.
    pub score_of_expectation: f64,
    /// `E[s]`, exactly.
    pub expected_score: f64,
    /// `E[s] − s(E[CM])`: 0 for a linear score.
    pub jensen_gap: f64,
    /// The standard deviation of s over the threshold.
    pub deviation: f64,
    /// `E[s]` to second order around `E[CM]`.
    pub taylor: Option<f64>,
    /// K = sup ‖∇s‖₁; nothing where the score is not Lipschitz, and then there is no bound of its mean deviation either.
    pub lipschitz: Option<f64>,
    /// The paper's bounds, corrected, beside the exact values.
    pub bounds: Vec<Bound>,
    /// The threshold that a calibrated model would need to reach the optimum.
    pub calibrated_threshold: Option<f64>,
}

/// All statements about one score on these rows: tails at these fractions of the range ([`FRACTIONS`]), the calibrated
/// threshold for this optimum, or else for the best value that the rows allow.
pub fn report<P: Predictions>(
    score: &Score,
    prior: &Prior,
    rows: &Rows<'_, P>,
    fractions: &[f64],
    optimum: Option<f64>,
) -> Result<Theory> {
    if let Some(fraction) = fractions.iter().find(|fraction| !(**fraction > 0.0 && fraction.is_finite())) {
        let reason = format!("must lie above 0, and {fraction} does not");
        return Err(Error::Setting { what: "fractions of the range", reason });
    }
    let matrices = Matrices::new(prior, rows)?;
    let law = matrices.law(score)?;
    let (expected_score, score_of_expectation) = (law.mean(), matrices.score_of_expectation(score)?);
    let lipschitz = lipschitz(score, &matrices.counts());
    let optimum = optimum.or_else(|| matrices.best(score));
    Ok(Theory {
        expected_confusion: matrices.expected(),
        score_of_expectation,
        expected_score,
        jensen_gap: expected_score - score_of_expectation,
        deviation: law.standard_deviation(),
        taylor: taylor(score, &matrices),
        lipschitz,
        bounds: bounds::all(score, &matrices, &law, lipschitz, fractions)?,
        calibrated_threshold: optimum.and_then(|best| calibrated_threshold(score, &matrices.counts(), best)),
    })
}
