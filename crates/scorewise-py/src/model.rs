//! Training of models, and the Python class of trained models.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scorewise::multiclass::MultiConfusion;
use scorewise::sweep::confusion;
use scorewise::{Probabilities, Rows};
use scorewise_report::document::{CommandResult, Document, Provenance};
use scorewise_report::evaluation::{
    ExplainOptions, ExplainedRows, MonitorOptions, Truth, evaluation_bootstrap, explain, held_out, monitor,
    training_curves,
};
use scorewise_table::dependence::Resample;
use scorewise_table::encode::EncodingOptions;
use scorewise_table::periods::Every;
use scorewise_table::split::Split;
use scorewise_table::table::{Category, Column, Reading, Values};
use scorewise_train::backend::{self, Watch};
use scorewise_train::fit::{Epoch, Fit};
use scorewise_train::model::{Decision, Model, Predictor};
use scorewise_train::plan::{Plan, Recipe, TrainingOptions, TrainingScore};
use scorewise_train::train::{self as trainer, LabelledPredictions, Trained};
use scorewise_train::{Error, Location};
use serde_json::{Value, json};

use crate::arrays::slice;
use crate::errors::{value_error, with_parameter_names};
use crate::interrupt::interruptible;
use crate::table::{NamedColumn, table};

/// The name of the column with the labels, which is added to the caller's columns. It contains private-use characters of Unicode, so that no column
/// of the caller has the same name.
const TARGET: &str = "\u{e000}y\u{e000}";
/// The name of the column with the sample weights, which is added to the caller's columns. Like [`TARGET`], it contains private-use characters of
/// Unicode.
const WEIGHT: &str = "\u{e000}weight\u{e000}";

/// The name of the column that tells several time series apart, which is added to the caller's columns. Like [`TARGET`], it contains private-use
/// characters of Unicode.
const SERIES: &str = "\u{e000}series\u{e000}";

/// A trained classifier.
#[pyclass(frozen, name = "Model")]
pub struct PyModel(Model);

/// Trains a model. `labels` holds the class of each row as an index into `classes`; with two classes, the second is the positive one. `options`
/// is JSON with the fields of `TrainingOptions`; an absent field has its default value. If errors are weighted by their timing, the rows are split by
/// the first column of dates or, if there is none, by their order. `series` then holds one integer for each row, which identifies the time series of
/// the row. Returns the model and a summary of the training run as JSON.
#[pyfunction]
#[pyo3(signature = (columns, labels, classes, weights, series, options, threads))]
#[allow(clippy::too_many_arguments)] // each is a fact of its own about the training run
pub fn train(
    py: Python<'_>,
    columns: Vec<NamedColumn<'_>>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    series: Option<PyReadonlyArray1<'_, u32>>,
    options: &str,
    threads: usize,
) -> PyResult<(PyModel, String)> {
    let mut table = table(&columns)?;
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let labels = Values::Category(Category { codes: slice(&labels)?.to_vec(), levels: classes.clone() });
    table.columns.push(Column { name: TARGET.into(), values: labels });
    if let Some(weights) = &weights {
        let values = Values::Number(slice(weights)?.to_vec());
        table.columns.push(Column { name: WEIGHT.into(), values });
    }
    if let Some(series) = &series {
        let values = Values::Number(slice(series)?.iter().copied().map(f64::from).collect());
        table.columns.push(Column { name: SERIES.into(), values });
    }
    let options = TrainingOptions::from_json(options).map_err(value_error)?;
    let mut plan = Plan::new(TARGET, "f1".parse().map_err(to_py_error)?);
    options.apply(&mut plan, ("default", Recipe::DEFAULT)).map_err(to_py_error)?;
    plan.test = 0.0;
    plan.weight = weights.is_some().then(|| WEIGHT.into());
    plan.positive = (classes.len() == 2).then(|| classes[1].clone());
    let group = series.is_some().then(|| SERIES.into());
    // The caller has chosen the columns, so all are used, even those that seem to contain no information.
    plan.choice = EncodingOptions { keep: names, group, ..EncodingOptions::default() };
    if plan.temporal.is_some() {
        plan.split = Split::Time(None);
    }
    let trained = interruptible(py, |stop| {
        let backend = backend::open(backend::Device::Cpu, threads.clamp(1, 1024))?;
        trainer::train(&table, None, &Reading::default(), &plan, &*backend, &StopFlag(stop))
    })?;
    let mut trained = trained.map_err(to_py_error)?;
    let held_out = py.detach(|| held_out(&trained, &plan, &evaluation_bootstrap(&plan, 1000))).map_err(to_py_error)?;
    if let Some(reference) = &mut trained.model.reference {
        reference.held_out = held_out;
    }
    let summary = training_summary(&trained, &plan).map_err(to_py_error)?.to_string();
    Ok((PyModel(trained.model), summary))
}

/// Stops a training run when the flag becomes true.
struct StopFlag<'a>(&'a AtomicBool);

impl Watch for StopFlag<'_> {
    /// Stops the training run after an epoch if the flag is true.
    fn epoch(&self, _: usize, _: usize, _: &Epoch) -> ControlFlow<()> {
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether the flag is true.
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A summary of a training run as JSON: the loss curves for a report, the epochs and losses of each member, the notes, and the score on the
/// validation rows.
fn training_summary(trained: &Trained, plan: &Plan) -> scorewise_train::Result<Value> {
    let losses = |fit: &Fit, loss: fn(&Epoch) -> f64| -> Vec<f64> { fit.history.iter().map(loss).collect() };
    let member = |fit: &Fit| {
        json!({
            "epochs": fit.epochs(),
            "warm_up": fit.warm_up.len(),
            "success": fit.success,
            "restarts": fit.restarts,
            "training": losses(fit, |epoch| epoch.training),
            "validation": losses(fit, |epoch| epoch.validation),
        })
    };
    let binary = (trained.model.classes.len() == 2).then(|| plan.score.binary()).transpose()?;
    Ok(json!({
        "report": training_curves(&trained.fits, plan, binary.as_ref()),
        "members": trained.fits.iter().map(member).collect::<Vec<_>>(),
        "notes": trained.notes.iter().map(with_argument_names).collect::<Vec<_>>(),
        "value": match (&plan.temporal, &trained.model.decision) {
            // If errors are weighted by their timing, `value` is the score of the weighted counts.
            (Some(_), Decision::Threshold { value, .. }) => *value,
            _ => held_out_score(
                &trained.model.decision,
                trained.model.classes.len(),
                &plan.score,
                &trained.validation,
            )?,
        },
    }))
}

/// The score of a decision rule, computed from predictions for rows that were not used in training; `None` if the score is undefined.
pub fn held_out_score(
    decision: &Decision,
    classes: usize,
    score: &TrainingScore,
    predictions: &LabelledPredictions,
) -> scorewise_train::Result<Option<f64>> {
    if let Some(threshold) = decision.threshold() {
        let labels = predictions.positives();
        let rows = Rows::new(Probabilities(&predictions.probabilities), &labels)?;
        let confusion_matrix = match &predictions.weights {
            Some(weights) => confusion(&rows.weighted(weights)?, threshold)?,
            None => confusion(&rows, threshold)?,
        };
        return Ok(score.binary()?.checked(&confusion_matrix));
    }
    let predicted: Vec<u32> = predictions.probabilities.chunks_exact(classes).map(|p| decision.label(p)).collect();
    let matrix = MultiConfusion::from_labels(classes, &predictions.labels, &predicted, predictions.weights.as_deref())?;
    Ok(score.multiclass().checked(&matrix))
}

/// Converts an error to a `ValueError` whose message calls each setting by the name of its Python parameter.
fn to_py_error(error: Error) -> PyErr {
    value_error(with_argument_names(error))
}

/// The text of an error or a note. The names [`TARGET`] and [`WEIGHT`] are replaced by `y` and `sample_weight`, the arguments of the Python function.
fn with_argument_names(text: impl Display) -> String {
    let message = with_parameter_names(text);
    [(TARGET, "y"), (WEIGHT, "sample_weight")].into_iter().fold(message, |message, (column, argument)| {
        message.replace(column, argument).replace(&column.escape_debug().to_string(), argument)
    })
}

#[pymethods]
impl PyModel {
    /// Reads a model from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(PyModel(Model::from_bytes("model", bytes).map_err(value_error)?))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(value_error)?))
    }

    /// The content of the model file except the weights of the networks, as JSON.
    fn description(&self) -> PyResult<String> {
        self.0.description_json().map_err(value_error)
    }

    /// The options with which the model was trained, as JSON. Model files of format 1 do not store all options; those that are missing are null.
    fn options(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.options().map_err(value_error)?).map_err(value_error)
    }

    /// The decision threshold of a model with two classes, on the scale of probabilities; `None` if the model has more classes.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.0.probability_threshold()
    }

    /// The decision threshold of a model with two classes, on the scale of raw predictions; `None` if the model has more classes.
    #[getter]
    fn raw_threshold(&self) -> Option<f64> {
        self.0.decision.threshold()
    }

    /// The method by which the predictions are calibrated, `beta` or `isotonic`; `None` if they are not calibrated.
    #[getter]
    fn calibration(&self) -> Option<&'static str> {
        self.0.calibration.as_ref().map(|calibration| calibration.method().name())
    }

    /// The names of the classes. Predicted labels are indices into this list.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes.clone()
    }

    /// The names of the input columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.encoder.columns().iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Predicted probabilities, row by row. With two classes there is one number for each row, the probability of the second class; with more
    /// classes there is one number for each class. If `raw` is true, the predictions are returned as they are before the calibration.
    #[pyo3(signature = (columns, raw))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<NamedColumn<'_>>,
        raw: bool,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let table = table(&columns)?;
        let probabilities = py.detach(|| -> scorewise_train::Result<_> {
            let encoded = self.0.encoder.encode(&table)?;
            let place = |row: usize| Location { row: Some(row as u64 + 1), ..Location::file("X") };
            let predictions = Predictor::new(&self.0).probabilities(&encoded.matrix, place)?;
            Ok(if raw { predictions } else { self.0.calibrated(&predictions).into_owned() })
        });
        Ok(probabilities.map_err(to_py_error)?.into_pyarray(py))
    }

    /// The importance of each column for the score of the model, and the partial dependence on the most important columns, as JSON. `labels` are
    /// indices into the list of classes.
    #[pyo3(signature = (columns, labels, weights, permutations, rows, seed))]
    #[allow(clippy::too_many_arguments)] // the options of `ScoreClassifier.explain`
    fn explain(
        &self,
        py: Python<'_>,
        columns: Vec<NamedColumn<'_>>,
        labels: PyReadonlyArray1<'_, u32>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        permutations: usize,
        rows: usize,
        seed: u64,
    ) -> PyResult<String> {
        let table = table(&columns)?;
        let labels = slice(&labels)?.to_vec();
        let weights = weights.as_ref().map(|weights| slice(weights).map(<[f64]>::to_vec)).transpose()?;
        let lengths_match = weights.as_ref().is_none_or(|weights| weights.len() == labels.len());
        let are_classes = labels.iter().all(|label| (*label as usize) < self.0.classes.len());
        if labels.len() != table.rows() || !lengths_match || !are_classes {
            return Err(value_error(
                "X, y and sample_weight must have the same number of rows, and every label in y must be a class of the model",
            ));
        }
        let options = ExplainOptions { permutations, rows, seed, ..ExplainOptions::default() };
        let explanation = interruptible(py, |stop| -> scorewise_train::Result<_> {
            let (rows, _) = ExplainedRows::with_labels(&self.0, &table, labels, weights)?;
            explain(&self.0, &rows, &options, &|_, _| match stop.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            })
        })?;
        let explanation = explanation.map_err(to_py_error)?;
        serde_json::to_string(&explanation).map_err(value_error)
    }

    /// Judges the model on new rows. Returns the data of a report as JSON, whose `result` has the keys of `scorewise monitor --json`. `labels` are
    /// indices into the list of classes, or `None` if the true classes are not known. `resample` says which rows depend on each
    /// other: `rows`, `blocks`, `blocks:48` or `group:COLUMN`; `None` assumes the same dependence as for the training rows.
    #[pyo3(signature = (columns, labels, weights, time, every, resample, at_least, replicates, seed))]
    #[allow(clippy::too_many_arguments)] // the options of `ScoreClassifier.monitor`
    fn monitor(
        &self,
        py: Python<'_>,
        columns: Vec<NamedColumn<'_>>,
        labels: Option<PyReadonlyArray1<'_, u32>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        time: Option<&str>,
        every: Option<&str>,
        resample: Option<&str>,
        at_least: Option<f64>,
        replicates: usize,
        seed: u64,
    ) -> PyResult<String> {
        let table = table(&columns)?;
        let weights = weights.as_ref().map(|weights| slice(weights).map(<[f64]>::to_vec)).transpose()?;
        let truth = match labels.as_ref().map(|labels| slice(labels).map(<[u32]>::to_vec)).transpose()? {
            Some(labels) => {
                let lengths_match = weights.as_ref().is_none_or(|weights| weights.len() == labels.len());
                let are_classes = labels.iter().all(|label| (*label as usize) < self.0.classes.len());
                if labels.len() != table.rows() || !lengths_match || !are_classes {
                    return Err(value_error(
                        "X, y and sample_weight must have the same number of rows, and every label in y must be a class of the model",
                    ));
                }
                Truth::Given(labels, weights)
            }
            None => Truth::Unknown,
        };
        let every = every.map(str::parse::<Every>).transpose().map_err(to_py_error)?;
        let resample = resample.map(str::parse::<Resample>).transpose().map_err(to_py_error)?;
        let options =
            MonitorOptions { model: "the model", time, every, resample: resample.as_ref(), at_least, replicates, seed };
        let (summary, notes) = py.detach(|| monitor(&self.0, &table, truth, &options)).map_err(to_py_error)?;
        let notes = notes.iter().map(with_argument_names).collect();
        let result: CommandResult = summary.into();
        let provenance = Provenance { seed: Some(seed), ..Provenance::default() };
        Ok(Document { notes, ..Document::new(provenance, result) }.write())
    }

    /// The predicted class of each row, as an index into the list of classes. `probabilities` is what the method `probabilities`
    /// returns if `raw` is true.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        probabilities: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(Predictor::new(&self.0).labels(slice(&probabilities)?).into_pyarray(py))
    }
}

/// The names of all training options. A test checks that the Python class `ScoreClassifier` has a parameter for each of them.
#[pyfunction]
pub fn training_options() -> PyResult<Vec<String>> {
    match serde_json::to_value(TrainingOptions::default()).map_err(value_error)? {
        Value::Object(options) => Ok(options.keys().cloned().collect()),
        _ => Ok(Vec::new()),
    }
}
