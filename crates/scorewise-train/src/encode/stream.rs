//! Encoding a table that comes in pieces: the last rows of the pieces before are kept, as far as lags look back.

use std::collections::HashMap;

use super::Encoder;
use super::write::{Encoded, Surprises};
use crate::error::Result;
use crate::groups::{Groups, Neighbours};
use crate::names::by_name;
use crate::table::{Category, Column, Table, Values};

/// Encodes piece after piece as if they were one table.
#[derive(Debug)]
pub struct Stream<'a> {
    encoder: &'a Encoder,
    /// The last rows of every group so far, those of a group in the order of the file.
    tail: Option<Table>,
    surprises: Surprises,
}

impl<'a> Stream<'a> {
    /// Before the first piece.
    #[must_use]
    pub fn new(encoder: &'a Encoder) -> Self {
        Stream { encoder, tail: None, surprises: Surprises::default() }
    }

    /// The next piece.
    pub fn encode(&mut self, table: &Table) -> Result<Encoded> {
        let lags = self.encoder.lags();
        if lags == 0 {
            let encoded = self.encoder.encode(table)?;
            self.surprises.add(&encoded.surprises);
            return Ok(encoded);
        }
        let tail = self.tail.as_ref();
        let codes = self.groups(table);
        let groups = codes.iter().max().map_or(0, |most| *most as usize + 1);
        let neighbours = Neighbours::within(codes.iter().copied(), groups);
        let encoded = self.encoder.encode_after(tail, table, Some(&neighbours), &[])?;
        self.surprises.add(&encoded.surprises);
        self.tail = Some(self.next_tail(table, &codes, groups));
        Ok(encoded)
    }

    /// What all pieces so far have held that the training rows had not prepared for.
    #[must_use]
    pub fn surprises(&self) -> &Surprises {
        &self.surprises
    }

    /// The group of each row, those of the tail first. The pieces know nothing of each other's codes: names bring them together.
    fn groups(&self, table: &Table) -> Vec<u32> {
        let parts = self.tail.iter().chain([table]);
        let Some(group) = &self.encoder.group else {
            return vec![0; parts.map(Table::rows).sum()];
        };
        let mut places: HashMap<Option<String>, u32> = HashMap::new();
        let mut codes = Vec::new();
        for part in parts {
            // Where the column is missing, encoding says so.
            let Some(column) = part.column(group) else { continue };
            let found = Groups::new(column);
            let mut place = |name: Option<String>| {
                let next = places.len() as u32;
                *places.entry(name).or_insert(next)
            };
            let known: Vec<u32> = found.names.into_iter().map(&mut place).collect();
            codes.extend(found.codes.into_iter().map(|code| known[code as usize]));
        }
        codes
    }

    /// The last rows of each group, of tail and table together.
    fn next_tail(&self, table: &Table, codes: &[u32], groups: usize) -> Table {
        let mut left = vec![self.encoder.lags(); groups];
        let mut chosen = Vec::new();
        for (row, group) in codes.iter().enumerate().rev() {
            let left = &mut left[*group as usize];
            if *left > 0 {
                *left -= 1;
                chosen.push(row);
            }
        }
        chosen.reverse();
        let behind = self.tail.as_ref().map_or(0, Table::rows);
        let columns = self.encoder.columns();
        let (table_columns, tail_columns) = (by_name(table), self.tail.as_ref().map(by_name).unwrap_or_default());
        let gathered = columns.iter().filter_map(|(name, _)| {
            let here = table_columns.get(name)?;
            let earlier = tail_columns.get(name).copied();
            Some(Column { name: (*name).to_string(), values: gather(earlier, here, behind, &chosen) })
        });
        Table { file: table.file.clone(), columns: gathered.collect(), ..Table::default() }
    }
}

/// Chosen rows of two columns one after the other. Where their kinds differ (the earlier one held nothing), those of the
/// earlier one are missing.
fn gather(earlier: Option<&Column>, here: &Column, behind: usize, chosen: &[usize]) -> Values {
    let earlier = earlier.map(|column| &column.values);
    macro_rules! pick {
        ($kind:ident, $values:expr, $missing:expr) => {{
            let before = match earlier {
                Some(Values::$kind(before)) => &before[..],
                _ => &[],
            };
            let take = |row: &usize| match row.checked_sub(behind) {
                Some(row) => $values[row],
                None => before.get(*row).copied().unwrap_or($missing),
            };
            Values::$kind(chosen.iter().map(take).collect())
        }};
    }
    match &here.values {
        Values::Number(values) => pick!(Number, values, f64::NAN),
        Values::Boolean(values) => pick!(Boolean, values, None),
        Values::Time(values) => pick!(Time, values, Values::NO_TIME),
        Values::Category(values) => {
            let mut picked = Category::default();
            let mut places: HashMap<&str, u32> = HashMap::new();
            for row in chosen {
                let level = match (row.checked_sub(behind), earlier) {
                    (Some(row), _) => values.levels.get(values.codes[row] as usize),
                    (None, Some(Values::Category(before))) => before.levels.get(before.codes[*row] as usize),
                    _ => None,
                };
                picked.codes.push(level.map_or(Category::MISSING, |level| {
                    *places.entry(level).or_insert_with(|| {
                        picked.levels.push(level.clone());
                        picked.levels.len() as u32 - 1
                    })
                }));
            }
            Values::Category(picked)
        }
    }
}
