//! Conditions on a threshold, such as `precision >= 0.3`, `recall >= 0.8 and far <= 0.5` or `alarms <= 50 per 1000 with 95%`.

use std::sync::Arc;

use crate::error::Result;
use crate::formula::{Checked, ClassCounts, Comparator, Formula, Interval, parse_conditions};
use crate::score::{Direction, Score};

/// A condition that a threshold must satisfy.
///
/// ```
/// use scorewise::{Confusion, sweep::Condition};
///
/// let both = Condition::parse("precision >= 0.3 and fn < 2*tp")?;
/// let confusion = Confusion::new(90.0, 2.0, 3.0, 5.0);
/// assert!(both.iter().all(|condition| condition.holds(&confusion)));
/// // A condition on an undefined score does not hold.
/// assert!(!both[0].holds(&Confusion::new(92.0, 0.0, 8.0, 0.0)));
///
/// // `alarms` is tp + fp; here at most 5 of 100 rows may be predicted positive. With a confidence, the condition must also hold for future rows: see
/// // `Bootstrap::guarantee`.
/// let budget = Condition::parse("alarms <= 50 per 1000 with 95%")?;
/// assert!(!budget[0].holds(&confusion) && budget[0].confidence() == Some(0.95));
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    left: Formula,
    comparison: Comparator,
    right: Formula,
    text: String,
    /// The probability, such as 0.95, with which the condition must hold for future rows; `None` if it must hold only for the given rows.
    confidence: Option<f64>,
    /// The thresholds at which tests have shown that the condition holds for future rows, as intervals from the first end up to but not including the
    /// second (an interval whose ends are equal is a single threshold); `None` before the tests and for a condition without a confidence.
    qualifying: Option<Arc<[(f64, f64)]>>,
}

impl Condition {
    /// Parses one condition, or several joined by `and` or a comma. `with 95%` applies to all conditions before it that have no confidence of their
    /// own.
    pub fn parse(text: &str) -> Result<Vec<Condition>> {
        let parsed = parse_conditions(text)?;
        Ok(parsed
            .into_iter()
            .map(|condition| Condition {
                left: Formula::from_tree(condition.left),
                comparison: condition.comparison,
                right: Formula::from_tree(condition.right),
                text: condition.text,
                confidence: condition.confidence,
                qualifying: None,
            })
            .collect())
    }

    /// The text of the condition as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The probability with which the condition must hold for future rows, such as 0.95 for `with 95%`; `None` if it must hold only for the given
    /// rows.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        self.confidence
    }

    /// The same condition without its confidence, so that it must hold only for the given rows.
    #[must_use]
    pub fn without_confidence(&self) -> Self {
        let text = match self.text.rsplit_once(" with ") {
            Some((condition, _)) if self.confidence.is_some() => condition.to_string(),
            _ => self.text.clone(),
        };
        Condition { text, confidence: None, qualifying: None, ..self.clone() }
    }

    /// The same condition, which now holds only at the given thresholds.
    pub(super) fn restricted_to(&self, qualifying: Arc<[(f64, f64)]>) -> Self {
        Condition { qualifying: Some(qualifying), ..self.clone() }
    }

    /// Whether the condition has a confidence and has not been tested yet ([`Bootstrap::guarantee`](super::Bootstrap::guarantee)).
    pub(crate) fn is_untested(&self) -> bool {
        self.confidence.is_some() && self.qualifying.is_none()
    }

    /// Whether the condition has been tested and therefore holds only at the thresholds that qualify.
    pub(super) fn is_restricted(&self) -> bool {
        self.qualifying.is_some()
    }

    /// Whether this threshold qualifies according to the tests of the condition; true for every threshold if the condition has not been tested.
    pub(super) fn allows(&self, threshold: f64) -> bool {
        self.qualifying.as_ref().is_none_or(|intervals| {
            let after = intervals.partition_point(|interval| interval.0 <= threshold);
            after > 0 && {
                let (low, high) = intervals[after - 1];
                threshold < high || low == high
            }
        })
    }

    /// Whether a confusion matrix satisfies the condition, regardless of a confidence; false if either side of the condition is undefined.
    #[must_use]
    pub fn holds(&self, confusion: &crate::Confusion) -> bool {
        match (self.left.checked(confusion), self.right.checked(confusion)) {
            (Some(left), Some(right)) => self.comparison_holds(left, right),
            _ => false,
        }
    }

    /// The values of the left and the right side of the condition; `None` for a side that is undefined.
    #[must_use]
    pub fn sides(&self, confusion: &crate::Confusion) -> [Option<f64>; 2] {
        [self.left.checked(confusion), self.right.checked(confusion)]
    }

    /// A score that measures how close a matrix comes to satisfying the condition (higher is closer), based on the difference of the
    /// two sides of the condition. `None` if the formula of this score would be too large.
    pub(crate) fn nearness_score(&self) -> Option<Score> {
        let (left, right) = (self.left.text(), self.right.text());
        let text = match self.comparison {
            Comparator::AtLeast | Comparator::Above => format!("({left}) - ({right})"),
            Comparator::AtMost | Comparator::Below => format!("({right}) - ({left})"),
            Comparator::Equal => format!("0 - abs(({left}) - ({right}))"),
            Comparator::NotEqual => format!("abs(({left}) - ({right}))"),
        };
        // A higher value always means that the condition is closer to holding, even for a formula such as `(pofd) - (0.9)`, which falls when
        // forecasts improve. So the direction is set here and not derived from the formula.
        Some(Score::parse(&text).ok()?.with_direction(Direction::Higher))
    }

    /// Whether the comparison of the condition, such as `>=`, holds between these values of its left and its right side.
    fn comparison_holds(&self, left: f64, right: f64) -> bool {
        match self.comparison {
            Comparator::AtLeast => left >= right,
            Comparator::Above => left > right,
            Comparator::AtMost => left <= right,
            Comparator::Below => left < right,
            Comparator::Equal => left == right,
            Comparator::NotEqual => left != right,
        }
    }

    /// Whether the matrix with these true and false positives satisfies the condition; false if a side of the condition is undefined or
    /// not finite.
    pub(crate) fn holds_at(&self, tp: f64, fp: f64, counts: &ClassCounts, scratch: &mut Vec<Checked>) -> bool {
        let left = self.left.checked_at(tp, fp, counts, scratch);
        let right = self.right.checked_at(tp, fp, counts, scratch);
        let is_valid = |side: Checked| side.defined && side.value.is_finite();
        is_valid(left) && is_valid(right) && self.comparison_holds(left.value, right.value)
    }

    /// Whether some matrix with tp and fp in these intervals may satisfy the condition; false only if it is certain that none does.
    pub(crate) fn may_hold(
        &self,
        tp: Interval,
        fp: Interval,
        counts: &ClassCounts,
        scratch: &mut Vec<Interval>,
    ) -> bool {
        let left = self.left.bounds_in_box(tp, fp, counts, scratch);
        let right = self.right.bounds_in_box(tp, fp, counts, scratch);
        match self.comparison {
            Comparator::AtLeast => left.high >= right.low,
            Comparator::Above => left.high > right.low,
            Comparator::AtMost => left.low <= right.high,
            Comparator::Below => left.low < right.high,
            Comparator::Equal => left.low <= right.high && right.low <= left.high,
            Comparator::NotEqual => !(left.is_point() && right.is_point() && left.low == right.low),
        }
    }

    /// Whether every matrix with tp and fp in these intervals satisfies the condition; true only if this is certain.
    pub(crate) fn must_hold(
        &self,
        tp: Interval,
        fp: Interval,
        counts: &ClassCounts,
        scratch: &mut Vec<Interval>,
    ) -> bool {
        let left = self.left.bounds_in_box(tp, fp, counts, scratch);
        let right = self.right.bounds_in_box(tp, fp, counts, scratch);
        let compares = match self.comparison {
            Comparator::AtLeast => left.low >= right.high,
            Comparator::Above => left.low > right.high,
            Comparator::AtMost => left.high <= right.low,
            Comparator::Below => left.high < right.low,
            Comparator::Equal => left.is_point() && right.is_point() && left.low == right.low,
            Comparator::NotEqual => left.high < right.low || left.low > right.high,
        };
        let is_valid = |side: Interval| side.defined && side.low.is_finite() && side.high.is_finite();
        compares && is_valid(left) && is_valid(right)
    }
}
