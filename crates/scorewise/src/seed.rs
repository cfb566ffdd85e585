//! Independent streams of random numbers derived from one seed, one stream for each purpose.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Declares the purposes in one list: the enum, its names and the list of all variants.
macro_rules! purposes {
    ($($(#[$doc:meta])* $purpose:ident = $name:literal,)*) => {
        /// What random numbers are used for. Every use has its own purpose, so that no two uses share a generator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Purpose {
            $($(#[$doc])* $purpose,)*
        }

        impl Purpose {
            /// All purposes.
            pub const ALL: &[Purpose] = &[$(Purpose::$purpose,)*];

            /// The name that is hashed. It must never change, because all random results depend on it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Purpose::$purpose => $name,)*
                }
            }
        }
    };
}

purposes! {
    /// The order in which the rows of a class are split; the number is the class.
    Split = "split",
    /// The order in which groups are split.
    SplitGroups = "split of groups",
    /// The seed of one repeat of a cross-validation; the number is the repeat.
    CrossValidationRepeat = "repeat of folds",
    /// The order of the folds of a cross-validation by group.
    FoldOrder = "order of folds",
    /// The seed for splitting the rows outside the test fold; the number is the fold.
    FoldSplit = "parts of a fold",
    /// The seed for training on a fold; the number counts the folds of all repeats.
    FoldTraining = "training of a fold",
    /// The validation rows drawn separately for each network; the number counts rounds and classes.
    MemberSplit = "validation deal",
    /// The seed of an ensemble member; the number is the member.
    Member = "member",
    /// The seed of a training attempt; the number is how many attempts were abandoned before it.
    Restart = "restart",
    /// The initial weights of a network.
    InitialWeights = "first weights",
    /// The order of the rows in the batches of an epoch.
    BatchOrder = "batch order",
    /// A bootstrap replicate; the number is the replicate.
    Bootstrap = "bootstrap",
    /// Thresholds drawn from a prior.
    Thresholds = "thresholds",
    /// The seed of a method compared in an experiment; the number is a hash of the method's name.
    Contender = "contender",
    /// The seed of one repeat of a method; the number is the repeat.
    Repeat = "repeat",
    /// The seed for drawing the rows of a repeat, the same for all methods; the number is the repeat.
    RepeatRows = "rows of a repeat",
    /// The bootstrap interval of the difference between two methods; the number is 0 if repeats are drawn one by one and 1 if in blocks.
    Difference = "difference",
}

/// The seed of one stream: a hash of the seed, the name of the purpose and a number.
///
/// For a given seed and purpose, different numbers give different streams, because XXH3 of eight bytes is a permutation of the 64-bit
/// integers. Streams of different purposes or seeds coincide only as often as random 64-bit numbers do.
///
/// ```
/// use scorewise::{Purpose, stream};
/// assert_eq!(stream(7, Purpose::Split, 0), stream(7, Purpose::Split, 0));
/// assert_ne!(stream(7, Purpose::Split, 0), stream(7, Purpose::Split, 1));
/// assert_ne!(stream(7, Purpose::Split, 0), stream(7, Purpose::Bootstrap, 0));
/// ```
#[must_use]
pub fn stream(seed: u64, purpose: Purpose, number: u64) -> u64 {
    let purpose_seed = xxh3_64_with_seed(purpose.name().as_bytes(), seed);
    xxh3_64_with_seed(&number.to_le_bytes(), purpose_seed)
}

/// The random number generator of one stream.
#[expect(clippy::disallowed_methods, reason = "all generators are created here")]
pub(crate) fn generator(seed: u64, purpose: Purpose, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(stream(seed, purpose, number))
}
