//! A `Task` trains one contender in one repetition of an experiment and computes its scores; a `Trial` is the result of a task.

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

/// A task of an experiment: to train one contender in one repetition of the experiment, and to compute its scores.
#[derive(Clone, Debug)]
pub struct Task {
    /// The score that is trained for and evaluated.
    pub score: Score,
    /// The forecasting method.
    pub contender: Contender,
    /// Whether training is kept from getting stuck: the first predictions are moved into the support of the prior, and training runs that learn
    /// nothing are repeated.
    pub cured: bool,
    /// Number of the repetition, counted from 0.
    pub repeat: usize,
}

/// The result of a task; the results file has one line for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The version of this crate that computed the result.
    pub version: String,
    /// The name of the experiment: `adult` or `pollution`.
    pub experiment: String,
    /// The seed of all random numbers of the experiment.
    pub seed: u64,
    /// The name or formula of the score that was trained for and evaluated.
    pub score: String,
    /// The name of the contender, for example a prior or `ce`.
    pub contender: String,
    /// A hash of the settings of the contender. If the settings of a contender change, results that were computed with the old settings are
    /// recognised by this hash.
    pub recipe: String,
    /// Whether training was kept from getting stuck: the first predictions were moved into the support of the prior, and training runs that learnt
    /// nothing were repeated.
    pub cured: bool,
    /// Number of the repetition, counted from 0.
    pub repeat: usize,
    /// Whether at least one member learnt something; true if nothing is trained.
    pub success: bool,
    /// Number of training attempts that were given up because they learnt nothing, summed over the members.
    pub restarts: usize,
    /// Number of epochs of the warm-up and the main phase together, averaged over the members.
    pub epochs: f64,
    /// The best threshold τ* on the training rows; `None` if no threshold has a defined score or if the contender does not tune its threshold.
    pub threshold: Option<f64>,
    /// Whether the best threshold τ* lies outside the support of the prior.
    pub outside: bool,
    /// The score of the training rows at the threshold ½.
    pub train_half: f64,
    /// The score of the training rows at their best threshold τ*.
    pub train_best: Option<f64>,
    /// The score of the test rows at the threshold ½. A score of 0/0 counts as 0, as in Marchetti et al. (2022).
    pub test_half: f64,
    /// The score of the test rows at the threshold τ*, which is the best one on the training rows.
    pub test_best: Option<f64>,
    /// Duration of training and scoring in seconds, summed over the members.
    pub seconds: f64,
}

/// A name for the way in which random numbers are derived from the seed. It is part of the hash of the settings, so that results that were computed
/// with other random numbers are recognised and computed again.
const RANDOM_NUMBER_SCHEME: &str = "streams by purpose";

/// Identifies a task within an experiment: the name of its score, the name of its contender, its field [`Task::cured`], and the number of its
/// repetition.
pub(super) type TaskKey = (String, String, bool, usize);

impl Task {
    /// Identifies this task within its experiment.
    pub(super) fn key(&self) -> TaskKey {
        (self.score.to_string(), self.contender.to_string(), self.cured, self.repeat)
    }

    /// A hash of the settings that determine the result: learner, loss, inputs and number of members. The number of the repetition, the seed and the
    /// version of scorewise are not part of it.
    pub(super) fn settings_hash(&self, experiment: Experiment) -> Result<String> {
        let (job, inputs) = (self.learner_and_loss(experiment)?, self.contender.inputs()?.to_string());
        let identity = serde_json::to_string(&(job, inputs, self.contender.members(), RANDOM_NUMBER_SCHEME))
            .map_err(|error| Error::setting("reproduce", error.to_string(), ""))?;
        Ok(format!("{:016x}", xxh3_64(identity.as_bytes())))
    }

    /// Seed of the training runs of the task. It depends on the name of the contender, but not on which other contenders are compared.
    pub(super) fn derived_seed(&self, seed: u64) -> u64 {
        let contender = stream(seed, Purpose::Contender, name_hash(&self.contender.to_string()));
        stream(contender, Purpose::Repeat, self.repeat as u64)
    }

    /// Runs only this task, on one thread.
    pub fn attempt(&self, data: &ExperimentData, seed: u64) -> Result<Trial> {
        let mut trials = run(data, &[self], seed, &Cpu { threads: 1 }, &|_, _| Ok(()), &|| false)?;
        trials.pop().flatten().ok_or_else(|| Error::setting("reproduce", "the task was not run", ""))
    }

    /// The learner and the loss of the task; `None` if the contender needs no training.
    pub(super) fn learner_and_loss(&self, experiment: Experiment) -> Result<Option<(Learner, Objective)>> {
        let sol = |prior: &Prior| Objective::from(Loss::Score(ScoreLoss::new(self.score.clone(), prior.clone())));
        let cross_entropy = || Objective::from(Loss::CrossEntropy(CrossEntropy::plain()));
        let published = NetworkSettings { keep: Keep::Last, cure: self.cured, ..experiment.settings()? };
        let (settings, objective) = match &self.contender {
            Contender::Persistence => return Ok(None),
            Contender::Sol(prior) => (published, sol(prior)),
            Contender::CrossEntropy => (published, cross_entropy()),
            Contender::Logistic(_) => (strong::logistic_settings()?, cross_entropy()),
            Contender::Tuned => (strong::tuned_settings(experiment.hidden()?), cross_entropy()),
            Contender::Strong => (strong::strong_settings(experiment.hidden()?), sol(&Recipe::STRONG.prior.parse()?)),
        };
        Ok(Some((Learner::Network(settings), objective)))
    }

    /// Makes the result of this task from the scores of its forecast. `fits` are the training results of the ensemble members that made the forecast.
    pub(super) fn make_trial(
        &self,
        experiment: Experiment,
        seed: u64,
        scores: &ForecastScores,
        fits: &[Fit],
        seconds: f64,
    ) -> Result<Trial> {
        // The threshold of the strong recipe is not tuned: it is always ½, the centre of its prior.
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
            recipe: self.settings_hash(experiment)?,
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
    /// Identifies the task whose result this is.
    pub(super) fn key(&self) -> TaskKey {
        (self.score.clone(), self.contender.clone(), self.cured, self.repeat)
    }
}

/// The scores of a forecast at the threshold ½ and at the threshold that is best on the training rows, in this order.
pub(super) struct ForecastScores {
    threshold: Option<f64>,
    train: [Option<f64>; 2],
    test: [Option<f64>; 2],
}

impl ForecastScores {
    /// Computes the scores of the forecast that `probabilities` returns for the given rows.
    pub fn new(rows: &RepeatRows, score: &Score, probabilities: impl Fn(&[u32]) -> Vec<f64>) -> Result<Self> {
        let (seen, seen_events) = (probabilities(&rows.seen), rows.events(&rows.seen));
        let seen = Rows::new(Probabilities(&seen), &seen_events)?;
        let threshold = sweep(&seen)?.best(score).map(|best| best.threshold);
        let (test, test_events) = (probabilities(&rows.test), rows.events(&rows.test));
        let test = Rows::new(Probabilities(&test), &test_events)?;
        let value_at = |rows: &Rows<'_, Probabilities<'_, f64>>, threshold: f64| -> Result<Option<f64>> {
            Ok(Some(score.value(&confusion(rows, threshold)?)))
        };
        let values_at_both = |rows: &Rows<'_, Probabilities<'_, f64>>| -> Result<[Option<f64>; 2]> {
            Ok([value_at(rows, 0.5)?, threshold.map_or(Ok(None), |threshold| value_at(rows, threshold))?])
        };
        Ok(ForecastScores { threshold, train: values_at_both(&seen)?, test: values_at_both(&test)? })
    }
}

/// FNV-1a hash of a contender's name. Seeds are derived from it, so that they do not depend on which other contenders are compared.
fn name_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
