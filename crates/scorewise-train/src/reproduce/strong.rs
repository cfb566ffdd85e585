//! What goes beyond the paper, and what it has to be compared with.

use scorewise::{Loss, Prior, Score, ScoreLoss};

use super::trial::cross_entropy;
use crate::fit::Settings;
use crate::train::Recipe;
use scorewise_table::error::Result;

/// What its networks are given of an hour.
pub const INPUTS: &str = "expected-150";

/// Networks whose probabilities are averaged.
pub const MEMBERS: usize = Recipe::STRONG.members;

/// The strong recipe, with ½ as its threshold.
pub(super) fn strong(score: &Score) -> Result<Settings> {
    let prior: Prior = Recipe::STRONG.prior.parse()?;
    Ok(Recipe::STRONG.settings(Settings::new(Loss::Score(ScoreLoss::new(score.clone(), prior)))))
}

/// The same with cross-entropy alone: its threshold is found afterwards.
pub(super) fn tuned() -> Settings {
    Settings { warm_start: None, ..Recipe::STRONG.settings(Settings::new(cross_entropy())) }
}

/// Logistic regression.
pub(super) fn logistic() -> Settings {
    Settings { batch: Some(512), learning_rate: 1e-2, ..Settings::new(cross_entropy()) }
}
