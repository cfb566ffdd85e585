//! Text in blocks that end where a record ends, so that blocks can be parsed side by side.
//!
//! A line end within quotes ends no record. A quote opens at the start of a cell and nowhere else, as csv-core has it.
//! No block ends with empty lines: they are counted and go to the next block, so that those at the end of the file, which are
//! no rows, are known as such without looking at two blocks at once.

use std::io::Read;

use crate::error::{Error, Place, Result};
use crate::table::source::{check_encoding, unreadable};

/// The size at which a block is cut: large enough to be worth a thread, small enough to hold a few. It does not depend on
/// the number of threads, so neither do the chunks.
const BLOCK: usize = 2 << 20;
/// Rows that a block has room for, however wide they are.
const ROWS: usize = 16;
/// A record beyond this is taken for a quote that never closes.
const LONGEST_RECORD: usize = 64 << 20;

/// Some whole records.
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// The line it begins on, that of the first empty line where there are some before its bytes.
    pub(super) line: u64,
    /// How many lines end in its bytes.
    pub(super) lines: usize,
    /// How many empty lines stand before its bytes.
    pub(super) empty: u64,
}

/// Cuts text into blocks.
pub(super) struct Blocks {
    file: String,
    source: Option<Box<dyn Read + Send>>,
    /// What was read and not handed out.
    pending: Vec<u8>,
    line: u64,
    /// Empty lines before what is pending, beginning at `line`.
    empty: u64,
    /// The size at which blocks are cut from here on.
    size: usize,
    pub(super) delimiter: u8,
    pub(super) line_end: u8,
}

impl Blocks {
    /// Reads the first block's worth, so that it can be looked at.
    pub(super) fn new(file: &str, source: Box<dyn Read + Send>, line: u64) -> Result<Self> {
        let mut blocks = Blocks {
            file: file.into(),
            source: Some(source),
            pending: Vec::new(),
            line,
            empty: 0,
            size: BLOCK,
            delimiter: b',',
            line_end: b'\n',
        };
        blocks.fill(BLOCK)?;
        check_encoding(file, &blocks.pending)?;
        if blocks.pending.starts_with(b"\xef\xbb\xbf") {
            blocks.pending.drain(..3);
        }
        // Lines of old Macintosh files end with a carriage return alone.
        if memchr::memchr(b'\n', &blocks.pending).is_none() && memchr::memchr(b'\r', &blocks.pending).is_some() {
            blocks.line_end = b'\r';
        }
        Ok(blocks)
    }

    /// The text that comes next, as far as it was read, and whether that is all of it.
    pub(super) fn ahead(&self) -> (&[u8], bool) {
        (&self.pending, self.source.is_none())
    }

    /// Cuts larger blocks where rows are as long as the header: the work for a block grows with its columns, so a wide table in blocks of few
    /// rows would take time that grows with the square of its columns.
    pub(super) fn fit_rows_of(&mut self, header: usize) {
        self.size = BLOCK.max(header.saturating_mul(ROWS)).min(LONGEST_RECORD);
    }

    pub(super) fn next(&mut self) -> Result<Option<Block>> {
        let mut size = self.size;
        loop {
            self.fill(size)?;
            if self.pending.is_empty() {
                return Ok(None);
            }
            let (end, open) = last_end(&self.pending, self.delimiter, self.line_end);
            let end = match (end, open) {
                (_, None) if self.source.is_none() => self.pending.len(),
                (None, Some(quote)) if self.source.is_none() => return Err(self.never_closed(quote)),
                (Some(end), _) => end,
                (None, quote) if self.pending.len() >= LONGEST_RECORD => {
                    return Err(quote.map_or_else(|| self.too_long(), |quote| self.never_closed(quote)));
                }
                (None, _) => {
                    size *= 2;
                    continue;
                }
            };
            let rest = self.pending[end..].to_vec();
            let mut bytes = std::mem::replace(&mut self.pending, rest);
            bytes.truncate(end);
            let written = end_of_rows(&bytes, self.delimiter, self.line_end);
            let after = memchr::memchr_iter(self.line_end, &bytes[written..]).count() as u64;
            bytes.truncate(written);
            if bytes.is_empty() {
                self.empty += after;
                size = self.size;
                continue;
            }
            let lines = memchr::memchr_iter(self.line_end, &bytes).count();
            let (line, empty) = (self.line, self.empty);
            self.line += empty + lines as u64;
            self.empty = after;
            return Ok(Some(Block { bytes, line, lines, empty }));
        }
    }

    /// Reads until so much is pending, or all.
    fn fill(&mut self, size: usize) -> Result<()> {
        let Some(source) = &mut self.source else { return Ok(()) };
        let wanted = size.saturating_sub(self.pending.len());
        self.pending.reserve(wanted);
        let read = source.take(wanted as u64).read_to_end(&mut self.pending);
        if read.map_err(|error| unreadable(&self.file, &error))? < wanted {
            self.source = None;
        }
        Ok(())
    }

    fn never_closed(&self, quote: usize) -> Error {
        let lines = memchr::memchr_iter(self.line_end, &self.pending[..quote]).count() as u64;
        let line = self.line + self.empty + lines;
        Error::data(
            Place { line: Some(line), ..Place::file(&self.file) },
            "a quote opens a cell here and never closes",
            "close it, or take the quote away",
        )
    }

    fn too_long(&self) -> Error {
        Error::data(
            Place { line: Some(self.line + self.empty), ..Place::file(&self.file) },
            format!("a line of more than {} MiB", LONGEST_RECORD >> 20),
            "is this a table of text?",
        )
    }
}

/// Where the last line ends that has more than blanks.
fn end_of_rows(text: &[u8], delimiter: u8, line_end: u8) -> usize {
    let is_blank = |byte: &u8| matches!(byte, b'\n' | b'\r' | b' ' | b'\t') && *byte != delimiter;
    text.iter()
        .rposition(|byte| !is_blank(byte))
        .map_or(0, |last| memchr::memchr(line_end, &text[last..]).map_or(text.len(), |end| last + end + 1))
}

/// Where the last whole record ends, and where a quote opens that does not close before the end.
fn last_end(text: &[u8], delimiter: u8, line_end: u8) -> (Option<usize>, Option<usize>) {
    let last = |text: &[u8]| memchr::memrchr(line_end, text).map(|at| at + 1);
    let mut end = None;
    // The end of the last quoted part: line ends from here on end records until the next quote opens.
    let mut plain = 0;
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]).map(|found| at + found) {
        at = quote + 1;
        let opens = quote == 0 || matches!(text[quote - 1], b'\n' | b'\r') || text[quote - 1] == delimiter;
        if !opens {
            continue;
        }
        end = last(&text[plain..quote]).map(|found| plain + found).or(end);
        loop {
            match memchr::memchr(b'"', &text[at..]).map(|found| at + found) {
                None => return (end, Some(quote)),
                Some(close) if text.get(close + 1) == Some(&b'"') => at = close + 2,
                Some(close) => {
                    at = close + 1;
                    plain = at;
                    break;
                }
            }
        }
    }
    (last(&text[plain..]).map(|found| plain + found).or(end), None)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn line_ends_within_quotes_end_no_record() {
        let end = |text: &str| last_end(text.as_bytes(), b',', b'\n');
        assert_eq!(end("a,b\nc"), (Some(4), None));
        assert_eq!(end("a,\"b\n\"\nc"), (Some(7), None));
        assert_eq!(end("a,b\nc,\"d\ne"), (Some(4), Some(6)));
        assert_eq!(end("a,\"x\"\"\n\"\"y\"\nc"), (Some(12), None));
        assert_eq!(end("5\" pipe\nx"), (Some(8), None), "a quote within a cell opens nothing");
        assert_eq!(end("\"\"\n\"\"\"\n"), (Some(3), Some(3)));
        assert_eq!(end("abc"), (None, None));
    }

    #[test]
    fn empty_lines_go_to_the_next_block_and_those_at_the_end_are_dropped() {
        let text = format!("a,b\n1,2 \n{}3,4\n \n\r\n\t\n", "\n".repeat(3 * BLOCK));
        let mut blocks = Blocks::new("t.csv", Box::new(Cursor::new(text.into_bytes())), 1).unwrap();
        let first = blocks.next().unwrap().unwrap();
        assert_eq!((first.bytes.as_slice(), first.line, first.lines, first.empty), (&b"a,b\n1,2 \n"[..], 1, 2, 0));
        let second = blocks.next().unwrap().unwrap();
        assert!(second.bytes.ends_with(b"\n3,4\n") && second.bytes.len() < 2 * BLOCK && second.line == 3);
        assert_eq!(second.empty + second.lines as u64, 3 * BLOCK as u64 + 1);
        assert!(blocks.next().unwrap().is_none());
        assert_eq!(end_of_rows(b"1\t\n\t\t\n\n", b'\t', b'\n'), 6, "delimiters are no blanks");
    }

    #[test]
    fn blocks_hold_whole_records_and_know_their_lines() {
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
