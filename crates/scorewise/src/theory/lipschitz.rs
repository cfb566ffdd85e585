//! How steep a score can be: the Lipschitz constant over all matrices with given class counts.
//!
//! ```text
//! K = sup ‖∇s‖₁ = sup |∂s/∂TP| + |∂s/∂FP|        0 ≤ TP ≤ P, 0 ≤ FP ≤ N, FN = P − TP, TN = N − FP
//! |s(A) − s(B)| ≤ K max(|TP_A − TP_B|, |FP_A − FP_B|)
//! ```
//!
//! Branch and bound: interval arithmetic on the score's own slopes bounds them over a rectangle of matrices, and the
//! steepest rectangle is halved until its bound is within a thousandth of a slope that is attained. So it works for any
//! formula, and what it returns is never too small. Accuracy has 2/n, recall 1/P, TSS 1/P + 1/N, F1, CSI and HSS1 2/P.
//! Where a quotient comes to 0/0 or a root to √0 the slopes grow without end (precision, NPV, MCC, G-mean): no constant.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::formula::{Counts, Interval, LinearFraction, Number};
use crate::score::Score;

/// How far above the supremum the result may lie, relatively.
const TOLERANCE: f64 = 1e-3;
/// Rectangles looked at before the bound reached so far is taken: some 50 ms. Most scores need a hundred.
const BUDGET: usize = 20_000;
/// Halvings after which a rectangle without a bound will never have one: its sides are 2⁻³⁰ of the whole.
const DEEPEST: u32 = 60;
/// The ends of intervals and the coefficients of a fraction are rounded to nearest: this much is more than the roundings
/// add up to, unless a formula cancels itself.
const ROUNDING: f64 = 1e-9;

/// K = sup ‖∇s‖₁ in (TP, FP) at fixed class counts, from above; nothing where the score is not Lipschitz.
///
/// Within 0.1 % for linear scores and quotients of linear functions. Else it may lie higher: at a kink, as in `min`, both
/// sides count at once, and a formula with many parts may use up the budget of the search first.
#[must_use]
pub fn lipschitz(score: &Score, counts: &Counts) -> Option<f64> {
    let fraction = score.formula().linear_fraction(counts.positives, counts.negatives);
    let slopes = |tp: Interval, fp: Interval| {
        let [tn, fn_, positives, negatives] = others(tp, fp, counts);
        let reduced = score.formula().reduced_with(tn, fp, fn_, tp, positives, negatives);
        let mut slopes = [reduced.positive, reduced.negative];
        // The coefficients know nothing of guards, so they speak only where none takes part.
        if let Some(fraction) = fraction.filter(|_| reduced.value.defined) {
            let smaller = |a: Interval, b: Interval| if b.magnitude() < a.magnitude() { b } else { a };
            let closed = fraction_slopes(&fraction, tp, fp);
            slopes = [smaller(slopes[0], closed[0]), smaller(slopes[1], closed[1])];
        }
        // A class without rows does not move, however steep the score would be if it did.
        let moving = |slope: Interval, count: f64| if count > 0.0 { slope } else { Interval::constant(0.0) };
        [moving(slopes[0], counts.positives), moving(slopes[1], counts.negatives)]
    };
    supremum(counts, slopes, |sizes| sizes.iter().sum())
}

/// K as the paper prints it: sup ‖∇s‖_∞ over the four cells, which does *not* bound a score's change. For checking the
/// printed Theorem 2 and for nothing else.
#[must_use]
pub fn lipschitz_as_printed(score: &Score, counts: &Counts) -> Option<f64> {
    let slopes = |tp: Interval, fp: Interval| {
        let [tn, fn_, positives, negatives] = others(tp, fp, counts);
        score.formula().slopes_with(tn, fp, fn_, tp, positives, negatives).slopes
    };
    supremum(counts, slopes, |sizes| sizes.into_iter().fold(0.0, f64::max))
}

/// The slopes of (a₀ + a₁ TP + a₂ FP) / D, D = b₀ + b₁ TP + b₂ FP, where every cell stands once above and once below the
/// line and intervals are therefore tight: (a₁b₀ − a₀b₁ + c FP) / D² and (a₂b₀ − a₀b₂ − c TP) / D², c = a₁b₂ − a₂b₁.
fn fraction_slopes(fraction: &LinearFraction, tp: Interval, fp: Interval) -> [Interval; 2] {
    let ([a0, a1, a2], [b0, b1, b2]) = (fraction.above, fraction.below);
    let number = Interval::constant;
    let line = |at_0: f64, slope: f64, cell: Interval| number(at_0).plus(number(slope).times(cell));
    let below = line(b0, b1, tp).plus(number(b2).times(fp));
    let c = a1 * b2 - a2 * b1;
    let over = |above: Interval| above.over(below).over(below);
    [over(line(a1 * b0 - a0 * b1, c, fp)), over(line(a2 * b0 - a0 * b2, -c, tp))]
}

/// TN, FN, P and N; the rest of a class is never below 0.
fn others(tp: Interval, fp: Interval, counts: &Counts) -> [Interval; 4] {
    let (positives, negatives) = (Interval::constant(counts.positives), Interval::constant(counts.negatives));
    let rest = |all: Interval, part: Interval| all.minus(part).max(Interval::constant(0.0));
    [rest(negatives, fp), rest(positives, tp), positives, negatives]
}

/// The supremum of a norm of some slopes over all matrices, from above.
fn supremum<const N: usize>(
    counts: &Counts,
    slopes: impl Fn(Interval, Interval) -> [Interval; N],
    norm: impl Fn([f64; N]) -> f64,
) -> Option<f64> {
    let upper = |tp: Interval, fp: Interval| norm(slopes(tp, fp).map(Interval::magnitude));
    // Not the size of the slope but the least it may be: at a kink both sides are in the interval.
    let attained = |tp: f64, fp: f64| norm(slopes(Interval::constant(tp), Interval::constant(fp)).map(smallest));
    let (tp, fp) = (Interval::new(0.0, counts.positives), Interval::new(0.0, counts.negatives));
    let mut regions = BinaryHeap::from([Region { tp, fp, bound: upper(tp, fp), depth: 0 }]);
    let mut steepest = 0.0f64;
    for _ in 0..BUDGET / 2 {
        let Some(region) = regions.pop() else { break };
        if region.bound <= steepest * (1.0 + TOLERANCE) || region.depth == DEEPEST {
            regions.push(region);
            break;
        }
        for (tp, fp) in region.halves(counts) {
            let slope = attained(middle(tp), middle(fp));
            if slope.is_finite() {
                steepest = steepest.max(slope);
            }
            // A part is no steeper than the whole, also where its own bound came out worse.
            let bound = upper(tp, fp).min(region.bound);
            regions.push(Region { tp, fp, bound, depth: region.depth + 1 });
        }
    }
    let bound = regions.peek()?.bound;
    bound.is_finite().then_some(bound * (1.0 + ROUNDING))
}

/// A rectangle of matrices and a bound of the slopes inside.
struct Region {
    tp: Interval,
    fp: Interval,
    bound: f64,
    depth: u32,
}

impl Region {
    /// Cut across its longer side, measured by the whole.
    fn halves(&self, counts: &Counts) -> [(Interval, Interval); 2] {
        let cut = |side: Interval| {
            let middle = middle(side);
            [Interval::new(side.low, middle), Interval::new(middle, side.high)]
        };
        let width = |side: Interval| side.high - side.low;
        // Products instead of quotients: a class without rows has width 0.
        if width(self.tp) * counts.negatives >= width(self.fp) * counts.positives && counts.positives > 0.0 {
            cut(self.tp).map(|tp| (tp, self.fp))
        } else {
            cut(self.fp).map(|fp| (self.tp, fp))
        }
    }
}

fn middle(side: Interval) -> f64 {
    0.5 * (side.low + side.high)
}

/// The smallest absolute value inside.
fn smallest(slope: Interval) -> f64 {
    if slope.low <= 0.0 && slope.high >= 0.0 { 0.0 } else { slope.low.abs().min(slope.high.abs()) }
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Region {}
impl PartialOrd for Region {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Region {
    fn cmp(&self, other: &Self) -> Ordering {
        // The deepest of equals first: a point without a bound shows itself after sixty halvings instead of 2⁶⁰.
        self.bound.total_cmp(&other.bound).then(self.depth.cmp(&other.depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { positives: 30.0, negatives: 170.0 };

    fn constant(score: &str, counts: &Counts) -> Option<f64> {
        lipschitz(&Score::parse(score).unwrap(), counts)
    }

    #[test]
    fn known_constants_are_met_from_above_within_a_thousandth() {
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
            let Some(found) = constant(score, &COUNTS) else { panic!("{score}: no constant") };
            assert!(found >= expected && found <= 1.001_001 * expected, "{score}: {found} for {expected}");
        }
    }

    #[test]
    fn heidke_with_equal_classes_is_as_steep_as_peirce() {
        let counts = Counts { positives: 50.0, negatives: 50.0 };
        let (hss, tss) = (constant("hss", &counts).unwrap(), constant("tss", &counts).unwrap());
        assert!((hss - tss).abs() <= 1e-3 * tss, "{hss} for {tss}");
    }

    #[test]
    fn jump_at_a_guard_is_no_lipschitz_function() {
        // As a fraction this is tp/(1 + tp); at tp = 0 the guard of 1/tp makes it 1 instead of 0.
        assert_eq!(constant("1/(1 + 1/tp)", &COUNTS), None);
    }

    #[test]
    fn scores_with_a_pole_have_no_constant() {
        for score in ["precision", "far", "npv", "mcc", "markedness", "g_mean", "fowlkes_mallows", "odds_ratio", "edi"]
        {
            assert_eq!(constant(score, &COUNTS), None, "{score}");
        }
    }

    #[test]
    fn absent_class_does_not_move() {
        assert_eq!(constant("recall", &Counts { positives: 0.0, negatives: 5.0 }), Some(0.0));
        assert!(constant("accuracy", &Counts { positives: 0.0, negatives: 5.0 }).unwrap() < 0.2001);
        assert_eq!(constant("accuracy", &Counts { positives: 0.0, negatives: 0.0 }), Some(0.0));
    }

    #[test]
    fn printed_constant_of_accuracy_is_the_papers() {
        let found = lipschitz_as_printed(&Score::parse("accuracy").unwrap(), &COUNTS).unwrap();
        assert!((1.0..=1.001_001).contains(&(200.0 * found)), "{found}");
    }
}
