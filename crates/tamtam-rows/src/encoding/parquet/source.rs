//! Where a Parquet file is: in memory, or in a file.

use std::fs::File;
use std::io::{BufReader, Read};

use bytes::Bytes;
use bytes::buf::Reader;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// Where a Parquet file is.
#[derive(Debug)]
pub(super) enum Source {
    File(File),
    Bytes(Bytes),
}

pub(super) enum SourceReader {
    File(BufReader<File>),
    Bytes(Reader<Bytes>),
}

impl Read for SourceReader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            SourceReader::File(file) => file.read(into),
            SourceReader::Bytes(bytes) => bytes.read(into),
        }
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match self {
            Source::File(file) => Length::len(file),
            Source::Bytes(bytes) => Length::len(bytes),
        }
    }
}

impl ChunkReader for Source {
    type T = SourceReader;

    fn get_read(&self, start: u64) -> Result<SourceReader> {
        Ok(match self {
            Source::File(file) => SourceReader::File(file.get_read(start)?),
            Source::Bytes(bytes) => SourceReader::Bytes(bytes.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match self {
            Source::File(file) => file.get_bytes(start, length),
            Source::Bytes(bytes) => bytes.get_bytes(start, length),
        }
    }
}

impl Source {
    /// The last bytes of the file, if it has so many.
    pub(super) fn tail<const N: usize>(&self) -> Option<[u8; N]> {
        let start = self.len().checked_sub(N as u64)?;
        let bytes = self.get_bytes(start, N).ok()?;
        bytes.as_ref().try_into().ok()
    }
}
