//! A pool of classifiers of any library: the folds on which the classifiers are trained, and the combination of their logits.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use scorewise_table::split::{Split, rarest_class};
use scorewise_table::target::Labels;
use scorewise_train::Error;
use scorewise_train::model::Decision;
use scorewise_train::plan::{LossName, Plan, ThresholdRule, TrainingScore};
use scorewise_train::train::{Combination, LabelledPredictions, combine, decide};
use serde_json::json;

use crate::arrays::slice;
use crate::errors::value_error;
use crate::interrupt::interruptible;
use crate::model::held_out_score;
use crate::table::{NamedColumn, table};

/// The least probability that is converted to a logit; the greatest is 1 minus this number. Probabilities outside this range are replaced by its
/// ends, because some classifiers, such as random forests, predict probabilities of exactly 0 and 1, whose logits are infinite.
const LEAST_PROBABILITY: f64 = 1e-6;

/// The training rows and the held-out rows of a fold, as two arrays of row indices.
type FoldRows<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Divides rows into folds as `scorewise train` does. Without columns, rows are distributed at random, with the same share of each class in all
/// folds. With a column `groups`, all rows of a group are in the same fold. With a column `time`, the folds are blocks of consecutive times. Returns
/// the training rows and the held-out rows of each fold of each repeat. If `may_reduce` is true and a class has too few rows for this number of
/// folds, fewer folds are used.
#[pyfunction]
#[pyo3(signature = (labels, classes, columns, folds, repeats, may_reduce, seed))]
#[allow(clippy::too_many_arguments)] // the parameters of `ScorePool` that concern folds
pub fn cross_fit<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    columns: Vec<NamedColumn<'_>>,
    folds: usize,
    repeats: usize,
    may_reduce: bool,
    seed: u64,
) -> PyResult<Vec<FoldRows<'py>>> {
    let table = table(&columns)?;
    let split = match columns.first().map(|(name, _)| name.as_str()) {
        None => Split::Random,
        Some("time") => Split::Time(Some("time".into())),
        Some(name) => Split::Group(name.into()),
    };
    let labels = Labels { classes: slice(&labels)?.to_vec(), names: classes, ahead: None };
    if labels.classes.iter().any(|class| *class as usize >= labels.names.len()) {
        return Err(value_error("a label is not the index of a class"));
    }
    if table.columns.first().is_some_and(|column| column.values.len() != labels.classes.len()) {
        return Err(value_error("groups and time must have the same number of rows as y"));
    }
    let rows = labels.rows();
    let mut used = folds;
    let splits = loop {
        match split.cross_fit(&table, &labels, &rows, (used, repeats), seed) {
            Ok(splits) => break splits,
            Err(_) if may_reduce && used > 2 => used -= 1,
            Err(_) if may_reduce && rarest_class(&labels, &rows).1 < 2 => {
                let (class, count) = rarest_class(&labels, &rows);
                let name = &labels.names[class];
                return Err(value_error(format!(
                    "y: the class {name} has {count} rows, but cross-fitting needs at least 2 rows of each class"
                )));
            }
            Err(error) => return Err(value_error(with_parameter(error))),
        }
    };
    let numbers = |rows: Vec<u32>| rows.into_iter().map(i64::from).collect::<Vec<_>>().into_pyarray(py);
    Ok(splits.into_iter().map(|split| (numbers(split.training), numbers(split.validation))).collect())
}

/// Changes an error about the setting `cross-fit` so that it names `cv`, the parameter of the Python class `ScorePool`.
fn with_parameter(error: Error) -> Error {
    match error {
        Error::Setting { setting, problem, hint } if setting == "cross-fit" => {
            Error::setting("cv", problem, hint.replace(", or 0 for one validation set", ""))
        }
        other => other,
    }
}

/// Converts predicted probabilities to logits. If there is one probability for each row, its logit is the log-odds. If there is one for each
/// class, the logits are the logarithms, whose softmax gives the probabilities again. Probabilities below 1e-6 or above 1 − 1e-6 are replaced
/// by these limits first.
#[pyfunction]
pub fn pool_logits<'py>(
    py: Python<'py>,
    probabilities: PyReadonlyArray1<'_, f64>,
    outputs: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let probabilities = slice(&probabilities)?;
    if let Some(wrong) = probabilities.iter().find(|p| !(-1e-6..=1.0 + 1e-6).contains(*p)) {
        return Err(value_error(format!("{wrong} is not a probability")));
    }
    let limited = |p: &f64| p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
    let logits: Vec<f64> = match outputs {
        1 => probabilities.iter().map(limited).map(|p| p.ln() - (-p).ln_1p()).collect(),
        _ => probabilities.iter().map(limited).map(f64::ln).collect(),
    };
    Ok(logits.into_pyarray(py))
}

/// Chooses how the classifiers of a pool are combined, on predictions for rows that the classifiers were not trained on.
///
/// `candidates` holds the predictions of each classifier, row by row: one number for each row if there are two classes, otherwise one number for each
/// row and class. `has_scale` says for each classifier whether its predictions are logits. If not, they are values of a `decision_function`, whose
/// scale is not known.
///
/// Returns a JSON object, and the combined probabilities in the same form as the predictions of one classifier. The keys of the JSON object are:
///
/// - `calibrations`: for each classifier, the scale and the shift that calibrate its predictions.
/// - `weights`: for each classifier, its weight in the mean of the calibrated predictions.
/// - `threshold`: the decision threshold; null with more than two classes.
/// - `factors`: one factor for each class; the class with the greatest product of factor and probability is predicted. Null if no factors are used.
/// - `costs`: the cost matrix; the class with the lowest expected cost is predicted. Null if no costs are used.
/// - `value`: the score of the resulting decisions; null if it is undefined.
#[pyfunction]
#[pyo3(signature = (candidates, has_scale, labels, classes, weights, score, seed))]
#[allow(clippy::too_many_arguments)] // the fitted classifiers, and the parameters of `ScorePool`
pub fn pool<'py>(
    py: Python<'py>,
    candidates: Vec<PyReadonlyArray1<'_, f64>>,
    has_scale: Vec<bool>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: usize,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    score: &str,
    seed: u64,
) -> PyResult<(String, Bound<'py, PyArray1<f64>>)> {
    let score: TrainingScore = score.parse().map_err(value_error)?;
    let mut plan = Plan::new("y", score);
    // The classifiers were trained without a prior of the threshold. So the threshold is tuned, and logits are not shifted towards a prior.
    (plan.loss, plan.threshold, plan.cross_fit, plan.seed) = (LossName::CrossEntropy, ThresholdRule::Auto, 2, seed);
    if has_scale.len() != candidates.len() {
        return Err(value_error("has_scale must have one entry for each candidate"));
    }
    let mut rows = LabelledPredictions {
        labels: slice(&labels)?.to_vec(),
        weights: weights.as_ref().map(|weights| slice(weights).map(<[f64]>::to_vec)).transpose()?,
        ..LabelledPredictions::default()
    };
    let mut logits = candidates.iter().map(|one| Ok(slice(one)?.to_vec())).collect::<PyResult<Vec<Vec<f64>>>>()?;
    let outputs = if classes == 2 { 1 } else { classes.max(1) };
    let unit = |(logits, has_scale): (&Vec<f64>, &bool)| match has_scale {
        true => 1.0,
        false => deviation(logits, rows.weights.as_deref(), outputs),
    };
    let units: Vec<f64> = logits.iter().zip(&has_scale).map(unit).collect();
    logits.iter_mut().zip(&units).for_each(|(logits, unit)| logits.iter_mut().for_each(|logit| *logit /= unit));
    let found = interruptible(py, |stop| -> scorewise_train::Result<_> {
        let proceed = || match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let mut combination = combine(&rows, classes, &mut logits, (&plan.score, None), None, &proceed)?;
        rows.probabilities = std::mem::take(&mut combination.probabilities);
        let decision = decide(&plan, &rows, classes)?.decision;
        let value = held_out_score(&decision, classes, &plan.score, &rows)?;
        Ok((combination, decision, value, rows.probabilities))
    })?;
    let (Combination { calibrations, weights, .. }, decision, value, probabilities) = found.map_err(value_error)?;
    let calibrations: Vec<(f64, f64)> =
        calibrations.iter().zip(&units).map(|((scale, shift), unit)| (scale / unit, *shift)).collect();
    let factors = match &decision {
        Decision::Factors { factors, .. } => Some(factors),
        _ => None,
    };
    let costs = match &decision {
        Decision::Costs { costs } => Some(costs),
        _ => None,
    };
    let summary = json!({
        "calibrations": calibrations,
        "weights": weights,
        "threshold": decision.threshold(),
        "factors": factors,
        "costs": costs,
        "value": value,
    });
    Ok((summary.to_string(), probabilities.into_pyarray(py)))
}

/// The probabilities that a pool of classifiers predicts. Each classifier has one model for each fold; `candidates` holds, for each classifier, the
/// mean of the predictions of its models. `calibrations` and `weights` are those that the function `pool` returned.
#[pyfunction]
#[pyo3(signature = (candidates, calibrations, weights, outputs))]
pub fn pool_probabilities<'py>(
    py: Python<'py>,
    candidates: Vec<PyReadonlyArray1<'_, f64>>,
    calibrations: Vec<(f64, f64)>,
    weights: Vec<f64>,
    outputs: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let logits = candidates.iter().map(slice).collect::<PyResult<Vec<&[f64]>>>()?;
    let is_equal = logits.windows(2).all(|pair| pair[0].len() == pair[1].len());
    if logits.len() != weights.len() || weights.len() != calibrations.len() || !is_equal {
        return Err(value_error(
            "candidates, calibrations and weights must have the same length, and all candidates the same number of rows",
        ));
    }
    Ok(py.detach(|| Combination::apply(&calibrations, &weights, &logits, outputs)).into_pyarray(py))
}

/// The standard deviation of predicted numbers. There are `outputs` numbers for each row, and all have the weight of the row. Returns 1 if all
/// numbers are equal or if the deviation is not finite.
fn deviation(numbers: &[f64], weights: Option<&[f64]>, outputs: usize) -> f64 {
    let weight = |index: usize| weights.and_then(|weights| weights.get(index / outputs)).map_or(1.0, |weight| *weight);
    let weighted_mean = |value: &dyn Fn(f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (index, number) in numbers.iter().enumerate() {
            sum += weight(index) * value(*number);
            total += weight(index);
        }
        sum / total
    };
    let mean = weighted_mean(&|number| number);
    let deviation = weighted_mean(&|number| (number - mean).powi(2)).sqrt();
    if deviation > 0.0 && deviation.is_finite() { deviation } else { 1.0 }
}
