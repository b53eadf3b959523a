//! Tables to and from the record batches of [Apache Arrow](https://arrow.apache.org).
//!
//! | type of a column | Arrow's type |
//! |---|---|
//! | `bool`, integers, floats | the same |
//! | `decimal(p,s)` | `Decimal128(p, s)` |
//! | `date` | `Date32` |
//! | `time` | `Time32` in seconds and milliseconds, `Time64` in finer units; only values within one day |
//! | `timestamp` | `Timestamp`: without a zone, in `UTC`, or in a named one |
//! | `uuid` | `FixedSizeBinary(16)` with the extension name `arrow.uuid` |
//! | `text`, `bytes` | `Utf8`, `Binary`; `LargeUtf8`, `LargeBinary` for a column above 2 GiB |
//!
//! What is read, besides: `LargeUtf8`, `Utf8View`, `LargeBinary`, `BinaryView` and `FixedSizeBinary` of any width,
//! columns encoded with a dictionary, `Float16`, `Date64` of whole days, and `Decimal32` and `Decimal64`. Of any other
//! type (lists, structs, durations, ...) the error names the column. A zone called `UTC` comes back as
//! [`Zone::Utc`](crate::Zone::Utc).
//!
//! ```
//! use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
//!
//! let schema = Schema::new([Field::new("slot", Kind::U16), Field::nullable("color", Kind::Text)])?;
//! let rows = Rows::new(schema, [Column::from(vec![1_u16, 2]), Column::from_iter([Some("ff8800"), None])])?;
//!
//! let batch = rows.to_record_batch()?;
//! assert_eq!(batch.column(0).len(), 2);
//! assert_eq!(Rows::from_record_batch(&batch, &Limits::default())?, rows);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrays;
mod gathering;
mod types;

pub use types::{schema_from_arrow, schema_to_arrow};

pub(crate) use gathering::Gathering;
#[cfg(feature = "parquet")]
pub(crate) use types::{schema_from, uuid_metadata};

/// The crates whose types are taken and given here.
pub use {arrow_array, arrow_schema};
