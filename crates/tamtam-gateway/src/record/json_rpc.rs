//! JSON-RPC of another server, taken apart into calls and answers, and answers put together for other calls.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::key::Key;
use crate::json;
use crate::protocol::json_rpc::write_fault;
use crate::{Fault, Limits, Value};

/// The calls of a request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) calls: Vec<Asked>,
    is_batch: bool,
}

/// A call of a request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) params: Value,
    /// Nothing: no answer is wanted.
    id: Option<Value>,
}

impl Asked {
    pub(super) fn wants_answer(&self) -> bool {
        self.id.is_some()
    }
}

/// An answer without its id: the members as they were written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Answered(String);

/// The calls of a body, if it is of JSON-RPC.
pub(super) fn read_request(body: &[u8], limits: &Limits) -> Option<Request> {
    let (values, is_batch) = match json::read(body, limits).ok()? {
        Value::List(values) if !values.is_empty() && values.len() <= limits.batch => (values, true),
        Value::List(_) => return None,
        value => (vec![value], false),
    };
    let calls: Option<Vec<Asked>> = values.into_iter().map(asked).collect();
    Some(Request {
        calls: calls?,
        is_batch,
    })
}

fn asked(value: Value) -> Option<Asked> {
    let Value::Map(members) = value else {
        return None;
    };
    let (mut method, mut params, mut id, mut is_versioned) = (None, Value::Null, None, false);
    for (name, value) in members {
        match (&*name, value) {
            ("method", Value::Text(text)) => method = Some(text),
            ("params", value) => params = value,
            ("id", value) => id = Some(value),
            ("jsonrpc", _) => is_versioned = true,
            _ => {}
        }
    }
    // What else has a method is JSON of another kind.
    (is_versioned || id.is_some()).then_some(())?;
    Some(Asked {
        method: method?,
        // None at all and an empty list are the same.
        params: match params {
            Value::Null => Value::List(Vec::new()),
            other => other,
        },
        id,
    })
}

/// The answer to each call of a request, where there is one: the one with its id, however that is written.
pub(super) fn read_answers(request: &Request, body: &[u8]) -> Vec<Option<Answered>> {
    type Members = BTreeMap<String, Box<RawValue>>;
    let answers: Vec<Members> = match serde_json::from_slice(body) {
        Ok(answers) => answers,
        Err(_) => serde_json::from_slice(body).into_iter().collect(),
    };
    let mut answers: Vec<(Key, Members)> = answers
        .into_iter()
        .filter_map(|mut members| {
            let id = members.remove("id")?;
            let id = json::read(id.get().as_bytes(), &Limits::USUAL).ok()?;
            Some((key_of(&id), members))
        })
        .collect();
    let mut of_call = |asked: &Asked| {
        let id = key_of(asked.id.as_ref()?);
        let index = answers.iter().position(|(known, _)| *known == id)?;
        let (_, members) = answers.swap_remove(index);
        let members: Vec<String> = members
            .iter()
            .map(|(name, value)| format!("{}:{}", Value::from(&**name).to_json(), value.get()))
            .collect();
        Some(Answered(members.join(",")))
    };
    request.calls.iter().map(&mut of_call).collect()
}

/// What is the same for each way to write an id.
fn key_of(id: &Value) -> Key {
    Key::new("id", "", id)
}

/// The body with an answer to each call that wants one; nothing if none does.
pub(super) fn write_answers<'a>(
    request: &Request,
    answers: impl IntoIterator<Item = Result<&'a Answered, Fault>>,
) -> Option<Vec<u8>> {
    let calls = request.calls.iter().zip(answers);
    let written: Vec<Vec<u8>> = calls
        .filter_map(|(asked, answer)| {
            let id = asked.id.as_ref()?;
            Some(match answer {
                Ok(Answered(members)) => {
                    format!("{{{members},\"id\":{}}}", id.to_json()).into_bytes()
                }
                Err(fault) => {
                    let mut out = Vec::new();
                    write_fault(&fault, id, &mut out);
                    out
                }
            })
        })
        .collect();
    if written.is_empty() {
        return None;
    }
    let body = written.join(&b","[..]);
    Some(if request.is_batch {
        [b"[", &body[..], b"]"].concat()
    } else {
        body
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Option<Request> {
        read_request(text.as_bytes(), &Limits::USUAL)
    }

    #[test]
    fn an_answer_is_kept_as_it_was_written_and_gets_the_id_of_another_call() {
        let first = request(r#"[{"jsonrpc":"2.0","method":"a","id":1},{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","method":"c","params":[1],"id":"x"}]"#).unwrap();
        let said = br#"[{"jsonrpc":"2.0","result":1.50e1,"id":"x"},{"id":1,"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}]"#;
        let answers = read_answers(&first, said);
        assert!(answers[0].is_some() && answers[1].is_none() && answers[2].is_some());
        let other = request(r#"{"jsonrpc":"2.0","method":"c","params":[1.0],"id":77}"#).unwrap();
        let body = write_answers(&other, [Ok(answers[2].as_ref().unwrap())]).unwrap();
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body, r#"{"jsonrpc":"2.0","result":1.50e1,"id":77}"#);
        let batch = request(r#"[{"jsonrpc":"2.0","method":"a","id":null}]"#).unwrap();
        let body = write_answers(&batch, [Err(Fault::new("Replay.NeverAsked", "no"))]).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body[0]["error"]["data"]["code"], "Replay.NeverAsked");
        assert!(body[0]["id"].is_null());
    }

    #[test]
    fn an_id_that_is_written_in_another_way_is_the_same() {
        for (asked, answered) in [
            (r#""a/b""#, r#""a\/b""#),
            (r#""\u00e9""#, "\"\u{e9}\""),
            ("\"\u{e9}\"", r#""\u00E9""#),
            ("7", "7.0"),
            ("1e2", "100"),
            ("1.5", "15e-1"),
            ("null", "null"),
        ] {
            let call = format!(r#"{{"jsonrpc":"2.0","method":"a","id":{asked}}}"#);
            let said = format!(r#"{{"jsonrpc":"2.0","result":true,"id":{answered}}}"#);
            let answers = read_answers(&request(&call).unwrap(), said.as_bytes());
            let members = r#""jsonrpc":"2.0","result":true"#.to_owned();
            assert_eq!(answers, [Some(Answered(members))], "{asked} {answered}");
        }
        for (asked, answered) in [
            ("7", r#""7""#),
            ("7", "8"),
            ("9007199254740993", "9007199254740992.0"),
            (r#""a""#, "null"),
        ] {
            let call = format!(r#"{{"jsonrpc":"2.0","method":"a","id":{asked}}}"#);
            let said = format!(r#"{{"jsonrpc":"2.0","result":true,"id":{answered}}}"#);
            let answers = read_answers(&request(&call).unwrap(), said.as_bytes());
            assert_eq!(answers, [None], "{asked} {answered}");
        }
    }

    #[test]
    fn json_of_others_is_none_of_json_rpc() {
        assert!(request(r#"{"set":"palette"}"#).is_none());
        assert!(request(r#"{"method":"a","params":[]}"#).is_none());
        assert!(request("[]").is_none() && request("5").is_none());
        let notification = request(r#"{"jsonrpc":"2.0","method":"a"}"#).unwrap();
        assert_eq!(
            write_answers(&notification, [Err(Fault::new("a", "b"))]),
            None
        );
    }
}
