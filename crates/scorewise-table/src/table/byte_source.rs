//! Bytes of known length, in a file or in memory, that can be read at any position and from several threads.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};

/// The bytes of a file or of a buffer in memory. Clones share the file or the buffer.
#[derive(Clone)]
pub(super) struct ByteSource {
    storage: Storage,
    len: u64,
}

#[derive(Clone)]
/// Where the bytes of a [`ByteSource`] are.
enum Storage {
    // Reading begins at the position of the file, which all threads share. The mutex prevents other threads from moving it between a seek and a
    // read.
    File(Arc<Mutex<File>>),
    Memory(Bytes),
}

impl ByteSource {
    /// The bytes of an open file, which has `len` bytes.
    pub(super) fn from_file(file: File, len: u64) -> Self {
        ByteSource { storage: Storage::File(Arc::new(Mutex::new(file))), len }
    }

    /// The bytes of a buffer in memory.
    pub(super) fn from_memory(bytes: Vec<u8>) -> Self {
        ByteSource { len: bytes.len() as u64, storage: Storage::Memory(bytes.into()) }
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns `length` bytes from the position `start` on, or an error if they extend beyond the end. This is checked before memory is
    /// allocated, since the length may come from a damaged file.
    pub(super) fn bytes(&self, start: u64, length: u64) -> io::Result<Bytes> {
        let end = start.checked_add(length).filter(|end| *end <= self.len);
        let (Some(end), Ok(length)) = (end, usize::try_from(length)) else {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the requested bytes extend beyond the end of the file",
            ));
        };
        match &self.storage {
            Storage::Memory(bytes) => Ok(bytes.slice(start as usize..end as usize)),
            Storage::File(_) => {
                let mut bytes = vec![0; length];
                PositionedReader { source: self.clone(), position: start }.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// Reads the bytes of a source sequentially, beginning at a given position.
pub(super) struct PositionedReader {
    source: ByteSource,
    position: u64,
}

impl Read for PositionedReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match &self.source.storage {
            Storage::Memory(bytes) => bytes.get(self.position as usize..).unwrap_or_default().read(into)?,
            Storage::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(self.position))?;
                file.read(into)?
            }
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Length for ByteSource {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for ByteSource {
    type T = BufReader<PositionedReader>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // A buffer of 512 bytes is large enough for the header of most Parquet pages.
        Ok(BufReader::with_capacity(512, PositionedReader { source: self.clone(), position: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.bytes(start, length as u64)?)
    }
}
