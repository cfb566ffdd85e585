//! Pages are looked at before they are decoded: the decoders make room by a page's word.
//!
//! The header says how large a page is, packed and unpacked; both are checked against the bytes that are there. In an
//! unpacked page, lists of lengths (the delta encodings of texts) say how many there are; that is checked against the number
//! of values.

use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::thrift::{Stop, Walk};
use crate::table::blob::Blob;

/// A page may unpack to so much, however small it is packed; writers aim at 1 MiB.
const PAGE: u64 = 8 << 20;
/// A larger one to so many times its packed size.
const UNPACKED: u64 = 1024;

/// Looks at the description at the end of a file, which is decoded by recursion.
pub(super) fn check_description(blob: &Blob) -> Result<()> {
    const DEEPEST: usize = 64;
    let short = || fault("it is cut");
    let tail = blob.len().checked_sub(8).ok_or_else(short)?;
    let length = blob.bytes(tail, 4)?.first_chunk::<4>().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
    let begin = length.and_then(|length| tail.checked_sub(length)).ok_or_else(short)?;
    match Walk::new(&blob.bytes(begin, tail - begin)?).schema_depth() {
        Ok(..=DEEPEST) => Ok(()),
        Ok(_) => Err(fault("its schema is nested too deeply")),
        Err(_) => Err(fault("its description makes no sense")),
    }
}

/// Looks at all pages of one column in one row group.
pub(super) fn check(blob: &Blob, chunk: &ColumnChunkMetaData, rows: usize) -> Result<()> {
    if check_headers(blob, chunk)? {
        let mut pages = SerializedPageReader::new(Arc::new(blob.clone()), chunk, rows, None)?;
        let optional = chunk.column_descr().max_def_level() > 0;
        while let Some(page) = pages.get_next_page()? {
            check_lengths(&page, optional).map_err(|_| fault("a list of lengths makes no sense"))?;
        }
    }
    Ok(())
}

fn fault(problem: &str) -> ParquetError {
    ParquetError::General(problem.into())
}

/// Walks from header to header through a chunk, and says whether any page has lists of lengths.
fn check_headers(blob: &Blob, chunk: &ColumnChunkMetaData) -> Result<bool> {
    let offsets = [chunk.data_page_offset(), chunk.dictionary_page_offset().unwrap_or(0), chunk.compressed_size()];
    if offsets.iter().any(|offset| *offset < 0) {
        return Err(fault("a column lies before the start"));
    }
    let (start, length) = chunk.byte_range();
    let end = start
        .checked_add(length)
        .filter(|end| *end <= blob.len())
        .ok_or_else(|| fault("a column lies beyond the end"))?;
    let mut at = start;
    let mut lists = false;
    while at < end {
        let header = header(blob, at, end)?;
        let left = end - at - header.length;
        let (Ok(packed), Ok(unpacked)) = (u64::try_from(header.packed), u64::try_from(header.unpacked)) else {
            return Err(fault("a page has a negative size"));
        };
        if packed > left {
            return Err(fault("a page is larger than its column"));
        }
        if unpacked > PAGE.max(packed.saturating_mul(UNPACKED)) {
            return Err(fault("a page says that it unpacks to more than can be"));
        }
        // A value of a dictionary takes at least a byte.
        if u64::try_from(header.dictionary).map_or(true, |values| values > unpacked) {
            return Err(fault("a dictionary has more values than bytes"));
        }
        lists |= [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY]
            .iter()
            .any(|with| header.encoding == *with as i64);
        at += header.length + packed;
    }
    Ok(lists)
}

#[derive(Default)]
struct Header {
    length: u64,
    unpacked: i64,
    packed: i64,
    /// The encoding of a page of data, of either version.
    encoding: i64,
    /// Values of a dictionary page.
    dictionary: i64,
}

fn header(blob: &Blob, at: u64, end: u64) -> Result<Header> {
    // Most headers are short; smallest and largest values in them can make them long.
    for room in [128, 64 << 10, 16 << 20] {
        let bytes = blob.bytes(at, (end - at).min(room))?;
        let mut walk = Walk::new(&bytes);
        let mut header = Header::default();
        let walked = walk.fields(|outer, inner, number| match (outer, inner) {
            (2, 0) => header.unpacked = number,
            (3, 0) => header.packed = number,
            (5, 2) | (8, 4) => header.encoding = number,
            (7, 1) => header.dictionary = number,
            _ => {}
        });
        match walked {
            Ok(()) => return Ok(Header { length: walk.walked() as u64, ..header }),
            Err(Stop::Short) if end - at > room => {}
            Err(_) => break,
        }
    }
    Err(fault("the header of a page makes no sense"))
}

/// Checks the lists of lengths before the texts of a page.
fn check_lengths(page: &Page, optional: bool) -> std::result::Result<(), Stop> {
    let lists = match page.encoding() {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => return Ok(()),
    };
    let buffer: &[u8] = page.buffer();
    let before = match page {
        Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
            u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
        }
        Page::DataPage { .. } if optional => {
            let length = buffer.first_chunk::<4>().ok_or(Stop::Short)?;
            4 + u64::from(u32::from_le_bytes(*length))
        }
        _ => 0,
    };
    let mut rest = usize::try_from(before).ok().and_then(|before| buffer.get(before..)).ok_or(Stop::Short)?;
    for _ in 0..lists {
        rest = &rest[list_end(rest, u64::from(page.num_values()))?..];
    }
    Ok(())
}

/// Where a list of delta-packed numbers ends.
fn list_end(bytes: &[u8], most: u64) -> std::result::Result<usize, Stop> {
    let mut walk = Walk::new(bytes);
    let (block, parts, count) = (walk.unsigned()?, walk.unsigned()?, walk.unsigned()?);
    walk.number()?;
    if count > most || parts == 0 || parts > block || block > 1 << 20 {
        return Err(Stop::Nonsense);
    }
    let mut left = count.saturating_sub(1);
    while left > 0 {
        walk.number()?;
        let mut widths = Vec::with_capacity(parts as usize);
        for _ in 0..parts {
            widths.push(walk.byte()?);
        }
        for width in widths {
            if left == 0 {
                break;
            }
            if width > 64 {
                return Err(Stop::Nonsense);
            }
            walk.jump((block / parts * u64::from(width)).div_ceil(8))?;
            left = left.saturating_sub(block / parts);
        }
    }
    Ok(walk.walked())
}
