//! Turns a table and a plan into encoded rows and a flat list of training jobs.

use std::ops::Range;
use std::sync::Arc;

use scorewise::multiclass::MultiScore;
use scorewise::{Purpose, stream};
use scorewise_table::dependence::Dependence;
use scorewise_table::encode::{Encoder, EncodingOptions};
use scorewise_table::error::{Error, Result};
use scorewise_table::groups::{Neighbours, RowOrder};
use scorewise_table::names::quoted;
use scorewise_table::setting::visible;
use scorewise_table::split::{MemberSplit, Split, SplitRows, SplitShares, rarest_class};
use scorewise_table::table::{Table, Values};
use scorewise_table::target::{LabelRule, Labels, Target};
use scorewise_table::{Location, Note};

use crate::ensemble::check_members;
use crate::fit::Objective;
use crate::job::{Dataset, Job, RowSplit};
use crate::learner::Learner;
use crate::plan::{Plan, ThresholdRule};

/// A training run that is ready to start: encoded rows, and one job for each member of the ensemble.
#[derive(Debug)]
pub struct Prepared<'a> {
    pub(super) labelled: LabelledTable<'a>,
    pub(super) divisions: PreparedDivisions,
}

/// A table together with the labels of its rows.
#[derive(Debug)]
pub(super) struct LabelledTable<'a> {
    pub table: &'a Table,
    pub plan: &'a Plan,
    pub target: Target,
    pub labels: Labels,
    /// The order in which rows follow each other in a time series; lags and leads refer to this order.
    pub order: RowOrder,
    pub weights: Option<Vec<f64>>,
    /// The persistence forecast of each row, which predicts an event in the future if the event happens in the row itself. `None` without a
    /// lead or with more than two classes.
    pub persistence: Option<Vec<bool>>,
    /// Which rows depend on each other, for confidence intervals.
    pub dependence: Dependence,
    /// The place of each row in the order of time; `None` unless errors are weighted by their timing.
    pub places: Option<Arc<[u32]>>,
    pub notes: Vec<Note>,
}

/// Divisions of a table into training, validation and test rows, with the jobs of all divisions in one list.
#[derive(Debug, Default)]
pub(super) struct PreparedDivisions {
    pub divisions: Vec<Division>,
    /// The encoded rows of each division, in the order of `divisions`.
    pub datasets: Vec<Dataset>,
    pub jobs: Vec<Job>,
}

/// One division of the rows into training, validation and test rows, with the encoder that was fitted on its training rows.
#[derive(Debug)]
pub(super) struct Division {
    pub parts: SplitRows,
    pub encoder: Encoder,
    pub objective: Objective,
    /// For each learner, the indices of its jobs in [`PreparedDivisions::jobs`]. Each range begins where the previous one ends.
    pub jobs_of_learners: Vec<Range<usize>>,
    pub notes: Vec<Note>,
}

/// Prepares a training run. If there is no separate test table, the share [`Plan::test`] of the rows is set aside as test rows.
pub fn prepare<'a>(table: &'a Table, has_test_table: bool, plan: &'a Plan) -> Result<Prepared<'a>> {
    let mut labelled = LabelledTable::new(table, plan)?;
    let test = if has_test_table { 0.0 } else { plan.test };
    let shares = SplitShares { test, validation: plan.validation_share() };
    let (parts, notes) = plan.split.split_rows(table, &labelled.labels, &shares, plan.seed)?;
    labelled.notes.extend(notes);
    let mut divisions = PreparedDivisions::default();
    divisions.add(&labelled, parts, plan.seed)?;
    Ok(Prepared { labelled, divisions })
}

impl Prepared<'_> {
    /// The data sets of encoded rows. [`Job::dataset`] is an index into this list.
    #[must_use]
    pub fn datasets(&self) -> &[Dataset] {
        &self.divisions.datasets
    }

    /// The training jobs, one for each member of the ensemble.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.divisions.jobs
    }
}

impl<'a> LabelledTable<'a> {
    /// Finds the target of the plan in the table and gives every row its label.
    pub fn new(table: &'a Table, plan: &'a Plan) -> Result<Self> {
        check_members(plan.ensemble)?;
        plan.split.check_column(table)?;
        let (target, mut notes) = Target::parse(&plan.target, table, plan.positive.as_deref(), plan.lead)?;
        let (order, order_notes) = row_order(plan, table)?;
        notes.extend(order_notes);
        let neighbours = Neighbours::new(table, &order)?;
        let (labels, label_notes) = target.labels(table, &neighbours)?;
        notes.extend(label_notes);
        let classes = labels.names.len();
        if classes > 2 {
            plan.score.multiclass().check_classes(classes)?;
        }
        if let (LabelRule::Condition { .. }, [negatives, positives]) = (&target.rule, labels.counts().as_slice())
            && (*negatives == 0 || *positives == 0)
        {
            let how = if *positives == 0 { "in no row" } else { "in every row" };
            let place = Location::file(&table.file).column(&target.column);
            let condition = visible(plan.target.trim());
            let problem = format!("the condition `{condition}` holds {how}, so there is only one class");
            return Err(Error::data(place, problem, "compare the column with another value"));
        }
        let weights = plan.weight.as_deref().map(|name| weights(table, name)).transpose()?;
        let persistence = persistence(&target, table, &neighbours)?;
        let is_series = plan.lead > 0 || plan.choice.lags > 0;
        let dependence = Dependence::of_table(table, plan.resample.as_ref(), &plan.split, is_series)?;
        notes.extend(caution(plan, labels.names.len()).map(Note::new));
        plan.check_temporal(labels.names.len())?;
        let places = places_in_time(plan, table)?.map(|(places, note)| {
            notes.extend(note);
            Arc::from(places)
        });
        Ok(LabelledTable { table, plan, target, labels, order, weights, persistence, dependence, places, notes })
    }
}

impl PreparedDivisions {
    /// Adds a division of the rows: fits its encoder, encodes its rows, and adds one job for each member of the ensemble.
    pub fn add(&mut self, labelled: &LabelledTable<'_>, parts: SplitRows, seed: u64) -> Result<()> {
        let LabelledTable { table, plan, target, labels, order, weights, .. } = labelled;
        if parts.validation.is_empty() && plan.cross_fit == 0 {
            let problem = "early stopping and the choice of the threshold need validation rows, but there are none";
            return Err(Error::setting("validation", problem, "give a share of the rows, such as 0.33"));
        }
        let (cross_fitted, folds, mut notes) = cross_fit_splits(labelled, &parts.training, seed)?;
        let mut choice = EncodingOptions { bins: plan.bins, ..plan.choice.clone() };
        choice.without.extend(target.hidden().map(str::to_owned));
        choice.without.extend(plan.weight.clone());
        // The knots, means and levels of the encoder do not depend on labels, so with cross-fitting the encoder is fitted once, on the rows of all
        // folds.
        let (mut encoder, encoder_notes) = Encoder::fit(table, &parts.training, &choice)?;
        notes.extend(encoder_notes);
        encoder.order = order.clone();
        let encoded = encoder.encode_split(table, &parts.set_of_row)?;
        notes.extend(encoded.unexpected.notes(&encoder));
        let classes = target.classes().len();
        if let (ThresholdRule::Fixed(_), 3..) = (plan.threshold, classes) {
            let problem = format!("a fixed threshold is for two classes, but there are {classes}");
            let hint = "give no threshold: a row then gets the class with the greatest probability";
            return Err(Error::setting("threshold", problem, hint));
        }
        let member_splits = if plan.cross_fit > 0 {
            cross_fitted
        } else if plan.own_validation {
            plan.split.member_splits(&parts, labels, plan.ensemble, seed)
        } else {
            Vec::new()
        };
        let shared_split = RowSplit { training: parts.training.clone(), validation: parts.validation.clone() };
        let to_row_split = |MemberSplit { training, validation }: MemberSplit| RowSplit { training, validation };
        let splits = std::iter::once(shared_split).chain(member_splits.into_iter().map(to_row_split)).collect();
        let dataset = Dataset {
            matrix: encoded.matrix,
            binned: encoder.binned_columns().map(Arc::from),
            labels: Arc::from(labels.classes.as_slice()),
            classes,
            // Networks compute in f32, so training rounds the sample weights; reported scores use the f64 weights of the table.
            weights: weights.as_ref().map(|weights| weights.iter().map(|weight| *weight as f32).collect()),
            places: labelled.places.clone(),
            splits,
        };
        let objective = plan.objective(&dataset.sample(0))?;
        let (first, mut jobs_of_learners) = (self.jobs.len(), Vec::with_capacity(plan.learners.len()));
        for learner in &plan.learners {
            let objective = match learner {
                Learner::Network(_) => objective.clone(),
                Learner::Trees(_) => plan.objective_of_trees(&objective),
            };
            learner.check(&objective)?;
            let repeats = learner.repeats(plan.ensemble);
            let members = match dataset.splits.len() - 1 {
                0 => repeats,
                // If several networks are trained for each fold, the list of splits begins with those of the first network of each fold. So a learner
                // that trains fewer members uses the same folds.
                splits => splits.min(folds * repeats),
            };
            let start = self.jobs.len();
            for member in 0..members {
                self.jobs.push(Job {
                    dataset: self.datasets.len(),
                    split: if dataset.splits.len() > 1 { 1 + member } else { 0 },
                    learner: learner.clone(),
                    objective: objective.clone(),
                    seed: stream(seed, Purpose::Member, (self.jobs.len() - first) as u64),
                });
            }
            jobs_of_learners.push(start..self.jobs.len());
        }
        self.datasets.push(dataset);
        self.divisions.push(Division { parts, encoder, objective, jobs_of_learners, notes });
        Ok(())
    }
}

/// Divides the rows for cross-fitting, in which every member is trained without one fold of the rows. Returns the training and validation rows of
/// each member, the number of folds, and notes. Without cross-fitting, the list of members is empty, and the number of folds is 1.
///
/// If the user did not choose the number of folds and a class has too few rows for it, fewer folds are used. If the user did not choose the size of
/// the ensemble and there are more than [`MANY_ROWS`] rows, one network is trained for each fold. Notes report both reductions.
fn cross_fit_splits(
    labelled: &LabelledTable<'_>,
    rows: &[u32],
    seed: u64,
) -> Result<(Vec<MemberSplit>, usize, Vec<Note>)> {
    let LabelledTable { table, plan, labels, .. } = labelled;
    if plan.cross_fit == 0 {
        return Ok((Vec::new(), 1, Vec::new()));
    }
    let (repeats, mut notes) = match plan.default_recipe() {
        Some(recipe) if recipe.members == plan.ensemble && rows.len() > MANY_ROWS && plan.ensemble > 1 => {
            let note = format!(
                "cross-fitting trains one network for each fold instead of {}, because there are many rows",
                plan.ensemble
            );
            (1, vec![Note::new(note)])
        }
        _ => (plan.ensemble, Vec::new()),
    };
    let may_reduce = plan.default_recipe().is_some_and(|recipe| recipe.cross_fit == plan.cross_fit);
    let mut folds = plan.cross_fit;
    loop {
        match plan.split.cross_fit(table, labels, rows, (folds, repeats), seed) {
            Ok(splits) => {
                if folds < plan.cross_fit {
                    let reason = "because a class has few rows";
                    notes.push(Note::new(format!(
                        "cross-fitting uses {folds} folds instead of {}, {reason}",
                        plan.cross_fit
                    )));
                }
                return Ok((splits, folds, notes));
            }
            Err(_) if may_reduce && folds > 2 => folds -= 1,
            Err(_) if may_reduce && rarest_class(labels, rows).1 < 2 => {
                let (class, count) = rarest_class(labels, rows);
                let class = quoted(&labels.names[class]);
                let problem = format!("the class {class} has {count} training rows, too few to train and to validate");
                return Err(Error::setting(
                    "target",
                    problem,
                    "give at least 2 rows of each class; 50 or more are usual",
                ));
            }
            Err(error) => return Err(error),
        }
    }
}

/// With more training rows than this, recipes with cross-fitting train one network for each fold, because with so many rows the mean of several
/// networks is hardly better.
const MANY_ROWS: usize = 100_000;

/// The order in which the rows of a table follow each other. The order matters only for leads and lags, which refer to later and earlier rows. If
/// the plan has a lead or lags, rows are ordered by time, provided that the table has a column of times.
fn row_order(plan: &Plan, table: &Table) -> Result<(RowOrder, Vec<Note>)> {
    let group = plan.choice.group.as_deref();
    if plan.lead == 0 && plan.choice.lags == 0 {
        return Ok((RowOrder::of_file(group), Vec::new()));
    }
    let time = match &plan.split {
        Split::Time(column) => column.as_deref(),
        _ => None,
    };
    RowOrder::of_table(table, group, time)
}

/// If errors are weighted by their timing, returns the place of each row in the order of time, and a note if no column holds times; otherwise `None`.
/// Each group of [`EncodingOptions::group`] is a series of its own. Rows are ordered by the column of the split by time, otherwise by the first
/// column of dates. If there is no column of dates either, the rows keep the order of the file.
pub(super) fn places_in_time(plan: &Plan, table: &Table) -> Result<Option<(Vec<u32>, Option<Note>)>> {
    if plan.temporal.is_none() {
        return Ok(None);
    }
    let time = match &plan.split {
        Split::Time(column) => column.as_deref(),
        _ => None,
    };
    let (order, _) = RowOrder::of_table(table, plan.choice.group.as_deref(), time)?;
    let note =
        "errors are weighted by their timing in the order of the rows in the file, because no column holds times";
    let note = order.time.is_none().then(|| Note::new(note));
    Ok(Some((Neighbours::new(table, &order)?.places(), note)))
}

/// A warning for the user if it is not obvious whether greater or smaller values of the score are better; otherwise `None`.
fn caution(plan: &Plan, classes: usize) -> Option<String> {
    if classes == 2 {
        return plan.score.binary().ok()?.caution();
    }
    match plan.score.multiclass() {
        MultiScore::Classwise(_, score) => score.caution(),
        _ => None,
    }
}

/// The persistence forecast of each row, which predicts an event in the future if the event happens in the row itself. If it is unknown whether the
/// event happens in the row, no event is predicted. `None` without a lead or with more than two classes.
pub(super) fn persistence(target: &Target, table: &Table, neighbours: &Neighbours) -> Result<Option<Vec<bool>>> {
    if target.lead == 0 || target.classes().len() != 2 {
        return Ok(None);
    }
    let (now, _) = Target { lead: 0, ..target.clone() }.known_labels(table, neighbours)?;
    Ok(Some(now.positives()))
}

/// The sample weights in the column `name`; an error if the value of a row is missing or is not a number from 0 to 10¹².
pub fn weights(table: &Table, name: &str) -> Result<Vec<f64>> {
    let column = scorewise_table::names::column(table, "weight", name)?;
    let hint = "weights must be numbers from 0 to 1e12";
    let Values::Number(values) = &column.values else {
        return Err(Error::data(Location::file(&table.file).column(name), "is not a column of numbers", hint));
    };
    match values.iter().position(|weight| !(*weight >= 0.0 && *weight <= 1e12)) {
        Some(row) => {
            let value = if values[row].is_nan() { "a missing value".into() } else { values[row].to_string() };
            Err(Error::data(table.place(row).column(name), format!("{value} is not a weight"), hint))
        }
        None => Ok(values.clone()),
    }
}
