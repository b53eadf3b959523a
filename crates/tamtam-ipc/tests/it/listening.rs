//! Actors' homes that listen to channels of other processes.

use std::path::Path;
use std::time::{Duration, Instant};

use tamtam_actor::{Pool, Worker};
use tamtam_channel::{bounded, unbounded};
use tamtam_ipc::{BytesSender, EncodedSender, Sender, bytes_channel, channel, encoded_channel};

use crate::other::{Other, all_further, half};
use crate::together::wake_threads;

const LONG: Duration = Duration::from_secs(60);
const MESSAGES: u64 = 500;

/// Sends numbers, and pauses now and then so that the receiver falls asleep.
fn send(sender: &Sender<u64>) {
    for number in 0..MESSAGES {
        sender.send(number).unwrap();
        if number % 32 == 0 {
            std::thread::sleep(Duration::from_micros(400));
        }
    }
}

#[test]
fn a_worker_sleeps_for_other_processes_and_for_its_mail_in_one_sleep() {
    const PATH: &str =
        "listening::a_worker_sleeps_for_other_processes_and_for_its_mail_in_one_sleep";
    if let Some(memory) = half("sends") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        return send(&sender);
    }
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        LONG,
        |_| {},
        || {
            let worker = Worker::new();
            let (seen, came) = unbounded();
            let (first_sender, first) = channel::<u64>(4).unwrap();
            let (second_sender, second) = channel::<u64>(4).unwrap();
            let of_first = seen.clone();
            let of_second = seen.clone();
            let listeners = [
                worker.on(first, move |number| of_first.send((1, number)).unwrap()),
                worker.on(second, move |number| of_second.send((2, number)).unwrap()),
            ];
            let actor = worker.spawn_fn(move |number: u64, _| seen.send((0, number)).unwrap());
            let others = [&first_sender, &second_sender]
                .map(|sender| Other::start(PATH, "sends", sender.memory()));
            for number in 0..MESSAGES {
                actor.tell(number).unwrap();
                if number % 16 == 0 {
                    std::thread::sleep(Duration::from_micros(300));
                }
            }
            let mut next = [0; 3];
            for _ in 0..3 * MESSAGES {
                let (of, number) = came.recv_timeout(LONG).unwrap();
                assert_eq!(number, next[of]);
                next[of] += 1;
            }
            assert!(wake_threads().is_empty(), "another thread has slept for it");
            others.into_iter().for_each(Other::ends_well);
            // The last senders go, which ends the listening.
            assert!(listeners.iter().all(|it| !it.has_ended()));
            drop((first_sender, second_sender));
            let patience = Instant::now() + LONG;
            while !listeners.iter().all(tamtam_actor::Listener::has_ended) {
                assert!(Instant::now() < patience);
                std::thread::yield_now();
            }
        },
    );
}

#[test]
fn pools_and_frames_hear_each_kind_of_channel_of_another_process() {
    const PATH: &str = "listening::pools_and_frames_hear_each_kind_of_channel_of_another_process";
    if let Some(memory) = half("sends") {
        let numbers = Sender::<u64>::attach(memory).unwrap();
        let [bytes, texts] = all_further().try_into().unwrap();
        let bytes = BytesSender::attach(bytes).unwrap();
        let texts = EncodedSender::<String>::attach(texts).unwrap();
        for number in 0..MESSAGES {
            numbers.send(number).unwrap();
            bytes.send(&number.to_le_bytes()).unwrap();
            texts.send(number.to_string()).unwrap();
        }
        return;
    }
    use std::os::fd::AsRawFd;
    let (numbers, of_numbers) = channel::<u64>(4).unwrap();
    let (bytes, of_bytes) = bytes_channel(4, 8).unwrap();
    let (texts, of_texts) = encoded_channel::<String>(4, 20).unwrap();
    let pool = Pool::with_threads(2);
    let (seen, came) = bounded(10);
    let [first, second, third] = [(); 3].map(|()| seen.clone());
    drop(seen);
    let listeners = [
        pool.on(of_numbers, move |number| first.send((0, number)).unwrap()),
        pool.on(of_bytes, move |bytes: Vec<u8>| {
            let number = u64::from_le_bytes(bytes.try_into().unwrap());
            second.send((1, number)).unwrap();
        }),
        pool.on(of_texts, move |text| {
            third.send((2, text.unwrap().parse().unwrap())).unwrap();
        }),
    ];
    let further = [bytes.memory().as_raw_fd(), texts.memory().as_raw_fd()];
    let further = format!("{} {}", further[0], further[1]);
    let other = Other::start_with(PATH, "sends", numbers.memory(), &further);
    let mut next = [0; 3];
    for _ in 0..3 * MESSAGES {
        let (of, number): (usize, u64) = came.recv_timeout(LONG).unwrap();
        assert_eq!(number, next[of]);
        next[of] += 1;
    }
    other.ends_well();
    drop((numbers, bytes, texts));
    // The listeners go with their handlers, which have the only senders.
    assert!(came.recv_timeout(LONG).is_err());
    assert!(listeners.iter().all(tamtam_actor::Listener::has_ended));

    // A frame is told by its hook, and hears when it is pumped.
    let mut frame = tamtam_actor::Frame::new();
    let (sender, receiver) = channel::<u64>(4).unwrap();
    let (told, is_told) = unbounded();
    frame.on_mail(move || told.send(()).unwrap());
    let (seen, came) = unbounded();
    let listener = frame.on(receiver, move |number| seen.send(number).unwrap());
    frame.pump(tamtam_actor::Budget::unlimited());
    while is_told.try_recv().is_ok() {}
    sender.send(5).unwrap();
    is_told.recv_timeout(LONG).unwrap();
    frame.pump(tamtam_actor::Budget::unlimited());
    assert_eq!(came.try_recv(), Ok(5));
    drop(listener);
}

/// Whoever mails without end keeps no other process from being heard.
#[test]
fn a_worker_that_always_has_mail_hears_other_processes_too() {
    let worker = Worker::new();
    let (sender, receiver) = channel::<u64>(4).unwrap();
    let (seen, came) = unbounded();
    let listener = worker.on(receiver, move |number| seen.send(number).unwrap());
    let busy = worker.spawn_with(|cx| {
        let own = cx.address();
        own.tell(()).unwrap();
        Busy(own)
    });
    for number in 0..50 {
        sender.send(number).unwrap();
        assert_eq!(came.recv_timeout(LONG), Ok(number));
    }
    drop(listener);
    // What is not listened to any more has no receiver.
    let patience = Instant::now() + LONG;
    while !sender.is_closed() {
        assert!(Instant::now() < patience, "it is kept");
        std::thread::yield_now();
    }
    busy.stop();
}

struct Busy(tamtam_actor::Address<()>);

impl tamtam_actor::Actor for Busy {
    type Message = ();

    fn handle(&mut self, (): (), _: &mut tamtam_actor::Context<Self>) {
        let _ = self.0.tell(());
    }
}

/// A process that is killed ends the listening, and a worker that listens costs nothing while nothing comes.
#[test]
fn a_worker_that_listens_sleeps_until_the_other_process_is_killed() {
    const PATH: &str = "listening::a_worker_that_listens_sleeps_until_the_other_process_is_killed";
    if let Some(memory) = half("victim") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        sender.send(1).unwrap();
        loop {
            std::thread::park();
        }
    }
    let worker = Worker::builder().name("listens").build().unwrap();
    let (threads, thread) = bounded(1);
    let asked = worker.spawn_fn(move |(): (), _| {
        let own = std::fs::read_link("/proc/thread-self").unwrap();
        threads.send(Path::new("/proc").join(own)).unwrap();
    });
    asked.tell(()).unwrap();
    let thread = thread.recv_timeout(LONG).unwrap();
    let (sender, receiver) = channel::<u64>(4).unwrap();
    let (seen, came) = unbounded();
    let mut other = Other::start(PATH, "victim", sender.memory());
    let listener = worker.on(receiver, move |number| seen.send(number).unwrap());
    assert_eq!(came.recv_timeout(LONG), Ok(1));
    drop(sender);
    let worked = || std::fs::read_to_string(thread.join("schedstat")).unwrap();
    // It falls asleep, after it has looked a while.
    let patience = Instant::now() + LONG;
    loop {
        let before = worked();
        std::thread::sleep(Duration::from_millis(200));
        if worked() == before {
            break;
        }
        assert!(Instant::now() < patience, "it does not sleep");
    }
    other.kill();
    assert!(came.recv_timeout(LONG).is_err());
    assert!(listener.has_ended());
}

/// Sealed bytes wake a worker and a pool; what is no message is heard as an error, and the end ends the listening.
#[test]
fn sealed_bytes_of_another_process_are_heard() {
    use rustix::net::{SendFlags, send};
    use tamtam_ipc::{SealedBytes, SealedReceiver, SealedSender, sealed_channel};

    const PATH: &str = "listening::sealed_bytes_of_another_process_are_heard";
    if let Some(socket) = half("sends") {
        let sender = SealedSender::attach(socket).unwrap();
        for number in 0..MESSAGES {
            let bytes = SealedBytes::copy_of(&number.to_le_bytes()).unwrap();
            sender.send(bytes).unwrap();
            if number % 32 == 0 {
                std::thread::sleep(Duration::from_micros(400));
            }
        }
        send(sender.socket(), b"x", SendFlags::empty()).unwrap();
        return;
    }
    let hear = |on: &dyn Fn(SealedReceiver, tamtam_channel::Sender<Option<u64>>) -> _| {
        let (sender, receiver) = sealed_channel().unwrap();
        let (seen, came) = unbounded();
        let listener: tamtam_actor::Listener = on(receiver, seen);
        let other = Other::start(PATH, "sends", sender.socket());
        drop(sender);
        for number in 0..MESSAGES {
            assert_eq!(came.recv_timeout(LONG), Ok(Some(number)));
        }
        assert_eq!(came.recv_timeout(LONG), Ok(None));
        // The listener goes with its handler, which has the only sender.
        assert!(came.recv_timeout(LONG).is_err());
        assert!(listener.has_ended());
        other.ends_well();
    };
    let number = |heard: Result<SealedBytes, _>| {
        let bytes = heard.ok()?;
        Some(u64::from_le_bytes((*bytes).try_into().unwrap()))
    };
    let worker = Worker::new();
    hear(&|receiver, seen| worker.on(receiver, move |heard| seen.send(number(heard)).unwrap()));
    let pool = Pool::with_threads(2);
    hear(&|receiver, seen| pool.on(receiver, move |heard| seen.send(number(heard)).unwrap()));
}
