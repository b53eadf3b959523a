//! The targets, each with what it does with any bytes: a file a target, named after the form and what is done with it.

pub mod amf0_decode;
pub mod amf3_decode;
pub mod amf_packet_decode;
pub mod amf_rows_decode;
#[cfg(feature = "arrow")]
pub mod arrow_ipc_decode;
pub mod decompress;
#[cfg(feature = "gateway")]
pub mod gateway_amf;
#[cfg(feature = "gateway")]
pub mod gateway_json_rpc;
#[cfg(feature = "gateway")]
pub mod gateway_rest;
#[cfg(feature = "gateway")]
pub mod gateway_web_socket;
#[cfg(feature = "gateway")]
pub mod gateway_xml_rpc;
pub mod json_arrays_decode;
pub mod json_columns_decode;
pub mod json_infer;
pub mod json_objects_decode;
pub mod link_receive;
pub mod message_pack_decode;
pub mod packed_decode;
pub mod packed_view;
#[cfg(feature = "arrow")]
pub mod parquet_decode;
#[cfg(target_os = "linux")]
pub mod shared_memory;
pub mod text_decode;
pub mod text_infer;
pub mod xml_rpc_decode;

/// A target: its name, and what it does with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All that the chosen features have.
pub const ALL: &[Target] = &[
    ("amf0_decode", amf0_decode::run),
    ("amf3_decode", amf3_decode::run),
    ("amf_packet_decode", amf_packet_decode::run),
    ("amf_rows_decode", amf_rows_decode::run),
    #[cfg(feature = "arrow")]
    ("arrow_ipc_decode", arrow_ipc_decode::run),
    ("decompress", decompress::run),
    #[cfg(feature = "gateway")]
    ("gateway_amf", gateway_amf::run),
    #[cfg(feature = "gateway")]
    ("gateway_json_rpc", gateway_json_rpc::run),
    #[cfg(feature = "gateway")]
    ("gateway_rest", gateway_rest::run),
    #[cfg(feature = "gateway")]
    ("gateway_web_socket", gateway_web_socket::run),
    #[cfg(feature = "gateway")]
    ("gateway_xml_rpc", gateway_xml_rpc::run),
    ("json_arrays_decode", json_arrays_decode::run),
    ("json_columns_decode", json_columns_decode::run),
    ("json_infer", json_infer::run),
    ("json_objects_decode", json_objects_decode::run),
    ("link_receive", link_receive::run),
    ("message_pack_decode", message_pack_decode::run),
    ("packed_decode", packed_decode::run),
    ("packed_view", packed_view::run),
    #[cfg(feature = "arrow")]
    ("parquet_decode", parquet_decode::run),
    #[cfg(target_os = "linux")]
    ("shared_memory", shared_memory::run),
    ("text_decode", text_decode::run),
    ("text_infer", text_infer::run),
    ("xml_rpc_decode", xml_rpc_decode::run),
];
