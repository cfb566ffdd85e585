//! Reads Arrow IPC data message by message. A stream is read from start to end; in a file (`.arrow`, `.feather`) the messages are found
//! through the index at the end of the file.
//!
//! The decoder allocates as much memory as a message declares, so each message is checked first: the message must lie within the file, its
//! buffers must lie within the message, and the declared sizes of compressed buffers must be plausible.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::byte_source::ByteSource;
use super::catch_panic::catch_panic;
use super::selected_columns::{SelectedColumn, SelectedColumns, damaged_error};
use super::{ChooseColumns, Field, Reading, Table};
use crate::error::Result;

/// The buffers of a message may decompress to this many bytes in total, or to [`MAX_COMPRESSION_RATIO`] times the size of the message if that is
/// more.
const MAX_DECOMPRESSED_BYTES: u64 = 64 << 20;
/// The buffers of a message may decompress to this many times the size of the message, or to [`MAX_DECOMPRESSED_BYTES`] bytes if that is more.
const MAX_COMPRESSION_RATIO: u64 = 1024;

/// The result of decoding Arrow data.
type ArrowResult<T> = std::result::Result<T, ArrowError>;

/// Reads an Arrow file or stream.
pub(super) struct ArrowReader {
    columns: SelectedColumns,
    messages: Messages,
    schema: SchemaRef,
    projection: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The batch that is being returned in chunks, and the number of its rows that were already returned.
    batch: Option<(RecordBatch, usize)>,
}

/// The messages of a file or stream that were not read yet.
struct Messages {
    source: ByteSource,
    remaining: RemainingMessages,
}

/// The positions of the messages that were not read yet.
enum RemainingMessages {
    /// In a stream: all messages from this position on.
    From(u64),
    /// In a file: the positions of the messages, as listed in the index of the file; dictionaries come before record batches.
    At(VecDeque<u64>),
}

/// A message that is not decoded yet.
struct EncodedMessage {
    metadata: bytes::Bytes,
    body: Buffer,
}

impl ArrowReader {
    /// Opens an Arrow file or stream and reads its schema. `choose` gets the names of all columns and may change `reading`.
    pub(super) fn open(
        file: &str,
        source: &ByteSource,
        is_stream: bool,
        reading: &mut Reading,
        choose: &ChooseColumns<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let opened = catch_panic(|| -> ArrowResult<_> {
            if !is_stream {
                return Messages::read_index(source.clone());
            }
            let mut messages = Messages { source: source.clone(), remaining: RemainingMessages::From(0) };
            let first = messages.next()?.ok_or_else(|| ipc_error("the file has no schema"))?;
            let schema = first
                .message()?
                .header_as_schema()
                .ok_or_else(|| ipc_error("the data does not begin with a schema"))?;
            Ok((messages, checked_schema(schema)?))
        });
        let (messages, schema) = opened
            .unwrap_or_else(|| Err(ipc_error("the schema is invalid")))
            .map_err(|error| damaged_error(file, "Arrow", &message_of(&error)))?;
        let declared: Vec<_> =
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone(), true)).collect();
        let columns = SelectedColumns::new(file, "Arrow", &declared, reading, choose, notes)?;
        let projection = columns.columns().iter().map(|SelectedColumn { index, .. }| *index).collect();
        Ok(ArrowReader { columns, messages, schema, projection, dictionaries: HashMap::new(), batch: None })
    }

    /// The names and types of the columns that are read.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.columns.fields()
    }

    /// Decodes the next batch that has rows, and the dictionaries before it; `None` after the last batch.
    fn next_batch(&mut self) -> ArrowResult<Option<RecordBatch>> {
        while let Some(encoded) = self.messages.next()? {
            let message = encoded.message()?;
            let version = message.version();
            if let Some(batch) = message.header_as_dictionary_batch() {
                let data = batch.data().ok_or_else(|| ipc_error("a dictionary is empty"))?;
                check_sizes(&data, &encoded.body)?;
                read_dictionary(&encoded.body, batch, &self.schema, &mut self.dictionaries, &version)?;
            } else if let Some(batch) = message.header_as_record_batch() {
                check_sizes(&batch, &encoded.body)?;
                let batch = self.decode_batch(&encoded.body, batch, version)?;
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
            } else {
                return Err(ipc_error("a message is neither a record batch nor a dictionary"));
            }
        }
        Ok(None)
    }

    /// Decodes the selected columns of a record batch.
    fn decode_batch(
        &self,
        body: &Buffer,
        batch: arrow_ipc::RecordBatch<'_>,
        version: MetadataVersion,
    ) -> ArrowResult<RecordBatch> {
        // The decoder searches the list of wanted columns for every column, which is slow for many columns. So no list is given if all
        // columns are wanted.
        let reads_all_columns = self.projection.len() == self.schema.fields().len();
        let projection = Some(self.projection.as_slice()).filter(|_| !reads_all_columns);
        read_record_batch(body, batch, self.schema.clone(), &self.dictionaries, projection, &version)
    }
}

impl Iterator for ArrowReader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let width = self.projection.len();
        if self.batch.is_none() {
            self.batch = match catch_panic(|| self.next_batch()) {
                Some(Ok(batch)) => batch.map(|batch| (batch, 0)),
                Some(Err(error)) => return self.columns.make_chunk(vec![Err(message_of(&error)); width]),
                None => return self.columns.make_chunk(vec![Err("a batch is invalid".into()); width]),
            };
        }
        let Some((batch, from)) = self.batch.take() else { return self.columns.make_chunk(vec![Ok(None); width]) };
        let rows = self.columns.batch_rows().min(batch.num_rows() - from);
        let arrays = batch.columns().iter().map(|array| Ok(Some(array.slice(from, rows)))).collect();
        if from + rows < batch.num_rows() {
            self.batch = Some((batch, from + rows));
        }
        self.columns.make_chunk(arrays)
    }
}

/// An Arrow error with this message.
fn ipc_error(problem: &str) -> ArrowError {
    ArrowError::IpcError(problem.into())
}

/// The text of an Arrow error without the name of its enum variant, which `Display` would put in front.
fn message_of(error: &ArrowError) -> String {
    match error {
        ArrowError::IpcError(problem) | ArrowError::ParseError(problem) | ArrowError::InvalidArgumentError(problem) => {
            problem.clone()
        }
        error => error.to_string(),
    }
}

/// Decodes a schema. Data with another byte order than that of this machine are an error.
fn checked_schema(schema: arrow_ipc::Schema<'_>) -> ArrowResult<SchemaRef> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(ipc_error("the data has another byte order than this machine"));
    }
    Ok(Arc::new(try_fb_to_schema(schema)?))
}

impl Messages {
    /// Reads the index and the schema of a file. The end of a file consists of the index, the length of the index and a magic number.
    fn read_index(source: ByteSource) -> ArrowResult<(Self, SchemaRef)> {
        let truncated = || ipc_error("the file is truncated");
        let tail = source.len().checked_sub(10).ok_or_else(truncated)?;
        let tail_bytes = read_bytes(&source, tail, 10)?;
        let length = read_footer_length(tail_bytes[..].try_into().map_err(|_| truncated())?)? as u64;
        let index = read_bytes(&source, tail.checked_sub(length).ok_or_else(truncated)?, length)?;
        let index = root_as_footer(&index).map_err(|_| ipc_error("the index of the file is invalid"))?;
        let schema = checked_schema(index.schema().ok_or_else(|| ipc_error("the file has no schema"))?)?;
        let blocks = index.dictionaries().into_iter().flatten().chain(index.recordBatches().into_iter().flatten());
        let positions = blocks
            .map(|block| u64::try_from(block.offset()).map_err(|_| ipc_error("the position of a message is negative")));
        Ok((Messages { remaining: RemainingMessages::At(positions.collect::<ArrowResult<_>>()?), source }, schema))
    }

    /// Reads the next message; `None` after the last message.
    fn next(&mut self) -> ArrowResult<Option<EncodedMessage>> {
        let start = match &mut self.remaining {
            RemainingMessages::From(position) => *position,
            RemainingMessages::At(positions) => match positions.pop_front() {
                Some(position) => position,
                None => return Ok(None),
            },
        };
        let number = |position: u64| -> ArrowResult<u32> {
            let bytes = read_bytes(&self.source, position, 4)?;
            Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        // A stream may end without an end-of-stream marker.
        if start == self.source.len() {
            return Ok(None);
        }
        let mut begin = start.saturating_add(4);
        let mut length = number(start)?;
        // Since 2019 a message begins with the continuation marker `u32::MAX`, followed by the length of its metadata. Older messages begin with
        // this length.
        if length == u32::MAX {
            length = number(begin)?;
            begin += 4;
        }
        if length == 0 {
            return Ok(None);
        }
        let metadata = read_bytes(&self.source, begin, u64::from(length))?;
        let message = root_as_message(&metadata).map_err(|_| ipc_error("a message is invalid"))?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| ipc_error("a message has a negative size"))?;
        let body_start = begin + u64::from(length);
        let body = Buffer::from(read_bytes(&self.source, body_start, body)?);
        if let RemainingMessages::From(position) = &mut self.remaining {
            *position = body_start + body.len() as u64;
        }
        Ok(Some(EncodedMessage { metadata, body }))
    }
}

/// Reads `length` bytes from the position `start` on; an error of the source becomes an Arrow error.
fn read_bytes(source: &ByteSource, start: u64, length: u64) -> ArrowResult<bytes::Bytes> {
    source.bytes(start, length).map_err(|error| ipc_error(&error.to_string()))
}

impl EncodedMessage {
    /// Decodes the metadata of the message.
    fn message(&self) -> ArrowResult<Message<'_>> {
        root_as_message(&self.metadata).map_err(|_| ipc_error("a message is invalid"))
    }
}

/// Checks that the buffers of a batch lie within its message, and that the declared sizes and number of rows are plausible.
fn check_sizes(batch: &arrow_ipc::RecordBatch<'_>, body: &Buffer) -> ArrowResult<()> {
    let is_compressed = batch.compression().is_some();
    let mut total = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range
            .and_then(|(offset, length)| body.get(offset..offset.checked_add(length)?))
            .ok_or_else(|| ipc_error("a buffer extends beyond its message"))?;
        let decompressed = match bytes.first_chunk::<8>() {
            Some(length) if is_compressed => u64::try_from(i64::from_le_bytes(*length)).unwrap_or(bytes.len() as u64),
            _ => bytes.len() as u64,
        };
        total = total.saturating_add(decompressed);
    }
    if total > MAX_DECOMPRESSED_BYTES.max((body.len() as u64).saturating_mul(MAX_COMPRESSION_RATIO)) {
        return Err(ipc_error("a message declares an implausible decompressed size"));
    }
    // Every Arrow type that can be read, except null, takes at least one bit for each row, so more rows than bits are implausible. Columns of
    // the null type take no bits, so 1024 more rows are allowed.
    let max_rows = total.saturating_mul(8).saturating_add(1024);
    if u64::try_from(batch.length()).map_or(true, |rows| rows > max_rows) {
        return Err(ipc_error("a record batch declares more rows than its data can hold"));
    }
    Ok(())
}
