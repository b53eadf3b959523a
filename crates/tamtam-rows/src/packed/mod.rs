//! The packed encoding: each column in the codec that suits its values, small without a compressor.
//!
//! The bytes are described in the guide, page "The packed encoding".
//!
//! ```
//! use tamtam_rows::packed::{self, Mode};
//! use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
//!
//! let schema = Schema::new([Field::new("slot", Kind::I16), Field::new("color", Kind::Text)])?;
//! let slots: Vec<i16> = (1..=1000).collect();
//! let colors = (0..1000).map(|slot| ["ff8800", "0088ff"][slot % 2]);
//! let rows = Rows::new(schema, [Column::from(slots), colors.collect()])?;
//!
//! let mut bytes = Vec::new();
//! packed::encode(&rows, Mode::Packed, &mut bytes)?;
//! assert!(bytes.len() < 1000 / 8 + 80); // a bit for each color, next to nothing for the slots
//! assert_eq!(packed::decode(&bytes, &Limits::default())?, rows);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bits;
mod bytes;
mod column;
mod encoding;
mod floats;
mod inspect;
mod integers;
mod layout;
mod marks;
mod mode;
mod reader;
mod texts;
mod view;
mod writer;

pub use encoding::Packed;
pub use inspect::{InspectedColumn, Inspection, inspect};
pub use layout::ROWS_PER_CHUNK;
pub use mode::Mode;
pub use reader::{Reader, decode};
pub use view::{InPlace, View, ViewChunk, ViewColumn};
pub use writer::{Writer, encode, encode_records};
