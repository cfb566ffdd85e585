//! Warnings about columns of a table that may be misread: numbers that may mean "missing", and numbers that were read as text.

use super::reading::MissingMarkers;
use super::{Category, ColumnKind, Reading, Table, Values, cell_excerpt, number};
use crate::note::Note;
use crate::setting::Setting;

/// A number is considered an outlier only if the column has at least this many different values besides it. A column with fewer values probably
/// holds codes or grades, and the distance between two codes means nothing.
const MIN_OTHER_VALUES: usize = 10;
/// The maximum number of columns that a note lists by name.
const MAX_NAMED_COLUMNS: usize = 3;

/// Returns warnings about columns of a training table that may be misread.
///
/// - A number that repeats and is far from all others, such as -200 or 999, may stand for a missing value. The warning is given for the
///   smallest or largest number of a column if all of these conditions hold:
///   - The number is not 0. It occurs at least three times and in at least 1 % of the rows that have a value.
///   - The column has at least ten different other values.
///   - The gap between the number and all others is larger than the range of the others. A smaller gap is enough if the number consists of
///     nines, or if it is an integer and the only negative number: ten times the mean distance between neighbouring values in sorted order.
/// - If at least half of the cells in a column of text are numbers, a few other cells probably prevent the column from being read as numbers.
#[must_use]
pub fn warnings(table: &Table, reading: &Reading) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut outliers: Vec<(f64, Vec<&str>)> = Vec::new();
    for column in &table.columns {
        match &column.values {
            Values::Number(values) => {
                if let Some(value) = repeated_outlier(values) {
                    match outliers.iter_mut().find(|(other, _)| *other == value) {
                        Some((_, columns)) => columns.push(&column.name),
                        None => outliers.push((value, vec![&column.name])),
                    }
                }
            }
            Values::Category(values) if reading.kinds.get(&column.name) != Some(&ColumnKind::Category) => {
                notes.extend(
                    warning_about_numbers_as_text(values, &column.name)
                        .map(|text| Note::about_column(&column.name, text)),
                );
            }
            _ => {}
        }
    }
    notes.extend(outliers.iter().map(|(value, columns)| {
        let named: Vec<String> =
            columns.iter().take(MAX_NAMED_COLUMNS).map(|name| format!("`{}`", cell_excerpt(name.as_bytes()))).collect();
        let more = match columns.len().saturating_sub(MAX_NAMED_COLUMNS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let column = if columns.len() == 1 { "column" } else { "columns" };
        Note::new(format!(
            "{column} {}{more}: {value} is far from all other values and repeats; does {value} mean missing? \
             `{}` reads it as missing",
            named.join(", "),
            Setting("missing").to(&value.to_string())
        ))
    }));
    notes
}

/// The smallest or largest number of a column, if it repeats and is far from all others; `None` if neither of the two does.
fn repeated_outlier(values: &[f64]) -> Option<f64> {
    let present = || values.iter().copied().filter(|value| !value.is_nan());
    let (low, high) = present().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    // Occurrences are counted first, because that is fast: the extreme values of most columns are rare, and such columns are never sorted.
    let count = |value: f64| present().filter(|other| *other == value).count();
    let rows = present().count();
    let repeats = |value: f64| value != 0.0 && value.is_finite() && count(value) >= (rows / 100).max(3);
    let candidates: Vec<f64> = [low, high].into_iter().filter(|value| repeats(*value)).collect();
    candidates
        .into_iter()
        .find(|candidate| is_outlier(*candidate, present().filter(|other| other != candidate).collect()))
}

/// Whether `candidate`, the smallest or largest value of a column, is far from all other values.
fn is_outlier(candidate: f64, mut others: Vec<f64>) -> bool {
    others.sort_unstable_by(f64::total_cmp);
    let inner = (others.get(others.len() / 100), others.get(others.len().saturating_sub(1 + others.len() / 100)));
    let (Some(first), Some(last), (Some(low), Some(high))) =
        (others.first().copied(), others.last().copied(), (inner.0.copied(), inner.1.copied()))
    else {
        return false;
    };
    others.dedup();
    if others.len() < MIN_OTHER_VALUES {
        return false;
    }
    let gap = if candidate < first { first - candidate } else { candidate - last };
    if gap > last - first {
        return true;
    }
    // The mean distance between neighbouring values in sorted order, from the 1st to the 99th percentile; the tails are excluded because values
    // are sparse there.
    let within = others.iter().filter(|value| (low..=high).contains(*value)).count();
    let step = (high - low) / (within.max(2) - 1) as f64;
    let is_only_negative = candidate < 0.0 && first >= 0.0 && candidate.fract() == 0.0;
    (is_only_negative || consists_of_nines(candidate)) && gap > 10.0 * step
}

/// Whether a number consists of at least two nines: 99, 999, 99.9, -9999.
fn consists_of_nines(value: f64) -> bool {
    let text = value.abs().to_string();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 2 && text.bytes().all(|byte| matches!(byte, b'9' | b'.'))
}

/// The warning for a column of text in which at least half of the cells are numbers; `None` for other columns and for columns of codes.
fn warning_about_numbers_as_text(Category { codes, levels }: &Category, name: &str) -> Option<String> {
    let mut counts = vec![0usize; levels.len()];
    for code in codes {
        if let Some(count) = counts.get_mut(*code as usize) {
            *count += 1;
        }
    }
    let is_number = |text: &str| {
        let text = text.as_bytes();
        [b'.', b',']
            .iter()
            .any(|mark| number::parse(text, *mark).is_some() || number::parse_formatted(text, *mark).is_some())
    };
    let numbers: Vec<bool> = levels.iter().map(|level| is_number(level)).collect();
    let sum = |is_number: bool| {
        counts.iter().zip(&numbers).filter(|(_, number)| **number == is_number).map(|(count, _)| count).sum()
    };
    let (number_cells, other_cells): (usize, usize) = (sum(true), sum(false));
    if number_cells == 0 || number_cells < other_cells || are_codes(levels, &numbers) {
        return None;
    }
    let cells = number_cells + other_cells;
    let most_frequent =
        (0..levels.len()).filter(|at| !numbers[*at] && counts[*at] > 0).rev().max_by_key(|at| counts[*at]);
    let reading = format!("is read as text, although {number_cells} of its {cells} cells are numbers");
    let Some(most_frequent) = most_frequent else {
        return Some(format!("{reading}; `{}` reads them as numbers", Setting("numeric").to(name)));
    };
    let level = cell_excerpt(levels[most_frequent].as_bytes());
    let in_text =
        if MissingMarkers::is_missing_word(levels[most_frequent].as_bytes()) { " in a column of text" } else { "" };
    let times = if counts[most_frequent] == 1 { "once".into() } else { format!("{} times", counts[most_frequent]) };
    Some(format!(
        "{reading}; the most frequent other cell is `{level}` ({times}), which is not read as missing{in_text}; \
         `{}` reads it as missing",
        Setting("missing").to(&level)
    ))
}

/// Whether the numbers are codes such as zip codes: all have the same number of digits, and some have a leading 0.
fn are_codes(levels: &[String], numbers: &[bool]) -> bool {
    let mut codes =
        levels.iter().zip(numbers).filter(|(_, number)| **number).map(|(level, _)| level.as_bytes()).peekable();
    let length = codes.peek().map_or(0, |code| code.len());
    let mut has_zero = false;
    length > 1
        && codes.all(|code| {
            has_zero |= code[0] == b'0';
            code.len() == length && code.iter().all(u8::is_ascii_digit)
        })
        && has_zero
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of `repeated_outlier` for a column that consists of `times` copies of `value`, the numbers `others` and a missing value.
    fn outlier_among(value: f64, times: usize, others: impl Iterator<Item = f64>) -> Option<f64> {
        let mut values: Vec<f64> = others.collect();
        values.splice(0..0, vec![value; times]);
        values.push(f64::NAN);
        repeated_outlier(&values)
    }

    #[test]
    fn repeated_outliers_are_found() {
        let ramp = |low: f64, high: f64| (0..1000).map(move |i| low + (high - low) * f64::from(i) / 999.0);
        // These are the ranges of four columns in an air quality table: carbon monoxide, nitrogen oxides, a sensor and a temperature.
        for (low, high) in [(0.1, 11.9), (2.0, 1479.0), (322.0, 2683.0), (-1.9, 44.6)] {
            assert_eq!(outlier_among(-200.0, 40, ramp(low, high)), Some(-200.0), "{low} to {high}");
        }
        assert_eq!(outlier_among(999.0, 40, ramp(0.0, 40.0)), Some(999.0));
        assert_eq!(outlier_among(999.0, 40, ramp(0.0, 800.0)), Some(999.0));
        assert_eq!(outlier_among(9999.9, 40, ramp(980.0, 1040.0)), Some(9999.9));
        assert_eq!(outlier_among(-999.0, 3, ramp(0.0, 1.0).take(40)), Some(-999.0));
    }

    #[test]
    fn ordinary_columns_of_numbers_have_no_repeated_outlier() {
        let counts = (0..1000u32).map(|i| f64::from((i * 7919 % 1000) / 100 % 7));
        assert_eq!(
            repeated_outlier(&counts.collect::<Vec<_>>()),
            None,
            "expected no repeated outlier in a column of counts"
        );
        assert_eq!(
            outlier_among(0.0, 900, (1..100).map(f64::from)),
            None,
            "expected a frequent 0 not to be an outlier in a column of counts"
        );
        let tail = |i: u32| (1000.0 / f64::from(i + 1)).powi(2);
        assert_eq!(
            repeated_outlier(&(0..1000).map(tail).collect::<Vec<_>>()),
            None,
            "expected no repeated outlier in a column with a heavy tail"
        );
        assert_eq!(
            outlier_among(-1.0, 50, (0..1000).map(|i| f64::from(i % 30))),
            None,
            "a negative number close to the other numbers is not an outlier"
        );
        assert_eq!(
            outlier_among(500.0, 50, (0..1000).map(|i| [5.0, 10.0, 20.0, 50.0, 100.0][i % 5])),
            None,
            "expected no repeated outlier in a column with only a few different doses"
        );
        assert_eq!(
            outlier_among(1.0, 50, (0..1000).map(|_| 0.0)),
            None,
            "expected no repeated outlier in a column of 0 and 1"
        );
        assert_eq!(
            outlier_among(-999.0, 2, (0..1000).map(f64::from)),
            None,
            "a value that occurs only twice is not an outlier"
        );
        assert_eq!(
            outlier_among(50.0, 50, (0..1000).map(|i| f64::from(i) / 21.0)),
            None,
            "a maximum at which values are capped is not an outlier"
        );
        assert_eq!(repeated_outlier(&[]), None);
        assert_eq!(repeated_outlier(&[f64::NAN; 5]), None);
    }
}
