//! Recognises the kinds of columns from a sample of the first rows.

use crate::setting::Setting;
use crate::table::number::{FormattedNumber, SIGNS};
use crate::table::reading::MissingMarkers;
use crate::table::time::{self, DateOrder};
use crate::table::{ColumnKind, boolean, cell_excerpt, number};

/// Dates of eight digits could also be numbers. A column of at least this many different ones is read as dates: the probability that ten
/// random numbers between 19000101 and 20991231 are all dates is 10⁻¹⁴.
const MIN_COMPACT_DATES: usize = 10;
/// The index of the count of numbers without a sign, after the counts for each sign.
const NO_SIGN: usize = SIGNS.len();

/// Counts of the sampled cells of a column by what they look like.
#[derive(Clone, Default)]
pub(super) struct Tally {
    /// Number of cells that are neither empty nor a marker of a missing value, such as `NA`.
    pub(super) present: u64,
    /// Cells that are not empty, including markers of missing values.
    pub(super) nonempty: u64,
    /// Cells such as `None` and `-`, which are missing values unless the column is a category.
    words: u64,
    /// Plain numbers if the decimal mark is a point.
    point_numbers: u64,
    /// Plain numbers if the decimal mark is a comma.
    comma_numbers: u64,
    marks: DecimalMarks,
    booleans: u64,
    times: u64,
    day_first: u64,
    month_first: u64,
    /// Cells that consist of digits only; then the lengths of the shortest and the longest of them.
    digits: u64,
    shortest: usize,
    longest: usize,
    /// Further counts, allocated only for the few columns that need them.
    rare: Option<Box<RareCounts>>,
}

/// The number of cells that show the decimal mark. `1,234` does not show it: it may be 1.234 or 1234.
#[derive(Clone, Copy, Default)]
pub(super) struct DecimalMarks {
    /// Numbers that can only be read with a decimal point.
    point: u64,
    /// Numbers that can only be read with a decimal comma.
    comma: u64,
    /// Numbers such as `1.234`, which can be read with either mark.
    either_point: u64,
    /// Numbers such as `1,234`, which can be read with either mark.
    either_comma: u64,
}

/// Counts that few columns need, each with the first example.
#[derive(Clone, Default)]
struct RareCounts {
    /// The first word for a missing value.
    word: String,
    /// Cells of several digits that begin with 0, and the first of them.
    leading_zeros: u64,
    leading_zero: String,
    /// Dates of eight digits, the first distinct ones of them, and the first cell.
    compact: u64,
    dates: Vec<i64>,
    compact_date: String,
    /// Times of day without a date.
    times_of_day: u64,
    /// Dates whose meaning depends on the order of day and month, and the first of them.
    ambiguous: u64,
    ambiguous_date: String,
    /// Numbers with separators or signs, by decimal mark (point, comma) and by sign, and the first of each sign.
    numbers: [[u64; NO_SIGN + 1]; 2],
    signed: [String; NO_SIGN],
    /// Numbers with thousands separators, by decimal mark, and the first of each.
    grouped: [u64; 2],
    group: [String; 2],
}

/// Keeps the cell as an example if there is none yet.
fn keep_first(example: &mut String, cell: &[u8]) {
    if example.is_empty() {
        *example = cell_excerpt(cell);
    }
}

impl Tally {
    /// Counts a cell.
    pub(super) fn add(&mut self, cell: &[u8], markers: &MissingMarkers) {
        self.nonempty += u64::from(!cell.is_empty());
        if markers.contains(cell, b'.') || markers.contains(cell, b',') {
            return;
        }
        if MissingMarkers::is_word(cell) {
            self.words += 1;
            keep_first(&mut self.rare().word, cell);
            return;
        }
        self.present += 1;
        let (point, comma) = (number::parse(cell, b'.').is_some(), number::parse(cell, b',').is_some());
        self.point_numbers += u64::from(point);
        self.comma_numbers += u64::from(comma);
        if point && comma {
            self.add_digits(cell);
            return;
        }
        // A number that is plain with one decimal mark can only be read with the other one if that separates the last three digits.
        let may_be_formatted = !point && !comma || cell.len() > 4 && matches!(cell[cell.len() - 4], b'.' | b',');
        let with_point =
            point || may_be_formatted && self.add_formatted_number(number::parse_formatted(cell, b'.'), 0, cell);
        let with_comma =
            comma || may_be_formatted && self.add_formatted_number(number::parse_formatted(cell, b','), 1, cell);
        let marks = &mut self.marks;
        match (with_point, with_comma) {
            (true, false) => marks.point += u64::from(cell.contains(&b'.') || cell.contains(&b',')),
            (false, true) => marks.comma += u64::from(cell.contains(&b'.') || cell.contains(&b',')),
            (true, true) if cell.contains(&b',') => marks.either_comma += 1,
            (true, true) => marks.either_point += u64::from(cell.contains(&b'.')),
            (false, false) => self.add_other(cell),
        }
    }

    /// Counts a number without a decimal mark.
    fn add_digits(&mut self, cell: &[u8]) {
        if !cell.iter().all(u8::is_ascii_digit) {
            return;
        }
        self.shortest = if self.digits == 0 { cell.len() } else { self.shortest.min(cell.len()) };
        self.longest = self.longest.max(cell.len());
        self.digits += 1;
        if cell.len() > 1 && cell[0] == b'0' {
            let rare = self.rare();
            rare.leading_zeros += 1;
            keep_first(&mut rare.leading_zero, cell);
        } else if time::is_compact_date(cell) {
            let rare = self.rare();
            rare.compact += 1;
            keep_first(&mut rare.compact_date, cell);
            if rare.dates.len() < MIN_COMPACT_DATES
                && let Some(date) = time::parse(cell, DateOrder::DayFirst)
                && !rare.dates.contains(&date)
            {
                rare.dates.push(date);
            }
        }
    }

    /// Counts a number with separators or a sign for this decimal mark. Returns whether there is a number.
    fn add_formatted_number(&mut self, number: Option<FormattedNumber>, mark: usize, cell: &[u8]) -> bool {
        let Some(FormattedNumber { is_grouped, sign, .. }) = number else { return false };
        let rare = self.rare();
        let sign_index = sign.and_then(|sign| SIGNS.iter().position(|other| *other == sign));
        rare.numbers[mark][sign_index.unwrap_or(NO_SIGN)] += 1;
        if let Some(index) = sign_index {
            keep_first(&mut rare.signed[index], cell);
        }
        if is_grouped {
            rare.grouped[mark] += 1;
            keep_first(&mut rare.group[mark], cell);
        }
        true
    }

    /// Counts a cell that is not a number.
    fn add_other(&mut self, cell: &[u8]) {
        if boolean(cell, false).is_some() {
            self.booleans += 1;
        } else if time::is_date(cell) {
            self.times += 1;
            match time::unambiguous_order(cell) {
                Some(DateOrder::DayFirst) => self.day_first += 1,
                Some(DateOrder::MonthFirst) => self.month_first += 1,
                None if time::is_ambiguous(cell) => {
                    let rare = self.rare();
                    rare.ambiguous += 1;
                    keep_first(&mut rare.ambiguous_date, cell);
                }
                None => {}
            }
        } else if time::time_of_day(cell).is_some() {
            self.rare().times_of_day += 1;
        }
    }

    fn rare(&mut self) -> &mut RareCounts {
        self.rare.get_or_insert_default()
    }

    /// Whether this many cells are more than 90 % of those present. A single mistyped cell is then reported as an error instead of turning the
    /// whole column into a category.
    fn are_most(&self, count: u64) -> bool {
        count * 10 > self.present * 9
    }

    /// The kind of the column.
    pub(super) fn kind(&self, comma: bool) -> ColumnKind {
        if self.present == 0 {
            // Only words for missing values: they may be classes.
            return if self.words > 0 { ColumnKind::Category } else { ColumnKind::Number };
        }
        let plain = if comma { self.comma_numbers } else { self.point_numbers };
        if self.are_most(plain) {
            if self.are_codes() {
                ColumnKind::Category
            } else if self.are_compact_dates() {
                ColumnKind::Time
            } else {
                ColumnKind::Number
            }
        } else if self.booleans == self.present {
            ColumnKind::Boolean
        } else if self.are_most(self.times) || self.are_most(self.times_of_day()) {
            ColumnKind::Time
        } else if self.are_most(self.unsigned(comma) + self.signed(comma).0) {
            ColumnKind::Number
        } else {
            ColumnKind::Category
        }
    }

    /// Whether the cells are codes such as zip codes: digits of the same length, some with a leading 0.
    fn are_codes(&self) -> bool {
        let leading_zeros = self.rare.as_ref().map_or(0, |rare| rare.leading_zeros);
        leading_zeros > 0 && self.shortest == self.longest && self.are_most(self.digits)
    }

    fn are_compact_dates(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.compact == self.present && rare.dates.len() >= MIN_COMPACT_DATES)
    }

    fn times_of_day(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.times_of_day)
    }

    /// The number of numbers without a sign.
    fn unsigned(&self, comma: bool) -> u64 {
        let grouped = self.rare.as_ref().map_or(0, |rare| rare.numbers[usize::from(comma)][NO_SIGN]);
        grouped + if comma { self.comma_numbers } else { self.point_numbers }
    }

    /// The count and the index of the most frequent sign.
    fn signed(&self, comma: bool) -> (u64, Option<usize>) {
        let Some(rare) = &self.rare else { return (0, None) };
        let counts = rare.numbers[usize::from(comma)];
        // `max_by_key` returns the last of equal elements; reversed, that is the first in the list.
        let most = (0..NO_SIGN).rev().max_by_key(|sign| counts[*sign]).filter(|sign| counts[*sign] > 0);
        (most.map_or(0, |sign| counts[sign]), most)
    }

    /// The sign that numbers of the column may have; `None` if most of them have none.
    pub(super) fn sign(&self, comma: bool) -> Option<char> {
        let (_, most) = self.signed(comma);
        most.filter(|_| !self.are_most(self.unsigned(comma))).map(|sign| SIGNS[sign])
    }

    /// Whether there are dates or times of day.
    pub(super) fn has_times(&self) -> bool {
        self.times + self.times_of_day() > 0 || self.rare.as_ref().is_some_and(|rare| rare.compact > 0)
    }

    /// Whether the cells are times of day without a date.
    pub(super) fn holds_times_of_day(&self) -> bool {
        self.times_of_day() > self.times
    }

    /// Adds the counts of another part of the sample.
    pub(super) fn merge(&mut self, part: &Tally) {
        self.present += part.present;
        self.nonempty += part.nonempty;
        self.words += part.words;
        self.point_numbers += part.point_numbers;
        self.comma_numbers += part.comma_numbers;
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
        match (&mut self.rare, &part.rare) {
            (Some(rare), Some(part)) => rare.merge(part),
            (rare @ None, Some(part)) => *rare = Some(part.clone()),
            (_, None) => {}
        }
    }

    /// The order of day and month that the cells show; `None` if no cell shows it.
    pub(super) fn order(&self) -> Option<DateOrder> {
        match self.month_first.cmp(&self.day_first) {
            std::cmp::Ordering::Greater => Some(DateOrder::MonthFirst),
            _ if self.day_first > 0 => Some(DateOrder::DayFirst),
            _ => None,
        }
    }

    /// Whether the order of day and month matters.
    pub(super) fn has_order(&self) -> bool {
        self.order().is_some() || self.rare.as_ref().is_some_and(|rare| rare.ambiguous > 0)
    }

    /// A note for the user on how the column is read, with its subject, by which the notes of all columns are grouped.
    pub(super) fn note(
        &self,
        name: &str,
        kind: ColumnKind,
        comma: bool,
        is_order_given: bool,
    ) -> Option<(Subject, String)> {
        let rare = self.rare.as_ref()?;
        let name = cell_excerpt(name.as_bytes());
        let numeric = Setting("numeric").to(&name);
        match kind {
            ColumnKind::Category if self.present == 0 && self.words > 0 => {
                let word = &rare.word;
                let text = format!(
                    "column `{name}` holds only words such as `{word}` in the first rows and is read as text; \
                     `{}` reads them as missing",
                    Setting("missing").to(word)
                );
                Some((Subject::MissingWords, text))
            }
            ColumnKind::Category if self.are_codes() => {
                let text = format!(
                    "column `{name}` is read as text: its cells are digits of the same length, some with a leading 0 (`{}`); \
                     `{numeric}` reads them as numbers",
                    rare.leading_zero
                );
                Some((Subject::Codes, text))
            }
            ColumnKind::Time if self.are_compact_dates() => {
                let text = format!(
                    "column `{name}` is read as dates (`{}`); `{numeric}` reads them as numbers",
                    rare.compact_date
                );
                Some((Subject::CompactDates, text))
            }
            ColumnKind::Time if self.holds_times_of_day() => {
                Some((Subject::TimesOfDay, format!("column `{name}` holds times of day without a date")))
            }
            ColumnKind::Time if !is_order_given && self.order().is_none() && rare.ambiguous > 0 => {
                let text = format!(
                    "column `{name}`: no date shows whether the day or the month comes first (`{}`); the day is assumed to come \
                     first, `{}` reads it the other way",
                    rare.ambiguous_date,
                    Setting("month-first")
                );
                Some((Subject::DateOrder, text))
            }
            ColumnKind::Number => self.number_note(rare, &name, comma),
            _ => None,
        }
    }

    fn number_note(&self, rare: &RareCounts, name: &str, comma: bool) -> Option<(Subject, String)> {
        let mark = if comma { b',' } else { b'.' };
        let value = |text: &str| number::parse_formatted(text.as_bytes(), mark).map_or(f64::NAN, |number| number.value);
        if let (Some(sign), (_, Some(index))) = (self.sign(comma), self.signed(comma)) {
            let example = &rare.signed[index];
            let sign_name = if sign == '%' { "per cent sign".into() } else { format!("sign `{sign}`") };
            let text = format!(
                "column `{name}`: the {sign_name} is dropped, `{example}` is read as the number {}",
                value(example)
            );
            return Some((Subject::Sign, text));
        }
        let group = &rare.group[usize::from(comma)];
        (rare.grouped[usize::from(comma)] > 0).then(|| {
            let separators = if comma { "points" } else { "commas" };
            (
                Subject::Thousands,
                format!(
                    "column `{name}`: {separators} separate thousands, `{group}` is read as the number {}",
                    value(group)
                ),
            )
        })
    }
}

impl RareCounts {
    fn merge(&mut self, part: &RareCounts) {
        let first = |example: &mut String, other: &String| {
            if example.is_empty() {
                example.clone_from(other);
            }
        };
        first(&mut self.word, &part.word);
        self.leading_zeros += part.leading_zeros;
        first(&mut self.leading_zero, &part.leading_zero);
        self.compact += part.compact;
        first(&mut self.compact_date, &part.compact_date);
        for date in &part.dates {
            if self.dates.len() < MIN_COMPACT_DATES && !self.dates.contains(date) {
                self.dates.push(*date);
            }
        }
        self.times_of_day += part.times_of_day;
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

impl DecimalMarks {
    fn add(&mut self, further: &DecimalMarks) {
        self.point += further.point;
        self.comma += further.comma;
        self.either_point += further.either_point;
        self.either_comma += further.either_comma;
    }

    /// The sum over all columns.
    pub(super) fn of(tallies: &[Tally]) -> Self {
        let mut sum = DecimalMarks::default();
        tallies.iter().for_each(|tally| sum.add(&tally.marks));
        sum
    }

    /// Whether any number has a decimal mark or a separator.
    pub(super) fn any(&self) -> bool {
        self.point + self.comma + self.either_point + self.either_comma > 0
    }

    /// Whether numbers have a decimal comma: more of them can only be read with a comma than only with a point. If no number decides it, the
    /// `earlier` table does. Otherwise `1,234` is 1.234 only in files separated by semicolons, which are common where decimal commas are.
    pub(super) fn decimal_comma(&self, earlier: Option<bool>, delimiter: u8) -> bool {
        if self.comma != self.point {
            return self.comma > self.point;
        }
        earlier.unwrap_or(delimiter == b';' && self.either_comma > self.either_point)
    }
}

/// The subject of a note. Only the first few notes on each subject are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    MissingWords,
    Codes,
    CompactDates,
    TimesOfDay,
    DateOrder,
    Sign,
    Thousands,
}

/// The first three notes on each subject, the last of them with the number of further columns.
pub(super) fn limited_notes(notes: Vec<(Subject, String)>) -> Vec<String> {
    const MAX_NOTES: usize = 3;
    let mut by_subject: std::collections::BTreeMap<Subject, Vec<String>> = std::collections::BTreeMap::new();
    notes.into_iter().for_each(|(subject, text)| by_subject.entry(subject).or_default().push(text));
    let mut limited = Vec::new();
    for mut texts in by_subject.into_values() {
        let further = texts.len().saturating_sub(MAX_NOTES);
        texts.truncate(MAX_NOTES);
        if further > 0
            && let Some(last) = texts.last_mut()
        {
            *last += &format!(" (and {further} more columns)");
        }
        limited.append(&mut texts);
    }
    limited
}

/// Whether the header looks like a row: it has a number in every column of numbers, and there is at least one.
pub(super) fn looks_like_data(header: &[Vec<u8>], tallies: &[Tally], comma: bool) -> bool {
    let mark = if comma { b',' } else { b'.' };
    let mut numbers = 0;
    for (cell, tally) in header.iter().zip(tallies) {
        if tally.present > 0 && tally.kind(comma) == ColumnKind::Number {
            if number::parse(cell, mark).is_none() {
                return false;
            }
            numbers += 1;
        }
    }
    numbers > 0
}
