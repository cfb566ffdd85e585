//! Independent streams of random numbers derived from one seed, one stream for each purpose.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Declares the enum `Purpose`, the names of its variants and the list of all variants from a single list of purposes.
macro_rules! purposes {
    ($($(#[$doc:meta])* $purpose:ident = $name:literal,)*) => {
        /// What random numbers are used for. Every use has its own purpose, so that no two uses share a random number generator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Purpose {
            $($(#[$doc])* $purpose,)*
        }

        impl Purpose {
            /// All variants of `Purpose`.
            pub const ALL: &[Purpose] = &[$(Purpose::$purpose,)*];

            /// The name of this purpose, which [`stream`] hashes. It must never change, because all random results depend on it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Purpose::$purpose => $name,)*
                }
            }
        }
    };
}

// The names in quotes are hashed. They must not change, even where another name would now be clearer.
purposes! {
    /// The order into which rows are shuffled before they are split. The argument `number` of [`stream`] is the index of the class if each class is
    /// shuffled separately, otherwise 0.
    Split = "split",
    /// The order in which groups with the same number of rows are assigned to the sets of a split.
    SplitGroups = "split of groups",
    /// The seed of one repetition of a cross-validation. The argument `number` of [`stream`] is the index of the repetition.
    CrossValidationRepeat = "repeat of folds",
    /// The order in which the folds of a cross-validation are used if its folds consist of whole groups of rows.
    FoldOrder = "order of folds",
    /// The seed for splitting the rows that are not in the test fold of a cross-validation into training and validation rows. The argument `number`
    /// of [`stream`] is the index of the test fold.
    FoldSplit = "parts of a fold",
    /// The seed of the training for one fold of a cross-validation. The argument `number` of [`stream`] is the index of the fold, counted over all
    /// repetitions.
    FoldTraining = "training of a fold",
    /// The choice of the validation rows of each member of an ensemble. The argument `number` of [`stream`] is the index of the shuffle: in each
    /// round the rows of every class are shuffled once, and a new round begins when every row has been a validation row once. In a split by
    /// group, `number` is the index of the repetition.
    MemberSplit = "validation deal",
    /// The seed of an ensemble member. The argument `number` of [`stream`] is the index of the member.
    Member = "member",
    /// The seed of a training attempt. The argument `number` of [`stream`] is the number of attempts that were abandoned before this one.
    Restart = "restart",
    /// The initial weights of a network. The argument `number` of [`stream`] is 0 for the dense layers and 1 for a look-up layer, whose inputs
    /// are binned columns.
    InitialWeights = "first weights",
    /// The order of the rows in the batches of an epoch.
    BatchOrder = "batch order",
    /// A random order of the training rows, for target statistics of the levels of categorical columns. The argument `number` of [`stream`] is the
    /// index of this order.
    StatisticOrder = "order of statistics",
    /// The random choice of rows and features for each tree, and the noise that is added to the scores of its splits.
    TreeGrowth = "growth of trees",
    /// A bootstrap replicate. The argument `number` of [`stream`] is the index of the replicate.
    Bootstrap = "bootstrap",
    /// The pairing of the bootstrap replicates of two scores, or of two mean costs, that are drawn separately. The argument `number` of [`stream`] is
    /// the index of the replicate.
    PairedCounts = "pairs of counts",
    /// The random division of the rows into folds for cross-fitting, for example to correct the score at a tuned threshold. The argument `number` of
    /// [`stream`] is the index of the repetition.
    CrossFittedThreshold = "folds of a threshold",
    /// The seed of the bootstrap that compares tuned decision rules with untuned ones. The argument `number` of [`stream`] is 0 for a threshold
    /// (two classes) and 1 for one factor per class (more than two classes).
    DecisionTuning = "tuning of the decision",
    /// The seed of the folds on which calibrations of the probabilities are compared. The argument `number` of [`stream`] is 0.
    Calibration = "calibration",
    /// The random choice of the rows on which a model is explained, if there are more rows than requested. The argument `number` of [`stream`] is 0
    /// for the importance of columns and 1 for partial dependence.
    ExplainedRows = "rows of an explanation",
    /// The order into which the values of a column are shuffled to measure its importance. The argument `number` of [`stream`] is the index of the
    /// permutation.
    ColumnPermutation = "permutation of a column",
    /// The seed of the bootstrap that resamples the permutations of a column. The argument `number` of [`stream`] is 0.
    PermutationBootstrap = "bootstrap of permutations",
    /// Random thresholds that are drawn from a prior distribution. The argument `number` of [`stream`] is 0.
    Thresholds = "thresholds",
    /// The seed of a method that is compared in an experiment. The argument `number` of [`stream`] is a hash of the method's name.
    Contender = "contender",
    /// The seed of one repetition of a method in an experiment. The argument `number` of [`stream`] is the index of the repetition.
    Repeat = "repeat",
    /// The seed for choosing the rows of one repetition of an experiment, the same for all methods. The argument `number` of [`stream`] is the
    /// index of the repetition.
    RepeatRows = "rows of a repeat",
    /// The bootstrap interval of the difference between two methods of an experiment. The argument `number` of [`stream`] is 0 if single
    /// repetitions are resampled and 1 if blocks of repetitions are resampled.
    Difference = "difference",
}

/// The seed of one stream of random numbers: a hash of `seed`, the name of `purpose` and `number`.
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

/// The random number generator for one stream, seeded by [`stream`].
#[expect(clippy::disallowed_methods, reason = "every random number generator of this crate is created here")]
pub(crate) fn generator(seed: u64, purpose: Purpose, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(stream(seed, purpose, number))
}
