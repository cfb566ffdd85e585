//! Checks an encoder that was read from a model file, which may have been edited or written by another program.

use std::collections::HashSet;

use super::choice::MAX_LAGS;
use super::fit::MAX_WIDTH;
use super::statistics::MIN_DEVIATION;
use super::{ColumnEncoding, Encoder, InputColumn, Standardisation};
use crate::table::ColumnKind;

impl Encoder {
    /// Checks that all numbers are finite, that no standard deviation is 0, that nothing is listed twice, and that all sizes are within bounds.
    /// The error says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.inputs.is_empty() {
            return Err("the encoder has no inputs".into());
        }
        if self.order.step.is_some_and(|step| step <= 0) {
            return Err("the time step between rows must be greater than 0".into());
        }
        let mut seen = HashSet::new();
        let mut width = 0usize;
        for input in &self.inputs {
            input.check().map_err(|problem| format!("input `{}`: {problem}", input.column.escape_debug()))?;
            if !seen.insert((&input.column, input.lag)) {
                return Err(format!("input `{}` is listed twice", input.column.escape_debug()));
            }
            width = width.saturating_add(input.width());
        }
        if width > MAX_WIDTH {
            return Err(format!("the encoder has {width} columns; at most {MAX_WIDTH} are allowed"));
        }
        Ok(())
    }
}

impl InputColumn {
    fn check(&self) -> Result<(), String> {
        if self.lag > MAX_LAGS {
            return Err(format!("has a lag of {} rows; at most {MAX_LAGS} are allowed", self.lag));
        }
        if self.width() == 0 {
            return Err("is encoded as 0 columns".into());
        }
        let fits = match &self.coding {
            ColumnEncoding::Number { mean, deviation, .. } => {
                check_scale(*mean, *deviation)?;
                matches!(self.kind, ColumnKind::Number | ColumnKind::Boolean)
            }
            ColumnEncoding::Ordinal { levels, mean, deviation, .. } => {
                check_scale(*mean, *deviation)?;
                check_distinct(levels)?;
                self.kind != ColumnKind::Time
            }
            ColumnEncoding::OneHot { levels, scales, .. } => {
                if !scales.is_empty() && scales.len() != self.width() {
                    return Err(format!("has {} scales for {} columns", scales.len(), self.width()));
                }
                scales.iter().try_for_each(|Standardisation { mean, deviation }| check_scale(*mean, *deviation))?;
                check_distinct(levels)?;
                self.kind != ColumnKind::Time
            }
            ColumnEncoding::Time { cycles, .. } => {
                if (1..cycles.len()).any(|at| cycles[..at].contains(&cycles[at])) {
                    return Err("a cycle is listed twice".into());
                }
                self.kind == ColumnKind::Time
            }
        };
        if fits { Ok(()) } else { Err("its encoding does not fit the type of the column".into()) }
    }
}

fn check_scale(mean: f64, deviation: f64) -> Result<(), String> {
    if !mean.is_finite() {
        return Err(format!("the mean is {mean}"));
    }
    if !(deviation.is_finite() && deviation >= MIN_DEVIATION) {
        return Err(format!("the standard deviation is {deviation}"));
    }
    Ok(())
}

fn check_distinct(levels: &[String]) -> Result<(), String> {
    let mut seen = HashSet::new();
    match levels.iter().find(|level| !seen.insert(*level)) {
        Some(level) => Err(format!("the level `{}` is listed twice", level.escape_debug())),
        None => Ok(()),
    }
}
