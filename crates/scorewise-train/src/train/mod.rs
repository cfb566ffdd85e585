//! Trains a model from a table and a plan, and chooses its threshold.
//!
//! ```text
//! prepare: find the target and the labels, split the rows, fit the encoder on the training rows, encode all rows, list the jobs
//! backend: run the jobs
//! finish:  build the ensemble, choose the threshold on the validation rows, predict, build the model
//! ```
//!
//! Test rows are used only for the test: neither the encoder nor the members nor the threshold depend on them.

mod prepare;
mod combine;
mod pool;
mod decide;
mod calibrate;
mod temporal;
mod finish;
mod folds;
mod leakage;

pub use combine::{Combination, combine};
pub use decide::{DecisionChoice, SMOOTHING, decide};
pub use finish::{EvaluatedRows, LabelledPredictions, Trained};
pub use folds::{FoldResult, cross_validate};
pub use prepare::{Prepared, prepare, weights};

use scorewise_table::error::Result;
use scorewise_table::table::{Reading, Table};

use crate::backend::{Backend, Watch};
use crate::plan::Plan;

/// Trains a model according to the plan. The test rows are those of the table `test` if it is given, otherwise the share [`Plan::test`] of the
/// rows of `table`. The job number that `watch` receives is the index of the ensemble member that the job trains.
pub fn train(
    table: &Table,
    test: Option<&Table>,
    reading: &Reading,
    plan: &Plan,
    backend: &dyn Backend,
    watch: &dyn Watch,
) -> Result<Trained> {
    let prepared = prepare(table, test.is_some(), plan)?;
    watch.begin(0, prepared.jobs());
    let fits = backend.fit(prepared.datasets(), prepared.jobs(), watch)?;
    prepared.finish(fits, test, reading)
}
