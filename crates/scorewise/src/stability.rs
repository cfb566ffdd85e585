//! The population stability index (PSI), which measures how far the distribution of a variable has moved between two samples.
//!
//! ```text
//! PSI = Σ (qᵢ − pᵢ) ln(qᵢ / pᵢ)        pᵢ, qᵢ: shares of bin i in the first and in the second sample
//! ```
//!
//! It is the symmetrised Kullback–Leibler divergence of the binned distributions: 0 for equal shares, and the same if the samples are exchanged. By
//! convention, a PSI below 0.1 is called small and a PSI of 0.25 or more large. Two samples of the same distribution rarely have exactly equal
//! shares, so their PSI is usually above 0 by chance: with n and m independent rows and B bins, it is distributed like (1/n + 1/m) χ² with B − 1
//! degrees of freedom if n and m are large.
//!
//! Siddiqi, N. (2006). Credit risk scorecards. Wiley. Yurdakul, B., Naranjo, J. (2020). Statistical properties of the population stability index.
//! Journal of Risk Model Validation 14(4), 89–100.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The population stability index of two samples, which are given as the numbers of rows in the same bins. A bin that is empty in one of the samples
/// counts as half a row of this sample, because the index would otherwise be infinite; a bin that is empty in both counts nothing. `None` if a
/// sample has no rows.
///
/// ```
/// use scorewise::population_stability_index;
///
/// // (0.5 − 0.25) ln(0.5 / 0.25) + (0.5 − 0.75) ln(0.5 / 0.75)
/// let expected = 0.25 * 2f64.ln() - 0.25 * (2.0f64 / 3.0).ln();
/// assert!((population_stability_index(&[25, 75], &[40, 40]).unwrap() - expected).abs() < 1e-15);
/// assert_eq!(population_stability_index(&[25, 75], &[50, 150]), Some(0.0));
/// assert_eq!(population_stability_index(&[25, 75], &[0, 0]), None);
/// ```
///
/// # Panics
/// If the samples have different numbers of bins.
#[must_use]
pub fn population_stability_index(first: &[u64], second: &[u64]) -> Option<f64> {
    let contributions = stability_contributions(first, second)?;
    Some(contributions.iter().sum())
}

/// What each bin contributes to the [population stability index](population_stability_index); `None` if a sample has no rows.
///
/// # Panics
/// If the samples have different numbers of bins.
#[must_use]
pub fn stability_contributions(first: &[u64], second: &[u64]) -> Option<Vec<f64>> {
    assert_eq!(first.len(), second.len(), "both samples must be counted in the same bins");
    let totals = [first, second].map(|counts| counts.iter().map(|count| *count as f64).sum::<f64>());
    if totals.contains(&0.0) {
        return None;
    }
    let share = |count: u64, total: f64| (count as f64).max(0.5) / total;
    let contribution = |(first, second): (&u64, &u64)| {
        if *first == 0 && *second == 0 {
            return 0.0;
        }
        let (p, q) = (share(*first, totals[0]), share(*second, totals[1]));
        (q - p) * (q / p).ln()
    };
    Some(first.iter().zip(second).map(contribution).collect())
}

/// The population stability index that two samples of the same distribution exceed with this probability, by chance alone, if their rows are
/// independent: a quantile of (1/n + 1/m) χ² with `bins` − 1 degrees of freedom. With fewer than two bins it is 0, and without rows infinite.
///
/// ```
/// use scorewise::stability_by_chance;
///
/// // The 95 % quantile of χ² with 9 degrees of freedom is 16.919.
/// assert!((stability_by_chance([1000, 500], 10, 0.05) - 16.918_978 * 0.003).abs() < 1e-6);
/// assert_eq!(stability_by_chance([1000, 500], 1, 0.05), 0.0);
/// ```
#[must_use]
pub fn stability_by_chance(rows: [u64; 2], bins: usize, probability: f64) -> f64 {
    if bins < 2 {
        return 0.0;
    }
    if rows.contains(&0) {
        return f64::INFINITY;
    }
    let scale = 1.0 / rows[0] as f64 + 1.0 / rows[1] as f64;
    ChiSquared::new((bins - 1) as f64).map_or(f64::INFINITY, |law| scale * law.inverse_cdf(1.0 - probability))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, stream};

    #[test]
    fn a_bin_that_is_empty_in_one_sample_counts_as_half_a_row() {
        // The first bin has the shares 0.5/10 and 1/4, the second 10/10 and 3/4; the third is empty in both samples.
        let expected = (0.25 - 0.05) * (0.25f64 / 0.05).ln() + (0.75 - 1.0) * 0.75f64.ln();
        let value = population_stability_index(&[0, 10, 0], &[1, 3, 0]).unwrap();
        assert!((value - expected).abs() < 1e-15, "{value}");
    }

    #[test]
    fn samples_of_the_same_distribution_exceed_the_limit_in_one_of_twenty_simulations() {
        let (mut exceeded, simulations) = (0, 2000);
        for simulation in 0..simulations {
            let mut counts = [[0u64; 10]; 2];
            let rows = [800u64, 400];
            for (sample, counts) in counts.iter_mut().enumerate() {
                for row in 0..rows[sample] {
                    let number = (2 * simulation + sample as u64) << 32 | row;
                    counts[(stream(1, Purpose::Bootstrap, number) % 10) as usize] += 1;
                }
            }
            let psi = population_stability_index(&counts[0], &counts[1]).unwrap();
            exceeded += u64::from(psi > stability_by_chance(rows, 10, 0.05));
        }
        let share = exceeded as f64 / simulations as f64;
        assert!((0.035..0.065).contains(&share), "{share}");
    }
}
