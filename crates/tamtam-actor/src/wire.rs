//! Values as bytes, as they go over a link.

use core::cell::{Cell, RefCell};

use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tamtam_wait::nesting::{self, NestingError};

thread_local! {
    /// What was said of a failure last: postcard has no room for texts, and would say less.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Something is there: a look at this costs less.
    static HAS_SAID: Cell<bool> = const { Cell::new(false) };
}

/// What was said of a failure since this was asked last.
#[inline]
fn take_said() -> Option<String> {
    if HAS_SAID.take() { SAID.take() } else { None }
}

/// A number takes no more bytes.
const LONGEST_NUMBER: usize = 10;

/// Appends what postcard writes.
struct Appended<'a>(&'a mut Vec<u8>);

impl Flavor for Appended<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        if bytes.len() > LONGEST_NUMBER {
            self.0.extend_from_slice(bytes);
            return Ok(());
        }
        // A number was put together byte by byte just now: a processor waits for that if all of it is read at once, as a copy does.
        for &byte in bytes {
            self.0.push(byte);
        }
        Ok(())
    }

    #[inline]
    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// How messages and answers are written on a link. Both of its ends have to say the same.
///
/// A message has at most 128 levels of values in values: an optional one that is there, a list, a tuple, a map, a struct and an enum are a level
/// each. One that has more comes back as [`NotEncodable`](crate::Refusal::NotEncodable); from a program that sends it all the same it is not read.
///
/// # Examples
///
/// ```
/// use tamtam_actor::link::Encoding;
///
/// assert_eq!(Encoding::default().name(), "postcard");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// By [postcard](https://postcard.jamesmunns.com/wire-format.html): small and quick, for programs that have the same types.
    #[default]
    Postcard,
    /// As JSON, for programs that have no types of Rust, such as pages in a browser. A value is what serde makes of it: the variant
    /// `Add(3)` of an enum is `{"Add":3}`. An address is `{"$address":[0,5]}`, and a reply `{"$reply":7}`.
    #[cfg(feature = "json")]
    Json,
}

impl Encoding {
    /// What it is called, for people: `postcard`, `JSON`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Postcard => "postcard",
            #[cfg(feature = "json")]
            Encoding::Json => "JSON",
        }
    }

    /// Writes a value behind the bytes given.
    ///
    /// # Errors
    ///
    /// What the value's own `Serialize` says, or that it is nested too deep.
    #[doc(hidden)]
    pub fn encode<T: Serialize + ?Sized>(
        self,
        value: &T,
        bytes: &mut Vec<u8>,
    ) -> Result<(), String> {
        match self {
            Encoding::Postcard => encode(value, bytes),
            #[cfg(feature = "json")]
            Encoding::Json => nesting::serialize(value, &mut serde_json::Serializer::new(bytes))
                .map_err(|error| error.to_string()),
        }
    }

    /// Reads a value out of bytes that are its own.
    ///
    /// # Errors
    ///
    /// If the bytes are no such value, or more than that, or one that is nested too deep.
    #[doc(hidden)]
    pub fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, String> {
        match self {
            Encoding::Postcard => decode(bytes),
            #[cfg(feature = "json")]
            Encoding::Json => {
                let mut input = serde_json::Deserializer::from_slice(bytes);
                let value = nesting::deserialize(&mut input).map_err(|error| error.to_string())?;
                input.end().map_err(|error| error.to_string())?;
                Ok(value)
            }
        }
    }
}

/// Writes a value behind the bytes given, by postcard.
///
/// # Errors
///
/// What the value's own `Serialize` says, or that it is nested too deep.
pub fn encode<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) -> Result<(), String> {
    take_said();
    let before = bytes.len();
    let mut output = postcard::Serializer {
        output: Appended(bytes),
    };
    nesting::serialize(value, &mut output).map_err(|error| {
        bytes.truncate(before);
        in_words(error)
    })
}

/// Reads a value out of bytes that are its own, written by postcard.
///
/// # Errors
///
/// If the bytes are no such value, or more than that, or one that is nested too deep.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    take_said();
    let mut input = postcard::Deserializer::from_bytes(bytes);
    let value = nesting::deserialize(&mut input).map_err(in_words)?;
    match input.finalize() {
        Ok([]) => Ok(value),
        Ok(rest) => Err(format!("{} bytes are left over", rest.len())),
        Err(error) => Err(error.to_string()),
    }
}

/// What a failure of postcard says, or what was said of it.
fn in_words(error: NestingError<postcard::Error>) -> String {
    take_said().unwrap_or_else(|| error.to_string())
}

/// Keeps what is said of a failure for the one that encodes or decodes on this thread.
pub(crate) fn say(text: String) -> String {
    SAID.replace(Some(text.clone()));
    HAS_SAID.set(true);
    text
}
