//! Parses a block of text into a chunk of typed columns.

use super::blocks::Block;
use super::records::{Record, Records};
use crate::error::{Error, Location, Result};
use crate::setting::{Setting, alternative_hints};
use crate::table::dictionary::Dictionary;
use crate::table::reader::EmptyLines;
use crate::table::reading::MissingMarkers;
use crate::table::time::{self, DateOrder};
use crate::table::{Category, Column, ColumnKind, Lines, Table, Values, cell_excerpt, number, parse_boolean};

/// Everything about a text table that is known before its rows are parsed.
pub(super) struct TextLayout {
    pub(super) file: String,
    pub(super) delimiter: u8,
    pub(super) line_end: u8,
    /// The decimal mark of numbers: `.` or `,`.
    pub(super) mark: u8,
    /// The number of cells in the header. Empty columns at the right are not counted.
    pub(super) cells: usize,
    /// Whether the user set the names of the columns.
    pub(super) has_given_names: bool,
    /// The columns that are read.
    pub(super) columns: Vec<TextColumn>,
    pub(super) markers: MissingMarkers,
}

/// A column that is read from a text table.
pub(super) struct TextColumn {
    /// The index of the column among all columns of the file.
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) kind: ColumnKind,
    /// Whether the user set the type of the column.
    pub(super) is_forced: bool,
    pub(super) order: DateOrder,
    /// The per cent or currency sign that numbers of the column may have.
    pub(super) sign: Option<char>,
    /// Whether the cells are times of day without a date.
    pub(super) is_clock: bool,
}

/// The values of a column that is being parsed.
enum ColumnBuilder {
    Number(Vec<f64>),
    Category(Vec<u32>, Dictionary),
    Boolean(Vec<Option<bool>>),
    Time(Vec<i64>),
}

/// A chunk of the table, and the empty lines that were read as rows of the chunk.
pub(super) type ParsedChunk = (Table, EmptyLines);

/// The empty lines of a block may become at most this many missing values, plus four for each byte of the block. An empty line takes one byte but
/// becomes a missing value in every column, so without a limit a small file could exhaust the memory.
const MAX_EMPTY_CELLS: u64 = 1 << 20;

/// Parses a block of text into a chunk of the table.
pub(super) fn parse_block(layout: &TextLayout, block: &Block) -> Result<ParsedChunk> {
    // The number of rows for which memory is reserved. Every cell takes at least one byte for the delimiter or line end after it, so a block
    // cannot have more rows than its length divided by the number of cells in a row.
    let rows = (block.lines + 1).min(block.bytes.len() / layout.cells.max(1) + 1);
    let mut builders: Vec<ColumnBuilder> =
        layout.columns.iter().map(|column| ColumnBuilder::new(column.kind, rows)).collect();
    let (mut lines, mut empty_lines) = (LineTracker::default(), EmptyLines::default());
    let max_empty = (MAX_EMPTY_CELLS + 4 * block.bytes.len() as u64) / layout.columns.len().max(1) as u64;
    let mut push_empty = |line: u64, builders: &mut [ColumnBuilder], lines: &mut LineTracker| {
        // In a table of one column, an empty line is an ordinary missing value, so it is not counted as an empty line.
        if layout.cells > 1 {
            empty_lines.add(EmptyLines { count: 1, first: line });
        }
        lines.push(line);
        builders.iter_mut().for_each(ColumnBuilder::push_missing);
        if empty_lines.count > max_empty { Err(layout.too_many_empty_lines(line)) } else { Ok(()) }
    };
    for line in block.line..block.line + block.empty {
        push_empty(line, &mut builders, &mut lines)?;
    }
    let mut records = Records::new(&block.bytes, block.line + block.empty, layout.delimiter, layout.line_end);
    while let Some(record) = records.next() {
        if !layout.has_all_cells(record)? {
            push_empty(record.line, &mut builders, &mut lines)?;
            continue;
        }
        lines.push(record.line);
        for (column, builder) in layout.columns.iter().zip(&mut builders) {
            let cell = record.cell(column.index);
            if !builder.push(cell, column, layout) {
                return Err(layout.invalid_cell(record.line, column, cell));
            }
        }
    }
    let finished = layout.columns.iter().zip(builders);
    let columns =
        finished.map(|(column, builder)| Column { name: column.name.clone(), values: builder.into_values() }).collect();
    Ok((Table { file: layout.file.clone(), columns, lines: lines.into_lines() }, empty_lines))
}

impl TextLayout {
    /// Returns `true` if the record has as many cells as the header. A record with another number of cells gives `false` if all of them are blank,
    /// as in an empty line, and `true` if it only has additional empty cells. Any other record is an error.
    #[inline]
    pub(super) fn has_all_cells(&self, record: Record<'_>) -> Result<bool> {
        if record.len() == self.cells {
            return Ok(true);
        }
        if record.is_blank() {
            return Ok(false);
        }
        if record.len() > self.cells && record.iter().skip(self.cells).all(<[u8]>::is_empty) {
            return Ok(true);
        }
        Err(self.wrong_number_of_cells(record))
    }

    #[cold]
    /// The error for a block with so many empty lines that their missing values would take too much memory.
    fn too_many_empty_lines(&self, line: u64) -> Error {
        let place = Location { line: Some(line), ..Location::file(&self.file) };
        let problem = format!("too many empty lines for a table of {} columns", self.columns.len());
        Error::data(place, problem, "remove the empty lines")
    }

    /// Parses a number with the decimal mark of the table, and accepts the per cent or currency sign of the column; see [`number_or_missing`].
    #[cold]
    fn parse_number(&self, cell: &[u8], column: &TextColumn) -> Option<f64> {
        number_or_missing(cell, self.mark, column.sign, &self.markers)
    }

    #[cold]
    /// The error for a record that has too few or too many cells.
    fn wrong_number_of_cells(&self, record: Record<'_>) -> Error {
        let expected =
            if self.has_given_names { format!("`{}` has", Setting("columns")) } else { "the header has".into() };
        let cells = if record.len() == 1 { "1 cell".into() } else { format!("{} cells", record.len()) };
        let hint = if record.len() < self.cells {
            "complete the row or remove it"
        } else {
            "put cells that contain the delimiter in quotes, or remove the row"
        };
        let place = Location { line: Some(record.line), ..Location::file(&self.file) };
        Error::data(place, format!("{cells}, but {expected} {}", self.cells), hint)
    }

    /// The error for a cell of this line and column that does not fit the type of the column.
    #[cold]
    fn invalid_cell(&self, line: u64, column: &TextColumn, cell: &[u8]) -> Error {
        let place = Location { line: Some(line), ..Location::file(&self.file) }.column(&column.name);
        invalid_cell(place, column.kind, column.is_forced, cell, self.mark)
    }
}

/// Parses a number that may have thousands separators and the per cent or currency sign `sign`. Returns NaN if the cell means a missing value, and
/// `None` if the cell is not a number or has a different per cent or currency sign.
pub(in crate::table) fn number_or_missing(
    cell: &[u8],
    mark: u8,
    sign: Option<char>,
    markers: &MissingMarkers,
) -> Option<f64> {
    if markers.contains_string(cell) || MissingMarkers::is_missing_word(cell) {
        return Some(f64::NAN);
    }
    let number = number::parse_formatted(cell, mark).filter(|number| number.sign.is_none() || number.sign == sign)?;
    Some(if markers.contains_number(number.value) { f64::NAN } else { number.value })
}

/// The error for a cell that does not fit the type of its column.
pub(in crate::table) fn invalid_cell(
    place: Location,
    kind: ColumnKind,
    is_forced: bool,
    cell: &[u8],
    mark: u8,
) -> Error {
    if std::str::from_utf8(cell).is_err() {
        let problem = format!("`{}` is not UTF-8", cell_excerpt(cell));
        return Error::data(place, problem, "save the file as UTF-8: `iconv -f latin1 -t utf-8 FILE > NEW`");
    }
    let text = cell_excerpt(cell);
    let sign = number::parse_formatted(cell, mark).and_then(|number| number.sign);
    if let (ColumnKind::Number, Some(sign)) = (kind, sign) {
        let problem = format!("`{text}` has the sign `{sign}`, which the column's other numbers do not have");
        return Error::data(place, problem, "write all numbers of the column with the same sign, or without one");
    }
    if let (ColumnKind::Time, Some(order)) = (kind, time::unambiguous_order(cell)) {
        let (this, others) = if order == DateOrder::DayFirst { ("day", "month") } else { ("month", "day") };
        let problem = format!("`{text}` has the {this} first, but the column's other dates have the {others} first");
        let option = Setting("month-first");
        let hint = format!(
            "write all dates in the same way, best as 2010-01-31; give `{option}` if all of them have the month first"
        );
        return Error::data(place, problem, hint);
    }
    let problem = match kind {
        ColumnKind::Number if number::parse(cell, mark).is_some() => format!("`{text}` is not finite"),
        ColumnKind::Time if time::parse_time_of_day(cell).is_some() => {
            format!("`{text}` has no date, but the column's other cells have one")
        }
        ColumnKind::Number => format!("`{text}` is not a number"),
        ColumnKind::Boolean => format!("`{text}` is neither true nor false"),
        ColumnKind::Time => format!("`{text}` is not a date"),
        ColumnKind::Category => format!("`{text}` is not text"),
    };
    let mut hint = format!("add `{}` to read it as missing", Setting("missing").to(&text));
    if !is_forced && let Some(column) = &place.column {
        hint = format!("{hint}, or `{}` to read the column as text", Setting("categorical").to(column));
        if kind == ColumnKind::Time && number::parse(cell, mark).is_some() {
            hint += &format!(" (`{}` as numbers)", Setting("numeric").to(column));
        }
    }
    let alternative = match (kind, is_forced) {
        (ColumnKind::Number, true) => "use a column of numbers, or correct the cell",
        _ => "correct the cell, or remove its row",
    };
    Error::data(place, problem, alternative_hints(&[hint, alternative.into()]))
}

impl TextColumn {
    /// Parses a date, or a time of day if the column holds times of day; `None` if the cell is something else.
    #[inline]
    fn parse_time(&self, cell: &[u8]) -> Option<i64> {
        if self.is_clock {
            time::parse_time_of_day(cell).map(|second| Values::TIME_OF_DAY_ORIGIN + second)
        } else {
            time::parse(cell, self.order)
        }
    }
}

impl ColumnBuilder {
    /// A builder without values that reserves memory for `rows` values.
    fn new(kind: ColumnKind, rows: usize) -> Self {
        match kind {
            ColumnKind::Number => ColumnBuilder::Number(Vec::with_capacity(rows)),
            ColumnKind::Category => ColumnBuilder::Category(Vec::with_capacity(rows), Dictionary::default()),
            ColumnKind::Boolean => ColumnBuilder::Boolean(Vec::with_capacity(rows)),
            ColumnKind::Time => ColumnBuilder::Time(Vec::with_capacity(rows)),
        }
    }

    /// Adds the value of a cell. Returns `false` if the cell does not fit the type of the column.
    #[inline]
    fn push(&mut self, cell: &[u8], column: &TextColumn, layout: &TextLayout) -> bool {
        let markers = &layout.markers;
        let is_missing = || markers.contains(cell, layout.mark) || MissingMarkers::is_missing_word(cell);
        match self {
            ColumnBuilder::Number(values) if cell.is_empty() => values.push(f64::NAN),
            ColumnBuilder::Number(values) => match number::parse(cell, layout.mark) {
                Some(value) if markers.contains_number(value) => values.push(f64::NAN),
                Some(value) if value.is_finite() => values.push(value),
                Some(_) => return false,
                None => match layout.parse_number(cell, column) {
                    Some(value) => values.push(value),
                    None => return false,
                },
            },
            ColumnBuilder::Category(codes, dictionary) => match dictionary.code(cell) {
                Some(code) => codes.push(code),
                None if markers.contains(cell, layout.mark) => codes.push(Category::MISSING),
                None => match std::str::from_utf8(cell) {
                    Ok(text) => codes.push(dictionary.code_or_insert(text.into())),
                    Err(_) => return false,
                },
            },
            ColumnBuilder::Boolean(values) => match parse_boolean(cell, column.is_forced) {
                Some(value) if !markers.contains_string(cell) => values.push(Some(value)),
                _ if is_missing() => values.push(None),
                _ => return false,
            },
            ColumnBuilder::Time(values) => match column.parse_time(cell) {
                Some(value) if !markers.contains_string(cell) => values.push(value),
                _ if is_missing() => values.push(Values::NO_TIME),
                _ => return false,
            },
        }
        true
    }

    /// Adds a missing value.
    fn push_missing(&mut self) {
        match self {
            ColumnBuilder::Number(values) => values.push(f64::NAN),
            ColumnBuilder::Category(codes, _) => codes.push(Category::MISSING),
            ColumnBuilder::Boolean(values) => values.push(None),
            ColumnBuilder::Time(values) => values.push(Values::NO_TIME),
        }
    }

    /// Returns the values that were added, as the values of a column.
    fn into_values(self) -> Values {
        match self {
            ColumnBuilder::Number(values) => Values::Number(values),
            ColumnBuilder::Category(codes, dictionary) => {
                Values::Category(Category { codes, levels: dictionary.into_levels() })
            }
            ColumnBuilder::Boolean(values) => Values::Boolean(values),
            ColumnBuilder::Time(values) => Values::Time(values),
        }
    }
}

/// Stores the line on which each row begins. As long as every row is on the line after the previous row, only the first line is stored; otherwise
/// `each` lists the lines of all rows.
#[derive(Default)]
struct LineTracker {
    first: u64,
    rows: u64,
    each: Option<Vec<u64>>,
}

impl LineTracker {
    /// Adds the line on which the next row begins.
    #[inline]
    fn push(&mut self, line: u64) {
        match &mut self.each {
            Some(lines) => lines.push(line),
            None if self.rows == 0 => self.first = line,
            None if self.first + self.rows == line => {}
            None => self.each = Some((self.first..self.first + self.rows).chain([line]).collect()),
        }
        self.rows += 1;
    }

    /// Returns the lines on which the rows begin, in the form that a table stores.
    fn into_lines(self) -> Lines {
        self.each.map_or(Lines::From(self.first), Lines::Each)
    }
}
