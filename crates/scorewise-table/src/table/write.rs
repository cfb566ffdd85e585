//! Writes tables in chunks, as CSV or TSV (optionally compressed with gzip), as Parquet or as Arrow.
//!
//! Parquet and Arrow files can also contain metadata (see [`TableWriter::create`]). Text files contain nothing but the table, because
//! additional lines would break the programs that read them.

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

use super::column::is_time_of_day;
use super::{Category, Table, Values};
use crate::error::{Error, Location, Result};
use crate::spreadsheet::escape_formula;

/// The formats that tables can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Text with cells separated by commas.
    Csv,
    /// Text with cells separated by tabs.
    Tsv,
    /// CSV compressed with gzip.
    CsvGzip,
    /// TSV compressed with gzip.
    TsvGzip,
    /// Parquet, compressed with Snappy.
    Parquet,
    /// An Arrow IPC file, compressed with LZ4. Feather version 2 is the same format.
    Arrow,
}

impl TableFormat {
    /// The format for the extension of a file name; CSV for a name without an extension, such as the name of a pipe.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let has_extension = |extension: &str| name.ends_with(extension) && name.len() > extension.len();
        let extensions = [
            (".csv", TableFormat::Csv),
            (".tsv", TableFormat::Tsv),
            (".csv.gz", TableFormat::CsvGzip),
            (".tsv.gz", TableFormat::TsvGzip),
            (".parquet", TableFormat::Parquet),
            (".pq", TableFormat::Parquet),
            (".arrow", TableFormat::Arrow),
            (".feather", TableFormat::Arrow),
        ];
        if let Some((_, format)) = extensions.into_iter().find(|(extension, _)| has_extension(extension)) {
            return Ok(format);
        }
        if !name.trim_start_matches('.').contains('.') {
            return Ok(TableFormat::Csv);
        }
        let place = Location::file(&path.display().to_string());
        let problem = "a table cannot be written in the format of this file extension";
        Err(Error::data(place, problem, "name a file that ends in .csv, .tsv, .csv.gz, .parquet or .arrow"))
    }

    /// The byte between two cells of a text format.
    fn delimiter(self) -> u8 {
        if matches!(self, TableFormat::Tsv | TableFormat::TsvGzip) { b'\t' } else { b',' }
    }
}

/// Writes a table in chunks of rows. All chunks must have the same columns.
pub struct TableWriter<W: Write + Send> {
    schema: Arc<Schema>,
    sink: Sink<W>,
}

/// The writer for the format of the file.
enum Sink<W: Write + Send> {
    Text { out: TextOutput<W>, delimiter: u8 },
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

/// The output of a text format, optionally compressed with gzip.
enum TextOutput<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
}

impl<W: Write> TextOutput<W> {
    /// Writes bytes, and compresses them first if the format is compressed.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            TextOutput::Plain(out) => out.write_all(bytes),
            TextOutput::Gzip(out) => out.write_all(bytes),
        }
    }

    /// Writes the remaining bytes and returns the underlying writer.
    fn finish(self) -> io::Result<W> {
        match self {
            TextOutput::Plain(mut out) => out.flush().map(|()| out),
            TextOutput::Gzip(out) => out.finish(),
        }
    }
}

/// The number of rows that one thread formats as a block of text.
const BLOCK_ROWS: usize = 4096;

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file with the names and types of the columns of `like`; the rows of `like` are not written. `integers` lists the columns of numbers
    /// that Parquet and Arrow files store as integers. `metadata` is a list of key-value pairs that Parquet and Arrow files store.
    pub fn create(
        out: W,
        format: TableFormat,
        like: &Table,
        integers: &[&str],
        metadata: &[(&str, String)],
    ) -> io::Result<Self> {
        let schema_metadata: HashMap<String, String> =
            metadata.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let schema = Arc::new(Schema::new_with_metadata(arrow_fields(like, integers), schema_metadata));
        let delimiter = format.delimiter();
        let sink = match format {
            TableFormat::Csv | TableFormat::Tsv => Sink::Text { out: TextOutput::Plain(out), delimiter },
            TableFormat::CsvGzip | TableFormat::TsvGzip => {
                Sink::Text { out: TextOutput::Gzip(GzEncoder::new(out, GzipLevel::default())), delimiter }
            }
            TableFormat::Parquet => {
                let metadata = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_key_value_metadata(Some(metadata.collect()))
                    .build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
                Sink::Parquet(Box::new(writer.map_err(write_error)?))
            }
            TableFormat::Arrow => {
                let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
                let writer = options.and_then(|options| FileWriter::try_new_with_options(out, &schema, options));
                Sink::Arrow(Box::new(writer.map_err(write_error)?))
            }
        };
        let mut writer = TableWriter { schema, sink };
        if let Sink::Text { out, delimiter } = &mut writer.sink {
            out.write_all(&header_line(like, *delimiter)?)?;
        }
        Ok(writer)
    }

    /// Writes the rows of a chunk. In text formats, writing to a closed pipe gives an error with [`io::ErrorKind::BrokenPipe`].
    pub fn write(&mut self, table: &Table) -> io::Result<()> {
        match &mut self.sink {
            Sink::Text { out, delimiter } => {
                text_blocks(table, *delimiter).into_iter().try_for_each(|block| out.write_all(&block?))
            }
            Sink::Parquet(writer) => {
                let batch = record_batch(table, self.schema.clone())?;
                writer.write(&batch).map_err(write_error)
            }
            Sink::Arrow(writer) => {
                let batch = record_batch(table, self.schema.clone())?;
                writer.write(&batch).map_err(write_error)
            }
        }
    }

    /// Completes the file and returns the underlying writer.
    pub fn finish(self) -> io::Result<W> {
        match self.sink {
            Sink::Text { out, .. } => out.finish(),
            Sink::Parquet(writer) => writer.into_inner().map_err(write_error),
            Sink::Arrow(mut writer) => {
                let finished = writer.finish();
                finished.and_then(|()| writer.into_inner()).map_err(write_error)
            }
        }
    }
}

/// Turns an error of the CSV, Parquet or Arrow library into an I/O error with the same message.
fn write_error(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

/// The header: the names of the columns as a line of text.
fn header_line(table: &Table, delimiter: u8) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|column| escape_formula(&column.name).into_owned()))?;
    writer.into_inner().map_err(write_error)
}

/// The rows of a table as blocks of text, which are formatted in parallel.
fn text_blocks(table: &Table, delimiter: u8) -> Vec<io::Result<Vec<u8>>> {
    (0..table.rows().div_ceil(BLOCK_ROWS))
        .into_par_iter()
        .map(|block| {
            let rows = block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(table.rows());
            let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
            for row in rows {
                for column in &table.columns {
                    match &column.values {
                        Values::Category(Category { codes, levels }) => {
                            let text = levels.get(codes[row] as usize).map_or("", String::as_str);
                            writer.write_field(escape_formula(text).as_bytes())?;
                        }
                        values => writer.write_field(values.text(row))?,
                    }
                }
                writer.write_record(None::<&[u8]>)?;
            }
            writer.into_inner().map_err(write_error)
        })
        .collect()
}

/// The Arrow fields (names and types) of the columns of a table.
fn arrow_fields(table: &Table, integers: &[&str]) -> Vec<ArrowField> {
    let field = |column: &super::Column| {
        let data_type = match &column.values {
            Values::Number(_) if integers.contains(&column.name.as_str()) => DataType::Int64,
            Values::Number(_) => DataType::Float64,
            Values::Category(_) => DataType::Utf8,
            Values::Boolean(_) => DataType::Boolean,
            Values::Time(_) => DataType::Timestamp(TimeUnit::Millisecond, None),
        };
        ArrowField::new(&column.name, data_type, true)
    };
    table.columns.iter().map(field).collect()
}

/// The rows of a table as Arrow arrays, in which a missing value is null.
fn record_batch(table: &Table, schema: Arc<Schema>) -> io::Result<RecordBatch> {
    let array = |(column, field): (&super::Column, &Arc<ArrowField>)| -> ArrayRef {
        match &column.values {
            Values::Number(values) if *field.data_type() == DataType::Int64 => {
                Arc::new(values.iter().map(|x| (!x.is_nan()).then_some(*x as i64)).collect::<Int64Array>())
            }
            Values::Number(values) => {
                Arc::new(values.iter().map(|x| (!x.is_nan()).then_some(*x)).collect::<Float64Array>())
            }
            Values::Category(Category { codes, levels }) => {
                let string = |code: &u32| levels.get(*code as usize).map(String::as_str);
                Arc::new(codes.iter().map(string).collect::<StringArray>())
            }
            Values::Boolean(values) => Arc::new(values.iter().copied().collect::<BooleanArray>()),
            Values::Time(values) => {
                // A time of day without a date is written as that time on 1970-01-01.
                let seconds = |time: i64| if is_time_of_day(time) { time - Values::TIME_OF_DAY_ORIGIN } else { time };
                let milliseconds = |time: &i64| (*time != Values::NO_TIME).then(|| seconds(*time).saturating_mul(1000));
                Arc::new(values.iter().map(milliseconds).collect::<TimestampMillisecondArray>())
            }
        }
    };
    let arrays = table.columns.iter().zip(schema.fields()).map(array).collect();
    RecordBatch::try_new(schema, arrays).map_err(write_error)
}
