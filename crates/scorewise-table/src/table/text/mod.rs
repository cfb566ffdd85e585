//! Text tables: what is recognised before the first row, and the chunks in order.

mod blocks;
mod dialect;
mod kinds;
mod parse;
mod records;

use std::collections::{HashSet, VecDeque};
use std::io::Read;

use rayon::prelude::*;

use self::blocks::{Block, Blocks};
use self::kinds::{Marks, Tally};
use self::parse::{Layout, Parsed, Wanted};
pub(super) use self::parse::{number_or_missing, refusal};
use self::records::Records;
use super::reading::{Markers, Style, Writing, check_names};
use super::time::Order;
use super::{Choose, Field, Kind, Reading, shown};
use crate::error::{Error, Place, Result};
use crate::setting::{Setting, first_of};

/// Blocks from which kinds are recognised: 4 MiB.
const SAMPLED: usize = 2;
/// More names than any table has; beyond, the delimiter is wrong or the file damaged.
const MOST_COLUMNS: usize = 100_000;

/// A text table that is being read.
pub(super) struct Text {
    blocks: Blocks,
    layout: Layout,
    /// Blocks that are not parsed yet.
    waiting: Vec<Block>,
    ready: VecDeque<Result<Parsed>>,
    writing: Writing,
}

impl Text {
    pub(super) fn open(
        file: &str,
        source: Box<dyn Read + Send>,
        line: u64,
        reading: &mut Reading,
        choose: &Choose<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let mut blocks = Blocks::new(file, source, line)?;
        let forced = reading.delimiter.map(single_byte).transpose()?;
        let (ahead, whole) = blocks.ahead();
        let likely = dialect::delimiter(ahead, whole, blocks.line_end, reading.decimal_comma == Some(true));
        blocks.delimiter = forced.or(likely).unwrap_or(if reading.decimal_comma == Some(true) { b';' } else { b',' });
        let (delimiter, line_end) = (blocks.delimiter, blocks.line_end);

        let mut waiting = Vec::new();
        while waiting.len() < SAMPLED
            && let Some(block) = blocks.next()?
        {
            waiting.push(block);
        }
        let Some(Header { line, cells: header, after }) =
            waiting.first().and_then(|block| Header::of(block, delimiter, line_end))
        else {
            return Err(Error::data(Place::file(file), "is empty", "a table has a header and at least one row"));
        };
        blocks.fit_rows_of(after.0);
        if header.len() > MOST_COLUMNS {
            let problem = format!("{} columns; at most {MOST_COLUMNS} can be read", header.len());
            return Err(Error::data(
                Place { line: Some(line), ..Place::file(file) },
                problem,
                first_of(&[
                    format!("is the delimiter right? give `{}`", Setting("delimiter")),
                    "is this a table, with commas, semicolons, tabs or pipes between its cells?".into(),
                ]),
            ));
        }
        if let (Some(forced), Some(likely), 1) = (forced, likely, header.len())
            && forced != likely
        {
            let problem = format!(
                "one column when split at {}; the file seems to use {}",
                dialect::shown(forced),
                dialect::shown(likely)
            );
            let hint = format!("leave out `{}`, or give the right one", Setting("delimiter"));
            return Err(Error::data(Place::file(file), problem, hint));
        }

        let markers = Markers::new(&reading.missing);
        if reading.columns.is_none() {
            let (bytes, line) = after;
            let block = &mut waiting[0];
            block.bytes.drain(..bytes);
            block.lines -= (line - block.line - block.empty) as usize;
            (block.line, block.empty) = (line, 0);
        }
        let (rows, tallies) = tally(&waiting, delimiter, line_end, &markers, header.len());
        if rows == 0 {
            return Err(Error::data(Place::file(file), "a header and no rows", "a table has at least one row"));
        }

        let before = reading.writing.as_ref();
        let marks = Marks::of(&tallies);
        let comma = reading
            .decimal_comma
            .unwrap_or_else(|| marks.decimal_comma(before.and_then(|before| before.decimal_comma), delimiter));
        if reading.decimal_comma == Some(true) && delimiter == b',' {
            let problem = "cells are split at commas, so numbers cannot have them";
            let hint = format!("leave it out, or give the right `{}`", Setting("delimiter"));
            return Err(Error::setting("decimal-comma", problem, hint));
        }
        let names = match &reading.columns {
            Some(names) => names.clone(),
            None => named(file, line, &header, &tallies, comma, notes)?,
        };
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        check_unique(file, &all, reading.columns.is_some())?;
        choose(&all, reading)?;
        check_names(file, reading, &all)?;
        let mut wanted = Vec::new();
        let before = reading.writing.as_ref();
        let only: Option<HashSet<&String>> = reading.only.as_ref().map(|only| only.iter().collect());
        let mut writing = Writing { decimal_comma: marks.any().then_some(comma), ..Writing::default() };
        let mut odd = Vec::new();
        for (at, name) in names.iter().enumerate() {
            if only.as_ref().is_none_or(|only| only.contains(name)) {
                let tally = tallies.get(at).cloned().unwrap_or_default();
                let column = Wanted::new(at, name, &tally, comma, reading);
                let style = column.style(&tally);
                if style != Style::default() {
                    writing.columns.insert(name.clone(), style);
                }
                if before.is_none() {
                    odd.extend(tally.notes(name, column.kind, comma, reading.month_first.is_some()));
                }
                wanted.push(column);
            }
        }
        if delimiter != b',' {
            notes.push(format!("cells are split at {}", dialect::shown(delimiter)));
        }
        if comma {
            notes.push("numbers have a decimal comma".into());
        }
        notes.extend(kinds::told(odd));
        let mark = if comma { b',' } else { b'.' };
        let given = reading.columns.is_some();
        let layout =
            Layout { file: file.into(), delimiter, line_end, mark, cells: names.len(), given, wanted, markers };
        Ok(Text { blocks, layout, waiting, ready: VecDeque::new(), writing })
    }

    /// How the text is written.
    pub(super) fn writing(&self) -> &Writing {
        &self.writing
    }

    pub(super) fn fields(&self) -> Vec<Field> {
        self.layout.wanted.iter().map(|wanted| Field { name: wanted.name.clone(), kind: wanted.kind }).collect()
    }

    /// Parses what waits and meanwhile reads what comes next.
    fn advance(&mut self) {
        let count = (2 * rayon::current_num_threads()).clamp(2, 16);
        let Text { blocks, layout, waiting, .. } = self;
        let (parsed, read) = rayon::join(
            || waiting.par_iter().map(|block| parse::parse(layout, block)).collect::<Vec<_>>(),
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
            // The blocks before the fault come first.
            let parsed: Vec<_> = self.waiting.par_iter().map(|block| parse::parse(&self.layout, block)).collect();
            self.waiting.clear();
            self.ready.extend(parsed);
            self.ready.push_back(Err(error));
        }
    }
}

impl Iterator for Text {
    type Item = Result<Parsed>;

    fn next(&mut self) -> Option<Result<Parsed>> {
        loop {
            match self.ready.pop_front() {
                // What follows the header in the first block.
                Some(Ok((table, _))) if table.rows() == 0 && !self.layout.wanted.is_empty() => {}
                Some(chunk) => return Some(chunk),
                None if self.waiting.is_empty() => return None,
                None => self.advance(),
            }
        }
    }
}

/// The first record.
struct Header {
    line: u64,
    cells: Vec<Vec<u8>>,
    /// How many bytes it takes, and the line after it.
    after: (usize, u64),
}

impl Header {
    fn of(block: &Block, delimiter: u8, line_end: u8) -> Option<Self> {
        let mut records = Records::new(&block.bytes, block.line + block.empty, delimiter, line_end);
        let record = records.next_written()?;
        let (line, cells) = (record.line, record.iter().map(<[u8]>::to_vec).collect());
        let (rest, next) = records.rest();
        Some(Header { line, cells, after: (block.bytes.len() - rest.len(), next) })
    }
}

impl Wanted {
    /// How a column is to be read: as the user says, else as its cells show, else as in the table before.
    fn new(at: usize, name: &str, tally: &Tally, comma: bool, reading: &Reading) -> Self {
        let forced = reading.kinds.get(name).copied();
        let kind = forced.unwrap_or_else(|| tally.kind(comma));
        let before = reading.writing.as_ref();
        let style = before.and_then(|before| before.columns.get(name));
        let order = |month_first: bool| if month_first { Order::MonthFirst } else { Order::DayFirst };
        let order = reading.month_first.map(order).or_else(|| tally.order()).or_else(|| style?.month_first.map(order));
        let sign = match before {
            // Numbers that were without a sign are others than those with one: 0.031 is 3.1 %.
            Some(_) if forced.is_some() => style.and_then(|style| style.sign),
            _ => tally.sign(comma),
        };
        let is_clock = if tally.has_times() { tally.is_clock() } else { style.is_some_and(|style| style.is_clock) };
        let (name, order) = (name.to_owned(), order.unwrap_or_default());
        Wanted { at, name, kind, forced: forced.is_some(), order, sign, is_clock }
    }

    /// What a cell alone does not show.
    fn style(&self, tally: &Tally) -> Style {
        let month_first = tally.has_order().then_some(self.order == Order::MonthFirst);
        match self.kind {
            Kind::Time => Style { month_first, is_clock: self.is_clock, sign: None },
            Kind::Number => Style { sign: self.sign, ..Style::default() },
            _ => Style::default(),
        }
    }
}

/// A delimiter as csv-core takes it.
fn single_byte(delimiter: char) -> Result<u8> {
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => {
            let problem = format!("`{}` cannot stand between cells", delimiter.escape_debug());
            Err(Error::setting("delimiter", problem, "give `,`, `;`, `|` or a tab"))
        }
    }
}

/// How many rows there are in the sample, and what was seen in its columns.
fn tally(blocks: &[Block], delimiter: u8, line_end: u8, markers: &Markers, columns: usize) -> (u64, Vec<Tally>) {
    let of_block = |block: &Block| {
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
    let parts: Vec<_> = blocks.par_iter().map(of_block).collect();
    let mut sum = (0, vec![Tally::default(); columns]);
    for (rows, tallies) in parts {
        sum.0 += rows;
        sum.1.iter_mut().zip(&tallies).for_each(|(sum, part)| sum.merge(part));
    }
    sum
}

/// The names in the header, without the empty columns at the right.
fn named(
    file: &str,
    line: u64,
    header: &[Vec<u8>],
    tallies: &[Tally],
    comma: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<String>> {
    let used = |at: &usize| !header[*at].is_empty() || tallies[*at].written > 0;
    let count = (0..header.len()).rev().find(used).map_or(1, |last| last + 1);
    if count < header.len() {
        notes.push(format!("{} empty columns at the right are left out", header.len() - count));
    }
    let mut names = Vec::with_capacity(count);
    for (at, cell) in header[..count].iter().enumerate() {
        let name = std::str::from_utf8(cell).map_err(|_| {
            let problem = format!("the name `{}` of column {} is not UTF-8", shown(cell), at + 1);
            let hint = "save the file as UTF-8: `iconv -f latin1 -t utf-8 FILE > NEW`";
            Error::data(Place { line: Some(line), ..Place::file(file) }, problem, hint)
        })?;
        if name.is_empty() {
            notes.push(format!("column {0} has no name and is called `column {0}`", at + 1));
            names.push(format!("column {}", at + 1));
        } else {
            names.push(name.into());
        }
    }
    if kinds::looks_like_data(&header[..count], tallies, comma) {
        let problem = "the first line looks like a row, but was taken as the header";
        notes.push(format!("{problem}; if the file has none, name the columns with `{}`", Setting("columns")));
    }
    Ok(names)
}

/// Two columns of one name could not be told apart.
pub(super) fn check_unique(file: &str, names: &[&str], given: bool) -> Result<()> {
    let mut seen = std::collections::HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(before) = seen.insert(*name, at) {
            let problem = format!("columns {} and {} are both called `{}`", before + 1, at + 1, shown(name.as_bytes()));
            return Err(if given {
                Error::setting("columns", problem, "give each its own name")
            } else {
                let hint = format!("rename one; or name all with `{}` if the file has no header", Setting("columns"));
                Error::data(Place::file(file), problem, first_of(&[hint, "rename one".into()]))
            });
        }
    }
    Ok(())
}
