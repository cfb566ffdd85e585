//! Dates and times of day as cells write them.
//!
//! ```text
//! 2010-01-31   2010/01/31   2010.1.31   31.01.2010   31/1/2010   31-01-2010
//! 2010-01-31T18:00   2010-01-31 18:00:05.250Z   31.01.2010 6:05   2010-01-31T18:00:05+01:00
//! ```
//!
//! A time with an offset is moved to UTC; one without is taken as it stands.

use chrono::NaiveDate;

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
    let (parts, rest) = date(cell)?;
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

/// Seconds of `18:00`, `18:00:05`, `18:00:05.25`, each with or without an offset. Parts of a second are dropped.
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
        ] {
            assert_eq!(parse(text.as_bytes(), Order::DayFirst), Some(expected), "{text}");
        }
        assert_eq!(parse(b"01/31/2010 18:05", Order::MonthFirst), Some(expected));
        assert_eq!(parse(b"1969-12-31", Order::DayFirst), Some(-86400));
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
            "20100131",
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
    }
}
