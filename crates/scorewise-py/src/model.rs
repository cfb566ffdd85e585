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
use scorewise_table::encode::Choice;
use scorewise_table::table::{Category, Column, Reading, Values};
use scorewise_train::fit::{Epoch, Fit, Keep, Method, Settings};
use scorewise_train::model::{self, Predictor};
use scorewise_train::train::{self as trainer, Answers, Cut, LossName, Manner, Plan, Recipe, Trained};
use scorewise_train::{Error, Place};
use serde_json::{Value, json};

use crate::arrays::slice;
use crate::fault::{fault, with_parameters};
use crate::table::{Named, table};

/// Names that no column of a caller has: private signs around them.
const TARGET: &str = "\u{e000}y\u{e000}";
const WEIGHT: &str = "\u{e000}weight\u{e000}";

/// A trained classifier.
#[pyclass(frozen)]
pub struct Model(model::Model);

/// Trains on columns and the class of each row, of two classes the second being the positive one. The settings are JSON; what is left out has
/// its default. Returns the model, and how it came about as JSON.
#[pyfunction]
#[pyo3(signature = (columns, labels, classes, weights, settings))]
pub fn train(
    py: Python<'_>,
    columns: Vec<Named<'_>>,
    labels: PyReadonlyArray1<'_, u32>,
    classes: Vec<String>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    settings: &str,
) -> PyResult<(Model, String)> {
    let mut table = table(&columns)?;
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let labels = Values::Category(Category { codes: slice(&labels)?.to_vec(), levels: classes.clone() });
    table.columns.push(Column { name: TARGET.into(), values: labels });
    if let Some(weights) = &weights {
        let values = Values::Number(slice(weights)?.to_vec());
        table.columns.push(Column { name: WEIGHT.into(), values });
    }
    let settings: Value = serde_json::from_str(settings).map_err(fault)?;
    let mut plan = plan(&settings).map_err(setting)?;
    plan.weight = weights.is_some().then(|| WEIGHT.into());
    plan.positive = (classes.len() == 2).then(|| classes[1].clone());
    // What looks useless to a reader of files was chosen by whoever made an array.
    plan.choice = Choice { keep: names, ..Choice::default() };
    let trained = interruptible(py, |stop| {
        let watch = |_: usize, _: usize, _: &Epoch| match stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        trainer::train(&table, None, &Reading::default(), &plan, watch)
    })?;
    let trained = trained.map_err(setting)?;
    let facts = facts(&trained, &plan).map_err(setting)?.to_string();
    Ok((Model(trained.model), facts))
}

fn facts(trained: &Trained, plan: &Plan) -> scorewise_train::Result<Value> {
    let losses = |fit: &Fit, of: fn(&Epoch) -> f64| -> Vec<f64> { fit.history.iter().map(of).collect() };
    let member = |fit: &Fit| {
        json!({
            "epochs": fit.warm_up.len() + fit.history.len(),
            "warm_up": fit.warm_up.len(),
            "success": fit.success,
            "restarts": fit.restarts,
            "training": losses(fit, |epoch| epoch.training),
            "validation": losses(fit, |epoch| epoch.validation),
        })
    };
    let binary = (trained.model.classes.len() == 2).then(|| plan.binary_score()).transpose()?;
    Ok(json!({
        "report": training_curves(&trained.fits, plan, binary.as_ref()),
        "members": trained.fits.iter().map(member).collect::<Vec<_>>(),
        "notes": trained.notes.iter().map(by_argument).collect::<Vec<_>>(),
        "value": value(&trained.model, plan, &trained.validation)?,
    }))
}

/// The score of the validation rows by the model's own rule; nothing where it is undefined.
fn value(model: &model::Model, plan: &Plan, answers: &Answers) -> scorewise_train::Result<Option<f64>> {
    if let Some(threshold) = model.decision.threshold() {
        let labels = answers.positives();
        let rows = Rows::new(Probabilities(&answers.probabilities), &labels)?;
        let found = match &answers.weights {
            Some(weights) => confusion(&rows.weighted(weights)?, threshold)?,
            None => confusion(&rows, threshold)?,
        };
        return Ok(plan.binary_score()?.checked(&found));
    }
    let predicted = Predictor::new(model).labels(&answers.probabilities);
    let classes = model.classes.len();
    let matrix = MultiConfusion::from_labels(classes, &answers.labels, &predicted, answers.weights.as_deref())?;
    Ok(plan.multi_score()?.checked(&matrix))
}

/// The plan that settings describe; a recipe gives what they leave out.
fn plan(settings: &Value) -> scorewise_train::Result<Plan> {
    let text = |name: &str| settings[name].as_str();
    let number = |name: &str| settings[name].as_f64();
    let whole = |name: &str| settings[name].as_u64().map(|value| value as usize);
    let refuse = |what: &str, problem: String, hint: &str| Err(Error::setting(what, problem, hint));
    let recipe = match text("recipe") {
        None | Some("plain") => Recipe::PLAIN,
        Some("strong") => Recipe::STRONG,
        Some(other) => return refuse("recipe", format!("there is no `{other}`"), "plain or strong"),
    };
    let mut plan = Plan::new(TARGET, text("score").unwrap_or("f1"));
    plan.loss = match text("loss") {
        None | Some("sol") => LossName::Sol,
        Some("exact") => LossName::Exact,
        Some("ce") => LossName::CrossEntropy,
        Some("weighted-ce") => LossName::WeightedCrossEntropy,
        Some(other) => return refuse("loss", format!("there is no `{other}`"), "sol, exact, ce or weighted-ce"),
    };
    plan.manner = match text("multiclass") {
        None | Some("simplex") => Manner::Simplex,
        Some("one-versus-rest") => Manner::OneVersusRest,
        Some(other) => return refuse("multiclass", format!("there is no `{other}`"), "simplex or one-versus-rest"),
    };
    let recipe = recipe.warm_start(settings["warm_start"].as_bool(), plan.has_prior());
    plan.prior = text("prior").unwrap_or(recipe.prior).into();
    plan.cut = match &settings["threshold"] {
        Value::Null => recipe.cut,
        Value::String(word) if word == "tuned" => Cut::Tuned,
        Value::String(word) if word == "centre" => Cut::Centre,
        other => match other.as_f64() {
            Some(threshold) if (0.0..=1.0).contains(&threshold) => Cut::Given(threshold),
            _ => return refuse("threshold", format!("{other} is none"), "`tuned`, `centre`, or a number from 0 to 1"),
        },
    };
    plan.test = 0.0;
    plan.validation = number("validation").unwrap_or(plan.validation);
    plan.ensemble = whole("ensemble").unwrap_or(recipe.members);
    plan.own_validation = recipe.own_validation && plan.ensemble > 1;
    plan.seed = settings["seed"].as_u64().unwrap_or(0);
    plan.threads = whole("threads").unwrap_or(1).clamp(1, 1024);
    if let Some(widths) = settings["hidden"].as_array() {
        plan.hidden = widths.iter().map(|width| width.as_u64().unwrap_or(0) as usize).collect();
    }
    let batch = match &settings["batch"] {
        Value::Null => recipe.batch,
        Value::String(word) if word == "full" => None,
        other => Some(other.as_u64().unwrap_or(0) as usize),
    };
    plan.settings = Settings {
        method: Method::Adam,
        batch,
        learning_rate: number("learning_rate").map_or(plan.settings.learning_rate, |rate| rate as f32),
        weight_decay: number("weight_decay").map_or(recipe.weight_decay, |decay| decay as f32),
        epochs: whole("epochs").unwrap_or(plan.settings.epochs),
        patience: whole("patience").unwrap_or(plan.settings.patience),
        keep: if text("keep") == Some("last") { Keep::Last } else { Keep::Best },
        cure: settings["cure"].as_bool().unwrap_or(true),
        warm_start: recipe.warm_start,
        ..plan.settings
    };
    Ok(plan)
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
impl Model {
    /// From the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Model(model::Model::from_bytes("model", bytes).map_err(fault)?))
    }

    /// The model file, as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(fault)?))
    }

    /// All but the weights, as JSON.
    fn description(&self) -> PyResult<String> {
        self.0.description_json().map_err(fault)
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
            let place = |row: usize| Place { row: Some(row as u64 + 1), ..Place::file("X") };
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
