//! Assigns each row to its cell of the confusion matrix at a fixed threshold.

use crate::confusion::{Confusion, is_positive};
use crate::error::Result;
use crate::formula::CellDerivatives;
use crate::real::Real;
use crate::rows::{Probabilities, Rows};
use crate::score::Score;

/// The index of the cell of the confusion matrix that a row belongs to, in the order tn, fp, fn, tp.
pub(super) fn cell_index<R: Real>(label: bool, probability: R, threshold: f64) -> u8 {
    2 * u8::from(label) + u8::from(is_positive(probability.to_f64(), threshold))
}

/// The confusion matrix at one threshold, computed in one pass without sorting.
///
/// ```
/// use scorewise::{Confusion, Probabilities, Rows, sweep};
///
/// let rows = Rows::new(Probabilities(&[0.9, 0.6, 0.3]), &[true, false, true])?;
/// assert_eq!(sweep::confusion(&rows, 0.5)?, Confusion::new(0.0, 1.0, 1.0, 1.0));
/// # Ok::<(), scorewise::Error>(())
/// ```
pub fn confusion<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>, threshold: f64) -> Result<Confusion> {
    rows.check()?;
    let mut sums = [0.0; 4];
    for (row, value) in rows.predictions.0.iter().enumerate() {
        sums[usize::from(cell_index(rows.labels[row], *value, threshold)) & 3] += rows.weight(row);
    }
    Ok(Confusion::new(sums[0], sums[1], sums[2], sums[3]))
}

/// For each row, the index of its cell of the confusion matrix at a threshold, in the order tn, fp, fn, tp.
pub(super) fn cells_at<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>, threshold: f64) -> Vec<u8> {
    rows.labels.iter().zip(rows.predictions.0).map(|(label, p)| cell_index(*label, *p, threshold)).collect()
}

/// The derivatives of a score with respect to the four cells, followed by four zeros, because `Linearisation` has eight cells. Half a row is added to
/// each cell first, so that the derivatives are defined even if cells are empty; `rows` is the number of rows.
pub(super) fn cell_derivatives(score: &Score, confusion: &Confusion, rows: usize) -> [f64; 8] {
    let half = 0.5 * confusion.total() / rows.max(1) as f64;
    let [tn, fp, fn_, tp] = confusion.array().map(|cell| cell + half);
    let CellDerivatives { tn, fp, fn_, tp } = score.formula().derivatives(&Confusion::new(tn, fp, fn_, tp));
    [tn, fp, fn_, tp, 0.0, 0.0, 0.0, 0.0]
}
