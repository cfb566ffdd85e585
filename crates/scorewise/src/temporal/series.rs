//! Rows in time order, divided into sequences.

use std::collections::HashSet;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::rows::{Predictions, Rows, check_same_length};

/// Rows in time order: a single sequence, or several sequences one after another.
///
/// ```
/// use scorewise::temporal::Series;
/// use scorewise::{Probabilities, Rows};
///
/// let rows = Rows::new(Probabilities(&[0.1, 0.7, 0.4]), &[false, true, true])?;
/// let series = Series::new(rows)?;
/// assert_eq!(series.with_sequences(&[4, 4, 9])?.len(), 3);
/// assert_eq!(
///     series.with_sequences(&[4, 9, 4]).unwrap_err().to_string(),
///     "sequences, row 2: sequence 4 occurs again after another sequence; put all rows of a sequence together, in time order"
/// );
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Series<'a, P: Predictions> {
    rows: Rows<'a, P>, // private, because `new` has checked every prediction and weight
    sequences: Option<&'a [u32]>,
}

impl<'a, P: Predictions> Series<'a, P> {
    /// Rows of a single sequence. The weight of a row multiplies only the contribution of that row. Its label and its alarm affect the
    /// contributions of the rows before and after it regardless of its weight, even if the weight is 0.
    pub fn new(rows: Rows<'a, P>) -> Result<Self> {
        rows.check()?;
        Ok(Series { rows, sequences: None })
    }

    /// The same rows, divided into sequences by one sequence identifier per row. The rows of a sequence must be contiguous.
    pub fn with_sequences(self, sequences: &'a [u32]) -> Result<Self> {
        check_same_length("sequences", self.len(), sequences.len())?;
        let mut seen = HashSet::new();
        let mut row = 0;
        for run in sequences.chunk_by(PartialEq::eq) {
            if !seen.insert(run[0]) {
                return Err(Error::InterruptedSequence { row, id: run[0] });
            }
            row += run.len();
        }
        Ok(Series { sequences: Some(sequences), ..self })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Always false, because a series contains at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The rows of all sequences.
    pub(super) fn rows(&self) -> &Rows<'a, P> {
        &self.rows
    }

    /// The range of rows of each sequence.
    pub(super) fn sequences(&self) -> impl Iterator<Item = Range<usize>> {
        let whole = self.sequences.is_none().then_some(0..self.len());
        let mut end = 0;
        let runs = self.sequences.unwrap_or(&[]).chunk_by(PartialEq::eq).map(move |run| {
            end += run.len();
            end - run.len()..end
        });
        whole.into_iter().chain(runs)
    }
}
