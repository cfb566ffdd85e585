//! Evaluation of all thresholds at once, exactly, after sorting the rows once.
//!
//! ```
//! use scorewise::sweep::{Condition, sweep};
//! use scorewise::{Probabilities, Rows, Score};
//!
//! let probabilities = [0.9f32, 0.8, 0.7, 0.6, 0.4, 0.1];
//! let labels = [true, true, false, true, false, false];
//! let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels)?)?;
//! let best = sweep.best(&Score::parse("f1")?).unwrap();
//! assert_eq!(best.value, 6.0 / 7.0); // three hits, one false alarm
//! assert!((best.interval.0, best.interval.1) == (0.4f32.into(), 0.6f32.into()));
//! let precise = sweep.best_subject_to(&Score::parse("f1")?, &Condition::parse("precision >= 0.9")?).unwrap();
//! assert_eq!(precise.confusion.fp, 0.0);
//! # Ok::<(), scorewise::Error>(())
//! ```

mod sort;
mod ranked;
mod condition;
mod count_ratio;
mod guarantee;
mod best;
mod curve;
mod bins;
mod areas;
mod histogram;
mod runs;
mod draw;
mod distribution;
mod cells;
mod block_length;
mod effective;
mod bootstrap;
mod cross_fit;
mod paired;
mod counts;
mod costs;
pub(crate) mod scan;
mod measures;
mod smooth;

pub use areas::CurveAreas;
pub use best::Best;
pub use bins::ProbabilityBin;
pub use bootstrap::{BestDistribution, BlockLength, Bootstrap, MAX_REPLICATES, Resampling};
pub use cells::confusion;
pub use condition::Condition;
pub use costs::{BestCost, CorrectedCost, CostRows, Costs};
pub use counts::sum_of_counts;
pub use cross_fit::CorrectedScore;
pub(crate) use cross_fit::FOLDS;
pub use curve::CurvePoint;
pub use distribution::BootstrapDistribution;
pub use guarantee::{ConditionTest, Guarantee, NeededRows, TestMethod};
pub use histogram::{Histogram, HistogramBest};
pub use measures::{BrierParts, MeasureEstimate, PairedMeasure, ProbabilityMeasure, brier_parts};
pub use paired::PairedScores;
pub(crate) use ranked::{RankedTable, SortedRows};
pub use runs::Runs;
pub use smooth::{SMOOTHING_WIDTHS, SmoothBest};
pub(crate) use sort::order_descending;

use areas::curve_areas;
use best::{best_threshold, count_above};
use bins::probability_bins;
use curve::{curve_points, step_containing};
use ranked::RankedRows;
pub(crate) use smooth::half_width;
use smooth::smooth_best;
use sort::map_parallel;

use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::ClassCounts;
use crate::real::Real;
use crate::rows::{Probabilities, Rows};
use crate::score::Score;

/// The rows of a data set sorted by prediction, from which every threshold can be evaluated.
#[derive(Debug)]
pub struct Sweep {
    sorted: Sorted,
}

/// Sorted rows with f32 or f64 predictions, with or without weights.
#[derive(Debug)]
pub(crate) enum Sorted {
    F32(RankedTable<SortedRows<f32, ()>>),
    F32Weighted(RankedTable<SortedRows<f32, f32>>),
    F64(RankedTable<SortedRows<f64, ()>>),
    F64Weighted(RankedTable<SortedRows<f64, f64>>),
}

/// Evaluates an expression on the table of sorted rows, whichever variant of [`Sorted`] contains the table.
macro_rules! for_sorted {
    ($sorted:expr, $table:ident => $result:expr) => {
        match $sorted {
            Sorted::F32($table) => $result,
            Sorted::F32Weighted($table) => $result,
            Sorted::F64($table) => $result,
            Sorted::F64Weighted($table) => $result,
        }
    };
}

/// Sorts the rows by prediction, so that all thresholds can be evaluated.
pub fn sweep<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>) -> Result<Sweep> {
    Ok(Sweep { sorted: R::sorted(rows)? })
}

impl Sweep {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        for_sorted!(&self.sorted, table => table.rows.len())
    }

    /// Whether the rows have weights; without weights every row counts 1.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        matches!(self.sorted, Sorted::F32Weighted(_) | Sorted::F64Weighted(_))
    }

    /// The weighted numbers of positives and negatives.
    #[must_use]
    pub fn counts(&self) -> ClassCounts {
        for_sorted!(&self.sorted, table => table.counts)
    }

    /// The confusion matrix of all rows at a threshold.
    #[must_use]
    pub fn at(&self, threshold: f64) -> Confusion {
        for_sorted!(&self.sorted, table => {
            let (tp, fp) = table.hits_and_alarms(count_above(&table.rows, threshold));
            Confusion::at(tp, fp, &table.counts)
        })
    }

    /// The best threshold of a score; `None` if the score is undefined at every threshold.
    #[must_use]
    pub fn best(&self, score: &Score) -> Option<Best> {
        self.best_subject_to(score, &[])
    }

    /// The best threshold of a score among the thresholds that satisfy all conditions; `None` if no threshold satisfies them, or if the score is
    /// undefined at every threshold that does.
    ///
    /// Conditions with a confidence, such as `precision >= 0.3 with 95%`, are tested as if the rows were independent. If the rows depend on each
    /// other, use [`Bootstrap::guarantee`] first.
    #[must_use]
    pub fn best_subject_to(&self, score: &Score, conditions: &[Condition]) -> Option<Best> {
        if conditions.iter().any(Condition::is_untested) {
            let conditions = self.tested_as_independent(conditions).ok()?;
            return for_sorted!(&self.sorted, table => best_threshold(table, score, &conditions));
        }
        for_sorted!(&self.sorted, table => best_threshold(table, score, conditions))
    }

    /// The conditions after a test of those that have a confidence. The test treats the rows as independent.
    fn tested_as_independent(&self, conditions: &[Condition]) -> Result<Vec<Condition>> {
        let (mut predictions, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for_sorted!(&self.sorted, table => {
            for rank in 0..table.rows.len() {
                let (positive, negative) = table.rows.class_weights(rank);
                predictions.push(table.rows.prediction(rank));
                labels.push(positive > 0.0);
                weights.push(positive + negative);
            }
        });
        let rows = Rows::new(Probabilities(&predictions), &labels)?;
        let rows = if self.is_weighted() { rows.weighted(&weights)? } else { rows };
        Bootstrap { resampling: Resampling::Poisson, replicates: 1000, seed: 0 }.tested(&rows, conditions)
    }

    /// The smoothed threshold: the threshold whose score is best on average over nearby thresholds. It depends less on single rows than the exactly
    /// best threshold. `None` if the score is undefined at the threshold 1 and for the expected confusion matrix of every centre.
    ///
    /// More precisely, the threshold is the centre of the prior for which the score of the expected confusion matrix is best. The prior is a raised
    /// cosine on the scale of log-odds. Its half-width is given by `width`, which must lie in [`SMOOTHING_WIDTHS`]: a prior centred at ½ reaches
    /// from ½ − `width` to ½ + `width`.
    ///
    /// ```
    /// use scorewise::sweep::sweep;
    /// use scorewise::{Probabilities, Rows, Score};
    ///
    /// // A single positive row, at 0.405, determines the exactly best threshold: between 0.405 and the negative row at 0.4.
    /// let probabilities = [0.1, 0.2, 0.3, 0.36, 0.38, 0.39, 0.4, 0.405, 0.7, 0.75, 0.8, 0.85, 0.9];
    /// let labels = probabilities.map(|p| p > 0.4);
    /// let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels)?)?;
    /// let f1 = Score::parse("f1")?;
    /// assert_eq!(sweep.best(&f1).unwrap().interval, (0.4, 0.405));
    /// let smooth = sweep.smooth_best(&f1, 0.2)?.unwrap();
    /// assert!((smooth.threshold - 0.549).abs() < 0.001); // far from most rows of both classes
    /// assert_eq!(smooth.value, Some(10.0 / 11.0)); // one event is missed
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn smooth_best(&self, score: &Score, width: f64) -> Result<Option<SmoothBest>> {
        let half_width = half_width(width)?;
        Ok(for_sorted!(&self.sorted, table => smooth_best(table, score, half_width)))
    }

    /// The best threshold of each score, in the order of `scores`. With the `rayon` feature, the computation uses all cores.
    #[must_use]
    pub fn all_best(&self, scores: &[Score]) -> Vec<Option<Best>> {
        map_parallel(scores.iter().collect(), |score| self.best(score))
    }

    /// The threshold that comes closest to satisfying a condition, regardless of any score; `None` if a side of the condition is
    /// undefined at every threshold, or if the formulas of the condition are too large.
    #[must_use]
    pub fn nearest(&self, condition: &Condition) -> Option<Best> {
        self.best(&condition.nearness_score()?)
    }

    /// Divides the sorted rows into at most `at_most` runs of consecutive rows. Each run contains a share of all positives and a share of all
    /// negatives. The sum of the two shares is about the same for every run, so runs are short where rare positives lie. If `at_most` is at least the
    /// number of rows, every distinct prediction has its own run.
    #[must_use]
    pub fn runs(&self, at_most: usize) -> Runs {
        for_sorted!(&self.sorted, table => Runs::new(table, at_most))
    }

    /// The confusion matrix as a function of the threshold, reduced to about `points` points. Besides points that are
    /// evenly spaced by rank and by threshold, the curve contains the best threshold of each score in `scores`.
    #[must_use]
    pub fn curve(&self, scores: &[Score], points: usize) -> Vec<CurvePoint> {
        for_sorted!(&self.sorted, table => curve_points(table, scores, points))
    }

    /// The interval of all thresholds that have the same confusion matrix as `threshold`, together with this matrix. It is one point of the full
    /// [`curve`](Sweep::curve).
    #[must_use]
    pub fn step(&self, threshold: f64) -> CurvePoint {
        for_sorted!(&self.sorted, table => step_containing(table, threshold))
    }

    /// The predictions divided into `count` bins of equal width over [0, 1].
    #[must_use]
    pub fn bins(&self, count: usize) -> Vec<ProbabilityBin> {
        for_sorted!(&self.sorted, table => probability_bins(table, count))
    }

    /// The area under the ROC curve and the average precision.
    #[must_use]
    pub fn areas(&self) -> CurveAreas {
        for_sorted!(&self.sorted, table => curve_areas(table))
    }

    /// Merges two sweeps, for example from two machines. Both must have the same floating-point type, and both or neither must have weights.
    pub fn merged(&self, other: &Sweep) -> Result<Sweep> {
        let sorted = match (&self.sorted, &other.sorted) {
            (Sorted::F32(a), Sorted::F32(b)) => Sorted::F32(RankedTable::new(a.rows.merged(&b.rows))),
            (Sorted::F32Weighted(a), Sorted::F32Weighted(b)) => {
                Sorted::F32Weighted(RankedTable::new(a.rows.merged(&b.rows)))
            }
            (Sorted::F64(a), Sorted::F64(b)) => Sorted::F64(RankedTable::new(a.rows.merged(&b.rows))),
            (Sorted::F64Weighted(a), Sorted::F64Weighted(b)) => {
                Sorted::F64Weighted(RankedTable::new(a.rows.merged(&b.rows)))
            }
            _ => {
                let reason =
                    "can only be merged if both are f32 or both f64, and both weighted or both unweighted".into();
                return Err(Error::Setting { what: "sweeps", reason });
            }
        };
        Ok(Sweep { sorted })
    }
}
