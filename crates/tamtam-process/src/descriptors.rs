//! Descriptors beside shared memory: they go over the socket that the two processes have in any case.
//!
//! With each message's descriptors goes the number that the frame in the memory says. They are sent before the frame is written, so who has read
//! the frame finds them in the socket without waiting, or they are missing.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::net::{RecvFlags, SendFlags};
use tamtam_link::Attached;
use tamtam_link::carrier::rights;

/// What goes with descriptors: a number, the lowest byte first.
const NUMBER: usize = 8;
/// So many descriptors that were not asked for yet are kept at most: others are closed. No more are on their way from a process that keeps to
/// the protocol.
const MOST_KEPT: usize = 128;

/// Sends descriptors with their number. If the system takes none now, they are missing there, as the reader of the message is told.
pub(crate) fn send(socket: &UnixStream, attached: &Attached) {
    let number = attached.number().to_le_bytes();
    // A process that does not read keeps no sender.
    let _ = rights::send_with(socket, &number, attached, SendFlags::DONTWAIT);
}

/// Receives them.
#[derive(Debug)]
pub(crate) struct DescriptorReader {
    socket: Arc<UnixStream>,
    /// Those that have come before they were asked for.
    kept: Vec<(u64, Vec<OwnedFd>)>,
    /// The other side has written something else there.
    is_spoiled: bool,
}

impl DescriptorReader {
    pub(crate) fn new(socket: Arc<UnixStream>) -> Self {
        DescriptorReader {
            socket,
            kept: Vec::new(),
            is_spoiled: false,
        }
    }

    /// Those of this number, as many as have come; never waits.
    pub(crate) fn fetch(&mut self, number: u64) -> Vec<OwnedFd> {
        if let Some(place) = self.kept.iter().position(|(of, _)| *of == number) {
            return self.kept.swap_remove(place).1;
        }
        // A process that writes there all the time is not waited for.
        for _ in 0..MOST_KEPT {
            match self.next() {
                Some((of, descriptors)) if of == number => return descriptors,
                Some(other) => self.keep(other),
                None => break,
            }
        }
        Vec::new()
    }

    fn keep(&mut self, other: (u64, Vec<OwnedFd>)) {
        let kept: usize = self.kept.iter().map(|(_, kept)| kept.len()).sum();
        // Numbers without a descriptor are not kept, since there is nothing to be had of them.
        if !other.1.is_empty() && kept + other.1.len() <= MOST_KEPT {
            self.kept.push(other);
        }
    }

    fn next(&mut self) -> Option<(u64, Vec<OwnedFd>)> {
        if self.is_spoiled {
            return None;
        }
        let (mut number, mut descriptors) = ([0; NUMBER], Vec::new());
        let received = rights::receive_with(
            &self.socket,
            &mut number,
            &mut descriptors,
            RecvFlags::DONTWAIT,
        );
        match received {
            Ok(NUMBER) => Some((u64::from_le_bytes(number), descriptors)),
            Ok(_) => {
                self.is_spoiled = true;
                None
            }
            Err(error) => {
                self.is_spoiled = error.kind() != io::ErrorKind::WouldBlock;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{IoSlice, Write};
    use std::os::fd::AsFd;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};

    fn send_one(socket: &UnixStream, bytes: &[u8]) {
        let mut space = [std::mem::MaybeUninit::uninit(); 64];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let any = [socket.as_fd()];
        control.push(SendAncillaryMessage::ScmRights(&any));
        let bytes = [IoSlice::new(bytes)];
        sendmsg(socket, &bytes, &mut control, SendFlags::empty()).unwrap();
    }

    #[test]
    fn numbers_may_come_in_any_order_or_without_a_descriptor_or_not_at_all() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut reader = DescriptorReader::new(Arc::new(there));
        assert!(reader.fetch(1).is_empty());
        send_one(&here, &3_u64.to_le_bytes());
        send_one(&here, &2_u64.to_le_bytes());
        here.write_all(&5_u64.to_le_bytes()).unwrap();
        assert!(reader.fetch(4).is_empty());
        assert_eq!(reader.fetch(2).len(), 1);
        assert_eq!(reader.fetch(3).len(), 1);
        assert!(reader.fetch(3).is_empty());
        assert!(reader.fetch(5).is_empty());
    }

    #[test]
    fn no_more_are_kept_than_may_be_on_their_way() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut reader = DescriptorReader::new(Arc::new(there));
        for number in 0..3 * MOST_KEPT as u64 {
            send_one(&here, &number.to_le_bytes());
            let _ = reader.fetch(u64::MAX);
            assert!(reader.kept.len() <= MOST_KEPT);
        }
        assert_eq!(reader.fetch(MOST_KEPT as u64 - 1).len(), 1);
        assert!(reader.fetch(MOST_KEPT as u64).is_empty());
    }

    #[test]
    fn what_is_no_number_ends_it() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut reader = DescriptorReader::new(Arc::new(there));
        here.write_all(b"no").unwrap();
        assert!(reader.fetch(6).is_empty());
        send_one(&here, &7_u64.to_le_bytes());
        assert!(reader.fetch(7).is_empty());
    }
}
