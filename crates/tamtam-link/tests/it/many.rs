//! What a message with many addresses in it costs, and messages to many actors: each as much as one of a few.
#![cfg(target_os = "linux")]

use std::sync::mpsc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tamtam_actor::{Address, Pool, Reply};
use tamtam_link::{Inbound, Link};

const FEW: usize = 2_000;
const MANY: usize = 10 * FEW;

/// How much of a processor this thread takes for that.
fn cpu_time(work: impl FnOnce()) -> Duration {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let begun = now();
    work();
    now() - begun
}

/// Ten times as much may take thirty times as long: a hundred times is what a list takes that is gone over for each. The shortest of
/// some runs counts.
fn grows_with_their_number(mut time_of: impl FnMut(usize) -> Duration) {
    let mut shortest = |count| (0..5).map(|_| time_of(count)).min().unwrap();
    let (few, many) = (shortest(FEW), shortest(MANY));
    assert!(many < few * 30, "{FEW} in {few:?}, {MANY} in {many:?}");
}

fn carry(from: &Link, to: &mut Inbound) {
    let mut bytes = Vec::new();
    from.take_outgoing(&mut bytes);
    to.receive(&bytes).unwrap();
}

#[test]
fn a_message_with_many_addresses_takes_no_longer_for_each() {
    let pool = Pool::with_threads(1);
    grows_with_their_number(|count| {
        let actors: Vec<Address<u8>> = (0..count).map(|_| pool.spawn_fn(|_, _| {})).collect();
        let root = pool.spawn_fn(|_: Vec<Address<u8>>, _| {});
        let (there, mut to_there) = Link::builder().root(&root).build(|| {});
        let (here, mut to_here) = Link::builder().build(|| {});
        carry(&there, &mut to_here);
        here.root().tell(actors).unwrap();
        cpu_time(|| carry(&here, &mut to_there))
    });
}

#[test]
fn a_message_with_many_replies_takes_no_longer_for_each() {
    let pool = Pool::with_threads(1);
    grows_with_their_number(|count| {
        let root = pool.spawn_fn(|_: Vec<Reply<u8>>, _| {});
        let (there, mut to_there) = Link::builder().root(&root).build(|| {});
        let (here, mut to_here) = Link::builder().build(|| {});
        carry(&there, &mut to_here);
        let replies: Vec<Reply<u8>> = (0..count).map(|_| Reply::to(drop)).collect();
        here.root().tell(replies).unwrap();
        cpu_time(|| carry(&here, &mut to_there))
    });
}

#[test]
fn messages_to_many_actors_take_no_longer_for_each() {
    let pool = Pool::with_threads(1);
    grows_with_their_number(|count| {
        let actors: Vec<Address<u8>> = (0..count).map(|_| pool.spawn_fn(|_, _| {})).collect();
        let (say, said) = mpsc::channel();
        let root = pool.spawn_fn(move |far: Vec<Address<u8>>, _| say.send(far).unwrap());
        let (there, mut to_there) = Link::builder().root(&root).build(|| {});
        let (here, mut to_here) = Link::builder().build(|| {});
        carry(&there, &mut to_here);
        here.root().tell(actors).unwrap();
        carry(&here, &mut to_there);
        let far = said.recv().unwrap();
        carry(&there, &mut to_here);
        for actor in &far {
            actor.tell(1).unwrap();
        }
        let mut bytes = Vec::new();
        there.take_outgoing(&mut bytes);
        cpu_time(|| to_here.receive(&bytes).unwrap())
    });
}
