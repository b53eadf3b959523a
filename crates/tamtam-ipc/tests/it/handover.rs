//! The descriptor of memory goes to another process over a Unix socket.

use std::fs::File;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_getfd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tamtam_ipc::{
    AttachError, Mutex, ReceiveMemoryError, SealedBytes, SealedRecvError, Slot, channel,
    receive_memory, sealed_channel, send_memory,
};
use tamtam_testing::in_a_process_of_its_own;

use crate::other::{Other, half};

#[test]
fn several_pieces_of_memory_go_to_another_process_in_order() {
    const PATH: &str = "handover::several_pieces_of_memory_go_to_another_process_in_order";
    if let Some(socket) = half("takes") {
        let socket = UnixStream::from(socket);
        let count = Mutex::<u64>::attach(receive_memory(&socket).unwrap()).unwrap();
        let slot = Slot::<u64>::attach(receive_memory(&socket).unwrap()).unwrap();
        count.lock().unwrap().update(|count| count * 2);
        slot.put(7);
        return;
    }
    let (here, there) = UnixStream::pair().unwrap();
    let other = Other::start(PATH, "takes", there.as_fd());
    let count = Mutex::create(5_u64).unwrap();
    let slot = Slot::<u64>::create().unwrap();
    send_memory(&here, count.memory()).unwrap();
    send_memory(&here, slot.memory()).unwrap();
    assert_eq!(slot.take(), 7);
    assert_eq!(count.lock().unwrap().get(), 10);
    other.ends_well();
}

#[test]
fn memory_stays_in_its_place_among_other_bytes() {
    let (mut here, mut there) = UnixStream::pair().unwrap();
    let (sender, receiver) = channel::<u64>(4).unwrap();
    here.write_all(b"before").unwrap();
    send_memory(&here, sender.memory()).unwrap();
    here.write_all(b"after").unwrap();
    drop(here);

    let mut before = [0; 6];
    there.read_exact(&mut before).unwrap();
    assert_eq!(&before, b"before");
    let memory = receive_memory(&there).unwrap();
    // A program that is started here does not get it by accident.
    assert!(fcntl_getfd(&memory).unwrap().contains(FdFlags::CLOEXEC));
    let mut after = Vec::new();
    there.read_to_end(&mut after).unwrap();
    assert_eq!(after, b"after");

    let there = tamtam_ipc::Sender::<u64>::attach(memory).unwrap();
    there.send(5).unwrap();
    assert_eq!(receiver.recv(), Ok(5));
}

#[test]
fn what_is_no_memory_is_told_apart() {
    let (mut here, there) = UnixStream::pair().unwrap();
    here.write_all(b"x").unwrap();
    let error = receive_memory(&there).unwrap_err();
    assert!(matches!(
        error,
        ReceiveMemoryError::NotMemory { descriptors: 0 }
    ));

    // A descriptor of something else is found when it is attached to.
    send_memory(&here, here.as_fd()).unwrap();
    let memory: OwnedFd = receive_memory(&there).unwrap();
    assert!(matches!(
        Slot::<u64>::attach(memory),
        Err(AttachError::NotSealed)
    ));

    // One that is late.
    let timeout = Some(Duration::from_millis(5));
    there.set_read_timeout(timeout).unwrap();
    match receive_memory(&there) {
        Err(ReceiveMemoryError::System { source }) => {
            assert_eq!(source.kind(), ErrorKind::WouldBlock);
        }
        other => panic!("{other:?}"),
    }

    // A child of another test has a copy of it until it becomes its program.
    there.set_read_timeout(None).unwrap();
    drop(here);
    let error = receive_memory(&there).unwrap_err();
    assert!(matches!(error, ReceiveMemoryError::Closed), "{error}");
    let slot = Slot::<u64>::create().unwrap();
    let error = send_memory(&there, slot.memory()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

#[test]
fn a_process_that_may_have_no_more_descriptors_is_told_so() {
    const PATH: &str = "handover::a_process_that_may_have_no_more_descriptors_is_told_so";
    in_a_process_of_its_own(
        PATH,
        Duration::from_secs(60),
        |_| {},
        || {
            let (here, there) = UnixStream::pair().unwrap();
            let (sender, receiver) = sealed_channel().unwrap();
            let slot = Slot::<u64>::create().unwrap();
            for number in 0..2 {
                send_memory(&here, slot.memory()).unwrap();
                sender
                    .send(SealedBytes::copy_of(&[number]).unwrap())
                    .unwrap();
            }
            let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
            let limits = getrlimit(Resource::Nofile);
            let few = Rlimit {
                current: Some(open + 10),
                ..limits
            };
            setrlimit(Resource::Nofile, few).unwrap();
            let all: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
            let error = receive_memory(&there).unwrap_err();
            assert!(matches!(error, ReceiveMemoryError::NoRoom), "{error}");
            let error = receiver.recv().unwrap_err();
            assert!(matches!(error, SealedRecvError::NoRoom), "{error}");
            // What comes after that is not harmed.
            drop(all);
            receive_memory(&there).unwrap();
            assert_eq!(*receiver.recv().unwrap(), [1]);
        },
    );
}

#[test]
fn several_of_which_one_has_room_are_not_taken_for_one() {
    const PATH: &str = "handover::several_of_which_one_has_room_are_not_taken_for_one";
    in_a_process_of_its_own(
        PATH,
        Duration::from_secs(60),
        |_| {},
        || {
            let sealed = SealedBytes::copy_of(b"sealed").unwrap();
            let (sender, receiver) = sealed_channel().unwrap();
            let (here, there) = UnixStream::pair().unwrap();
            let two = |socket: BorrowedFd<'_>| {
                let mut space =
                    [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
                let mut control = SendAncillaryBuffer::new(&mut space);
                let fds = [sealed.memory(), sealed.memory()];
                control.push(SendAncillaryMessage::ScmRights(&fds));
                let byte = [IoSlice::new(b"m")];
                sendmsg(socket, &byte, &mut control, SendFlags::empty()).unwrap();
            };
            two(sender.socket());
            two(here.as_fd());
            let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
            let few = Rlimit {
                current: Some(open + 10),
                ..getrlimit(Resource::Nofile)
            };
            setrlimit(Resource::Nofile, few).unwrap();
            let mut all: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
            all.pop();
            let error = receiver.recv().unwrap_err();
            let is_none = matches!(error, SealedRecvError::NotAMessage { .. });
            assert!(is_none, "{error}");
            let error = receive_memory(&there).unwrap_err();
            let is_none = matches!(error, ReceiveMemoryError::NotMemory { .. });
            assert!(is_none, "{error}");
        },
    );
}
