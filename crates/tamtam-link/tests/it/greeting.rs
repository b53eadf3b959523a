//! How long a carrier waits for the first words of the other side, by a time that is moved by hand.
#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use tamtam_actor::{Address, AskError, Pool, Reply, Time};
use tamtam_link::{Link, LinkEnd, carrier};

use crate::carriers;
use crate::suite::until;

const LIMIT: Duration = Duration::from_secs(7);

/// What an end of a link says first.
fn hello() -> Vec<u8> {
    let (link, _inbound) = Link::builder().build(|| {});
    let mut hello = Vec::new();
    link.take_outgoing(&mut hello);
    hello
}

#[test]
fn hello_has_to_come_as_a_whole_within_the_limit() {
    let time = Time::manual();
    let (here, mut there) = UnixStream::pair().unwrap();
    let builder = Link::builder().time(time.clone()).hello_limit(LIMIT);
    let link = carrier::unix(builder, here).unwrap();
    let far: Address<Reply<()>> = link.root();
    let question = thread::spawn(move || far.ask(|reply| reply));
    until("it is asked", || link.pending() == 1);
    let hello = hello();
    for byte in &hello[..hello.len() - 1] {
        there.write_all(&[*byte]).unwrap();
        time.advance(LIMIT / 1_000);
    }
    assert_eq!(link.ended(), None);
    time.advance(LIMIT);
    assert_eq!(link.ended(), Some(LinkEnd::Silent(LIMIT)));
    match question.join().unwrap() {
        Err(AskError::Unreachable(failure)) => {
            assert!(
                failure.text().contains("not said hello within 7s"),
                "{failure}"
            );
        }
        other => panic!("{other:?}"),
    }
    // It is told why, and the socket is given back.
    let mut said = Vec::new();
    there.read_to_end(&mut said).unwrap();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("no hello has come within 7s"), "{said:?}");
    assert_eq!(time.timers(), 0);
}

#[test]
fn a_side_that_has_said_hello_may_be_silent_for_ever() {
    for (name, pair) in carriers::ALL {
        println!("over {name}");
        let time = Time::manual();
        let pool = Pool::with_threads(1);
        let doubler = pool.spawn_fn(|(number, reply): (u32, Reply<u32>), _| reply.send(2 * number));
        let builder = || Link::builder().time(time.clone()).hello_limit(LIMIT);
        let (one, other) = pair(builder(), builder().root(&doubler));
        let far: Address<(u32, Reply<u32>)> = one.root();
        assert_eq!(far.ask(|reply| (21, reply)), Ok(42));
        until("no time runs for either hello", || time.timers() == 0);
        time.advance(100 * LIMIT);
        assert_eq!(far.ask(|reply| (4, reply)), Ok(8));
        assert_eq!((one.ended(), other.ended()), (None, None));
        one.close();
    }
}
