use super::bytes::FORM;
use super::{Mode, decode, encode};
use crate::{DecodeError, EncodeError, Encoding, Limits, Rows, Schema};

/// The packed encoding as one of the forms that a table can take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// What it aims at.
    pub mode: Mode,
}

impl Encoding for Packed {
    fn name(&self) -> &'static str {
        match self.mode {
            Mode::Packed => "packed",
            Mode::Small => "packed-small",
            Mode::Plain => "packed-plain",
            Mode::Link(_) => "packed-for-link",
        }
    }

    fn describes_itself(&self) -> bool {
        true
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        encode(rows, self.mode, out)
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let rows = decode(bytes, limits)?;
        match schema {
            Some(schema) if schema != rows.schema() => Err(DecodeError::Schema {
                form: FORM,
                reason: rows.schema().difference(schema),
            }),
            _ => Ok(rows),
        }
    }
}
