//! Finds the best threshold of a quantity whose value at every threshold is known. Every interval between two neighbouring predictions is examined.

use super::best::middle;
use crate::score::Score;

/// Two values of the quantity count as equally good if they differ by at most this number times max(1, |better value|). Equal values may differ by
/// rounding errors, because the sums for different thresholds are computed in different orders.
const TOLERANCE: f64 = 1e-12;

/// The best threshold of a quantity, as [`best_interval`] finds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BestInterval {
    /// A threshold in the middle of `interval`.
    pub threshold: f64,
    /// The widest interval of thresholds at which the quantity is best.
    pub interval: (f64, f64),
    /// The number of separate intervals at which the quantity is equally good.
    pub intervals: usize,
    /// The number of distinct predictions above the threshold.
    pub above: usize,
}

/// The interval of the thresholds that lie below exactly the `above` highest predictions. `predictions` are the distinct predictions in descending
/// order. The interval contains its lower end but not its upper end; only the interval with `above = 0` also contains its upper end, 1.
pub(crate) fn interval_below(predictions: &[f64], above: usize) -> (f64, f64) {
    let high = if above == 0 { 1.0 } else { predictions[above - 1] };
    (predictions.get(above).copied().unwrap_or(0.0), high)
}

/// Whether an interval from [`interval_below`] contains a threshold. The interval below all predictions is empty if the lowest prediction is 0. The
/// interval with `above = 0` is never empty, because it contains the threshold 1.
pub(crate) fn has_thresholds((low, high): (f64, f64), above: usize) -> bool {
    low < high || above == 0
}

/// Whether `value` is at least as good as `best`, up to rounding errors; higher is better.
pub(crate) fn is_as_good(value: f64, best: f64) -> bool {
    best - value <= TOLERANCE * best.abs().max(1.0)
}

/// The best threshold of a quantity. `predictions` are the distinct predictions in descending order. `value(above)` returns the quantity at the
/// thresholds that lie below exactly the `above` highest predictions; higher is better, and `None` excludes these thresholds. The result is `None` if
/// all thresholds are excluded.
pub(crate) fn best_interval(predictions: &[f64], value: impl Fn(usize) -> Option<f64>) -> Option<BestInterval> {
    let mut best = f64::NEG_INFINITY;
    // The intervals whose value was, up to `TOLERANCE`, at least as good as that of every interval before them.
    let mut candidates: Vec<((f64, f64), f64)> = Vec::new();
    for above in 0..=predictions.len() {
        let ends = interval_below(predictions, above);
        if !has_thresholds(ends, above) {
            continue;
        }
        let Some(value) = value(above).filter(|value| value.is_finite()) else { continue };
        if is_as_good(value, best) {
            best = best.max(value);
            candidates.push((ends, value));
        }
    }
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (ends, _) in candidates.into_iter().filter(|(_, value)| is_as_good(*value, best)) {
        match merged.last_mut() {
            Some(previous) if previous.0 == ends.1 => previous.0 = ends.0,
            _ => merged.push(ends),
        }
    }
    let widest = |a: &&(f64, f64), b: &&(f64, f64)| (a.1 - a.0).total_cmp(&(b.1 - b.0)).then(a.0.total_cmp(&b.0));
    let &interval = merged.iter().max_by(widest)?;
    let threshold = middle(interval);
    let above = predictions.partition_point(|prediction| crate::confusion::is_positive(*prediction, threshold));
    Some(BestInterval { threshold, interval, intervals: merged.len(), above })
}

/// The value of a score, transformed so that higher is better; `None` if the score is undefined.
pub(crate) fn oriented(score: &Score, matrix: &crate::confusion::Confusion) -> Option<f64> {
    score.checked(matrix).map(|value| score.oriented_value(value))
}
