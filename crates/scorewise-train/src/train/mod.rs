//! TRAIN: the whole way from a table to a model that carries its threshold.
//!
//! ```text
//! target → labels → parts → encoder of the training rows → matrix → networks → threshold of the validation rows → model
//! ```
//!
//! Nothing that is learnt, the encoder and the threshold included, has seen a test row.

mod plan;
mod recipe;
mod folds;
mod leakage;

pub use folds::{Fold, cross_validate};
pub use plan::{Cut, LossName, Manner, Plan, multi_score};
pub use recipe::Recipe;

use std::ops::ControlFlow;

use scorewise::multiclass::MultiScore;
use scorewise::sweep::sweep;
use scorewise::{Probabilities, Rows, Score};

use crate::ensemble::{Ensemble, check_members, ensemble};
use crate::fit::{Epoch, Fit, Sample};
use crate::model::{Chosen, Decision, Fingerprint, Model, VERSION};
use crate::net::Shape;
use scorewise_table::Note;
use scorewise_table::encode::Encoder;
use scorewise_table::error::{Error, Result};
use scorewise_table::groups::{Neighbours, RowOrder};
use scorewise_table::setting::visible;
use scorewise_table::split::{Parts, Shares};
use scorewise_table::table::{Reading, Table, Values};
use scorewise_table::target::{Labels, Rule, Target};

/// What a training leaves.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The model; `results` are left to the caller.
    pub model: Model,
    /// How each member came about.
    pub fits: Vec<Fit>,
    /// What the model says of the rows that it learnt from.
    pub training: Answers,
    /// Of the rows that it was stopped and its threshold chosen by.
    pub validation: Answers,
    /// Of the rows that it never saw.
    pub test: Option<Answers>,
    /// What a user should know.
    pub notes: Vec<Note>,
}

/// What a model says of some rows, and what is true of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// The class of each row; of two classes 1 is the positive one.
    pub labels: Vec<u32>,
    /// One of the positive class for each row, or one for each class.
    pub probabilities: Vec<f64>,
    /// One a row, where there are any.
    pub weights: Option<Vec<f64>>,
    /// With a lead and two classes, whether the row's own value is positive: what persistence forecasts.
    pub persistence: Option<Vec<bool>>,
}

/// Units of a hidden layer at the most.
const WIDEST_LAYER: usize = 65_536;
/// Hidden layers at the most.
const MOST_LAYERS: usize = 64;

/// A table whose rows have labels.
struct Labelled<'a> {
    table: &'a Table,
    target: Target,
    labels: Labels,
    /// How rows follow each other, which lags and leads count by.
    order: RowOrder,
    weights: Option<Vec<f64>>,
    persistence: Option<Vec<bool>>,
    notes: Vec<Note>,
}

/// Trains as the plan says. Rows to test on come from `test`, or from the table itself where there is none and the plan has a share for
/// them. `watch` sees member, epoch and what happened, and may end the training: what was best so far is kept.
pub fn train(
    table: &Table,
    test: Option<&Table>,
    reading: &Reading,
    plan: &Plan,
    watch: impl Fn(usize, usize, &Epoch) -> ControlFlow<()> + Sync,
) -> Result<Trained> {
    let mut labelled = Labelled::new(table, plan)?;
    let share = if test.is_some() { 0.0 } else { plan.test };
    let shares = Shares { test: share, validation: plan.validation };
    let (parts, notes) = plan.split.parts(table, &labelled.labels, &shares, plan.seed)?;
    labelled.notes.extend(notes);
    let (mut trained, learnt) = part(&labelled, &parts, reading, plan, watch)?;
    let encoder = &trained.model.encoder;
    trained.notes.extend(leakage::columns(table, &labelled.target, &labelled.labels, encoder, &parts.training));
    if let Some(test) = test {
        trained.test = Some(answers_of(&trained.model, test, plan, &learnt, &mut trained.notes)?);
    }
    Ok(trained)
}

impl<'a> Labelled<'a> {
    fn new(table: &'a Table, plan: &Plan) -> Result<Self> {
        check_members(plan.ensemble)?;
        plan.split.check_column(table)?;
        let (target, mut notes) = Target::parse(&plan.target, table, plan.positive.as_deref(), plan.lead)?;
        let (order, told) = plan.row_order(table)?;
        notes.extend(told);
        let neighbours = Neighbours::new(table, &order)?;
        let (labels, told) = target.labels(table, &neighbours)?;
        notes.extend(told);
        if let (Rule::Condition { .. }, [negatives, positives]) = (&target.rule, labels.counts().as_slice())
            && (*negatives == 0 || *positives == 0)
        {
            let how = if *positives == 0 { "in no row" } else { "in every row" };
            let place = scorewise_table::Place::file(&table.file).column(&target.column);
            let problem =
                format!("the condition `{}` holds {how}: there is nothing to tell apart", visible(plan.target.trim()));
            return Err(Error::data(place, problem, "compare with another value"));
        }
        let weights = plan.weight.as_deref().map(|name| weights(table, name)).transpose()?;
        let persistence = persistence(&target, table, &neighbours)?;
        notes.extend(caution(plan, labels.names.len()).map(Note::new));
        Ok(Labelled { table, target, labels, order, weights, persistence, notes })
    }
}

/// Whether a network can have these hidden layers.
pub fn check_hidden(widths: &[usize]) -> Result<()> {
    let refuse = |problem: String| {
        let hint = format!("give at most {MOST_LAYERS} widths from 1 to {WIDEST_LAYER}, or `none`");
        Err(Error::setting("hidden", problem, hint))
    };
    match widths.iter().find(|width| **width > WIDEST_LAYER) {
        Some(width) => refuse(format!("a layer of {width}, and at most {WIDEST_LAYER} can be")),
        None if widths.len() > MOST_LAYERS => {
            refuse(format!("{} layers, and at most {MOST_LAYERS} can be", widths.len()))
        }
        None if widths.contains(&0) => refuse("a width of 0".into()),
        None => Ok(()),
    }
}

/// What a user should know about the direction of the score.
fn caution(plan: &Plan, classes: usize) -> Option<String> {
    if classes == 2 {
        return plan.binary_score().ok()?.caution();
    }
    match plan.multi_score().ok()? {
        MultiScore::Classwise(_, score) => score.caution(),
        _ => None,
    }
}

/// With a lead, the forecast that what is will stay; where nothing is known of a row, that nothing happens.
fn persistence(target: &Target, table: &Table, neighbours: &Neighbours) -> Result<Option<Vec<bool>>> {
    if target.lead == 0 || target.classes().len() != 2 {
        return Ok(None);
    }
    let (now, _) = Target { lead: 0, ..target.clone() }.truth(table, neighbours)?;
    Ok(Some(now.positives()))
}

/// Sample weights: numbers, 0 or above, in every row.
fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = scorewise_table::names::column(table, "weight", name)?;
    let hint = "weights are numbers, 0 or above";
    let Values::Number(values) = &column.values else {
        return Err(Error::data(
            scorewise_table::Place::file(&table.file).column(name),
            "is no column of numbers",
            hint,
        ));
    };
    match values.iter().position(|weight| !(*weight >= 0.0 && *weight <= 1e12)) {
        Some(row) => {
            let shown = if values[row].is_nan() { "a missing value".into() } else { values[row].to_string() };
            Err(Error::data(table.place(row).column(name), format!("{shown} is no weight"), hint))
        }
        None => Ok(values.clone()),
    }
}

/// One division of the rows: encoder, networks, threshold; and the fingerprints of the rows that were learnt from.
fn part(
    labelled: &Labelled<'_>,
    parts: &Parts,
    reading: &Reading,
    plan: &Plan,
    watch: impl Fn(usize, usize, &Epoch) -> ControlFlow<()> + Sync,
) -> Result<(Trained, Vec<u64>)> {
    let Labelled { table, target, labels, order, weights, persistence, notes } = labelled;
    let mut notes = notes.clone();
    if parts.validation.is_empty() {
        let hint = "give a share such as 0.33";
        return Err(Error::setting("validation", "no rows are left to stop by and to choose the threshold by", hint));
    }
    let mut choice = plan.choice.clone();
    choice.without.extend(target.hidden().map(str::to_owned));
    choice.without.extend(plan.weight.clone());
    let (mut encoder, told) = Encoder::fit(table, &parts.training, &choice)?;
    encoder.order = order.clone();
    notes.extend(told);
    let encoded = encoder.encode_within(table, &parts.sides)?;
    notes.extend(encoded.surprises.notes(&encoder));
    let classes = target.classes();
    // Steps are taken in f32; what is reported is weighted as the table says.
    let narrow: Option<Vec<f32>> =
        weights.as_ref().map(|weights| weights.iter().map(|weight| *weight as f32).collect());
    let sample = Sample {
        matrix: &encoded.matrix,
        labels: &labels.classes,
        weights: narrow.as_deref(),
        training: &parts.training,
        validation: &parts.validation,
    };
    if let (Cut::Given(_), 3..) = (plan.cut, classes.len()) {
        let problem = format!("is for two classes, and there are {}", classes.len());
        return Err(Error::setting(
            "threshold",
            problem,
            "leave it out: a row gets the class with the greatest probability",
        ));
    }
    let settings = plan.settings(&sample, classes.len())?;
    let outputs = settings.objective.outputs(classes.len());
    check_hidden(&plan.hidden)?;
    let shape = Shape::new(encoder.width(), &plan.hidden, outputs)
        .ok_or_else(|| Error::setting("hidden", "a width of 0", "give widths of 1 and more, or `none`"))?;
    let hands =
        if plan.own_validation { plan.split.hands(parts, labels, plan.ensemble, plan.seed) } else { Vec::new() };
    let samples = match hands.is_empty() {
        true => vec![sample; plan.ensemble],
        false => hands.iter().map(|hand| sample.with(hand)).collect(),
    };
    let trained = ensemble(&shape, &samples, &settings, plan.threads, watch)?;
    let left_out = trained.fits.len() - trained.ensemble.members().len();
    if left_out > 0 {
        notes.push(Note::new(format!("{left_out} of {} members got stuck and are left out", trained.fits.len())));
    }
    let answers = |rows: &[u32]| {
        Answers::new(labels, weights.as_deref(), rows, trained.ensemble.probabilities(sample.matrix, rows))
            .persisting(persistence.as_deref(), rows)
    };
    let fingerprints = |rows: &[u32]| leakage::fingerprints(&encoded.matrix, &labels.classes, rows);
    let learnt = fingerprints(&[&parts.training[..], &parts.validation].concat());
    notes.extend(leakage::known_rows(&learnt, &fingerprints(&parts.test)));
    let (held_out, probabilities) = trained.held_out(&samples);
    let validation = Answers::new(labels, weights.as_deref(), &held_out, probabilities)
        .persisting(persistence.as_deref(), &held_out);
    let decision = plan.decide(&validation, classes.len())?;
    let model = Model {
        version: VERSION.into(),
        reading: reading.clone(),
        encoder,
        target: target.clone(),
        classes,
        members: trained.ensemble.members().to_vec(),
        score: plan.score_name(outputs)?,
        prior: settings.objective.priors().first().map(ToString::to_string),
        loss: plan.loss.name().into(),
        decision,
        seed: plan.seed,
        fingerprint: Fingerprint::of(table).hex(),
        plan: Some(plan.as_filed()),
        results: serde_json::Value::Null,
    };
    let trained = Trained {
        model,
        fits: trained.fits,
        training: answers(&parts.training),
        validation,
        test: (!parts.test.is_empty()).then(|| answers(&parts.test)),
        notes,
    };
    Ok((trained, learnt))
}

/// What a model says of a table of its own.
fn answers_of(model: &Model, table: &Table, plan: &Plan, learnt: &[u64], notes: &mut Vec<Note>) -> Result<Answers> {
    let neighbours = Neighbours::new(table, &model.encoder.order)?;
    let (labels, unmatched) = model.target.truth(table, &neighbours)?;
    let weights = plan.weight.as_deref().map(|name| weights(table, name)).transpose()?;
    let encoded = model.encoder.encode(table)?;
    let told = unmatched.notes(&model.target).into_iter().chain(model.target.left_out(&labels));
    let told = told.chain(encoded.surprises.notes(&model.encoder));
    notes.extend(told.map(|note| Note::new(format!("{}: {note:#}", visible(&table.file)))));
    let rows = labels.rows();
    if rows.is_empty() {
        let place = scorewise_table::Place::file(&table.file).column(&model.target.column);
        let names: Vec<&str> = labels.names.iter().map(String::as_str).collect();
        let hint = format!("the classes are {}", scorewise_table::names::listed(&names));
        return Err(Error::data(place, "no row has a class that was learnt", hint));
    }
    notes.extend(leakage::known_rows(learnt, &leakage::fingerprints(&encoded.matrix, &labels.classes, &rows)));
    let probabilities = Ensemble::new(model.members.clone())?.probabilities(&encoded.matrix, &rows);
    let persistence = persistence(&model.target, table, &neighbours)?;
    Ok(Answers::new(&labels, weights.as_deref(), &rows, probabilities).persisting(persistence.as_deref(), &rows))
}

impl Answers {
    fn new(labels: &Labels, weights: Option<&[f64]>, rows: &[u32], probabilities: Vec<f64>) -> Self {
        let at = |row: &u32| *row as usize;
        Answers {
            labels: rows.iter().map(|row| labels.classes[at(row)]).collect(),
            probabilities,
            weights: weights.map(|weights| rows.iter().map(|row| weights[at(row)]).collect()),
            persistence: None,
        }
    }

    /// With what persistence says of these rows.
    fn persisting(self, persistence: Option<&[bool]>, rows: &[u32]) -> Self {
        let now = |positive: &[bool]| rows.iter().map(|row| positive[*row as usize]).collect();
        Answers { persistence: persistence.map(now), ..self }
    }

    /// Of two classes: which rows are positive.
    #[must_use]
    pub fn positives(&self) -> Vec<bool> {
        self.labels.iter().map(|label| *label == 1).collect()
    }

    /// Adds those of other rows.
    pub fn extend(&mut self, further: Answers) {
        self.labels.extend(further.labels);
        self.probabilities.extend(further.probabilities);
        if let (Some(weights), Some(more)) = (&mut self.weights, further.weights) {
            weights.extend(more);
        }
        if let (Some(known), Some(more)) = (&mut self.persistence, further.persistence) {
            known.extend(more);
        }
    }

    /// The best threshold of a score on these rows, as a decision.
    fn decide(&self, score: &Score, chosen: Chosen, place: &str) -> Result<Decision> {
        let labels = self.positives();
        let rows = Rows::new(Probabilities(&self.probabilities), &labels)?;
        let swept = match &self.weights {
            Some(weights) => sweep(&rows.weighted(weights)?)?,
            None => sweep(&rows)?,
        };
        match swept.best(score) {
            Some(best) => Ok(Decision::best(&best, chosen, format!("best {score} on the {place}"))),
            None => {
                let problem = format!("{score} is undefined at every threshold of the {place}");
                Err(Error::setting("score", problem, "give more rows, or choose another score"))
            }
        }
    }
}
