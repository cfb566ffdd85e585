//! A table in chunks, from whatever source.

use super::arrow::Arrow;
use super::parquet::Parquet;
use super::source::{self, Opened};
use super::text::Text;
use super::{Field, Reading, Source, Table, Writing};
use crate::error::Result;
use crate::note::Note;

/// A table that is being read: an iterator over chunks of bounded size, in the order of the file. Every chunk has the same
/// columns of the same kinds, wherever the chunks are cut; the cuts do not depend on the number of threads. Levels of
/// categories are those of the chunk. Nothing follows an error.
pub struct Reader {
    chunks: Option<Chunks>,
    fields: Vec<Field>,
    notes: Vec<String>,
    writing: Writing,
    empty_lines: EmptyLines,
}

/// Empty lines that were read as rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EmptyLines {
    pub(super) count: u64,
    /// The line of the first.
    pub(super) first: u64,
}

impl EmptyLines {
    pub(super) fn add(&mut self, further: EmptyLines) {
        if self.count == 0 {
            self.first = further.first;
        }
        self.count += further.count;
    }

    fn note(&self) -> Option<String> {
        let EmptyLines { count, first } = self;
        match count {
            0 => None,
            1 => Some(format!(
                "line {first} is empty: it is read as a row of missing values, so that rows keep their places; take it out if it \
                 is no row"
            )),
            _ => Some(format!(
                "{count} lines are empty, the first is line {first}: they are read as rows of missing values, so that rows keep \
                 their places; take them out if they are no rows"
            )),
        }
    }
}

/// Decides what is read of a table from the names of its columns.
pub type Choose<'a> = dyn Fn(&[&str], &mut Reading) -> Result<()> + 'a;

enum Chunks {
    Text(Box<Text>),
    Parquet(Parquet),
    Arrow(Box<Arrow>),
}

impl Reader {
    /// Opens a table and recognises what it holds.
    pub fn open(source: &Source, reading: &Reading) -> Result<Self> {
        Reader::open_with(source, reading, &|_, _| Ok(()))
    }

    /// Opens a table whose columns decide what is read of it: `choose` sees the names of all columns, and may change which are read and as
    /// what. A pipe can be opened only once, so the names cannot be looked at beforehand.
    pub fn open_with(source: &Source, reading: &Reading, choose: &Choose<'_>) -> Result<Self> {
        let mut reading = reading.clone();
        let mut notes = Vec::new();
        let file = source.name();
        match source::open(source, &mut reading)? {
            Opened::Text { text, line } => {
                let text = Text::open(&file, text, line, &mut reading, choose, &mut notes)?;
                let (fields, writing) = (text.fields(), text.writing().clone());
                Ok(Reader::new(Chunks::Text(Box::new(text)), fields, notes, writing))
            }
            Opened::Parquet(blob) => {
                let parquet = Parquet::open(&file, &blob, &mut reading, choose, &mut notes)?;
                let fields = parquet.fields();
                Ok(Reader::new(Chunks::Parquet(parquet), fields, notes, reading.writing.unwrap_or_default()))
            }
            Opened::Arrow { blob, stream } => {
                let arrow = Arrow::open(&file, &blob, stream, &mut reading, choose, &mut notes)?;
                let fields = arrow.fields();
                Ok(Reader::new(Chunks::Arrow(Box::new(arrow)), fields, notes, reading.writing.unwrap_or_default()))
            }
        }
    }

    fn new(chunks: Chunks, fields: Vec<Field>, notes: Vec<String>, writing: Writing) -> Self {
        Reader { chunks: Some(chunks), fields, notes, writing, empty_lines: EmptyLines::default() }
    }

    /// The columns, in the order of the file.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// What was recognised and what seems odd, for the user to read.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.notes.iter().map(Note::new).collect()
    }

    /// What was seen in the chunks handed out so far: after the last one, all there is to say of the whole file.
    #[must_use]
    pub fn late_notes(&self) -> Vec<Note> {
        self.empty_lines.note().into_iter().map(Note::new).collect()
    }

    /// How the table is written, so that another one can be read alike.
    #[must_use]
    pub fn writing(&self) -> &Writing {
        &self.writing
    }
}

impl Iterator for Reader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let chunk = match self.chunks.as_mut()? {
            Chunks::Text(text) => text.next().map(|chunk| {
                chunk.map(|(table, empty_lines)| {
                    self.empty_lines.add(empty_lines);
                    table
                })
            }),
            Chunks::Parquet(parquet) => parquet.next(),
            Chunks::Arrow(arrow) => arrow.next(),
        };
        if !matches!(chunk, Some(Ok(_))) {
            self.chunks = None;
        }
        chunk
    }
}
