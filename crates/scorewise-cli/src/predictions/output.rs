//! The columns of a table of predictions, which `scorewise predict` and `scorewise train --out-of-fold` write.

use scorewise_table::table::{Category, Column, Values};
use scorewise_table::target::Labels;
use scorewise_train::model::{Decision, Model};
use serde::Serialize;

use super::{DECISION, NEGATIVE, POSITIVE, PROBABILITY, PROBABILITY_OF, RAW, RAW_THRESHOLD, SCORE, THRESHOLD, TRUTH};

/// Predictions for some rows of a table.
#[derive(Default)]
pub struct PredictedRows {
    /// With two classes, the raw prediction of the positive class in each row, before the calibration; with more, the probabilities of all classes,
    /// row by row.
    pub predictions: Vec<f64>,
    /// The threshold on the scale of probabilities that the user set; `None` if the decisions are those of the model.
    pub threshold: Option<f64>,
    /// The predicted class of each row, as an index into the classes of the model.
    pub decisions: Vec<u32>,
    /// The true class of each row; `None` if the output has no column with the true classes.
    pub truth: Option<Vec<u32>>,
}

impl PredictedRows {
    /// The predictions as columns with fixed names, which `score`, `tune`, `compare` and `theory` recognise.
    pub fn columns(&self, model: &Model) -> Vec<Column> {
        let PredictedRows { predictions, threshold: user_threshold, decisions, truth } = self;
        let rows = decisions.len();
        let mut columns = Vec::new();
        let mut add = |name: &str, values: Values| columns.push(Column { name: name.into(), values });
        let constant = |text: &str| Values::Category(Category { codes: vec![0; rows], levels: vec![text.into()] });
        match model.probability_threshold() {
            Some(threshold) => {
                let number = |class: &u32| if *class == Labels::MISSING { f64::NAN } else { f64::from(*class) };
                let numbers = |classes: &[u32]| Values::Number(classes.iter().map(number).collect());
                add(PROBABILITY, Values::Number(model.calibrated(predictions).into_owned()));
                add(DECISION, numbers(decisions));
                truth.iter().for_each(|truth| add(TRUTH, numbers(truth)));
                add(THRESHOLD, Values::Number(vec![user_threshold.unwrap_or(threshold); rows]));
                add(SCORE, constant(&model.score));
                add(NEGATIVE, constant(&model.classes[0]));
                add(POSITIVE, constant(&model.classes[1]));
                if let (Some(_), Some(threshold)) = (&model.calibration, model.decision.threshold()) {
                    add(RAW, Values::Number(predictions.clone()));
                    // A threshold that the user set has no raw value, and the raw threshold of the model would divide the rows differently.
                    let threshold = if user_threshold.is_some() { f64::NAN } else { threshold };
                    add(RAW_THRESHOLD, Values::Number(vec![threshold; rows]));
                }
            }
            None => {
                let classes = model.classes.len();
                let names =
                    |codes: &[u32]| Values::Category(Category { codes: codes.to_vec(), levels: model.classes.clone() });
                for (at, class) in model.classes.iter().enumerate() {
                    let of_class = predictions.iter().skip(at).step_by(classes).copied();
                    add(&format!("{PROBABILITY_OF}{class}"), Values::Number(of_class.collect()));
                }
                add(DECISION, names(decisions));
                truth.iter().for_each(|truth| add(TRUTH, names(truth)));
                add(SCORE, constant(&model.score));
            }
        }
        columns
    }
}

/// The key-value metadata of a Parquet or Arrow file of predictions. The only key is `scorewise`; its value contains facts about the model as JSON.
pub fn file_metadata(model: &Model) -> Vec<(&'static str, String)> {
    let metadata = PredictionsMetadata {
        version: &model.version,
        target: model.target.to_string(),
        classes: &model.classes,
        score: &model.score,
        prior: model.prior.as_deref(),
        loss: &model.loss,
        decision: &model.decision,
        threshold: model.probability_threshold(),
        calibration: model.calibration.as_ref().map(|calibration| calibration.method().name()),
    };
    vec![("scorewise", serde_json::to_string(&metadata).unwrap_or_default())]
}

/// Facts about the model. They are written as JSON into the metadata of a Parquet or Arrow file of predictions.
#[derive(Serialize)]
struct PredictionsMetadata<'a> {
    version: &'a str,
    target: String,
    classes: &'a [String],
    score: &'a str,
    prior: Option<&'a str>,
    loss: &'a str,
    decision: &'a Decision,
    /// The threshold on the scale of probabilities. The threshold in `decision` is on the scale of raw predictions.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'static str>,
}
