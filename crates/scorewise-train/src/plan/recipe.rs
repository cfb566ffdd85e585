//! Recipes: named groups of settings that work well together.

use serde::{Deserialize, Serialize};

use super::ThresholdRule;
use crate::learner::LearnerName;
use crate::network::{BatchSize, NetworkSettings, WarmStart};

/// The name of a built-in recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum RecipeName {
    /// The best scores: cross-fitted networks, trees and linear models on binned inputs
    Default,
    /// One network on binned inputs, trained in a few seconds
    Quick,
    /// As in Marchetti et al. (2022)
    #[serde(alias = "plain")]
    #[cfg_attr(feature = "clap", value(alias = "plain"))]
    Paper,
    /// For rare events in time series with few inputs
    Strong,
}

/// Settings that work well together. Settings that have no field here keep their defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Number of folds of the cross-fitting; 0 means one set of validation rows instead of cross-fitting.
    pub cross_fit: usize,
    /// The types of models to train.
    pub learners: &'static [LearnerName],
    /// Number of networks to train; with cross-fitting, the number for each fold.
    pub members: usize,
    /// Maximum number of intervals into which knots divide the values of a numeric column; 0 if inputs are not binned.
    pub bins: usize,
    /// The prior distribution of the threshold, as text such as `cosine:0.5,0.1`.
    pub prior: &'static str,
    /// Number of units of each hidden layer.
    pub hidden: &'static [usize],
    /// Number of rows in a batch, for which the optimiser takes one step.
    pub batch: BatchSize,
    /// Whether every batch has the same share of each class.
    pub stratified: bool,
    /// Learning rate.
    pub learning_rate: f32,
    /// Decoupled weight decay: the fraction by which a weight shrinks in a step with learning rate 1.
    pub weight_decay: f32,
    /// Maximum number of epochs of each phase of the training.
    pub epochs: usize,
    /// Number of epochs without a lower validation loss after which training stops.
    pub patience: usize,
    /// Settings of the warm start, which trains with cross-entropy first; `None` if there is no warm start.
    pub warm_start: Option<WarmStart>,
    /// Whether each network has validation rows of its own. Ignored with cross-fitting, where the validation rows of a network are the fold that it
    /// is not trained on.
    pub own_validation: bool,
    /// How the threshold of the model is chosen.
    pub threshold: ThresholdRule,
}

impl RecipeName {
    pub(crate) const ALL: [RecipeName; 4] =
        [RecipeName::Default, RecipeName::Quick, RecipeName::Paper, RecipeName::Strong];

    /// The name of the recipe as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RecipeName::Default => "default",
            RecipeName::Quick => "quick",
            RecipeName::Paper => "paper",
            RecipeName::Strong => "strong",
        }
    }

    /// The settings of the recipe with this name.
    #[must_use]
    pub fn recipe(self) -> Recipe {
        match self {
            RecipeName::Default => Recipe::DEFAULT,
            RecipeName::Quick => Recipe::QUICK,
            RecipeName::Paper => Recipe::PAPER,
            RecipeName::Strong => Recipe::STRONG,
        }
    }

    /// The recipe with this name; `None` if there is none.
    pub(crate) fn named(name: &str) -> Option<Self> {
        RecipeName::ALL.into_iter().find(|recipe| recipe.name() == name)
    }
}

impl Recipe {
    /// The settings with the best scores on the tables of docs/quality.md among all that were tried: for each of five folds, three
    /// networks, trees and a linear model on binned inputs. Networks are trained with cross-entropy first and then with the loss of the
    /// score.
    pub const DEFAULT: Recipe = Recipe {
        cross_fit: 5,
        learners: &[LearnerName::Networks, LearnerName::Trees, LearnerName::Linear],
        members: 3,
        bins: 96,
        prior: "cosine:0.5,0.4",
        hidden: &[64, 32],
        batch: BatchSize::Auto,
        stratified: true,
        learning_rate: 2e-3,
        weight_decay: 0.01,
        epochs: 60,
        patience: 8,
        warm_start: Some(WarmStart { epochs: None, patience: None, slower: 0.1, on_all: false, steady: true }),
        own_validation: false,
        threshold: ThresholdRule::Auto,
    };

    /// One network of the default recipe, with one set of validation rows.
    pub const QUICK: Recipe =
        Recipe { cross_fit: 0, learners: &[LearnerName::Networks], members: 1, ..Recipe::DEFAULT };

    /// The settings of Marchetti et al. (2022): one network, small batches, no weight decay, and the threshold that is best on the validation
    /// rows.
    pub const PAPER: Recipe = Recipe {
        cross_fit: 0,
        learners: &[LearnerName::Networks],
        members: 1,
        bins: 0,
        prior: "cosine:0.5,0.1",
        hidden: &[50, 20, 5],
        batch: BatchSize::Rows(64),
        stratified: false,
        learning_rate: 1e-3,
        weight_decay: 0.0,
        epochs: 500,
        patience: 30,
        warm_start: None,
        own_validation: false,
        threshold: ThresholdRule::Tuned,
    };

    /// Settings for rare events: the best ones found on the training windows of the pollution experiment (docs/results.md describes the search).
    ///
    /// Training begins with cross-entropy, which teaches the network to rank the rows. Then the output bias is set to the value at which the
    /// score-oriented loss is lowest, and training continues with the score-oriented loss and a small learning rate. The threshold is the centre
    /// of the prior. The prior is wide: the score averaged over many thresholds is more stable than the score at the single best threshold,
    /// because with few events one event more or less can move the best threshold. Of these settings, weight decay improves the score most,
    /// because it keeps the network from memorising the few rows of a rare event. The networks have different validation rows, so that together
    /// they learn from every event.
    ///
    /// Two other changes improved the score more than all of these settings, but both need knowledge of the data: to use fewer inputs; and, if an
    /// event means that a number exceeds a limit, to predict that number by regression.
    pub const STRONG: Recipe = Recipe {
        members: 6,
        prior: "cosine:0.5,0.4",
        batch: BatchSize::Rows(128),
        weight_decay: 1.0,
        warm_start: Some(WarmStart { epochs: None, patience: None, slower: 0.1, on_all: true, steady: true }),
        own_validation: true,
        threshold: ThresholdRule::Centre,
        ..Recipe::PAPER
    };

    /// The recipe with a warm start if `requested` is true, and without one if it is false. If the user requested neither (`None`), the warm start of
    /// the recipe is kept only if `keep` is set.
    ///
    /// The threshold rules `Centre` and `Auto` can choose the centre of the prior, to which a warm start moves the best threshold. So a recipe
    /// without a warm start gets the rule `Tuned` instead of them.
    #[must_use]
    pub fn with_warm_start(self, requested: Option<bool>, keep: bool) -> Self {
        let warm_start = match requested {
            Some(is_on) => is_on.then(|| self.warm_start.unwrap_or_default()),
            None => self.warm_start.filter(|_| keep),
        };
        let is_rule_valid =
            warm_start.is_some() || !matches!(self.threshold, ThresholdRule::Centre | ThresholdRule::Auto);
        let threshold = if is_rule_valid { self.threshold } else { ThresholdRule::Tuned };
        Recipe { warm_start, threshold, ..self }
    }

    /// Returns `settings` after replacing the batch size, weight decay and warm start by those of the recipe.
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
    fn without_a_warm_start_the_threshold_is_tuned() {
        assert_eq!(Recipe::STRONG.with_warm_start(None, true), Recipe::STRONG);
        let cold = Recipe::STRONG.with_warm_start(None, false);
        assert_eq!((cold.warm_start, cold.threshold), (None, ThresholdRule::Tuned));
        assert_eq!(Recipe::STRONG.with_warm_start(Some(false), true), cold);
        let warm = Recipe::PAPER.with_warm_start(Some(true), false);
        assert_eq!((warm.warm_start, warm.threshold), (Some(WarmStart::default()), ThresholdRule::Tuned));
    }
}
