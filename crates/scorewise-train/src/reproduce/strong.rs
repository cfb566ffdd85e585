//! The settings of the recipe `strong`, which Marchetti et al. (2022) did not use, and of the methods with which this recipe is compared.

use scorewise_table::error::Result;

use crate::network::{BatchSize, HiddenLayers, NetworkSettings};
use crate::plan::Recipe;

/// The inputs for the strong recipe in the pollution experiment: a linear forecast of PM2.5, fitted on the hours whose PM2.5 is above 150 µg/m³.
pub const STRONG_INPUTS: &str = "expected-150";

/// Number of networks of the strong recipe whose probabilities are averaged.
pub const MEMBERS: usize = Recipe::STRONG.members;

/// The network settings of the strong recipe.
pub(super) fn strong_settings(hidden: HiddenLayers) -> NetworkSettings {
    Recipe::STRONG.settings(NetworkSettings { hidden, ..NetworkSettings::default() })
}

/// The network settings of the strong recipe, but for training with cross-entropy only. The threshold is tuned afterwards.
pub(super) fn tuned_settings(hidden: HiddenLayers) -> NetworkSettings {
    NetworkSettings { warm_start: None, ..strong_settings(hidden) }
}

/// The settings of logistic regression: a network without hidden layers.
pub(super) fn logistic_settings() -> Result<NetworkSettings> {
    let hidden = "none".parse()?;
    Ok(NetworkSettings { hidden, batch: BatchSize::Rows(512), learning_rate: 1e-2, ..NetworkSettings::default() })
}
