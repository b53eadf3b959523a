//! Why a Rust value could not be made of AMF, or the other way round.

use std::fmt::Display;

use serde::{de, ser};
use thiserror::Error;

use crate::packet::PacketDecodeError;
use crate::{DecodeError, EncodeError};

/// Why a Rust value could not be made of bytes.
///
/// # Examples
///
/// ```
/// use tamtam_amf::typed::{DeserializeError, from_amf0};
///
/// let error = from_amf0::<bool>(b"\x05", Default::default()).unwrap_err();
/// assert!(matches!(error, DeserializeError::Type { position: 1, .. }));
/// assert_eq!(error.to_string(), "at byte 1: invalid type: unit value, expected a boolean");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeserializeError {
    /// The bytes are not AMF, or exceed the limits.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The bytes are not a packet, or exceed the limits.
    #[error(transparent)]
    Packet(#[from] PacketDecodeError),
    /// The type is not made of such a value.
    #[error("at byte {position}: {message}")]
    Type {
        /// How far the bytes were read.
        position: usize,
        /// What the type says.
        message: String,
    },
}

/// A [`DeserializeError`] on its way, a pointer: what is handed back with each value stays small, and that is mostly a value.
#[derive(Debug, Error)]
#[error(transparent)]
pub(super) struct Failure(Box<DeserializeError>);

impl Failure {
    /// What it is, with the place where that is not known.
    pub(super) fn at(self, place: usize) -> DeserializeError {
        match *self.0 {
            DeserializeError::Type {
                position: 0,
                message,
            } => DeserializeError::Type {
                position: place,
                message,
            },
            known => known,
        }
    }
}

impl From<DecodeError> for Failure {
    #[cold]
    fn from(error: DecodeError) -> Self {
        Self(Box::new(error.into()))
    }
}

impl de::Error for Failure {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        Self(Box::new(de::Error::custom(message)))
    }
}

impl de::Error for DeserializeError {
    fn custom<T: Display>(message: T) -> Self {
        DeserializeError::Type {
            position: 0,
            message: message.to_string(),
        }
    }
}

/// Why a Rust value was not written.
///
/// # Examples
///
/// ```
/// use tamtam_amf::typed::{SerializeError, to_amf3};
///
/// let number = "9007199254740993".to_owned();
/// assert_eq!(to_amf3(&(1_u64 << 53 | 1)), Err(SerializeError::Inexact { number }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SerializeError {
    /// The format refuses it.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// An integer that a double cannot tell from its neighbours.
    #[error("the integer {number} has more bits than the numbers of AMF: write it as a text")]
    Inexact {
        /// The integer, of up to 128 bits with a sign or without, in decimal.
        number: String,
    },
    /// A sequence whose length is not known before its values.
    #[error(
        "a sequence says its length before its values in AMF, and this one does not know it: collect it first"
    )]
    UnknownLength,
    /// A key that is no text, and no number or boolean that could be one.
    #[error("a key of a map is a text in AMF, and this one is none")]
    Key,
    /// A struct that has other members than the moment before.
    #[error("a struct has named other members the second time it was asked")]
    Members,
    /// What the type says.
    #[error("{0}")]
    Type(String),
}

impl ser::Error for SerializeError {
    fn custom<T: Display>(message: T) -> Self {
        SerializeError::Type(message.to_string())
    }
}
