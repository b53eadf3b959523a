//! What a value is, in the words of the witnesses.

use std::ptr;

use tamtam_amf::packet::{Packet, Version};
use tamtam_amf::{amf0, amf3};

use super::ties::{Manner, is_numbered};
use super::{Who, hexadecimal};

fn text(text: &str) -> String {
    hexadecimal(text.as_bytes())
}

fn bits(number: f64) -> String {
    let number = if number.is_nan() { f64::NAN } else { number };
    format!("{:016x}", number.to_bits())
}

fn number(number: f64) -> String {
    format!("d{}", bits(number))
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

fn object(class: &str, entries: impl Iterator<Item = (String, String)>) -> String {
    let mut entries: Vec<_> = entries
        .map(|(name, value)| format!("{}={value}", text(&name)))
        .collect();
    entries.sort();
    format!("{{{};{}}}", text(class), entries.join(","))
}

/// The 16 bytes of an id as the text that both make of them.
fn id(bytes: &[u8]) -> String {
    let digits = hexadecimal(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    parts.join("-")
}

pub(super) fn of_amf0(value: &amf0::Value, who: Who) -> String {
    of_amf0_by(value, who, who.reads())
}

pub(super) fn of_amf0_by(value: &amf0::Value, who: Who, manner: Manner) -> String {
    let mut telling = Telling::new(who, manner);
    telling.find_amf0(value);
    telling.amf0(value)
}

pub(super) fn of_amf3(value: &amf3::Value, who: Who) -> String {
    let mut telling = Telling::new(who, who.reads());
    telling.find_amf3(value);
    telling.amf3(value)
}

pub(super) fn of_packet(packet: &Packet, who: Who, manner: Manner) -> String {
    let mut what = match packet.version {
        Version::Amf0 => "P0".to_owned(),
        Version::Amf3 => "P3".to_owned(),
    };
    for header in &packet.headers {
        let mark = if header.must_understand { '!' } else { '?' };
        let value = of_amf0_by(&header.value, who, manner);
        what += &format!("({}{mark}{value})", text(&header.name));
    }
    for message in &packet.messages {
        let (target, response) = (text(&message.target), text(&message.response));
        let mut telling = Telling::new(who, manner);
        match &message.value {
            amf0::Value::StrictArray(values) if manner.skips_arguments => {
                values.iter().for_each(|value| telling.find_amf0(value));
            }
            value => telling.find_amf0(value),
        }
        what += &format!("({target}:{response}={})", telling.amf0(&message.value));
    }
    what
}

/// Tells of one value, in which references mean what has begun before them.
struct Telling<'a> {
    who: Who,
    manner: Manner,
    /// What has a place in the table of references.
    places: Vec<&'a amf0::Value>,
    places_in_amf3: Vec<&'a amf3::Value>,
    /// Where the values around the one that is told are, from the outermost one on.
    around: Vec<*const ()>,
}

impl<'a> Telling<'a> {
    fn new(who: Who, manner: Manner) -> Self {
        Self {
            who,
            manner,
            places: Vec::new(),
            places_in_amf3: Vec::new(),
            around: Vec::new(),
        }
    }

    fn find_amf0(&mut self, value: &'a amf0::Value) {
        use amf0::Value;
        match value {
            Value::Date { .. } | Value::XmlDocument(_) if self.manner.counts_leaves => {
                self.places.push(value);
            }
            Value::Object(properties) | Value::EcmaArray(properties) => {
                self.places.push(value);
                properties
                    .iter()
                    .for_each(|(_, value)| self.find_amf0(value));
            }
            Value::TypedObject(object) => {
                self.places.push(value);
                let properties = object.properties.iter();
                properties.for_each(|(_, value)| self.find_amf0(value));
            }
            Value::StrictArray(values) => {
                self.places.push(value);
                values.iter().for_each(|value| self.find_amf0(value));
            }
            Value::Avmplus(value) => self.find_amf3(value),
            _ => {}
        }
    }

    fn find_amf3(&mut self, value: &'a amf3::Value) {
        use amf3::Value;
        if is_numbered(value) {
            self.places_in_amf3.push(value);
        }
        match value {
            Value::Array(array) => {
                let named = array.associative.iter();
                named.for_each(|(_, value)| self.find_amf3(value));
                array.dense.iter().for_each(|value| self.find_amf3(value));
            }
            Value::Object(object) => {
                object.sealed.iter().for_each(|value| self.find_amf3(value));
                let dynamic = object.dynamic.iter();
                dynamic.for_each(|(_, value)| self.find_amf3(value));
            }
            Value::Externalizable(object) => {
                let members = object.members.iter();
                members.for_each(|(_, value)| self.find_amf3(value));
            }
            Value::VectorObject { vector, .. } => {
                vector.values.iter().for_each(|value| self.find_amf3(value));
            }
            Value::Dictionary(dictionary) => {
                for (key, value) in &dictionary.entries {
                    self.find_amf3(key);
                    self.find_amf3(value);
                }
            }
            _ => {}
        }
    }

    /// What `tell` says of what stands at a place in memory, or how far out that is if it is around already.
    fn once<T>(&mut self, value: &'a T, tell: impl FnOnce(&mut Self, &'a T) -> String) -> String {
        let place = ptr::from_ref(value).cast::<()>();
        let mut around = self.around.iter().rev();
        if let Some(levels) = around.position(|other| *other == place) {
            return format!("^{levels}");
        }
        self.around.push(place);
        let what = tell(self, value);
        self.around.pop();
        what
    }

    fn amf0(&mut self, value: &'a amf0::Value) -> String {
        match value {
            amf0::Value::Reference(place) => {
                let meant = self.places[usize::from(*place)];
                self.amf0(meant)
            }
            // It is no level of its own.
            amf0::Value::Avmplus(value) => self.amf3(value),
            _ => self.once(value, Self::amf0_itself),
        }
    }

    fn amf0_itself(&mut self, value: &'a amf0::Value) -> String {
        use amf0::Value;
        match value {
            Value::Null => "n".into(),
            Value::Undefined | Value::Unsupported => self.undefined(),
            Value::Boolean(boolean) => if *boolean { "t" } else { "f" }.into(),
            Value::Number(value) => number(*value),
            Value::String(value) => format!("s{}", text(value)),
            Value::XmlDocument(value) => format!("x{}", text(value)),
            Value::Date { milliseconds, .. } => self.date(*milliseconds),
            Value::StrictArray(values) => list(values.iter().map(|value| self.amf0(value))),
            Value::Object(properties) | Value::EcmaArray(properties) => {
                self.amf0_object("", properties)
            }
            Value::TypedObject(typed) => match &*typed.class {
                // A collection is what it holds.
                "flex.messaging.io.ArrayCollection" | "flex.messaging.io.ArrayList" => {
                    match value.get("source").expect("a collection has a source") {
                        Value::Reference(place) => {
                            self.amf0_itself(self.places[usize::from(*place)])
                        }
                        source => self.amf0_itself(source),
                    }
                }
                "flex.messaging.io.ObjectProxy" => self.amf0_object("", &typed.properties),
                class => self.amf0_object(class, &typed.properties),
            },
            Value::Avmplus(_) | Value::Reference(_) => {
                unreachable!("they are no values themselves")
            }
        }
    }

    fn amf0_object(&mut self, class: &str, properties: &'a amf0::Properties) -> String {
        let entries = properties.iter();
        object(
            class,
            entries.map(|(name, value)| (name.to_string(), self.amf0(value))),
        )
    }

    fn amf3(&mut self, value: &'a amf3::Value) -> String {
        let value = self.meant(value);
        self.once(value, Self::amf3_itself)
    }

    fn meant(&self, value: &'a amf3::Value) -> &'a amf3::Value {
        match value {
            amf3::Value::Reference(place) => self.places_in_amf3[*place as usize],
            _ => value,
        }
    }

    fn amf3_itself(&mut self, value: &'a amf3::Value) -> String {
        use amf3::Value;
        match value {
            Value::Null => "n".into(),
            Value::Undefined => self.undefined(),
            Value::Boolean(boolean) => if *boolean { "t" } else { "f" }.into(),
            Value::Integer(value) => number(f64::from(*value)),
            Value::Double(value) => number(*value),
            Value::String(value) => format!("s{}", text(value)),
            Value::XmlDocument(value) | Value::Xml(value) => format!("x{}", text(value)),
            Value::Date(milliseconds) => self.date(*milliseconds),
            Value::ByteArray(bytes) => format!("b{}", hexadecimal(bytes)),
            Value::Array(array) if array.associative.is_empty() => self.amf3_list(&array.dense),
            Value::Array(array) => self.amf3_named_array(array),
            Value::Object(value) => {
                let mut entries = self.amf3_entries(&value.dynamic);
                for (name, value) in value.traits.members.iter().zip(&value.sealed) {
                    entries.push((name.to_string(), self.amf3(value)));
                }
                object(&value.traits.class, entries.into_iter())
            }
            // A collection is what it holds.
            Value::Externalizable(value) if value.class.contains('.') => {
                match self.meant(&value.members[0].1) {
                    // As a map that is written as an array.
                    Value::Array(array) if value.class.ends_with("ObjectProxy") => {
                        self.amf3_named_array(array)
                    }
                    held => self.amf3_itself(held),
                }
            }
            Value::Externalizable(value) => self.message(value),
            Value::VectorInt(vector) => {
                list(vector.values.iter().map(|value| number(f64::from(*value))))
            }
            Value::VectorUint(vector) => {
                list(vector.values.iter().map(|value| number(f64::from(*value))))
            }
            Value::VectorDouble(vector) => list(vector.values.iter().map(|value| number(*value))),
            Value::VectorObject { vector, .. } => self.amf3_list(&vector.values),
            Value::Dictionary(dictionary) => {
                let entries = dictionary.entries.iter();
                let mut entries: Vec<_> = entries
                    .map(|(key, value)| format!("{}={}", self.amf3(key), self.amf3(value)))
                    .collect();
                entries.sort();
                format!("<{}>", entries.join(","))
            }
            Value::Reference(_) => unreachable!("it is no value itself"),
        }
    }

    fn amf3_list(&mut self, values: &'a [amf3::Value]) -> String {
        list(values.iter().map(|value| self.amf3(value)))
    }

    fn amf3_named_array(&mut self, array: &'a amf3::Array) -> String {
        let mut entries = self.amf3_entries(&array.associative);
        for (place, value) in array.dense.iter().enumerate() {
            entries.push((place.to_string(), self.amf3(value)));
        }
        object("", entries.into_iter())
    }

    fn amf3_entries(&mut self, properties: &'a amf3::Properties) -> Vec<(String, String)> {
        let entries = properties.iter();
        entries
            .map(|(name, value)| (name.to_string(), self.amf3(value)))
            .collect()
    }

    /// A small message; an id of it is a text, whether that was written or its bytes.
    fn message(&mut self, value: &'a amf3::Externalizable) -> String {
        let mut entries = Vec::new();
        for (name, member) in &value.members {
            entries.push(match (name.strip_suffix("Bytes"), self.meant(member)) {
                (Some(name), amf3::Value::ByteArray(bytes)) => {
                    (name.to_owned(), format!("s{}", text(&id(bytes))))
                }
                _ => (name.to_string(), self.amf3(member)),
            });
        }
        // Nothing is told of what there is not.
        entries.retain(|(_, what)| what != "n");
        object(&value.class, entries.into_iter())
    }

    /// A date: to the millisecond for Py3AMF, which counts in seconds.
    fn date(&self, milliseconds: f64) -> String {
        let told = match self.who {
            Who::BlazeDs => milliseconds,
            Who::Py3Amf => milliseconds.round(),
        };
        format!("D{}", bits(told))
    }

    fn undefined(&self) -> String {
        match self.who {
            Who::BlazeDs => "n".into(),
            Who::Py3Amf => "u".into(),
        }
    }
}
