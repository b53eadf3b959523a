//! JSON-RPC 2.0: calls, notifications and batches.

mod request;

use request::{Asked, Came};

use crate::{Answer, Arguments, Fault, FaultKind, Limits, Value, buffer, json};

/// The code of a text that is no JSON.
const PARSE_ERROR: i32 = -32700;

/// What calls the methods that are asked for.
pub(crate) trait Calls: Sync {
    /// Calls one by its full name.
    fn call(
        &self,
        method: &str,
        arguments: Arguments,
    ) -> impl Future<Output = Result<Answer, Fault>> + Send;
}

/// The answer to a body; nothing if none is wanted.
pub(crate) async fn answer(calls: &impl Calls, limits: &Limits, body: &[u8]) -> Option<Vec<u8>> {
    // Without room: its calls may take long.
    let mut out = Vec::new();
    let is_wanted = answer_all(calls, limits, body, &mut out).await;
    is_wanted.then(|| buffer::finish(out))
}

/// Writes the answer to a body; says whether one is wanted.
async fn answer_all(calls: &impl Calls, limits: &Limits, body: &[u8], out: &mut Vec<u8>) -> bool {
    let requests = match request::read(body, limits) {
        Ok(Came::Batch { count: 0, .. }) => {
            let fault = Fault::of(FaultKind::Malformed, "the batch is empty");
            write_fault(&fault, &Value::Null, out);
            return true;
        }
        Ok(Came::Batch { count, .. }) if count > limits.batch => {
            let most = limits.batch;
            let reason = format!("a batch has at most {most} requests, not {count}");
            write_fault(&Fault::of(FaultKind::TooLarge, reason), &Value::Null, out);
            return true;
        }
        Ok(Came::Batch { requests, .. }) => requests,
        Ok(Came::One(request)) => {
            return answer_one(calls, request, None, out).await;
        }
        Err(fault) => {
            let (fault, id) = match fault.kind() {
                FaultKind::Malformed => (fault.number(PARSE_ERROR), Value::Null),
                // Its client finds by the number what the error is about.
                _ => (fault, request::id_of(body)),
            };
            write_fault(&fault, &id, out);
            return true;
        }
    };
    out.push(b'[');
    let mut is_answered = false;
    for request in requests {
        let before = out.len();
        if is_answered {
            out.push(b',');
        }
        let most = limits.batch_bytes;
        let full = (before >= most).then(|| Fault::batch_is_full(most));
        if answer_one(calls, request, full, out).await {
            is_answered = true;
        } else {
            out.truncate(before);
        }
    }
    out.push(b']');
    is_answered
}

/// Writes the answer to one request; says whether one is wanted. If there is no room for it, that is the answer.
async fn answer_one(
    calls: &impl Calls,
    asked: Asked<'_>,
    full: Option<Fault>,
    out: &mut Vec<u8>,
) -> bool {
    let request = match asked.request() {
        Ok(request) => request,
        Err((id, reason)) => {
            write_fault(&Fault::of(FaultKind::Malformed, reason), &id, out);
            return true;
        }
    };
    let result = match full {
        Some(full) if request.id.is_some() => Err(full),
        // What is not answered takes no room.
        _ => calls.call(&request.method, request.arguments).await,
    };
    let Some(id) = request.id else {
        return false;
    };
    buffer::make_room(out);
    if let Err(fault) = write_result(result, &id, out).await {
        write_fault(&fault, &id, out);
    }
    true
}

/// Writes the answer of a call; `out` is as it was if the call failed.
async fn write_result(
    result: Result<Answer, Fault>,
    id: &Value,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let answer = result?;
    let before = out.len();
    out.extend_from_slice(br#"{"jsonrpc":"2.0","result":"#);
    let written = json::write_answer(answer, out).await;
    if written.is_err() {
        out.truncate(before);
    } else {
        write_id(id, out);
    }
    written
}

pub(crate) fn write_fault(fault: &Fault, id: &Value, out: &mut Vec<u8>) {
    let mut data = vec![("code".to_owned(), Value::from(fault.code()))];
    if let Some(detail) = fault.get_detail() {
        data.push(("detail".to_owned(), detail.clone()));
    }
    let error = Value::Map(vec![
        ("code".to_owned(), Value::Int(fault.json_rpc_code().into())),
        ("message".to_owned(), Value::from(fault.description())),
        ("data".to_owned(), Value::Map(data)),
    ]);
    let before = out.len();
    out.extend_from_slice(br#"{"jsonrpc":"2.0","error":"#);
    if json::write_value(&error, out).is_err() {
        // Its detail is what JSON does not have.
        out.truncate(before);
        out.extend_from_slice(
            br#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"the method failed"}"#,
        );
    }
    write_id(id, out);
}

fn write_id(id: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(br#","id":"#);
    // It was read from JSON.
    if json::write_value(id, out).is_err() {
        out.extend_from_slice(b"null");
    }
    out.push(b'}');
}
