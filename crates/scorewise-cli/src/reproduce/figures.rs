//! Figures 1 and 2, beside the tables.

use scorewise_train::reproduce::Trial;

use super::arguments::Chosen;
use crate::outcome::Failure;

/// Writes the figures of an experiment.
pub fn write(_chosen: &Chosen, _trials: &[Trial]) -> Result<(), Failure> {
    Ok(())
}
