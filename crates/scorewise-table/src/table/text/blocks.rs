//! Splits text into blocks of whole records, which can be parsed in parallel.
//!
//! A line end within quotes does not end a record. As in csv-core, a quote only opens a quoted cell at the start of the cell.
//! No block ends with empty lines. The number of empty lines after a block is passed to the next block, because empty lines are rows only if
//! more records follow.

use std::io::Read;

use crate::error::{Error, Location, Result};
use crate::table::source::{check_encoding, unreadable_error};

/// The usual size of a block in bytes: large enough to occupy a thread, small enough to keep several blocks in memory. It does not depend on the
/// number of threads, so that the chunks of a table are always the same.
const BLOCK_BYTES: usize = 2 << 20;
/// If the header is very long, blocks are made large enough for this many rows that are as long as the header.
const MIN_BLOCK_ROWS: usize = 16;
/// The maximum length of a record in bytes. A longer record most likely has a quote that is never closed.
const MAX_RECORD_BYTES: usize = 64 << 20;

/// A block of text that consists of whole records.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// The number of the line on which the block begins. If there are empty lines before `bytes`, this is the number of the first of them.
    pub(super) line: u64,
    /// The number of line ends in `bytes`.
    pub(super) lines: usize,
    /// The number of empty lines before `bytes`.
    pub(super) empty: u64,
}

/// Splits text into blocks.
pub(super) struct Blocks {
    file: String,
    source: Option<Box<dyn Read + Send>>,
    /// Bytes that were read but are not part of a block yet.
    pending: Vec<u8>,
    line: u64,
    /// The number of empty lines before `pending`; the first of them is line number `line`.
    empty: u64,
    /// The number of bytes that are read for a block; more are read if these bytes contain no complete record.
    size: usize,
    pub(super) delimiter: u8,
    pub(super) line_end: u8,
}

impl Blocks {
    /// Opens a text and reads the bytes of the first block, from which the delimiter can then be recognised.
    pub(super) fn new(file: &str, source: Box<dyn Read + Send>, line: u64) -> Result<Self> {
        let mut blocks = Blocks {
            file: file.into(),
            source: Some(source),
            pending: Vec::new(),
            line,
            empty: 0,
            size: BLOCK_BYTES,
            delimiter: b',',
            line_end: b'\n',
        };
        blocks.fill(BLOCK_BYTES)?;
        check_encoding(file, &blocks.pending)?;
        if blocks.pending.starts_with(b"\xef\xbb\xbf") {
            blocks.pending.drain(..3);
        }
        // In old Macintosh files, lines end with a carriage return without a line feed.
        if memchr::memchr(b'\n', &blocks.pending).is_none() && memchr::memchr(b'\r', &blocks.pending).is_some() {
            blocks.line_end = b'\r';
        }
        Ok(blocks)
    }

    /// The text read so far, and whether it is the whole file.
    pub(super) fn preview(&self) -> (&[u8], bool) {
        (&self.pending, self.source.is_none())
    }

    /// Makes blocks large enough for [`MIN_BLOCK_ROWS`] rows that are as long as the header, which has `header` bytes. Each block costs
    /// time in proportion to the number of columns. With only a few rows in a block, the time to read a table would therefore grow with the
    /// square of the number of columns.
    pub(super) fn fit_block_size(&mut self, header: usize) {
        self.size = BLOCK_BYTES.max(header.saturating_mul(MIN_BLOCK_ROWS)).min(MAX_RECORD_BYTES);
    }

    /// The next block; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Block>> {
        let mut size = self.size;
        loop {
            self.fill(size)?;
            if self.pending.is_empty() {
                return Ok(None);
            }
            let (end, open_quote) = last_record_end(&self.pending, self.delimiter, self.line_end);
            let end = match (end, open_quote) {
                (_, None) if self.source.is_none() => self.pending.len(),
                (None, Some(quote)) if self.source.is_none() => return Err(self.unclosed_quote_error(quote)),
                (Some(end), _) => end,
                (None, quote) if self.pending.len() >= MAX_RECORD_BYTES => {
                    return Err(quote.map_or_else(|| self.too_long_error(), |quote| self.unclosed_quote_error(quote)));
                }
                (None, _) => {
                    size *= 2;
                    continue;
                }
            };
            let rest = self.pending[end..].to_vec();
            let mut bytes = std::mem::replace(&mut self.pending, rest);
            bytes.truncate(end);
            let rows_end = end_of_rows(&bytes, self.delimiter, self.line_end);
            let empty_after = memchr::memchr_iter(self.line_end, &bytes[rows_end..]).count() as u64;
            bytes.truncate(rows_end);
            if bytes.is_empty() {
                self.empty += empty_after;
                size = self.size;
                continue;
            }
            let lines = memchr::memchr_iter(self.line_end, &bytes).count();
            let (line, empty) = (self.line, self.empty);
            self.line += empty + lines as u64;
            self.empty = empty_after;
            return Ok(Some(Block { bytes, line, lines, empty }));
        }
    }

    /// Reads until `pending` has `size` bytes or the text ends.
    fn fill(&mut self, size: usize) -> Result<()> {
        let Some(source) = &mut self.source else { return Ok(()) };
        let missing_bytes = size.saturating_sub(self.pending.len());
        self.pending.reserve(missing_bytes);
        let read = source.take(missing_bytes as u64).read_to_end(&mut self.pending);
        if read.map_err(|error| unreadable_error(&self.file, &error))? < missing_bytes {
            self.source = None;
        }
        Ok(())
    }

    /// The error for a quoted cell that is never closed. `quote` is the index of its opening quote in `pending`, the bytes that were read last.
    fn unclosed_quote_error(&self, quote: usize) -> Error {
        let lines = memchr::memchr_iter(self.line_end, &self.pending[..quote]).count() as u64;
        let line = self.line + self.empty + lines;
        Error::data(
            Location { line: Some(line), ..Location::file(&self.file) },
            "a quoted cell begins here and is never closed",
            "close the quote, or remove it",
        )
    }

    /// The error for a record that is longer than [`MAX_RECORD_BYTES`].
    fn too_long_error(&self) -> Error {
        Error::data(
            Location { line: Some(self.line + self.empty), ..Location::file(&self.file) },
            format!("the line is longer than {} MiB", MAX_RECORD_BYTES >> 20),
            "check that the file is a text table",
        )
    }
}

/// The position after the last line that is not blank; 0 if all lines are blank. A blank line is empty or consists of spaces and tabs; a tab that is
/// the delimiter is not blank.
fn end_of_rows(text: &[u8], delimiter: u8, line_end: u8) -> usize {
    let is_blank = |byte: &u8| matches!(byte, b'\n' | b'\r' | b' ' | b'\t') && *byte != delimiter;
    text.iter()
        .rposition(|byte| !is_blank(byte))
        .map_or(0, |last| memchr::memchr(line_end, &text[last..]).map_or(text.len(), |end| last + end + 1))
}

/// Returns two positions in `text`. The first is the end of the last complete record; `None` if there is no such record. The second is that of an
/// opening quote that is not closed; `None` if all quotes are closed.
fn last_record_end(text: &[u8], delimiter: u8, line_end: u8) -> (Option<usize>, Option<usize>) {
    let last_line_end = |text: &[u8]| memchr::memrchr(line_end, text).map(|at| at + 1);
    let mut end = None;
    // The position after the last quoted cell. From there to the next opening quote, every line end is the end of a record.
    let mut unquoted = 0;
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]).map(|found| at + found) {
        at = quote + 1;
        let opens = quote == 0 || matches!(text[quote - 1], b'\n' | b'\r') || text[quote - 1] == delimiter;
        if !opens {
            continue;
        }
        end = last_line_end(&text[unquoted..quote]).map(|found| unquoted + found).or(end);
        loop {
            match memchr::memchr(b'"', &text[at..]).map(|found| at + found) {
                None => return (end, Some(quote)),
                Some(close) if text.get(close + 1) == Some(&b'"') => at = close + 2,
                Some(close) => {
                    at = close + 1;
                    unquoted = at;
                    break;
                }
            }
        }
    }
    (last_line_end(&text[unquoted..]).map(|found| unquoted + found).or(end), None)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn line_ends_within_quotes_do_not_end_a_record() {
        let end = |text: &str| last_record_end(text.as_bytes(), b',', b'\n');
        assert_eq!(end("a,b\nc"), (Some(4), None));
        assert_eq!(end("a,\"b\n\"\nc"), (Some(7), None));
        assert_eq!(end("a,b\nc,\"d\ne"), (Some(4), Some(6)));
        assert_eq!(end("a,\"x\"\"\n\"\"y\"\nc"), (Some(12), None));
        assert_eq!(end("5\" pipe\nx"), (Some(8), None), "a quote in the middle of a cell is an ordinary character");
        assert_eq!(end("\"\"\n\"\"\"\n"), (Some(3), Some(3)));
        assert_eq!(end("abc"), (None, None));
    }

    #[test]
    fn empty_lines_are_passed_to_the_next_block_and_dropped_at_the_end() {
        let text = format!("a,b\n1,2 \n{}3,4\n \n\r\n\t\n", "\n".repeat(3 * BLOCK_BYTES));
        let mut blocks = Blocks::new("t.csv", Box::new(Cursor::new(text.into_bytes())), 1).unwrap();
        let first = blocks.next().unwrap().unwrap();
        assert_eq!((first.bytes.as_slice(), first.line, first.lines, first.empty), (&b"a,b\n1,2 \n"[..], 1, 2, 0));
        let second = blocks.next().unwrap().unwrap();
        assert!(second.bytes.ends_with(b"\n3,4\n") && second.bytes.len() < 2 * BLOCK_BYTES && second.line == 3);
        assert_eq!(second.empty + second.lines as u64, 3 * BLOCK_BYTES as u64 + 1);
        assert!(blocks.next().unwrap().is_none());
        assert_eq!(
            end_of_rows(b"1\t\n\t\t\n\n", b'\t', b'\n'),
            6,
            "a line of tabs is not empty if the tab is the delimiter"
        );
    }

    #[test]
    fn blocks_contain_whole_records_and_count_lines() {
        let row = "1,\"two\nlines\",3\n";
        let text = row.repeat(400_000);
        let mut blocks = Blocks::new("t.csv", Box::new(Cursor::new(text.clone().into_bytes())), 1).unwrap();
        let (mut all, mut lines) = (Vec::new(), 1);
        while let Some(block) = blocks.next().unwrap() {
            assert_eq!(block.line, lines);
            assert!(block.bytes.starts_with(b"1,") && block.bytes.ends_with(b",3\n"));
            lines += block.lines as u64;
            all.extend(block.bytes);
        }
        assert_eq!(all, text.into_bytes());
        assert_eq!(lines, 800_001);
    }
}
