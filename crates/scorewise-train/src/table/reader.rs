//! A table in chunks, from whatever source.

use super::arrow::Arrow;
use super::parquet::Parquet;
use super::source::{self, Opened};
use super::text::Text;
use super::{Field, Reading, Source, Table};
use crate::error::Result;
use crate::note::Note;

/// A table that is being read: an iterator over chunks of bounded size, in the order of the file. Every chunk has the same
/// columns of the same kinds, wherever the chunks are cut; the cuts do not depend on the number of threads. Levels of
/// categories are those of the chunk. Nothing follows an error.
pub struct Reader {
    chunks: Option<Chunks>,
    fields: Vec<Field>,
    notes: Vec<String>,
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
                Ok(Reader { fields: text.fields(), chunks: Some(Chunks::Text(Box::new(text))), notes })
            }
            Opened::Parquet(blob) => {
                let parquet = Parquet::open(&file, &blob, &mut reading, choose, &mut notes)?;
                Ok(Reader { fields: parquet.fields(), chunks: Some(Chunks::Parquet(parquet)), notes })
            }
            Opened::Arrow { blob, stream } => {
                let arrow = Arrow::open(&file, &blob, stream, &mut reading, choose, &mut notes)?;
                Ok(Reader { fields: arrow.fields(), chunks: Some(Chunks::Arrow(Box::new(arrow))), notes })
            }
        }
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
}

impl Iterator for Reader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let chunk = match self.chunks.as_mut()? {
            Chunks::Text(text) => text.next(),
            Chunks::Parquet(parquet) => parquet.next(),
            Chunks::Arrow(arrow) => arrow.next(),
        };
        if !matches!(chunk, Some(Ok(_))) {
            self.chunks = None;
        }
        chunk
    }
}
