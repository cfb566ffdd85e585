//! A sweep of fixed size: counts by probability, in bins that keep the order. Many machines fill one each; they add up.
//!
//! A bin holds the probabilities that agree in their leading bits (as f32, cut and not rounded), so bins are as fine as the
//! numbers themselves: at 16 bits a bin spans 1/512 of its value or less. Thresholds between bins are exact: matrix
//! and score are those of the rows. What happens inside a bin is not seen, but bounded: with the best score comes an upper
//! bound on what any threshold at all could reach.

use super::best::{Best, best};
use super::ranked::{Ranked, Table};
use crate::error::{Error, Result};
use crate::formula::Interval;
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows};
use crate::score::{Direction, Score};

/// Counts by probability, in bins that keep the order.
///
/// ```
/// use scorewise::sweep::Histogram;
/// use scorewise::{Probabilities, Rows, Score};
///
/// let mut here = Histogram::new(16)?;
/// here.add(&Rows::new(Probabilities(&[0.9, 0.2]), &[true, false])?)?;
/// let mut there = Histogram::new(16)?;
/// there.add(&Rows::new(Probabilities(&[0.6, 0.4]), &[true, false])?)?;
/// here.merge(&there)?;
/// let best = here.best(&Score::parse("tss")?).unwrap();
/// assert_eq!((best.best.value, best.bound), (1.0, 1.0)); // no threshold does better
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bits: u32,
    /// Weight of positives and negatives in each bin.
    bins: Vec<(f64, f64)>,
}

/// The best threshold between bins, and how far from it the truth can be.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramBest {
    /// The best threshold between two bins, exact in everything but that it was looked for only there.
    pub best: Best,
    /// No threshold at all has a better score than this.
    pub bound: f64,
}

/// Bits of an f32 between 0 and 1, sign and top bit of the exponent being 0.
const KEY_BITS: u32 = 30;

impl Histogram {
    /// With the leading 16 to 24 bits of the probability: 1 MiB to 256 MiB.
    pub fn new(bits: u32) -> Result<Self> {
        if !(16..=24).contains(&bits) {
            return Err(Error::Setting {
                what: "histogram bits",
                reason: format!("must lie between 16 and 24, not at {bits}"),
            });
        }
        Ok(Histogram { bits, bins: vec![(0.0, 0.0); 1 << bits] })
    }

    /// Counts these rows.
    pub fn add<R: Real>(&mut self, rows: &Rows<'_, Probabilities<'_, R>>) -> Result<()> {
        rows.check()?;
        for (row, value) in rows.predictions.values().iter().enumerate() {
            let bin = &mut self.bins[(cut(value.wide()).to_bits() >> (KEY_BITS - self.bits)) as usize];
            let weight = rows.weight(row);
            if rows.labels[row] {
                bin.0 += weight;
            } else {
                bin.1 += weight;
            }
        }
        Ok(())
    }

    /// Adds the counts of another histogram with as many bits.
    pub fn merge(&mut self, other: &Histogram) -> Result<()> {
        if self.bits != other.bits {
            let reason = format!("must be equal to be merged, not {} and {}", self.bits, other.bits);
            return Err(Error::Setting { what: "histogram bits", reason });
        }
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.0 += more.0;
            bin.1 += more.1;
        }
        Ok(())
    }

    /// The best threshold between bins, and a bound on every other.
    #[must_use]
    pub fn best(&self, score: &Score) -> Option<HistogramBest> {
        let table = Table::new(self.filled());
        let best = best(&table, score, &[])?;
        let mut scratch = Vec::new();
        let mut merit = score.merit(best.value);
        let mut before = (0.0, 0.0);
        for rank in 0..table.rows.len() {
            let after = table.above(rank + 1);
            let (tp, fp) = (Interval::new(before.0, after.0), Interval::new(before.1, after.1));
            let value = score.formula().bound(tp, fp, &table.counts, &mut scratch);
            merit = merit.max(score.merit_bound(value));
            before = after;
        }
        let bound = match score.direction() {
            Direction::Higher => merit,
            Direction::Lower => -merit,
            Direction::Toward(ideal) => ideal - merit,
        };
        Some(HistogramBest { best, bound })
    }

    fn filled(&self) -> Filled {
        let shift = KEY_BITS - self.bits;
        let full = self.bins.iter().enumerate().rev().filter(|(_, bin)| bin.0 + bin.1 > 0.0);
        Filled(
            full.map(|(index, bin)| Bin { floor: edge(index, shift), next: edge(index + 1, shift), mass: *bin })
                .collect(),
        )
    }
}

/// The greatest f32 at or below a probability: cutting keeps the order and the bin's edges exact, rounding would not.
fn cut(probability: f64) -> f32 {
    let near = (probability + 0.0) as f32;
    if f64::from(near) > probability { near.next_down() } else { near }
}

fn edge(index: usize, shift: u32) -> f64 {
    f64::from(f32::from_bits((index as u32) << shift))
}

/// The bins that are not empty, in falling order.
struct Filled(Vec<Bin>);

struct Bin {
    floor: f64,
    next: f64,
    mass: (f64, f64),
}

impl Ranked for Filled {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn value(&self, rank: usize) -> f64 {
        self.0[rank].floor
    }
    fn mass(&self, rank: usize) -> (f64, f64) {
        self.0[rank].mass
    }
    fn ends_group(&self, _: usize) -> bool {
        true
    }
    fn ceiling(&self, rank: usize) -> f64 {
        // All of the bin lies below the next bin's floor, and the largest number below that is a threshold for it.
        self.0[rank].next.next_down().min(1.0)
    }
}
