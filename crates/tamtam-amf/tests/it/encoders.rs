//! What encoders write byte by byte, and what they refuse.

use tamtam_amf::amf3::{MAX_INTEGER, MIN_INTEGER, Object, Traits};
use tamtam_amf::{EncodeError, Limits, MAX_DEPTH, amf0, amf3};

fn old(
    write: impl FnOnce(&mut amf0::Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = amf0::Encoder::new(&mut bytes);
    write(&mut encoder)?;
    encoder.finish()?;
    Ok(bytes)
}

fn new(
    write: impl FnOnce(&mut amf3::Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    let mut bytes = Vec::new();
    let mut encoder = amf3::Encoder::new(&mut bytes);
    write(&mut encoder)?;
    encoder.finish()?;
    Ok(bytes)
}

#[test]
fn every_type_of_amf0_has_its_bytes() {
    let written = old(|encoder| {
        encoder.begin_strict_array(12)?;
        encoder.write_number(1.0)?;
        encoder.write_boolean(true)?;
        encoder.write_string("ü")?;
        encoder.write_null()?;
        encoder.write_undefined()?;
        encoder.write_unsupported()?;
        encoder.write_reference(0)?;
        encoder.write_date(0.0, -1)?;
        encoder.write_xml_document("<a/>")?;
        encoder.begin_typed_object("C")?;
        encoder.property("a")?;
        encoder.begin_object()?;
        encoder.end()?;
        encoder.end()?;
        encoder.begin_ecma_array(1)?;
        encoder.property_number(&amf0::Name::new("b")?, -0.0)?;
        encoder.end()?;
        encoder.write_avmplus(&"x".into())?;
        encoder.end()
    });
    let expected = [
        &b"\x0a\0\0\0\x0c"[..],
        b"\0\x3f\xf0\0\0\0\0\0\0",
        b"\x01\x01",
        b"\x02\0\x02\xc3\xbc",
        b"\x05\x06\x0d\x07\0\0",
        b"\x0b\0\0\0\0\0\0\0\0\xff\xff",
        b"\x0f\0\0\0\x04<a/>",
        b"\x10\0\x01C\0\x01a\x03\0\0\x09\0\0\x09",
        b"\x08\0\0\0\x01\0\x01b\0\x80\0\0\0\0\0\0\0\0\0\x09",
        b"\x11\x06\x03x",
    ];
    assert_eq!(written.unwrap(), expected.concat());
}

#[test]
fn every_type_of_amf3_has_its_bytes() {
    let written = new(|encoder| {
        let traits = encoder.define_traits(Traits {
            class: "C".into(),
            dynamic: true,
            members: vec!["a".into(), "".into()],
        })?;
        encoder.begin_array(19)?;
        encoder.property("n")?;
        encoder.write_undefined()?;
        encoder.write_null()?;
        encoder.write_boolean(false)?;
        encoder.write_boolean(true)?;
        encoder.write_integer(-1)?;
        encoder.write_double(1.0)?;
        encoder.write_string("ü")?;
        encoder.write_string("")?;
        encoder.write_string("n")?;
        encoder.write_xml_document("<a/>")?;
        encoder.write_date(0.0)?;
        for _ in 0..2 {
            encoder.begin_object(traits)?;
            encoder.write_integer(0x80)?;
            encoder.write_null()?;
            encoder.property("ü")?;
            encoder.write_reference(2)?;
            encoder.end()?;
        }
        encoder.write_xml("<b/>")?;
        encoder.write_byte_array(&[1, 2])?;
        encoder.write_vector_int(true, &[-2])?;
        encoder.write_vector_uint(false, &[2])?;
        encoder.write_vector_double(false, &[1.0])?;
        encoder.begin_vector("C", false, 1)?;
        encoder.write_null()?;
        encoder.end()?;
        encoder.begin_dictionary(true, 1)?;
        encoder.write_string("a")?;
        encoder.begin_anonymous_object()?;
        encoder.end()?;
        encoder.end()?;
        encoder.end()
    });
    let expected = [
        &b"\x09\x27\x03n\0\x01"[..],
        b"\x01\x02\x03\x04\xff\xff\xff\xff\x05\x3f\xf0\0\0\0\0\0\0",
        b"\x06\x05\xc3\xbc\x06\x01\x06\0",
        b"\x07\x09<a/>\x08\x01\0\0\0\0\0\0\0\0",
        b"\x0a\x2b\x03C\x03a\x01\x04\x81\0\x01\x02\x08\x04\x01",
        b"\x0a\x01\x04\x81\0\x01\x02\x08\x04\x01",
        b"\x0b\x09<b/>\x0c\x05\x01\x02",
        b"\x0d\x03\x01\xff\xff\xff\xfe\x0e\x03\0\0\0\0\x02\x0f\x03\0\x3f\xf0\0\0\0\0\0\0",
        b"\x10\x03\0\x04\x01\x11\x03\x01\x06\x06\x0a\x0b\x01\x01",
    ];
    assert_eq!(written.unwrap(), expected.concat());
}

#[test]
fn references_are_replaced_by_what_they_mean() {
    use amf0::Value;
    let point = Value::Object(vec![("x".into(), 1.0.into())]);
    let expected: Value = vec![
        point.clone(),
        vec![point.clone(), point.clone()].into(),
        point,
    ]
    .into();
    let bytes = old(|encoder| {
        encoder.begin_strict_array(3)?;
        encoder.begin_object()?;
        encoder.property("x")?;
        encoder.write_number(1.0)?;
        encoder.end()?;
        encoder.begin_strict_array(2)?;
        encoder.write_reference(1)?;
        encoder.write_reference(1)?;
        encoder.end()?;
        encoder.write_reference(1)?;
        encoder.end()
    });
    assert_eq!(
        amf0::decode(&bytes.unwrap(), Limits::default()),
        Ok(expected)
    );
}

#[test]
fn every_kind_of_value_that_amf3_can_refer_to_is_found_again() {
    use amf3::Value;
    let bytes = new(|encoder| {
        encoder.begin_array(16)?;
        encoder.write_date(5.0)?;
        encoder.write_xml("<a/>")?;
        encoder.write_xml_document("<b/>")?;
        encoder.write_byte_array(&[7])?;
        encoder.write_vector_int(false, &[-1])?;
        encoder.begin_anonymous_object()?;
        encoder.property("a")?;
        encoder.write_reference(1)?;
        encoder.end()?;
        encoder.begin_vector("*", true, 1)?;
        encoder.write_reference(4)?;
        encoder.end()?;
        encoder.begin_dictionary(false, 1)?;
        encoder.write_reference(6)?;
        encoder.write_reference(7)?;
        encoder.end()?;
        for index in 1..=8 {
            encoder.write_reference(index)?;
        }
        encoder.end()
    });
    let Value::Array(array) = amf3::decode(&bytes.unwrap(), Limits::default()).unwrap() else {
        panic!("an array was written")
    };
    let (once, again) = array.dense.split_at(8);
    assert_eq!(once, again);
    assert_eq!(again[5].get("a"), Some(&Value::Date(5.0)));
    let Value::Dictionary(dictionary) = &again[7] else {
        panic!("a dictionary was written")
    };
    assert_eq!(dictionary.entries, [(once[5].clone(), once[6].clone())]);
}

#[test]
fn amf3_within_amf0_shares_its_tables_and_begins_anew_with_each_value() {
    let object = || {
        amf3::Value::from(Object {
            traits: Traits::sealed("Point", ["x"]).into(),
            sealed: vec!["text".into()],
            dynamic: vec![],
        })
    };
    let once = [0x11, 0x0a, 0x13, 0x0b];
    let alone = old(|encoder| encoder.write_avmplus(&object())).unwrap();
    assert_eq!(alone[..4], once);
    let mut bytes = old(|encoder| {
        encoder.begin_strict_array(3)?;
        encoder.write_avmplus(&object())?;
        encoder.write_avmplus(&object())?;
        encoder.write_avmplus(&amf3::Value::Reference(0))?;
        encoder.end()
    })
    .unwrap();
    assert_eq!(
        bytes,
        [
            &b"\x0a\0\0\0\x03"[..],
            &alone,
            b"\x11\x0a\x01\x06\x04",
            b"\x11\x0a\0"
        ]
        .concat()
    );
    let old_value = |value| amf0::Value::Avmplus(Box::new(value));
    assert_eq!(
        amf0::decode(&bytes, Limits::default()).unwrap(),
        vec![
            old_value(object()),
            old_value(object()),
            old_value(object())
        ]
        .into()
    );

    let first = bytes.len();
    amf0::Encoder::new(&mut bytes)
        .write_avmplus(&object())
        .unwrap();
    assert_eq!(bytes[first..], alone);
    let mut two = Vec::new();
    let mut encoder = amf0::Encoder::new(&mut two);
    encoder.write_avmplus(&object()).unwrap();
    encoder.write_avmplus(&object()).unwrap();
    encoder.finish().unwrap();
    assert_eq!(two, [&alone[..], &alone].concat());
    let mut decoder = amf0::Decoder::new(&two, Limits::default());
    for _ in 0..2 {
        assert_eq!(decoder.value().unwrap(), old_value(object()));
    }
    decoder.finish().unwrap();
}

#[test]
fn texts_and_numbers_take_the_form_that_holds_them() {
    for (length, head) in [(65_535, &b"\x02\xff\xff"[..]), (65_536, b"\x0c\0\x01\0\0")] {
        let value = amf0::Value::from(&*"x".repeat(length));
        let bytes = amf0::encode(&value).unwrap();
        assert_eq!(bytes[..head.len()], *head);
        assert_eq!(bytes.len(), head.len() + length);
        assert_eq!(amf0::decode(&bytes, Limits::default()).unwrap(), value);
    }
    for number in [MIN_INTEGER, MAX_INTEGER] {
        let bytes = new(|encoder| encoder.write_integer(number)).unwrap();
        assert_eq!(
            amf3::decode(&bytes, Limits::default()),
            Ok(amf3::Value::Integer(number))
        );
    }
    for number in [MIN_INTEGER - 1, MAX_INTEGER + 1, i32::MIN, i32::MAX] {
        let bytes = amf3::encode(&amf3::Value::Integer(number)).unwrap();
        assert_eq!(
            amf3::decode(&bytes, Limits::default()),
            Ok(amf3::Value::Double(number.into()))
        );
    }
}

#[test]
fn nothing_is_written_that_is_not_amf0() {
    use EncodeError::{
        FewerThanAnnounced, MoreThanAnnounced, NameNotExpected, NameTooLong, NoName, NothingOpen,
        Reference, StillOpen,
    };
    let name = amf0::Name::new("a").unwrap();
    assert_eq!(old(|encoder| encoder.end()), Err(NothingOpen));
    assert_eq!(old(|encoder| encoder.property("a")), Err(NameNotExpected));
    assert_eq!(
        old(|encoder| encoder.begin_object()),
        Err(StillOpen { open: 1 })
    );
    let object = |write: &dyn Fn(&mut amf0::Encoder<'_>) -> Result<(), EncodeError>| {
        old(|encoder| {
            encoder.begin_object()?;
            write(encoder)?;
            encoder.end()
        })
        .unwrap_err()
    };
    assert_eq!(object(&|encoder| encoder.write_null()), NoName);
    assert_eq!(
        object(&|encoder| encoder.property("a")),
        FewerThanAnnounced { left: 1 }
    );
    assert_eq!(
        object(&|encoder| encoder
            .property("a")
            .and_then(|()| encoder.property_number(&name, 0.0))),
        NameNotExpected
    );
    assert_eq!(
        object(&|encoder| encoder.property(&"a".repeat(65_536))),
        NameTooLong {
            bytes: 65_536,
            limit: 65_535
        }
    );
    let array = |write: &dyn Fn(&mut amf0::Encoder<'_>) -> Result<(), EncodeError>| {
        old(|encoder| {
            encoder.begin_strict_array(1)?;
            write(encoder)?;
            encoder.end()
        })
        .unwrap_err()
    };
    assert_eq!(array(&|_| Ok(())), FewerThanAnnounced { left: 1 });
    assert_eq!(
        array(&|encoder| encoder.write_null().and_then(|()| encoder.write_null())),
        MoreThanAnnounced
    );
    assert_eq!(
        array(&|encoder| encoder.property_name(&name)),
        NameNotExpected
    );
    assert_eq!(
        array(&|encoder| encoder.write_reference(1)),
        Reference { index: 1, known: 1 }
    );
    // A value that stood before has a table of its own.
    let alone = old(|encoder| {
        encoder.begin_object()?;
        encoder.end()?;
        encoder.write_reference(0)
    });
    assert_eq!(alone, Err(Reference { index: 0, known: 0 }));
    let deep = old(|encoder| (0..=MAX_DEPTH).try_for_each(|_| encoder.begin_strict_array(1)));
    assert_eq!(deep, Err(EncodeError::TooDeep { limit: MAX_DEPTH }));
    // AMF3 within goes on counting.
    let inside = (0..MAX_DEPTH / 2).fold(amf3::Value::Null, |value, _| vec![value].into());
    let both = |outside: usize| {
        let value = amf0::Value::Avmplus(Box::new(inside.clone()));
        amf0::encode(&(0..outside).fold(value, |value, _| vec![value].into()))
    };
    assert!(both(MAX_DEPTH / 2).is_ok());
    assert_eq!(
        both(MAX_DEPTH / 2 + 1),
        Err(EncodeError::TooDeep { limit: MAX_DEPTH })
    );
}

#[test]
fn nothing_is_written_that_is_not_amf3() {
    use EncodeError::{
        EmptyName, FewerThanAnnounced, MoreThanAnnounced, NameNotExpected, NoName, NotDynamic,
        NothingOpen, Reference, SealedCount, StillOpen, TooDeep, UnknownTraits,
    };
    assert_eq!(new(|encoder| encoder.end()), Err(NothingOpen));
    assert_eq!(new(|encoder| encoder.property("a")), Err(NameNotExpected));
    assert_eq!(
        new(|encoder| encoder.begin_array(0)),
        Err(StillOpen { open: 1 })
    );
    let object = |write: &dyn Fn(&mut amf3::Encoder<'_>) -> Result<(), EncodeError>| {
        new(|encoder| {
            let traits = encoder.define_traits(Traits::sealed("", ["a"]))?;
            encoder.begin_object(traits)?;
            write(encoder)?;
            encoder.end()
        })
        .unwrap_err()
    };
    assert_eq!(object(&|_| Ok(())), FewerThanAnnounced { left: 1 });
    assert_eq!(object(&|encoder| encoder.property("b")), NameNotExpected);
    assert_eq!(
        object(&|encoder| encoder.write_null().and_then(|()| encoder.property("b"))),
        NameNotExpected
    );
    assert_eq!(
        object(&|encoder| encoder.write_null().and_then(|()| encoder.write_null())),
        MoreThanAnnounced
    );
    let anonymous = |write: &dyn Fn(&mut amf3::Encoder<'_>) -> Result<(), EncodeError>| {
        new(|encoder| {
            encoder.begin_anonymous_object()?;
            write(encoder)?;
            encoder.end()
        })
        .unwrap_err()
    };
    assert_eq!(anonymous(&|encoder| encoder.write_null()), NoName);
    assert_eq!(anonymous(&|encoder| encoder.property("")), EmptyName);
    assert_eq!(
        anonymous(&|encoder| encoder.property("a")),
        FewerThanAnnounced { left: 1 }
    );
    let array = |write: &dyn Fn(&mut amf3::Encoder<'_>) -> Result<(), EncodeError>| {
        new(|encoder| {
            encoder.begin_array(1)?;
            write(encoder)?;
            encoder.end()
        })
        .unwrap_err()
    };
    assert_eq!(array(&|_| Ok(())), FewerThanAnnounced { left: 1 });
    assert_eq!(
        array(&|encoder| encoder.write_null().and_then(|()| encoder.property("a"))),
        NameNotExpected
    );
    assert_eq!(
        array(&|encoder| encoder.write_null().and_then(|()| encoder.write_null())),
        MoreThanAnnounced
    );
    assert_eq!(
        array(&|encoder| encoder.write_reference(1)),
        Reference { index: 1, known: 1 }
    );
    let mut elsewhere = Vec::new();
    let unknown = amf3::Encoder::new(&mut elsewhere)
        .define_traits(Traits::dynamic("C"))
        .unwrap();
    assert_eq!(
        new(|encoder| encoder.begin_object(unknown)),
        Err(UnknownTraits)
    );
    let of = |traits: Traits, sealed: Vec<amf3::Value>| {
        amf3::encode(&amf3::Value::from(Object {
            traits: traits.into(),
            sealed,
            dynamic: vec![("b".into(), amf3::Value::Null)],
        }))
    };
    assert_eq!(
        of(Traits::dynamic(""), vec![amf3::Value::Null]),
        Err(SealedCount {
            given: 1,
            expected: 0
        })
    );
    assert_eq!(
        of(Traits::sealed("C", []), vec![]),
        Err(NotDynamic { class: "C".into() })
    );
    let deep = new(|encoder| (0..=MAX_DEPTH).try_for_each(|_| encoder.begin_array(1)));
    assert_eq!(deep, Err(TooDeep { limit: MAX_DEPTH }));
}

#[test]
fn names_that_were_made_ready_are_those_that_were_not() {
    for length in [0, 1, 28, 29, 30, 31, 32, 33, 300, 65_535] {
        let text = "n".repeat(length);
        let name = amf0::Name::new(&text).unwrap();
        assert_eq!(name.as_str(), text);
        let ready = old(|encoder| {
            encoder.begin_object()?;
            encoder.property_number(&name, 1.5)?;
            encoder.property_name(&name)?;
            encoder.write_null()?;
            encoder.property_string(&name, "text")?;
            encoder.end()
        });
        let not = old(|encoder| {
            encoder.begin_object()?;
            encoder.property(&text)?;
            encoder.write_number(1.5)?;
            encoder.property(&text)?;
            encoder.write_null()?;
            encoder.property(&text)?;
            encoder.write_string("text")?;
            encoder.end()
        });
        assert_eq!(ready.unwrap(), not.unwrap());
    }
}
