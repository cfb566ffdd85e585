//! The trainer and its models.

use std::fmt::Display;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scorewise::multiclass::MultiConfusion;
use scorewise::sweep::confusion;
use scorewise::{Probabilities, Rows};
use scorewise_report::evaluation::training_curves;
use scorewise_table::encode::EncodingOptions;
use scorewise_table::table::{Category, Column, Reading, Values};
use scorewise_train::backend::Cpu;
use scorewise_train::fit::{Epoch, Fit};
use scorewise_train::model::{self, Predictor};
use scorewise_train::plan::{Plan, Recipe, TrainingOptions};
use scorewise_train::train::{self as trainer, LabelledPredictions, Trained};
use scorewise_train::{Error, Location};
use serde_json::{Value, json};

use crate::arrays::slice;
use crate::fault::{fault, with_parameters};
use crate::table::{Named, table};

/// Names that no column of a caller has: private signs around them.
const TARGET: &str = "\u{e000}y\u{e000}";
const WEIGHT: &str = "\u{e000}weight\u{e000}";

/// A trained classifier.
#[pyclass(frozen, name = "Model")]
pub struct PyModel(model::Model);

/// Trains on columns and the class of each row; with two classes the second is the positive one. The options are JSON (`TrainingOptions`);
/// what is left out has its default. Returns the model, and how it was trained as JSON.
#[pyfunction]
#[pyo3(signature = (columns, labels, classes, weights, options, threads))]
pub fn train(
    py: Python<'_>,
    columns: Vec<Named<'_>>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
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
    let options = TrainingOptions::from_json(options).map_err(fault)?;
    let mut plan = Plan::new(TARGET, "f1".parse().map_err(setting)?);
    options.apply(&mut plan, ("plain", Recipe::PLAIN)).map_err(setting)?;
    plan.test = 0.0;
    plan.weight = weights.is_some().then(|| WEIGHT.into());
    plan.positive = (classes.len() == 2).then(|| classes[1].clone());
    // What looks useless to a reader of files was chosen by whoever made an array.
    plan.choice = EncodingOptions { keep: names, ..EncodingOptions::default() };
    let trained = interruptible(py, |stop| {
        let watch = |_: usize, _: usize, _: &Epoch| match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        trainer::train(&table, None, &Reading::default(), &plan, &Cpu { threads: threads.clamp(1, 1024) }, &watch)
    })?;
    let trained = trained.map_err(setting)?;
    let facts = facts(&trained, &plan).map_err(setting)?.to_string();
    Ok((PyModel(trained.model), facts))
}

fn facts(trained: &Trained, plan: &Plan) -> scorewise_train::Result<Value> {
    let losses = |fit: &Fit, of: fn(&Epoch) -> f64| -> Vec<f64> { fit.history.iter().map(of).collect() };
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
        "notes": trained.notes.iter().map(by_argument).collect::<Vec<_>>(),
        "value": value(&trained.model, plan, &trained.validation)?,
    }))
}

/// The score of the validation rows by the model's own rule; nothing where it is undefined.
fn value(model: &model::Model, plan: &Plan, answers: &LabelledPredictions) -> scorewise_train::Result<Option<f64>> {
    if let Some(threshold) = model.decision.threshold() {
        let labels = answers.positives();
        let rows = Rows::new(Probabilities(&answers.probabilities), &labels)?;
        let found = match &answers.weights {
            Some(weights) => confusion(&rows.weighted(weights)?, threshold)?,
            None => confusion(&rows, threshold)?,
        };
        return Ok(plan.score.binary()?.checked(&found));
    }
    let predicted = Predictor::new(model).labels(&answers.probabilities);
    let classes = model.classes.len();
    let matrix = MultiConfusion::from_labels(classes, &answers.labels, &predicted, answers.weights.as_deref())?;
    Ok(plan.score.multiclass().checked(&matrix))
}

/// A fault as Python says it.
fn setting(error: Error) -> PyErr {
    fault(by_argument(error))
}

/// An error or a note, with the columns of the target and of the weights by the names of the arguments that they came as.
fn by_argument(text: impl Display) -> String {
    let sentence = with_parameters(text);
    [(TARGET, "y"), (WEIGHT, "sample_weight")].into_iter().fold(sentence, |sentence, (column, argument)| {
        sentence.replace(column, argument).replace(&column.escape_debug().to_string(), argument)
    })
}

/// Does long work beside the interpreter, which looks for Ctrl-C in the meantime; `work` sees when it is to end.
fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&AtomicBool) -> T + Send) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (send, mut receive) = channel();
        scope.spawn(move || send.send(work(stop)));
        loop {
            let found;
            (receive, found) = py.detach(move || {
                let found = receive.recv_timeout(Duration::from_millis(20));
                (receive, found)
            });
            match found {
                Ok(found) => return Ok(found),
                Err(RecvTimeoutError::Disconnected) => return Err(PyRuntimeError::new_err("the training panicked")),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(interrupt) = py.check_signals() {
                        stop.store(true, Ordering::Relaxed);
                        let _ = py.detach(move || receive.recv());
                        return Err(interrupt);
                    }
                }
            }
        }
    })
}

#[pymethods]
impl PyModel {
    /// From the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(PyModel(model::Model::from_bytes("model", bytes).map_err(fault)?))
    }

    /// The model file, as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(fault)?))
    }

    /// All but the weights, as JSON.
    fn description(&self) -> PyResult<String> {
        self.0.description_json().map_err(fault)
    }

    /// The training options behind the model, as JSON; those that a file of format 1 does not have are null.
    fn options(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.options().map_err(fault)?).map_err(fault)
    }

    /// The threshold of two classes.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.0.decision.threshold()
    }

    /// The classes, in the order of the labels.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes.clone()
    }

    /// The names of the columns that it needs.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.encoder.columns().iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Probabilities, row by row: of the second class where there are two, else of each.
    fn probabilities<'py>(&self, py: Python<'py>, columns: Vec<Named<'_>>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let table = table(&columns)?;
        let found = py.detach(|| -> scorewise_train::Result<_> {
            let encoded = self.0.encoder.encode(&table)?;
            let place = |row: usize| Location { row: Some(row as u64 + 1), ..Location::file("X") };
            Predictor::new(&self.0).probabilities(&encoded.matrix, place)
        });
        Ok(found.map_err(setting)?.into_pyarray(py))
    }

    /// Labels from probabilities, as places in the list of classes.
    fn labels<'py>(
        &self,
        py: Python<'py>,
        probabilities: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(Predictor::new(&self.0).labels(slice(&probabilities)?).into_pyarray(py))
    }
}

/// The names of all training options, for a test that the classifier has a parameter for each.
#[pyfunction]
pub fn training_options() -> PyResult<Vec<String>> {
    match serde_json::to_value(TrainingOptions::default()).map_err(fault)? {
        Value::Object(options) => Ok(options.keys().cloned().collect()),
        _ => Ok(Vec::new()),
    }
}
