//! Recognises the types of columns from a sample of the first rows.

use crate::setting::Setting;
use crate::table::number::{FormattedNumber, UNIT_SIGNS};
use crate::table::reading::MissingMarkers;
use crate::table::time::{self, DateOrder};
use crate::table::{ColumnKind, cell_excerpt, number, parse_boolean};

/// A cell of eight digits such as `20200131` could be a date or a number. A column is read as dates if all its cells are such dates and at
/// least this many are different: the probability that ten random numbers between 19000101 and 20991231 are all dates is below 10⁻¹⁴.
const MIN_COMPACT_DATES: usize = 10;
/// The index under which numbers without a per cent or currency sign are counted. Numbers with a sign are counted under its index in
/// [`UNIT_SIGNS`].
const NO_SIGN: usize = UNIT_SIGNS.len();

/// Counts how many cells of a column look like numbers, dates, booleans and so on, in the sample of the first rows.
#[derive(Clone, Default)]
pub(super) struct Tally {
    /// Number of cells that have a value: they are neither empty, nor a marker of a missing value such as `NA`, nor a word such as `None`.
    pub(super) present: u64,
    /// Number of cells that are not empty, including markers of a missing value.
    pub(super) nonempty: u64,
    /// Number of cells such as `None` and `-`, which are missing values unless the column is categorical.
    words: u64,
    /// Number of cells that are plain numbers if the decimal mark is a point.
    point_numbers: u64,
    /// Number of cells that are plain numbers if the decimal mark is a comma.
    comma_numbers: u64,
    marks: DecimalMarks,
    booleans: u64,
    /// Number of cells that are dates, with or without a time of day. Dates of eight digits are not counted here.
    times: u64,
    /// Number of dates that only make sense with the day first, such as `31/01/2020`.
    day_first: u64,
    /// Number of dates that only make sense with the month first, such as `01/31/2020`.
    month_first: u64,
    /// Number of cells that consist of digits only.
    digits: u64,
    /// The length of the shortest cell that consists of digits only.
    shortest: usize,
    /// The length of the longest cell that consists of digits only.
    longest: usize,
    /// Counts that few columns need, allocated for these columns only.
    extra: Option<Box<ExtraCounts>>,
}

/// Counts how many numbers show which decimal mark the file uses. `1.5` shows a decimal point; `1,234` does not show the decimal mark, since it may
/// mean 1.234 or 1234.
#[derive(Clone, Copy, Default)]
pub(super) struct DecimalMarks {
    /// Count of numbers that only make sense with a decimal point.
    point: u64,
    /// Count of numbers that only make sense with a decimal comma.
    comma: u64,
    /// Count of numbers with a point that make sense with either decimal mark, such as `1.234`.
    either_point: u64,
    /// Count of numbers with a comma that make sense with either decimal mark, such as `1,234`.
    either_comma: u64,
}

/// Counts that only few columns need, and for most counts the first cell that was counted, as an example for messages.
#[derive(Clone, Default)]
struct ExtraCounts {
    /// The first cell such as `None` or `-`, which may mean a missing value.
    word: String,
    /// Number of cells of several digits that begin with 0.
    leading_zeros: u64,
    /// The first cell of several digits that begins with 0.
    leading_zero: String,
    /// Number of dates of eight digits.
    compact: u64,
    /// The first [`MIN_COMPACT_DATES`] different dates of eight digits.
    dates: Vec<i64>,
    /// The first cell that is a date of eight digits.
    compact_date: String,
    /// Number of times of day without a date.
    times_of_day: u64,
    /// Number of dates whose meaning depends on the order of day and month.
    ambiguous: u64,
    /// The first date whose meaning depends on the order of day and month.
    ambiguous_date: String,
    /// Number of cells that are numbers with thousands separators, a per cent sign or a currency sign. The first index is 0 if the decimal mark
    /// is a point and 1 if it is a comma. The second index is that of the sign in [`UNIT_SIGNS`], or [`NO_SIGN`].
    numbers: [[u64; NO_SIGN + 1]; 2],
    /// For each sign of [`UNIT_SIGNS`], the first cell that is a number with this sign.
    signed: [String; NO_SIGN],
    /// Number of cells that are numbers with thousands separators if the decimal mark is a point (index 0) or a comma (index 1).
    grouped: [u64; 2],
    /// The first cell that is a number with thousands separators if the decimal mark is a point (index 0) or a comma (index 1).
    group: [String; 2],
}

/// Stores the cell in `example` if `example` is still empty.
fn keep_first(example: &mut String, cell: &[u8]) {
    if example.is_empty() {
        *example = cell_excerpt(cell);
    }
}

impl Tally {
    /// Adds a cell to the counts.
    pub(super) fn add(&mut self, cell: &[u8], markers: &MissingMarkers) {
        self.nonempty += u64::from(!cell.is_empty());
        if markers.contains(cell, b'.') || markers.contains(cell, b',') {
            return;
        }
        if MissingMarkers::is_missing_word(cell) {
            self.words += 1;
            keep_first(&mut self.extra_counts().word, cell);
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
        // The point in `1.234` can be a decimal point or a thousands separator, because exactly three digits follow. If more or fewer digits
        // follow, the point or comma of a plain number is no thousands separator, so the cell is not parsed a second time.
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
            (false, false) => self.add_non_number(cell),
        }
    }

    /// If the cell consists of digits only, counts it and records its length, whether it has a leading zero, and whether it is a date of eight
    /// digits. Other cells are ignored.
    fn add_digits(&mut self, cell: &[u8]) {
        if !cell.iter().all(u8::is_ascii_digit) {
            return;
        }
        self.shortest = if self.digits == 0 { cell.len() } else { self.shortest.min(cell.len()) };
        self.longest = self.longest.max(cell.len());
        self.digits += 1;
        if cell.len() > 1 && cell[0] == b'0' {
            let extra = self.extra_counts();
            extra.leading_zeros += 1;
            keep_first(&mut extra.leading_zero, cell);
        } else if time::is_compact_date(cell) {
            let extra = self.extra_counts();
            extra.compact += 1;
            keep_first(&mut extra.compact_date, cell);
            if extra.dates.len() < MIN_COMPACT_DATES
                && let Some(date) = time::parse(cell, DateOrder::DayFirst)
                && !extra.dates.contains(&date)
            {
                extra.dates.push(date);
            }
        }
    }

    /// Counts a cell that was parsed as a number with thousands separators, a per cent sign or a currency sign, and returns `true`. If `number` is
    /// `None`, counts nothing and returns `false`. `mark` is 0 for a decimal point and 1 for a decimal comma.
    fn add_formatted_number(&mut self, number: Option<FormattedNumber>, mark: usize, cell: &[u8]) -> bool {
        let Some(FormattedNumber { is_grouped, sign, .. }) = number else { return false };
        let extra = self.extra_counts();
        let sign_index = sign.and_then(|sign| UNIT_SIGNS.iter().position(|other| *other == sign));
        extra.numbers[mark][sign_index.unwrap_or(NO_SIGN)] += 1;
        if let Some(index) = sign_index {
            keep_first(&mut extra.signed[index], cell);
        }
        if is_grouped {
            extra.grouped[mark] += 1;
            keep_first(&mut extra.group[mark], cell);
        }
        true
    }

    /// Counts a cell that is not a number.
    fn add_non_number(&mut self, cell: &[u8]) {
        if parse_boolean(cell, false).is_some() {
            self.booleans += 1;
        } else if time::is_date(cell) {
            self.times += 1;
            match time::unambiguous_order(cell) {
                Some(DateOrder::DayFirst) => self.day_first += 1,
                Some(DateOrder::MonthFirst) => self.month_first += 1,
                None if time::is_ambiguous_date(cell) => {
                    let extra = self.extra_counts();
                    extra.ambiguous += 1;
                    keep_first(&mut extra.ambiguous_date, cell);
                }
                None => {}
            }
        } else if time::parse_time_of_day(cell).is_some() {
            self.extra_counts().times_of_day += 1;
        }
    }

    /// The extra counts, which are allocated at the first call.
    fn extra_counts(&mut self) -> &mut ExtraCounts {
        self.extra.get_or_insert_default()
    }

    /// Whether `count` is more than 90 % of the number of cells that are not missing. The limit is below 100 % so that a single mistyped cell is
    /// reported as an error and does not turn the whole column into a categorical one.
    fn is_nearly_all(&self, count: u64) -> bool {
        count * 10 > self.present * 9
    }

    /// The type of the column. `comma` says whether numbers have a decimal comma.
    pub(super) fn kind(&self, comma: bool) -> ColumnKind {
        if self.present == 0 {
            // All cells are either missing or words such as `None`, which may be classes.
            return if self.words > 0 { ColumnKind::Category } else { ColumnKind::Number };
        }
        let plain = if comma { self.comma_numbers } else { self.point_numbers };
        if self.is_nearly_all(plain) {
            if self.are_codes() {
                ColumnKind::Category
            } else if self.are_compact_dates() {
                ColumnKind::Time
            } else {
                ColumnKind::Number
            }
        } else if self.booleans == self.present {
            ColumnKind::Boolean
        } else if self.is_nearly_all(self.times) || self.is_nearly_all(self.count_of_times_of_day()) {
            ColumnKind::Time
        } else if self.is_nearly_all(self.count_without_sign(comma) + self.most_frequent_sign(comma).0) {
            ColumnKind::Number
        } else {
            ColumnKind::Category
        }
    }

    /// Whether the cells are codes such as zip codes: they have the same number of digits, and some have a leading 0.
    fn are_codes(&self) -> bool {
        let leading_zeros = self.extra.as_ref().map_or(0, |extra| extra.leading_zeros);
        leading_zeros > 0 && self.shortest == self.longest && self.is_nearly_all(self.digits)
    }

    /// Whether all cells are dates of eight digits, at least [`MIN_COMPACT_DATES`] of them different.
    fn are_compact_dates(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.compact == self.present && extra.dates.len() >= MIN_COMPACT_DATES)
    }

    /// How many cells are times of day without a date.
    fn count_of_times_of_day(&self) -> u64 {
        self.extra.as_ref().map_or(0, |extra| extra.times_of_day)
    }

    /// How many cells are numbers without a per cent or currency sign. `comma` says whether numbers have a decimal comma.
    fn count_without_sign(&self, comma: bool) -> u64 {
        let grouped = self.extra.as_ref().map_or(0, |extra| extra.numbers[usize::from(comma)][NO_SIGN]);
        grouped + if comma { self.comma_numbers } else { self.point_numbers }
    }

    /// Finds the most frequent per cent or currency sign. Returns how many numbers have it, and its index in [`UNIT_SIGNS`]; `(0, None)` if no
    /// number has a sign. `comma` says whether numbers have a decimal comma.
    fn most_frequent_sign(&self, comma: bool) -> (u64, Option<usize>) {
        let Some(extra) = &self.extra else { return (0, None) };
        let counts = extra.numbers[usize::from(comma)];
        // `max_by_key` returns the last of several equal maxima. The signs are visited in reverse order, so that among equally frequent signs the
        // first in `UNIT_SIGNS` is chosen.
        let most_frequent = (0..NO_SIGN).rev().max_by_key(|sign| counts[*sign]).filter(|sign| counts[*sign] > 0);
        (most_frequent.map_or(0, |sign| counts[sign]), most_frequent)
    }

    /// The per cent or currency sign that numbers of the column may have; `None` if no number has such a sign, or if more than 90 % of the
    /// cells are numbers without a sign. `comma` says whether numbers have a decimal comma.
    pub(super) fn sign(&self, comma: bool) -> Option<char> {
        let (_, most_frequent) = self.most_frequent_sign(comma);
        most_frequent.filter(|_| !self.is_nearly_all(self.count_without_sign(comma))).map(|sign| UNIT_SIGNS[sign])
    }

    /// Whether any cell is a date or a time of day.
    pub(super) fn has_times(&self) -> bool {
        self.times + self.count_of_times_of_day() > 0 || self.extra.as_ref().is_some_and(|extra| extra.compact > 0)
    }

    /// Whether more cells are times of day without a date than dates. Dates of eight digits are not counted.
    pub(super) fn holds_times_of_day(&self) -> bool {
        self.count_of_times_of_day() > self.times
    }

    /// Adds the counts of a later part of the sampled rows.
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
        match (&mut self.extra, &part.extra) {
            (Some(extra), Some(part)) => extra.merge(part),
            (extra @ None, Some(part)) => *extra = Some(part.clone()),
            (_, None) => {}
        }
    }

    /// The order of day and month that most dates show, or day first if both orders are equally frequent. `None` if no date shows the order:
    /// `01/02/2020` does not show it.
    pub(super) fn date_order(&self) -> Option<DateOrder> {
        match self.month_first.cmp(&self.day_first) {
            std::cmp::Ordering::Greater => Some(DateOrder::MonthFirst),
            _ if self.day_first > 0 => Some(DateOrder::DayFirst),
            _ => None,
        }
    }

    /// Whether the order of day and month makes a difference for any date of the column.
    pub(super) fn depends_on_date_order(&self) -> bool {
        self.date_order().is_some() || self.extra.as_ref().is_some_and(|extra| extra.ambiguous > 0)
    }

    /// A note for the user on how the column is read, if that may be surprising, and the subject of the note. Notes of all columns are grouped
    /// by subject.
    pub(super) fn note(
        &self,
        name: &str,
        kind: ColumnKind,
        comma: bool,
        is_order_given: bool,
    ) -> Option<(NoteSubject, String)> {
        let extra = self.extra.as_ref()?;
        let name = cell_excerpt(name.as_bytes());
        let numeric = Setting("numeric").to(&name);
        match kind {
            ColumnKind::Category if self.present == 0 && self.words > 0 => {
                let word = &extra.word;
                let text = format!(
                    "column `{name}` holds only words such as `{word}` in the first rows and is read as text; \
                     `{}` reads them as missing",
                    Setting("missing").to(word)
                );
                Some((NoteSubject::MissingWords, text))
            }
            ColumnKind::Category if self.are_codes() => {
                let text = format!(
                    "column `{name}` is read as text: its cells have the same number of digits, some with a leading 0 (`{}`); \
                     `{numeric}` reads them as numbers",
                    extra.leading_zero
                );
                Some((NoteSubject::Codes, text))
            }
            ColumnKind::Time if self.are_compact_dates() => {
                let text = format!(
                    "column `{name}` is read as dates (`{}`); `{numeric}` reads them as numbers",
                    extra.compact_date
                );
                Some((NoteSubject::CompactDates, text))
            }
            ColumnKind::Time if self.holds_times_of_day() => {
                Some((NoteSubject::TimesOfDay, format!("column `{name}` holds times of day without a date")))
            }
            ColumnKind::Time if !is_order_given && self.date_order().is_none() && extra.ambiguous > 0 => {
                let text = format!(
                    "column `{name}`: no date shows whether the day or the month comes first (`{}`); the day is assumed to come \
                     first; `{}` reads the month first",
                    extra.ambiguous_date,
                    Setting("month-first")
                );
                Some((NoteSubject::DateOrder, text))
            }
            ColumnKind::Number => self.number_note(extra, &name, comma),
            _ => None,
        }
    }

    /// A note for the user on the per cent or currency sign or the thousands separators of a column of numbers. `comma` says whether numbers have a
    /// decimal comma.
    fn number_note(&self, extra: &ExtraCounts, name: &str, comma: bool) -> Option<(NoteSubject, String)> {
        let mark = if comma { b',' } else { b'.' };
        let value = |text: &str| number::parse_formatted(text.as_bytes(), mark).map_or(f64::NAN, |number| number.value);
        if let (Some(sign), (_, Some(index))) = (self.sign(comma), self.most_frequent_sign(comma)) {
            let example = &extra.signed[index];
            let sign_name = if sign == '%' { "per cent sign".into() } else { format!("sign `{sign}`") };
            let text = format!(
                "column `{name}`: the {sign_name} is dropped, `{example}` is read as the number {}",
                value(example)
            );
            return Some((NoteSubject::Sign, text));
        }
        let group = &extra.group[usize::from(comma)];
        (extra.grouped[usize::from(comma)] > 0).then(|| {
            let separators = if comma { "points" } else { "commas" };
            (
                NoteSubject::Thousands,
                format!(
                    "column `{name}`: {separators} separate thousands, `{group}` is read as the number {}",
                    value(group)
                ),
            )
        })
    }
}

impl ExtraCounts {
    /// Adds the counts of a later part of the sampled rows. Where there is no example cell yet, takes that of the later part.
    fn merge(&mut self, part: &ExtraCounts) {
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
    /// Adds the counts of further cells.
    fn add(&mut self, further: &DecimalMarks) {
        self.point += further.point;
        self.comma += further.comma;
        self.either_point += further.either_point;
        self.either_comma += further.either_comma;
    }

    /// The sum of the counts over all columns.
    pub(super) fn sum_over_columns(tallies: &[Tally]) -> Self {
        let mut sum = DecimalMarks::default();
        tallies.iter().for_each(|tally| sum.add(&tally.marks));
        sum
    }

    /// Whether any number has a decimal mark or a thousands separator.
    pub(super) fn has_decimal_marks(&self) -> bool {
        self.point + self.comma + self.either_point + self.either_comma > 0
    }

    /// Whether numbers have a decimal comma. The numbers that only make sense with one decimal mark decide by majority. If there is no majority,
    /// `earlier` decides: whether an earlier table, such as the training table, has a decimal comma. If it is `None`, numbers have a decimal comma
    /// only if the delimiter is a semicolon, as in countries with decimal commas, and more numbers look like `1,234` than like `1.234`.
    pub(super) fn decimal_comma(&self, earlier: Option<bool>, delimiter: u8) -> bool {
        if self.comma != self.point {
            return self.comma > self.point;
        }
        earlier.unwrap_or(delimiter == b';' && self.either_comma > self.either_point)
    }
}

/// The subject of a note about a column. Only the first few notes on each subject are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NoteSubject {
    MissingWords,
    Codes,
    CompactDates,
    TimesOfDay,
    DateOrder,
    Sign,
    Thousands,
}

/// Keeps only the first three notes on each subject. If there are more, the third note also says how many further columns the subject applies to.
pub(super) fn limited_notes(notes: Vec<(NoteSubject, String)>) -> Vec<String> {
    const MAX_NOTES_PER_SUBJECT: usize = 3;
    let mut by_subject: std::collections::BTreeMap<NoteSubject, Vec<String>> = std::collections::BTreeMap::new();
    notes.into_iter().for_each(|(subject, text)| by_subject.entry(subject).or_default().push(text));
    let mut limited = Vec::new();
    for mut texts in by_subject.into_values() {
        let further = texts.len().saturating_sub(MAX_NOTES_PER_SUBJECT);
        texts.truncate(MAX_NOTES_PER_SUBJECT);
        if further > 0
            && let Some(last) = texts.last_mut()
        {
            let columns = if further == 1 { "column" } else { "columns" };
            *last += &format!(" (and {further} more {columns})");
        }
        limited.append(&mut texts);
    }
    limited
}

/// Whether the header looks like a row: the table has columns of numbers, and the header has a number in each of these columns.
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
