//! How sure are a score and a threshold? Resample the rows, many times, with a seed.
//!
//! A replicate is a number of copies for every row; nothing is moved. The rows are sorted once, and each replicate walks
//! them in that order.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::best::best;
use super::ranked::{Ranked, Table, by_label};
use super::sort::each_part;
use super::{Condition, order_descending};
use crate::confusion::{Confusion, is_positive};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows};
use crate::score::Score;
use crate::seed::stream;

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resampling {
    /// Each row comes 0, 1, 2 … times, Poisson with mean 1: independent rows, any number of machines.
    Poisson,
    /// As many positives and as many negatives as there are, each class drawn from itself: rare positives never vanish.
    Stratified,
    /// Blocks of this many neighbouring rows (the last row's neighbour is the first): for time series, whose rows are not
    /// independent. The block should be longer than the memory of the series.
    Blocks(usize),
}

/// A bootstrap: how, how often, from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// How rows are drawn.
    pub resampling: Resampling,
    /// How many replicates.
    pub replicates: usize,
    /// Where the randomness starts; the same seed gives the same replicates for any number of threads.
    pub seed: u64,
}

/// The values of one quantity over the replicates, in which it was defined.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// In rising order.
    values: Vec<f64>,
    replicates: usize,
}

/// The best threshold and its score over the replicates.
#[derive(Clone, Debug, PartialEq)]
pub struct BestDistribution {
    /// Of τ*.
    pub threshold: Distribution,
    /// Of the score at τ*.
    pub value: Distribution,
}

impl Bootstrap {
    /// How often each row comes in one replicate.
    pub fn copies(&self, replicate: usize, labels: &[bool], copies: &mut [u32]) -> Result<()> {
        self.check()?;
        crate::rows::same_length("copies", labels.len(), copies.len())?;
        if !labels.is_empty() {
            self.draw(replicate, labels, &classes(labels), copies);
        }
        Ok(())
    }

    /// The scores at a fixed threshold, each over the replicates.
    pub fn scores<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: &[Score],
    ) -> Result<Vec<Distribution>> {
        self.check()?;
        rows.check()?;
        let values = rows.predictions.values();
        let classes = classes(rows.labels);
        // Which cell each row is in, as a place in tn, fp, fn, tp.
        let cell =
            |row: usize| 2 * usize::from(rows.labels[row]) + usize::from(is_positive(values[row].wide(), threshold));
        let cells: Vec<u8> = (0..rows.len()).map(|row| cell(row) as u8).collect();
        let found = self.each_replicate(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw(replicate, rows.labels, &classes, &mut copies);
            let mut sums = [0.0; 4];
            for (row, (cell, copies)) in cells.iter().zip(&copies).enumerate() {
                sums[*cell as usize & 3] += f64::from(*copies) * rows.weight(row);
            }
            let confusion = Confusion::new(sums[0], sums[1], sums[2], sums[3]);
            scores.iter().map(|score| score.checked(&confusion)).collect::<Vec<_>>()
        });
        Ok((0..scores.len()).map(|k| Distribution::new(found.iter().map(|values| values[k]))).collect())
    }

    /// The best threshold and its score over the replicates.
    pub fn best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        self.check()?;
        rows.check()?;
        let values = rows.predictions.values();
        let classes = classes(rows.labels);
        let order = order_descending(values)?;
        let sorted: Vec<f64> = order.iter().map(|row| values[*row as usize].wide()).collect();
        let found = self.each_replicate(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw(replicate, rows.labels, &classes, &mut copies);
            let mass = |row: &u32| {
                let row = *row as usize;
                by_label(rows.labels[row], f64::from(copies[row]) * rows.weight(row))
            };
            let table = Table::new(Replicate { values: &sorted, masses: order.iter().map(mass).collect() });
            best(&table, score, conditions).map(|best| (best.threshold, best.value))
        });
        Ok(BestDistribution {
            threshold: Distribution::new(found.iter().map(|best| best.map(|best| best.0))),
            value: Distribution::new(found.iter().map(|best| best.map(|best| best.1))),
        })
    }

    fn check(&self) -> Result<()> {
        if self.replicates == 0 {
            return Err(Error::Setting { what: "bootstrap replicates", reason: "must be at least 1".into() });
        }
        if self.resampling == Resampling::Blocks(0) {
            return Err(Error::Setting { what: "bootstrap blocks", reason: "must be at least one row long".into() });
        }
        Ok(())
    }

    fn each_replicate<T: Send>(&self, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        each_part((0..self.replicates).collect(), work)
    }

    fn draw(&self, replicate: usize, labels: &[bool], classes: &[Vec<u32>; 2], copies: &mut [u32]) {
        // Each replicate has its own stream, whoever computes it.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(stream(self.seed, replicate as u64));
        match self.resampling {
            Resampling::Poisson => poisson(&mut random, copies),
            Resampling::Stratified => {
                copies.fill(0);
                for class in classes.iter().filter(|class| !class.is_empty()) {
                    for _ in 0..class.len() {
                        copies[class[below(&mut random, class.len())] as usize] += 1;
                    }
                }
            }
            Resampling::Blocks(length) => {
                copies.fill(0);
                let mut left = labels.len();
                while left > 0 {
                    let start = below(&mut random, labels.len());
                    for step in 0..length.min(left) {
                        copies[(start + step) % labels.len()] += 1;
                    }
                    left -= length.min(left);
                }
            }
        }
    }
}

/// The rows of each class.
fn classes(labels: &[bool]) -> [Vec<u32>; 2] {
    let rows =
        |wanted: bool| labels.iter().zip(0u32..).filter(|(label, _)| **label == wanted).map(|(_, row)| row).collect();
    [rows(false), rows(true)]
}

/// A number below `limit`, each equally likely but for one part in 2⁶⁴.
fn below(random: &mut Xoshiro256PlusPlus, limit: usize) -> usize {
    ((u128::from(random.next_u64()) * limit as u128) >> 64) as usize
}

/// Poisson numbers with mean 1: how many of the distribution's steps lie at or below 32 random bits. The bits come first,
/// the counting after, so that it is vectorised.
fn poisson(random: &mut Xoshiro256PlusPlus, copies: &mut [u32]) {
    const STEPS: [u32; 13] = poisson_steps();
    for copies in copies.chunks_mut(1024) {
        for pair in copies.chunks_mut(2) {
            let bits = random.next_u64();
            pair[0] = bits as u32;
            if let Some(second) = pair.get_mut(1) {
                *second = (bits >> 32) as u32;
            }
        }
        for copies in copies.iter_mut() {
            let bits = *copies;
            *copies = STEPS.iter().map(|step| u32::from(bits >= *step)).sum();
        }
    }
}

/// 2³² · P(X ≤ k) for k = 0 … 12; beyond, 32 bits cannot tell.
const fn poisson_steps() -> [u32; 13] {
    let mut steps = [0; 13];
    let mut mass = 4_294_967_296.0 / std::f64::consts::E;
    let mut sum = 0.0;
    let mut k = 0;
    while k < 13 {
        sum += mass;
        mass /= (k + 1) as f64;
        steps[k] = sum as u32;
        k += 1;
    }
    steps
}

/// Sorted rows with the weights of one replicate.
struct Replicate<'a> {
    values: &'a [f64],
    masses: Vec<(f64, f64)>,
}

impl Ranked for Replicate<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }
    #[inline(always)]
    fn value(&self, rank: usize) -> f64 {
        self.values[rank]
    }
    #[inline(always)]
    fn mass(&self, rank: usize) -> (f64, f64) {
        self.masses[rank]
    }
    #[inline(always)]
    fn ends_group(&self, rank: usize) -> bool {
        rank + 1 == self.values.len() || self.values[rank] != self.values[rank + 1]
    }
}

impl Distribution {
    fn new(values: impl Iterator<Item = Option<f64>>) -> Self {
        let mut replicates = 0;
        let mut values: Vec<f64> = values.inspect(|_| replicates += 1).flatten().collect();
        values.sort_unstable_by(f64::total_cmp);
        Distribution { values, replicates }
    }

    /// In rising order, those replicates in which the quantity was defined.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// In how many replicates the quantity was undefined.
    #[must_use]
    pub fn undefined(&self) -> usize {
        self.replicates - self.values.len()
    }

    /// The value below which this share of the replicates lies, between neighbours by their distance.
    #[must_use]
    pub fn quantile(&self, level: f64) -> Option<f64> {
        let last = self.values.len().checked_sub(1)?;
        let place = level.clamp(0.0, 1.0) * last as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        let (low, high) = (self.values[below], self.values[above]);
        Some(if low == high { low } else { low + (place - below as f64) * (high - low) })
    }

    /// The middle `share` of the replicates: `interval(0.95)` is the usual 95 % interval.
    #[must_use]
    pub fn interval(&self, share: f64) -> Option<(f64, f64)> {
        Some((self.quantile(0.5 * (1.0 - share))?, self.quantile(0.5 * (1.0 + share))?))
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / self.values.len() as f64)
    }

    /// The standard deviation.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: f64 = self.values.iter().map(|value| (value - mean) * (value - mean)).sum();
        (self.values.len() > 1).then(|| (squares / (self.values.len() - 1) as f64).sqrt())
    }
}
