//! The length of bootstrap blocks for a series whose neighbouring rows depend on each other, computed from the autocovariances of the series.
//!
//! ```text
//! γ(k)    autocovariance of the series at lag k          m    last lag before the autocorrelations become negligible
//! λ(t)    1 for t ≤ ½, 2(1 − t) for ½ < t ≤ 1            M = 2m
//!
//! σ² = γ(0) + 2 Σ λ(k/M) γ(k)        g = 2 Σ λ(k/M) k γ(k)        length = (3g² / 2σ⁴ · n)^⅓        sums over 1 ≤ k ≤ M
//! ```
//!
//! This length minimises the mean squared error of the variance of the mean, estimated with circular blocks. The autocorrelations are negligible
//! after lag m if the next few (at least five) are all below 2 √(log₁₀ n / n).
//!
//! Politis, D. N. & White, H. (2004). Automatic block-length selection for the dependent bootstrap. Econometric Reviews 23(1), 53–70. Patton, A.,
//! Politis, D. N. & White, H. (2009). Correction. Econometric Reviews 28(4), 372–375.

/// The best length of blocks for estimating the variance of the mean of a series of n numbers. It is 1 if neighbouring numbers are uncorrelated, and
/// at most the smaller of n/3 and 3 √n.
pub(super) fn block_length(series: &[f64]) -> usize {
    let rows = series.len();
    let mean = series.iter().sum::<f64>() / rows.max(1) as f64;
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let mut covariances = Autocovariances { centred, known: Vec::new() };
    let variance = covariances.at(0);
    if rows < 6 || variance <= 0.0 {
        return 1;
    }
    let logarithm = (rows as f64).log10();
    let negligible = 2.0 * (logarithm / rows as f64).sqrt() * variance;
    let consecutive = (logarithm.sqrt().ceil() as usize).max(5);
    let last_lag = ((rows as f64).sqrt().ceil() as usize + consecutive).min(rows - 1);
    let mut significant = 0;
    for lag in 1..=last_lag {
        if covariances.at(lag).abs() >= negligible {
            significant = lag;
        } else if lag - significant >= consecutive {
            break;
        }
    }
    let bandwidth = (2 * significant.max(1)).min(last_lag);
    let (mut sum, mut moment) = (variance, 0.0);
    for lag in 1..=bandwidth {
        let weighted = 2.0 * flat_top(lag as f64 / bandwidth as f64) * covariances.at(lag);
        sum += weighted;
        moment += weighted * lag as f64;
    }
    if significant == 0 || sum <= 0.0 {
        return 1;
    }
    let best = (1.5 * (moment / sum).powi(2) * rows as f64).cbrt().ceil();
    let longest = (3.0 * (rows as f64).sqrt()).min(rows as f64 / 3.0).max(1.0);
    best.clamp(1.0, longest.floor()) as usize
}

/// The function λ(t) of the module documentation, by which autocovariances are weighted. Its argument `share` is the lag of an autocovariance divided
/// by the greatest lag M.
fn flat_top(share: f64) -> f64 {
    (2.0 * (1.0 - share)).clamp(0.0, 1.0)
}

/// The autocovariances of a series, each computed when it is first needed.
struct Autocovariances {
    /// The series minus its mean.
    centred: Vec<f64>,
    /// The autocovariances at the lags 0, 1, 2, …, as far as they have been computed.
    known: Vec<f64>,
}

impl Autocovariances {
    /// The autocovariance at a lag: the mean product of two centred numbers that are `lag` rows apart.
    fn at(&mut self, lag: usize) -> f64 {
        while self.known.len() <= lag {
            let later = &self.centred[self.known.len().min(self.centred.len())..];
            let products = self.centred.iter().zip(later).map(|(earlier, later)| earlier * later);
            self.known.push(products.sum::<f64>() / self.centred.len().max(1) as f64);
        }
        self.known[lag]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, generator};
    use rand_core::Rng;

    /// A series in which each number is `share` times the number before plus uniform noise.
    fn autoregressive(rows: usize, share: f64) -> Vec<f64> {
        let mut random = generator(3, Purpose::Bootstrap, 0);
        let mut last = 0.0;
        let mut next = || {
            last = share * last + (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
            last
        };
        (0..rows).map(|_| next()).collect()
    }

    #[test]
    fn blocks_are_longer_for_more_autocorrelated_series() {
        let length = |share| block_length(&autoregressive(5000, share));
        assert!(length(0.0) <= 3, "{}", length(0.0));
        // For a first-order autoregression with parameter a, g/σ² is 2a/(1 − a²), so the best length is
        // (6a²/(1 − a²)² n)^⅓: about 24 rows for a = 0.5 and 53 rows for a = 0.8.
        let best = |a: f64| (6.0 * (a / (1.0 - a * a)).powi(2) * 5000.0f64).cbrt();
        for share in [0.5, 0.8] {
            let ratio = length(share) as f64 / best(share);
            assert!((0.5..2.0).contains(&ratio), "{share}: {} rows, expected {}", length(share), best(share));
        }
    }

    #[test]
    fn constant_and_short_series_have_blocks_of_one_row() {
        assert_eq!([block_length(&[]), block_length(&[1.0]), block_length(&[2.0; 50])], [1, 1, 1]);
    }

    #[test]
    fn a_block_is_never_longer_than_a_third_of_the_series() {
        let trend: Vec<f64> = (0..60).map(f64::from).collect();
        assert!((5..=20).contains(&block_length(&trend)), "{}", block_length(&trend));
    }
}
