//! What a user of the crate can see, in one program.

#[cfg(feature = "amf")]
mod amf;
#[cfg(feature = "amf")]
mod amf_blocks;
mod any_rows;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_ipc;
#[cfg(feature = "compression")]
mod compression;
mod conformance;
#[cfg(feature = "text")]
mod digits;
#[cfg(feature = "text")]
mod infer;
#[cfg(feature = "text")]
mod infer_options;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "json")]
mod json_parts;
#[cfg(feature = "message-pack")]
mod message_pack;
mod packed_damage;
mod packed_golden;
mod packed_page;
mod packed_records;
mod packed_small;
mod packed_view;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "serde")]
mod structs;
mod support;
#[cfg(feature = "text")]
mod text;
#[cfg(feature = "parquet")]
mod written_elsewhere;
#[cfg(feature = "xml-rpc")]
mod xml_rpc;
