//! What lies in an arena, by its name among the properties of two processes.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use tamtam_ipc::{
    Arena, AttachError, BytesReceiver, BytesSender, GetSharedError, Mutex, Properties, Receiver,
    Sender, SetSharedError, SharedBytes, Value,
};

use crate::other::{Numbers, Other, further, half, memory_of};

const LONG: Duration = Duration::from_secs(30);
/// By this name each process says which of its descriptors is that of its arena.
const OF_TEST: &str = "arena of the test";
const OF_OTHER: &str = "arena of the other";

fn number_of(arena: &Arena) -> i64 {
    i64::from(arena.memory().as_raw_fd())
}

/// The number that another process has set, once it has.
fn number(properties: &Properties, name: &str) -> u32 {
    properties.wait_changed(name, 0);
    match properties.get(name) {
        Some(Value::Integer(number)) => u32::try_from(number).expect("a descriptor"),
        other => panic!("{name}: {other:?}"),
    }
}

/// Properties and an arena in which names of theirs may lie.
fn properties(bytes: usize) -> (Properties, Arena) {
    let arena = Arena::create(bytes).unwrap();
    let properties = Properties::create(10, 64).unwrap().with_arena(&arena);
    properties.set(OF_TEST, number_of(&arena)).unwrap();
    (properties, arena)
}

/// Those of the test, in its other process.
fn of_test(name: &str) -> Option<(Properties, Arena)> {
    let properties = Properties::attach(half(name)?).unwrap();
    let arena = Arena::attach(further(number(&properties, OF_TEST))).unwrap();
    Some((properties.with_arena(&arena), arena))
}

fn wait_for(properties: &Properties, name: &str) {
    let waited = properties.wait_changed_timeout(name, 0, LONG);
    waited.unwrap_or_else(|_| panic!("{name} was not set"));
}

#[test]
fn each_of_two_processes_gets_the_living_thing_by_the_name_that_the_other_has_set() {
    const PATH: &str =
        "named::each_of_two_processes_gets_the_living_thing_by_the_name_that_the_other_has_set";
    if let Some((there, _)) = of_test("gets") {
        wait_for(&there, "sender");
        // It is the very mutex: the test holds it while this waits.
        let count: Mutex<u64> = there.get_shared("count").unwrap();
        assert!(count.try_lock().is_err(), "the test holds it");
        there.set("asks", true).unwrap();
        count.lock().unwrap().update(|count| count + 1);
        let picture: SharedBytes = there.get_shared("picture").unwrap();
        assert_eq!(picture.len(), 5000);
        picture.write_at(4990, b"pixels").unwrap();
        // Ends: one is taken, the other is one more.
        let orders: Receiver<u64> = there.take_receiver("orders").unwrap();
        let answers: Sender<u64> = there.get_shared("sender").unwrap();
        answers.send(orders.recv().unwrap() * 2).unwrap();

        // The other way: in an arena of this process, and of the same kinds.
        let own = Arena::create(1 << 16).unwrap();
        let there = there.with_arena(&own);
        there.set(OF_OTHER, number_of(&own)).unwrap();
        let back = own.mutex([7_u32; 3]).unwrap();
        there.set_shared("count", &back).unwrap();
        let (sender, receiver) = own.bytes_channel(4, 100).unwrap();
        there.set_receiver("news", receiver).unwrap();
        there.set_shared("to news", &sender).unwrap();
        drop(sender);
        there.set("is there", true).unwrap();
        wait_for(&there, "is seen");
        assert_eq!(back.lock().unwrap().get(), [7, 8, 7]);
        return;
    }
    let (here, arena) = properties(1 << 16);
    let other = Other::start(PATH, "gets", here.memory());
    let count = arena.mutex(5_u64).unwrap();
    let guard = count.lock().unwrap();
    here.set_shared("count", &count).unwrap();
    // The name keeps it alone.
    here.set_shared("picture", &arena.shared_bytes(5000).unwrap())
        .unwrap();
    let (orders, receiver) = arena.channel::<u64>(4).unwrap();
    let (sender, answers) = arena.channel::<u64>(4).unwrap();
    here.set_receiver("orders", receiver).unwrap();
    orders.send(21).unwrap();
    here.set_shared("sender", &sender).unwrap();
    wait_for(&here, "asks");
    drop(guard);
    assert_eq!(answers.recv(), Ok(42));
    assert_eq!(count.lock().unwrap().get(), 6);
    let picture: SharedBytes = here.get_shared("picture").unwrap();
    assert_eq!(picture.to_vec()[4989..4997], *b"\0pixels\0");
    assert!(!here.contains("orders"), "it was taken");

    wait_for(&here, "is there");
    let error = here.get_shared::<Mutex<[u32; 3]>>("count").unwrap_err();
    assert!(
        matches!(error, GetSharedError::OtherArena { .. }),
        "{error}"
    );
    let path = format!("/proc/{}/fd/{}", other.id(), number(&here, OF_OTHER));
    let memory = File::options().read(true).write(true).open(path).unwrap();
    let here = here.with_arena(&Arena::attach(memory.into()).unwrap());
    let count: Mutex<[u32; 3]> = here.get_shared("count").unwrap();
    count.lock().unwrap().update(|[a, b, c]| [a, b + 1, c]);
    let news: BytesReceiver = here.take_receiver("news").unwrap();
    let to_news: BytesSender = here.get_shared("to news").unwrap();
    to_news.send(b"twice").unwrap();
    assert_eq!(news.recv_with(|bytes| bytes.len()), Ok(5));
    here.set("is seen", true).unwrap();
    other.ends_well();
    // The name had kept a sender, in the process that has ended.
    drop(to_news);
    assert!(news.recv_with(|_| ()).is_err());
}

#[test]
fn what_is_something_else_is_refused_by_its_name() {
    let (here, arena) = properties(1 << 16);
    let count = arena.mutex(5_u64).unwrap();
    here.set_shared("count", &count).unwrap();
    here.set("rows", 20_i64).unwrap();
    let (sender, receiver) = arena.channel::<u64>(4).unwrap();
    here.set_receiver("orders", receiver).unwrap();
    here.set_shared("to orders", &sender).unwrap();

    let said = |error: GetSharedError| error.to_string();
    assert_eq!(
        said(here.get_shared::<SharedBytes>("count").unwrap_err()),
        r#"the property "count" is a mutex, and shared bytes was asked for"#
    );
    assert_eq!(
        said(here.get_shared::<Sender<u64>>("orders").unwrap_err()),
        r#"the property "orders" is a channel's receiver, and a channel's sender was asked for"#
    );
    assert_eq!(
        said(here.take_receiver::<Receiver<u64>>("rows").unwrap_err()),
        r#"the property "rows" is a whole number, and a channel's receiver was asked for"#
    );
    let of_type = said(here.get_shared::<Mutex<[u32; 2]>>("count").unwrap_err());
    assert!(
        of_type.starts_with(r#"the property "count" is a mutex that is not to be had: "#)
            && of_type.contains("u64")
            && of_type.contains("[u32; 2]"),
        "{of_type}"
    );
    let of_bytes = here.get_shared::<BytesSender>("to orders").unwrap_err();
    assert!(said(of_bytes).contains("bytes"));
    let none = here.get_shared::<Mutex<u64>>("nothing").unwrap_err();
    assert!(matches!(none, GetSharedError::NotSet { .. }), "{none}");
    // It is still there for one that asks for what it is.
    assert!(here.take_receiver::<Receiver<u64>>("orders").is_ok());

    // What has no place in an arena, or one in another arena.
    let own = here.set_shared("own", &Mutex::create(5_u64).unwrap());
    assert!(matches!(own, Err(SetSharedError::NotInArena { .. })));
    let elsewhere = Arena::create(1 << 12).unwrap().mutex(5_u64).unwrap();
    let elsewhere = here.set_shared("own", &elsewhere);
    assert!(matches!(elsewhere, Err(SetSharedError::OtherArena { .. })));
    assert!(!here.contains("own"));
    // No room for a reference.
    let small = Properties::create(10, 31).unwrap().with_arena(&arena);
    let refused = small.set_shared("count", &count);
    assert!(matches!(refused, Err(SetSharedError::Set(_))));
}

#[test]
fn a_thing_stays_as_long_as_a_name_stands_for_it() {
    let arena = Arena::create(10_000).unwrap();
    let here = Properties::create(10, 64).unwrap().with_arena(&arena);
    let there = Properties::attach(here.memory().try_clone_to_owned().unwrap()).unwrap();
    let there = there.with_arena(&arena);
    // It fills the arena more than by half.
    let bytes = || arena.shared_bytes(6000);
    for (round, change) in [0, 1, 2].into_iter().enumerate() {
        let picture = bytes().unwrap();
        picture.write_at(0, &[round as u8 + 1]).unwrap();
        here.set_shared("picture", &picture).unwrap();
        drop(picture);
        assert!(bytes().is_err(), "the name keeps it");
        let picture: SharedBytes = there.get_shared("picture").unwrap();
        assert_eq!(picture.to_vec()[..2], [round as u8 + 1, 0]);
        drop(picture);
        match change {
            0 => here.set("picture", 5_i64).unwrap(),
            1 => assert!(here.remove("picture")),
            // Of another one's change it learns with its next thing.
            _ => {
                there.set("picture", 5_i64).unwrap();
                assert!(bytes().is_err());
                let count = arena.mutex(1_u64).unwrap();
                here.set_shared("count", &count).unwrap();
            }
        }
        assert!(bytes().is_ok(), "{change}");
    }
    // With the handle goes what it has kept.
    drop(here);
    let all = arena.shared_bytes(8_500).unwrap();
    let over = there.get_shared::<Mutex<u64>>("count").unwrap_err();
    assert!(matches!(over, GetSharedError::Attach { .. }), "{over}");
    drop(all);
}

#[test]
fn what_a_name_stands_for_stays_also_if_another_thread_has_just_removed_what_was_before() {
    // Room for a mutex of this name and for one that takes its place.
    let arena = Arena::create(3000).unwrap();
    // So many names that a look takes some time.
    let properties = Properties::create(2000, 32).unwrap().with_arena(&arena);
    let set = |value: u64| properties.set_shared("a", &arena.mutex(value).unwrap());
    let mut kept = 0;
    for round in 0..4000_u64 {
        set(round).unwrap();
        let barrier = Barrier::new(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                barrier.wait();
                properties.remove("a");
            });
            barrier.wait();
            set(round + 1).unwrap();
        });
        // Whichever was last: there is no such name, or it stands for a mutex that the handle keeps, whatever else takes its room.
        if properties.contains("a") {
            let others: Vec<_> = std::iter::from_fn(|| arena.mutex(0_u64).ok()).collect();
            let mutex: Mutex<u64> = properties.get_shared("a").unwrap();
            assert_eq!(mutex.lock().unwrap().get(), round + 1);
            drop(others);
            kept += 1;
            properties.remove("a");
        }
    }
    assert!(kept > 0);
}

#[test]
fn a_name_costs_as_much_with_what_it_stands_for_as_with_a_number() {
    let arena = Arena::create(10_000).unwrap();
    let mutex = arena.mutex(1_u64).unwrap();
    let names: Vec<String> = (0..400).map(|number| format!("name {number}")).collect();
    let took = |set: &dyn Fn(&Properties, &str)| {
        let properties = Properties::create(names.len(), 32).unwrap();
        let properties = properties.with_arena(&arena);
        // Of this thread alone, whatever else runs.
        let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
        let begun = now();
        names.iter().for_each(|name| set(&properties, name));
        now() - begun
    };
    let least = |set: &dyn Fn(&Properties, &str)| (0..5).map(|_| took(set)).min().unwrap();
    let numbers = least(&|properties, name| properties.set(name, 1_i64).unwrap());
    let shared = least(&|properties, name| properties.set_shared(name, &mutex).unwrap());
    // A look at all names for each of them would be some fifteen times as much.
    assert!(shared < 5 * numbers, "{shared:?} and {numbers:?}");
}

#[test]
fn a_receiver_is_taken_by_one_of_several() {
    const PATH: &str = "named::a_receiver_is_taken_by_one_of_several";
    const TAKERS: usize = 3;
    if let Some((there, _)) = of_test("takes") {
        wait_for(&there, "orders");
        there.wait_changed("go", 0);
        if let Ok(orders) = there.take_receiver::<Receiver<u64>>("orders") {
            let taken: Sender<u64> = there.get_shared("taken").unwrap();
            for order in orders.iter() {
                taken.send(order).unwrap();
            }
        }
        return;
    }
    let (here, arena) = properties(1 << 16);
    let (orders, receiver) = arena.channel::<u64>(4).unwrap();
    let (taken, came) = arena.channel::<u64>(4).unwrap();
    here.set_shared("taken", &taken).unwrap();
    here.set_receiver("orders", receiver).unwrap();
    let takers: Vec<Other> = (0..TAKERS)
        .map(|_| Other::start(PATH, "takes", here.memory()))
        .collect();
    let patience = Instant::now() + LONG;
    while arena.processes() < 1 + TAKERS {
        assert!(Instant::now() < patience);
        std::thread::yield_now();
    }
    // Nobody receives yet, and sends do not fail.
    orders.send(1).unwrap();
    here.set("go", true).unwrap();
    for order in 2..100 {
        orders.send(order).unwrap();
        assert_eq!(came.recv(), Ok(order - 1));
    }
    assert_eq!(came.recv(), Ok(99));
    drop(orders);
    for taker in takers {
        taker.ends_well();
    }
    let gone = here.take_receiver::<Receiver<u64>>("orders").unwrap_err();
    assert!(matches!(gone, GetSharedError::NotSet { .. }), "{gone}");
    // One that was not taken is given up with its name, which senders hear.
    let (orders, receiver) = arena.channel::<u64>(4).unwrap();
    here.set_receiver("orders", receiver).unwrap();
    orders.send(1).unwrap();
    here.remove("orders");
    assert!(orders.send(2).is_err());
    // One that cannot be set comes back.
    let (orders, receiver) = arena.channel::<u64>(4).unwrap();
    let error = here.set_receiver(&"n".repeat(113), receiver).unwrap_err();
    orders.send(3).unwrap();
    assert_eq!(error.receiver.recv(), Ok(3));
}

/// The name stands for one of the two mutexes at every moment, whole, and both stay usable.
#[test]
fn a_process_that_is_killed_while_it_sets_leaves_the_old_or_the_new() {
    const PATH: &str = "named::a_process_that_is_killed_while_it_sets_leaves_the_old_or_the_new";
    if let Some((there, _)) = of_test("sets") {
        let [one, two]: [Mutex<u64>; 2] =
            ["one", "two"].map(|name| there.get_shared(name).unwrap());
        loop {
            there.set_shared("it", &one).unwrap();
            there.set_shared("it", &two).unwrap();
        }
    }
    let (here, arena) = properties(1 << 16);
    for (name, value) in [("one", 1_u64), ("two", 2), ("it", 3)] {
        let mutex = arena.mutex(value).unwrap();
        here.set_shared(name, &mutex).unwrap();
    }
    let mut numbers = Numbers(0xABBA);
    let mut seen = [0; 4];
    let until = Instant::now() + Duration::from_secs(3);
    let mut kills = 0;
    // As many as there is time for, and some in any case.
    while kills < 5 || kills < 100 && Instant::now() < until {
        let first = here.versioned("it").unwrap().0;
        let mut other = Other::start(PATH, "sets", here.memory());
        here.wait_changed("it", first);
        let killed_at = Instant::now() + Duration::from_micros(numbers.below(2_000));
        while Instant::now() < killed_at {
            let it: Mutex<u64> = here.get_shared("it").unwrap();
            drop(it);
        }
        other.kill();
        other.wait();
        let it: Mutex<u64> = here.get_shared("it").unwrap();
        let value = it.lock().unwrap().get();
        assert!([1, 2].contains(&value), "{value}");
        seen[value as usize] += 1;
        kills += 1;
    }
    println!("{kills} kills: {seen:?}");
    // Nothing that the dead ones have had is kept from the maker for ever.
    for name in ["one", "two", "it"] {
        here.remove(name);
    }
    let patience = Instant::now() + LONG;
    while arena.shared_bytes(60_000).is_err() {
        assert!(Instant::now() < patience, "the dead have it still");
        std::thread::yield_now();
    }
}

/// A process writes what it likes where the reference stands, and into the arena: an error comes, or a mutex in the arena, whatever its value.
#[test]
fn what_a_lying_process_writes_for_a_reference_is_an_error_or_something_in_the_arena() {
    let (here, arena) = properties(1 << 14);
    let count = arena.mutex(5_u64).unwrap();
    let bytes = arena.shared_bytes(100).unwrap();
    // Until each of the buffers of the name holds a record.
    for _ in 0..8 {
        here.set_shared("count", &count).unwrap();
    }
    let file = memory_of(here.memory());
    let len = file.metadata().unwrap().len() as usize;
    let mut all = vec![0; len];
    file.read_exact_at(&mut all, 0).unwrap();
    // In a record the kind stands before the name, and the value behind the head.
    let names = all
        .windows(6)
        .enumerate()
        .filter(|(_, it)| it == b"count\0");
    let records: Vec<(u64, u64)> = names
        .map(|(at, _)| (at as u64 - 8, at as u64 + 112))
        .collect();
    assert_eq!(records.len(), 4);
    let before = all[records[0].1 as usize..][..32].to_vec();
    let mut numbers = Numbers(0x11E5);
    let (mut errors, mut got) = (0, 0);
    for round in 0..5_000_u64 {
        // One that was taken stands for nothing.
        here.set_shared("count", &count).unwrap();
        // One of its words, or a byte, or its arena.
        let word = match round % 4 {
            0 => numbers.below(1 << 7) * 128,
            1 => numbers.below(u64::MAX),
            2 => u64::MAX - numbers.below(300),
            _ => 1 << numbers.below(64),
        };
        let mut lie = before.clone();
        // Of its kind alone, of what lies there, or of anything.
        let place = bytes.place().unwrap();
        match round % 3 {
            0 => {}
            1 => {
                lie[16..24].copy_from_slice(&place.offset.to_le_bytes());
                lie[24..].copy_from_slice(&place.generation.to_le_bytes());
            }
            _ => lie[8 * numbers.below(4) as usize..][..8].copy_from_slice(&word.to_le_bytes()),
        }
        for (kind, value) in &records {
            file.write_all_at(&lie, *value).unwrap();
            file.write_all_at(&[6 + (round % 4) as u8], *kind).unwrap();
        }
        let outcomes = [
            here.get_shared::<Mutex<u64>>("count").map(|count| {
                // It may be one that was never locked, and free only by chance.
                let _ = count.try_lock().map(|guard| guard.get());
            }),
            here.get_shared::<SharedBytes>("count").map(|bytes| {
                assert!(bytes.len() < 1 << 14);
                assert_eq!(bytes.to_vec().len(), bytes.len());
            }),
            here.get_shared::<Sender<u64>>("count").map(|sender| {
                let _ = sender.try_send(1);
            }),
            here.take_receiver::<Receiver<u64>>("count").map(drop),
        ];
        for outcome in outcomes {
            match outcome {
                Ok(()) => got += 1,
                Err(
                    GetSharedError::Kind { .. }
                    | GetSharedError::OtherArena { .. }
                    | GetSharedError::Attach {
                        source: AttachError::NotOurs | AttachError::Over | AttachError::Kind { .. },
                        ..
                    },
                ) => errors += 1,
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(errors > 1000 && got > 100, "{errors} {got}");
    assert_eq!(count.lock().unwrap().get(), 5);
}

/// In a message go the properties with their arenas, and what lies in one.
#[cfg(feature = "link")]
#[test]
fn properties_in_a_message_have_their_arenas_there() {
    use std::os::unix::net::UnixStream;

    use serde::{Deserialize, Serialize};
    use tamtam_actor::{Address, Pool, Reply};
    use tamtam_link::{Link, carrier};

    #[derive(Serialize, Deserialize)]
    struct Work {
        properties: Properties,
        count: Mutex<u64>,
        picture: SharedBytes,
        done: Reply<u64>,
    }

    tamtam_testing::within(LONG, || {
        let pool = Pool::with_threads(1);
        let actor = pool.spawn_fn(|work: Work, _| {
            let there = &work.properties;
            let count: Mutex<u64> = there.get_shared("count").unwrap();
            // The one in the message is the very same.
            let held = work.count.lock().unwrap();
            assert!(count.try_lock().is_err());
            drop(held);
            work.picture.write_at(1, &[9]).unwrap();
            let orders: Receiver<u64> = there.take_receiver("orders").unwrap();
            work.done
                .send(orders.recv().unwrap() + count.lock().unwrap().get());
        });
        let (here, there) = UnixStream::pair().unwrap();
        let here = carrier::unix(Link::builder(), here).unwrap();
        let _there = carrier::unix(Link::builder().root(&actor), there).unwrap();
        let far: Address<Work> = here.root();
        let (properties, arena) = properties(1 << 16);
        let memory = properties.memory().try_clone_to_owned().unwrap();
        let kept = Properties::attach(memory).unwrap().with_arena(&arena);
        let count = arena.mutex(5_u64).unwrap();
        kept.set_shared("count", &count).unwrap();
        let (orders, receiver) = arena.channel::<u64>(4).unwrap();
        kept.set_receiver("orders", receiver).unwrap();
        orders.send(37).unwrap();
        let picture = arena.shared_bytes(3).unwrap();
        let again = arena.shared_bytes_at(picture.place().unwrap()).unwrap();
        let answer = far.ask(|done| Work {
            properties,
            count,
            picture,
            done,
        });
        assert_eq!(answer.unwrap(), 42);
        assert_eq!(again.to_vec(), [0, 9, 0]);
        here.close();
    });
}
