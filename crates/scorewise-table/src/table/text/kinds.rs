//! What the columns hold, recognised from a sample of the first rows.

use crate::setting::Setting;
use crate::table::number::{SIGNS, Written};
use crate::table::reading::Markers;
use crate::table::time::{self, Order};
use crate::table::{Kind, boolean, number, shown};

/// Dates of eight digits are numbers too: so many different ones make a column of dates. Ten numbers between 19000101 and
/// 20991231 that are all dates by chance come once in 10¹⁴ columns.
const MANY_DATES: usize = 10;
/// Numbers without a sign are counted after those of each sign.
const NO_SIGN: usize = SIGNS.len();

/// What was seen in a column.
#[derive(Clone, Default)]
pub(super) struct Tally {
    /// Cells that are neither missing nor a word for a missing value.
    pub(super) present: u64,
    /// Cells with anything in them, be it a mark of a missing value.
    pub(super) written: u64,
    /// Cells such as `None` and `-`, which are missing values unless the column holds texts.
    words: u64,
    /// Numbers that are plain with a decimal point or none.
    points: u64,
    /// Numbers that are plain with a decimal comma or none.
    commas: u64,
    marks: Marks,
    booleans: u64,
    times: u64,
    day_first: u64,
    month_first: u64,
    /// Cells of digits alone, and how many the shortest and the longest have.
    digits: u64,
    shortest: usize,
    longest: usize,
    /// What few columns have.
    odd: Option<Box<Odd>>,
}

/// Which decimal mark numbers show. `1,234` shows none: it may be 1.234 or 1234.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    point: u64,
    comma: u64,
    /// Numbers such as `1.234`.
    either_point: u64,
    /// Numbers such as `1,234`.
    either_comma: u64,
}

/// What few columns have, with an example of each.
#[derive(Clone, Default)]
struct Odd {
    word: String,
    /// Cells of digits alone that begin with a 0 and have more than one.
    zeros: u64,
    zero: String,
    /// Dates of eight digits, and the first different ones of them.
    compact: u64,
    dates: Vec<i64>,
    compact_date: String,
    clocks: u64,
    /// Dates that are others with the month first, where no cell shows the order.
    ambiguous: u64,
    ambiguous_date: String,
    /// Numbers that are not plain, by decimal mark (point, comma) and by sign.
    numbers: [[u64; NO_SIGN + 1]; 2],
    signed: [String; NO_SIGN],
    /// Those whose thousands are grouped, by decimal mark.
    grouped: [u64; 2],
    group: [String; 2],
}

/// Keeps the first example.
fn keep(example: &mut String, cell: &[u8]) {
    if example.is_empty() {
        *example = shown(cell);
    }
}

impl Tally {
    pub(super) fn add(&mut self, cell: &[u8], markers: &Markers) {
        self.written += u64::from(!cell.is_empty());
        if markers.holds(cell, b'.') || markers.holds(cell, b',') {
            return;
        }
        if Markers::is_word(cell) {
            self.words += 1;
            keep(&mut self.odd().word, cell);
            return;
        }
        self.present += 1;
        let (point, comma) = (number::parse(cell, b'.').is_some(), number::parse(cell, b',').is_some());
        self.points += u64::from(point);
        self.commas += u64::from(comma);
        if point && comma {
            self.add_digits(cell);
            return;
        }
        // What is plain with one mark can with the other only be a group of thousands, whose last three digits stand alone.
        let may_be_other = !point && !comma || cell.len() > 4 && matches!(cell[cell.len() - 4], b'.' | b',');
        let with_point = point || may_be_other && self.add_number(number::written(cell, b'.'), 0, cell);
        let with_comma = comma || may_be_other && self.add_number(number::written(cell, b','), 1, cell);
        let marks = &mut self.marks;
        match (with_point, with_comma) {
            (true, false) => marks.point += u64::from(cell.contains(&b'.') || cell.contains(&b',')),
            (false, true) => marks.comma += u64::from(cell.contains(&b'.') || cell.contains(&b',')),
            (true, true) if cell.contains(&b',') => marks.either_comma += 1,
            (true, true) => marks.either_point += u64::from(cell.contains(&b'.')),
            (false, false) => self.add_text(cell),
        }
    }

    fn add_digits(&mut self, cell: &[u8]) {
        if !cell.iter().all(u8::is_ascii_digit) {
            return;
        }
        self.shortest = if self.digits == 0 { cell.len() } else { self.shortest.min(cell.len()) };
        self.longest = self.longest.max(cell.len());
        self.digits += 1;
        if cell.len() > 1 && cell[0] == b'0' {
            let odd = self.odd();
            odd.zeros += 1;
            keep(&mut odd.zero, cell);
        } else if time::is_compact(cell) {
            let odd = self.odd();
            odd.compact += 1;
            keep(&mut odd.compact_date, cell);
            if odd.dates.len() < MANY_DATES
                && let Some(date) = time::parse(cell, Order::DayFirst)
                && !odd.dates.contains(&date)
            {
                odd.dates.push(date);
            }
        }
    }

    /// Counts a number that is not plain with this decimal mark, and says whether there is one.
    fn add_number(&mut self, number: Option<Written>, mark: usize, cell: &[u8]) -> bool {
        let Some(Written { is_grouped, sign, .. }) = number else { return false };
        let odd = self.odd();
        let place = sign.and_then(|sign| SIGNS.iter().position(|other| *other == sign));
        odd.numbers[mark][place.unwrap_or(NO_SIGN)] += 1;
        if let Some(place) = place {
            keep(&mut odd.signed[place], cell);
        }
        if is_grouped {
            odd.grouped[mark] += 1;
            keep(&mut odd.group[mark], cell);
        }
        true
    }

    fn add_text(&mut self, cell: &[u8]) {
        if boolean(cell, false).is_some() {
            self.booleans += 1;
        } else if time::is_date(cell) {
            self.times += 1;
            match time::shows(cell) {
                Some(Order::DayFirst) => self.day_first += 1,
                Some(Order::MonthFirst) => self.month_first += 1,
                None if time::is_ambiguous(cell) => {
                    let odd = self.odd();
                    odd.ambiguous += 1;
                    keep(&mut odd.ambiguous_date, cell);
                }
                None => {}
            }
        } else if time::clock(cell).is_some() {
            self.odd().clocks += 1;
        }
    }

    fn odd(&mut self) -> &mut Odd {
        self.odd.get_or_insert_default()
    }

    /// Whether so many cells are most of them. More than nine in ten, so that a slip is a fault with a place and not a column
    /// of texts.
    fn are_most(&self, count: u64) -> bool {
        count * 10 > self.present * 9
    }

    pub(super) fn kind(&self, comma: bool) -> Kind {
        if self.present == 0 {
            // Nothing but words: they may be classes.
            return if self.words > 0 { Kind::Category } else { Kind::Number };
        }
        let plain = if comma { self.commas } else { self.points };
        if self.are_most(plain) {
            if self.are_codes() {
                Kind::Category
            } else if self.are_compact_dates() {
                Kind::Time
            } else {
                Kind::Number
            }
        } else if self.booleans == self.present {
            Kind::Boolean
        } else if self.are_most(self.times) || self.are_most(self.clocks()) {
            Kind::Time
        } else if self.are_most(self.unsigned(comma) + self.signed(comma).0) {
            Kind::Number
        } else {
            Kind::Category
        }
    }

    /// Whether the cells are codes such as zip codes: digits of one length, some of them with a leading 0.
    fn are_codes(&self) -> bool {
        let zeros = self.odd.as_ref().map_or(0, |odd| odd.zeros);
        zeros > 0 && self.shortest == self.longest && self.are_most(self.digits)
    }

    fn are_compact_dates(&self) -> bool {
        self.odd.as_ref().is_some_and(|odd| odd.compact == self.present && odd.dates.len() >= MANY_DATES)
    }

    fn clocks(&self) -> u64 {
        self.odd.as_ref().map_or(0, |odd| odd.clocks)
    }

    /// Numbers without a sign.
    fn unsigned(&self, comma: bool) -> u64 {
        let grouped = self.odd.as_ref().map_or(0, |odd| odd.numbers[usize::from(comma)][NO_SIGN]);
        grouped + if comma { self.commas } else { self.points }
    }

    /// How many numbers have the sign that most of them have, and which it is.
    fn signed(&self, comma: bool) -> (u64, Option<usize>) {
        let Some(odd) = &self.odd else { return (0, None) };
        let counts = odd.numbers[usize::from(comma)];
        // `max_by_key` keeps the last of equals; turned round, the first of the list.
        let most = (0..NO_SIGN).rev().max_by_key(|place| counts[*place]).filter(|place| counts[*place] > 0);
        (most.map_or(0, |place| counts[place]), most)
    }

    /// The sign that numbers of the column may have: `None` where enough of them have none.
    pub(super) fn sign(&self, comma: bool) -> Option<char> {
        let (_, most) = self.signed(comma);
        most.filter(|_| !self.are_most(self.unsigned(comma))).map(|place| SIGNS[place])
    }

    /// Whether there are dates or times of day.
    pub(super) fn has_times(&self) -> bool {
        self.times + self.clocks() > 0 || self.odd.as_ref().is_some_and(|odd| odd.compact > 0)
    }

    /// Whether the cells are times of day without a date.
    pub(super) fn is_clock(&self) -> bool {
        self.clocks() > self.times
    }

    pub(super) fn merge(&mut self, part: &Tally) {
        self.present += part.present;
        self.written += part.written;
        self.words += part.words;
        self.points += part.points;
        self.commas += part.commas;
        self.marks.add(&part.marks);
        self.booleans += part.booleans;
        self.times += part.times;
        self.day_first += part.day_first;
        self.month_first += part.month_first;
        if part.digits > 0 {
            self.shortest = if self.digits == 0 { part.shortest } else { self.shortest.min(part.shortest) };
            self.longest = self.longest.max(part.longest);
            self.digits += part.digits;
        }
        match (&mut self.odd, &part.odd) {
            (Some(odd), Some(part)) => odd.merge(part),
            (odd @ None, Some(part)) => *odd = Some(part.clone()),
            (_, None) => {}
        }
    }

    /// The order of day and month that the cells show; `None` where none shows it.
    pub(super) fn order(&self) -> Option<Order> {
        match self.month_first.cmp(&self.day_first) {
            std::cmp::Ordering::Greater => Some(Order::MonthFirst),
            _ if self.day_first > 0 => Some(Order::DayFirst),
            _ => None,
        }
    }

    /// Whether the order of day and month matters.
    pub(super) fn has_order(&self) -> bool {
        self.order().is_some() || self.odd.as_ref().is_some_and(|odd| odd.ambiguous > 0)
    }

    /// What a user should know of how the column is read, each with the subject that it shares with other columns.
    pub(super) fn notes(&self, name: &str, kind: Kind, comma: bool, ordered: bool) -> Option<(Subject, String)> {
        let odd = self.odd.as_ref()?;
        let name = shown(name.as_bytes());
        let numeric = Setting("numeric").to(&name);
        match kind {
            Kind::Category if self.present == 0 && self.words > 0 => {
                let word = &odd.word;
                let text = format!(
                    "column `{name}` holds nothing but words such as `{word}` in the first rows and is read as text; \
                     `{}` reads them as missing",
                    Setting("missing").to(word)
                );
                Some((Subject::Words, text))
            }
            Kind::Category if self.are_codes() => {
                let text = format!(
                    "column `{name}` is read as text: its cells are digits of one length, some with a leading 0 (`{}`); \
                     `{numeric}` reads them as numbers",
                    odd.zero
                );
                Some((Subject::Codes, text))
            }
            Kind::Time if self.are_compact_dates() => {
                let text = format!(
                    "column `{name}` is read as dates (`{}`); `{numeric}` reads them as numbers",
                    odd.compact_date
                );
                Some((Subject::Compact, text))
            }
            Kind::Time if self.is_clock() => {
                Some((Subject::Clock, format!("column `{name}` holds times of day without a date")))
            }
            Kind::Time if !ordered && self.order().is_none() && odd.ambiguous > 0 => {
                let text = format!(
                    "column `{name}`: no date shows whether the day or the month comes first (`{}`); the day is taken to come \
                     first, `{}` reads it the other way",
                    odd.ambiguous_date,
                    Setting("month-first")
                );
                Some((Subject::Order, text))
            }
            Kind::Number => self.number_note(odd, &name, comma),
            _ => None,
        }
    }

    fn number_note(&self, odd: &Odd, name: &str, comma: bool) -> Option<(Subject, String)> {
        let mark = if comma { b',' } else { b'.' };
        let value = |text: &str| number::written(text.as_bytes(), mark).map_or(f64::NAN, |number| number.value);
        if let (Some(sign), (_, Some(place))) = (self.sign(comma), self.signed(comma)) {
            let example = &odd.signed[place];
            let what = if sign == '%' { "per cent sign".into() } else { format!("sign `{sign}`") };
            let text =
                format!("column `{name}`: the {what} is dropped, `{example}` is read as the number {}", value(example));
            return Some((Subject::Sign, text));
        }
        let group = &odd.group[usize::from(comma)];
        (odd.grouped[usize::from(comma)] > 0).then(|| {
            let what = if comma { "points" } else { "commas" };
            (
                Subject::Groups,
                format!("column `{name}`: {what} group thousands, `{group}` is read as the number {}", value(group)),
            )
        })
    }
}

impl Odd {
    fn merge(&mut self, part: &Odd) {
        let first = |example: &mut String, other: &String| {
            if example.is_empty() {
                example.clone_from(other);
            }
        };
        first(&mut self.word, &part.word);
        self.zeros += part.zeros;
        first(&mut self.zero, &part.zero);
        self.compact += part.compact;
        first(&mut self.compact_date, &part.compact_date);
        for date in &part.dates {
            if self.dates.len() < MANY_DATES && !self.dates.contains(date) {
                self.dates.push(*date);
            }
        }
        self.clocks += part.clocks;
        self.ambiguous += part.ambiguous;
        first(&mut self.ambiguous_date, &part.ambiguous_date);
        for mark in 0..2 {
            self.numbers[mark].iter_mut().zip(part.numbers[mark]).for_each(|(sum, part)| *sum += part);
            self.grouped[mark] += part.grouped[mark];
            first(&mut self.group[mark], &part.group[mark]);
        }
        self.signed.iter_mut().zip(&part.signed).for_each(|(example, other)| first(example, other));
    }
}

impl Marks {
    fn add(&mut self, further: &Marks) {
        self.point += further.point;
        self.comma += further.comma;
        self.either_point += further.either_point;
        self.either_comma += further.either_comma;
    }

    /// Of all columns.
    pub(super) fn of(tallies: &[Tally]) -> Self {
        let mut sum = Marks::default();
        tallies.iter().for_each(|tally| sum.add(&tally.marks));
        sum
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        self.point + self.comma + self.either_point + self.either_comma > 0
    }

    /// Whether numbers have a decimal comma: more of them can only be read with it than only without. Where no number tells,
    /// they are written as those of the table `before`; else, in a file of semicolons, `1,234` is 1.234, for those who have a
    /// decimal comma part cells by semicolons.
    pub(super) fn decimal_comma(&self, before: Option<bool>, delimiter: u8) -> bool {
        if self.comma != self.point {
            return self.comma > self.point;
        }
        before.unwrap_or(delimiter == b';' && self.either_comma > self.either_point)
    }
}

/// What a note is about. Of many notes about one subject only some are told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Words,
    Codes,
    Compact,
    Clock,
    Order,
    Sign,
    Groups,
}

/// The notes of all columns: the first three about each subject, and of how many more columns it could be told.
pub(super) fn told(notes: Vec<(Subject, String)>) -> Vec<String> {
    const TOLD: usize = 3;
    let mut by_subject: std::collections::BTreeMap<Subject, Vec<String>> = std::collections::BTreeMap::new();
    notes.into_iter().for_each(|(subject, text)| by_subject.entry(subject).or_default().push(text));
    let mut told = Vec::new();
    for mut texts in by_subject.into_values() {
        let further = texts.len().saturating_sub(TOLD);
        texts.truncate(TOLD);
        if further > 0
            && let Some(last) = texts.last_mut()
        {
            *last += &format!(" (and so {further} more columns)");
        }
        told.append(&mut texts);
    }
    told
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
