//! The protocols, one file each: a request's body in, the body of the answer out.

pub(crate) mod amf;
pub(crate) mod json_rpc;
pub(crate) mod rest;
pub(crate) mod xml_rpc;
