//! The confusion matrix of m classes, which contains counts, weights or expected values. Rows are true classes, columns predicted classes.

use std::ops::{Add, AddAssign};

use super::link::argmax;
use super::rows::{ClassRows, OneOf, check_at_least_two_classes, check_labels};
use super::square::SquareMatrix;
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{check_same_length, check_weights};

/// An m×m confusion matrix. The matrices of several batches add up to the matrix of all their rows.
///
/// ```
/// use scorewise::multiclass::MultiConfusion;
///
/// let counted = MultiConfusion::from_labels(3, &[0, 0, 1, 2], &[0, 1, 1, 0], None)?;
/// assert_eq!(counted.cells(), [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
/// assert_eq!(counted.binary(0).array(), [1.0, 1.0, 1.0, 1.0]); // tn, fp, fn, tp of class 0 against the rest
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MultiConfusion {
    classes: usize,
    cells: Vec<f64>,
}

impl MultiConfusion {
    /// A matrix from its m² cells, row by row.
    pub fn new(classes: usize, cells: Vec<f64>) -> Result<Self> {
        check_at_least_two_classes(classes)?;
        let refuse = |reason: String| Err(Error::Setting { what: "confusion matrix", reason });
        if classes.checked_mul(classes) != Some(cells.len()) {
            return refuse(format!("must have {classes}×{classes} cells, not {}", cells.len()));
        }
        match cells.iter().position(|cell| !(0.0..f64::INFINITY).contains(cell)) {
            Some(at) => refuse(format!(
                "must have finite cells that are 0 or above; the cell in row {}, column {} is {}",
                at / classes,
                at % classes,
                cells[at]
            )),
            None => Ok(MultiConfusion { classes, cells }),
        }
    }

    /// A matrix of zeros.
    pub fn empty(classes: usize) -> Result<Self> {
        check_at_least_two_classes(classes)?;
        // A matrix of more than 2²⁸ cells is probably a mistake, and is rejected before its memory is allocated.
        let cells = classes.checked_mul(classes).filter(|cells| *cells <= 1 << 28).ok_or_else(|| Error::Setting {
            what: "classes",
            reason: format!("must be at most 16384, not {classes}"),
        })?;
        Ok(MultiConfusion { classes, cells: vec![0.0; cells] })
    }

    /// Counts pairs of true and predicted class indices; with weights, sums the weights instead.
    pub fn from_labels(classes: usize, truth: &[u32], predicted: &[u32], weights: Option<&[f64]>) -> Result<Self> {
        let mut matrix = Self::empty(classes)?;
        check_same_length("predicted labels", truth.len(), predicted.len())?;
        check_labels("labels", truth, classes)?;
        check_labels("predicted labels", predicted, classes)?;
        if let Some(weights) = weights {
            check_same_length("weights", truth.len(), weights.len())?;
            check_weights(weights)?;
        }
        for (row, (truth, predicted)) in truth.iter().zip(predicted).enumerate() {
            matrix.add_weight(*truth as usize, *predicted as usize, weights.map_or(1.0, |weights| weights[row]));
        }
        Ok(matrix)
    }

    /// The confusion matrix if each row of data is predicted as the class with the largest logit. If several classes have the largest logit, the
    /// first of them is predicted.
    #[must_use]
    pub fn from_logits<R: Real>(rows: &ClassRows<'_, R, OneOf<'_>>) -> Self {
        let mut matrix = MultiConfusion { classes: rows.classes(), cells: vec![0.0; rows.classes() * rows.classes()] };
        let mut logits = Vec::new();
        for row in 0..rows.len() {
            logits.clear();
            logits.extend(rows.logits(row).iter().map(|logit| logit.to_f64()));
            matrix.add_weight(rows.label(row), argmax(&logits), rows.weight(row));
        }
        matrix
    }

    /// Adds the weight of a row to the cell of its true and its predicted class.
    pub(super) fn add_weight(&mut self, truth: usize, predicted: usize, weight: f64) {
        self.cells[truth * self.classes + predicted] += weight;
    }

    /// The number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// All cells of the matrix, row by row: rows are true classes, columns predicted classes.
    #[must_use]
    pub fn cells(&self) -> &[f64] {
        &self.cells
    }

    /// The weight of the rows of class `truth` that are predicted as class `predicted`.
    #[must_use]
    pub fn at(&self, truth: usize, predicted: usize) -> f64 {
        self.as_square_matrix().at(truth, predicted)
    }

    /// The support of each class: the total weight of the rows that belong to it.
    #[must_use]
    pub fn row_sums(&self) -> Vec<f64> {
        self.as_square_matrix().row_sums()
    }

    /// For each class, the total weight of the rows predicted as that class.
    #[must_use]
    pub fn column_sums(&self) -> Vec<f64> {
        self.as_square_matrix().column_sums()
    }

    /// The total weight of all rows: the sum of all cells.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.cells.iter().sum()
    }

    /// The binary matrix of one class against the rest.
    #[must_use]
    pub fn binary(&self, class: usize) -> Confusion {
        self.binaries()[class]
    }

    /// The binary matrix of each class against the rest.
    #[must_use]
    pub fn binaries(&self) -> Vec<Confusion> {
        self.as_square_matrix()
            .binaries()
            .into_iter()
            .map(|[tn, fp, fn_, tp]| Confusion::new(tn, fp, fn_, tp))
            .collect()
    }

    /// The sum of the binary matrices of all classes, from which a micro average is computed.
    #[must_use]
    pub fn micro(&self) -> Confusion {
        self.binaries().into_iter().sum()
    }

    pub(super) fn as_square_matrix(&self) -> SquareMatrix<'_, f64> {
        SquareMatrix { classes: self.classes, cells: &self.cells }
    }
}

impl AddAssign<&MultiConfusion> for MultiConfusion {
    /// # Panics
    ///
    /// If the numbers of classes differ.
    fn add_assign(&mut self, other: &MultiConfusion) {
        assert_eq!(self.classes, other.classes, "matrices with different numbers of classes cannot be added");
        self.cells.iter_mut().zip(&other.cells).for_each(|(cell, other)| *cell += other);
    }
}

impl Add for MultiConfusion {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += &other;
        self
    }
}
