//! Waiting for other processes together with other things.

use std::fs;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tamtam_channel::{Sealed, Select, TryRecvError, Waitable, after, select, tick, unbounded};
use tamtam_ipc::{BytesReceiver, Event, Property, Receiver, Sender, Slot, bytes_channel, channel};
use tamtam_wait::{Context, Operation, Source, Token};

use crate::other::{Other, Waiting, half};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Messages of a thread and of a process come in whatever order they are sent, with a clock beside them; the end of the process is the end.
#[test]
fn a_select_waits_for_threads_processes_and_time() {
    const PATH: &str = "together::a_select_waits_for_threads_processes_and_time";
    const MESSAGES: u64 = 2_000;
    if let Some(memory) = half("sender") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        for number in 0..MESSAGES {
            sender.send(number).unwrap();
            if number % 64 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
        }
        return;
    }
    let (sender, mut receiver) = channel::<u64>(4).unwrap();
    let other = Other::start(PATH, "sender", sender.memory());
    let (thread, of_thread) = unbounded::<u64>();
    let sending = std::thread::spawn(move || {
        for number in 0..MESSAGES {
            thread.send(number).unwrap();
            if number % 50 == 0 {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        thread
    });
    let ticks = tick(Duration::from_millis(2));
    let timeout = after(LONG);
    let (mut of_threads, mut of_processes, mut ticked) = (0, 0, 0);
    {
        let process = receiver.selectable();
        while of_threads < MESSAGES || of_processes < MESSAGES || ticked < 3 {
            select! {
                recv(of_thread) -> number => {
                    assert_eq!(number, Ok(of_threads));
                    of_threads += 1;
                }
                wait(process) => {
                    assert_eq!(process.try_recv(), Ok(of_processes));
                    of_processes += 1;
                }
                recv(ticks) -> _ => ticked += 1,
                recv(timeout) -> _ => panic!("{of_threads} and {of_processes} came"),
            }
        }
        other.ends_well();
        drop(sender);
        select! {
            wait(process) => assert_eq!(process.try_recv(), Err(TryRecvError::Disconnected)),
            recv(timeout) -> _ => panic!("no end"),
        }
    }
    drop(sending.join().unwrap());
}

/// A process that sends nothing and is killed ends the wait of a select.
#[test]
fn a_killed_process_ends_a_select() {
    const PATH: &str = "together::a_killed_process_ends_a_select";
    if let Some(memory) = half("victim") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        sender.send(1).unwrap();
        loop {
            std::thread::park();
        }
    }
    let mut told = Vec::new();
    for _ in 0..5 {
        let (sender, mut receiver) = channel::<u64>(4).unwrap();
        let mut other = Other::start(PATH, "victim", sender.memory());
        assert_eq!(receiver.recv(), Ok(1));
        drop(sender);
        let (_thread, of_thread) = unbounded::<u64>();
        let timeout = after(LONG);
        let process = receiver.selectable();
        std::thread::scope(|threads| {
            let killing = threads.spawn(|| {
                std::thread::sleep(Duration::from_millis(30));
                let killed = Instant::now();
                other.kill();
                killed
            });
            select! {
                wait(process) => assert_eq!(process.try_recv(), Err(TryRecvError::Disconnected)),
                recv(of_thread) -> _ => panic!("no thread sends"),
                recv(timeout) -> _ => panic!("not told of the end"),
            }
            let now = Instant::now();
            told.push(now - killing.join().unwrap());
        });
    }
    println!("told after {told:?}");
    assert!(told.iter().min() < Some(&Duration::from_millis(500)));
}

/// An event, a property, both directions of a slot, room in a channel, and bytes: each alone ends a wait for all of them.
#[test]
fn whatever_another_process_does_ends_a_select() {
    const PATH: &str = "together::whatever_another_process_does_ends_a_select";
    const ROUNDS: u32 = 40;
    if let Some(memory) = half("does") {
        let orders = Receiver::<[u32; 2]>::attach(memory).unwrap();
        let numbers = orders.recv().unwrap();
        let further = |number| crate::other::further(number);
        let event = Event::attach(further(numbers[0])).unwrap();
        let numbers = orders.recv().unwrap();
        let property = Property::<u32>::attach(further(numbers[0])).unwrap();
        let filled = Slot::<u32>::attach(further(numbers[1])).unwrap();
        let numbers = orders.recv().unwrap();
        let emptied = Slot::<u32>::attach(further(numbers[0])).unwrap();
        let bytes = tamtam_ipc::BytesSender::attach(further(numbers[1])).unwrap();
        while let Ok([what, _]) = orders.recv() {
            // Later than the other process falls asleep, sometimes.
            std::thread::sleep(Duration::from_micros(u64::from(what) * 100));
            match what {
                0 => event.set(),
                1 => property.set(1),
                2 => filled.put(1),
                3 => drop(emptied.take()),
                _ => bytes.send(b"news").unwrap(),
            }
        }
        return;
    }
    use std::os::fd::AsRawFd;
    let (orders, order) = channel::<[u32; 2]>(4).unwrap();
    let memory = order.hand_over().unwrap();
    let other = Other::start(PATH, "does", memory.as_fd());
    let event = Event::auto().unwrap();
    let property = Property::create(0_u32).unwrap();
    let (filled, emptied) = (Slot::<u32>::create().unwrap(), Slot::create().unwrap());
    emptied.put(0_u32);
    let (_kept, mut bytes): (_, BytesReceiver) = bytes_channel(2, 100).unwrap();
    let number = |memory: std::os::fd::BorrowedFd<'_>| memory.as_raw_fd().cast_unsigned();
    orders.send([number(event.memory()), 0]).unwrap();
    orders
        .send([number(property.memory()), number(filled.memory())])
        .unwrap();
    orders
        .send([number(emptied.memory()), number(bytes.memory())])
        .unwrap();
    let timeout = after(LONG);
    for round in 0..5 * ROUNDS {
        let what = round % 5;
        let changed = property.changed_since(property.version());
        let (full, empty) = (filled.ready_to_take(), emptied.ready_to_put());
        let end = bytes.selectable();
        orders.send([what, 0]).unwrap();
        let happened = select! {
            wait(event) => 0,
            wait(changed) => 1,
            wait(full) => { filled.take(); 2 }
            wait(empty) => { emptied.put(0_u32); 3 }
            wait(end) => { end.try_recv_bytes(&mut Vec::new()).unwrap(); 4 }
            recv(timeout) -> _ => panic!("{what} did not come"),
        };
        assert_eq!(happened, what);
    }
    drop(orders);
    other.ends_well();
}

/// A sender waits for room in a select, and is told when the receiver is killed.
#[test]
fn room_and_the_end_of_the_receiver_end_a_select() {
    const PATH: &str = "together::room_and_the_end_of_the_receiver_end_a_select";
    if let Some(memory) = half("receiver") {
        let receiver = Receiver::<u64>::attach(memory).unwrap();
        for number in 0..20 {
            std::thread::sleep(Duration::from_micros(number * 50));
            assert_eq!(receiver.recv(), Ok(number));
        }
        loop {
            std::thread::park();
        }
    }
    let (sender, receiver) = channel::<u64>(2).unwrap();
    let memory = receiver.hand_over().unwrap();
    let mut other = Other::start(PATH, "receiver", memory.as_fd());
    let (_thread, of_thread) = unbounded::<u64>();
    let timeout = after(LONG);
    for number in 0..22 {
        select! {
            wait(sender) => sender.try_send(number).unwrap(),
            recv(of_thread) -> _ => panic!("no thread sends"),
            recv(timeout) -> _ => panic!("no room for {number}"),
        }
    }
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            other.kill();
        });
        select! {
            wait(sender) => assert!(sender.try_send(0).unwrap_err().is_disconnected()),
            recv(of_thread) -> _ => panic!("no thread sends"),
            recv(timeout) -> _ => panic!("not told of the end"),
        }
    });
}

/// More is waited for than one sleep of the system has words for.
#[test]
fn a_select_waits_for_hundreds() {
    const PATH: &str = "together::a_select_waits_for_hundreds";
    const EVENTS: usize = 200;
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        LONG,
        |_| {},
        || {
            let events: Vec<Event> = (0..EVENTS).map(|_| Event::auto().unwrap()).collect();
            for which in (0..EVENTS).step_by(7).chain([0, EVENTS - 1]) {
                let set = &events[which];
                std::thread::scope(|threads| {
                    threads.spawn(|| {
                        std::thread::sleep(Duration::from_millis(2));
                        set.set();
                    });
                    let mut select = Select::new();
                    for event in &events {
                        select.wait(event);
                    }
                    let operation = select.select_timeout(LONG).unwrap();
                    assert_eq!(operation.index(), which);
                    operation.wait(set);
                });
            }
            let threads = wake_threads();
            // What has no room among the words of one sleep is waited for by others.
            assert!(!threads.is_empty() && threads.len() < 5, "{threads:?}");
        },
    );
}

/// The threads that wait for tasks and selects.
pub(crate) fn wake_threads() -> Vec<PathBuf> {
    threads_called(WAKE_THREAD)
}

pub(crate) const WAKE_THREAD: &str = "tamtam-ipc-wake";

/// Waits until there is one thread of this name, and it has not run for a while.
pub(crate) fn until_it_sleeps(name: &str) {
    let patience = Instant::now() + LONG;
    // A thread gives itself its name.
    while threads_called(name).is_empty() {
        assert!(Instant::now() < patience, "there is no thread");
        std::thread::yield_now();
    }
    let threads = threads_called(name);
    assert_eq!(threads.len(), 1);
    let worked = || fs::read_to_string(threads[0].join("schedstat")).unwrap();
    let sleeps = || {
        let before = worked();
        std::thread::sleep(Duration::from_millis(400));
        worked() == before
    };
    // As soon as it has come to that.
    while !sleeps() {
        assert!(Instant::now() < patience, "it runs");
    }
}

/// The threads of this process that have a name.
pub(crate) fn threads_called(name: &str) -> Vec<PathBuf> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let paths = tasks.map(|task| task.unwrap().path());
    let is_it = |path: &PathBuf| {
        fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim() == name)
    };
    paths.filter(is_it).collect()
}

/// Polls it once, which has the wake thread wait for it.
fn assert_is_pending<F: Future<Output: std::fmt::Debug>>(future: F) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let polled = std::pin::pin!(future).poll(&mut context);
    assert!(polled.is_pending(), "{polled:?}");
}

/// Where the system has a sleep on several words, no thread stands between what comes and the thread that selects.
#[test]
fn a_thread_that_selects_sleeps_by_itself() {
    const PATH: &str = "together::a_thread_that_selects_sleeps_by_itself";
    if !tamtam_wait::Futex::can_wait_any() {
        println!("skipped: this system has no sleep on several words");
        return;
    }
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        LONG,
        |_| {},
        || {
            let (sender, mut receiver) = channel::<u64>(4).unwrap();
            let there = Sender::<u64>::attach(sender.memory().try_clone_to_owned().unwrap());
            let there = there.unwrap();
            let (thread, of_thread) = unbounded::<u64>();
            let (order, orders) = unbounded::<u64>();
            let sending = std::thread::spawn(move || {
                for number in orders {
                    // So that the other one sleeps, mostly.
                    std::thread::sleep(Duration::from_micros(number % 7 * 50));
                    match number % 3 {
                        0 => there.send(number).unwrap(),
                        1 => thread.send(number).unwrap(),
                        _ => {
                            there.send(number).unwrap();
                            thread.send(number).unwrap();
                        }
                    }
                }
            });
            let process = receiver.selectable();
            for number in 0..600 {
                order.send(number).unwrap();
                for _ in 0..1 + u64::from(number % 3 == 2) {
                    select! {
                        wait(process) => assert_eq!(process.try_recv(), Ok(number)),
                        recv(of_thread) -> came => assert_eq!(came, Ok(number)),
                        default(LONG) => panic!("{number} did not come"),
                    }
                }
                select! {
                    wait(process) => panic!("nothing was sent"),
                    recv(of_thread) -> _ => panic!("nothing was sent"),
                    default(Duration::from_micros(number % 3 * 100)) => {}
                }
            }
            assert!(wake_threads().is_empty());
            drop(order);
            sending.join().unwrap();
        },
    );
}

/// A process that changes a word all the time, and brings nothing, ends no wait, and keeps none beyond its time.
#[test]
fn a_word_that_changes_all_the_time_keeps_no_select_beyond_its_time() {
    let event = Event::auto().unwrap();
    let other = Event::attach(event.memory().try_clone_to_owned().unwrap()).unwrap();
    let (_thread, of_thread) = unbounded::<u64>();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                other.set();
                let _ = other.try_wait();
            }
        });
        let began = Instant::now();
        let mut came = 0;
        while began.elapsed() < Duration::from_millis(300) {
            select! {
                wait(event) => came += 1,
                recv(of_thread) -> _ => panic!("no thread sends"),
                default(Duration::from_millis(5)) => {}
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(began.elapsed() < Duration::from_secs(20), "{came} came");
    });
}

/// The thread costs nothing while what is waited for does not come, nor when no task waits any more.
#[test]
fn the_wake_thread_sleeps() {
    const PATH: &str = "together::the_wake_thread_sleeps";
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        LONG,
        |_| {},
        || {
            assert!(wake_threads().is_empty());
            let (_sender, mut receiver) = channel::<u64>(4).unwrap();
            let receiving = receiver.recv_async();
            assert_is_pending(receiving);
            until_it_sleeps(WAKE_THREAD);
        },
    );
}

/// What no task waits for any more is not kept by the thread that has waited for it.
#[test]
fn what_was_waited_for_is_given_up_with_its_end() {
    const PATH: &str = "together::what_was_waited_for_is_given_up_with_its_end";
    tamtam_testing::in_a_process_of_its_own(
        PATH,
        LONG,
        |_| {},
        || {
            let mapped = || {
                let maps = fs::read_to_string("/proc/self/maps").unwrap();
                maps.lines()
                    .filter(|line| line.contains("memfd:tamtam"))
                    .count()
            };
            for _ in 0..50 {
                let (event, other) = (Event::manual().unwrap(), Event::manual().unwrap());
                assert_is_pending(event.wait_async());
                let soon = after(Duration::from_micros(200));
                select! {
                    wait(event) => panic!("it was not set"),
                    wait(other) => panic!("it was not set"),
                    recv(soon) -> _ => {}
                }
            }
            let patience = Instant::now() + LONG;
            while mapped() > 0 {
                assert!(Instant::now() < patience, "{} are mapped", mapped());
                std::thread::sleep(Duration::from_millis(1));
            }
        },
    );
}

/// Encoded messages of another process and those of threads end one wait.
#[cfg(feature = "serde")]
#[test]
fn encoded_messages_are_among_what_a_select_waits_for() {
    use tamtam_ipc::{EncodedReceiver, EncodedSender, encoded_channel};

    const PATH: &str = "together::encoded_messages_are_among_what_a_select_waits_for";
    const ROUNDS: u64 = 1_000;
    if let Some(memory) = half("sends") {
        let sender = EncodedSender::<String>::attach(memory).unwrap();
        for round in 0..ROUNDS {
            sender.send(round.to_string()).unwrap();
        }
        return;
    }
    let (sender, mut receiver) = encoded_channel::<String>(2, 20).unwrap();
    let other = Other::start(PATH, "sends", sender.memory());
    let (of_threads, thread) = unbounded::<u64>();
    let threads = std::thread::spawn(move || {
        for round in 0..ROUNDS {
            of_threads.send(round).unwrap();
        }
        // Until all has come: its end would be ready again and again.
        of_threads
    });
    let timeout = after(LONG);
    let (mut from_process, mut from_thread) = (0, 0);
    while from_process < ROUNDS || from_thread < ROUNDS {
        let end: tamtam_ipc::Selectable<'_, EncodedReceiver<String>> = receiver.selectable();
        select! {
            wait(end) => {
                assert_eq!(end.try_recv().unwrap(), from_process.to_string());
                from_process += 1;
            }
            recv(thread) -> round => {
                assert_eq!(round, Ok(from_thread));
                from_thread += 1;
            }
            recv(timeout) -> _ => panic!("{from_process} and {from_thread} came"),
        }
    }
    drop((threads.join().unwrap(), sender));
    other.ends_well();
}

/// The answer of an actor, a message of another process, and time: in one sleep, for which no other thread sleeps.
#[cfg(feature = "link")]
#[test]
fn an_answer_is_among_what_a_select_waits_for() {
    use tamtam_actor::{Pool, Reply};

    const PATH: &str = "together::an_answer_is_among_what_a_select_waits_for";
    const ROUNDS: u64 = 300;
    if let Some(memory) = half("sends") {
        let sender = Sender::<u64>::attach(memory).unwrap();
        for number in 0..ROUNDS {
            if number % 8 == 0 {
                std::thread::sleep(Duration::from_micros(700));
            }
            sender.send(number).unwrap();
        }
        return;
    }
    let rounds = || {
        let pool = Pool::with_threads(1);
        let slow = pool.spawn_fn(|(number, reply): (u64, Reply<u64>), _| {
            if number % 8 == 0 {
                std::thread::sleep(Duration::from_micros(500));
            }
            reply.send(number);
        });
        let (sender, mut receiver) = channel::<u64>(4).unwrap();
        let other = Other::start(PATH, "sends", sender.memory());
        let timeout = after(LONG);
        let (mut from_process, mut answered) = (0, 0);
        let mut answer = slow.ask_pending(|reply| (0, reply)).unwrap();
        while from_process < ROUNDS || answered < ROUNDS {
            let process = receiver.selectable();
            select! {
                wait(process) => {
                    assert_eq!(process.try_recv(), Ok(from_process));
                    from_process += 1;
                }
                wait(answer) => {
                    assert_eq!(answer.try_take(), Some(Ok(answered)));
                    answered += 1;
                    answer = slow.ask_pending(|reply| (answered, reply)).unwrap();
                }
                recv(timeout) -> _ => panic!("{from_process} and {answered} came"),
            }
        }
        assert!(wake_threads().is_empty() || !tamtam_wait::Futex::can_wait_any());
        drop(sender);
        other.ends_well();
    };
    tamtam_testing::in_a_process_of_its_own(PATH, LONG, |_| {}, rounds);
}

/// A thread waits for answers of another side's actor, in a turn, too, where what it has written is not left until the turn's end.
#[cfg(feature = "link")]
#[test]
fn answers_over_a_link_are_among_what_a_select_waits_for() {
    use std::os::unix::net::UnixStream;
    use tamtam_actor::{Address, AskError, Fate, Pool, Reply};
    use tamtam_link::{Link, carrier};

    type Question = (u64, Reply<u64>);

    let pool = Pool::with_threads(2);
    let mut kept = Vec::new();
    let actor = pool.spawn_fn(move |(number, reply): Question, _| match number {
        0 => kept.push(reply),
        number => reply.send(number * number),
    });
    let (one, other) = UnixStream::pair().unwrap();
    let here = carrier::unix(Link::builder(), one).unwrap();
    let there = carrier::unix(Link::builder().root(&actor), other).unwrap();
    let far: Address<Question> = here.root();
    let select = |far: &Address<Question>| {
        let never = far.ask_pending(|reply| (0, reply)).unwrap();
        let answer = far.ask_pending(|reply| (7, reply)).unwrap();
        let timeout = after(LONG);
        select! {
            wait(never) => panic!("it is kept"),
            wait(answer) => answer.try_take().unwrap(),
            recv(timeout) -> _ => panic!("no answer came"),
        }
    };
    assert_eq!(select(&far), Ok(49));
    let asker = {
        let far = far.clone();
        pool.spawn_fn(move |reply: Reply<u64>, _| reply.send(select(&far).unwrap()))
    };
    assert_eq!(asker.ask(|reply| reply), Ok(49));

    let never = far.ask_pending(|reply| (0, reply)).unwrap();
    assert_eq!(select(&far), Ok(49));
    assert!(!never.has_come());
    there.close();
    select! {
        wait(never) => match never.try_take().unwrap() {
            Err(error @ AskError::Unreachable(_)) => assert_eq!(error.fate(), Fate::Unknown),
            other => panic!("{other:?}"),
        },
        default(LONG) => panic!("not told of the end"),
    }
}

/// Sets and resets an event while a select goes to sleep, and is never ready.
struct Pulse<'a>(&'a Event);

impl Source for Pulse<'_> {
    fn try_begin(&self, _: &mut Token) -> bool {
        false
    }

    fn register(&self, _: Operation, _: &Context) -> bool {
        self.0.set();
        self.0.reset();
        false
    }

    fn unregister(&self, _: Operation, _: &Context) {}

    fn is_ready(&self) -> bool {
        false
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.register(operation, context)
    }

    fn unwatch(&self, _: Operation, _: &Context) {}
}

impl Sealed for Pulse<'_> {}
impl Waitable for Pulse<'_> {}

#[test]
fn a_manual_event_that_is_reset_at_once_ends_a_select_that_has_begun() {
    let event = Event::manual().unwrap();
    let pulse = Pulse(&event);
    let mut select = Select::new_biased();
    select.wait(&pulse);
    let waited = select.wait(&event);
    let operation = select.select_timeout(LONG).expect("it was set");
    assert_eq!(operation.index(), waited);
    operation.wait(&event);
    assert_eq!(select.ready_timeout(LONG), Ok(waited));
    assert!(!event.is_set());
    // One that begins after the reset waits.
    let mut later = Select::new();
    later.wait(&event);
    assert!(later.try_select().is_err());
    assert!(later.select_timeout(Duration::from_millis(5)).is_err());
}

/// Each pulse comes while the select sleeps, and is over when that looks.
#[test]
fn a_manual_event_that_another_process_resets_at_once_ends_a_select_that_sleeps() {
    const PATH: &str =
        "together::a_manual_event_that_another_process_resets_at_once_ends_a_select_that_sleeps";
    const ROUNDS: u32 = 30;
    if let Some(memory) = half("pulses") {
        let orders = Receiver::<u32>::attach(memory).unwrap();
        let event = Event::attach(crate::other::further(orders.recv().unwrap())).unwrap();
        while orders.recv().is_ok() {
            event.set();
            event.reset();
        }
        return;
    }
    use std::os::fd::AsRawFd;
    let (orders, order) = channel::<u32>(4).unwrap();
    let memory = order.hand_over().unwrap();
    let other = Other::start(PATH, "pulses", memory.as_fd());
    let event = Event::manual().unwrap();
    orders
        .send(event.memory().as_raw_fd().cast_unsigned())
        .unwrap();
    let (_thread, of_thread) = unbounded::<u64>();
    for round in 0..ROUNDS {
        std::thread::scope(|threads| {
            let waiting = Waiting::start(threads, || {
                select! {
                    wait(event) => true,
                    recv(of_thread) -> _ => panic!("no thread sends"),
                    default(LONG) => false,
                }
            });
            waiting.sleeps();
            orders.send(round).unwrap();
            assert!(waiting.join(), "the pulse of round {round}");
        });
        while event.is_set() {
            std::thread::yield_now();
        }
    }
    drop(orders);
    other.ends_well();
}
