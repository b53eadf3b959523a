//! Values as bytes, as they go over a link.

use core::cell::RefCell;

use serde::Serialize;
use serde::de::DeserializeOwned;

thread_local! {
    /// What was said of a failure last: the format has no room for texts, and would say less.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Writes a value behind the bytes given.
///
/// # Errors
///
/// What the value's own `Serialize` says.
pub fn encode<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) -> Result<(), String> {
    SAID.take();
    let taken = core::mem::take(bytes);
    match postcard::to_extend(value, taken) {
        Ok(written) => {
            *bytes = written;
            Ok(())
        }
        Err(error) => Err(SAID.take().unwrap_or_else(|| error.to_string())),
    }
}

/// Reads a value out of bytes that are its own.
///
/// # Errors
///
/// If the bytes are no such value, or more than that.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    SAID.take();
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{} bytes are left over", rest.len())),
        Err(error) => Err(SAID.take().unwrap_or_else(|| error.to_string())),
    }
}

/// Keeps what is said of a failure for the one that encodes or decodes on this thread.
pub(crate) fn say(text: String) -> String {
    SAID.replace(Some(text.clone()));
    text
}
