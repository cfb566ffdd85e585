//! The bootstrap: the uncertainty of a score and of a threshold, estimated by resampling the rows.
//!
//! A bootstrap replicate is represented by the number of copies of every row, so the rows are sorted once and never moved. Where only sums of
//! copies matter and the copies of different rows are independent, the sums themselves are drawn at random: at a fixed threshold, a Poisson
//! replicate of a hundred million rows without weights takes only four random numbers ([`draw`](super::draw)).

use rand_xoshiro::Xoshiro256PlusPlus;

use super::cells::{WeightGroups, cell_index};
use super::distribution::BootstrapDistribution;
use super::draw::{fill_poisson_mean_1, random_below, random_poisson};
use super::ranked::split_by_label;
use super::runs::{Runs, SmoothedRuns};
use super::smooth::half_width;
use super::sort::map_parallel;
use super::{Condition, sweep};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows, check_same_length};
use crate::score::Score;
use crate::seed::{Purpose, generator};

/// Maximum number of bootstrap replicates: more would use much memory without making an interval noticeably more precise.
pub const MAX_REPLICATES: usize = 1_000_000;

/// How the rows of a bootstrap replicate are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resampling {
    /// The number of copies of each row is Poisson-distributed with mean 1, independently of the other rows.
    Poisson,
    /// Positives and negatives are drawn separately, with replacement, and each class keeps its number of rows. So every replicate contains
    /// positives, even if positives are rare.
    Stratified,
    /// Blocks of this many consecutive rows are drawn; a block that reaches the last row continues with the first. This is for time
    /// series, whose rows are not independent. A block should be longer than the correlation time of the series.
    Blocks(usize),
}

/// The settings of a bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// How the rows of a bootstrap replicate are drawn.
    pub resampling: Resampling,
    /// The number of bootstrap replicates.
    pub replicates: usize,
    /// The random seed. The same seed gives the same replicates for any number of threads.
    pub seed: u64,
}

/// Distributions of the best threshold and of its score over the bootstrap replicates.
#[derive(Clone, Debug, PartialEq)]
pub struct BestDistribution {
    /// The distribution of the best threshold over the replicates.
    pub threshold: BootstrapDistribution,
    /// The distribution of the score at the best threshold of each replicate.
    pub value: BootstrapDistribution,
}

impl Bootstrap {
    /// Writes the number of copies of each row in one replicate to `copies`.
    pub fn copies(&self, replicate: usize, labels: &[bool], copies: &mut [u32]) -> Result<()> {
        self.check_settings()?;
        check_same_length("copies", labels.len(), copies.len())?;
        if !labels.is_empty() {
            self.draw_copies(replicate, labels, &self.rows_of_each_class(labels), copies);
        }
        Ok(())
    }

    /// For each score, its distribution over the replicates at a fixed threshold.
    pub fn scores<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: &[Score],
    ) -> Result<Vec<BootstrapDistribution>> {
        self.check_settings()?;
        rows.check()?;
        let values = rows.predictions.values();
        let cells: Vec<u8> =
            rows.labels.iter().zip(values).map(|(label, p)| cell_index(*label, *p, threshold)).collect();
        let replicate_values = self.map_cell_weights(rows, &cells, |sums| {
            let confusion = Confusion::new(sums[0], sums[1], sums[2], sums[3]);
            scores.iter().map(|score| score.checked(&confusion)).collect::<Vec<_>>()
        });
        Ok((0..scores.len())
            .map(|k| BootstrapDistribution::new(replicate_values.iter().map(|values| values[k])))
            .collect())
    }

    /// The distributions of the best threshold and of its score over the replicates.
    pub fn best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        self.check_settings()?;
        let runs = sweep(rows)?.runs(usize::MAX);
        let find = |runs: &Runs, masses| runs.best_threshold(masses, score, conditions);
        Ok(BestDistribution::new(&self.threshold_of_each_replicate(rows, [(&runs, rows.predictions)], find)))
    }

    /// Same as [`best`](Bootstrap::best), but faster for very many rows. The sorted rows are divided into runs of consecutive rows, which
    /// [`Sweep::runs`](super::Sweep::runs) returns for the same rows, and only thresholds between two runs are considered. In Poisson replicates
    /// of rows without weights, only two random numbers are drawn for each run, its total copies of positives and of negatives, so the cost
    /// depends only on the number of runs.
    pub fn best_of_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        self.check_settings()?;
        check_same_length("runs", rows.len(), runs.rows)?;
        Ok(self.thresholds_between_runs(rows, runs, |runs, masses| runs.best_threshold(masses, score, conditions)))
    }

    /// The distributions of the smoothed threshold ([`Sweep::smooth_best`](super::Sweep::smooth_best)) and of the score there, over the same
    /// replicates as in [`best`](Bootstrap::best).
    pub fn smooth_best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        width: f64,
    ) -> Result<BestDistribution> {
        self.check_settings()?;
        let runs = sweep(rows)?.runs(usize::MAX);
        let smoothed = SmoothedRuns::new(&runs, half_width(width)?);
        let find = |runs: &Runs, masses| smoothed.threshold(runs, masses, score);
        Ok(BestDistribution::new(&self.threshold_of_each_replicate(rows, [(&runs, rows.predictions)], find)))
    }

    /// Same as [`smooth_best`](Bootstrap::smooth_best), but faster for very many rows. The sorted rows are divided into runs of consecutive
    /// rows ([`Sweep::runs`](super::Sweep::runs)), and every row of a run is treated as if its prediction were the midpoint between the smallest
    /// and the largest prediction of the run. The replicates are those of [`best_of_runs`](Bootstrap::best_of_runs).
    pub fn smooth_best_of_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        width: f64,
    ) -> Result<BestDistribution> {
        self.check_settings()?;
        check_same_length("runs", rows.len(), runs.rows)?;
        let smoothed = SmoothedRuns::new(runs, half_width(width)?);
        Ok(self.thresholds_between_runs(rows, runs, |runs, masses| smoothed.threshold(runs, masses, score)))
    }

    /// Calls `find` for each replicate, with the runs of sorted rows and the weights of the runs in the replicate. Returns the distributions of the
    /// threshold and of the score that `find` returns. In Poisson replicates of rows without weights, only two random numbers are drawn for each
    /// run: its total copies of positives and of negatives.
    fn thresholds_between_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        find: impl Fn(&Runs, Vec<(f64, f64)>) -> Option<(f64, f64)> + Sync + Send,
    ) -> BestDistribution {
        if self.resampling != Resampling::Poisson || rows.weights.is_some() {
            return BestDistribution::new(&self.threshold_of_each_replicate(rows, [(runs, rows.predictions)], find));
        }
        let found = self.map_replicates(|replicate| {
            let mut random = self.generator_of_replicate(replicate);
            let mut copies =
                |mass: (f64, f64)| (random_poisson(&mut random, mass.0), random_poisson(&mut random, mass.1));
            let masses = runs.runs.iter().map(|run| copies(run.mass)).collect();
            [find(runs, masses)]
        });
        BestDistribution::new(&found)
    }

    /// Calls `find` for each replicate and each forecast, with the runs of sorted rows and the weights of the runs in the replicate. Returns the
    /// thresholds and scores that `find` returns. All forecasts use the same copies of the rows.
    pub(super) fn threshold_of_each_replicate<R: Real, const FORECASTS: usize>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        forecasts: [(&Runs, Probabilities<'_, R>); FORECASTS],
        find: impl Fn(&Runs, Vec<(f64, f64)>) -> Option<(f64, f64)> + Sync + Send,
    ) -> Vec<[Option<(f64, f64)>; FORECASTS]> {
        let classes = self.rows_of_each_class(rows.labels);
        let run_indices = forecasts.map(|(runs, predictions)| {
            let run_index = |value: &R| runs.index_of_run(value.to_f64()) as u32;
            let chunks = map_parallel(predictions.0.chunks(1 << 16).collect(), |values: &[R]| {
                values.iter().map(run_index).collect::<Vec<u32>>()
            });
            (runs, chunks.concat())
        });
        self.map_replicates(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw_copies(replicate, rows.labels, &classes, &mut copies);
            let best = |(runs, run_indices): &(&Runs, Vec<u32>)| {
                let mut masses = vec![(0.0, 0.0); runs.len()];
                for (row, (index, copies)) in run_indices.iter().zip(&copies).enumerate() {
                    let added = split_by_label(rows.labels[row], f64::from(*copies) * rows.weight(row));
                    let mass = &mut masses[*index as usize];
                    *mass = (mass.0 + added.0, mass.1 + added.1);
                }
                find(runs, masses)
            };
            std::array::from_fn(|forecast| best(&run_indices[forecast]))
        })
    }

    /// The result of `function` for each replicate. `cells` contains for each row the index of its group, 0 to 7. With one forecast, rows in the same
    /// cell of the confusion matrix form a group, so there are 4 groups. With two forecasts, rows in the same pair of cells form a group. There are
    /// 8 such groups, because a row has the same label in both matrices. `function` receives the total weight of each group in the replicate.
    pub(super) fn map_cell_weights<R: Real, T: Send>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        cells: &[u8],
        function: impl Fn(&[f64; 8]) -> T + Sync + Send,
    ) -> Vec<T> {
        if self.resampling == Resampling::Poisson
            && let Some(groups) = WeightGroups::new(rows, cells)
        {
            return self.map_replicates(|replicate| {
                function(&groups.draw_cell_weights(&mut self.generator_of_replicate(replicate)))
            });
        }
        let classes = self.rows_of_each_class(rows.labels);
        self.map_replicates(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw_copies(replicate, rows.labels, &classes, &mut copies);
            let mut sums = [0.0; 8];
            for (row, (cell, copies)) in cells.iter().zip(&copies).enumerate() {
                sums[*cell as usize & 7] += f64::from(*copies) * rows.weight(row);
            }
            function(&sums)
        })
    }

    /// Returns an error if the number of replicates or the length of the blocks is out of range.
    pub(super) fn check_settings(&self) -> Result<()> {
        if self.replicates == 0 {
            return Err(Error::Setting { what: "bootstrap replicates", reason: "must be at least 1".into() });
        }
        if self.replicates > MAX_REPLICATES {
            let reason = format!("must be at most {MAX_REPLICATES}, not {}; 1000 are usual", self.replicates);
            return Err(Error::Setting { what: "bootstrap replicates", reason });
        }
        if self.resampling == Resampling::Blocks(0) {
            return Err(Error::Setting { what: "bootstrap blocks", reason: "must be at least one row long".into() });
        }
        Ok(())
    }

    /// Calls `function` with the index of each replicate, in parallel, and returns the results in the order of the replicates.
    fn map_replicates<T: Send>(&self, function: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        map_parallel((0..self.replicates).collect(), function)
    }

    /// The random number generator of one replicate. Each replicate has its own generator, so that the result does not depend on the
    /// number of threads.
    fn generator_of_replicate(&self, replicate: usize) -> Xoshiro256PlusPlus {
        generator(self.seed, Purpose::Bootstrap, replicate as u64)
    }

    /// The row indices of each class. Only stratified resampling needs them; otherwise they are empty.
    fn rows_of_each_class(&self, labels: &[bool]) -> [Vec<u32>; 2] {
        let rows = |wanted: bool| {
            let of_class = labels.iter().zip(0u32..).filter(|(label, _)| **label == wanted);
            of_class.map(|(_, row)| row).collect()
        };
        if self.resampling == Resampling::Stratified { [rows(false), rows(true)] } else { Default::default() }
    }

    /// Draws the number of copies of each row in one replicate and writes it to `copies`; `classes` is the result of `rows_of_each_class`.
    fn draw_copies(&self, replicate: usize, labels: &[bool], classes: &[Vec<u32>; 2], copies: &mut [u32]) {
        let mut random = self.generator_of_replicate(replicate);
        match self.resampling {
            Resampling::Poisson => fill_poisson_mean_1(&mut random, copies),
            Resampling::Stratified => {
                copies.fill(0);
                for class in classes.iter().filter(|class| !class.is_empty()) {
                    for _ in 0..class.len() {
                        copies[class[random_below(&mut random, class.len())] as usize] += 1;
                    }
                }
            }
            Resampling::Blocks(length) => {
                copies.fill(0);
                let mut remaining = labels.len();
                while remaining > 0 {
                    let start = random_below(&mut random, labels.len());
                    for step in 0..length.min(remaining) {
                        copies[(start + step) % labels.len()] += 1;
                    }
                    remaining -= length.min(remaining);
                }
            }
        }
    }
}

impl BestDistribution {
    /// Creates the distributions from the threshold and the score of each replicate, which are `None` if the replicate has no best
    /// threshold.
    fn new(found: &[[Option<(f64, f64)>; 1]]) -> Self {
        BestDistribution {
            threshold: BootstrapDistribution::new(found.iter().map(|best| best[0].map(|best| best.0))),
            value: BootstrapDistribution::new(found.iter().map(|best| best[0].map(|best| best.1))),
        }
    }
}
