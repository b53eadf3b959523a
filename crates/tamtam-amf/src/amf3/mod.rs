//! AMF3, the format of Flash 9: integers of variable length, and references to texts, values and classes.
//!
//! [`encode`] and [`decode`] translate a [`Value`], a tree. [`Encoder`] writes and [`Decoder`] reads item by item,
//! without a tree. Both know all types of the *AMF 3 Specification* of Adobe Systems (January 2013). Objects whose
//! class writes itself ([externalizable](Externalizable) ones) are known of the [classes](Classes) of Flex and of those that a
//! program adds; any other is an error that names the class.

#[cfg(feature = "serde")]
mod alike;
mod decoder;
mod define;
mod encoder;
mod event;
mod external;
mod integer;
mod marker;
mod sealed;
#[cfg(feature = "serde")]
mod shortcuts;
mod tables;
mod traits;
mod tree;
mod value;
mod vectors;

pub use decoder::Decoder;
pub use encoder::Encoder;
pub use event::Event;
pub use external::{Classes, ExternalInput, Externalizable, MAX_OWN_DEPTH};
pub use integer::{MAX_INTEGER, MIN_INTEGER};
pub use traits::{Traits, TraitsId};
pub use tree::{decode, encode};
pub use value::{Array, Dictionary, Object, Properties, Value, Vector};

#[cfg(feature = "serde")]
pub(crate) use alike::Alike;
#[cfg(feature = "serde")]
pub(crate) use external::is_collection;
#[cfg(feature = "serde")]
pub(crate) use sealed::SealedAhead;
pub(crate) use tables::Tables;
pub(crate) use tree::{References, resolve};
