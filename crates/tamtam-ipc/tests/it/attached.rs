//! How much another side of a link may attach here: what it sends is bounded, whatever that is.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use serde::{Deserialize, Serialize, Serializer};
use tamtam_actor::link::serialize_descriptor;
use tamtam_actor::{Address, AskError, Pool, Reply};
use tamtam_ipc::{Arena, Sender, SharedBytes, Slot};
use tamtam_link::{Link, LinkBuilder, carrier};

/// What a side keeps that takes all it is sent.
#[derive(Serialize, Deserialize)]
enum Keep<T> {
    /// One more, and how many there are.
    One(T, Reply<usize>),
    /// Drops the oldest ones.
    Drop(usize),
    Count(Reply<usize>),
}

/// Two ends, of which the one has an actor that keeps what the other one sends.
fn keeper<T, S>(pool: &Pool, builder: LinkBuilder) -> (Address<Keep<S>>, (Link, Link))
where
    T: for<'de> Deserialize<'de> + Send + 'static,
    S: Serialize + 'static,
{
    let mut kept = Vec::new();
    let keeper = pool.spawn_fn(move |message: Keep<T>, _| match message {
        Keep::One(one, reply) => {
            kept.push(one);
            reply.send(kept.len());
        }
        Keep::Drop(count) => drop(kept.drain(..count)),
        Keep::Count(reply) => reply.send(kept.len()),
    });
    let (here, there) = UnixStream::pair().unwrap();
    let there = carrier::unix(builder.root(&keeper), there).unwrap();
    let here = carrier::unix(Link::builder(), here).unwrap();
    (here.root(), (here, there))
}

/// That this was not taken, and why.
fn is_refused(answer: Result<usize, AskError>, words: &str) {
    match answer {
        Err(AskError::NotDecodable(failure)) => {
            let said = failure.text();
            assert!(said.contains(words), "{said}");
            assert!(said.contains("allow more by `most_attached`"), "{said}");
        }
        other => panic!("{other:?}"),
    }
}

fn slot() -> Slot<u64> {
    Slot::create().unwrap()
}

#[test]
fn so_many_descriptors_are_open_here_at_a_time_and_no_more() {
    let pool = Pool::with_threads(1);
    let builder = Link::builder().most_attached(5, u64::MAX);
    let (far, links) = keeper::<Slot<u64>, Slot<u64>>(&pool, builder);
    for number in 1..=5 {
        assert_eq!(far.ask(|reply| Keep::One(slot(), reply)), Ok(number));
    }
    for _ in 0..3 {
        let answer = far.ask(|reply| Keep::One(slot(), reply));
        is_refused(answer, "and 5 descriptors of");
    }
    // What was dropped counts no more, however often.
    for _ in 0..20 {
        far.tell(Keep::Drop(2)).unwrap();
        // What comes is read before the actor has its turn with it.
        assert_eq!(far.ask(Keep::Count), Ok(3));
        for number in 4..=5 {
            assert_eq!(far.ask(|reply| Keep::One(slot(), reply)), Ok(number));
        }
        is_refused(
            far.ask(|reply| Keep::One(slot(), reply)),
            "and 5 descriptors",
        );
    }
    assert_eq!(far.ask(Keep::Count), Ok(5));
    assert_eq!((links.0.ended(), links.1.ended()), (None, None));
}

#[test]
fn so_many_bytes_are_attached_here_at_a_time_and_no_more() {
    const MEBIBYTE: usize = 1 << 20;
    let pool = Pool::with_threads(1);
    // With room for the headers of three.
    let builder = Link::builder().most_attached(1_000, 3 * MEBIBYTE as u64 + 100_000);
    let (far, links) = keeper::<SharedBytes, SharedBytes>(&pool, builder);
    let bytes = || SharedBytes::create(MEBIBYTE).unwrap();
    for number in 1..=3 {
        assert_eq!(far.ask(|reply| Keep::One(bytes(), reply)), Ok(number));
    }
    let answer = far.ask(|reply| Keep::One(bytes(), reply));
    is_refused(answer, "descriptors of 3245728 bytes are the most");
    far.tell(Keep::Drop(1)).unwrap();
    assert_eq!(far.ask(Keep::Count), Ok(2));
    assert_eq!(far.ask(|reply| Keep::One(bytes(), reply)), Ok(3));
    assert_eq!((links.0.ended(), links.1.ended()), (None, None));
}

/// Memory of a size of which nothing is there.
struct Huge {
    bytes: u64,
    seals: SealFlags,
}

impl Serialize for Huge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory: OwnedFd = memfd_create("huge", flags).unwrap();
        ftruncate(&memory, self.bytes).unwrap();
        fcntl_add_seals(&memory, self.seals).unwrap();
        serialize_descriptor("memory", Arc::new(memory), serializer)
    }
}

/// A side that says what it likes.
#[test]
fn memory_larger_than_any_machine_has_is_not_mapped() {
    let pool = Pool::with_threads(1);
    let (far, links) = keeper::<Slot<u64>, Huge>(&pool, Link::builder());
    for bytes in [1 << 40, i64::MAX as u64 & !4095] {
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        let answer = far.ask(|reply| Keep::One(Huge { bytes, seals }, reply));
        is_refused(answer, &format!("with it 1 descriptors of {bytes} bytes"));
    }
    assert_eq!(far.ask(Keep::Count), Ok(0));
    assert_eq!((links.0.ended(), links.1.ended()), (None, None));
}

/// What was small when it was counted could be as large as it likes when it is mapped.
#[test]
fn memory_that_can_still_become_larger_is_not_attached() {
    let pool = Pool::with_threads(1);
    let (far, _links) = keeper::<Slot<u64>, Huge>(&pool, Link::builder());
    let (bytes, seals) = (1 << 16, SealFlags::SHRINK);
    match far.ask(|reply| Keep::One(Huge { bytes, seals }, reply)) {
        Err(AskError::NotDecodable(failure)) => {
            let said = failure.text();
            assert!(said.contains("no memory whose size is sealed"), "{said}");
        }
        other => panic!("{other:?}"),
    }
}

/// A message names one descriptor many times, each time as something else to be kept.
#[test]
fn a_descriptor_that_is_taken_often_counts_as_often_as_it_is_kept() {
    struct Copies(u64);

    impl Serialize for Copies {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use tamtam_actor::link::lend_descriptor;
            // No file that other tests open, whose descriptors would be taken for it where they get the numbers of those that were closed.
            let file = memfd_create("file", MemfdFlags::CLOEXEC).unwrap();
            let file: Arc<OwnedFd> = Arc::new(file);
            let place = lend_descriptor::<S::Error>("a file", file)?;
            vec![place; self.0 as usize].serialize(serializer)
        }
    }

    #[allow(dead_code)]
    struct Files(Vec<OwnedFd>);

    impl<'de> Deserialize<'de> for Files {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            use tamtam_actor::link::share_descriptor;
            let places = Vec::<u64>::deserialize(deserializer)?;
            let files = places
                .into_iter()
                .map(|place| share_descriptor("a file", place, Ok::<_, std::convert::Infallible>));
            files.collect::<Result<_, D::Error>>().map(Files)
        }
    }

    let pool = Pool::with_threads(1);
    let builder = Link::builder().most_attached(10, u64::MAX);
    let (far, links) = keeper::<Files, Copies>(&pool, builder);
    let answer = far.ask(|reply| Keep::One(Copies(1_000), reply));
    is_refused(answer, "with it 11 descriptors");
    // What of it was taken is closed again.
    assert_eq!(far.ask(|reply| Keep::One(Copies(9), reply)), Ok(1));
    is_refused(
        far.ask(|reply| Keep::One(Copies(2), reply)),
        "and 10 descriptors",
    );
    assert_eq!((links.0.ended(), links.1.ended()), (None, None));
}

/// The ends of an arena's channels have one descriptor among them at the side that receives them.
#[test]
fn many_ends_of_an_arena_count_as_one() {
    let pool = Pool::with_threads(1);
    let builder = Link::builder().most_attached(3, u64::MAX);
    let (far, _links) = keeper::<Vec<Sender<u64>>, Vec<Sender<u64>>>(&pool, builder);
    let arena = Arena::create(4 << 20).unwrap();
    let mut receivers = Vec::new();
    for number in 1..=20 {
        let mut senders = Vec::new();
        for _ in 0..10 {
            let (sender, receiver) = arena.channel::<u64>(4).unwrap();
            senders.push(sender);
            receivers.push(receiver);
        }
        assert_eq!(far.ask(|reply| Keep::One(senders, reply)), Ok(number));
    }
}
