//! Scores of the whole m×m matrix, for any [`Number`] type.
//!
//! Let E be the matrix, rₖ its row sums (true classes), cₖ its column sums (predicted classes) and n the sum of all cells.
//! Every score is 1 for a perfect forecast:
//!
//! ```text
//! accuracy  Σ Eₖₖ / n                                               share of correct rows
//! hss       (n Σ Eₖₖ − Σ rₖcₖ) / Σ rₖ(n − cₖ)                       gain over chance, given rₖ and cₖ (Heidke, Cohen's κ)
//! peirce    (n Σ Eₖₖ − Σ rₖcₖ) / Σ rₖ(n − rₖ)                       gain over chance, given rₖ
//! mcc       (n Σ Eₖₖ − Σ rₖcₖ) / √(Σ rₖ(n − rₖ) · Σ cₖ(n − cₖ))     correlation, R_K
//! gerrity   mean over the m − 1 cuts of hits/above − alarms/below   for ordered classes
//! ```
//!
//! The differences n − rₖ are computed as sums over the other classes, so that they are exactly 0 if only one class occurs, and the
//! division by zero is recognised. A cut divides the ordered classes into those below and those above it. Hits are the rows above the cut
//! that are predicted above it; alarms are the rows below the cut that are predicted above it; `above` and `below` are the numbers of rows on each
//! side of the cut. The mean over the cuts equals the score that Gerrity (1992) defines by a scoring matrix; each term is the Peirce score of the
//! binary question "above the cut?".

use super::square::{SquareMatrix, leave_one_out_sums, sum};
use crate::formula::Number;

/// Accuracy. Range [0, 1]; undefined without rows.
pub(super) fn accuracy<T: Number>(matrix: &SquareMatrix<'_, T>) -> T {
    matrix.trace().over(sum(matrix.row_sums().into_iter()))
}

/// Heidke skill score. Range [−1, 1], 0 without skill; undefined if all rows have the same true class and are predicted as that class.
///
/// Heidke, P. (1926). Berechnung des Erfolges und der Güte der Windstärkevorhersagen im Sturmwarnungsdienst. Geografiska
/// Annaler 8, 301–349. Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement
/// 20, 37–46. doi:10.1177/001316446002000104
pub(super) fn hss<T: Number>(matrix: &SquareMatrix<'_, T>) -> T {
    let margins = Margins::from_matrix(matrix);
    margins.gain_over_chance(matrix).over(sum_of_products(&margins.truth, &leave_one_out_sums(&margins.predicted)))
}

/// Peirce skill score. Range [−1, 1], 0 without skill; undefined if all rows have the same true class.
///
/// Peirce, C. S. (1884). The numerical measure of the success of predictions. Science 4(93), 453–454.
/// doi:10.1126/science.ns-4.93.453-a
pub(super) fn peirce<T: Number>(matrix: &SquareMatrix<'_, T>) -> T {
    let margins = Margins::from_matrix(matrix);
    margins.gain_over_chance(matrix).over(sum_of_products(&margins.truth, &leave_one_out_sums(&margins.truth)))
}

/// Multi-class correlation R_K. Range [−1, 1] (the lower end depends on the row and column sums), 0 without skill; undefined if all rows have
/// the same true class or are predicted as the same class.
///
/// Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation coefficient. Computational Biology and
/// Chemistry 28, 367–374. doi:10.1016/j.compbiolchem.2004.09.006
pub(super) fn mcc<T: Number>(matrix: &SquareMatrix<'_, T>) -> T {
    let margins = Margins::from_matrix(matrix);
    let variance = |sums: &[T]| sum_of_products(sums, &leave_one_out_sums(sums));
    margins.gain_over_chance(matrix).over(variance(&margins.truth).times(variance(&margins.predicted)).sqrt())
}

/// Gerrity score. Range [−1, 1], 0 without skill; undefined if the lowest or the highest class has no rows.
///
/// Gerrity, J. P. (1992). A note on Gandin and Murphy's equitable skill score. Monthly Weather Review 120, 2709–2712.
/// doi:10.1175/1520-0493(1992)120<2709:ANOGAM>2.0.CO;2
pub(super) fn gerrity<T: Number>(matrix: &SquareMatrix<'_, T>) -> T {
    let zero = T::constant(0.0);
    let cuts = matrix.classes - 1;
    // The cut with index k lies between class k and class k + 1 of the ordered classes.
    let (mut hits, mut alarms) = (vec![zero; cuts], vec![zero; cuts]);
    for (truth, row) in matrix.rows().enumerate() {
        let mut predicted_above = zero;
        for cut in (0..cuts).rev() {
            predicted_above = predicted_above.plus(row[cut + 1]);
            let count = if truth > cut { &mut hits[cut] } else { &mut alarms[cut] };
            *count = count.plus(predicted_above);
        }
    }
    let truth = matrix.row_sums();
    let peirce = |cut: usize| {
        let above = sum(truth[cut + 1..].iter().copied());
        let below = sum(truth[..=cut].iter().copied());
        hits[cut].over(above).minus(alarms[cut].over(below))
    };
    sum((0..cuts).map(peirce)).over(T::constant(cuts as f64))
}

/// The row sums (true classes) and column sums (predicted classes) of a confusion matrix.
struct Margins<T> {
    truth: Vec<T>,
    predicted: Vec<T>,
}

impl<T: Number> Margins<T> {
    fn from_matrix(matrix: &SquareMatrix<'_, T>) -> Self {
        Margins { truth: matrix.row_sums(), predicted: matrix.column_sums() }
    }

    /// n Σ Eₖₖ − Σ rₖcₖ, where E is the matrix, rₖ and cₖ are its row and column sums, and n is the sum of all cells. This is n² times the
    /// difference between the share of correct rows and the share expected if true and predicted classes were independent.
    fn gain_over_chance(&self, matrix: &SquareMatrix<'_, T>) -> T {
        let total = sum(self.truth.iter().copied());
        total.times(matrix.trace()).minus(sum_of_products(&self.truth, &self.predicted))
    }
}

/// The sum of products Σ aₖbₖ.
fn sum_of_products<T: Number>(a: &[T], b: &[T]) -> T {
    sum(a.iter().zip(b).map(|(a, b)| a.times(*b)))
}
