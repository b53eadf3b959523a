//! A call out of XML.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::value::{Budget, from_compact_iso, shortened};
use crate::{Fault, FaultKind, Limits, Value};

/// So deep values may lie in each other, whatever else is allowed: each level is a call of what reads them, and a thread has a stack.
const DEEPEST: usize = 128;

/// A call.
pub(super) struct Call {
    pub(super) method: String,
    pub(super) params: Vec<Value>,
}

/// The call in a body.
///
/// # Errors
/// If it is none, or exceeds the limits.
pub(super) fn call(body: &[u8], limits: &Limits) -> Result<Call, Fault> {
    let text = std::str::from_utf8(body).map_err(|_| malformed("the request is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut source = Source {
        reader,
        budget: Budget::new(limits.values, limits.depth.min(DEEPEST)),
    };
    source.call()
}

fn malformed(reason: impl std::fmt::Display) -> Fault {
    Fault::of(
        FaultKind::Malformed,
        format!("the request is no call of XML-RPC: {reason}"),
    )
}

/// XML to be read.
struct Source<'a> {
    reader: Reader<&'a [u8]>,
    budget: Budget,
}

impl<'a> Source<'a> {
    fn event(&mut self) -> Result<Event<'a>, Fault> {
        // Not well-formed: the code of a text that is not what it should be at all.
        self.reader
            .read_event()
            .map_err(|error| malformed(error).number(-32700))
    }

    /// The next that is not white space, a comment, a declaration or an instruction.
    fn markup(&mut self) -> Result<Event<'a>, Fault> {
        loop {
            match self.event()? {
                Event::Text(text) if is_white(&text) => {}
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                other => return Ok(other),
            }
        }
    }

    fn open(&mut self, tag: &str) -> Result<(), Fault> {
        match self.markup()? {
            Event::Start(start) if start.name().as_ref() == tag => Ok(()),
            _ => Err(malformed(format!("<{tag}> is missing"))),
        }
    }

    fn close(&mut self, tag: &str) -> Result<(), Fault> {
        match self.markup()? {
            Event::End(end) if end.name().as_ref() == tag => Ok(()),
            _ => Err(malformed(format!("</{tag}> is missing"))),
        }
    }

    /// Whether another element of this name begins; otherwise the element around has ended.
    fn opens(&mut self, tag: &str) -> Result<bool, Fault> {
        match self.markup()? {
            Event::Start(start) if start.name().as_ref() == tag => Ok(true),
            Event::End(_) => Ok(false),
            _ => Err(malformed(format!("<{tag}> is missing"))),
        }
    }

    /// The text up to the end of the element that is open.
    fn content(&mut self) -> Result<String, Fault> {
        let mut content = String::new();
        self.content_behind(&mut content).map(|()| content)
    }

    fn content_behind(&mut self, content: &mut String) -> Result<(), Fault> {
        loop {
            match self.event()? {
                Event::End(_) => return Ok(()),
                Event::Text(text) => content.push_str(&text.xml10_content()),
                Event::CData(text) => content.push_str(&text.xml10_content()),
                Event::GeneralRef(name) => content.push(match &*name {
                    "lt" => '<',
                    "gt" => '>',
                    "amp" => '&',
                    "apos" => '\'',
                    "quot" => '"',
                    // No others are declared: a document type is refused.
                    _ => name.resolve_char_ref().ok().flatten().ok_or_else(|| {
                        malformed("it has a character reference that means nothing")
                    })?,
                }),
                Event::Comment(_) | Event::PI(_) => {}
                _ => return Err(malformed("an element stands where a text is expected")),
            }
        }
    }

    fn call(&mut self) -> Result<Call, Fault> {
        self.open("methodCall")?;
        self.open("methodName")?;
        let method = self.content()?.trim().to_owned();
        let mut params = Vec::new();
        // Without arguments there may be no `params`.
        if self.opens("params")? {
            while self.opens("param")? {
                self.open("value")?;
                params.push(self.value(0)?);
                self.close("param")?;
            }
            self.close("methodCall")?;
        }
        match self.markup()? {
            Event::Eof => Ok(Call { method, params }),
            _ => Err(malformed("more follows behind it")),
        }
    }

    /// A value behind `<value>`, up to and with `</value>`.
    fn value(&mut self, depth: usize) -> Result<Value, Fault> {
        let taken = self.budget.take(depth);
        taken.map_err(|reason| Fault::of(FaultKind::TooLarge, reason))?;
        let mut untyped = String::new();
        let tag = loop {
            match self.event()? {
                Event::Start(tag) if is_white(&untyped) => break tag,
                Event::Text(text) => untyped.push_str(&text.xml10_content()),
                // What has no type is a string.
                Event::End(_) => return Ok(Value::Text(untyped)),
                Event::Comment(_) | Event::PI(_) => {}
                Event::CData(text) => {
                    untyped.push_str(&text.xml10_content());
                    self.content_behind(&mut untyped)?;
                    return Ok(Value::Text(untyped));
                }
                Event::GeneralRef(name) => {
                    let character = match &*name {
                        "lt" => '<',
                        "gt" => '>',
                        "amp" => '&',
                        "apos" => '\'',
                        "quot" => '"',
                        _ => name.resolve_char_ref().ok().flatten().ok_or_else(|| {
                            malformed("it has a character reference that means nothing")
                        })?,
                    };
                    untyped.push(character);
                    self.content_behind(&mut untyped)?;
                    return Ok(Value::Text(untyped));
                }
                _ => return Err(malformed("</value> is missing")),
            }
        };
        let name = tag.name();
        let value = match name.as_ref() {
            "array" => self.array(depth)?,
            "struct" => self.structure(depth)?,
            "string" => Value::Text(self.content()?),
            "nil" | "ex:nil" => {
                self.content()?;
                Value::Null
            }
            scalar => {
                let content = self.content()?;
                scalar_value(scalar, content.trim()).ok_or_else(|| {
                    let (shown, scalar) = (shortened(content.trim()), shortened(scalar));
                    malformed(format!("{shown:?} is no value of type {scalar}"))
                })?
            }
        };
        self.close("value")?;
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut values = Vec::new();
        self.open("data")?;
        while self.opens("value")? {
            values.push(self.value(depth + 1)?);
        }
        self.close("array")?;
        Ok(Value::List(values))
    }

    fn structure(&mut self, depth: usize) -> Result<Value, Fault> {
        let mut members = Vec::new();
        while self.opens("member")? {
            self.open("name")?;
            let name = self.content()?;
            self.open("value")?;
            members.push((name, self.value(depth + 1)?));
            self.close("member")?;
        }
        Ok(Value::Map(members))
    }
}

/// A value that holds no others. Some types are extensions that libraries have.
fn scalar_value(tag: &str, content: &str) -> Option<Value> {
    Some(match tag {
        "i4" | "int" | "i1" | "i2" | "ex:i1" | "ex:i2" => {
            Value::Int(content.parse::<i32>().ok()?.into())
        }
        "i8" | "ex:i8" | "biginteger" => Value::Int(content.parse().ok()?),
        "boolean" => Value::Bool(match content {
            "1" | "true" => true,
            "0" | "false" => false,
            _ => return None,
        }),
        "double" | "float" | "ex:float" => Value::Float(content.parse().ok()?),
        "dateTime.iso8601" | "ex:dateTime" => Value::Date(from_compact_iso(content)?),
        "base64" => {
            let content: String = content.split_ascii_whitespace().collect();
            Value::Bytes(STANDARD.decode(content).ok()?)
        }
        _ => return None,
    })
}

fn is_white(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}
