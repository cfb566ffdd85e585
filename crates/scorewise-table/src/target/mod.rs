//! The target of a prediction. The classes are the values of a column, or they say whether a condition on a column holds. With a lead, the class
//! of a later row is predicted.

mod parse;
mod labels;

pub use labels::{Labels, Unmatched};

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a model predicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The name of the column whose values are predicted.
    pub column: String,
    /// How the values of the column become classes.
    pub rule: LabelRule,
    /// How many steps after the row the predicted value lies, within the same group of rows; 0 for the row itself. A step is one row, or one time
    /// step in a regular time series.
    pub lead: usize,
}

/// How the values of the target column become classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelRule {
    /// Each value is a class of its own. With two classes, the second is the positive one.
    Classes(Vec<String>),
    /// Rows where the condition holds are positive; other rows are negative if they have a value, and have no label otherwise.
    Condition {
        /// The operator of the condition.
        comparison: ComparisonOperator,
        /// The value on the right of the operator.
        #[serde(rename = "with")]
        operand: ConditionValue,
    },
}

/// The operator of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ComparisonOperator {
    /// `>`: greater than.
    #[serde(rename = ">")]
    Above,
    /// `>=`: greater than or equal.
    #[serde(rename = ">=")]
    AtLeast,
    /// `<`: less than.
    #[serde(rename = "<")]
    Below,
    /// `<=`: less than or equal.
    #[serde(rename = "<=")]
    AtMost,
    /// `=`: equal.
    #[serde(rename = "=")]
    Equal,
    /// `!=`: not equal.
    #[serde(rename = "!=")]
    Unlike,
}

/// The value that a condition compares with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ConditionValue {
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

impl Target {
    /// The names of the classes. With two classes, the second is the positive one.
    #[must_use]
    pub fn classes(&self) -> Vec<String> {
        match &self.rule {
            LabelRule::Classes(classes) => classes.clone(),
            LabelRule::Condition { comparison, operand } => {
                let condition = format!("{} {} {operand}", self.column, comparison.sign());
                vec![format!("not {condition}"), condition]
            }
        }
    }

    /// The column that must not be an input because it contains the value to predict. `None` for a target with a lead: the value to predict
    /// then lies in a later row, and the value in the row itself is known when the prediction is made.
    #[must_use]
    pub fn hidden(&self) -> Option<&str> {
        (self.lead == 0).then_some(self.column.as_str())
    }

    /// Checks a target that was read from a file. It must have 2 to 100 different classes, or a condition that compares with a finite number,
    /// or with a string by `=` or `!=`. The error says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        match &self.rule {
            LabelRule::Classes(classes) => {
                if !(2..=MAX_CLASSES).contains(&classes.len()) {
                    return Err(format!(
                        "the number of classes is {}, but must be from 2 to {MAX_CLASSES}",
                        classes.len()
                    ));
                }
                match (1..classes.len()).find(|at| classes[..*at].contains(&classes[*at])) {
                    Some(at) => Err(format!("the class `{}` is listed twice", classes[at].escape_debug())),
                    None => Ok(()),
                }
            }
            LabelRule::Condition { operand: ConditionValue::Number(x), .. } if !x.is_finite() => {
                Err(format!("the condition compares with {x}, which is not a finite number"))
            }
            LabelRule::Condition { comparison, operand: ConditionValue::Text(_) } if !comparison.applies_to_text() => {
                Err(format!("text cannot be compared with {}", comparison.sign()))
            }
            LabelRule::Condition { .. } => Ok(()),
        }
    }
}

/// The maximum number of classes of a target. A column with more distinct values probably holds a quantity, and a table of usual size would
/// have too few rows of each class to learn from.
pub const MAX_CLASSES: usize = 100;

impl ComparisonOperator {
    /// The operator as the user writes it.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            ComparisonOperator::Above => ">",
            ComparisonOperator::AtLeast => ">=",
            ComparisonOperator::Below => "<",
            ComparisonOperator::AtMost => "<=",
            ComparisonOperator::Equal => "=",
            ComparisonOperator::Unlike => "!=",
        }
    }

    /// Whether strings can be compared with this operator.
    #[must_use]
    pub fn applies_to_text(self) -> bool {
        matches!(self, ComparisonOperator::Equal | ComparisonOperator::Unlike)
    }

    /// Whether the condition `x OPERATOR operand` holds.
    #[must_use]
    pub fn holds(self, x: f64, operand: f64) -> bool {
        match self {
            ComparisonOperator::Above => x > operand,
            ComparisonOperator::AtLeast => x >= operand,
            ComparisonOperator::Below => x < operand,
            ComparisonOperator::AtMost => x <= operand,
            ComparisonOperator::Equal => x == operand,
            ComparisonOperator::Unlike => x != operand,
        }
    }
}

impl fmt::Display for ConditionValue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConditionValue::Number(x) => write!(out, "{x}"),
            ConditionValue::Text(text) => out.write_str(text),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            LabelRule::Classes(_) => out.write_str(&self.column)?,
            LabelRule::Condition { comparison, operand } => {
                write!(out, "{} {} {operand}", self.column, comparison.sign())?;
            }
        }
        match self.lead {
            0 => Ok(()),
            1 => out.write_str(", 1 row ahead"),
            lead => write!(out, ", {lead} rows ahead"),
        }
    }
}
