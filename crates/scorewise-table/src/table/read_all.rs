//! Joins all chunks of a reader into one table.

use super::dictionary::Dictionary;
use super::{Category, Column, Lines, Reader, Reading, Source, Table, Values};
use crate::error::Result;

/// Reads a whole table. The levels of a categorical column are in order of first appearance. The table does not depend on the number of threads.
///
/// ```
/// use scorewise_table::table::{BuiltIn, Reading, Source, read};
///
/// let adult = read(&Source::BuiltIn(BuiltIn::Adult), &Reading::default())?;
/// assert_eq!((adult.rows(), adult.columns.len()), (32561, 15));
/// assert_eq!(adult.place(0).to_string(), "adult:1");
/// # Ok::<(), scorewise_table::Error>(())
/// ```
pub fn read(source: &Source, reading: &Reading) -> Result<Table> {
    Reader::open(source, reading)?.whole()
}

impl Reader {
    /// Reads all remaining rows as one table.
    pub fn whole(&mut self) -> Result<Table> {
        Ok(joined_table(self.by_ref().collect::<Result<Vec<Table>>>()?))
    }
}

/// Joins chunks into one table, column by column. The chunks of a column are freed as soon as the column is joined, so that at most one column
/// is in memory twice.
fn joined_table(mut chunks: Vec<Table>) -> Table {
    if chunks.len() == 1 {
        return chunks.remove(0);
    }
    let Some(first) = chunks.first() else { return Table::default() };
    let (file, columns) = (first.file.clone(), first.columns.len());
    let lengths: Vec<usize> = chunks.iter().map(Table::rows).collect();
    let lines =
        joined_lines(chunks.iter_mut().map(|chunk| std::mem::take(&mut chunk.lines)).zip(lengths.iter().copied()));
    let mut chunks: Vec<_> = chunks.into_iter().map(|chunk| chunk.columns.into_iter()).collect();
    let rows = lengths.iter().sum();
    let columns =
        (0..columns).filter_map(|_| joined_column(chunks.iter_mut().filter_map(Iterator::next), rows)).collect();
    Table { file, columns, lines }
}

/// Joins one column of all chunks. `parts` yields the column of each chunk, and `rows` is the number of rows of all chunks.
fn joined_column(mut parts: impl Iterator<Item = Column>, rows: usize) -> Option<Column> {
    let Column { name, values } = parts.next()?;
    let rest = parts.map(|part| part.values);
    let values = match values {
        Values::Number(first) => Values::Number(joined_values(first, rest, rows, |part| match part {
            Values::Number(values) => Some(values),
            _ => None,
        })),
        Values::Boolean(first) => Values::Boolean(joined_values(first, rest, rows, |part| match part {
            Values::Boolean(values) => Some(values),
            _ => None,
        })),
        Values::Time(first) => Values::Time(joined_values(first, rest, rows, |part| match part {
            Values::Time(values) => Some(values),
            _ => None,
        })),
        Values::Category(first) => Values::Category(joined_categories(first, rest, rows)),
    };
    Some(Column { name, values })
}

/// Joins the values of one column of all chunks. `first` holds the values of the first chunk, and `rest` yields those of the other chunks.
/// `extract` returns the list in a `Values`, or `None` if it has another column type.
fn joined_values<T: Copy>(
    first: Vec<T>,
    rest: impl Iterator<Item = Values>,
    rows: usize,
    extract: fn(Values) -> Option<Vec<T>>,
) -> Vec<T> {
    let mut all = Vec::with_capacity(rows);
    all.extend_from_slice(&first);
    drop(first);
    for part in rest.filter_map(extract) {
        all.extend_from_slice(&part);
    }
    all
}

/// Joins the values of a categorical column of all chunks. Each distinct level gets a new code, which is the same for all chunks.
fn joined_categories(first: Category, rest: impl Iterator<Item = Values>, rows: usize) -> Category {
    let mut dictionary = Dictionary::default();
    let mut codes = Vec::with_capacity(rows);
    let rest = rest.filter_map(|part| match part {
        Values::Category(part) => Some(part),
        _ => None,
    });
    for part in std::iter::once(first).chain(rest) {
        let new_codes: Vec<u32> = part.levels.into_iter().map(|level| dictionary.code_or_insert(level)).collect();
        // The code of a missing value is beyond the end of `new_codes`, so `get` returns `None`.
        codes.extend(part.codes.iter().map(|code| new_codes.get(*code as usize).copied().unwrap_or(Category::MISSING)));
    }
    Category { codes, levels: dictionary.into_levels() }
}

/// Joins the line numbers of all chunks. `parts` yields the line numbers of each chunk and the number of its rows. The joined line numbers are
/// listed one by one only if they are not consecutive.
fn joined_lines(parts: impl Iterator<Item = (Lines, usize)>) -> Lines {
    let mut all = Lines::None;
    let mut rows = 0u64;
    for (part, length) in parts {
        all = match (all, part) {
            (_, part) if rows == 0 => part,
            (all @ Lines::From(_), _) | (all, Lines::None) if length == 0 => all,
            (Lines::From(first), Lines::From(next)) if first + rows == next => Lines::From(first),
            (all @ (Lines::None | Lines::After(_)), _) => all,
            (all, part) => {
                let mut lines = line_numbers(all, rows);
                lines.extend(line_numbers(part, length as u64));
                Lines::Each(lines)
            }
        };
        rows += length as u64;
    }
    all
}

/// Lists the line number (or, in a Parquet or Arrow file, the row number) of each row. `rows` is the number of rows.
fn line_numbers(lines: Lines, rows: u64) -> Vec<u64> {
    match lines {
        Lines::Each(lines) | Lines::EachRow(lines) => lines,
        Lines::From(first) | Lines::After(first) => (first..first + rows).collect(),
        Lines::None => (1..=rows).collect(),
    }
}
