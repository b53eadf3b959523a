//! The packed encoding as a form beside the others.

use super::bytes::FORM;
use super::{Mode, decode, encode};
use crate::{DecodeError, EncodeError, Encoding, Limits, Rows, Schema};

/// The packed encoding as one of the forms that a table can take.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{Mode, Packed};
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U8)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_u8, 2])])?;
/// let form: &dyn Encoding = &Packed { mode: Mode::Packed }; // as one form among others
/// let mut bytes = Vec::new();
/// form.encode(&rows, &mut bytes)?;
/// assert_eq!(form.decode(&bytes, None, &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
