//! Splits rows by time: the training rows come first, then the validation rows, then the test rows.

use super::{NO_SET, SplitShares, TEST, TRAINING, VALIDATION, rows_of};
use crate::error::{Error, Result};
use crate::groups::{time_column, time_key};
use crate::names::{self, quoted};
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Column, Table, Values};
use crate::target::Labels;

/// Returns the set of each row (`TRAINING`, `VALIDATION` or `TEST`; [`NO_SET`] for rows without a time), and notes for the user.
pub(super) fn assign(
    table: &Table,
    labels: &Labels,
    column: Option<&str>,
    shares: &SplitShares,
) -> Result<(Vec<u8>, Vec<Note>)> {
    let (order, notes) = TimeOrder::new(table, column)?;
    let mut set_of_row = vec![NO_SET; table.rows()];
    let test = order.begin_of_share(order.rows.len(), labels, shares.test);
    order.rows[test..].iter().for_each(|row| set_of_row[*row as usize] = TEST);
    let validation = order.begin_of_share(test, labels, shares.validation);
    order.rows[validation..test].iter().for_each(|row| set_of_row[*row as usize] = VALIDATION);
    order.rows[..validation].iter().for_each(|row| set_of_row[*row as usize] = TRAINING);
    Ok((set_of_row, notes))
}

/// The position of each row in the order of time, counted from 1; 0 for rows without a time. Times are read from the column `name`. If `name` is
/// `None`, the first column of dates is used; if the table has no dates, rows keep the order of the file.
pub fn time_positions(table: &Table, name: Option<&str>) -> Result<Vec<u32>> {
    let (order, _) = TimeOrder::new(table, name)?;
    let mut positions = vec![0; table.rows()];
    order.rows.iter().zip(1..).for_each(|(row, position)| positions[*row as usize] = position);
    Ok(positions)
}

/// The rows that have a time, in the order of time.
pub(super) struct TimeOrder<'a> {
    pub rows: Vec<u32>,
    column: Option<&'a Column>,
}

impl<'a> TimeOrder<'a> {
    /// Orders rows by the column `name`. If `name` is `None`, the first column of dates is used; if the table has no dates, rows keep the order of
    /// the file.
    pub fn new(table: &'a Table, name: Option<&str>) -> Result<(Self, Vec<Note>)> {
        let column = match name {
            Some(name) => Some(names::column(table, "split", name)?),
            None => time_column(table),
        };
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        let Some(column) = column else {
            return Ok((
                TimeOrder { rows, column },
                vec![Note::new("the split by time follows the order of the rows in the file")],
            ));
        };
        let mut notes = Vec::new();
        match &column.values {
            Values::Time(_) | Values::Number(_) => {
                sort_by_time(&mut rows, column, &mut notes, |row| time_key(&column.values, row));
            }
            _ => {
                let problem = format!("{} holds neither times nor numbers", quoted(&column.name));
                let hint = format!("name a column of times, or write `{}`", Setting("split").to("time"));
                return Err(Error::setting("split", problem, hint));
            }
        }
        let untimed = rows.partition_point(|row| column.values.is_missing(*row as usize));
        if untimed > 0 {
            let (rows_are, they_have) = if untimed == 1 { ("row is", "it has") } else { ("rows are", "they have") };
            notes.push(Note::about_column(&column.name, format!("{untimed} {rows_are} left out: {they_have} no time")));
            rows.drain(..untimed);
        }
        Ok((TimeOrder { rows, column: Some(column) }, notes))
    }

    /// Returns the position in `rows` at which a set begins. The set ends before the position `end` and contains at least this share of the
    /// labelled rows before `end`. Rows of the same time are in the same set, unless that would leave no row before the set.
    pub fn begin_of_share(&self, end: usize, labels: &Labels, share: f64) -> usize {
        let is_labelled = |row: &u32| labels.classes[*row as usize] != Labels::MISSING;
        let labelled = self.rows[..end].iter().filter(|row| is_labelled(row)).count();
        self.first_of_same_time(self.begin_of_last(end, labels, rows_of(share, labelled)), end)
    }

    /// Returns the position in `rows` at which the last `count` labelled rows before the position `end` begin.
    pub fn begin_of_last(&self, end: usize, labels: &Labels, count: usize) -> usize {
        let (mut begin, mut remaining) = (end, count);
        while remaining > 0 && begin > 0 {
            begin -= 1;
            remaining -= usize::from(labels.classes[self.rows[begin] as usize] != Labels::MISSING);
        }
        begin
    }

    /// Whether two rows have the same time; always false if the table has no column of times.
    pub fn is_same_time(&self, a: u32, b: u32) -> bool {
        match self.column.map(|column| &column.values) {
            Some(Values::Time(times)) => times[a as usize] == times[b as usize],
            Some(Values::Number(values)) => values[a as usize] == values[b as usize],
            _ => false,
        }
    }

    /// Extends the set of rows from the position `begin` to the position `end` (excluded) by the rows before it that have the same time as its
    /// first row. Returns the position of the new first row, or `begin` if the set is empty or if no row would be left before the set.
    pub fn first_of_same_time(&self, begin: usize, end: usize) -> usize {
        let mut first = begin;
        while begin < end && first > 0 && self.is_same_time(self.rows[first - 1], self.rows[first]) {
            first -= 1;
        }
        if first == 0 { begin } else { first }
    }
}

/// Sorts rows by time, with missing times first, and adds a note that says whether the rows of the file were sorted by time already. `key` returns
/// an integer for a row, and later times have greater integers.
fn sort_by_time(rows: &mut [u32], column: &Column, notes: &mut Vec<Note>, key: impl Fn(usize) -> i64) {
    let is_sorted = rows.is_sorted_by_key(|row| key(*row as usize));
    let text = if is_sorted {
        "rows are split by the times in this column"
    } else {
        "rows are split by the times in this column; the file is not sorted by them"
    };
    if !is_sorted {
        // The sort is stable, so rows of the same time keep the order of the file.
        rows.sort_by_key(|row| key(*row as usize));
    }
    notes.push(Note::about_column(&column.name, text));
}
