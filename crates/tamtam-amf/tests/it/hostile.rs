//! Input that wants more than it pays for, and what it gets.

use tamtam_amf::{Cause, DecodeError, Limits, MAX_DEPTH, amf0, amf3};

fn cause<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> Cause {
    result.expect_err("this is hostile").cause
}

fn amf0_cause(bytes: &[u8]) -> Cause {
    cause(amf0::decode(bytes, Limits::default()))
}

fn amf3_cause(bytes: &[u8]) -> Cause {
    cause(amf3::decode(bytes, Limits::default()))
}

/// So many arrays of AMF0 within each other.
fn nested_amf0(depth: usize) -> Vec<u8> {
    let mut bytes = b"\x0a\0\0\0\x01".repeat(depth - 1);
    bytes.extend(b"\x0a\0\0\0\0");
    bytes
}

/// So many arrays of AMF3 within each other.
fn nested_amf3(depth: usize) -> Vec<u8> {
    let mut bytes = b"\x09\x03\x01".repeat(depth - 1);
    bytes.extend(b"\x09\x01\x01");
    bytes
}

#[test]
fn a_length_that_the_input_cannot_pay_is_refused() {
    assert!(matches!(
        amf0_cause(b"\x0a\xff\xff\xff\xff\x05\x05"),
        Cause::Announced {
            announced: 0xffff_ffff,
            left: 2
        }
    ));
    assert!(matches!(
        amf0_cause(b"\x0c\xff\xff\xff\xffabc"),
        Cause::Truncated { left: 3, .. }
    ));
    // 2²⁸ − 1 of everything.
    for marker in [0x07, 0x0b, 0x0c] {
        assert!(matches!(
            amf3_cause(&[marker, 0xff, 0xff, 0xff, 0xff, 1]),
            Cause::Truncated { .. }
        ));
    }
    for marker in [0x0d, 0x0e, 0x0f] {
        assert!(matches!(
            amf3_cause(&[marker, 0xff, 0xff, 0xff, 0xff, 0, 1]),
            Cause::Truncated { left: 1, .. }
        ));
    }
    for bytes in [
        &b"\x09\xff\xff\xff\xff\x01"[..],
        b"\x10\xff\xff\xff\xff\0\x03*",
        b"\x11\xff\xff\xff\xff\0\x01",
        b"\x0a\xff\xff\xff\xf3\x01\x03a",
    ] {
        assert!(
            matches!(amf3_cause(bytes), Cause::Announced { .. }),
            "{bytes:?}"
        );
    }
}

#[test]
fn arrays_within_each_other_cannot_announce_the_same_bytes_twice() {
    // Two arrays, each of which could be paid alone.
    let mut bytes = b"\x0a\0\0\0\x40\x0a\0\0\0\x40".to_vec();
    bytes.extend([5; 100]);
    let error = amf0::decode(&bytes, Limits::default()).unwrap_err();
    assert_eq!(error.position, 5);
    assert_eq!(
        error.cause,
        Cause::Announced {
            announced: 64,
            left: 100 - 63
        }
    );

    let mut bytes = b"\x09\x81\x01\x01\x09\x81\x01\x01".to_vec();
    bytes.extend([1; 100]);
    let error = amf3::decode(&bytes, Limits::default()).unwrap_err();
    assert_eq!(error.position, 4);
    assert!(matches!(
        error.cause,
        Cause::Announced { announced: 64, .. }
    ));
}

#[test]
fn traits_that_every_object_claims_anew_are_paid_by_each() {
    // Traits of three members, and then objects that have them and no values.
    let bytes = b"\x09\x05\x01\x0a\x33\x01\x03a\x03b\x03c\x01\x01\x01\x0a\x01";
    assert!(matches!(
        amf3_cause(bytes),
        Cause::Announced {
            announced: 3,
            left: 0
        }
    ));
}

#[test]
fn depth_ends_at_the_limit_and_at_what_a_thread_can_bear() {
    let limits = Limits {
        depth: 10,
        ..Limits::default()
    };
    assert!(amf0::decode(&nested_amf0(10), limits).is_ok());
    assert!(amf3::decode(&nested_amf3(10), limits).is_ok());
    for result in [
        amf0::decode(&nested_amf0(11), limits).map(drop),
        amf3::decode(&nested_amf3(11), limits).map(drop),
    ] {
        assert_eq!(cause(result), Cause::TooDeep { limit: 10 });
    }

    // However high the limit, a tree of the greatest depth is built, walked and dropped on a small stack.
    let limits = Limits {
        depth: usize::MAX,
        ..Limits::default()
    };
    let thread = std::thread::Builder::new().stack_size(1 << 21);
    let deepest = move || {
        for depth in [MAX_DEPTH, MAX_DEPTH + 1, 100_000] {
            let (old, new) = (
                amf0::decode(&nested_amf0(depth), limits),
                amf3::decode(&nested_amf3(depth), limits),
            );
            if depth > MAX_DEPTH {
                assert_eq!(cause(old), Cause::TooDeep { limit: MAX_DEPTH });
                assert_eq!(cause(new), Cause::TooDeep { limit: MAX_DEPTH });
                continue;
            }
            let (old, new) = (old.unwrap(), new.unwrap());
            assert_eq!(amf0::encode(&old.clone()).unwrap(), nested_amf0(depth));
            assert_eq!(amf3::encode(&new.clone()).unwrap(), nested_amf3(depth));
            assert_eq!(format!("{old:?}").matches("StrictArray").count(), depth);
            assert_eq!(format!("{new:?}").matches("dense").count(), depth);
        }
    };
    thread.spawn(deepest).unwrap().join().unwrap();
}

#[test]
fn amf3_within_amf0_counts_towards_the_same_depth() {
    let limits = Limits {
        depth: 10,
        ..Limits::default()
    };
    let within = |outside: usize, inside: usize| {
        let mut bytes = b"\x0a\0\0\0\x01".repeat(outside);
        bytes.push(0x11);
        bytes.extend(nested_amf3(inside));
        amf0::decode(&bytes, limits)
    };
    assert!(within(4, 6).is_ok());
    assert_eq!(cause(within(5, 6)), Cause::TooDeep { limit: 10 });
}

#[test]
fn values_and_bytes_end_at_their_limits() {
    let limits = Limits {
        values: 3,
        bytes: 20,
        ..Limits::default()
    };
    assert!(amf0::decode(b"\x0a\0\0\0\x02\x05\x05", limits).is_ok());
    assert_eq!(
        cause(amf0::decode(b"\x0a\0\0\0\x03\x05\x05\x05", limits)),
        Cause::TooMany { limit: 3 }
    );
    assert_eq!(
        cause(amf0::decode(
            b"\x03\0\x01a\x05\0\x01b\x05\0\x01c\x05\0\0\x09",
            limits
        )),
        Cause::TooMany { limit: 3 }
    );
    assert_eq!(
        cause(amf3::decode(b"\x09\x07\x01\x01\x01\x01", limits)),
        Cause::TooMany { limit: 3 }
    );
    assert_eq!(
        cause(amf0::decode(&[5; 21], limits)),
        Cause::TooLarge {
            bytes: 21,
            limit: 20
        }
    );
    assert_eq!(
        cause(amf3::decode(&[1; 21], limits)),
        Cause::TooLarge {
            bytes: 21,
            limit: 20
        }
    );
}

/// An array of `levels` arrays, each of which holds the one before it `width` times.
fn amf0_bomb(levels: u16, width: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = amf0::Encoder::new(&mut bytes);
    encoder.begin_strict_array(u32::from(levels)).unwrap();
    for level in 0..levels {
        encoder.begin_strict_array(width).unwrap();
        for _ in 0..width {
            if level == 0 {
                encoder.write_null().unwrap();
            } else {
                encoder.write_reference(level).unwrap();
            }
        }
        encoder.end().unwrap();
    }
    encoder.end().unwrap();
    encoder.finish().unwrap();
    bytes
}

fn amf3_bomb(levels: u32, width: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = amf3::Encoder::new(&mut bytes);
    encoder.begin_array(levels as usize).unwrap();
    for level in 0..levels {
        encoder.begin_array(width).unwrap();
        for _ in 0..width {
            if level == 0 {
                encoder.write_null().unwrap();
            } else {
                encoder.write_reference(level).unwrap();
            }
        }
        encoder.end().unwrap();
    }
    encoder.end().unwrap();
    encoder.finish().unwrap();
    bytes
}

#[test]
fn references_to_references_do_not_unfold_without_end() {
    // 10^20 values in less than a kilobyte.
    let limit = Limits::default().values;
    assert_eq!(amf0_cause(&amf0_bomb(20, 10)), Cause::TooMany { limit });
    assert_eq!(amf3_cause(&amf3_bomb(20, 10)), Cause::TooMany { limit });
    let mut both = vec![0x11];
    both.extend(amf3_bomb(20, 10));
    assert_eq!(amf0_cause(&both), Cause::TooMany { limit });
    // One within each other: few values, and deep.
    let limit = Limits::default().depth;
    assert_eq!(amf0_cause(&amf0_bomb(1_000, 1)), Cause::TooDeep { limit });
    assert_eq!(amf3_cause(&amf3_bomb(1_000, 1)), Cause::TooDeep { limit });
    // As they are, they are small.
    assert!(
        amf0::Decoder::new(&amf0_bomb(1_000, 1), Limits::default())
            .value_with_references()
            .is_ok()
    );
    assert!(
        amf3::Decoder::new(&amf3_bomb(1_000, 1), Limits::default())
            .value_with_references()
            .is_ok()
    );
}

#[test]
fn references_to_much_content_are_paid_by_its_bytes() {
    let limits = Limits {
        bytes: 10_000,
        ..Limits::default()
    };
    let repeated = |write: &dyn Fn(&mut amf3::Encoder<'_>, u32)| {
        let mut bytes = Vec::new();
        let mut encoder = amf3::Encoder::new(&mut bytes);
        encoder.begin_array(20).unwrap();
        for turn in 0..20 {
            write(&mut encoder, turn);
        }
        encoder.end().unwrap();
        encoder.finish().unwrap();
        cause(amf3::decode(&bytes, limits))
    };
    let text = "long".repeat(250);
    assert_eq!(
        repeated(&|encoder, _| encoder.write_string(&text).unwrap()),
        Cause::Repeated { limit: 10_000 }
    );
    assert_eq!(
        repeated(&|encoder, turn| match turn {
            0 => encoder.write_byte_array(text.as_bytes()).unwrap(),
            _ => encoder.write_reference(1).unwrap(),
        }),
        Cause::Repeated { limit: 10_000 }
    );
}

#[test]
fn what_contains_itself_is_refused_as_a_tree_and_read_as_it_is() {
    // An array with itself.
    let old = b"\x0a\0\0\0\x01\x07\0\0";
    let new = b"\x09\x03\x01\x09\0";
    assert_eq!(amf0_cause(old), Cause::Cycle { index: 0 });
    assert_eq!(amf3_cause(new), Cause::Cycle { index: 0 });
    let old_value = amf0::Decoder::new(old, Limits::default()).value_with_references();
    assert_eq!(old_value.unwrap(), vec![amf0::Value::Reference(0)].into());
    let new_value = amf3::Decoder::new(new, Limits::default()).value_with_references();
    assert_eq!(new_value.unwrap(), vec![amf3::Value::Reference(0)].into());
}

#[test]
fn references_to_what_is_not_there_are_refused() {
    assert_eq!(
        amf0_cause(b"\x07\0\0"),
        Cause::Reference { index: 0, known: 0 }
    );
    assert_eq!(
        amf0_cause(b"\x0a\0\0\0\x01\x07\0\x01"),
        Cause::Reference { index: 1, known: 1 }
    );
    assert_eq!(
        amf3_cause(b"\x09\0"),
        Cause::Reference { index: 0, known: 0 }
    );
    assert_eq!(
        amf3_cause(b"\x08\x02"),
        Cause::Reference { index: 1, known: 0 }
    );
    assert_eq!(
        amf3_cause(b"\x06\0"),
        Cause::StringReference { index: 0, known: 0 }
    );
    assert_eq!(
        amf3_cause(b"\x0a\x01"),
        Cause::TraitsReference { index: 0, known: 0 }
    );
    // Where a value stands alone, the tables begin anew.
    let mut decoder = amf3::Decoder::new(b"\x06\x03a\x06\0", Limits::default());
    assert_eq!(decoder.value().unwrap(), "a".into());
    assert!(matches!(
        cause(decoder.value()),
        Cause::StringReference { .. }
    ));
}

#[test]
fn what_no_type_has_is_refused_by_its_place() {
    for (bytes, position, cause) in [
        (&b"\x12"[..], 0, Cause::Marker(0x12)),
        (b"\x0a\0\0\0\x01\xff", 5, Cause::Marker(0xff)),
        (b"\x04", 0, Cause::Reserved(4)),
        (b"\x0e", 0, Cause::Reserved(14)),
        (b"\x09", 0, Cause::ObjectEnd),
        (b"\x02\0\x02a\xff", 4, Cause::Utf8),
        (b"\x05\x05", 1, Cause::Trailing { left: 1 }),
        (b"", 0, Cause::Truncated { needed: 1, left: 0 }),
        (b"\x03\0\x01a", 4, Cause::Truncated { needed: 1, left: 0 }),
        (b"\x11\x12", 1, Cause::Marker(0x12)),
        (b"\x11", 1, Cause::Truncated { needed: 1, left: 0 }),
    ] {
        let error = amf0::decode(bytes, Limits::default()).unwrap_err();
        assert_eq!(error, DecodeError { position, cause }, "{bytes:?}");
    }
    for (bytes, position, cause) in [
        (&b"\x12"[..], 0, Cause::Marker(0x12)),
        (b"\x06\x05a\xff", 3, Cause::Utf8),
        (b"\x01\x01", 1, Cause::Trailing { left: 1 }),
        (b"", 0, Cause::Truncated { needed: 1, left: 0 }),
        (b"\x04\x80\x80", 3, Cause::Truncated { needed: 1, left: 0 }),
        (
            b"\x0a\x07\x09Mine\x09\x01\x01",
            0,
            Cause::Externalizable {
                class: "Mine".into(),
            },
        ),
    ] {
        let error = amf3::decode(bytes, Limits::default()).unwrap_err();
        assert_eq!(error, DecodeError { position, cause }, "{bytes:?}");
    }
}

#[test]
fn a_part_of_a_value_is_read_by_itself_and_knows_its_own_references() {
    // An array of an empty object, of an array of another one and a reference to it, and of one to the first object.
    let old =
        b"\x0a\0\0\0\x03\x03\0\0\x09\x0a\0\0\0\x02\x03\0\0\x09\x07\0\x03\x0a\0\0\0\x01\x07\0\x01";
    let mut decoder = amf0::Decoder::new(old, Limits::default());
    let begin = decoder.next_event().unwrap();
    assert_eq!(begin, Some(amf0::Event::BeginStrictArray { length: 3 }));
    let object = amf0::Value::Object(vec![]);
    assert_eq!(decoder.value(), Ok(object.clone()));
    assert_eq!(decoder.value(), Ok(vec![object.clone(), object].into()));
    let error = decoder.value().unwrap_err();
    assert_eq!(error.position, old.len() - 3);
    assert_eq!(error.cause, Cause::Outside { index: 1 });

    // The same in AMF3, whose objects have traits.
    let new = b"\x09\x07\x01\x0a\x0b\x01\x01\x09\x05\x01\x0a\x01\x01\x0a\x06\x09\x03\x01\x0a\x02";
    let mut decoder = amf3::Decoder::new(new, Limits::default());
    let begin = decoder.next_event().unwrap();
    assert_eq!(begin, Some(amf3::Event::BeginArray { dense: 3 }));
    // The end of the names of an array is no item of its own.
    let object = decoder.value().unwrap();
    assert_eq!(decoder.value(), Ok(vec![object.clone(), object].into()));
    let error = decoder.value().unwrap_err();
    assert_eq!(error.position, new.len() - 2);
    assert_eq!(error.cause, Cause::Outside { index: 1 });

    // And in AMF3 within AMF0.
    let both = [
        b"\x0a\0\0\0\x02\x11".as_slice(),
        b"\x09\x01\x01",
        b"\x11\x09\0",
    ]
    .concat();
    let mut decoder = amf0::Decoder::new(&both, Limits::default());
    decoder.next_event().unwrap();
    decoder.value().unwrap();
    assert_eq!(cause(decoder.value()), Cause::Outside { index: 0 });
}

#[test]
fn a_value_is_only_read_where_one_is() {
    let mut decoder = amf0::Decoder::new(b"\x03\0\x01a\x05\0\0\x09", Limits::default());
    decoder.next_event().unwrap();
    assert_eq!(cause(decoder.value()), Cause::NotAValue);
    assert_eq!(decoder.next_event(), Ok(Some(amf0::Event::Property("a"))));
    assert_eq!(decoder.value(), Ok(amf0::Value::Null));
    assert_eq!(cause(decoder.value()), Cause::NotAValue);

    let mut decoder = amf3::Decoder::new(b"\x0a\x0b\x01\x03a\x01\x01", Limits::default());
    decoder.next_event().unwrap();
    assert_eq!(cause(decoder.value()), Cause::NotAValue);
    let mut decoder = amf3::Decoder::new(b"\x09\x01\x01", Limits::default());
    decoder.next_event().unwrap();
    assert_eq!(cause(decoder.value()), Cause::NotAValue);
}
