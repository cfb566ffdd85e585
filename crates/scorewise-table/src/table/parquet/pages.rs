//! Checks Parquet pages before they are decoded, because the decoders allocate as much memory as a page declares.
//!
//! The header of a page declares its compressed and its decompressed size. The compressed size must fit into the file, and the decompressed
//! size must be plausible for the compressed size. Pages of strings in a delta encoding contain lists of string lengths. These lists declare
//! how many entries they have, which must not exceed the number of values of the page.

use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::thrift::{ThriftError, ThriftReader};
use crate::table::byte_source::ByteSource;

/// A page may decompress to this many bytes, or to [`MAX_COMPRESSION_RATIO`] times its compressed size if that is more. Programs that write
/// Parquet usually aim at pages of 1 MiB, which is far below this limit.
const MAX_DECOMPRESSED_BYTES: u64 = 8 << 20;
/// A page may decompress to this many times its compressed size, or to [`MAX_DECOMPRESSED_BYTES`] bytes if that is more.
const MAX_COMPRESSION_RATIO: u64 = 1024;

/// Checks that the schema of a file is not nested too deeply. The decoder reads the schema by recursion, so deep nesting would overflow the stack.
pub(super) fn check_file_metadata(source: &ByteSource) -> Result<()> {
    const MAX_SCHEMA_DEPTH: usize = 64;
    let truncated = || parquet_error("it is truncated");
    let tail = source.len().checked_sub(8).ok_or_else(truncated)?;
    let length = source.bytes(tail, 4)?.first_chunk::<4>().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    let begin = length.and_then(|length| tail.checked_sub(length)).ok_or_else(truncated)?;
    match ThriftReader::new(&source.bytes(begin, tail - begin)?).schema_depth() {
        Ok(..=MAX_SCHEMA_DEPTH) => Ok(()),
        Ok(_) => Err(parquet_error("the schema is nested too deeply")),
        Err(_) => Err(parquet_error("the metadata of the file is invalid")),
    }
}

/// Checks all pages of a column chunk: the part of a column that lies in one row group.
pub(super) fn check_pages(source: &ByteSource, chunk: &ColumnChunkMetaData, rows: usize) -> Result<()> {
    if check_headers(source, chunk)? {
        let mut pages = SerializedPageReader::new(Arc::new(source.clone()), chunk, rows, None)?;
        let is_optional = chunk.column_descr().max_def_level() > 0;
        while let Some(page) = pages.get_next_page()? {
            check_length_lists(&page, is_optional).map_err(|_| parquet_error("a list of string lengths is invalid"))?;
        }
    }
    Ok(())
}

/// A Parquet error with this message.
fn parquet_error(problem: &str) -> ParquetError {
    ParquetError::General(problem.into())
}

/// Checks the headers of all pages of a column chunk. Returns whether any page contains lists of string lengths, which must be checked too.
fn check_headers(source: &ByteSource, chunk: &ColumnChunkMetaData) -> Result<bool> {
    let offsets = [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0), chunk.compressed_size()];
    if offsets.iter().any(|offset| *offset < 0) {
        return Err(parquet_error("the offset or size of a column is negative"));
    }
    let (start, length) = chunk.byte_range();
    let end = start
        .checked_add(length)
        .filter(|end| *end <= source.len())
        .ok_or_else(|| parquet_error("a column extends beyond the end of the file"))?;
    let mut position = start;
    let mut has_length_lists = false;
    while position < end {
        let header = read_page_header(source, position, end)?;
        let remaining = end - position - header.length;
        let (Ok(compressed), Ok(decompressed)) = (u64::try_from(header.compressed), u64::try_from(header.decompressed))
        else {
            return Err(parquet_error("a page has a negative size"));
        };
        if compressed > remaining {
            return Err(parquet_error("a page is larger than its column"));
        }
        if decompressed > MAX_DECOMPRESSED_BYTES.max(compressed.saturating_mul(MAX_COMPRESSION_RATIO)) {
            return Err(parquet_error("a page declares an implausible decompressed size"));
        }
        // Every value of a dictionary takes at least one byte, so there cannot be more values than bytes.
        if u64::try_from(header.dictionary_values).map_or(true, |values| values > decompressed) {
            return Err(parquet_error("a dictionary has more values than bytes"));
        }
        has_length_lists |= [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY]
            .iter()
            .any(|encoding| header.encoding == *encoding as i64);
        position += header.length + compressed;
    }
    Ok(has_length_lists)
}

/// What the header of a Parquet page declares.
#[derive(Default)]
struct PageHeader {
    /// The length of the header itself in bytes.
    length: u64,
    decompressed: i64,
    compressed: i64,
    /// The Parquet code of the encoding, for a data page of version 1 or 2.
    encoding: i64,
    /// The number of values, for a dictionary page.
    dictionary_values: i64,
}

/// Reads the header of the page at `position` in a column chunk that ends at `end`.
fn read_page_header(source: &ByteSource, position: u64, end: u64) -> Result<PageHeader> {
    // The length of a header is not known before it is read. Most headers are short, but they contain the smallest and largest value of the
    // page, which can be long strings. So a header is read from 128 bytes first, and from more bytes if these are too few.
    for size in [128, 64 << 10, 16 << 20] {
        let bytes = source.bytes(position, (end - position).min(size))?;
        let mut reader = ThriftReader::new(&bytes);
        let mut header = PageHeader::default();
        let result = reader.visit_integers(|outer, inner, number| match (outer, inner) {
            (2, 0) => header.decompressed = number,
            (3, 0) => header.compressed = number,
            (5, 2) | (8, 4) => header.encoding = number,
            (7, 1) => header.dictionary_values = number,
            _ => {}
        });
        match result {
            Ok(()) => return Ok(PageHeader { length: reader.position() as u64, ..header }),
            Err(ThriftError::Truncated) if end - position > size => {}
            Err(_) => break,
        }
    }
    Err(parquet_error("the header of a page is invalid"))
}

/// Checks the lists of string lengths in a data page. `is_optional` says whether the column may have missing values.
fn check_length_lists(page: &Page, is_optional: bool) -> std::result::Result<(), ThriftError> {
    let lists = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let buffer: &[u8] = page.buffer();
    let levels_length = match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
        }
        Page::DataPage { .. } if is_optional => {
            let length = buffer.first_chunk::<4>().ok_or(ThriftError::Truncated)?;
            4 + u64::from(u32::from_le_bytes(*length))
        }
        _ => 0,
    };
    let mut rest =
        usize::try_from(levels_length).ok().and_then(|length| buffer.get(length..)).ok_or(ThriftError::Truncated)?;
    for _ in 0..lists {
        rest = &rest[length_of_list(rest, u64::from(page.num_values()))?..];
    }
    Ok(())
}

/// The length in bytes of a list of delta-encoded integers (DELTA_BINARY_PACKED); an error if the list has more than `max_count` entries.
fn length_of_list(bytes: &[u8], max_count: u64) -> std::result::Result<usize, ThriftError> {
    let mut reader = ThriftReader::new(bytes);
    let (block, miniblocks, count) =
        (reader.read_unsigned_integer()?, reader.read_unsigned_integer()?, reader.read_unsigned_integer()?);
    reader.read_integer()?;
    if count > max_count || miniblocks == 0 || miniblocks > block || block > 1 << 20 {
        return Err(ThriftError::Invalid);
    }
    let mut remaining = count.saturating_sub(1);
    while remaining > 0 {
        reader.read_integer()?;
        let mut widths = Vec::with_capacity(miniblocks as usize);
        for _ in 0..miniblocks {
            widths.push(reader.read_byte()?);
        }
        for width in widths {
            if remaining == 0 {
                break;
            }
            if width > 64 {
                return Err(ThriftError::Invalid);
            }
            reader.skip_bytes((block / miniblocks * u64::from(width)).div_ceil(8))?;
            remaining = remaining.saturating_sub(block / miniblocks);
        }
    }
    Ok(reader.position())
}
