//! By time: what is learnt lies before what it is judged by.

use super::{NO_SIDE, Shares, TEST, TRAINING, VALIDATION, rows_of};
use crate::error::{Error, Result};
use crate::groups::{time_column, time_key};
use crate::names::{self, quoted};
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Column, Table, Values};
use crate::target::Labels;

pub(super) fn sides(
    table: &Table,
    labels: &Labels,
    column: Option<&str>,
    shares: &Shares,
) -> Result<(Vec<u8>, Vec<Note>)> {
    let (order, notes) = Order::new(table, column)?;
    let mut sides = vec![NO_SIDE; table.rows()];
    let test = order.cut(order.rows.len(), labels, shares.test);
    order.rows[test..].iter().for_each(|row| sides[*row as usize] = TEST);
    let validation = order.cut(test, labels, shares.validation);
    order.rows[validation..test].iter().for_each(|row| sides[*row as usize] = VALIDATION);
    order.rows[..validation].iter().for_each(|row| sides[*row as usize] = TRAINING);
    Ok((sides, notes))
}

/// The rows in the order of time; those without a time are not among them.
pub(super) struct Order<'a> {
    pub rows: Vec<u32>,
    column: Option<&'a Column>,
}

impl<'a> Order<'a> {
    /// By the named column, or the first one of times with a date; in the order of the file where there is none.
    pub fn new(table: &'a Table, name: Option<&str>) -> Result<(Self, Vec<Note>)> {
        let column = match name {
            Some(name) => Some(names::column(table, "split", name)?),
            None => time_column(table),
        };
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        let Some(column) = column else {
            return Ok((Order { rows, column }, vec![Note::new("split by time, in the order of the rows")]));
        };
        let mut notes = Vec::new();
        match &column.values {
            Values::Time(_) | Values::Number(_) => {
                sort(&mut rows, column, &mut notes, |row| time_key(&column.values, row));
            }
            _ => {
                let problem = format!("{} holds neither times nor numbers", quoted(&column.name));
                let hint = format!("name a column of times, or write `{}`", Setting("split").to("time"));
                return Err(Error::setting("split", problem, hint));
            }
        }
        let timed = rows.partition_point(|row| column.values.is_missing(*row as usize));
        if timed > 0 {
            let (are, a) = if timed == 1 { ("row is", "it has") } else { ("rows are", "they have") };
            notes.push(Note::of(&column.name, format!("{timed} {are} left out: {a} no time")));
            rows.drain(..timed);
        }
        Ok((Order { rows, column: Some(column) }, notes))
    }

    /// Where a share of the labelled rows before `end` begins. Rows of one time stay together, where that leaves any before.
    pub fn cut(&self, end: usize, labels: &Labels, share: f64) -> usize {
        let is_labelled = |row: &u32| labels.classes[*row as usize] != Labels::MISSING;
        let labelled = self.rows[..end].iter().filter(|row| is_labelled(row)).count();
        self.step_back(self.back(end, labels, rows_of(share, labelled)), end)
    }

    /// Where the last so many labelled rows before `end` begin.
    pub fn back(&self, end: usize, labels: &Labels, count: usize) -> usize {
        let (mut begin, mut left) = (end, count);
        while left > 0 && begin > 0 {
            begin -= 1;
            left -= usize::from(labels.classes[self.rows[begin] as usize] != Labels::MISSING);
        }
        begin
    }

    /// To the first row of the same time.
    pub fn step_back(&self, begin: usize, end: usize) -> usize {
        let same = |a: u32, b: u32| match self.column.map(|column| &column.values) {
            Some(Values::Time(times)) => times[a as usize] == times[b as usize],
            Some(Values::Number(values)) => values[a as usize] == values[b as usize],
            _ => false,
        };
        let mut first = begin;
        while begin < end && first > 0 && same(self.rows[first - 1], self.rows[first]) {
            first -= 1;
        }
        if first == 0 { begin } else { first }
    }
}

/// Sorts rows by a key, missing ones first, and says so where they were not in that order.
fn sort(rows: &mut [u32], column: &Column, notes: &mut Vec<Note>, key: impl Fn(usize) -> i64) {
    let is_sorted = rows.is_sorted_by_key(|row| key(*row as usize));
    let text = if is_sorted { "split by its times" } else { "split by its times, by which the rows are not sorted" };
    if !is_sorted {
        // A stable sort: rows of one time stay in the order of the file.
        rows.sort_by_key(|row| key(*row as usize));
    }
    notes.push(Note::of(&column.name, text));
}
