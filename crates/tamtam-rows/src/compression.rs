//! The compression of bodies, by a threshold: what Amfphp calls its gzip threshold.

use std::io::{self, BufRead, Read};

use thiserror::Error;

/// How bodies are compressed, and from which size on.
///
/// ```
/// use tamtam_rows::{Compression, CompressionKind, decompress};
///
/// let compression = Compression { threshold_bytes: 1_000, ..Compression::new(CompressionKind::Zstd) };
/// let sent = compression.compress(vec![7; 100_000])?;
/// assert_eq!(sent.kind, CompressionKind::Zstd);
/// assert!(sent.bytes.len() < 100);
/// assert_eq!(decompress(sent.kind, &sent.bytes, 100_000)?, vec![7; 100_000]);
///
/// let small = compression.compress(vec![7; 1_000])?;
/// assert_eq!(small.kind, CompressionKind::None);
/// # Ok::<(), tamtam_rows::CompressionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// By what.
    pub kind: CompressionKind,
    /// How hard it tries: 0 to 9 for gzip, −131,072 to 22 for zstd, 0 to 11 for brotli.
    pub level: i32,
    /// A body of at most so many bytes is sent plain.
    pub threshold_bytes: usize,
}

/// By what a body is compressed.
///
/// # Examples
///
/// ```
/// use tamtam_rows::CompressionKind;
///
/// // Its name is what the header `Content-Encoding` of HTTP says, too.
/// assert_eq!(CompressionKind::Brotli.name(), "brotli");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompressionKind {
    /// Not at all.
    None,
    /// gzip (RFC 1952), which every client of HTTP knows.
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
    /// Brotli (RFC 7932).
    Brotli,
}

/// A body as it is sent.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Compression, CompressionKind};
///
/// let zstd = Compression { threshold_bytes: 0, ..Compression::new(CompressionKind::Zstd) };
/// let alike = zstd.compress(vec![7; 1_000])?;
/// assert_eq!((alike.kind, alike.bytes.len() < 100), (CompressionKind::Zstd, true));
/// // What would not get smaller is sent as it is.
/// let short = zstd.compress(vec![7])?;
/// assert_eq!((short.kind, short.bytes), (CompressionKind::None, vec![7]));
/// # Ok::<(), tamtam_rows::CompressionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compressed {
    /// By what it was compressed in the end.
    pub kind: CompressionKind,
    /// The bytes to send.
    pub bytes: Vec<u8>,
}

/// A body that could not be compressed or decompressed.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Compression, CompressionError, CompressionKind, decompress};
///
/// let hard = Compression { level: 99, threshold_bytes: 0, kind: CompressionKind::Gzip };
/// let error = hard.compress(vec![7; 1_000]).unwrap_err();
/// assert!(matches!(error, CompressionError::Level { level: 99, from: 0, to: 9, .. }));
/// // What comes from elsewhere may be anything.
/// assert!(decompress(CompressionKind::Gzip, b"no gzip", 1_000).is_err());
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompressionError {
    /// A level that there is not.
    #[error("{kind} has no level {level}; take one from {from} to {to}")]
    Level {
        /// The kind's name.
        kind: &'static str,
        /// The level that was asked for.
        level: i32,
        /// The lowest.
        from: i32,
        /// The highest.
        to: i32,
    },
    /// A body larger than the limit when decompressed.
    #[error(
        "the {kind} body has more than {limit} bytes when decompressed; raise the limit if its sender is trusted"
    )]
    Limit {
        /// The kind's name.
        kind: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// A body that ends too early.
    #[error("the {kind} body was cut off")]
    Truncated {
        /// The kind's name.
        kind: &'static str,
    },
    /// A body that is damaged or of another kind.
    #[error("the body is damaged or is not {kind} at all: {reason}")]
    Malformed {
        /// The kind's name.
        kind: &'static str,
        /// What the library said.
        reason: String,
    },
    /// The library that compresses failed.
    #[error("the body could not be compressed by {kind}: {reason}")]
    Failed {
        /// The kind's name.
        kind: &'static str,
        /// What the library said.
        reason: String,
    },
}

impl CompressionKind {
    /// Each kind.
    pub const ALL: [CompressionKind; 4] = [
        CompressionKind::None,
        CompressionKind::Gzip,
        CompressionKind::Zstd,
        CompressionKind::Brotli,
    ];

    /// Its name: `none`, `gzip`, `zstd`, `brotli`.
    pub const fn name(self) -> &'static str {
        match self {
            CompressionKind::None => "none",
            CompressionKind::Gzip => "gzip",
            CompressionKind::Zstd => "zstd",
            CompressionKind::Brotli => "brotli",
        }
    }

    /// The word for it in the header `Content-Encoding` of HTTP.
    pub const fn content_encoding(self) -> &'static str {
        match self {
            CompressionKind::None => "identity",
            CompressionKind::Gzip => "gzip",
            CompressionKind::Zstd => "zstd",
            CompressionKind::Brotli => "br",
        }
    }

    /// The level that suits answers made on the spot: 6 for gzip, 3 for zstd, 5 for brotli.
    pub const fn usual_level(self) -> i32 {
        match self {
            CompressionKind::None => 0,
            CompressionKind::Gzip => 6,
            CompressionKind::Zstd => 3,
            CompressionKind::Brotli => 5,
        }
    }

    fn levels(self) -> std::ops::RangeInclusive<i32> {
        match self {
            CompressionKind::None => i32::MIN..=i32::MAX,
            CompressionKind::Gzip => 0..=9,
            CompressionKind::Zstd => -131_072..=22,
            CompressionKind::Brotli => 0..=11,
        }
    }

    /// # Errors
    /// If there is no such level.
    pub(crate) fn check_level(self, level: i32) -> Result<(), CompressionError> {
        if self.levels().contains(&level) {
            return Ok(());
        }
        Err(CompressionError::Level {
            kind: self.name(),
            level,
            from: *self.levels().start(),
            to: *self.levels().end(),
        })
    }

    /// The library of this kind failed.
    pub(crate) fn failed(self, error: &io::Error) -> CompressionError {
        CompressionError::Failed {
            kind: self.name(),
            reason: error.to_string(),
        }
    }
}

impl Default for Compression {
    /// gzip from 25 KiB on, as Amfphp has it.
    fn default() -> Compression {
        Compression::new(CompressionKind::Gzip)
    }
}

impl Compression {
    /// Nothing is compressed.
    pub const NONE: Compression = Compression::new(CompressionKind::None);
    /// Below which size Amfphp sends a body plain.
    pub const USUAL_THRESHOLD_BYTES: usize = 25 * 1024;

    /// With the usual level and threshold.
    pub const fn new(kind: CompressionKind) -> Compression {
        Compression {
            kind,
            level: kind.usual_level(),
            threshold_bytes: Compression::USUAL_THRESHOLD_BYTES,
        }
    }

    /// The body compressed; as it is, if it is no larger than the threshold or would not get smaller.
    ///
    /// # Errors
    /// If there is no such level, or there is no memory to compress with.
    pub fn compress(&self, body: Vec<u8>) -> Result<Compressed, CompressionError> {
        let (kind, level) = (self.kind, self.level);
        kind.check_level(level)?;
        let plain = |bytes| Compressed {
            kind: CompressionKind::None,
            bytes,
        };
        if body.len() <= self.threshold_bytes || kind == CompressionKind::None {
            return Ok(plain(body));
        }
        let bytes = compress(kind, level, &body).map_err(|error| kind.failed(&error))?;
        Ok(if bytes.len() < body.len() {
            Compressed { kind, bytes }
        } else {
            plain(body)
        })
    }
}

fn compress(kind: CompressionKind, level: i32, body: &[u8]) -> io::Result<Vec<u8>> {
    match kind {
        CompressionKind::None => Ok(body.to_vec()),
        CompressionKind::Gzip => {
            // The level was found to be 0 to 9.
            let level = flate2::Compression::new(level as u32);
            let out = Vec::with_capacity(body.len() / 4);
            let mut encoder = flate2::write::GzEncoder::new(out, level);
            io::Write::write_all(&mut encoder, body)?;
            encoder.finish()
        }
        // It says how long the body is, so that a reader with little room knows at once.
        CompressionKind::Zstd => zstd::bulk::compress(body, level),
        CompressionKind::Brotli => {
            let parameters = brotli::enc::BrotliEncoderParams {
                quality: level,
                size_hint: body.len(),
                ..Default::default()
            };
            let mut out = Vec::with_capacity(body.len() / 4);
            brotli::BrotliCompress(&mut &body[..], &mut out, &parameters)?;
            Ok(out)
        }
    }
}

/// What a body holds that was compressed by this kind. However much it declares or holds, at most `limit` bytes of it
/// are ever in memory, beside the window of the kind (128 MiB at most).
///
/// # Errors
/// If it is damaged, ends too early, or holds more than `limit` bytes.
pub fn decompress(
    kind: CompressionKind,
    bytes: &[u8],
    limit: usize,
) -> Result<Vec<u8>, CompressionError> {
    let failed = |error: io::Error| {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            CompressionError::Truncated { kind: kind.name() }
        } else {
            CompressionError::Malformed {
                kind: kind.name(),
                reason: error.to_string(),
            }
        }
    };
    if bytes.is_empty() && kind != CompressionKind::None {
        return Err(CompressionError::Truncated { kind: kind.name() });
    }
    match kind {
        CompressionKind::None => limited(kind, bytes, limit),
        CompressionKind::Gzip => limited(kind, flate2::bufread::MultiGzDecoder::new(bytes), limit),
        CompressionKind::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes).map_err(failed)?;
            // RFC 8878 wants every reader to take windows of 8 MiB.
            let window = limit.checked_next_power_of_two().map_or(27, usize::ilog2);
            let window = window.clamp(23, 27);
            decoder.window_log_max(window).map_err(failed)?;
            limited(kind, decoder, limit)
        }
        CompressionKind::Brotli => limited(kind, OneBrotli::new(bytes), limit),
    }
}

/// Reads what was compressed by this kind, as it is asked for: what of it is in memory is the window of the kind (128 MiB at
/// most). Several bodies of gzip or zstd one behind the other, as tools write them into one file, are read as one; whatever
/// follows one of brotli is an error.
///
/// ```
/// use std::io::Read;
/// use tamtam_rows::{Compression, CompressionKind, decompressor};
///
/// let compression = Compression { threshold_bytes: 0, ..Compression::new(CompressionKind::Gzip) };
/// let twice = [compression.compress(vec![7; 1000])?.bytes, compression.compress(vec![8; 1000])?.bytes].concat();
/// let mut read = Vec::new();
/// decompressor(CompressionKind::Gzip, &twice[..])?.read_to_end(&mut read)?;
/// assert_eq!(read, [[7; 1000], [8; 1000]].concat());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no memory for it. What is damaged is an error of the reader.
pub fn decompressor<'s>(
    kind: CompressionKind,
    source: impl BufRead + 's,
) -> io::Result<Box<dyn Read + 's>> {
    Ok(match kind {
        CompressionKind::None => Box::new(source),
        CompressionKind::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        CompressionKind::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
        CompressionKind::Brotli => Box::new(OneBrotli::new(source)),
    })
}

/// Reads one body of brotli, behind which there is nothing.
struct OneBrotli<R: Read>(brotli::Decompressor<R>);

impl<R: BufRead> OneBrotli<R> {
    fn new(source: R) -> OneBrotli<R> {
        OneBrotli(brotli::Decompressor::new(source, 4096))
    }
}

impl<R: BufRead> Read for OneBrotli<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        if count > 0 || into.is_empty() {
            return Ok(count);
        }
        // The body is at its end. Of what the library has taken beyond, it tells when it is asked once more.
        let is_all = self.0.read(into).is_ok() && self.0.get_mut().fill_buf()?.is_empty();
        if !is_all {
            let reason = "more bytes behind its end";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(0)
    }
}

fn limited(
    kind: CompressionKind,
    source: impl Read,
    limit: usize,
) -> Result<Vec<u8>, CompressionError> {
    let mut body = Vec::new();
    // One more than allowed, to see whether there is more.
    let mut source = source.take((limit as u64).saturating_add(1));
    match source.read_to_end(&mut body) {
        Ok(_) if body.len() > limit => Err(CompressionError::Limit {
            kind: kind.name(),
            limit,
        }),
        Ok(_) => Ok(body),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(CompressionError::Truncated { kind: kind.name() })
        }
        Err(error) => Err(CompressionError::Malformed {
            kind: kind.name(),
            reason: error.to_string(),
        }),
    }
}
