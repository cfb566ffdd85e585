//! TARGET: what is to be predicted, as the user wrote it: a column of classes, or a condition on a column; now or some rows ahead.
//!
//! ```
//! use scorewise_table::groups::{Neighbours, RowOrder};
//! use scorewise_table::table::{Column, Table, Values};
//! use scorewise_table::target::{Labels, Target};
//!
//! let pm = Column { name: "pm2.5 [µg/m3]".into(), values: Values::Number(vec![50.0, 410.0, f64::NAN, 30.0]) };
//! let table = Table { file: "air.csv".into(), columns: vec![pm], ..Table::default() };
//! // Will it be above 400 in the next row?
//! let (target, _) = Target::parse("pm2.5 [µg/m3] > 400", &table, None, 1)?;
//! let (labels, notes) = target.labels(&table, &Neighbours::new(&table, &RowOrder::default())?)?;
//! assert_eq!(labels.classes, [1, Labels::MISSING, 0, Labels::MISSING]);
//! assert_eq!(notes[0].to_string(), "column `pm2.5 [µg/m3]`: 1 row is left out: nothing is known of its target");
//! assert_eq!(notes[1].to_string(), "1 row is left out: no row lies 1 ahead of it");
//! # Ok::<(), scorewise_table::Error>(())
//! ```

mod parse;
mod labels;

pub use labels::{Labels, Unmatched};

use std::fmt;

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

impl Target {
    /// The names of the classes. Of two, the second is the positive one.
    #[must_use]
    pub fn classes(&self) -> Vec<String> {
        match &self.rule {
            Rule::Classes(classes) => classes.clone(),
            Rule::Condition { comparison, with } => {
                let condition = format!("{} {} {with}", self.column, comparison.sign());
                vec![format!("not {condition}"), condition]
            }
        }
    }

    /// The column that must not be an input, since it holds the answer. What lies ahead is not known, what is now is.
    #[must_use]
    pub fn hidden(&self) -> Option<&str> {
        (self.lead == 0).then_some(self.column.as_str())
    }

    /// Whether it can be used: at least two classes, all different, a finite number. Otherwise what is wrong.
    pub fn check(&self) -> Result<(), String> {
        match &self.rule {
            Rule::Classes(classes) => {
                if !(2..=MOST_CLASSES).contains(&classes.len()) {
                    return Err(format!("the target has {} classes, 2 to {MOST_CLASSES} can be", classes.len()));
                }
                match (1..classes.len()).find(|at| classes[..*at].contains(&classes[*at])) {
                    Some(at) => Err(format!("the class `{}` stands there twice", classes[at].escape_debug())),
                    None => Ok(()),
                }
            }
            Rule::Condition { with: Literal::Number(x), .. } if !x.is_finite() => Err(format!("a condition on {x}")),
            Rule::Condition { comparison, with: Literal::Text(_) } if !comparison.is_of_texts() => {
                Err(format!("texts cannot be compared with {}", comparison.sign()))
            }
            Rule::Condition { .. } => Ok(()),
        }
    }
}

/// Classes at the most: of more, the outputs could not all be learnt from a table of usual size, and a number was meant.
pub(crate) const MOST_CLASSES: usize = 100;

impl Comparison {
    /// As a user writes it.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Above => ">",
            Comparison::AtLeast => ">=",
            Comparison::Below => "<",
            Comparison::AtMost => "<=",
            Comparison::Equal => "=",
            Comparison::Unlike => "!=",
        }
    }

    /// Whether texts can be compared so.
    #[must_use]
    pub fn is_of_texts(self) -> bool {
        matches!(self, Comparison::Equal | Comparison::Unlike)
    }

    /// Whether it holds for two numbers.
    #[must_use]
    pub fn holds(self, x: f64, with: f64) -> bool {
        match self {
            Comparison::Above => x > with,
            Comparison::AtLeast => x >= with,
            Comparison::Below => x < with,
            Comparison::AtMost => x <= with,
            Comparison::Equal => x == with,
            Comparison::Unlike => x != with,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Number(x) => write!(out, "{x}"),
            Literal::Text(text) => out.write_str(text),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Rule::Classes(_) => out.write_str(&self.column)?,
            Rule::Condition { comparison, with } => write!(out, "{} {} {with}", self.column, comparison.sign())?,
        }
        match self.lead {
            0 => Ok(()),
            1 => out.write_str(", 1 row ahead"),
            lead => write!(out, ", {lead} rows ahead"),
        }
    }
}
