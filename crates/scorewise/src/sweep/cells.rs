//! Assigns each row to its cell of the confusion matrix at a fixed threshold. Rows in the same cell with the same weight form a group,
//! because a bootstrap at a fixed threshold needs only the total number of copies of each group.

use std::collections::HashMap;

use rand_xoshiro::Xoshiro256PlusPlus;

use super::draw::random_poisson;
use crate::confusion::{Confusion, is_positive};
use crate::error::Result;
use crate::real::Real;
use crate::rows::{Probabilities, Rows};

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

/// Rows grouped by their cell of the confusion matrix and their weight.
pub(super) struct WeightGroups(Vec<WeightGroup>);

/// A group of rows in the same cell of the confusion matrix and with the same weight.
struct WeightGroup {
    cell: u8,
    weight: f64,
    rows: f64,
}

/// Maximum number of groups of rows that are in the same cell of the confusion matrix and have the same weight. If there are more groups, the
/// bootstrap draws the number of copies of every row separately.
const MAX_GROUPS: usize = 4096;

impl WeightGroups {
    /// Groups the rows by their cell of the confusion matrix and their weight; `None` if there would be more than `MAX_GROUPS` groups.
    pub fn new<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>, cells: &[u8]) -> Option<Self> {
        let mut groups = match rows.weights {
            None => {
                let mut counts = [0u64; 8];
                cells.iter().for_each(|cell| counts[*cell as usize & 7] += 1);
                (0..8).map(|cell| WeightGroup { cell, weight: 1.0, rows: counts[usize::from(cell)] as f64 }).collect()
            }
            Some(weights) => groups_by_weight(weights, cells)?,
        };
        // The groups come from a hash map in random order. They are sorted, so that the same random numbers always belong to the same groups.
        groups.sort_by(|a, b| a.cell.cmp(&b.cell).then(a.weight.total_cmp(&b.weight)));
        Some(WeightGroups(groups))
    }

    /// Draws one Poisson bootstrap replicate and returns the total weight of the rows in each cell of the confusion matrix, or in each pair of
    /// cells if two forecasts are compared.
    pub fn draw_cell_weights(&self, random: &mut Xoshiro256PlusPlus) -> [f64; 8] {
        let mut sums = [0.0; 8];
        for group in &self.0 {
            sums[usize::from(group.cell) & 7] += group.weight * random_poisson(random, group.rows);
        }
        sums
    }
}

/// The groups of rows in the same cell of the confusion matrix and with the same weight, in arbitrary order; `None` if there are more than
/// `MAX_GROUPS` groups.
fn groups_by_weight<R: Real>(weights: &[R], cells: &[u8]) -> Option<Vec<WeightGroup>> {
    let mut counts: HashMap<(u8, u64), u64> = HashMap::new();
    for (cell, weight) in cells.iter().zip(weights) {
        *counts.entry((*cell, weight.to_f64().to_bits())).or_insert(0) += 1;
        if counts.len() > MAX_GROUPS {
            return None;
        }
    }
    let group =
        |((cell, bits), rows): ((u8, u64), u64)| WeightGroup { cell, weight: f64::from_bits(bits), rows: rows as f64 };
    Some(counts.into_iter().map(group).collect())
}
