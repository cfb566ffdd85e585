//! Splits a block of text into records with csv-core, and counts lines.

use csv_core::{ReadRecordResult, ReaderBuilder};

/// Iterates over the records of a text. An empty line is a record of one empty cell, although csv-core skips empty lines.
pub(super) struct Records<'a> {
    core: csv_core::Reader,
    rest: &'a [u8],
    line_end: u8,
    line: u64,
    cells: Vec<u8>,
    ends: Vec<usize>,
}

/// A record (a row or the header) of a text table. Its cells are stored without quotes, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    /// The number of the line on which the record begins.
    pub(super) line: u64,
    cells: &'a [u8],
    ends: &'a [usize],
    /// The record as written in the file.
    raw: &'a [u8],
}

impl<'a> Records<'a> {
    /// Iterates over the records of `text`, which begins on the line number `line` of the file.
    pub(super) fn new(text: &'a [u8], line: u64, delimiter: u8, line_end: u8) -> Self {
        let core = ReaderBuilder::new().delimiter(delimiter).build();
        Records { core, rest: text, line_end, line, cells: vec![0; 1024], ends: vec![0; 32] }
    }

    /// The text that was not read yet, and the line on which it begins.
    pub(super) fn rest(&self) -> (&'a [u8], u64) {
        (self.rest, self.line)
    }

    /// The next record; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Option<Record<'_>> {
        while let [byte @ (b'\n' | b'\r'), rest @ ..] = self.rest {
            self.rest = rest;
            // In `\r\n` only the byte `line_end` counts as the end of a line; the other byte is skipped.
            if *byte == self.line_end {
                self.line += 1;
                return Some(Record { line: self.line - 1, cells: &[], ends: &[0], raw: &[] });
            }
        }
        let (line, begin) = (self.line, self.rest);
        let (mut written, mut count) = (0, 0);
        loop {
            let (result, read, wrote, ended) =
                self.core.read_record(self.rest, &mut self.cells[written..], &mut self.ends[count..]);
            self.rest = &self.rest[read..];
            written += wrote;
            count += ended;
            match result {
                // The text has ended. The next call of `read_record` gets empty input, which tells csv-core that the last record is
                // complete.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return None,
            }
        }
        let read = &begin[..begin.len() - self.rest.len()];
        // This is the fast path for a record on a single line, in which the first line end is the last byte of the record.
        if memchr::memchr(self.line_end, read) == Some(read.len() - 1) {
            self.line += 1;
        } else {
            self.line += memchr::memchr_iter(self.line_end, read).count() as u64;
            if read.last() != Some(&self.line_end) {
                self.skip_line_end();
            }
        }
        Some(Record { line, cells: &self.cells[..written], ends: &self.ends[..count], raw: read })
    }

    /// The next record that is not an empty line; `None` at the end of the text.
    pub(super) fn next_nonempty(&mut self) -> Option<Record<'_>> {
        // The record is read a second time to be returned, because the borrow checker does not accept returning it from within the loop.
        loop {
            let before = (self.rest, self.line);
            if !self.next()?.is_empty_line() {
                (self.rest, self.line) = before;
                return self.next();
            }
        }
    }

    /// Skips the rest of a line end. csv-core ends a record after the first byte of `\r\n` or `\r\r\n` (which some programs write), so the other
    /// bytes are still in the text.
    fn skip_line_end(&mut self) {
        let mut rest = self.rest;
        while let [byte @ (b'\n' | b'\r'), after @ ..] = rest {
            rest = after;
            if *byte == self.line_end {
                (self.rest, self.line) = (rest, self.line + 1);
                return;
            }
        }
    }
}

impl<'a> Record<'a> {
    /// The number of cells in the record.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the cell with the index `at`, without the spaces and tabs around it.
    #[inline]
    pub(super) fn cell(&self, at: usize) -> &'a [u8] {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        let mut cell = &self.cells[begin..self.ends[at]];
        while let [b' ' | b'\t', rest @ ..] = cell {
            cell = rest;
        }
        while let [rest @ .., b' ' | b'\t'] = cell {
            cell = rest;
        }
        cell
    }

    /// Iterates over the cells of the record, without the spaces and tabs around them.
    pub(super) fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map(move |at| self.cell(at))
    }

    /// Whether all cells of the record are empty or consist of spaces and tabs.
    #[inline]
    pub(super) fn is_blank(&self) -> bool {
        self.cells.iter().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// Whether the record is a line that is empty or consists of spaces and tabs, without a delimiter or quote.
    pub(super) fn is_empty_line(&self) -> bool {
        self.len() == 1 && self.is_blank() && !self.raw.contains(&b'"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line number and the cells of each record of a text.
    fn read_records(text: &str) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(text.as_bytes(), 1, b',', b'\n');
        let mut all = Vec::new();
        while let Some(record) = records.next() {
            all.push((record.line, record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()));
        }
        all
    }

    #[test]
    fn every_record_has_the_line_number_of_its_first_line() {
        let text = "a,b\r\n\r\n1, 2 \n\n\"x\ny\",\"say \"\"no\"\"\"\n3,4";
        let expected: [(u64, &[&str]); 6] = [
            (1, &["a", "b"]),
            (2, &[""]),
            (3, &["1", "2"]),
            (4, &[""]),
            (5, &["x\ny", "say \"no\""]),
            (7, &["3", "4"]),
        ];
        assert_eq!(
            read_records(text),
            expected.map(|(line, cells)| (line, cells.iter().map(ToString::to_string).collect()))
        );
    }

    #[test]
    fn line_ends_with_carriage_returns_are_counted_once() {
        for end in ["\n", "\r\n", "\r\r\n"] {
            let text = format!("a,b{end}1,2{end}{end}\"\"{end}3,4{end}");
            let lines: Vec<(u64, usize)> =
                read_records(&text).iter().map(|(line, cells)| (*line, cells.len())).collect();
            assert_eq!(lines, [(1, 2), (2, 2), (3, 1), (4, 1), (5, 2)], "{end:?}");
        }
    }

    #[test]
    fn a_quoted_empty_cell_is_not_an_empty_line() {
        let mut records = Records::new(b"\n \t\n\"\"\n,\n", 1, b',', b'\n');
        let mut found = Vec::new();
        while let Some(record) = records.next() {
            found.push((record.is_blank(), record.is_empty_line()));
        }
        assert_eq!(found, [(true, true), (true, true), (true, false), (true, false)]);
    }

    #[test]
    fn cells_longer_than_the_buffers_are_read_completely() {
        let long = "x".repeat(5000);
        let text = format!("{}\n", vec![long.as_str(); 100].join(","));
        let all = read_records(&text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].1, vec![long; 100]);
    }
}
