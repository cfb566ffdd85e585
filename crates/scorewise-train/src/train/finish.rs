//! Turns fitted members into predictions, a threshold and a model.

use scorewise::calibration::{CalibrationChoice, CalibrationLosses};
use scorewise_table::dependence::Dependence;
use scorewise_table::distribution::ColumnDistribution;
use scorewise_table::encode::Encoder;
use scorewise_table::error::{Error, Result};
use scorewise_table::groups::{NO_ROW, Neighbours};
use scorewise_table::setting::visible;
use scorewise_table::table::{Reading, Table};
use scorewise_table::target::Labels;
use scorewise_table::{Location, Matrix, Note};

use super::calibrate::calibrate;
use super::decide::{DecisionChoice, decide};
use super::leakage;
use super::pool::{Candidate, Pool, pool};
use super::prepare::{Division, LabelledTable, Prepared, PreparedDivisions, persistence, places_in_time, weights};
use crate::ensemble::{Ensemble, MeanOf, held_out_means, is_used};
use crate::fit::{Fit, Sample};
use crate::job::Dataset;
use crate::model::{Decision, Fingerprint, Model, Reference, VERSION};
use crate::plan::Plan;

/// The result of a training run.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The trained model. The caller fills in two of its fields: `results`, which is null, and `reference.held_out`, which is `None`.
    pub model: Model,
    /// The fitted members, with the history of each training run.
    pub fits: Vec<Fit>,
    /// For each element of `fits`, its share of the weights of all members of the model; 0 if it is not a member of the model.
    pub shares: Vec<f64>,
    /// Predictions for the training rows.
    pub training: LabelledPredictions,
    /// Predictions for the validation rows, which decided when training stopped and which threshold was chosen.
    pub validation: LabelledPredictions,
    /// The indices of the validation rows in the table, in the order of `validation`.
    pub validation_rows: Vec<u32>,
    /// Predictions for the test rows; `None` if there are no test rows.
    pub test: Option<LabelledPredictions>,
    /// The encoded test rows, or the encoded validation rows if there are no test rows. Reports explain the model on them.
    pub evaluated: EvaluatedRows,
    /// Decision rules that were considered but not chosen. Reports compare their scores with the score of the rule that was chosen.
    pub alternatives: Vec<Decision>,
    /// The log-losses by which the calibration of the model was chosen; `None` with more than two classes, or if there were too few rows.
    pub calibration_losses: Option<CalibrationLosses>,
    /// Notes for the user, such as warnings about the data.
    pub notes: Vec<Note>,
}

/// The encoded rows that [`Trained::test`] predicts, or those that [`Trained::validation`] predicts if there are no test rows.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedRows {
    /// The encoded rows of the whole table: of the separate test table if there is one, otherwise of the training table.
    pub matrix: Matrix,
    /// The indices of the predicted rows in the table, in the order of the predictions.
    pub rows: Vec<u32>,
}

/// Predicted probabilities of rows, with the true classes of the rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelledPredictions {
    /// The true class of each row. With two classes, 1 is the positive class.
    pub labels: Vec<u32>,
    /// Raw predictions, before the calibration. With two classes there is one number for each row, for the positive class; with more classes
    /// there is one number for each row and class, row by row.
    pub probabilities: Vec<f64>,
    /// The sample weight of each row; `None` if all rows have the same weight.
    pub weights: Option<Vec<f64>>,
    /// The persistence forecast of each row, which predicts an event in the future if the event happens in the row itself. `None` without a
    /// lead or with more than two classes.
    pub persistence: Option<Vec<bool>>,
    /// Which rows depend on each other, for confidence intervals.
    pub dependence: Dependence,
    /// The place of each row in the order of time: rows that follow each other in a series have consecutive places. `None` unless errors are weighted
    /// by their timing.
    pub places: Option<Vec<u32>>,
}

/// The ensemble, predictions and decision rule of one division of the rows into training, validation and test rows.
pub(super) struct DivisionResult {
    pub ensemble: Ensemble,
    /// For each fit, whether it is a member of the ensemble.
    pub is_used: Vec<bool>,
    pub validation: LabelledPredictions,
    /// The indices of the validation rows in the table, in the order of `validation`.
    pub validation_rows: Vec<u32>,
    pub decision: Decision,
    pub alternatives: Vec<Decision>,
    pub test: LabelledPredictions,
}

impl Prepared<'_> {
    /// Builds the model from the training results of the jobs, in the order of the jobs; `None` stands for a job that was never begun. The test rows
    /// are those of the table `test` if it is given, otherwise the test rows of the training table.
    pub fn finish(self, fits: Vec<Option<Fit>>, test: Option<&Table>, reading: &Reading) -> Result<Trained> {
        let Prepared { labelled, mut divisions } = self;
        let result = divisions.result(0, &labelled, &fits)?;
        let fits: Vec<Fit> = fits.into_iter().flatten().collect();
        let (Some(division), Some(dataset)) = (divisions.divisions.pop(), divisions.datasets.pop()) else {
            return Err(Error::setting("training", "nothing was prepared", ""));
        };
        let LabelledTable { table, plan, target, labels, .. } = &labelled;
        let Division { parts, encoder, objective, notes: division_notes, .. } = division;
        let mut notes = labelled.notes.clone();
        notes.extend(division_notes);
        let left_out = result.is_used.iter().filter(|is_used| !**is_used).count();
        if left_out > 0 {
            notes.push(Note::new(format!(
                "{left_out} of {} members learnt nothing and are left out of the ensemble",
                fits.len()
            )));
        }
        let total: f64 = result.ensemble.weights().iter().sum();
        let mut weights = result.ensemble.weights().iter();
        let share = |is_used: &bool| if *is_used { weights.next().map_or(0.0, |weight| weight / total) } else { 0.0 };
        let shares = result.is_used.iter().map(share).collect();
        let fingerprints = |rows: &[u32]| leakage::fingerprints(&dataset.matrix, &labels.classes, rows);
        let seen_hashes = fingerprints(&[&parts.training[..], &parts.validation].concat());
        notes.extend(leakage::repeated_rows(&seen_hashes, &fingerprints(&parts.test)));
        notes.extend(leakage::leaking_columns(table, target, labels, &encoder, &parts.training));
        let reference = reference(table, &encoder, &[&parts.training[..], &parts.validation].concat());
        let training = labelled.predictions(&dataset, &result.ensemble, &parts.training);
        let CalibrationChoice { calibration, losses: calibration_losses } = match dataset.classes {
            2 => calibrate(&result.validation, plan.seed)?,
            _ => CalibrationChoice { calibration: None, losses: None },
        };
        let model = Model {
            version: VERSION.into(),
            reading: reading.clone(),
            encoder,
            target: target.clone(),
            classes: target.classes(),
            members: result.ensemble.members().to_vec(),
            weights: result.ensemble.weights().to_vec(),
            mean: result.ensemble.mean(),
            score: if dataset.classes == 2 {
                plan.score.binary()?.to_string()
            } else {
                plan.score.multiclass().to_string()
            },
            prior: objective.priors().first().map(ToString::to_string),
            loss: plan.loss.name().into(),
            decision: result.decision,
            calibration,
            seed: plan.seed,
            fingerprint: Fingerprint::of(table).hex(),
            plan: Some((*plan).clone()),
            reference: Some(reference),
            results: serde_json::Value::Null,
        };
        let (test, evaluated) = match test {
            Some(test) => {
                let (predictions, evaluated) =
                    predictions_of_table(&model, &result.ensemble, test, plan, &seen_hashes, &mut notes)?;
                (Some(predictions), evaluated)
            }
            None if parts.test.is_empty() => {
                (None, EvaluatedRows { matrix: dataset.matrix, rows: result.validation_rows.clone() })
            }
            None => (Some(result.test), EvaluatedRows { matrix: dataset.matrix, rows: parts.test }),
        };
        let DivisionResult { validation, validation_rows, alternatives, .. } = result;
        Ok(Trained {
            model,
            fits,
            shares,
            training,
            validation,
            validation_rows,
            test,
            evaluated,
            alternatives,
            calibration_losses,
            notes,
        })
    }
}

impl PreparedDivisions {
    /// Computes the predictions and the decision rule of one division from the training results of its jobs. `fits` has one entry for each job of
    /// this division, in the order of the jobs; `None` for a job that was not begun.
    pub fn result(
        &self,
        division: usize,
        labelled: &LabelledTable<'_>,
        fits: &[Option<Fit>],
    ) -> Result<DivisionResult> {
        let Division { parts, jobs_of_learners, .. } = &self.divisions[division];
        let dataset = &self.datasets[division];
        let first = jobs_of_learners.first().map_or(0, |jobs| jobs.start);
        let mut candidates = Vec::with_capacity(jobs_of_learners.len());
        for jobs in jobs_of_learners {
            let with_fit = jobs.clone().filter_map(|job| fits[job - first].as_ref().map(|fit| (job, fit)));
            let (samples, fits): (Vec<Sample<'_>>, Vec<&Fit>) =
                with_fit.map(|(job, fit)| (dataset.sample(self.jobs[job].split), fit)).unzip();
            if fits.is_empty() {
                continue;
            }
            let is_used = is_used(&fits, &samples);
            let used = fits.iter().zip(&samples).zip(&is_used).filter(|(_, is_used)| **is_used);
            let (fits, samples): (Vec<&Fit>, Vec<Sample<'_>>) = used.map(|((fit, sample), _)| (*fit, *sample)).unzip();
            let ensemble = Ensemble::new(fits.iter().map(|fit| fit.member.clone()).collect())?;
            let mean = if jobs_of_learners.len() > 1 { MeanOf::Logits } else { MeanOf::Probabilities };
            let (rows, predictions) = held_out_means(&fits, &samples, mean);
            candidates.push(Candidate { ensemble, is_used, rows, predictions });
        }
        // If the user stopped the training run, some learners may have predicted fewer rows than others. Only the learners that have predicted the
        // most rows are combined.
        let most = candidates.iter().map(|candidate| candidate.rows.len()).max().unwrap_or(0);
        let rows = candidates.iter().map(|candidate| &candidate.rows).find(|rows| rows.len() == most).cloned();
        let is_combined = |candidate: &Candidate| Some(&candidate.rows) == rows.as_ref();
        let used: Vec<bool> = candidates
            .iter()
            .flat_map(|candidate| candidate.is_used.iter().map(|is_used| *is_used && is_combined(candidate)))
            .collect();
        candidates.retain(is_combined);
        let Pool { ensemble, rows, probabilities } = if jobs_of_learners.len() > 1 {
            pool(labelled, dataset.classes, candidates)?
        } else {
            let Some(Candidate { ensemble, rows, predictions, .. }) = candidates.pop() else {
                return Err(Error::setting("training", "no training run has begun", ""));
            };
            Pool { ensemble, rows, probabilities: predictions }
        };
        let validation = labelled.with_labels(&rows, probabilities);
        let DecisionChoice { decision, alternatives } = decide(labelled.plan, &validation, dataset.classes)?;
        let test = labelled.predictions(dataset, &ensemble, &parts.test);
        Ok(DivisionResult { ensemble, is_used: used, validation, validation_rows: rows, decision, alternatives, test })
    }
}

impl LabelledTable<'_> {
    /// The predictions of the ensemble for the given rows of the table.
    fn predictions(&self, dataset: &Dataset, ensemble: &Ensemble, rows: &[u32]) -> LabelledPredictions {
        self.with_labels(rows, ensemble.probabilities(&dataset.matrix, rows))
    }

    /// Adds the labels, sample weights and persistence forecasts of the given rows to the probabilities that were predicted for these rows.
    pub(super) fn with_labels(&self, rows: &[u32], probabilities: Vec<f64>) -> LabelledPredictions {
        LabelledPredictions::new(
            &self.labels,
            self.weights.as_deref(),
            self.persistence.as_deref(),
            (&self.dependence, self.places.as_deref()),
            rows,
            probabilities,
        )
    }
}

/// The distribution of each column that the encoder reads, over the given rows, which were used in training.
fn reference(table: &Table, encoder: &Encoder, rows: &[u32]) -> Reference {
    let columns = encoder.matrix_columns().into_iter().filter_map(|(name, _)| table.column(name));
    let columns = columns.map(|column| ColumnDistribution::new(column, rows)).collect();
    Reference { rows: rows.len() as u64, columns, held_out: None }
}

/// Predictions for a separate test table, and its encoded rows.
fn predictions_of_table(
    model: &Model,
    ensemble: &Ensemble,
    table: &Table,
    plan: &Plan,
    seen_hashes: &[u64],
    notes: &mut Vec<Note>,
) -> Result<(LabelledPredictions, EvaluatedRows)> {
    let neighbours = Neighbours::new(table, &model.encoder.order)?;
    let (labels, unmatched) = model.target.known_labels(table, &neighbours)?;
    let weights = plan.weight.as_deref().map(|name| weights(table, name)).transpose()?;
    let encoded = model.encoder.encode(table)?;
    let of_table = unmatched.notes(&model.target).into_iter().chain(model.target.unlabelled_notes(&labels));
    let of_table = of_table.chain(encoded.unexpected.notes(&model.encoder));
    notes.extend(of_table.map(|note| Note::new(format!("{}: {note:#}", visible(&table.file)))));
    let rows = labels.rows();
    if rows.is_empty() {
        let place = Location::file(&table.file).column(&model.target.column);
        let names: Vec<&str> = labels.names.iter().map(String::as_str).collect();
        let hint = format!("the classes are {}", scorewise_table::names::quoted_list(&names));
        return Err(Error::data(place, "no row belongs to a class that occurs in the training rows", hint));
    }
    notes.extend(leakage::repeated_rows(seen_hashes, &leakage::fingerprints(&encoded.matrix, &labels.classes, &rows)));
    let probabilities = ensemble.probabilities(&encoded.matrix, &rows);
    let persistence = persistence(&model.target, table, &neighbours)?;
    let places = places_in_time(plan, table)?.map(|(places, _)| places);
    let is_series = plan.lead > 0 || plan.choice.lags > 0;
    let dependence = Dependence::of_table(table, plan.resample.as_ref(), &plan.split, is_series)?;
    let predictions = LabelledPredictions::new(
        &labels,
        weights.as_deref(),
        persistence.as_deref(),
        (&dependence, places.as_deref()),
        &rows,
        probabilities,
    );
    Ok((predictions, EvaluatedRows { matrix: encoded.matrix, rows }))
}

impl LabelledPredictions {
    /// Selects the labels, sample weights and persistence forecasts of the given rows. `probabilities` are the predictions of these rows.
    fn new(
        labels: &Labels,
        weights: Option<&[f64]>,
        persistence: Option<&[bool]>,
        (dependence, places): (&Dependence, Option<&[u32]>),
        rows: &[u32],
        probabilities: Vec<f64>,
    ) -> Self {
        LabelledPredictions {
            labels: rows.iter().map(|row| labels.classes[*row as usize]).collect(),
            probabilities,
            weights: weights.map(|weights| rows.iter().map(|row| weights[*row as usize]).collect()),
            persistence: persistence.map(|events| rows.iter().map(|row| events[*row as usize]).collect()),
            dependence: dependence.of_rows(rows),
            places: places.map(|places| rows.iter().map(|row| places[*row as usize]).collect()),
        }
    }

    /// Whether each row is positive. There must be two classes.
    #[must_use]
    pub fn positives(&self) -> Vec<bool> {
        self.labels.iter().map(|label| *label == 1).collect()
    }

    /// Appends the predictions of other rows.
    pub fn extend(&mut self, further: LabelledPredictions) {
        self.labels.extend(further.labels);
        self.probabilities.extend(further.probabilities);
        if let (Some(weights), Some(more)) = (&mut self.weights, further.weights) {
            weights.extend(more);
        }
        if let (Some(events), Some(more)) = (&mut self.persistence, further.persistence) {
            events.extend(more);
        }
        self.dependence.extend(further.dependence);
        if let (Some(places), Some(more)) = (&mut self.places, further.places) {
            // The appended rows are not neighbours of the earlier rows, even if both come from the same table. So a gap is left between their places.
            let first = places.iter().copied().filter(|place| *place != NO_ROW).max().map_or(0, |last| last + 2);
            let shifted = |place: u32| if place == NO_ROW { NO_ROW } else { place.saturating_add(first) };
            places.extend(more.into_iter().map(shifted));
        }
    }
}
