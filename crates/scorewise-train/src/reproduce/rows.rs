//! The rows of one repeat: which are trained on, which stop the training, which test.

use std::sync::Arc;

use scorewise_table::Matrix;
use scorewise_table::split::{MemberSplit, member_splits};

use crate::job::{Dataset, RowSplit};

/// The encoded rows of one repeat of an experiment.
#[derive(Clone, Debug)]
pub struct RepeatRows {
    /// The features.
    pub matrix: Matrix,
    /// The class of each row; 1 is the event.
    pub labels: Arc<[u32]>,
    /// Rows that are trained on.
    pub training: Vec<u32>,
    /// Rows that stop the training.
    pub validation: Vec<u32>,
    /// Rows on which the training scores and the best threshold are computed.
    pub seen: Vec<u32>,
    /// Test rows.
    pub test: Vec<u32>,
}

impl RepeatRows {
    /// The rows as a data set whose first split is that of the repeat.
    #[must_use]
    pub fn dataset(&self) -> Dataset {
        let split = RowSplit { training: self.training.clone(), validation: self.validation.clone() };
        Dataset {
            matrix: self.matrix.clone(),
            labels: self.labels.clone(),
            classes: 2,
            weights: None,
            splits: vec![split],
        }
    }

    /// Rows for each of several networks, which together are trained on every event: they have different validation rows.
    #[must_use]
    pub fn member_splits(&self, members: usize, seed: u64) -> Vec<RowSplit> {
        let pool = [&self.training[..], &self.validation].concat();
        let parts = pool.len() / self.validation.len().max(1);
        let split = |MemberSplit { training, validation }: MemberSplit| RowSplit { training, validation };
        member_splits(&[pool], parts, members, seed).into_iter().map(split).collect()
    }

    /// Whether each of these rows is an event.
    #[must_use]
    pub fn events(&self, rows: &[u32]) -> Vec<bool> {
        rows.iter().map(|row| self.labels[*row as usize] == 1).collect()
    }

    /// Share of events among these rows.
    #[must_use]
    pub fn rate(&self, rows: &[u32]) -> f64 {
        self.events(rows).iter().filter(|event| **event).count() as f64 / rows.len() as f64
    }
}
