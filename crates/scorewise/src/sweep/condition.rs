//! Conditions on a threshold: `precision >= 0.3`, `recall >= 0.8 and far <= 0.5`.

use crate::error::Result;
use crate::formula::{Checked, Comparison, Counts, Formula, Interval, conditions};
use crate::score::Score;

/// A condition that a threshold must satisfy.
///
/// ```
/// use scorewise::{Confusion, sweep::Condition};
///
/// let both = Condition::parse("precision >= 0.3 and fn < 2*tp")?;
/// let confusion = Confusion::new(90.0, 2.0, 3.0, 5.0);
/// assert!(both.iter().all(|condition| condition.holds(&confusion)));
/// // An undefined score satisfies nothing.
/// assert!(!both[0].holds(&Confusion::new(92.0, 0.0, 8.0, 0.0)));
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    left: Formula,
    comparison: Comparison,
    right: Formula,
    text: String,
}

impl Condition {
    /// One condition, or several joined by `and` or a comma.
    pub fn parse(text: &str) -> Result<Vec<Condition>> {
        let parsed = conditions(text)?;
        Ok(parsed
            .into_iter()
            .map(|part| Condition {
                left: Formula::from_tree(part.left),
                comparison: part.comparison,
                right: Formula::from_tree(part.right),
                text: part.text,
            })
            .collect())
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a confusion matrix satisfies it; an undefined side satisfies nothing.
    #[must_use]
    pub fn holds(&self, confusion: &crate::Confusion) -> bool {
        match (self.left.checked(confusion), self.right.checked(confusion)) {
            (Some(left), Some(right)) => self.compares(left, right),
            _ => false,
        }
    }

    /// The values of its two sides; nothing for one that is undefined.
    #[must_use]
    pub fn sides(&self, confusion: &crate::Confusion) -> [Option<f64>; 2] {
        [self.left.checked(confusion), self.right.checked(confusion)]
    }

    /// How near a matrix comes to satisfying it, higher being nearer: the difference of the sides. Nothing where that would
    /// be too large a formula.
    pub(crate) fn nearness(&self) -> Option<Score> {
        let (left, right) = (self.left.text(), self.right.text());
        let text = match self.comparison {
            Comparison::AtLeast | Comparison::Above => format!("({left}) - ({right})"),
            Comparison::AtMost | Comparison::Below => format!("({right}) - ({left})"),
            Comparison::Equal => format!("0 - abs(({left}) - ({right}))"),
            Comparison::NotEqual => format!("abs(({left}) - ({right}))"),
        };
        Score::parse(&text).ok()
    }

    fn compares(&self, left: f64, right: f64) -> bool {
        match self.comparison {
            Comparison::AtLeast => left >= right,
            Comparison::Above => left > right,
            Comparison::AtMost => left <= right,
            Comparison::Below => left < right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
        }
    }

    pub(crate) fn holds_at(&self, tp: f64, fp: f64, counts: &Counts, scratch: &mut Vec<Checked>) -> bool {
        let left = self.left.checked_at(tp, fp, counts, scratch);
        let right = self.right.checked_at(tp, fp, counts, scratch);
        let usable = |side: Checked| side.defined && side.value.is_finite();
        usable(left) && usable(right) && self.compares(left.value, right.value)
    }

    /// Whether some matrix of the box may satisfy it.
    pub(crate) fn may_hold(&self, tp: Interval, fp: Interval, counts: &Counts, scratch: &mut Vec<Interval>) -> bool {
        let left = self.left.bound(tp, fp, counts, scratch);
        let right = self.right.bound(tp, fp, counts, scratch);
        match self.comparison {
            Comparison::AtLeast => left.high >= right.low,
            Comparison::Above => left.high > right.low,
            Comparison::AtMost => left.low <= right.high,
            Comparison::Below => left.low < right.high,
            Comparison::Equal => left.low <= right.high && right.low <= left.high,
            Comparison::NotEqual => !(left.is_point() && right.is_point() && left.low == right.low),
        }
    }

    /// Whether every matrix of the box certainly satisfies it.
    pub(crate) fn must_hold(&self, tp: Interval, fp: Interval, counts: &Counts, scratch: &mut Vec<Interval>) -> bool {
        let left = self.left.bound(tp, fp, counts, scratch);
        let right = self.right.bound(tp, fp, counts, scratch);
        let compares = match self.comparison {
            Comparison::AtLeast => left.low >= right.high,
            Comparison::Above => left.low > right.high,
            Comparison::AtMost => left.high <= right.low,
            Comparison::Below => left.high < right.low,
            Comparison::Equal => left.is_point() && right.is_point() && left.low == right.low,
            Comparison::NotEqual => left.high < right.low || left.low > right.high,
        };
        let usable = |side: Interval| side.defined && side.low.is_finite() && side.high.is_finite();
        compares && usable(left) && usable(right)
    }
}
