//! SEED: many streams of randomness from one seed.

/// The seed of one of many streams. Multiplied and folded (the finaliser of MurmurHash3) until neighbours have nothing in
/// common: generators that are seeded with numbers in a row, or with multiples of a constant of their own, may not be
/// independent.
///
/// ```
/// assert_eq!(scorewise::stream(7, 0), scorewise::stream(7, 0));
/// assert_ne!(scorewise::stream(7, 0), scorewise::stream(7, 1));
/// ```
#[must_use]
pub fn stream(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95));
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        bits = (bits ^ (bits >> 33)).wrapping_mul(factor);
    }
    bits ^ (bits >> 33)
}
