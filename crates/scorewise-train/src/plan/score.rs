//! The score to train for, which may be defined for two classes, for many classes, or for both.

use std::fmt;
use std::str::FromStr;

use scorewise::Score;
use scorewise::multiclass::{Average, MultiScore};
use scorewise_table::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The score to train for, parsed before the number of classes is known. `f1` is a score for two classes; with more classes it stands for the
/// mean of f1 over the classes. `macro(f1)` and `gerrity` are scores only for many classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrainingScore {
    text: String,
    binary: Option<Score>,
    multiclass: Option<MultiScore>,
}

impl TrainingScore {
    /// The score for two classes; an error if the score is defined only for many classes.
    pub fn binary(&self) -> Result<Score> {
        match &self.binary {
            Some(score) => Ok(score.clone()),
            None => Ok(Score::parse(&self.text).map_err(scorewise::Error::from)?),
        }
    }

    /// The score for many classes: a score of the whole confusion matrix, or an average over the classes of a score for two classes.
    #[must_use]
    pub fn multiclass(&self) -> MultiScore {
        match (&self.multiclass, &self.binary) {
            (Some(score), _) => score.clone(),
            (None, Some(score)) => MultiScore::Classwise(Average::Macro, score.clone()),
            (None, None) => unreachable!("the text was parsed as a score for two classes or for many"),
        }
    }

    /// The score as the user wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Parses a name or formula as a score for many classes. A score for two classes stands for its mean over the classes.
pub fn multi_score(text: &str) -> Result<MultiScore> {
    Ok(text.parse::<TrainingScore>()?.multiclass())
}

impl FromStr for TrainingScore {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (binary, multiclass) = (Score::parse(text), MultiScore::parse(text).ok());
        match (binary, multiclass) {
            // If the string looks like `macro(…)`, the error message of the parser for many classes explains the mistake better than that of the
            // parser for two classes.
            (Err(error), None) => {
                let is_average = ["macro(", "weighted(", "micro(", "cost_matrix("]
                    .iter()
                    .any(|name| text.trim_start().starts_with(name));
                let error = if is_average { MultiScore::parse(text).err().unwrap_or(error) } else { error };
                Err(scorewise::Error::from(error).into())
            }
            (binary, multiclass) => Ok(TrainingScore { text: text.into(), binary: binary.ok(), multiclass }),
        }
    }
}

impl fmt::Display for TrainingScore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl TryFrom<String> for TrainingScore {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<TrainingScore> for String {
    fn from(score: TrainingScore) -> Self {
        score.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_parsed_for_two_classes_and_for_many_classes() {
        let f1: TrainingScore = "f1".parse().unwrap();
        assert_eq!((f1.binary().unwrap().to_string(), f1.multiclass().to_string()), ("f1".into(), "macro(f1)".into()));
        let weighted: TrainingScore = "weighted(f1)".parse().unwrap();
        assert!(weighted.binary().is_err());
        assert_eq!(weighted.multiclass().to_string(), "weighted(f1)");
        let accuracy: TrainingScore = "accuracy".parse().unwrap();
        assert_eq!((accuracy.binary().unwrap().name(), accuracy.multiclass()), ("accuracy", MultiScore::Accuracy));
        assert!("macro(f9)".parse::<TrainingScore>().is_err() && "nothing".parse::<TrainingScore>().is_err());
    }
}
