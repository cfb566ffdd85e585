//! SWEEP: all thresholds at once, exactly, from one sort.
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
//! let careful = sweep.best_subject_to(&Score::parse("f1")?, &Condition::parse("precision >= 0.9")?).unwrap();
//! assert_eq!(careful.confusion.fp, 0.0);
//! # Ok::<(), scorewise::Error>(())
//! ```

mod sort;
mod ranked;
mod condition;
mod best;
mod curve;
mod bins;
mod areas;
mod histogram;
mod runs;
mod draw;
mod distribution;
mod cells;
mod bootstrap;
mod paired;

pub use areas::Areas;
pub use best::Best;
pub use bins::Bin;
pub use bootstrap::{BestDistribution, Bootstrap, MOST_REPLICATES, Resampling};
pub use cells::confusion;
pub use condition::Condition;
pub use curve::CurvePoint;
pub use distribution::Distribution;
pub use histogram::{Histogram, HistogramBest};
pub use paired::Paired;
pub(crate) use ranked::{Run, Table};
pub use runs::Runs;
pub(crate) use sort::order_descending;

use areas::areas;
use best::{best, rank_above};
use bins::bins;
use curve::{curve, step};
use ranked::Ranked;
use sort::each_part;

use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::Counts;
use crate::real::Real;
use crate::rows::{Probabilities, Rows};
use crate::score::Score;

/// All thresholds of a set of predictions: the rows in order, ready for any question.
#[derive(Debug)]
pub struct Sweep {
    sorted: Sorted,
}

/// Sorted rows by their number type, with weights or without.
#[derive(Debug)]
pub(crate) enum Sorted {
    Narrow(Table<Run<f32, ()>>),
    NarrowWeighted(Table<Run<f32, f32>>),
    Wide(Table<Run<f64, ()>>),
    WideWeighted(Table<Run<f64, f64>>),
}

/// Does the same with whichever table there is.
macro_rules! each_kind {
    ($sorted:expr, $table:ident => $result:expr) => {
        match $sorted {
            Sorted::Narrow($table) => $result,
            Sorted::NarrowWeighted($table) => $result,
            Sorted::Wide($table) => $result,
            Sorted::WideWeighted($table) => $result,
        }
    };
}

/// Sorts the rows once; every question is then answered from the sorted rows.
pub fn sweep<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>) -> Result<Sweep> {
    Ok(Sweep { sorted: R::sorted(rows)? })
}

impl Sweep {
    /// How many rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        each_kind!(&self.sorted, table => table.rows.len())
    }

    /// Whether rows have weights; otherwise each weighs 1.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        matches!(self.sorted, Sorted::NarrowWeighted(_) | Sorted::WideWeighted(_))
    }

    /// The weighted positives and negatives.
    #[must_use]
    pub fn counts(&self) -> Counts {
        each_kind!(&self.sorted, table => table.counts)
    }

    /// The confusion matrix at a threshold.
    #[must_use]
    pub fn at(&self, threshold: f64) -> Confusion {
        each_kind!(&self.sorted, table => {
            let (tp, fp) = table.above(rank_above(&table.rows, threshold));
            Confusion::at(tp, fp, &table.counts)
        })
    }

    /// The best threshold of a score; nothing where the score is undefined at every threshold.
    #[must_use]
    pub fn best(&self, score: &Score) -> Option<Best> {
        self.best_subject_to(score, &[])
    }

    /// The best threshold among those that satisfy all conditions; nothing where none does.
    #[must_use]
    pub fn best_subject_to(&self, score: &Score, conditions: &[Condition]) -> Option<Best> {
        each_kind!(&self.sorted, table => best(table, score, conditions))
    }

    /// The best thresholds of many scores, on all cores when the `rayon` feature is on.
    #[must_use]
    pub fn all_best(&self, scores: &[Score]) -> Vec<Option<Best>> {
        each_part(scores.iter().collect(), |score| self.best(score))
    }

    /// The threshold that comes nearest to satisfying a condition, whatever its score; nothing where the condition's sides are
    /// undefined at every threshold.
    #[must_use]
    pub fn nearest(&self, condition: &Condition) -> Option<Best> {
        self.best(&condition.nearness()?)
    }

    /// The rows in at most this many runs. Each has about the same share of the positives plus share of the negatives: where
    /// rare positives are, runs are short. With as many runs as rows, each different prediction is a run of its own.
    #[must_use]
    pub fn runs(&self, at_most: usize) -> Runs {
        each_kind!(&self.sorted, table => Runs::new(table, at_most))
    }

    /// The curve of the confusion matrix over the threshold, thinned to about `points` and no optimum lost: besides points
    /// evenly spaced by rank and by threshold it has the optimum of each of the scores.
    #[must_use]
    pub fn curve(&self, scores: &[Score], points: usize) -> Vec<CurvePoint> {
        each_kind!(&self.sorted, table => curve(table, scores, points))
    }

    /// The step of the curve that a threshold stands on: all thresholds with the same matrix, and the matrix.
    #[must_use]
    pub fn step(&self, threshold: f64) -> CurvePoint {
        each_kind!(&self.sorted, table => step(table, threshold))
    }

    /// The predictions in so many equal bins.
    #[must_use]
    pub fn bins(&self, count: usize) -> Vec<Bin> {
        each_kind!(&self.sorted, table => bins(table, count))
    }

    /// The area under the ROC curve and the average precision.
    #[must_use]
    pub fn areas(&self) -> Areas {
        each_kind!(&self.sorted, table => areas(table))
    }

    /// Two sweeps of the same kind (f32 or f64, with or without weights) as one: what two machines sorted, merged.
    pub fn merged(&self, other: &Sweep) -> Result<Sweep> {
        let sorted = match (&self.sorted, &other.sorted) {
            (Sorted::Narrow(a), Sorted::Narrow(b)) => Sorted::Narrow(Table::new(a.rows.merged(&b.rows))),
            (Sorted::NarrowWeighted(a), Sorted::NarrowWeighted(b)) => {
                Sorted::NarrowWeighted(Table::new(a.rows.merged(&b.rows)))
            }
            (Sorted::Wide(a), Sorted::Wide(b)) => Sorted::Wide(Table::new(a.rows.merged(&b.rows))),
            (Sorted::WideWeighted(a), Sorted::WideWeighted(b)) => {
                Sorted::WideWeighted(Table::new(a.rows.merged(&b.rows)))
            }
            _ => {
                let reason = "must be of one kind to be merged: both f32 or both f64, both weighted or both not".into();
                return Err(Error::Setting { what: "sweeps", reason });
            }
        };
        Ok(Sweep { sorted })
    }
}
