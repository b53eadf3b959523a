#![doc = include_str!("../README.md")]

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "text")]
mod cell_text;
mod column;
mod column_builder;
#[cfg(feature = "compression")]
mod compression;
mod cursor;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub mod database;
pub mod encoding;
mod ends;
mod error;
#[cfg(feature = "text")]
pub mod infer;
mod kernels;
mod kind;
mod lanes;
mod limits;
#[cfg(feature = "text")]
mod null_texts;
mod nulls;
pub mod packed;
#[cfg(feature = "compression")]
mod plan;
mod record;
mod rows;
mod rows_builder;
mod schema;
mod slices;
mod strings;
#[cfg(feature = "serde")]
mod structs;
mod value;

pub use column::{Column, Element, Values};
pub use column_builder::ColumnBuilder;
#[cfg(feature = "compression")]
pub use compression::{
    Compressed, Compression, CompressionError, CompressionKind, decompress, decompressor,
};
pub use cursor::{Cursor, Row};
pub use encoding::Encoding;
pub use error::{DecodeError, EncodeError, ShapeError};
pub use kind::{Kind, ParseKindError, Unit, Zone};
#[doc(hidden)]
pub use lanes::{Lane, Lanes};
pub use limits::Limits;
#[cfg(feature = "text")]
pub use null_texts::NullTexts;
pub use nulls::Nulls;
#[cfg(feature = "compression")]
pub use plan::Plan;
pub use record::{Cell, Record};
pub use rows::Rows;
pub use rows_builder::RowsBuilder;
pub use schema::{Field, Schema};
pub use slices::Slices;
pub use strings::Strings;
#[cfg(feature = "serde")]
pub use structs::StructError;
pub use value::Value;
