//! Evaluates each model of a cross-validation on its own test rows.

use scorewise::MeanAndDeviation;
use scorewise::sweep::Bootstrap;
use scorewise_train::Result;
use scorewise_train::plan::Plan;
use scorewise_train::train::FoldResult;
use serde::{Deserialize, Serialize};

use super::model::{Evaluation, evaluate};

/// The result of a cross-validation, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldsSummary {
    /// One entry for every fold of every repetition.
    pub each: Vec<FoldSummary>,
    /// Mean of the test score over all folds.
    pub mean: Option<f64>,
    /// Standard deviation of the test score over all folds; `None` for a single fold.
    pub deviation: Option<f64>,
}

/// The result of one fold of a cross-validation, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoldSummary {
    /// Number of the repetition, counted from 1.
    pub repeat: usize,
    /// Number of the fold within its repetition, counted from 1.
    pub fold: usize,
    /// Number of epochs of the ensemble member that was trained longest.
    pub epochs: Option<usize>,
    /// Whether every ensemble member learnt something: its validation loss fell, and it does not give all validation rows the same label.
    pub success: bool,
    /// Decision threshold of the fold's model; `None` with more than two classes.
    pub threshold: Option<f64>,
    /// Scores on the test rows of the fold.
    pub test: Evaluation,
}

/// Evaluates the model of each fold on the test rows of that fold.
pub fn evaluate_folds(folds: &[FoldResult], plan: &Plan, bootstrap: &Bootstrap<'_>) -> Result<FoldsSummary> {
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
    /// The score that the model was trained for, on the test rows; `None` when it is undefined.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.test.scores().first()?.estimate.value
    }
}

/// Returns the numbers `0`, `1`, … as names of the classes, because a [`FoldResult`] does not store their real names.
fn numbered_classes(fold: &FoldResult) -> Vec<String> {
    let rows = fold.test.labels.len().max(1);
    let outputs = (fold.test.probabilities.len() / rows).max(2);
    (0..outputs).map(|class| class.to_string()).collect()
}
