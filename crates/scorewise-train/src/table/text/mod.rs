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
use self::kinds::Tally;
pub(super) use self::parse::refusal;
use self::parse::{Layout, Wanted};
use self::records::Records;
use super::reading::{Markers, check_names};
use super::{Choose, Field, Reading, Table, shown};
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
    ready: VecDeque<Result<Table>>,
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
            block.lines -= (line - block.line) as usize;
            block.line = line;
        }
        let (rows, tallies) = tally(&waiting, delimiter, line_end, &markers, header.len());
        if rows == 0 {
            return Err(Error::data(Place::file(file), "a header and no rows", "a table has at least one row"));
        }

        let comma = delimiter != b',' && reading.decimal_comma.unwrap_or_else(|| kinds::decimal_comma(&tallies));
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
        let only: Option<HashSet<&String>> = reading.only.as_ref().map(|only| only.iter().collect());
        for (at, name) in names.iter().enumerate() {
            if only.as_ref().is_none_or(|only| only.contains(name)) {
                let tally = tallies.get(at).copied().unwrap_or_default();
                let forced = reading.kinds.get(name).copied();
                let kind = forced.unwrap_or_else(|| tally.kind(comma));
                wanted.push(Wanted { at, name: name.clone(), kind, forced: forced.is_some(), order: tally.order() });
            }
        }
        if delimiter != b',' {
            notes.push(format!("cells are split at {}", dialect::shown(delimiter)));
        }
        if comma {
            notes.push("numbers have a decimal comma".into());
        }
        let mark = if comma { b',' } else { b'.' };
        let given = reading.columns.is_some();
        let layout =
            Layout { file: file.into(), delimiter, line_end, mark, cells: names.len(), given, wanted, markers };
        Ok(Text { blocks, layout, waiting, ready: VecDeque::new() })
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
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        loop {
            match self.ready.pop_front() {
                // A block of nothing but blank lines.
                Some(Ok(table)) if table.rows() == 0 && !self.layout.wanted.is_empty() => {}
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
        let mut records = Records::new(&block.bytes, block.line, delimiter, line_end);
        let record = records.next()?;
        let (line, cells) = (record.line, record.iter().map(<[u8]>::to_vec).collect());
        let (rest, next) = records.rest();
        Some(Header { line, cells, after: (block.bytes.len() - rest.len(), next) })
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
            if columns > 1 && record.is_blank() {
                continue;
            }
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
