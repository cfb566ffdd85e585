//! Scores of the whole m×m matrix, each written once over numbers of any kind.
//!
//! With the matrix E, rows rₖ the truth, columns cₖ the prediction, n their sum, every score here is 1 for a perfect forecast:
//!
//! ```text
//! accuracy  Σ Eₖₖ / n                                               share of rows that are right
//! hss       (n Σ Eₖₖ − Σ rₖcₖ) / Σ rₖ(n − cₖ)                       against chance with both margins: Heidke, Cohen's κ
//! peirce    (n Σ Eₖₖ − Σ rₖcₖ) / Σ rₖ(n − rₖ)                       against chance with the truth's margin alone
//! mcc       (n Σ Eₖₖ − Σ rₖcₖ) / √(Σ rₖ(n − rₖ) · Σ cₖ(n − cₖ))     correlation, R_K
//! gerrity   mean over the m − 1 cuts of hits/above − alarms/below   for ordered classes
//! ```
//!
//! The margins n − rₖ are summed over the other classes: a forecast of one class only has exactly 0 left, so that the guard of
//! the division sees it. Gerrity's scoring matrix, made from the truth's frequencies, is the mean of the Peirce scores of the
//! m − 1 questions "above the cut?"; written so, it needs no matrix.

use super::square::{Square, others, sum};
use crate::formula::Number;

/// Range [0, 1]; undefined without rows.
pub(super) fn accuracy<T: Number>(matrix: &Square<'_, T>) -> T {
    matrix.trace().over(sum(matrix.row_sums().into_iter()))
}

/// Range [−1, 1], 0 without skill; undefined where truth and prediction are one and the same class throughout.
///
/// Heidke, P. (1926). Berechnung des Erfolges und der Güte der Windstärkevorhersagen im Sturmwarnungsdienst. Geografiska
/// Annaler 8, 301–349. Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement
/// 20, 37–46. doi:10.1177/001316446002000104
pub(super) fn hss<T: Number>(matrix: &Square<'_, T>) -> T {
    let margins = Margins::of(matrix);
    margins.above_chance(matrix).over(products(&margins.truth, &others(&margins.predicted)))
}

/// Range [−1, 1], 0 without skill; undefined where the truth is one class throughout.
///
/// Peirce, C. S. (1884). The numerical measure of the success of predictions. Science 4(93), 453–454.
/// doi:10.1126/science.ns-4.93.453.b
pub(super) fn peirce<T: Number>(matrix: &Square<'_, T>) -> T {
    let margins = Margins::of(matrix);
    margins.above_chance(matrix).over(products(&margins.truth, &others(&margins.truth)))
}

/// Range [−1, 1] (the lower end depends on the margins), 0 without skill; undefined where truth or prediction is one class
/// throughout.
///
/// Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation coefficient. Computational Biology and
/// Chemistry 28, 367–374. doi:10.1016/j.compbiolchem.2004.09.006
pub(super) fn mcc<T: Number>(matrix: &Square<'_, T>) -> T {
    let margins = Margins::of(matrix);
    let spread = |sums: &[T]| products(sums, &others(sums));
    margins.above_chance(matrix).over(spread(&margins.truth).times(spread(&margins.predicted)).sqrt())
}

/// Range [−1, 1], 0 without skill; undefined where the lowest or the highest class has no rows.
///
/// Gerrity, J. P. (1992). A note on Gandin and Murphy's equitable skill score. Monthly Weather Review 120, 2709–2712.
/// doi:10.1175/1520-0493(1992)120<2709:ANOGAM>2.0.CO;2
pub(super) fn gerrity<T: Number>(matrix: &Square<'_, T>) -> T {
    let zero = T::constant(0.0);
    let cuts = matrix.classes - 1;
    // Cut k lies between class k and class k + 1.
    let (mut hits, mut alarms) = (vec![zero; cuts], vec![zero; cuts]);
    for (truth, row) in matrix.rows().enumerate() {
        let mut predicted_above = zero;
        for cut in (0..cuts).rev() {
            predicted_above = predicted_above.plus(row[cut + 1]);
            let side = if truth > cut { &mut hits[cut] } else { &mut alarms[cut] };
            *side = side.plus(predicted_above);
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

struct Margins<T> {
    truth: Vec<T>,
    predicted: Vec<T>,
}

impl<T: Number> Margins<T> {
    fn of(matrix: &Square<'_, T>) -> Self {
        Margins { truth: matrix.row_sums(), predicted: matrix.column_sums() }
    }

    /// n Σ Eₖₖ − Σ rₖcₖ: n² times what is right beyond what independent margins would get right.
    fn above_chance(&self, matrix: &Square<'_, T>) -> T {
        let total = sum(self.truth.iter().copied());
        total.times(matrix.trace()).minus(products(&self.truth, &self.predicted))
    }
}

/// Σ aₖbₖ.
fn products<T: Number>(a: &[T], b: &[T]) -> T {
    sum(a.iter().zip(b).map(|(a, b)| a.times(*b)))
}
