//! What other software makes of values that nobody thought of, and what this crate makes of theirs: see
//! `tests/witnesses/README.md`. `./scripts/test --only witnesses` says where the witnesses are.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use tamtam_amf::amf0::Numbering;
use tamtam_amf::packet::{self, Header, Message, Packet, PacketLimits, Version};
use tamtam_amf::{Limits, Sharing, amf0, amf3};

mod cycles;
mod differences;
mod messages;
mod ties;
mod values;
mod what;

use ties::{Manner, Ties, is_numbered, tied_amf0, tied_amf3};
use values::{amf0_known, amf3_known};
use what::{of_amf0, of_amf0_by, of_amf3, of_packet};

/// Values of each form that a witness is shown, unless `TAMTAM_AMF_VALUES` says another number.
const VALUES: usize = 250;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    BlazeDs,
    Py3Amf,
}

impl Who {
    /// How it counts what it reads.
    fn reads(self) -> Manner {
        let is_py3amf = self == Who::Py3Amf;
        Manner {
            counts_leaves: is_py3amf,
            skips_arguments: is_py3amf,
            ..Manner::default()
        }
    }

    /// How it counts what it writes.
    fn writes(self) -> Manner {
        Manner {
            counts_leaves: false,
            ..self.reads()
        }
    }

    /// How an encoder counts for it.
    fn numbering(self) -> Numbering {
        match self {
            Who::BlazeDs => Numbering::Specification,
            Who::Py3Amf => Numbering::FlashPlayer,
        }
    }
}

/// A witness that answers line by line.
struct Witness {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Witness {
    fn call(who: Who) -> Self {
        let asked = |name| {
            std::env::var(name).unwrap_or_else(|_| panic!("{name} says where this witness is"))
        };
        let mut command;
        match who {
            Who::BlazeDs => {
                command = Command::new("java");
                command.args(["-cp", &asked("TAMTAM_AMF_BLAZEDS"), "Witness"]);
            }
            Who::Py3Amf => {
                let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/witnesses/py3amf.py");
                command = Command::new(asked("TAMTAM_AMF_PY3AMF"));
                command.arg(script);
            }
        }
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("the witness can be called");
        Self {
            questions: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().expect("it is piped")),
            child,
        }
    }

    /// What the witness has read, and the bytes by which it writes that; or what it says against it.
    fn ask(&mut self, form: char, bytes: &[u8]) -> Result<(String, Vec<u8>), String> {
        let questions = self.questions.as_mut().expect("it listens");
        writeln!(questions, "{form} {}", hexadecimal(bytes)).expect("it listens");
        questions.flush().expect("it listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        let mut words = answer.trim_end().splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("ok"), Some(what), Some(written)) => Ok((what.into(), bytes_of(written))),
            _ => Err(answer),
        }
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // It ends where its questions do.
        self.questions = None;
        let _ = self.child.wait();
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits = |place| u8::from_str_radix(&hexadecimal[place..place + 2], 16);
    let places = (0..hexadecimal.len()).step_by(2);
    places
        .map(|place| digits(place).expect("two digits"))
        .collect()
}

fn some<T: std::fmt::Debug>(strategy: &impl Strategy<Value = T>) -> impl Iterator<Item = T> {
    let asked = std::env::var("TAMTAM_AMF_VALUES").ok();
    let count = asked.map_or(VALUES, |count| count.parse().expect("a number of values"));
    let mut runner = TestRunner::new(Config::default());
    std::iter::repeat_with(move || {
        strategy
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current()
    })
    .take(count)
}

/// A value with references as they are.
fn amf0_of(bytes: &[u8]) -> amf0::Value {
    let mut decoder = amf0::Decoder::new(bytes, Limits::default()).with_sharing(Sharing::Keep);
    let value = decoder.value();
    let value = value.unwrap_or_else(|e| panic!("{e}: {}", hexadecimal(bytes)));
    decoder.finish().expect("nothing is left");
    value
}

/// A value with references as they are.
fn amf3_of(bytes: &[u8]) -> amf3::Value {
    let mut decoder = amf3::Decoder::new(bytes, Limits::default()).with_sharing(Sharing::Keep);
    let value = decoder.value();
    let value = value.unwrap_or_else(|e| panic!("{e}: {}", hexadecimal(bytes)));
    decoder.finish().expect("nothing is left");
    value
}

/// Whether what was told holds itself.
fn is_cyclic(what: &str) -> bool {
    what.contains('^')
}

/// How many values came back with references, and how many hold themselves.
#[derive(Default)]
struct Seen {
    shared: usize,
    cyclic: usize,
    all: usize,
}

impl Seen {
    fn note(&mut self, again: &impl std::fmt::Debug, what: &str) {
        self.all += 1;
        self.shared += usize::from(format!("{again:?}").contains("Reference("));
        self.cyclic += usize::from(is_cyclic(what));
    }

    /// Values without either would prove nothing of them.
    fn end(&self) {
        assert!(self.shared * 20 > self.all, "{} are shared", self.shared);
        assert!(self.cyclic * 50 > self.all, "{} are cyclic", self.cyclic);
    }
}

/// Shows values in each of the forms by turns.
fn agree_on_amf0(who: Who, forms: &str) {
    let mut witness = Witness::call(who);
    let mut seen = Seen::default();
    let values = amf0_known(who, Version::Amf0).prop_map(|value| tied_amf0(value, who.reads()));
    for (value, form) in some(&values).zip(forms.chars().cycle()) {
        let mut bytes = Vec::new();
        let mut encoder = amf0::Encoder::new(&mut bytes).with_numbering(who.numbering());
        encoder.write_value(&value).unwrap();
        encoder.finish().unwrap();
        let (what, written) = witness
            .ask(form, &bytes)
            .unwrap_or_else(|e| panic!("{e}{value:?}"));
        assert_eq!(what, of_amf0(&value, who), "{value:?}");
        let again = amf0_of(&written);
        let told = of_amf0_by(&again, who, who.writes());
        assert_eq!(told, what, "{value:?}");
        let copied = amf0::decode(&written, Limits::default());
        seen.note(&again, &what);
        match copied {
            Ok(copied) => assert_eq!(of_amf0(&copied, who), what, "{value:?}"),
            Err(e) => assert!(is_cyclic(&what), "{e}: {value:?}"),
        }
    }
    seen.end();
}

/// Shows values in each of the forms by turns.
fn agree_on_amf3(who: Who, forms: &str, within_amf0: bool) {
    let mut witness = Witness::call(who);
    let mut seen = Seen::default();
    let values = amf3_known(who, within_amf0).prop_map(tied_amf3);
    for (value, form) in some(&values).zip(forms.chars().cycle()) {
        let bytes = amf3::encode(&value).unwrap();
        let (what, written) = witness
            .ask(form, &bytes)
            .unwrap_or_else(|e| panic!("{e}{value:?}"));
        assert_eq!(what, of_amf3(&value, who), "{value:?}");
        let again = amf3_of(&written);
        assert_eq!(of_amf3(&again, who), what, "{value:?}");
        let copied = amf3::decode(&written, Limits::default());
        seen.note(&again, &what);
        match copied {
            Ok(copied) => assert_eq!(of_amf3(&copied, who), what, "{value:?}"),
            Err(e) => assert!(is_cyclic(&what), "{e}: {value:?}"),
        }
    }
    seen.end();
}

fn agree_on_packets(who: Who) {
    let mut witness = Witness::call(who);
    let version = prop_oneof![Just(Version::Amf0), Just(Version::Amf3)];
    let packets = version.prop_flat_map(|version| {
        // Of version 3, what is read within AMF0 is written within AMF0.
        let within = amf3_known(who, version == Version::Amf0);
        let within = within.prop_map(|value| amf0::Value::Avmplus(Box::new(value)));
        let value = prop_oneof![amf0_known(who, version), within];
        let manner = Manner {
            shares_no_amf3: who == Who::Py3Amf && version == Version::Amf0,
            ..who.reads()
        };
        let header = (any::<bool>(), value.clone(), "[a-z]{1,9}");
        let header = header.prop_map(move |(must_understand, value, name)| Header {
            name,
            must_understand,
            value: Ties::new(manner).header(value),
        });
        let arguments = proptest::collection::vec(value, 0..3);
        let call = move |(place, arguments): (usize, Vec<amf0::Value>)| Message {
            target: "Service.method".into(),
            response: format!("/{place}"),
            value: Ties::new(manner).arguments(arguments),
        };
        // All headers of a packet have one table for Py3AMF.
        let most_headers = if who == Who::Py3Amf { 1 } else { 3 };
        let headers = proptest::collection::vec(header, 0..=most_headers);
        let calls = proptest::collection::vec(arguments, 1..4);
        (headers, calls).prop_map(move |(headers, calls)| Packet {
            version,
            headers,
            messages: calls.into_iter().enumerate().map(call).collect(),
        })
    });
    let mut seen = Seen::default();
    for packet in some(&packets) {
        let bytes = bytes_of_packet(&packet, who.numbering());
        let (what, written) = witness
            .ask('p', &bytes)
            .unwrap_or_else(|e| panic!("{e}{packet:?}"));
        assert_eq!(what, of_packet(&packet, who, who.reads()), "{packet:?}");
        let again = packet_of(&written);
        let told = of_packet(&again, who, who.writes());
        assert_eq!(told, what, "{packet:?}");
        let copied = Packet::decode(&written, PacketLimits::default());
        seen.note(&again, &what);
        match copied {
            // Its references within arguments mean others: see `py3amf_differs_as_the_table_says`.
            Ok(_) if who == Who::Py3Amf => {}
            Ok(copied) => assert_eq!(of_packet(&copied, who, who.writes()), what, "{packet:?}"),
            Err(e) => assert!(is_cyclic(&what) || who == Who::Py3Amf, "{e}: {packet:?}"),
        }
    }
    seen.end();
}

fn bytes_of_packet(packet: &Packet, numbering: Numbering) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = packet::Encoder::new(&mut bytes, packet.version);
    let mut encoder = encoder.with_numbering(numbering);
    for header in &packet.headers {
        let write = |encoder: &mut amf0::Encoder<'_>| encoder.write_value(&header.value);
        encoder
            .header(&header.name, header.must_understand, write)
            .unwrap();
    }
    for message in &packet.messages {
        let write = |encoder: &mut amf0::Encoder<'_>| encoder.write_value(&message.value);
        encoder
            .message(&message.target, &message.response, write)
            .unwrap();
    }
    bytes
}

/// A packet with references as they are.
fn packet_of(bytes: &[u8]) -> Packet {
    let decoder = packet::Decoder::new(bytes, PacketLimits::default()).unwrap();
    let mut decoder = decoder.with_sharing(Sharing::Keep);
    let mut packet = Packet {
        version: decoder.version(),
        headers: Vec::new(),
        messages: Vec::new(),
    };
    while let Some(header) = decoder.next_header().unwrap() {
        packet.headers.push(Header {
            name: header.name.into(),
            must_understand: header.must_understand,
            value: decoder.value().unwrap(),
        });
    }
    while let Some(message) = decoder.next_message().unwrap() {
        packet.messages.push(Message {
            target: message.target.into(),
            response: message.response.into(),
            value: decoder.value().unwrap(),
        });
    }
    decoder.finish().unwrap();
    packet
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf0() {
    agree_on_amf0(Who::BlazeDs, "0e");
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf3() {
    agree_on_amf3(Who::BlazeDs, "3", false);
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf3_with_vectors() {
    agree_on_amf3(Who::BlazeDs, "v", false);
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf3_with_maps_as_arrays() {
    agree_on_amf3(Who::BlazeDs, "a", true);
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_packets() {
    agree_on_packets(Who::BlazeDs);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_amf0() {
    agree_on_amf0(Who::Py3Amf, "0");
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_amf3() {
    agree_on_amf3(Who::Py3Amf, "3", false);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_packets() {
    agree_on_packets(Who::Py3Amf);
}

/// A value and a reference to it: dates, XML, bytes, objects, arrays, vectors, dictionaries.
fn agree_on_references(who: Who) {
    let mut witness = Witness::call(who);
    for value in some(&amf3_known(who, false)) {
        if !is_numbered(&value) {
            continue;
        }
        let amf3::Value::Array(mut list) = tied_amf3(vec![value].into()) else {
            unreachable!("it was a list")
        };
        // The first that begins after the list.
        list.dense.push(amf3::Value::Reference(1));
        let list = amf3::Value::Array(list);
        let (what, written) = witness
            .ask('3', &amf3::encode(&list).unwrap())
            .unwrap_or_else(|e| panic!("{e}{list:?}"));
        assert_eq!(what, of_amf3(&list, who), "{list:?}");
        let again = amf3_of(&written);
        assert_eq!(of_amf3(&again, who), what, "{list:?}");
    }
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_references() {
    agree_on_references(Who::BlazeDs);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_references() {
    agree_on_references(Who::Py3Amf);
}
