//! Isotonic regression: of all functions of the prediction that do not decrease, the one that fits the labels best.
//!
//! The rows are in ascending order of their predictions. Blocks of neighbouring rows are pooled until the share of positives increases from block to
//! block. The fitted value of a row is the share of positives in its block. No other function that does not decrease has a lower log-loss or a lower
//! Brier score.
//!
//! For a calibration, straight lines join the centres of the blocks (centred isotonic regression). Every block also gets a pseudo-row, so that no
//! probability is 0 or 1: a row of weight 1 whose label is the share of positives among all rows.
//!
//! Ayer, M., Brunk, H. D., Ewing, G. M., Reid, W. T. & Silverman, E. (1955). An empirical distribution function for sampling with incomplete
//! information. The Annals of Mathematical Statistics 26(4), 641–647. Oron, A. P. & Flournoy, N. (2017). Centered isotonic regression. Statistics in
//! Biopharmaceutical Research 9(3), 258–267.

use super::bins::Bin;
use super::{Calibration, CalibrationMethod, through_points};
use crate::error::Result;

/// A block of neighbouring rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PooledRows {
    /// The weight of the positives.
    pub positives: f64,
    /// The weight of the negatives.
    pub negatives: f64,
    /// The weighted sum of a quantity, such as the logit, over the rows of the block.
    pub sum: f64,
}

impl PooledRows {
    /// The weight of all rows of the block.
    pub fn weight(&self) -> f64 {
        self.positives + self.negatives
    }

    /// The block of all rows of both blocks.
    fn joined(self, other: PooledRows) -> PooledRows {
        PooledRows {
            positives: self.positives + other.positives,
            negatives: self.negatives + other.negatives,
            sum: self.sum + other.sum,
        }
    }
}

/// Pools neighbouring blocks until the share of positives increases strictly. Blocks of weight 0 are left out.
pub(crate) fn pooled(blocks: impl Iterator<Item = PooledRows>) -> Vec<PooledRows> {
    let mut result: Vec<PooledRows> = Vec::new();
    for mut block in blocks.filter(|block| block.weight() > 0.0) {
        // Shares are compared without division: a/(a + b) ≥ c/(c + d) if a d ≥ c b.
        while let Some(last) =
            result.pop_if(|last| last.positives * block.negatives >= block.positives * last.negatives)
        {
            block = last.joined(block);
        }
        result.push(block);
    }
    result
}

/// Fits a calibration to bins in ascending order of their logits. The weights of the rows must have mean 1.
pub(super) fn fit(bins: &[Bin]) -> Result<Calibration> {
    let blocks = pooled(bins.iter().map(|bin| PooledRows {
        positives: bin.positives,
        negatives: bin.negatives,
        sum: bin.logit * (bin.positives + bin.negatives),
    }));
    let (positives, total) = blocks
        .iter()
        .fold((0.0, 0.0), |(positives, total), block| (positives + block.positives, total + block.weight()));
    let rate = positives / total;
    // Each block gets a pseudo-row of weight 1 with the label `rate`. The sum is scaled so that the centre of the block does not move. The share of
    // positives may then decrease from one block to the next, so the blocks are pooled again.
    let smoothed = blocks.into_iter().map(|block| PooledRows {
        positives: block.positives + rate,
        negatives: block.negatives + 1.0 - rate,
        sum: block.sum / block.weight() * (block.weight() + 1.0),
    });
    let points =
        pooled(smoothed).into_iter().map(|block| (block.sum / block.weight(), block.positives / block.weight()));
    through_points(CalibrationMethod::Isotonic, points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_pooled_until_the_share_of_positives_increases() {
        let block = |positives: f64, negatives: f64| PooledRows { positives, negatives, sum: 0.0 };
        // The shares 0, 1, 0, 1: the second and the third block are pooled to the share 1/2.
        let blocks = [block(0.0, 2.0), block(1.0, 0.0), block(0.0, 1.0), block(3.0, 0.0), block(0.0, 0.0)];
        assert_eq!(pooled(blocks.into_iter()), [block(0.0, 2.0), block(1.0, 1.0), block(3.0, 0.0)]);
        // If the shares fall throughout, all blocks are pooled.
        let falling = [block(3.0, 1.0), block(2.0, 2.0), block(1.0, 3.0)];
        assert_eq!(pooled(falling.into_iter()), [block(6.0, 6.0)]);
    }
}
