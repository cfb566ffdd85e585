//! A block of text to a chunk of typed columns.

use super::blocks::Block;
use super::records::{Record, Records};
use crate::error::{Error, Place, Result};
use crate::setting::{Setting, first_of};
use crate::table::levels::Levels;
use crate::table::reader::EmptyLines;
use crate::table::reading::Markers;
use crate::table::time::{self, Order};
use crate::table::{Category, Column, Kind, Lines, Table, Values, boolean, number, shown};

/// What is known of a text before its rows are parsed.
pub(super) struct Layout {
    pub(super) file: String,
    pub(super) delimiter: u8,
    pub(super) line_end: u8,
    /// The decimal mark.
    pub(super) mark: u8,
    /// How many cells the header has, the nameless ones at the right left out.
    pub(super) cells: usize,
    /// The header was given by the user.
    pub(super) given: bool,
    pub(super) wanted: Vec<Wanted>,
    pub(super) markers: Markers,
}

/// A column to be read.
pub(super) struct Wanted {
    /// Which cell of a record.
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The user said what it holds.
    pub(super) forced: bool,
    pub(super) order: Order,
    /// The sign that numbers may have.
    pub(super) sign: Option<char>,
    /// Times of day without a date.
    pub(super) is_clock: bool,
}

/// A column that grows.
enum Growing {
    Number(Vec<f64>),
    Category(Vec<u32>, Levels),
    Boolean(Vec<Option<bool>>),
    Time(Vec<i64>),
}

/// A chunk and the empty lines in it.
pub(super) type Parsed = (Table, EmptyLines);

/// Cells that empty lines may make up beyond four for each byte of a block. A line of one byte becomes a value in each column, so
/// without a bound a small file could fill the memory.
const EMPTY_CELLS: u64 = 1 << 20;

pub(super) fn parse(layout: &Layout, block: &Block) -> Result<Parsed> {
    // A row has a delimiter or line end for each cell, so room is bounded by the block, whatever its lines look like.
    let rows = (block.lines + 1).min(block.bytes.len() / layout.cells.max(1) + 1);
    let mut columns: Vec<Growing> = layout.wanted.iter().map(|wanted| Growing::new(wanted.kind, rows)).collect();
    let (mut lines, mut empty_lines) = (Tracked::default(), EmptyLines::default());
    let most = (EMPTY_CELLS + 4 * block.bytes.len() as u64) / layout.wanted.len().max(1) as u64;
    let mut push_empty = |line: u64, columns: &mut [Growing], lines: &mut Tracked| {
        // In a table of one column an empty line is what an empty cell looks like.
        if layout.cells > 1 {
            empty_lines.add(EmptyLines { count: 1, first: line });
        }
        lines.push(line);
        columns.iter_mut().for_each(Growing::push_missing);
        if empty_lines.count > most { Err(layout.too_empty(line)) } else { Ok(()) }
    };
    for line in block.line..block.line + block.empty {
        push_empty(line, &mut columns, &mut lines)?;
    }
    let mut records = Records::new(&block.bytes, block.line + block.empty, layout.delimiter, layout.line_end);
    while let Some(record) = records.next() {
        if !layout.fits(record)? {
            push_empty(record.line, &mut columns, &mut lines)?;
            continue;
        }
        lines.push(record.line);
        for (wanted, column) in layout.wanted.iter().zip(&mut columns) {
            let cell = record.cell(wanted.at);
            if !column.push(cell, wanted, layout) {
                return Err(layout.refusal(record.line, wanted, cell));
            }
        }
    }
    let finished = layout.wanted.iter().zip(columns);
    let columns =
        finished.map(|(wanted, column)| Column { name: wanted.name.clone(), values: column.into_values() }).collect();
    Ok((Table { file: layout.file.clone(), columns, lines: lines.into_lines() }, empty_lines))
}

impl Layout {
    /// Whether a record has the cells of the header: `false` for an empty line, which has none, an error for one with others.
    #[inline]
    pub(super) fn fits(&self, record: Record<'_>) -> Result<bool> {
        if record.len() == self.cells {
            return Ok(true);
        }
        if record.is_blank() {
            return Ok(false);
        }
        if record.len() > self.cells && record.iter().skip(self.cells).all(<[u8]>::is_empty) {
            return Ok(true);
        }
        Err(self.ragged(record))
    }

    #[cold]
    fn too_empty(&self, line: u64) -> Error {
        let place = Place { line: Some(line), ..Place::file(&self.file) };
        let problem = format!("too many empty lines for a table of {} columns", self.wanted.len());
        Error::data(place, problem, "take the empty lines out")
    }

    /// The number in a cell that is not plain, NaN where it stands for a missing value.
    #[cold]
    fn number(&self, cell: &[u8], wanted: &Wanted) -> Option<f64> {
        number_or_missing(cell, self.mark, wanted.sign, &self.markers)
    }

    #[cold]
    fn ragged(&self, record: Record<'_>) -> Error {
        let whose = if self.given { format!("`{}` has", Setting("columns")) } else { "the header has".into() };
        let cells = if record.len() == 1 { "1 cell".into() } else { format!("{} cells", record.len()) };
        let hint = if record.len() < self.cells {
            "complete the row or take it out"
        } else {
            "put cells that hold the delimiter in quotes, or take the row out"
        };
        let place = Place { line: Some(record.line), ..Place::file(&self.file) };
        Error::data(place, format!("{cells} where {whose} {}", self.cells), hint)
    }

    #[cold]
    fn refusal(&self, line: u64, wanted: &Wanted, cell: &[u8]) -> Error {
        let place = Place { line: Some(line), ..Place::file(&self.file) }.column(&wanted.name);
        refusal(place, wanted.kind, wanted.forced, cell, self.mark)
    }
}

/// The number in a cell that is not plain, NaN where it stands for a missing value; `None` where it is no number, or has another
/// sign than the column's.
pub(in crate::table) fn number_or_missing(cell: &[u8], mark: u8, sign: Option<char>, markers: &Markers) -> Option<f64> {
    if markers.is_text(cell) || Markers::is_word(cell) {
        return Some(f64::NAN);
    }
    let number = number::written(cell, mark).filter(|number| number.sign.is_none() || number.sign == sign)?;
    Some(if markers.is_number(number.value) { f64::NAN } else { number.value })
}

/// The fault of a cell that does not hold what its column holds.
pub(in crate::table) fn refusal(place: Place, kind: Kind, forced: bool, cell: &[u8], mark: u8) -> Error {
    if std::str::from_utf8(cell).is_err() {
        let problem = format!("`{}` is not UTF-8", shown(cell));
        return Error::data(place, problem, "save the file as UTF-8: `iconv -f latin1 -t utf-8 FILE > NEW`");
    }
    let text = shown(cell);
    let sign = number::written(cell, mark).and_then(|number| number.sign);
    if let (Kind::Number, Some(sign)) = (kind, sign) {
        let problem = format!("`{text}` has the sign `{sign}`, which the column's other numbers do not have");
        return Error::data(place, problem, "write all numbers of the column with the same sign, or without one");
    }
    if let (Kind::Time, Some(order)) = (kind, time::shows(cell)) {
        let (this, others) = if order == Order::DayFirst { ("day", "month") } else { ("month", "day") };
        let problem = format!("`{text}` has the {this} first, where the column's other dates have the {others} first");
        let option = Setting("month-first");
        let hint =
            format!("write all dates alike, best as 2010-01-31; give `{option}` if all of them have the month first");
        return Error::data(place, problem, hint);
    }
    let problem = match kind {
        Kind::Number if number::parse(cell, mark).is_some() => format!("`{text}` is not finite"),
        Kind::Time if time::clock(cell).is_some() => format!("`{text}` has no date, as the column's other cells have"),
        Kind::Number => format!("`{text}` is not a number"),
        Kind::Boolean => format!("`{text}` is neither true nor false"),
        Kind::Time => format!("`{text}` is not a date"),
        Kind::Category => format!("`{text}` is not text"),
    };
    let mut hint = format!("add `{}` to read it as missing", Setting("missing").to(&text));
    if !forced && let Some(column) = &place.column {
        hint += &format!(", or `{}` to read the column as text", Setting("categorical").to(column));
        if kind == Kind::Time && number::parse(cell, mark).is_some() {
            hint += &format!(" (`{}` as numbers)", Setting("numeric").to(column));
        }
    }
    let otherwise = match (kind, forced) {
        (Kind::Number, true) => "name a column of numbers, or correct the cell",
        _ => "correct the cell, or take its row out",
    };
    Error::data(place, problem, first_of(&[hint, otherwise.into()]))
}

impl Wanted {
    #[inline]
    fn time(&self, cell: &[u8]) -> Option<i64> {
        if self.is_clock {
            time::clock(cell).map(|second| Values::MIDNIGHT + second)
        } else {
            time::parse(cell, self.order)
        }
    }
}

impl Growing {
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Number => Growing::Number(Vec::with_capacity(rows)),
            Kind::Category => Growing::Category(Vec::with_capacity(rows), Levels::default()),
            Kind::Boolean => Growing::Boolean(Vec::with_capacity(rows)),
            Kind::Time => Growing::Time(Vec::with_capacity(rows)),
        }
    }

    /// Takes a cell, unless it holds something else.
    #[inline]
    fn push(&mut self, cell: &[u8], wanted: &Wanted, layout: &Layout) -> bool {
        let markers = &layout.markers;
        let missing = || markers.holds(cell, layout.mark) || Markers::is_word(cell);
        match self {
            Growing::Number(values) if cell.is_empty() => values.push(f64::NAN),
            Growing::Number(values) => match number::parse(cell, layout.mark) {
                Some(value) if markers.is_number(value) => values.push(f64::NAN),
                Some(value) if value.is_finite() => values.push(value),
                Some(_) => return false,
                None => match layout.number(cell, wanted) {
                    Some(value) => values.push(value),
                    None => return false,
                },
            },
            Growing::Category(codes, levels) => match levels.find(cell) {
                Some(code) => codes.push(code),
                None if markers.holds(cell, layout.mark) => codes.push(Category::MISSING),
                None => match std::str::from_utf8(cell) {
                    Ok(text) => codes.push(levels.place(text.into())),
                    Err(_) => return false,
                },
            },
            Growing::Boolean(values) => match boolean(cell, wanted.forced) {
                Some(value) if !markers.is_text(cell) => values.push(Some(value)),
                _ if missing() => values.push(None),
                _ => return false,
            },
            Growing::Time(values) => match wanted.time(cell) {
                Some(value) if !markers.is_text(cell) => values.push(value),
                _ if missing() => values.push(Values::NO_TIME),
                _ => return false,
            },
        }
        true
    }

    fn push_missing(&mut self) {
        match self {
            Growing::Number(values) => values.push(f64::NAN),
            Growing::Category(codes, _) => codes.push(Category::MISSING),
            Growing::Boolean(values) => values.push(None),
            Growing::Time(values) => values.push(Values::NO_TIME),
        }
    }

    fn into_values(self) -> Values {
        match self {
            Growing::Number(values) => Values::Number(values),
            Growing::Category(codes, levels) => Values::Category(Category { codes, levels: levels.into_texts() }),
            Growing::Boolean(values) => Values::Boolean(values),
            Growing::Time(values) => Values::Time(values),
        }
    }
}

/// The lines of rows, listed one by one only from where a row does not follow on the line before.
#[derive(Default)]
struct Tracked {
    first: u64,
    rows: u64,
    each: Option<Vec<u64>>,
}

impl Tracked {
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

    fn into_lines(self) -> Lines {
        self.each.map_or(Lines::From(self.first), Lines::Each)
    }
}
