//! Names that were mistyped, and the names that may have been meant.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::setting::visible;
use crate::table::{Column, Table, nearest};

/// Names listed in a message at the most.
pub const LISTED: usize = 12;

/// A column that a setting names; where there is none, a fault that offers the nearest name.
pub fn column<'a>(table: &'a Table, setting: &str, name: &str) -> Result<&'a Column> {
    table.column(name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        Error::setting(
            setting,
            format!("`{}` has no column {}", visible(&table.file), quoted(name)),
            meant(name, &names),
        )
    })
}

/// The columns of a table by name: for many names at once, where looking through the columns for each would take too long.
pub fn by_name(table: &Table) -> HashMap<&str, &Column> {
    table.columns.iter().map(|column| (column.name.as_str(), column)).collect()
}

/// A hint: the nearest of the names, or all of them where none is near.
pub fn meant(name: &str, names: &[&str]) -> String {
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("there are {}", listed(names)),
    }
}

/// Names in a row, the first of them where there are many.
pub fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(LISTED).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text += &format!(" and {} more", names.len() - LISTED);
    }
    text
}

/// A name as messages show it: on one line, and not longer than a line.
pub fn quoted(name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    let dots = if short.len() < name.len() { "…" } else { "" };
    format!("`{}{dots}`", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_name_is_offered_and_a_far_one_is_not() {
        let names = ["age", "pm2.5", "hours-per-week"];
        assert_eq!(nearest("hours_per_weak", names), Some("hours-per-week"));
        assert_eq!(nearest("PM25", names), Some("pm2.5"));
        assert_eq!(nearest("fraud", names), None);
        assert_eq!(meant("fraud", &names), "there are `age`, `pm2.5`, `hours-per-week`");
    }

    #[test]
    fn long_names_are_cut_and_line_breaks_shown() {
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"é".repeat(100)).chars().count(), 63);
    }
}
