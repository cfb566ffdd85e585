//! Contenders: the forecasting methods that an experiment compares, one for each row of its results table.

use std::fmt;
use std::str::FromStr;

use scorewise::Prior;

use super::inputs::PollutionInputs;
use super::strong::{MEMBERS, STRONG_INPUTS};
use scorewise_table::error::Error;

/// A forecasting method that takes part in an experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum Contender {
    /// The network of Marchetti et al. (2022) with the score-oriented loss for this prior of the threshold.
    Sol(Prior),
    /// The network of Marchetti et al. (2022) with cross-entropy.
    CrossEntropy,
    /// The persistence forecast, which predicts that PM2.5 exceeds the limit in the next hour if it exceeds the limit now.
    Persistence,
    /// Logistic regression on the given inputs: a network without hidden layers, trained with cross-entropy.
    Logistic(PollutionInputs),
    /// Networks with the settings of the built-in recipe `strong`, but trained only with cross-entropy; the threshold is tuned afterwards.
    Tuned,
    /// Networks that are trained with the built-in recipe `strong`. The threshold is the centre of the prior and is not tuned.
    Strong,
}

impl Contender {
    /// Whether training can get stuck with all predictions outside the support of the prior, where the gradient is 0.
    #[must_use]
    pub fn can_get_stuck(&self) -> bool {
        matches!(self, Contender::Sol(_))
    }

    /// Number of networks whose probabilities are averaged.
    #[must_use]
    pub fn members(&self) -> usize {
        if matches!(self, Contender::Tuned | Contender::Strong) { MEMBERS } else { 1 }
    }

    /// The inputs of this contender in the pollution experiment.
    pub fn inputs(&self) -> Result<PollutionInputs, Error> {
        match self {
            Contender::Logistic(inputs) => Ok(inputs.clone()),
            Contender::Tuned | Contender::Strong => STRONG_INPUTS.parse(),
            _ => Ok(PollutionInputs::of_paper()),
        }
    }

    /// The prior of the threshold for [`Contender::Sol`]; `None` for other contenders.
    #[must_use]
    pub fn prior(&self) -> Option<&Prior> {
        match self {
            Contender::Sol(prior) => Some(prior),
            _ => None,
        }
    }

    /// The name of the loss as users write it; `None` if the contender needs no training.
    #[must_use]
    pub fn loss(&self) -> Option<&'static str> {
        match self {
            Contender::Sol(_) | Contender::Strong => Some("sol"),
            Contender::CrossEntropy | Contender::Logistic(_) | Contender::Tuned => Some("ce"),
            Contender::Persistence => None,
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contender::Sol(prior) => prior.fmt(out),
            Contender::CrossEntropy => out.write_str("ce"),
            Contender::Persistence => out.write_str("persistence"),
            Contender::Logistic(inputs) => write!(out, "logistic-{}", inputs.width()),
            Contender::Tuned => out.write_str("tuned-ce"),
            Contender::Strong => out.write_str("strong"),
        }
    }
}

impl FromStr for Contender {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text.trim() {
            "ce" => Contender::CrossEntropy,
            "persistence" => Contender::Persistence,
            "logistic-8" => Contender::Logistic(PollutionInputs::of_paper()),
            "logistic-11" => Contender::Logistic(PollutionInputs::one_hot()),
            "tuned-ce" => Contender::Tuned,
            "strong" => Contender::Strong,
            prior => Contender::Sol(prior.parse()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_contenders_are_parsed_and_written_back_unchanged() {
        let names =
            ["uniform", "cosine:0.5,0.1", "ce", "persistence", "logistic-8", "logistic-11", "tuned-ce", "strong"];
        for name in names {
            assert_eq!(name.parse::<Contender>().unwrap().to_string(), name);
        }
        assert!("cosine:2,0.1".parse::<Contender>().is_err());
    }
}
