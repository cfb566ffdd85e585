//! The class of each row of a table.

use super::{Literal, Rule, Target};
use crate::error::{Error, Result};
use crate::groups::{NO_ROW, Neighbours, number_text};
use crate::names::{listed, quoted};
use crate::note::Note;
use crate::table::{Column, Table, Values};

/// The class of each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// A place in `names`, or [`Labels::MISSING`] for rows that are left out.
    pub classes: Vec<u32>,
    /// Of two classes, the second is the positive one.
    pub names: Vec<String>,
    /// With a lead, the row whose value a row's label is; otherwise nothing, and it is the row itself.
    pub ahead: Option<Vec<u32>>,
}

impl Labels {
    /// The label of a row that is left out.
    pub const MISSING: u32 = u32::MAX;

    /// The rows that have a label.
    #[must_use]
    pub fn rows(&self) -> Vec<u32> {
        (0..).zip(&self.classes).filter(|(_, class)| **class != Labels::MISSING).map(|(row, _)| row).collect()
    }

    /// How many rows each class has.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.classes.iter().filter(|class| **class != Labels::MISSING).for_each(|class| counts[*class as usize] += 1);
        counts
    }

    /// With two classes, whether each row is positive; rows that are left out are not.
    #[must_use]
    pub fn positives(&self) -> Vec<bool> {
        self.classes.iter().map(|class| *class == 1).collect()
    }
}

impl Target {
    /// The class of each row. A value that is no class the target knows is a fault that names its place.
    pub fn labels(&self, table: &Table, neighbours: &Neighbours) -> Result<(Labels, Vec<Note>)> {
        let column = crate::names::column(table, "target", &self.column)?;
        let now = self.classes_now(table, column)?;
        let ahead = (self.lead > 0).then(|| neighbours.ahead(self.lead));
        let classes = match &ahead {
            None => now,
            Some(ahead) => {
                let class = |row: &u32| now.get(*row as usize).copied().unwrap_or(Labels::MISSING);
                ahead.iter().map(class).collect()
            }
        };
        let labels = Labels { classes, names: self.classes(), ahead };
        let notes = self.left_out(&labels);
        Ok((labels, notes))
    }

    fn left_out(&self, labels: &Labels) -> Vec<Note> {
        let beyond = labels.ahead.iter().flatten().filter(|row| **row == NO_ROW).count();
        let unknown = labels.classes.iter().filter(|class| **class == Labels::MISSING).count() - beyond;
        let are = |count: usize| if count == 1 { "row is" } else { "rows are" };
        let (its, it) = (if unknown == 1 { "its" } else { "their" }, if beyond == 1 { "it" } else { "them" });
        let unknown = (unknown > 0).then(|| {
            Note::of(&self.column, format!("{unknown} {} left out: nothing is known of {its} target", are(unknown)))
        });
        let beyond = (beyond > 0)
            .then(|| Note::new(format!("{beyond} {} left out: no row lies {} ahead of {it}", are(beyond), self.lead)));
        unknown.into_iter().chain(beyond).collect()
    }

    /// The class of each row's own value.
    fn classes_now(&self, table: &Table, column: &Column) -> Result<Vec<u32>> {
        let place = |text: &str| match &self.rule {
            Rule::Classes(classes) => classes.iter().position(|class| class == text).map(|at| at as u32),
            Rule::Condition { comparison, with } => {
                let equal = match with {
                    Literal::Text(with) => text == with,
                    Literal::Number(x) => text.parse::<f64>().is_ok_and(|y| y == *x),
                };
                match comparison {
                    super::Comparison::Equal => Some(u32::from(equal)),
                    super::Comparison::Unlike => Some(u32::from(!equal)),
                    // A text that is a number, in a column that is read as texts.
                    other => match (text.parse::<f64>(), with) {
                        (Ok(x), Literal::Number(with)) => Some(u32::from(other.holds(x, *with))),
                        _ => None,
                    },
                }
            }
        };
        let unknown = |row: usize, text: &str| {
            let problem = format!("{} is no class that can be predicted", quoted(text));
            let names = self.classes();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = match &self.rule {
                Rule::Classes(_) => format!("the classes are {}", listed(&names)),
                Rule::Condition { comparison, .. } => format!("a number is needed for {}", comparison.sign()),
            };
            Error::data(table.place(row).column(&column.name), problem, hint)
        };
        match &column.values {
            Values::Category(values) => {
                let places: Vec<Option<u32>> = values.levels.iter().map(|level| place(level)).collect();
                let class = |(row, code): (usize, &u32)| match places.get(*code as usize) {
                    None => Ok(Labels::MISSING),
                    Some(Some(class)) => Ok(*class),
                    Some(None) => Err(unknown(row, &values.levels[*code as usize])),
                };
                values.codes.iter().enumerate().map(class).collect()
            }
            Values::Number(values) => {
                let numbers: Vec<Option<f64>> = match &self.rule {
                    Rule::Classes(classes) => classes.iter().map(|class| class.parse().ok()).collect(),
                    Rule::Condition { .. } => Vec::new(),
                };
                let class = |(row, x): (usize, &f64)| {
                    let class = match &self.rule {
                        _ if x.is_nan() => return Ok(Labels::MISSING),
                        Rule::Condition { comparison, with: Literal::Number(with) } => {
                            Some(u32::from(comparison.holds(*x, *with)))
                        }
                        Rule::Condition { .. } => place(&number_text(*x)),
                        Rule::Classes(_) => {
                            numbers.iter().position(|class| *class == Some(*x)).map(|class| class as u32)
                        }
                    };
                    class.ok_or_else(|| unknown(row, &number_text(*x)))
                };
                values.iter().enumerate().map(class).collect()
            }
            Values::Boolean(values) => {
                let places = ["false", "true"].map(place);
                let class = |(row, yes): (usize, &Option<bool>)| match yes {
                    None => Ok(Labels::MISSING),
                    Some(yes) => places[usize::from(*yes)].ok_or_else(|| unknown(row, &yes.to_string())),
                };
                values.iter().enumerate().map(class).collect()
            }
            Values::Time(values) => {
                let first = values.iter().position(|time| *time != Values::NO_TIME);
                first.map_or_else(|| Ok(vec![Labels::MISSING; values.len()]), |row| Err(unknown(row, "a time")))
            }
        }
    }
}
