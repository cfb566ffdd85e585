//! Bytes of known length, in a file or in memory, that several columns read at once.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};

/// Bytes of known length.
#[derive(Clone)]
pub(super) struct Blob {
    place: Place,
    len: u64,
}

#[derive(Clone)]
enum Place {
    // A file has one position, also when it is opened once and cloned: whoever seeks must read before another seeks.
    File(Arc<Mutex<File>>),
    Memory(Bytes),
}

impl Blob {
    pub(super) fn file(file: File, len: u64) -> Self {
        Blob { place: Place::File(Arc::new(Mutex::new(file))), len }
    }

    pub(super) fn memory(bytes: Vec<u8>) -> Self {
        Blob { len: bytes.len() as u64, place: Place::Memory(bytes.into()) }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// These bytes, which must lie within: nothing is allocated by a damaged file's word.
    pub(super) fn bytes(&self, start: u64, length: u64) -> io::Result<Bytes> {
        let end = start.checked_add(length).filter(|end| *end <= self.len);
        let (Some(end), Ok(length)) = (end, usize::try_from(length)) else {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a part lies beyond the end"));
        };
        match &self.place {
            Place::Memory(bytes) => Ok(bytes.slice(start as usize..end as usize)),
            Place::File(_) => {
                let mut bytes = vec![0; length];
                Part { blob: self.clone(), at: start }.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
        }
    }
}

/// Reads on from a place.
pub(super) struct Part {
    blob: Blob,
    at: u64,
}

impl Read for Part {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = match &self.blob.place {
            Place::Memory(bytes) => bytes.get(self.at as usize..).unwrap_or_default().read(into)?,
            Place::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(self.at))?;
                file.read(into)?
            }
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Blob {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for Blob {
    type T = BufReader<Part>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        // Room for the header of a page.
        Ok(BufReader::with_capacity(512, Part { blob: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.bytes(start, length as u64)?)
    }
}
