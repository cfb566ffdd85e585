//! The training settings of boosted trees and their defaults.

use scorewise_table::error::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::fit::{Keep, Objective, Policy, WarmUpPolicy};

/// Maximum depth of a tree.
pub(super) const MAX_DEPTH: usize = 32;
/// From this number of training rows on, leaf-wise trees are by default smaller and use a random half of the features each.
const MANY_ROWS: usize = 10_000;

/// How a tree is grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// All leaves of a level are split by the same condition, as in CatBoost.
    Symmetric,
    /// The leaf with the greatest gain is split first, as in LightGBM.
    LeafWise,
}

/// The training settings of gradient-boosted trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeSettings {
    /// How a tree is grown.
    pub growth: Growth,
    /// Maximum number of boosting rounds. A round adds one tree, or with more than two classes one tree for each class.
    pub rounds: usize,
    /// Number of rounds without a lower validation loss after which training stops.
    pub patience: usize,
    /// Factor by which the values of the leaves are multiplied; `None` for a rate that grows with the number of training rows.
    pub learning_rate: Option<f32>,
    /// Maximum number of splits between the root and a leaf.
    pub depth: usize,
    /// Maximum number of leaves of a leaf-wise tree; `None` for a number that depends on the number of training rows. A symmetric tree has up to 2 to
    /// the power of `depth` leaves.
    pub leaves: Option<usize>,
    /// Minimum number of training rows in a leaf; used only for leaf-wise trees.
    pub min_rows: usize,
    /// A number that is added to the sum of the curvatures of a leaf. It moves the value of the leaf toward 0, most of all if this sum is small.
    pub l2: f64,
    /// Share of the training rows on which the splits of a tree are chosen. The values of leaves are computed from all rows.
    pub row_share: f64,
    /// Share of the features that a tree may use; `None` for all features or, in leaf-wise trees for many training rows, half of them.
    pub feature_share: Option<f64>,
    /// When the splits of a symmetric tree are compared, random noise is added to the square root of each score. This is the standard deviation of
    /// the noise in the first rounds, in units of the root mean square of the gradient. In later rounds the noise is smaller.
    pub random_strength: f64,
    /// Number of Newton steps by which the value of each leaf is computed.
    pub leaf_steps: usize,
    /// Maximum number of codes (bins) of a feature, from 8 to 256. Values with the same code cannot be separated by a split.
    pub codes: usize,
    /// In a column with at most this many levels, a split compares the value with one level. In a column with more levels, target
    /// statistics are used.
    pub single_levels: usize,
    /// Number of random orders of the training rows for target statistics; the rounds use them in turn.
    pub orders: usize,
    /// Maximum number of codes (bins) of a target statistic. It is lower than `codes` by default, because the statistics of training rows are noisy.
    pub statistic_codes: usize,
    /// Whether splits are chosen with the curvature of the loss, as in LightGBM, instead of the number of rows, as in CatBoost.
    pub newton: bool,
    /// Maximum number of rounds that minimise the score-oriented loss. They follow the rounds that minimise cross-entropy.
    pub score_rounds: usize,
    /// Factor by which the learning rate is multiplied in the rounds that minimise the score-oriented loss.
    pub slower: f32,
}

impl TreeSettings {
    /// The default settings of symmetric trees.
    #[must_use]
    pub fn symmetric() -> Self {
        TreeSettings {
            growth: Growth::Symmetric,
            rounds: 1000,
            patience: 50,
            learning_rate: None,
            depth: 6,
            leaves: None,
            min_rows: 1,
            l2: 3.0,
            row_share: 0.8,
            feature_share: None,
            random_strength: 1.5,
            leaf_steps: 3,
            codes: 128,
            single_levels: 16,
            orders: 4,
            statistic_codes: 16,
            newton: false,
            score_rounds: 0,
            slower: 0.1,
        }
    }

    /// The default settings of leaf-wise trees.
    #[must_use]
    pub fn leaf_wise() -> Self {
        TreeSettings {
            growth: Growth::LeafWise,
            depth: MAX_DEPTH,
            min_rows: 20,
            l2: 1.0,
            random_strength: 0.0,
            leaf_steps: 1,
            newton: true,
            ..TreeSettings::symmetric()
        }
    }

    /// The learning rate for this number of training rows.
    ///
    /// With few rows the validation loss is lowest after few rounds, and with a lower learning rate training can stop nearer to that
    /// minimum. By default the rate is proportional to a power of the number of rows, with about the same exponent as in CatBoost,
    /// but at least 0.02 and at most 0.1.
    pub(super) fn rate(&self, rows: usize) -> f32 {
        self.learning_rate.unwrap_or_else(|| (0.006 * (rows as f64).powf(0.246)).clamp(0.02, 0.1) as f32)
    }

    /// Maximum number of leaves of a leaf-wise tree for this number of training rows: by default 31, or 15 if there are many rows.
    ///
    /// With many rows there are hundreds of boosting rounds. Small trees with different features make different errors, which cancel. On five tables
    /// with 10,000 to 40,000 training rows, small trees with half of the features lowered the out-of-fold log-loss: by 1.4 % on average for leaf-wise
    /// trees, and by 0.1 % for the mean prediction of all learners. On eight smaller tables, where training stops after few rounds, the log-loss of
    /// this mean prediction rose by 0.2 %.
    pub(super) fn leaves(&self, rows: usize) -> usize {
        self.leaves.unwrap_or(if rows < MANY_ROWS { 31 } else { 15 })
    }

    /// The setting `feature_share`, or its default for this number of training rows: ½ for leaf-wise trees if there are many rows, otherwise 1.
    pub(super) fn feature_share(&self, rows: usize) -> f64 {
        let is_halved = self.growth == Growth::LeafWise && rows >= MANY_ROWS;
        self.feature_share.unwrap_or(if is_halved { 0.5 } else { 1.0 })
    }

    /// Turns these settings into a [`Policy`], which says when a training run stops and how fast it learns. `rows` is the number of training rows.
    pub(super) fn policy(&self, objective: &Objective, rows: usize) -> Policy {
        let warm_up = objective.warm_up().map(|_| WarmUpPolicy {
            epochs: self.rounds,
            patience: self.patience,
            rate_factor: self.slower,
        });
        Policy {
            epochs: if warm_up.is_some() { self.score_rounds } else { self.rounds },
            patience: self.patience,
            learning_rate: self.rate(rows),
            keep: Keep::Best,
            restarts: false,
            centre: false,
            warm_up,
        }
    }

    /// Checks that all settings are valid.
    pub fn check(&self) -> Result<()> {
        let refuse = |problem: String| Err(Error::setting("learners", format!("trees: {problem}"), ""));
        let is_share = |share: f64| share > 0.0 && share <= 1.0;
        let at_least_one = [
            ("rounds", self.rounds),
            ("patience", self.patience),
            ("min_rows", self.min_rows),
            ("leaf_steps", self.leaf_steps),
            ("orders", self.orders),
        ];
        if let Some((name, _)) = at_least_one.into_iter().find(|(_, value)| *value == 0) {
            return refuse(format!("`{name}` must be at least 1, not 0"));
        }
        let max_depth = if self.growth == Growth::Symmetric { 12 } else { MAX_DEPTH };
        if !(1..=max_depth).contains(&self.depth) {
            return refuse(format!("`depth` must be from 1 to {max_depth}, not {}", self.depth));
        }
        if let Some(leaves) = self.leaves.filter(|leaves| !(2..=4096).contains(leaves)) {
            return refuse(format!("`leaves` must be from 2 to 4096, not {leaves}"));
        }
        if !(8..=256).contains(&self.codes) || !(2..=256).contains(&self.statistic_codes) || self.single_levels > 256 {
            return refuse(
                "`codes` must be from 8 to 256, `statistic_codes` from 2 to 256, and `single_levels` at most 256"
                    .into(),
            );
        }
        if !(self.l2 >= 0.0 && self.l2.is_finite() && self.random_strength >= 0.0 && self.random_strength.is_finite()) {
            return refuse("`l2` and `random_strength` must be 0 or above".into());
        }
        if !(is_share(self.row_share) && self.feature_share.is_none_or(is_share)) {
            return refuse("`row_share` and `feature_share` must be above 0 and at most 1".into());
        }
        let is_rate = |rate: f32| rate > 0.0 && rate <= 1.0;
        if !(is_rate(self.slower) && self.learning_rate.is_none_or(is_rate)) {
            return refuse("`learning_rate` and `slower` must be above 0 and at most 1".into());
        }
        Ok(())
    }
}
