//! Bytes that two processes share.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tamtam_ipc::{AttachError, Mutex, RangeError, SharedBytes};

use crate::other::{Other, further, half};

#[test]
fn what_one_process_writes_another_reads() {
    const PATH: &str = "bytes::what_one_process_writes_another_reads";
    if let Some(memory) = half("answers") {
        let bytes = SharedBytes::attach(memory).unwrap();
        let asked = bytes.atomic_u32(0).unwrap();
        while asked.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        let mut word = [0; 5];
        bytes.read_at(100, &mut word).unwrap();
        word.reverse();
        bytes.write_at(3995, &word).unwrap();
        bytes.atomic_u8(9).unwrap().store(7, Ordering::Relaxed);
        bytes
            .atomic_u64(16)
            .unwrap()
            .fetch_add(1, Ordering::Release);
        return;
    }
    let bytes = SharedBytes::create(4000).unwrap();
    assert_eq!((bytes.len(), bytes.is_empty()), (4000, false));
    let other = Other::start(PATH, "answers", bytes.memory());
    bytes.write_at(100, b"hello").unwrap();
    bytes.atomic_u32(0).unwrap().store(1, Ordering::Release);
    let until = Instant::now() + Duration::from_secs(60);
    while bytes.atomic_u64(16).unwrap().load(Ordering::Acquire) == 0 {
        assert!(Instant::now() < until);
        std::thread::yield_now();
    }
    assert_eq!(&bytes.to_vec()[3995..], b"olleh");
    assert_eq!(bytes.atomic_u8(9).unwrap().load(Ordering::Relaxed), 7);
    other.ends_well();
}

#[test]
fn what_lies_beyond_or_across_is_refused() {
    let bytes = SharedBytes::create(20).unwrap();
    let error = |offset, len, align| {
        let of = 20;
        Err(RangeError {
            offset,
            len,
            align,
            of,
        })
    };
    assert_eq!(bytes.read_at(16, &mut [0; 4]), Ok(()));
    assert_eq!(bytes.read_at(17, &mut [0; 4]), error(17, 4, 1));
    assert_eq!(bytes.write_at(usize::MAX, &[1, 2]), error(usize::MAX, 2, 1));
    assert_eq!(bytes.write_at(20, &[]), Ok(()));
    assert_eq!(bytes.atomic_u8(20).map(drop), error(20, 1, 1));
    assert_eq!(bytes.atomic_u32(16).map(drop), Ok(()));
    assert_eq!(bytes.atomic_u32(14).map(drop), error(14, 4, 4));
    assert_eq!(bytes.atomic_u64(16).map(drop), error(16, 8, 8));
    // SAFETY: no other process has the memory, and nothing is written meanwhile.
    unsafe {
        assert_eq!(bytes.as_slice(18..20), Ok(&[0, 0][..]));
        assert_eq!(bytes.as_slice(18..21).map(drop), error(18, 3, 1));
    }
    let none = SharedBytes::create(0).unwrap();
    assert!(none.is_empty() && none.to_vec().is_empty());
    let memory = none.memory().try_clone_to_owned().unwrap();
    let error = Mutex::<u32>::attach(memory).unwrap_err();
    assert!(matches!(error, AttachError::Kind { .. }), "{error}");
}

/// Two processes double the first byte under a lock, a million times in all. Doubled modulo 255 it is 1, 2, 4 .. 128, 1 .., so a count beside it says
/// what it has to be.
#[test]
fn two_processes_double_the_first_byte() {
    const PATH: &str = "bytes::two_processes_double_the_first_byte";
    const TIMES: u32 = 500_000;
    fn double(bytes: &SharedBytes, turn: &Mutex<[u32; 2]>) {
        for _ in 0..TIMES {
            let mut guard = turn.lock().unwrap();
            let [count, number] = guard.get();
            let mut byte = [0];
            bytes.read_at(0, &mut byte).unwrap();
            assert_eq!(byte, [1_u8.rotate_left(count % 8)]);
            byte[0] = byte[0].rotate_left(1);
            bytes.write_at(0, &byte).unwrap();
            guard.set([count + 1, number]);
        }
    }
    if let Some(memory) = half("doubles") {
        let turn = Mutex::<[u32; 2]>::attach(memory).unwrap();
        let [_, number] = turn.lock().unwrap().get();
        let bytes = SharedBytes::attach(further(number)).unwrap();
        return double(&bytes, &turn);
    }
    let bytes = SharedBytes::create(1 << 16).unwrap();
    bytes.write_at(0, &[1]).unwrap();
    let number = bytes.memory().as_raw_fd().cast_unsigned();
    let turn = Mutex::create([0, number]).unwrap();
    let began = Instant::now();
    let other = Other::start(PATH, "doubles", turn.memory());
    double(&bytes, &turn);
    other.ends_well();
    assert_eq!(turn.lock().unwrap().get()[0], 2 * TIMES);
    println!("a million times in {:?}", began.elapsed());
}

/// The system would reserve more than there is, and end processes later.
#[test]
fn more_than_the_machine_has_is_an_error() {
    let error = SharedBytes::create(1 << 45).unwrap_err().to_string();
    assert!(error.contains("more than this machine has"), "{error}");
}
