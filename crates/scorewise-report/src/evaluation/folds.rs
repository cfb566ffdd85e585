//! The models of a cross-validation, each on its own test rows.

use scorewise::MeanAndDeviation;
use scorewise::sweep::Bootstrap;
use scorewise_train::Result;
use scorewise_train::plan::Plan;
use scorewise_train::train::FoldResult;
use serde::{Deserialize, Serialize};

use super::model::{Evaluation, evaluate};

/// The result of a cross-validation, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldsSummary {
    /// One entry for each fold of each repeat.
    pub each: Vec<FoldSummary>,
    /// The mean of the score over the folds.
    pub mean: Option<f64>,
    /// Its standard deviation; `None` for a single fold.
    pub deviation: Option<f64>,
}

/// One fold, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldSummary {
    /// The repeat, from 1.
    pub repeat: usize,
    /// The fold of the repeat, from 1.
    pub fold: usize,
    /// The epochs of the member that was trained longest.
    pub epochs: Option<usize>,
    /// Whether every member learnt something.
    pub success: bool,
    /// The threshold; `None` with more than two classes.
    pub threshold: Option<f64>,
    /// The scores on the test rows of the fold.
    pub test: Evaluation,
}

/// The scores of each fold on its test rows.
pub fn evaluate_folds(folds: &[FoldResult], plan: &Plan, bootstrap: &Bootstrap) -> Result<FoldsSummary> {
    let mut each = Vec::with_capacity(folds.len());
    for fold in folds {
        each.push(FoldSummary {
            repeat: fold.repeat + 1,
            fold: fold.fold + 1,
            epochs: fold.epochs.iter().max().copied(),
            success: fold.success,
            threshold: fold.decision.threshold(),
            test: evaluate(&fold.test, &fold.decision, &numbered_classes(fold), plan, bootstrap)?,
        });
    }
    let values: Vec<f64> = each.iter().filter_map(FoldSummary::value).collect();
    let spread = MeanAndDeviation::of(&values);
    Ok(FoldsSummary {
        each,
        mean: spread.map(|spread| spread.mean),
        deviation: spread.and_then(|spread| spread.deviation),
    })
}

impl FoldSummary {
    /// The score that the model was trained for, on the test rows.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.test.scores().first()?.estimate.value
    }
}

/// A fold does not carry the names of its classes, only how many there are.
fn numbered_classes(fold: &FoldResult) -> Vec<String> {
    let rows = fold.test.labels.len().max(1);
    let outputs = (fold.test.probabilities.len() / rows).max(2);
    (0..outputs).map(|class| class.to_string()).collect()
}
