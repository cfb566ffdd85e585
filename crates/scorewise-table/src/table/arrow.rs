//! Arrow IPC, message by message: a stream from front to back, a file (`.arrow`, `.feather`) by the index at its end.
//!
//! The decoder makes room by a message's word, so each is looked at first: its parts must lie within the file, its buffers
//! within its body, and what is packed must not say that it unpacks to more than can be.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::blob::Blob;
use super::columns::{Chosen, Stack, damaged};
use super::guard::guarded;
use super::{Choose, Field, Reading, Table};
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

/// The messages that are still to come.
struct Messages {
    blob: Blob,
    left: Left,
}

enum Left {
    /// Those of a stream from here on.
    From(u64),
    /// Those of an index, dictionaries first: where each begins.
    At(VecDeque<u64>),
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
        reading: &mut Reading,
        choose: &Choose<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let opened = guarded(|| -> Decoded<_> {
            if !stream {
                return Messages::indexed(blob.clone());
            }
            let mut messages = Messages { blob: blob.clone(), left: Left::From(0) };
            let first = messages.next()?.ok_or_else(|| fault("it has no schema"))?;
            let schema = first.message()?.header_as_schema().ok_or_else(|| fault("it does not begin with a schema"))?;
            Ok((messages, checked(schema)?))
        });
        let (messages, schema) = opened
            .unwrap_or_else(|| Err(fault("its schema makes no sense")))
            .map_err(|error| damaged(file, "Arrow", &plain(&error)))?;
        let columns: Vec<_> =
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone(), true)).collect();
        let stack = Stack::new(file, "Arrow", &columns, reading, choose, notes)?;
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
        // The decoder looks for each column in the list of those that are wanted: without a list where all are wanted.
        let are_all = self.projection.len() == self.schema.fields().len();
        let projection = Some(self.projection.as_slice()).filter(|_| !are_all);
        read_record_batch(body, batch, self.schema.clone(), &self.dictionaries, projection, &version)
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

fn checked(schema: arrow_ipc::Schema<'_>) -> Decoded<SchemaRef> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(fault("it was written on a machine with the other order of bytes"));
    }
    Ok(Arc::new(try_fb_to_schema(schema)?))
}

impl Messages {
    /// Those of a file, and its schema. After the index stand its length and a sign.
    fn indexed(blob: Blob) -> Decoded<(Self, SchemaRef)> {
        let cut = || fault("it is cut");
        let tail = blob.len().checked_sub(10).ok_or_else(cut)?;
        let tail_bytes = bytes_of(&blob, tail, 10)?;
        let length = read_footer_length(tail_bytes[..].try_into().map_err(|_| cut())?)? as u64;
        let index = bytes_of(&blob, tail.checked_sub(length).ok_or_else(cut)?, length)?;
        let index = root_as_footer(&index).map_err(|_| fault("its index makes no sense"))?;
        let schema = checked(index.schema().ok_or_else(|| fault("it has no schema"))?)?;
        let blocks = index.dictionaries().into_iter().flatten().chain(index.recordBatches().into_iter().flatten());
        let places =
            blocks.map(|block| u64::try_from(block.offset()).map_err(|_| fault("a message lies before the start")));
        Ok((Messages { left: Left::At(places.collect::<Decoded<_>>()?), blob }, schema))
    }

    fn next(&mut self) -> Decoded<Option<Parts>> {
        let at = match &mut self.left {
            Left::From(at) => *at,
            Left::At(places) => match places.pop_front() {
                Some(at) => at,
                None => return Ok(None),
            },
        };
        let number = |at: u64| -> Decoded<u32> {
            let bytes = bytes_of(&self.blob, at, 4)?;
            Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        // A stream may end without a sign.
        if at == self.blob.len() {
            return Ok(None);
        }
        let mut begin = at.saturating_add(4);
        let mut length = number(at)?;
        // Messages begin with this since 2019; before, with their length.
        if length == u32::MAX {
            length = number(begin)?;
            begin += 4;
        }
        if length == 0 {
            return Ok(None);
        }
        let about = bytes_of(&self.blob, begin, u64::from(length))?;
        let message = root_as_message(&about).map_err(|_| fault("a message makes no sense"))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| fault("a message has a negative size"))?;
        let after = begin + u64::from(length);
        let body = Buffer::from(bytes_of(&self.blob, after, body)?);
        if let Left::From(at) = &mut self.left {
            *at = after + body.len() as u64;
        }
        Ok(Some(Parts { about, body }))
    }
}

fn bytes_of(blob: &Blob, start: u64, length: u64) -> Decoded<bytes::Bytes> {
    blob.bytes(start, length).map_err(|error| fault(&error.to_string()))
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
