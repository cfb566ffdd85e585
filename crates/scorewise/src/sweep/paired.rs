//! Compares two forecasts of the same events, with the same bootstrap replicates for both.
//!
//! What affects both forecasts alike (difficult years, easy rows) largely cancels in the difference of their scores. So the interval of the
//! difference is usually narrower than two separate intervals of the scores suggest.

use super::bootstrap::Bootstrap;
use super::cells::cell_index;
use super::distribution::BootstrapDistribution;
use super::{Condition, Runs, sweep};
use crate::confusion::Confusion;
use crate::error::Result;
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

impl Bootstrap {
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
    /// assert!(f1.second_better == 0 && f1.first_better > 450);
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
        let replicate_values = self.map_cell_weights(first, &cells, |sums| {
            let one = Confusion::new(sums[0] + sums[1], sums[2] + sums[3], sums[4] + sums[5], sums[6] + sums[7]);
            let other = Confusion::new(sums[0] + sums[2], sums[1] + sums[3], sums[4] + sums[6], sums[5] + sums[7]);
            scores.iter().map(|score| [score.checked(&one), score.checked(&other)]).collect::<Vec<_>>()
        });
        let pair =
            |(k, score)| PairedScores::new(score, &replicate_values.iter().map(|values| values[k]).collect::<Vec<_>>());
        Ok(scores.iter().enumerate().map(pair).collect())
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
        let one = sweep(first)?.runs(at_most);
        let other = sweep(&Rows { predictions: second, ..*first })?.runs(at_most);
        let forecasts = [(&one, first.predictions), (&other, second)];
        let find = |runs: &Runs, masses| runs.best_threshold(masses, score, conditions);
        let best_of_replicates = self.threshold_of_each_replicate(first, forecasts, find);
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
        self.check_settings()?;
        check_same_length("the second forecast", first.len(), second.values().len())?;
        first.check()?;
        Rows { predictions: second, ..*first }.check()
    }
}

impl PairedScores {
    /// Creates the distributions from the scores of both forecasts in each replicate. A score is `None` if it is undefined in the replicate.
    fn new(score: &Score, values: &[[Option<f64>; 2]]) -> Self {
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
