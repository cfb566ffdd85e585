//! Divides the rows of a table into periods of time, or into runs of consecutive rows, for results over time.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Datelike, Days, NaiveDate};

use crate::error::{Error, Location, Result};
use crate::groups::{time_column, time_key};
use crate::names::{self, quoted};
use crate::setting::Setting;
use crate::table::{Column, Table, Values};

/// The length of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// A day, from midnight to midnight.
    Day,
    /// A week, which begins on Monday.
    Week,
    /// A month of the calendar.
    Month,
    /// This number of consecutive rows.
    Rows(usize),
}

impl FromStr for Every {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match (text, text.parse()) {
            ("day", _) => Ok(Every::Day),
            ("week", _) => Ok(Every::Week),
            ("month", _) => Ok(Every::Month),
            (_, Ok(rows)) if rows > 0 => Ok(Every::Rows(rows)),
            _ => {
                let problem = format!("`{}` is not the length of a period", text.escape_debug());
                Err(Error::setting("every", problem, "write `day`, `week`, `month` or a number of rows such as `1000`"))
            }
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Day => out.write_str("day"),
            Every::Week => out.write_str("week"),
            Every::Month => out.write_str("month"),
            Every::Rows(1) => out.write_str("1 row"),
            Every::Rows(rows) => write!(out, "{rows} rows"),
        }
    }
}

/// The rows of a table, divided into periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Periods {
    /// The name of the column of times; `None` if periods are runs of rows in the order of the table.
    pub column: Option<String>,
    /// The length of a period.
    pub every: Every,
    /// The periods that have rows, in the order of time.
    pub each: Vec<Period>,
}

/// A period: its name and its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Period {
    /// The name of a day is its date (`2024-05-31`), that of a week the date of its Monday, and that of a month is `2024-05`. A run of rows is
    /// named after its first and last row number (`rows 1 to 50`), or after the first and last value of the column of times.
    pub name: String,
    /// The rows of the period, in the order of time.
    pub rows: Vec<u32>,
}

/// The number of runs of consecutive rows into which a table without dates is divided if the user does not set the length of a period.
const DEFAULT_RUNS: usize = 10;
/// The minimum number of rows in a run of consecutive rows, unless the user sets the number. Only the last run may have fewer rows.
const MIN_RUN: usize = 50;
/// If the user does not set the length of a period, it is the longest of a month, a week and a day that gives at least this many periods.
const MIN_PERIODS: usize = 4;
/// Maximum number of periods.
const MAX_PERIODS: usize = 10_000;

impl Periods {
    /// Divides the rows of a table into periods of the length `every`, in the order of the column `time`.
    ///
    /// If `time` is `None`, the first column listed in `fallbacks` that has a date or a number in every row is used. If there is none, the first
    /// column of dates is used; if there is none or it has missing values, rows keep the order of the table.
    ///
    /// If `every` is `None`, periods are the longest of months, weeks and days of which there are at least four, or else days. If rows are not
    /// ordered by dates, they are divided into ten runs of equally many rows; a short table has fewer runs.
    ///
    /// ```
    /// use scorewise_table::periods::{Every, Periods};
    /// use scorewise_table::table::{Column, Table, Values};
    ///
    /// let days = (0..70).map(|day| 86_400 * (19_000 + day)).collect();
    /// let table = Table { columns: vec![Column { name: "date".into(), values: Values::Time(days) }], ..Table::default() };
    /// let periods = Periods::new(&table, None, &[], None)?;
    /// assert_eq!((periods.column.as_deref(), periods.every), (Some("date"), Every::Week));
    /// let months = Periods::new(&table, Some("date"), &[], Some(Every::Month))?;
    /// let names: Vec<&str> = months.each.iter().map(|period| period.name.as_str()).collect();
    /// assert_eq!(names, ["2022-01", "2022-02", "2022-03"]);
    /// # Ok::<(), scorewise_table::Error>(())
    /// ```
    pub fn new(table: &Table, time: Option<&str>, fallbacks: &[&str], every: Option<Every>) -> Result<Self> {
        let is_usable = |column: &&Column| {
            matches!(column.values, Values::Time(_) | Values::Number(_))
                && !column.values.are_times_of_day()
                && (0..table.rows()).all(|row| !column.values.is_missing(row))
        };
        let column = match time {
            Some(name) => Some(checked_time_column(table, name)?),
            None => {
                let known = fallbacks.iter().find_map(|name| table.column(name).filter(is_usable));
                known.or_else(|| time_column(table).filter(is_usable))
            }
        };
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        if let Some(column) = column {
            rows.sort_by_key(|row| time_key(&column.values, *row as usize));
        }
        let times = column.and_then(|column| match &column.values {
            Values::Time(times) => Some(times.as_slice()),
            _ => None,
        });
        let in_calendar = |every: Every, times: &[i64]| calendar_periods(&rows, times, every);
        let (every, each) = match (every, times) {
            (Some(Every::Rows(count)), _) => (Every::Rows(count), runs(&rows, count, column)),
            (Some(every), Some(times)) => (every, in_calendar(every, times)),
            (Some(every), None) => {
                let problem = match column {
                    Some(column) => {
                        format!("the length `{every}` needs dates, but {} holds numbers", quoted(&column.name))
                    }
                    None => format!("the length `{every}` needs a column of dates without missing values"),
                };
                let hint = format!("name a column of dates with `{}`, or give a number of rows", Setting("time"));
                return Err(Error::setting("every", problem, hint));
            }
            (None, Some(times)) => {
                let lengths = [Every::Month, Every::Week, Every::Day];
                let periods = lengths.map(|every| (every, in_calendar(every, times)));
                let long_enough = periods.iter().position(|(_, each)| each.len() >= MIN_PERIODS);
                let [.., day] = &periods;
                match long_enough {
                    Some(at) => periods[at].clone(),
                    None => day.clone(),
                }
            }
            (None, None) => {
                let count = rows.len().div_ceil(DEFAULT_RUNS).max(MIN_RUN);
                (Every::Rows(count), runs(&rows, count, column))
            }
        };
        if each.len() > MAX_PERIODS {
            let problem =
                format!("the length `{every}` gives {} periods; at most {MAX_PERIODS} are allowed", each.len());
            return Err(Error::setting("every", problem, "choose a longer period"));
        }
        Ok(Periods { column: column.map(|column| column.name.clone()), every, each })
    }
}

/// Returns the column of times that the user named. Every row must have a date or a number in this column.
fn checked_time_column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    let column = names::column(table, "time", name)?;
    if !matches!(column.values, Values::Time(_) | Values::Number(_)) || column.values.are_times_of_day() {
        let problem = format!("{} holds neither dates nor numbers, by which rows could be ordered", quoted(name));
        return Err(Error::setting("time", problem, "name a column of dates, or leave this option out"));
    }
    match (0..table.rows()).find(|row| column.values.is_missing(*row)) {
        Some(row) => {
            let place: Location = table.place(row).column(name);
            Err(Error::data(place, "the time is missing", "correct or remove the row"))
        }
        None => Ok(column),
    }
}

/// Divides `rows` into runs of `count` consecutive rows; the last run may be shorter.
fn runs(rows: &[u32], count: usize, column: Option<&Column>) -> Vec<Period> {
    let mut first = 1;
    let run = |rows: &[u32]| {
        let ends = [rows[0], rows[rows.len() - 1]];
        let name = match column {
            Some(column) => {
                let [from, to] = ends.map(|row| short_time(&column.values.text(row as usize)));
                if from == to { from } else { format!("{from} to {to}") }
            }
            None => format!("rows {first} to {}", first + rows.len() - 1),
        };
        first += rows.len();
        Period { name, rows: rows.to_vec() }
    };
    rows.chunks(count).map(run).collect()
}

/// A time as text, without the time of day if it is midnight.
fn short_time(text: &str) -> String {
    text.strip_suffix("T00:00:00").unwrap_or(text).to_owned()
}

/// Divides `rows`, which are in the order of time, into days, weeks or months. `times` holds the time of each row of the table.
fn calendar_periods(rows: &[u32], times: &[i64], every: Every) -> Vec<Period> {
    let mut each: Vec<Period> = Vec::new();
    for row in rows {
        let name = calendar_name(times[*row as usize], every);
        match each.last_mut() {
            Some(period) if period.name == name => period.rows.push(*row),
            _ => each.push(Period { name, rows: vec![*row] }),
        }
    }
    each
}

/// The name of the day, week or month that contains a time.
fn calendar_name(time: i64, every: Every) -> String {
    let Some(date) = DateTime::from_timestamp(time, 0).map(|time| time.date_naive()) else { return time.to_string() };
    match every {
        Every::Month => date.format("%Y-%m").to_string(),
        Every::Week => monday(date).format("%Y-%m-%d").to_string(),
        _ => date.format("%Y-%m-%d").to_string(),
    }
}

/// The Monday of the week of a date.
fn monday(date: NaiveDate) -> NaiveDate {
    date.checked_sub_days(Days::new(u64::from(date.weekday().num_days_from_monday()))).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, values: Values) -> Table {
        Table { file: "new.csv".into(), columns: vec![Column { name: name.into(), values }], ..Table::default() }
    }

    fn names(periods: &Periods) -> Vec<&str> {
        periods.each.iter().map(|period| period.name.as_str()).collect()
    }

    #[test]
    fn rows_are_ordered_by_time_and_weeks_begin_on_monday() {
        // 2024-01-01 is a Monday, 19723 days after 1970-01-01.
        let times = [8, 0, 7, 6].map(|day| 86_400 * (19_723 + day) + 3600).to_vec();
        let periods = Periods::new(&table("t", Values::Time(times)), Some("t"), &[], Some(Every::Week)).unwrap();
        assert_eq!(names(&periods), ["2024-01-01", "2024-01-08"]);
        assert_eq!(periods.each.iter().map(|period| period.rows.clone()).collect::<Vec<_>>(), [[1, 3], [2, 0]]);
    }

    #[test]
    fn a_table_without_times_is_divided_into_ten_runs_or_fewer_if_it_is_short() {
        let of = |rows: usize| Periods::new(&table("x", Values::Boolean(vec![None; rows])), None, &[], None).unwrap();
        assert_eq!((of(1234).every, of(1234).each.len()), (Every::Rows(124), 10));
        assert_eq!(names(&of(120)), ["rows 1 to 50", "rows 51 to 100", "rows 101 to 120"]);
        assert!(of(0).each.is_empty());
    }

    #[test]
    fn rows_are_ordered_by_a_column_of_numbers_if_the_user_names_it() {
        let values = Values::Number(vec![3.0, 1.0, 2.0]);
        let periods = Periods::new(&table("step", values), Some("step"), &[], Some(Every::Rows(2))).unwrap();
        assert_eq!(names(&periods), ["1 to 2", "3"]);
        assert_eq!(periods.each[0].rows, [1, 2]);
    }

    #[test]
    fn messages_name_the_option_the_column_and_the_cure() {
        let message = |table: &Table, time: Option<&str>, every: Every| {
            Periods::new(table, time, &[], Some(every)).unwrap_err().to_string()
        };
        let numbers = table("x", Values::Number(vec![1.0, f64::NAN]));
        assert!(message(&numbers, None, Every::Day).starts_with("every: the length `day` needs a column of dates"));
        assert!(message(&numbers, Some("x"), Every::Rows(1)).contains("column `x`: the time is missing"));
        let booleans = table("b", Values::Boolean(vec![None]));
        assert!(message(&booleans, Some("b"), Every::Day).contains("holds neither dates nor numbers"));
        let many = table("x", Values::Number((0..20_000).map(f64::from).collect()));
        assert!(message(&many, None, Every::Rows(1)).contains("gives 20000 periods; at most 10000"));
        for text in ["0", "year", "", "-3"] {
            assert!(text.parse::<Every>().unwrap_err().to_string().contains("`month` or a number of rows"), "{text}");
        }
    }
}
