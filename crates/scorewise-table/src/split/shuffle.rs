//! Random number generators, shuffling, and the division of a total in proportion to given sizes.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, stream};

/// Creates the random number generator for a seed, a purpose, and a number that distinguishes generators of the same purpose, such as the index of
/// a class. Different purposes and numbers give independent random numbers.
#[expect(
    clippy::disallowed_methods,
    reason = "this function creates all random number generators of scorewise-table and scorewise-train"
)]
pub fn random(seed: u64, purpose: Purpose, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(stream(seed, purpose, number))
}

/// Shuffles a slice by the Fisher–Yates algorithm, so that all orders are equally likely.
pub fn shuffle<T>(list: &mut [T], random: &mut Xoshiro256PlusPlus) {
    for at in (1..list.len()).rev() {
        let other = ((u128::from(random.next_u64()) * (at as u128 + 1)) >> 64) as usize;
        list.swap(at, other);
    }
}

/// Divides a total in proportion to the given sizes by the largest-remainder method. Each result differs from the exact proportional share by less
/// than 1.
pub(super) fn apportion(sizes: &[usize], total: usize) -> Vec<usize> {
    let sum: usize = sizes.iter().sum();
    if sum == 0 {
        return vec![0; sizes.len()];
    }
    let product = |size: usize| size as u128 * total as u128;
    let mut shares: Vec<usize> = sizes.iter().map(|size| (product(*size) / sum as u128) as usize).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(product(sizes[*at]) % sum as u128));
    let remaining = total.saturating_sub(shares.iter().sum());
    order.iter().take(remaining).for_each(|at| shares[*at] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apportion_rounds_up_the_shares_with_the_largest_remainders() {
        assert_eq!(apportion(&[7, 2, 1], 5), [4, 1, 0]);
        assert_eq!(apportion(&[6, 3, 1], 7), [4, 2, 1]);
        assert_eq!(apportion(&[0, 0], 0), [0, 0]);
    }

    #[test]
    fn a_shuffle_is_a_permutation_that_depends_on_the_seed() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..100).collect();
            shuffle(&mut list, &mut random(seed, Purpose::Split, 0));
            list
        };
        let mut sorted = shuffled(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<u32>>());
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
    }
}
