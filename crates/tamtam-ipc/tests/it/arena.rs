//! Many channels in one piece of memory, between two processes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tamtam_channel::RecvTimeoutError;
use tamtam_ipc::{Arena, ArenaPlace, AttachError, CreateError, Sender};

use crate::other::{Other, half};

fn attached(arena: &Arena) -> Arena {
    Arena::attach(arena.memory().try_clone_to_owned().unwrap()).unwrap()
}

#[test]
fn channels_of_an_arena_are_as_others_and_apart_from_each_other() {
    let arena = Arena::create(1 << 20).unwrap();
    let there = attached(&arena);
    assert_eq!(arena.processes(), 2);
    let channels: Vec<_> = (0..50)
        .map(|count| arena.channel::<u64>(1 + count % 5).unwrap())
        .collect();
    let (bytes_sender, bytes_receiver) = arena.bytes_channel(2, 100).unwrap();
    let places: Vec<_> = channels.iter().map(|(it, _)| it.place().unwrap()).collect();
    let senders: Vec<Sender<u64>> = places.iter().map(|it| there.sender(*it).unwrap()).collect();
    for (number, (sender, (own, _))) in senders.iter().zip(&channels).enumerate() {
        for message in 0..own.capacity() as u64 {
            sender.send(100 * number as u64 + message).unwrap();
        }
        assert!(own.try_send(0).unwrap_err().is_full());
    }
    bytes_sender.send(b"beside them").unwrap();
    for (number, (_, receiver)) in channels.iter().enumerate() {
        for message in 0..receiver.capacity() as u64 {
            assert_eq!(receiver.try_recv(), Ok(100 * number as u64 + message));
        }
        let soon = Duration::ZERO;
        assert_eq!(receiver.recv_timeout(soon), Err(RecvTimeoutError::Timeout));
    }
    let mut bytes = Vec::new();
    bytes_receiver.recv_bytes(&mut bytes).unwrap();
    assert_eq!(bytes, b"beside them");
    // Its last sender and its receiver are known for each channel.
    let (mut channels, mut senders) = (channels.into_iter(), senders.into_iter());
    let (own, receiver) = channels.next().unwrap();
    drop(own);
    assert!(receiver.try_recv().unwrap_err().is_empty());
    drop(senders.next());
    assert!(receiver.try_recv().unwrap_err().is_disconnected());
    let (_own, receiver) = channels.next().unwrap();
    drop(receiver);
    assert!(senders.next().unwrap().send(1).is_err());
    assert!(senders.all(|sender| !sender.is_closed()));
}

#[test]
fn what_lies_elsewhere_or_is_of_another_type_or_is_over_is_refused() {
    let arena = Arena::create(1 << 16).unwrap();
    let there = attached(&arena);
    let (sender, receiver) = arena.channel::<u64>(4).unwrap();
    let place = sender.place().unwrap();
    assert_eq!(receiver.place(), Some(place));
    let other = there.sender::<u32>(place).unwrap_err();
    assert!(matches!(other, AttachError::Shape { .. }), "{other}");
    let other = there.bytes_sender(place).unwrap_err();
    assert!(matches!(other, AttachError::Shape { .. }), "{other}");
    for offset in [
        1,
        64,
        128,
        1 << 15,
        1 << 16,
        1 << 40,
        u64::MAX - 127,
        u64::MAX,
    ] {
        let refused = there.sender::<u64>(ArenaPlace { offset, ..place });
        assert!(matches!(refused, Err(AttachError::NotOurs)), "{offset}");
    }
    let received = there.receiver::<u64>(place).unwrap_err();
    assert!(matches!(received, AttachError::HasReceiver));
    // It is not the maker.
    let refused = there.channel::<u64>(4).unwrap_err();
    assert!(matches!(refused, CreateError::NotTheMaker));
    drop((sender, receiver));
    // What comes there next is another channel.
    let mut channels = Vec::new();
    let full = loop {
        match arena.channel::<u64>(4) {
            Ok(channel) => channels.push(channel),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, CreateError::ArenaFull { .. }), "{full}");
    assert!(
        channels
            .iter()
            .any(|(it, _)| it.place().unwrap().offset == place.offset)
    );
    let over = there.sender::<u64>(place).unwrap_err();
    assert!(matches!(over, AttachError::Over), "{over}");
}

#[test]
fn a_piece_is_free_when_both_sides_have_let_it_go_or_are_dead() {
    const PATH: &str = "arena::a_piece_is_free_when_both_sides_have_let_it_go_or_are_dead";
    // The first channel of an arena.
    const FIRST: ArenaPlace = ArenaPlace {
        offset: 0,
        generation: 1,
    };
    if let Some(memory) = half("sends") {
        let arena = Arena::attach(memory).unwrap();
        let sender = arena.sender::<u64>(FIRST).unwrap();
        sender.send(7).unwrap();
        loop {
            std::thread::park();
        }
    }
    let arena = Arena::create(2500).unwrap();
    let (sender, receiver) = arena.channel::<u64>(4).unwrap();
    assert_eq!(sender.place(), Some(FIRST));
    assert!(arena.channel::<u64>(4).is_err(), "there is room for one");
    let mut other = Other::start(PATH, "sends", arena.memory());
    assert_eq!(receiver.recv(), Ok(7));
    drop((sender, receiver));
    assert!(arena.channel::<u64>(4).is_err(), "the other one has it");
    other.kill();
    let patience = Instant::now() + Duration::from_secs(30);
    let (sender, receiver) = loop {
        match arena.channel::<u64>(4) {
            Ok(channel) => break channel,
            Err(_) => assert!(Instant::now() < patience, "a dead process has it"),
        }
        std::thread::yield_now();
    };
    assert_eq!(sender.place().map(|it| it.offset), Some(0));
    sender.send(1).unwrap();
    drop(sender);
    assert!(receiver.iter().eq([1]));
    // Another one that lives gives it up.
    drop(receiver);
    let there = attached(&arena);
    let (sender, receiver) = arena.channel::<u64>(4).unwrap();
    let held = there.sender::<u64>(sender.place().unwrap()).unwrap();
    drop((sender, receiver));
    assert!(arena.channel::<u64>(4).is_err());
    drop(held);
    assert!(arena.channel::<u64>(4).is_ok());
}

#[test]
fn one_piece_of_memory_is_not_given_to_two_channels() {
    // Room for one channel.
    let arena = Arena::create(2500).unwrap();
    let place = || arena.channel::<u64>(1).unwrap().0.place().unwrap();
    let over = place();
    assert_ne!(place(), over);
    let (number, made) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                while number.fetch_add(1, Ordering::Relaxed) < 100_000 {
                    // To a place that is over, and twice to one thing.
                    let late = arena.sender::<u64>(over).unwrap_err();
                    assert!(matches!(late, AttachError::Over), "{late}");
                    let Ok((sender, receiver)) = arena.channel::<u64>(1) else {
                        continue;
                    };
                    drop(arena.sender::<u64>(sender.place().unwrap()));
                    let number = made.fetch_add(1, Ordering::Relaxed);
                    sender.try_send(number).unwrap();
                    assert_eq!(receiver.try_recv(), Ok(number));
                }
            });
        }
    });
    assert!(made.load(Ordering::Relaxed) > 0);
}

#[cfg(feature = "link")]
mod over_a_link {
    //! Ends of an arena in messages.

    use super::*;

    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use serde::{Deserialize, Serialize};
    use tamtam_actor::{Address, Pool, Reply};
    use tamtam_ipc::Receiver;
    use tamtam_link::{Link, carrier};
    use tamtam_testing::{in_a_process_of_its_own, within};

    #[derive(Serialize, Deserialize)]
    enum Work {
        /// Keeps them.
        Take(Vec<Receiver<u64>>, Reply<()>),
        /// The sum of a message of each.
        Sum(Reply<u64>),
        Drop(Reply<()>),
        /// How many descriptors and mappings there are.
        Held(Reply<(usize, usize)>),
        /// Gives it back, as it came.
        Back(Receiver<u64>, Reply<Receiver<u64>>),
    }

    fn held() -> (usize, usize) {
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        (descriptors, maps.matches("memfd:tamtam").count())
    }

    /// Does it, until the other end is gone.
    fn serve(socket: UnixStream) {
        let pool = Pool::with_threads(1);
        let mut kept = Vec::new();
        let actor = pool.spawn_fn(move |work, _| match work {
            Work::Take(mut receivers, done) => {
                kept.append(&mut receivers);
                done.send(());
            }
            Work::Sum(reply) => reply.send(kept.iter().map(|it| it.recv().unwrap()).sum()),
            Work::Drop(done) => {
                kept.clear();
                done.send(());
            }
            Work::Held(reply) => reply.send(held()),
            Work::Back(receiver, reply) => reply.send(receiver),
        });
        let link = carrier::unix(Link::builder().root(&actor), socket).unwrap();
        while link.ended().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn five_thousand_channels_take_one_descriptor() {
        const PATH: &str = "arena::over_a_link::five_thousand_channels_take_one_descriptor";
        const CHANNELS: u64 = 5_000;
        if let Some(socket) = half("serves") {
            return serve(UnixStream::from(socket));
        }
        let long = Duration::from_secs(120);
        let program = || {
            let (here, there) = UnixStream::pair().unwrap();
            let other = Other::start(PATH, "serves", there.as_fd());
            drop(there);
            let link = carrier::unix(Link::builder(), here).unwrap();
            let far: Address<Work> = link.root();
            let held_there = far.ask(Work::Held).unwrap();
            let held_here = held();
            // Room for so many, and for no more.
            let arena = Arena::create(CHANNELS as usize * 1664).unwrap();
            // Twice: what was let go is free again.
            for _ in 0..2 {
                let mut senders = Vec::new();
                for _ in 0..CHANNELS / 500 {
                    let mut receivers = Vec::new();
                    for _ in 0..500 {
                        let (sender, receiver) = arena.channel::<u64>(2).unwrap();
                        senders.push(sender);
                        receivers.push(receiver);
                    }
                    far.ask(|done| Work::Take(receivers, done)).unwrap();
                }
                for (number, sender) in senders.iter().enumerate() {
                    sender.send(number as u64).unwrap();
                }
                let sum = far.ask(Work::Sum).unwrap();
                assert_eq!(sum, CHANNELS * (CHANNELS - 1) / 2);
                let now = far.ask(Work::Held).unwrap();
                assert_eq!(now, (held_there.0 + 1, held_there.1 + 1), "there");
                assert_eq!(held(), (held_here.0 + 1, held_here.1 + 1), "here");
                far.ask(Work::Drop).unwrap();
                assert!(senders.iter().all(Sender::is_closed));
            }
            assert_eq!(far.ask(Work::Held).unwrap(), held_there, "it is given back");
            link.close();
            other.ends_well();
        };
        in_a_process_of_its_own(PATH, long, |_| (), program);
    }

    #[test]
    fn an_end_comes_back_and_goes_again() {
        const PATH: &str = "arena::over_a_link::an_end_comes_back_and_goes_again";
        if let Some(socket) = half("serves") {
            return serve(UnixStream::from(socket));
        }
        within(Duration::from_secs(60), || {
            let (here, there) = UnixStream::pair().unwrap();
            let other = Other::start(PATH, "serves", there.as_fd());
            drop(there);
            let link = carrier::unix(Link::builder(), here).unwrap();
            let far: Address<Work> = link.root();
            let arena = Arena::create(1 << 16).unwrap();
            let (sender, mut receiver) = arena.channel::<u64>(4).unwrap();
            for round in 0..200 {
                receiver = far.ask(|reply| Work::Back(receiver, reply)).unwrap();
                assert!(!sender.is_closed());
                sender.send(round).unwrap();
                assert_eq!(receiver.recv(), Ok(round));
            }
            drop(receiver);
            assert!(sender.is_closed());
            link.close();
            other.ends_well();
        });
    }
}
