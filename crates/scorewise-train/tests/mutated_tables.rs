//! Damaged tables: bytes of real ones flipped, cut and spliced, eighty thousand times in all. Each gives a table or a fault
//! that names the file, no panic, within a bound on memory: 64 MiB and 64 bytes for each byte of the file.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, TimestampSecondArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression as Level;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise_train::table::{Reading, Source, Table, Values, read};

/// Counts what is held and the most that was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator; counting touches nothing else.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One measurement at a time: the counter is the whole program's.
static ALONE: Mutex<()> = Mutex::new(());

/// Mutates a file so many times and reads each.
#[expect(clippy::disallowed_methods, reason = "dice of a test")]
fn survive(name: &str, original: &[u8], seed: u64, times: usize) {
    let path = std::env::temp_dir().join(format!("scorewise-mutated-{}-{seed}-{name}", std::process::id()));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    write_and_read(&path, original).expect("the file itself is sound");
    let mut answers = 0;
    for time in 0..times {
        let bytes = mutated(original, &mut random);
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        let before = HELD.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let outcome = write_and_read(&path, &bytes);
        let most = MOST.load(Ordering::Relaxed) - before;
        let bound = (64 << 20) + 64 * unpacked(&bytes);
        assert!(most <= bound, "{name}, mutation {time}: {most} bytes held, {bound} allowed");
        assert!(begun.elapsed() < Duration::from_secs(10), "{name}, mutation {time}: {:?}", begun.elapsed());
        match outcome {
            Ok(table) => answers += usize::from(table.rows() > 0),
            Err(message) => {
                assert!(message.contains(name) && message.len() < 2000, "{name}, mutation {time}: {message}");
            }
        }
    }
    fs::remove_file(&path).unwrap();
    // Some damage is none: were everything refused, nothing would be tried.
    assert!(answers > 0, "{name}: no mutation could be read");
}

fn write_and_read(path: &PathBuf, bytes: &[u8]) -> Result<Table, String> {
    fs::write(path, bytes).unwrap();
    read(&Source::File(path.clone()), &Reading::default()).map_err(|error| error.to_string())
}

/// The size of the text in a packed file, as far as it can be unpacked.
fn unpacked(bytes: &[u8]) -> usize {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes.len();
    }
    let (mut decoder, mut buffer, mut total) = (MultiGzDecoder::new(bytes), [0; 4096], 0);
    while let Ok(read @ 1..) = decoder.read(&mut buffer) {
        total += read;
    }
    bytes.len() + total
}

fn mutated(original: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    for _ in 0..=below(3) {
        let length = bytes.len();
        // Sizes and counts stand at the ends, so half of the damage is done there.
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

/// The first lines of a text that comes along.
fn lines(packed: &[u8], count: usize) -> Vec<u8> {
    let mut text = String::new();
    MultiGzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.split_inclusive('\n').take(count).collect::<String>().into_bytes()
}

fn adult() -> Vec<u8> {
    lines(include_bytes!("../data/adult.data.gz"), 120)
}

fn pollution() -> Vec<u8> {
    lines(include_bytes!("../data/PRSA_data_2010.1.1-2014.12.31.csv.gz"), 200)
}

/// A part of pollution with a boolean and a time, as Arrow has it.
fn batch() -> RecordBatch {
    let path = std::env::temp_dir().join(format!(
        "scorewise-batch-{}-{:?}.csv",
        std::process::id(),
        std::thread::current().id()
    ));
    let table = write_and_read(&path, &pollution()).unwrap();
    fs::remove_file(&path).unwrap();
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
    let more: [(String, ArrayRef); 2] = [
        ("wet".into(), Arc::new((0..rows).map(|row| (row % 9 != 0).then_some(row % 3 == 0)).collect::<BooleanArray>())),
        ("time".into(), Arc::new((0..rows).map(|row| Some(row * 3600)).collect::<TimestampSecondArray>())),
    ];
    RecordBatch::try_from_iter(named.chain(more)).unwrap()
}

fn parquet(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let (batch, mut bytes) = (batch(), Vec::new());
    let properties = properties.set_max_row_group_row_count(Some(80)).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow(stream: bool, packing: Option<CompressionType>) -> Vec<u8> {
    let (batch, mut bytes) = (batch(), Vec::new());
    let options = IpcWriteOptions::default().try_with_compression(packing).unwrap();
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
fn damaged_adult_text_is_read_or_refused() {
    survive("adult.csv", &adult(), 1, 10_000);
}

#[test]
fn damaged_pollution_text_is_read_or_refused() {
    survive("pollution.csv", &pollution(), 2, 10_000);
}

/// Everything that cells can be: signs, groups, dates, words for missing values, codes, empty lines.
fn odd() -> Vec<u8> {
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
fn damaged_odd_cells_are_read_or_refused() {
    survive("odd.csv", &odd(), 12, 10_000);
}

#[test]
fn damaged_gzip_is_read_or_refused() {
    let mut encoder = GzEncoder::new(Vec::new(), Level::default());
    encoder.write_all(&pollution()).unwrap();
    survive("pollution.csv.gz", &encoder.finish().unwrap(), 3, 10_000);
}

#[test]
fn damaged_parquet_with_snappy_and_dictionaries_is_read_or_refused() {
    survive("snappy.parquet", &parquet(WriterProperties::builder().set_compression(Compression::SNAPPY)), 4, 8_000);
}

#[test]
fn damaged_parquet_with_zstd_is_read_or_refused() {
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(Default::default()));
    survive("zstd.parquet", &parquet(properties), 5, 8_000);
}

#[test]
fn damaged_plain_parquet_is_read_or_refused() {
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    survive("plain.parquet", &parquet(properties), 6, 8_000);
}

#[test]
fn damaged_parquet_with_lists_of_lengths_is_read_or_refused() {
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_dictionary_enabled(false)
        .set_column_encoding("cbwd".into(), Encoding::DELTA_BYTE_ARRAY);
    survive("delta.parquet", &parquet(properties), 7, 4_000);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding("cbwd".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY);
    survive("lengths.parquet", &parquet(properties), 8, 2_000);
}

#[test]
fn damaged_arrow_files_are_read_or_refused() {
    survive("plain.arrow", &arrow(false, None), 9, 4_000);
    survive("lz4.feather", &arrow(false, Some(CompressionType::LZ4_FRAME)), 10, 3_000);
}

#[test]
fn damaged_arrow_streams_are_read_or_refused() {
    survive("zstd.arrow", &arrow(true, Some(CompressionType::ZSTD)), 11, 3_000);
}
