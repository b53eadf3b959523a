//! XML-RPC: calls, faults, and the methods by which a server tells of itself.

mod introspection;
mod read;
mod write;

use tamtam_rows::Rows;

use crate::admission::Ticket;
use crate::gateway::{Shared, admitted};
use crate::heavy_work::{is_large, worked};
use crate::table_form::TableForm;
use crate::{Answer, Arguments, Caller, Fault, FaultKind, Limits, Value};

use read::Call;

/// The method and the arguments in a body.
///
/// # Errors
/// If it is no call, or exceeds the limits.
pub(crate) fn asked(body: &[u8], limits: &Limits) -> Result<(String, Value), Fault> {
    let call = read::call(body, limits)?;
    Ok((call.method, Value::List(call.params)))
}

/// A value as an answer.
///
/// # Errors
/// If XML-RPC cannot carry it.
pub(crate) fn response(value: &Value) -> Result<Vec<u8>, Fault> {
    write::response(value)
}

/// A table that was gathered as an answer.
///
/// # Errors
/// If XML-RPC cannot carry it, or it has too many bytes.
pub(crate) fn gathered(rows: &Rows) -> Result<Vec<u8>, Fault> {
    write::gathered(rows)
}

/// A fault as an answer.
pub(crate) fn fault(fault: &Fault) -> Vec<u8> {
    write::fault_response(fault)
}

/// The answer to a body.
pub(crate) async fn answer(
    shared: &Shared,
    ticket: &Ticket,
    caller: &Caller,
    body: &[u8],
) -> Vec<u8> {
    let result = match read::call(body, &shared.gateway.limits) {
        Ok(call) => respond(shared, ticket, caller, call).await,
        Err(fault) => Err(fault),
    };
    result.unwrap_or_else(|fault| write::fault_response(&fault))
}

async fn respond(
    shared: &Shared,
    ticket: &Ticket,
    caller: &Caller,
    call: Call,
) -> Result<Vec<u8>, Fault> {
    if call.method == "system.multicall" {
        return multicall(shared, ticket, caller, call.params).await;
    }
    let given = one(shared, ticket, caller, call).await?;
    worked(given.is_large(), move || match given {
        Given::Value(value) => write::response(&value),
        Given::Gathered(rows) => write::gathered(&rows),
    })
    .await?
}

/// What a call gives.
enum Given {
    Value(Value),
    /// A table that came part by part.
    Gathered(Rows),
}

impl Given {
    /// Whether it is a table that is large.
    fn is_large(&self) -> bool {
        match self {
            Given::Value(Value::Rows(rows)) => is_large(rows, TableForm::XmlRpc),
            Given::Gathered(rows) => is_large(rows, TableForm::XmlRpc),
            Given::Value(_) => false,
        }
    }
}

async fn one(
    shared: &Shared,
    ticket: &Ticket,
    caller: &Caller,
    call: Call,
) -> Result<Given, Fault> {
    if let Some(name) = call.method.strip_prefix("system.")
        && shared.gateway.find("system", name).is_none()
    {
        admitted(ticket)?;
        // What there is to call is told to the same callers as at /services.
        shared.may(None, caller, &call.method)?;
        return introspection::answer(&shared.gateway, name, call.params).map(Given::Value);
    }
    let arguments = Arguments::positional(call.params);
    let answer = shared
        .call_named(ticket, caller, &call.method, arguments)
        .await?;
    match answer {
        Answer::Stream(stream) => stream.gather(TableForm::XmlRpc).await.map(Given::Gathered),
        other => other.into_value().await.map(Given::Value),
    }
}

/// Several calls in one: each gives a list of its one answer, or a struct of its fault.
async fn multicall(
    shared: &Shared,
    ticket: &Ticket,
    caller: &Caller,
    params: Vec<Value>,
) -> Result<Vec<u8>, Fault> {
    let Ok([Value::List(calls)]) = <[Value; 1]>::try_from(params) else {
        return Err(Fault::arguments("system.multicall takes one list of calls"));
    };
    let limits = &shared.gateway.limits;
    let most = limits.batch;
    if calls.len() > most {
        let reason = format!("a multicall has at most {most} calls, not {}", calls.len());
        return Err(Fault::of(FaultKind::TooLarge, reason));
    }
    let mut answers = write::Answers::new();
    for call in calls {
        let result = match in_multicall(call) {
            Ok(_) if answers.bytes() >= limits.batch_bytes => {
                Err(Fault::batch_is_full(limits.batch_bytes))
            }
            Ok(call) => one(shared, ticket, caller, call).await,
            Err(fault) => Err(fault),
        };
        let is_large = result.as_ref().is_ok_and(Given::is_large);
        let pushed = worked(is_large, move || {
            match result {
                Ok(Given::Gathered(rows)) => answers.push_gathered(&rows),
                Ok(Given::Value(value)) => answers.push(Ok(value)),
                Err(fault) => answers.push(Err(fault)),
            }
            answers
        });
        answers = pushed.await?;
    }
    Ok(answers.finish())
}

fn in_multicall(value: Value) -> Result<Call, Fault> {
    let malformed =
        || Fault::arguments("a call of a multicall is a struct of methodName and params");
    let Value::Map(members) = value else {
        return Err(malformed());
    };
    let (mut method, mut params) = (None, None);
    for (name, value) in members {
        match (&*name, value) {
            ("methodName", Value::Text(name)) => method = Some(name),
            ("params", Value::List(values)) => params = Some(values),
            _ => return Err(malformed()),
        }
    }
    let method = method.ok_or_else(malformed)?;
    if method == "system.multicall" {
        return Err(Fault::arguments("a multicall has no multicall in it"));
    }
    Ok(Call {
        method,
        params: params.unwrap_or_default(),
    })
}
