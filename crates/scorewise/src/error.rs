//! What can be wrong with what a caller gives: numbers in fields, the cure in the sentence.

use crate::formula::FormulaError;

/// A fault in a caller's input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score or condition that cannot be read.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A prior that cannot be read or is no distribution on [0, 1].
    #[error("prior `{text}`: {reason}")]
    Prior {
        /// What was given.
        text: String,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// Two inputs that belong together have unlike lengths.
    #[error("{what} has {got} rows, expected {expected}")]
    LengthMismatch {
        /// Which input.
        what: &'static str,
        /// Rows of the predictions.
        expected: usize,
        /// Its own rows.
        got: usize,
    },
    /// No rows at all.
    #[error("there are no rows; at least one is needed")]
    Empty,
    /// NaN where a number is needed.
    #[error("{what}, row {row}: not a number")]
    NotANumber {
        /// Which input.
        what: &'static str,
        /// The row, from 0.
        row: usize,
    },
    /// A value outside what its meaning allows.
    #[error("{what}, row {row}: {value} does not lie {bounds}")]
    OutOfRange {
        /// Which input.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The value found.
        value: f64,
        /// The values allowed, in words.
        bounds: &'static str,
    },
    /// Rows of one sequence with another sequence between them.
    #[error("sequences, row {row}: sequence {id} begins again; put its rows together, in the order of time")]
    TornSequence {
        /// The row, from 0.
        row: usize,
        /// The sequence that had already ended.
        id: u32,
    },
    /// A logit that is NaN or infinite, where all classes of a row are needed to share its probability out.
    #[error("logits, row {row}, class {class}: {value} is not a finite number")]
    Logit {
        /// The row, from 0.
        row: usize,
        /// The class, from 0.
        class: usize,
        /// The value found.
        value: f64,
    },
    /// A setting that makes no sense.
    #[error("{what} {reason}")]
    Setting {
        /// Which setting.
        what: &'static str,
        /// What is wrong with it and what would be right.
        reason: String,
    },
    /// A formula that overflows on this matrix.
    #[error("score `{score}` is not finite here; rescale the formula")]
    NotFinite {
        /// The score's name.
        score: String,
    },
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;
