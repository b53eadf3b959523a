//! The packed encoding in a mode, as a form of the experiment.

use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{Limits, Rows, Schema};

use super::Form;

/// The packed encoding in a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedIn(pub Mode);

impl Form for PackedIn {
    type Source = Rows;
    type Decoded<'a> = Rows;

    fn source(&self, rows: &Rows) -> Result<Rows, String> {
        Ok(rows.clone())
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), String> {
        packed::encode(rows, self.0, out).map_err(|error| error.to_string())
    }

    fn decode(&self, bytes: &[u8], _schema: &Schema) -> Result<Rows, String> {
        packed::decode(bytes, &Limits::NONE).map_err(|error| error.to_string())
    }

    fn rows(&self, rows: Rows, _schema: &Schema) -> Result<Rows, String> {
        Ok(rows)
    }
}
