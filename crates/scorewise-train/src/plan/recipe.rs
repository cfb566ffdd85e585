//! Recipes: settings that work well together, by name.

use serde::{Deserialize, Serialize};

use super::ThresholdRule;
use crate::network::{BatchSize, NetworkSettings, WarmStart};

/// The name of a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum RecipeName {
    /// The paper's
    Plain,
    /// For rare events
    Strong,
}

/// Settings that work well together; what it does not mention keeps its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Number of networks whose probabilities are averaged.
    pub members: usize,
    /// The prior of the threshold.
    pub prior: &'static str,
    /// Rows of a step.
    pub batch: BatchSize,
    /// Decoupled weight decay.
    pub weight_decay: f32,
    /// Cross-entropy first.
    pub warm_start: Option<WarmStart>,
    /// Whether each network has different validation rows.
    pub own_validation: bool,
    /// The threshold of the model.
    pub threshold: ThresholdRule,
}

impl RecipeName {
    /// The name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RecipeName::Plain => "plain",
            RecipeName::Strong => "strong",
        }
    }

    /// The recipe of this name.
    #[must_use]
    pub fn recipe(self) -> Recipe {
        match self {
            RecipeName::Plain => Recipe::PLAIN,
            RecipeName::Strong => Recipe::STRONG,
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [RecipeName::Plain, RecipeName::Strong].into_iter().find(|recipe| recipe.name() == name)
    }
}

impl Recipe {
    /// The paper's settings: one network, small batches, no weight decay, and the best threshold of the validation rows.
    pub const PLAIN: Recipe = Recipe {
        members: 1,
        prior: "cosine:0.5,0.1",
        batch: BatchSize::Rows(64),
        weight_decay: 0.0,
        warm_start: None,
        own_validation: false,
        threshold: ThresholdRule::Tuned,
    };

    /// For rare events: the best settings inside the training windows of the pollution experiment (docs/results.md describes the search).
    ///
    /// Cross-entropy learns to rank; the output bias is moved to where the score's loss is lowest; that loss continues from there in small
    /// steps, and the centre of the prior is the threshold. The prior is wide, because an average over many thresholds is more stable than
    /// the best one, which lies next to one event by chance. Weight decay helps most: a rare event has few rows, which must not be learnt by
    /// heart. Different validation rows for each network let the networks together learn from every event. Few inputs help more than all of
    /// this, and so does a regression of the number whose limit defines the event: both need knowledge of the data.
    pub const STRONG: Recipe = Recipe {
        members: 6,
        prior: "cosine:0.5,0.4",
        batch: BatchSize::Rows(128),
        weight_decay: 1.0,
        warm_start: Some(WarmStart { epochs: None, patience: None, slower: 0.1, on_all: true, steady: true }),
        own_validation: true,
        threshold: ThresholdRule::Centre,
    };

    /// The recipe with or without cross-entropy first, if that was asked for; else with its own choice, if that `suits` the loss.
    ///
    /// Without cross-entropy first nothing moves the best threshold to the centre of the prior, so the threshold is then tuned.
    #[must_use]
    pub fn with_warm_start(self, asked: Option<bool>, suits: bool) -> Self {
        let warm_start = match asked {
            Some(asked) => asked.then(|| self.warm_start.unwrap_or_default()),
            None => self.warm_start.filter(|_| suits),
        };
        let is_moved = warm_start.is_some() || self.threshold != ThresholdRule::Centre;
        let threshold = if is_moved { self.threshold } else { ThresholdRule::Tuned };
        Recipe { warm_start, threshold, ..self }
    }

    /// These settings with those of the recipe.
    #[must_use]
    pub fn settings(&self, settings: NetworkSettings) -> NetworkSettings {
        let Recipe { batch, weight_decay, warm_start, .. } = *self;
        NetworkSettings { batch, weight_decay, warm_start, ..settings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cross_entropy_first_the_threshold_is_tuned() {
        assert_eq!(Recipe::STRONG.with_warm_start(None, true), Recipe::STRONG);
        let cold = Recipe::STRONG.with_warm_start(None, false);
        assert_eq!((cold.warm_start, cold.threshold), (None, ThresholdRule::Tuned));
        assert_eq!(Recipe::STRONG.with_warm_start(Some(false), true), cold);
        let warm = Recipe::PLAIN.with_warm_start(Some(true), false);
        assert_eq!((warm.warm_start, warm.threshold), (Some(WarmStart::default()), ThresholdRule::Tuned));
    }
}
