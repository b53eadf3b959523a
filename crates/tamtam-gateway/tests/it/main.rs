//! The gateway as its clients see it: over sockets, in each protocol.

mod advice;
#[cfg(target_os = "linux")]
mod advice_cost;
mod amf;
mod amf_classes;
// It reads what Linux tells of a process.
#[cfg(target_os = "linux")]
mod apart;
mod batch;
mod busy;
mod cached;
mod client;
mod client_stream;
mod duties;
// It reads what Linux tells of a process.
#[cfg(target_os = "linux")]
mod gathered;
mod head;
mod http2;
mod json_rpc;
mod late;
mod link;
mod page;
mod proxies;
mod push;
mod record;
mod resets;
mod rest;
mod routes;
mod server;
mod services;
mod silent;
#[cfg(target_os = "linux")]
mod soak;
#[cfg(target_os = "linux")]
mod soak_http2;
mod stalled;
mod streamed;
mod told;
mod who_may;
mod world;
mod xml_rpc;
