//! Groups of rows (series), and the order of the rows within a group, which decides which row is one step earlier or later.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Category, Column, Table, Values};

/// Stands for a row that does not exist, for example the row before the first.
pub const NO_ROW: u32 = u32::MAX;

/// Rows grouped by the values of a column. All rows without a value form one group together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The group of each row, as an index into `names`.
    pub codes: Vec<u32>,
    /// The value of each group, in order of first appearance; `None` for the group of rows without a value.
    pub names: Vec<Option<String>>,
}

impl Groups {
    /// Groups rows by the values of a column.
    #[must_use]
    pub fn new(column: &Column) -> Self {
        match &column.values {
            Values::Number(values) => {
                group_by(values.iter().map(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }.to_bits()), |at| {
                    (!values[at].is_nan()).then(|| number_text(values[at]))
                })
            }
            Values::Category(Category { codes, levels }) => {
                group_by(codes.iter().copied(), |at| levels.get(codes[at] as usize).cloned())
            }
            Values::Boolean(values) => group_by(values.iter().copied(), |at| values[at].map(|yes| yes.to_string())),
            Values::Time(values) => {
                group_by(values.iter().copied(), |at| (values[at] != Values::NO_TIME).then(|| values[at].to_string()))
            }
        }
    }
}

/// Formats a number as the name of a level or of a class: `1`, `2.5`.
pub(crate) fn number_text(x: f64) -> String {
    // Adding 0 turns −0 into 0.
    format!("{}", x + 0.0)
}

/// Puts rows with equal keys into one group. `keys` has one key for each row, and `name` returns the value of a row in the column of groups, as
/// text.
fn group_by<K: Eq + std::hash::Hash>(keys: impl Iterator<Item = K>, name: impl Fn(usize) -> Option<String>) -> Groups {
    let mut indices = HashMap::new();
    let mut names = Vec::new();
    let codes = keys
        .enumerate()
        .map(|(row, key)| {
            *indices.entry(key).or_insert_with(|| {
                names.push(name(row));
                names.len() as u32 - 1
            })
        })
        .collect();
    Groups { codes, names }
}

/// How the rows of a table are ordered for lags (values of earlier rows as inputs) and leads (labels from later rows). The order is stored in the
/// model, so that tables to be predicted are ordered the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowOrder {
    /// The column that separates series: lags and leads only reach rows that have the same value in this column. `None` if all rows are
    /// one series.
    pub group: Option<String>,
    /// The name of the column of times by which rows are ordered; `None` for the order of the file.
    #[serde(default)]
    pub time: Option<String>,
    /// The time step of a regular series, in seconds. A lag of 2 then refers to the row exactly two time steps earlier, and its value is
    /// missing if the table has no such row. `None` for an irregular series, in which a lag of 2 refers to the second row before.
    #[serde(default)]
    pub step: Option<i64>,
}

/// A series is regular if at least this share of the pairs of successive rows is one time step apart.
const MIN_REGULAR_SHARE: f64 = 0.9;
/// If a file is not sorted by time and no column of groups is given, at most this share of the rows may have the same time as an earlier row.
/// A larger share is an error, because the file most likely holds several series.
const MAX_TIE_SHARE: f64 = 0.1;

impl RowOrder {
    /// The order of the rows in the file. If `group` names a column, the rows of each group are a series of their own.
    #[must_use]
    pub fn of_file(group: Option<&str>) -> Self {
        RowOrder { group: group.map(str::to_owned), ..RowOrder::default() }
    }

    /// Orders rows by the column `named`, or by the first column of dates if `named` is `None`. If there is no column of dates either, rows keep
    /// the order of the file. The notes tell the user about the order, and about equal times and gaps.
    pub fn of_table(table: &Table, group: Option<&str>, named: Option<&str>) -> Result<(Self, Vec<Note>)> {
        let mut order = RowOrder::of_file(group);
        let mut notes = Vec::new();
        let column = match named {
            Some(name) => Some(names::column(table, "split", name)?),
            None => time_column(table),
        };
        let Some(column) = column else {
            notes.push(Note::new("lags and leads follow the order of the rows in the file: no column holds times"));
            return Ok((order, notes));
        };
        order.time = Some(column.name.clone());
        let neighbours = Neighbours::new(table, &order)?;
        let Some(times) = &neighbours.times else { return Ok((order, notes)) };
        // The positions in `neighbours.sorted` of all rows that have an earlier row in their group.
        let pairs = || (1..times.len()).filter(|at| neighbours.first[*at] < *at as u32);
        let ties = pairs().filter(|at| times[*at] == times[at - 1]).count();
        let is_file_order = neighbours.sorted.is_sorted();
        if ties > 0 {
            let direction = TimeDirection::of_times(&column.values);
            if direction == TimeDirection::Unsorted
                && group.is_none()
                && ties as f64 > MAX_TIE_SHARE * times.len() as f64
            {
                let problem = format!(
                    "{ties} of {} rows have the same time in {} as an earlier row, and the file is not sorted by time",
                    times.len(),
                    names::quoted(&column.name)
                );
                let option = Setting("group").to("COLUMN");
                let hint = format!("name the column that separates the series, such as a station: `{option}`");
                return Err(Error::setting("group", problem, hint));
            }
            let option = Setting("group").to("COLUMN");
            let text = match ties {
                1 => format!(
                    "1 row has the same time as an earlier row and is kept in the order of the file; if the file holds several series, name \
                     the column that separates them: `{option}`"
                ),
                _ => format!(
                    "{ties} rows have the same time as an earlier row and are kept in the order of the file; if the file holds several series, \
                     name the column that separates them: `{option}`"
                ),
            };
            notes.push(Note::about_column(&column.name, text));
        } else if let Values::Time(_) = &column.values {
            order.step = regular_step(pairs().map(|at| times[at] - times[at - 1]));
        }
        if !is_file_order && group.is_none() {
            notes.push(Note::about_column(
                &column.name,
                "lags and leads follow the times in this column, not the order of the rows in the file",
            ));
        }
        if let Some(step) = order.step {
            let gaps = pairs().filter(|at| times[*at] - times[at - 1] != step).count();
            if gaps > 0 {
                let text = match gaps {
                    1 => {
                        format!("rows are {step} s apart, with 1 gap: a lag or lead that falls into the gap is missing")
                    }
                    _ => format!(
                        "rows are {step} s apart, with {gaps} gaps: a lag or lead that falls into a gap is missing"
                    ),
                };
                notes.push(Note::about_column(&column.name, text));
            }
        }
        Ok((order, notes))
    }
}

/// The first column of dates. A column of times of day without dates is skipped, because it cannot order rows.
pub(crate) fn time_column(table: &Table) -> Option<&Column> {
    let has_dates = |column: &&Column| matches!(column.values, Values::Time(_)) && !column.values.are_times_of_day();
    table.columns.iter().find(has_dates)
}

/// The most frequent time difference between successive rows; `None` if this difference is 0, or if the share of all differences that have this
/// value is less than [`MIN_REGULAR_SHARE`].
fn regular_step(distances: impl Iterator<Item = i64>) -> Option<i64> {
    let mut counts: HashMap<i64, usize> = HashMap::new();
    let mut total = 0usize;
    for distance in distances {
        *counts.entry(distance).or_default() += 1;
        total += 1;
    }
    let (step, count) = counts.into_iter().max_by_key(|(distance, count)| (*count, std::cmp::Reverse(*distance)))?;
    (step > 0 && count as f64 >= MIN_REGULAR_SHARE * total as f64).then_some(step)
}

/// Whether the times of a column rise or fall from the first row of the file to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeDirection {
    /// The oldest row comes first.
    Rising,
    /// The newest row comes first.
    Falling,
    /// The rows are not sorted by time.
    Unsorted,
}

impl TimeDirection {
    /// Whether the times rise or fall from the first row to the last. Missing times are ignored.
    fn of_times(values: &Values) -> Self {
        let keys = (0..values.len()).filter(|row| !values.is_missing(*row)).map(|row| time_key(values, row));
        if keys.clone().is_sorted() {
            TimeDirection::Rising
        } else if keys.is_sorted_by(|before, after| before >= after) {
            TimeDirection::Falling
        } else {
            TimeDirection::Unsorted
        }
    }
}

/// An integer that sorts like the value of a row in a column of times or numbers; missing values come first.
pub(crate) fn time_key(values: &Values, row: usize) -> i64 {
    match values {
        Values::Time(times) => times[row],
        Values::Number(numbers) if !numbers[row].is_nan() => {
            // The bits of a floating-point number, read as an integer, sort like the number itself if all bits but the sign are inverted for
            // negative numbers.
            let bits = (numbers[row] + 0.0).to_bits() as i64;
            if bits < 0 { bits ^ i64::MAX } else { bits }
        }
        _ => Values::NO_TIME,
    }
}

/// Finds, for any row, the row of the same group that comes a given number of steps earlier or later, by time or in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// All rows that have a time, group by group, and ordered by time within each group.
    sorted: Vec<u32>,
    /// The position of each row in `sorted`; [`NO_ROW`] for a row without a time, which has no row before or after it.
    position: Vec<u32>,
    /// For each position in `sorted`, the position of the first row of the same group.
    first: Vec<u32>,
    /// The times of the rows, in the order of `sorted`; `None` if rows keep the order of the file.
    times: Option<Vec<i64>>,
    step: Option<i64>,
}

impl Neighbours {
    /// Prepares the search for earlier and later rows of the same group: sorts the rows of a table by group, and by time within each group.
    pub fn new(table: &Table, order: &RowOrder) -> Result<Self> {
        let groups =
            order.group.as_deref().map(|name| names::column(table, "group", name).map(Groups::new)).transpose()?;
        let time = order.time.as_deref().map(|name| names::column(table, "split", name)).transpose()?;
        let values = time.map(|column| &column.values);
        if let Some(Values::Category(_) | Values::Boolean(_)) = values {
            let problem =
                format!("{} holds neither times nor numbers", names::quoted(order.time.as_deref().unwrap_or_default()));
            let hint = format!("name a column of times, or write `{}`", Setting("split").to("time"));
            return Err(Error::setting("split", problem, hint));
        }
        let rows = table.rows();
        let group = |row: u32| groups.as_ref().map_or(0, |groups| groups.codes[row as usize]);
        let key = |row: u32| values.map_or(0, |values| time_key(values, row as usize));
        let has_time = |row: &u32| values.is_none_or(|values| !values.is_missing(*row as usize));
        let mut sorted: Vec<u32> = (0..rows as u32).filter(has_time).collect();
        // If the newest row comes first in the file, all rows are reversed before they are sorted by time. Because the sort is stable, rows of the
        // same time then stay in reverse file order too.
        if values.is_some_and(|values| TimeDirection::of_times(values) == TimeDirection::Falling) {
            sorted.reverse();
        }
        sorted.sort_by_key(|row| (group(*row), key(*row)));
        let mut position = vec![NO_ROW; rows];
        let mut first = Vec::with_capacity(sorted.len());
        for (at, row) in sorted.iter().enumerate() {
            position[*row as usize] = at as u32;
            let is_next = at > 0 && group(sorted[at - 1]) == group(*row);
            first.push(if is_next { first[at - 1] } else { at as u32 });
        }
        let times = values.map(|_| sorted.iter().map(|row| key(*row)).collect());
        Ok(Neighbours { sorted, position, first, times, step: order.step })
    }

    /// The number of rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.position.len()
    }

    /// For each row, its place in the order of time, for windows of neighbouring rows. Rows of the same group that follow each other have consecutive
    /// places. Between two groups, and at a gap in a regular series, a place is left out, so that rows on both sides of it are no neighbours. A row
    /// without a time has the place [`NO_ROW`].
    #[must_use]
    pub fn places(&self) -> Vec<u32> {
        let mut places = vec![NO_ROW; self.rows()];
        let mut place = 0;
        for (at, row) in self.sorted.iter().enumerate() {
            if at > 0 {
                let is_same_group = self.first[at] < at as u32;
                let is_next = match (&self.times, self.step) {
                    (Some(times), Some(step)) => times[at - 1].checked_add(step) == Some(times[at]),
                    _ => true,
                };
                place += if is_same_group && is_next { 1 } else { 2 };
            }
            places[*row as usize] = place;
        }
        places
    }

    /// The row that comes `steps` steps before `row` in the same group, or [`NO_ROW`] if there is none.
    #[must_use]
    pub fn back(&self, row: u32, steps: usize) -> u32 {
        let position = self.position[row as usize];
        if position == NO_ROW || steps == 0 {
            return if steps == 0 { row } else { NO_ROW };
        }
        let (position, first) = (position as usize, self.first[position as usize] as usize);
        let farthest = position.saturating_sub(steps).max(first);
        match (&self.times, self.step) {
            (Some(times), Some(step)) => {
                // In a regular series the wanted row is `steps` time steps earlier. If there is at most one row for each time
                // step, the wanted row is among the `steps` rows before `row`, so only these rows are searched.
                let Some(distance) = i64::try_from(steps).ok().and_then(|steps| step.checked_mul(steps)) else {
                    return NO_ROW;
                };
                let Some(wanted) = times[position].checked_sub(distance) else { return NO_ROW };
                match times[farthest..position].binary_search(&wanted) {
                    Ok(at) => self.sorted[farthest + at],
                    Err(_) => NO_ROW,
                }
            }
            _ if position - first >= steps => self.sorted[farthest],
            _ => NO_ROW,
        }
    }

    /// For each row, the row that comes `steps` steps later in the same group, or [`NO_ROW`] if there is none.
    #[must_use]
    pub fn ahead(&self, steps: usize) -> Vec<u32> {
        let mut ahead = vec![NO_ROW; self.rows()];
        for row in 0..self.rows() as u32 {
            if let Some(entry) = ahead.get_mut(self.back(row, steps) as usize) {
                *entry = row;
            }
        }
        ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with the single column `station`.
    fn one_column_table(values: Values) -> Table {
        Table { columns: vec![Column { name: "station".into(), values }], ..Table::default() }
    }

    #[test]
    fn the_row_before_and_the_row_after_are_in_the_same_group() {
        let codes = vec![0, 1, 0, 0, 1, Category::MISSING];
        let table = one_column_table(Values::Category(Category { codes, levels: vec!["a".into(), "b".into()] }));
        let neighbours = Neighbours::new(&table, &RowOrder::of_file(Some("station"))).unwrap();
        let before: Vec<u32> = (0..6).map(|row| neighbours.back(row, 1)).collect();
        assert_eq!(before, [NO_ROW, NO_ROW, 0, 2, 1, NO_ROW]);
        assert_eq!(neighbours.ahead(1), [2, 4, 3, NO_ROW, NO_ROW, NO_ROW]);
        assert_eq!(neighbours.ahead(2), [3, NO_ROW, NO_ROW, NO_ROW, NO_ROW, NO_ROW]);
        assert_eq!(neighbours.ahead(0), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn rows_that_follow_each_other_in_a_group_without_a_gap_have_consecutive_places() {
        let codes = vec![0, 1, 0, 0, 1];
        let table = one_column_table(Values::Category(Category { codes, levels: vec!["a".into(), "b".into()] }));
        let neighbours = Neighbours::new(&table, &RowOrder::of_file(Some("station"))).unwrap();
        assert_eq!(neighbours.places(), [0, 4, 1, 2, 5]);
        let days: Vec<i64> = (1..=30).rev().filter(|day| *day != 14).map(|day| day * DAY).collect();
        let table = table_of_times(&days);
        let (order, _) = RowOrder::of_table(&table, None, None).unwrap();
        let places = Neighbours::new(&table, &order).unwrap().places();
        // The newest row comes first. Day 13 has the place 12, and a place is left out for day 14.
        assert_eq!((places[28], places[16], places[15], places[0]), (0, 12, 14, 29));
    }

    #[test]
    fn rows_keep_the_order_of_the_file_if_there_are_no_groups_and_no_times() {
        let neighbours =
            Neighbours::new(&one_column_table(Values::Number(vec![5.0; 4])), &RowOrder::default()).unwrap();
        assert_eq!((neighbours.back(0, 1), neighbours.back(3, 1)), (NO_ROW, 2));
        assert_eq!(neighbours.ahead(3), [3, NO_ROW, NO_ROW, NO_ROW]);
    }

    #[test]
    fn zero_and_negative_zero_are_one_group_and_all_missing_values_are_another() {
        let groups =
            Groups::new(&one_column_table(Values::Number(vec![0.0, -0.0, f64::NAN, 2.5, -f64::NAN])).columns[0]);
        assert_eq!(groups.codes, [0, 0, 1, 2, 1]);
        assert_eq!(groups.names, [Some("0".into()), None, Some("2.5".into())]);
    }

    #[test]
    fn an_unknown_group_column_is_refused_and_a_similar_name_is_suggested() {
        let order = RowOrder::of_file(Some("sation"));
        let error = Neighbours::new(&one_column_table(Values::Number(vec![])), &order).unwrap_err();
        assert_eq!(error.to_string(), "group: `` has no column `sation`\nhint: did you mean `station`?");
    }

    /// A table with the single column `time`.
    fn table_of_times(times: &[i64]) -> Table {
        Table {
            columns: vec![Column { name: "time".into(), values: Values::Time(times.to_vec()) }],
            ..Table::default()
        }
    }

    /// The number of seconds in a day.
    const DAY: i64 = 86_400;

    /// For each row of the table, the row that comes `steps` steps before it, or [`NO_ROW`].
    fn rows_before(table: &Table, order: &RowOrder, steps: usize) -> Vec<u32> {
        let neighbours = Neighbours::new(table, order).unwrap();
        (0..table.rows() as u32).map(|row| neighbours.back(row, steps)).collect()
    }

    #[test]
    fn rows_are_ordered_by_time_and_not_by_their_order_in_the_file() {
        let newest_first = table_of_times(&[5 * DAY, 4 * DAY, 3 * DAY, 2 * DAY]);
        let (order, notes) = RowOrder::of_table(&newest_first, None, None).unwrap();
        assert_eq!(order, RowOrder { group: None, time: Some("time".into()), step: Some(DAY) });
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(rows_before(&newest_first, &order, 1), [1, 2, 3, NO_ROW]);
        let neighbours = Neighbours::new(&newest_first, &order).unwrap();
        assert_eq!(neighbours.ahead(1), [NO_ROW, 0, 1, 2]);
    }

    #[test]
    fn a_lag_that_falls_into_a_gap_of_a_regular_series_is_missing() {
        // Day 14 is missing.
        let days: Vec<i64> = (1..=30).filter(|day| *day != 14).map(|day| day * DAY).collect();
        let table = table_of_times(&days);
        let (order, notes) = RowOrder::of_table(&table, None, None).unwrap();
        assert_eq!(order.step, Some(DAY));
        assert!(notes[0].to_string().contains("1 gap"), "{notes:?}");
        let (one, two) = (rows_before(&table, &order, 1), rows_before(&table, &order, 2));
        // Row 13 is day 15. There is no row one day earlier, because day 14 is missing. Two days earlier is day 13, in row 12.
        assert_eq!((one[13], two[13]), (NO_ROW, 12));
        assert_eq!((one[14], two[14]), (13, NO_ROW));
    }

    #[test]
    fn in_an_irregular_series_a_lag_counts_rows_and_not_time_steps() {
        let table = table_of_times(&[DAY, 2 * DAY, 7 * DAY, 8 * DAY, 30 * DAY, Values::NO_TIME]);
        let (order, _) = RowOrder::of_table(&table, None, None).unwrap();
        assert_eq!(order.step, None);
        assert_eq!(rows_before(&table, &order, 1), [NO_ROW, 0, 1, 2, 3, NO_ROW]);
    }

    #[test]
    fn rows_with_equal_times_keep_their_order_in_a_sorted_file_and_are_an_error_in_an_unsorted_file() {
        let rising = table_of_times(&[DAY, DAY, 2 * DAY, 2 * DAY]);
        let (order, notes) = RowOrder::of_table(&rising, None, None).unwrap();
        assert!(notes[0].to_string().contains("`group COLUMN`"), "{notes:?}");
        assert_eq!(rows_before(&rising, &order, 1), [NO_ROW, 0, 1, 2]);
        let falling = table_of_times(&[2 * DAY, 2 * DAY, DAY, DAY]);
        assert_eq!(rows_before(&falling, &order, 1), [1, 2, 3, NO_ROW]);
        let mixed = table_of_times(&[2 * DAY, DAY, 2 * DAY, DAY]);
        let error = RowOrder::of_table(&mixed, None, None).unwrap_err().to_string();
        assert!(error.starts_with("group: 2 of 4 rows have the same time in `time`"), "{error}");
    }

    #[test]
    fn times_of_day_without_dates_do_not_order_rows() {
        let table = table_of_times(&[3600, 0, 7200].map(|second| Values::TIME_OF_DAY_ORIGIN + second));
        let (order, _) = RowOrder::of_table(&table, None, None).unwrap();
        assert_eq!(order, RowOrder::default());
        assert_eq!(rows_before(&table, &order, 1), [NO_ROW, 0, 1]);
    }
}
