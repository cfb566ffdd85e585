//! Dates and times of day as cells write them.
//!
//! ```text
//! 2010-01-31   2010/01/31   2010.1.31   31.01.2010   31/1/2010   31-01-2010
//! 31 Jan 2010   31-Jan-2010   31JAN2010   January 31, 2010   Jan 31 2010   20100131
//! 2010-01-31T18:00   2010-01-31 18:00:05.250Z   31.01.2010 6:05   2010-01-31T18:00:05+01:00   1/31/2010 6:00 PM
//! ```
//!
//! Names of months are English, whole or their first three letters. Eight digits are a date from 1900 to 2099.
//! A time with an offset is moved to UTC; one without is taken as it stands.

use chrono::NaiveDate;

const DAY: i64 = 86_400;

/// Which comes first where the year comes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// 31/01/2010
    #[default]
    DayFirst,
    /// 01/31/2010
    MonthFirst,
}

/// Seconds since 1970-01-01 00:00, or `None` where the cell is no date.
pub(super) fn parse(cell: &[u8], order: Order) -> Option<i64> {
    let (parts, rest) = date(cell).or_else(|| unusual(cell))?;
    let (year, month, day) = match (parts, order) {
        (Parts::YearFirst(year, month, day), _) => (year, month, day),
        (Parts::YearLast(day, month, year), Order::DayFirst)
        | (Parts::YearLast(month, day, year), Order::MonthFirst) => (year, month, day),
    };
    let midnight = NaiveDate::from_ymd_opt(year, month, day)?.and_hms_opt(0, 0, 0)?.and_utc().timestamp();
    match rest {
        [] => Some(midnight),
        [b'T' | b't' | b' ', rest @ ..] => Some(midnight + of_day(rest)?),
        _ => None,
    }
}

/// Seconds since midnight, or `None` where the cell is no time of day: `14:30`, `14:30:05`, `2:30 PM`.
pub(super) fn clock(cell: &[u8]) -> Option<i64> {
    of_day(cell).map(|second| second.rem_euclid(DAY))
}

/// Whether a cell is a date in some order.
pub(super) fn is_date(cell: &[u8]) -> bool {
    parse(cell, Order::DayFirst).is_some() || date(cell).is_some() && parse(cell, Order::MonthFirst).is_some()
}

/// Whether a cell is eight digits that make a date.
pub(super) fn is_compact(cell: &[u8]) -> bool {
    cell.len() == 8 && cell.iter().all(u8::is_ascii_digit) && parse(cell, Order::DayFirst).is_some()
}

/// Whether a cell is another date with the day first than with the month first.
pub(super) fn is_ambiguous(cell: &[u8]) -> bool {
    matches!(date(cell), Some((Parts::YearLast(first, second, _), _)) if first <= 12 && second <= 12 && first != second)
}

/// The order that a cell shows, where it shows one: a 31 is no month.
pub(super) fn shows(cell: &[u8]) -> Option<Order> {
    match date(cell)?.0 {
        Parts::YearLast(first, second, _) if first > 12 && second <= 12 => Some(Order::DayFirst),
        Parts::YearLast(first, second, _) if first <= 12 && second > 12 => Some(Order::MonthFirst),
        _ => None,
    }
}

enum Parts {
    YearFirst(i32, u32, u32),
    YearLast(u32, u32, i32),
}

/// Three numbers with the same sign between them, one of them of four digits, and what follows.
fn date(cell: &[u8]) -> Option<(Parts, &[u8])> {
    let (first, first_digits, rest) = digits(cell)?;
    let (sign, rest) = rest.split_first()?;
    if !matches!(sign, b'-' | b'/' | b'.') {
        return None;
    }
    let (second, second_digits, rest) = digits(rest)?;
    let rest = rest.strip_prefix(&[*sign])?;
    let (third, third_digits, rest) = digits(rest)?;
    match (first_digits, second_digits, third_digits) {
        (4, 1..=2, 1..=2) => Some((Parts::YearFirst(first as i32, second, third), rest)),
        (1..=2, 1..=2, 4) => Some((Parts::YearLast(first, second, third as i32), rest)),
        _ => None,
    }
}

/// Dates with the name of a month, and dates of eight digits.
fn unusual(cell: &[u8]) -> Option<(Parts, &[u8])> {
    let blanks = |text: &[u8]| text.iter().take_while(|byte| matches!(byte, b' ' | b'-' | b',' | b'.' | b'/')).count();
    if cell.len() == 8 && cell.iter().all(u8::is_ascii_digit) {
        let number = |part: &[u8]| digits(part).map(|(value, ..)| value);
        let (year, month, day) = (number(&cell[..4])?, number(&cell[4..6])?, number(&cell[6..])?);
        return (1900..2100).contains(&year).then(|| (Parts::YearFirst(year as i32, month, day), &cell[8..]));
    }
    // 31 Jan 2010 and Jan 31 2010: what is left after one of them is the year.
    let (month, day, rest) = if cell.first()?.is_ascii_digit() {
        let (day, day_digits, rest) = digits(cell)?;
        let (month, rest) = month(&rest[blanks(rest)..])?;
        (month, (day_digits <= 2).then_some(day)?, rest)
    } else {
        let (month, rest) = month(cell)?;
        let (day, day_digits, rest) = digits(&rest[blanks(rest)..])?;
        (month, (day_digits <= 2).then_some(day)?, rest)
    };
    let between = blanks(rest);
    let (year, year_digits, rest) = digits(&rest[between..])?;
    ((between > 0 || cell[0].is_ascii_digit()) && year_digits == 4)
        .then_some((Parts::YearFirst(year as i32, month, day), rest))
}

/// A month by its name, and what follows.
fn month(text: &[u8]) -> Option<(u32, &[u8])> {
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
    // Most texts are no months: their first three letters tell.
    let first = text.first_chunk::<3>()?;
    let at = MONTHS.iter().position(|month| first.eq_ignore_ascii_case(&month.as_bytes()[..3]))?;
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let name = &text[..length];
    let is_whole = name.eq_ignore_ascii_case(MONTHS[at].as_bytes()) || name.eq_ignore_ascii_case(b"sept");
    (length == 3 || is_whole).then_some((at as u32 + 1, &text[length..]))
}

/// Seconds of `18:00`, `18:00:05`, `18:00:05.25`, `6:00 PM`, each with or without an offset. Parts of a second are dropped.
fn of_day(text: &[u8]) -> Option<i64> {
    let (hour, hour_digits, rest) = digits(text)?;
    let (minute, minute_digits, mut rest) = digits(rest.strip_prefix(b":")?)?;
    let mut second = 0;
    if let [b':', tail @ ..] = rest {
        let (value, second_digits, tail) = digits(tail)?;
        (second, rest) = (value, tail);
        if second_digits != 2 {
            return None;
        }
        if let [b'.' | b',', tail @ ..] = rest {
            let fraction = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest = &tail[fraction..];
        }
    }
    let half = rest.strip_prefix(b" ").unwrap_or(rest);
    let hour = match half.split_at_checked(2) {
        Some((half, after)) if half.eq_ignore_ascii_case(b"am") || half.eq_ignore_ascii_case(b"pm") => {
            rest = after;
            let afternoon = u32::from(half.eq_ignore_ascii_case(b"pm"));
            (1..=12).contains(&hour).then_some(hour % 12 + 12 * afternoon)?
        }
        _ => hour,
    };
    if hour > 23 || minute > 59 || second > 59 || hour_digits > 2 || minute_digits != 2 {
        return None;
    }
    Some(i64::from(hour * 3600 + minute * 60 + second) - offset(rest)?)
}

/// Seconds of `Z`, `+01:00`, `+0100`, `+01`.
fn offset(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, rest) = match text {
        [] | [b'Z' | b'z'] => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (first, count, rest) = digits(rest)?;
    let (hour, minute) = match (count, rest) {
        (1..=2, []) => (first, 0),
        (4, []) => (first / 100, first % 100),
        (1..=2, [b':', rest @ ..]) => match digits(rest)? {
            (minute, 2, []) => (first, minute),
            _ => return None,
        },
        _ => return None,
    };
    (hour <= 23 && minute <= 59).then(|| sign * i64::from(hour * 3600 + minute * 60))
}

/// A number of one to four digits, how many, and what follows.
fn digits(text: &[u8]) -> Option<(u32, usize, &[u8])> {
    let count = text.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..count].iter().fold(0, |value, byte| value * 10 + u32::from(byte - b'0'));
    (1..=4).contains(&count).then(|| (value, count, &text[count..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_time_gives_the_same_second() {
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
            assert_eq!(parse(text.as_bytes(), Order::DayFirst), Some(expected), "{text}");
        }
        assert_eq!(parse(b"01/31/2010 18:05", Order::MonthFirst), Some(expected));
        assert_eq!(parse(b"1969-12-31", Order::DayFirst), Some(-86400));
        for text in [
            "20100131",
            "Jan 31 2010",
            "31 January 2010",
            "31-Jan-2010",
            "31JAN2010",
            "Jan. 31, 2010",
            "january 31,2010",
        ] {
            assert_eq!(parse(text.as_bytes(), Order::MonthFirst), Some(14640 * 86400), "{text}");
        }
    }

    #[test]
    fn a_time_of_day_needs_no_date() {
        for (text, second) in [
            ("14:30", 52_200),
            ("14:30:05", 52_205),
            ("0:05", 300),
            ("2:30 PM", 52_200),
            ("12:00 AM", 0),
            ("12:00 pm", 43_200),
        ] {
            assert_eq!(clock(text.as_bytes()), Some(second), "{text}");
        }
        for text in ["", "14", "24:00", "14:60", "14:3", "13:00 PM", "0:10 AM", "14:30x", "2:1", "125:30"] {
            assert_eq!(clock(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
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
            assert_eq!(parse(text.as_bytes(), Order::DayFirst), None, "{text}");
        }
    }

    #[test]
    fn a_day_above_twelve_shows_the_order() {
        assert_eq!(shows(b"31/01/2010"), Some(Order::DayFirst));
        assert_eq!(shows(b"01/31/2010"), Some(Order::MonthFirst));
        assert_eq!(shows(b"03/04/2010"), None);
        assert_eq!(shows(b"2010-01-31"), None);
        assert!(is_ambiguous(b"03/04/2010") && !is_ambiguous(b"03/03/2010") && !is_ambiguous(b"31/01/2010"));
    }
}
