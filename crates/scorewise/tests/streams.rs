//! Streams of random numbers: no two uses share one, whatever the seed, and none says anything of another.

#![allow(clippy::disallowed_methods)] // the generators that streams seed are looked at themselves

use std::collections::HashMap;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, stream};

const SEEDS: [u64; 6] = [0, 1, 2, 0x8000_0000_0000_0000, u64::MAX - 1, u64::MAX];

#[test]
fn no_two_purposes_seeds_and_numbers_share_a_stream() {
    let mut seen = HashMap::new();
    for seed in SEEDS {
        assert!(seen.insert(seed, "a seed itself".to_owned()).is_none());
    }
    let mut meet = |found: u64, who: String| {
        if let Some(other) = seen.insert(found, who.clone()) {
            panic!("{who} is {other}");
        }
    };
    for seed in SEEDS {
        for purpose in Purpose::ALL {
            for number in 0..1000 {
                meet(stream(seed, *purpose, number), format!("{} {number} of {seed}", purpose.name()));
            }
        }
        // What a training derives: folds, their members, their starts, and what each start draws.
        for fold in 0..3 {
            let fold_seed = stream(seed, Purpose::FoldTraining, fold);
            for member in 0..10 {
                let member_seed = stream(fold_seed, Purpose::Member, member);
                meet(member_seed, format!("member {member} of fold {fold} of {seed}"));
                for restart in 0..5 {
                    let start = stream(member_seed, Purpose::Restart, restart);
                    meet(start, format!("restart {restart} of member {member} of fold {fold} of {seed}"));
                    for purpose in [Purpose::FirstWeights, Purpose::BatchOrder] {
                        let name = purpose.name();
                        meet(stream(start, purpose, 0), format!("{name} {restart} {member} {fold} of {seed}"));
                    }
                }
            }
        }
    }
}

#[test]
fn purposes_have_names_of_their_own() {
    for (at, purpose) in Purpose::ALL.iter().enumerate() {
        assert!(Purpose::ALL[..at].iter().all(|other| other.name() != purpose.name()), "{}", purpose.name());
    }
}

#[test]
fn generators_of_different_purposes_and_numbers_are_uncorrelated() {
    const NUMBERS: usize = 4096;
    let first = |seed: u64, purpose: Purpose, number: usize| {
        Xoshiro256PlusPlus::seed_from_u64(stream(seed, purpose, number as u64)).next_u64()
    };
    let centred = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    // The product of two independent numbers, uniform in [−1, 1), has deviation 1/3; five standard errors of its mean.
    let limit = 5.0 / 3.0 / (NUMBERS as f64).sqrt();
    for seed in SEEDS {
        let drawn: Vec<Vec<u64>> = Purpose::ALL
            .iter()
            .map(|purpose| (0..NUMBERS).map(|number| first(seed, *purpose, number)).collect())
            .collect();
        let mean_product = |a: &[u64], b: &[u64]| {
            a.iter().zip(b).map(|(a, b)| centred(*a) * centred(*b)).sum::<f64>() / a.len() as f64
        };
        let bits_in_common = |a: &[u64], b: &[u64]| {
            a.iter().zip(b).map(|(a, b)| f64::from((a ^ b).count_zeros())).sum::<f64>() / a.len() as f64
        };
        for (at, purpose) in Purpose::ALL.iter().enumerate() {
            let name = purpose.name();
            let (before, after) = (&drawn[at][..NUMBERS - 1], &drawn[at][1..]);
            assert!(mean_product(before, after).abs() < limit, "neighbours of {name}, seed {seed}");
            for (other, numbers) in Purpose::ALL[..at].iter().zip(&drawn) {
                let product = mean_product(numbers, &drawn[at]);
                assert!(product.abs() < limit, "{name} and {}, seed {seed}: {product}", other.name());
                // 32 of 64 bits agree, with a deviation of 4.
                let common = bits_in_common(numbers, &drawn[at]);
                assert!((common - 32.0).abs() < 5.0 * 4.0 / (NUMBERS as f64).sqrt(), "{name}, {}", other.name());
            }
        }
    }
}

/// The numbers of a seed must stay what they are: results that somebody has written down depend on them.
#[test]
fn streams_stay_as_they_are() {
    assert_eq!(stream(0, Purpose::Split, 0), 6_887_943_979_901_957_010);
    assert_eq!(stream(u64::MAX, Purpose::Bootstrap, 999), 14_291_099_602_517_959_912);
}
