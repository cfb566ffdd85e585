//! Reads text tables: recognises the header, the delimiter and the types of columns, then parses blocks of text in parallel and returns them
//! as chunks of the table, in the order of the file.

mod blocks;
mod dialect;
mod kinds;
mod parse;
mod records;

use std::collections::{HashSet, VecDeque};
use std::io::Read;

use rayon::prelude::*;

use self::blocks::{Block, Blocks};
use self::kinds::{DecimalMarks, Tally};
use self::parse::{ParsedChunk, TextColumn, TextLayout};
pub(super) use self::parse::{invalid_cell, number_or_missing};
use self::records::Records;
use super::reading::{ColumnConventions, MissingMarkers, TextConventions, check_names};
use super::time::DateOrder;
use super::{ChooseColumns, ColumnKind, Field, Reading, cell_excerpt};
use crate::error::{Error, Location, Result};
use crate::setting::{Setting, alternative_hints};

/// The number of blocks at the beginning of the file from which the types of columns are recognised: 2 blocks of 2 MiB each.
const SAMPLE_BLOCKS: usize = 2;
/// The maximum number of columns of a text table. If there seem to be more, the delimiter is wrong or the file is damaged.
const MAX_COLUMNS: usize = 100_000;

/// Reads a text table.
pub(super) struct TextReader {
    blocks: Blocks,
    layout: TextLayout,
    /// Blocks that are not parsed yet.
    waiting: Vec<Block>,
    /// Chunks that were parsed but not returned yet.
    ready: VecDeque<Result<ParsedChunk>>,
    writing: TextConventions,
}

impl TextReader {
    /// Opens a text table: recognises the delimiter, the header, and the types of columns. `choose` gets the names of all columns and may change
    /// `reading`.
    pub(super) fn open(
        file: &str,
        source: Box<dyn Read + Send>,
        line: u64,
        reading: &mut Reading,
        choose: &ChooseColumns<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let mut blocks = Blocks::new(file, source, line)?;
        let forced = reading.delimiter.map(delimiter_byte).transpose()?;
        let (preview, is_whole) = blocks.preview();
        let likely =
            dialect::recognise_delimiter(preview, is_whole, blocks.line_end, reading.decimal_comma == Some(true));
        blocks.delimiter = forced.or(likely).unwrap_or(if reading.decimal_comma == Some(true) { b';' } else { b',' });
        let (delimiter, line_end) = (blocks.delimiter, blocks.line_end);

        let mut waiting = Vec::new();
        while waiting.len() < SAMPLE_BLOCKS
            && let Some(block) = blocks.next()?
        {
            waiting.push(block);
        }
        let Some(HeaderRecord { line, cells: header, after }) =
            waiting.first().and_then(|block| HeaderRecord::read(block, delimiter, line_end))
        else {
            return Err(Error::data(Location::file(file), "is empty", "a table needs a header and at least one row"));
        };
        blocks.fit_block_size(after.0);
        if header.len() > MAX_COLUMNS {
            let problem = format!("the line has {} columns; at most {MAX_COLUMNS} can be read", header.len());
            return Err(Error::data(
                Location { line: Some(line), ..Location::file(file) },
                problem,
                alternative_hints(&[
                    format!("check the delimiter: `{}`", Setting("delimiter")),
                    "check that the cells are separated by commas, semicolons, tabs or pipes".into(),
                ]),
            ));
        }
        if let (Some(forced), Some(likely), 1) = (forced, likely, header.len())
            && forced != likely
        {
            let problem = format!(
                "has one column when split at {}; the file seems to use {}",
                dialect::delimiter_name(forced),
                dialect::delimiter_name(likely)
            );
            let hint = format!("leave out `{}`, or give the right one", Setting("delimiter"));
            return Err(Error::data(Location::file(file), problem, hint));
        }

        let markers = MissingMarkers::new(&reading.missing);
        if reading.columns.is_none() {
            let (bytes, line) = after;
            let block = &mut waiting[0];
            block.bytes.drain(..bytes);
            block.lines -= (line - block.line - block.empty) as usize;
            (block.line, block.empty) = (line, 0);
        }
        let (rows, tallies) = tally_columns(&waiting, delimiter, line_end, &markers, header.len());
        if rows == 0 {
            return Err(Error::data(
                Location::file(file),
                "has a header but no rows",
                "a table needs at least one row",
            ));
        }

        let marks = DecimalMarks::sum_over_columns(&tallies);
        let earlier_comma = reading.writing.as_ref().and_then(|earlier| earlier.decimal_comma);
        let comma = reading.decimal_comma.unwrap_or_else(|| marks.decimal_comma(earlier_comma, delimiter));
        if reading.decimal_comma == Some(true) && delimiter == b',' {
            let problem = "cells are separated by commas, so numbers cannot have a decimal comma";
            let hint = format!("leave this setting out, or give the right `{}`", Setting("delimiter"));
            return Err(Error::setting("decimal-comma", problem, hint));
        }
        let names = match &reading.columns {
            Some(names) => names.clone(),
            None => column_names(file, line, &header, &tallies, comma, notes)?,
        };
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        check_unique(file, &all, reading.columns.is_some())?;
        choose(&all, reading)?;
        check_names(file, reading, &all)?;
        let mut columns = Vec::new();
        let only: Option<HashSet<&String>> = reading.only.as_ref().map(|only| only.iter().collect());
        let mut writing =
            TextConventions { decimal_comma: marks.has_decimal_marks().then_some(comma), ..TextConventions::default() };
        let mut column_notes = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if only.as_ref().is_none_or(|only| only.contains(name)) {
                let tally = tallies.get(at).cloned().unwrap_or_default();
                let column = TextColumn::new(at, name, &tally, comma, reading);
                let style = column.conventions(&tally);
                if style != ColumnConventions::default() {
                    writing.columns.insert(name.clone(), style);
                }
                if reading.writing.is_none() {
                    column_notes.extend(tally.note(name, column.kind, comma, reading.month_first.is_some()));
                }
                columns.push(column);
            }
        }
        if delimiter != b',' {
            notes.push(format!("cells are separated by {}", dialect::delimiter_name(delimiter)));
        }
        if comma {
            notes.push("numbers have a decimal comma".into());
        }
        notes.extend(kinds::limited_notes(column_notes));
        let mark = if comma { b',' } else { b'.' };
        let has_given_names = reading.columns.is_some();
        let (file, cells) = (file.to_owned(), names.len());
        let layout = TextLayout { file, delimiter, line_end, mark, cells, has_given_names, columns, markers };
        Ok(TextReader { blocks, layout, waiting, ready: VecDeque::new(), writing })
    }

    /// How numbers and dates are written in the text.
    pub(super) fn writing(&self) -> &TextConventions {
        &self.writing
    }

    /// The names and types of the columns that are read.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.layout.columns.iter().map(|column| Field { name: column.name.clone(), kind: column.kind }).collect()
    }

    /// Parses the waiting blocks and, at the same time, reads the next blocks from the file.
    fn parse_and_read_ahead(&mut self) {
        let count = (2 * rayon::current_num_threads()).clamp(2, 16);
        let TextReader { blocks, layout, waiting, .. } = self;
        let (parsed, read) = rayon::join(
            || waiting.par_iter().map(|block| parse::parse_block(layout, block)).collect::<Vec<_>>(),
            || {
                let mut read = Vec::new();
                while read.len() < count {
                    match blocks.next() {
                        Ok(Some(block)) => read.push(block),
                        Ok(None) => break,
                        Err(error) => return (read, Some(error)),
                    }
                }
                (read, None)
            },
        );
        self.ready.extend(parsed);
        let (read, error) = read;
        self.waiting = read;
        if let Some(error) = error {
            // The blocks that were read before the error are parsed first, so that the error is returned after their rows.
            let parsed: Vec<_> = self.waiting.par_iter().map(|block| parse::parse_block(&self.layout, block)).collect();
            self.waiting.clear();
            self.ready.extend(parsed);
            self.ready.push_back(Err(error));
        }
    }
}

impl Iterator for TextReader {
    type Item = Result<ParsedChunk>;

    fn next(&mut self) -> Option<Result<ParsedChunk>> {
        loop {
            match self.ready.pop_front() {
                // Skips a chunk without rows: the first block may contain nothing but the header.
                Some(Ok((table, _))) if table.rows() == 0 && !self.layout.columns.is_empty() => {}
                Some(chunk) => return Some(chunk),
                None if self.waiting.is_empty() => return None,
                None => self.parse_and_read_ahead(),
            }
        }
    }
}

/// The header of a text table.
struct HeaderRecord {
    line: u64,
    cells: Vec<Vec<u8>>,
    /// The number of bytes up to the end of the header, and the number of the line after the header.
    after: (usize, u64),
}

impl HeaderRecord {
    /// Reads the first record of a block that is not an empty line; `None` if there is no such record.
    fn read(block: &Block, delimiter: u8, line_end: u8) -> Option<Self> {
        let mut records = Records::new(&block.bytes, block.line + block.empty, delimiter, line_end);
        let record = records.next_nonempty()?;
        let (line, cells) = (record.line, record.iter().map(<[u8]>::to_vec).collect());
        let (rest, next) = records.rest();
        Some(HeaderRecord { line, cells, after: (block.bytes.len() - rest.len(), next) })
    }
}

impl TextColumn {
    /// Decides how a column is read. The user's settings come first, then the cells of the column, then the conventions of an earlier table, such
    /// as the training table ([`Reading::writing`]). If the user set the type, the per cent or currency sign is that of the earlier table.
    fn new(index: usize, name: &str, tally: &Tally, comma: bool, reading: &Reading) -> Self {
        let forced = reading.kinds.get(name).copied();
        let kind = forced.unwrap_or_else(|| tally.kind(comma));
        let earlier_table = reading.writing.as_ref();
        let style = earlier_table.and_then(|conventions| conventions.columns.get(name));
        let order = |month_first: bool| if month_first { DateOrder::MonthFirst } else { DateOrder::DayFirst };
        let order =
            reading.month_first.map(order).or_else(|| tally.date_order()).or_else(|| style?.month_first.map(order));
        let sign = match earlier_table {
            // Only the per cent or currency sign that the column has in the earlier table, such as the training table, is accepted. If the column
            // has no such sign there, `3.1%` in this table may mean the same as 0.031 in the earlier table, so it must not be read as 3.1.
            Some(_) if forced.is_some() => style.and_then(|style| style.sign),
            _ => tally.sign(comma),
        };
        let is_clock =
            if tally.has_times() { tally.holds_times_of_day() } else { style.is_some_and(|style| style.is_clock) };
        let (name, order) = (name.to_owned(), order.unwrap_or_default());
        TextColumn { index, name, kind, is_forced: forced.is_some(), order, sign, is_clock }
    }

    /// How the cells of the column are written: conventions that a single cell may not show, such as the order of day and month.
    fn conventions(&self, tally: &Tally) -> ColumnConventions {
        let month_first = tally.depends_on_date_order().then_some(self.order == DateOrder::MonthFirst);
        match self.kind {
            ColumnKind::Time => ColumnConventions { month_first, is_clock: self.is_clock, sign: None },
            ColumnKind::Number => ColumnConventions { sign: self.sign, ..ColumnConventions::default() },
            _ => ColumnConventions::default(),
        }
    }
}

/// The delimiter as the single byte that csv-core needs, or an error for a character that cannot be a delimiter.
fn delimiter_byte(delimiter: char) -> Result<u8> {
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => {
            let problem = format!("`{}` cannot be a delimiter", delimiter.escape_debug());
            Err(Error::setting("delimiter", problem, "give `,`, `;`, `|` or a tab"))
        }
    }
}

/// Counts the rows of the sample, and for each column, how many cells look like numbers, dates and so on.
fn tally_columns(
    blocks: &[Block],
    delimiter: u8,
    line_end: u8,
    markers: &MissingMarkers,
    columns: usize,
) -> (u64, Vec<Tally>) {
    let tally_block = |block: &Block| {
        let (mut rows, mut tallies) = (0, vec![Tally::default(); columns]);
        let mut records = Records::new(&block.bytes, block.line, delimiter, line_end);
        while let Some(record) = records.next() {
            rows += 1;
            for (cell, tally) in record.iter().zip(&mut tallies) {
                tally.add(cell, markers);
            }
        }
        (rows, tallies)
    };
    let parts: Vec<_> = blocks.par_iter().map(tally_block).collect();
    let mut sum = (0, vec![Tally::default(); columns]);
    for (rows, tallies) in parts {
        sum.0 += rows;
        sum.1.iter_mut().zip(&tallies).for_each(|(sum, part)| sum.merge(part));
    }
    sum
}

/// The names of the columns from the header. Columns at the right are left out if they have no name and all their cells in the sample are empty.
fn column_names(
    file: &str,
    line: u64,
    header: &[Vec<u8>],
    tallies: &[Tally],
    comma: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<String>> {
    let used = |at: &usize| !header[*at].is_empty() || tallies[*at].nonempty > 0;
    let count = (0..header.len()).rev().find(used).map_or(1, |last| last + 1);
    if count < header.len() {
        notes.push(match header.len() - count {
            1 => "1 empty column at the right is left out".into(),
            empty => format!("{empty} empty columns at the right are left out"),
        });
    }
    let mut names = Vec::with_capacity(count);
    for (at, cell) in header[..count].iter().enumerate() {
        let name = std::str::from_utf8(cell).map_err(|_| {
            let problem = format!("the name `{}` of column {} is not UTF-8", cell_excerpt(cell), at + 1);
            let hint = "save the file as UTF-8: `iconv -f latin1 -t utf-8 FILE > NEW`";
            Error::data(Location { line: Some(line), ..Location::file(file) }, problem, hint)
        })?;
        if name.is_empty() {
            notes.push(format!("column {0} has no name and is called `column {0}`", at + 1));
            names.push(format!("column {}", at + 1));
        } else {
            names.push(name.into());
        }
    }
    if kinds::looks_like_data(&header[..count], tallies, comma) {
        let problem = "the first line looks like a row, but is read as the header";
        notes.push(format!("{problem}; if the file has no header, name the columns with `{}`", Setting("columns")));
    }
    Ok(names)
}

/// Checks that no two columns have the same name. `are_given` says whether the user set the names.
pub(super) fn check_unique(file: &str, names: &[&str], are_given: bool) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(*name, at) {
            let problem =
                format!("columns {} and {} are both called `{}`", first + 1, at + 1, cell_excerpt(name.as_bytes()));
            return Err(if are_given {
                Error::setting("columns", problem, "give each column a name of its own")
            } else {
                let hint = format!(
                    "rename one of them, or name all columns with `{}` if the file has no header",
                    Setting("columns")
                );
                Error::data(Location::file(file), problem, alternative_hints(&[hint, "rename one of them".into()]))
            });
        }
    }
    Ok(())
}
