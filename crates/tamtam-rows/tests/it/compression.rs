//! Compression: what is worth it is compressed, what comes back is the same, and a bomb stops at the limit.

use std::io::{ErrorKind, Read};

use tamtam_rows::{Compression, CompressionError, CompressionKind, decompress, decompressor};

const COMPRESSORS: [CompressionKind; 3] = [
    CompressionKind::Gzip,
    CompressionKind::Zstd,
    CompressionKind::Brotli,
];

/// A body as an answer may have: lines of numbers and colours.
fn lines(bytes: usize) -> Vec<u8> {
    let mut body = Vec::new();
    let mut row = 0_u32;
    while body.len() < bytes {
        let scattered = row.wrapping_mul(2_654_435_761);
        body.extend_from_slice(
            format!("{row},{},{:06x}\n", scattered % 1_100, scattered >> 8).as_bytes(),
        );
        row += 1;
    }
    body.truncate(bytes);
    body
}

/// What no compressor makes smaller.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
    .take(bytes)
    .collect()
}

#[test]
fn bodies_come_back_by_each_kind_and_level() {
    let body = lines(60_000);
    for kind in COMPRESSORS {
        let levels: &[i32] = match kind {
            CompressionKind::Gzip => &[0, 1, 6, 9],
            CompressionKind::Zstd => &[-5, 1, 3, 19],
            _ => &[0, 5, 9],
        };
        for &level in levels {
            let compression = Compression {
                level,
                ..Compression::new(kind)
            };
            let sent = compression.compress(body.clone()).unwrap();
            // Level 0 of gzip stores.
            let expected = if (kind, level) == (CompressionKind::Gzip, 0) {
                CompressionKind::None
            } else {
                kind
            };
            assert_eq!(sent.kind, expected, "{kind:?} {level}");
            assert_eq!(
                decompress(sent.kind, &sent.bytes, body.len()).unwrap(),
                body
            );
        }
        let above = Compression {
            level: 23,
            ..Compression::new(kind)
        };
        let error = above.compress(body.clone()).unwrap_err();
        assert!(
            matches!(error, CompressionError::Level { level: 23, .. }),
            "{error}"
        );
    }
    let plain = Compression::NONE.compress(body.clone()).unwrap();
    assert_eq!((plain.kind, &plain.bytes), (CompressionKind::None, &body));
}

#[test]
fn small_bodies_and_those_that_get_larger_are_sent_plain() {
    for kind in COMPRESSORS {
        let compression = Compression::new(kind);
        let at_threshold = lines(25 * 1024);
        assert_eq!(
            compression.compress(at_threshold).unwrap().kind,
            CompressionKind::None
        );
        let above = lines(25 * 1024 + 1);
        assert_eq!(compression.compress(above).unwrap().kind, kind);
        let noise = noise(30_000);
        let sent = compression.compress(noise.clone()).unwrap();
        assert_eq!((sent.kind, sent.bytes), (CompressionKind::None, noise));
    }
}

#[test]
fn a_bomb_stops_at_the_limit() {
    for kind in COMPRESSORS {
        let compression = Compression::new(kind);
        let bomb = compression.compress(vec![0; 8_000_000]).unwrap();
        assert!(bomb.bytes.len() < 100_000, "{kind:?}: {}", bomb.bytes.len());
        let error = decompress(kind, &bomb.bytes, 1_000_000).unwrap_err();
        assert!(
            matches!(
                error,
                CompressionError::Limit {
                    limit: 1_000_000,
                    ..
                }
            ),
            "{kind:?}: {error}"
        );
        let body = lines(40_000);
        let sent = compression.compress(body.clone()).unwrap();
        assert_eq!(decompress(kind, &sent.bytes, 40_000).unwrap(), body);
        decompress(kind, &sent.bytes, 39_999).unwrap_err();
        decompress(kind, &sent.bytes, 0).unwrap_err();
    }
    decompress(CompressionKind::None, b"12", 1).unwrap_err();
}

#[test]
fn damage_is_an_error_or_harmless() {
    let body = lines(30_000);
    for kind in COMPRESSORS {
        let sent = Compression::new(kind).compress(body.clone()).unwrap().bytes;
        for length in (0..sent.len()).step_by(101) {
            let result = decompress(kind, &sent[..length], 1 << 20);
            assert!(result.is_err(), "{kind:?}, cut off at {length}");
        }
        for bit in (0..sent.len() * 8).step_by(997) {
            let mut changed = sent.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let result = decompress(kind, &changed, 1 << 20);
            // gzip has a checksum; the others' bodies may have one of their own.
            let is_same = result.is_err() || result.is_ok_and(|found| found == body);
            assert!(
                kind != CompressionKind::Gzip || is_same,
                "{kind:?}, bit {bit}"
            );
        }
        decompress(kind, &noise(1_000), 1 << 20).unwrap_err();
    }
}

#[test]
fn kinds_have_names() {
    let names: Vec<_> = CompressionKind::ALL
        .iter()
        .map(|kind| (kind.name(), kind.content_encoding()))
        .collect();
    assert_eq!(
        names,
        [
            ("none", "identity"),
            ("gzip", "gzip"),
            ("zstd", "zstd"),
            ("brotli", "br")
        ]
    );
}

#[test]
fn whatever_follows_a_body_of_brotli_is_an_error() {
    let body = lines(30_000);
    let of = |kind| Compression::new(kind).compress(body.clone()).unwrap().bytes;
    let sent = of(CompressionKind::Brotli);
    for behind in [&sent[..], b"x", &[0; 5_000]] {
        let all = [&sent, behind].concat();
        let error = decompress(CompressionKind::Brotli, &all, 1 << 20).unwrap_err();
        assert!(error.to_string().contains("behind its end"), "{error}");
        // However the reader is asked.
        for piece in [1, 30_000, 100_000] {
            let source = std::io::BufReader::with_capacity(sent.len(), &all[..]);
            let mut reader = decompressor(CompressionKind::Brotli, source).unwrap();
            let (mut read, mut into) = (0, vec![0; piece]);
            let error = loop {
                match reader.read(&mut into) {
                    Ok(0) => panic!("{piece}: {read} bytes, and no error"),
                    Ok(count) => read += count,
                    Err(error) => break error,
                }
            };
            assert_eq!((read, error.kind()), (30_000, ErrorKind::InvalidData));
        }
    }
    for kind in [CompressionKind::Gzip, CompressionKind::Zstd] {
        let twice = of(kind).repeat(2);
        assert!(decompress(kind, &twice, 1 << 20).unwrap() == body.repeat(2));
    }
}

#[test]
fn a_window_as_large_as_the_limit_is_taken() {
    // Less than twice a power of two. At this level the window is the whole body.
    let body = vec![7; 20_000_000];
    let compression = Compression {
        level: 20,
        ..Compression::new(CompressionKind::Zstd)
    };
    let sent = compression.compress(body.clone()).unwrap();
    let found = decompress(CompressionKind::Zstd, &sent.bytes, body.len()).unwrap();
    assert!(found == body);
}
