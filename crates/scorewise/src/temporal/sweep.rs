//! The time-weighted confusion matrices at all thresholds, and the threshold with the best score.
//!
//! A band is an interval of thresholds between two predictions, in which a row contributes to a cell of the matrix (see `band.rs`). So, while the
//! threshold falls from 1 to 0, the matrix changes only at predictions: the contribution of a band is added when the threshold falls below the
//! prediction of the row `upper`, and subtracted when it falls below that of the row `lower`. One sort and one pass over the sorted rows give the
//! matrices at all thresholds.

use std::f64::consts::PI;

use super::band::for_each_band;
use super::series::Series;
use super::weighting::Weighting;
use crate::confusion::{Confusion, is_positive};
use crate::error::Result;
use crate::rows::Predictions;
use crate::score::Score;
use crate::sweep::scan::{BestInterval, best_interval, has_thresholds, interval_below, is_as_good, oriented};
use crate::sweep::{Best, BestDistribution, Bootstrap, Condition, SmoothBest, half_width};

/// The number of centres of the prior that are tried for a smoothed threshold, in an interval of log-odds as long as the half-width of the prior.
const CENTRES_PER_HALF_WIDTH: f64 = 32.0;

/// The time-weighted confusion matrices of a series at all thresholds.
///
/// ```
/// use scorewise::temporal::{Series, TemporalSweep, Weighting};
/// use scorewise::{Probabilities, Rows, Score};
///
/// // An alarm one hour before the event, and one far from any event.
/// let probabilities = [0.1, 0.8, 0.6, 0.1, 0.1, 0.1, 0.1, 0.7];
/// let labels = [false, false, true, false, false, false, false, false];
/// let series = Series::new(Rows::new(Probabilities(&probabilities), &labels)?)?;
/// let sweep = TemporalSweep::new(&Weighting::default(), &series);
///
/// let best = sweep.best(&Score::parse("csi")?, &[]).unwrap();
/// // Between 0.7 and 0.8 only the early alarm is left: it counts ½ of a false alarm, and the event after it ½ of a miss.
/// assert_eq!((best.interval, best.confusion.fn_), ((0.1, 0.6), 0.0));
/// assert_eq!(sweep.at(0.75).fp, 0.5);
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TemporalSweep {
    /// The distinct predictions in descending order.
    predictions: Vec<f64>,
    /// `matrices[k]` is the matrix at the thresholds for which exactly the first `k` predictions are above the threshold.
    matrices: Vec<Confusion>,
}

/// A band of thresholds in which a row contributes to a cell of the matrix: those for which at least `first` and fewer than `end` of the distinct
/// predictions are above the threshold. If the band reaches down to the lowest threshold, `end` is the number of distinct predictions plus 1.
#[derive(Clone, Copy, Debug)]
struct RankedBand {
    row: u32,
    cell: u8,
    first: u32,
    end: u32,
    size: f64,
}

/// The bands of thresholds of all rows of a series, and the distinct predictions of the series in descending order.
struct RankedBands {
    predictions: Vec<f64>,
    bands: Vec<RankedBand>,
}

impl RankedBands {
    /// Finds for every row of a series the bands, that is the intervals of thresholds in which the row contributes to a cell of the matrix.
    fn new<P: Predictions>(weighting: &Weighting, series: &Series<'_, P>) -> Self {
        let values: Vec<f64> =
            series.rows().predictions.values().iter().map(|value| P::probability(*value).p).collect();
        let mut predictions = values.clone();
        predictions.sort_unstable_by(|a, b| b.total_cmp(a));
        predictions.dedup();
        let (always, never) = (values.len(), values.len() + 1);
        let rank = |row: usize| match row {
            row if row == always => 0,
            row if row == never => predictions.len() as u32 + 1,
            row => predictions.partition_point(|prediction| *prediction > values[row]) as u32 + 1,
        };
        let ranks: Vec<u32> = (0..=never).map(rank).collect();
        let mut bands = Vec::new();
        for_each_band(weighting, series, &values, |row, band| {
            let (first, end) = (ranks[band.upper], ranks[band.lower]);
            let size = series.rows().weight(row) * band.size;
            if size != 0.0 && first < end {
                bands.push(RankedBand { row: row as u32, cell: band.cell as u8, first, end, size });
            }
        });
        RankedBands { predictions, bands }
    }

    /// The matrices at all thresholds if each row occurs `copies(row)` times. Every copy contributes what the row contributes at its original
    /// position in the series.
    fn matrices(&self, copies: impl Fn(usize) -> u32) -> Vec<Confusion> {
        let mut changes = vec![[Change::default(); 4]; self.predictions.len() + 2];
        for band in &self.bands {
            let copies = copies(band.row as usize);
            if copies > 0 {
                let size = f64::from(copies) * band.size;
                changes[band.first as usize][usize::from(band.cell)].add(Change { size, bands: 1 });
                changes[band.end as usize][usize::from(band.cell)].add(Change { size: -size, bands: -1 });
            }
        }
        let mut cells = [Change::default(); 4];
        let thresholds = changes[..=self.predictions.len()].iter();
        let next = |changes: &[Change; 4]| {
            cells.iter_mut().zip(changes).for_each(|(cell, change)| cell.add(*change));
            matrix(cells)
        };
        thresholds.map(next).collect()
    }
}

/// For each row, its contribution to the time-weighted confusion matrix of the series at a threshold. The contributions add up to the matrix of the
/// series, and [`Bootstrap::scores_of_counts`] computes intervals from them.
#[must_use]
pub fn matrices_of_rows<P: Predictions>(
    weighting: &Weighting,
    series: &Series<'_, P>,
    threshold: f64,
) -> Vec<Confusion> {
    let alarm = |value: &P::Number| is_positive(P::probability(*value).p, threshold);
    let mut alarms: Vec<bool> = series.rows().predictions.values().iter().map(alarm).collect();
    alarms.extend([true, false]); // the virtual rows: one always above the threshold, one never
    let mut cells = vec![[0.0; 4]; series.len()];
    // The contributions at one threshold depend only on which predictions are above it, so the bands are computed from `alarms` instead of the
    // predictions.
    for_each_band(weighting, series, &alarms, |row, band| {
        if alarms[band.upper] && !alarms[band.lower] {
            cells[row][band.cell] += series.rows().weight(row) * band.size;
        }
    });
    let matrix = |[tn, fp, fn_, tp]: [f64; 4]| Confusion::new(tn, fp, fn_.max(0.0), tp);
    cells.into_iter().map(matrix).collect()
}

impl Bootstrap<'_> {
    /// The distributions of the best threshold of a series, and of the score at this threshold, over the replicates. A replicate consists of copies
    /// of rows, blocks or groups; every copy of a row contributes what the row contributes at its original position in the series.
    pub fn best_of_series<P: Predictions>(
        &self,
        weighting: &Weighting,
        series: &Series<'_, P>,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        let bands = RankedBands::new(weighting, series);
        let sweep = TemporalSweep::of_bands(&bands);
        let threshold = sweep.best(score, conditions).map_or(0.5, |best| best.threshold);
        let resolved = self.with_block_length_of_counts(&matrices_of_rows(weighting, series, threshold), score)?;
        let labels = series.rows().labels;
        let find = |copies: &[u32]| {
            let best = best_threshold(&bands.predictions, &bands.matrices(|row| copies[row]), score, conditions)?;
            Some((best.threshold, best.value))
        };
        resolved.best_of_copies(labels, find)
    }
}

impl TemporalSweep {
    /// Computes the time-weighted confusion matrices of the series at all thresholds.
    #[must_use]
    pub fn new<P: Predictions>(weighting: &Weighting, series: &Series<'_, P>) -> Self {
        TemporalSweep::of_bands(&RankedBands::new(weighting, series))
    }

    /// Computes the matrices at all thresholds from the bands, that is the intervals of thresholds in which a row contributes to a cell.
    fn of_bands(bands: &RankedBands) -> Self {
        TemporalSweep { predictions: bands.predictions.clone(), matrices: bands.matrices(|_| 1) }
    }

    /// The number of distinct predictions; the number of matrices is greater by 1.
    #[must_use]
    pub fn predictions(&self) -> usize {
        self.predictions.len()
    }

    /// The time-weighted confusion matrix at a threshold.
    #[must_use]
    pub fn at(&self, threshold: f64) -> Confusion {
        self.matrices[self.predictions.partition_point(|prediction| is_positive(*prediction, threshold))]
    }

    /// The intervals of thresholds with the same predicted labels, from the highest thresholds to the lowest, each with its matrix. An interval
    /// (low, high) contains its lower but not its upper end; only the first interval also contains its upper end, 1.
    pub fn intervals(&self) -> impl Iterator<Item = ((f64, f64), Confusion)> {
        intervals(&self.predictions, &self.matrices)
    }

    /// The best threshold of a score among the thresholds that satisfy the conditions; `None` if no threshold satisfies them, or if the score is
    /// undefined at every threshold that does. A condition with a confidence is never satisfied, because there is no test of it for weighted counts.
    #[must_use]
    pub fn best(&self, score: &Score, conditions: &[Condition]) -> Option<Best> {
        best_threshold(&self.predictions, &self.matrices, score, conditions)
    }

    /// The smoothed threshold of a score, which depends less on single rows than the exactly best one: the centre of the prior under which the score
    /// of the expected time-weighted matrix is best, or 1 if the score is better without any alarm. The prior is the one of
    /// [`Sweep::smooth_best`](crate::sweep::Sweep::smooth_best), a raised cosine on the scale of log-odds; around the threshold ½ it reaches from ½ −
    /// `width` to ½ + `width`. `None` if every prediction is 0 or 1, or if the score is undefined at the threshold 1 and for every centre. Returns an
    /// error if `width` is not in [`SMOOTHING_WIDTHS`](crate::sweep::SMOOTHING_WIDTHS).
    ///
    /// The centres that are tried are the multiples of 1/32 of the half-width. Of neighbouring centres that are equally good, the middle one is used.
    pub fn smooth_best(&self, score: &Score, width: f64) -> Result<Option<SmoothBest>> {
        let half_width = half_width(width)?;
        let log_odds: Vec<f64> = self.predictions.iter().map(|p| (p / (1.0 - p)).ln()).collect();
        let step = half_width / CENTRES_PER_HALF_WIDTH;
        let finite = || log_odds.iter().filter(|z| z.is_finite());
        let (Some(highest), Some(lowest)) = (finite().next(), finite().next_back()) else { return Ok(None) };
        let end = |z: f64| (z / step).round() as i64;
        let centres: Vec<f64> =
            (end(lowest - half_width)..=end(highest + half_width)).map(|centre| centre as f64 * step).collect();
        let oriented = |matrix: &Confusion| {
            score.checked(matrix).filter(|value| value.is_finite()).map(|value| score.oriented_value(value))
        };
        let values: Vec<Option<f64>> =
            centres.iter().map(|centre| oriented(&self.expected(&log_odds, *centre, half_width))).collect();
        let without_alarms = self.matrices[0];
        let best = values.iter().flatten().copied().max_by(f64::total_cmp);
        let is_best = |value: &Option<f64>| value.zip(best).is_some_and(|(value, best)| is_as_good(value, best));
        let (mut first, mut longest) = (0, 0..0);
        for run in values.chunk_by(|a, b| is_best(a) == is_best(b)) {
            if is_best(&run[0]) && run.len() > longest.len() {
                longest = first..first + run.len();
            }
            first += run.len();
        }
        let centre = centres.get((longest.start + longest.end.saturating_sub(1)) / 2).filter(|_| best.is_some());
        let (threshold, expected) = match (centre, oriented(&without_alarms)) {
            (Some(centre), none) if none.is_none_or(|none| best.is_some_and(|best| none <= best)) => {
                // The threshold is below 1 even if its log-odds are large, so that predictions of 1 count as positive.
                let threshold = (1.0 / (1.0 + (-centre).exp())).min(1.0_f64.next_down());
                (threshold, self.expected(&log_odds, *centre, half_width))
            }
            (_, Some(_)) => (1.0, without_alarms),
            _ => return Ok(None),
        };
        let confusion = self.at(threshold);
        let Some(expected_value) = score.checked(&expected) else { return Ok(None) };
        Ok(Some(SmoothBest { threshold, value: score.checked(&confusion), confusion, expected_value, expected }))
    }

    /// The expected matrix if the log-odds of the threshold have a raised-cosine distribution around `centre` with this half-width. `log_odds` are
    /// those of the predictions. The computation starts with the matrix at the upper end of the distribution. For each prediction inside the
    /// distribution, it adds the change of the matrix at this prediction, multiplied by the probability that the threshold lies below the prediction.
    fn expected(&self, log_odds: &[f64], centre: f64, half_width: f64) -> Confusion {
        let first = log_odds.partition_point(|z| *z >= centre + half_width);
        let end = log_odds.partition_point(|z| *z > centre - half_width);
        let mut cells = self.matrices[first].array();
        for (z, pair) in log_odds[first..end].iter().zip(self.matrices[first..=end].windows(2)) {
            let u = (z - centre) / half_width;
            let probability = 0.5 * (1.0 + u + (PI * u).sin() / PI);
            let (before, after) = (pair[0].array(), pair[1].array());
            cells.iter_mut().zip(before).zip(after).for_each(|((cell, before), after)| {
                *cell += probability * (after - before);
            });
        }
        let [tn, fp, fn_, tp] = cells.map(|cell| cell.max(0.0));
        Confusion::new(tn, fp, fn_, tp)
    }
}

/// The intervals of thresholds with the same predicted labels, each with its matrix; see [`TemporalSweep::intervals`].
fn intervals(predictions: &[f64], matrices: &[Confusion]) -> impl Iterator<Item = ((f64, f64), Confusion)> {
    let intervals =
        matrices.iter().enumerate().map(|(above, matrix)| (above, interval_below(predictions, above), matrix));
    let is_possible = |(above, ends, _): &(usize, (f64, f64), &Confusion)| has_thresholds(*ends, *above);
    intervals.filter(is_possible).map(|(_, ends, matrix)| (ends, *matrix))
}

/// The best threshold of a score among the thresholds that satisfy the conditions; see [`TemporalSweep::best`].
fn best_threshold(
    predictions: &[f64],
    matrices: &[Confusion],
    score: &Score,
    conditions: &[Condition],
) -> Option<Best> {
    let satisfies = |matrix: &Confusion| {
        conditions.iter().all(|condition| condition.confidence().is_none() && condition.holds(matrix))
    };
    let value = |above: usize| oriented(score, &matrices[above]).filter(|_| satisfies(&matrices[above]));
    let BestInterval { threshold, interval, intervals, above } = best_interval(predictions, value)?;
    let confusion = matrices[above];
    Some(Best { value: score.value(&confusion), threshold, interval, intervals, confusion })
}

/// How much a cell of the matrix changes when the threshold falls below a prediction. The value of the cell at a threshold is the sum of its changes
/// at all predictions above this threshold.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    size: f64,
    /// The number of bands that begin at the prediction minus the number of bands that end there, as the threshold falls. A band is an interval of
    /// thresholds in which a row contributes to the cell.
    bands: i64,
}

impl Change {
    /// Adds another change of the same cell.
    fn add(&mut self, other: Change) {
        self.size += other.size;
        self.bands += other.bands;
    }
}

/// The confusion matrix at a threshold. `cells` contains, for tn, fp, fn and tp, the sum of the changes of the cell at all predictions above the
/// threshold. Rounding errors of the sums are removed. A cell to which no row contributes becomes exactly 0; otherwise a score that is undefined for
/// 0 would get a value. A sum slightly below 0 also becomes 0. Such sums occur for the false negatives, because early alarms reduce the weight of a
/// miss.
fn matrix(cells: [Change; 4]) -> Confusion {
    let [tn, fp, fn_, tp] = cells.map(|cell| if cell.bands == 0 { 0.0 } else { cell.size.max(0.0) });
    Confusion::new(tn, fp, fn_, tp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prior;
    use crate::rows::{Probabilities, Rows};
    use crate::sweep::{BlockLength, Resampling};
    use crate::temporal::TemporalLoss;
    use rand_core::{Rng, SeedableRng};

    /// Calls `check` for random series with ties, weights and several sequences, and for each of the three weightings.
    #[expect(clippy::disallowed_methods, reason = "these tests need a fixed seed")]
    fn for_random_series(mut check: impl FnMut(&Weighting, &Series<'_, Probabilities<'_, f64>>)) {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
        let weightings = [
            Weighting::default(),
            Weighting::sum(&Weighting::WEIGHTS).unwrap(),
            Weighting::maximum(&[0.5, 0.25]).unwrap(),
        ];
        for case in 0..60 {
            let rows = 1 + random.next_u64() as usize % 40;
            let mut below = |limit: u64| random.next_u64() % limit;
            let probabilities: Vec<f64> = (0..rows).map(|_| below(12) as f64 / 11.0).collect();
            let labels: Vec<bool> = (0..rows).map(|_| below(4) == 0).collect();
            let weights: Vec<f64> = (0..rows).map(|_| below(4) as f64 / 2.0).collect();
            let sequences: Vec<u32> = (0..rows).map(|row| row as u32 / 9).collect();
            let mut data = Rows::new(Probabilities(&probabilities), &labels).unwrap();
            if case % 2 == 0 && weights.iter().any(|weight| *weight > 0.0) {
                data = data.with_weights(Some(&weights)).unwrap();
            }
            let series = Series::new(data).unwrap().with_sequences(&sequences).unwrap();
            for weighting in &weightings {
                check(weighting, &series);
            }
        }
    }

    #[test]
    fn matrices_equal_those_computed_one_threshold_at_a_time() {
        for_random_series(|weighting, series| {
            let loss = TemporalLoss::new(Score::parse("csi").unwrap(), Prior::uniform(), weighting.clone());
            let sweep = TemporalSweep::new(weighting, series);
            for step in 0..=44 {
                let threshold = f64::from(step) / 44.0;
                let (expected, found) = (loss.at(series, threshold), sweep.at(threshold));
                let cells = |of: Confusion| [of.tn, of.fp, of.fn_, of.tp];
                for (expected, found) in cells(expected).into_iter().zip(cells(found)) {
                    assert!((expected - found).abs() < 1e-12, "threshold {threshold}: {found}, expected {expected}");
                    assert_eq!(expected == 0.0, found == 0.0, "threshold {threshold}: {found}, expected {expected}");
                }
            }
        });
    }

    #[test]
    fn the_matrices_of_the_rows_add_up_to_the_matrix_of_the_series() {
        for_random_series(|weighting, series| {
            let loss = TemporalLoss::new(Score::parse("csi").unwrap(), Prior::uniform(), weighting.clone());
            for threshold in [0.0, 0.3, 5.0 / 11.0, 0.9, 1.0] {
                let sum: Confusion = matrices_of_rows(weighting, series, threshold).into_iter().sum();
                for (sum, cell) in sum.array().into_iter().zip(loss.at(series, threshold).array()) {
                    assert!((sum - cell).abs() < 1e-12, "threshold {threshold}: sum {sum}, cell {cell}");
                }
            }
        });
    }

    #[test]
    fn replicates_with_one_copy_of_each_row_have_the_best_threshold_of_the_series() {
        for_random_series(|weighting, series| {
            let score = Score::parse("csi").unwrap();
            let best = TemporalSweep::new(weighting, series).best(&score, &[]);
            // A block that is as long as the series contains every row once, so every replicate equals the series.
            let resampling = Resampling::Blocks(BlockLength::Rows(series.len()));
            let bootstrap = Bootstrap { resampling, replicates: 5, seed: 4 };
            let found = bootstrap.best_of_series(weighting, series, &score, &[]).unwrap();
            let value = |best: &Best| (best.value, best.value);
            assert_eq!(found.value.interval(0.95), best.as_ref().map(value));
            assert_eq!(found.threshold.interval(0.95), best.map(|best| (best.threshold, best.threshold)));
        });
    }

    #[test]
    fn no_threshold_gives_a_better_score_than_the_best_one() {
        for_random_series(|weighting, series| {
            let sweep = TemporalSweep::new(weighting, series);
            for name in ["csi", "tss", "hss", "f1", "far"] {
                let score = Score::parse(name).unwrap();
                let best = sweep.best(&score, &[]);
                let looked_at = (0..=440).map(|step| sweep.at(f64::from(step) / 440.0));
                let values = looked_at.filter_map(|matrix| score.checked(&matrix));
                let highest = values.map(|value| score.oriented_value(value)).max_by(f64::total_cmp);
                assert_eq!(best.is_some(), highest.is_some(), "{name}");
                let (Some(best), Some(highest)) = (best, highest) else { continue };
                assert!((score.oriented_value(best.value) - highest).abs() < 1e-12, "{name}: {best:?}, {highest}");
                assert!(best.interval.0 <= best.threshold && best.threshold <= best.interval.1, "{name}: {best:?}");
            }
        });
    }

    #[test]
    fn the_smoothed_threshold_has_the_best_score_of_the_expected_matrix_among_many_centres() {
        let (score, width) = (Score::parse("csi").unwrap(), 0.2);
        let half_width = half_width(width).unwrap();
        for_random_series(|weighting, series| {
            let sweep = TemporalSweep::new(weighting, series);
            let Some(smooth) = sweep.smooth_best(&score, width).unwrap() else { return };
            let log_odds: Vec<f64> = sweep.predictions.iter().map(|p| (p / (1.0 - p)).ln()).collect();
            for centre in -400..=400 {
                let centre = f64::from(centre) * 0.01;
                let expected = sweep.expected(&log_odds, centre, half_width);
                // The expected matrix is computed in a second way: as the sum, over all intervals of thresholds, of the matrix times the probability
                // that the threshold lies in the interval.
                let below = |threshold: f64| {
                    let u = (((threshold / (1.0 - threshold)).ln() - centre) / half_width).clamp(-1.0, 1.0);
                    0.5 * (1.0 + u + (PI * u).sin() / PI)
                };
                let mut sum = [0.0; 4];
                for ((low, high), matrix) in sweep.intervals() {
                    let probability = if low < high { below(high) - below(low) } else { 0.0 };
                    sum.iter_mut().zip(matrix.array()).for_each(|(sum, cell)| *sum += probability * cell);
                }
                for (sum, cell) in sum.into_iter().zip(expected.array()) {
                    assert!((sum - cell).abs() < 1e-10, "centre {centre}: {sum}, {cell}");
                }
                let Some(value) = score.checked(&expected) else { continue };
                assert!(value < smooth.expected_value + 2e-3, "centre {centre}: {value}, best {smooth:?}");
            }
            assert_eq!(smooth.confusion, sweep.at(smooth.threshold));
        });
        let constant = [0.0, 1.0];
        let rows = Rows::new(Probabilities(&constant), &[false, true]).unwrap();
        let sweep = TemporalSweep::new(&Weighting::default(), &Series::new(rows).unwrap());
        assert_eq!(sweep.smooth_best(&score, width).unwrap(), None, "no prediction has finite log-odds");
        assert!(sweep.smooth_best(&score, 0.7).is_err());
    }

    #[test]
    fn the_best_threshold_satisfies_the_conditions() {
        let conditions = Condition::parse("recall >= 0.6").unwrap();
        for_random_series(|weighting, series| {
            let sweep = TemporalSweep::new(weighting, series);
            let best = sweep.best(&Score::parse("precision").unwrap(), &conditions);
            let any = sweep.intervals().any(|(_, matrix)| {
                conditions[0].holds(&matrix) && Score::parse("precision").unwrap().checked(&matrix).is_some()
            });
            assert_eq!(best.is_some(), any);
            assert!(best.is_none_or(|best| conditions[0].holds(&best.confusion)));
        });
    }
}
