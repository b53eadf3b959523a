//! The compression of a body that comes in pieces, which a reader has as they were written.

use std::fmt;
use std::io::{self, Write};

use crate::compression::{CompressionError, CompressionKind};

/// Compresses a body that comes in pieces. What it takes of memory is the window of the kind and its tables, some MiB, however
/// long the body is.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{CompressionKind, Compressor, decompress};
///
/// let mut compressor = Compressor::new(CompressionKind::Zstd, 3)?;
/// let mut sent = compressor.write(&[7; 1_000])?;
/// // From these the 1,000 bytes can be read.
/// sent.extend(compressor.flush()?);
/// sent.extend(compressor.write(&[8; 1_000])?);
/// sent.extend(compressor.finish()?);
/// assert_eq!(decompress(CompressionKind::Zstd, &sent, 2_000)?, [[7; 1_000], [8; 1_000]].concat());
/// # Ok::<(), tamtam_rows::CompressionError>(())
/// ```
pub struct Compressor {
    kind: CompressionKind,
    encoder: Encoder,
}

enum Encoder {
    None(Vec<u8>),
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
}

/// The window of brotli is 2 to the power of this: 1 MiB, a quarter of what is usual, for a body that may be one of many.
const BROTLI_WINDOW: i32 = 20;

/// Bytes by which brotli gives away what is ready.
const BROTLI_PIECE: usize = 16 << 10;

impl Compressor {
    /// Begins a body of this kind at this level: see [`Compression::level`](crate::Compression::level).
    ///
    /// # Errors
    /// If there is no such level, or no memory to compress with.
    pub fn new(kind: CompressionKind, level: i32) -> Result<Compressor, CompressionError> {
        kind.check_level(level)?;
        let out = Vec::new();
        let encoder = match kind {
            CompressionKind::None => Encoder::None(out),
            CompressionKind::Gzip => {
                // The level was found to be 0 to 9.
                let level = flate2::Compression::new(level as u32);
                Encoder::Gzip(flate2::write::GzEncoder::new(out, level))
            }
            CompressionKind::Zstd => {
                let encoder = zstd::stream::write::Encoder::new(out, level);
                Encoder::Zstd(encoder.map_err(|error| kind.failed(&error))?)
            }
            CompressionKind::Brotli => {
                let parameters = brotli::enc::BrotliEncoderParams {
                    quality: level,
                    lgwin: BROTLI_WINDOW,
                    ..Default::default()
                };
                let writer = brotli::CompressorWriter::with_params(out, BROTLI_PIECE, &parameters);
                Encoder::Brotli(Box::new(writer))
            }
        };
        Ok(Compressor { kind, encoder })
    }

    /// By what it compresses.
    pub fn kind(&self) -> CompressionKind {
        self.kind
    }

    /// Takes the next bytes of the body, and gives those that are ready to be sent: none while there are too few to compress well.
    ///
    /// # Errors
    /// If the library fails. The body cannot be ended then.
    pub fn write(&mut self, piece: &[u8]) -> Result<Vec<u8>, CompressionError> {
        self.then(|writer| writer.write_all(piece))
    }

    /// Gives what it has taken and not yet given, so that a reader has all that was written. Each time costs some bytes.
    ///
    /// # Errors
    /// If the library fails. The body cannot be ended then.
    pub fn flush(&mut self) -> Result<Vec<u8>, CompressionError> {
        self.then(|writer| writer.flush())
    }

    /// Ends the body, and gives its last bytes.
    ///
    /// # Errors
    /// If the library fails.
    pub fn finish(self) -> Result<Vec<u8>, CompressionError> {
        let finished = match self.encoder {
            Encoder::None(out) => Ok(out),
            Encoder::Gzip(writer) => writer.finish(),
            Encoder::Zstd(writer) => writer.finish(),
            // All that could fail is to write into memory.
            Encoder::Brotli(writer) => Ok(writer.into_inner()),
        };
        finished.map_err(|error| self.kind.failed(&error))
    }

    /// What is ready after some work.
    fn then(
        &mut self,
        work: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Vec<u8>, CompressionError> {
        let worked = match &mut self.encoder {
            Encoder::None(out) => work(out),
            Encoder::Gzip(writer) => work(writer),
            Encoder::Zstd(writer) => work(writer),
            Encoder::Brotli(writer) => work(writer),
        };
        worked.map_err(|error| self.kind.failed(&error))?;
        Ok(std::mem::take(match &mut self.encoder {
            Encoder::None(out) => out,
            Encoder::Gzip(writer) => writer.get_mut(),
            Encoder::Zstd(writer) => writer.get_mut(),
            Encoder::Brotli(writer) => writer.get_mut(),
        }))
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor({})", self.kind.name())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::compression::{decompress, decompressor};

    /// Bytes that can be made smaller, and are not alike.
    fn body(len: usize) -> Vec<u8> {
        let text = (0..).map(|number: u64| (number * 7_919 % 10_007).to_string());
        text.flat_map(String::into_bytes).take(len).collect()
    }

    #[test]
    fn pieces_of_any_size_are_the_body_again_and_no_larger() {
        let body = body(600_000);
        for kind in CompressionKind::ALL {
            for size in [1_000, 50_000, 400_000] {
                let mut compressor = Compressor::new(kind, kind.usual_level()).unwrap();
                let mut sent = Vec::new();
                for (number, piece) in body.chunks(size).enumerate() {
                    sent.extend(compressor.write(piece).unwrap());
                    if number % 40 == 1 {
                        sent.extend(compressor.flush().unwrap());
                    }
                }
                sent.extend(compressor.finish().unwrap());
                let name = kind.name();
                assert!(
                    decompress(kind, &sent, body.len()).unwrap() == body,
                    "{name} by {size}"
                );
                let is_small = sent.len() < body.len() / 2;
                assert_eq!(is_small, kind != CompressionKind::None, "{name} by {size}");
            }
        }
    }

    #[test]
    fn what_is_flushed_can_be_read_before_the_end() {
        for kind in CompressionKind::ALL {
            let mut compressor = Compressor::new(kind, kind.usual_level()).unwrap();
            let (mut sent, mut written) = (Vec::new(), Vec::new());
            for piece in body(50_000).chunks(9_000) {
                written.extend_from_slice(piece);
                sent.extend(compressor.write(piece).unwrap());
                sent.extend(compressor.flush().unwrap());
                let mut read = vec![0; written.len()];
                let mut reader = decompressor(kind, &sent[..]).unwrap();
                reader.read_exact(&mut read).unwrap();
                assert!(read == written, "{}", kind.name());
            }
            // Nothing more is there to be flushed.
            sent.extend(compressor.flush().unwrap());
            sent.extend(compressor.finish().unwrap());
            assert!(decompress(kind, &sent, 50_000).unwrap() == written);
        }
    }

    #[test]
    fn a_body_of_nothing_is_one_and_a_level_that_there_is_not_is_an_error() {
        for kind in CompressionKind::ALL {
            let compressor = Compressor::new(kind, kind.usual_level()).unwrap();
            assert_eq!(compressor.kind(), kind);
            let sent = compressor.finish().unwrap();
            let unpacked = decompress(kind, &sent, 0).unwrap();
            assert!(unpacked.is_empty(), "{}", kind.name());
        }
        let hard = Compressor::new(CompressionKind::Brotli, 12).unwrap_err();
        assert!(matches!(
            hard,
            CompressionError::Level {
                level: 12,
                to: 11,
                ..
            }
        ));
    }
}
