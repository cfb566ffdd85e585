//! Tables as files: CSV, TSV, either packed with gzip, Parquet and Arrow, in chunks of any number of rows.
//!
//! A Parquet or Arrow file also carries texts of its own ([`TableWriter::create`] takes them). A text file carries nothing but its columns,
//! since every other line would break the tools that read it.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{DataType, Field as ArrowField, Schema, TimeUnit};
use flate2::Compression as GzipLevel;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use rayon::prelude::*;

use super::{Category, Table, Values};
use crate::error::{Error, Place, Result};
use crate::spreadsheet::spreadsheet_safe;

/// A format that tables are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Cells with commas between them.
    Csv,
    /// Cells with tabs between them.
    Tsv,
    /// CSV packed with gzip.
    CsvGzip,
    /// TSV packed with gzip.
    TsvGzip,
    /// Parquet, compressed with Snappy.
    Parquet,
    /// An Arrow IPC file, compressed with LZ4; Feather version 2 is the same.
    Arrow,
}

impl TableFormat {
    /// The format that the ending of a file's name stands for; a name without an ending, such as a pipe's, is CSV.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ending = |ending: &str| name.ends_with(ending) && name.len() > ending.len();
        let endings = [
            (".csv", TableFormat::Csv),
            (".tsv", TableFormat::Tsv),
            (".csv.gz", TableFormat::CsvGzip),
            (".tsv.gz", TableFormat::TsvGzip),
            (".parquet", TableFormat::Parquet),
            (".pq", TableFormat::Parquet),
            (".arrow", TableFormat::Arrow),
            (".feather", TableFormat::Arrow),
        ];
        if let Some((_, format)) = endings.into_iter().find(|(text, _)| ending(text)) {
            return Ok(format);
        }
        if !name.trim_start_matches('.').contains('.') {
            return Ok(TableFormat::Csv);
        }
        let place = Place::file(&path.display().to_string());
        let problem = "a table is not written in the format that this name stands for";
        Err(Error::data(place, problem, "name a file that ends in .csv, .tsv, .csv.gz, .parquet or .arrow"))
    }

    fn delimiter(self) -> u8 {
        if matches!(self, TableFormat::Tsv | TableFormat::TsvGzip) { b'\t' } else { b',' }
    }
}

/// Writes the chunks of a table, all with the same columns.
pub struct TableWriter<W: Write + Send> {
    schema: Arc<Schema>,
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Text { out: Packed<W>, delimiter: u8 },
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

/// Text as it is, or packed with gzip.
enum Packed<W: Write> {
    Not(W),
    Gzip(GzEncoder<W>),
}

impl<W: Write> Packed<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Packed::Not(out) => out.write_all(bytes),
            Packed::Gzip(out) => out.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Packed::Not(mut out) => out.flush().map(|()| out),
            Packed::Gzip(out) => out.finish(),
        }
    }
}

/// Rows of a block of text that one thread writes.
const BLOCK: usize = 4096;

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file with the columns of `like`, of which no row is written. `whole` names the columns of numbers that are whole numbers; `about` are names and
    /// texts that Parquet and Arrow files carry.
    pub fn create(
        out: W,
        format: TableFormat,
        like: &Table,
        whole: &[&str],
        about: &[(&str, String)],
    ) -> io::Result<Self> {
        let metadata: HashMap<String, String> =
            about.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields(like, whole), metadata));
        let delimiter = format.delimiter();
        let sink = match format {
            TableFormat::Csv | TableFormat::Tsv => Sink::Text { out: Packed::Not(out), delimiter },
            TableFormat::CsvGzip | TableFormat::TsvGzip => {
                Sink::Text { out: Packed::Gzip(GzEncoder::new(out, GzipLevel::default())), delimiter }
            }
            TableFormat::Parquet => {
                let about = about.iter().map(|(name, text)| KeyValue::new((*name).to_owned(), text.clone()));
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_key_value_metadata(Some(about.collect()))
                    .build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
                Sink::Parquet(Box::new(writer.map_err(unwritten)?))
            }
            TableFormat::Arrow => {
                let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
                let writer = options.and_then(|options| FileWriter::try_new_with_options(out, &schema, options));
                Sink::Arrow(Box::new(writer.map_err(unwritten)?))
            }
        };
        let mut writer = TableWriter { schema, sink };
        if let Sink::Text { out, delimiter } = &mut writer.sink {
            out.write_all(&heading(like, *delimiter)?)?;
        }
        Ok(writer)
    }

    /// Writes the rows of a chunk. An error of a pipe that was closed keeps its kind ([`io::ErrorKind::BrokenPipe`]).
    pub fn write(&mut self, table: &Table) -> io::Result<()> {
        match &mut self.sink {
            Sink::Text { out, delimiter } => {
                text_blocks(table, *delimiter).into_iter().try_for_each(|block| out.write_all(&block?))
            }
            Sink::Parquet(writer) => {
                let batch = batch(table, self.schema.clone())?;
                writer.write(&batch).map_err(unwritten)
            }
            Sink::Arrow(writer) => {
                let batch = batch(table, self.schema.clone())?;
                writer.write(&batch).map_err(unwritten)
            }
        }
    }

    /// Ends the file and gives back what it was written to.
    pub fn finish(self) -> io::Result<W> {
        match self.sink {
            Sink::Text { out, .. } => out.finish(),
            Sink::Parquet(writer) => writer.into_inner().map_err(unwritten),
            Sink::Arrow(mut writer) => {
                let finished = writer.finish();
                finished.and_then(|()| writer.into_inner()).map_err(unwritten)
            }
        }
    }
}

/// The error of a format that could not be written, which says in its text what the file said.
fn unwritten(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// The names of the columns as a line of text.
fn heading(table: &Table, delimiter: u8) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| spreadsheet_safe(&column.name).into_owned()))?;
    writer.into_inner().map_err(unwritten)
}

/// The rows as blocks of text, made on all cores.
fn text_blocks(table: &Table, delimiter: u8) -> Vec<io::Result<Vec<u8>>> {
    (0..table.rows().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(table.rows());
            let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
            for row in rows {
                for column in &table.columns {
                    match &column.values {
                        Values::Category(Category { codes, levels }) => {
                            let text = levels.get(codes[row] as usize).map_or("", String::as_str);
                            writer.write_field(spreadsheet_safe(text).as_bytes())?;
                        }
                        values => writer.write_field(values.text(row))?,
                    }
                }
                writer.write_record(None::<&[u8]>)?;
            }
            writer.into_inner().map_err(unwritten)
        })
        .collect()
}

fn fields(table: &Table, whole: &[&str]) -> Vec<ArrowField> {
    let field = |column: &super::Column| {
        let data = match &column.values {
            Values::Number(_) if whole.contains(&column.name.as_str()) => DataType::Int64,
            Values::Number(_) => DataType::Float64,
            Values::Category(_) => DataType::Utf8,
            Values::Boolean(_) => DataType::Boolean,
            Values::Time(_) => DataType::Timestamp(TimeUnit::Millisecond, None),
        };
        ArrowField::new(&column.name, data, true)
    };
    table.columns.iter().map(field).collect()
}

/// The rows as Arrow arrays; a missing value is null.
fn batch(table: &Table, schema: Arc<Schema>) -> io::Result<RecordBatch> {
    let array = |(column, field): (&super::Column, &Arc<ArrowField>)| -> ArrayRef {
        match &column.values {
            Values::Number(values) if *field.data_type() == DataType::Int64 => {
                Arc::new(values.iter().map(|x| (!x.is_nan()).then_some(*x as i64)).collect::<Int64Array>())
            }
            Values::Number(values) => {
                Arc::new(values.iter().map(|x| (!x.is_nan()).then_some(*x)).collect::<Float64Array>())
            }
            Values::Category(Category { codes, levels }) => {
                let text = |code: &u32| levels.get(*code as usize).map(String::as_str);
                Arc::new(codes.iter().map(text).collect::<StringArray>())
            }
            Values::Boolean(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            Values::Time(values) => {
                // Times of day without a date are those of the first day that the format knows.
                let is_time_of_day = |time: i64| (Values::MIDNIGHT..Values::MIDNIGHT + 86_400).contains(&time);
                let moment = |time: i64| if is_time_of_day(time) { time - Values::MIDNIGHT } else { time };
                let milliseconds = |time: &i64| (*time != Values::NO_TIME).then(|| moment(*time).saturating_mul(1000));
                Arc::new(values.iter().map(milliseconds).collect::<TimestampMillisecondArray>())
            }
        }
    };
    let arrays = table.columns.iter().zip(schema.fields()).map(array).collect();
    RecordBatch::try_new(schema, arrays).map_err(unwritten)
}
