//! The distribution of a quantity over the replicates of a bootstrap.

use crate::MeanAndDeviation;

/// The values of one quantity over the bootstrap replicates in which it is defined.
#[derive(Clone, Debug, PartialEq)]
pub struct BootstrapDistribution {
    /// The values in ascending order.
    values: Vec<f64>,
    replicates: usize,
}

impl BootstrapDistribution {
    /// Creates the distribution from the value in each replicate, which is `None` where the quantity is undefined.
    pub fn new(values: impl Iterator<Item = Option<f64>>) -> Self {
        let mut replicates = 0;
        let mut values: Vec<f64> = values.inspect(|_| replicates += 1).flatten().collect();
        values.sort_unstable_by(f64::total_cmp);
        BootstrapDistribution { values, replicates }
    }

    /// The values of the quantity in the replicates in which it is defined, in ascending order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of replicates in which the quantity is undefined.
    #[must_use]
    pub fn undefined(&self) -> usize {
        self.replicates - self.values.len()
    }

    /// The quantile at the probability `level`, linearly interpolated between values; `None` if there are no values.
    #[must_use]
    pub fn quantile(&self, level: f64) -> Option<f64> {
        let last = self.values.len().checked_sub(1)?;
        let position = level.clamp(0.0, 1.0) * last as f64;
        let (below, above) = (position.floor() as usize, position.ceil() as usize);
        let (low, high) = (self.values[below], self.values[above]);
        Some(if low == high { low } else { low + (position - below as f64) * (high - low) })
    }

    /// The central interval that contains the fraction `share` of the values: `interval(0.95)` is the usual 95 % interval. `None` if there are no
    /// values.
    #[must_use]
    pub fn interval(&self, share: f64) -> Option<(f64, f64)> {
        Some((self.quantile(0.5 * (1.0 - share))?, self.quantile(0.5 * (1.0 + share))?))
    }

    /// The mean of the values; `None` if there are no values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        MeanAndDeviation::of(&self.values).map(|spread| spread.mean)
    }

    /// The standard deviation of the values; `None` if there are fewer than two values.
    #[must_use]
    pub fn deviation(&self) -> Option<f64> {
        MeanAndDeviation::of(&self.values)?.deviation
    }
}
