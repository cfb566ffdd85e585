//! Random numbers for the bootstrap: row indices, and Poisson-distributed numbers with any mean.
//!
//! A sum of n independent Poisson numbers with mean 1 is a Poisson number with mean n. So where only the number of copies of
//! a group of rows matters, one random number for the whole group has exactly the same distribution.
//!
//! Hörmann, W. (1993). The transformed rejection method for generating Poisson random variables. Insurance: Mathematics and
//! Economics 12(1), 39–45. doi:10.1016/0167-6687(93)90997-4.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A uniformly distributed random integer below `limit`. The probability of each integer differs from 1/`limit` by less than 2⁻⁶⁴.
pub(super) fn random_below(random: &mut Xoshiro256PlusPlus, limit: usize) -> usize {
    ((u128::from(random.next_u64()) * limit as u128) >> 64) as usize
}

/// A Poisson-distributed random number. Logarithms and exponentials are computed by `libm`, so that the numbers are the same on every machine.
pub(super) fn random_poisson(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    if mean < REJECTION_MIN_MEAN { poisson_by_inversion(random, mean) } else { poisson_by_rejection(random, mean) }
}

/// The rejection method is valid for means of at least this value.
const REJECTION_MIN_MEAN: f64 = 10.0;

/// A uniform number in [0, 1) with 53 random bits.
fn uniform_below_1(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A Poisson-distributed random number, computed by inverting the distribution function.
fn poisson_by_inversion(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let mut remainder = uniform_below_1(random);
    let (mut count, mut mass) = (0.0, libm::exp(-mean));
    // The loop must also end where `mass` underflows to 0: the remainder of the uniform number is then only a rounding error.
    while remainder >= mass && mass > 0.0 {
        remainder -= mass;
        count += 1.0;
        mass *= mean / count;
    }
    count
}

/// A Poisson-distributed random number by Hörmann's algorithm PTRS: a transformed uniform number, which is usually accepted at once and
/// otherwise accepted or rejected by the ratio of the densities.
fn poisson_by_rejection(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.024_83 * b;
    let squeeze = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (uniform_below_1(random) - 0.5, uniform_below_1(random));
        let inside = 0.5 - u.abs();
        // If `inside` is 0, `count` is infinite or NaN and is rejected below.
        let count = ((2.0 * a / inside + b) * u + mean + 0.43).floor();
        if inside >= 0.07 && v <= squeeze {
            return count;
        }
        if !(count >= 0.0 && count.is_finite()) || (inside < 0.013 && v > inside) {
            continue;
        }
        let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
        let hat = libm::log(v * inverse_alpha / (a / (inside * inside) + b));
        if hat <= poisson_log_mass(count, mean) {
            return count;
        }
    }
}

/// ln P(X = count) of a Poisson distribution. For large counts it is computed from the deviance (Loader 2000), because the large terms of
/// −mean + count ln(mean) − ln(count!) cancel.
fn poisson_log_mass(count: f64, mean: f64) -> f64 {
    if count < 64.0 {
        return -mean + count * libm::log(mean) - libm::lgamma(count + 1.0);
    }
    let relative = (mean - count) / count;
    let deviance = count * (relative - libm::log1p(relative));
    let stirling = (1.0 - 1.0 / (30.0 * count * count)) / (12.0 * count);
    -deviance - stirling - 0.5 * libm::log(std::f64::consts::TAU * count)
}

/// Writes Poisson-distributed random numbers with mean 1 to `copies`. `SCALED_CDF` contains the values of the distribution function, scaled to
/// 32-bit integers. Each random number is the count of these values that are at or below a uniform random 32-bit integer. All random integers of a
/// chunk are generated before the counting, so that the counting can be vectorised.
pub(super) fn fill_poisson_mean_1(random: &mut Xoshiro256PlusPlus, copies: &mut [u32]) {
    const SCALED_CDF: [u32; 13] = scaled_poisson_cdf();
    for copies in copies.chunks_mut(1024) {
        for pair in copies.chunks_mut(2) {
            let bits = random.next_u64();
            pair[0] = bits as u32;
            if let Some(second) = pair.get_mut(1) {
                *second = (bits >> 32) as u32;
            }
        }
        for copies in copies.iter_mut() {
            let bits = *copies;
            *copies = SCALED_CDF.iter().map(|step| u32::from(bits >= *step)).sum();
        }
    }
}

/// 2³² · P(X ≤ k) for k = 0 … 12, where X is Poisson-distributed with mean 1. For higher k it differs from 2³² by less than 1.
const fn scaled_poisson_cdf() -> [u32; 13] {
    let mut steps = [0; 13];
    let mut mass = 4_294_967_296.0 / std::f64::consts::E;
    let mut sum = 0.0;
    let mut k = 0;
    while k < 13 {
        sum += mass;
        mass /= (k + 1) as f64;
        steps[k] = sum as u32;
        k += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use statrs::distribution::{Discrete, DiscreteCDF, Poisson};

    use super::*;

    #[test]
    fn poisson_log_mass_matches_statrs() {
        for mean in [10.0, 63.0, 200.0, 1e5] {
            let distribution = Poisson::new(mean).unwrap();
            for deviations in [-3.0f64, -1.0, 0.0, 0.5, 3.0] {
                let count = (mean + deviations * mean.sqrt()).round();
                let (found, expected) = (poisson_log_mass(count, mean), distribution.ln_pmf(count as u64));
                assert!(
                    (found - expected).abs() < 1e-9 * mean,
                    "ln P(X = {count}) at mean {mean}: {found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "this test needs a fixed seed")]
    fn drawn_numbers_follow_the_poisson_distribution_at_every_mean() {
        const SAMPLE_SIZE: usize = 200_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        for mean in [0.0, 0.3, 1.0, 9.9, 10.0, 12.5, 40.0, 1e3, 1e6, 1e8] {
            let mut draws: Vec<f64> = (0..SAMPLE_SIZE).map(|_| random_poisson(&mut random, mean)).collect();
            draws.sort_by(f64::total_cmp);
            if mean == 0.0 {
                assert_eq!(draws[SAMPLE_SIZE - 1], 0.0);
                continue;
            }
            assert!(draws.iter().all(|draw| *draw >= 0.0 && draw.fract() == 0.0));
            // The Kolmogorov distance of n numbers drawn from a discrete distribution exceeds 1.95/√n with a probability of at most 0.001.
            let distribution = Poisson::new(mean).unwrap();
            let mut distance = 0.0f64;
            for share in 1..40 {
                let value = draws[share * SAMPLE_SIZE / 40];
                let at_or_below = draws.partition_point(|draw| *draw <= value) as f64 / SAMPLE_SIZE as f64;
                distance = distance.max((at_or_below - distribution.cdf(value as u64)).abs());
            }
            assert!(distance < 1.95 / (SAMPLE_SIZE as f64).sqrt(), "{mean}: {distance}");
            let average = draws.iter().sum::<f64>() / SAMPLE_SIZE as f64;
            let variance = draws.iter().map(|draw| (draw - average).powi(2)).sum::<f64>() / SAMPLE_SIZE as f64;
            assert!((average - mean).abs() < 4.0 * (mean / SAMPLE_SIZE as f64).sqrt(), "{mean}: {average}");
            assert!(
                (variance / mean - 1.0).abs() < 4.0 * ((2.0 + 1.0 / mean) / SAMPLE_SIZE as f64).sqrt(),
                "{mean}: {variance}"
            );
        }
    }
}
