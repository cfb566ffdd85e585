//! Where a table comes from: a file, standard input, or one of the tables that come along.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::Reading;
use super::blob::Blob;
use crate::error::{Error, Place, Result};

/// Where a table comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A table that comes along.
    BuiltIn(BuiltIn),
}

/// The tables that come along, as UCI distributes them (data/README.md tells their origin and licence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// 32561 people of the 1994 census: is the income above 50 000 dollars?
    Adult,
    /// 16281 further people, kept for testing. The file's first line, which is no row, and the final dots of its labels
    /// are left out.
    AdultTest,
    /// 43824 hours of weather and fine dust in Beijing.
    Pollution,
}

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
    /// From what a user writes: `-`, the name of a built-in table, or a path. `./adult` is the file of that name.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match BuiltIn::ALL.into_iter().find(|table| table.name() == text) {
            Some(table) => Source::BuiltIn(table),
            None if text == "-" => Source::Stdin,
            None => Source::File(text.into()),
        }
    }

    /// The name that messages use.
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
    /// All of them.
    pub const ALL: [BuiltIn; 3] = [BuiltIn::Adult, BuiltIn::AdultTest, BuiltIn::Pollution];

    /// As a user writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::Adult => "adult",
            BuiltIn::AdultTest => "adult-test",
            BuiltIn::Pollution => "pollution",
        }
    }

    fn packed(self) -> &'static [u8] {
        match self {
            BuiltIn::Adult => include_bytes!("../../data/adult.data.gz"),
            BuiltIn::AdultTest => include_bytes!("../../data/adult.test.gz"),
            BuiltIn::Pollution => include_bytes!("../../data/PRSA_data_2010.1.1-2014.12.31.csv.gz"),
        }
    }

    /// The text and the line it begins on.
    fn text(self) -> io::Result<(Vec<u8>, u64)> {
        let mut text = Vec::new();
        MultiGzDecoder::new(self.packed()).read_to_end(&mut text)?;
        if self != BuiltIn::AdultTest {
            return Ok((text, 1));
        }
        let first = memchr::memchr(b'\n', &text).map_or(0, |at| at + 1);
        let rows = text[first..].split(|byte| *byte == b'\n').map(|row| row.strip_suffix(b".").unwrap_or(row));
        Ok((rows.collect::<Vec<_>>().join(&b'\n'), 2))
    }
}

/// What a source turned out to hold.
pub(super) enum Opened {
    /// Text and the line it begins on.
    Text { text: Box<dyn Read + Send>, line: u64 },
    /// A Parquet file.
    Parquet(Blob),
    /// An Arrow IPC file (`.arrow`, `.feather`) or stream.
    Arrow { blob: Blob, stream: bool },
}

/// Opens a source and looks at its first bytes: they, not the file's name, say what it holds.
pub(super) fn open(source: &Source, reading: &mut Reading) -> Result<Opened> {
    let name = source.name();
    match source {
        Source::BuiltIn(table) => {
            if *table != BuiltIn::Pollution && reading.columns.is_none() {
                reading.columns = Some(ADULT_COLUMNS.map(String::from).to_vec());
            }
            let (text, line) = table.text().map_err(|error| unreadable(&name, &error))?;
            Ok(Opened::Text { text: Box::new(Cursor::new(text)), line })
        }
        Source::Stdin => {
            let mut stdin = io::stdin();
            let start = begin(&mut stdin).map_err(|error| unreadable(&name, &error))?;
            let whole = Cursor::new(start.clone()).chain(stdin);
            let in_memory = |mut whole: io::Chain<Cursor<Vec<u8>>, io::Stdin>| {
                let mut bytes = Vec::new();
                whole.read_to_end(&mut bytes).map_err(|error| unreadable(&name, &error))?;
                Ok::<_, Error>(Blob::memory(bytes))
            };
            match recognise(&name, &start)? {
                Format::Text => Ok(Opened::Text { text: Box::new(whole), line: 1 }),
                Format::Gzip => Ok(Opened::Text { text: Box::new(unpacked(whole)), line: 1 }),
                Format::Parquet => Ok(Opened::Parquet(in_memory(whole)?)),
                Format::ArrowFile => Ok(Opened::Arrow { blob: in_memory(whole)?, stream: false }),
                Format::ArrowStream => Ok(Opened::Arrow { blob: in_memory(whole)?, stream: true }),
            }
        }
        Source::File(path) => open_file(path, &name),
    }
}

fn open_file(path: &Path, name: &str) -> Result<Opened> {
    let mut file = File::open(path).map_err(|error| unreadable(name, &error))?;
    let about = file.metadata().map_err(|error| unreadable(name, &error))?;
    if about.is_dir() {
        return Err(Error::data(Place::file(name), "is a directory", "name one of the files in it"));
    }
    let start = begin(&mut file).map_err(|error| unreadable(name, &error))?;
    let format = recognise(name, &start)?;
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let promised = match extension.as_str() {
        "parquet" | "pq" => "Parquet",
        "arrow" | "feather" | "ipc" => "Arrow",
        _ => "",
    };
    if format == Format::Text && !promised.is_empty() {
        return Err(Error::data(
            Place::file(name),
            format!("is no {promised} file"),
            "it may be damaged or cut; name it .csv if it is text",
        ));
    }
    // Seeking fails on pipes: what was read is put in front again.
    let whole = Cursor::new(start).chain(file.try_clone().map_err(|error| unreadable(name, &error))?);
    Ok(match format {
        Format::Text => Opened::Text { text: Box::new(whole), line: 1 },
        Format::Gzip => Opened::Text { text: Box::new(unpacked(whole)), line: 1 },
        Format::Parquet => Opened::Parquet(Blob::file(file, about.len())),
        Format::ArrowFile => Opened::Arrow { blob: Blob::file(file, about.len()), stream: false },
        Format::ArrowStream => Opened::Arrow { blob: Blob::file(file, about.len()), stream: true },
    })
}

fn unpacked<R: Read>(packed: R) -> MultiGzDecoder<io::BufReader<R>> {
    MultiGzDecoder::new(io::BufReader::with_capacity(64 << 10, packed))
}

/// The first eight bytes, fewer where there are no more.
fn begin(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    source.take(8).read_to_end(&mut start)?;
    Ok(start)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Gzip,
    Parquet,
    ArrowFile,
    ArrowStream,
}

fn recognise(name: &str, start: &[u8]) -> Result<Format> {
    let refused = |problem: &str, hint: &str| Err(Error::data(Place::file(name), problem, hint));
    match start {
        [] => refused("is empty", "a table has a header and at least one row"),
        [0x1f, 0x8b, ..] => Ok(Format::Gzip),
        [b'P', b'A', b'R', b'1', ..] => Ok(Format::Parquet),
        [b'P', b'A', b'R', b'E', ..] => refused("is an encrypted Parquet file", "write it without encryption"),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Ok(Format::ArrowFile),
        [b'F', b'E', b'A', b'1', ..] => refused("is a Feather file of version 1", "write it as version 2"),
        [0xff, 0xff, 0xff, 0xff, ..] => Ok(Format::ArrowStream),
        [b'P', b'K', 3, 4, ..] => refused("is a zip archive or a spreadsheet", "unpack it, or save the sheet as CSV"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => refused("is packed with zstd", "unpack it, or pack it with gzip"),
        [b'B', b'Z', b'h', ..] => refused("is packed with bzip2", "unpack it, or pack it with gzip"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => refused("is packed with xz", "unpack it, or pack it with gzip"),
        _ => recognise_mark(name, start).map(|()| Format::Text),
    }
}

/// Refuses text with the byte order mark of UTF-16 or UTF-32.
fn recognise_mark(name: &str, start: &[u8]) -> Result<()> {
    match start {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Err(not_utf8(name, "UTF-32 text", "utf-32")),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(not_utf8(name, "UTF-16 text", "utf-16")),
        _ => Ok(()),
    }
}

/// The fault of a text in another encoding, by its name and by the name that `iconv` has for it.
fn not_utf8(name: &str, encoding: &str, iconv: &str) -> Error {
    let hint = format!("save it as UTF-8: `iconv -f {iconv} -t utf-8 FILE > NEW`");
    Error::data(Place::file(name), format!("is {encoding}"), hint)
}

/// Refuses text in UTF-16 or UTF-32 by its first bytes, with a byte order mark (in packed text, which [`open`] does not see) or
/// without: in a table most characters are digits, delimiters and line ends, whose other bytes are 0.
pub(super) fn check_encoding(name: &str, text: &[u8]) -> Result<()> {
    let start = &text[..text.len().min(4096)];
    recognise_mark(name, start)?;
    if !start.contains(&0) {
        return Ok(());
    }
    let quads = start.chunks_exact(4);
    if quads.len() > 0 && quads.clone().all(|quad| quad[3] == 0 && quad[2] <= 0x10 && quad != [0; 4]) {
        return Err(not_utf8(name, "UTF-32 text without a byte order mark", "utf-32le"));
    }
    if quads.len() > 0 && quads.clone().all(|quad| quad[0] == 0 && quad[1] <= 0x10 && quad != [0; 4]) {
        return Err(not_utf8(name, "UTF-32 text without a byte order mark", "utf-32be"));
    }
    let pairs = start.chunks_exact(2);
    let zeros = |place: usize| pairs.clone().filter(|pair| pair[place] == 0).count();
    // Every character of a table in Latin letters; a fifth of them where the texts are in another script.
    let many = (pairs.len() / 5).max(1);
    // Some characters of other scripts have a 0 in the other place.
    match (zeros(0), zeros(1)) {
        (few, most) if most >= many && most > 4 * few => {
            Err(not_utf8(name, "UTF-16 text without a byte order mark", "utf-16le"))
        }
        (most, few) if most >= many && most > 4 * few => {
            Err(not_utf8(name, "UTF-16 text without a byte order mark", "utf-16be"))
        }
        _ => Ok(()),
    }
}

/// The fault of a file that the system does not give.
pub(super) fn unreadable(name: &str, error: &io::Error) -> Error {
    let place = Place::file(name);
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
        io::ErrorKind::PermissionDenied => Error::data(place, "may not be read", "ask for permission to read it"),
        io::ErrorKind::IsADirectory => Error::data(place, "is a directory", "name one of the files in it"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Error::data(place, format!("the packed data are damaged: {error}"), "fetch or write the file again")
        }
        _ => Error::data(place, format!("cannot be read: {error}"), ""),
    }
}
