//! A value as an answer of a packet, to see how large it is.

use tamtam_amf::packet::{Encoder, Version};

use super::{Refused, encode_rows, write};
use crate::json::not_carried;
use crate::{AmfRows, Fault, Value};

/// The packet that answers one call with this value.
///
/// # Errors
/// If AMF cannot carry it.
pub(crate) fn answer(value: &Value, version: Version, form: AmfRows) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, version);
    match value {
        Value::Rows(rows) => encoder
            .message_bytes("/1/onResult", "null", |out| {
                encode_rows(rows, out, version, form).map_err(Refused::Fault)
            })
            .map_err(|refused| match refused {
                Refused::Fault(fault) => fault,
                Refused::Packet(error) => not_carried(error),
            })?,
        other => {
            let value = write::value(other.clone(), version)?;
            encoder
                .write_message("/1/onResult", "null", &value)
                .map_err(not_carried)?;
        }
    }
    Ok(out)
}
