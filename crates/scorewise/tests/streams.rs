//! Tests of streams of random numbers: each stream is derived from a seed, a purpose and a number, and any two streams must
//! be uncorrelated.

#![allow(clippy::disallowed_methods)] // the test creates random number generators directly

use std::collections::HashMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, stream};

const SEEDS: [u64; 6] = [0, 1, 2, 0x8000_0000_0000_0000, u64::MAX - 1, u64::MAX];

#[test]
fn every_combination_of_seed_purpose_and_number_has_its_own_stream() {
    let mut seen = HashMap::new();
    for seed in SEEDS {
        assert!(seen.insert(seed, "a seed itself".to_owned()).is_none());
    }
    let mut assert_new = |seed: u64, name: String| {
        if let Some(other) = seen.insert(seed, name.clone()) {
            panic!("{name} equals {other}");
        }
    };
    for seed in SEEDS {
        for purpose in Purpose::ALL {
            for number in 0..1000 {
                assert_new(
                    stream(seed, *purpose, number),
                    format!("the stream of purpose {}, number {number}, seed {seed}", purpose.name()),
                );
            }
        }
        // Training derives further seeds: from its own seed one for each fold, from the seed of a fold one for each ensemble member, from the seed
        // of a member one for each restart, and from the seed of a restart those of the initial weights and of the order of the batches.
        for fold in 0..3 {
            let fold_seed = stream(seed, Purpose::FoldTraining, fold);
            for member in 0..10 {
                let member_seed = stream(fold_seed, Purpose::Member, member);
                assert_new(member_seed, format!("the stream of member {member} of fold {fold}, seed {seed}"));
                for restart in 0..5 {
                    let start = stream(member_seed, Purpose::Restart, restart);
                    assert_new(
                        start,
                        format!("the stream of restart {restart} of member {member} of fold {fold}, seed {seed}"),
                    );
                    for purpose in [Purpose::InitialWeights, Purpose::BatchOrder] {
                        let name = purpose.name();
                        let name = format!(
                            "the stream {name} of restart {restart}, member {member}, fold {fold}, seed {seed}"
                        );
                        assert_new(stream(start, purpose, 0), name);
                    }
                }
            }
        }
    }
}

#[test]
fn names_of_stream_purposes_are_distinct() {
    for (at, purpose) in Purpose::ALL.iter().enumerate() {
        assert!(Purpose::ALL[..at].iter().all(|other| other.name() != purpose.name()), "{}", purpose.name());
    }
}

#[test]
fn random_numbers_from_different_streams_are_uncorrelated() {
    const NUMBERS_PER_STREAM: usize = 4096;
    let first = |seed: u64, purpose: Purpose, number: usize| {
        Xoshiro256PlusPlus::seed_from_u64(stream(seed, purpose, number as u64)).next_u64()
    };
    let centred = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    // The product of two independent numbers that are uniform in [−1, 1) has standard deviation 1/3. The limit is five standard errors of the
    // mean of such products.
    let limit = 5.0 / 3.0 / (NUMBERS_PER_STREAM as f64).sqrt();
    for seed in SEEDS {
        let draws: Vec<Vec<u64>> = Purpose::ALL
            .iter()
            .map(|purpose| (0..NUMBERS_PER_STREAM).map(|number| first(seed, *purpose, number)).collect())
            .collect();
        let mean_product = |a: &[u64], b: &[u64]| {
            a.iter().zip(b).map(|(a, b)| centred(*a) * centred(*b)).sum::<f64>() / a.len() as f64
        };
        let bits_in_common = |a: &[u64], b: &[u64]| {
            a.iter().zip(b).map(|(a, b)| f64::from((a ^ b).count_zeros())).sum::<f64>() / a.len() as f64
        };
        for (at, purpose) in Purpose::ALL.iter().enumerate() {
            let name = purpose.name();
            let (before, after) = (&draws[at][..NUMBERS_PER_STREAM - 1], &draws[at][1..]);
            assert!(
                mean_product(before, after).abs() < limit,
                "consecutive numbers of {name} are correlated, seed {seed}"
            );
            for (other, numbers) in Purpose::ALL[..at].iter().zip(&draws) {
                let product = mean_product(numbers, &draws[at]);
                assert!(
                    product.abs() < limit,
                    "{name} and {} are correlated, seed {seed}: mean product {product}",
                    other.name()
                );
                // Two independent 64-bit numbers agree in 32 bits on average, with a standard deviation of 4.
                let common = bits_in_common(numbers, &draws[at]);
                assert!(
                    (common - 32.0).abs() < 5.0 * 4.0 / (NUMBERS_PER_STREAM as f64).sqrt(),
                    "{name}, {}",
                    other.name()
                );
            }
        }
    }
}

/// Compares streams of random numbers with recorded values: streams must never change, because published results depend on them.
#[test]
fn streams_of_random_numbers_equal_recorded_values() {
    assert_eq!(stream(0, Purpose::Split, 0), 6_887_943_979_901_957_010);
    assert_eq!(stream(u64::MAX, Purpose::Bootstrap, 999), 14_291_099_602_517_959_912);
}
