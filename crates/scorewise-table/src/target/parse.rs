//! Parses a target: the name of a column, or a condition `COLUMN OPERATOR VALUE`.

use super::{ComparisonOperator, ConditionValue, LabelRule, MAX_CLASSES, Target};
use crate::error::{Error, Location, Result};
use crate::groups::Groups;
use crate::names::{self, quoted, quoted_list, suggestion};
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Category, Column, Table, Values};

/// The operators as users write them. Longer operators come first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, ComparisonOperator); 8] = [
    (">=", ComparisonOperator::AtLeast),
    ("<=", ComparisonOperator::AtMost),
    ("!=", ComparisonOperator::Unlike),
    ("<>", ComparisonOperator::Unlike),
    ("==", ComparisonOperator::Equal),
    (">", ComparisonOperator::Above),
    ("<", ComparisonOperator::Below),
    ("=", ComparisonOperator::Equal),
];

impl Target {
    /// Parses a target of this table. If the whole text is the name of a column, the values of that column are the classes; otherwise the
    /// text is a condition, split at the last operator that has a column name on its left. In a column with two classes, the positive class
    /// is `positive`, or by default the rarer class; in a column with more classes, `positive` is predicted against all others.
    pub fn parse(text: &str, table: &Table, positive: Option<&str>, lead: usize) -> Result<(Target, Vec<Note>)> {
        if table.rows() == 0 {
            return Err(Error::data(
                Location::file(&table.file),
                "has no rows",
                "give a table with rows to learn from",
            ));
        }
        if let Some(column) = column_named(text, table) {
            return target_of_classes(column, table, positive, lead);
        }
        let Some((column, comparison, value)) = split_condition(text, table) else {
            let name =
                OPERATORS.iter().filter_map(|(symbol, _)| text.find(symbol)).min().map_or(text, |at| &text[..at]);
            return Err(names::column(table, "target", name.trim()).err().unwrap_or_else(|| {
                Error::setting("target", format!("{} is neither a column nor a condition", quoted(text)), "")
            }));
        };
        if let Some(positive) = positive {
            let problem =
                format!("{} cannot be the positive class, because the target is a condition", quoted(positive));
            return Err(Error::setting(
                "positive",
                problem,
                "leave this setting out: rows where the condition holds are positive",
            ));
        }
        let operand = condition_value(column, comparison, value)?;
        let rule = LabelRule::Condition { comparison, operand };
        Ok((Target { column: column.name.clone(), rule, lead }, Vec::new()))
    }
}

/// The column whose name is `text`: exactly as written, after removing surrounding spaces, or after removing quotes.
fn column_named<'a>(text: &str, table: &'a Table) -> Option<&'a Column> {
    let trimmed = text.trim();
    table.column(text).or_else(|| table.column(trimmed)).or_else(|| table.column(unquoted(trimmed)?))
}

/// The text without the quotes around it; `None` when it is not in quotes.
fn unquoted(text: &str) -> Option<&str> {
    ['`', '"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
}

/// Splits a condition into its column, operator and value; `None` if no operator has the name of a column on its left.
fn split_condition<'a, 'b>(text: &'b str, table: &'a Table) -> Option<(&'a Column, ComparisonOperator, &'b str)> {
    // The name of a column may contain operators, so the text is searched from the right. At each position the longer operators are tried
    // first. Positions inside a two-character operator, such as the `=` of `>=`, are only tried when no other position fits.
    let split = |at: usize| {
        let (symbol, comparison) = OPERATORS.iter().find(|(symbol, _)| text[at..].starts_with(symbol))?;
        Some((column_named(&text[..at], table)?, *comparison, text[at + symbol.len()..].trim()))
    };
    let starts = || text.char_indices().rev().map(|(at, _)| at);
    let at_whole_operator = starts().filter(|at| !is_inside_operator(text, *at)).find_map(split);
    at_whole_operator.or_else(|| starts().find_map(split))
}

/// Whether the character at `at` is the second character of an operator such as `>=`.
fn is_inside_operator(text: &str, at: usize) -> bool {
    at > 0 && text.get(at - 1..at + 1).is_some_and(|pair| OPERATORS.iter().any(|(symbol, _)| *symbol == pair))
}

/// Parses the value of a condition and checks that the column can be compared with it.
fn condition_value(column: &Column, comparison: ComparisonOperator, value: &str) -> Result<ConditionValue> {
    let name = quoted(&column.name);
    let text = unquoted(value).unwrap_or(value);
    if value.is_empty() {
        let problem = format!("the condition on {name} has nothing to compare with");
        return Err(Error::setting("target", problem, "write it as `COLUMN > 400`"));
    }
    let known: Vec<&str> = match &column.values {
        Values::Number(_) => {
            return match text.parse::<f64>() {
                Ok(x) if x.is_finite() => Ok(ConditionValue::Number(x)),
                _ => {
                    let problem = format!("{name} holds numbers, and {} is not a number", quoted(text));
                    Err(Error::setting("target", problem, "compare the column with a number"))
                }
            };
        }
        Values::Time(_) => {
            let problem = format!("{name} holds times, which cannot be a target");
            return Err(Error::setting("target", problem, "name a column of classes or numbers"));
        }
        Values::Category(values) => values.levels.iter().map(String::as_str).collect(),
        Values::Boolean(_) => vec!["false", "true"],
    };
    if !comparison.applies_to_text() {
        let problem = format!("{name} holds text, which cannot be compared with {}", comparison.sign());
        return Err(Error::setting("target", problem, "use = or !="));
    }
    if !known.contains(&text) {
        let problem = format!("{name} has no value {}", quoted(text));
        return Err(Error::setting("target", problem, suggestion(text, &known)));
    }
    Ok(ConditionValue::Text(text.into()))
}

/// A class of the target column, with the first row of this class and the number of rows of this class.
struct Class {
    name: String,
    row: usize,
    count: usize,
}

/// The target whose classes are the values of a column, and notes for the user.
fn target_of_classes(
    column: &Column,
    table: &Table,
    positive: Option<&str>,
    lead: usize,
) -> Result<(Target, Vec<Note>)> {
    let error =
        |problem: String, hint: String| Error::data(Location::file(&table.file).column(&column.name), problem, hint);
    if let Values::Time(_) = &column.values {
        return Err(error(
            "holds times, which cannot be a target".into(),
            "name a column of classes or numbers".into(),
        ));
    }
    let mut classes_found = class_counts(column);
    if classes_found.len() > MAX_CLASSES {
        let problem =
            format!("has {} different values; a target can have at most {MAX_CLASSES} classes", classes_found.len());
        let example =
            if classes_found.iter().any(|class| class.name.parse::<f64>().is_ok()) { "> 10" } else { "= \"…\"" };
        let condition = format!("{} {example}", column.name);
        let hint = format!("write a condition instead: `{}`", Setting("target").to(&condition));
        return Err(error(problem, hint));
    }
    match &column.values {
        Values::Number(values) => classes_found.sort_by(|a, b| values[a.row].total_cmp(&values[b.row])),
        _ => classes_found.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    let names: Vec<&str> = classes_found.iter().map(|class| class.name.as_str()).collect();
    match names[..] {
        [] => {
            return Err(error(
                "no row has a value".into(),
                format!("choose another column with `{}`", Setting("target")),
            ));
        }
        [only] => {
            let problem = format!("has only one class, {}", quoted(only));
            let hint = format!("give rows of another class, or choose another column with `{}`", Setting("target"));
            return Err(error(problem, hint));
        }
        _ => {}
    }
    let wanted = match positive {
        None => None,
        Some(text) => Some(class_index(text.trim(), &names).ok_or_else(|| {
            let problem = format!("{} is not a class of {}", quoted(text), quoted(&column.name));
            Error::setting("positive", problem, format!("the classes are {}", quoted_list(&names)))
        })?),
    };
    let target = |rule: LabelRule| Target { column: column.name.clone(), rule, lead };
    if let (3.., Some(at)) = (classes_found.len(), wanted) {
        let operand = match &column.values {
            Values::Number(values) => ConditionValue::Number(values[classes_found[at].row]),
            _ => ConditionValue::Text(classes_found[at].name.clone()),
        };
        let text = format!("{} classes: {} is predicted against all others", classes_found.len(), quoted(names[at]));
        let rule = LabelRule::Condition { comparison: ComparisonOperator::Equal, operand };
        return Ok((target(rule), vec![Note::about_column(&column.name, text)]));
    }
    if classes_found.len() > 2 {
        let note =
            Note::about_column(&column.name, format!("{} classes: {}", classes_found.len(), quoted_list(&names)));
        let names = names.iter().map(|name| (*name).to_string()).collect();
        return Ok((target(LabelRule::Classes(names)), vec![note]));
    }
    let mut notes = Vec::new();
    let positive = wanted.unwrap_or_else(|| {
        let rarer_index = usize::from(classes_found[1].count <= classes_found[0].count);
        let (rarer, rows) = (&classes_found[rarer_index], classes_found[0].count + classes_found[1].count);
        let text = format!(
            "the positive class is {}, the rarer one ({} of {rows} rows); `{}` chooses the other",
            quoted(&rarer.name),
            rarer.count,
            Setting("positive")
        );
        notes.push(Note::about_column(&column.name, text));
        rarer_index
    });
    let names = vec![classes_found[1 - positive].name.clone(), classes_found[positive].name.clone()];
    Ok((target(LabelRule::Classes(names)), notes))
}

/// The index of the class called `text`, or of the class that is the same number written differently (`1` and `1.0`).
fn class_index(text: &str, names: &[&str]) -> Option<usize> {
    let same_number = |name: &&str| matches!((name.parse::<f64>(), text.parse::<f64>()), (Ok(a), Ok(b)) if a == b);
    names.iter().position(|name| *name == text).or_else(|| names.iter().position(same_number))
}

/// The different values of a column as classes, in no particular order. Missing values are not a class.
fn class_counts(column: &Column) -> Vec<Class> {
    let grouped;
    let (codes, names): (&[u32], Vec<Option<&String>>) = match &column.values {
        Values::Category(Category { codes, levels }) => (codes, levels.iter().map(Some).collect()),
        _ => {
            grouped = Groups::new(column);
            (&grouped.codes, grouped.names.iter().map(Option::as_ref).collect())
        }
    };
    let mut classes: Vec<Option<Class>> = names.iter().map(|_| None).collect();
    for (row, code) in codes.iter().enumerate() {
        let (Some(class), Some(Some(name))) = (classes.get_mut(*code as usize), names.get(*code as usize)) else {
            continue;
        };
        class.get_or_insert_with(|| Class { name: (*name).clone(), row, count: 0 }).count += 1;
    }
    classes.into_iter().flatten().collect()
}
