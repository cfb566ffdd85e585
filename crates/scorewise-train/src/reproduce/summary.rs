//! From trainings to the lines of a table.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, Spread};

use super::trial::Trial;
use scorewise_table::split::random;

/// A line of a table: ours or the paper's.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The score.
    pub score: String,
    /// Who: a prior, `ce`, …
    pub contender: String,
    /// Whether with the cure.
    pub cured: bool,
    /// Trainings.
    pub repeats: usize,
    /// Those in which something was learnt; the rest of the line is about them alone.
    pub successes: usize,
    /// Those whose τ* lies outside the prior's support.
    pub outside: Option<usize>,
    /// Epochs.
    pub epochs: Option<Spread>,
    /// τ*.
    pub threshold: Option<Spread>,
    /// The training score at ½.
    pub train_half: Option<Spread>,
    /// At τ*.
    pub train_best: Option<Spread>,
    /// The test score at ½.
    pub test_half: Option<Spread>,
    /// At τ*.
    pub test_best: Option<Spread>,
}

impl Line {
    /// Of trainings that differ by their repeat alone; nothing where there are none. The order of the trainings changes no bit.
    #[must_use]
    pub fn of(trials: &[&Trial]) -> Option<Self> {
        let mut trials = trials.to_vec();
        trials.sort_by_key(|trial| trial.repeat);
        let first = trials.first()?;
        let learnt: Vec<&Trial> = trials.iter().copied().filter(|trial| trial.success).collect();
        let spread = |value: fn(&Trial) -> Option<f64>| {
            Spread::of(&learnt.iter().filter_map(|trial| value(trial)).collect::<Vec<_>>())
        };
        Some(Line {
            score: first.score.clone(),
            contender: first.contender.clone(),
            cured: first.cured,
            repeats: trials.len(),
            successes: learnt.len(),
            outside: Some(learnt.iter().filter(|trial| trial.outside).count()),
            epochs: spread(|trial| Some(trial.epochs)).filter(|epochs| epochs.mean > 0.0),
            threshold: spread(|trial| trial.threshold),
            train_half: spread(|trial| Some(trial.train_half)),
            train_best: spread(|trial| trial.train_best),
            test_half: spread(|trial| Some(trial.test_half)),
            test_best: spread(|trial| trial.test_best),
        })
    }
}

/// How much better one contender is than another, repeat by repeat, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The mean difference.
    pub mean: f64,
    /// Its 95 % interval where repeats are taken as independent.
    pub interval: (f64, f64),
    /// Its 95 % interval where neighbouring repeats go together in blocks: windows that share most of their hours say the same thing
    /// many times over, and the plain interval is too narrow.
    pub in_blocks: (f64, f64),
    /// Repeats in a block.
    pub block: usize,
}

/// Bootstrap replicates behind an interval.
const REPLICATES: usize = 10_000;

impl Difference {
    /// Of pairs in the order of the repeats; nothing where there are none.
    #[must_use]
    pub fn of(pairs: &[(f64, f64)], block: usize, seed: u64) -> Option<Self> {
        let differences: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours - theirs).collect();
        let mean = Spread::of(&differences)?.mean;
        let interval = interval(&differences, 1, random(seed, Purpose::Difference, 0));
        // At least one repeat, and not more than there are.
        let most = block.clamp(1, differences.len());
        let in_blocks = self::interval(&differences, most, random(seed, Purpose::Difference, 1));
        Some(Difference { mean, interval, in_blocks, block })
    }
}

/// Percentiles of the means of blocks drawn with replacement, around the end: a circular block bootstrap.
fn interval(values: &[f64], block: usize, mut random: Xoshiro256PlusPlus) -> (f64, f64) {
    let mut draw = || ((u128::from(random.next_u64()) * values.len() as u128) >> 64) as usize;
    let mut means: Vec<f64> = Vec::with_capacity(REPLICATES);
    for _ in 0..REPLICATES {
        let (mut sum, mut left) = (0.0, values.len());
        while left > 0 {
            let (start, length) = (draw(), block.min(left));
            sum += (start..start + length).map(|at| values[at % values.len()]).sum::<f64>();
            left -= length;
        }
        means.push(sum / values.len() as f64);
    }
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[(share * (REPLICATES - 1) as f64).round() as usize];
    (at(0.025), at(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_that_move_together_are_less_sure() {
        // Ten runs of ten equal differences: a hundred values, ten pieces of news.
        let pairs: Vec<(f64, f64)> = (0..100).map(|at| (if at / 10 % 2 == 0 { 1.0 } else { -1.0 }, 0.0)).collect();
        let found = Difference::of(&pairs, 10, 7).unwrap();
        assert_eq!(found.mean, 0.0);
        let width = |(low, high): (f64, f64)| high - low;
        // Independent: 2 · 1.96/√100. In runs of ten: √10 times that, less what blocks that begin within a run average out.
        assert!((width(found.interval) - 0.392).abs() < 0.03, "{found:?}");
        assert!(width(found.in_blocks) > 1.5 * width(found.interval), "{found:?}");
        assert_eq!(Difference::of(&[(1.0, 0.5); 3], 36, 7).unwrap().in_blocks, (0.5, 0.5));
        assert!(Difference::of(&[], 36, 7).is_none());
    }
}
