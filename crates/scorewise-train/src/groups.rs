//! GROUPS: which rows belong together, and which of them stands before which.

use std::collections::HashMap;

use crate::error::Result;
use crate::names;
use crate::table::{Category, Column, Table, Values};

/// No row.
pub const NO_ROW: u32 = u32::MAX;

/// Which rows hold the same value of a column. Rows without a value are a group too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// A place in `names` for each row.
    pub codes: Vec<u32>,
    /// The value of each group, in the order in which they first come; `None` for the rows without one.
    pub names: Vec<Option<String>>,
}

impl Groups {
    /// By the values of a column.
    #[must_use]
    pub fn new(column: &Column) -> Self {
        match &column.values {
            Values::Number(values) => {
                by(values.iter().map(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }.to_bits()), |at| {
                    (!values[at].is_nan()).then(|| number_text(values[at]))
                })
            }
            Values::Category(Category { codes, levels }) => {
                by(codes.iter().copied(), |at| levels.get(codes[at] as usize).cloned())
            }
            Values::Boolean(values) => by(values.iter().copied(), |at| values[at].map(|yes| yes.to_string())),
            Values::Time(values) => {
                by(values.iter().copied(), |at| (values[at] != Values::NO_TIME).then(|| values[at].to_string()))
            }
        }
    }
}

/// A number as a level or class: `1`, `2.5`.
pub(crate) fn number_text(x: f64) -> String {
    // −0 is 0.
    format!("{}", x + 0.0)
}

fn by<K: Eq + std::hash::Hash>(keys: impl Iterator<Item = K>, name: impl Fn(usize) -> Option<String>) -> Groups {
    let mut places = HashMap::new();
    let mut names = Vec::new();
    let codes = keys
        .enumerate()
        .map(|(row, key)| {
            *places.entry(key).or_insert_with(|| {
                names.push(name(row));
                names.len() as u32 - 1
            })
        })
        .collect();
    Groups { codes, names }
}

/// Which row stands before which: in the order of the file, within a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    rows: usize,
    /// The row before each; where there are no groups it is the one above.
    before: Option<Vec<u32>>,
}

impl Neighbours {
    /// Of the rows of a table, within the groups of a column where one is named.
    pub fn new(table: &Table, group: Option<&str>) -> Result<Self> {
        let groups = group.map(|name| names::column(table, "group", name).map(Groups::new)).transpose()?;
        Ok(Neighbours {
            rows: table.rows(),
            before: groups.map(|groups| rows_before(groups.codes.iter().copied(), groups.names.len())),
        })
    }

    pub(crate) fn within(codes: impl ExactSizeIterator<Item = u32>, groups: usize) -> Self {
        Neighbours { rows: codes.len(), before: Some(rows_before(codes, groups)) }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The row before a row, or [`NO_ROW`].
    #[must_use]
    pub fn before(&self, row: u32) -> u32 {
        match &self.before {
            _ if row == NO_ROW => NO_ROW,
            Some(before) => before[row as usize],
            None => row.checked_sub(1).unwrap_or(NO_ROW),
        }
    }

    /// For each row the one so many rows ahead, or [`NO_ROW`].
    #[must_use]
    pub fn ahead(&self, steps: usize) -> Vec<u32> {
        let mut ahead = vec![NO_ROW; self.rows];
        for row in 0..self.rows as u32 {
            let mut from = row;
            for _ in 0..steps {
                from = self.before(from);
                if from == NO_ROW {
                    break;
                }
            }
            if let Some(place) = ahead.get_mut(from as usize) {
                *place = row;
            }
        }
        ahead
    }
}

fn rows_before(codes: impl Iterator<Item = u32>, groups: usize) -> Vec<u32> {
    let mut last = vec![NO_ROW; groups];
    codes.enumerate().map(|(row, group)| std::mem::replace(&mut last[group as usize], row as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: Values) -> Table {
        Table { columns: vec![Column { name: "station".into(), values }], ..Table::default() }
    }

    #[test]
    fn rows_of_other_groups_in_between_are_passed_over() {
        let codes = vec![0, 1, 0, 0, 1, Category::MISSING];
        let table = table(Values::Category(Category { codes, levels: vec!["a".into(), "b".into()] }));
        let neighbours = Neighbours::new(&table, Some("station")).unwrap();
        let before: Vec<u32> = (0..6).map(|row| neighbours.before(row)).collect();
        assert_eq!(before, [NO_ROW, NO_ROW, 0, 2, 1, NO_ROW]);
        assert_eq!(neighbours.ahead(1), [2, 4, 3, NO_ROW, NO_ROW, NO_ROW]);
        assert_eq!(neighbours.ahead(2), [3, NO_ROW, NO_ROW, NO_ROW, NO_ROW, NO_ROW]);
        assert_eq!(neighbours.ahead(0), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn without_groups_the_row_above_is_the_one_before() {
        let neighbours = Neighbours::new(&table(Values::Number(vec![5.0; 4])), None).unwrap();
        assert_eq!((neighbours.before(0), neighbours.before(3)), (NO_ROW, 2));
        assert_eq!(neighbours.ahead(3), [3, NO_ROW, NO_ROW, NO_ROW]);
    }

    #[test]
    fn groups_of_numbers_take_both_zeros_as_one_and_missing_as_one() {
        let groups = Groups::new(&table(Values::Number(vec![0.0, -0.0, f64::NAN, 2.5, -f64::NAN])).columns[0]);
        assert_eq!(groups.codes, [0, 0, 1, 2, 1]);
        assert_eq!(groups.names, [Some("0".into()), None, Some("2.5".into())]);
    }

    #[test]
    fn an_unknown_group_column_is_refused_with_the_nearest_name() {
        let error = Neighbours::new(&table(Values::Number(vec![])), Some("sation")).unwrap_err();
        assert_eq!(error.to_string(), "group: `` has no column `sation`\nhint: did you mean `station`?");
    }
}
