//! A sweep in a fixed amount of memory: the total weights of the rows in bins of the probability. Histograms from several machines can be
//! added.
//!
//! A bin contains the probabilities that agree in their leading bits. Probabilities are rounded down to f32, and the two bits that are 0 in every
//! probability are not counted. So bins are narrow for small probabilities: with 16 bits, the width of every bin above 2⁻¹²⁶ is at most 1/512 of its
//! lower edge. At a threshold between two bins, the confusion matrix and the score are exactly those of the rows. Thresholds inside a bin are not
//! evaluated; instead, the best score is returned together with a bound: no threshold gives a better score than the bound.

use super::best::{Best, best_threshold};
use super::ranked::{RankedRows, RankedTable};
use crate::error::{Error, Result};
use crate::formula::Interval;
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows};
use crate::score::{Direction, Score};

/// A histogram of the weights of the rows over their predicted probabilities.
///
/// ```
/// use scorewise::sweep::Histogram;
/// use scorewise::{Probabilities, Rows, Score};
///
/// let mut first = Histogram::new(16)?;
/// first.add(&Rows::new(Probabilities(&[0.9, 0.2]), &[true, false])?)?;
/// let mut second = Histogram::new(16)?;
/// second.add(&Rows::new(Probabilities(&[0.6, 0.4]), &[true, false])?)?;
/// first.merge(&second)?;
/// let best = first.best(&Score::parse("tss")?).unwrap();
/// assert_eq!((best.best.value, best.bound), (1.0, 1.0)); // no threshold has a higher score
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bits: u32,
    /// For each bin, the total weight of the positives and the total weight of the negatives.
    bins: Vec<(f64, f64)>,
}

/// The best threshold among the boundaries between neighbouring bins, and a bound: no threshold, not even one inside a bin, gives a score better than
/// the bound.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramBest {
    /// The best of the thresholds at the boundaries between neighbouring bins, where the confusion matrix and the score are exact.
    pub best: Best,
    /// A bound of the score: no threshold, not even one inside a bin, gives a better score than this.
    pub bound: f64,
}

/// The number of bits that can differ between two f32 numbers in [0, 1]. The other two bits, the sign bit and the highest bit of the exponent, are
/// always 0.
const KEY_BITS: u32 = 30;

impl Histogram {
    /// An empty histogram. A bin contains the probabilities (as f32) that agree in the first `bits` of the 30 bits that can differ between
    /// probabilities. With 16 bits (the minimum) the histogram takes 1 MiB, with 24 bits (the maximum) 256 MiB.
    pub fn new(bits: u32) -> Result<Self> {
        if !(16..=24).contains(&bits) {
            return Err(Error::Setting {
                what: "histogram bits",
                reason: format!("must be between 16 and 24, not {bits}"),
            });
        }
        Ok(Histogram { bits, bins: vec![(0.0, 0.0); 1 << bits] })
    }

    /// Adds the weights of rows to the histogram.
    pub fn add<R: Real>(&mut self, rows: &Rows<'_, Probabilities<'_, R>>) -> Result<()> {
        rows.check()?;
        for (row, value) in rows.predictions.values().iter().enumerate() {
            let bin = &mut self.bins[(round_down_to_f32(value.to_f64()).to_bits() >> (KEY_BITS - self.bits)) as usize];
            let weight = rows.weight(row);
            if rows.labels[row] {
                bin.0 += weight;
            } else {
                bin.1 += weight;
            }
        }
        Ok(())
    }

    /// Adds another histogram with the same number of bits.
    pub fn merge(&mut self, other: &Histogram) -> Result<()> {
        if self.bits != other.bits {
            let reason =
                format!("must be the same in both histograms that are merged, not {} and {}", self.bits, other.bits);
            return Err(Error::Setting { what: "histogram bits", reason });
        }
        for (bin, added) in self.bins.iter_mut().zip(&other.bins) {
            bin.0 += added.0;
            bin.1 += added.1;
        }
        Ok(())
    }

    /// The best threshold among the boundaries between neighbouring bins, and a bound: no threshold, not even one inside a bin, gives a score better
    /// than the bound. `None` if the score is undefined at every boundary.
    #[must_use]
    pub fn best(&self, score: &Score) -> Option<HistogramBest> {
        let table = RankedTable::new(self.filled_bins());
        let best = best_threshold(&table, score, &[])?;
        let mut scratch = Vec::new();
        let mut best_bound = score.oriented_value(best.value);
        let mut before = (0.0, 0.0);
        for rank in 0..table.rows.len() {
            let after = table.hits_and_alarms(rank + 1);
            let (tp, fp) = (Interval::new(before.0, after.0), Interval::new(before.1, after.1));
            let value = score.formula().bounds_in_box(tp, fp, &table.counts, &mut scratch);
            best_bound = best_bound.max(score.oriented_bound(value));
            before = after;
        }
        let bound = match score.direction() {
            Direction::Higher => best_bound,
            Direction::Lower => -best_bound,
            Direction::Toward(ideal) => ideal - best_bound,
        };
        Some(HistogramBest { best, bound })
    }

    /// The bins that are not empty, in descending order of probability.
    fn filled_bins(&self) -> FilledBins {
        let shift = KEY_BITS - self.bits;
        let filled = self.bins.iter().enumerate().rev().filter(|(_, bin)| bin.0 + bin.1 > 0.0);
        FilledBins(
            filled
                .map(|(index, bin)| FilledBin {
                    floor: bin_edge(index, shift),
                    next: bin_edge(index + 1, shift),
                    mass: *bin,
                })
                .collect(),
        )
    }
}

/// The largest f32 at or below a probability. Rounding down ensures that a probability is never moved into a higher bin.
fn round_down_to_f32(probability: f64) -> f32 {
    let nearest = (probability + 0.0) as f32;
    if f64::from(nearest) > probability { nearest.next_down() } else { nearest }
}

/// The lower edge of the bin with this index. A bin contains the probabilities (as f32) that agree in all bits except the lowest `shift` bits.
fn bin_edge(index: usize, shift: u32) -> f64 {
    f64::from(f32::from_bits((index as u32) << shift))
}

/// The bins that are not empty, in descending order of probability.
struct FilledBins(Vec<FilledBin>);

/// A bin that is not empty.
struct FilledBin {
    /// The lower edge of the bin.
    floor: f64,
    /// The lower edge of the next higher bin.
    next: f64,
    /// The total weight of the positives and the total weight of the negatives in the bin.
    mass: (f64, f64),
}

impl RankedRows for FilledBins {
    fn len(&self) -> usize {
        self.0.len()
    }
    /// The lower edge of a bin, which stands for the predictions in the bin.
    fn prediction(&self, rank: usize) -> f64 {
        self.0[rank].floor
    }
    /// The total weight of the positives and the total weight of the negatives in a bin.
    fn class_weights(&self, rank: usize) -> (f64, f64) {
        self.0[rank].mass
    }
    /// Always true, because two bins never have the same lower edge.
    fn ends_group_of_equal_predictions(&self, _: usize) -> bool {
        true
    }
    /// The lowest threshold at which no row of the bin is predicted positive.
    fn lowest_threshold_above(&self, rank: usize) -> f64 {
        // All predictions of the bin lie below the lower edge of the next bin, so the largest f64 below that edge is at or above them.
        self.0[rank].next.next_down().min(1.0)
    }
}
