//! The mean cost of a forecast of many classes, if every pair of a true and a predicted class has its own cost.
//!
//! ```text
//! mean cost = Σ Eⱼₖ Cⱼₖ / n        E: the confusion matrix, n: the sum of its cells, Cⱼₖ: the cost if class k is predicted and class j is true
//! expected cost of predicting k = Σⱼ pⱼ Cⱼₖ        pⱼ: the probability of class j
//! ```
//!
//! The mean cost is linear in E. So the mean cost of the expected matrix of a [`SimplexLoss`](super::SimplexLoss) is the mean over the rows of the
//! expected cost of a row, if its class is predicted at random with the class probabilities of the loss.
//!
//! Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI-01, 973–978.

use std::fmt;

use super::square::{SquareMatrix, sum};
use crate::formula::{FormulaError, Number};

/// The cost of every pair of a true and a predicted class.
///
/// ```
/// use scorewise::multiclass::{CostMatrix, MultiConfusion, MultiScore};
///
/// // A severe case that is taken for a mild one costs 10.
/// let costs = CostMatrix::new(&[vec![0.0, 1.0, 1.0], vec![1.0, 0.0, 1.0], vec![5.0, 10.0, 0.0]])?;
/// assert_eq!(costs.cheapest(&[0.5, 0.3, 0.2]), 2); // the expected costs are 1.3, 2.5 and 0.8
/// let score = MultiScore::Costs(costs);
/// assert_eq!(score.to_string(), "cost_matrix(0, 1, 1; 1, 0, 1; 5, 10, 0)");
/// let matrix = MultiConfusion::new(3, vec![50.0, 3.0, 2.0, 10.0, 30.0, 5.0, 1.0, 4.0, 15.0])?;
/// assert_eq!(score.value(&matrix), (3.0 + 2.0 + 10.0 + 5.0 + 5.0 + 40.0) / 120.0);
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CostMatrix {
    classes: usize,
    /// The costs row by row; rows are true classes, columns predicted classes.
    costs: Vec<f64>,
}

impl CostMatrix {
    /// The name of the score in texts such as `cost_matrix(0, 1; 5, 0)`.
    pub(super) const NAME: &'static str = "cost_matrix";

    /// A matrix from its rows; row j contains the cost of each predicted class if class j is true. There must be at least two classes, each row must
    /// have as many costs as there are rows, and all costs must be finite. A negative cost is a gain.
    pub fn new(rows: &[Vec<f64>]) -> Result<Self, FormulaError> {
        let classes = rows.len();
        let error = |problem: String| {
            FormulaError::without_position(problem)
                .with_hint("write the costs of each true class, with a semicolon between the classes: cost_matrix(0, 1, 5; 1, 0, 2; 10, 3, 0)")
        };
        if classes < 2 {
            return Err(error(format!("a cost matrix needs at least 2 rows, not {classes}")));
        }
        if let Some(at) = rows.iter().position(|row| row.len() != classes) {
            let (row, found) = (at + 1, rows[at].len());
            return Err(error(format!("row {row} of the cost matrix has {found} costs, but there are {classes} rows")));
        }
        let costs = rows.concat();
        match costs.iter().find(|cost| !cost.is_finite()) {
            Some(cost) => Err(error(format!("{cost} is not a finite cost"))),
            None => Ok(CostMatrix { classes, costs }),
        }
    }

    /// Parses the text between the parentheses of `cost_matrix(…)`.
    pub(super) fn parse(inside: &str) -> Result<Self, FormulaError> {
        let mut rows = Vec::new();
        for row in inside.split(';') {
            let mut costs = Vec::new();
            for text in row.split(',') {
                let cost = text.trim().parse::<f64>();
                costs.push(cost.map_err(|_| {
                    FormulaError::without_position(format!("`{}` is not a cost", text.trim())).with_hint(
                        "write numbers with commas between them, and semicolons between the costs of different true classes",
                    )
                })?);
            }
            rows.push(costs);
        }
        CostMatrix::new(&rows)
    }

    /// The number of classes.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// For each true class, the costs of all predicted classes.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.costs.chunks_exact(self.classes)
    }

    /// The class with the lowest expected cost, given the probabilities of all classes; the first of them if several are equally good.
    #[must_use]
    pub fn cheapest(&self, probabilities: &[f64]) -> usize {
        let mut best = (0, f64::INFINITY);
        for predicted in 0..self.classes {
            let products = probabilities.iter().zip(self.rows()).map(|(p, row)| p * row[predicted]);
            let expected = products.sum::<f64>();
            if expected < best.1 {
                best = (predicted, expected);
            }
        }
        best.0
    }

    /// The mean cost; NaN if the confusion matrix and the cost matrix have different numbers of classes.
    pub(super) fn mean<T: Number>(&self, matrix: &SquareMatrix<'_, T>) -> T {
        if matrix.classes != self.classes {
            return T::constant(f64::NAN);
        }
        let products = matrix.cells.iter().zip(&self.costs).map(|(cell, cost)| cell.times(T::constant(*cost)));
        sum(products).over(sum(matrix.row_sums().into_iter()))
    }

    /// The loss: the mean cost, shifted and scaled so that the lowest cost is 0 and the highest is 1.
    pub(super) fn loss<T: Number>(&self, matrix: &SquareMatrix<'_, T>) -> T {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = self.costs.iter().fold(ends, |(low, high), cost| (low.min(*cost), high.max(*cost)));
        let range = if high > low { high - low } else { 1.0 };
        self.mean(matrix).minus(T::constant(low)).over(T::constant(range))
    }
}

impl fmt::Display for CostMatrix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        write!(out, "{}({})", CostMatrix::NAME, self.rows().map(row).collect::<Vec<_>>().join("; "))
    }
}
