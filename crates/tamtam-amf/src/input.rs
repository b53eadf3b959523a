//! The bytes that a decoder reads, with an account of what it owes and may still use.

use crate::weight::Weight;
use crate::{Cause, DecodeError, Limits, MAX_DEPTH};

/// A place in the input, and what has been used of the limits until there. It is copied to hand over between the
/// decoders of both formats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    position: usize,
    limits: Limits,
    /// Values read.
    values: usize,
    /// Bytes that references repeated.
    repeated: usize,
    #[cfg(feature = "serde")]
    names: CopiedNames,
    /// Values that open containers announced and that are not read yet. Each takes a byte at least, so announced
    /// lengths are refused that the rest of the input cannot pay, and what is reserved for them stays in proportion
    /// to the input, however deeply they are nested.
    owed: usize,
    /// Containers that are open.
    depth: usize,
}

/// The names that were copied into maps. A class writes those of its members once, and each of its objects has them.
#[cfg(feature = "serde")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedNames {
    bytes: usize,
    limit: usize,
}

#[cfg(feature = "serde")]
impl CopiedNames {
    /// Counts one of so many bytes.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Cause> {
        let limit = self.limit;
        if bytes > limit.saturating_sub(self.bytes) {
            return Err(Cause::Repeated { limit });
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: Limits) -> Self {
        Self {
            bytes,
            position: 0,
            limits,
            values: 0,
            repeated: 0,
            #[cfg(feature = "serde")]
            names: CopiedNames {
                bytes: 0,
                limit: limits.bytes,
            },
            owed: 0,
            depth: 0,
        }
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// Goes back to where no container was open. What was read from there on still counts.
    pub(crate) fn go_back(&mut self, position: usize) {
        self.position = position;
        self.owed = 0;
        self.depth = 0;
    }

    /// What is left to read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.position..]
    }

    /// Goes over bytes of the [`rest`](Self::rest), of which so many values were taken that were announced.
    #[inline]
    pub(crate) fn advance(&mut self, bytes: usize, values: usize) {
        self.position += bytes;
        self.owed -= values;
        self.values += values;
    }

    /// Goes over bytes of the [`rest`](Self::rest) that are no value.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.position += bytes;
    }

    /// Whether a value that was not announced is within the limits.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn admits_one(&self) -> bool {
        self.bytes.len() <= self.limits.bytes && self.values < self.limits.values
    }

    /// How many values that were not announced are within the limits.
    #[inline]
    pub(crate) fn admitted(&self) -> usize {
        match self.bytes.len() <= self.limits.bytes {
            true => self.limits.values.saturating_sub(self.values),
            false => 0,
        }
    }

    /// Goes over bytes of the [`rest`](Self::rest), of which so many values were taken that were not announced.
    #[inline]
    pub(crate) fn advance_by(&mut self, bytes: usize, values: usize) {
        self.position += bytes;
        self.values += values;
    }

    /// Goes over a value of the [`rest`](Self::rest) that was not announced.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn advance_one(&mut self, bytes: usize) {
        self.position += bytes;
        self.values += 1;
    }

    /// Goes over a value of the [`rest`](Self::rest), if it was announced or is within the limits.
    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize, announced: bool) -> bool {
        if announced {
            self.advance(bytes, 1);
            return true;
        }
        let admits = self.values < self.limits.values;
        if admits {
            self.advance_one(bytes);
        }
        admits
    }

    /// Whether a container that announces so many values is within the limits with these, after a head of so many bytes; whether
    /// it was announced itself.
    #[inline(always)]
    pub(crate) fn admits_container(&self, head: usize, announced: bool, count: usize) -> bool {
        let owed = self.owed - usize::from(announced);
        count <= (self.left() - head).saturating_sub(owed)
            && owed + count < self.limits.values.saturating_sub(self.values)
            && self.depth < self.limits.depth.min(MAX_DEPTH)
    }

    /// Goes over the head of a container that was [admitted](Self::admits_container).
    #[inline(always)]
    pub(crate) fn open(&mut self, head: usize, announced: bool, count: usize) {
        self.position += head;
        self.owed = self.owed - usize::from(announced) + count;
        self.values += 1;
        self.depth += 1;
    }

    /// Goes over a container that was [admitted](Self::admits_container), with its values.
    #[inline(always)]
    pub(crate) fn pass_container(&mut self, bytes: usize, announced: bool, count: usize) {
        self.position += bytes;
        self.owed -= usize::from(announced);
        self.values += 1 + count;
    }

    /// Whether so many containers that were announced, of so many values each, are within the limits if they take these bytes
    /// of the [`rest`](Self::rest).
    pub(crate) fn admits_containers(&self, count: usize, each: usize, bytes: usize) -> bool {
        let owed = self.owed - count;
        let values = count.saturating_mul(each.saturating_add(1));
        // The last of them has the least room: each takes more of it than it gives back.
        self.bytes.len() <= self.limits.bytes
            && self.left() - bytes >= owed
            && owed.saturating_add(values) <= self.limits.values.saturating_sub(self.values)
            && self.depth < self.limits.depth.min(MAX_DEPTH)
    }

    /// Goes over containers that were [admitted](Self::admits_containers).
    pub(crate) fn pass_containers(&mut self, count: usize, each: usize, bytes: usize) {
        self.position += bytes;
        self.owed -= count;
        self.values += count * (each + 1);
    }

    /// Whether what was announced is within the limits. It was when it was announced; values that were not announced may
    /// have come between.
    #[inline]
    pub(crate) fn admits_announced(&self) -> bool {
        self.bytes.len() <= self.limits.bytes
            && self.owed <= self.limits.values.saturating_sub(self.values)
    }

    /// How many values are announced and not read, and how many more the limits admit.
    #[cfg(feature = "serde")]
    pub(crate) fn announced(&self) -> Option<(usize, usize)> {
        let values = self.limits.values.saturating_sub(self.values);
        Some((self.owed, values.checked_sub(self.owed)?))
    }

    /// An error at a place that was read before.
    pub(crate) fn error_at<T>(position: usize, cause: Cause) -> Result<T, DecodeError> {
        Err(DecodeError { position, cause })
    }

    pub(crate) fn error<T>(&self, cause: Cause) -> Result<T, DecodeError> {
        Self::error_at(self.position, cause)
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let rest = &self.bytes[self.position..];
        match rest.get(..count) {
            Some(taken) => {
                self.position += count;
                Ok(taken)
            }
            None => self.error(Cause::Truncated {
                needed: count,
                left: rest.len(),
            }),
        }
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.bytes[self.position..].first_chunk::<N>() {
            Some(taken) => {
                self.position += N;
                Ok(*taken)
            }
            None => self.error(Cause::Truncated {
                needed: N,
                left: self.left(),
            }),
        }
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, DecodeError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn i16(&mut self) -> Result<i16, DecodeError> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, DecodeError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn f64(&mut self) -> Result<f64, DecodeError> {
        Ok(f64::from_be_bytes(self.array()?))
    }

    #[inline]
    pub(crate) fn text(&mut self, bytes: usize) -> Result<&'a str, DecodeError> {
        let start = self.position;
        match std::str::from_utf8(self.take(bytes)?) {
            Ok(text) => Ok(text),
            Err(error) => Self::error_at(start + error.valid_up_to(), Cause::Utf8),
        }
    }

    /// Counts a value that begins here.
    #[inline]
    pub(crate) fn count_value(&mut self) -> Result<(), DecodeError> {
        self.check_bytes()?;
        self.count_values(1)
    }

    /// Refuses input that is longer than the limit.
    #[inline]
    pub(crate) fn check_bytes(&self) -> Result<(), DecodeError> {
        if self.bytes.len() > self.limits.bytes {
            return self.error(Cause::TooLarge {
                bytes: self.bytes.len(),
                limit: self.limits.bytes,
            });
        }
        Ok(())
    }

    fn count_values(&mut self, count: usize) -> Result<(), DecodeError> {
        if count > self.limits.values.saturating_sub(self.values) {
            let limit = self.limits.values;
            return self.error(Cause::TooMany { limit });
        }
        self.values += count;
        Ok(())
    }

    /// Takes note of values that a container announces; `start` is where it does.
    pub(crate) fn announce(&mut self, count: usize, start: usize) -> Result<(), DecodeError> {
        let left = self.left().saturating_sub(self.owed);
        if count > left {
            return Self::error_at(
                start,
                Cause::Announced {
                    announced: count,
                    left,
                },
            );
        }
        if count + self.owed > self.limits.values.saturating_sub(self.values) {
            let limit = self.limits.values;
            return Self::error_at(start, Cause::TooMany { limit });
        }
        self.owed += count;
        Ok(())
    }

    /// One of the announced values is read now.
    #[inline]
    pub(crate) fn pay(&mut self) {
        self.owed -= 1;
    }

    /// A container opens whose marker is at `start`.
    #[inline]
    pub(crate) fn enter(&mut self, start: usize) -> Result<(), DecodeError> {
        self.fits(1, start)?;
        self.depth += 1;
        Ok(())
    }

    /// Refuses what would be nested too deeply if it had `height` containers within each other and stood here.
    fn fits(&self, height: usize, start: usize) -> Result<(), DecodeError> {
        let limit = self.limits.depth.min(MAX_DEPTH);
        if height > limit.saturating_sub(self.depth) {
            return Self::error_at(start, Cause::TooDeep { limit });
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Takes note that a reference at `start` repeats so many bytes.
    pub(crate) fn repeat(&mut self, bytes: usize, start: usize) -> Result<(), DecodeError> {
        let limit = self.limits.bytes;
        if bytes > limit.saturating_sub(self.repeated) {
            return Self::error_at(start, Cause::Repeated { limit });
        }
        self.repeated += bytes;
        Ok(())
    }

    #[cfg(feature = "serde")]
    pub(crate) fn names(&self) -> CopiedNames {
        self.names
    }

    #[cfg(feature = "serde")]
    pub(crate) fn set_names(&mut self, names: CopiedNames) {
        self.names = names;
    }

    /// Takes note that a reference at `start` repeats a value that weighs so much, at a depth of `depth` containers.
    pub(crate) fn repeat_value(
        &mut self,
        weight: &Weight,
        depth: usize,
        start: usize,
    ) -> Result<(), DecodeError> {
        let limit = self.limits.depth.min(MAX_DEPTH);
        if weight.height > limit.saturating_sub(self.depth + depth) {
            return Self::error_at(start, Cause::TooDeep { limit });
        }
        if weight.values > self.limits.values.saturating_sub(self.values) {
            let limit = self.limits.values;
            return Self::error_at(start, Cause::TooMany { limit });
        }
        self.values += weight.values;
        self.repeat(weight.bytes, start)
    }
}
