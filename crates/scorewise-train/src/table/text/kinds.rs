//! What the columns hold, recognised from a sample of the first rows.

use crate::table::reading::Markers;
use crate::table::time::{self, Order};
use crate::table::{Kind, boolean, number};

/// What was seen in a column.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// Cells that are not missing.
    pub(super) present: u64,
    /// Cells with anything in them, be it a mark of a missing value.
    pub(super) written: u64,
    /// Numbers with a decimal point or none.
    points: u64,
    /// Numbers with a decimal comma or none.
    commas: u64,
    /// Numbers with a decimal comma.
    only_comma: u64,
    /// Numbers with a decimal point.
    only_point: u64,
    booleans: u64,
    times: u64,
    day_first: u64,
    month_first: u64,
}

impl Tally {
    pub(super) fn add(&mut self, cell: &[u8], markers: &Markers) {
        self.written += u64::from(!cell.is_empty());
        if markers.holds(cell, b'.') || markers.holds(cell, b',') {
            return;
        }
        self.present += 1;
        let (point, comma) = (number::parse(cell, b'.').is_some(), number::parse(cell, b',').is_some());
        self.points += u64::from(point);
        self.commas += u64::from(comma);
        self.only_point += u64::from(point && !comma);
        self.only_comma += u64::from(comma && !point);
        if point || comma {
            return;
        }
        if boolean(cell, false).is_some() {
            self.booleans += 1;
        } else if time::parse(cell, Order::DayFirst).is_some() || time::parse(cell, Order::MonthFirst).is_some() {
            self.times += 1;
            match time::shows(cell) {
                Some(Order::DayFirst) => self.day_first += 1,
                Some(Order::MonthFirst) => self.month_first += 1,
                None => {}
            }
        }
    }

    /// Numbers and times need more than nine in ten, so that a slip is a fault with a place and not a column of texts.
    pub(super) fn kind(&self, comma: bool) -> Kind {
        let most = |count: u64| count * 10 > self.present * 9;
        if self.present == 0 || most(if comma { self.commas } else { self.points }) {
            Kind::Number
        } else if self.booleans == self.present {
            Kind::Boolean
        } else if most(self.times) {
            Kind::Time
        } else {
            Kind::Category
        }
    }

    pub(super) fn merge(&mut self, part: &Tally) {
        self.present += part.present;
        self.written += part.written;
        self.points += part.points;
        self.commas += part.commas;
        self.only_comma += part.only_comma;
        self.only_point += part.only_point;
        self.booleans += part.booleans;
        self.times += part.times;
        self.day_first += part.day_first;
        self.month_first += part.month_first;
    }

    pub(super) fn order(&self) -> Order {
        if self.month_first > self.day_first { Order::MonthFirst } else { Order::DayFirst }
    }
}

/// Whether numbers have a decimal comma: more of the columns' numbers can be read with it than without.
pub(super) fn decimal_comma(tallies: &[Tally]) -> bool {
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    sum(|tally| tally.only_comma) > sum(|tally| tally.only_point)
}

/// Whether the first row looks like all the others: it has a number wherever they have numbers, and they have some.
pub(super) fn looks_like_data(header: &[Vec<u8>], tallies: &[Tally], comma: bool) -> bool {
    let mark = if comma { b',' } else { b'.' };
    let mut numbers = 0;
    for (cell, tally) in header.iter().zip(tallies) {
        if tally.present > 0 && tally.kind(comma) == Kind::Number {
            if number::parse(cell, mark).is_none() {
                return false;
            }
            numbers += 1;
        }
    }
    numbers > 0
}
