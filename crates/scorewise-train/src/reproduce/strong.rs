//! Settings that go beyond the paper, and what they are compared with.

use scorewise_table::error::Result;

use crate::network::{BatchSize, HiddenLayers, NetworkSettings};
use crate::plan::Recipe;

/// The inputs of each hour for the strong recipe.
pub const INPUTS: &str = "expected-150";

/// Number of networks whose probabilities are averaged.
pub const MEMBERS: usize = Recipe::STRONG.members;

/// The strong recipe.
pub(super) fn strong(hidden: HiddenLayers) -> NetworkSettings {
    Recipe::STRONG.settings(NetworkSettings { hidden, ..NetworkSettings::default() })
}

/// The same with cross-entropy only; its threshold is tuned afterwards.
pub(super) fn tuned(hidden: HiddenLayers) -> NetworkSettings {
    NetworkSettings { warm_start: None, ..strong(hidden) }
}

/// Logistic regression.
pub(super) fn logistic() -> Result<NetworkSettings> {
    let hidden = "none".parse()?;
    Ok(NetworkSettings { hidden, batch: BatchSize::Rows(512), learning_rate: 1e-2, ..NetworkSettings::default() })
}
