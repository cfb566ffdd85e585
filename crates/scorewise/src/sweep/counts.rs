//! Tables of counts: one confusion matrix for each day, station or model run, and the intervals of the scores of their sum.
//!
//! Such a table does not contain the single forecasts, but the variance of a score can be computed without them. The error of a score is
//! approximately a sum with one term for each forecast ([`effective`](super::effective)), and its variance follows from the sum of these terms over
//! each group of forecasts that depend on each other. A row of the table with the counts c contributes
//!
//! ```text
//! Σ cₖ (gₖ − ḡ)        over its four cells; gₖ: the derivative of the score of the summed matrix with respect to cell k; ḡ: the mean of gₖ
//! ```
//!
//! So the interval computed from a table equals the interval computed from the single forecasts with each row of the table as a group.
//! [`Resampling::Poisson`] treats rows as independent of each other, but the forecasts within a row as dependent; [`Resampling::Blocks`] also treats
//! nearby rows as dependent, and [`Resampling::Groups`] the rows of a group. A row without forecasts is not counted as a group, but in blocks it is
//! still a step in time.
//!
//! *Two forecasts.* Two tables do not tell in which cases both forecasts were right, so the two scores cannot be drawn from the same cases. Instead,
//! the variances V₁ and V₂ of the two scores and the variance V of their difference are computed from the rows. The replicates of each score are
//! drawn separately, and then paired so that the two scores have the correlation (V₁ + V₂ − V) / 2√(V₁V₂): the pairs have the same ranks as pairs of
//! normal random numbers with this correlation.
//!
//! Iman, R. L. & Conover, W. J. (1982). A distribution-free approach to inducing rank correlation among input variables. Communications in Statistics
//! – Simulation and Computation 11(3), 311–334. doi:10.1080/03610918208812265.

use super::bootstrap::{BlockLength, Bootstrap, Resampling};
use super::cells::cell_derivatives;
use super::distribution::BootstrapDistribution;
use super::draw::random_normal;
use super::effective::{Linearisation, safe_block_length, share_for, variance_of_blocks, variance_of_groups};
use super::paired::PairedScores;
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::rows::check_same_length;
use crate::score::Score;
use crate::seed::{Purpose, generator};

/// The sum of confusion matrices. Returns an error if there are none, or if a cell is negative, infinite or not a number.
///
/// ```
/// use scorewise::{Confusion, sweep::sum_of_counts};
///
/// let days = [Confusion::new(90.0, 4.0, 1.0, 5.0), Confusion::new(80.0, 12.0, 2.0, 6.0)];
/// assert_eq!(sum_of_counts(&days)?, Confusion::new(170.0, 16.0, 3.0, 11.0));
/// assert!(sum_of_counts(&[Confusion::new(1.0, -1.0, 0.0, 0.0)]).is_err());
/// # Ok::<(), scorewise::Error>(())
/// ```
pub fn sum_of_counts(matrices: &[Confusion]) -> Result<Confusion> {
    const BOUNDS: &str = "a finite number at or above 0";
    if matrices.is_empty() {
        return Err(Error::Empty);
    }
    for (row, matrix) in matrices.iter().enumerate() {
        for value in matrix.array() {
            if value.is_nan() {
                return Err(Error::NotANumber { what: "counts", row });
            }
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::OutOfRange { what: "counts", row, value, bounds: BOUNDS });
            }
        }
    }
    let sum: Confusion = matrices.iter().copied().sum();
    match sum.total().is_finite() {
        true => Ok(sum),
        false => Err(Error::Setting { what: "counts", reason: "are too large: their sum is not finite".into() }),
    }
}

/// A table with one confusion matrix in each row, the sum of the matrices, and the number of forecasts that were counted.
struct CountSample<'a> {
    matrices: &'a [Confusion],
    sum: Confusion,
    /// The number of forecasts: the rounded sum of all counts. If counts are fractions, it is at least the number of rows that are not empty.
    forecasts: usize,
}

impl<'a> CountSample<'a> {
    /// Sums the matrices; returns an error if there are none or if a count is not valid.
    fn new(matrices: &'a [Confusion]) -> Result<Self> {
        let sum = sum_of_counts(matrices)?;
        let present = matrices.iter().filter(|matrix| matrix.total() > 0.0).count();
        Ok(CountSample { matrices, sum, forecasts: (sum.total().round() as usize).max(present) })
    }

    /// Whether all counts are 0, so that no score is defined.
    fn is_empty(&self) -> bool {
        self.sum.total() == 0.0
    }

    /// The four cells of the summed matrix, followed by four zeros, because [`Linearisation`] has eight cells.
    fn totals(&self) -> [f64; 8] {
        let [tn, fp, fn_, tp] = self.sum.array();
        [tn, fp, fn_, tp, 0.0, 0.0, 0.0, 0.0]
    }

    /// The derivatives of a score with respect to the four cells of the summed matrix, followed by four zeros, because [`Linearisation`] has eight
    /// cells.
    fn derivatives(&self, score: &Score) -> [f64; 8] {
        cell_derivatives(score, &self.sum, self.forecasts)
    }

    /// For each row, the contribution of its forecasts to the error of a score. The error is the score of the sample minus that of the population.
    /// `linear` is the linear approximation of the score.
    fn terms(&self, linear: &Linearisation<'_>) -> Vec<f64> {
        let term = |matrix: &Confusion| {
            matrix.array().iter().enumerate().map(|(cell, count)| count * linear.slope(cell)).sum::<f64>()
        };
        self.matrices.iter().map(term).collect()
    }
}

/// The variance of the error of a score, and the degrees of freedom of this estimate. `terms` contains the contribution of each row to the error, and
/// `is_present` is true for the rows that have forecasts.
pub(super) fn variance_of_rows(terms: &[f64], is_present: &[bool], resampling: Resampling<'_>) -> (f64, f64) {
    let present = || (0..terms.len()).filter(|row| is_present[*row]);
    let of_groups = |group: &dyn Fn(usize) -> u32| {
        let (terms, groups): (Vec<f64>, Vec<u32>) = present().map(|row| (terms[row], group(row))).unzip();
        variance_of_groups(&terms, &groups)
    };
    match resampling {
        Resampling::Poisson | Resampling::Stratified => of_groups(&|row| row as u32),
        Resampling::Groups(groups) => of_groups(&|row| groups[row]),
        // Blocks of one row treat the rows as independent: each row is a group of its own.
        Resampling::Blocks(length) => match block_rows(terms, length) {
            1 => of_groups(&|row| row as u32),
            length => variance_of_blocks(terms, BlockLength::Rows(length)),
        },
    }
}

/// The number of rows of a block: the given number or, for [`BlockLength::Auto`], a number that is computed from `terms`, which contains one term for
/// each row. It is at most about half the number of rows: the terms of all rows sum to 0, so longer blocks would underestimate the variance.
fn block_rows(terms: &[f64], length: BlockLength) -> usize {
    length.rows().unwrap_or_else(|| safe_block_length(terms)).min(terms.len().div_ceil(2))
}

impl Bootstrap<'_> {
    /// For each score, the bootstrap distribution of the score of the summed matrix, for a table with one confusion matrix in each row. Rows, blocks
    /// of rows or groups of rows can be resampled; [`Resampling::Stratified`] is not possible, because a row has forecasts of both classes. If all
    /// counts are 0, the scores are undefined in every replicate.
    ///
    /// ```
    /// use scorewise::sweep::{Bootstrap, Resampling};
    /// use scorewise::{Confusion, Score};
    ///
    /// let days: Vec<Confusion> = (0..40).map(|day| Confusion::new(90.0, f64::from(day % 5), 1.0, 4.0)).collect();
    /// let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 500, seed: 0 };
    /// let csi = &bootstrap.scores_of_counts(&days, &[Score::parse("csi")?])?[0];
    /// let (low, high) = csi.interval(0.95).unwrap();
    /// assert!(low < 160.0 / 280.0 && 160.0 / 280.0 < high); // 160 hits, 40 misses, 80 false alarms
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn scores_of_counts(&self, matrices: &[Confusion], scores: &[Score]) -> Result<Vec<BootstrapDistribution>> {
        self.check_counts(matrices.len())?;
        let sample = CountSample::new(matrices)?;
        Ok(scores.iter().map(|score| self.score_of_counts(&sample, score).0).collect())
    }

    /// The same bootstrap with [`BlockLength::Auto`] replaced by a block length that suits `score`. This length is computed from `matrices`.
    pub fn with_block_length_of_counts(&self, matrices: &[Confusion], score: &Score) -> Result<Self> {
        if self.resampling != Resampling::Blocks(BlockLength::Auto) {
            return Ok(*self);
        }
        let sample = CountSample::new(matrices)?;
        let derivatives = sample.derivatives(score);
        let length = match sample.is_empty() {
            true => 1,
            false => safe_block_length(&sample.terms(&Linearisation::new(&sample.totals(), &derivatives))),
        };
        Ok(Bootstrap { resampling: Resampling::Blocks(BlockLength::Rows(length)), ..*self })
    }

    /// Compares the scores of two forecasts that are given as tables of counts. Rows with the same index in the two tables must have the counts of
    /// the same day, station or model run.
    pub fn paired_counts(
        &self,
        first: &[Confusion],
        second: &[Confusion],
        scores: &[Score],
    ) -> Result<Vec<PairedScores>> {
        self.check_counts(first.len())?;
        check_same_length("the second forecast", first.len(), second.len())?;
        let samples = [CountSample::new(first)?, CountSample::new(second)?];
        let is_present: Vec<bool> =
            first.iter().zip(second).map(|(one, other)| (*one + *other).total() > 0.0).collect();
        let compare = |score: &Score| {
            let [one, other] = samples.each_ref().map(|sample| self.score_of_counts(sample, score));
            let difference: Vec<f64> = one.1.iter().zip(&other.1).map(|(one, other)| one - other).collect();
            let (variance, freedom) = variance_of_rows(&difference, &is_present, self.resampling);
            let correlation = correlation(one.2, other.2, variance / share_for(freedom));
            let pairs = self.pairs_with_correlation(&one.0, &other.0, correlation);
            PairedScores::new(score, &pairs)
        };
        Ok(scores.iter().map(compare).collect())
    }

    /// The bootstrap distribution of a score, the contribution of each row to the error of the score, and the variance of the distribution.
    fn score_of_counts(&self, sample: &CountSample<'_>, score: &Score) -> (BootstrapDistribution, Vec<f64>, f64) {
        if sample.is_empty() {
            let undefined = BootstrapDistribution::new(std::iter::repeat_n(None, self.replicates));
            return (undefined, vec![0.0; sample.matrices.len()], 0.0);
        }
        let derivatives = sample.derivatives(score);
        let linear = Linearisation::new(&sample.totals(), &derivatives);
        let terms = sample.terms(&linear);
        let is_present: Vec<bool> = sample.matrices.iter().map(|matrix| matrix.total() > 0.0).collect();
        let effective =
            linear.effective_rows(sample.forecasts as f64, || variance_of_rows(&terms, &is_present, self.resampling));
        (self.distribution_of_matrix(&sample.sum, effective, score), terms, linear.variance_for(effective))
    }

    /// Arranges the replicates of two quantities in pairs with this correlation: the pairs have the same ranks as pairs of normal random numbers with
    /// this correlation.
    pub(super) fn pairs_with_correlation(
        &self,
        first: &BootstrapDistribution,
        second: &BootstrapDistribution,
        correlation: f64,
    ) -> Vec<[Option<f64>; 2]> {
        let draw = |replicate: usize| {
            let mut random = generator(self.seed, Purpose::PairedCounts, replicate as u64);
            let (shared, own) = (random_normal(&mut random), random_normal(&mut random));
            (shared, correlation * shared + (1.0 - correlation * correlation).max(0.0).sqrt() * own)
        };
        let (one, other): (Vec<f64>, Vec<f64>) = self.map_replicates(draw).into_iter().unzip();
        let pairs = in_order_of(first, &one).into_iter().zip(in_order_of(second, &other));
        pairs.map(|(one, other)| [one, other]).collect()
    }

    /// Returns an error if the settings of the bootstrap are not valid for a table of counts with this number of rows.
    fn check_counts(&self, rows: usize) -> Result<()> {
        if self.resampling == Resampling::Stratified {
            let reason =
                "cannot be drawn by class, because a row of counts has both classes; use rows, blocks or groups".into();
            return Err(Error::Setting { what: "bootstrap rows", reason });
        }
        self.check_settings_for(rows)
    }
}

/// The correlation of two quantities with these variances, given the variance of their difference.
pub(super) fn correlation(first: f64, second: f64, difference: f64) -> f64 {
    let correlation = (first + second - difference) / (2.0 * (first * second).sqrt());
    if correlation.is_nan() { 0.0 } else { correlation.clamp(-1.0, 1.0) }
}

/// Arranges the values of a distribution so that they have the same ranks as `numbers`: the smallest value is placed where the smallest number is,
/// and so on. If the quantity is undefined in some replicates, there are fewer values than numbers, and `None` is placed where the largest numbers
/// are.
fn in_order_of(distribution: &BootstrapDistribution, numbers: &[f64]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    let mut values = vec![None; numbers.len()];
    for (value, replicate) in distribution.values().iter().zip(order) {
        values[replicate] = Some(*value);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correlation_follows_from_the_variance_of_the_difference() {
        assert_eq!(correlation(4.0, 4.0, 0.0), 1.0);
        assert_eq!(correlation(4.0, 9.0, 13.0), 0.0);
        assert_eq!(correlation(4.0, 9.0, 10.0), 3.0 / 12.0);
        assert_eq!(correlation(1.0, 1.0, 100.0), -1.0);
        assert_eq!(correlation(0.0, 0.0, 0.0), 0.0);
    }

    #[test]
    fn values_are_arranged_with_the_same_ranks_as_the_numbers_and_undefined_values_have_the_highest_ranks() {
        let distribution = BootstrapDistribution::new([Some(3.0), None, Some(1.0), Some(2.0)].into_iter());
        assert_eq!(in_order_of(&distribution, &[0.5, -1.0, 2.0, 0.0]), [Some(3.0), Some(1.0), None, Some(2.0)]);
    }
}
