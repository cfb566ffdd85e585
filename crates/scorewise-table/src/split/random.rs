//! At random, with the same share of each class in every part.

use scorewise::Purpose;

use super::deal::{apportion, random, shuffle};
use super::{NO_SIDE, Shares, TEST, TRAINING, VALIDATION, rows_of};
use crate::target::Labels;

pub(super) fn sides(labels: &Labels, shares: &Shares, seed: u64) -> Vec<u8> {
    let mut sides = vec![NO_SIDE; labels.classes.len()];
    let mut strata = strata(labels, &labels.rows(), seed);
    take(&mut strata, shares.test, TEST, &mut sides);
    take(&mut strata, shares.validation, VALIDATION, &mut sides);
    strata.iter().flatten().for_each(|row| sides[*row as usize] = TRAINING);
    sides
}

/// The given rows of each class, each class in an order of its own.
pub(super) fn strata(labels: &Labels, rows: &[u32], seed: u64) -> Vec<Vec<u32>> {
    let mut strata = vec![Vec::new(); labels.names.len()];
    rows.iter().for_each(|row| strata[labels.classes[*row as usize] as usize].push(*row));
    for (class, rows) in strata.iter_mut().enumerate() {
        shuffle(rows, &mut random(seed, Purpose::Split, class as u64));
    }
    strata
}

/// Takes a share of every stratum for a side.
pub(super) fn take(strata: &mut [Vec<u32>], share: f64, side: u8, sides: &mut [u8]) {
    let sizes: Vec<usize> = strata.iter().map(Vec::len).collect();
    let counts = apportion(&sizes, rows_of(share, sizes.iter().sum()));
    for (rows, count) in strata.iter_mut().zip(counts) {
        // A class with two rows or more has one in a part that is not empty: this is still within one row of its share.
        let count = if share > 0.0 && rows.len() > 1 { count.clamp(1, rows.len() - 1) } else { count };
        rows.drain(rows.len() - count..).for_each(|row| sides[row as usize] = side);
    }
}
