//! The forms that a table can take as bytes, one file each, behind one trait.

#[cfg(feature = "amf")]
mod amf;
#[cfg(feature = "arrow")]
mod arrow_ipc;
#[cfg(feature = "arrow")]
mod expected;
#[cfg(feature = "arrow")]
mod guarded;
#[cfg(feature = "text")]
pub(crate) mod inlet;
#[cfg(feature = "text")]
mod intake;
#[cfg(feature = "json")]
pub(crate) mod json;
#[cfg(feature = "json")]
mod json_arrays;
#[cfg(feature = "json")]
pub(crate) mod json_blocks;
#[cfg(feature = "json")]
mod json_columns;
#[cfg(feature = "json")]
mod json_objects;
#[cfg(feature = "json")]
mod json_reader;
#[cfg(feature = "message-pack")]
mod message_pack;
#[cfg(any(feature = "amf", feature = "json", feature = "xml-rpc"))]
mod names;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "text")]
mod short_cell;
#[cfg(feature = "text")]
pub(crate) mod text;
#[cfg(feature = "text")]
pub(crate) mod text_blocks;
#[cfg(feature = "text")]
mod text_reader;
#[cfg(feature = "text")]
mod text_writer;
#[cfg(feature = "xml-rpc")]
mod xml_rpc;

#[cfg(feature = "amf")]
pub use amf::{Amf0Objects, Amf0RecordSet, Amf3Objects};
#[cfg(feature = "arrow")]
pub use arrow_ipc::ArrowIpc;
#[cfg(feature = "json")]
pub use json_arrays::JsonArrays;
#[cfg(feature = "json")]
pub use json_columns::JsonColumns;
#[cfg(feature = "json")]
pub use json_objects::JsonObjects;
#[cfg(feature = "json")]
pub use json_reader::JsonReader;
#[cfg(feature = "message-pack")]
pub use message_pack::MessagePack;
#[cfg(feature = "parquet")]
pub use parquet::{Parquet, ParquetReader, ParquetWriter};
#[cfg(feature = "text")]
pub use text::Text;
#[cfg(feature = "text")]
pub use text_reader::TextReader;
#[cfg(feature = "xml-rpc")]
pub use xml_rpc::XmlRpc;

pub use crate::form::Encoding;
use crate::packed::{Mode, Packed};

/// The form of this name, if it is compiled in.
pub fn find(name: &str) -> Option<&'static dyn Encoding> {
    all().find(|encoding| encoding.name() == name)
}

/// Each form that is compiled in.
pub fn all() -> impl Iterator<Item = &'static dyn Encoding> {
    ALL.iter().copied()
}

static ALL: &[&dyn Encoding] = &[
    &Packed { mode: Mode::Packed },
    &Packed { mode: Mode::Small },
    &Packed { mode: Mode::Plain },
    #[cfg(feature = "amf")]
    &Amf0Objects::TYPED,
    #[cfg(feature = "amf")]
    &Amf0Objects::TEXTS,
    #[cfg(feature = "amf")]
    &Amf0RecordSet,
    #[cfg(feature = "amf")]
    &Amf3Objects,
    #[cfg(feature = "arrow")]
    &ArrowIpc::PLAIN,
    #[cfg(feature = "arrow")]
    &ArrowIpc::ZSTD,
    #[cfg(feature = "text")]
    &Text::HEADED,
    #[cfg(feature = "text")]
    &Text::BARE,
    #[cfg(feature = "json")]
    &JsonArrays,
    #[cfg(feature = "json")]
    &JsonObjects,
    #[cfg(feature = "json")]
    &JsonColumns,
    #[cfg(feature = "message-pack")]
    &MessagePack,
    #[cfg(feature = "xml-rpc")]
    &XmlRpc,
    #[cfg(feature = "parquet")]
    &Parquet::PLAIN,
    #[cfg(feature = "parquet")]
    &Parquet::ZSTD,
];
