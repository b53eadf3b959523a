//! Bytes that other software wrote, see `golden/README.md`: what they mean here, and where both encoders choose the
//! same form, that ours writes the same bytes.

use std::sync::Arc;

use tamtam_amf::amf3::{Array, Object, Traits, Vector};
use tamtam_amf::recordset::{RecordSet, ServerInfo};
use tamtam_amf::{Cause, Limits, amf0, amf3};

macro_rules! golden {
    ($name:literal) => {
        &include_bytes!(concat!("../golden/", $name))[..]
    };
}

const WHEN: f64 = 1_359_030_615_250.0;

fn old(bytes: &[u8]) -> amf0::Value {
    amf0::decode(bytes, Limits::default()).unwrap()
}

fn new(bytes: &[u8]) -> amf3::Value {
    amf3::decode(bytes, Limits::default()).unwrap()
}

/// Reads AMF0 and writes it again, with its references.
fn old_again(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = amf0::Decoder::new(bytes, Limits::default());
    let value = decoder.value_with_references().unwrap();
    decoder.finish().unwrap();
    amf0::encode(&value).unwrap()
}

/// Reads AMF3 and writes it again, with its references.
fn new_again(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = amf3::Decoder::new(bytes, Limits::default());
    let value = decoder.value_with_references().unwrap();
    decoder.finish().unwrap();
    amf3::encode(&value).unwrap()
}

fn old_object(items: Vec<(&str, amf0::Value)>) -> amf0::Value {
    amf0::Value::Object(
        items
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    )
}

fn old_typed(class: &str, items: Vec<(&str, amf0::Value)>) -> amf0::Value {
    let properties = items
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    amf0::Value::TypedObject(Box::new(amf0::TypedObject {
        class: class.into(),
        properties,
    }))
}

fn new_object(
    traits: &Arc<Traits>,
    sealed: Vec<amf3::Value>,
    dynamic: Vec<(&str, amf3::Value)>,
) -> amf3::Value {
    amf3::Value::from(Object {
        traits: Arc::clone(traits),
        sealed,
        dynamic: dynamic
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
    })
}

fn anonymous(dynamic: Vec<(&str, amf3::Value)>) -> amf3::Value {
    new_object(&Traits::dynamic("").into(), vec![], dynamic)
}

#[test]
fn amf0_of_pyamf_is_understood() {
    use amf0::Value::{self, Boolean, Null, Number, Undefined};
    let scalars = vec![
        Null,
        Undefined,
        Boolean(true),
        Boolean(false),
        Number(0.0),
        Number(1.5),
        Number(-1.0),
        Number(f64::INFINITY),
        "tam".into(),
        "".into(),
        "ü\u{1f941}".into(),
        Value::Date {
            milliseconds: WHEN,
            time_zone: 0,
        },
    ];
    assert_eq!(old(golden!("pyamf-amf0-scalars")), scalars.into());
    let list = vec![Number(1.0), "a".into(), Null];
    let object = old_object(vec![
        ("x", Number(1.5)),
        ("name", "n".into()),
        ("inside", old_object(vec![("list", list.into())])),
    ]);
    assert_eq!(old(golden!("pyamf-amf0-object")), object);
    let mixed = Value::EcmaArray(vec![
        ("0".into(), "zero".into()),
        ("name".into(), "n".into()),
    ]);
    assert_eq!(old(golden!("pyamf-amf0-mixed-array")), mixed);
    let typed = vec![
        old_typed(
            "demo.Tile",
            vec![("x", Number(1.0)), ("colour", "red".into())],
        ),
        old_typed("demo.Sealed", vec![("x", Number(1.0)), ("y", "a".into())]),
        old_typed("demo.Sealed", vec![("x", Number(2.0)), ("y", "b".into())]),
        old_typed("demo.Mixed", vec![("x", Number(3.0)), ("z", "zz".into())]),
        old_typed("demo.Mixed", vec![("x", Number(4.0))]),
    ];
    assert_eq!(old(golden!("pyamf-amf0-typed")), typed.into());
    let shared = Value::from(vec![Number(1.0), Number(2.0)]);
    let object = old_object(vec![("a", Number(1.0))]);
    let references = vec![
        shared.clone(),
        object.clone(),
        shared,
        object.clone(),
        vec![object].into(),
    ];
    assert_eq!(old(golden!("pyamf-amf0-references")), references.into());
    let xml = vec![Value::XmlDocument("<a b=\"1\"><c /></a>".into())];
    assert_eq!(old(golden!("pyamf-amf0-xml")), xml.into());
    let error = amf0::decode(golden!("pyamf-amf0-cycle"), Limits::default()).unwrap_err();
    assert_eq!(error.cause, Cause::Cycle { index: 0 });
    let sealed: Arc<_> = Traits::sealed("demo.Sealed", ["x", "y"]).into();
    let avmplus = amf3::Value::from(vec![
        anonymous(vec![("a", "b".into())]),
        vec![
            new_object(&sealed, vec![amf3::Value::Integer(1), "a".into()], vec![]),
            new_object(&sealed, vec![amf3::Value::Integer(2), "a".into()], vec![]),
        ]
        .into(),
        "x".into(),
    ]);
    assert_eq!(
        old(golden!("pyamf-amf0-avmplus")),
        Value::Avmplus(Box::new(avmplus))
    );
}

#[test]
fn amf3_of_pyamf_is_understood() {
    use amf3::Value::{self, Boolean, Date, Double, Integer, Null, Undefined};
    let scalars = vec![
        Null,
        Undefined,
        Boolean(true),
        Boolean(false),
        Integer(0),
        Double(1.5),
        Integer(-1),
        Double(f64::INFINITY),
        "tam".into(),
        "".into(),
        "ü\u{1f941}".into(),
        Date(WHEN),
    ];
    assert_eq!(new(golden!("pyamf-amf3-scalars")), scalars.into());
    let list = vec![Integer(1), "a".into(), Null];
    let object = anonymous(vec![
        ("x", Double(1.5)),
        ("name", "n".into()),
        ("inside", anonymous(vec![("list", list.into())])),
    ]);
    assert_eq!(new(golden!("pyamf-amf3-object")), object);
    let mixed = Array {
        associative: vec![("name".into(), "n".into())],
        dense: vec!["zero".into()],
    };
    assert_eq!(
        new(golden!("pyamf-amf3-mixed-array")),
        Value::Array(Box::new(mixed))
    );
    let tile: Arc<_> = Traits::dynamic("demo.Tile").into();
    let sealed: Arc<_> = Traits::sealed("demo.Sealed", ["x", "y"]).into();
    let mixed: Arc<_> = Traits {
        dynamic: true,
        ..Traits::sealed("demo.Mixed", ["x"])
    }
    .into();
    let typed = vec![
        new_object(
            &tile,
            vec![],
            vec![("x", Integer(1)), ("colour", "red".into())],
        ),
        new_object(&sealed, vec![Integer(1), "a".into()], vec![]),
        new_object(&sealed, vec![Integer(2), "b".into()], vec![]),
        new_object(&mixed, vec![Integer(3)], vec![("z", "zz".into())]),
        new_object(&mixed, vec![Integer(4)], vec![]),
    ];
    assert_eq!(new(golden!("pyamf-amf3-typed")), typed.into());
    let shared = Value::from(vec![Integer(1), Integer(2)]);
    let object = anonymous(vec![("a", Integer(1))]);
    let references = vec![
        shared.clone(),
        object.clone(),
        shared,
        object.clone(),
        vec![object].into(),
    ];
    assert_eq!(new(golden!("pyamf-amf3-references")), references.into());
    let xml = vec![Value::Xml("<a b=\"1\"><c /></a>".into())];
    assert_eq!(new(golden!("pyamf-amf3-xml")), xml.into());
    let integers = vec![
        Integer(0),
        Integer(127),
        Integer(128),
        Integer(16_383),
        Integer(16_384),
        Integer(2_097_151),
        Integer(2_097_152),
        Integer(268_435_455),
        Double(268_435_456.0),
        Integer(-1),
        Integer(-268_435_456),
        Double(-268_435_457.0),
    ];
    assert_eq!(new(golden!("pyamf-amf3-integers")), integers.into());
    let pair = || anonymous(vec![("a", "b".into())]);
    let repeated = vec![
        "a".into(),
        "b".into(),
        "a".into(),
        pair(),
        pair(),
        Date(WHEN),
        Date(WHEN),
    ];
    assert_eq!(new(golden!("pyamf-amf3-repeated")), repeated.into());
    let bytes = vec![Value::ByteArray(vec![0, 1, 255])];
    assert_eq!(new(golden!("pyamf-amf3-byte-array")), bytes.into());
    let collection = new(golden!("pyamf-amf3-array-collection"));
    let Value::Externalizable(object) = &collection else {
        panic!("an externalizable object was written")
    };
    assert_eq!(&*object.class, "flex.messaging.io.ArrayCollection");
    let list = vec![Integer(1), Integer(2)];
    assert_eq!(collection.get("source"), Some(&list.into()));
    let error = amf3::decode(golden!("pyamf-amf3-cycle"), Limits::default()).unwrap_err();
    assert_eq!(error.cause, Cause::Cycle { index: 0 });
}

#[test]
fn both_formats_of_javascript_are_understood() {
    use amf3::Value::{self, Integer};
    fn vector<T>(values: Vec<T>) -> Box<Vector<T>> {
        Box::new(Vector {
            fixed: false,
            values,
        })
    }
    let ints = Value::VectorInt(vector(vec![1, 2]));
    assert_eq!(new(golden!("js-amf3-vector-int")), ints);
    let uints = Value::VectorUint(vector(vec![1, u32::MAX]));
    assert_eq!(new(golden!("js-amf3-vector-uint")), uints);
    let doubles = Value::VectorDouble(vector(vec![0.5, -2.0]));
    assert_eq!(new(golden!("js-amf3-vector-double")), doubles);
    let pair = Value::from(vec![Integer(1), Integer(2)]);
    let array = Array {
        associative: vec![("mixed".into(), true.into()), ("ref".into(), pair.clone())],
        dense: vec![pair.clone(), pair],
    };
    assert_eq!(new(golden!("js-amf3-array")), Value::Array(Box::new(array)));
    let Value::Array(objects) = new(golden!("js-amf3-objects")) else {
        panic!("an array was written")
    };
    let of = |name: &str, place: usize| objects.dense[place].get(name).cloned();
    assert_eq!(of("id", 1), Some(Integer(2)));
    assert_eq!(of("name", 1), Some("m".into()));
    assert_eq!(objects.dense[0], objects.dense[2]);
    let objects = old(golden!("js-amf0-objects"));
    let object = |id: f64, name: &str| old_object(vec![("id", id.into()), ("name", name.into())]);
    assert_eq!(objects.get("0"), Some(&object(1.0, "n")));
    assert_eq!(objects.get("1"), Some(&object(2.0, "m")));
    assert_eq!(objects.get("2"), Some(&object(1.0, "n")));
}

#[test]
fn a_record_set_of_pyamf_is_understood() {
    let table = RecordSet::decode(golden!("pyamf-amf0-recordset"), Limits::default()).unwrap();
    assert_eq!(
        table.rows,
        [[1.0.into(), "a".into()], [2.5.into(), amf0::Value::Null]]
    );
    let info = ServerInfo {
        service: "Tiles".into(),
        id: "42".into(),
        ..ServerInfo::whole(["x", "name"], 2)
    };
    assert_eq!(table.info, info);
}

#[test]
fn what_others_wrote_is_written_the_same_again() {
    for bytes in [
        golden!("pyamf-amf0-scalars"),
        golden!("pyamf-amf0-object"),
        golden!("pyamf-amf0-typed"),
        golden!("pyamf-amf0-references"),
        golden!("pyamf-amf0-xml"),
        golden!("pyamf-amf0-cycle"),
        golden!("pyamf-amf0-avmplus"),
    ] {
        assert_eq!(old_again(bytes), bytes);
    }
    for bytes in [
        golden!("pyamf-amf3-scalars"),
        golden!("pyamf-amf3-object"),
        golden!("pyamf-amf3-mixed-array"),
        golden!("pyamf-amf3-typed"),
        golden!("pyamf-amf3-references"),
        golden!("pyamf-amf3-xml"),
        golden!("pyamf-amf3-cycle"),
        golden!("pyamf-amf3-integers"),
        golden!("pyamf-amf3-repeated"),
        golden!("pyamf-amf3-byte-array"),
        golden!("pyamf-amf3-array-collection"),
        golden!("js-amf3-vector-int"),
        golden!("js-amf3-vector-uint"),
        golden!("js-amf3-vector-double"),
        golden!("js-amf3-array"),
        golden!("js-amf3-objects"),
    ] {
        assert_eq!(new_again(bytes), bytes);
    }
}
