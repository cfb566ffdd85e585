//! An encoder from a file that anyone may have written: refused before it is used.

use std::collections::HashSet;

use super::choice::MOST_LAGS;
use super::fit::WIDEST;
use super::statistics::SMALLEST;
use super::{Coding, Encoder, Input, Scale};
use crate::table::Kind;

impl Encoder {
    /// Whether it can be used: finite numbers, no deviation of 0, sizes within bounds. Otherwise what is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.inputs.is_empty() {
            return Err("the encoder has no inputs".into());
        }
        if self.order.step.is_some_and(|step| step <= 0) {
            return Err("the rows are ordered by a step that is not above 0".into());
        }
        let mut seen = HashSet::new();
        let mut width = 0usize;
        for input in &self.inputs {
            input.check().map_err(|problem| format!("input `{}`: {problem}", input.column.escape_debug()))?;
            if !seen.insert((&input.column, input.lag)) {
                return Err(format!("input `{}` stands there twice", input.column.escape_debug()));
            }
            width = width.saturating_add(input.width());
        }
        if width > WIDEST {
            return Err(format!("the encoder has {width} columns, at most {WIDEST} can be"));
        }
        Ok(())
    }
}

impl Input {
    fn check(&self) -> Result<(), String> {
        if self.lag > MOST_LAGS {
            return Err(format!("looks {} rows back, at most {MOST_LAGS} can be", self.lag));
        }
        if self.width() == 0 {
            return Err("gives no column".into());
        }
        let fits = match &self.coding {
            Coding::Number { mean, deviation, .. } => {
                scale(*mean, *deviation)?;
                matches!(self.kind, Kind::Number | Kind::Boolean)
            }
            Coding::Ordinal { levels, mean, deviation, .. } => {
                scale(*mean, *deviation)?;
                different(levels)?;
                self.kind != Kind::Time
            }
            Coding::OneHot { levels, scales, .. } => {
                if !scales.is_empty() && scales.len() != self.width() {
                    return Err(format!("has {} scales for {} columns", scales.len(), self.width()));
                }
                scales.iter().try_for_each(|Scale { mean, deviation }| scale(*mean, *deviation))?;
                different(levels)?;
                self.kind != Kind::Time
            }
            Coding::Time { cycles, .. } => {
                if (1..cycles.len()).any(|at| cycles[..at].contains(&cycles[at])) {
                    return Err("a cycle stands there twice".into());
                }
                self.kind == Kind::Time
            }
        };
        if fits { Ok(()) } else { Err("its coding does not fit what the column holds".into()) }
    }
}

fn scale(mean: f64, deviation: f64) -> Result<(), String> {
    if !mean.is_finite() {
        return Err(format!("a mean of {mean}"));
    }
    if !(deviation.is_finite() && deviation >= SMALLEST) {
        return Err(format!("a deviation of {deviation}"));
    }
    Ok(())
}

fn different(levels: &[String]) -> Result<(), String> {
    let mut seen = HashSet::new();
    match levels.iter().find(|level| !seen.insert(*level)) {
        Some(level) => Err(format!("the level `{}` stands there twice", level.escape_debug())),
        None => Ok(()),
    }
}
