//! How the client of a contender gets at memory that a server in another process has made.

use std::fmt::{Display, Write};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::process;

use crate::Failure;

/// The address of pieces of memory of this process, which keeps these descriptors open: one line of text.
pub(super) fn address<'a>(pieces: impl IntoIterator<Item = BorrowedFd<'a>>) -> String {
    let mut address = process::id().to_string();
    for piece in pieces {
        write!(address, " {}", piece.as_raw_fd()).expect("a text has room");
    }
    address
}

/// The piece at this place of the `address`, for this process, too.
///
/// # Errors
/// There is none, or the process that has it is gone.
pub(super) fn open(address: &str, place: usize) -> Result<OwnedFd, Failure> {
    let mut words = address.split(' ');
    let (process, memory) = words
        .next()
        .zip(words.nth(place))
        .ok_or_else(|| unavailable(format!("{address:?} has no piece {place}")))?;
    // What a descriptor of another process stands for, opened once more: the system lets the same user do so.
    let path = format!("/proc/{process}/fd/{memory}");
    let file: File = OpenOptions::new().read(true).write(true).open(path)?;
    Ok(file.into())
}

/// What is said where there is no such memory.
pub(super) fn unavailable(why: impl Display) -> Failure {
    Failure::Impossible(format!("there is no shared memory: {why}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use tamtam_ipc::SharedBytes;

    use super::*;

    #[test]
    fn an_address_leads_to_each_of_its_pieces() {
        let pieces = [8, 16].map(|len| SharedBytes::create(len).unwrap());
        let address = address(pieces.iter().map(SharedBytes::memory));
        let second = SharedBytes::attach(open(&address, 1).unwrap()).unwrap();
        assert_eq!(second.len(), 16);
        second.atomic_u64(8).unwrap().store(7, Ordering::Release);
        let seen = pieces[1].atomic_u64(8).unwrap().load(Ordering::Acquire);
        assert_eq!(seen, 7);
        assert!(matches!(open(&address, 2), Err(Failure::Impossible(_))));
        assert!(open("no address", 0).is_err());
    }
}
