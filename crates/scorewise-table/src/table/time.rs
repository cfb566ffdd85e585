//! Parses dates and times of day.
//!
//! ```text
//! 2010-01-31   2010/01/31   2010.1.31   31.01.2010   31/1/2010   31-01-2010
//! 31 Jan 2010   31-Jan-2010   31JAN2010   January 31, 2010   Jan 31 2010   20100131
//! 2010-01-31T18:00   2010-01-31 18:00:05.250Z   31.01.2010 6:05   2010-01-31T18:00:05+01:00   1/31/2010 6:00 PM
//! ```
//!
//! Names of months are English, written in full or as their first three letters (or `Sept`). Eight digits are a date if the year is from 1900 to
//! 2099. A time with an offset such as `+01:00` is converted to UTC; a time without an offset is not changed.

use chrono::NaiveDate;

/// The number of seconds in a day.
const DAY: i64 = 86_400;

/// The order of day and month in dates with the year last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DateOrder {
    /// The day comes first: `31/01/2010`.
    #[default]
    DayFirst,
    /// The month comes first: `01/31/2010`.
    MonthFirst,
}

/// Parses a date, with or without a time of day, as seconds since 1970-01-01 00:00. `None` if the cell is not a date.
pub(super) fn parse(cell: &[u8], order: DateOrder) -> Option<i64> {
    let (parts, rest) = numeric_date(cell).or_else(|| date_with_month_name_or_eight_digits(cell))?;
    let (year, month, day) = match (parts, order) {
        (DateParts::YearFirst(year, month, day), _) => (year, month, day),
        (DateParts::YearLast(day, month, year), DateOrder::DayFirst)
        | (DateParts::YearLast(month, day, year), DateOrder::MonthFirst) => (year, month, day),
    };
    let midnight = NaiveDate::from_ymd_opt(year, month, day)?.and_hms_opt(0, 0, 0)?.and_utc().timestamp();
    match rest {
        [] => Some(midnight),
        [b'T' | b't' | b' ', rest @ ..] => Some(midnight + seconds_of_day(rest)?),
        _ => None,
    }
}

/// Parses a time of day without a date (`14:30`, `14:30:05`, `2:30 PM`) as seconds since midnight. `None` if the cell is something else.
pub(super) fn parse_time_of_day(cell: &[u8]) -> Option<i64> {
    seconds_of_day(cell).map(|second| second.rem_euclid(DAY))
}

/// Whether a cell can be read as a date in at least one order of day and month.
pub(super) fn is_date(cell: &[u8]) -> bool {
    parse(cell, DateOrder::DayFirst).is_some()
        || numeric_date(cell).is_some() && parse(cell, DateOrder::MonthFirst).is_some()
}

/// Whether a cell is a date of eight digits, such as `20100131`.
pub(super) fn is_compact_date(cell: &[u8]) -> bool {
    cell.len() == 8 && cell.iter().all(u8::is_ascii_digit) && parse(cell, DateOrder::DayFirst).is_some()
}

/// Whether a cell is a date whose meaning depends on the order of day and month, such as `03/04/2010`.
pub(super) fn is_ambiguous_date(cell: &[u8]) -> bool {
    matches!(numeric_date(cell), Some((DateParts::YearLast(first, second, _), _)) if first <= 12 && second <= 12 && first != second)
}

/// The order of day and month that a date shows: in `31/01/2010` the day comes first, since 31 cannot be a month. `None` if the date does not
/// show the order.
pub(super) fn unambiguous_order(cell: &[u8]) -> Option<DateOrder> {
    match numeric_date(cell)?.0 {
        DateParts::YearLast(first, second, _) if first > 12 && second <= 12 => Some(DateOrder::DayFirst),
        DateParts::YearLast(first, second, _) if first <= 12 && second > 12 => Some(DateOrder::MonthFirst),
        _ => None,
    }
}

/// The numbers of a date. `YearFirst` holds the year, the month and the day. `YearLast` holds the numbers of a date such as `03/04/2010`; a
/// [`DateOrder`] tells whether the first or the second of them is the day.
enum DateParts {
    YearFirst(i32, u32, u32),
    YearLast(u32, u32, i32),
}

/// Parses a date of three numbers with the same separator, in which the first or the last number is a year of four digits. Returns the date
/// and the rest of the cell.
fn numeric_date(cell: &[u8]) -> Option<(DateParts, &[u8])> {
    let (first, first_digits, rest) = parse_digits(cell)?;
    let (separator, rest) = rest.split_first()?;
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let (second, second_digits, rest) = parse_digits(rest)?;
    let rest = rest.strip_prefix(&[*separator])?;
    let (third, third_digits, rest) = parse_digits(rest)?;
    match (first_digits, second_digits, third_digits) {
        (4, 1..=2, 1..=2) => Some((DateParts::YearFirst(first as i32, second, third), rest)),
        (1..=2, 1..=2, 4) => Some((DateParts::YearLast(first, second, third as i32), rest)),
        _ => None,
    }
}

/// Parses a date with the name of a month (`31 Jan 2010`), or a date of eight digits (`20100131`). Returns the date and the rest of the cell.
fn date_with_month_name_or_eight_digits(cell: &[u8]) -> Option<(DateParts, &[u8])> {
    let separators =
        |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'-' | b',' | b'.' | b'/')).count();
    if cell.len() == 8 && cell.iter().all(u8::is_ascii_digit) {
        let number = |part: &[u8]| parse_digits(part).map(|(value, ..)| value);
        let (year, month, day) = (number(&cell[..4])?, number(&cell[4..6])?, number(&cell[6..])?);
        return (1900..2100).contains(&year).then(|| (DateParts::YearFirst(year as i32, month, day), &cell[8..]));
    }
    // The date begins with `31 Jan` or `Jan 31`, and the year follows.
    let (month, day, rest) = if cell.first()?.is_ascii_digit() {
        let (day, day_digits, rest) = parse_digits(cell)?;
        let (month, rest) = parse_month_name(&rest[separators(rest)..])?;
        (month, (day_digits <= 2).then_some(day)?, rest)
    } else {
        let (month, rest) = parse_month_name(cell)?;
        let (day, day_digits, rest) = parse_digits(&rest[separators(rest)..])?;
        (month, (day_digits <= 2).then_some(day)?, rest)
    };
    let between = separators(rest);
    let (year, year_digits, rest) = parse_digits(&rest[between..])?;
    ((between > 0 || cell[0].is_ascii_digit()) && year_digits == 4)
        .then_some((DateParts::YearFirst(year as i32, month, day), rest))
}

/// Parses the name of a month. Returns the number of the month, from 1 to 12, and the rest of the text.
fn parse_month_name(text: &[u8]) -> Option<(u32, &[u8])> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    // Comparing the first three letters rejects most strings quickly.
    let first = text.first_chunk::<3>()?;
    let month_index = MONTHS.iter().position(|month| first.eq_ignore_ascii_case(&month.as_bytes()[..3]))?;
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let name = &text[..length];
    let is_whole = name.eq_ignore_ascii_case(MONTHS[month_index].as_bytes()) || name.eq_ignore_ascii_case(b"sept");
    (length == 3 || is_whole).then_some((month_index as u32 + 1, &text[length..]))
}

/// Parses a time of day (`18:00`, `18:00:05`, `18:00:05.25` or `6:00 PM`) as seconds since midnight. An offset from UTC that follows the time
/// is subtracted, so the result may be negative. Fractions of a second are dropped.
fn seconds_of_day(text: &[u8]) -> Option<i64> {
    let (hour, hour_digits, rest) = parse_digits(text)?;
    let (minute, minute_digits, mut rest) = parse_digits(rest.strip_prefix(b":")?)?;
    let mut second = 0;
    if let [b':', tail @ ..] = rest {
        let (value, second_digits, tail) = parse_digits(tail)?;
        (second, rest) = (value, tail);
        if second_digits != 2 {
            return None;
        }
        if let [b'.' | b',', tail @ ..] = rest {
            let fraction = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest = &tail[fraction..];
        }
    }
    let suffix = rest.strip_prefix(b" ").unwrap_or(rest);
    let hour = match suffix.split_at_checked(2) {
        Some((am_pm, after)) if am_pm.eq_ignore_ascii_case(b"am") || am_pm.eq_ignore_ascii_case(b"pm") => {
            rest = after;
            let afternoon = u32::from(am_pm.eq_ignore_ascii_case(b"pm"));
            (1..=12).contains(&hour).then_some(hour % 12 + 12 * afternoon)?
        }
        _ => hour,
    };
    if hour > 23 || minute > 59 || second > 59 || hour_digits > 2 || minute_digits != 2 {
        return None;
    }
    Some(i64::from(hour * 3600 + minute * 60 + second) - utc_offset(rest)?)
}

/// Parses an offset from UTC (`Z`, `+01:00`, `+0100`, `+01`) as seconds; 0 for an empty text.
fn utc_offset(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, rest) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (first, count, rest) = parse_digits(rest)?;
    let (hour, minute) = match (count, rest) {
        (1..=2, []) => (first, 0),
        (4, []) => (first / 100, first % 100),
        (1..=2, [b':', rest @ ..]) => match parse_digits(rest)? {
            (minute, 2, []) => (first, minute),
            _ => return None,
        },
        _ => return None,
    };
    (hour <= 23 && minute <= 59).then(|| sign * i64::from(hour * 3600 + minute * 60))
}

/// Parses a number of one to four digits. Returns the number, how many digits it has, and the rest of the text.
fn parse_digits(text: &[u8]) -> Option<(u32, usize, &[u8])> {
    let count = text.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..count].iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
    (1..=4).contains(&count).then(|| (value, count, &text[count..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_notations_of_a_time_are_parsed_alike() {
        // 2010-01-31 18:05:00 is 14640 days and 65100 seconds after 1970-01-01.
        let expected = 14640 * 86400 + 65100;
        for text in [
            "2010-01-31T18:05",
            "2010-01-31 18:05:00",
            "2010/1/31 18:05:00.999",
            "31.01.2010 18:05",
            "31/1/2010 18:05:00Z",
            "2010-01-31T19:05:00+01:00",
            "2010-01-31T19:05+0100",
            "2010-01-31 13:05:00 -05",
            "31 Jan 2010 18:05",
            "31-JAN-2010 18:05",
            "January 31, 2010 18:05",
            "Jan 31 2010 6:05 PM",
            "2010-01-31 6:05:00pm",
        ] {
            assert_eq!(parse(text.as_bytes(), DateOrder::DayFirst), Some(expected), "{text}");
        }
        assert_eq!(parse(b"01/31/2010 18:05", DateOrder::MonthFirst), Some(expected));
        assert_eq!(parse(b"1969-12-31", DateOrder::DayFirst), Some(-86400));
        for text in [
            "20100131",
            "Jan 31 2010",
            "31 January 2010",
            "31-Jan-2010",
            "31JAN2010",
            "Jan. 31, 2010",
            "january 31,2010",
        ] {
            assert_eq!(parse(text.as_bytes(), DateOrder::MonthFirst), Some(14640 * 86400), "{text}");
        }
    }

    #[test]
    fn times_of_day_are_parsed_without_a_date() {
        for (text, second) in [
            ("14:30", 52_200),
            ("14:30:05", 52_205),
            ("0:05", 300),
            ("2:30 PM", 52_200),
            ("12:00 AM", 0),
            ("12:00 pm", 43_200),
        ] {
            assert_eq!(parse_time_of_day(text.as_bytes()), Some(second), "{text}");
        }
        for text in ["", "14", "24:00", "14:60", "14:3", "13:00 PM", "0:10 AM", "14:30x", "2:1", "125:30"] {
            assert_eq!(parse_time_of_day(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn strings_that_are_not_dates_are_rejected() {
        for text in [
            "",
            "2010",
            "2010-01",
            "2010-13-01",
            "2010-02-30",
            "01/31/2010",
            "18.00.00",
            "1.2.3",
            "2010-01/31",
            "2010-01-31x",
            "2010-01-31T25:00",
            "2010-01-31T18:5",
            "2010-01-31T18:05+",
            "20101331",
            "20100230",
            "18000101",
            "21000101",
            "201001311",
            "31 Foo 2010",
            "Jan 2010",
            "Jan 5 20",
            "5Jan 20201",
            "May",
            "14:30",
            "192.168.0.1",
            "12345-01-01",
        ] {
            assert_eq!(parse(text.as_bytes(), DateOrder::DayFirst), None, "{text}");
        }
    }

    #[test]
    fn a_day_above_twelve_shows_the_order_of_day_and_month() {
        assert_eq!(unambiguous_order(b"31/01/2010"), Some(DateOrder::DayFirst));
        assert_eq!(unambiguous_order(b"01/31/2010"), Some(DateOrder::MonthFirst));
        assert_eq!(unambiguous_order(b"03/04/2010"), None);
        assert_eq!(unambiguous_order(b"2010-01-31"), None);
        assert!(
            is_ambiguous_date(b"03/04/2010") && !is_ambiguous_date(b"03/03/2010") && !is_ambiguous_date(b"31/01/2010")
        );
    }
}
