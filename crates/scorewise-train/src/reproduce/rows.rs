//! The training, validation and test rows of one repetition of an experiment.

use std::sync::Arc;

use scorewise_table::Matrix;
use scorewise_table::split::{MemberSplit, member_splits};

use crate::job::{Dataset, RowSplit};

/// The encoded rows of one repetition of an experiment.
#[derive(Clone, Debug)]
pub struct RepeatRows {
    /// The features.
    pub matrix: Matrix,
    /// The class of each row; 1 if the row is an event, else 0.
    pub labels: Arc<[u32]>,
    /// Indices of the rows that are trained on.
    pub training: Vec<u32>,
    /// Indices of the rows whose loss decides when training stops.
    pub validation: Vec<u32>,
    /// Indices of the rows on which the training scores and the best threshold are computed.
    pub seen: Vec<u32>,
    /// Indices of the test rows.
    pub test: Vec<u32>,
}

impl RepeatRows {
    /// A data set with these rows. Its only split consists of the training and validation rows.
    #[must_use]
    pub fn dataset(&self) -> Dataset {
        let split = RowSplit { training: self.training.clone(), validation: self.validation.clone() };
        Dataset {
            binned: None,
            matrix: self.matrix.clone(),
            labels: self.labels.clone(),
            classes: 2,
            weights: None,
            places: None,
            splits: vec![split],
        }
    }

    /// Training and validation rows for each of several networks. Every network has validation rows of its own, so that together the networks are
    /// trained on every event.
    #[must_use]
    pub fn member_splits(&self, members: usize, seed: u64) -> Vec<RowSplit> {
        let pool = [&self.training[..], &self.validation].concat();
        let parts = pool.len() / self.validation.len().max(1);
        let split = |MemberSplit { training, validation }: MemberSplit| RowSplit { training, validation };
        member_splits(&[pool], parts, members, seed).into_iter().map(split).collect()
    }

    /// Whether each of the given rows is an event.
    #[must_use]
    pub fn events(&self, rows: &[u32]) -> Vec<bool> {
        rows.iter().map(|row| self.labels[*row as usize] == 1).collect()
    }

    /// Share of events among the given rows.
    #[must_use]
    pub fn event_rate(&self, rows: &[u32]) -> f64 {
        self.events(rows).iter().filter(|event| **event).count() as f64 / rows.len() as f64
    }
}
