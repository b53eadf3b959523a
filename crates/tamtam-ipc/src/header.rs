//! What a segment begins with: what it is, and which processes have it.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::error::AttachError;
use crate::party::Parties;

/// `tamtam`, and two bytes that no text has.
const MAGIC: u64 = u64::from_le_bytes(*b"tamtam\xF7\x01");
/// The layout of segments that this version writes and reads.
pub(crate) const LAYOUT: u32 = 7;
/// So much of a type's name is kept.
const NAME_BYTES: usize = 256;

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Carrier = 1,
    Channel = 2,
    Slot = 3,
    Property = 4,
    Event = 5,
    Mutex = 6,
    Bytes = 7,
    Properties = 8,
    Condition = 9,
    Arena = 10,
}

impl Kind {
    pub(crate) fn name(number: u32) -> &'static str {
        match number {
            1 => "a link's carrier",
            2 => "a channel",
            3 => "a slot",
            4 => "a property",
            5 => "an event",
            6 => "a mutex",
            7 => "bytes",
            8 => "named properties",
            9 => "a condition",
            10 => "an arena",
            _ => "something unknown",
        }
    }
}

/// What lies in a segment, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Of one message, in bytes; for messages of any length the longest.
    pub(crate) size: u64,
    pub(crate) align: u32,
    /// How many of them; `0` in what one expects if any number will do.
    pub(crate) capacity: u64,
    /// The type's name, for an error.
    pub(crate) name: String,
}

impl Shape {
    /// Of so many values of a type.
    pub(crate) fn of<T>(capacity: u64) -> Self {
        Shape {
            size: size_of::<T>() as u64,
            align: align_of::<T>() as u32,
            capacity,
            name: short_name(core::any::type_name::<T>()),
        }
    }
}

/// A type's name without the modules that it lies in: two programs may have it from different ones.
fn short_name(name: &str) -> String {
    let mut short = String::new();
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_alphanumeric() || letter == '_' {
            word.push(letter);
        } else if letter == ':' {
            word.clear();
        } else {
            short.push_str(&word);
            word.clear();
            short.push(letter);
        }
    }
    short.push_str(&word);
    short
}

/// What a label takes, at the beginning of a segment or of a region.
pub(crate) const LABEL_BYTES: usize = size_of::<Label>();

/// What lies behind it.
#[repr(C, align(128))]
#[derive(Debug)]
pub(crate) struct Label {
    magic: AtomicU64,
    layout: AtomicU32,
    kind: AtomicU32,
    size: AtomicU64,
    capacity: AtomicU64,
    bytes: AtomicU64,
    align: AtomicU32,
    name_len: AtomicU32,
    name: [AtomicU8; NAME_BYTES],
}

/// The first page of a segment.
#[repr(C, align(4096))]
#[derive(Debug)]
pub(crate) struct Header {
    label: Label,
    parties: Parties,
}

const _: () = assert!(size_of::<Header>() == Header::BYTES);

impl Label {
    pub(crate) fn write(&self, kind: Kind, shape: Shape, bytes: u64) {
        let relaxed = Ordering::Relaxed;
        self.layout.store(LAYOUT, relaxed);
        self.kind.store(kind as u32, relaxed);
        self.size.store(shape.size, relaxed);
        self.align.store(shape.align, relaxed);
        self.capacity.store(shape.capacity, relaxed);
        self.bytes.store(bytes, relaxed);
        let name = shape.name.as_bytes();
        let name = &name[..name.len().min(NAME_BYTES)];
        for (place, byte) in self.name.iter().zip(name) {
            place.store(*byte, relaxed);
        }
        self.name_len.store(name.len() as u32, relaxed);
        // It goes to other processes by a system call, which is a barrier, too.
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// Whether it is this; with how many bytes, as it says.
    pub(crate) fn check(&self, kind: Kind, shape: &Shape) -> Result<u64, AttachError> {
        if self.magic.load(Ordering::Acquire) != MAGIC {
            return Err(AttachError::NotOurs);
        }
        let layout = self.layout.load(Ordering::Relaxed);
        if layout != LAYOUT {
            return Err(AttachError::Layout {
                theirs: layout,
                ours: LAYOUT,
            });
        }
        let found = self.kind.load(Ordering::Relaxed);
        if found != kind as u32 {
            return Err(AttachError::Kind {
                theirs: Kind::name(found),
                ours: Kind::name(kind as u32),
            });
        }
        let theirs = self.shape();
        let is_alike = theirs.size == shape.size
            && theirs.align == shape.align
            && theirs
                .name
                .as_bytes()
                .iter()
                .eq(shape.name.as_bytes().iter().take(NAME_BYTES));
        let is_as_large = shape.capacity == 0 || shape.capacity == theirs.capacity;
        if !is_alike || !is_as_large {
            return Err(AttachError::Shape {
                theirs: described(&theirs),
                ours: described(shape),
            });
        }
        Ok(self.bytes.load(Ordering::Relaxed))
    }

    /// What it says lies behind it. Another process may have written what it likes.
    pub(crate) fn shape(&self) -> Shape {
        let relaxed = Ordering::Relaxed;
        let len = (self.name_len.load(relaxed) as usize).min(NAME_BYTES);
        let name: Vec<u8> = self.name[..len]
            .iter()
            .map(|byte| byte.load(relaxed))
            .collect();
        Shape {
            size: self.size.load(relaxed),
            align: self.align.load(relaxed),
            capacity: self.capacity.load(relaxed),
            name: String::from_utf8_lossy(&name).into_owned(),
        }
    }
}

impl Header {
    /// How much of a segment it takes.
    pub(crate) const BYTES: usize = 4096;

    pub(crate) fn write(&self, kind: Kind, shape: Shape, bytes: u64) {
        self.label.write(kind, shape, bytes);
    }

    /// Whether it is this, in a segment with so many bytes behind the header.
    pub(crate) fn check(&self, kind: Kind, shape: &Shape, bytes: u64) -> Result<(), AttachError> {
        if self.label.check(kind, shape)? != bytes {
            return Err(AttachError::NotOurs);
        }
        Ok(())
    }

    /// What it says lies in the segment.
    pub(crate) fn shape(&self) -> Shape {
        self.label.shape()
    }

    pub(crate) fn parties(&self) -> &Parties {
        &self.parties
    }
}

fn described(shape: &Shape) -> String {
    let Shape {
        size,
        align,
        capacity,
        name,
    } = shape;
    match capacity {
        0 => format!("{name} ({size} bytes, aligned to {align})"),
        _ => format!("{capacity} of {name} ({size} bytes, aligned to {align})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_without_its_modules() {
        assert_eq!(short_name("u64"), "u64");
        assert_eq!(short_name("a_b::c::Pixel"), "Pixel");
        assert_eq!(
            short_name("[core::option::Option<crate_1::Pair<u8, x::Y>>; 4]"),
            "[Option<Pair<u8, Y>>; 4]"
        );
        assert_eq!(
            short_name(core::any::type_name::<Option<Vec<u8>>>()),
            "Option<Vec<u8>>"
        );
    }
}
