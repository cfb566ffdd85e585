//! The configuration of a loss: `ScoreLossConfig::new("tss".into()).with_prior("cosine:0.5,0.1".into()).init()`.

use burn::config::Config;

use crate::loss::ScoreLoss;

/// The type of classification, which determines the shapes that [`ScoreLoss::forward`] takes.
#[derive(Config, Debug, Copy, PartialEq, Eq)]
pub enum Task {
    /// Two classes: logits and targets have the same number of elements, in any shape, and each element is a row.
    Binary,
    /// Any number of labels per row: logits and targets are `[…, num_classes]`.
    MultiLabel,
    /// Exactly one class per row: logits are `[…, num_classes]`, targets are class indices.
    MultiClass,
}

/// Configuration of a [`ScoreLoss`].
#[derive(Config, Debug, PartialEq)]
pub struct ScoreLossConfig {
    /// The score: a registered name or alias, with its parameters if it takes any, or a formula such as `tp/(tp + 2*fp + fn)`.
    pub score: String,
    /// The prior, which is the distribution of the decision threshold. Uniform by default, because every row then has a gradient that is not 0; a
    /// narrow prior such as `cosine:0.5,0.1` needs initial probabilities inside its support.
    #[config(default = "String::from(\"uniform\")")]
    pub prior: String,
    /// The type of classification. Binary by default, because scores are defined on the 2×2 confusion matrix.
    #[config(default = "Task::Binary")]
    pub task: Task,
    /// How the scores of the classes are averaged: `macro`, `weighted` (by the total weight of each class) or `micro`. Macro by default, so
    /// that a rare class counts as much as a frequent one. Ignored in binary classification.
    #[config(default = "String::from(\"macro\")")]
    pub average: String,
    /// Whether predictions are logits rather than probabilities. True by default, because logits are more precise: near p = 1, the floating-point
    /// number p has few significant digits left for 1 − p.
    #[config(default = true)]
    pub from_logits: bool,
}

impl ScoreLossConfig {
    /// Returns the loss, or an error that says whether the score, the prior or the average cannot be parsed, and why.
    pub fn try_init(&self) -> scorewise::Result<ScoreLoss> {
        let average = self.average.parse()?;
        Ok(ScoreLoss::new(self.score.parse()?, self.prior.parse()?, self.task, average, self.from_logits))
    }

    /// Returns the loss.
    ///
    /// # Panics
    ///
    /// If the score, the prior or the average cannot be parsed; [`try_init`](Self::try_init) returns the same message as an error.
    #[must_use]
    pub fn init(&self) -> ScoreLoss {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}
