//! A message of bytes in its place in shared memory: for the sender that writes it, and for the receiver that reads it.
//!
//! Another process may write there at any time. So neither gives out a reference: bytes are copied in and out, by [`copy`](crate::copy). Who trusts
//! every process that has the memory can have a slice, by unsafe functions that say what that trust is.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use tamtam_channel::SendError;

use super::shared::{ReceivingEnd, SendingEnd, Shared};
use crate::copy;
use crate::ring::Position;

/// The length stands before the bytes.
pub(crate) const LENGTH: usize = size_of::<AtomicU64>();

/// The length of the message of a position.
fn length(shared: &Shared, position: Position) -> &AtomicU64 {
    // SAFETY: a slot of a channel of bytes has room for a length before the bytes, aligned to eight, and all access to it is atomic.
    unsafe { shared.message(position).cast::<AtomicU64>().as_ref() }
}

/// Where the bytes of the message of a position lie: as many as the largest message has.
fn bytes(shared: &Shared, position: Position) -> NonNull<u8> {
    // SAFETY: a slot of a channel of bytes has room for a length, and the bytes come behind it.
    unsafe { shared.message(position).add(LENGTH) }
}

/// Whether so many bytes from there on lie in so many.
///
/// # Panics
///
/// If they do not.
#[track_caller]
fn check_range(offset: usize, count: usize, len: usize) {
    let end = offset.checked_add(count);
    assert!(
        end.is_some_and(|end| end <= len),
        "{count} bytes from {offset} on do not lie in a message of {len} bytes"
    );
}

/// A place for a message in shared memory, loaned to its sender: it is written there and [committed](Loan::commit), and never copied by this
/// process.
///
/// What it holds at first is not said: what is left of another message, as a rule. Messages that were sent later wait behind it in their order,
/// so it is committed soon. A loan that is dropped is no message; the receiver passes over it.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::bytes_channel;
///
/// let (sender, receiver) = bytes_channel(4, 1 << 20)?;
/// let mut loan = sender.loan(11)?;
/// loan.write_at(0, b"hello ");
/// loan.write_at(6, b"world");
/// loan.commit()?;
/// drop(sender.loan(100)?); // nothing comes of it
/// let mut bytes = Vec::new();
/// receiver.recv_bytes(&mut bytes)?;
/// assert_eq!(bytes, b"hello world");
/// drop(sender);
/// assert!(receiver.recv_bytes(&mut bytes).is_err());
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// There is no safe way to a slice of it, nor to a reference to what lies there:
///
/// ```compile_fail,E0133
/// let (sender, _receiver) = tamtam_ipc::bytes_channel(4, 16).unwrap();
/// let mut loan = sender.loan(16).unwrap();
/// let slice: &mut [u8] = loan.as_mut_slice();
/// ```
///
/// ```compile_fail,E0277
/// fn is_slice<T: AsRef<[u8]>>() {}
/// is_slice::<tamtam_ipc::Loan<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_slice<T: AsMut<[u8]>>() {}
/// is_slice::<tamtam_ipc::Loan<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn leads_to_bytes<T: std::ops::Deref>() {}
/// leads_to_bytes::<tamtam_ipc::Loan<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_borrowed_as<T: std::borrow::Borrow<[u8]>>() {}
/// is_borrowed_as::<tamtam_ipc::Loan<'static>>();
/// ```
///
/// ```compile_fail,E0608
/// let (sender, _receiver) = tamtam_ipc::bytes_channel(4, 16).unwrap();
/// let loan = sender.loan(16).unwrap();
/// let byte: &u8 = &loan[0];
/// ```
#[must_use = "it is a message when it is committed"]
pub struct Loan<'a> {
    end: &'a SendingEnd,
    position: Position,
    len: usize,
    is_message: bool,
}

impl<'a> Loan<'a> {
    /// Of a position that was claimed, and of no more bytes than the largest message has.
    #[inline]
    pub(crate) fn new(end: &'a SendingEnd, position: Position, len: usize) -> Self {
        Loan {
            end,
            position,
            len,
            is_message: false,
        }
    }

    fn place(&self) -> *mut u8 {
        bytes(self.end.shared(), self.position).as_ptr()
    }

    /// How many bytes the message has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the message has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the message shorter; does nothing if it is that short.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Writes bytes of the message from `offset` on.
    ///
    /// # Panics
    ///
    /// If they do not lie in it.
    #[track_caller]
    #[inline]
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        check_range(offset, bytes.len(), self.len);
        // SAFETY: the bytes lie in the message, and that in its slot, which this loan has claimed: no other thread of this process writes there.
        unsafe { copy::into_shared(bytes, self.place().add(offset)) };
    }

    /// Writes the whole message.
    ///
    /// # Panics
    ///
    /// If these are not as many bytes as it has.
    #[track_caller]
    pub fn copy_from(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.len, "as many bytes as the message has");
        self.write_at(0, bytes);
    }

    /// The bytes of the message, to be written in place.
    ///
    /// # Safety
    ///
    /// As long as the slice is there, no other process writes into this memory: each process that has the descriptor is trusted to use it by
    /// this library only, and to have no fault by which it writes elsewhere. For the language, bytes that change under a slice are undefined
    /// behaviour.
    #[must_use]
    pub unsafe fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the bytes lie in the slot and hold something, zeroes at first; the slot is this loan's, and no other process writes there, says the
        // caller.
        unsafe { std::slice::from_raw_parts_mut(self.place(), self.len) }
    }

    /// Sends the message.
    ///
    /// # Errors
    ///
    /// [`SendError`] if another process has written nonsense into the memory. That no process receives any more is told by the next loan.
    #[inline]
    pub fn commit(self) -> Result<(), SendError<()>> {
        let end = self.end;
        self.commit_one_of_several()?;
        end.ring();
        Ok(())
    }

    /// As [`commit`](Loan::commit), but does not wake the receiver.
    #[inline]
    pub(crate) fn commit_one_of_several(mut self) -> Result<(), SendError<()>> {
        // SYNC ring-full: it is published with the message.
        length(self.end.shared(), self.position).store(self.len as u64, Ordering::Relaxed);
        self.is_message = true;
        if self.end.publish(self.position, true) {
            Ok(())
        } else {
            Err(SendError(()))
        }
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        if !self.is_message {
            self.end.publish(self.position, false);
            self.end.ring();
        }
    }
}

impl fmt::Debug for Loan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// A message that was taken, perhaps as one of several; its slot is free when this is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Taken<'a, const OF_SEVERAL: bool> {
    end: &'a ReceivingEnd,
    position: Position,
}

impl<'a, const OF_SEVERAL: bool> Taken<'a, OF_SEVERAL> {
    #[inline]
    pub(crate) fn new(end: &'a ReceivingEnd, position: Position) -> Self {
        Taken { end, position }
    }

    /// Its bytes, unless it says that it has more than any message.
    #[inline]
    pub(crate) fn bytes(&self) -> Option<Bytes<'_>> {
        let shared = self.end.shared();
        // SYNC ring-full: it is published with the message. It is read once: it may be another number each time.
        let len = length(shared, self.position).load(Ordering::Relaxed);
        if len > shared.largest() as u64 {
            shared.set_corrupt();
            return None;
        }
        Some(Bytes {
            first: bytes(shared, self.position),
            len: len as usize,
            place: PhantomData,
        })
    }
}

impl<const OF_SEVERAL: bool> Drop for Taken<'_, OF_SEVERAL> {
    #[inline]
    fn drop(&mut self) {
        if OF_SEVERAL {
            self.end.free_one_of_several(self.position);
        } else {
            self.end.free(self.position);
        }
    }
}

/// A message in its place in shared memory, before it was copied: what [`BytesReceiver::recv_with`](crate::BytesReceiver::recv_with) shows.
///
/// Another process that has the memory may still write there, if it does not keep to the rules. So what is read twice may be different the second
/// time: copy first, then check, then use.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::bytes_channel;
///
/// let (sender, receiver) = bytes_channel(4, 1 << 20)?;
/// sender.send(&[7; 1000])?;
/// let (len, last) = receiver.recv_with(|bytes| {
///     let mut last = [0; 2];
///     bytes.read_at(bytes.len() - 2, &mut last);
///     (bytes.len(), last)
/// })?;
/// assert_eq!((len, last), (1000, [7, 7]));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// There is no safe way to a slice of it, nor to a reference to what lies there, a text for instance, and it does not get out of `recv_with`:
///
/// ```compile_fail,E0133
/// let (_sender, receiver) = tamtam_ipc::bytes_channel(4, 16).unwrap();
/// let sum = receiver.recv_with(|bytes| bytes.as_slice().len());
/// ```
///
/// ```compile_fail,E0277
/// fn is_slice<T: AsRef<[u8]>>() {}
/// is_slice::<tamtam_ipc::Bytes<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_text<T: AsRef<str>>() {}
/// is_text::<tamtam_ipc::Bytes<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn leads_to_bytes<T: std::ops::Deref>() {}
/// leads_to_bytes::<tamtam_ipc::Bytes<'static>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_borrowed_as<T: std::borrow::Borrow<[u8]>>() {}
/// is_borrowed_as::<tamtam_ipc::Bytes<'static>>();
/// ```
///
/// ```compile_fail,E0608
/// let (_sender, receiver) = tamtam_ipc::bytes_channel(4, 16).unwrap();
/// let first = receiver.recv_with(|bytes| bytes[0]);
/// ```
///
/// ```compile_fail,E0277
/// fn is_made<'a, T: From<tamtam_ipc::Bytes<'a>>>() {}
/// is_made::<&[u8]>();
/// ```
///
/// ```compile_fail,E0521
/// let (_sender, receiver) = tamtam_ipc::bytes_channel(4, 16).unwrap();
/// let mut kept = None;
/// let _ = receiver.recv_with(|bytes| kept = Some(bytes));
/// ```
pub struct Bytes<'a> {
    first: NonNull<u8>,
    len: usize,
    place: PhantomData<&'a u8>,
}

impl Bytes<'_> {
    /// How many bytes the message has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the message has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads bytes of the message from `offset` on.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[track_caller]
    pub fn read_at(&self, offset: usize, bytes: &mut [u8]) {
        check_range(offset, bytes.len(), self.len);
        // SAFETY: the bytes lie in the message, whose slot is not freed before this is gone, so that no sender of this process writes there.
        unsafe { copy::out_of_shared(self.first.as_ptr().add(offset), bytes) };
    }

    /// Reads the whole message.
    ///
    /// # Panics
    ///
    /// If it has not as many bytes as these are.
    #[track_caller]
    pub fn copy_to(&self, bytes: &mut [u8]) {
        assert_eq!(bytes.len(), self.len, "as many bytes as the message has");
        self.read_at(0, bytes);
    }

    /// Puts the whole message in place of what the buffer holds.
    pub fn copy_to_vec(&self, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.reserve(self.len);
        // SAFETY: the buffer has room for so many bytes; they lie in the message, whose slot is not freed before this is gone, so that no sender
        // of this process writes there. All of them are written.
        unsafe {
            copy::out_of_shared_to(self.first.as_ptr(), buffer.as_mut_ptr(), self.len);
            buffer.set_len(self.len);
        }
    }

    /// A copy of the whole message.
    #[must_use]
    #[inline]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.copy_to_vec(&mut bytes);
        bytes
    }

    /// The bytes of the message, in place.
    ///
    /// # Safety
    ///
    /// As long as the slice is there, no other process writes into this memory: each process that has the descriptor is trusted to use it by
    /// this library only, and to have no fault by which it writes elsewhere. For the language, bytes that change under a slice are undefined
    /// behaviour.
    #[must_use]
    pub unsafe fn as_slice(&self) -> &[u8] {
        // SAFETY: the bytes lie in the slot, which is not freed before this is gone, and no other process writes there, says the caller.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bytes")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
