#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 14 | server | sockets, and the end of all that is on them |
// | 13 | routes | which path is which protocol |
// | 12 | guard, measured, page | what stands before all of them, and around them where requests are measured; the service browser |
// | 11 | advice, events, record, rest_answer, web_socket | what would be cheaper; values as events of a server; calls of another server, kept and given again; the answer to a call by URL: form, tag, range; calls, values and links over WebSockets |
// | 10 | stream_answer, subscribing | a table that is sent while its source gives it; how a subscription begins |
// | 9 | client, http, weigh | the client; who asks, bodies within limits, answers on their way; how large an answer is in each form |
// | 8 | describe, protocol | what there is to call; JSON-RPC, XML-RPC, REST, AMF: a body in, a body out |
// | 7 | gateway | all services; a call within the limits |
// | 6 | link_root, service, table | actors that pages reach; methods, topics and properties under one name; a table as objects |
// | 5 | push | topics and properties: what is kept of each, and where each subscriber is |
// | 4 | json, method | JSON without a step between; what a method takes and gives |
// | 3 | answer, heavy_work, metrics | what comes back; what keeps a processor busy, beside the sockets; what is counted |
// | 2 | arguments, caller, row_stream, typed, work | what is asked, who asks; a table part by part, what serde writes; what a method has spent its time on |
// | 1 | amf_classes, exchange, fault, head_timer, lasting, proxies, trace, under_way, unsent | types that are classes of AMF; what is measured of a request; what went wrong, as a client is told; by when a head has come; what outlives a request; for whom a proxy passes it on; its names elsewhere; which requests a connection has; which answers have not gone |
// | 0 | accept_failure, admission, amf_rows, blocking, branch, buffer, cached_rows, content_type, head, limits, link_meter, patient, place, reset_budget, sessions, stream_head, table_form, value, web_policy | values between protocols, texts as errors tell them back; threads for handlers that block; what is at a path; in which forms a table goes as a whole; who may begin; what an error of accept says; the heads of requests and of answers; one future among those of a task; where an answer is written; what is allowed |

mod accept_failure;
mod admission;
mod advice;
mod amf_classes;
mod amf_rows;
mod answer;
mod arguments;
mod blocking;
mod branch;
mod buffer;
mod cached_rows;
mod caller;
mod client;
mod content_type;
mod describe;
mod events;
mod exchange;
mod fault;
mod gateway;
mod guard;
mod head;
mod head_timer;
mod heavy_work;
mod http;
mod json;
mod lasting;
mod limits;
mod link_meter;
mod link_root;
mod measured;
mod method;
mod metrics;
mod page;
mod patient;
mod place;
mod protocol;
mod proxies;
mod push;
mod record;
mod reset_budget;
mod rest_answer;
mod routes;
mod row_stream;
mod server;
mod service;
mod sessions;
mod stream_answer;
mod stream_head;
mod subscribing;
mod table;
mod table_form;
mod trace;
mod typed;
mod under_way;
mod unsent;
mod value;
mod web_policy;
mod web_socket;
mod weigh;
mod work;

pub use amf_classes::AmfClasses;
pub use amf_rows::AmfRows;
pub use answer::{Answer, AsItIs, BySerde, IntoAnswer};
pub use arguments::Arguments;
pub use cached_rows::CachedRows;
pub use caller::{Caller, Protocol, bearer};
pub use client::{
    CallError, Client, ConnectError, Pushed, RawAnswer, RawStream, Rest, RowParts, Socket, Values,
};
pub use fault::{Fault, FaultKind};
pub use gateway::Gateway;
pub use limits::Limits;
pub use link_root::LinkRoot;
pub use method::Method;
pub use proxies::{ForwardedBy, Network, NetworkError};
pub use push::{Policy, Publication, PushForm, WhenBehind, Wish};
pub use record::{RecordLoss, Recorder, RecordingError, Replay};
pub use row_stream::{ClientGone, RowSink, RowStream};
pub use server::{BindError, ServeError, Server};
pub use service::Service;
pub use typed::Typed;
pub use value::{Array, Dictionary, Items, Members, Object, ReadError, Value, Vector, WriteError};
pub use work::Work;

/// The crate of AMF, whose types the functions of [`AmfClasses::externalizable`] take.
pub use tamtam_amf as amf;

/// The crate whose configuration [`Server::tls`] takes.
#[cfg(feature = "tls")]
pub use tokio_rustls::rustls;
