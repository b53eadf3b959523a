//! Bytes that are cut off, changed or no table at all: an error, never a panic, and never another table where the
//! form can notice.

use tamtam_rows::{Encoding, Limits, Rows, encoding};

use crate::support::encoded;

use super::forms::{Notices, notices};
use super::tables;

/// How many changed copies of one table are tried at most.
const MOST: usize = 1_500;

/// Decodes with and without the schema. What comes out, if anything does, is a table; and it is the same one where
/// `is_noticed`.
fn decode(form: &dyn Encoding, bytes: &[u8], rows: &Rows, is_noticed: bool, about: &str) {
    for schema in [Some(rows.schema()), None] {
        if let Ok(decoded) = form.decode(bytes, schema, &Limits::default()) {
            assert!(
                !is_noticed || decoded == *rows,
                "{} made another table of bytes {about}",
                form.name()
            );
            // Whatever it is, it can be read.
            for row in decoded.iter() {
                row.values().for_each(drop);
            }
        }
    }
}

fn small_tables() -> Vec<Rows> {
    vec![
        tables::each_kind(3, None),
        tables::each_kind(3, Some(2)),
        tables::each_kind(0, None),
    ]
}

#[test]
fn what_is_cut_off_is_noticed_where_it_can_be() {
    for form in encoding::all() {
        for rows in small_tables() {
            let bytes = encoded(form, &rows);
            for length in (0..bytes.len()).step_by(bytes.len().div_ceil(MOST).max(1)) {
                let is_noticed = notices(form.name()) != Notices::Nothing;
                decode(
                    form,
                    &bytes[..length],
                    &rows,
                    is_noticed,
                    &format!("cut off at {length}"),
                );
            }
        }
    }
}

#[test]
fn what_follows_is_no_part_of_the_table() {
    for form in encoding::all() {
        let rows = tables::each_kind(3, None);
        let bytes = encoded(form, &rows);
        for more in [&b"\0"[..], b"x", b"\xff\xff\xff\xff", &bytes] {
            let bytes = [&bytes, more].concat();
            decode(
                form,
                &bytes,
                &rows,
                notices(form.name()) == Notices::Everything,
                "with more behind",
            );
        }
    }
}

#[test]
fn each_bit_may_be_flipped() {
    for form in encoding::all() {
        for rows in small_tables() {
            let mut bytes = encoded(form, &rows);
            let bits = bytes.len() * 8;
            let is_noticed = notices(form.name()) == Notices::Everything;
            // The others may well read it, which takes longer than to refuse it.
            let most = if is_noticed { MOST } else { MOST / 4 };
            // Not a multiple of 8: each bit of a byte has its turn.
            let step = bits.div_ceil(most) | 1;
            for bit in (0..bits).step_by(step) {
                bytes[bit / 8] ^= 1 << (bit % 8);
                decode(
                    form,
                    &bytes,
                    &rows,
                    is_noticed,
                    &format!("with bit {bit} flipped"),
                );
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

/// Steele, Lea and Flood's SplitMix64: the same bytes each time.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[test]
fn garbage_is_no_table() {
    let mut state = 5;
    for form in encoding::all() {
        let rows = tables::each_kind(3, None);
        let bytes = encoded(form, &rows);
        for round in 0..600 {
            let length = (splitmix(&mut state) % 300) as usize;
            // Behind what may well be a header.
            let kept = (splitmix(&mut state) as usize % bytes.len()) * (round % 2);
            let garbage = (0..length).map(|_| splitmix(&mut state) as u8);
            let bytes: Vec<u8> = bytes[..kept].iter().copied().chain(garbage).collect();
            decode(
                form,
                &bytes,
                &rows,
                notices(form.name()) == Notices::Everything,
                "of garbage",
            );
        }
    }
}

#[test]
fn runs_of_one_byte_and_deep_nests_are_no_table() {
    let rows = tables::each_kind(3, None);
    for form in encoding::all() {
        for byte in [
            b'[', b'{', b'<', b'"', b'-', b'0', b'\n', b',', b'&', 0, 0x81, 0x91, 0xdd, 0xff,
        ] {
            decode(form, &[byte; 100_000], &rows, false, "of one value");
        }
        let nests = [
            "[[[[{\"a\":",
            "<value><array><data>",
            "<value><struct><member><name>a</name>",
        ];
        for nest in nests {
            decode(
                form,
                nest.repeat(20_000).as_bytes(),
                &rows,
                false,
                "of a deep nest",
            );
        }
    }
}
