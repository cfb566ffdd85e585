//! Sorted rows divided into runs of consecutive rows, for the bootstrap of very many rows.
//!
//! At a threshold between two runs, the confusion matrix and the score are exactly those of the rows. Thresholds inside a run are not considered.

use super::Condition;
use super::best::best_threshold;
use super::ranked::{RankedRows, RankedTable};
use super::smooth::{BinPosition, smooth_best_at_positions};
use crate::score::Score;

/// Runs of consecutive rows, where the rows are in descending order of their predictions.
///
/// ```
/// use scorewise::sweep::sweep;
/// use scorewise::{Probabilities, Rows};
///
/// let rows = Rows::new(Probabilities(&[0.1, 0.2, 0.3, 0.8, 0.8, 0.9]), &[false, false, false, true, true, false])?;
/// assert_eq!(sweep(&rows)?.runs(3).len(), 3); // 0.9; 0.8, 0.8, 0.3; 0.2, 0.1
/// assert_eq!(sweep(&rows)?.runs(usize::MAX).len(), 5); // equal predictions stay together
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    pub(super) runs: Vec<RowRun>,
    pub(super) rows: usize,
}

/// One run of consecutive sorted rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowRun {
    /// The smallest prediction of the rows in this group of consecutive sorted rows.
    low: f64,
    /// The largest prediction of the rows in this group of consecutive sorted rows.
    high: f64,
    /// The total weight of the positives and the total weight of the negatives in this group of consecutive sorted rows.
    pub mass: (f64, f64),
}

impl Runs {
    /// Divides the sorted rows into at most `at_most` runs (groups of consecutive rows); see [`Sweep::runs`](super::Sweep::runs).
    pub(super) fn new<T: RankedRows>(table: &RankedTable<T>, at_most: usize) -> Self {
        Runs { runs: divide_into_runs(table, at_most.max(1)), rows: table.rows.len() }
    }

    /// The number of runs (groups of consecutive sorted rows).
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Always false, because there is at least one row and therefore one run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The index of the run (group of consecutive sorted rows) that contains a prediction. The prediction must be that of one of the rows.
    pub(super) fn index_of_run(&self, prediction: f64) -> usize {
        self.runs.partition_point(|run| run.low > prediction)
    }

    /// The best of the thresholds that lie between two runs (groups of consecutive sorted rows), and the score at this threshold. `masses` are the
    /// weights of the positives and of the negatives in each run.
    pub(super) fn best_threshold(
        &self,
        masses: Vec<(f64, f64)>,
        score: &Score,
        conditions: &[Condition],
    ) -> Option<(f64, f64)> {
        let best = best_threshold(&RankedTable::new(ReplicateRuns { runs: &self.runs, masses }), score, conditions)?;
        Some((best.threshold, best.value))
    }
}

/// For each run of consecutive sorted rows, its position on the scale of log-odds, from which smoothed thresholds are computed. The positions are
/// the same in all replicates of a bootstrap.
pub(super) struct SmoothedRuns {
    half_width: f64,
    positions: Vec<BinPosition>,
}

impl SmoothedRuns {
    /// Computes the position of each run of sorted rows on the scale of log-odds. `half_width` is the half-width of the prior on the scale of
    /// log-odds.
    pub fn new(runs: &Runs, half_width: f64) -> Self {
        let positions = runs.runs.iter().map(|run| BinPosition::new(0.5 * (run.low + run.high), half_width)).collect();
        SmoothedRuns { half_width, positions }
    }

    /// The smoothed threshold, and the score at this threshold. `masses` are the weights of the positives and of the negatives in each run of
    /// consecutive sorted rows.
    pub fn threshold(&self, runs: &Runs, masses: Vec<(f64, f64)>, score: &Score) -> Option<(f64, f64)> {
        let table = RankedTable::new(ReplicateRuns { runs: &runs.runs, masses });
        let best = smooth_best_at_positions(&table, &self.positions, score, self.half_width)?;
        Some((best.threshold, best.value?))
    }
}

/// Divides the sorted rows into at most `at_most` runs of consecutive rows; see [`Sweep::runs`](super::Sweep::runs).
fn divide_into_runs<T: RankedRows>(table: &RankedTable<T>, at_most: usize) -> Vec<RowRun> {
    let (rows, counts) = (&table.rows, &table.counts);
    let each_group = at_most >= rows.len();
    let fraction = |weight: f64, total: f64| if total > 0.0 { weight / total } else { 0.0 };
    let share = |mass: (f64, f64)| fraction(mass.0, counts.positives) + fraction(mass.1, counts.negatives);
    let scale = at_most as f64 / share((counts.positives, counts.negatives));
    let mut runs: Vec<RowRun> = Vec::new();
    let (mut seen, mut next) = ((0.0, 0.0), 1.0);
    let (mut mass, mut first) = ((0.0, 0.0), None);
    for rank in 0..rows.len() {
        let (positive, negative) = rows.class_weights(rank);
        seen = (seen.0 + positive, seen.1 + negative);
        mass = (mass.0 + positive, mass.1 + negative);
        let high = *first.get_or_insert_with(|| rows.prediction(rank));
        let is_last = rank + 1 == rows.len();
        // A run is full when `position`, which grows from 0 to `at_most` over all rows, reaches the next integer. Because of rounding, `position`
        // may reach `at_most` before the last row; the last run is then continued to the last row.
        let position = scale * share(seen);
        let is_full = each_group || (position >= next && next < at_most as f64);
        if is_last || (is_full && rows.ends_group_of_equal_predictions(rank)) {
            runs.push(RowRun { low: rows.prediction(rank), high, mass });
            (mass, first, next) = ((0.0, 0.0), None, position.floor() + 1.0);
        }
    }
    runs
}

/// Runs of sorted rows, with the weights that they have in one bootstrap replicate.
struct ReplicateRuns<'a> {
    runs: &'a [RowRun],
    masses: Vec<(f64, f64)>,
}

impl RankedRows for ReplicateRuns<'_> {
    fn len(&self) -> usize {
        self.runs.len()
    }
    /// The smallest prediction in a run (a group of consecutive sorted rows).
    #[inline(always)]
    fn prediction(&self, rank: usize) -> f64 {
        self.runs[rank].low
    }
    /// The weight that the positives, and the weight that the negatives, of a run of consecutive sorted rows have in this bootstrap replicate.
    #[inline(always)]
    fn class_weights(&self, rank: usize) -> (f64, f64) {
        self.masses[rank]
    }
    /// Always true, because rows with equal predictions are in the same run.
    #[inline(always)]
    fn ends_group_of_equal_predictions(&self, _: usize) -> bool {
        true
    }
    /// The lowest threshold at which no row of a run of consecutive sorted rows is predicted positive: the largest prediction in the run.
    #[inline(always)]
    fn lowest_threshold_above(&self, rank: usize) -> f64 {
        self.runs[rank].high
    }
}
