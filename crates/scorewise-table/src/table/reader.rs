//! Reads a table in chunks from any source and format.

use super::source::Chunks;
use super::{Field, Reading, Source, Table, TextConventions};
use crate::error::Result;
use crate::note::Note;

/// Reads a table as an iterator over chunks of rows of bounded size, in the order of the file. All chunks have the same columns of the same types,
/// and the sizes of chunks do not depend on the number of threads. In each chunk, a categorical column lists only the levels that occur in that
/// chunk. The iterator ends after an error.
pub struct Reader {
    chunks: Option<Chunks>,
    fields: Vec<Field>,
    notes: Vec<String>,
    writing: TextConventions,
    empty_lines: EmptyLines,
}

/// How many empty lines were read as rows, and the first of these lines. Empty lines in tables of one column are not counted, because they are the
/// usual way to write a missing value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EmptyLines {
    pub(super) count: u64,
    /// The line number of the first empty line, if `count` is not 0.
    pub(super) first: u64,
}

impl EmptyLines {
    /// Adds the empty lines of later chunks.
    pub(super) fn add(&mut self, further: EmptyLines) {
        if self.count == 0 {
            self.first = further.first;
        }
        self.count += further.count;
    }

    /// The note that tells the user about empty lines; `None` if there are none.
    fn note(&self) -> Option<String> {
        let EmptyLines { count, first } = self;
        match count {
            0 => None,
            1 => Some(format!(
                "line {first} is empty: it is read as a row of missing values, so that lags and leads count it as a step; \
                 remove it if it is not a row"
            )),
            _ => Some(format!(
                "{count} lines are empty, the first is line {first}: they are read as rows of missing values, so that lags \
                 and leads count them as steps; remove them if they are not rows"
            )),
        }
    }
}

/// A function that gets the names of all columns and may change the settings of the reader, for example to select columns.
pub type ChooseColumns<'a> = dyn Fn(&[&str], &mut Reading) -> Result<()> + 'a;

impl Reader {
    /// Opens a table and recognises its format and columns.
    pub fn open(source: &Source, reading: &Reading) -> Result<Self> {
        Reader::open_with(source, reading, &|_, _| Ok(()))
    }

    /// Opens a table. `choose` gets the names of all columns and may change which columns are read and as which type. This is a callback because
    /// a pipe can be opened only once, so that a caller cannot read the names beforehand.
    pub fn open_with(source: &Source, reading: &Reading, choose: &ChooseColumns<'_>) -> Result<Self> {
        let mut reading = reading.clone();
        let mut notes = Vec::new();
        let chunks = Chunks::open(source, &mut reading, choose, &mut notes)?;
        let (fields, writing) = (chunks.fields(), chunks.writing(&reading));
        Ok(Reader { chunks: Some(chunks), fields, notes, writing, empty_lines: EmptyLines::default() })
    }

    /// The names and types of the columns that are read, in the order of the file.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Notes for the user on what was recognised when the table was opened, and what looks unusual.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.notes.iter().map(Note::new).collect()
    }

    /// Notes for the user on empty lines in the chunks read so far. They are complete after the last chunk.
    #[must_use]
    pub fn late_notes(&self) -> Vec<Note> {
        self.empty_lines.note().into_iter().map(Note::new).collect()
    }

    /// How numbers and dates are written in this table, so that another table can be read in the same way.
    #[must_use]
    pub fn writing(&self) -> &TextConventions {
        &self.writing
    }
}

impl Iterator for Reader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let chunk = self.chunks.as_mut()?.next().map(|chunk| {
            chunk.map(|(table, empty_lines)| {
                self.empty_lines.add(empty_lines);
                table
            })
        });
        if !matches!(chunk, Some(Ok(_))) {
            self.chunks = None;
        }
        chunk
    }
}
