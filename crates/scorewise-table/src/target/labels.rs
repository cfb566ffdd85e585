//! Labels: the class of each row of a table.

use std::collections::{BTreeMap, BTreeSet};

use super::{ConditionValue, LabelRule, Target};
use crate::error::{Error, Result};
use crate::groups::{NO_ROW, Neighbours, number_text};
use crate::names::{quoted, quoted_list};
use crate::note::Note;
use crate::table::{Table, Values};

/// The classes of the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The class of every row of the table, as an index into `names`; [`Labels::MISSING`] for rows without a label.
    pub classes: Vec<u32>,
    /// The names of the classes. With two classes, the second is the positive one.
    pub names: Vec<String>,
    /// For a target with a lead: for every row, the later row that gives the label, or [`NO_ROW`]. `None` for a target without a lead.
    pub ahead: Option<Vec<u32>>,
}

impl Labels {
    /// The entry of `classes` for a row without a label.
    pub const MISSING: u32 = u32::MAX;

    /// The rows that have a label.
    #[must_use]
    pub fn rows(&self) -> Vec<u32> {
        (0..).zip(&self.classes).filter(|(_, class)| **class != Labels::MISSING).map(|(row, _)| row).collect()
    }

    /// The number of rows of each class, in the order of `names`.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.classes.iter().filter(|class| **class != Labels::MISSING).for_each(|class| counts[*class as usize] += 1);
        counts
    }

    /// With two classes, whether each row is positive; `false` for rows without a label.
    #[must_use]
    pub fn positives(&self) -> Vec<bool> {
        self.classes.iter().map(|class| *class == 1).collect()
    }
}

/// The values in a target column that are not classes of the target, and the number of rows that have each of these values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    rows: BTreeMap<String, usize>,
    /// Words such as `yes` and `false` that were read as the two classes although the classes have other names.
    substituted: BTreeSet<String>,
}

impl Unmatched {
    /// Adds the values and counts that were found in further rows.
    pub fn add(&mut self, further: Unmatched) {
        for (text, rows) in further.rows {
            *self.rows.entry(text).or_default() += rows;
        }
        self.substituted.extend(further.substituted);
    }

    /// Notes for the user about values that are not classes, and about words such as `yes` that were read as classes with other names.
    #[must_use]
    pub fn notes(&self, target: &Target) -> Vec<Note> {
        let names = target.classes();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let substituted = (!self.substituted.is_empty()).then(|| {
            let words: Vec<&str> = self.substituted.iter().map(String::as_str).collect();
            let (words, classes) = (quoted_list(&words), quoted_list(&names));
            match self.substituted.len() {
                1 => format!("{words} is read as one of the classes {classes}"),
                _ => format!("{words} are read as the classes {classes}"),
            }
        });
        let unmatched = (!self.rows.is_empty()).then(|| {
            let rows: usize = self.rows.values().sum();
            let texts: Vec<&str> = self.rows.keys().map(String::as_str).collect();
            let (rows_hold, these_rows) =
                if rows == 1 { ("row holds", "this row") } else { ("rows hold", "these rows") };
            let which_are_not =
                if texts.len() == 1 { "which is not one of the classes" } else { "which are not among the classes" };
            format!(
                "{rows} {rows_hold} {}, {which_are_not} {}: the true class of {these_rows} is unknown",
                quoted_list(&texts),
                quoted_list(&names)
            )
        });
        substituted.into_iter().chain(unmatched).map(|text| Note::about_column(&target.column, text)).collect()
    }
}

/// The class of the value that each row has in the target column. For a target with a lead, these are not the labels yet.
struct Classified {
    classes: Vec<u32>,
    unmatched: Unmatched,
    /// The first value that is not a class: its row and the value as a string.
    first_unmatched: Option<(usize, String)>,
}

impl Target {
    /// Returns the labels of all rows. A value that is not a class of the target is an error, which names the row and the column.
    pub fn labels(&self, table: &Table, neighbours: &Neighbours) -> Result<(Labels, Vec<Note>)> {
        let classified = self.classify(table)?;
        if let Some((row, text)) = classified.first_unmatched {
            let problem = format!("{} is not a class of the target", quoted(&text));
            let names = self.classes();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = match &self.rule {
                LabelRule::Classes(_) => format!("the classes are {}", quoted_list(&names)),
                LabelRule::Condition { comparison, .. } => {
                    format!("values that are compared with {} must be numbers", comparison.sign())
                }
            };
            return Err(Error::data(table.place(row).column(&self.column), problem, hint));
        }
        let labels = self.labels_with_lead(classified.classes, neighbours);
        let notes = self.unlabelled_notes(&labels);
        Ok((labels, notes))
    }

    /// Returns the labels of all rows. A row whose value is not a class of the target gets no label and is counted in [`Unmatched`].
    pub fn known_labels(&self, table: &Table, neighbours: &Neighbours) -> Result<(Labels, Unmatched)> {
        let classified = self.classify(table)?;
        Ok((self.labels_with_lead(classified.classes, neighbours), classified.unmatched))
    }

    /// Turns classes into labels. `own` holds the class of the value in each row. Without a lead, this class is the label of the row; with a lead,
    /// the label of a row is the class of the row `lead` steps later.
    fn labels_with_lead(&self, own: Vec<u32>, neighbours: &Neighbours) -> Labels {
        let ahead = (self.lead > 0).then(|| neighbours.ahead(self.lead));
        let classes = match &ahead {
            None => own,
            Some(ahead) => {
                let class = |row: &u32| own.get(*row as usize).copied().unwrap_or(Labels::MISSING);
                ahead.iter().map(class).collect()
            }
        };
        Labels { classes, names: self.classes(), ahead }
    }

    /// Notes on how many rows have no label, and why.
    pub fn unlabelled_notes(&self, labels: &Labels) -> Vec<Note> {
        let beyond = labels.ahead.iter().flatten().filter(|row| **row == NO_ROW).count();
        let unknown = labels.classes.iter().filter(|class| **class == Labels::MISSING).count() - beyond;
        let unknown = (unknown > 0).then(|| {
            let text = match unknown {
                1 => "1 row is left out: its target value is missing".into(),
                _ => format!("{unknown} rows are left out: their target values are missing"),
            };
            Note::about_column(&self.column, text)
        });
        let beyond = (beyond > 0).then(|| {
            let steps = if self.lead == 1 { "1 step".into() } else { format!("{} steps", self.lead) };
            let rows_are = if beyond == 1 { "row is" } else { "rows are" };
            Note::new(format!("{beyond} {rows_are} left out: the table has no row {steps} later"))
        });
        unknown.into_iter().chain(beyond).collect()
    }

    /// Finds the class of the value in the target column of each row itself. A lead is ignored.
    fn classify(&self, table: &Table) -> Result<Classified> {
        let column = crate::names::column(table, "target", &self.column)?;
        let mut classified = Classified {
            classes: Vec::with_capacity(table.rows()),
            unmatched: Unmatched::default(),
            first_unmatched: None,
        };
        let mut push = |row: usize, class: Option<(u32, bool)>, text: &dyn Fn() -> String| match class {
            Some((class, is_exact)) => {
                if !is_exact {
                    classified.unmatched.substituted.insert(text());
                }
                classified.classes.push(class);
            }
            None => {
                let text = text();
                classified.first_unmatched.get_or_insert_with(|| (row, text.clone()));
                *classified.unmatched.rows.entry(text).or_default() += 1;
                classified.classes.push(Labels::MISSING);
            }
        };
        let missing = Some((Labels::MISSING, true));
        match &column.values {
            Values::Category(values) => {
                let classes: Vec<_> = values.levels.iter().map(|level| self.class_of(level)).collect();
                for (row, code) in values.codes.iter().enumerate() {
                    match classes.get(*code as usize) {
                        None => push(row, missing, &String::new),
                        Some(class) => push(row, *class, &|| values.levels[*code as usize].clone()),
                    }
                }
            }
            Values::Number(values) => {
                let numbers: Vec<Option<f64>> = match &self.rule {
                    LabelRule::Classes(classes) => classes.iter().map(|class| class.parse().ok()).collect(),
                    LabelRule::Condition { .. } => Vec::new(),
                };
                for (row, x) in values.iter().enumerate() {
                    let class = match &self.rule {
                        _ if x.is_nan() => missing,
                        LabelRule::Condition { comparison, operand: ConditionValue::Number(operand) } => {
                            Some((u32::from(comparison.holds(*x, *operand)), true))
                        }
                        LabelRule::Condition { .. } => self.class_of(&number_text(*x)),
                        LabelRule::Classes(_) => match numbers.iter().position(|class| *class == Some(*x)) {
                            Some(class) => Some((class as u32, true)),
                            None => self.class_of(&number_text(*x)),
                        },
                    };
                    push(row, class, &|| number_text(*x));
                }
            }
            Values::Boolean(values) => {
                let classes = ["false", "true"].map(|word| self.class_of(word));
                for (row, yes) in values.iter().enumerate() {
                    match yes {
                        None => push(row, missing, &String::new),
                        Some(yes) => push(row, classes[usize::from(*yes)], &|| yes.to_string()),
                    }
                }
            }
            Values::Time(values) => {
                for (row, time) in values.iter().enumerate() {
                    push(row, missing.filter(|_| *time == Values::NO_TIME), &|| "a time".into());
                }
            }
        }
        Ok(classified)
    }

    /// The class that a string stands for; `None` if it stands for no class. The boolean is `false` if the string is a word such as `yes` that
    /// stands for a class with another name, such as `1`.
    fn class_of(&self, text: &str) -> Option<(u32, bool)> {
        match &self.rule {
            LabelRule::Classes(classes) => {
                if let Some(at) = classes.iter().position(|class| class == text) {
                    return Some((at as u32, true));
                }
                if let Ok(x) = text.parse::<f64>()
                    && let Some(at) = classes.iter().position(|class| class.parse() == Ok(x))
                {
                    return Some((at as u32, true));
                }
                let yes = yes_or_no(text)?;
                let [first, second] = classes.as_slice() else { return None };
                let (first, second) = (yes_or_no(first)?, yes_or_no(second)?);
                (first != second).then(|| (u32::from(yes == second), false))
            }
            LabelRule::Condition { comparison, operand } => {
                let equal = match operand {
                    ConditionValue::Text(operand) => text == operand,
                    ConditionValue::Number(x) => text.parse::<f64>().is_ok_and(|y| y == *x),
                };
                let holds = match comparison {
                    super::ComparisonOperator::Equal => Some(equal),
                    super::ComparisonOperator::Unlike => Some(!equal),
                    // `<` and `>` compare numbers. The column holds strings, but this string may be a number.
                    other => match (text.parse::<f64>(), operand) {
                        (Ok(x), ConditionValue::Number(operand)) => Some(other.holds(x, *operand)),
                        _ => None,
                    },
                };
                holds.map(|holds| (u32::from(holds), true))
            }
        }
    }
}

/// Parses a word for yes (`true`, `yes`, `1`, …) or no (`false`, `no`, `0`, …); `None` for any other word.
fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" | "t" | "y" => Some(true),
        "false" | "no" | "0" | "f" | "n" => Some(false),
        _ => None,
    }
}
