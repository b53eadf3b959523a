#![doc = include_str!("../README.md")]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 11 | infer, structs | tables out of text and out of structs |
// | 10 | encoding, plan | the other forms of a table; which one for a link |
// | 9 | packed | the packed encoding |
// | 8 | arrow, database, form, record, rows_builder | what makes or takes a table: records, builders, databases, Arrow; the trait of a form |
// | 7 | rows, cursor (one circle) | the table, and a row of it |
// | 6 | cell_text, column_builder | a value as text, a column as it grows |
// | 5 | column | one column: values, nulls, kind |
// | 4 | slices, strings | the texts and bytes of a column |
// | 3 | ends, schema | where each text ends; names and kinds of columns |
// | 2 | compressor, error, lanes | bodies compressed in pieces; what went wrong; blocks of values as the kernels take them |
// | 1 | compression, kernels, kind, limits, null_texts, nulls, value | types of values, limits of decoders, loops over them, compressors |
// | 0 | shortened | texts as errors tell them back |

#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "text")]
mod cell_text;
mod column;
mod column_builder;
#[cfg(feature = "compression")]
mod compression;
#[cfg(feature = "compression")]
mod compressor;
mod cursor;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub mod database;
pub mod encoding;
mod ends;
mod error;
mod form;
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
mod shortened;
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
#[cfg(feature = "compression")]
pub use compressor::Compressor;
pub use cursor::{Cursor, Row};
pub use error::{DecodeError, EncodeError, ShapeError};
pub use form::Encoding;
pub use kind::{Kind, ParseKindError, Unit, Zone};
#[doc(hidden)]
pub use lanes::{Lane, Lanes};
pub use limits::Limits;
#[cfg(feature = "text")]
pub use null_texts::NullTexts;
pub use nulls::Nulls;
#[cfg(feature = "compression")]
pub use plan::Plan;
#[doc(hidden)]
pub use record::name_of_field;
pub use record::{Cell, Record};
pub use rows::Rows;
pub use rows_builder::RowsBuilder;
pub use schema::{Field, Schema};
pub use slices::Slices;
pub use strings::Strings;
#[cfg(feature = "serde")]
pub use structs::StructError;
pub use value::Value;
