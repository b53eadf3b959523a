//! Trees as items: for what a type cannot be read from item by item.

use std::sync::Arc;

use super::items::{Begin, Bytes, Container, Element, Item, Text};
use crate::{amf0, amf3};

/// The items of a tree of AMF0.
pub(super) fn amf0<'de>(value: amf0::Value) -> Vec<Item<'de>> {
    let mut items = Vec::new();
    push_old(&mut items, value);
    items
}

/// The items of a tree of AMF3.
pub(super) fn amf3<'de>(value: amf3::Value) -> Vec<Item<'de>> {
    let mut items = Vec::new();
    push_new(&mut items, value);
    items
}

fn begin<'de>(kind: Container, class: &Arc<str>, length: Option<usize>) -> Item<'de> {
    Item::Begin(Begin {
        kind,
        class: (!class.is_empty()).then(|| Text::Shared(Arc::clone(class))),
        length,
    })
}

fn push_old(items: &mut Vec<Item<'_>>, value: amf0::Value) {
    use amf0::Value;
    let none: Arc<str> = "".into();
    let (kind, class, properties) = match value {
        Value::Null | Value::Undefined | Value::Unsupported => return items.push(Item::Null),
        Value::Number(number) => return items.push(Item::Number(number)),
        Value::Boolean(boolean) => return items.push(Item::Boolean(boolean)),
        Value::String(text) | Value::XmlDocument(text) => {
            return items.push(Item::Text(Text::Shared(text)));
        }
        Value::Reference(index) => return items.push(Item::Shared(usize::from(index))),
        Value::Date { milliseconds, .. } => return items.push(Item::Date(milliseconds)),
        Value::Avmplus(value) => return push_new(items, *value),
        Value::StrictArray(values) => {
            items.push(begin(Container::List, &none, Some(values.len())));
            for value in values {
                push_old(items, value);
            }
            return items.push(Item::End);
        }
        Value::Object(properties) => (Container::Object, none, properties),
        Value::EcmaArray(properties) => (Container::EcmaArray, none, properties),
        Value::TypedObject(object) => (Container::Object, object.class, object.properties),
    };
    items.push(begin(kind, &class, None));
    for (name, value) in properties {
        items.push(Item::Name(Text::Shared(name)));
        push_old(items, value);
    }
    items.push(Item::End);
}

fn push_new(items: &mut Vec<Item<'_>>, value: amf3::Value) {
    use amf3::Value;
    let none: Arc<str> = "".into();
    let mut vector = |element, bytes| items.push(Item::Vector(element, Bytes::Owned(bytes)));
    match value {
        Value::Undefined | Value::Null => items.push(Item::Null),
        Value::Boolean(boolean) => items.push(Item::Boolean(boolean)),
        Value::Integer(number) => items.push(Item::Integer(number)),
        Value::Double(number) => items.push(Item::Number(number)),
        Value::String(text) | Value::XmlDocument(text) | Value::Xml(text) => {
            items.push(Item::Text(Text::Shared(text)));
        }
        Value::Date(milliseconds) => items.push(Item::Date(milliseconds)),
        Value::ByteArray(bytes) => items.push(Item::Bytes(Bytes::Owned(bytes))),
        Value::VectorInt(ints) => vector(Element::Int, big_endian(&ints.values, i32::to_be_bytes)),
        Value::VectorUint(uints) => {
            vector(Element::Uint, big_endian(&uints.values, u32::to_be_bytes));
        }
        Value::VectorDouble(doubles) => {
            vector(
                Element::Double,
                big_endian(&doubles.values, f64::to_be_bytes),
            );
        }
        Value::Reference(index) => items.push(Item::Shared(index as usize)),
        Value::Array(array) => {
            items.push(begin(Container::Array, &none, Some(array.dense.len())));
            push_properties(items, array.associative);
            push_values(items, array.dense);
            items.push(Item::End);
        }
        Value::Object(object) => {
            items.push(begin(Container::Object, &object.traits.class, None));
            for (name, value) in object.traits.members.iter().zip(object.sealed) {
                items.push(Item::Name(Text::Shared(Arc::clone(name))));
                push_new(items, value);
            }
            push_properties(items, object.dynamic);
            items.push(Item::End);
        }
        Value::Externalizable(object) => {
            let mut members = object.members;
            if amf3::is_collection(&object.class)
                && let Some((_, value)) = members.pop()
            {
                return push_new(items, value);
            }
            items.push(begin(Container::Object, &object.class, None));
            push_properties(items, members);
            items.push(Item::End);
        }
        Value::VectorObject { vector, .. } => {
            items.push(begin(Container::List, &none, Some(vector.values.len())));
            push_values(items, vector.values);
            items.push(Item::End);
        }
        Value::Dictionary(dictionary) => {
            let length = dictionary.entries.len();
            items.push(begin(Container::Dictionary, &none, Some(length)));
            for (key, value) in dictionary.entries {
                push_new(items, key);
                push_new(items, value);
            }
            items.push(Item::End);
        }
    }
}

fn push_values(items: &mut Vec<Item<'_>>, values: Vec<amf3::Value>) {
    for value in values {
        push_new(items, value);
    }
}

fn push_properties(items: &mut Vec<Item<'_>>, properties: amf3::Properties) {
    for (name, value) in properties {
        items.push(Item::Name(Text::Shared(name)));
        push_new(items, value);
    }
}

fn big_endian<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| bytes(value)).collect()
}
