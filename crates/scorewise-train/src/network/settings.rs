//! The training settings of a network, with the reason for every default.

use std::fmt;
use std::str::FromStr;

use scorewise_table::encode::BinnedColumn;
use scorewise_table::error::{Error, Result};
use scorewise_table::setting::Setting;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{NetworkShape, Optimiser, has_centre};
use crate::fit::{Keep, Objective, Policy, Sample, WarmUpPolicy};

/// Maximum number of units of a hidden layer.
const MAX_HIDDEN_UNITS: usize = 65_536;
/// Maximum number of hidden layers.
const MAX_HIDDEN_LAYERS: usize = 64;

/// Number of units of each hidden layer: `50,20,5`, or `none` for a linear model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct HiddenLayers(Vec<usize>);

/// Number of rows in a batch, for which the optimiser takes one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// Batches of this many rows.
    Rows(usize),
    /// One batch with all training rows; written as `full`.
    Full,
    /// A 64th of the training rows, rounded up to a power of two, but at least 32 and at most 256: small tables need small batches for enough
    /// optimiser steps. For the loss of a score, a batch has more rows if a class is rare. Written as `auto`.
    Auto,
}

/// Settings of a warm start, which trains with cross-entropy first and then with the loss of the score.
///
/// Only rows whose predictions lie near the threshold contribute to the gradient of a score-oriented loss, so training from random weights is
/// slow. With a warm start, the network first learns with cross-entropy to rank the rows. Then its output bias is changed so that the best
/// threshold lies at the centre of the prior, and training continues with the loss of the score in small steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmStart {
    /// Maximum number of epochs with cross-entropy; `None` for [`NetworkSettings::epochs`].
    pub epochs: Option<usize>,
    /// Patience during the epochs with cross-entropy; `None` for [`NetworkSettings::patience`].
    pub patience: Option<usize>,
    /// Factor by which the learning rate is multiplied after the warm-up; 0.1 by default, so that training with the loss of the score refines the
    /// network without undoing the result of the warm-up.
    pub slower: f32,
    /// Whether the best threshold, which is moved to the centre of the prior, is computed on training and validation rows together instead of on the
    /// validation rows alone. Off by default, because an overfitted network is too sure of its training rows. With weight decay this setting should
    /// be on: all rows together have about three times as many rows of the positive class, so that the best threshold is more stable.
    pub on_all: bool,
    /// Whether the output bias is changed once more after the best threshold was moved to the centre of the prior: to the value at which the loss of
    /// the score is lowest (two classes only). Off by default, because with many rows of the positive class the best threshold is stable. With few
    /// such rows, the best threshold depends by chance on one of them. The loss is more stable, because it is an average over the prior.
    pub steady: bool,
}

impl Default for WarmStart {
    fn default() -> Self {
        WarmStart { epochs: None, patience: None, slower: 0.1, on_all: false, steady: false }
    }
}

/// The training settings of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSettings {
    /// Number of units of each hidden layer. 50, 20, 5 by default, as in Marchetti et al. (2022).
    pub hidden: HiddenLayers,
    /// The optimiser, which turns gradients into changes of the weights.
    pub optimiser: Optimiser,
    /// Number of rows in a batch, for which the optimiser takes one step. 64 by default, which was best in the experiments of Marchetti et al.
    /// (2022); the score of a smaller batch is noisier.
    pub batch: BatchSize,
    /// Whether every batch has the same share of each class, instead of a random share. Off by default, as in Marchetti et al. (2022); on in the
    /// recipe `default`, because a random batch of 256 rows often has no event at all if events are rare.
    #[serde(default)]
    pub stratified: bool,
    /// Learning rate. 0.001 by default, as is usual for Adam and as in Marchetti et al. (2022).
    pub learning_rate: f32,
    /// Decoupled weight decay: the fraction by which a weight shrinks in a step with learning rate 1. 0 by default, as in Marchetti et al. (2022).
    pub weight_decay: f32,
    /// Maximum number of epochs of each phase. 500 by default: in the experiments of Marchetti et al. (2022), most training runs stop long before
    /// that because of `patience`.
    pub epochs: usize,
    /// Number of epochs without a new minimum of the validation loss after which training stops. 30 by default, because the loss of a score is
    /// noisy.
    pub patience: usize,
    /// Which weights are kept at the end of training. By default these are the weights of the epoch with the lowest validation loss, because training
    /// usually continues for `patience` epochs after this epoch.
    pub keep: Keep,
    /// Whether the output layer is changed before training so that the first predictions lie inside the support of the prior, and training runs
    /// that learn nothing are repeated with other initial weights. If the priors of many classes allow no such first predictions, a warm start is
    /// used instead. On by default; switch it off to follow Marchetti et al. (2022) exactly.
    pub cure: bool,
    /// Settings of a warm start with cross-entropy; `None` for no warm start, which is the default. A warm start doubles the training time, and
    /// improves the result little if training with the loss of the score alone succeeds.
    pub warm_start: Option<WarmStart>,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        NetworkSettings {
            hidden: HiddenLayers(vec![50, 20, 5]),
            optimiser: Optimiser::Adam,
            batch: BatchSize::Rows(64),
            stratified: false,
            learning_rate: 1e-3,
            weight_decay: 0.0,
            epochs: 500,
            patience: 30,
            keep: Keep::Best,
            cure: true,
            warm_start: None,
        }
    }
}

impl NetworkSettings {
    /// The shape of a network with these hidden layers for the rows of the sample.
    pub(crate) fn shape(&self, sample: &Sample<'_>, outputs: usize) -> Result<NetworkShape> {
        let shape = match sample.binned {
            Some(columns) => {
                NetworkShape::look_up(columns.iter().map(BinnedColumn::positions).collect(), &self.hidden.0, outputs)
            }
            None => NetworkShape::new(sample.matrix.columns(), &self.hidden.0, outputs),
        };
        shape.ok_or_else(|| Error::setting("features", "a network needs at least one input and one output", ""))
    }

    /// The [`Policy`] of a training run with these settings: when it stops, when it starts again, and which weights it keeps.
    pub(crate) fn policy(&self, objective: &Objective, outputs: usize) -> Policy {
        Policy {
            epochs: self.epochs,
            patience: self.patience,
            learning_rate: self.learning_rate,
            keep: self.keep,
            restarts: self.cure,
            centre: self.cure,
            warm_up: self.warm_start_for(objective, outputs).map(|warm| WarmUpPolicy {
                epochs: warm.epochs.unwrap_or(self.epochs),
                patience: warm.patience.unwrap_or(self.patience),
                rate_factor: warm.slower,
            }),
        }
    }

    /// The warm start of a training run with this loss; `None` if the loss is itself a cross-entropy. If the settings have no warm start, the default
    /// one is used only if `cure` is set and the first predictions cannot all lie inside the supports of their priors.
    pub(crate) fn warm_start_for(&self, objective: &Objective, outputs: usize) -> Option<WarmStart> {
        let is_needed = self.cure && !has_centre(objective.priors(), outputs);
        let warm_start = self.warm_start.or(is_needed.then(WarmStart::default));
        warm_start.filter(|_| objective.warm_up().is_some())
    }

    /// Checks that all settings are valid and can be used with this loss.
    pub fn check(&self, objective: &Objective) -> Result<()> {
        let refuse = |what: &str, problem: String, hint: &str| Err(Error::setting(what, problem, hint));
        let is_positive = |value: f32| value > 0.0 && value.is_finite();
        if self.batch == BatchSize::Rows(0) {
            return refuse(
                "batch",
                "must be at least 1, not 0".into(),
                &format!("`{}` takes all rows in every step", Setting("batch").to("full")),
            );
        }
        if self.epochs == 0 || self.warm_start.is_some_and(|warm| warm.epochs == Some(0)) {
            return refuse("epochs", "must be at least 1, not 0".into(), "");
        }
        if self.patience == 0 || self.warm_start.is_some_and(|warm| warm.patience == Some(0)) {
            let hint = "with a patience as large as the number of epochs, training never stops early";
            return refuse("patience", "must be at least 1, not 0".into(), hint);
        }
        if !is_positive(self.learning_rate) {
            return refuse("learning-rate", format!("must be above 0, not {}", self.learning_rate), "0.001 is usual");
        }
        let decay = self.weight_decay;
        if !(decay >= 0.0 && decay.is_finite() && decay * self.learning_rate < 1.0) {
            let problem = format!("must be 0 or above, and below 1 when multiplied by the learning rate, not {decay}");
            return refuse("weight-decay", problem, "0.001 to 0.1 is usual");
        }
        let Some(warm) = self.warm_start else { return Ok(()) };
        if !is_positive(warm.slower) {
            let problem = format!("the factor of the learning rate must be above 0, not {}", warm.slower);
            return refuse("warm-start", problem, "0.1 is usual");
        }
        if objective.warm_up().is_none() {
            let problem = "trains with cross-entropy before the loss of a score, but the loss is cross-entropy already";
            let loss = |name: &str| Setting("loss").to(name);
            let hint = format!("choose `{}` or `{}`, or train without a warm start", loss("sol"), loss("exact"));
            return refuse("warm-start", problem.into(), &hint);
        }
        Ok(())
    }
}

impl HiddenLayers {
    /// Hidden layers with the given widths; an error if there are too many layers, or if a width is 0 or too large.
    pub fn new(widths: Vec<usize>) -> Result<Self> {
        let refuse = |problem: String| {
            let hint = format!("give at most {MAX_HIDDEN_LAYERS} widths from 1 to {MAX_HIDDEN_UNITS}, or `none`");
            Err(Error::setting("hidden", problem, hint))
        };
        match widths.iter().find(|width| **width > MAX_HIDDEN_UNITS) {
            Some(width) => refuse(format!("a layer of {width} units is too wide; the limit is {MAX_HIDDEN_UNITS}")),
            None if widths.len() > MAX_HIDDEN_LAYERS => {
                refuse(format!("{} layers are too many; the limit is {MAX_HIDDEN_LAYERS}", widths.len()))
            }
            None if widths.contains(&0) => refuse("a layer has 0 units".into()),
            None => Ok(HiddenLayers(widths)),
        }
    }

    /// The widths of the hidden layers, from the inputs to the outputs.
    #[must_use]
    pub fn widths(&self) -> &[usize] {
        &self.0
    }
}

impl FromStr for HiddenLayers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(HiddenLayers(Vec::new()));
        }
        let width = |part: &str| part.trim().parse::<usize>().ok();
        let widths = text.split(',').map(width).collect::<Option<Vec<_>>>().ok_or_else(|| {
            let problem = format!("`{}` is not a list of widths", text.escape_debug());
            Error::setting(
                "hidden",
                problem,
                "write widths separated by commas, such as 50,20,5, or `none` for a linear model",
            )
        })?;
        HiddenLayers::new(widths)
    }
}

impl fmt::Display for HiddenLayers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return out.write_str("none");
        }
        out.write_str(&self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }
}

impl TryFrom<Vec<usize>> for HiddenLayers {
    type Error = Error;

    fn try_from(widths: Vec<usize>) -> Result<Self> {
        HiddenLayers::new(widths)
    }
}

impl From<HiddenLayers> for Vec<usize> {
    fn from(layers: HiddenLayers) -> Self {
        layers.0
    }
}

/// Number of rows of the rarest class that a batch should have on average, if its size is automatic and the loss is that of a score. With
/// fewer such rows, the score of a batch depends too much on chance.
const RARE_ROWS_PER_BATCH: usize = 32;

impl BatchSize {
    /// Number of rows in a batch for the loss of a score, if there are `all` training rows and `rare` of them belong to the rarest class. An
    /// automatic size is increased until a batch has [`RARE_ROWS_PER_BATCH`] rows of this class on average, but not above a quarter of the training
    /// rows.
    pub(super) fn rows_for_score(self, all: usize, rare: usize) -> usize {
        match self {
            BatchSize::Auto => {
                self.rows(all).max((RARE_ROWS_PER_BATCH * all).div_ceil(rare.max(1))).min(all.div_ceil(4)).max(1)
            }
            _ => self.rows(all),
        }
    }

    /// Number of rows in a batch if there are `all` training rows.
    #[must_use]
    pub fn rows(self, all: usize) -> usize {
        match self {
            BatchSize::Rows(rows) => rows.min(all),
            BatchSize::Full => all,
            BatchSize::Auto => (all / 64).next_power_of_two().clamp(32, 256).min(all),
        }
    }
}

impl FromStr for BatchSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.parse() {
            Ok(rows) => Ok(BatchSize::Rows(rows)),
            Err(_) if text == "full" => Ok(BatchSize::Full),
            Err(_) if text == "auto" => Ok(BatchSize::Auto),
            Err(_) => {
                let problem = format!("`{}` is not a number of rows", text.escape_debug());
                Err(Error::setting("batch", problem, "write a number such as 64, `auto` or `full`"))
            }
        }
    }
}

impl fmt::Display for BatchSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchSize::Rows(rows) => rows.fmt(out),
            BatchSize::Full => out.write_str("full"),
            BatchSize::Auto => out.write_str("auto"),
        }
    }
}

/// The serialised form of a [`BatchSize`]: a number, or the word `auto` or `full`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerialisedBatchSize {
    Number(usize),
    Word(String),
}

impl Serialize for BatchSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            BatchSize::Rows(rows) => SerialisedBatchSize::Number(*rows),
            word => SerialisedBatchSize::Word(word.to_string()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BatchSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match SerialisedBatchSize::deserialize(deserializer)? {
            SerialisedBatchSize::Number(rows) => Ok(BatchSize::Rows(rows)),
            SerialisedBatchSize::Word(word) => word.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_layers_and_batch_sizes_are_unchanged_after_they_are_written_and_parsed() {
        for text in ["none", "8", "50,20,5"] {
            assert_eq!(text.parse::<HiddenLayers>().unwrap().to_string(), text);
        }
        for text in ["auto", "full", "1", "64"] {
            let batch: BatchSize = text.parse().unwrap();
            assert_eq!(batch.to_string(), text);
            let json = serde_json::to_string(&batch).unwrap();
            assert_eq!(serde_json::from_str::<BatchSize>(&json).unwrap(), batch, "{json}");
        }
        for text in ["50,,5", "0", "a", "65537", "", "1,-1"] {
            assert!(text.parse::<HiddenLayers>().is_err(), "{text}");
        }
        assert!("".parse::<BatchSize>().is_err() && "-1".parse::<BatchSize>().is_err());
        assert!(vec!["1"; 65].join(",").parse::<HiddenLayers>().is_err());
    }
}
