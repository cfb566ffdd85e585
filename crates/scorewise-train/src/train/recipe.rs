//! Settings that go well together, by name.

use super::plan::Cut;
use crate::fit::{Settings, WarmStart};

/// Settings that go well together; what it does not name stays as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Networks whose probabilities are averaged.
    pub members: usize,
    /// The prior of the threshold.
    pub prior: &'static str,
    /// Rows of a step; all of them where nothing is said.
    pub batch: Option<usize>,
    /// By how much of themselves weights shrink in a step of rate 1.
    pub weight_decay: f32,
    /// Cross-entropy first, where it helps.
    pub warm_start: Option<WarmStart>,
    /// Whether each network has validation rows of its own.
    pub own_validation: bool,
    /// The model's threshold.
    pub cut: Cut,
}

impl Recipe {
    /// The paper's: one network, small batches, no decay, and the best threshold of the validation rows.
    pub const PLAIN: Recipe = Recipe {
        members: 1,
        prior: "cosine:0.5,0.1",
        batch: Some(64),
        weight_decay: 0.0,
        warm_start: None,
        own_validation: false,
        cut: Cut::Tuned,
    };

    /// For rare events: what was best inside the training windows of the pollution experiment (docs/results.md tells what was tried).
    /// Cross-entropy ranks; the output is moved to where the score's loss is lowest; that loss goes on from there in small steps, and the
    /// centre of the prior is the threshold. The prior is wide: a mean over many thresholds is steadier than the best of them, which
    /// stands beside one event by chance. Strong decay does most of it: a rare event has few rows, and they must not be learnt by heart.
    /// Validation rows of its own for each network let all of them, together, learn from every event. Few inputs help more than all of
    /// this, and so does a forecast of the number whose limit is the event: both are for those to choose who know the data.
    pub const STRONG: Recipe = Recipe {
        members: 6,
        prior: "cosine:0.5,0.4",
        batch: Some(128),
        weight_decay: 1.0,
        warm_start: Some(WarmStart { epochs: None, patience: None, slower: 0.1, on_all: true, steady: true }),
        own_validation: true,
        cut: Cut::Centre,
    };

    /// The recipe with cross-entropy first, or without it, where that was asked for; else its own way, where that `suits`.
    ///
    /// Without it nothing moves the best threshold to the centre of the prior, so the threshold is then looked for.
    #[must_use]
    pub fn warm_start(self, asked: Option<bool>, suits: bool) -> Self {
        let warm_start = match asked {
            Some(asked) => asked.then(|| self.warm_start.unwrap_or_default()),
            None => self.warm_start.filter(|_| suits),
        };
        let cut = if self.cut == Cut::Centre && warm_start.is_none() { Cut::Tuned } else { self.cut };
        Recipe { warm_start, cut, ..self }
    }

    /// These settings with the recipe's.
    #[must_use]
    pub fn settings(&self, settings: Settings) -> Settings {
        Settings { batch: self.batch, weight_decay: self.weight_decay, warm_start: self.warm_start, ..settings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cross_entropy_first_the_threshold_is_looked_for() {
        assert_eq!(Recipe::STRONG.warm_start(None, true), Recipe::STRONG);
        let cold = Recipe::STRONG.warm_start(None, false);
        assert_eq!((cold.warm_start, cold.cut), (None, Cut::Tuned));
        assert_eq!(Recipe::STRONG.warm_start(Some(false), true), cold);
        let warm = Recipe::PLAIN.warm_start(Some(true), false);
        assert_eq!((warm.warm_start, warm.cut), (Some(WarmStart::default()), Cut::Tuned));
    }
}
