//! Arrow IPC, message by message. A file (`.arrow`, `.feather`) is a stream between two signs, with an index at its end that
//! is not needed to read it from front to back.
//!
//! The decoder makes room by a message's word, so each is looked at first: its parts must lie within the file, its buffers
//! within its body, and what is packed must not say that it unpacks to more than can be.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MetadataVersion, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::blob::Blob;
use super::columns::{Chosen, Stack, damaged};
use super::guard::guarded;
use super::{Field, Reading, Table};
use crate::error::Result;

/// The buffers of a message may unpack to so much, however small it is.
const UNPACKED: u64 = 64 << 20;
/// A larger one's to so many times its size.
const TIMES: u64 = 1024;

type Decoded<T> = std::result::Result<T, ArrowError>;

/// An Arrow file or stream that is being read.
pub(super) struct Arrow {
    stack: Stack,
    messages: Messages,
    schema: SchemaRef,
    projection: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// A batch and how many of its rows were handed out.
    batch: Option<(RecordBatch, usize)>,
}

/// Where the next message begins and where the last ends.
struct Messages {
    blob: Blob,
    at: u64,
    end: u64,
}

/// A message: its description and its body.
struct Parts {
    about: bytes::Bytes,
    body: Buffer,
}

impl Arrow {
    pub(super) fn open(
        file: &str,
        blob: &Blob,
        stream: bool,
        reading: &Reading,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let opened = guarded(|| -> Decoded<_> {
            let mut messages = Messages::new(blob.clone(), stream)?;
            let first = messages.next()?.ok_or_else(|| fault("it has no schema"))?;
            let schema = first.message()?.header_as_schema().ok_or_else(|| fault("it does not begin with a schema"))?;
            if !schema.endianness().equals_to_target_endianness() {
                return Err(fault("it was written on a machine with the other order of bytes"));
            }
            Ok((messages, Arc::new(try_fb_to_schema(schema)?)))
        });
        let (messages, schema) = opened
            .unwrap_or_else(|| Err(fault("its schema makes no sense")))
            .map_err(|error| damaged(file, "Arrow", &plain(&error)))?;
        let columns: Vec<_> =
            schema.fields().iter().map(|field| (field.name().clone(), Some(field.data_type().clone()))).collect();
        let stack = Stack::new(file, "Arrow", &columns, reading, notes)?;
        let projection = stack.chosen().iter().map(|Chosen { at, .. }| *at).collect();
        Ok(Arrow { stack, messages, schema, projection, dictionaries: HashMap::new(), batch: None })
    }

    pub(super) fn fields(&self) -> Vec<Field> {
        self.stack.fields()
    }

    /// The next batch that has rows.
    fn next_batch(&mut self) -> Decoded<Option<RecordBatch>> {
        while let Some(parts) = self.messages.next()? {
            let message = parts.message()?;
            let version = message.version();
            if let Some(batch) = message.header_as_dictionary_batch() {
                let data = batch.data().ok_or_else(|| fault("a dictionary is empty"))?;
                check(&data, &parts.body)?;
                read_dictionary(&parts.body, batch, &self.schema, &mut self.dictionaries, &version)?;
            } else if let Some(batch) = message.header_as_record_batch() {
                check(&batch, &parts.body)?;
                let batch = self.decode(&parts.body, batch, version)?;
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
            } else {
                return Err(fault("a message is neither a batch nor a dictionary"));
            }
        }
        Ok(None)
    }

    fn decode(
        &self,
        body: &Buffer,
        batch: arrow_ipc::RecordBatch<'_>,
        version: MetadataVersion,
    ) -> Decoded<RecordBatch> {
        read_record_batch(body, batch, self.schema.clone(), &self.dictionaries, Some(&self.projection), &version)
    }
}

impl Iterator for Arrow {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let columns = self.projection.len();
        if self.batch.is_none() {
            self.batch = match guarded(|| self.next_batch()) {
                Some(Ok(batch)) => batch.map(|batch| (batch, 0)),
                Some(Err(error)) => return self.stack.table(vec![Err(plain(&error)); columns]),
                None => return self.stack.table(vec![Err("a batch makes no sense".into()); columns]),
            };
        }
        let Some((batch, from)) = self.batch.take() else { return self.stack.table(vec![Ok(None); columns]) };
        let rows = self.stack.rows_at_once().min(batch.num_rows() - from);
        let arrays = batch.columns().iter().map(|array| Ok(Some(array.slice(from, rows)))).collect();
        if from + rows < batch.num_rows() {
            self.batch = Some((batch, from + rows));
        }
        self.stack.table(arrays)
    }
}

fn fault(problem: &str) -> ArrowError {
    ArrowError::IpcError(problem.into())
}

/// The problem without the name of the library's error.
fn plain(error: &ArrowError) -> String {
    match error {
        ArrowError::IpcError(problem) | ArrowError::ParseError(problem) | ArrowError::InvalidArgumentError(problem) => {
            problem.clone()
        }
        error => error.to_string(),
    }
}

impl Messages {
    fn new(blob: Blob, stream: bool) -> Decoded<Self> {
        let len = blob.len();
        if stream {
            return Ok(Messages { blob, at: 0, end: len });
        }
        /// Writers align to 64 bytes, or to a page of memory.
        const LONGEST_GAP: u64 = 4096;
        // 8 bytes of sign before; length of the index and sign after.
        let tail = len.checked_sub(10).ok_or_else(|| fault("it is cut"))?;
        let tail_bytes = blob.bytes(tail, 10).map_err(|error| fault(&error.to_string()))?;
        let index = arrow_ipc::reader::read_footer_length(tail_bytes[..].try_into().map_err(|_| fault("it is cut"))?)?;
        let end =
            tail.checked_sub(index as u64).filter(|end| *end >= 8).ok_or_else(|| fault("its index is too long"))?;
        // The first message may be aligned: no message begins with 0, which is the end of a stream.
        let start = blob.bytes(0, end.min(LONGEST_GAP)).map_err(|error| fault(&error.to_string()))?;
        let words = start.chunks_exact(8).skip(1).take_while(|word| **word == [0; 8]).count();
        Ok(Messages { blob, at: 8 + 8 * words as u64, end })
    }

    fn next(&mut self) -> Decoded<Option<Parts>> {
        let read = |at: u64, length: u64| self.blob.bytes(at, length).map_err(|error| fault(&error.to_string()));
        let number = |at: u64| -> Decoded<u32> {
            let bytes = read(at, 4)?;
            Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        if self.end - self.at < 4 {
            return Ok(None);
        }
        let mut begin = self.at + 4;
        let mut length = number(self.at)?;
        // Messages begin with this since 2019; before, with their length.
        if length == u32::MAX {
            length = number(begin)?;
            begin += 4;
        }
        if length == 0 {
            return Ok(None);
        }
        let body = begin + u64::from(length);
        if body > self.end {
            return Err(fault("a message lies beyond the end"));
        }
        let about = read(begin, u64::from(length))?;
        let message = root_as_message(&about).map_err(|_| fault("a message makes no sense"))?;
        let end = u64::try_from(message.bodyLength()).ok().and_then(|length| body.checked_add(length));
        let end = end.filter(|end| *end <= self.end).ok_or_else(|| fault("a message lies beyond the end"))?;
        let body = Buffer::from(read(body, end - body)?);
        self.at = end;
        Ok(Some(Parts { about, body }))
    }
}

impl Parts {
    fn message(&self) -> Decoded<Message<'_>> {
        root_as_message(&self.about).map_err(|_| fault("a message makes no sense"))
    }
}

/// Looks at what a batch says of itself.
fn check(batch: &arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Decoded<()> {
    let packed = batch.compression().is_some();
    let mut total = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range
            .and_then(|(offset, length)| body.get(offset..offset.checked_add(length)?))
            .ok_or_else(|| fault("a buffer lies beyond its message"))?;
        let unpacked = match bytes.first_chunk::<8>() {
            Some(length) if packed => u64::try_from(i64::from_le_bytes(*length)).unwrap_or(bytes.len() as u64),
            _ => bytes.len() as u64,
        };
        total = total.saturating_add(unpacked);
    }
    if total > UNPACKED.max((body.len() as u64).saturating_mul(TIMES)) {
        return Err(fault("a message says that it unpacks to more than can be"));
    }
    // Every type but that of nothing takes at least a bit a row.
    let most = total.saturating_mul(8).saturating_add(1024);
    if u64::try_from(batch.length()).map_or(true, |rows| rows > most) {
        return Err(fault("a batch has more rows than bits"));
    }
    Ok(())
}
