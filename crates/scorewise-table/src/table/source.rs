//! Opens the source of a table (a file, standard input, or a built-in table), recognises its format, and reads it with the reader of that
//! format.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::arrow::ArrowReader;
use super::byte_source::ByteSource;
use super::parquet::ParquetReader;
use super::reader::{ChooseColumns, EmptyLines};
use super::text::TextReader;
use super::{Field, Reading, Table, TextConventions};
use crate::error::{Error, Location, Result};

/// The source of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A built-in table.
    BuiltIn(BuiltIn),
}

/// The built-in tables, which come from the UCI Machine Learning Repository. `data/README.md` describes their origin and licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Adult: 32561 people of the 1994 US census, to predict an income above 50 000 dollars.
    Adult,
    /// The test set of Adult: 16281 further people. Two peculiarities of the original file are removed: the first line, which is not a row, and
    /// the dot after each label.
    AdultTest,
    /// Beijing PM2.5: hourly measurements of weather and particulate matter, 43824 rows.
    Pollution,
}

/// The names of the columns of the Adult data set, whose files have no header.
const ADULT_COLUMNS: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
];

impl Source {
    /// Parses `-` as standard input, the name of a built-in table such as `adult` as that table, and any other text as a path. A file with the
    /// name of a built-in table can be given as `./adult`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match BuiltIn::ALL.into_iter().find(|table| table.name() == text) {
            Some(table) => Source::BuiltIn(table),
            None if text == "-" => Source::Stdin,
            None => Source::File(text.into()),
        }
    }

    /// The name of the source in messages.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Stdin => "standard input".into(),
            Source::BuiltIn(table) => table.name().into(),
        }
    }
}

impl BuiltIn {
    /// All built-in tables.
    pub const ALL: [BuiltIn; 3] = [BuiltIn::Adult, BuiltIn::AdultTest, BuiltIn::Pollution];

    /// The name by which users select this table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Adult => "adult",
            BuiltIn::AdultTest => "adult-test",
            BuiltIn::Pollution => "pollution",
        }
    }

    /// The table as the bytes of a gzip file.
    fn compressed_bytes(self) -> &'static [u8] {
        match self {
            BuiltIn::Adult => include_bytes!("../../data/adult.data.gz"),
            BuiltIn::AdultTest => include_bytes!("../../data/adult.test.gz"),
            BuiltIn::Pollution => include_bytes!("../../data/PRSA_data_2010.1.1-2014.12.31.csv.gz"),
        }
    }

    /// The text of the table, and the line of the original file, counted from 1, on which the text begins.
    fn text(self) -> io::Result<(Vec<u8>, u64)> {
        let mut text = Vec::new();
        MultiGzDecoder::new(self.compressed_bytes()).read_to_end(&mut text)?;
        if self != BuiltIn::AdultTest {
            return Ok((text, 1));
        }
        let second_line = memchr::memchr(b'\n', &text).map_or(0, |at| at + 1);
        let rows = text[second_line..].split(|byte| *byte == b'\n').map(|row| row.strip_suffix(b".").unwrap_or(row));
        Ok((rows.collect::<Vec<_>>().join(&b'\n'), 2))
    }
}

/// An opened source of a table, with the format that was recognised.
enum OpenedSource {
    /// Text, decompressed if necessary; it begins on the line `line` of the original file, counted from 1.
    Text { text: Box<dyn Read + Send>, line: u64 },
    /// A Parquet file.
    Parquet(ByteSource),
    /// An Arrow IPC file (`.arrow`, `.feather`) or stream.
    Arrow { bytes: ByteSource, is_stream: bool },
}

/// The reader of one file format, which yields chunks of rows.
pub(super) enum Chunks {
    Text(Box<TextReader>),
    Parquet(ParquetReader),
    Arrow(Box<ArrowReader>),
}

impl Chunks {
    /// Opens a source with the reader of its format.
    pub fn open(
        source: &Source,
        reading: &mut Reading,
        choose: &ChooseColumns<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let file = source.name();
        Ok(match open(source, reading)? {
            OpenedSource::Text { text, line } => {
                Chunks::Text(Box::new(TextReader::open(&file, text, line, reading, choose, notes)?))
            }
            OpenedSource::Parquet(bytes) => {
                Chunks::Parquet(ParquetReader::open(&file, &bytes, reading, choose, notes)?)
            }
            OpenedSource::Arrow { bytes, is_stream } => {
                Chunks::Arrow(Box::new(ArrowReader::open(&file, &bytes, is_stream, reading, choose, notes)?))
            }
        })
    }

    /// The names and types of the columns that are read.
    pub fn fields(&self) -> Vec<Field> {
        match self {
            Chunks::Text(text) => text.fields(),
            Chunks::Parquet(parquet) => parquet.fields(),
            Chunks::Arrow(arrow) => arrow.fields(),
        }
    }

    /// How numbers and dates are written in a text table. For other formats, the conventions that `reading` contains are returned.
    pub fn writing(&self, reading: &Reading) -> TextConventions {
        match self {
            Chunks::Text(text) => text.writing().clone(),
            _ => reading.writing.clone().unwrap_or_default(),
        }
    }

    /// The next chunk, and the empty lines that were read as rows of the chunk.
    pub fn next(&mut self) -> Option<Result<(Table, EmptyLines)>> {
        let without_lines = |chunk: Result<Table>| chunk.map(|table| (table, EmptyLines::default()));
        match self {
            Chunks::Text(text) => text.next(),
            Chunks::Parquet(parquet) => parquet.next().map(without_lines),
            Chunks::Arrow(arrow) => arrow.next().map(without_lines),
        }
    }
}

/// Opens a source and recognises its format by its first bytes, not by the name of the file.
fn open(source: &Source, reading: &mut Reading) -> Result<OpenedSource> {
    let name = source.name();
    match source {
        Source::BuiltIn(table) => {
            if *table != BuiltIn::Pollution && reading.columns.is_none() {
                reading.columns = Some(ADULT_COLUMNS.map(String::from).to_vec());
            }
            let (text, line) = table.text().map_err(|error| unreadable_error(&name, &error))?;
            Ok(OpenedSource::Text { text: Box::new(Cursor::new(text)), line })
        }
        Source::Stdin => {
            let mut stdin = io::stdin();
            let start = first_bytes(&mut stdin).map_err(|error| unreadable_error(&name, &error))?;
            let whole = Cursor::new(start.clone()).chain(stdin);
            let in_memory = |mut whole: io::Chain<Cursor<Vec<u8>>, io::Stdin>| {
                let mut bytes = Vec::new();
                whole.read_to_end(&mut bytes).map_err(|error| unreadable_error(&name, &error))?;
                Ok::<_, Error>(ByteSource::from_memory(bytes))
            };
            match recognise_format(&name, &start)? {
                Format::Text => Ok(OpenedSource::Text { text: Box::new(whole), line: 1 }),
                Format::Gzip => Ok(OpenedSource::Text { text: Box::new(gzip_decoder(whole)), line: 1 }),
                Format::Parquet => Ok(OpenedSource::Parquet(in_memory(whole)?)),
                Format::ArrowFile => Ok(OpenedSource::Arrow { bytes: in_memory(whole)?, is_stream: false }),
                Format::ArrowStream => Ok(OpenedSource::Arrow { bytes: in_memory(whole)?, is_stream: true }),
            }
        }
        Source::File(path) => open_file(path, &name),
    }
}

/// Opens a file and recognises its format. A text file with the file extension of a Parquet or Arrow file is an error.
fn open_file(path: &Path, name: &str) -> Result<OpenedSource> {
    let mut file = File::open(path).map_err(|error| unreadable_error(name, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable_error(name, &error))?;
    if metadata.is_dir() {
        return Err(Error::data(Location::file(name), "is a directory", "name one of the files in this directory"));
    }
    let start = first_bytes(&mut file).map_err(|error| unreadable_error(name, &error))?;
    let format = recognise_format(name, &start)?;
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let expected = match extension.as_str() {
        "parquet" | "pq" => "Parquet",
        "arrow" | "feather" | "ipc" => "Arrow",
        _ => "",
    };
    if format == Format::Text && !expected.is_empty() {
        return Err(Error::data(
            Location::file(name),
            format!("is not a {expected} file"),
            "the file may be damaged or truncated; name it .csv if it is text",
        ));
    }
    // A pipe cannot be rewound, so the bytes that were already read are put in front of the remaining bytes.
    let whole = Cursor::new(start).chain(file.try_clone().map_err(|error| unreadable_error(name, &error))?);
    Ok(match format {
        Format::Text => OpenedSource::Text { text: Box::new(whole), line: 1 },
        Format::Gzip => OpenedSource::Text { text: Box::new(gzip_decoder(whole)), line: 1 },
        Format::Parquet => OpenedSource::Parquet(ByteSource::from_file(file, metadata.len())),
        Format::ArrowFile => {
            OpenedSource::Arrow { bytes: ByteSource::from_file(file, metadata.len()), is_stream: false }
        }
        Format::ArrowStream => {
            OpenedSource::Arrow { bytes: ByteSource::from_file(file, metadata.len()), is_stream: true }
        }
    })
}

/// A decoder of gzip data, which may consist of several gzip members.
fn gzip_decoder<R: Read>(compressed: R) -> MultiGzDecoder<io::BufReader<R>> {
    MultiGzDecoder::new(io::BufReader::with_capacity(64 << 10, compressed))
}

/// Reads the first eight bytes of a source, or all bytes if it is shorter.
fn first_bytes(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    source.take(8).read_to_end(&mut start)?;
    Ok(start)
}

/// The format of a file, as recognised by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Gzip,
    Parquet,
    ArrowFile,
    ArrowStream,
}

/// Recognises the format of a file by its first bytes; an error for formats that cannot be read.
fn recognise_format(name: &str, start: &[u8]) -> Result<Format> {
    let refused = |problem: &str, hint: &str| Err(Error::data(Location::file(name), problem, hint));
    match start {
        [] => refused("is empty", "a table needs a header and at least one row"),
        [0x1f, 0x8b, ..] => Ok(Format::Gzip),
        [b'P', b'A', b'R', b'1', ..] => Ok(Format::Parquet),
        [b'P', b'A', b'R', b'E', ..] => refused("is an encrypted Parquet file", "write it without encryption"),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Ok(Format::ArrowFile),
        [b'F', b'E', b'A', b'1', ..] => refused("is a Feather file of version 1", "write it as version 2"),
        [0xff, 0xff, 0xff, 0xff, ..] => Ok(Format::ArrowStream),
        [b'P', b'K', 3, 4, ..] => {
            refused("is a zip archive or a spreadsheet", "unpack the archive, or save the sheet as CSV")
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            refused("is compressed with zstd", "decompress the file, or compress it with gzip")
        }
        [b'B', b'Z', b'h', ..] => refused("is compressed with bzip2", "decompress the file, or compress it with gzip"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            refused("is compressed with xz", "decompress the file, or compress it with gzip")
        }
        _ => check_byte_order_mark(name, start).map(|()| Format::Text),
    }
}

/// Returns an error if a text begins with the byte order mark of UTF-16 or UTF-32.
fn check_byte_order_mark(name: &str, start: &[u8]) -> Result<()> {
    match start {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Err(not_utf8_error(name, "UTF-32 text", "utf-32")),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(not_utf8_error(name, "UTF-16 text", "utf-16")),
        _ => Ok(()),
    }
}

/// The error for text that is not UTF-8. `iconv` is the name of the encoding for the program iconv, which the hint suggests.
fn not_utf8_error(name: &str, encoding: &str, iconv: &str) -> Error {
    let hint = format!("save the file as UTF-8: `iconv -f {iconv} -t utf-8 FILE > NEW`");
    Error::data(Location::file(name), format!("is {encoding}"), hint)
}

/// Returns an error if a text is in UTF-16 or UTF-32. The encoding is recognised by its byte order mark or by zero bytes: digits, delimiters and
/// line ends contain zero bytes in these encodings. [`open`] also checks the byte order mark, but not that of compressed text.
pub(super) fn check_encoding(name: &str, text: &[u8]) -> Result<()> {
    let start = &text[..text.len().min(4096)];
    check_byte_order_mark(name, start)?;
    if !start.contains(&0) {
        return Ok(());
    }
    let quads = start.chunks_exact(4);
    if quads.len() > 0 && quads.clone().all(|quad| quad[3] == 0 && quad[2] <= 0x10 && quad != [0; 4]) {
        return Err(not_utf8_error(name, "UTF-32 text without a byte order mark", "utf-32le"));
    }
    if quads.len() > 0 && quads.clone().all(|quad| quad[0] == 0 && quad[1] <= 0x10 && quad != [0; 4]) {
        return Err(not_utf8_error(name, "UTF-32 text without a byte order mark", "utf-32be"));
    }
    let pairs = start.chunks_exact(2);
    let zeros = |byte: usize| pairs.clone().filter(|pair| pair[byte] == 0).count();
    // In UTF-16, every ASCII character has a zero byte. Digits, delimiters and line ends are ASCII, so even in a table with text in a
    // non-Latin script, at least a fifth of the characters should have a zero byte.
    let min_zeros = (pairs.len() / 5).max(1);
    // In each pair of bytes, the zero byte of an ASCII character is the second byte in little-endian text and the first byte in big-endian text.
    // A few characters that are not ASCII have a zero in the other byte, so the numbers of zeros among the first bytes and among the second
    // bytes are compared.
    match (zeros(0), zeros(1)) {
        (few, most) if most >= min_zeros && most > 4 * few => {
            Err(not_utf8_error(name, "UTF-16 text without a byte order mark", "utf-16le"))
        }
        (most, few) if most >= min_zeros && most > 4 * few => {
            Err(not_utf8_error(name, "UTF-16 text without a byte order mark", "utf-16be"))
        }
        _ => Ok(()),
    }
}

/// The error for a file that cannot be read.
pub(super) fn unreadable_error(name: &str, error: &io::Error) -> Error {
    let place = Location::file(name);
    match error.kind() {
        io::ErrorKind::NotFound => {
            let built_in = super::nearest(name, BuiltIn::ALL.map(BuiltIn::name));
            let hint = built_in.map_or_else(
                || {
                    let names = BuiltIn::ALL.map(|table| format!("`{}`", table.name())).join(", ");
                    format!("check the name and the folder; the built-in tables are {names}")
                },
                |near| format!("did you mean the built-in table `{near}`?"),
            );
            Error::data(place, "no such file", hint)
        }
        io::ErrorKind::PermissionDenied => Error::data(
            place,
            "cannot be read: permission denied",
            "get permission to read the file, or name another one",
        ),
        io::ErrorKind::IsADirectory => Error::data(place, "is a directory", "name one of the files in this directory"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Error::data(place, format!("the compressed data is damaged: {error}"), "download or write the file again")
        }
        _ => Error::data(place, format!("cannot be read: {error}"), ""),
    }
}
