//! The strong recipe: what goes beyond the paper, found without its test windows (docs/results.md tells how).

use scorewise::{Loss, Prior, Score, ScoreLoss};

use super::trial::cross_entropy;
use crate::fit::{Settings, WarmStart};

/// Networks whose probabilities are averaged.
pub const MEMBERS: usize = 6;

/// Cross-entropy, moved so that the best threshold stands at ½, then the score's loss in small steps; ½ is the threshold.
pub(super) fn strong(score: &Score) -> Settings {
    let prior = Prior::cosine(0.5, 0.1).unwrap_or_else(|_| Prior::uniform());
    let warm_start = Some(WarmStart::default());
    Settings { objective: Loss::Score(ScoreLoss::new(score.clone(), prior)).into(), warm_start, ..tuned() }
}

/// The same with cross-entropy alone: what it has to be compared with, its threshold found afterwards.
pub(super) fn tuned() -> Settings {
    Settings { batch: Some(512), ..Settings::new(cross_entropy()) }
}

/// Logistic regression.
pub(super) fn logistic() -> Settings {
    Settings { batch: Some(512), learning_rate: 1e-2, ..Settings::new(cross_entropy()) }
}
