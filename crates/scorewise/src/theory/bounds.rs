//! The bounds of Marchetti et al. (2022), each with the exact value of the bounded quantity.
//!
//! ```text
//! Proposition 1        P(|TN − E[TN]| ≥ ε) ≤ 2 exp(−2ε²/N²)                             the same for TP, with P instead of N
//!                      P(|tr − E[tr]| ≥ ε) ≤ 2 exp(−2ε²/max(P, N)²)                     tr = TN + TP
//! Theorem 1            P(|s − E[s]| ≥ ε)   ≤ 2 exp(−2ε²/(b − a)²)                       s in [a, b]
//! Theorem 2            E|s − s(E[CM])|     ≤ ½ K (J_F + mad TN + mad TP)                K = sup ‖∇s‖₁
//! ```
//!
//! P(…) is a probability under the random threshold τ. Without parentheses, P and N are the numbers of positives and negatives. s is the score,
//! `E[CM]` the expected confusion matrix, `mad X = E|X − E[X]|` the mean absolute deviation, and `J_F = E| |TN − E[TN]| − |TP − E[TP]| |`.
//!
//! Two bounds differ from those printed in Marchetti et al. (2022). *Trace*: TN and TP depend on the same threshold, so Hoeffding's
//! inequality for independent sums and its P² + N² do not apply. But TN rises with τ while TP falls, so the range of the trace is at most
//! max(P, N), and the resulting bound is smaller. *Theorem 2*: if a change of the matrix is measured by its largest cell, the gradient must be
//! measured by the dual norm, the sum of the absolute derivatives, in coordinates that vary freely: (TP, FP) at fixed P and N. With
//! K = sup ‖∇s‖_∞, as printed, the theorem is false: for 100 negatives at 0.1 and 100 positives at 0.9 under a uniform threshold, the mean
//! deviation of accuracy from its expectation is 0.16, but the printed bound is 0.13.
//!
//! If ε is below √(½ ln 2) ≈ 0.59 times the range, the bound of a tail probability is above 1 and therefore useless.
//!
//! Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss functions. Pattern Recognition 132, 108913.

use super::lipschitz::{lipschitz, lipschitz_as_printed};
use super::matrices::Matrices;
use super::score_distribution::ScoreDistribution;
use crate::confusion::Confusion;
use crate::error::Result;
use crate::formula::ClassCounts;
use crate::score::Score;

/// A bound, and the exact value of the quantity that it bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The bounded quantity, written as a formula.
    pub name: String,
    /// The upper bound; it may be above 1 even if the quantity is a probability.
    pub bound: f64,
    /// The exact value of the quantity. It is at most the bound, except in [`mean_absolute_deviation_as_printed`], whose bound can be violated.
    pub exact: f64,
}

/// Proposition 1 of Marchetti et al. (2022) for the negatives: the probability that TN, and so FP, deviates from its expectation by ε or more.
/// ε must be above 0.
#[must_use]
pub fn negatives(matrices: &Matrices, epsilon: f64) -> Bound {
    tail_bound("TN", &matrices.distribution_of(|confusion| confusion.tn), epsilon, matrices.counts().negatives)
}

/// Proposition 1 of Marchetti et al. (2022) for the positives: the probability that TP, and so FN, deviates from its expectation by ε or more.
/// ε must be above 0.
#[must_use]
pub fn positives(matrices: &Matrices, epsilon: f64) -> Bound {
    tail_bound("TP", &matrices.distribution_of(|confusion| confusion.tp), epsilon, matrices.counts().positives)
}

/// Proposition 1 of Marchetti et al. (2022) for the trace TN + TP, corrected: the probability that the trace, whose range is at most max(P, N),
/// deviates from its expectation by ε or more. ε must be above 0.
#[must_use]
pub fn trace(matrices: &Matrices, epsilon: f64) -> Bound {
    let ClassCounts { positives, negatives } = matrices.counts();
    tail_bound(
        "tr",
        &matrices.distribution_of(|confusion| confusion.tn + confusion.tp),
        epsilon,
        positives.max(negatives),
    )
}

/// The bound for the trace as printed in Marchetti et al. (2022), 2 exp(−2ε²/(P² + N²)), which is never below the corrected bound.
#[must_use]
pub fn trace_as_printed(counts: &ClassCounts, epsilon: f64) -> f64 {
    hoeffding_bound(epsilon, counts.positives.hypot(counts.negatives))
}

/// Theorem 1 of Marchetti et al. (2022): the probability that a score deviates from its mean by ε or more. The paper states the theorem for linear
/// scores, whose mean is the score of the expected matrix. For deviations from the mean, the theorem holds for every score.
#[must_use]
pub fn score(distribution: &ScoreDistribution, epsilon: f64) -> Bound {
    let (low, high) = distribution.range();
    tail_bound("s", distribution, epsilon, high - low)
}

/// Theorem 2 of Marchetti et al. (2022), corrected: the mean absolute deviation of a score from the score of the expected matrix. `None` if the
/// score is not Lipschitz.
pub fn mean_absolute_deviation(score: &Score, matrices: &Matrices) -> Result<Option<Bound>> {
    mean_absolute_deviation_bound(
        score,
        matrices,
        &matrices.score_distribution(score)?,
        lipschitz(score, &matrices.counts()),
    )
}

/// Theorem 2 as printed in Marchetti et al. (2022), with the Lipschitz constant K = sup ‖∇s‖_∞ over the four cells. The printed theorem is false,
/// as tests show with this function.
pub fn mean_absolute_deviation_as_printed(score: &Score, matrices: &Matrices) -> Result<Option<Bound>> {
    mean_absolute_deviation_bound(
        score,
        matrices,
        &matrices.score_distribution(score)?,
        lipschitz_as_printed(score, &matrices.counts()),
    )
}

/// All bounds of Marchetti et al. (2022), corrected where necessary. For each number in `fractions`, they bound the probability that TN, TP, their
/// sum or the score deviates from its mean by at least this fraction of its range. `k` is the Lipschitz constant of the score, if it has one.
pub(super) fn all_bounds(
    score: &Score,
    matrices: &Matrices,
    distribution: &ScoreDistribution,
    k: Option<f64>,
    fractions: &[f64],
) -> Result<Vec<Bound>> {
    let ClassCounts { positives: p, negatives: n } = matrices.counts();
    let distribution_of = |number: fn(&Confusion) -> f64| matrices.distribution_of(number);
    let (tn, tp, trace) = (distribution_of(|c| c.tn), distribution_of(|c| c.tp), distribution_of(|c| c.tn + c.tp));
    let (low, high) = distribution.range();
    let mut bounds = Vec::new();
    for (name, distribution, range) in
        [("TN", &tn, n), ("TP", &tp, p), ("tr", &trace, p.max(n)), ("s", distribution, high - low)]
    {
        // If the range is 0, the quantity is constant and has no tail to bound.
        if range > 0.0 {
            bounds.extend(fractions.iter().map(|fraction| tail_bound(name, distribution, fraction * range, range)));
        }
    }
    bounds.extend(mean_absolute_deviation_bound(score, matrices, distribution, k)?);
    Ok(bounds)
}

/// Hoeffding's upper bound 2 exp(−2ε²/range²) of the probability that a quantity with this range deviates from its mean by ε or more; 0 if the range
/// is 0.
fn hoeffding_bound(epsilon: f64, range: f64) -> f64 {
    2.0 * (-2.0 * (epsilon / range).powi(2)).exp()
}

/// The probability that a quantity deviates from its mean by `epsilon` or more, together with Hoeffding's bound of this probability; `range` is the
/// range of the quantity.
fn tail_bound(name: &str, distribution: &ScoreDistribution, epsilon: f64, range: f64) -> Bound {
    let exact = distribution.tail_probability(distribution.mean(), epsilon);
    Bound {
        name: format!("P(|{name} − E[{name}]| ≥ {})", format_four_digits(epsilon)),
        bound: hoeffding_bound(epsilon, range),
        exact,
    }
}

/// The mean absolute deviation of a score from the score of the expected matrix, together with its bound by Theorem 2 of Marchetti et al. (2022);
/// `k` is the Lipschitz constant. `None` if `k` is `None`.
fn mean_absolute_deviation_bound(
    score: &Score,
    matrices: &Matrices,
    distribution: &ScoreDistribution,
    k: Option<f64>,
) -> Result<Option<Bound>> {
    let Some(k) = k else { return Ok(None) };
    let mad = |distribution: ScoreDistribution| distribution.mean_absolute_deviation(distribution.mean());
    let (tn, tp) = (
        mad(matrices.distribution_of(|confusion| confusion.tn)),
        mad(matrices.distribution_of(|confusion| confusion.tp)),
    );
    let exact = distribution.mean_absolute_deviation(matrices.score_of_expectation(score)?);
    let bound = 0.5 * k * (matrices.deviation_difference() + tn + tp);
    Ok(Some(Bound { name: "E|s − s(E[CM])|".into(), bound, exact }))
}

/// Formats a number with four significant digits, for use in the name of a bound.
fn format_four_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    crate::formula::shortest_decimal(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Prior, Probabilities, Rows};

    #[test]
    fn name_of_a_bound_is_the_formula_of_the_bounded_quantity() {
        let rows = Rows::new(Probabilities(&[0.75, 0.5, 0.25]), &[true, false, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let bound = positives(&matrices, 1.0);
        assert_eq!(bound.name, "P(|TP − E[TP]| ≥ 1)");
        // TP is 0, 1, 1, 2 with probability ¼ each.
        assert_eq!((bound.bound, bound.exact), (2.0 * (-0.5f64).exp(), 0.5));
        assert_eq!(format_four_digits(0.1 + 0.2), "0.3");
    }

    #[test]
    fn tail_probability_and_its_bound_are_0_for_a_constant_quantity() {
        let rows = Rows::new(Probabilities(&[0.75, 0.25]), &[true, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let bound = negatives(&matrices, 0.5);
        assert_eq!((bound.bound, bound.exact), (0.0, 0.0));
    }
}
