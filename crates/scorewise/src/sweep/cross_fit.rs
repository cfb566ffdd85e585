//! Estimates, by cross-fitting, the score that a threshold has on new rows, from the same sample on which the threshold was chosen.
//!
//! The best threshold of a sample also fits the random errors of the sample, so the score there is better than the score that the threshold has on
//! new rows. To correct for this, the rows are divided into folds. The threshold for each fold is chosen on the other folds, by the same method, and
//! the rows of the fold are classified with it. The confusion matrices of all folds add up to a matrix in which no row was used to choose its own
//! threshold. This is repeated with other random folds, and the corrected score is the score of the mean matrix.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::Condition;
use super::bootstrap::{Bootstrap, Resampling};
use super::cells::{cell_derivatives, cell_index, cells_at};
use super::distribution::BootstrapDistribution;
use super::draw::random_below;
use super::effective::CellSample;
use super::ranked::split_by_label;
use super::runs::{Runs, SmoothedRuns};
use super::smooth::half_width;
use super::sort::map_parallel;
use crate::confusion::Confusion;
use crate::error::Result;
use crate::real::Real;
use crate::rows::{Probabilities, Rows, check_same_length};
use crate::score::Score;
use crate::seed::{Purpose, generator};

/// Number of folds into which the rows are divided.
pub(crate) const FOLDS: usize = 5;
/// The division into folds is repeated `CLASSIFIED_ROWS` / (number of rows) times, but at least once and at most [`MAX_REPEATS`] times.
const CLASSIFIED_ROWS: usize = 1_000_000;
/// Maximum number of times that the rows are divided into folds.
const MAX_REPEATS: usize = 20;
/// Number of pieces into which a time series is divided if blocks are resampled; whole pieces are assigned to folds. There are fewer pieces if a
/// piece would otherwise be shorter than a block.
const PIECES: usize = 20;

/// The score on new rows of a threshold that was chosen on the sample; see [`Bootstrap::corrected_best`].
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedScore {
    /// The mean confusion matrix of rows that were classified with a threshold chosen on other rows.
    pub confusion: Confusion,
    /// The score of `confusion`; `None` if the score is undefined.
    pub value: Option<f64>,
    /// The bootstrap distribution of `value`, from which the confidence interval of `value` is computed.
    pub distribution: BootstrapDistribution,
}

impl Bootstrap<'_> {
    /// An estimate, by cross-fitting, of the score that the best threshold ([`Sweep::best_subject_to`](super::Sweep::best_subject_to)) has on new
    /// rows. `runs` must be the result of [`Sweep::runs`](super::Sweep::runs) for `rows`. `None` if there is no best threshold for all rows, or for
    /// the rows outside one of the folds, for example because no threshold satisfies the conditions for these rows. Conditions with a confidence are
    /// tested once, on all rows.
    pub fn corrected_best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        conditions: &[Condition],
    ) -> Result<Option<CorrectedScore>> {
        let conditions = &self.tested(rows, conditions)?;
        self.corrected(rows, runs, score, |masses| runs.best_threshold(masses, score, conditions))
    }

    /// Same as [`corrected_best`](Bootstrap::corrected_best), but for the smoothed threshold that [`Sweep::smooth_best`](super::Sweep::smooth_best)
    /// finds with the smoothing width `width`.
    pub fn corrected_smooth_best<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        width: f64,
    ) -> Result<Option<CorrectedScore>> {
        let smoothed = SmoothedRuns::new(runs, half_width(width)?);
        self.corrected(rows, runs, score, |masses| smoothed.threshold(runs, masses, score))
    }

    /// The score that the threshold chosen by `find` has on new rows, estimated by cross-fitting. So it is corrected for the optimism of choosing a
    /// threshold and computing its score on the same rows. `find` chooses a threshold and returns it with its score, given the weights of the
    /// positives and of the negatives in each run (group of consecutive sorted rows).
    fn corrected<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        runs: &Runs,
        score: &Score,
        find: impl Fn(Vec<(f64, f64)>) -> Option<(f64, f64)> + Sync + Send,
    ) -> Result<Option<CorrectedScore>> {
        self.check_settings_for(rows.len())?;
        check_same_length("the runs of sorted rows", rows.len(), runs.rows)?;
        let all: Vec<(f64, f64)> = runs.runs.iter().map(|run| run.mass).collect();
        let Some((threshold, _)) = find(all) else { return Ok(None) };
        let resolved = self.with_block_length(rows, threshold, score);
        let indices: Vec<u32> =
            rows.predictions.0.iter().map(|value| runs.index_of_run(value.to_f64()) as u32).collect();
        let repeats = repeats_for(rows.len());
        let matrices = map_parallel((0..repeats).collect(), |repeat| {
            let folds = resolved.random_folds(rows.labels, repeat);
            matrix_of_folds(rows, &indices, runs.len(), &folds, &find)
        });
        let Some(matrices) = matrices.into_iter().collect::<Option<Vec<Confusion>>>() else { return Ok(None) };
        let sum: Confusion = matrices.into_iter().sum();
        let confusion = Confusion::new(
            sum.tn / repeats as f64,
            sum.fp / repeats as f64,
            sum.fn_ / repeats as f64,
            sum.tp / repeats as f64,
        );
        let cells = cells_at(rows, threshold);
        let sample = CellSample::new(rows, &cells);
        let derivatives = cell_derivatives(score, &sample.confusion(), rows.len());
        let effective = sample.effective_rows(&derivatives, resolved.resampling);
        let distribution = resolved.distribution_of_matrix(&confusion, effective, score);
        Ok(Some(CorrectedScore { confusion, value: score.checked(&confusion), distribution }))
    }

    /// The fold of each row, 0 to [`FOLDS`] − 1, in the repetition with this index. Rows that depend on each other are in the same fold.
    pub(crate) fn folds(&self, labels: &[bool], repeat: usize) -> Result<Vec<u8>> {
        self.check_settings_for(labels.len())?;
        Ok(self.random_folds(labels, repeat))
    }

    /// Same as [`folds`](Bootstrap::folds), but does not check the settings, so the caller must have checked them.
    pub(super) fn random_folds(&self, labels: &[bool], repeat: usize) -> Vec<u8> {
        let mut random = generator(self.seed, Purpose::CrossFittedThreshold, repeat as u64);
        let unit_of_row: Box<dyn Fn(usize) -> usize> = match self.resampling {
            Resampling::Poisson | Resampling::Stratified => {
                // Each class is divided separately, so that every fold has positives if there are at least `FOLDS` positives.
                let mut folds = vec![0; labels.len()];
                for class in [false, true] {
                    let of_class: Vec<usize> = (0..labels.len()).filter(|row| labels[*row] == class).collect();
                    let folds_of_class = random_folds(&mut random, of_class.len());
                    of_class.iter().zip(folds_of_class).for_each(|(row, fold)| folds[*row] = fold);
                }
                return folds;
            }
            Resampling::Groups(groups) => Box::new(|row| groups[row] as usize),
            Resampling::Blocks(length) => {
                let piece = labels.len().div_ceil(PIECES).max(length.rows().unwrap_or(1)).max(1);
                Box::new(move |row| row / piece)
            }
        };
        let units = (0..labels.len()).map(&unit_of_row).max().map_or(0, |last| last + 1);
        let fold_of_unit = random_folds(&mut random, units);
        (0..labels.len()).map(|row| fold_of_unit[unit_of_row(row)]).collect()
    }
}

/// How often a sample with this many rows is divided into folds.
pub(super) fn repeats_for(rows: usize) -> usize {
    (CLASSIFIED_ROWS / rows.max(1)).clamp(1, MAX_REPEATS)
}

/// Assigns a random fold to each of `count` units: rows, groups of rows or pieces of a series. The numbers of units in two folds differ by at most 1.
fn random_folds(random: &mut Xoshiro256PlusPlus, count: usize) -> Vec<u8> {
    let first = random_below(random, FOLDS);
    let mut folds: Vec<u8> = (0..count).map(|unit| ((unit + first) % FOLDS) as u8).collect();
    for unit in (1..count).rev() {
        folds.swap(unit, random_below(random, unit + 1));
    }
    folds
}

/// The confusion matrix of all rows if the rows of each fold are classified with the threshold that `find` chooses on the other folds; `None` if
/// `find` finds no threshold for a fold that has rows.
fn matrix_of_folds<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    run_indices: &[u32],
    runs: usize,
    folds: &[u8],
    find: &(impl Fn(Vec<(f64, f64)>) -> Option<(f64, f64)> + Sync + Send),
) -> Option<Confusion> {
    let mut masses = vec![vec![(0.0, 0.0); runs]; FOLDS];
    let mut has_rows = [false; FOLDS];
    for (row, (run, fold)) in run_indices.iter().zip(folds).enumerate() {
        let added = split_by_label(rows.labels[row], rows.weight(row));
        let mass = &mut masses[usize::from(*fold)][*run as usize];
        *mass = (mass.0 + added.0, mass.1 + added.1);
        has_rows[usize::from(*fold)] = true;
    }
    let mut thresholds = [0.5; FOLDS];
    for fold in (0..FOLDS).filter(|fold| has_rows[*fold]) {
        let mut others = vec![(0.0, 0.0); runs];
        for (_, masses) in masses.iter().enumerate().filter(|(other, _)| *other != fold) {
            others.iter_mut().zip(masses).for_each(|(sum, mass)| *sum = (sum.0 + mass.0, sum.1 + mass.1));
        }
        thresholds[fold] = find(others)?.0;
    }
    let mut sums = [0.0; 4];
    for (row, (value, fold)) in rows.predictions.0.iter().zip(folds).enumerate() {
        let cell = cell_index(rows.labels[row], *value, thresholds[usize::from(*fold)]);
        sums[usize::from(cell) & 3] += rows.weight(row);
    }
    Some(Confusion::new(sums[0], sums[1], sums[2], sums[3]))
}
