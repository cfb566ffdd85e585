//! The scores of decisions between more than two classes.

use scorewise::Result;
use scorewise::multiclass::{MultiConfusion, MultiScore};
use serde::{Deserialize, Serialize};

use super::summary::{Estimate, NamedEstimate};

/// Scores that are shown beside the one that a model was trained for.
const COMMON_SCORES: [&str; 6] = ["accuracy", "macro(f1)", "macro(recall)", "mcc", "hss", "peirce"];

/// The scores of decisions between more than two classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassSummary {
    /// How many rows there are; the cells of the matrix add up to their weights.
    pub rows: usize,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The confusion matrix: one row for each true class, one column for each decision.
    pub confusion: Vec<Vec<f64>>,
    /// The scores; they have no intervals.
    #[serde(with = "super::json::named_estimates")]
    pub scores: Vec<NamedEstimate>,
}

impl ClassSummary {
    /// The scores of these decisions.
    pub fn new(
        classes: &[String],
        labels: &[u32],
        decisions: &[u32],
        weights: Option<&[f64]>,
        scores: &[MultiScore],
    ) -> Result<Self> {
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

/// This score and after it the usual ones.
pub fn usual_class_scores(first: MultiScore) -> Result<Vec<MultiScore>> {
    let mut scores = vec![first];
    for name in COMMON_SCORES {
        let score = MultiScore::parse(name)?;
        if score != scores[0] {
            scores.push(score);
        }
    }
    Ok(scores)
}
