//! The bootstrap: the uncertainty of a score and of a threshold.
//!
//! *At a fixed threshold* the score depends only on the four cells of the confusion matrix, so a replicate consists of random cells instead of
//! resampled rows. Let p₁ … p₄ be the shares of the cells in the total weight, and m the effective number of independent rows
//! ([`effective`](super::effective)). The shares in a replicate are drawn from the Dirichlet distribution with the parameters m pₖ + ½, which is the
//! posterior distribution of the shares under the Jeffreys prior. For a score such as precision, which is the share of a cell in the sum of two
//! cells, this gives the Jeffreys interval. It is accurate even if a cell is nearly or completely empty; with resampled rows, the interval would be
//! too narrow or have no width at all.
//!
//! *If the best threshold is searched* in every replicate, a replicate is represented by the number of copies of each row, so the rows are sorted
//! only once. If only the total number of copies of several rows matters, and the rows are drawn independently, this total is drawn as a single
//! random number ([`draw`](super::draw)).
//!
//! Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial proportion. Statistical Science 16(2), 101–133.
//! doi:10.1214/ss/1009213286.

use std::fmt;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::cells::{cell_derivatives, cells_at};
use super::distribution::BootstrapDistribution;
use super::draw::{fill_poisson_mean_1, random_below, random_gamma, random_poisson};
use super::effective::CellSample;
use super::ranked::split_by_label;
use super::runs::{Runs, SmoothedRuns};
use super::smooth::half_width;
use super::sort::map_parallel;
use super::{Condition, sweep};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Probabilities, Rows, check_same_length};
use crate::score::Score;
use crate::seed::{Purpose, generator};

/// Maximum number of bootstrap replicates: more would use much memory without making an interval noticeably more precise.
pub const MAX_REPLICATES: usize = 1_000_000;

/// How the rows of a bootstrap replicate are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resampling<'a> {
    /// The number of copies of each row is Poisson-distributed with mean 1, independently of the other rows.
    Poisson,
    /// Positives and negatives are drawn separately, with replacement, and each class keeps its number of rows. So every replicate contains
    /// positives, even if positives are rare.
    Stratified,
    /// Blocks of consecutive rows are drawn; a block that reaches the last row continues with the first. This is for time series, in which nearby
    /// rows depend on each other.
    Blocks(BlockLength),
    /// Whole groups of rows are drawn with replacement, for example all rows of a patient or of a station, because rows of the same group depend on
    /// each other. The slice contains the index of the group of each row.
    Groups(&'a [u32]),
}

/// The number of rows in a block of a time series. A block should be longer than the time over which rows depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLength {
    /// A length that is computed from the autocorrelation of the rows: 1.5 times that of Politis and White (2004), and at least the cube root of the
    /// number of rows.
    Auto,
    /// A given number of rows.
    Rows(usize),
}

impl fmt::Display for Resampling<'_> {
    /// What a bootstrap replicate is drawn from, in words: `rows`, `blocks of 24 rows` or `groups of rows`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resampling::Poisson => out.write_str("rows"),
            Resampling::Stratified => out.write_str("rows of each class"),
            Resampling::Blocks(BlockLength::Auto) => out.write_str("blocks of rows"),
            Resampling::Blocks(BlockLength::Rows(1)) => out.write_str("blocks of 1 row"),
            Resampling::Blocks(BlockLength::Rows(length)) => write!(out, "blocks of {length} rows"),
            Resampling::Groups(_) => out.write_str("groups of rows"),
        }
    }
}

impl BlockLength {
    /// The given number of rows in a block; `None` for [`BlockLength::Auto`].
    #[must_use]
    pub fn rows(self) -> Option<usize> {
        match self {
            BlockLength::Auto => None,
            BlockLength::Rows(rows) => Some(rows),
        }
    }
}

/// The settings of a bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap<'a> {
    /// How the rows of a bootstrap replicate are drawn.
    pub resampling: Resampling<'a>,
    /// The number of bootstrap replicates.
    pub replicates: usize,
    /// The random seed. The same seed gives the same replicates for any number of threads.
    pub seed: u64,
}

/// The distributions of the best threshold, and of the score at this threshold, over the bootstrap replicates.
#[derive(Clone, Debug, PartialEq)]
pub struct BestDistribution {
    /// The distribution of the best threshold over the replicates.
    pub threshold: BootstrapDistribution,
    /// The distribution of the score at the best threshold of each replicate.
    pub value: BootstrapDistribution,
}

impl Bootstrap<'_> {
    /// Writes the number of copies of each row in one replicate to `copies`.
    pub fn copies(&self, replicate: usize, labels: &[bool], copies: &mut [u32]) -> Result<()> {
        self.check_settings_for(labels.len())?;
        check_same_length("copies", labels.len(), copies.len())?;
        if self.resampling == Resampling::Blocks(BlockLength::Auto) {
            let reason =
                "must have a fixed length here: an automatic length depends on a score, and no score is given".into();
            return Err(Error::Setting { what: "bootstrap blocks", reason });
        }
        if !labels.is_empty() {
            self.draw_copies(replicate, labels, &self.strata_or_groups(labels), copies);
        }
        Ok(())
    }

    /// For each score, the distribution of its value at a fixed threshold over the replicates.
    pub fn scores<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        scores: &[Score],
    ) -> Result<Vec<BootstrapDistribution>> {
        self.check_settings_for(rows.len())?;
        rows.check()?;
        let cells = cells_at(rows, threshold);
        let sample = CellSample::new(rows, &cells);
        let confusion = sample.confusion();
        let distribution = |score: &Score| {
            let effective = sample.effective_rows(&cell_derivatives(score, &confusion, rows.len()), self.resampling);
            self.distribution_of_matrix(&confusion, effective, score)
        };
        Ok(scores.iter().map(distribution).collect())
    }

    /// The bootstrap distribution of a score of a confusion matrix, for a sample that is as informative as `effective_rows` independent rows.
    pub(super) fn distribution_of_matrix(
        &self,
        confusion: &Confusion,
        effective_rows: f64,
        score: &Score,
    ) -> BootstrapDistribution {
        let values = self.map_replicates(|replicate| {
            let [tn, fp, fn_, tp] = self.draw_cells(replicate, &confusion.array(), [0.5; 4], effective_rows);
            score.checked(&Confusion::new(tn, fp, fn_, tp))
        });
        BootstrapDistribution::new(values.into_iter())
    }

    /// Draws the weights of the cells in one replicate from a Dirichlet distribution. `totals` contains the weights of the cells in the sample, first
    /// those of the negatives and then those of the positives; `prior` is added to the parameters of the Dirichlet distribution.
    pub(super) fn draw_cells<const CELLS: usize>(
        &self,
        replicate: usize,
        totals: &[f64; CELLS],
        prior: [f64; CELLS],
        effective_rows: f64,
    ) -> [f64; CELLS] {
        let mut random = self.generator_of_replicate(replicate);
        let weight: f64 = totals.iter().sum();
        let mut drawn: [f64; CELLS] =
            std::array::from_fn(|cell| random_gamma(&mut random, effective_rows * totals[cell] / weight + prior[cell]));
        let (negatives, positives) = drawn.split_at_mut(CELLS / 2);
        let scale = |drawn: &mut [f64], sum: f64, total: f64| drawn.iter_mut().for_each(|cell| *cell *= total / sum);
        let (sums, halves) =
            ((negatives.iter().sum::<f64>(), positives.iter().sum::<f64>()), totals.split_at(CELLS / 2));
        if self.resampling == Resampling::Stratified {
            scale(negatives, sums.0, halves.0.iter().sum());
            scale(positives, sums.1, halves.1.iter().sum());
        } else {
            scale(negatives, sums.0 + sums.1, weight);
            scale(positives, sums.0 + sums.1, weight);
        }
        drawn
    }

    /// The same bootstrap with [`BlockLength::Auto`] replaced by a block length that suits `score` at `threshold`. This length is computed from
    /// `rows`.
    #[must_use]
    pub fn with_block_length<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        score: &Score,
    ) -> Self {
        if self.resampling != Resampling::Blocks(BlockLength::Auto) {
            return *self;
        }
        let cells = cells_at(rows, threshold);
        let sample = CellSample::new(rows, &cells);
        let length = sample.block_length(&cell_derivatives(score, &sample.confusion(), rows.len()));
        Bootstrap { resampling: Resampling::Blocks(BlockLength::Rows(length)), ..*self }
    }

    /// The distributions of the best threshold, and of the score at this threshold, over the replicates. A condition with a confidence is tested
    /// once, on the original rows, and every replicate searches the thresholds that qualify.
    pub fn best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        let runs = sweep(rows)?.runs(usize::MAX);
        self.check_settings_for(rows.len())?;
        let conditions = &self.tested(rows, conditions)?;
        let find = |runs: &Runs, masses| runs.best_threshold(masses, score, conditions);
        let resolved = self.with_block_length_for_runs(rows, &runs, score, &find);
        Ok(BestDistribution::new(&resolved.best_of_each_replicate(rows, [(&runs, rows.predictions)], find)))
    }

    /// Same as [`best`](Bootstrap::best), but faster for very many rows. The sorted rows are divided into runs of consecutive rows, which
    /// [`Sweep::runs`](super::Sweep::runs) returns for the same rows, and only thresholds between two runs are considered. In Poisson replicates of
    /// rows without weights, only two random numbers are drawn for each run: how many positives and how many negatives of the run the replicate
    /// contains. So the time for such a replicate depends only on the number of runs.
    pub fn best_of_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<BestDistribution> {
        self.check_settings_for(rows.len())?;
        check_same_length("the runs of sorted rows", rows.len(), runs.rows)?;
        let conditions = &self.tested(rows, conditions)?;
        let find = |runs: &Runs, masses| runs.best_threshold(masses, score, conditions);
        Ok(self.with_block_length_for_runs(rows, runs, score, &find).thresholds_between_runs(rows, runs, find))
    }

    /// The distributions of the smoothed threshold ([`Sweep::smooth_best`](super::Sweep::smooth_best)) and of the score at this threshold,
    /// over the same replicates as in [`best`](Bootstrap::best).
    pub fn smooth_best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        score: &Score,
        width: f64,
    ) -> Result<BestDistribution> {
        let runs = sweep(rows)?.runs(usize::MAX);
        self.check_settings_for(rows.len())?;
        let smoothed = SmoothedRuns::new(&runs, half_width(width)?);
        let find = |runs: &Runs, masses| smoothed.threshold(runs, masses, score);
        let resolved = self.with_block_length_for_runs(rows, &runs, score, &find);
        Ok(BestDistribution::new(&resolved.best_of_each_replicate(rows, [(&runs, rows.predictions)], find)))
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
        self.check_settings_for(rows.len())?;
        check_same_length("the runs of sorted rows", rows.len(), runs.rows)?;
        let smoothed = SmoothedRuns::new(runs, half_width(width)?);
        let find = |runs: &Runs, masses| smoothed.threshold(runs, masses, score);
        Ok(self.with_block_length_for_runs(rows, runs, score, &find).thresholds_between_runs(rows, runs, find))
    }

    /// The same bootstrap with [`BlockLength::Auto`] replaced by a block length that suits `score` at the threshold that `find` chooses on the
    /// original rows.
    fn with_block_length_for_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        find: &impl Fn(&Runs, Vec<(f64, f64)>) -> Option<(f64, f64)>,
    ) -> Self {
        if self.resampling != Resampling::Blocks(BlockLength::Auto) {
            return *self;
        }
        let masses = runs.runs.iter().map(|run| run.mass).collect();
        self.with_block_length(rows, find(runs, masses).map_or(0.5, |found| found.0), score)
    }

    /// Calls `find` for each replicate, with the runs (groups of consecutive sorted rows) and their weights in the replicate. Returns the
    /// distributions of the threshold and of the score that `find` returns. In Poisson replicates of rows without weights, only two random numbers
    /// are drawn for each run: how many positives and how many negatives of the run the replicate contains.
    fn thresholds_between_runs<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        find: impl Fn(&Runs, Vec<(f64, f64)>) -> Option<(f64, f64)> + Sync + Send,
    ) -> BestDistribution {
        if self.resampling != Resampling::Poisson || rows.weights.is_some() {
            return BestDistribution::new(&self.best_of_each_replicate(rows, [(runs, rows.predictions)], find));
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

    /// Calls `find` for each replicate and each forecast, with the runs of the forecast (groups of consecutive sorted rows) and their weights in the
    /// replicate. Returns the thresholds and the scores that `find` returns. In a replicate, all forecasts are evaluated on the same randomly drawn
    /// rows.
    pub(super) fn best_of_each_replicate<R: Real, const FORECASTS: usize>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        forecasts: [(&Runs, Probabilities<'_, R>); FORECASTS],
        find: impl Fn(&Runs, Vec<(f64, f64)>) -> Option<(f64, f64)> + Sync + Send,
    ) -> Vec<[Option<(f64, f64)>; FORECASTS]> {
        let sources = self.strata_or_groups(rows.labels);
        let run_indices = forecasts.map(|(runs, predictions)| {
            let run_index = |value: &R| runs.index_of_run(value.to_f64()) as u32;
            let chunks = map_parallel(predictions.0.chunks(1 << 16).collect(), |values: &[R]| {
                values.iter().map(run_index).collect::<Vec<u32>>()
            });
            (runs, chunks.concat())
        });
        self.map_replicates(|replicate| {
            let mut copies = vec![0; rows.len()];
            self.draw_copies(replicate, rows.labels, &sources, &mut copies);
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

    /// Calls `find` for each replicate with the number of times that the replicate contains each row. Returns the distributions of the threshold and
    /// of the score that `find` returns. [`BlockLength::Auto`] must have been replaced by a length before.
    pub(crate) fn best_of_copies(
        &self,
        labels: &[bool],
        find: impl Fn(&[u32]) -> Option<(f64, f64)> + Sync + Send,
    ) -> Result<BestDistribution> {
        Ok(BestDistribution::new(&self.map_copies(labels, |copies| [find(copies)])?))
    }

    /// Calls `function` for each replicate with the number of copies of each row, and returns the results in the order of the replicates.
    /// [`BlockLength::Auto`] must have been replaced by a length before.
    pub(super) fn map_copies<T: Send>(
        &self,
        labels: &[bool],
        function: impl Fn(&[u32]) -> T + Sync + Send,
    ) -> Result<Vec<T>> {
        self.check_settings_for(labels.len())?;
        let sources = self.strata_or_groups(labels);
        Ok(self.map_replicates(|replicate| {
            let mut copies = vec![0; labels.len()];
            self.draw_copies(replicate, labels, &sources, &mut copies);
            function(&copies)
        }))
    }

    /// Returns an error if the number of replicates or the length of the blocks is out of range, or if there is not one group index for each row.
    pub(super) fn check_settings_for(&self, rows: usize) -> Result<()> {
        if self.replicates == 0 {
            return Err(Error::Setting { what: "bootstrap replicates", reason: "must be at least 1".into() });
        }
        if self.replicates > MAX_REPLICATES {
            let reason = format!("must be at most {MAX_REPLICATES}, not {}; 1000 are usual", self.replicates);
            return Err(Error::Setting { what: "bootstrap replicates", reason });
        }
        if let Resampling::Groups(groups) = self.resampling {
            check_same_length("bootstrap groups", rows, groups.len())?;
        }
        if self.resampling == Resampling::Blocks(BlockLength::Rows(0)) {
            return Err(Error::Setting { what: "bootstrap blocks", reason: "must be at least one row long".into() });
        }
        Ok(())
    }

    /// Calls `function` with the index of each replicate, in parallel, and returns the results in the order of the replicates.
    pub(super) fn map_replicates<T: Send>(&self, function: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        map_parallel((0..self.replicates).collect(), function)
    }

    /// The random number generator of one replicate. Each replicate has its own generator, so that the result does not depend on the
    /// number of threads.
    pub(super) fn generator_of_replicate(&self, replicate: usize) -> Xoshiro256PlusPlus {
        generator(self.seed, Purpose::Bootstrap, replicate as u64)
    }

    /// The strata or groups from which all replicates are drawn.
    fn strata_or_groups(&self, labels: &[bool]) -> StrataOrGroups {
        let rows = |wanted: bool| {
            let of_class = labels.iter().zip(0u32..).filter(|(label, _)| **label == wanted);
            of_class.map(|(_, row)| row).collect()
        };
        match self.resampling {
            Resampling::Poisson | Resampling::Blocks(_) => StrataOrGroups::default(),
            Resampling::Stratified => {
                StrataOrGroups { classes: [rows(false), rows(true)], ..StrataOrGroups::default() }
            }
            Resampling::Groups(groups) => {
                let mut present = groups.to_vec();
                present.sort_unstable();
                present.dedup();
                StrataOrGroups { groups: present, ..StrataOrGroups::default() }
            }
        }
    }

    /// Draws the number of copies of each row in one replicate and writes it to `copies`. `sources` is the result of [`Bootstrap::strata_or_groups`].
    fn draw_copies(&self, replicate: usize, labels: &[bool], sources: &StrataOrGroups, copies: &mut [u32]) {
        let mut random = self.generator_of_replicate(replicate);
        match self.resampling {
            Resampling::Poisson => fill_poisson_mean_1(&mut random, copies),
            Resampling::Stratified => {
                copies.fill(0);
                for class in sources.classes.iter().filter(|class| !class.is_empty()) {
                    for _ in 0..class.len() {
                        copies[class[random_below(&mut random, class.len())] as usize] += 1;
                    }
                }
            }
            Resampling::Groups(groups) => {
                let last = sources.groups.last().map_or(0, |last| *last as usize + 1);
                let mut drawn = vec![0; last];
                for _ in 0..sources.groups.len() {
                    drawn[sources.groups[random_below(&mut random, sources.groups.len())] as usize] += 1;
                }
                copies.iter_mut().zip(groups).for_each(|(copies, group)| *copies = drawn[*group as usize]);
            }
            Resampling::Blocks(length) => {
                // The fallback 1 is never used, because callers have replaced `BlockLength::Auto` by a length.
                let length = length.rows().unwrap_or(1);
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

/// The strata or groups from which a bootstrap draws, prepared once for all replicates; both are empty if single rows or blocks are drawn.
#[derive(Default)]
struct StrataOrGroups {
    /// With stratified resampling, the indices of the negatives and of the positives; otherwise empty.
    classes: [Vec<u32>; 2],
    /// With resampling of groups, the numbers of all groups that have rows, in ascending order; otherwise empty.
    groups: Vec<u32>,
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
