//! Summarises trials as rows of a results table.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{MeanAndDeviation, Purpose};

use super::trial::Trial;
use scorewise_table::split::random;

/// A row of a results table, of this crate or of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow {
    /// The score.
    pub score: String,
    /// The name of the contender: a prior, `ce`, …
    pub contender: String,
    /// Whether the cure for dead trainings was on.
    pub cured: bool,
    /// Number of trials.
    pub repeats: usize,
    /// Number of trials in which a network learnt something. Means and deviations are over these trials only.
    pub successes: usize,
    /// Number of trials whose τ* lies outside the support of the prior.
    pub outside: Option<usize>,
    /// Number of epochs.
    pub epochs: Option<MeanAndDeviation>,
    /// τ*, the best threshold on the training rows.
    pub threshold: Option<MeanAndDeviation>,
    /// The training score at ½.
    pub train_half: Option<MeanAndDeviation>,
    /// The training score at τ*.
    pub train_best: Option<MeanAndDeviation>,
    /// The test score at ½.
    pub test_half: Option<MeanAndDeviation>,
    /// The test score at τ*.
    pub test_best: Option<MeanAndDeviation>,
}

impl ResultRow {
    /// Summarises trials that differ only in their repeat; `None` for an empty slice. The order of the trials does not matter.
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

/// The mean difference of two contenders over paired repeats, with confidence intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean difference.
    pub mean: f64,
    /// Its 95 % confidence interval if the repeats are taken as independent.
    pub interval: (f64, f64),
    /// Its 95 % confidence interval by a block bootstrap of neighbouring repeats. Windows that share most of their hours are not independent, so
    /// `interval` is too narrow for them.
    pub in_blocks: (f64, f64),
    /// Number of repeats in a block.
    pub block: usize,
}

/// Number of bootstrap replicates.
const REPLICATES: usize = 10_000;

impl Difference {
    /// The difference of these pairs of scores, in the order of the repeats; `None` for an empty slice.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], block: usize, seed: u64) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours - theirs).collect();
        let mean = MeanAndDeviation::of(&differences)?.mean;
        let interval = bootstrap_interval(&differences, 1, random(seed, Purpose::Difference, 0));
        // At least one repeat, and at most all of them.
        let block_length = block.clamp(1, differences.len());
        let in_blocks = bootstrap_interval(&differences, block_length, random(seed, Purpose::Difference, 1));
        Some(Difference { mean, interval, in_blocks, block })
    }
}

/// 95 % percentile interval of the mean by a circular block bootstrap.
fn bootstrap_interval(values: &[f64], block: usize, mut random: Xoshiro256PlusPlus) -> (f64, f64) {
    let mut draw = || ((u128::from(random.next_u64()) * values.len() as u128) >> 64) as usize;
    let mut means: Vec<f64> = Vec::with_capacity(REPLICATES);
    for _ in 0..REPLICATES {
        let (mut sum, mut remaining) = (0.0, values.len());
        while remaining > 0 {
            let (start, length) = (draw(), block.min(remaining));
            sum += (start..start + length).map(|index| values[index % values.len()]).sum::<f64>();
            remaining -= length;
        }
        means.push(sum / values.len() as f64);
    }
    means.sort_unstable_by(f64::total_cmp);
    let quantile = |share: f64| means[(share * (REPLICATES - 1) as f64).round() as usize];
    (quantile(0.025), quantile(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlated_differences_have_a_wider_interval() {
        // Ten runs of ten equal differences: a hundred values, of which ten are independent.
        let pairs: Vec<(f64, f64)> =
            (0..100).map(|index| (if index / 10 % 2 == 0 { 1.0 } else { -1.0 }, 0.0)).collect();
        let difference = Difference::of(&pairs, 10, 7).unwrap();
        assert_eq!(difference.mean, 0.0);
        let width = |(low, high): (f64, f64)| high - low;
        // Independent: 2 · 1.96/√100. In runs of ten: √10 times that, less the averaging of blocks that span two runs.
        assert!((width(difference.interval) - 0.392).abs() < 0.03, "{difference:?}");
        assert!(width(difference.in_blocks) > 1.5 * width(difference.interval), "{difference:?}");
        assert_eq!(Difference::of(&[(1.0, 0.5); 3], 36, 7).unwrap().in_blocks, (0.5, 0.5));
        assert!(Difference::of(&[], 36, 7).is_none());
    }
}
