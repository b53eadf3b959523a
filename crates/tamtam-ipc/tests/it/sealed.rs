//! Bytes that no process can change any more.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use tamtam_ipc::{AttachError, CreateError, SealedBytes, receive_memory, send_memory};

use crate::other::{Other, half};

#[test]
fn another_process_reads_them_in_place_and_cannot_change_them() {
    const PATH: &str = "sealed::another_process_reads_them_in_place_and_cannot_change_them";
    if let Some(socket) = half("reads") {
        let memory = receive_memory(&UnixStream::from(socket)).unwrap();
        let same = memory.try_clone().unwrap();
        let bytes = SealedBytes::attach(memory).unwrap();
        assert_eq!(bytes.len(), 3 << 20);
        assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == at as u8));
        // Whatever it tries with the descriptor.
        assert_eq!(rustix::io::write(&same, b"other"), Err(Errno::PERM));
        assert_eq!(ftruncate(&same, 10), Err(Errno::PERM));
        assert_eq!(ftruncate(&same, 10 << 20), Err(Errno::PERM));
        let punch = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
        assert_eq!(
            rustix::fs::fallocate(&same, punch, 0, 4096),
            Err(Errno::PERM)
        );
        // SAFETY: a mapping at an address that the system chooses; it is refused.
        let mapped = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                4096,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED,
                &same,
                0,
            )
        };
        assert_eq!(mapped.unwrap_err(), Errno::PERM);
        return;
    }
    let (here, there) = UnixStream::pair().unwrap();
    let other = Other::start(PATH, "reads", there.as_fd());
    let bytes = SealedBytes::create(3 << 20, |bytes| {
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = at as u8;
        }
    });
    let bytes = bytes.unwrap();
    let clone = bytes.clone();
    assert_eq!(clone.as_ptr(), bytes.as_ptr());
    send_memory(&here, bytes.memory()).unwrap();
    drop(bytes);
    other.ends_well();
    assert_eq!(clone[300], 44);
}

fn memory(len: u64, fill: bool, seals: SealFlags) -> OwnedFd {
    let memory = memfd_create("other", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    if fill {
        let mut file = std::fs::File::from(memory.try_clone().unwrap());
        file.write_all(&vec![7; len as usize]).unwrap();
    } else {
        ftruncate(&memory, len).unwrap();
    }
    fcntl_add_seals(&memory, seals).unwrap();
    memory
}

#[test]
fn what_could_still_be_changed_or_is_not_there_is_refused() {
    let all = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    let attach = |memory| SealedBytes::attach(memory);
    // What another program has sealed is as good.
    assert_eq!(&*attach(memory(5_000, true, all)).unwrap(), [7; 5_000]);
    for missing in [
        SealFlags::WRITE,
        SealFlags::SHRINK,
        SealFlags::GROW,
        SealFlags::SEAL,
    ] {
        let refused = attach(memory(5_000, true, all - missing));
        assert!(
            matches!(refused, Err(AttachError::NotSealed)),
            "{missing:?}"
        );
    }
    // What is mapped for writing stays so by this seal.
    let future = (all - SealFlags::WRITE) | SealFlags::FUTURE_WRITE;
    let refused = attach(memory(5_000, true, future));
    assert!(matches!(refused, Err(AttachError::NotSealed)));
    // A hole is filled when it is read, if there is memory for it then.
    let refused = attach(memory(1 << 30, false, all));
    assert!(matches!(refused, Err(AttachError::NotOurs)));
    let socket = UnixStream::pair().unwrap().0;
    assert!(matches!(attach(socket.into()), Err(AttachError::NotSealed)));
}

#[test]
fn any_length_is_one_and_too_much_is_an_error() {
    for len in [0, 1, 4095, 4096, 4097] {
        let bytes = SealedBytes::copy_of(&vec![5; len]).unwrap();
        assert_eq!(&*bytes, vec![5; len]);
        let same = SealedBytes::attach(bytes.memory().try_clone_to_owned().unwrap());
        assert_eq!(&*same.unwrap(), &*bytes);
    }
    let refused = SealedBytes::create(usize::MAX, |_| panic!("there is nothing to write to"));
    assert!(matches!(refused, Err(CreateError::TooLarge { .. })));
}

#[test]
fn a_panic_of_what_writes_leaves_nothing() {
    const PATH: &str = "sealed::a_panic_of_what_writes_leaves_nothing";
    let patience = std::time::Duration::from_secs(60);
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        patience,
        |_| (),
        || {
            let there = || {
                let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
                let fds = std::fs::read_dir("/proc/self/fd").unwrap().count();
                (maps.matches("tamtam-sealed").count(), fds)
            };
            let before = there();
            for _ in 0..10 {
                let panics = || SealedBytes::create(5_000, |_| panic!("on purpose"));
                assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            }
            assert_eq!(there(), before);
        },
    );
}
