//! How to train, with the reason of every default.

use scorewise::{CrossEntropy, Loss};
use serde::{Deserialize, Serialize};

use super::objective::Objective;
use super::optimiser::Method;
use crate::net::Shape;
use crate::start::has_centre;
use scorewise_table::error::{Error, Result};
use scorewise_table::setting::Setting;

/// Which weights a training leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Those of the epoch with the lowest validation loss.
    Best,
    /// Those of the last epoch: what the paper did.
    Last,
}

/// A training with cross-entropy that comes before the one with the score's loss.
///
/// A score-oriented loss sees only rows near the threshold; from a network that ranks the rows well it has little left to do. So
/// cross-entropy learns to rank, the output bias is moved so that the best threshold stands at the centre of the prior, and
/// the score's loss does the rest in small steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmStart {
    /// Epochs of cross-entropy at the most; as many as the settings say where nothing is said.
    pub epochs: Option<usize>,
    /// Their patience; that of the settings where nothing is said.
    pub patience: Option<usize>,
    /// The learning rate afterwards, as a share of the settings': a tenth, so that the score's loss refines what was learnt and
    /// does not begin anew.
    pub slower: f32,
    /// Whether the threshold that is moved to the centre is the best one of all rows, those for steps included, and not of the
    /// validation rows alone. Off by default: a network that knows its rows by heart is too sure of them. Where decay prevents that, three
    /// times as many events make a steadier threshold.
    pub on_all: bool,
    /// Whether the bias is then moved on to where the score's loss itself is lowest (two classes alone). Off by default: with many events
    /// the best threshold is steady as it is. With few it stands beside one of them by chance, and the loss, a mean over the
    /// prior, does not.
    pub steady: bool,
}

impl Default for WarmStart {
    fn default() -> Self {
        WarmStart { epochs: None, patience: None, slower: 0.1, on_all: false, steady: false }
    }
}

/// How to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What is minimised. A plan makes it from its loss, score and prior, so it is not written into files.
    #[serde(skip, default = "cross_entropy")]
    pub objective: Objective,
    /// How a gradient becomes a step.
    pub method: Method,
    /// Rows of a step; all of them where nothing is said. 64 by default: it fits the paper's experiments best, and the score of a
    /// batch is noisier below.
    pub batch: Option<usize>,
    /// 1e-3 by default: Adam's usual one, and the paper's.
    pub learning_rate: f32,
    /// Decoupled: by how much of themselves weights shrink in a step of rate 1. 0 by default, as in the paper.
    pub weight_decay: f32,
    /// Epochs at the most. 500 by default: in the paper's experiments patience ends most trainings long before.
    pub epochs: usize,
    /// Epochs without a lower validation loss after which training stops. 30 by default: the loss of a score is noisy.
    pub patience: usize,
    /// Which weights are left. The best by default: the last have had `patience` epochs to get worse.
    pub keep: Keep,
    /// Whether the first predictions are put inside the prior's support, and a dead start is tried again. Where the priors of many
    /// classes leave no such start, a warm start takes its place. On by default; off follows the paper to the letter.
    pub cure: bool,
    /// Cross-entropy first, where it is wanted. Not by default: it doubles the time, and where the score's loss alone finds
    /// the pattern it adds little.
    pub warm_start: Option<WarmStart>,
    /// Where the randomness starts: first weights and the order of the rows. A plan has the seed of all trainings.
    #[serde(skip)]
    pub seed: u64,
    /// Threads over which large batches are spread. 1 by default: many trainings side by side use the cores better. The bits
    /// of the result do not depend on it.
    #[serde(skip, default = "one")]
    pub threads: usize,
}

impl Settings {
    /// The paper's set-up for this objective, with the cure: Adam, batches of 64, rate 1e-3, 500 epochs, patience 30.
    #[must_use]
    pub fn new(objective: impl Into<Objective>) -> Self {
        Settings {
            objective: objective.into(),
            method: Method::Adam,
            batch: Some(64),
            learning_rate: 1e-3,
            weight_decay: 0.0,
            epochs: 500,
            patience: 30,
            keep: Keep::Best,
            cure: true,
            warm_start: None,
            seed: 0,
            threads: 1,
        }
    }

    /// The warm start that was asked for, or that is the only cure.
    pub(super) fn warm_start_for(&self, shape: &Shape) -> Option<WarmStart> {
        let outputs = shape.widths().last().copied().unwrap_or(1);
        let needs_one = self.cure && !has_centre(self.objective.priors(), outputs);
        self.warm_start.or(needs_one.then(WarmStart::default))
    }

    /// Whether training with them makes sense.
    pub fn check(&self) -> Result<()> {
        let refuse = |what: &str, problem: String, hint: &str| Err(Error::setting(what, problem, hint));
        let positive = |value: f32| value > 0.0 && value.is_finite();
        if self.batch == Some(0) {
            return refuse(
                "batch",
                "must be at least 1, not 0".into(),
                &format!("`{}` takes all rows in every step", Setting("batch").to("full")),
            );
        }
        if self.epochs == 0 || self.warm_start.is_some_and(|warm| warm.epochs == Some(0)) {
            return refuse("epochs", "must be at least 1, not 0".into(), "");
        }
        if self.patience == 0 || self.warm_start.is_some_and(|warm| warm.patience == Some(0)) {
            let hint = "a patience as great as the epochs never stops early";
            return refuse("patience", "must be at least 1, not 0".into(), hint);
        }
        if !positive(self.learning_rate) {
            return refuse("learning-rate", format!("must be above 0, not {}", self.learning_rate), "0.001 is usual");
        }
        let decay = self.weight_decay;
        if !(decay >= 0.0 && decay.is_finite() && decay * self.learning_rate < 1.0) {
            let problem = format!("must be 0 or above, and times the learning rate below 1, not {decay}");
            return refuse("weight-decay", problem, "0.001 to 0.1 is usual");
        }
        if let Method::Descent { momentum } = self.method
            && !(0.0..1.0).contains(&momentum)
        {
            return refuse("momentum", format!("must be at least 0 and below 1, not {momentum}"), "0.9 is usual");
        }
        let Some(warm) = self.warm_start else { return Ok(()) };
        if !positive(warm.slower) {
            let problem = format!("the share of the learning rate must be above 0, not {}", warm.slower);
            return refuse("warm-start", problem, "0.1 is usual");
        }
        if self.objective.warm_up().is_none() {
            let problem = "leads from cross-entropy to the loss of a score, and the loss is cross-entropy already";
            let loss = |name: &str| Setting("loss").to(name);
            let hint = format!("choose `{}` or `{}`, or leave it out", loss("sol"), loss("exact"));
            return refuse("warm-start", problem.into(), &hint);
        }
        Ok(())
    }
}

fn cross_entropy() -> Objective {
    Loss::CrossEntropy(CrossEntropy::plain()).into()
}

fn one() -> usize {
    1
}
