//! A process that is not trusted and sends without regard: what waits of it in its parent, and whom it holds back.

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Pool, ProcessEnd, Reply, Restart,
};
use tamtam_process::{Limits, Process, ProcessSpawner, Remote, is_primordial};
use tamtam_testing::memory;

use crate::actors::{Count, Counter, this_program};
use crate::lives::without_memory;
use crate::{LONG, until};

crate::tests! { "flood":
    it_is_held_back_and_what_waits_of_it_is_bounded
    one_that_is_not_handled_while_it_is_asked_is_killed
    one_that_sends_more_than_is_read_says_so_as_it_ends
}

const FLOODS: &str = "TAMTAM_TEST_FLOODS";

/// Messages, and bytes of each: less than waits in the process before its link ends.
const MESSAGES: u64 = 48 << 10;
const BYTES: usize = 1_000;
const MOST: usize = 1 << 20;
/// What the parent may take for it: a third of the flood.
const MOST_MEMORY: u64 = 16 << 20;

/// Text, since bytes are encoded one by one.
type Drop = (u64, String);

pub(crate) struct Flooder;

#[derive(Serialize, Deserialize)]
pub(crate) enum Flood {
    To(Address<Drop>),
    /// More than waits in the process, whether it is taken or not.
    Drown(Address<Drop>),
    Ping(Reply<()>),
}

impl Remote for Flooder {
    type Config = ();
    const NAME: &'static str = "flooder";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Flooder)
    }
}

impl Actor for Flooder {
    type Message = Flood;

    fn handle(&mut self, message: Flood, _: &mut Context<Self>) {
        match message {
            Flood::To(to) => {
                (0..MESSAGES).for_each(|number| to.tell((number, "x".repeat(BYTES))).unwrap())
            }
            Flood::Drown(to) => {
                for number in 0..80 {
                    let _ = to.tell((number, "x".repeat(1 << 20)));
                }
            }
            Flood::Ping(reply) => reply.send(()),
        }
    }
}

fn untrusted(patience: Duration) -> ProcessSpawner {
    let limits = Limits::new().untrusted();
    Process::spawner()
        .limits(limits)
        .most_unhandled(MOST, patience)
}

fn it_is_held_back_and_what_waits_of_it_is_bounded() {
    // Alone, since memory is measured; through memory that is shared, and over a socket.
    for mut program in [this_program(), without_memory()] {
        let output = program.env(FLOODS, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        assert!(said.contains("it was bounded"), "{output:?}");
    }
}

/// What the program does that has a flooder, if this is that.
pub(crate) fn flood_if_asked() {
    if std::env::var_os(FLOODS).is_none() || !is_primordial() {
        return;
    }
    let pool = Pool::with_threads(2);
    let (let_go, gate) = mpsc::channel::<()>();
    let (note, noted) = mpsc::channel();
    let slow = pool.spawn_fn(move |(number, bytes): Drop, _| {
        // It waits at its first message.
        let _ = gate.recv();
        note.send((number, bytes.len())).unwrap();
    });
    let other = Process::spawn::<Counter>(0).unwrap();
    let (flooder, handle) = untrusted(LONG).spawn_with_handle::<Flooder>(()).unwrap();
    assert_eq!(flooder.ask(Flood::Ping), Ok(()));
    println!("by {:?}", handle.carrier());
    let (before, _) = memory("self");
    flooder.tell(Flood::To(slow)).unwrap();
    // Its answer is behind the flood, and that is held back.
    let waited = flooder.ask_timeout(Flood::Ping, Duration::from_secs(1));
    assert_eq!(waited, Err(AskError::TimedOut));
    // No other one is.
    for number in 0..100 {
        other.tell(Count::Add(1)).unwrap();
        assert_eq!(other.ask(Count::Read), Ok(number + 1));
    }
    let (_, most) = memory("self");
    drop(let_go);
    for number in 0..MESSAGES {
        assert_eq!(noted.recv_timeout(LONG), Ok((number, BYTES)));
    }
    assert_eq!(flooder.ask(Flood::Ping), Ok(()));
    assert_eq!(handle.restarts(), 0);
    println!("{} bytes more were in use", most.saturating_sub(before));
    assert!(most - before < MOST_MEMORY, "{} bytes", most - before);
    println!("it was bounded");
    std::process::exit(0);
}

fn one_that_is_not_handled_while_it_is_asked_is_killed() {
    let pool = Pool::with_threads(1);
    let (flooder, handle) = untrusted(Duration::from_secs(1))
        .spawn_with_handle::<Flooder>(())
        .unwrap();
    let (say, said) = mpsc::channel();
    let mut asked = Some(flooder.clone());
    let asker = pool.spawn_fn(move |_: Drop, _| {
        // The answer is behind what this actor would have to handle.
        if let Some(flooder) = asked.take() {
            say.send(flooder.ask(Flood::Ping)).unwrap();
        }
    });
    flooder.tell(Flood::To(asker)).unwrap();
    let answer = said.recv_timeout(LONG).unwrap();
    let error = answer.expect_err("it cannot come");
    assert!(error.to_string().contains("is awaited behind"), "{error}");
    // Where it was at the flood still, its successor has the question, and is killed for it.
    until("another one has begun", || handle.restarts() >= 1);
    assert_eq!(flooder.ask(Flood::Ping), Ok(()));
}

fn one_that_sends_more_than_is_read_says_so_as_it_ends() {
    let pool = Pool::with_threads(1);
    let (let_go, gate) = mpsc::channel::<()>();
    let slow = pool.spawn_fn(move |_: Drop, _| {
        let _ = gate.recv();
    });
    let flooder = untrusted(LONG)
        .restart(Restart::never())
        .spawn::<Flooder>(())
        .unwrap();
    flooder.tell(Flood::Drown(slow)).unwrap();
    let end = flooder.end().wait_timeout(LONG).unwrap();
    let unread = EndReason::ProcessEnded(ProcessEnd::Exited(103));
    assert_eq!(end.reason, unread);
    drop(let_go);
}
