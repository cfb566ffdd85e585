//! The confusion matrix as a function of the threshold, reduced to a few points for a plot but always including the best thresholds.

use super::best::{best_threshold, count_above, middle};
use super::ranked::{RankedRows, RankedTable};
use crate::confusion::Confusion;
use crate::score::Score;

/// An interval of thresholds that all give the same confusion matrix, and this matrix: one point of a ROC curve and of other curves over the
/// threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The interval of thresholds, from the first end up to but not including the second. (If the second end is 1 and no prediction is 1, the
    /// interval includes 1.)
    pub thresholds: (f64, f64),
    /// The confusion matrix at every threshold of the interval.
    pub confusion: Confusion,
}

impl CurvePoint {
    /// A threshold of the interval with few digits: the middle of the interval, rounded to as few decimals as possible without leaving the interval.
    ///
    /// ```
    /// use scorewise::{Confusion, sweep::CurvePoint};
    ///
    /// let point = |low, high| CurvePoint { thresholds: (low, high), confusion: Confusion::default() };
    /// assert_eq!(point(0.518_908, 0.519_171).threshold(), 0.519);
    /// assert_eq!(point(0.4, 0.6).threshold(), 0.5);
    /// assert_eq!(point(0.3, 0.3f64.next_up()).threshold(), 0.3); // the first end belongs to the interval, the second does not
    /// ```
    #[must_use]
    pub fn threshold(&self) -> f64 {
        let (low, high) = self.thresholds;
        let middle = middle(self.thresholds);
        let rounded = |digits: usize| format!("{middle:.digits$}").parse::<f64>().ok();
        (1..=17).filter_map(rounded).find(|rounded| (low..high).contains(rounded)).unwrap_or(middle)
    }
}

/// About `points` intervals of thresholds with their confusion matrices, in ascending order of the thresholds; see
/// [`Sweep::curve`](super::Sweep::curve).
pub(crate) fn curve_points<T: RankedRows>(table: &RankedTable<T>, scores: &[Score], points: usize) -> Vec<CurvePoint> {
    let length = table.rows.len();
    // For n rows, the full curve has at most n + 1 points, so `points` is limited: more points would only be repetitions.
    let half = (points / 2).clamp(1, length.max(1));
    let by_rank = (0..=half).map(|k| (length as u128 * k as u128 / half as u128) as usize);
    let by_threshold = (0..=half).map(|k| count_above(&table.rows, k as f64 / half as f64));
    let optima = scores
        .iter()
        .filter_map(|score| best_threshold(table, score, &[]))
        .map(|best| count_above(&table.rows, best.threshold));
    let mut ranks: Vec<usize> =
        by_rank.chain(by_threshold).chain(optima).map(|rank| round_down_to_group_boundary(table, rank)).collect();
    ranks.sort_unstable_by(|a, b| b.cmp(a));
    ranks.dedup();
    ranks.into_iter().filter_map(|above| curve_point(table, above)).collect()
}

/// The interval of all thresholds that give the same confusion matrix as `threshold`, and that matrix.
pub(crate) fn step_containing<T: RankedRows>(table: &RankedTable<T>, threshold: f64) -> CurvePoint {
    let above = count_above(&table.rows, threshold.clamp(0.0, 1.0));
    curve_point(table, above).expect("every threshold lies in an interval with one confusion matrix")
}

/// The interval of thresholds at which exactly the first `above` sorted rows are predicted positive, and the confusion matrix at these thresholds;
/// `None` if there is no such threshold.
fn curve_point<T: RankedRows>(table: &RankedTable<T>, above: usize) -> Option<CurvePoint> {
    let (tp, fp) = table.hits_and_alarms(above);
    let thresholds = table.threshold_interval(above)?;
    Some(CurvePoint { thresholds, confusion: Confusion::at(tp, fp, &table.counts) })
}

/// The largest number of rows, at most `above`, that a threshold can predict positive. It may be smaller than `above`, because no threshold
/// separates equal predictions and no threshold is below 0.
fn round_down_to_group_boundary<T: RankedRows>(table: &RankedTable<T>, above: usize) -> usize {
    if above == 0 || table.threshold_interval(above).is_some() {
        return above;
    }
    // `above` lies inside a group of equal predictions or after predictions of 0, so the result is the number of rows above that group.
    count_above(&table.rows, table.rows.prediction(above - 1))
}
