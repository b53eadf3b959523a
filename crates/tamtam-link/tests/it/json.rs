//! Messages as JSON: what goes, byte by byte, what another program may send, and an other side that has chosen otherwise.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use tamtam_actor::{Address, Loss, Pool, Reply, on_dead_letter};
use tamtam_link::{Encoding, Inbound, Link, LinkEnd};

use crate::suite::messages::{Count, counter};
use crate::suite::until;

/// Carries bytes, and keeps what goes to the second.
fn carry(one: &Link, to_one: &mut Inbound, other: &Link, to_other: &mut Inbound) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let (mut there, mut back) = (Vec::new(), Vec::new());
        one.take_outgoing(&mut there);
        let _ = to_other.receive(&there);
        other.take_outgoing(&mut back);
        let _ = to_one.receive(&back);
        if there.is_empty() && back.is_empty() {
            return all;
        }
        all.extend(there);
    }
}

fn json() -> tamtam_link::LinkBuilder {
    Link::builder().encoding(Encoding::Json)
}

#[derive(Serialize, Deserialize)]
enum Said {
    Add(u64),
    Ask { name: String, reply: Reply<f64> },
    Tell(Address<Said>),
    Reset,
}

#[test]
fn a_message_is_what_serde_makes_of_it_and_an_address_and_a_reply_can_be_told() {
    let pool = Pool::with_threads(1);
    let (sender, _receiver) = std::sync::mpsc::channel();
    let there = pool.spawn_fn(move |message: Said, _| sender.send(message).unwrap());
    let (there, mut to_there) = json().root(&there).build(|| {});
    let (here, mut to_here) = json().build(|| {});
    let far = here.root::<Said>();
    let own = pool.spawn_fn(|_: Said, _| {});
    far.tell(Said::Add(3)).unwrap();
    let reply = Reply::to(|_| {});
    let name = "\"drum\"".to_owned();
    far.tell(Said::Ask { name, reply }).unwrap();
    far.tell(Said::Tell(own)).unwrap();
    far.tell(Said::Tell(far.clone())).unwrap();
    far.tell(Said::Reset).unwrap();
    let gone = carry(&here, &mut to_here, &there, &mut to_there);
    let gone = String::from_utf8_lossy(&gone);
    for text in [
        r#"{"Add":3}"#,
        r#"{"Ask":{"name":"\"drum\"","reply":{"$reply":1}}}"#,
        r#"{"Tell":{"$address":[0,1]}}"#,
        r#"{"Tell":{"$address":[1,0]}}"#,
        r#""Reset""#,
    ] {
        assert!(gone.contains(text), "{text} is not in {gone}");
    }
    assert_eq!((here.ended(), there.ended()), (None, None));
}

#[test]
fn sides_that_write_messages_otherwise_end_the_link_and_both_hear_how() {
    let (there, mut to_there) = json().build(|| {});
    let (here, mut to_here) = Link::builder().build(|| {});
    carry(&here, &mut to_here, &there, &mut to_there);
    let ended = [here.ended().unwrap(), there.ended().unwrap()];
    for (end, words) in ended.iter().zip([
        "it writes messages as JSON, and this side by postcard",
        "it writes messages by postcard, and this side as JSON",
    ]) {
        assert!(matches!(end, LinkEnd::Protocol(_)), "{end}");
        assert!(end.to_string().contains(words), "{end}");
        assert!(end.to_string().contains("choose the same `Encoding`"));
    }
}

#[test]
fn an_encoding_of_a_later_version_is_named_by_its_number() {
    let (_here, mut inbound) = json().build(|| {});
    let end = inbound.receive(b"\x0c\0\0\0\x01TTLK\x03\x80\x80\x04\x07\x00\x00");
    let end = end.unwrap_err().to_string();
    assert!(end.contains("in a way of number 7"), "{end}");
}

/// What an end says to frames after a right hello; it must not have ended.
struct Asked {
    link: Link,
    inbound: Inbound,
    _pool: Pool,
}

impl Asked {
    fn new() -> Asked {
        let pool = Pool::with_threads(1);
        let (link, mut inbound) = json().root(&counter(&pool)).build(|| {});
        let (page, _) = json().build(|| {});
        let mut hello = Vec::new();
        page.take_outgoing(&mut hello);
        inbound.receive(&hello).unwrap();
        Asked {
            link,
            inbound,
            _pool: pool,
        }
    }

    /// Tells the root this, which lends these replies and exports these actors.
    fn tell(&mut self, replies: &[u8], exports: &[u8], text: &str) {
        let mut body = vec![2, 0, replies.len() as u8];
        body.extend(replies);
        body.push(exports.len() as u8);
        body.extend(exports.iter().flat_map(|actor| [*actor, 0]));
        body.extend(text.as_bytes());
        let mut frame = (body.len() as u32).to_le_bytes().to_vec();
        frame.extend(body);
        self.inbound.receive(&frame).unwrap();
    }

    /// What is said, which is said at once.
    fn hears(&self) -> String {
        let mut said = Vec::new();
        self.link.take_outgoing(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    }
}

#[test]
fn what_is_no_message_is_told_to_who_asks_and_ends_nothing() {
    let deep = "[".repeat(10_000);
    for (text, words) in [
        ("", "EOF while parsing"),
        ("{\"Read\":", "EOF while parsing"),
        ("\u{0}", "expected value"),
        ("{\"Read\":{\"$reply\":7}} 1", "trailing characters"),
        ("{\"Unknown\":1}", "unknown variant `Unknown`"),
        ("{\"Read\":7}", "invalid type: integer `7`"),
        ("{\"Read\":{\"$reply\":-1}}", "invalid value: integer `-1`"),
        (
            "{\"Read\":{\"$reply\":7.5}}",
            "invalid type: floating point",
        ),
        (
            "{\"Read\":{\"$reply\":7,\"more\":1}}",
            "unknown field `more`",
        ),
        ("{\"Read\":{\"$reply\":8}}", "reply 8 was not sent with it"),
        (
            "{\"Read\":{\"$address\":[0,1]}}",
            "unknown field `$address`",
        ),
        (
            r#"{"Forward":[{"$address":[1,0]},{"$reply":7}]}"#,
            "came back as one for",
        ),
        (r#"{"Text":["one",{"$reply":7},3]}"#, "trailing characters"),
        (
            "{\"Add\":18446744073709551616}",
            "invalid type: floating point",
        ),
        (&deep, "expected value at line 1 column 1"),
    ] {
        let mut asked = Asked::new();
        asked.tell(&[7], &[], text);
        let said = asked.hears();
        assert!(said.contains(words), "{text:.40}: {said}");
        // The next one is answered.
        asked.tell(&[9], &[], "{\"Read\":{\"$reply\":9}}");
        until("it is answered", || {
            let mut said = Vec::new();
            asked.link.take_outgoing(&mut said);
            said.windows(5).any(|bytes| bytes == b"\x03\x09\0\0\x30")
        });
        assert_eq!(asked.link.ended(), None);
    }
}

#[test]
fn an_address_that_was_not_given_is_none() {
    for (text, words) in [
        (
            r#"{"TellTo":{"$address":[0,5]}}"#,
            "actor 5 was not sent with it",
        ),
        (
            r#"{"TellTo":{"$address":[1,5]}}"#,
            "actor 5 was not exported",
        ),
        (r#"{"TellTo":{"$address":[2,0]}}"#, "and this one with 2"),
        (r#"{"TellTo":{"$address":[0]}}"#, "a tuple of size 2"),
        // The root takes other messages than that address.
        (
            r#"{"TellTo":{"$address":[1,0]}}"#,
            "came back as one for u64",
        ),
    ] {
        let letters = Arc::new(Mutex::new(0));
        let seen = Arc::clone(&letters);
        let _watch = on_dead_letter(move |letter| {
            if letter.why == Loss::NotDecodable && letter.bytes.as_deref() == Some(text.as_bytes())
            {
                *seen.lock().unwrap() += 1;
            }
        });
        let mut asked = Asked::new();
        asked.tell(&[7], &[6], text);
        let said = asked.hears();
        assert!(
            said.contains("\u{5}\u{6}\u{1}"),
            "the other address is given up: {said:?}"
        );
        assert!(said.contains(words), "{text}: {said}");
        assert_eq!(*letters.lock().unwrap(), 1);
        assert_eq!(asked.link.ended(), None);
        // That of the other side's root.
        assert_eq!(asked.link.addresses().0, 1);
    }
}

#[test]
fn values_come_back_as_they_were() {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct All {
        wide: u64,
        narrow: i64,
        float: f64,
        text: String,
        bytes: Vec<u8>,
        none: Option<u8>,
        pairs: std::collections::BTreeMap<String, (char, ())>,
    }
    let pool = Pool::with_threads(1);
    let echo = pool.spawn_fn(|(all, reply): (All, Reply<All>), _| reply.send(all));
    let (there, mut to_there) = json().root(&echo).build(|| {});
    let (here, mut to_here) = json().build(|| {});
    let far: Address<(All, Reply<All>)> = here.root();
    let all = All {
        wide: u64::MAX,
        narrow: i64::MIN,
        float: 0.1 + 0.2,
        text: "\u{0}\u{7f}\u{2028}🥁\"\\".to_owned(),
        bytes: vec![0, 255],
        none: None,
        pairs: [("$reply".to_owned(), ('x', ()))].into(),
    };
    let sent = all.clone();
    let answer = std::thread::spawn(move || far.ask(|reply| (sent, reply)));
    while !answer.is_finished() {
        carry(&here, &mut to_here, &there, &mut to_there);
    }
    assert_eq!(answer.join().unwrap(), Ok(all));
}

#[test]
fn a_float_that_json_does_not_have_is_an_error_at_who_reads_it() {
    let pool = Pool::with_threads(1);
    let echo = pool.spawn_fn(|(all, reply): (f64, Reply<f64>), _| reply.send(all));
    let (there, mut to_there) = json().root(&echo).build(|| {});
    let (here, mut to_here) = json().build(|| {});
    let far: Address<(f64, Reply<f64>)> = here.root();
    let answer = std::thread::spawn(move || far.ask(|reply| (f64::NAN, reply)));
    while !answer.is_finished() {
        carry(&here, &mut to_here, &there, &mut to_there);
    }
    let error = answer.join().unwrap().unwrap_err().to_string();
    assert!(error.contains("invalid type: null"), "{error}");
}

#[test]
fn outside_of_a_link_a_reply_is_no_json() {
    let error = serde_json::to_string(&Count::Read(Reply::to(|_| {}))).unwrap_err();
    let words = "a Reply goes through a link to another process, and nowhere else";
    assert_eq!(error.to_string(), words);
}
