//! Reads damaged tables: bytes of real files are changed, removed and inserted at random, eighty thousand times in total. Every damaged file
//! gives a table or an error that names the file, without a panic, in less than ten seconds, and with at most 64 MiB plus 64 bytes of memory
//! for each byte of the file. For a gzip file, each byte of the decompressed text is counted as well.
//!
//! For speed, the files are in memory if the system has `/dev/shm`, and each test overwrites a single file again and again: creating or truncating
//! a file for every mutation would take most of the time.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, TimestampSecondArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression as GzipLevel;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise_table::table::{Reading, Source, Table, Values, read};

use crate::table_files::ScratchFolder;

/// An allocator that counts the bytes in use (`BYTES_IN_USE`) and keeps the maximum of this count (`PEAK_BYTES_IN_USE`).
struct CountingAllocator;

/// The number of bytes that are allocated now.
static BYTES_IN_USE: AtomicUsize = AtomicUsize::new(0);
/// The maximum of `BYTES_IN_USE` since the last measurement began.
static PEAK_BYTES_IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are forwarded to the system allocator, and counting bytes does not access the allocated memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = BYTES_IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES_IN_USE.fetch_max(in_use, Ordering::Relaxed);
        // SAFETY: the caller fulfils the requirements of the system allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let in_use = BYTES_IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES_IN_USE.fetch_max(in_use, Ordering::Relaxed);
        // SAFETY: the caller fulfils the requirements of the system allocator.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES_IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller fulfils the requirements of the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The allocator of all tests in this binary.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Locked during a measurement so that only one test measures at a time, because the allocator counts the memory of all tests together.
static MEASURING: Mutex<()> = Mutex::new(());

/// A file whose content is replaced by one table after another.
struct OverwrittenFile {
    file: File,
    source: Source,
    // Removes the folder and the file in it when `OverwrittenFile` is dropped.
    _folder: ScratchFolder,
}

impl OverwrittenFile {
    /// Creates an empty file with this name in a temporary folder.
    fn new(name: &str) -> Self {
        let folder = ScratchFolder::new();
        let path = folder.path().join(name);
        OverwrittenFile { file: File::create(&path).unwrap(), source: Source::File(path), _folder: folder }
    }

    /// Replaces the content of the file and reads it as a table.
    fn write_and_read(&mut self, bytes: &[u8]) -> Result<Table, String> {
        // The file is shortened only after it was overwritten: truncating it to 0 bytes first would make some file systems write the new content to
        // disk at once.
        self.file.seek(SeekFrom::Start(0)).unwrap();
        self.file.write_all(bytes).unwrap();
        self.file.set_len(bytes.len() as u64).unwrap();
        read(&self.source, &Reading::default()).map_err(|error| error.to_string())
    }
}

/// Makes `times` damaged copies of a file at random. Reads each copy and checks the memory, the time, and the error message if there is one.
#[expect(clippy::disallowed_methods, reason = "the random number generator of a test has a fixed seed")]
fn check_mutations(name: &str, original: &[u8], seed: u64, times: usize) {
    let mut file = OverwrittenFile::new(name);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    file.write_and_read(original).expect("the original file can be read");
    let mut tables = 0;
    for time in 0..times {
        let bytes = mutated_copy(original, &mut random);
        let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let before = BYTES_IN_USE.load(Ordering::Relaxed);
        PEAK_BYTES_IN_USE.store(before, Ordering::Relaxed);
        let outcome = file.write_and_read(&bytes);
        let allocated = PEAK_BYTES_IN_USE.load(Ordering::Relaxed) - before;
        let bound = (64 << 20) + 64 * size_with_decompressed_text(&bytes);
        assert!(
            allocated <= bound,
            "{name}, mutation {time}: {allocated} bytes were allocated, but only {bound} are allowed"
        );
        assert!(start.elapsed() < Duration::from_secs(10), "{name}, mutation {time}: {:?}", start.elapsed());
        match outcome {
            Ok(table) => tables += usize::from(table.rows() > 0),
            Err(message) => {
                assert!(message.contains(name) && message.len() < 2000, "{name}, mutation {time}: {message}");
            }
        }
    }
    // At least one damaged copy must be readable. If all were refused, the decoders would hardly be tested.
    assert!(tables > 0, "{name}: no damaged copy could be read");
}

/// The size of a file in bytes. For a gzip file, the size of the decompressed text is added, as far as the text can be decompressed.
fn size_with_decompressed_text(bytes: &[u8]) -> usize {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes.len();
    }
    let (mut decoder, mut buffer, mut total) = (MultiGzDecoder::new(bytes), [0; 4096], 0);
    while let Ok(read @ 1..) = decoder.read(&mut buffer) {
        total += read;
    }
    bytes.len() + total
}

/// A copy of a file, damaged at one to three random places.
fn mutated_copy(original: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    for _ in 0..=below(3) {
        let length = bytes.len();
        // Sizes and counts are at the beginning and the end of a file, so half of the damage is done there.
        let at = match below(4) {
            0 => below(length.min(400)),
            1 => length - 1 - below(length.min(1500)),
            _ => below(length),
        };
        match below(7) {
            0 | 1 => bytes[at] ^= 1 << below(8),
            2 => bytes[at] = below(256) as u8,
            3 => bytes[at] = [0, 0x7f, 0x80, 0xff][below(4)],
            4 => {
                let run = below(8).min(length - at);
                bytes[at..at + run].fill(0xff);
            }
            5 => {
                let (from, run) = (below(length), below(200));
                let part = bytes[from..(from + run).min(length)].to_vec();
                let replaced = (at + part.len() * below(2)).min(length);
                bytes.splice(at..replaced, part);
            }
            _ if below(3) == 0 => bytes.truncate(at.max(1)),
            _ => {
                bytes.drain(at..(at + below(40)).min(length));
            }
        }
        if bytes.is_empty() {
            return vec![0];
        }
    }
    bytes
}

/// The first `count` lines of a built-in table.
fn first_lines(compressed: &[u8], count: usize) -> Vec<u8> {
    let mut text = String::new();
    MultiGzDecoder::new(compressed).read_to_string(&mut text).unwrap();
    text.split_inclusive('\n').take(count).collect::<String>().into_bytes()
}

/// The first 120 lines of the built-in table `adult`.
fn adult_text() -> Vec<u8> {
    first_lines(include_bytes!("../data/adult.data.gz"), 120)
}

/// The first 200 lines of the built-in table `pollution`.
fn pollution_text() -> Vec<u8> {
    first_lines(include_bytes!("../data/PRSA_data_2010.1.1-2014.12.31.csv.gz"), 200)
}

/// The first rows of the built-in table `pollution` as an Arrow batch, with additional columns of booleans and times.
fn pollution_batch() -> RecordBatch {
    let table = OverwrittenFile::new("pollution.csv").write_and_read(&pollution_text()).unwrap();
    let rows = table.rows() as i64;
    let named = table.columns.iter().map(|column| {
        let array: ArrayRef = match &column.values {
            Values::Number(values) => {
                Arc::new(values.iter().map(|value| (!value.is_nan()).then_some(*value)).collect::<Float64Array>())
            }
            Values::Category(values) => {
                Arc::new(values.codes.iter().map(|code| values.levels.get(*code as usize)).collect::<StringArray>())
            }
            other => panic!("pollution holds {:?}", other.kind()),
        };
        (column.name.clone(), array)
    });
    let more_columns: [(String, ArrayRef); 2] = [
        ("wet".into(), Arc::new((0..rows).map(|row| (row % 9 != 0).then_some(row % 3 == 0)).collect::<BooleanArray>())),
        ("time".into(), Arc::new((0..rows).map(|row| Some(row * 3600)).collect::<TimestampSecondArray>())),
    ];
    RecordBatch::try_from_iter(named.chain(more_columns)).unwrap()
}

/// The pollution table as a Parquet file.
fn parquet_file(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let (batch, mut bytes) = (pollution_batch(), Vec::new());
    let properties = properties.set_max_row_group_row_count(Some(80)).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The pollution table as an Arrow stream or file.
fn arrow_file(stream: bool, codec: Option<CompressionType>) -> Vec<u8> {
    let (batch, mut bytes) = (pollution_batch(), Vec::new());
    let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        writer.write(&batch.slice(0, 100)).unwrap();
        writer.write(&batch.slice(100, 90)).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

#[test]
fn damaged_text_of_the_adult_table_is_read_or_refused() {
    check_mutations("adult.csv", &adult_text(), 1, 10_000);
}

#[test]
fn damaged_text_of_the_pollution_table_is_read_or_refused() {
    check_mutations("pollution.csv", &pollution_text(), 2, 10_000);
}

/// A table with many notations of cells: per cent and currency signs, thousands separators, dates, words for missing values, codes, empty lines.
fn unusual_cells() -> Vec<u8> {
    let mut text = String::from("rate\tprice\tday\tcompact\tclock\tzip\tword\tflag\n");
    for row in 0..120u32 {
        let word = ["None", "-", ".", "N/A"][row as usize % 4];
        text += &format!(
            "{row}.5%\t${},{:03}.50\t{:02}/{:02}/2020\t2020{:02}{:02}\t{}:{:02}\t{:05}\t{}\t{}\n",
            row % 9 + 1,
            row * 7,
            row % 12 + 1,
            row % 28 + 1,
            row % 12 + 1,
            row % 28 + 1,
            row % 24,
            row % 60,
            row * 731,
            if row % 5 == 0 { word.into() } else { row.to_string() },
            if row % 3 == 0 { "yes" } else { word },
        );
        if row % 10 == 0 {
            text += ["\n", "\r\n", "\t\t\t\t\t\t\t\n", "\"\"\n"][row as usize / 10 % 4];
        }
    }
    text.into_bytes()
}

#[test]
fn damaged_text_with_unusual_cells_is_read_or_refused() {
    check_mutations("unusual.csv", &unusual_cells(), 12, 10_000);
}

#[test]
fn damaged_gzip_is_read_or_refused() {
    let mut encoder = GzEncoder::new(Vec::new(), GzipLevel::default());
    encoder.write_all(&pollution_text()).unwrap();
    check_mutations("pollution.csv.gz", &encoder.finish().unwrap(), 3, 10_000);
}

#[test]
fn damaged_parquet_with_snappy_and_dictionaries_is_read_or_refused() {
    check_mutations(
        "snappy.parquet",
        &parquet_file(WriterProperties::builder().set_compression(Compression::SNAPPY)),
        4,
        8_000,
    );
}

#[test]
fn damaged_parquet_with_zstd_is_read_or_refused() {
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    check_mutations("zstd.parquet", &parquet_file(properties), 5, 8_000);
}

#[test]
fn damaged_parquet_with_plain_encoding_is_read_or_refused() {
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    check_mutations("plain.parquet", &parquet_file(properties), 6, 8_000);
}

#[test]
fn damaged_parquet_with_delta_encoded_strings_is_read_or_refused() {
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false)
        .set_column_encoding("cbwd".into(), Encoding::DELTA_BYTE_ARRAY);
    check_mutations("delta.parquet", &parquet_file(properties), 7, 4_000);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("cbwd".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY);
    check_mutations("lengths.parquet", &parquet_file(properties), 8, 2_000);
}

#[test]
fn damaged_arrow_files_are_read_or_refused() {
    check_mutations("plain.arrow", &arrow_file(false, None), 9, 4_000);
    check_mutations("lz4.feather", &arrow_file(false, Some(CompressionType::LZ4_FRAME)), 10, 3_000);
}

#[test]
fn damaged_arrow_streams_are_read_or_refused() {
    check_mutations("zstd.arrow", &arrow_file(true, Some(CompressionType::ZSTD)), 11, 3_000);
}
