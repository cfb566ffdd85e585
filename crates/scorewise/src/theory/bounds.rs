//! The paper's bounds beside what they bound, exactly.
//!
//! ```text
//! Proposition 1        P(|TN − E[TN]| ≥ ε) ≤ 2 exp(−2ε²/N²)                             likewise TP with P
//!                      P(|tr − E[tr]| ≥ ε) ≤ 2 exp(−2ε²/max(P, N)²)                     tr = TN + TP
//! Theorem 1            P(|s − E[s]| ≥ ε)   ≤ 2 exp(−2ε²/(b − a)²)                       s in [a, b]
//! Theorem 2            E|s − s(E[CM])|     ≤ ½ K (J_F + mad TN + mad TP)                K = sup ‖∇s‖₁
//! ```
//!
//! Two differ from the printed ones. *Trace*: TN and TP share the threshold, so Hoeffding's inequality for independent sums
//! and its P² + N² do not apply; but TN rises with τ where TP falls, so the trace moves by at most max(P, N), which is
//! less. *Theorem 2*: a change measured by its largest cell needs the dual norm of the gradient, the sum of its slopes, in
//! coordinates that move freely, (TP, FP) at fixed P and N. With K = sup ‖∇s‖_∞ it is false: of 100 negatives at 0.1 and
//! 100 positives at 0.9 under a uniform threshold, accuracy is on average 0.16 off its expectation, the printed bound 0.13.
//!
//! A tail bound below ε = √(½ ln 2) ≈ 0.59 of the range is above 1 and says nothing.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.

use super::law::Law;
use super::lipschitz::{lipschitz, lipschitz_as_printed};
use super::matrices::Matrices;
use crate::confusion::Confusion;
use crate::error::Result;
use crate::formula::Counts;
use crate::score::Score;

/// A bound, and the exact value of what it bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// What is bounded, as a formula.
    pub name: String,
    /// The bound; of a probability possibly above 1.
    pub bound: f64,
    /// The exact value, at or below the bound.
    pub exact: f64,
}

/// Proposition 1 for the negatives: how far TN, and with it FP, strays from its expectation. ε is above 0.
#[must_use]
pub fn negatives(matrices: &Matrices, epsilon: f64) -> Bound {
    tail("TN", &matrices.law_of(|confusion| confusion.tn), epsilon, matrices.counts().negatives)
}

/// Proposition 1 for the positives: TP, and with it FN.
#[must_use]
pub fn positives(matrices: &Matrices, epsilon: f64) -> Bound {
    tail("TP", &matrices.law_of(|confusion| confusion.tp), epsilon, matrices.counts().positives)
}

/// Proposition 1 for the trace TN + TP, corrected: the range is at most max(P, N).
#[must_use]
pub fn trace(matrices: &Matrices, epsilon: f64) -> Bound {
    let Counts { positives, negatives } = matrices.counts();
    tail("tr", &matrices.law_of(|confusion| confusion.tn + confusion.tp), epsilon, positives.max(negatives))
}

/// The printed bound for the trace, 2 exp(−2ε²/(P² + N²)): never below the corrected one.
#[must_use]
pub fn trace_as_printed(counts: &Counts, epsilon: f64) -> f64 {
    hoeffding(epsilon, counts.positives.hypot(counts.negatives))
}

/// Theorem 1's tail of a score around its mean. The paper states it for linear scores, whose mean is the score of the
/// expected matrix; around its own mean it holds for every score.
#[must_use]
pub fn score(law: &Law, epsilon: f64) -> Bound {
    let (low, high) = law.range();
    tail("s", law, epsilon, high - low)
}

/// Theorem 2, corrected: how far a score strays from the score of the expected matrix on average. `None` where the score
/// is not Lipschitz.
pub fn mean_absolute_deviation(score: &Score, matrices: &Matrices) -> Result<Option<Bound>> {
    deviation(score, matrices, &matrices.law(score)?, lipschitz(score, &matrices.counts()))
}

/// Theorem 2 as it is printed, with sup ‖∇s‖_∞ over the four cells. It is false, and here to show that.
pub fn mean_absolute_deviation_as_printed(score: &Score, matrices: &Matrices) -> Result<Option<Bound>> {
    deviation(score, matrices, &matrices.law(score)?, lipschitz_as_printed(score, &matrices.counts()))
}

/// All that hold, the tails at these fractions of the range of what is bounded; K as [`lipschitz`] gives it.
pub(super) fn all(
    score: &Score,
    matrices: &Matrices,
    law: &Law,
    k: Option<f64>,
    fractions: &[f64],
) -> Result<Vec<Bound>> {
    let Counts { positives: p, negatives: n } = matrices.counts();
    let cell = |number: fn(&Confusion) -> f64| matrices.law_of(number);
    let (tn, tp, trace) = (cell(|c| c.tn), cell(|c| c.tp), cell(|c| c.tn + c.tp));
    let (low, high) = law.range();
    let mut bounds = Vec::new();
    for (name, law, range) in [("TN", &tn, n), ("TP", &tp, p), ("tr", &trace, p.max(n)), ("s", law, high - low)] {
        // What does not move has no tail to bound.
        if range > 0.0 {
            bounds.extend(fractions.iter().map(|fraction| tail(name, law, fraction * range, range)));
        }
    }
    bounds.extend(deviation(score, matrices, law, k)?);
    Ok(bounds)
}

/// 2 exp(−2ε²/range²), for a number that moves by at most `range`; 0 where it does not move.
fn hoeffding(epsilon: f64, range: f64) -> f64 {
    2.0 * (-2.0 * (epsilon / range).powi(2)).exp()
}

fn tail(name: &str, law: &Law, epsilon: f64, range: f64) -> Bound {
    let exact = law.tail(law.mean(), epsilon);
    Bound { name: format!("P(|{name} − E[{name}]| ≥ {})", short(epsilon)), bound: hoeffding(epsilon, range), exact }
}

fn deviation(score: &Score, matrices: &Matrices, law: &Law, k: Option<f64>) -> Result<Option<Bound>> {
    let Some(k) = k else { return Ok(None) };
    let mad = |law: Law| law.mean_absolute_deviation(law.mean());
    let (tn, tp) = (mad(matrices.law_of(|confusion| confusion.tn)), mad(matrices.law_of(|confusion| confusion.tp)));
    let exact = law.mean_absolute_deviation(matrices.score_of_expectation(score)?);
    let bound = 0.5 * k * (matrices.unlike_deviation() + tn + tp);
    Ok(Some(Bound { name: "E|s − s(E[CM])|".into(), bound, exact }))
}

/// Four significant digits, for a name.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    crate::formula::shortest(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prior, Probabilities, Rows};

    #[test]
    fn bounds_name_what_they_bound() {
        let rows = Rows::new(Probabilities(&[0.75, 0.5, 0.25]), &[true, false, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let bound = positives(&matrices, 1.0);
        assert_eq!(bound.name, "P(|TP − E[TP]| ≥ 1)");
        // TP is 0, 1, 1, 2 with a quarter each.
        assert_eq!((bound.bound, bound.exact), (2.0 * (-0.5f64).exp(), 0.5));
        assert_eq!(short(0.1 + 0.2), "0.3");
    }

    #[test]
    fn what_does_not_move_has_no_tail() {
        let rows = Rows::new(Probabilities(&[0.75, 0.25]), &[true, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let bound = negatives(&matrices, 0.5);
        assert_eq!((bound.bound, bound.exact), (0.0, 0.0));
    }
}
