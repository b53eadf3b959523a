//! Another side that reads nothing: what it costs is given back when the link ends, whatever it does.

use std::any::Any;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::time::Duration;

use tamtam_actor::{Address, Pool};
use tamtam_link::{Link, LinkBuilder, LinkEnd, carrier};

use crate::resources::Resources;

pub(crate) const TESTS: &[(&str, fn())] = &[
    (
        "unread::another_side_that_never_reads_keeps_nothing_of_a_closed_link",
        another_side_that_never_reads_keeps_nothing_of_a_closed_link,
    ),
    (
        "unread::another_side_that_never_reads_keeps_nothing_of_a_link_that_ended_for_it",
        another_side_that_never_reads_keeps_nothing_of_a_link_that_ended_for_it,
    ),
    (
        "unread::a_side_that_reads_only_after_the_close_gets_all_that_was_told",
        a_side_that_reads_only_after_the_close_gets_all_that_was_told,
    ),
    (
        "unread::what_connects_and_says_nothing_keeps_nothing",
        what_connects_and_says_nothing_keeps_nothing,
    ),
];

/// A link, and the other side of its carrier, which reads nothing, with how many descriptors that has.
type Meet = fn(LinkBuilder) -> (Link, Box<dyn Any + Send>, usize);

const CARRIERS: &[Meet] = &[
    |builder| {
        let (here, there) = UnixStream::pair().unwrap();
        let link = carrier::unix(builder, here).unwrap();
        (link, Box::new(there), 1)
    },
    |builder| {
        let (here, there) = connected();
        let link = carrier::tcp(builder, here).unwrap();
        (link, Box::new(there), 1)
    },
    |builder| {
        let (to_here, from_there) = std::io::pipe().unwrap();
        let (to_there, from_here) = std::io::pipe().unwrap();
        let link = carrier::pipes(builder, to_here, from_here).unwrap();
        (link, Box::new((to_there, from_there)), 2)
    },
    |builder| {
        // Streams that can be closed from outside.
        let (here, there) = UnixStream::pair().unwrap();
        let (read, write) = (here.try_clone().unwrap(), here.try_clone().unwrap());
        let close = move || drop(here.shutdown(std::net::Shutdown::Both));
        let link = carrier::streams(builder, read, write, close).unwrap();
        (link, Box::new(there), 1)
    },
    #[cfg(feature = "tls")]
    crate::tls::unread,
];

pub(crate) fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    (here, there)
}

/// A text: its bytes are copied at once, those of a list one by one.
fn message() -> String {
    "x".repeat(64 << 10)
}

/// More than any carrier takes that is not read.
const MORE: usize = 512;

fn another_side_that_never_reads_keeps_nothing_of_a_closed_link() {
    let before = Resources::at_rest();
    let ends: Vec<_> = CARRIERS.iter().map(|meet| meet(Link::builder())).collect();
    for (link, _, _) in &ends {
        let far: Address<String> = link.root();
        for _ in 0..MORE {
            far.tell(message()).unwrap();
        }
        link.close();
        assert_eq!(link.ended(), Some(LinkEnd::Closed));
    }
    // The other sides are there, and so are these ends of the links.
    let others: usize = ends.iter().map(|(_, _, descriptors)| descriptors).sum();
    let expected = Resources {
        descriptors: before.descriptors + others,
        ..before
    };
    expected.wait_for("links that were closed");
    drop(ends);
    before.wait_for("links and their other sides are gone");
}

fn another_side_that_never_reads_keeps_nothing_of_a_link_that_ended_for_it() {
    let before = Resources::at_rest();
    let builder = || Link::builder().most_unread(1 << 20);
    let ends: Vec<_> = CARRIERS.iter().map(|meet| meet(builder())).collect();
    for (link, _, _) in &ends {
        let far: Address<String> = link.root();
        // The thread that writes waits in the middle of it when this is refused.
        while far.tell(message()).is_ok() {}
        assert!(matches!(link.ended(), Some(LinkEnd::Unread(_))));
    }
    let others: usize = ends.iter().map(|(_, _, descriptors)| descriptors).sum();
    let expected = Resources {
        descriptors: before.descriptors + others,
        ..before
    };
    expected.wait_for("links that have ended");
    drop(ends);
    before.wait_for("links and their other sides are gone");
}

/// It is there as long as the test is, and neither speaks nor reads, whether there is something to read or not.
fn what_connects_and_says_nothing_keeps_nothing() {
    let before = Resources::at_rest();
    let limit = Duration::from_millis(50);
    let ends: Vec<_> = CARRIERS
        .iter()
        .flat_map(|meet| [meet, meet])
        .map(|meet| meet(Link::builder().hello_limit(limit)))
        .collect();
    for (place, (link, _, _)) in ends.iter().enumerate() {
        let far: Address<String> = link.root();
        // The thread that writes for every other one waits in the middle of it.
        for _ in 0..if place % 2 == 0 { 0 } else { MORE } {
            let _ = far.tell(message());
        }
    }
    let others: usize = ends.iter().map(|(_, _, descriptors)| descriptors).sum();
    let expected = Resources {
        descriptors: before.descriptors + others,
        ..before
    };
    expected.wait_for("links on which nothing was said");
    for (link, _, _) in &ends {
        assert_eq!(link.ended(), Some(LinkEnd::Silent(limit)));
        let told = link.root::<String>().tell(String::new()).unwrap_err();
        assert!(
            told.to_string().contains("not said hello within 50ms"),
            "{told}"
        );
    }
    drop(ends);
    before.wait_for("links and their other sides are gone");
}

fn a_side_that_reads_only_after_the_close_gets_all_that_was_told() {
    let before = Resources::at_rest();
    let pool = Pool::with_threads(1);
    let (note, noted) = mpsc::channel();
    let list = pool.spawn_fn(move |text: String, _| note.send(text.len()).unwrap());
    let (here, there) = UnixStream::pair().unwrap();
    // It has a root, too, whose end is the link's.
    let link = carrier::unix(Link::builder().root(&list), here).unwrap();
    let far: Address<String> = link.root();
    for _ in 0..MORE {
        far.tell(message()).unwrap();
    }
    link.close();
    let other = carrier::unix(Link::builder().root(&list), there).unwrap();
    for _ in 0..MORE {
        let length = noted.recv_timeout(Duration::from_secs(20)).unwrap();
        assert_eq!(length, 64 << 10);
    }
    assert!(other.root::<String>().end().wait().reason.is_abnormal());
    let end = other.ended();
    assert!(matches!(end, Some(LinkEnd::Goodbye(_))), "{end:?}");
    drop((list, pool, link, other));
    before.wait_for("both ends have ended");
}
