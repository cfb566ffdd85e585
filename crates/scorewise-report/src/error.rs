//! The error type of this crate.

use plotters::drawing::DrawingAreaErrorKind;

/// Invalid input for a figure, or a failure while rendering it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The figure has no panels, or no finite value to draw.
    #[error("there is nothing to draw; give at least one panel with data")]
    Empty,
    /// A row of panels in the figure of priors has no prior.
    #[error("panel `{panel}` has no prior; give at least one")]
    NoPrior {
        /// Title of the row of panels.
        panel: String,
    },
    /// A threshold lies outside [0, 1] or is NaN.
    #[error("panel `{panel}`: the threshold at index {row} is {value}, which does not lie in [0, 1]")]
    Threshold {
        /// Title of the panel.
        panel: String,
        /// Index of the threshold among the thresholds of the panel, counted from 0.
        row: usize,
        /// The invalid threshold.
        value: f64,
    },
    /// The crate plotters or the PNG encoder failed, or a score, a prior or a condition could not be parsed.
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
}

/// `std::result::Result` with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

// plotters' error type depends on the backend; converting it to a string gives one type for all backends.
impl<E: std::error::Error + Send + Sync> From<DrawingAreaErrorKind<E>> for Error {
    fn from(error: DrawingAreaErrorKind<E>) -> Self {
        Error::Drawing(error.to_string())
    }
}

impl From<png::EncodingError> for Error {
    fn from(error: png::EncodingError) -> Self {
        Error::Drawing(error.to_string())
    }
}
