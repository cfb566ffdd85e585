//! Computes the scores of a classifier that decides between more than two classes.

use scorewise::Result;
use scorewise::multiclass::{MultiConfusion, MultiScore};
use serde::{Deserialize, Serialize};

use super::summary::{Estimate, NamedEstimate};

/// Names of the multiclass scores that are shown in addition to the score that a model was trained for.
const COMMON_SCORES: [&str; 6] = ["accuracy", "macro(f1)", "macro(recall)", "mcc", "hss", "peirce"];

/// The scores of a classifier that decides between more than two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// Number of rows. Without weights, the cells of the confusion matrix add up to this number; with weights, they add up to the total weight.
    pub rows: usize,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The confusion matrix: one row for each true class, one column for each predicted class.
    pub confusion: Vec<Vec<f64>>,
    /// Values of the scores, without intervals.
    #[serde(with = "super::json::named_estimates")]
    pub scores: Vec<NamedEstimate>,
}

impl ClassSummary {
    /// Computes the confusion matrix of `labels` and `decisions`, and `scores` from that matrix.
    pub fn new(
        classes: &[String],
        labels: &[u32],
        decisions: &[u32],
        weights: Option<&[f64]>,
        scores: &[MultiScore],
    ) -> Result<Self> {
        scores.iter().try_for_each(|score| score.check_classes(classes.len()))?;
        let confusion = MultiConfusion::from_labels(classes.len(), labels, decisions, weights)?;
        let estimate = |score: &MultiScore| NamedEstimate {
            name: score.to_string(),
            estimate: Estimate::new(score.checked(&confusion), None),
        };
        Ok(ClassSummary {
            rows: labels.len(),
            classes: classes.to_vec(),
            scores: scores.iter().map(estimate).collect(),
            confusion: confusion.cells().chunks(classes.len()).map(<[f64]>::to_vec).collect(),
        })
    }
}

/// Returns `first` followed by the common multiclass scores, without duplicates.
pub fn common_class_scores(first: MultiScore) -> Result<Vec<MultiScore>> {
    let mut scores = vec![first];
    for name in COMMON_SCORES {
        let score = MultiScore::parse(name)?;
        if score != scores[0] {
            scores.push(score);
        }
    }
    Ok(scores)
}
