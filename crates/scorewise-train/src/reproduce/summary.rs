//! Summarises trials as rows of a results table.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{MeanAndDeviation, Purpose};

use super::trial::Trial;
use scorewise_table::split::random;

/// A row of a results table, either computed by this crate or printed in Marchetti et al. (2022).
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow {
    /// The name or formula of the score that was trained for and evaluated.
    pub score: String,
    /// The name of the contender, for example a prior or `ce`.
    pub contender: String,
    /// Whether training was kept from getting stuck: the first predictions were moved into the support of the prior, and training runs that learnt
    /// nothing were repeated.
    pub cured: bool,
    /// Number of trials.
    pub repeats: usize,
    /// Number of trials in which a network learnt something. The means and standard deviations in this row are over these trials only.
    pub successes: usize,
    /// Number of successful trials whose best threshold τ* lies outside the support of the prior; `None` if Marchetti et al. (2022) did
    /// not print this number.
    pub outside: Option<usize>,
    /// Number of epochs of a training run; `None` if nothing was trained.
    pub epochs: Option<MeanAndDeviation>,
    /// The best threshold τ* on the training rows.
    pub threshold: Option<MeanAndDeviation>,
    /// The score of the training rows at the threshold ½.
    pub train_half: Option<MeanAndDeviation>,
    /// The score of the training rows at their best threshold τ*.
    pub train_best: Option<MeanAndDeviation>,
    /// The score of the test rows at the threshold ½.
    pub test_half: Option<MeanAndDeviation>,
    /// The score of the test rows at the threshold τ*, which is the best one on the training rows.
    pub test_best: Option<MeanAndDeviation>,
}

impl ResultRow {
    /// Summarises trials that are repetitions of each other; `None` for an empty slice. The order of the trials does not matter.
    #[must_use]
    pub fn of(trials: &[&Trial]) -> Option<Self> {
        let mut trials = trials.to_vec();
        trials.sort_by_key(|trial| trial.repeat);
        let first = trials.first()?;
        let successful: Vec<&Trial> = trials.iter().copied().filter(|trial| trial.success).collect();
        let spread = |value: fn(&Trial) -> Option<f64>| {
            MeanAndDeviation::of(&successful.iter().filter_map(|trial| value(trial)).collect::<Vec<_>>())
        };
        Some(ResultRow {
            score: first.score.clone(),
            contender: first.contender.clone(),
            cured: first.cured,
            repeats: trials.len(),
            successes: successful.len(),
            outside: Some(successful.iter().filter(|trial| trial.outside).count()),
            epochs: spread(|trial| Some(trial.epochs)).filter(|epochs| epochs.mean > 0.0),
            threshold: spread(|trial| trial.threshold),
            train_half: spread(|trial| Some(trial.train_half)),
            train_best: spread(|trial| trial.train_best),
            test_half: spread(|trial| Some(trial.test_half)),
            test_best: spread(|trial| trial.test_best),
        })
    }
}

/// The mean difference of the scores of two contenders in the same repetitions of an experiment, with confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean, over all repetitions, of the first contender's score minus the second contender's.
    pub mean: f64,
    /// The 95 % confidence interval of the mean difference under the assumption that the repetitions are independent.
    pub interval: (f64, f64),
    /// The 95 % confidence interval of the mean difference by a bootstrap of blocks of consecutive repetitions. In the pollution experiment, the
    /// windows of consecutive repetitions share most of their hours and so are not independent, and `interval` is too narrow.
    pub in_blocks: (f64, f64),
    /// Number of repetitions in a block.
    pub block: usize,
}

/// Number of bootstrap replicates from which a confidence interval is computed.
const BOOTSTRAP_REPLICATES: usize = 10_000;

impl Difference {
    /// The mean difference of pairs of scores, with one pair for each repetition, in the order of the repetitions; `None` for an empty slice. `block`
    /// is the number of repetitions in a block of the bootstrap.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], block: usize, seed: u64) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours - theirs).collect();
        let mean = MeanAndDeviation::of(&differences)?.mean;
        let interval = bootstrap_interval(&differences, 1, random(seed, Purpose::Difference, 0));
        // A block has at least one repetition, and at most all repetitions.
        let block_length = block.clamp(1, differences.len());
        let in_blocks = bootstrap_interval(&differences, block_length, random(seed, Purpose::Difference, 1));
        Some(Difference { mean, interval, in_blocks, block })
    }
}

/// The 95 % percentile interval of the mean of `values`, by a circular block bootstrap.
fn bootstrap_interval(values: &[f64], block: usize, mut random: Xoshiro256PlusPlus) -> (f64, f64) {
    let mut draw = || ((u128::from(random.next_u64()) * values.len() as u128) >> 64) as usize;
    let mut means: Vec<f64> = Vec::with_capacity(BOOTSTRAP_REPLICATES);
    for _ in 0..BOOTSTRAP_REPLICATES {
        let (mut sum, mut remaining) = (0.0, values.len());
        while remaining > 0 {
            let (start, length) = (draw(), block.min(remaining));
            sum += (start..start + length).map(|index| values[index % values.len()]).sum::<f64>();
            remaining -= length;
        }
        means.push(sum / values.len() as f64);
    }
    means.sort_unstable_by(f64::total_cmp);
    let quantile = |share: f64| means[(share * (BOOTSTRAP_REPLICATES - 1) as f64).round() as usize];
    (quantile(0.025), quantile(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlated_differences_have_a_wider_block_bootstrap_interval() {
        // The hundred differences are ten groups of ten equal values, so there are only ten independent values.
        let pairs: Vec<(f64, f64)> =
            (0..100).map(|index| (if index / 10 % 2 == 0 { 1.0 } else { -1.0 }, 0.0)).collect();
        let difference = Difference::of(&pairs, 10, 7).unwrap();
        assert_eq!(difference.mean, 0.0);
        let width = |(low, high): (f64, f64)| high - low;
        // `interval` treats the values as independent, so its width is about 2 · 1.96/√100. `in_blocks` is wider, by a factor of at most about √10.
        // The factor is below √10 because many blocks contain values of two groups.
        assert!((width(difference.interval) - 0.392).abs() < 0.03, "{difference:?}");
        assert!(width(difference.in_blocks) > 1.5 * width(difference.interval), "{difference:?}");
        assert_eq!(Difference::of(&[(1.0, 0.5); 3], 36, 7).unwrap().in_blocks, (0.5, 0.5));
        assert!(Difference::of(&[], 36, 7).is_none());
    }
}
