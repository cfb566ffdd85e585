//! Trains a model from a table and a plan, and chooses its threshold.
//!
//! ```text
//! prepare: target, labels, rows of each part, encoder of the training rows, matrix, jobs
//! backend: jobs → fits
//! finish:  ensemble, threshold of the validation rows, predictions, model
//! ```
//!
//! Test rows are used for nothing but the test: neither the encoder nor the members nor the threshold depend on them.

mod prepare;
mod finish;
mod folds;
mod leakage;

pub use finish::{LabelledPredictions, Trained};
pub use folds::{FoldResult, cross_validate};
pub use prepare::{Prepared, prepare};

use scorewise_table::error::Result;
use scorewise_table::table::{Reading, Table};

use crate::backend::{Backend, Watch};
use crate::plan::Plan;

/// Trains a model according to the plan. Test rows come from `test`, or else from the table itself if the plan has a share for them. `watch` follows the
/// members, whose index is the index of the job.
pub fn train(
    table: &Table,
    test: Option<&Table>,
    reading: &Reading,
    plan: &Plan,
    backend: &dyn Backend,
    watch: &dyn Watch,
) -> Result<Trained> {
    let prepared = prepare(table, test.is_some(), plan)?;
    let fits = backend.fit(prepared.datasets(), prepared.jobs(), watch)?;
    prepared.finish(fits, test, reading)
}
