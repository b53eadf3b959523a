//! The crate from outside, by its public names, in one program.

mod arbitrary;
mod encoders;
mod externalizable;
mod golden;
mod hostile;
mod members;
mod numbering;
mod objects_blocks;
mod packet;
mod recordset;
mod recordset_blocks;
mod round_trip;
#[cfg(feature = "serde")]
mod sealed;
#[cfg(feature = "serde")]
mod typed;
#[cfg(feature = "serde")]
mod typed_any;
#[cfg(feature = "serde")]
mod typed_rows;
mod witness;
