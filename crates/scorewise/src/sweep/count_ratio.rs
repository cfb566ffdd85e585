//! Recognises conditions on a ratio of counts, such as precision, from their formulas, and tests them with exact binomial tails.
//!
//! Many conditions are equivalent to a linear inequality between the cells of the confusion matrix:
//!
//! ```text
//! precision ≥ 0.3         tp/(tp + fp) ≥ 0.3             0.7 tp − 0.3 fp ≥ 0
//! F1 ≥ 0.5                2tp/(2tp + fp + fn) ≥ 0.5      tp − 0.5 fp − 0.5 fn ≥ 0
//! alarms ≤ 50 per 1000    tp + fp ≤ 0.05 total           0.05 tn + 0.05 fn − 0.95 tp − 0.95 fp ≥ 0
//! ```
//!
//! If all positive coefficients are equal (u), and all negative coefficients are equal (−v), then the condition is about a share: among the rows in
//! cells with a coefficient other than 0, at least the share c = v/(u + v) must lie in cells with a positive coefficient. If m rows have a
//! coefficient other than 0, the number A of those with a positive coefficient follows the binomial distribution Bin(m, r), where r is the true
//! share. If A = a is observed, r ≥ c is shown at the level α if
//!
//! ```text
//! P(A ≥ a) ≤ α for A from Bin(m, c)        P(A ≥ a) = I_c(a, m − a + 1), the regularised incomplete beta function
//! ```
//!
//! This test corresponds to the confidence interval of Clopper and Pearson (1934).
//!
//! The coefficients are computed from the formula at several class counts, and the inequality is compared with the condition at many confusion
//! matrices. So this file needs no list of scores, and a user's own formula is recognised like a registered score.
//!
//! Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of the binomial. Biometrika 26(4),
//! 404–413.

use statrs::function::beta::checked_beta_reg;

use super::Condition;
use crate::confusion::Confusion;
use crate::score::Score;

/// Two numbers that differ relatively by less than this are considered equal.
const TOLERANCE: f64 = 1e-9;

/// The coefficients of the cells tn, fp, fn, tp in a linear inequality Σ coefficient · cell ≥ 0 that is equivalent to a condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinearCondition(pub [f64; 4]);

/// A condition on a share: among the rows in the cells of `successes` and `failures`, at least `share` must lie in the cells of `successes`. The
/// cells are in the order tn, fp, fn, tp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CountRatio {
    pub successes: [bool; 4],
    pub failures: [bool; 4],
    pub share: f64,
}

impl LinearCondition {
    /// The linear inequality that is equivalent to a condition for matrices with this total; `None` if there is none.
    pub fn new(condition: &Condition, total: f64) -> Option<Self> {
        let score = condition.nearness_score()?;
        // For P positive and N negative rows, the condition is a₀ + a₁ tp + a₂ fp ≥ 0 with a₀ = α P + β N + κ.
        let boundary = |positives: f64, negatives: f64| {
            let [a0, a1, a2] = score.formula().linear_fraction(positives, negatives)?.above;
            let scale = a1.abs().max(a2.abs());
            (scale > 0.0 && scale.is_finite()).then(|| [a0 / scale, a1 / scale, a2 / scale])
        };
        let at = [(97.0, 1013.0), (641.0, 229.0), (31.0, 37.0)];
        let [first, second, third] =
            [boundary(at[0].0, at[0].1)?, boundary(at[1].0, at[1].1)?, boundary(at[2].0, at[2].1)?];
        let [p1, n1] = [at[0].0 - at[2].0, at[0].1 - at[2].1];
        let [p2, n2] = [at[1].0 - at[2].0, at[1].1 - at[2].1];
        let (d1, d2) = (first[0] - third[0], second[0] - third[0]);
        let determinant = p1 * n2 - p2 * n1;
        let (alpha, beta) = ((d1 * n2 - d2 * n1) / determinant, (p1 * d2 - p2 * d1) / determinant);
        let constant = third[0] - alpha * at[2].0 - beta * at[2].1;
        // A condition on a number of rows, such as fp ≤ 20, has a constant κ. It is divided among all cells: κ = (tn + fp + fn + tp) κ / total.
        let constant = if constant.abs() < TOLERANCE { 0.0 } else { constant / total };
        let [_, tp, fp] = first;
        let mut weights = [beta, beta + fp, alpha, alpha + tp].map(|weight| weight + constant);
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        weights.iter_mut().filter(|weight| weight.abs() < TOLERANCE * largest).for_each(|weight| *weight = 0.0);
        // If the denominator of the formula is negative, the inequality is reversed, so both directions are tried.
        [weights, weights.map(|weight| -weight)]
            .into_iter()
            .map(LinearCondition)
            .find(|linear| linear.agrees_with(&score, total))
    }

    /// The sum Σ coefficient · cell, which is at least 0 if the condition holds.
    pub fn value(&self, cells: &[f64; 4]) -> f64 {
        self.0.iter().zip(cells).map(|(weight, cell)| weight * cell).sum()
    }

    /// Whether the inequality and the condition hold for the same confusion matrices. `score` is the nearness score of the condition. The compared
    /// matrices have the total `total`, and some of them have empty cells.
    fn agrees_with(&self, score: &Score, total: f64) -> bool {
        /// The values of the cells of the compared matrices, before the matrices are scaled to the total.
        const CELLS: [f64; 6] = [0.0, 1.0, 3.0, 7.0, 40.0, 1000.0];
        let matrices = (1..CELLS.len().pow(4)).map(|index| {
            let cells: [f64; 4] = std::array::from_fn(|cell| CELLS[index / CELLS.len().pow(cell as u32) % CELLS.len()]);
            let scale = total / cells.iter().sum::<f64>();
            cells.map(|cell| cell * scale)
        });
        let mut compared = 0;
        for cells in matrices {
            let value = self.value(&cells);
            let is_on_boundary =
                value.abs() <= 1e-7 * self.0.iter().fold(0.0, |sum, weight| sum + weight.abs()) * total;
            let Some(nearness) = score.checked(&Confusion::new(cells[0], cells[1], cells[2], cells[3])) else {
                continue;
            };
            if !is_on_boundary && (value > 0.0) != (nearness > 0.0) {
                return false;
            }
            compared += usize::from(!is_on_boundary);
        }
        compared > 100
    }

    /// The equivalent condition on a share; `None` if the positive coefficients are not all equal, or if the negative coefficients are not all equal.
    pub fn ratio(&self) -> Option<CountRatio> {
        let common = |sign: f64| {
            let chosen = self.0.iter().map(|weight| sign * weight).filter(|weight| *weight > 0.0);
            let (low, high) =
                chosen.fold((f64::INFINITY, 0.0f64), |(low, high), weight| (low.min(weight), high.max(weight)));
            (high == 0.0 || high - low <= TOLERANCE * high).then_some(high)
        };
        let (up, down) = (common(1.0)?, common(-1.0)?);
        Some(CountRatio {
            successes: self.0.map(|weight| weight > 0.0),
            failures: self.0.map(|weight| weight < 0.0),
            share: down / (up + down),
        })
    }
}

impl CountRatio {
    /// The numbers of successes and of failures in a confusion matrix with these cells.
    pub fn counts(&self, cells: &[f64; 4]) -> (f64, f64) {
        let sum =
            |chosen: &[bool; 4]| cells.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(cell, _)| cell).sum();
        (sum(&self.successes), sum(&self.failures))
    }

    /// The p-value of the null hypothesis that the true share is below `share`.
    pub fn p_value(&self, (successes, failures): (f64, f64)) -> f64 {
        upper_binomial_tail(successes, successes + failures, self.share)
    }
}

/// The probability P(A ≥ `at_least`) for A from the binomial distribution with `trials` trials and the probability `share`. `at_least` and `trials`
/// may be fractions, because effective numbers of rows are fractions; the regularised incomplete beta function is continuous in both.
pub(super) fn upper_binomial_tail(at_least: f64, trials: f64, share: f64) -> f64 {
    if at_least <= 0.0 {
        return 1.0;
    }
    if share <= 0.0 {
        return 0.0;
    }
    if share >= 1.0 {
        return 1.0;
    }
    checked_beta_reg(at_least, (trials - at_least).max(0.0) + 1.0, share).map_or(1.0, |tail| tail.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition on a share that is equivalent to `text`: the names of the cells of the successes, the names of the cells of the failures, and
    /// the share. The condition is applied to matrices with a total of 2000.
    fn recognised(text: &str) -> Option<(String, String, f64)> {
        let ratio = LinearCondition::new(&Condition::parse(text).unwrap()[0], 2000.0)?.ratio()?;
        let names = |chosen: [bool; 4]| {
            let chosen = ["tn", "fp", "fn", "tp"].into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
            chosen.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
        };
        Some((names(ratio.successes), names(ratio.failures), ratio.share))
    }

    #[test]
    fn ratios_of_counts_are_recognised_from_their_formulas() {
        let cases = [
            ("precision >= 0.3", "tp", "fp", 0.3),
            ("far <= 0.7", "tp", "fp", 0.3),
            ("1 - far > 0.3", "tp", "fp", 0.3),
            ("tp >= 3*fp", "tp", "fp", 0.75),
            ("100*precision >= 30", "tp", "fp", 0.3),
            ("(tp/total)/((tp + fp)/total) >= 0.3", "tp", "fp", 0.3),
            ("recall >= 0.8", "tp", "fn", 0.8),
            ("0.8 <= pod", "tp", "fn", 0.8),
            ("specificity >= 0.9", "tn", "fp", 0.9),
            ("pofd <= 0.1", "tn", "fp", 0.9),
            ("npv >= 0.95", "tn", "fn", 0.95),
            ("accuracy >= 0.9", "tn tp", "fp fn", 0.9),
            ("csi >= 0.4", "tp", "fp fn", 0.4),
            ("f1 >= 0.5", "tp", "fp fn", 1.0 / 3.0),
            ("bias >= 1", "fp", "fn", 0.5),
            ("alarms <= 50 per 1000", "tn fn", "fp tp", 0.95),
            ("alarms <= 100", "tn fn", "fp tp", 0.95),
            ("fn < 20", "tn fp tp", "fn", 0.99),
        ];
        for (text, successes, failures, share) in cases {
            let found = recognised(text).unwrap_or_else(|| panic!("{text} is not recognised"));
            assert_eq!((found.0.as_str(), found.1.as_str()), (successes, failures), "{text}");
            assert!((found.2 - share).abs() < 1e-9, "{text}: {}", found.2);
        }
    }

    #[test]
    fn conditions_that_are_not_about_one_ratio_of_counts_are_not_recognised() {
        for text in [
            "tss >= 0.5",
            "hss >= 0.4",
            "mcc > 0.2",
            "fbeta(2) >= 0.5",
            "recall >= precision",
            "min(precision, recall) > 0.2",
            "(tp + fn)/total > 0.1",
        ] {
            assert_eq!(recognised(text), None, "{text}");
        }
    }

    #[test]
    fn a_condition_that_always_holds_needs_no_successes_and_one_that_never_holds_cannot_be_shown() {
        let never = LinearCondition::new(&Condition::parse("fp <= 0").unwrap()[0], 100.0).unwrap().ratio().unwrap();
        assert_eq!(never.p_value((50.0, 0.0)), 1.0);
        assert_eq!(upper_binomial_tail(3.0, 10.0, 0.0), 0.0);
        assert_eq!(upper_binomial_tail(0.0, 10.0, 0.4), 1.0);
        assert!((upper_binomial_tail(5.0, 5.0, 0.5) - 1.0 / 32.0).abs() < 1e-15);
    }

    #[test]
    fn binomial_tails_agree_with_golden_values_of_scipy_and_of_fifty_digit_arithmetic() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/binomial.csv");
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(path).unwrap();
        let mut compared = 0;
        for row in reader.records() {
            let row = row.unwrap();
            let number = |column: usize| row[column].parse::<f64>().unwrap();
            let (got, expected) = (upper_binomial_tail(number(0), number(1), number(2)), number(3));
            assert!((got - expected).abs() <= 1e-9 * expected, "{row:?}: {got}");
            compared += 1;
        }
        assert!(compared > 100);
    }
}
