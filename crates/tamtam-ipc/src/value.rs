//! What a name stands for among [`Properties`](crate::Properties), and how it lies in memory.

/// A value that a name stands for among [`Properties`](crate::Properties).
///
/// # Examples
///
/// ```
/// use tamtam_ipc::Value;
///
/// assert_eq!(Value::from("hello"), Value::Text("hello".to_owned()));
/// assert_eq!(Value::from(5_i64), Value::Integer(5));
/// assert_eq!(Value::from(true).to_string(), "true");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// What lies in an arena, and is not copied: a mutex, shared bytes, or an end of a channel.
    Shared(Reference),
}

impl Value {
    /// What it is, for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Bool(_) => "a truth value",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::Bytes(_) => "bytes by value",
            Value::Shared(reference) => reference.kind.name(),
        }
    }
}

/// What a name refers to that lies in an [`Arena`](crate::Arena): [`Properties::get_shared`](crate::Properties::get_shared) gets at it.
///
/// It says where the thing is, and keeps nothing. It takes 32 bytes of a value's room.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Arena, Properties, Value};
///
/// let arena = Arena::create(1 << 16)?;
/// let settings = Properties::create(10, 32)?.with_arena(&arena);
/// settings.set_shared("count", &arena.mutex(5_u64)?)?;
/// let Some(Value::Shared(reference)) = settings.get("count") else { panic!() };
/// assert_eq!(reference.to_string(), "a mutex");
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    pub(crate) kind: ReferenceKind,
    /// What tells the arena's memory from that of others: device, and number there.
    pub(crate) arena: (u64, u64),
    pub(crate) offset: u64,
    pub(crate) generation: u64,
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.name())
    }
}

/// What a reference is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    Mutex,
    Bytes,
    Sender,
    Receiver,
}

impl ReferenceKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ReferenceKind::Mutex => "a mutex",
            ReferenceKind::Bytes => "shared bytes",
            ReferenceKind::Sender => "a channel's sender",
            ReferenceKind::Receiver => "a channel's receiver",
        }
    }

    /// The byte that stands for it in a record.
    fn byte(self) -> u8 {
        match self {
            ReferenceKind::Mutex => 6,
            ReferenceKind::Bytes => 7,
            ReferenceKind::Sender => 8,
            ReferenceKind::Receiver => 9,
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        let all = [Self::Mutex, Self::Bytes, Self::Sender, Self::Receiver];
        all.into_iter().find(|kind| kind.byte() == byte)
    }
}

/// How long a reference is in a record: device, number, offset, generation.
const REFERENCE_BYTES: usize = 32;

impl Reference {
    fn encode(&self) -> [u8; REFERENCE_BYTES] {
        let (device, number) = self.arena;
        let words = [device, number, self.offset, self.generation];
        let mut bytes = [0; REFERENCE_BYTES];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// `None` for another length.
    fn decode(kind: ReferenceKind, bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; REFERENCE_BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| {
            let word = bytes.get(8 * at..8 * at + 8)?;
            Some(u64::from_le_bytes(word.try_into().ok()?))
        };
        Some(Reference {
            kind,
            arena: (word(0)?, word(1)?),
            offset: word(2)?,
            generation: word(3)?,
        })
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Bool(value) => value.fmt(f),
            Value::Integer(value) => value.fmt(f),
            Value::Float(value) => value.fmt(f),
            Value::Text(value) => value.fmt(f),
            Value::Bytes(value) => write!(f, "{} bytes", value.len()),
            Value::Shared(reference) => reference.fmt(f),
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident),*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        }
    )*};
}

from!(bool => Bool, i64 => Integer, i32 => Integer, u32 => Integer, f64 => Float, &str => Text, String => Text, &[u8] => Bytes, Vec<u8> => Bytes);

/// A name has so many bytes at most.
pub(crate) const LONGEST_NAME: usize = 112;
/// What stands before the value: version, kind, the name's length, two bytes of nothing, the value's length, the name.
pub(crate) const HEAD: usize = 16 + LONGEST_NAME;

/// What stands for the kind of a value where there is none.
const NOTHING: u8 = 0;

/// A name and its value, as they lie in a buffer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// Among all that were ever written here.
    pub(crate) version: u64,
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl Record {
    /// The bytes of a value.
    pub(crate) fn value_len(value: &Value) -> usize {
        match value {
            Value::Bool(_) => 1,
            Value::Integer(_) | Value::Float(_) => 8,
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Shared(_) => REFERENCE_BYTES,
        }
    }

    /// What lies in a buffer where no name has a value.
    pub(crate) fn nothing() -> Vec<u8> {
        vec![0; HEAD]
    }

    /// The name and the value fit, as was seen before.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Self::nothing();
        let (kind, value): (u8, &[u8]) = match &self.value {
            Value::Bool(value) => (1, if *value { &[1] } else { &[0] }),
            Value::Integer(value) => (2, &value.to_le_bytes()),
            Value::Float(value) => (3, &value.to_le_bytes()),
            Value::Text(text) => (4, text.as_bytes()),
            Value::Bytes(value) => (5, value),
            Value::Shared(reference) => (reference.kind.byte(), &reference.encode()),
        };
        bytes[..8].copy_from_slice(&self.version.to_le_bytes());
        bytes[8] = kind;
        bytes[9] = self.name.len() as u8;
        bytes[12..16].copy_from_slice(&(value.len() as u32).to_le_bytes());
        bytes[16..16 + self.name.len()].copy_from_slice(self.name.as_bytes());
        bytes.extend_from_slice(value);
        bytes
    }

    /// How many bytes of value stand behind this head; as many as another process has written there.
    pub(crate) fn value_len_in(head: &[u8; HEAD]) -> usize {
        let len = head[12..16].try_into().map_or(0, u32::from_le_bytes);
        len as usize
    }

    /// Whether a name has a value behind this head, or another process has written nonsense there.
    pub(crate) fn is_in(head: &[u8; HEAD]) -> bool {
        head[8] != NOTHING
    }

    /// `None` if no name has a value there, or another process has written nonsense.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let version = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
        let name = bytes.get(16..HEAD)?.get(..usize::from(bytes[9]))?;
        let value = bytes.get(HEAD..)?;
        let value = match bytes[8] {
            1 => Value::Bool(*value.first()? != 0),
            2 => Value::Integer(i64::from_le_bytes(value.try_into().ok()?)),
            3 => Value::Float(f64::from_le_bytes(value.try_into().ok()?)),
            4 => Value::Text(String::from_utf8(value.to_vec()).ok()?),
            5 => Value::Bytes(value.to_vec()),
            kind => {
                let kind = ReferenceKind::of_byte(kind)?;
                Value::Shared(Reference::decode(kind, value)?)
            }
        };
        Some(Record {
            version,
            name: String::from_utf8(name.to_vec()).ok()?,
            value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_comes_back_and_nonsense_is_none() {
        let values = [
            Value::Bool(true),
            Value::Integer(-5),
            Value::Float(1.5),
            Value::from("grüße"),
            Value::from(vec![0_u8; 300]),
            Value::Shared(Reference {
                kind: ReferenceKind::Mutex,
                arena: (1, 2),
                offset: u64::MAX,
                generation: 3,
            }),
        ];
        for value in values {
            let record = Record {
                version: 7,
                name: "n".repeat(LONGEST_NAME),
                value,
            };
            let bytes = record.encode();
            assert_eq!(bytes.len(), HEAD + Record::value_len(&record.value));
            let head = bytes[..HEAD].try_into().unwrap();
            assert_eq!(Record::value_len_in(head), Record::value_len(&record.value));
            assert!(Record::is_in(head));
            assert_eq!(Record::decode(&bytes), Some(record));
            for (at, byte) in [(8, 0), (8, 10), (9, 113), (16, 0xFF)] {
                let mut bytes = bytes.clone();
                bytes[at] = byte;
                assert_eq!(Record::decode(&bytes), None, "{at}");
            }
            for len in 0..HEAD {
                assert_eq!(Record::decode(&bytes[..len]), None);
            }
        }
        let nothing = Record::nothing();
        assert_eq!(Record::decode(&nothing), None);
        assert!(!Record::is_in(nothing[..].try_into().unwrap()));
    }
}
