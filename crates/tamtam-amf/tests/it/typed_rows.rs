//! Structs are made of objects without items in between: as the tree has them, and with the same errors.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use tamtam_amf::typed::{DeserializeError, Mapping, from_amf0, from_amf3, to_amf0, to_amf3};
use tamtam_amf::{Limits, amf0, amf3};

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Row {
    slot_number: i16,
    share: f64,
    colour: String,
    turned: Option<bool>,
    places: Vec<i32>,
    at: Place,
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Place {
    x: i16,
}

fn rows() -> Vec<Row> {
    let row = |n: i16| Row {
        slot_number: 100 * n,
        share: f64::from(n) + 0.5,
        colour: ["red", "", "grün"][usize::from(n.unsigned_abs()) % 3].to_owned(),
        turned: [None, Some(true), Some(false)][usize::from(n.unsigned_abs()) % 3],
        places: (0..i32::from(n % 3)).map(|place| 70 * place).collect(),
        at: Place { x: -n },
    };
    (0..5).map(row).collect()
}

fn mapping() -> Mapping {
    Mapping::new().class("Row", "demo.Row")
}

type Members<V> = Vec<(String, V)>;

/// What a value is, for both formats.
enum Is<V> {
    Number(f64),
    Text(String),
    Boolean(bool),
    Nothing,
    List(Vec<V>),
    Object(String, Members<V>),
    Else,
}

trait Tree: Clone {
    fn is(&self) -> Is<Self>;
}

fn owned<V: Clone>(members: &[(std::sync::Arc<str>, V)]) -> Members<V> {
    let one = |(name, value): &(std::sync::Arc<str>, V)| (name.to_string(), value.clone());
    members.iter().map(one).collect()
}

impl Tree for amf0::Value {
    fn is(&self) -> Is<Self> {
        match self {
            Self::Number(number) => Is::Number(*number),
            Self::Date { milliseconds, .. } => Is::Number(*milliseconds),
            Self::String(text) | Self::XmlDocument(text) => Is::Text(text.to_string()),
            Self::Boolean(boolean) => Is::Boolean(*boolean),
            Self::Null | Self::Undefined | Self::Unsupported => Is::Nothing,
            Self::StrictArray(values) => Is::List(values.clone()),
            Self::Object(members) => Is::Object(String::new(), owned(members)),
            Self::TypedObject(object) => {
                Is::Object(object.class.to_string(), owned(&object.properties))
            }
            _ => Is::Else,
        }
    }
}

impl Tree for amf3::Value {
    fn is(&self) -> Is<Self> {
        match self {
            Self::Integer(number) => Is::Number(f64::from(*number)),
            Self::Double(number) | Self::Date(number) => Is::Number(*number),
            Self::String(text) | Self::Xml(text) | Self::XmlDocument(text) => {
                Is::Text(text.to_string())
            }
            Self::Boolean(boolean) => Is::Boolean(*boolean),
            Self::Null | Self::Undefined => Is::Nothing,
            Self::Array(array) if array.associative.is_empty() => Is::List(array.dense.clone()),
            Self::Object(object) => {
                let names = object.traits.members.iter().map(ToString::to_string);
                let mut members: Members<_> = names.zip(object.sealed.clone()).collect();
                members.extend(owned(&object.dynamic));
                Is::Object(object.traits.class.to_string(), members)
            }
            _ => Is::Else,
        }
    }
}

fn number<V: Tree>(value: &V) -> Option<f64> {
    match value.is() {
        Is::Number(number) => Some(number),
        _ => None,
    }
}

fn whole<V: Tree>(value: &V) -> Option<i32> {
    let number = number(value)?;
    (f64::from(number as i32).to_bits() == number.to_bits()).then_some(number as i32)
}

fn list<V: Tree>(value: &V) -> Option<Vec<V>> {
    match value.is() {
        Is::List(values) => Some(values),
        _ => None,
    }
}

/// The members of an object by these names, each of which it has once.
fn members<V: Tree, const N: usize>(value: &V, class: &str, names: [&str; N]) -> Option<[V; N]> {
    let Is::Object(found, members) = value.is() else {
        return None;
    };
    if !class.is_empty() && !found.is_empty() && found != class {
        return None;
    }
    let member = |name: &str| {
        let mut named = members.iter().filter(|(known, _)| known == name);
        match (named.next(), named.next()) {
            (Some((_, value)), None) => Some(value.clone()),
            _ => None,
        }
    };
    let values: Option<Vec<V>> = names.into_iter().map(member).collect();
    values?.try_into().ok()
}

/// The rows that a tree has; `None` if it has none, or if it has them in a form that is left to other tests.
fn rows_of<V: Tree>(value: &V) -> Option<Vec<Row>> {
    let row = |value: &V| {
        let names = ["slot_number", "share", "colour", "turned", "places", "at"];
        let [slot_number, share, colour, turned, places, at] = members(value, "demo.Row", names)?;
        Some(Row {
            slot_number: whole(&slot_number)?.try_into().ok()?,
            share: number(&share)?,
            colour: match colour.is() {
                Is::Text(text) => text,
                _ => return None,
            },
            turned: match turned.is() {
                Is::Nothing => None,
                Is::Boolean(boolean) => Some(boolean),
                _ => return None,
            },
            places: list(&places)?.iter().map(whole).collect::<Option<_>>()?,
            at: Place {
                x: whole(&members(&at, "", ["x"])?[0])?.try_into().ok()?,
            },
        })
    };
    list(value)?.iter().map(row).collect()
}

type Read = Result<Vec<Row>, DeserializeError>;

/// Compares for each way to damage the bytes, and for limits that are met anywhere.
fn same<V: Tree>(
    bytes: &[u8],
    typed: impl Fn(&[u8], Limits) -> Read,
    tree: impl Fn(&[u8], Limits) -> Result<V, tamtam_amf::DecodeError>,
) {
    let compare = |bytes: &[u8], limits: Limits| match (typed(bytes, limits), tree(bytes, limits)) {
        (Ok(rows), Ok(tree)) => {
            // A NaN is not equal to itself.
            let known = rows_of(&tree).map(|rows| format!("{rows:?}"));
            let is_plain = known.is_none_or(|known| known == format!("{rows:?}"));
            assert!(is_plain, "{rows:?}");
        }
        (Err(error), Ok(tree)) => assert!(rows_of(&tree).is_none(), "{error}"),
        (Err(DeserializeError::Decode(error)), Err(known)) => assert_eq!(error, known),
        // A type may refuse before the bytes are wrong.
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => panic!("{error}"),
    };
    assert_eq!(typed(bytes, Limits::default()).unwrap(), rows());
    for end in 0..bytes.len() {
        compare(&bytes[..end], Limits::default());
    }
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut bytes = bytes.to_vec();
            bytes[place] ^= 1 << bit;
            compare(&bytes, Limits::default());
        }
    }
    let limits = Limits::default();
    for values in 0..100 {
        compare(bytes, Limits { values, ..limits });
    }
    for depth in 0..6 {
        compare(bytes, Limits { depth, ..limits });
    }
    for size in bytes.len() - 2..=bytes.len() {
        compare(
            bytes,
            Limits {
                bytes: size,
                ..limits
            },
        );
    }
}

#[test]
fn rows_of_amf0_are_those_of_the_tree() {
    let bytes = mapping().to_amf0(&rows()).unwrap();
    let typed = |bytes: &[u8], limits| mapping().from_amf0(bytes, limits);
    same(&bytes, typed, amf0::decode);
}

#[test]
fn rows_of_amf3_are_those_of_the_tree() {
    let bytes = mapping().to_amf3(&rows()).unwrap();
    let typed = |bytes: &[u8], limits| mapping().from_amf3(bytes, limits);
    same(&bytes, typed, amf3::decode);
}

#[test]
fn rows_of_amf3_within_amf0_are_those_of_the_tree() {
    let mut bytes = vec![0x11];
    bytes.extend(mapping().to_amf3(&rows()).unwrap());
    let typed = |bytes: &[u8], limits| mapping().from_amf0(bytes, limits);
    same(&bytes, typed, |bytes, limits| {
        match amf0::decode(bytes, limits)? {
            amf0::Value::Avmplus(value) => Ok(*value),
            _ => Ok(amf3::Value::Null),
        }
    });
}

/// Reads its first members only, and these as they are asked for here.
#[derive(PartialEq, Debug)]
struct FirstTwo(Vec<(String, Option<i16>)>);

impl<'de> Deserialize<'de> for FirstTwo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TakesTwo;
        impl<'de> Visitor<'de> for TakesTwo {
            type Value = FirstTwo;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("two members")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FirstTwo, A::Error> {
                let mut taken = Vec::new();
                while taken.len() < 2
                    && let Some(name) = map.next_key()?
                {
                    // A value that is of another type is gone over.
                    taken.push((name, map.next_value().ok()));
                }
                Ok(FirstTwo(taken))
            }
        }
        deserializer.deserialize_struct("FirstTwo", &["slot_number", "share"], TakesTwo)
    }
}

#[test]
fn what_a_type_leaves_of_an_object_is_read_over() {
    let taken = |row: &Row| {
        let slot_number = ("slot_number".to_owned(), Some(row.slot_number));
        FirstTwo(vec![slot_number, ("share".to_owned(), None)])
    };
    let known: Vec<FirstTwo> = rows().iter().map(taken).collect();
    let old = to_amf0(&rows()).unwrap();
    assert_eq!(
        from_amf0::<Vec<FirstTwo>>(&old, Limits::default()),
        Ok(known)
    );
    let known: Vec<FirstTwo> = rows().iter().map(taken).collect();
    let new = to_amf3(&rows()).unwrap();
    assert_eq!(
        from_amf3::<Vec<FirstTwo>>(&new, Limits::default()),
        Ok(known)
    );
}

/// Members of all kinds, between which there are scalars.
#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Mixed {
    first: i16,
    named: BTreeMap<String, u8>,
    second: Option<String>,
    pair: (u8, Option<Place>),
    third: u64,
    kind: Kind,
    fourth: char,
    within: Option<Box<Mixed>>,
    fifth: (),
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
enum Kind {
    Unit,
    Of(Place),
}

#[test]
fn members_of_all_kinds_come_in_any_order_of_scalars_and_others() {
    let mixed = |n: u8, within: Option<Box<Mixed>>| Mixed {
        first: i16::from(n) - 2,
        named: (0..n % 3).map(|at| (format!("n{at}"), at)).collect(),
        second: n.is_multiple_of(2).then(|| "red".to_owned()),
        pair: (n, (n % 2 == 1).then_some(Place { x: 300 })),
        third: 1 << (10 * n),
        kind: if n == 2 {
            Kind::Unit
        } else {
            Kind::Of(Place { x: -1 })
        },
        fourth: 'é',
        within,
        fifth: (),
    };
    let list: Vec<Mixed> = (0..5)
        .map(|n| mixed(n, Some(Box::new(mixed(4 - n, None)))))
        .collect();
    let old = to_amf0(&list).unwrap();
    assert_eq!(from_amf0(&old, Limits::default()), Ok(list.clone()));
    let new = to_amf3(&list).unwrap();
    assert_eq!(from_amf3(&new, Limits::default()), Ok(list.clone()));

    #[derive(Deserialize, PartialEq, Debug)]
    struct Few {
        third: u64,
        nowhere: Option<u8>,
        pair: IgnoredAny,
    }
    let few = |of: &Mixed| Few {
        third: of.third,
        nowhere: None,
        pair: IgnoredAny,
    };
    let few: Vec<Few> = list.iter().map(few).collect();
    assert_eq!(
        from_amf0::<Vec<Few>>(&old, Limits::default()).as_ref(),
        Ok(&few)
    );
    assert_eq!(
        from_amf3::<Vec<Few>>(&new, Limits::default()).as_ref(),
        Ok(&few)
    );
}

#[test]
fn a_member_of_another_type_is_named_by_its_place() {
    let mut bytes = to_amf3(&[Place { x: 5 }, Place { x: 6 }]).unwrap();
    let last = bytes.len() - 1;
    bytes.truncate(last);
    bytes.extend([0xff, 0xff, 0x7f]);
    let error = from_amf3::<Vec<Place>>(&bytes, Limits::default()).unwrap_err();
    let expected = format!(
        "at byte {}: invalid value: integer `2097151`, expected i16",
        last + 3
    );
    assert_eq!(error.to_string(), expected);
}
