//! The rows of one repeat: which are for steps, which stop the training, which judge.

use crate::fit::Sample;
use scorewise_table::Matrix;
use scorewise_table::split::{Hand, deal_hands};

/// The rows of one repeat, encoded.
#[derive(Clone, Debug)]
pub struct Part {
    /// The features.
    pub matrix: Matrix,
    /// The class of each row, 1 for the event.
    pub labels: Vec<u32>,
    /// Rows for steps.
    pub training: Vec<u32>,
    /// Rows to stop by.
    pub validation: Vec<u32>,
    /// Rows on which the training scores and τ* are computed.
    pub seen: Vec<u32>,
    /// Rows that were kept away.
    pub test: Vec<u32>,
}

impl Part {
    /// What a training sees of them.
    #[must_use]
    pub fn sample(&self) -> Sample<'_> {
        Sample {
            matrix: &self.matrix,
            labels: &self.labels,
            weights: None,
            training: &self.training,
            validation: &self.validation,
        }
    }

    /// The rows of each of so many networks, with validation rows of their own.
    #[must_use]
    pub fn hands(&self, networks: usize, seed: u64) -> Vec<Hand> {
        let pool = [&self.training[..], &self.validation].concat();
        let hands = pool.len() / self.validation.len().max(1);
        deal_hands(&[pool], hands, networks, seed)
    }

    /// Which of these rows are events.
    #[must_use]
    pub fn events(&self, rows: &[u32]) -> Vec<bool> {
        rows.iter().map(|row| self.labels[*row as usize] == 1).collect()
    }

    /// The share of events among these rows.
    #[must_use]
    pub fn rate(&self, rows: &[u32]) -> f64 {
        self.events(rows).iter().filter(|event| **event).count() as f64 / rows.len() as f64
    }
}
