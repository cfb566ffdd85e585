//! Checks that the fields of a model are consistent, before a model file is written and after one is read.

use std::collections::HashSet;

use super::{Decision, Model};
use crate::ensemble::check_weights;
use crate::learner::Member;
use scorewise_table::encode::BinnedColumn;
use scorewise_table::target::LabelRule;

/// Maximum lead, which is the number of rows from the row of the inputs to the row that is predicted. The limit is greater than any realistic lead,
/// and small enough that memory can be allocated for a lead of this length.
const MAX_LEAD: usize = 1 << 20;

impl Model {
    /// Checks that the fields of the model are consistent. The error describes the first inconsistency.
    pub(super) fn check(&self) -> Result<(), String> {
        self.encoder.check()?;
        self.check_members()?;
        self.check_classes()?;
        if self.target.lead > MAX_LEAD {
            return Err(format!("a lead of {} rows is too long; the limit is {MAX_LEAD}", self.target.lead));
        }
        if self.calibration.is_some() && self.classes.len() != 2 {
            return Err("only a model with two classes can have a calibration".into());
        }
        self.check_decision()?;
        let columns: HashSet<&str> = self.encoder.inputs.iter().map(|input| input.column.as_str()).collect();
        self.reference.as_ref().map_or(Ok(()), |reference| reference.check(&columns))
    }

    /// Checks that the members agree with each other and with the encoder.
    fn check_members(&self) -> Result<(), String> {
        let first = self.members.first().ok_or("the model has no members")?;
        let widths = |member: &Member| (member.inputs(), member.outputs());
        if let Some(other) = self.members.iter().position(|member| widths(member) != widths(first)) {
            return Err(format!("member {other} has a different number of inputs or outputs than member 0"));
        }
        check_weights(&self.weights, self.members.len())?;
        let (inputs, columns) = (first.inputs(), self.encoder.width());
        if inputs != columns {
            return Err(format!("the members have {inputs} inputs, but the encoder produces {columns} columns"));
        }
        let binned = self.encoder.binned_columns();
        let expected: Vec<usize> = binned.iter().flatten().map(BinnedColumn::positions).collect();
        if let Some(member) = self.members.iter().position(|member| member.positions() != expected) {
            return Err(format!(
                "member {member} and the encoder disagree on the number of knots, frequent values and levels of the binned inputs"
            ));
        }
        match self.members.iter().position(|member| !member.is_finite()) {
            Some(member) => Err(format!("member {member} has weights that are not finite numbers")),
            None => Ok(()),
        }
    }

    /// Checks that the classes are distinct, and that they agree with the target and with the outputs of the members.
    fn check_classes(&self) -> Result<(), String> {
        let count = self.classes.len();
        if count < 2 {
            return Err(format!("the model has {count} classes, but at least 2 are needed"));
        }
        let mut seen = HashSet::with_capacity(count);
        if let Some(repeated) = self.classes.iter().find(|class| !seen.insert(class.as_str())) {
            return Err(format!("the class `{}` appears twice", repeated.escape_debug()));
        }
        match &self.target.rule {
            LabelRule::Classes(classes) if *classes != self.classes => {
                Err("the classes of the target differ from those of the model".into())
            }
            LabelRule::Condition { .. } if count != 2 => {
                Err(format!("a target given as a condition has 2 classes, not {count}"))
            }
            _ => Ok(()),
        }?;
        let outputs = self.members[0].outputs();
        let expected = if count == 2 { 1 } else { count };
        if outputs == expected {
            Ok(())
        } else {
            Err(format!("the members have {outputs} outputs, but {count} classes need {expected}"))
        }
    }

    /// Checks that the decision rule is valid for the number of classes.
    fn check_decision(&self) -> Result<(), String> {
        let count = self.classes.len();
        let check_values = |values: &[f64], is_valid: fn(&f64) -> bool, what: &str| {
            if values.len() != count || count == 2 {
                return Err(format!("{} {what} cannot decide between {count} classes", values.len()));
            }
            values
                .iter()
                .find(|value| !is_valid(value))
                .map_or(Ok(()), |bad| Err(format!("{bad} is not a valid value for {what}")))
        };
        match &self.decision {
            Decision::Threshold { .. } if count != 2 => {
                Err(format!("one threshold cannot decide between {count} classes"))
            }
            Decision::Threshold { threshold, interval, value, .. } => {
                if !is_probability(threshold) {
                    return Err(format!("the threshold {threshold} lies outside [0, 1]"));
                }
                let (low, high) = interval.unwrap_or((*threshold, *threshold));
                if !(is_probability(&low) && is_probability(&high) && low <= *threshold && *threshold <= high) {
                    return Err(format!(
                        "the threshold {threshold} lies outside the interval of equally good thresholds from {low} to {high}"
                    ));
                }
                if value.is_none_or(f64::is_finite) {
                    Ok(())
                } else {
                    Err("the score at the threshold is not finite".into())
                }
            }
            Decision::Greatest if count == 2 => Err("a model with two classes needs a threshold".into()),
            Decision::Greatest => Ok(()),
            Decision::Thresholds { thresholds, .. } => check_values(thresholds, is_probability, "thresholds"),
            Decision::Factors { factors, .. } => {
                check_values(factors, |factor| *factor > 0.0 && *factor <= 1.0, "factors")
            }
            Decision::Costs { costs } => {
                if count == 2 {
                    return Err("a model with two classes needs a threshold".into());
                }
                if costs.len() != count {
                    return Err(format!("there are costs for {} classes, but {count} classes", costs.len()));
                }
                costs.iter().try_for_each(|row| check_values(row, |cost| cost.is_finite(), "costs"))
            }
            Decision::Centres { centres } => check_values(centres, |centre| centre.is_finite(), "centres"),
        }
    }
}

/// Whether a number lies between 0 and 1.
fn is_probability(value: &f64) -> bool {
    (0.0..=1.0).contains(value)
}
