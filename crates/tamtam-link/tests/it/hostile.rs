//! An other side that is of another build, or no link at all.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize};
use tamtam_actor::{Address, AskError, Fate, Loss, Pool, Refusal, Reply, on_dead_letter};
use tamtam_link::{Inbound, Link, LinkEnd};

use crate::suite::messages::{Count, counter};
use crate::suite::partners::{Bond, Partner};

/// The same messages as a newer program has them.
#[derive(Serialize, Deserialize)]
enum Newer {
    Add(u64),
    Read(Reply<u64>),
    #[allow(dead_code)]
    Unused([u8; 3]),
}

/// As an older one has them.
#[derive(Serialize, Deserialize)]
enum Older {
    Add(u64),
}

/// Carries bytes until there are none.
fn carry(one: &Link, to_one: &mut Inbound, other: &Link, to_other: &mut Inbound) {
    let mut is_idle = false;
    while !is_idle {
        is_idle = true;
        for (from, to) in [(one, &mut *to_other), (other, &mut *to_one)] {
            let mut bytes = Vec::new();
            from.take_outgoing(&mut bytes);
            is_idle &= bytes.is_empty();
            let _ = to.receive(&bytes);
        }
    }
}

#[test]
fn what_another_build_cannot_read_is_told_to_who_asked_and_ends_nothing() {
    let pool = Pool::with_threads(1);
    let older = pool.spawn_fn(|message: Older, _| {
        let Older::Add(_) = message;
    });
    let id = older.id();
    let letters = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&letters);
    let _watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            seen.lock()
                .unwrap()
                .push((letter.why, letter.bytes.clone()));
        }
    });
    let (there, mut to_there) = Link::builder().root(&older).build(|| {});
    let (here, mut to_here) = Link::builder().build(|| {});
    let far = here.root::<Newer>();
    far.tell(Newer::Add(1)).unwrap();
    let asked = std::thread::spawn({
        let far = far.clone();
        move || far.ask(Newer::Read)
    });
    while !asked.is_finished() {
        carry(&here, &mut to_here, &there, &mut to_there);
    }
    match asked.join().unwrap() {
        Err(AskError::NotDecodable(failure)) => assert!(!failure.text().is_empty()),
        other => panic!("{other:?}"),
    }
    let letters = letters.lock().unwrap().clone();
    let [(Loss::NotDecodable, Some(bytes))] = &letters[..] else {
        panic!("{letters:?}");
    };
    // The second variant, and the number of the reply.
    assert_eq!(bytes[..], [1, 1]);
    assert_eq!((here.ended(), there.ended()), (None, None));
    assert_eq!(here.pending(), 0);
}

#[test]
fn what_cannot_be_written_comes_back() {
    /// A map whose length is not known is nothing that postcard writes.
    #[derive(Debug)]
    struct Endless;

    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serde::ser::SerializeSeq::end(serializer.serialize_seq(None)?)
        }
    }

    let (here, _to_here) = Link::builder().build(|| {});
    let far = here.root::<Endless>();
    let refused = far.tell(Endless).unwrap_err();
    assert_eq!(refused.why(), Refusal::NotEncodable);
    let Endless = refused.into_inner();
    // Through a map it cannot come back; it is counted.
    let mapped = far.map(|()| Endless);
    mapped.tell(()).unwrap();
    assert_eq!(far.lost(), 1);
}

/// The question that cannot be written does not come back through a map; who waits is told all the same, by whatever way it has asked.
#[test]
fn who_asks_through_a_map_is_told_what_cannot_be_written() {
    #[derive(Debug)]
    struct Unwritable;

    impl Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("it is only for here"))
        }
    }

    let (here, _to_here) = Link::builder().build(|| {});
    // The reply is written before what cannot be, and behind it.
    let far = here.root::<(Reply<u64>, Unwritable, Option<Reply<u64>>)>();
    let first = far.map(|reply| (reply, Unwritable, None));
    let told = |answer: Result<u64, AskError>| match answer {
        Err(error @ AskError::NotEncodable(_)) => {
            assert_eq!(error.fate(), Fate::NotBegun);
            assert!(error.to_string().contains("was not sent"), "{error}");
        }
        other => panic!("{other:?}"),
    };
    told(first.ask(|reply| reply));
    let behind = far.map(|reply| (Reply::to(|_| {}), Unwritable, Some(reply)));
    told(behind.ask(|reply| reply));
    let (sender, answers) = std::sync::mpsc::channel();
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    first.tell(reply).unwrap();
    told(answers.recv().unwrap());
    assert_eq!(here.pending(), 0);
    assert_eq!(far.lost(), 3);
}

#[test]
fn outside_of_a_link_a_reply_is_no_bytes() {
    let reply = Reply::<u64>::to(|_| {});
    let mut bytes = Vec::new();
    let error = tamtam_actor::link::encode(&reply, &mut bytes).unwrap_err();
    assert_eq!(
        error,
        "a Reply goes through a link to another process, and nowhere else"
    );
    assert!(reply.is_awaited());
}

/// What a link makes of these bytes after a right hello.
fn after_hello(bytes: &[u8]) -> LinkEnd {
    let pool = Pool::with_threads(1);
    let (_there, mut to_there) = Link::builder().root(&counter(&pool)).build(|| {});
    let (here, _) = Link::builder().build(|| {});
    let mut hello = Vec::new();
    here.take_outgoing(&mut hello);
    to_there.receive(&hello).unwrap();
    to_there.receive(bytes).unwrap_err()
}

fn frame(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

#[test]
fn what_no_link_sends_ends_it_with_words() {
    for (body, words) in [
        (
            &b"\x02\x07\x00\x00"[..],
            "it names actor 7, of which it has no address",
        ),
        (
            b"\x03\x07\x00\x00",
            "it answers question 7, which it does not have",
        ),
        (
            b"\x04\x07\x00",
            "it answers question 7, which it does not have",
        ),
        (
            b"\x05\x00\x02",
            "it gives up 2 addresses of actor 0, of which it has 1",
        ),
        (b"\x08\x09", "it names actor 9, of which it has no address"),
        (b"\x63", "no frame is of kind 99"),
        (b"", "the frame ends before its kind"),
        (b"\x01TTLK\x03\x00\x00\x00\x00", "it has said hello twice"),
        (
            b"\x01TTLK\x01\x00\x00\x00\x00",
            "it speaks version 1, and this side version 3: build both programs with the same Tamtam",
        ),
        (b"\x11\x02\x00", "2 does not say which side has made a link"),
        (
            b"\x07\x00\x05\x01\x00\x05",
            "5 does not say why an actor has ended",
        ),
        (
            b"\x04\x01\x05\x03\x00",
            "3 does not say how far a question had got",
        ),
    ] {
        let end = after_hello(&frame(body));
        assert_eq!(end, LinkEnd::Protocol(words.into()));
    }
    let end = after_hello(&u32::MAX.to_le_bytes());
    assert!(
        end.to_string().contains("a frame of 4294967295 bytes"),
        "{end}"
    );
}

/// A number, seven bits a byte.
fn number(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A frame that says that an actor of the other side is linked with the root here; with the linker's name.
fn linked(link: u64, linker: u8, name: &str) -> Vec<u8> {
    let words = [
        &[0, linker][..],
        &number(name.len() as u64),
        name.as_bytes(),
    ];
    frame(&[&[16][..], &number(link), &words.concat()].concat())
}

/// A frame that takes a link back that has this number at its maker: the one who writes, or the one who reads.
fn unlinked(by_reader: bool, link: u64) -> Vec<u8> {
    frame(&[&[17, u8::from(by_reader)][..], &number(link)].concat())
}

#[test]
fn a_link_of_actors_that_no_side_makes_ends_the_link() {
    let twice = [linked(3, 1, "one"), linked(3, 2, "other")].concat();
    assert_eq!(
        after_hello(&twice),
        LinkEnd::Protocol("it has made a link 3 before".into())
    );
    let long = "x".repeat(1_025);
    let words = "the name of an actor that is linked takes 1025 bytes, and may take 1024";
    assert_eq!(
        after_hello(&linked(3, 1, &long)),
        LinkEnd::Protocol(words.into())
    );
}

#[test]
fn a_link_with_an_actor_that_is_not_there_is_told_to_be_over() {
    let (there, mut to_there) = Link::builder().build(|| {});
    let (here, _) = Link::builder().build(|| {});
    let mut hello = Vec::new();
    here.take_outgoing(&mut hello);
    to_there.receive(&hello).unwrap();
    there.take_outgoing(&mut Vec::new());
    // Nothing is offered there.
    to_there.receive(&linked(3, 1, "one")).unwrap();
    let mut said = Vec::new();
    there.take_outgoing(&mut said);
    // Actor 0 has ended, since the link to it is lost, for this reason.
    assert_eq!(said[4..7], [7, 0, 6]);
    let words = String::from_utf8_lossy(&said[8..]).into_owned();
    assert_eq!(
        words,
        "its last address was given up before its end was asked for"
    );
    assert_eq!((there.kept().links, there.ended()), (0, None));
}

/// Links an actor with the other side's; the number of the link, which goes there.
fn key_of_a_link(own: &Address<Bond>, link: &Link) -> u64 {
    let far = link.root::<Bond>();
    own.ask(|reply| Bond::Link(far.clone(), reply)).unwrap();
    let mut bytes = Vec::new();
    link.take_outgoing(&mut bytes);
    let mut rest = &bytes[..];
    let mut key = None;
    while let Some((length, more)) = rest.split_first_chunk::<4>() {
        let (body, behind) = more.split_at(u32::from_le_bytes(*length) as usize);
        if body[0] == 16 {
            let digits = body[1..].iter().scan(true, |goes_on, byte| {
                std::mem::replace(goes_on, byte & 0x80 != 0).then_some(u64::from(byte & 0x7f))
            });
            key = Some(
                digits
                    .enumerate()
                    .fold(0, |key, (place, bits)| key | bits << (7 * place)),
            );
        }
        rest = behind;
    }
    assert!(own.ask(|reply| Bond::Unlink(far, reply)).unwrap());
    key.expect("it says so")
}

#[test]
fn a_link_of_actors_is_taken_back_by_the_number_of_its_maker_alone() {
    let pool = Pool::with_threads(1);
    let root = pool.spawn(Partner::default());
    let (there, mut to_there) = Link::builder().root(&root).build(|| {});
    let (here, _) = Link::builder().root(&root).build(|| {});
    let mut hello = Vec::new();
    here.take_outgoing(&mut hello);
    to_there.receive(&hello).unwrap();
    let other = pool.spawn(Partner::default());
    let before = key_of_a_link(&other, &there);
    to_there.receive(&linked(3, 1, "one")).unwrap();
    let behind = key_of_a_link(&other, &there);
    assert_eq!(there.kept().links, 1);
    // As if the reader had made it, by all numbers that it may have there.
    for key in before..=behind {
        to_there.receive(&unlinked(true, key)).unwrap();
    }
    assert_eq!(there.kept().links, 1);
    to_there.receive(&unlinked(false, 3)).unwrap();
    assert_eq!(there.kept().links, 0);
}

#[test]
fn a_link_begins_with_a_hello() {
    let (link, mut inbound) = Link::builder().build(|| {});
    let end = inbound.receive(&frame(b"\x06\x00")).unwrap_err();
    assert_eq!(
        end,
        LinkEnd::Protocol("it has not said hello before all else".into())
    );
    assert_eq!(link.ended(), Some(end));
    // The other side is told.
    let mut bytes = Vec::new();
    link.take_outgoing(&mut bytes);
    assert!(String::from_utf8_lossy(&bytes).contains("it has not said hello before all else"));
}

#[test]
fn who_does_not_read_is_not_written_to_for_ever() {
    let (here, _to_here) = Link::builder().most_unread(10_000).build(|| {});
    let far = here.root::<Count>();
    let refused = (0..10_000).find_map(|number| far.tell(Count::Add(number)).err());
    assert!(refused.is_some());
    assert!(
        matches!(here.ended(), Some(LinkEnd::Unread(_))),
        "{:?}",
        here.ended()
    );
}

#[test]
fn a_reply_or_an_address_that_was_not_sent_is_no_message() {
    let pool = Pool::with_threads(1);
    let (there, mut to_there) = Link::builder().root(&counter(&pool)).build(|| {});
    let (here, _) = Link::builder().build(|| {});
    let mut hello = Vec::new();
    here.take_outgoing(&mut hello);
    to_there.receive(&hello).unwrap();
    // `Read` with reply 4, of which nothing was said before; reply 5 was, and is not in it.
    to_there
        .receive(&frame(b"\x02\x00\x01\x05\x00\x01\x04"))
        .unwrap();
    let mut answer = Vec::new();
    there.take_outgoing(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.contains("reply 4 was not sent with it"), "{answer}");
    assert_eq!(there.ended(), None);
}

#[test]
fn the_type_of_the_root_is_not_named_to_it() {
    let pool = Pool::with_threads(1);
    for (builder, is_named) in [
        (Link::builder(), true),
        (Link::builder().untrusted(), false),
    ] {
        let (link, _) = builder.root(&counter(&pool)).build(|| {});
        let mut hello = Vec::new();
        link.take_outgoing(&mut hello);
        let hello = String::from_utf8_lossy(&hello);
        assert_eq!(hello.contains("Count"), is_named, "{hello}");
    }
}

/// The frames behind it name an actor that the link has given up meanwhile, which was told as the end, and to the other side as its fault.
#[test]
fn a_link_that_ends_while_a_message_is_read_has_ended_for_that_and_not_for_what_follows() {
    thread_local! {
        static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
    }

    /// Ends the link by which it comes.
    #[derive(Serialize)]
    struct Ending;

    impl<'de> Deserialize<'de> for Ending {
        fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
            let link = LINK.take();
            link.expect("this is read once").refuse("enough");
            <()>::deserialize(input).map(|()| Ending)
        }
    }

    let pool = Pool::with_threads(1);
    let actor = pool.spawn_fn(|_: Ending, _| {});
    let (there, mut to_there) = Link::builder().root(&actor).build(|| {});
    let (here, _) = Link::builder().build(|| {});
    let far = here.root::<Ending>();
    far.tell(Ending).unwrap();
    far.tell(Ending).unwrap();
    let mut bytes = Vec::new();
    here.take_outgoing(&mut bytes);
    LINK.set(Some(there.clone()));
    let refused = LinkEnd::Refused("enough".into());
    assert_eq!(to_there.receive(&bytes), Err(refused.clone()));
    assert_eq!(to_there.receive(&[]), Err(refused.clone()));
    assert_eq!(there.ended(), Some(refused));
}
