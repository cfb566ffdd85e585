//! How sure are a score and a threshold? Resample the rows, many times, with a seed.
//!
//! A replicate is a number of copies for every row; nothing is moved. The rows are sorted once, and each replicate counts its
//! copies in that order. Where only sums of copies matter and rows are drawn independently, the sums are drawn themselves: a
//! replicate of a hundred million rows at a fixed threshold is four numbers ([`draw`](super::draw)).

use rand_xoshiro::Xoshiro256PlusPlus;

use super::cells::{Groups, cell};
use super::distribution::Distribution;
use super::draw::{below, poisson, poisson_ones};
use super::ranked::by_label;
use super::runs::Runs;
use super::sort::each_part;
use super::{Condition, sweep};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows, same_length};
use crate::score::Score;
use crate::seed::{Purpose, generator};

/// Replicates of a bootstrap at the most: beyond, memory ends before an interval gets another digit.
pub const MOST_REPLICATES: usize = 1_000_000;

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
        same_length("copies", labels.len(), copies.len())?;
        if !labels.is_empty() {
            self.draw(replicate, labels, &self.classes(labels), copies);
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
        let cells: Vec<u8> = rows.labels.iter().zip(values).map(|(label, p)| cell(*label, *p, threshold)).collect();
        let found = self.over_cells(rows, &cells, |sums| {
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
        let runs = sweep(rows)?.runs(usize::MAX);
        Ok(BestDistribution::new(&self.best_by_rows(rows, [(&runs, rows.predictions)], score, conditions)))
    }

    /// The same for very many rows: in each replicate the threshold is looked for between runs of neighbours only
    /// ([`Sweep::runs`](super::Sweep::runs) of the same rows). Poisson replicates of rows without weights draw the copies of
    /// a run as one number, so that a replicate costs as much as there are runs.
    pub fn best_of_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        self.check()?;
        same_length("runs", rows.len(), runs.rows)?;
        if self.resampling != Resampling::Poisson || rows.weights.is_some() {
            return Ok(BestDistribution::new(&self.best_by_rows(rows, [(runs, rows.predictions)], score, conditions)));
        }
        let found = self.each_replicate(|replicate| {
            let mut random = self.random(replicate);
            let mut copies = |mass: (f64, f64)| (poisson(&mut random, mass.0), poisson(&mut random, mass.1));
            let masses = runs.steps.iter().map(|step| copies(step.mass)).collect();
            [runs.best(masses, score, conditions).map(|best| (best.threshold, best.value))]
        });
        Ok(BestDistribution::new(&found))
    }

    /// Best thresholds and their scores of one forecast or several, all under the same copies of the rows.
    pub(super) fn best_by_rows<R: Real, const FORECASTS: usize>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        forecasts: [(&Runs, Probabilities<'_, R>); FORECASTS],
        score: &Score,
        conditions: &[Condition],
    ) -> Vec<[Option<(f64, f64)>; FORECASTS]> {
        let classes = self.classes(rows.labels);
        let places = forecasts.map(|(runs, predictions)| {
            let place = |value: &R| runs.run_of(value.wide()) as u32;
            let stretches = each_part(predictions.0.chunks(1 << 16).collect(), |values: &[R]| {
                values.iter().map(place).collect::<Vec<u32>>()
            });
            (runs, stretches.concat())
        });
        self.each_replicate(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw(replicate, rows.labels, &classes, &mut copies);
            let best = |(runs, places): &(&Runs, Vec<u32>)| {
                let mut masses = vec![(0.0, 0.0); runs.len()];
                for (row, (place, copies)) in places.iter().zip(&copies).enumerate() {
                    let more = by_label(rows.labels[row], f64::from(*copies) * rows.weight(row));
                    let mass = &mut masses[*place as usize];
                    *mass = (mass.0 + more.0, mass.1 + more.1);
                }
                runs.best(masses, score, conditions).map(|best| (best.threshold, best.value))
            };
            std::array::from_fn(|forecast| best(&places[forecast]))
        })
    }

    /// What `work` makes of the weight in each cell, over the replicates; `cells` says which one each row is in.
    pub(super) fn over_cells<R: Real, T: Send>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        cells: &[u8],
        work: impl Fn(&[f64; 8]) -> T + Sync + Send,
    ) -> Vec<T> {
        if self.resampling == Resampling::Poisson
            && let Some(groups) = Groups::new(rows, cells)
        {
            return self.each_replicate(|replicate| work(&groups.draw(&mut self.random(replicate))));
        }
        let classes = self.classes(rows.labels);
        self.each_replicate(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw(replicate, rows.labels, &classes, &mut copies);
            let mut sums = [0.0; 8];
            for (row, (cell, copies)) in cells.iter().zip(&copies).enumerate() {
                sums[*cell as usize & 7] += f64::from(*copies) * rows.weight(row);
            }
            work(&sums)
        })
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.replicates == 0 {
            return Err(Error::Setting { what: "bootstrap replicates", reason: "must be at least 1".into() });
        }
        if self.replicates > MOST_REPLICATES {
            let reason = format!("must be at most {MOST_REPLICATES}, not {}; 1000 are usual", self.replicates);
            return Err(Error::Setting { what: "bootstrap replicates", reason });
        }
        if self.resampling == Resampling::Blocks(0) {
            return Err(Error::Setting { what: "bootstrap blocks", reason: "must be at least one row long".into() });
        }
        Ok(())
    }

    fn each_replicate<T: Send>(&self, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        each_part((0..self.replicates).collect(), work)
    }

    /// Each replicate has its own stream, whoever computes it.
    fn random(&self, replicate: usize) -> Xoshiro256PlusPlus {
        generator(self.seed, Purpose::Bootstrap, replicate as u64)
    }

    /// The rows of each class, where they are drawn by class.
    fn classes(&self, labels: &[bool]) -> [Vec<u32>; 2] {
        let rows = |wanted: bool| {
            let of_class = labels.iter().zip(0u32..).filter(|(label, _)| **label == wanted);
            of_class.map(|(_, row)| row).collect()
        };
        if self.resampling == Resampling::Stratified { [rows(false), rows(true)] } else { Default::default() }
    }

    fn draw(&self, replicate: usize, labels: &[bool], classes: &[Vec<u32>; 2], copies: &mut [u32]) {
        let mut random = self.random(replicate);
        match self.resampling {
            Resampling::Poisson => poisson_ones(&mut random, copies),
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

impl BestDistribution {
    fn new(found: &[[Option<(f64, f64)>; 1]]) -> Self {
        BestDistribution {
            threshold: Distribution::new(found.iter().map(|best| best[0].map(|best| best.0))),
            value: Distribution::new(found.iter().map(|best| best[0].map(|best| best.1))),
        }
    }
}
