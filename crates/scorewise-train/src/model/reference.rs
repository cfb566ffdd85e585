//! What a model was like when it was trained, by which `scorewise monitor` judges later rows: the distribution of each input column in the training
//! rows, and the score on rows that were not used in training.

use std::collections::HashSet;

use scorewise_table::dependence::Resample;
use scorewise_table::distribution::{ColumnDistribution, NumberCounts};
use serde::{Deserialize, Serialize};

/// The distributions and the score with which later rows are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Number of rows of the table that were used in training; the columns were counted over these rows.
    pub rows: u64,
    /// The distribution of each column that the encoder reads.
    pub columns: Vec<ColumnDistribution>,
    /// The score on rows that were not used in training; `None` with more than two classes.
    #[serde(default)]
    pub held_out: Option<HeldOut>,
}

/// The score and the predictions of a model on rows that were not used to train its members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// Which rows these are.
    pub part: HeldOutPart,
    /// Number of rows.
    pub rows: u64,
    /// The score that the model was trained for, at the threshold of the model. If the threshold was chosen on these rows, it is the score that the
    /// threshold has on new rows, estimated by cross-fitting.
    pub score: StoredEstimate,
    /// Whether `score` was estimated by cross-fitting, because the threshold was chosen on these rows.
    pub corrected: bool,
    /// The share of events.
    pub base_rate: StoredEstimate,
    /// The share of rows that are predicted positive.
    pub alarm_rate: StoredEstimate,
    /// The distribution of the predicted probabilities.
    pub predictions: NumberCounts,
    /// What was resampled for the intervals, if the user chose it; `None` if it followed from the split.
    pub resample: Option<Resample>,
}

/// The rows on which a model was judged after its training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldOutPart {
    /// Test rows, which were used for nothing else.
    Test,
    /// The rows of all folds of a cross-fitting; each row was predicted by members that were not trained on it.
    OutOfFold,
    /// Validation rows, which also decided when training stopped.
    Validation,
}

impl HeldOutPart {
    /// The rows in words, such as `the test rows`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            HeldOutPart::Test => "the test rows",
            HeldOutPart::OutOfFold => "the out-of-fold predictions",
            HeldOutPart::Validation => "the validation rows",
        }
    }
}

/// A number with its 95 % interval; `None` where it is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredEstimate {
    /// The number.
    pub value: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

impl Reference {
    /// Checks that the distributions fit their bins and are of the columns of the encoder, and that all numbers are finite. The error describes the
    /// first inconsistency.
    pub(super) fn check(&self, encoder_columns: &HashSet<&str>) -> Result<(), String> {
        let mut seen = HashSet::new();
        for distribution in &self.columns {
            let name = distribution.column.as_str();
            let of_column =
                |problem: String| format!("the distribution of column `{}`: {problem}", name.escape_debug());
            if !encoder_columns.contains(name) {
                return Err(of_column("the model does not read this column".into()));
            }
            if !seen.insert(name) {
                return Err(of_column("it is listed twice".into()));
            }
            distribution.check().map_err(of_column)?;
            if distribution.rows() != self.rows {
                return Err(of_column(format!("it counts {} rows instead of {}", distribution.rows(), self.rows)));
            }
        }
        let Some(held_out) = &self.held_out else { return Ok(()) };
        held_out.predictions.check().map_err(|problem| format!("the distribution of the predictions: {problem}"))?;
        let HeldOut { score, base_rate, alarm_rate, .. } = held_out;
        let numbers = [score, base_rate, alarm_rate].into_iter().flat_map(|each| [each.value, each.low, each.high]);
        match numbers.flatten().all(f64::is_finite) {
            true => Ok(()),
            false => Err("a number of the reference is not finite".into()),
        }
    }
}
