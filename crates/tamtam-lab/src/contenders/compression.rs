//! The compression of `tamtam-rows`, for bodies of any size.

use std::borrow::Cow;

use tamtam_rows::{Compression, CompressionKind, decompress};

use crate::rows::{Compressor, Sent};

/// Those that a form is tried with, each with the level that is usual for answers of a server.
pub(super) static ALL: [ByLibrary; 3] = [
    ByLibrary::new(CompressionKind::Gzip),
    ByLibrary::new(CompressionKind::Zstd),
    ByLibrary::new(CompressionKind::Brotli),
];

/// The compression of `tamtam-rows`, for bodies of any size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ByLibrary(Compression);

impl ByLibrary {
    const fn new(kind: CompressionKind) -> Self {
        ByLibrary(Compression {
            threshold_bytes: 0,
            ..Compression::new(kind)
        })
    }

    /// By this one, if it compresses at all.
    pub(super) fn of(compression: Compression) -> Option<Self> {
        (compression.kind != CompressionKind::None).then_some(ByLibrary(compression))
    }

    pub(super) fn kind(&self) -> CompressionKind {
        self.0.kind
    }
}

impl Compressor for ByLibrary {
    fn compress(&self, bytes: Vec<u8>) -> Result<Sent, String> {
        let compressed = self.0.compress(bytes).map_err(|error| error.to_string())?;
        Ok(Sent {
            bytes: compressed.bytes,
            is_compressed: compressed.kind != CompressionKind::None,
        })
    }

    fn expand<'a>(&self, sent: &'a Sent, length: usize) -> Result<Cow<'a, [u8]>, String> {
        if !sent.is_compressed {
            return Ok(Cow::Borrowed(&sent.bytes));
        }
        decompress(self.0.kind, &sent.bytes, length)
            .map(Cow::Owned)
            .map_err(|error| error.to_string())
    }
}
