//! The Lipschitz constant of a score over all matrices with given class counts.
//!
//! ```text
//! K = sup ‖∇s‖₁ = sup |∂s/∂TP| + |∂s/∂FP|        0 ≤ TP ≤ P, 0 ≤ FP ≤ N, FN = P − TP, TN = N − FP
//! |s(A) − s(B)| ≤ K max(|TP_A − TP_B|, |FP_A − FP_B|)
//! ```
//!
//! K is found by branch and bound: interval arithmetic bounds the derivatives of the score over a rectangle of matrices, and the rectangle with the
//! largest bound is halved until its bound is within 0.1 % of a gradient norm that some matrix attains. This works for any formula, and the result is
//! never too small, apart from rounding errors. K is 2/(P + N) for accuracy, 1/P for recall, 1/P + 1/N for TSS, and 2/P for F1, CSI and HSS1.
//! Where a quotient becomes 0/0 or a root becomes √0, the derivatives are unbounded (precision, NPV, MCC, G-mean) and no Lipschitz constant exists.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::formula::{ClassCounts, Interval, LinearFraction, Number};
use crate::score::Score;

/// The search for the Lipschitz constant stops when its upper bound exceeds the constant by at most this fraction.
const RELATIVE_TOLERANCE: f64 = 1e-3;
/// The search stops and returns its current bound when it has examined this many rectangles (ranges of TP and FP), which takes about 50 ms. Most
/// scores need about a hundred rectangles.
const MAX_RECTANGLES: usize = 20_000;
/// The number of halvings after which the search stops even if the bound of a rectangle is still infinite: the sides of the rectangle are
/// then 2⁻³⁰ of the sides of the rectangle of all matrices.
const MAX_HALVINGS: u32 = 60;
/// The bound of the Lipschitz constant is increased by this fraction, because interval ends and coefficients are rounded. The rounding errors are
/// smaller than this, unless the formula subtracts nearly equal numbers.
const ROUNDING_MARGIN: f64 = 1e-9;

/// An upper bound of the Lipschitz constant K = sup (|∂s/∂TP| + |∂s/∂FP|) of a score s at fixed class counts. `None` if no finite bound is found, for
/// example because the score is not Lipschitz.
///
/// The bound exceeds K by at most 0.1 % for linear scores and quotients of linear functions. For other scores it may exceed K by more: at a
/// kink, as in `min`, the derivatives of both sides count at once, and the search for a large formula may stop early.
#[must_use]
pub fn lipschitz(score: &Score, counts: &ClassCounts) -> Option<f64> {
    let fraction = score.formula().linear_fraction(counts.positives, counts.negatives);
    let derivatives = |tp: Interval, fp: Interval| {
        let [tn, fn_, positives, negatives] = other_cells(tp, fp, counts);
        let reduced = score.formula().reduced_with(tn, fp, fn_, tp, positives, negatives);
        let mut derivatives = [reduced.positive, reduced.negative];
        // The closed form of the derivatives is wrong where a division by zero is replaced by 0, so it is used only where every division is defined.
        if let Some(fraction) = fraction.filter(|_| reduced.value.defined) {
            let smaller = |a: Interval, b: Interval| if b.magnitude() < a.magnitude() { b } else { a };
            let closed = fraction_derivatives(&fraction, tp, fp);
            derivatives = [smaller(derivatives[0], closed[0]), smaller(derivatives[1], closed[1])];
        }
        // The cells of a class without rows never change, so the derivative with respect to these cells is ignored even where it is large.
        let unless_empty =
            |derivative: Interval, count: f64| if count > 0.0 { derivative } else { Interval::constant(0.0) };
        [unless_empty(derivatives[0], counts.positives), unless_empty(derivatives[1], counts.negatives)]
    };
    supremum_of_norm(counts, derivatives, |sizes| sizes.iter().sum())
}

/// The constant K in Theorem 2 as printed in Marchetti et al. (2022): sup ‖∇s‖_∞, the largest absolute derivative of the score s with respect to one
/// of the four cells. It does *not* bound the change of a score, and is used only to check the printed theorem.
#[must_use]
pub fn lipschitz_as_printed(score: &Score, counts: &ClassCounts) -> Option<f64> {
    let derivatives = |tp: Interval, fp: Interval| {
        let [tn, fn_, positives, negatives] = other_cells(tp, fp, counts);
        score.formula().derivatives_with(tn, fp, fn_, tp, positives, negatives).derivatives
    };
    supremum_of_norm(counts, derivatives, |sizes| sizes.into_iter().fold(0.0, f64::max))
}

/// The derivatives with respect to TP and FP of the quotient (a₀ + a₁ TP + a₂ FP) / D with D = b₀ + b₁ TP + b₂ FP. With c = a₁b₂ − a₂b₁, they are
/// (a₁b₀ − a₀b₁ + c FP) / D² and (a₂b₀ − a₀b₂ − c TP) / D². Interval arithmetic gives narrow intervals for these formulas, because a cell occurs at
/// most once in each numerator and once in D.
fn fraction_derivatives(fraction: &LinearFraction, tp: Interval, fp: Interval) -> [Interval; 2] {
    let ([a0, a1, a2], [b0, b1, b2]) = (fraction.above, fraction.below);
    let number = Interval::constant;
    let linear =
        |intercept: f64, coefficient: f64, cell: Interval| number(intercept).plus(number(coefficient).times(cell));
    let denominator = linear(b0, b1, tp).plus(number(b2).times(fp));
    let c = a1 * b2 - a2 * b1;
    let over_square = |numerator: Interval| numerator.over(denominator).over(denominator);
    [over_square(linear(a1 * b0 - a0 * b1, c, fp)), over_square(linear(a2 * b0 - a0 * b2, -c, tp))]
}

/// The intervals of TN, FN, P and N that follow from intervals of TP and FP; TN and FN are clamped at 0.
fn other_cells(tp: Interval, fp: Interval, counts: &ClassCounts) -> [Interval; 4] {
    let (positives, negatives) = (Interval::constant(counts.positives), Interval::constant(counts.negatives));
    let rest = |count: Interval, cell: Interval| count.minus(cell).max(Interval::constant(0.0));
    [rest(negatives, fp), rest(positives, tp), positives, negatives]
}

/// An upper bound of the largest norm of the derivatives over all matrices; `None` if no finite bound is found.
fn supremum_of_norm<const N: usize>(
    counts: &ClassCounts,
    derivatives: impl Fn(Interval, Interval) -> [Interval; N],
    norm: impl Fn([f64; N]) -> f64,
) -> Option<f64> {
    let upper = |tp: Interval, fp: Interval| norm(derivatives(tp, fp).map(Interval::magnitude));
    // At a kink of the score, the interval of a derivative contains both one-sided derivatives. Only the smallest absolute value in the interval is
    // certainly a lower bound of the absolute derivative.
    let attained =
        |tp: f64, fp: f64| norm(derivatives(Interval::constant(tp), Interval::constant(fp)).map(smallest_magnitude));
    let (tp, fp) = (Interval::new(0.0, counts.positives), Interval::new(0.0, counts.negatives));
    let mut rectangles = BinaryHeap::from([MatrixRectangle { tp, fp, bound: upper(tp, fp), depth: 0 }]);
    let mut largest_attained = 0.0f64;
    for _ in 0..MAX_RECTANGLES / 2 {
        let Some(rectangle) = rectangles.pop() else { break };
        if rectangle.bound <= largest_attained * (1.0 + RELATIVE_TOLERANCE) || rectangle.depth == MAX_HALVINGS {
            rectangles.push(rectangle);
            break;
        }
        for (tp, fp) in rectangle.halves(counts) {
            let norm_at_middle = attained(midpoint(tp), midpoint(fp));
            if norm_at_middle.is_finite() {
                largest_attained = largest_attained.max(norm_at_middle);
            }
            // The supremum over a half is at most the bound over the whole rectangle, even if the bound computed for the half is larger.
            let bound = upper(tp, fp).min(rectangle.bound);
            rectangles.push(MatrixRectangle { tp, fp, bound, depth: rectangle.depth + 1 });
        }
    }
    let bound = rectangles.peek()?.bound;
    bound.is_finite().then_some(bound * (1.0 + ROUNDING_MARGIN))
}

/// A rectangle in the plane of TP and FP: all matrices with TP and FP in these intervals. `bound` is an upper bound of the norm of the gradient for
/// all these matrices; `depth` is the number of halvings.
struct MatrixRectangle {
    tp: Interval,
    fp: Interval,
    bound: f64,
    depth: u32,
}

impl MatrixRectangle {
    /// The two halves of the rectangle. The side is halved that is longer as a fraction of the same side of the rectangle of all matrices.
    fn halves(&self, counts: &ClassCounts) -> [(Interval, Interval); 2] {
        let halve = |side: Interval| {
            let middle = midpoint(side);
            [Interval::new(side.low, middle), Interval::new(middle, side.high)]
        };
        let width = |side: Interval| side.high - side.low;
        // Products are compared instead of quotients, because for a class without rows the divisor would be 0.
        if width(self.tp) * counts.negatives >= width(self.fp) * counts.positives && counts.positives > 0.0 {
            halve(self.tp).map(|tp| (tp, self.fp))
        } else {
            halve(self.fp).map(|fp| (self.tp, fp))
        }
    }
}

fn midpoint(side: Interval) -> f64 {
    0.5 * (side.low + side.high)
}

/// The smallest absolute value in the interval.
fn smallest_magnitude(interval: Interval) -> f64 {
    if interval.low <= 0.0 && interval.high >= 0.0 { 0.0 } else { interval.low.abs().min(interval.high.abs()) }
}

impl PartialEq for MatrixRectangle {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for MatrixRectangle {}
impl PartialOrd for MatrixRectangle {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for MatrixRectangle {
    fn cmp(&self, other: &Self) -> Ordering {
        // Among rectangles with equal bounds, the one that was halved most often comes first. If the derivatives are unbounded near some point, all
        // bounds there are infinite; the search then halves the same rectangle again and again and stops after `MAX_HALVINGS` halvings.
        self.bound.total_cmp(&other.bound).then(self.depth.cmp(&other.depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class counts for which the tests compute Lipschitz constants.
    const COUNTS: ClassCounts = ClassCounts { positives: 30.0, negatives: 170.0 };

    fn lipschitz_constant(score: &str, counts: &ClassCounts) -> Option<f64> {
        lipschitz(&Score::parse(score).unwrap(), counts)
    }

    #[test]
    fn bounds_of_known_lipschitz_constants_are_accurate_to_a_thousandth() {
        let (p, n) = (COUNTS.positives, COUNTS.negatives);
        for (score, expected) in [
            ("accuracy", 2.0 / (p + n)),
            ("kappa_no_prevalence", 4.0 / (p + n)),
            ("recall", 1.0 / p),
            ("specificity", 1.0 / n),
            ("tss", 1.0 / p + 1.0 / n),
            ("balanced_accuracy", (1.0 / p + 1.0 / n) / 2.0),
            ("f1", 2.0 / p),
            ("csi", 2.0 / p),
            ("hss1", 2.0 / p),
            ("frequency_bias", 2.0 / p),
            ("net_benefit(threshold=0.2)", (1.0 + 0.25) / (p + n)),
            ("abs(tp - fp)", 2.0),
            ("tp^2", 2.0 * p),
        ] {
            let Some(found) = lipschitz_constant(score, &COUNTS) else { panic!("{score}: no constant") };
            assert!(found >= expected && found <= 1.001_001 * expected, "{score}: {found}, expected {expected}");
        }
    }

    #[test]
    fn heidke_and_peirce_skill_scores_have_the_same_lipschitz_constant_for_classes_of_equal_size() {
        let counts = ClassCounts { positives: 50.0, negatives: 50.0 };
        let (hss, tss) = (lipschitz_constant("hss", &counts).unwrap(), lipschitz_constant("tss", &counts).unwrap());
        assert!((hss - tss).abs() <= 1e-3 * tss, "{hss}, expected {tss}");
    }

    #[test]
    fn a_score_that_jumps_at_a_division_by_zero_is_not_lipschitz() {
        // The formula equals tp/(1 + tp), except at tp = 0. There 1/tp is replaced by 0, so the value is 1 instead of 0.
        assert_eq!(lipschitz_constant("1/(1 + 1/tp)", &COUNTS), None);
    }

    #[test]
    fn scores_with_unbounded_derivatives_have_no_lipschitz_constant() {
        for score in ["precision", "far", "npv", "mcc", "markedness", "g_mean", "fowlkes_mallows", "odds_ratio", "edi"]
        {
            assert_eq!(lipschitz_constant(score, &COUNTS), None, "{score}");
        }
    }

    #[test]
    fn a_class_without_rows_does_not_contribute_to_the_lipschitz_constant() {
        assert_eq!(lipschitz_constant("recall", &ClassCounts { positives: 0.0, negatives: 5.0 }), Some(0.0));
        assert!(lipschitz_constant("accuracy", &ClassCounts { positives: 0.0, negatives: 5.0 }).unwrap() < 0.2001);
        assert_eq!(lipschitz_constant("accuracy", &ClassCounts { positives: 0.0, negatives: 0.0 }), Some(0.0));
    }

    #[test]
    fn printed_lipschitz_constant_of_accuracy_matches_marchetti_et_al() {
        let found = lipschitz_as_printed(&Score::parse("accuracy").unwrap(), &COUNTS).unwrap();
        assert!((1.0..=1.001_001).contains(&(200.0 * found)), "{found}");
    }
}
