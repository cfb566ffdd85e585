//! What goes beyond the paper, and what it has to be compared with.

use scorewise::{Loss, Prior, Score, ScoreLoss};

use super::trial::cross_entropy;
use crate::fit::Settings;
use crate::train::Recipe;

/// Networks whose probabilities are averaged.
pub const MEMBERS: usize = Recipe::STRONG.members;

/// The strong recipe, with ½ as its threshold.
pub(super) fn strong(score: &Score) -> Settings {
    let prior = Prior::cosine(0.5, 0.1).unwrap_or_else(|_| Prior::uniform());
    Recipe::STRONG.settings(Settings::new(Loss::Score(ScoreLoss::new(score.clone(), prior))))
}

/// The same with cross-entropy alone: its threshold is found afterwards.
pub(super) fn tuned() -> Settings {
    Settings { warm_start: None, ..Recipe::STRONG.settings(Settings::new(cross_entropy())) }
}

/// Logistic regression.
pub(super) fn logistic() -> Settings {
    Settings { batch: Some(512), learning_rate: 1e-2, ..Settings::new(cross_entropy()) }
}
