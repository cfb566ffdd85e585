//! SEED: many independent streams of random numbers from one seed, each named by its purpose.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Declares the purposes once: the enum, its names and the list of all of them.
macro_rules! purposes {
    ($($(#[$doc:meta])* $purpose:ident = $name:literal,)*) => {
        /// What random numbers are drawn for. Every use has a purpose of its own, so that no two uses share a generator, whatever the seed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Purpose {
            $($(#[$doc])* $purpose,)*
        }

        impl Purpose {
            /// All purposes in use.
            pub const ALL: &[Purpose] = &[$(Purpose::$purpose,)*];

            /// The name that is hashed. It must never change: the results of every seed depend on it.
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
    /// The order in which the rows of a class are divided into parts; the number is the class.
    Split = "split",
    /// The order in which groups are divided into parts.
    SplitGroups = "split of groups",
    /// The seed of one repeat of a cross-validation; the number is the repeat.
    FoldsRepeat = "repeat of folds",
    /// The order of the folds of a cross-validation by group.
    FoldOrder = "order of folds",
    /// The seed by which the rows outside the test of a fold are divided; the number is the fold.
    FoldParts = "parts of a fold",
    /// The seed of the training of a fold; the number counts folds through all repeats.
    FoldTraining = "training of a fold",
    /// The rows dealt anew to each network as its validation rows; the number counts rounds and classes.
    ValidationDeal = "validation deal",
    /// The seed of a member of an ensemble; the number is the member.
    Member = "member",
    /// The seed of a start of a training; the number is how many dead starts came before.
    Restart = "restart",
    /// The first weights of a network.
    FirstWeights = "first weights",
    /// The order of the rows in the batches of each epoch.
    BatchOrder = "batch order",
    /// A replicate of a bootstrap; the number is the replicate.
    Bootstrap = "bootstrap",
    /// Thresholds drawn from a prior.
    Thresholds = "thresholds",
    /// The seed of a contender of an experiment; the number is a hash of the contender's name.
    Contender = "contender",
    /// The seed of a repeat of a contender; the number is the repeat.
    Repeat = "repeat",
    /// The seed by which the rows of a repeat are drawn, alike for all contenders; the number is the repeat.
    RepeatRows = "rows of a repeat",
    /// The interval of a difference between two contenders; the number says whether repeats are drawn one by one (0) or in blocks (1).
    Difference = "difference",
}

/// The seed of one stream: a hash of the seed, the name of the purpose and a number.
///
/// For one seed and purpose, all numbers give different streams: the last step is a permutation of 64 bits, since XXH3 of eight bytes is one
/// for every seed of its own. Between purposes and seeds, streams are as different as 64 random bits are.
///
/// ```
/// use scorewise::{Purpose, stream};
/// assert_eq!(stream(7, Purpose::Split, 0), stream(7, Purpose::Split, 0));
/// assert_ne!(stream(7, Purpose::Split, 0), stream(7, Purpose::Split, 1));
/// assert_ne!(stream(7, Purpose::Split, 0), stream(7, Purpose::Bootstrap, 0));
/// ```
#[must_use]
pub fn stream(seed: u64, purpose: Purpose, number: u64) -> u64 {
    let of_purpose = xxh3_64_with_seed(purpose.name().as_bytes(), seed);
    xxh3_64_with_seed(&number.to_le_bytes(), of_purpose)
}

/// The generator of one stream.
#[expect(clippy::disallowed_methods, reason = "this is where generators come from")]
pub(crate) fn generator(seed: u64, purpose: Purpose, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(stream(seed, purpose, number))
}
