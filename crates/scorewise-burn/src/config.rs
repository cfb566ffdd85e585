//! What a loss is made of, as burn configures things: `ScoreLossConfig::new("tss".into()).with_prior("cosine:0.5,0.1".into()).init()`.

use burn::config::Config;

use crate::loss::ScoreLoss;

/// What the targets say of a row; it fixes the shapes that [`ScoreLoss::forward`] takes.
#[derive(Config, Debug, Copy, PartialEq, Eq)]
pub enum Task {
    /// Yes or no: logits and targets of one shape, any shape, each element a row.
    Binary,
    /// Any number of labels a row: logits and targets `[…, classes]`.
    MultiLabel,
    /// One class a row: logits `[…, classes]`, targets the number of the class.
    MultiClass,
}

/// Configuration of a [`ScoreLoss`].
#[derive(Config, Debug, PartialEq)]
pub struct ScoreLossConfig {
    /// The score: a name or alias of the registry, with parameters where it takes them, or a formula such as `tp/(tp + 2*fp + fn)`.
    pub score: String,
    /// The distribution of the threshold. Uniform by default: no row is ever without a gradient, where a narrow prior such as
    /// `cosine:0.5,0.1` needs logits that start inside its support.
    #[config(default = "String::from(\"uniform\")")]
    pub prior: String,
    /// What the targets say. Binary by default, as scores of the 2×2 matrix are.
    #[config(default = "Task::Binary")]
    pub task: Task,
    /// How classes become one number: `macro`, `weighted` by the rows of each, or `micro`. Macro by default: a rare class counts as much
    /// as a frequent one, which is why one trains for a score. Binary targets have one class and no average.
    #[config(default = "String::from(\"macro\")")]
    pub average: String,
    /// Whether predictions are logits rather than probabilities. True by default: logits keep their digits where 1 − p has none left.
    #[config(default = true)]
    pub from_logits: bool,
}

impl ScoreLossConfig {
    /// The loss, or a sentence that says which of the texts cannot be read and why.
    pub fn try_init(&self) -> scorewise::Result<ScoreLoss> {
        let average = self.average.parse()?;
        Ok(ScoreLoss::new(self.score.parse()?, self.prior.parse()?, self.task, average, self.from_logits))
    }

    /// The loss.
    ///
    /// # Panics
    ///
    /// Where a text cannot be read; [`try_init`](Self::try_init) returns the same sentence as an error.
    #[must_use]
    pub fn init(&self) -> ScoreLoss {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}
