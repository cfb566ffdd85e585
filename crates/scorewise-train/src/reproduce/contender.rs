//! Who takes part in an experiment: a row of its table.

use std::fmt;
use std::str::FromStr;

use scorewise::Prior;

use super::inputs::Inputs;
use super::strong::{INPUTS, MEMBERS};
use scorewise_table::error::Error;

/// A way to forecast.
#[derive(Clone, Debug, PartialEq)]
pub enum Contender {
    /// The paper's network with the score's own loss, its threshold drawn from a prior.
    Sol(Prior),
    /// The paper's network with cross-entropy.
    CrossEntropy,
    /// That nothing changes: dust above the limit now, dust above the limit in an hour.
    Persistence,
    /// Logistic regression: a network without hidden layers, with cross-entropy.
    Logistic(Inputs),
    /// Cross-entropy in the set-up of the strong recipe, its threshold found afterwards.
    Tuned,
    /// The strong recipe, whose threshold is the centre of its prior and not looked for.
    Strong,
}

impl Contender {
    /// Whether there is a prior, outside of whose support nothing is learnt.
    #[must_use]
    pub fn can_get_stuck(&self) -> bool {
        matches!(self, Contender::Sol(_))
    }

    /// Networks whose probabilities are averaged.
    #[must_use]
    pub fn members(&self) -> usize {
        if matches!(self, Contender::Tuned | Contender::Strong) { MEMBERS } else { 1 }
    }

    /// What it is given of an hour of the pollution experiment.
    pub fn inputs(&self) -> Result<Inputs, Error> {
        match self {
            Contender::Logistic(inputs) => Ok(inputs.clone()),
            Contender::Tuned | Contender::Strong => INPUTS.parse(),
            _ => Ok(Inputs::of_paper()),
        }
    }

    /// The prior of its threshold, where there is one.
    #[must_use]
    pub fn prior(&self) -> Option<&Prior> {
        match self {
            Contender::Sol(prior) => Some(prior),
            _ => None,
        }
    }

    /// What is minimised, as users write it.
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
            Contender::Logistic(inputs) => write!(out, "logistic-{}", inputs.numbers()),
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
            "logistic-8" => Contender::Logistic(Inputs::of_paper()),
            "logistic-11" => Contender::Logistic(Inputs::one_hot()),
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
    fn names_go_out_and_come_back() {
        let names =
            ["uniform", "cosine:0.5,0.1", "ce", "persistence", "logistic-8", "logistic-11", "tuned-ce", "strong"];
        for name in names {
            assert_eq!(name.parse::<Contender>().unwrap().to_string(), name);
        }
        assert!("cosine:2,0.1".parse::<Contender>().is_err());
    }
}
