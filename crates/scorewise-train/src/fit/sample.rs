//! The data of one training run: a matrix with labels, and the lists of its training rows and validation rows.

use scorewise_table::Matrix;
use scorewise_table::encode::BinnedColumn;
use scorewise_table::error::{Error, Result};

/// The data of one training run, borrowed from a data set so that many training runs share one matrix.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The features.
    pub matrix: &'a Matrix,
    /// For binned inputs, the knots, frequent values and levels of each column. They are numbered 0, 1, 2, …, and the matrix contains these numbers;
    /// a value between two knots has a fractional number. `None` for dense inputs, which a network multiplies by its weights.
    pub binned: Option<&'a [BinnedColumn]>,
    /// The class of each row of the matrix, counted from 0. With two classes, 1 is the positive class.
    pub labels: &'a [u32],
    /// Number of classes.
    pub classes: usize,
    /// One sample weight for each row of the matrix; `None` if all rows have the same weight.
    pub weights: Option<&'a [f32]>,
    /// For a time series, the place of each row in the order of time: rows that follow each other have consecutive places, and between two series or
    /// at a gap a place is left out. `None` if the loss does not depend on the order of the rows.
    pub places: Option<&'a [u32]>,
    /// Indices of the rows that are trained on.
    pub training: &'a [u32],
    /// Indices of the rows whose loss decides when training stops.
    pub validation: &'a [u32],
}

impl Sample<'_> {
    /// Sum of the sample weights of the training rows of each class, for a balanced cross-entropy.
    #[must_use]
    pub fn class_weights(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes];
        for row in self.training.iter().map(|row| *row as usize) {
            if let Some(sum) = sums.get_mut(self.labels[row] as usize) {
                *sum += self.weights.map_or(1.0, |weights| f64::from(weights[row]));
            }
        }
        sums
    }

    /// The given rows in the order of time if the rows are a time series; otherwise in the given order.
    pub(crate) fn in_time_order(&self, rows: &[u32]) -> Vec<u32> {
        let mut ordered = rows.to_vec();
        if let Some(places) = self.places {
            ordered.sort_by_key(|row| places[*row as usize]);
        }
        ordered
    }

    /// Checks that labels, weights and row indices are valid for the matrix.
    pub(crate) fn check(&self) -> Result<()> {
        let rows = self.matrix.rows();
        let refuse = |what: &str, problem: String| Err(Error::setting(what, problem, ""));
        let lengths = [
            ("labels", self.labels.len()),
            ("weights", self.weights.map_or(rows, <[f32]>::len)),
            ("places", self.places.map_or(rows, <[u32]>::len)),
        ];
        for (what, got) in lengths {
            if got != rows {
                return Err(scorewise::Error::LengthMismatch { what, expected: rows, got }.into());
            }
        }
        if let Some(columns) = self.binned
            && columns.len() != self.matrix.columns()
        {
            return refuse(
                "features",
                format!(
                    "there are {} binned columns, but the matrix has {} columns",
                    columns.len(),
                    self.matrix.columns()
                ),
            );
        }
        if self.training.is_empty() || self.validation.is_empty() {
            return Err(scorewise::Error::Empty.into());
        }
        for row in self.training.iter().chain(self.validation).map(|row| *row as usize) {
            if row >= rows {
                return refuse("rows", format!("row numbers must be below {rows}, not {row}"));
            }
            if self.labels[row] as usize >= self.classes {
                let (class, last) = (self.labels[row], self.classes - 1);
                return refuse("labels", format!("row {row} has class {class}, but the classes are 0 to {last}"));
            }
            if let Some(weight) = self.weights.map(|weights| weights[row])
                && !(0.0..f32::INFINITY).contains(&weight)
            {
                return refuse("weights", format!("row {row} has weight {weight}; weights must be finite and ≥ 0"));
            }
        }
        Ok(())
    }
}
