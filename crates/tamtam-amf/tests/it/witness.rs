//! What other software makes of values that nobody thought of, and what this crate makes of theirs: see
//! `tests/witnesses/README.md`. `./scripts/test --only witnesses` says where the witnesses are.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use tamtam_amf::packet::{Header, Message, Packet, PacketLimits, Version};
use tamtam_amf::{Limits, amf0, amf3};

mod values;
mod what;

use values::{amf0_known, amf3_known};
use what::{of_amf0, of_amf3, of_packet};

/// Values of each form that a witness is shown.
const VALUES: usize = 250;

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    BlazeDs,
    Py3Amf,
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
    let mut runner = TestRunner::new(Config::default());
    std::iter::repeat_with(move || {
        strategy
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current()
    })
    .take(VALUES)
}

fn amf0_of(bytes: &[u8]) -> amf0::Value {
    amf0::decode(bytes, Limits::default()).unwrap_or_else(|e| panic!("{e}: {}", hexadecimal(bytes)))
}

fn amf3_of(bytes: &[u8]) -> amf3::Value {
    amf3::decode(bytes, Limits::default()).unwrap_or_else(|e| panic!("{e}: {}", hexadecimal(bytes)))
}

fn agree_on_amf0(who: Who) {
    let mut witness = Witness::call(who);
    for value in some(&amf0_known(who, true)) {
        let bytes = amf0::encode(&value).unwrap();
        let (what, written) = witness
            .ask('0', &bytes)
            .unwrap_or_else(|e| panic!("{e}{value:?}"));
        assert_eq!(what, of_amf0(&value, who), "{value:?}");
        assert_eq!(of_amf0(&amf0_of(&written), who), what, "{value:?}");
    }
}

fn agree_on_amf3(who: Who, form: char) {
    let mut witness = Witness::call(who);
    for value in some(&amf3_known(who, false)) {
        let bytes = amf3::encode(&value).unwrap();
        let (what, written) = witness
            .ask(form, &bytes)
            .unwrap_or_else(|e| panic!("{e}{value:?}"));
        assert_eq!(what, of_amf3(&value, who), "{value:?}");
        assert_eq!(of_amf3(&amf3_of(&written), who), what, "{value:?}");
    }
}

fn agree_on_packets(who: Who) {
    let mut witness = Witness::call(who);
    let version = prop_oneof![Just(Version::Amf0), Just(Version::Amf3)];
    let packets = version.prop_flat_map(|version| {
        // Of version 3, what is read within AMF0 is written within AMF0.
        let within = amf3_known(who, version == Version::Amf0);
        let within = within.prop_map(|value| amf0::Value::Avmplus(Box::new(value)));
        let with_xml = who == Who::BlazeDs || version == Version::Amf0;
        let value = prop_oneof![amf0_known(who, with_xml), within];
        let header = (any::<bool>(), value.clone()).prop_map(|(must_understand, value)| Header {
            name: "Credentials".into(),
            must_understand,
            value,
        });
        let arguments = proptest::collection::vec(value, 0..3);
        let call = |(place, arguments): (usize, Vec<amf0::Value>)| Message {
            target: "Service.method".into(),
            response: format!("/{place}"),
            value: arguments.into(),
        };
        let headers = proptest::collection::vec(header, 0..2);
        let calls = proptest::collection::vec(arguments, 1..4);
        (headers, calls).prop_map(move |(headers, calls)| Packet {
            version,
            headers,
            messages: calls.into_iter().enumerate().map(call).collect(),
        })
    });
    for packet in some(&packets) {
        let bytes = packet.encode().unwrap();
        let (what, written) = witness
            .ask('p', &bytes)
            .unwrap_or_else(|e| panic!("{e}{packet:?}"));
        assert_eq!(what, of_packet(&packet, who), "{packet:?}");
        let written = Packet::decode(&written, PacketLimits::default());
        let written = written.unwrap_or_else(|e| panic!("{e}: {packet:?}"));
        assert_eq!(of_packet(&written, who), what, "{packet:?}");
    }
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf0() {
    agree_on_amf0(Who::BlazeDs);
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf3() {
    agree_on_amf3(Who::BlazeDs, '3');
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_amf3_with_vectors() {
    agree_on_amf3(Who::BlazeDs, 'v');
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_packets() {
    agree_on_packets(Who::BlazeDs);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_amf0() {
    agree_on_amf0(Who::Py3Amf);
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_amf3() {
    agree_on_amf3(Who::Py3Amf, '3');
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_agrees_on_packets() {
    agree_on_packets(Who::Py3Amf);
}

/// What a witness has read, where it is of AMF3.
fn read(witness: &mut Witness, value: &amf3::Value) -> Result<String, String> {
    let answer = witness.ask('3', &amf3::encode(value).unwrap());
    answer.map(|(what, _)| what)
}

/// What a witness has written of a value of AMF3.
fn written(witness: &mut Witness, value: &amf3::Value) -> Vec<u8> {
    witness.ask('3', &amf3::encode(value).unwrap()).unwrap().1
}

fn dictionary(key: amf3::Value) -> amf3::Value {
    amf3::Value::Dictionary(Box::new(amf3::Dictionary {
        weak_keys: false,
        entries: vec![(key, 1.into())],
    }))
}

fn packet(arguments: amf0::Value) -> Vec<u8> {
    let message = Message {
        target: "Service.method".into(),
        response: "/1".into(),
        value: arguments,
    };
    let packet = Packet {
        version: Version::Amf0,
        headers: vec![],
        messages: vec![message],
    };
    packet.encode().unwrap()
}

/// The length that a packet says of its only message, whose target and response are the usual ones.
fn length_of(packet: &[u8]) -> u32 {
    let place = 6 + 2 + "Service.method".len() + 2 + "/1".len();
    u32::from_be_bytes(packet[place..place + 4].try_into().unwrap())
}

#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_differs_as_the_table_says() {
    let witness = &mut Witness::call(Who::BlazeDs);
    // A character beyond the first plane is read in AMF3, and written as six bytes that are not UTF-8.
    let drum = amf3::Value::from("\u{1f941}");
    assert_eq!(read(witness, &drum).unwrap(), "sf09fa581");
    let bytes = written(witness, &drum);
    assert_eq!(bytes, b"\x06\x0d\xed\xa0\xbe\xed\xb5\x81");
    amf3::decode(&bytes, Limits::default()).unwrap_err();
    // In AMF0 it is not read.
    witness
        .ask('0', &amf0::encode(&"\u{1f941}".into()).unwrap())
        .unwrap_err();
    // Undefined becomes null, and milliseconds lose their fraction.
    assert_eq!(written(witness, &amf3::Value::Undefined), [1]);
    let date = written(witness, &amf3::Value::Date(1.5));
    assert_eq!(amf3_of(&date), amf3::Value::Date(1.0));
    // Keys of a dictionary are not null; that they are not weak is said by 2.
    read(witness, &dictionary(amf3::Value::Null)).unwrap_err();
    let bytes = written(witness, &dictionary(5.into()));
    assert_eq!(bytes[..3], [0x11, 3, 2]);
    assert_eq!(amf3_of(&bytes), dictionary(5.into()));
    // Where it prefers vectors it looks at three values of a list, and takes all for numbers if those are.
    let mut vectors = |values: Vec<amf3::Value>| {
        let vector = amf3::Value::VectorObject {
            class: "".into(),
            vector: Box::new(amf3::Vector {
                fixed: false,
                values,
            }),
        };
        witness.ask('v', &amf3::encode(&vector).unwrap())
    };
    let error = vectors(vec![1.into(), 2.into(), 3.into(), "4".into()]).unwrap_err();
    assert!(error.contains("ClassCastException"), "{error}");
    let error = vectors(vec![1.5.into(), 2.5.into(), 3.5.into(), 4.into()]).unwrap_err();
    assert!(error.contains("ClassCastException"), "{error}");
    vectors(vec![1.into(), 2.into(), "3".into(), "4".into()]).unwrap();
    // Each value in a packet is said to have 1 byte.
    let (_, written) = witness.ask('p', &packet(vec![5.0.into()].into())).unwrap();
    assert_eq!(length_of(&written), 1);
    // Arguments are an array like any other.
    let shared = vec![vec![].into(), amf0::Value::Reference(1)].into();
    let (what, _) = witness.ask('p', &packet(shared)).unwrap();
    assert!(what.ends_with("=[[],[]])"), "{what}");
    // Only containers have a place in the table of AMF0.
    let date = amf0::Value::Date {
        milliseconds: 1.0,
        time_zone: 0,
    };
    let list = amf0::Value::from(vec![date, vec![].into(), amf0::Value::Reference(1)]);
    let (what, _) = witness.ask('0', &amf0::encode(&list).unwrap()).unwrap();
    assert!(what.ends_with(",[],[]]"), "{what}");
}

#[test]
#[ignore = "asks Py3AMF"]
fn py3amf_differs_as_the_table_says() {
    let witness = &mut Witness::call(Who::Py3Amf);
    // Vectors are not known, and a dictionary is read as something else.
    let vector = amf3::Value::VectorInt(Box::default());
    let error = read(witness, &vector).unwrap_err();
    assert!(error.contains("Unknown data type"), "{error}");
    let other = read(witness, &dictionary(5.into())).unwrap();
    assert_ne!(other, of_amf3(&dictionary(5.into()), Who::Py3Amf));
    // XML that it writes counts as a text, to which texts after it refer.
    let list: amf3::Value = vec![
        amf3::Value::Xml("<a>.</a>".into()),
        "a".into(),
        "b".into(),
        "a".into(),
    ]
    .into();
    let again = amf3::decode(&written(witness, &list), Limits::default());
    assert_ne!(
        again.map(|list| of_amf3(&list, Who::Py3Amf)),
        Ok(of_amf3(&list, Who::Py3Amf))
    );
    // Milliseconds come back as seconds times a thousand, which is another double.
    let date = amf3::Value::Date(69_591_186_719_833.0);
    assert_ne!(amf3_of(&written(witness, &date)), date);
    // Minus zero becomes zero.
    let zero = amf0::encode(&(-0.0).into()).unwrap();
    let (what, _) = witness.ask('0', &zero).unwrap();
    assert_eq!(what, "d0000000000000000");
    // A date before 1970 that is no whole second is read, and written as another one.
    let date = written(witness, &amf3::Value::Date(-1_500.0));
    assert_eq!(amf3_of(&date), amf3::Value::Date(-2_500.0));
    // A small message whose number is a text cannot be written.
    let message = amf3::Externalizable {
        class: "DSK".into(),
        members: vec![("messageId".into(), "m".into())],
    };
    read(witness, &message.into()).unwrap_err();
    // Each value in a packet is said to have 0 bytes.
    let (_, written) = witness.ask('p', &packet(vec![5.0.into()].into())).unwrap();
    assert_eq!(length_of(&written), 0);
    // The array of arguments has no place in the table of references.
    let shared = vec![vec![].into(), amf0::Value::Reference(0)].into();
    let (what, _) = witness.ask('p', &packet(shared)).unwrap();
    assert!(what.ends_with("=[[],[]])"), "{what}");
}

/// A value and a reference to it: dates, XML, bytes, objects, arrays.
fn agree_on_references(who: Who) {
    let mut witness = Witness::call(who);
    for shared in some(&amf3_known(who, false)) {
        let alone = amf3::encode(&shared).unwrap();
        // What has a place of its own, the first after that of the list.
        let list = amf3::Value::from(vec![shared.clone(), amf3::Value::Reference(1)]);
        let Ok(bytes) = amf3::encode(&list) else {
            assert!(alone[0] < 7, "{shared:?}");
            continue;
        };
        let twice = amf3::Value::from(vec![shared.clone(), shared]);
        let (what, written) = witness
            .ask('3', &bytes)
            .unwrap_or_else(|e| panic!("{e}{list:?}"));
        assert_eq!(what, of_amf3(&twice, who), "{list:?}");
        assert_eq!(of_amf3(&amf3_of(&written), who), what, "{list:?}");
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

/// The small messages of Flex, with whatever members.
#[test]
#[ignore = "asks BlazeDS"]
fn blazeds_agrees_on_small_messages() {
    let who = Who::BlazeDs;
    let mut witness = Witness::call(who);
    let kinds = proptest::sample::select(vec!["DSK", "DSA", "DSC"]);
    let optional = proptest::sample::subsequence(vec!["body", "clientId", "destination"], 0..4);
    let messages = (kinds, optional, any::<bool>(), "[a-z]{1,9}").prop_map(
        |(class, optional, correlated, text)| {
            let text = || amf3::Value::from(&*text);
            let mut members: Vec<_> = optional.into_iter().map(|name| (name, text())).collect();
            // What both make up where it is missing.
            members.extend([
                ("messageId", text()),
                ("timestamp", amf3::Value::Double(1e12)),
            ]);
            if correlated {
                members.push(("correlationId", text()));
            }
            if class == "DSC" {
                members.push(("operation", amf3::Value::Integer(5)));
            }
            amf3::Value::from(amf3::Externalizable {
                class: class.into(),
                members: members
                    .into_iter()
                    .map(|(name, value)| (name.into(), value))
                    .collect(),
            })
        },
    );
    for message in some(&messages) {
        let bytes = amf3::encode(&message).unwrap();
        let (what, written) = witness
            .ask('3', &bytes)
            .unwrap_or_else(|e| panic!("{e}{message:?}"));
        assert_eq!(what, of_amf3(&message, who), "{message:?}");
        let amf3::Value::Externalizable(mut again) = amf3_of(&written) else {
            panic!("a small message was written of {message:?}")
        };
        // Nothing is written of what there is not.
        let nothing = |value: &amf3::Value| of_amf3(value, who) == "n" || *value == 0.into();
        again.members.retain(|(_, value)| !nothing(value));
        assert_eq!(
            of_amf3(&amf3::Value::Externalizable(again), who),
            what,
            "{message:?}"
        );
    }
}
