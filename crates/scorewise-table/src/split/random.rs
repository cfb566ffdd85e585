//! Splits rows at random, with the same share of each class in every set.

use scorewise::Purpose;

use super::shuffle::{apportion, random, shuffle};
use super::{NO_SET, SplitShares, TEST, TRAINING, VALIDATION, rows_of};
use crate::target::Labels;

/// Returns the set of each row (`TRAINING`, `VALIDATION` or `TEST`); [`NO_SET`] for rows without a label.
pub(super) fn assign(labels: &Labels, shares: &SplitShares, seed: u64) -> Vec<u8> {
    let mut set_of_row = vec![NO_SET; labels.classes.len()];
    let mut strata = shuffled_strata(labels, &labels.rows(), seed);
    take_share(&mut strata, shares.test, TEST, &mut set_of_row);
    take_share(&mut strata, shares.validation, VALIDATION, &mut set_of_row);
    strata.iter().flatten().for_each(|row| set_of_row[*row as usize] = TRAINING);
    set_of_row
}

/// Divides the given rows into strata: for each class, the list of the rows of this class, shuffled.
pub(super) fn shuffled_strata(labels: &Labels, rows: &[u32], seed: u64) -> Vec<Vec<u32>> {
    let mut strata = vec![Vec::new(); labels.names.len()];
    rows.iter().for_each(|row| strata[labels.classes[*row as usize] as usize].push(*row));
    for (class, rows) in strata.iter_mut().enumerate() {
        shuffle(rows, &mut random(seed, Purpose::Split, class as u64));
    }
    strata
}

/// Removes a share of the rows from every stratum and assigns these rows to `set`, which is `VALIDATION` or `TEST`.
pub(super) fn take_share(strata: &mut [Vec<u32>], share: f64, set: u8, set_of_row: &mut [u8]) {
    let sizes: Vec<usize> = strata.iter().map(Vec::len).collect();
    let counts = apportion(&sizes, rows_of(share, sizes.iter().sum()));
    for (rows, count) in strata.iter_mut().zip(counts) {
        // If the class has at least two rows, at least one row is taken and at least one is left. This changes the number of rows that
        // are taken by at most 1.
        let count = if share > 0.0 && rows.len() > 1 { count.clamp(1, rows.len() - 1) } else { count };
        rows.drain(rows.len() - count..).for_each(|row| set_of_row[row as usize] = set);
    }
}
