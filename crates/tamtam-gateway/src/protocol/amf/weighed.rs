//! A value as an answer of a packet, to see how large it is.

use tamtam_amf::packet::{Encoder, Version};

use super::{RowForm, write, write_rows};
use crate::json::not_carried;
use crate::{AmfClasses, AmfRows, Fault, Value};

/// The packet that answers one call with this value.
///
/// # Errors
/// If AMF cannot carry it.
pub(crate) fn answer(
    value: &Value,
    version: Version,
    form: AmfRows,
    classes: &AmfClasses,
) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, version).with_classes(classes.external());
    match value {
        Value::Rows(rows) => {
            let form = RowForm::of(version, form);
            write_rows(&mut encoder, "/1/onResult", |out| form.encode(rows, out))?;
        }
        other => {
            let value = write::value(other.clone(), version)?;
            encoder
                .write_message("/1/onResult", "null", &value)
                .map_err(not_carried)?;
        }
    }
    Ok(out)
}
