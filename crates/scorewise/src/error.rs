//! The error type of this crate. A message says what is wrong and, where possible, where the error is and how to correct it.

use crate::formula::FormulaError;

/// An error in the caller's input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score or condition that cannot be parsed.
    #[error(transparent)]
    Formula(#[from] FormulaError),
    /// A prior that cannot be parsed or is not a distribution on [0, 1].
    #[error("prior `{text}`: {reason}")]
    Prior {
        /// The prior as the caller wrote it.
        text: String,
        /// What is wrong with the prior and what is expected.
        reason: String,
    },
    /// Two inputs that must have the same length differ in length.
    #[error("wrong number of rows in {what}: {got}, expected {expected}")]
    LengthMismatch {
        /// Name of the invalid input, for example `labels`.
        what: &'static str,
        /// The required length, for example the number of predictions.
        expected: usize,
        /// The length of the invalid input.
        got: usize,
    },
    /// There are no rows.
    #[error("there are no rows; at least one is needed")]
    Empty,
    /// A value is NaN.
    #[error("{what}, row {row}: not a number")]
    NotANumber {
        /// Name of the invalid input, for example `labels`.
        what: &'static str,
        /// Index of the invalid row, counted from 0.
        row: usize,
    },
    /// A value outside its allowed range.
    #[error("{what}, row {row}: {value} is not {bounds}")]
    OutOfRange {
        /// Name of the invalid input, for example `labels`.
        what: &'static str,
        /// Index of the invalid row, counted from 0.
        row: usize,
        /// The invalid value.
        value: f64,
        /// The allowed values, in words.
        bounds: &'static str,
    },
    /// The rows of a sequence are not contiguous.
    #[error(
        "sequences, row {row}: sequence {id} occurs again after another sequence; put all rows of a sequence together, in time order"
    )]
    InterruptedSequence {
        /// Index of the invalid row, counted from 0.
        row: usize,
        /// Identifier of the sequence that occurs a second time.
        id: u32,
    },
    /// A logit of a multi-class or multi-label row is NaN or infinite.
    #[error("logits, row {row}, class {class}: {value} is not a finite number")]
    Logit {
        /// Index of the invalid row, counted from 0.
        row: usize,
        /// Index of the class, counted from 0.
        class: usize,
        /// The invalid value.
        value: f64,
    },
    /// An invalid setting.
    #[error("{what} {reason}")]
    Setting {
        /// Name of the invalid setting.
        what: &'static str,
        /// What is wrong with the setting and what is expected.
        reason: String,
    },
    /// A score that is not finite for these rows, for example because its formula overflows.
    #[error("score `{score}` is not finite for these rows; rescale the formula")]
    NotFinite {
        /// Name of the score.
        score: String,
    },
}

/// A `Result` whose error type is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
