//! The errors of the AMF codec as errors of a form.

use tamtam_amf::{
    Cause, DecodeError as AmfDecodeError, EncodeError as AmfEncodeError, Limits as AmfLimits,
};

use crate::{DecodeError, EncodeError, Limits};

/// A table that is too much for a length of AMF: its encoder is given nothing else that it could refuse.
#[cold]
pub(super) fn encoding(form: &'static str, error: &AmfEncodeError) -> EncodeError {
    EncodeError::Unsupported {
        form,
        what: "this table".to_owned(),
        reason: error.to_string(),
    }
}

#[cold]
pub(super) fn decoding(form: &'static str, error: &AmfDecodeError) -> DecodeError {
    let at = error.position as u64;
    match &error.cause {
        Cause::Truncated { .. } | Cause::Announced { .. } => DecodeError::Truncated {
            form,
            what: "the rest of a value",
            at,
        },
        // Where it was exceeded, it was by a text that was repeated.
        Cause::Repeated { limit } => DecodeError::Limit {
            form,
            what: "bytes of repeated texts",
            declared: (*limit as u64).saturating_add(1),
            limit: *limit as u64,
        },
        cause => DecodeError::Malformed {
            form,
            at,
            reason: cause.to_string(),
        },
    }
}

#[cold]
pub(super) fn unexpected(form: &'static str, at: usize, reason: &str) -> DecodeError {
    DecodeError::Malformed {
        form,
        at: at as u64,
        reason: reason.to_owned(),
    }
}

/// Item by item a decoder takes no memory for what is announced, and what it hands out is counted elsewhere: it may
/// read as much as there is, and repeat as much text as the table may hold. A table is two containers deep, a
/// RecordSet four.
pub(super) fn limits(bytes: &[u8], limits: &Limits) -> AmfLimits {
    let table = usize::try_from(limits.bytes).unwrap_or(usize::MAX);
    AmfLimits {
        bytes: table.max(bytes.len()),
        depth: 8,
        values: bytes.len(),
    }
}

/// A length of 32 bits.
pub(super) fn length(form: &'static str, what: &str, length: usize) -> Result<u32, EncodeError> {
    u32::try_from(length).map_err(|_| EncodeError::Unsupported {
        form,
        what: format!("{length} {what}"),
        reason: "its lengths have 32 bits; divide the table into several".to_owned(),
    })
}
