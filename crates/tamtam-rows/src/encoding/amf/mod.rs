//! The forms of Flash and Flex: a table as the Action Message Format of Adobe has it, in three shapes.

mod amf0_objects;
mod amf0_recordset;
mod amf3_objects;
mod cell;
mod failure;
mod plain;

pub use amf0_objects::Amf0Objects;
pub use amf0_recordset::Amf0RecordSet;
pub use amf3_objects::Amf3Objects;
