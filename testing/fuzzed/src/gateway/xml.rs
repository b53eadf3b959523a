//! Calls and answers of XML-RPC, read by another library than the gateway's, and strictly.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roxmltree::{Document, Node};

/// A value of XML-RPC, as far as two that mean the same have to be equal.
#[derive(Debug, PartialEq)]
pub enum Sent {
    Nothing,
    Bool(bool),
    Int(i64),
    Double(f64),
    Text(String),
    /// However it is written.
    Date,
    Bytes(Vec<u8>),
    List(Vec<Sent>),
    Struct(Vec<(String, Sent)>),
}

/// The answer to a call.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Value(Sent),
    Fault(i64, String),
}

/// The method and the arguments of a call that is one beyond doubt.
pub fn call(body: &[u8]) -> Option<(String, Vec<Sent>)> {
    let text = std::str::from_utf8(body).ok()?;
    let document = Document::parse(text).ok()?;
    let [method, rest @ ..] = &*parts_of(document.root_element(), "methodCall")? else {
        return None;
    };
    let method = text_of(named(*method, "methodName")?)?;
    let params = match rest {
        [] => Vec::new(),
        [params] => parts_of(*params, "params")?,
        _ => return None,
    };
    let params = params.into_iter().map(|param| value_in(param, "param"));
    Some((method, params.collect::<Option<_>>()?))
}

/// The answer in a body; nothing if it is none.
pub fn answer(body: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(body).ok()?;
    let document = Document::parse(text).ok()?;
    let [inside] = *parts_of(document.root_element(), "methodResponse")? else {
        return None;
    };
    if inside.has_tag_name("params") {
        let [param] = *parts_of(inside, "params")? else {
            return None;
        };
        return value_in(param, "param").map(Answer::Value);
    }
    let Sent::Struct(members) = value_in(inside, "fault")? else {
        return None;
    };
    match <[_; 2]>::try_from(members).ok()? {
        [(code, Sent::Int(number)), (words, Sent::Text(said))]
            if code == "faultCode" && words == "faultString" =>
        {
            Some(Answer::Fault(number, said))
        }
        _ => None,
    }
}

fn named<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    let is_plain = node.attributes().len() == 0 && node.tag_name().namespace().is_none();
    (is_plain && node.has_tag_name(name)).then_some(node)
}

/// The elements in one of this name, between which there is white space alone.
fn parts_of<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Vec<Node<'a, 'i>>> {
    let mut parts = Vec::new();
    for child in named(node, name)?.children() {
        if child.is_element() {
            parts.push(child);
        } else if child.is_text()
            && !child
                .text()?
                .trim_matches([' ', '\t', '\n', '\r'])
                .is_empty()
        {
            return None;
        }
    }
    Some(parts)
}

fn text_of(node: Node<'_, '_>) -> Option<String> {
    let mut text = String::new();
    for child in node.children() {
        if child.is_element() {
            return None;
        }
        text.push_str(if child.is_text() { child.text()? } else { "" });
    }
    Some(text)
}

fn value_in(node: Node<'_, '_>, name: &str) -> Option<Sent> {
    match *parts_of(node, name)? {
        [value] => value_of(value),
        _ => None,
    }
}

fn value_of(value: Node<'_, '_>) -> Option<Sent> {
    if !value.children().any(|child| child.is_element()) {
        named(value, "value")?;
        return text_of(value).map(Sent::Text);
    }
    let [typed] = *parts_of(value, "value")? else {
        return None;
    };
    named(typed, typed.tag_name().name())?;
    let text = || Some(text_of(typed)?.trim().to_owned());
    Some(match typed.tag_name().name() {
        "nil" => Sent::Nothing,
        "string" => Sent::Text(text_of(typed)?),
        "boolean" => match &*text()? {
            "0" => Sent::Bool(false),
            "1" => Sent::Bool(true),
            _ => return None,
        },
        "int" | "i4" => Sent::Int(text()?.parse::<i32>().ok()?.into()),
        "i8" => Sent::Int(text()?.parse().ok()?),
        "double" => {
            let number: f64 = text()?.parse().ok()?;
            // XML-RPC has no others.
            if !number.is_finite() {
                return None;
            }
            Sent::Double(number)
        }
        "dateTime.iso8601" => Sent::Date,
        "base64" => {
            let content: String = text()?.split_ascii_whitespace().collect();
            Sent::Bytes(STANDARD.decode(content).ok()?)
        }
        "array" => {
            let [data] = *parts_of(typed, "array")? else {
                return None;
            };
            let values = parts_of(data, "data")?.into_iter().map(value_of);
            Sent::List(values.collect::<Option<_>>()?)
        }
        "struct" => {
            let members = parts_of(typed, "struct")?.into_iter().map(|member| {
                let [name, value] = *parts_of(member, "member")? else {
                    return None;
                };
                Some((text_of(named(name, "name")?)?, value_of(value)?))
            });
            Sent::Struct(members.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}
