//! The gateway as its clients see it: over sockets, in each protocol.

mod amf;
mod duties;
mod json_rpc;
mod rest;
mod server;
mod services;
mod world;
mod xml_rpc;
