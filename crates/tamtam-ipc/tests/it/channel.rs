//! Channels between processes, and between ends of one process.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use tamtam_channel::{RecvError, TryRecvError, TrySendError};
use tamtam_ipc::{
    AttachError, BytesReceiver, BytesSender, LoanError, Receiver, Sender, bytes_channel, channel,
};

use crate::other::{Other, half};

fn again(end: impl AsFd) -> OwnedFd {
    end.as_fd().try_clone_to_owned().unwrap()
}

#[test]
fn several_processes_send_to_one_in_their_order() {
    const PATH: &str = "channel::several_processes_send_to_one_in_their_order";
    const EACH: u64 = 20_000;
    if let Some(memory) = half("sender") {
        let sender = Sender::<[u64; 2]>::attach(memory).unwrap();
        let own = u64::from(std::process::id());
        for number in 0..EACH / 2 {
            sender.send([own, number]).unwrap();
        }
        let rest = (EACH / 2..EACH).map(|number| [own, number]);
        assert_eq!(sender.send_many(rest), Ok((EACH / 2) as usize));
        return;
    }
    let (sender, receiver) = channel::<[u64; 2]>(64).unwrap();
    let others: Vec<_> = (0..3)
        .map(|_| Other::start(PATH, "sender", sender.memory()))
        .collect();
    let mut next: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
    let mut buffer = Vec::new();
    let mut count = 0;
    while count < 3 * EACH {
        if count % 3 == 0 {
            buffer.push(receiver.recv().unwrap());
        } else {
            receiver.recv_many(&mut buffer, 10).unwrap();
        }
        for [from, number] in buffer.drain(..) {
            let next = next.entry(from).or_default();
            assert_eq!(number, *next);
            *next += 1;
            count += 1;
        }
    }
    for other in others {
        other.ends_well();
    }
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(sender);
    assert_eq!(receiver.recv(), Err(RecvError));
    assert_eq!(receiver.abandoned(), 0);
}

#[test]
fn the_receiver_goes_to_another_process_and_sends_wait_for_it() {
    const PATH: &str = "channel::the_receiver_goes_to_another_process_and_sends_wait_for_it";
    if let Some(memory) = half("receiver") {
        let receiver = Receiver::<u32>::attach(memory).unwrap();
        assert!(receiver.iter().eq(0..1000));
        return;
    }
    let (sender, receiver) = channel::<u32>(4).unwrap();
    sender.send(0).unwrap();
    let memory = receiver.hand_over().unwrap();
    for number in 1..4 {
        sender.send(number).unwrap();
    }
    assert_eq!(sender.try_send(4), Err(TrySendError::Full(4)));
    let other = Other::start(PATH, "receiver", memory.as_fd());
    for number in 4..1000 {
        sender.send(number).unwrap();
    }
    drop(sender);
    other.ends_well();
}

#[test]
fn there_is_one_receiver_and_another_may_follow_it() {
    let (sender, receiver) = channel::<u16>(8).unwrap();
    let error = Receiver::<u16>::attach(again(sender.memory())).unwrap_err();
    assert!(matches!(error, AttachError::HasReceiver), "{error}");
    for number in 0..5 {
        sender.send(number).unwrap();
    }
    assert_eq!(receiver.recv(), Ok(0));
    drop(receiver);
    assert!(sender.is_closed());
    assert_eq!(sender.send(9).unwrap_err().into_inner(), 9);
    let receiver = Receiver::<u16>::attach(again(sender.memory())).unwrap();
    sender.send(5).unwrap();
    assert_eq!(receiver.len(), 5);
    assert_eq!(
        receiver.try_iter().collect::<Vec<_>>(),
        (1..6).collect::<Vec<_>>()
    );
}

#[test]
fn memory_of_another_kind_or_type_is_refused_with_what_it_is() {
    let (sender, _receiver) = channel::<u64>(8).unwrap();
    let error = Sender::<i64>::attach(again(sender.memory())).unwrap_err();
    let expected = "the memory holds 8 of u64 (8 bytes, aligned to 8), and i64 (8 bytes, aligned to 8) was expected";
    assert_eq!(error.to_string(), expected);
    let error = BytesSender::attach(again(sender.memory())).unwrap_err();
    assert!(matches!(error, AttachError::Shape { .. }), "{error}");
    let (_, reader) = tamtam_ipc::carrier(4096).unwrap();
    let error = Sender::<u64>::attach(again(reader.memory())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the memory holds a link's carrier, and a channel was expected"
    );
}

#[test]
fn bytes_of_any_length_come_as_they_were_written() {
    let (sender, receiver) = bytes_channel(3, 5000).unwrap();
    assert_eq!((sender.capacity(), sender.largest()), (3, 5000));
    let mut buffer = vec![1, 2, 3];
    for len in (0..130).chain([511, 512, 513, 1000, 4999, 5000]) {
        let sent: Vec<u8> = (0..len).map(|at| (at * 7 + len) as u8).collect();
        sender.send(&sent).unwrap();
        assert_eq!(receiver.recv_bytes(&mut buffer), Ok(len));
        assert_eq!(buffer, sent);
        let mut loan = sender.loan(5000).unwrap();
        for (place, part) in sent.chunks(100).enumerate() {
            loan.write_at(place * 100, part);
        }
        loan.truncate(len);
        // SAFETY: no other process has this memory.
        unsafe { assert_eq!(loan.as_mut_slice(), sent) };
        loan.commit().unwrap();
        receiver
            .recv_with(|bytes| {
                // SAFETY: no other process has this memory.
                unsafe { assert_eq!(bytes.as_slice(), sent) };
                let mut end = vec![0; len / 2];
                bytes.read_at(len - len / 2, &mut end);
                assert_eq!(end, sent[len - len / 2..]);
            })
            .unwrap();
    }
    let refused = sender.try_loan(5001).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a message of 5001 bytes, and the longest in this channel has 5000"
    );
}

/// The system would look for memory at each access to a page that is not there, and end the process if it finds none.
#[test]
fn memory_of_which_pages_are_missing_is_refused() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};

    let (sender, _receiver) = bytes_channel(1_000, 4_000).unwrap();
    let there = File::from(again(sender.memory()));
    let len = there.metadata().unwrap().len();
    let copy = |bytes: u64| {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = File::from(memfd_create("copy", flags).unwrap());
        ftruncate(&memory, len).unwrap();
        let mut read = vec![0; bytes as usize];
        there.read_exact_at(&mut read, 0).unwrap();
        memory.write_all_at(&read, 0).unwrap();
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW).unwrap();
        BytesSender::attach(memory.into())
    };
    copy(len).unwrap();
    for bytes in [len - 5_000, 64 << 10] {
        let refused = copy(bytes).unwrap_err();
        assert!(matches!(refused, AttachError::NotOurs), "{refused}");
    }
}

#[test]
fn a_loan_that_is_dropped_is_no_message() {
    let (sender, receiver) = bytes_channel(2, 100).unwrap();
    let (first, mut second) = (sender.loan(1).unwrap(), sender.loan(2).unwrap());
    assert!(matches!(
        sender.try_loan(3),
        Err(LoanError::Refused(TrySendError::Full(())))
    ));
    second.copy_from(b"on");
    second.commit().unwrap();
    // What was committed later waits for what was loaned before.
    assert_eq!(
        receiver.try_recv_bytes(&mut Vec::new()),
        Err(TryRecvError::Empty)
    );
    drop(first);
    let mut buffer = Vec::new();
    assert_eq!(receiver.recv_bytes(&mut buffer), Ok(2));
    assert_eq!((buffer.as_slice(), receiver.abandoned()), (&b"on"[..], 0));
    for _ in 0..2 {
        drop(sender.loan(1).unwrap());
    }
    drop(sender);
    assert_eq!(receiver.recv_bytes(&mut buffer), Err(RecvError));
}

#[test]
#[should_panic(expected = "3 bytes from 98 on do not lie in a message of 100 bytes")]
fn a_loan_has_no_bytes_behind_its_end() {
    let (sender, _receiver) = bytes_channel(1, 200).unwrap();
    sender.loan(100).unwrap().write_at(98, b"abc");
}

#[test]
fn a_panic_while_a_message_is_used_frees_its_place() {
    let (sender, receiver) = bytes_channel(1, 8).unwrap();
    sender.send(b"one").unwrap();
    let used = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        receiver.recv_with(|_| std::panic::resume_unwind(Box::new("no")))
    }));
    assert!(used.is_err());
    sender.try_send(b"two").unwrap();
    // The end may be used while one of its messages is.
    let (first, second) = receiver
        .recv_with(|bytes| {
            (
                bytes.len(),
                receiver.try_recv_with(|bytes| bytes.len()).is_err(),
            )
        })
        .unwrap();
    assert_eq!((first, second), (3, true));
}

#[cfg(feature = "serde")]
#[test]
fn what_serde_cannot_encode_or_decode_is_an_error_and_the_channel_goes_on() {
    use serde::{Deserialize, Serialize, Serializer, ser::Error};
    use tamtam_ipc::{EncodedRecvError, EncodedSendError, EncodedSender, encoded_channel};

    fn fails<S: Serializer>(_: &(), _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("a reason"))
    }

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    enum Message {
        Text(String),
        Never(#[serde(serialize_with = "fails")] ()),
    }

    let (sender, receiver) = encoded_channel::<Message>(2, 20).unwrap();
    let other = EncodedSender::<Message>::attach(again(sender.memory())).unwrap();
    let error = other.send(Message::Never(())).unwrap_err();
    assert!(matches!(&error, EncodedSendError::NotEncodable { .. }));
    assert_eq!(error.into_inner(), Message::Never(()));
    let error = other.send(Message::Text("x".repeat(30))).unwrap_err();
    let expected = "a message of 32 bytes when encoded, and the longest in this channel has 20";
    assert_eq!(error.to_string(), expected);
    // A program with another version of the type, by the same name.
    mod older {
        #[derive(serde::Serialize, serde::Deserialize)]
        pub(super) struct Message(pub(super) u8);
    }
    let older = EncodedSender::<older::Message>::attach(again(sender.memory())).unwrap();
    older.send(older::Message(9)).unwrap();
    other.send(Message::Text("fine".to_owned())).unwrap();
    assert!(matches!(
        receiver.recv(),
        Err(EncodedRecvError::NotDecodable { bytes: 1, .. })
    ));
    assert_eq!(receiver.recv(), Ok(Message::Text("fine".to_owned())));
    drop((sender, other, older));
    assert!(receiver.iter().next().is_none());
}

#[cfg(feature = "serde")]
#[test]
fn a_message_nested_too_deep_is_not_sent_and_not_received() {
    use serde::{Deserialize, Serialize};
    use tamtam_ipc::{EncodedRecvError, EncodedSendError, EncodedSender, encoded_channel};

    const WORDS: &str = "it is nested deeper than 128 levels";

    /// Each of them is two levels: itself, and what may be in it.
    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct Chain {
        next: Option<Box<Chain>>,
    }

    fn chain(length: usize) -> Chain {
        let first = Chain { next: None };
        (1..length).fold(first, |chain, _| Chain {
            next: Some(Box::new(chain)),
        })
    }

    /// A program that writes what it likes.
    mod hostile {
        use serde::{Deserialize, Serialize, Serializer, ser::SerializeTuple};

        #[derive(Deserialize)]
        pub(super) struct Chain(pub(super) usize);

        impl Serialize for Chain {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut bytes = serializer.serialize_tuple(self.0)?;
                for left in (0..self.0).rev() {
                    bytes.serialize_element(&u8::from(left > 0))?;
                }
                bytes.end()
            }
        }
    }

    let (sender, receiver) = encoded_channel::<Chain>(3, 4 << 20).unwrap();
    let hostile = EncodedSender::<hostile::Chain>::attach(again(sender.memory())).unwrap();
    sender.send(chain(64)).unwrap();
    assert_eq!(receiver.recv(), Ok(chain(64)));
    let is_refused = |error| match error {
        EncodedSendError::NotEncodable { message, reason } => {
            assert_eq!((message, &*reason), (chain(65), WORDS));
        }
        other => panic!("{other:?}"),
    };
    is_refused(sender.send(chain(65)).unwrap_err());
    is_refused(futures::executor::block_on(sender.send_async(chain(65))).unwrap_err());
    assert!(sender.send_many([chain(65)]).is_err());
    for length in [65, 4 << 20] {
        hostile.send(hostile::Chain(length)).unwrap();
        sender.send(chain(1)).unwrap();
        let reason = WORDS.to_owned();
        let refused = EncodedRecvError::NotDecodable {
            bytes: length,
            reason,
        };
        assert_eq!(receiver.recv(), Err(refused));
        assert_eq!(receiver.recv(), Ok(chain(1)));
    }
}

/// A thread that stands for a process that writes anything anywhere. Values may be wrong and channels end; no call crashes, hangs, or
/// is late.
#[test]
fn random_bytes_in_the_memory_harm_no_process() {
    const PATIENCE: Duration = Duration::from_millis(5);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let (mut sent, mut received, mut corrupt) = (0, 0, 0);
    for round in 0..60 {
        let (sender, receiver) = bytes_channel(4, 40).unwrap();
        let memory = File::from(again(sender.memory()));
        let len = memory.metadata().unwrap().len();
        let is_done = AtomicBool::new(false);
        // At first the slots only, then the control, too, then the parties and the header.
        let first = [4096 + 512, 4096, 0][round % 3];
        std::thread::scope(|threads| {
            let sending = threads.spawn(|| {
                let mut sent = 0;
                for _ in 0..20 {
                    let begin = Instant::now();
                    sent += u32::from(sender.send_timeout(&[7; 33], PATIENCE).is_ok());
                    let clone = sender.clone();
                    sent += u32::from(clone.try_send(&[8; 40]).is_ok());
                    assert!(begin.elapsed() < Duration::from_secs(20));
                }
                sent
            });
            let receiver = &receiver;
            let is_done = &is_done;
            let writing = threads.spawn(move || {
                while !is_done.load(SeqCst) {
                    let bytes = random().to_le_bytes();
                    let offset = first + random() % (len - first - 8);
                    memory
                        .write_all_at(&bytes[..1 + (random() % 8) as usize], offset)
                        .unwrap();
                    if random() % 8 == 0 {
                        std::thread::sleep(Duration::from_micros(random() % 300));
                    }
                }
            });
            let mut buffer = Vec::new();
            for _ in 0..20 {
                let begin = Instant::now();
                received += u32::from(receiver.recv_timeout_bytes(&mut buffer, PATIENCE).is_ok());
                received += u32::from(receiver.try_recv_bytes(&mut buffer).is_ok());
                assert!(buffer.len() <= 40);
                assert!(begin.elapsed() < Duration::from_secs(20));
                let _ = (receiver.len(), sender.is_closed());
            }
            sent += sending.join().unwrap();
            is_done.store(true, SeqCst);
            writing.join().unwrap();
        });
        corrupt += u32::from(sender.is_corrupt() || receiver.is_corrupt());
        // What is left of it may be attached to, or not.
        let memory = again(sender.memory());
        drop(receiver);
        if let Ok(receiver) = BytesReceiver::attach(memory) {
            let _ = receiver.recv_timeout_bytes(&mut Vec::new(), PATIENCE);
        }
    }
    println!("{sent} sent, {received} received, {corrupt} channels given up");
    assert!(sent > 0 && received > 0 && corrupt > 0);
}
