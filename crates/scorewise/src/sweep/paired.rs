//! Compares two forecasts of the same events, with the same bootstrap replicates for both.
//!
//! What affects both forecasts alike (difficult years, easy rows) largely cancels in the difference of their scores. So the interval of the
//! difference is usually narrower than two separate intervals of the scores suggest.

use super::bootstrap::Bootstrap;
use super::cells::{cell_derivatives, cell_index};
use super::distribution::BootstrapDistribution;
use super::effective::CellSample;
use super::{Condition, Runs, sweep};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Predictions, Probabilities, Rows, check_same_length};
use crate::score::Score;

/// The distributions of one score of two forecasts over the same bootstrap replicates.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedScores {
    /// The distribution of the score of the first forecast.
    pub first: BootstrapDistribution,
    /// The distribution of the score of the second forecast.
    pub second: BootstrapDistribution,
    /// The score of the first forecast minus that of the second, in the replicates in which both scores are defined.
    pub difference: BootstrapDistribution,
    /// The number of replicates in which the first forecast has the better score (the lower score, if lower is better).
    pub first_better: usize,
    /// The number of replicates in which the second forecast has the better score (the lower score, if lower is better).
    pub second_better: usize,
}

impl Bootstrap<'_> {
    /// Compares the scores of two forecasts, each at its own threshold. `first` provides the labels and weights for both.
    ///
    /// ```
    /// use scorewise::sweep::{Bootstrap, Resampling};
    /// use scorewise::{Probabilities, Rows, Score};
    ///
    /// let labels = [true, false, false, true, false, true];
    /// let (accurate, inaccurate) = ([0.9, 0.1, 0.2, 0.8, 0.1, 0.7], [0.6, 0.4, 0.6, 0.3, 0.5, 0.6]);
    /// let bootstrap = Bootstrap { resampling: Resampling::Stratified, replicates: 500, seed: 0 };
    /// let rows = Rows::new(Probabilities(&accurate), &labels)?;
    /// let f1 = &bootstrap.paired(&rows, Probabilities(&inaccurate), (0.5, 0.5), &[Score::parse("f1")?])?[0];
    /// assert!(f1.first_better > 5 * f1.second_better);
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn paired<R: Real>(
        &self,
        first: &Rows<'_, Probabilities<'_, R>>,
        second: Probabilities<'_, R>,
        thresholds: (f64, f64),
        scores: &[Score],
    ) -> Result<Vec<PairedScores>> {
        self.check_both_forecasts(first, second)?;
        let pairs = first.predictions.0.iter().zip(second.0);
        // The index of a row's cell. There are eight cells: one for each combination of the label, whether the first forecast gives an alarm, and
        // whether the second forecast gives an alarm.
        let joint = |(label, (a, b)): (&bool, (&R, &R))| {
            2 * cell_index(*label, *a, thresholds.0) + (cell_index(*label, *b, thresholds.1) & 1)
        };
        let cells: Vec<u8> = first.labels.iter().zip(pairs).map(joint).collect();
        let sample = CellSample::new(first, &cells);
        let matrices = matrices(&sample.totals);
        let compare = |score: &Score| {
            let rows = first.len();
            let [one, other] = matrices.map(|matrix| cell_derivatives(score, &matrix, rows));
            // A row belongs to one cell of each forecast's matrix, and both cells have the same label. So there are eight pairs of cells. The three
            // bits of the index of a pair are, from the highest to the lowest: the label, whether the first forecast gives an alarm, and whether the
            // second forecast gives an alarm.
            let of_difference = std::array::from_fn(|pair| one[pair >> 1] - other[(pair >> 2) * 2 + (pair & 1)]);
            let effective = sample.effective_rows(&of_difference, self.resampling);
            let values = self.map_replicates(|replicate| {
                let drawn = self.draw_cells(replicate, &sample.totals, prior_of_pairs(&sample.totals), effective);
                self::matrices(&drawn).map(|matrix| score.checked(&matrix))
            });
            let alone = |derivatives: &[f64; 4], forecast: usize| {
                let of_pair =
                    |pair: usize| derivatives[if forecast == 0 { pair >> 1 } else { (pair >> 2) * 2 + (pair & 1) }];
                let effective = sample.effective_rows(&std::array::from_fn(of_pair), self.resampling);
                self.distribution_of_matrix(&matrices[forecast], effective, score)
            };
            let [one, other] = [one, other].map(|all| [all[0], all[1], all[2], all[3]]);
            PairedScores { first: alone(&one, 0), second: alone(&other, 1), ..PairedScores::new(score, &values) }
        };
        Ok(scores.iter().map(compare).collect())
    }

    /// Compares a score of two forecasts, each at its best threshold. The best thresholds are determined anew in each replicate, so that the
    /// difference includes their uncertainty. If there are more than `at_most` rows, the sorted rows are
    /// divided into runs, and only thresholds at the ends of runs are considered ([`Sweep::runs`](super::Sweep::runs)).
    pub fn paired_best<R: Real>(
        &self,
        first: &Rows<'_, Probabilities<'_, R>>,
        second: Probabilities<'_, R>,
        score: &Score,
        conditions: &[Condition],
        at_most: usize,
    ) -> Result<PairedScores> {
        self.check_both_forecasts(first, second)?;
        if conditions.iter().any(Condition::is_untested) {
            let reason =
                "must have no confidence if two forecasts are compared, because each has its own thresholds".into();
            return Err(Error::Setting { what: "conditions", reason });
        }
        let one = sweep(first)?.runs(at_most);
        let other = sweep(&Rows { predictions: second, ..*first })?.runs(at_most);
        let forecasts = [(&one, first.predictions), (&other, second)];
        let find = |runs: &Runs, masses| runs.best_threshold(masses, score, conditions);
        let threshold = sweep(first)?.best_subject_to(score, conditions).map_or(0.5, |best| best.threshold);
        let resolved = self.with_block_length(first, threshold, score);
        let best_of_replicates = resolved.best_of_each_replicate(first, forecasts, find);
        Ok(PairedScores::new(
            score,
            &best_of_replicates.iter().map(|pair| pair.map(|best| best.map(|best| best.1))).collect::<Vec<_>>(),
        ))
    }

    /// Returns an error if the settings or the rows of a forecast are invalid, or if the forecasts differ in length.
    fn check_both_forecasts<R: Real>(
        &self,
        first: &Rows<'_, Probabilities<'_, R>>,
        second: Probabilities<'_, R>,
    ) -> Result<()> {
        self.check_settings_for(first.len())?;
        check_same_length("the second forecast", first.len(), second.values().len())?;
        first.check()?;
        Rows { predictions: second, ..*first }.check()
    }
}

/// The confusion matrices of both forecasts. A row belongs to one cell of each matrix, and both cells have the same label, so there are eight pairs
/// of cells. `pairs` contains the total weight of the rows of each pair.
fn matrices(pairs: &[f64; 8]) -> [Confusion; 2] {
    [
        Confusion::new(pairs[0] + pairs[1], pairs[2] + pairs[3], pairs[4] + pairs[5], pairs[6] + pairs[7]),
        Confusion::new(pairs[0] + pairs[2], pairs[1] + pairs[3], pairs[4] + pairs[6], pairs[5] + pairs[7]),
    ]
}

/// The numbers that are added to the parameters of the Dirichlet distribution, one for each of the eight combinations of the true label with the
/// labels predicted by both forecasts: ½, as in Jeffreys' prior. If the forecasts agree on all rows, the numbers of the combinations in which they
/// disagree are 0, so that the difference of their scores is exactly 0.
fn prior_of_pairs(pairs: &[f64; 8]) -> [f64; 8] {
    let disagree = |pair: usize| matches!(pair & 3, 1 | 2);
    let always_agree = (0..8).filter(|pair| disagree(*pair)).all(|pair| pairs[pair] == 0.0);
    std::array::from_fn(|pair| if always_agree && disagree(pair) { 0.0 } else { 0.5 })
}

impl PairedScores {
    /// Creates the distributions from the scores of both forecasts in each replicate. A score is `None` if it is undefined in the replicate.
    pub(super) fn new(score: &Score, values: &[[Option<f64>; 2]]) -> Self {
        let both = || values.iter().map(|[first, second]| first.zip(*second));
        let better = |is_better: fn(f64, f64) -> bool| {
            both()
                .flatten()
                .filter(|(first, second)| is_better(score.oriented_value(*first), score.oriented_value(*second)))
                .count()
        };
        PairedScores {
            first: BootstrapDistribution::new(values.iter().map(|values| values[0])),
            second: BootstrapDistribution::new(values.iter().map(|values| values[1])),
            difference: BootstrapDistribution::new(both().map(|pair| pair.map(|(first, second)| first - second))),
            first_better: better(|first, second| first > second),
            second_better: better(|first, second| first < second),
        }
    }
}
