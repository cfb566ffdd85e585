//! Rows dealt anew to each of several networks, so that between them they learn from every row and are stopped by every row.
//!
//! Of a rare event there are few rows, and a third of them that only stops is a third that no network has learnt from. Dealt into three
//! hands, each stops one network and teaches two; with more networks than hands the rows are shuffled and dealt again.

use scorewise::Purpose;

use super::deal::{random, shuffle};

/// The rows of one network among several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hand {
    /// To learn from, in ascending order.
    pub training: Vec<u32>,
    /// To stop by, in ascending order.
    pub validation: Vec<u32>,
}

/// Deals each stratum (the rows of a class, or all rows as one) into so many hands, the validation rows of as many networks.
pub fn deal(strata: &[Vec<u32>], hands: usize, networks: usize, seed: u64) -> Vec<Hand> {
    let hands = hands.max(1);
    let mut dealt = vec![Hand::default(); networks];
    for (round, networks) in dealt.chunks_mut(hands).enumerate() {
        for (number, stratum) in strata.iter().enumerate() {
            let mut rows = stratum.clone();
            rows.sort_unstable();
            shuffle(&mut rows, &mut random(seed, Purpose::ValidationDeal, (round * strata.len() + number) as u64));
            let border = |hand: usize| hand * rows.len() / hands;
            for (hand, network) in networks.iter_mut().enumerate() {
                network.validation.extend(&rows[border(hand)..border(hand + 1)]);
                network.training.extend(rows[..border(hand)].iter().chain(&rows[border(hand + 1)..]));
            }
        }
        for network in networks {
            network.validation.sort_unstable();
            network.training.sort_unstable();
        }
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stops_as_many_networks_as_any_other() {
        let strata = [(0..9).collect(), vec![9, 10, 11]];
        let hands = deal(&strata, 3, 6, 7);
        for row in 0..12 {
            let stops = hands.iter().filter(|hand| hand.validation.contains(&row)).count();
            let teaches = hands.iter().filter(|hand| hand.training.contains(&row)).count();
            assert_eq!((stops, teaches), (2, 4), "row {row}");
        }
        for hand in &hands {
            assert_eq!(
                hand.validation.iter().filter(|row| **row >= 9).count(),
                1,
                "of each stratum its share: {hand:?}"
            );
        }
        assert_ne!(hands[0], hands[3], "dealt again, not the same hand twice");
        assert_eq!(hands, deal(&strata, 3, 6, 7));
        assert_ne!(hands, deal(&strata, 3, 6, 8));
    }
}
