//! One task of an experiment, and its result.

use scorewise::sweep::{confusion, sweep};
use scorewise::{CrossEntropy, Loss, Prior, Probabilities, Purpose, Rows, Score, ScoreLoss, stream};
use scorewise_table::error::{Error, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::contender::Contender;
use super::rows::RepeatRows;
use super::run::run;
use super::{Experiment, ExperimentData, strong};
use crate::backend::Cpu;
use crate::fit::{Fit, Keep, Objective};
use crate::learner::Learner;
use crate::network::NetworkSettings;
use crate::plan::Recipe;

/// One contender in one repeat of an experiment, to be trained and scored.
#[derive(Clone, Debug)]
pub struct Task {
    /// The score to train for and to evaluate.
    pub score: Score,
    /// The forecasting method.
    pub contender: Contender,
    /// Whether the first predictions are moved inside the support of the prior, and dead trainings are repeated.
    pub cured: bool,
    /// Number of the repeat, from 0.
    pub repeat: usize,
}

/// The result of a task: a line of the results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The version of this crate.
    pub version: String,
    /// `adult` or `pollution`.
    pub experiment: String,
    /// The seed of all random numbers of the experiment.
    pub seed: u64,
    /// The score.
    pub score: String,
    /// The name of the contender: a prior, `ce`, …
    pub contender: String,
    /// A hash of the settings of the contender, so that results with older settings of the same name are recognised.
    pub recipe: String,
    /// Whether the cure for dead trainings was on.
    pub cured: bool,
    /// Number of the repeat, from 0.
    pub repeat: usize,
    /// Whether anything was learnt.
    pub success: bool,
    /// Number of dead attempts before the last one.
    pub restarts: usize,
    /// Number of epochs of all phases, averaged over the members.
    pub epochs: f64,
    /// τ*, the best threshold on the training rows.
    pub threshold: Option<f64>,
    /// Whether τ* lies outside the support of the prior.
    pub outside: bool,
    /// The score of the training rows at ½.
    pub train_half: f64,
    /// The score of the training rows at τ*.
    pub train_best: Option<f64>,
    /// The score of the test rows at ½. A score of 0/0 counts as 0, as in the paper.
    pub test_half: f64,
    /// The score of the test rows at τ*.
    pub test_best: Option<f64>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Identifies how random numbers are derived from the seed; it is part of the hash, so that results with other random numbers are not mixed with
/// these.
const STREAMS: &str = "streams by purpose";

/// Identifies a task within an experiment: score, contender, cured, repeat.
pub(super) type TaskKey = (String, String, bool, usize);

impl Task {
    pub(super) fn key(&self) -> TaskKey {
        (self.score.to_string(), self.contender.to_string(), self.cured, self.repeat)
    }

    /// A hash of everything that decides the result except repeat, seed and code: its job, inputs and number of members.
    pub(super) fn recipe(&self, experiment: Experiment) -> Result<String> {
        let (job, inputs) = (self.training(experiment)?, self.contender.inputs()?.to_string());
        let identity = serde_json::to_string(&(job, inputs, self.contender.members(), STREAMS))
            .map_err(|error| Error::setting("reproduce", error.to_string(), ""))?;
        Ok(format!("{:016x}", xxh3_64(identity.as_bytes())))
    }

    /// Seed of the trainings of the task. It depends on the name of the contender, not on which other contenders there are.
    pub(super) fn seed(&self, seed: u64) -> u64 {
        let contender = stream(seed, Purpose::Contender, name_hash(&self.contender.to_string()));
        stream(contender, Purpose::Repeat, self.repeat as u64)
    }

    /// Runs the task alone, on one thread.
    pub fn attempt(&self, data: &ExperimentData, seed: u64) -> Result<Trial> {
        let mut trials = run(data, &[self], seed, &Cpu { threads: 1 }, &|_, _| Ok(()), &|| false)?;
        trials.pop().flatten().ok_or_else(|| Error::setting("reproduce", "the task was not run", ""))
    }

    /// What is trained, with its loss; `None` for a forecast without training.
    pub(super) fn training(&self, experiment: Experiment) -> Result<Option<(Learner, Objective)>> {
        let sol = |prior: &Prior| Objective::from(Loss::Score(ScoreLoss::new(self.score.clone(), prior.clone())));
        let cross_entropy = || Objective::from(Loss::CrossEntropy(CrossEntropy::plain()));
        let paper = NetworkSettings { keep: Keep::Last, cure: self.cured, ..experiment.settings()? };
        let (settings, objective) = match &self.contender {
            Contender::Persistence => return Ok(None),
            Contender::Sol(prior) => (paper, sol(prior)),
            Contender::CrossEntropy => (paper, cross_entropy()),
            Contender::Logistic(_) => (strong::logistic()?, cross_entropy()),
            Contender::Tuned => (strong::tuned(experiment.hidden()?), cross_entropy()),
            Contender::Strong => (strong::strong(experiment.hidden()?), sol(&Recipe::STRONG.prior.parse()?)),
        };
        Ok(Some((Learner::Network(settings), objective)))
    }

    pub(super) fn trial(
        &self,
        experiment: Experiment,
        seed: u64,
        scores: &ForecastScores,
        fits: &[Fit],
        seconds: f64,
    ) -> Result<Trial> {
        // The strong recipe has the centre of its prior, ½, as its threshold and tunes none.
        let is_tuned = !matches!(self.contender, Contender::Strong);
        let threshold = scores.threshold.filter(|_| is_tuned);
        let outside = match (threshold, self.contender.prior()) {
            (Some(threshold), Some(prior)) => threshold < prior.support().0 || threshold > prior.support().1,
            _ => false,
        };
        let (score, contender, cured, repeat) = self.key();
        let epochs: usize = fits.iter().map(Fit::epochs).sum();
        Ok(Trial {
            version: env!("CARGO_PKG_VERSION").into(),
            experiment: experiment.name().into(),
            seed,
            score,
            contender,
            recipe: self.recipe(experiment)?,
            cured,
            repeat,
            success: fits.is_empty() || fits.iter().any(|fit| fit.success),
            restarts: fits.iter().map(|fit| fit.restarts).sum(),
            epochs: epochs as f64 / fits.len().max(1) as f64,
            threshold,
            outside,
            train_half: scores.train[0].unwrap_or(0.0),
            train_best: scores.train[1].filter(|_| is_tuned),
            test_half: scores.test[0].unwrap_or(0.0),
            test_best: scores.test[1].filter(|_| is_tuned),
            seconds,
        })
    }
}

impl Trial {
    pub(super) fn key(&self) -> TaskKey {
        (self.score.clone(), self.contender.clone(), self.cured, self.repeat)
    }
}

/// ForecastScores of a forecast at ½ and at the best threshold of the training rows.
pub(super) struct ForecastScores {
    threshold: Option<f64>,
    train: [Option<f64>; 2],
    test: [Option<f64>; 2],
}

impl ForecastScores {
    pub fn new(rows: &RepeatRows, score: &Score, probabilities: impl Fn(&[u32]) -> Vec<f64>) -> Result<Self> {
        let (seen, seen_events) = (probabilities(&rows.seen), rows.events(&rows.seen));
        let seen = Rows::new(Probabilities(&seen), &seen_events)?;
        let threshold = sweep(&seen)?.best(score).map(|best| best.threshold);
        let (test, test_events) = (probabilities(&rows.test), rows.events(&rows.test));
        let test = Rows::new(Probabilities(&test), &test_events)?;
        let value_at = |rows: &Rows<'_, Probabilities<'_, f64>>, threshold: f64| -> Result<Option<f64>> {
            Ok(Some(score.value(&confusion(rows, threshold)?)))
        };
        let both = |rows: &Rows<'_, Probabilities<'_, f64>>| -> Result<[Option<f64>; 2]> {
            Ok([value_at(rows, 0.5)?, threshold.map_or(Ok(None), |threshold| value_at(rows, threshold))?])
        };
        Ok(ForecastScores { threshold, train: both(&seen)?, test: both(&test)? })
    }
}

/// FNV-1a hash of a contender's name, so that its random numbers do not depend on which other contenders there are.
fn name_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
