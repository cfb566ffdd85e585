//! Whether the parts of a model fit each other: asked before a file is written and after one is read.

use std::collections::HashSet;

use super::{Decision, Model};
use crate::learner::Member;
use scorewise_table::target::Rule;

/// Rows that a lead may span: more than any real one, few enough to keep.
const FARTHEST: usize = 1 << 20;

type Verdict = Result<(), String>;

impl Model {
    /// Says what does not fit.
    pub(super) fn check(&self) -> Verdict {
        self.encoder.check()?;
        self.check_members()?;
        self.check_classes()?;
        if self.target.lead > FARTHEST {
            return Err(format!("a lead of {} rows is more than {FARTHEST}", self.target.lead));
        }
        self.check_decision()
    }

    fn check_members(&self) -> Verdict {
        let first = self.members.first().ok_or("it has no members")?;
        let size = |member: &Member| (member.inputs(), member.outputs());
        if let Some(other) = self.members.iter().position(|member| size(member) != size(first)) {
            return Err(format!("member {other} has another number of inputs or outputs than the first"));
        }
        let (inputs, columns) = (first.inputs(), self.encoder.width());
        if inputs != columns {
            return Err(format!("its members take {inputs} inputs and the encoder gives {columns}"));
        }
        match self.members.iter().position(|member| !member.is_finite()) {
            Some(member) => Err(format!("member {member} has weights that are not finite numbers")),
            None => Ok(()),
        }
    }

    fn check_classes(&self) -> Verdict {
        let count = self.classes.len();
        if count < 2 {
            return Err(format!("{count} classes are too few"));
        }
        let mut seen = HashSet::with_capacity(count);
        if let Some(twice) = self.classes.iter().find(|class| !seen.insert(class.as_str())) {
            return Err(format!("the class `{}` comes twice", twice.escape_debug()));
        }
        match &self.target.rule {
            Rule::Classes(classes) if *classes != self.classes => {
                Err("the target has other classes than the model".into())
            }
            Rule::Condition { .. } if count != 2 => Err(format!("a condition has 2 classes, not {count}")),
            _ => Ok(()),
        }?;
        let outputs = self.members[0].outputs();
        let expected = if count == 2 { 1 } else { count };
        if outputs == expected {
            Ok(())
        } else {
            Err(format!("{outputs} outputs are not {expected} for {count} classes"))
        }
    }

    fn check_decision(&self) -> Verdict {
        let count = self.classes.len();
        let many = |values: &[f64], fits: fn(&f64) -> bool, what: &str| {
            if values.len() != count || count == 2 {
                return Err(format!("{} {what} do not decide between {count} classes", values.len()));
            }
            values.iter().find(|value| !fits(value)).map_or(Ok(()), |bad| Err(format!("{bad} is none of the {what}")))
        };
        match &self.decision {
            Decision::Threshold { .. } if count != 2 => {
                Err(format!("one threshold does not decide between {count} classes"))
            }
            Decision::Threshold { threshold, interval, value, .. } => {
                if !is_share(threshold) {
                    return Err(format!("the threshold {threshold} lies outside [0, 1]"));
                }
                let (low, high) = interval.unwrap_or((*threshold, *threshold));
                if !(is_share(&low) && is_share(&high) && low <= *threshold && *threshold <= high) {
                    return Err(format!("the threshold {threshold} lies outside its interval from {low} to {high}"));
                }
                if value.is_none_or(f64::is_finite) {
                    Ok(())
                } else {
                    Err("the score at the threshold is not finite".into())
                }
            }
            Decision::Greatest if count == 2 => Err("two classes are decided by a threshold".into()),
            Decision::Greatest => Ok(()),
            Decision::Thresholds { thresholds, .. } => many(thresholds, is_share, "thresholds"),
            Decision::Centres { centres } => many(centres, |centre| centre.is_finite(), "centres"),
        }
    }
}

fn is_share(value: &f64) -> bool {
    (0.0..=1.0).contains(value)
}
