//! Cross-validation. The encoder, the members and the threshold are fitted separately for every fold.

use std::ops::{ControlFlow, Range};

use scorewise::{Purpose, stream};
use scorewise_table::Note;
use scorewise_table::error::{Error, Result};
use scorewise_table::split::CrossValidation;
use scorewise_table::table::Table;

use super::finish::LabelledPredictions;
use super::leakage;
use super::prepare::{Division, LabelledTable, PreparedDivisions};
use crate::backend::{Backend, Watch};
use crate::fit::{Epoch, Fit};
use crate::model::Decision;
use crate::plan::Plan;

/// The result of one fold of a cross-validation.
#[derive(Clone, Debug)]
pub struct FoldResult {
    /// Number of the repetition of the cross-validation, counted from 0.
    pub repeat: usize,
    /// Number of the fold within its repetition, counted from 0.
    pub fold: usize,
    /// Number of epochs that each member was trained for.
    pub epochs: Vec<usize>,
    /// Whether every member learnt something.
    pub success: bool,
    /// The rule that turns probabilities into labels. Its threshold is chosen on the validation rows of the fold.
    pub decision: Decision,
    /// Predictions for the test rows of the fold.
    pub test: LabelledPredictions,
}

/// Approximate memory limit in bytes for the encoded rows of folds that are trained at the same time.
const MAX_ENCODED_BYTES: usize = 1 << 30;

/// Trains an ensemble for every fold of a cross-validation. The job number that `watch` receives counts the ensemble members of all folds together.
/// The list of results is `None` if the user stopped the training run. A note that applies to several folds is returned once.
pub fn cross_validate(
    table: &Table,
    plan: &Plan,
    folds: &CrossValidation,
    backend: &dyn Backend,
    watch: &dyn Watch,
) -> Result<(Option<Vec<FoldResult>>, Vec<Note>)> {
    let labelled = LabelledTable::new(table, plan)?;
    let (parts, split_notes) = plan.split.folds(table, &labelled.labels, folds, plan.seed)?;
    let mut notes_of_folds = Vec::with_capacity(parts.len());
    let mut results = Vec::with_capacity(parts.len());
    let mut jobs_before = 0;
    let mut parts = parts.into_iter().enumerate().peekable();
    while parts.peek().is_some() {
        // As many folds as memory allows are encoded and trained at the same time, so that no core is idle while the last jobs of one fold run.
        let (first, mut divisions, mut bytes) = (results.len(), PreparedDivisions::default(), 0);
        while let Some((number, parts)) = parts.next_if(|_| bytes < MAX_ENCODED_BYTES) {
            divisions.add(&labelled, parts, stream(plan.seed, Purpose::FoldTraining, number as u64))?;
            bytes += divisions.datasets.last().map_or(0, |dataset| size_of_val(dataset.matrix.padded().0));
        }
        watch.begin(jobs_before, &divisions.jobs);
        let offset = OffsetWatch { watch, first: jobs_before };
        jobs_before += divisions.jobs.len();
        let mut fits = backend.fit(&divisions.datasets, &divisions.jobs, &offset)?.into_iter();
        for division in 0..divisions.divisions.len() {
            let members = divisions.divisions[division].jobs_of_learners.iter().map(Range::len).sum();
            let fits: Vec<Option<Fit>> = fits.by_ref().take(members).collect();
            if fits.iter().any(Option::is_none) {
                return Ok((None, [labelled.notes, split_notes, distinct_notes(&notes_of_folds, folds)].concat()));
            }
            notes_of_folds.push(divisions.notes(division, &labelled));
            let result = divisions.result(division, &labelled, &fits)?;
            let fits: Vec<Fit> = fits.into_iter().flatten().collect();
            results.push(FoldResult {
                repeat: (first + division) / folds.folds,
                fold: (first + division) % folds.folds,
                epochs: fits.iter().map(Fit::epochs).collect(),
                success: fits.iter().all(|fit| fit.success),
                decision: result.decision,
                test: result.test,
            });
        }
    }
    if results.is_empty() {
        return Err(Error::setting("folds", "the cross-validation has no folds", "give at least 2 folds"));
    }
    Ok((Some(results), [labelled.notes, split_notes, distinct_notes(&notes_of_folds, folds)].concat()))
}

/// The notes of all folds without duplicates. A note that is the same in all folds names no fold. If notes differ only in the numbers in their text,
/// only the first of them is kept, and it names its fold.
fn distinct_notes(notes_of_folds: &[Vec<Note>], folds: &CrossValidation) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for (number, notes_of_fold) in notes_of_folds.iter().enumerate() {
        for note in notes_of_fold {
            if notes.iter().any(|earlier| earlier.repeats(note)) {
                continue;
            }
            let is_same_in_all = notes_of_folds.iter().all(|others| others.contains(note));
            let (fold, repeat) = (number % folds.folds + 1, number / folds.folds + 1);
            notes.push(if is_same_in_all { note.clone() } else { note.about_fold(fold, repeat) });
        }
    }
    notes
}

impl PreparedDivisions {
    /// Notes about one division: how its rows are encoded, and signs of leakage.
    fn notes(&self, division: usize, labelled: &LabelledTable<'_>) -> Vec<Note> {
        let LabelledTable { table, target, labels, .. } = labelled;
        let Division { parts, encoder, notes, .. } = &self.divisions[division];
        let matrix = &self.datasets[division].matrix;
        let fingerprints = |rows: &[u32]| leakage::fingerprints(matrix, &labels.classes, rows);
        let seen = fingerprints(&[&parts.training[..], &parts.validation].concat());
        let mut notes = notes.clone();
        notes.extend(leakage::repeated_rows(&seen, &fingerprints(&parts.test)));
        notes.extend(leakage::leaking_columns(table, target, labels, encoder, &parts.training));
        notes
    }
}

/// Passes all calls to another [`Watch`], with the offset `first` added to the number of the job.
struct OffsetWatch<'a> {
    watch: &'a dyn Watch,
    first: usize,
}

impl Watch for OffsetWatch<'_> {
    fn epoch(&self, job: usize, number: usize, epoch: &Epoch) -> ControlFlow<()> {
        self.watch.epoch(self.first + job, number, epoch)
    }

    fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    fn finished(&self, job: usize, fit: &Fit, seconds: f64) -> Result<()> {
        self.watch.finished(self.first + job, fit, seconds)
    }
}
