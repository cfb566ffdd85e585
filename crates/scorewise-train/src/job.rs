//! Data structures that describe training runs: encoded rows, and a flat list of jobs. The jobs can run on any machine and in any order with the same
//! results.

use std::sync::Arc;

use scorewise_table::Matrix;
use scorewise_table::encode::BinnedColumn;
use serde::{Deserialize, Serialize};

use crate::fit::{Objective, Sample};
use crate::learner::Learner;

/// Encoded rows with their labels, and the splits of these rows into training and validation rows.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The features. Cloning the matrix does not copy them.
    pub matrix: Matrix,
    /// For binned inputs, the knots, frequent values and levels of each column. They are numbered 0, 1, 2, …, and the matrix contains these numbers;
    /// a value between two knots has a fractional number. `None` for dense inputs, which a network multiplies by its weights.
    pub binned: Option<Arc<[BinnedColumn]>>,
    /// The class of each row, counted from 0. With two classes, 1 is the positive class.
    pub labels: Arc<[u32]>,
    /// Number of classes.
    pub classes: usize,
    /// One sample weight for each row; `None` if all rows have the same weight.
    pub weights: Option<Arc<[f32]>>,
    /// For a time series, the place of each row in the order of time: rows that follow each other have consecutive places, and between two series or
    /// at a gap a place is left out. `None` if the loss does not depend on the order of the rows.
    pub places: Option<Arc<[u32]>>,
    /// Splits of the rows into training and validation rows. [`Job::split`] is an index into this list.
    pub splits: Vec<RowSplit>,
}

/// Training and validation rows of one training run. The order of the rows affects the result, because batches are formed from the shuffled list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSplit {
    /// Indices of the rows that are trained on.
    pub training: Vec<u32>,
    /// Indices of the rows whose loss decides when training stops.
    pub validation: Vec<u32>,
}

/// The description of one training run. Its result depends only on these fields and on the data set, so jobs can run in any order and on any machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Index of the data set to train on.
    pub dataset: usize,
    /// Index in [`Dataset::splits`] of the training and validation rows.
    pub split: usize,
    /// The type of model to train, with its settings.
    pub learner: Learner,
    /// The loss to minimise.
    pub objective: Objective,
    /// Seed of all random numbers of the training run.
    pub seed: u64,
}

impl Dataset {
    /// Borrows the training and validation rows of the split with this index in [`Dataset::splits`].
    ///
    /// # Panics
    /// If there is no split with this index.
    #[must_use]
    pub fn sample(&self, split: usize) -> Sample<'_> {
        let RowSplit { training, validation } = &self.splits[split];
        Sample {
            matrix: &self.matrix,
            binned: self.binned.as_deref(),
            labels: &self.labels,
            classes: self.classes,
            weights: self.weights.as_deref(),
            places: self.places.as_deref(),
            training,
            validation,
        }
    }
}
