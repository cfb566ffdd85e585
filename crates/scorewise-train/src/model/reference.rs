//! What a model file stores about the rows of its training run, so that `scorewise monitor` can compare later rows with them: the distribution of
//! each input column in the training and validation rows, and the score on held-out rows.

use std::collections::HashSet;

use scorewise_table::dependence::Resample;
use scorewise_table::distribution::{ColumnDistribution, NumberCounts};
use serde::{Deserialize, Serialize};

/// The distributions and the score of a training run. `scorewise monitor` compares later rows with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Number of training and validation rows. The distributions in `columns` are those of these rows.
    pub rows: u64,
    /// The distribution of each column that the encoder reads.
    pub columns: Vec<ColumnDistribution>,
    /// The score and the predictions on held-out rows; `None` with more than two classes.
    #[serde(default)]
    pub held_out: Option<HeldOut>,
}

/// The score and the predictions on held-out rows. Each held-out row is predicted by members that were not trained on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOut {
    /// Which rows were held out.
    pub part: HeldOutPart,
    /// Number of held-out rows.
    pub rows: u64,
    /// The score that the model was trained for, at the threshold of the model. If `corrected` is set, it is an estimate of the score that this
    /// threshold has on new rows.
    pub score: StoredEstimate,
    /// Whether `score` was estimated by cross-fitting, because the threshold was chosen on these rows.
    pub corrected: bool,
    /// The share of rows that are positive.
    pub base_rate: StoredEstimate,
    /// The share of rows that are predicted positive.
    pub alarm_rate: StoredEstimate,
    /// The distribution of the predicted probabilities.
    pub predictions: NumberCounts,
    /// What the user chose to resample for the intervals; `None` if the user chose nothing, so that the split decided.
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

/// A number with its 95 % interval. Each field is `None` if it is undefined.
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
    /// Checks that the distributions are valid, belong to different columns of the encoder and count the right number of rows, and that all numbers
    /// are finite. The error describes the first inconsistency.
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
            false => Err("the score, the base rate or the alarm rate of the held-out rows is not finite".into()),
        }
    }
}
