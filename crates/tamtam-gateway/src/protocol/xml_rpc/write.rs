//! An answer as XML.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tamtam_rows::encoding::XmlRpc;
use tamtam_rows::{Encoding, Rows};

use crate::buffer;
use crate::json::not_carried;
use crate::row_stream::{table_too_large, write_gathered};
use crate::table_form::TableForm;
use crate::value::{Members, to_compact_iso};
use crate::{Fault, Items, Value};

const HEAD: &str = "<?xml version=\"1.0\"?>\n<methodResponse>";

/// The answer of a method.
///
/// # Errors
/// If XML-RPC cannot carry the value.
pub(super) fn response(value: &Value) -> Result<Vec<u8>, Fault> {
    if let Value::Rows(rows) = value {
        let mut bytes = buffer::begin();
        XmlRpc.encode(rows, &mut bytes).map_err(not_carried)?;
        return Ok(buffer::finish(bytes));
    }
    let mut text = buffer::begin_text();
    text.push_str(HEAD);
    text.push_str("<params><param>");
    write_value(value, &mut text)?;
    text.push_str("</param></params></methodResponse>\n");
    Ok(buffer::finish(text.into_bytes()))
}

/// A table that was gathered as the answer of a method, as the whole one would be.
///
/// # Errors
/// If XML-RPC cannot carry it, or it has too many bytes.
pub(super) fn gathered(rows: &Rows) -> Result<Vec<u8>, Fault> {
    let encode = |rows: &Rows| {
        let mut bytes = Vec::new();
        XmlRpc.encode(rows, &mut bytes).map_err(not_carried)?;
        Ok::<_, Fault>(bytes)
    };
    let around = encode(&Rows::empty(rows.schema().clone()))?;
    let end = b"</data>";
    let split = around.windows(end.len()).position(|bytes| bytes == end);
    let (head, tail) = around.split_at(split.unwrap_or_default());
    let mut out = buffer::begin();
    out.extend_from_slice(head);
    let form = TableForm::XmlRpc;
    write_gathered(rows, form, table_too_large, &mut out, |some, out| {
        let bytes = encode(some)?;
        let structs = bytes.get(head.len()..bytes.len() - tail.len());
        out.extend_from_slice(structs.unwrap_or_default());
        Ok(())
    })?;
    out.extend_from_slice(tail);
    Ok(buffer::finish(out))
}

/// A fault as an answer.
pub(super) fn fault_response(fault: &Fault) -> Vec<u8> {
    let mut text = String::from(HEAD);
    text.push_str("<fault>");
    write_fault(fault, &mut text);
    text.push_str("</fault></methodResponse>\n");
    text.into_bytes()
}

/// The answers to a multicall, one behind the other: each is a list of its one value, or a struct of its fault.
pub(super) struct Answers(String);

impl Answers {
    pub(super) fn new() -> Answers {
        Answers(format!("{HEAD}<params><param><value><array><data>"))
    }

    /// What they have so far.
    pub(super) fn bytes(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, result: Result<Value, Fault>) {
        let before = self.0.len();
        let written = result.and_then(|value| write_value(&Value::List(vec![value]), &mut self.0));
        if let Err(fault) = written {
            self.0.truncate(before);
            write_fault(&fault, &mut self.0);
        }
    }

    pub(super) fn push_gathered(&mut self, rows: &Rows) {
        match gathered(rows).and_then(text_of) {
            Ok(answer) => {
                self.0.push_str("<value><array><data><value>");
                self.0.push_str(array_in(&answer));
                self.0.push_str("</value></data></array></value>");
            }
            Err(fault) => write_fault(&fault, &mut self.0),
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let end = "</data></array></value></param></params></methodResponse>\n";
        self.0.push_str(end);
        self.0.into_bytes()
    }
}

/// Writes a fault as a value.
fn write_fault(fault: &Fault, out: &mut String) {
    let before = out.len();
    if write_value(&fault_value(fault), out).is_err() {
        // Its description has a character that XML does not have.
        out.truncate(before);
        let plain = "<value><struct><member><name>faultCode</name><value><int>-32603</int></value></member>\
            <member><name>faultString</name><value><string>the method failed</string></value></member></struct></value>";
        out.push_str(plain);
    }
}

/// A fault as a struct: the number, and the code with the description.
fn fault_value(fault: &Fault) -> Value {
    Value::Map(vec![
        (
            "faultCode".to_owned(),
            Value::Int(fault.xml_rpc_code().into()),
        ),
        ("faultString".to_owned(), Value::Text(fault.to_string())),
    ])
}

fn write_value(value: &Value, out: &mut String) -> Result<(), Fault> {
    out.push_str("<value>");
    match value {
        Value::Null | Value::Undefined => out.push_str("<nil/>"),
        Value::Bool(value) => tagged("boolean", u8::from(*value), out),
        Value::Int(value) if i32::try_from(*value).is_ok() => tagged("int", value, out),
        Value::Int(value) => tagged("i8", value, out),
        Value::Unsigned(value) => {
            let reason = format!("XML-RPC has integers up to 2^63 - 1, and this is {value}");
            return Err(not_carried(reason));
        }
        Value::Float(value) => write_float(*value, out)?,
        Value::Text(text) | Value::Xml(text) | Value::XmlDocument(text) => {
            out.push_str("<string>");
            write_text(text, out)?;
            out.push_str("</string>");
        }
        Value::Date(milliseconds) => match to_compact_iso(*milliseconds) {
            Some(date) => tagged("dateTime.iso8601", date, out),
            None => return Err(not_carried("the calendar has no such date")),
        },
        Value::Bytes(bytes) => tagged("base64", STANDARD.encode(bytes), out),
        Value::List(values) => write_list(values, out)?,
        Value::Array(array) if array.named.is_empty() => write_list(&array.list, out)?,
        Value::Array(array) => {
            out.push_str("<struct>");
            write_members(&array.named, out)?;
            for (index, value) in array.list.iter().enumerate() {
                write_member(&index.to_string(), value, out)?;
            }
            out.push_str("</struct>");
        }
        Value::Map(members) => {
            out.push_str("<struct>");
            write_members(members, out)?;
            out.push_str("</struct>");
        }
        Value::Object(object) if object.wrapped().is_some() => {
            let inner = object.wrapped().unwrap_or(&Value::Null);
            // Its own element is the one that has begun.
            out.truncate(out.len() - "<value>".len());
            return write_value(inner, out);
        }
        Value::Object(object) => {
            out.push_str("<struct>");
            write_members(&object.members, out)?;
            out.push_str("</struct>");
        }
        Value::Vector(vector) => {
            let values: Vec<Value> = match &vector.items {
                Items::Ints(values) => values
                    .iter()
                    .map(|&value| Value::Int(value.into()))
                    .collect(),
                Items::Uints(values) => values
                    .iter()
                    .map(|&value| Value::Int(value.into()))
                    .collect(),
                Items::Doubles(values) => values.iter().map(|&value| Value::Float(value)).collect(),
                Items::Objects { values, .. } => values.clone(),
            };
            write_list(&values, out)?;
        }
        Value::Dictionary(dictionary) => {
            let pairs = dictionary.entries.iter();
            let pairs = pairs.map(|(key, value)| Value::List(vec![key.clone(), value.clone()]));
            write_list(&pairs.collect::<Vec<_>>(), out)?;
        }
        Value::Rows(rows) => write_rows(rows, out)?,
    }
    out.push_str("</value>");
    Ok(())
}

/// The table as it stands in an answer of its own, taken out of that.
fn write_rows(rows: &Rows, out: &mut String) -> Result<(), Fault> {
    let mut bytes = Vec::new();
    XmlRpc.encode(rows, &mut bytes).map_err(not_carried)?;
    out.push_str(array_in(&text_of(bytes)?));
    Ok(())
}

fn text_of(bytes: Vec<u8>) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(not_carried)
}

/// The table in an answer of its own.
fn array_in(answer: &str) -> &str {
    let behind = answer.split_once("<value>");
    let array = behind.and_then(|(_, rest)| rest.rsplit_once("</value></param>"));
    array.map_or("<nil/>", |(array, _)| array)
}

fn write_list(values: &[Value], out: &mut String) -> Result<(), Fault> {
    out.push_str("<array><data>");
    for value in values {
        write_value(value, out)?;
    }
    out.push_str("</data></array>");
    Ok(())
}

fn write_members(members: &Members, out: &mut String) -> Result<(), Fault> {
    members
        .iter()
        .try_for_each(|(name, value)| write_member(name, value, out))
}

fn write_member(name: &str, value: &Value, out: &mut String) -> Result<(), Fault> {
    out.push_str("<member><name>");
    write_text(name, out)?;
    out.push_str("</name>");
    write_value(value, out)?;
    out.push_str("</member>");
    Ok(())
}

/// A number without an exponent, which the specification does not have.
fn write_float(value: f64, out: &mut String) -> Result<(), Fault> {
    if !value.is_finite() {
        return Err(not_carried("XML-RPC has no number for infinity or NaN"));
    }
    tagged("double", value, out);
    Ok(())
}

fn tagged(tag: &str, content: impl std::fmt::Display, out: &mut String) {
    // A string takes all that is written.
    let _ = write!(out, "<{tag}>{content}</{tag}>");
}

fn write_text(text: &str, out: &mut String) -> Result<(), Fault> {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // A reader would make a line feed of it.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'.. => out.push(character),
            _ => {
                return Err(not_carried(
                    "a text has a character that XML 1.0 cannot write",
                ));
            }
        }
    }
    Ok(())
}
