//! TARGET: what is to be predicted, as the user wrote it: a column of classes, or a condition on a column; now or some rows ahead.

use serde::{Deserialize, Serialize};

/// What is to be predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The column it is read from.
    pub column: String,
    /// How its values become classes.
    pub rule: Rule,
    /// The row whose value is predicted lies so many rows ahead, in the same group.
    pub lead: usize,
}

/// How values become classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Each text is a class. With two classes the second is the positive one.
    Classes(Vec<String>),
    /// Positive where the condition holds.
    Condition {
        /// How the value is compared.
        comparison: Comparison,
        /// With what.
        with: Literal,
    },
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Comparison {
    /// >
    #[serde(rename = ">")]
    Above,
    /// >=
    #[serde(rename = ">=")]
    AtLeast,
    /// <
    #[serde(rename = "<")]
    Below,
    /// <=
    #[serde(rename = "<=")]
    AtMost,
    /// =
    #[serde(rename = "=")]
    Equal,
    /// !=
    #[serde(rename = "!=")]
    Unlike,
}

/// A number or a text in a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}
