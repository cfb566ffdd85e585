//! Training and validation rows for each network of an ensemble.
//!
//! If all networks shared one validation set, its rows would not be used for training, which is a waste when positive rows are rare. If every
//! network has a validation set of its own, each row is used to train some networks and to validate others. As in cross-validation, the rows
//! are shuffled and divided into blocks, and each network has a different block as its validation set. If there are more networks than blocks, the
//! rows are shuffled again for the remaining networks.

use scorewise::Purpose;

use super::shuffle::{random, shuffle};

/// The training and validation rows of one network of an ensemble.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberSplit {
    /// The rows to train on, in ascending order.
    pub training: Vec<u32>,
    /// The rows that decide when training stops, in ascending order.
    pub validation: Vec<u32>,
}

/// Splits each stratum (the rows of a class, or all rows as one stratum) into `blocks` blocks of nearly equal size. Each network has one block
/// of every stratum as its validation set and is trained on the other blocks.
pub fn member_splits(strata: &[Vec<u32>], blocks: usize, networks: usize, seed: u64) -> Vec<MemberSplit> {
    let blocks = blocks.max(1);
    let mut splits = vec![MemberSplit::default(); networks];
    for (round, networks) in splits.chunks_mut(blocks).enumerate() {
        for (number, stratum) in strata.iter().enumerate() {
            let mut rows = stratum.clone();
            rows.sort_unstable();
            shuffle(&mut rows, &mut random(seed, Purpose::MemberSplit, (round * strata.len() + number) as u64));
            let border = |block: usize| block * rows.len() / blocks;
            for (block, network) in networks.iter_mut().enumerate() {
                network.validation.extend(&rows[border(block)..border(block + 1)]);
                network.training.extend(rows[..border(block)].iter().chain(&rows[border(block + 1)..]));
            }
        }
        for network in networks {
            network.validation.sort_unstable();
            network.training.sort_unstable();
        }
    }
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_the_same_number_of_validation_sets() {
        let strata = [(0..9).collect(), vec![9, 10, 11]];
        let splits = member_splits(&strata, 3, 6, 7);
        for row in 0..12 {
            let validates = splits.iter().filter(|split| split.validation.contains(&row)).count();
            let trains = splits.iter().filter(|split| split.training.contains(&row)).count();
            assert_eq!((validates, trains), (2, 4), "row {row}");
        }
        for split in &splits {
            assert_eq!(
                split.validation.iter().filter(|row| **row >= 9).count(),
                1,
                "every validation set has one of the three rows of the second stratum: {split:?}"
            );
        }
        assert_ne!(splits[0], splits[3], "the rows are shuffled again after the third network");
        assert_eq!(splits, member_splits(&strata, 3, 6, 7));
        assert_ne!(splits, member_splits(&strata, 3, 6, 8));
    }
}
