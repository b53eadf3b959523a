//! Batches of bytes and of encoded messages.

use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tamtam_channel::{RecvError, SendError, TryRecvError};
use tamtam_ipc::{
    BytesReceiver, BytesSender, EncodedReceiver, EncodedRecvError, EncodedSendError, EncodedSender,
    Loan, LoanError, bytes_channel, channel, encoded_channel,
};

use crate::other::{Other, half};

/// A text that is as long as its number says, so that each message has another length.
fn text(number: u32) -> String {
    format!("{number}:{}", "x".repeat(number as usize % 40))
}

#[test]
fn more_than_a_channel_holds_goes_in_one_batch() {
    const PATH: &str = "batches::more_than_a_channel_holds_goes_in_one_batch";
    const MESSAGES: u32 = 20_000;
    let texts = || (0..MESSAGES).map(text);
    if let Some(memory) = half("encoded") {
        let sender = EncodedSender::<String>::attach(memory).unwrap();
        assert_eq!(sender.send_many(texts()).unwrap(), MESSAGES as usize);
        return;
    }
    if let Some(memory) = half("bytes") {
        let sender = BytesSender::attach(memory).unwrap();
        assert_eq!(sender.send_many(texts()).unwrap(), MESSAGES as usize);
        let len = String::len;
        let sent = sender.send_many_with(texts(), len, |text, loan| {
            loan.copy_from(text.as_bytes());
        });
        assert_eq!(sent.unwrap(), MESSAGES as usize);
        return;
    }
    let (sender, receiver) = encoded_channel::<String>(7, 100).unwrap();
    let other = Other::start(PATH, "encoded", sender.memory());
    let mut came = vec![receiver.recv().unwrap()];
    drop(sender);
    while came.len() < MESSAGES as usize {
        let before = came.len();
        let count = receiver.recv_many(&mut came, 5).unwrap();
        assert!((1..=5).contains(&count));
        assert_eq!(came.len(), before + count);
    }
    assert!(came.into_iter().eq(texts()));
    other.ends_well();
    assert_eq!(
        receiver.recv_many(&mut Vec::new(), 5),
        Err(EncodedRecvError::Refused(RecvError))
    );

    let (sender, receiver) = bytes_channel(7, 100).unwrap();
    let other = Other::start(PATH, "bytes", sender.memory());
    let mut came = vec![receiver.recv_with(|bytes| bytes.to_vec()).unwrap()];
    drop(sender);
    while let Ok(count) = receiver.recv_many_bytes(&mut came, usize::MAX) {
        assert!((1..=7).contains(&count), "no more than the channel holds");
    }
    let bytes = |text: String| text.into_bytes();
    assert!(came.into_iter().eq(texts().chain(texts()).map(bytes)));
    other.ends_well();
}

#[test]
fn nothing_is_waited_for_where_nothing_is_asked_for() {
    let (sender, receiver) = encoded_channel::<u32>(4, 10).unwrap();
    let mut came = Vec::new();
    assert_eq!(receiver.recv_many(&mut came, 0), Ok(0));
    assert_eq!(receiver.try_recv_many(&mut came, 0), Ok(0));
    let empty = Err(EncodedRecvError::Refused(TryRecvError::Empty));
    assert_eq!(receiver.try_recv_many(&mut came, 3), empty);
    assert_eq!(sender.send_many([]).unwrap(), 0);
    assert_eq!(sender.send_many(0..4).unwrap(), 4);
    assert_eq!(receiver.try_recv_many(&mut came, 3), Ok(3));
    assert_eq!(receiver.try_recv_many(&mut came, 3), Ok(1));
    assert_eq!(came, [0, 1, 2, 3]);

    let (sender, receiver) = bytes_channel(4, 10).unwrap();
    assert_eq!(receiver.recv_many_with(0, |_| panic!("none")), Ok(0));
    let empty = Err(TryRecvError::Empty);
    assert_eq!(
        receiver.try_recv_many_with(3, |_| panic!("none")),
        empty.clone()
    );
    assert_eq!(sender.send_many(["a", "b"]).unwrap(), 2);
    let mut came = Vec::new();
    assert_eq!(receiver.try_recv_many_bytes(&mut came, 3), Ok(2));
    assert_eq!(came, [b"a", b"b"]);
    drop(sender);
    let over = Err(TryRecvError::Disconnected);
    assert_eq!(receiver.try_recv_many_bytes(&mut came, 3), over);
}

/// Cannot be encoded, or be decoded, by its number.
#[derive(Debug, PartialEq)]
struct Fails(u8);

impl Serialize for Fails {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            1 => Err(serde::ser::Error::custom("one")),
            other => other.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Fails {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            2 => Err(serde::de::Error::custom("two")),
            3 => panic!("three"),
            other => Ok(Fails(other)),
        }
    }
}

#[test]
fn what_is_too_large_or_no_message_ends_a_batch_and_loses_nothing() {
    let (sender, receiver) = bytes_channel(10, 5).unwrap();
    let mut texts = ["one", "two", "three", "eleven", "four"].into_iter();
    let error = sender.send_many(texts.by_ref()).unwrap_err();
    assert_eq!((error.sent, error.unsent), (3, "eleven"));
    let too_large = LoanError::TooLarge {
        bytes: 6,
        largest: 5,
    };
    assert_eq!(error.error, too_large);
    assert_eq!(sender.send_many(texts).unwrap(), 1);
    let written = sender.send_many_with([2_u8, 9], |len| (*len).into(), |_, loan| loan.truncate(1));
    assert_eq!(written.unwrap_err().sent, 1);
    let mut came = Vec::new();
    assert_eq!(receiver.recv_many_bytes(&mut came, 10), Ok(5));
    assert_eq!(came[..4], ["one", "two", "three", "four"].map(Vec::from));
    assert_eq!(came[4].len(), 1);

    let (sender, receiver) = encoded_channel::<Fails>(10, 5).unwrap();
    let mut messages = [0, 1, 2, 4].map(Fails).into_iter();
    let error = sender.send_many(messages.by_ref()).unwrap_err();
    assert_eq!((error.sent, error.unsent), (1, Fails(1)));
    assert!(matches!(error.error, EncodedSendError::NotEncodable { .. }));
    assert_eq!(sender.send_many(messages).unwrap(), 2);
    let mut came = Vec::new();
    let error = receiver.recv_many(&mut came, 10).unwrap_err();
    assert!(matches!(
        error,
        EncodedRecvError::NotDecodable { bytes: 1, .. }
    ));
    assert_eq!(came, [Fails(0)]);
    assert_eq!(receiver.recv_many(&mut came, 10), Ok(1));
    assert_eq!(came, [Fails(0), Fails(4)]);

    let (sender, _receiver) = encoded_channel::<String>(10, 5).unwrap();
    let long = "long".repeat(3);
    let error = sender
        .send_many(["a".to_owned(), long.clone()])
        .unwrap_err();
    assert_eq!((error.sent, error.unsent), (1, long));
    let too_large = EncodedSendError::TooLarge {
        message: (),
        bytes: 13,
        largest: 5,
    };
    assert_eq!(error.error, too_large);
}

/// The receiver, which sleeps, is told at the end of a batch, also if any part of it panics that is the user's: what was before that is sent.
#[test]
fn the_end_of_a_batch_tells_the_receiver_also_by_a_panic() {
    let (sender, receiver) = bytes_channel(10, 5).unwrap();
    let (came, has_come) = tamtam_channel::unbounded();
    std::thread::scope(|threads| {
        threads.spawn(move || {
            let mut bytes = Vec::new();
            while receiver.recv_many_bytes(&mut bytes, 10).is_ok() {
                bytes.drain(..).for_each(|it| came.send(it[0]).unwrap());
            }
        });
        let has_come = |expected: &[u8]| {
            for number in expected {
                let came = has_come.recv_timeout(Duration::from_secs(30));
                assert_eq!(came.as_ref(), Ok(number));
            }
            // So that it sleeps, mostly.
            std::thread::sleep(Duration::from_millis(5));
        };
        sender.send_many([[7], [8]]).unwrap();
        has_come(&[7, 8]);
        let numbers = |end: u8| (0..).take_while(move |number| *number < end || panic!("stop"));
        let by_iterator = || sender.send_many(numbers(3).map(|number| [number]));
        assert!(catch_unwind(AssertUnwindSafe(by_iterator)).is_err());
        has_come(&[0, 1, 2]);
        let by_write = || {
            let write = |number: &u8, loan: &mut Loan<'_>| {
                assert!(*number < 2, "stop");
                loan.write_at(0, &[*number]);
            };
            sender.send_many_with(0..9, |_| 1, write)
        };
        assert!(catch_unwind(AssertUnwindSafe(by_write)).is_err());
        has_come(&[0, 1]);
        let by_len = || {
            let len = |number: &u8| if *number < 1 { 1 } else { panic!("stop") };
            sender.send_many_with(0..9, len, |number, loan| loan.write_at(0, &[*number]))
        };
        assert!(catch_unwind(AssertUnwindSafe(by_len)).is_err());
        has_come(&[0]);
        drop(sender);
    });
}

/// The iterator of a batch of plain values runs while no slot is claimed: it may send and receive at the same channel. What it has yielded when it panics
/// is sent.
#[test]
fn the_iterator_of_a_batch_holds_up_no_other_message() {
    let (sender, receiver) = channel::<u32>(64).unwrap();
    let mut came = Vec::new();
    let numbers = (0..100).inspect(|_| {
        while let Ok(number) = receiver.try_recv() {
            came.push(number);
        }
        sender.try_send(1000).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1000));
    });
    assert_eq!(sender.send_many(numbers), Ok(100));
    receiver.try_recv_many(&mut came, 64).unwrap();
    assert!(came.drain(..).eq(0..100));

    let numbers = (0..8).inspect(|number| assert!(*number < 6, "stop"));
    let panics = || sender.send_many(numbers);
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(receiver.try_recv_many(&mut came, 10), Ok(6));
    assert_eq!(came, [0, 1, 2, 3, 4, 5]);
}

/// A message whose decoding panics is gone, and so is its place: senders that wait for room get it.
#[test]
fn what_is_received_while_a_message_is_in_use_harms_nothing() {
    for capacity in 1..5 {
        let (sender, receiver) = bytes_channel(capacity, 64).unwrap();
        let all = || {
            let mut rest = Vec::new();
            while receiver
                .try_recv_with(|bytes| rest.push(bytes.to_vec()))
                .is_ok()
            {}
            rest
        };
        // In each slot once, and in laps after that.
        for round in 0..3 * capacity as u8 {
            let fill = || (0..capacity as u8).for_each(|n| sender.send(&[round, n]).unwrap());
            let rest = |from: u8| (from..capacity as u8).map(|n| vec![round, n]);
            fill();
            let (first, others) = receiver.recv_with(|first| (first.to_vec(), all())).unwrap();
            assert_eq!(first, [round, 0]);
            assert!(others.into_iter().eq(rest(1)), "{capacity}");
            // In a batch the inner ones take what is left of it.
            fill();
            let mut seen = Vec::new();
            let received = receiver.recv_many_with(usize::MAX, |bytes| {
                seen.push(bytes.to_vec());
                seen.extend(all());
            });
            assert_eq!(received, Ok(1));
            assert!(seen.into_iter().eq(rest(0)), "{capacity}");
            assert!(!receiver.is_corrupt() && !sender.is_closed());
        }
    }
}

#[test]
fn a_panic_while_a_batch_is_received_keeps_no_place() {
    let (sender, receiver) = encoded_channel::<Fails>(4, 5).unwrap();
    sender.send_many([0, 4, 3, 5].map(Fails)).unwrap();
    std::thread::scope(|threads| {
        let sending = threads.spawn(|| sender.send_many((6..9).map(Fails)).unwrap());
        let mut came = Vec::new();
        // So that it sleeps, mostly.
        std::thread::sleep(Duration::from_millis(20));
        let receive = || receiver.recv_many(&mut came, 10);
        assert!(catch_unwind(AssertUnwindSafe(receive)).is_err());
        assert_eq!(sending.join().unwrap(), 3);
        assert_eq!(receiver.recv_many(&mut came, 10), Ok(4));
        assert_eq!(came, [0, 4, 5, 6, 7, 8].map(Fails));
    });

    let (sender, receiver) = bytes_channel(2, 5).unwrap();
    sender.send_many(["a", "b"]).unwrap();
    let receive = || receiver.recv_many_with(2, |_| panic!("stop"));
    assert!(catch_unwind(AssertUnwindSafe(receive)).is_err());
    assert_eq!(receiver.len(), 1);
    sender.try_send(b"c").unwrap();
    let mut came = Vec::new();
    assert_eq!(receiver.recv_many_bytes(&mut came, 2), Ok(2));
    assert_eq!(came, [b"b", b"c"]);
}

/// The receiver is killed while a batch waits for room: the batch ends and says how much was sent, which the next receiver finds whole.
#[test]
fn the_death_of_the_receiver_ends_a_batch_and_the_next_goes_on() {
    const PATH: &str = "batches::the_death_of_the_receiver_ends_a_batch_and_the_next_goes_on";
    const TAKEN: u32 = 100;
    const CAPACITY: u32 = 8;
    if let Some(memory) = half("receives") {
        let receiver = EncodedReceiver::<String>::attach(memory).unwrap();
        let mut came = Vec::new();
        while came.len() < TAKEN as usize {
            let limit = TAKEN as usize - came.len();
            receiver.recv_many(&mut came, limit.min(3)).unwrap();
        }
        assert!(came.into_iter().eq((0..TAKEN).map(text)));
        loop {
            std::thread::park();
        }
    }
    let (sender, receiver) = encoded_channel::<String>(CAPACITY as usize, 100).unwrap();
    let memory = receiver.hand_over().unwrap();
    let mut other = Other::start(PATH, "receives", memory.as_fd());
    let asked_for = AtomicU32::new(0);
    let mut texts = (0..).map(|number| {
        asked_for.store(number, Relaxed);
        text(number)
    });
    let sent = TAKEN + CAPACITY;
    let error = std::thread::scope(|threads| {
        let sending = threads.spawn(|| sender.send_many(texts.by_ref()));
        let patience = Instant::now() + Duration::from_secs(30);
        while asked_for.load(Relaxed) < sent {
            assert!(Instant::now() < patience, "there is room");
            std::thread::sleep(Duration::from_millis(1));
        }
        // So that it sleeps, mostly.
        std::thread::sleep(Duration::from_millis(20));
        other.kill();
        sending.join().unwrap().unwrap_err()
    });
    assert_eq!((error.sent, &error.unsent), (sent as usize, &text(sent)));
    assert_eq!(error.error, EncodedSendError::Refused(SendError(())));
    assert_eq!(texts.next(), Some(text(sent + 1)));
    let receiver = EncodedReceiver::<String>::attach(memory).unwrap();
    drop(sender);
    let mut came = Vec::new();
    while receiver.recv_many(&mut came, 100).is_ok() {}
    assert!(came.into_iter().eq((TAKEN..sent).map(text)));
}

/// The sender is killed within a batch, of which the receiver was not told yet: what was published by then comes whole, and then the end.
#[test]
fn the_death_of_the_sender_within_a_batch_leaves_what_was_published() {
    const PATH: &str = "batches::the_death_of_the_sender_within_a_batch_leaves_what_was_published";
    const PUBLISHED: u32 = 5;
    let waits = |number: u32| {
        if number == PUBLISHED {
            loop {
                std::thread::park();
            }
        }
        text(number)
    };
    if let Some(memory) = half("bytes") {
        let sender = BytesSender::attach(memory).unwrap();
        sender.send_many((0..9).map(waits)).unwrap();
        return;
    }
    if let Some(memory) = half("in place") {
        let sender = BytesSender::attach(memory).unwrap();
        let write = |number: &u32, loan: &mut Loan<'_>| {
            let text = text(*number);
            loan.truncate(text.len());
            loan.write_at(0, text.as_bytes());
            // With the message written, and not published.
            waits(*number);
        };
        sender.send_many_with(0..9, |_| 100, write).unwrap();
        return;
    }
    for (name, abandoned) in [("bytes", 0), ("in place", 1)] {
        let (sender, receiver) = bytes_channel(20, 100).unwrap();
        let memory = receiver.hand_over().unwrap();
        let mut other = Other::start(PATH, name, sender.memory());
        let receiver = BytesReceiver::attach(memory).unwrap();
        let patience = Instant::now() + Duration::from_secs(30);
        while receiver.len() < PUBLISHED as usize + abandoned as usize {
            assert!(Instant::now() < patience);
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(sender);
        other.kill();
        let mut came = Vec::new();
        while receiver.recv_many_bytes(&mut came, 3).is_ok() {}
        let bytes = |number| text(number).into_bytes();
        assert!(came.into_iter().eq((0..PUBLISHED).map(bytes)), "{name}");
        assert_eq!(receiver.abandoned(), abandoned);
    }
}
