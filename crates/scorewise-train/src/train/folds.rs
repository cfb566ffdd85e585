//! Cross-validation: every fold is a training of its own, encoder and threshold included.

use std::ops::ControlFlow;

use scorewise::{Purpose, stream};

use super::{Answers, Labelled, Plan, part};
use crate::fit::{Epoch, side_by_side};
use crate::model::Decision;
use scorewise_table::Note;
use scorewise_table::error::Result;
use scorewise_table::split::Folds;
use scorewise_table::table::{Reading, Table};

/// What a fold found.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Which fold of it, from 0.
    pub fold: usize,
    /// The epochs of each member.
    pub epochs: Vec<usize>,
    /// Whether every member learnt something.
    pub success: bool,
    /// From probabilities to labels, as the fold's own validation rows chose it.
    pub decision: Decision,
    /// What the model of this fold says of the rows that it never saw.
    pub test: Answers,
}

/// Trains every fold, side by side. `watch` sees fold (counted through the repeats), member, epoch, and what happened.
pub fn cross_validate(
    table: &Table,
    reading: &Reading,
    plan: &Plan,
    folds: &Folds,
    watch: impl Fn(usize, usize, usize, &Epoch) -> ControlFlow<()> + Sync,
) -> Result<(Vec<Fold>, Vec<Note>)> {
    let labelled = Labelled::new(table, plan)?;
    let (parts, notes) = plan.split.folds(table, &labelled.labels, folds, plan.seed)?;
    // Side by side on the outside only: a fold is one thread.
    let inside = Plan { threads: 1, ..plan.clone() };
    let trained = side_by_side(parts.len(), plan.threads, |at| {
        let seed = stream(plan.seed, Purpose::FoldTraining, at as u64);
        let plan = Plan { seed, ..inside.clone() };
        part(&labelled, &parts[at], reading, &plan, |member, epoch, what| watch(at, member, epoch, what))
    })?;
    let mut found = Vec::with_capacity(trained.len());
    for (at, trained) in trained.into_iter().enumerate() {
        let (trained, _) = trained?;
        found.push(Fold {
            repeat: at / folds.folds,
            fold: at % folds.folds,
            epochs: trained.fits.iter().map(|fit| fit.history.len() + fit.warm_up.len()).collect(),
            success: trained.fits.iter().all(|fit| fit.success),
            decision: trained.model.decision,
            test: trained.test.unwrap_or_default(),
        });
    }
    Ok((found, notes))
}
