//! What can keep a picture from being drawn.

use plotters::drawing::DrawingAreaErrorKind;

/// A fault in what was given, or in drawing it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A figure without panels, or without a single number that can be shown.
    #[error("there is nothing to draw; give at least one panel with data")]
    Empty,
    /// A panel that needs a curve and has none.
    #[error("panel `{panel}` has no prior; give at least one")]
    NoPrior {
        /// The panel's title.
        panel: String,
    },
    /// A threshold that is none.
    #[error("panel `{panel}`, threshold {row}: {value} does not lie in [0, 1]")]
    Threshold {
        /// The panel's title.
        panel: String,
        /// Which threshold, from 0.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// The drawing library gave up.
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

// The library's error names the backend in its type; ours is one for all of them.
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
