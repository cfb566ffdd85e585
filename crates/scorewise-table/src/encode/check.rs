//! Checks an encoder that was read from a model file, which may have been edited or written by another program.

use std::collections::HashSet;

use super::fit::MAX_WIDTH;
use super::options::MAX_LAG;
use super::statistics::MIN_DEVIATION;
use super::{ColumnEncoding, Encoder, InputColumn, Standardisation};
use crate::table::ColumnKind;

impl Encoder {
    /// Checks that all numbers are finite, that no standard deviation is 0, that no input, level or calendar cycle is listed twice, that all
    /// sizes are within bounds, and that every encoding fits the type of its column. The error says what is wrong.
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
            if !seen.insert((&input.column, input.lag, input.part)) {
                return Err(format!("input `{}` is listed twice", input.column.escape_debug()));
            }
            width = width.saturating_add(input.width());
        }
        let binned = self.inputs.iter().filter(|input| input.coding.binned_column().is_some()).count();
        if binned != 0 && binned != self.inputs.len() {
            return Err("some inputs are binned and others are not; either all inputs or none must be binned".into());
        }
        if width > MAX_WIDTH {
            return Err(format!("the encoder has {width} columns; at most {MAX_WIDTH} are allowed"));
        }
        Ok(())
    }
}

impl InputColumn {
    /// Checks one input. The error says what is wrong with it.
    fn check(&self) -> Result<(), String> {
        if self.lag > MAX_LAG {
            return Err(format!("the lag is {} steps; at most {MAX_LAG} are allowed", self.lag));
        }
        if self.width() == 0 {
            return Err("the encoding produces no columns".into());
        }
        let fits = match &self.coding {
            ColumnEncoding::Number { mean, deviation, .. } => {
                check_standardisation(*mean, *deviation)?;
                matches!(self.kind, ColumnKind::Number | ColumnKind::Boolean)
            }
            ColumnEncoding::Ordinal { levels, mean, deviation, .. } => {
                check_standardisation(*mean, *deviation)?;
                check_distinct(levels)?;
                self.kind != ColumnKind::Time
            }
            ColumnEncoding::OneHot { levels, scales, .. } => {
                if !scales.is_empty() && scales.len() != self.width() {
                    return Err(format!("`scales` has {} entries for {} columns", scales.len(), self.width()));
                }
                let check = |scale: &Standardisation| check_standardisation(scale.mean, scale.deviation);
                scales.iter().try_for_each(check)?;
                check_distinct(levels)?;
                self.kind != ColumnKind::Time
            }
            ColumnEncoding::Time { cycles, .. } => {
                if (1..cycles.len()).any(|at| cycles[..at].contains(&cycles[at])) {
                    return Err("a calendar cycle is listed twice".into());
                }
                self.kind == ColumnKind::Time
            }
            ColumnEncoding::Knots { knots, own, median, spread, .. } => {
                if knots.is_empty() || knots.len().saturating_add(own.len()) > MAX_KNOTS {
                    return Err(format!(
                        "the encoding has {} knots and {} frequent values; it must have at least one knot and at most {MAX_KNOTS} of both together",
                        knots.len(),
                        own.len()
                    ));
                }
                check_ascending(knots)?;
                check_ascending(own)?;
                check_scale(("median", *median), ("spread", *spread))?;
                matches!(self.kind, ColumnKind::Number | ColumnKind::Boolean)
                    || self.kind == ColumnKind::Time && self.part.is_some()
            }
            ColumnEncoding::Levels { levels, .. } => {
                if levels.len() > MAX_WIDTH {
                    return Err(format!("the encoding has {} levels; at most {MAX_WIDTH} are allowed", levels.len()));
                }
                check_distinct(levels)?;
                self.kind != ColumnKind::Time
            }
        };
        if self.part.is_some()
            && (self.kind != ColumnKind::Time || !matches!(self.coding, ColumnEncoding::Knots { .. }))
        {
            return Err("a part of a time is given, but the input is not a binned column of times".into());
        }
        if fits { Ok(()) } else { Err("the encoding does not fit the type of the column".into()) }
    }
}

/// The maximum number of knots and frequent values of an input, counted together. The position of a value among the knots is stored as f32, so more
/// knots would leave too few digits for the fraction of the position.
const MAX_KNOTS: usize = 4096;

/// Checks that the knots, or the frequent values, are finite numbers in ascending order.
fn check_ascending(numbers: &[f64]) -> Result<(), String> {
    if numbers.iter().all(|x| x.is_finite()) && numbers.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err("the knots or the frequent values are not finite numbers in ascending order".into())
}

/// Checks that the mean is finite, and that the standard deviation is finite and at least [`MIN_DEVIATION`].
fn check_standardisation(mean: f64, deviation: f64) -> Result<(), String> {
    check_scale(("mean", mean), ("standard deviation", deviation))
}

/// Checks that the centre, which is subtracted from every value, is finite, and that the scale, by which every value is divided, is finite
/// and at least [`MIN_DEVIATION`]. The error message uses the names `centre_name` and `scale_name`.
fn check_scale((centre_name, centre): (&str, f64), (scale_name, scale): (&str, f64)) -> Result<(), String> {
    if !centre.is_finite() {
        return Err(format!("the {centre_name} is {centre}, but must be finite"));
    }
    if !(scale.is_finite() && scale >= MIN_DEVIATION) {
        return Err(format!("the {scale_name} is {scale}, but must be finite and at least {MIN_DEVIATION:e}"));
    }
    Ok(())
}

/// Checks that no level is listed twice.
fn check_distinct(levels: &[String]) -> Result<(), String> {
    let mut seen = HashSet::new();
    match levels.iter().find(|level| !seen.insert(*level)) {
        Some(level) => Err(format!("the level `{}` is listed twice", level.escape_debug())),
        None => Ok(()),
    }
}
