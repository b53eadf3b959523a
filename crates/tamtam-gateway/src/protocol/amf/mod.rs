//! AMF remoting: packets of calls from Flash, and Flex's messages within them.

mod flash;
mod flex;
mod partial;
mod places;
mod read;
pub(crate) mod recorded;
pub(crate) mod weighed;
mod write;

use hyper::HeaderMap;
use tamtam_amf::amf0::{self, Numbering};
use tamtam_amf::packet::{Decoder, Encoder, PacketLimits, Version};
use tamtam_rows::encoding::{Amf0Objects, Amf0RecordSet, Amf3Objects};
use tamtam_rows::{Encoding, Rows};

use crate::admission::Ticket;
use crate::buffer;
use crate::gateway::Shared;
use crate::heavy_work::{is_large, is_large_anew, written};
use crate::json::not_carried;
use crate::table_form::TableForm;
use crate::value::shortened;
use crate::{AmfClasses, AmfRows, Answer, Arguments, Caller, Fault, FaultKind, Limits, Value};
pub(crate) use flash::is_flash_player;
pub(crate) use places::refusal;
use read::NameBudget;

/// A call of a packet.
struct Call {
    target: String,
    /// Where the answer goes; nothing if none is wanted.
    response: Option<String>,
    value: Value,
}

/// The answer to a packet.
///
/// # Errors
/// What is wrong with the packet as a whole: then it has no call to answer.
pub(crate) async fn answer(
    shared: &Shared,
    ticket: &Ticket,
    mut caller: Caller,
    rows: AmfRows,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Vec<u8>, Fault> {
    let numbering = flash::numbering_of(headers);
    let (version, calls, unknown) = read_packet(shared, body, numbering, &mut caller)?;
    let mut out = Vec::new();
    let classes = &shared.gateway.amf_classes;
    let mut encoder = Encoder::new(&mut out, version).with_classes(classes.external());
    let most = shared.gateway.limits.batch_bytes;
    for call in calls {
        if let Some(to) = &call.response
            && encoder.bytes() >= most
        {
            let full = Fault::batch_is_full(most);
            if flex::is_message(&call.value) {
                let response = flex::failed(&call.value, &full);
                write_flex(&mut encoder, to, &call.value, response, version)?;
            } else {
                write_fault(&mut encoder, to, &full, version)?;
            }
            continue;
        }
        let unknown = unknown.as_ref().map(|name| {
            let reason = format!("the header {name:?} has to be understood, and is not known");
            Fault::of(FaultKind::Malformed, reason)
        });
        if flex::is_message(&call.value) {
            let response = match &unknown {
                Some(fault) => flex::failed(&call.value, fault),
                None => flex::answer(shared, ticket, &caller, &call.value).await,
            };
            if let Some(to) = &call.response {
                make_room(&mut encoder);
                let asked = (to.as_str(), &call.value);
                answer_flex(&mut encoder, asked, response, version, classes).await?;
            }
            continue;
        }
        let result = match unknown {
            Some(fault) => Err(fault),
            None => one(shared, ticket, &caller, &call.target, call.value).await,
        };
        let Some(to) = &call.response else {
            continue;
        };
        make_room(&mut encoder);
        let written = match result {
            Ok(answer) => write_answer(&mut encoder, to, answer, version, rows, classes).await,
            Err(fault) => Err(fault),
        };
        if let Err(fault) = written {
            write_fault(&mut encoder, to, &fault, version)?;
        }
    }
    Ok(buffer::finish(out))
}

/// Has room for an answer as long as those before, when it is there: its calls may have taken long.
fn make_room(encoder: &mut Encoder<'_>) {
    encoder.reserve(buffer::missing_room(encoder.bytes()));
}

/// The version, the calls, and the name of a header that has to be understood and is not.
type Read = (Version, Vec<Call>, Option<String>);

fn read_packet(
    shared: &Shared,
    body: &[u8],
    numbering: Numbering,
    caller: &mut Caller,
) -> Result<Read, Fault> {
    let limits = packet_limits(&shared.gateway.limits);
    let malformed = |error: tamtam_amf::packet::PacketDecodeError| {
        Fault::of(
            FaultKind::Malformed,
            format!("the request is no packet of AMF: {error}"),
        )
    };
    let decoder = Decoder::new(body, limits).map_err(malformed)?;
    let mut decoder = decoder
        .with_numbering(numbering)
        .with_classes(shared.gateway.amf_classes.external());
    let version = decoder.version();
    let mut names = NameBudget::new(limits.values.bytes);
    let mut unknown = None;
    while let Some(header) = decoder.next_header().map_err(malformed)? {
        let value = decoder.value().map_err(malformed)?;
        if header.name == "Credentials" {
            caller.credentials =
                credentials(&read::of_amf0(value, &mut names)?).or(caller.credentials.take());
        } else if header.must_understand {
            unknown.get_or_insert_with(|| shortened(header.name).to_owned());
        }
    }
    let mut calls = Vec::new();
    while let Some(message) = decoder.next_message().map_err(malformed)? {
        let value = decoder.value().map_err(malformed)?;
        calls.push(Call {
            target: message.target.to_owned(),
            response: wanted(message.response)?,
            value: read::of_amf0(value, &mut names)?,
        });
    }
    decoder.finish().map_err(malformed)?;
    Ok((version, calls, unknown))
}

/// What a packet may have within these limits.
fn packet_limits(limits: &Limits) -> PacketLimits {
    PacketLimits {
        values: tamtam_amf::Limits {
            bytes: limits.body_bytes,
            depth: limits.depth.min(tamtam_amf::MAX_DEPTH),
            values: limits.values,
        },
        messages: limits.batch,
        ..PacketLimits::default()
    }
}

/// Where an answer goes; nothing if none is wanted.
///
/// # Errors
/// If no answer can go there. That is said before anything is called.
fn wanted(response: &str) -> Result<Option<String>, Fault> {
    if response.len() + LONGEST_OUTCOME.len() > usize::from(u16::MAX) {
        let reason =
            "the name of the place for an answer is too long: an answer's has 65,535 bytes at most";
        return Err(Fault::of(FaultKind::Malformed, reason));
    }
    Ok((!matches!(response, "" | "null")).then(|| response.to_owned()))
}

/// What an answer's target ends with, behind the name of the place.
const LONGEST_OUTCOME: &str = "/onResult";

/// Name and password, as `NetConnection.setCredentials` and others write them.
fn credentials(value: &Value) -> Option<(String, String)> {
    let text = |names: [&str; 2]| {
        names.iter().find_map(|name| match value.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        })
    };
    Some((text(["userid", "username"])?, text(["password", "pass"])?))
}

async fn one(
    shared: &Shared,
    ticket: &Ticket,
    caller: &Caller,
    target: &str,
    value: Value,
) -> Result<Answer, Fault> {
    // Amfphp takes both.
    let name = target.replace('/', ".");
    shared
        .call_named(ticket, caller, &name, arguments_of(shared, value))
        .await
}

/// The arguments of a call, whose objects may be of classes that the program has.
fn arguments_of(shared: &Shared, value: Value) -> Arguments {
    arguments(value).with_classes(shared.gateway.amf_classes.names())
}

/// The arguments by their places: an array; what is none is one argument.
fn arguments(value: Value) -> Arguments {
    match value {
        Value::List(values) => Arguments::positional(values),
        Value::Null | Value::Undefined => Arguments::none(),
        other => Arguments::positional([other]),
    }
}

async fn write_answer(
    encoder: &mut Encoder<'_>,
    to: &str,
    answer: Answer,
    version: Version,
    form: AmfRows,
    classes: &AmfClasses,
) -> Result<(), Fault> {
    let target = format!("{to}/onResult");
    let form = RowForm::of(version, form);
    if let Answer::Cached(table) = answer {
        let is_large = is_large_anew(&table, form.name(), form.of_table());
        return write_beside(encoder, &target, is_large, move |out| {
            table.write(form.name(), out, |rows, out| form.encode(rows, out))
        })
        .await;
    }
    let rows = match answer {
        Answer::Rows(rows) => rows,
        Answer::Value(Value::Rows(rows)) => *rows,
        Answer::Stream(stream) => stream.gather(form.of_table()).await?,
        other => {
            let value = write::value(other.into_objects(classes.names()).await?, version)?;
            return encoder
                .write_message(&target, "null", &value)
                .map_err(not_carried);
        }
    };
    let is_large = is_large(&rows, form.of_table());
    write_beside(encoder, &target, is_large, move |out| {
        form.encode(&rows, out)
    })
    .await
}

/// Writes a message, beside the sockets if it is large.
async fn write_beside(
    encoder: &mut Encoder<'_>,
    target: &str,
    is_large: bool,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault> + Send + 'static,
) -> Result<(), Fault> {
    if !is_large {
        return write_rows(encoder, target, write);
    }
    let write = async |out: &mut Vec<u8>| {
        let written = written(true, out, write).await;
        written.map_err(Refused::Fault)
    };
    let message = encoder.message_bytes_async(target, "null", write);
    Box::pin(message).await.map_err(Refused::into_fault)
}

fn write_rows(
    encoder: &mut Encoder<'_>,
    target: &str,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    encoder
        .message_bytes(target, "null", |out| write(out).map_err(Refused::Fault))
        .map_err(Refused::into_fault)
}

/// Why a table is not in the packet.
enum Refused {
    Fault(Fault),
    Packet(tamtam_amf::packet::PacketEncodeError),
}

impl Refused {
    fn into_fault(self) -> Fault {
        match self {
            Refused::Fault(fault) => fault,
            Refused::Packet(error) => not_carried(error),
        }
    }
}

impl From<tamtam_amf::packet::PacketEncodeError> for Refused {
    fn from(error: tamtam_amf::packet::PacketEncodeError) -> Refused {
        Refused::Packet(error)
    }
}

/// The marker of AMF3 within AMF0.
const AVMPLUS: u8 = 0x11;

/// The form of a table in a packet.
#[derive(Clone, Copy)]
enum RowForm {
    RecordSet,
    Objects0,
    /// Within AMF0.
    Objects3,
}

impl RowForm {
    fn of(version: Version, form: AmfRows) -> RowForm {
        match (form, version) {
            (AmfRows::RecordSet, _) | (AmfRows::Usual, Version::Amf0) => RowForm::RecordSet,
            (_, Version::Amf0) => RowForm::Objects0,
            (_, Version::Amf3) => RowForm::Objects3,
        }
    }

    /// What a table is in it that goes as a whole.
    fn of_table(self) -> TableForm {
        match self {
            RowForm::RecordSet => TableForm::RecordSet,
            RowForm::Objects0 => TableForm::Objects0,
            RowForm::Objects3 => TableForm::Objects3,
        }
    }

    /// By which it is kept.
    fn name(self) -> &'static str {
        match self {
            RowForm::RecordSet => "amf0-recordset",
            RowForm::Objects0 => "amf0-objects",
            RowForm::Objects3 => "amf3-objects",
        }
    }

    fn encode(self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), Fault> {
        let encoded = match self {
            RowForm::RecordSet => Amf0RecordSet.encode(rows, out),
            RowForm::Objects0 => Amf0Objects::TYPED.encode(rows, out),
            RowForm::Objects3 => {
                out.push(AVMPLUS);
                Amf3Objects.encode(rows, out)
            }
        };
        encoded.map_err(not_carried)
    }
}

/// A fault as Flash gets it: an object with level, code, description and detail.
fn write_fault(
    encoder: &mut Encoder<'_>,
    to: &str,
    fault: &Fault,
    version: Version,
) -> Result<(), Fault> {
    let members = |detail: Value| {
        Value::Map(vec![
            ("level".to_owned(), Value::from("error")),
            ("code".to_owned(), Value::from(fault.code())),
            ("description".to_owned(), Value::from(fault.description())),
            ("detail".to_owned(), detail),
        ])
    };
    let detail = fault.get_detail().cloned().unwrap_or_default();
    let value = write::value(members(detail), version)
        .or_else(|_| write::value(members(Value::Null), version))?;
    let written = encoder.write_message(&format!("{to}/onStatus"), "null", &value);
    written.map_err(not_carried)
}

/// The answer to a message of Flex: the response; where AMF cannot carry that, an `ErrorMessage` that says so, or a fault
/// without its detail.
fn write_flex(
    encoder: &mut Encoder<'_>,
    to: &str,
    message: &Value,
    response: flex::Response,
    version: Version,
) -> Result<(), Fault> {
    let without_detail = response.without_detail();
    let written = write_response(encoder, to, response, version);
    let written = written.or_else(|fault| {
        let failed = without_detail.unwrap_or_else(|| flex::failed(message, &fault));
        write_response(encoder, to, failed, version)
    });
    written.or_else(|fault| write_fault(encoder, to, &fault, version))
}

/// The same, beside the sockets if it is a large table.
async fn answer_flex(
    encoder: &mut Encoder<'_>,
    (to, message): (&str, &Value),
    response: flex::Response,
    version: Version,
    classes: &AmfClasses,
) -> Result<(), Fault> {
    let table = response.table();
    if !table.is_some_and(|rows| is_large(rows, TableForm::Tree)) {
        return write_flex(encoder, to, message, response, version);
    }
    let written = write_large_response(encoder, to, response, version, classes).await;
    written.or_else(|fault| {
        let failed = flex::failed(message, &fault);
        write_flex(encoder, to, message, failed, version)
    })
}

/// Writes a response beside the sockets, and makes there what it is written of.
async fn write_large_response(
    encoder: &mut Encoder<'_>,
    to: &str,
    response: flex::Response,
    version: Version,
    classes: &AmfClasses,
) -> Result<(), Fault> {
    let (method, message) = response.into_parts();
    let classes = classes.external().clone();
    write_beside(encoder, &format!("{to}/{method}"), true, move |out| {
        let value = write::value(message, version)?;
        let mut encoder = amf0::Encoder::new(out).with_classes(&classes);
        encoder.write_value(&value).map_err(not_carried)
    })
    .await
}

fn write_response(
    encoder: &mut Encoder<'_>,
    to: &str,
    response: flex::Response,
    version: Version,
) -> Result<(), Fault> {
    let (method, message) = response.into_parts();
    let value = write::value(message, version)?;
    let written = encoder.write_message(&format!("{to}/{method}"), "null", &value);
    written.map_err(not_carried)
}
