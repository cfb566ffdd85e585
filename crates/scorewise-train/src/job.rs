//! Trainings as data: encoded rows, and a flat list of jobs that can run anywhere and in any order with the same result.

use std::sync::Arc;

use scorewise_table::Matrix;
use serde::{Deserialize, Serialize};

use crate::fit::{Objective, Sample};
use crate::learner::Learner;

/// Encoded rows with their labels, and the ways in which trainings divide them.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The features; a clone shares them.
    pub matrix: Matrix,
    /// The class of each row, from 0; with two classes 1 is the positive one.
    pub labels: Arc<[u32]>,
    /// Number of classes.
    pub classes: usize,
    /// One weight for each row, if there are any.
    pub weights: Option<Arc<[f32]>>,
    /// Training and validation rows, to which jobs refer by number.
    pub splits: Vec<RowSplit>,
}

/// Rows of one training. Their order is part of the result: batches are drawn from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowSplit {
    /// Rows that are trained on.
    pub training: Vec<u32>,
    /// Rows that decide when to stop.
    pub validation: Vec<u32>,
}

/// One training. It depends on nothing but itself and its data set, so jobs can run in any order and on any machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Index of its data set.
    pub dataset: usize,
    /// Index of its training and validation rows in [`Dataset::splits`].
    pub split: usize,
    /// What is trained, with its settings.
    pub learner: Learner,
    /// The loss to minimise.
    pub objective: Objective,
    /// Seed of all random numbers of the training.
    pub seed: u64,
}

impl Dataset {
    /// The rows of one training.
    ///
    /// # Panics
    /// If there is no split of this number.
    #[must_use]
    pub fn sample(&self, split: usize) -> Sample<'_> {
        let RowSplit { training, validation } = &self.splits[split];
        Sample {
            matrix: &self.matrix,
            labels: &self.labels,
            classes: self.classes,
            weights: self.weights.as_deref(),
            training,
            validation,
        }
    }
}
