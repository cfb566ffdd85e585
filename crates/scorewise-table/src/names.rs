//! Looks up columns by name, and writes the messages about names that do not exist.

use std::collections::HashMap;

use crate::error::{Error, Location, Result};
use crate::setting::visible;
use crate::table::{Column, Table, nearest};

/// The maximum number of names that a message lists.
pub const MAX_LISTED: usize = 12;

/// Returns the column called `name`. If the table has no such column, the error is about `setting` and suggests the most similar name.
pub fn column<'a>(table: &'a Table, setting: &str, name: &str) -> Result<&'a Column> {
    table.column(name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let (problem, hint) = missing_columns(&[name], &names);
        Error::setting(setting, format!("`{}` {problem}", visible(&table.file)), hint)
    })
}

/// A map from names to the columns of a table. Use it for many lookups, because [`Table::column`] searches linearly.
pub fn by_name(table: &Table) -> HashMap<&str, &Column> {
    table.columns.iter().map(|column| (column.name.as_str(), column)).collect()
}

/// The error for a file that lacks the columns `missing`.
pub(crate) fn missing_columns_error(file: &str, missing: &[&str], available: &[&str]) -> Error {
    let (problem, hint) = missing_columns(missing, available);
    Error::data(Location::file(file), problem, hint)
}

/// The problem and the hint of an error about columns that a table does not have: "has no column `x`" and "did you mean `y`?". All
/// messages about missing columns use this wording.
pub fn missing_columns(missing: &[&str], available: &[&str]) -> (String, String) {
    if let [name] = missing {
        let hint = match nearest(name, available.iter().copied()) {
            Some(near) => format!("did you mean {}?", quoted(near)),
            None => format!("the columns are {}", quoted_list(available)),
        };
        return (format!("has no column {}", quoted(name)), hint);
    }
    let suggestion = |name: &&str| {
        nearest(name, available.iter().copied()).map(|near| format!("{} for {}", quoted(near), quoted(name)))
    };
    let suggestions: Vec<String> = missing.iter().take(MAX_LISTED).filter_map(suggestion).collect();
    let hint = match suggestions.is_empty() {
        true => format!("the columns are {}", quoted_list(available)),
        false => format!("did you mean {}?", suggestions.join(", ")),
    };
    (format!("has no columns {}", quoted_list(missing)), hint)
}

/// A hint for a mistyped name: the most similar valid name, or a list of the valid names when none is similar.
pub fn suggestion(name: &str, names: &[&str]) -> String {
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("choose one of {}", quoted_list(names)),
    }
}

/// The names, quoted and separated by commas. After the first [`MAX_LISTED`] names, only the number of further names is given.
pub fn quoted_list(names: &[&str]) -> String {
    let mut list = names.iter().take(MAX_LISTED).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        list += &format!(" and {} more", names.len() - MAX_LISTED);
    }
    list
}

/// A name as it is quoted in messages: in backquotes, with control characters escaped, truncated to 60 characters.
pub fn quoted(name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    let ellipsis = if short.len() < name.len() { "…" } else { "" };
    format!("`{}{ellipsis}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_name_is_suggested() {
        let names = ["age", "pm2.5", "hours-per-week"];
        assert_eq!(nearest("hours_per_weak", names), Some("hours-per-week"));
        assert_eq!(nearest("PM25", names), Some("pm2.5"));
        assert_eq!(nearest("fraud", names), None);
        assert_eq!(suggestion("fraud", &names), "choose one of `age`, `pm2.5`, `hours-per-week`");
    }

    #[test]
    fn messages_about_missing_columns_have_a_singular_and_a_plural() {
        let names = ["age", "pm2.5"];
        let worded = |missing: &[&str]| missing_columns(missing, &names);
        assert_eq!(worded(&["pm25"]), ("has no column `pm25`".into(), "did you mean `pm2.5`?".into()));
        assert_eq!(worded(&["fraud"]), ("has no column `fraud`".into(), "the columns are `age`, `pm2.5`".into()));
        assert_eq!(
            worded(&["fraud", "pm25"]),
            ("has no columns `fraud`, `pm25`".into(), "did you mean `pm2.5` for `pm25`?".into())
        );
    }

    #[test]
    fn long_names_are_truncated_and_line_breaks_escaped() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"é".repeat(100)).chars().count(), 63);
    }
}
