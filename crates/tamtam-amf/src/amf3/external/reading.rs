//! Reads what an externalizable class wrote.

use std::sync::Arc;

use super::flex::{HAS_NEXT, Members};
use super::{Externalizable, MAX_OWN_DEPTH, Own};
use crate::amf3::decoder::Decoder;
use crate::amf3::value::Value;
use crate::input::Input;
use crate::references::Tree;
use crate::{Cause, DecodeError};

/// The most bytes of flags of one class: two have members.
const MOST_FLAG_BYTES: usize = 4;

/// Which members are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    members: Members,
    /// Classes whose flags were read.
    level: usize,
    bytes: [u8; MOST_FLAG_BYTES],
    count: usize,
    /// The bit to look at next, over all bytes.
    next: usize,
}

impl Flags {
    pub(crate) fn new(members: Members) -> Self {
        Self {
            members,
            level: usize::from(members.implied),
            bytes: [1, 0, 0, 0],
            count: usize::from(members.implied),
            next: 0,
        }
    }

    /// The name of the next member.
    pub(crate) fn next_name(
        &mut self,
        input: &mut Input<'_>,
    ) -> Result<Option<&'static str>, DecodeError> {
        loop {
            while self.next < 8 * self.count {
                let (byte, bit) = (self.next / 8, self.next % 8);
                self.next += 1;
                let flags = self.bytes[byte] & !HAS_NEXT;
                if flags >> bit & 1 == 0 {
                    continue;
                }
                let names = self.members.levels[self.level - 1].get(byte);
                return match names.and_then(|names| names.get(bit)) {
                    Some(name) => Ok(Some(name)),
                    None => input.error(Cause::Flag { byte, bit }),
                };
            }
            if self.level == self.members.levels.len() {
                return Ok(None);
            }
            self.read_flags(input)?;
        }
    }

    fn read_flags(&mut self, input: &mut Input<'_>) -> Result<(), DecodeError> {
        let start = input.position();
        self.level += 1;
        self.next = 0;
        self.count = 0;
        loop {
            let flags = input.byte()?;
            let Some(place) = self.bytes.get_mut(self.count) else {
                let (byte, bit) = (self.count, 0);
                return Input::error_at(start, Cause::Flag { byte, bit });
            };
            *place = flags;
            self.count += 1;
            if flags & HAS_NEXT == 0 {
                return Ok(());
            }
        }
    }
}

/// What a class of one's own reads an object from: bytes and values, in the order in which they were written. What
/// it is to keep gets a name, and becomes a member of an [`Externalizable`].
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Classes, Decoder, Value};
///
/// // writeUTF("red"), writeDouble(0.5), writeObject(null)
/// let bytes = b"\x0a\x07\x0bPaint\0\x03red\x3f\xe0\0\0\0\0\0\0\x01";
/// let classes = Classes::none().with(
///     "Paint",
///     |input| {
///         let colour = input.text()?;
///         input.set("colour", colour.into())?;
///         let opacity = f64::from_be_bytes(input.array()?);
///         if !(0.0..=1.0).contains(&opacity) {
///             return Err(input.refuse("an opacity is from 0 to 1"));
///         }
///         input.set("opacity", opacity.into())?;
///         input.value("next")
///     },
///     |_, _| unreachable!("this program does not write any"),
/// );
/// let paint = Decoder::new(bytes, Default::default()).with_classes(&classes).value()?;
/// assert_eq!(paint.get("colour"), Some(&"red".into()));
/// assert_eq!(paint.get("next"), Some(&Value::Null));
/// # Ok::<(), tamtam_amf::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct ExternalInput<'d, 'a> {
    decoder: &'d mut Decoder<'a>,
    object: Externalizable,
}

impl<'a> ExternalInput<'_, 'a> {
    /// So many bytes as they are.
    ///
    /// # Errors
    ///
    /// There are fewer.
    pub fn raw(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        self.decoder.input.take(count)
    }

    /// Bytes of a number, the highest first, for instance for [`i32::from_be_bytes`].
    ///
    /// # Errors
    ///
    /// There are fewer.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        self.decoder.input.array()
    }

    /// A text with its length in two bytes, as `writeUTF` writes it.
    ///
    /// # Errors
    ///
    /// There are fewer bytes; they are not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, DecodeError> {
        let length = self.decoder.input.u16()?;
        self.decoder.input.text(usize::from(length))
    }

    /// Reads a value of AMF3, as `writeObject` writes it, and keeps it by this name.
    ///
    /// # Errors
    ///
    /// What is not AMF3, and what exceeds the limits.
    pub fn value(&mut self, name: &str) -> Result<(), DecodeError> {
        let value = self.decoder.tree()?;
        self.object.members.push((name.into(), value));
        Ok(())
    }

    /// What was kept by this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.object.get(name)
    }

    /// Keeps a value that was made of bytes by this name: a number, a text, a boolean, null or undefined. All others
    /// have a place in the table of references, and so have to be read.
    ///
    /// # Errors
    ///
    /// A value that has to be read.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), DecodeError> {
        if value.is_numbered(true) || value.reference().is_some() {
            return Err(self.refuse("only numbers, texts, booleans, null and undefined are set"));
        }
        self.object.members.push((name.into(), value));
        Ok(())
    }

    /// An error that says at this place what is wrong.
    #[must_use]
    pub fn refuse(&self, reason: &str) -> DecodeError {
        DecodeError {
            position: self.decoder.position(),
            cause: Cause::Refused {
                class: self.object.class.to_string(),
                reason: reason.into(),
            },
        }
    }
}

impl Decoder<'_> {
    /// Has a class read its object.
    pub(crate) fn read_own(&mut self, class: &str, own: &Arc<Own>) -> Result<(), DecodeError> {
        if self.own_depth == MAX_OWN_DEPTH {
            let limit = MAX_OWN_DEPTH;
            return Input::error_at(self.started, Cause::TooDeep { limit });
        }
        self.own_depth += 1;
        let mut input = ExternalInput {
            object: Externalizable {
                class: class.into(),
                members: Vec::new(),
            },
            decoder: self,
        };
        (own.read)(&mut input)?;
        let object = input.object;
        self.own_depth -= 1;
        self.taken = Some(Box::new(object));
        Ok(())
    }
}
