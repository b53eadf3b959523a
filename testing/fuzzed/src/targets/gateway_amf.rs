//! Any bytes as a packet of remoting, through the whole gateway: each message that wants one has its answer, in its place, Flex's
//! messages by messages of Flex; an echo is what was sent, and the gateway is then as it was.

use crate::gateway::{Answered, LIMITS, World, post, world};
use tamtam_amf::packet::{Message, Packet, PacketLimits, Version};
use tamtam_amf::{amf0, amf3};

/// Bytes that a request takes, at most.
const MOST_BYTES: usize = 8 << 20;

const AMF: &str = "application/x-amf";

/// What the gateway takes.
const TAKEN: PacketLimits = PacketLimits {
    values: tamtam_amf::Limits {
        bytes: LIMITS.body_bytes,
        depth: LIMITS.depth,
        values: LIMITS.values,
    },
    headers: 64,
    messages: LIMITS.batch,
    exact_lengths: false,
};

/// Whether a value comes back as the same, and not as another that means the same.
fn is_kept0(value: &amf0::Value) -> bool {
    match value {
        amf0::Value::Number(number) => !number.is_nan(),
        amf0::Value::Boolean(_)
        | amf0::Value::String(_)
        | amf0::Value::Null
        | amf0::Value::Undefined
        | amf0::Value::XmlDocument(_) => true,
        amf0::Value::StrictArray(values) => values.iter().all(is_kept0),
        amf0::Value::Object(members) | amf0::Value::EcmaArray(members) => are_kept0(members),
        amf0::Value::TypedObject(object) => {
            !object.class.is_empty() && are_kept0(&object.properties)
        }
        _ => false,
    }
}

fn are_kept0(members: &amf0::Properties) -> bool {
    let mut members = members.iter();
    members.all(|(name, value)| !name.is_empty() && is_kept0(value))
}

fn is_kept3(value: &amf3::Value) -> bool {
    match value {
        amf3::Value::Double(number) | amf3::Value::Date(number) => !number.is_nan(),
        amf3::Value::Undefined
        | amf3::Value::Null
        | amf3::Value::Boolean(_)
        | amf3::Value::Integer(_)
        | amf3::Value::String(_)
        | amf3::Value::Xml(_)
        | amf3::Value::XmlDocument(_)
        | amf3::Value::ByteArray(_)
        | amf3::Value::VectorInt(_)
        | amf3::Value::VectorUint(_) => true,
        amf3::Value::VectorDouble(vector) => !vector.values.iter().any(|value| value.is_nan()),
        amf3::Value::VectorObject { vector, .. } => vector.values.iter().all(is_kept3),
        amf3::Value::Array(array) => {
            array.dense.iter().all(is_kept3)
                && array.associative.iter().all(|(_, value)| is_kept3(value))
        }
        amf3::Value::Dictionary(dictionary) => {
            let mut entries = dictionary.entries.iter();
            entries.all(|(key, value)| is_kept3(key) && is_kept3(value))
        }
        _ => false,
    }
}

/// The one argument of a call.
fn argument(value: &amf0::Value) -> Option<&amf0::Value> {
    match value {
        amf0::Value::StrictArray(values) => match &values[..] {
            [value] => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// The class of a message of Flex, without its package, and the member of this name.
fn flex<'v>(value: &'v amf0::Value, member: &str) -> Option<(&'v str, amf3::Value)> {
    let value = match value {
        amf0::Value::StrictArray(values) if values.len() == 1 => &values[0],
        other => other,
    };
    let amf0::Value::Avmplus(value) = value else {
        return None;
    };
    let amf3::Value::Object(object) = &**value else {
        return None;
    };
    let class = object
        .traits
        .class
        .strip_prefix("flex.messaging.messages.")?;
    let member = value.get(member).cloned().unwrap_or(amf3::Value::Null);
    Some((class, member))
}

fn check_answer(packet: &Packet, asked: &Message, answer: &Message) {
    assert_eq!(answer.response, "null");
    let kind = answer.target.strip_prefix(&asked.response);
    let kind = kind.expect("answers come in the order of the calls");
    let is_result = match kind {
        "/onResult" => true,
        "/onStatus" => false,
        other => panic!("an answer goes to {other}"),
    };
    let is_known = |name: &str| name == "Credentials";
    if packet
        .headers
        .iter()
        .any(|header| header.must_understand && !is_known(&header.name))
    {
        assert!(!is_result, "a header was not understood");
        return;
    }
    if packet.version == Version::Amf3
        && let Some((_, number)) = flex(&asked.value, "messageId")
    {
        let (class, about) =
            flex(&answer.value, "correlationId").expect("Flex is answered by Flex");
        assert_eq!(
            class,
            if is_result {
                "AcknowledgeMessage"
            } else {
                "ErrorMessage"
            }
        );
        if is_kept3(&number) {
            assert_eq!(about, number);
        }
        return;
    }
    if matches!(&*asked.target, "Echo.echo" | "Echo/echo")
        && let Some(sent) = argument(&asked.value)
    {
        let is_kept = match (sent, packet.version) {
            (amf0::Value::Avmplus(value), Version::Amf3) => is_kept3(value),
            (value, Version::Amf0) => is_kept0(value),
            _ => false,
        };
        if is_kept {
            assert!(is_result, "an echo is refused: {:?}", answer.value);
            assert_eq!(answer.value, *sent);
        }
    }
}

/// What is not read is refused by a status, or by a fault for each call where it is known to which places these go.
fn check_refused(answered: &Answered, status: u16) {
    if answered.status != 200 {
        assert_eq!(answered.status, status);
        return;
    }
    let answers = Packet::decode(&answered.body, PacketLimits::default());
    let answers = answers.expect("the answer is a packet");
    assert!(!answers.messages.is_empty());
    for answer in &answers.messages {
        assert!(answer.target.ends_with("/onStatus"), "{}", answer.target);
    }
}

/// Sends it, and says how many calls there were in it at most.
fn checked(world: &World, body: &[u8]) -> u64 {
    let answered = world.answer(post("/amf", AMF, body), MOST_BYTES);
    if body.len() > LIMITS.body_bytes {
        check_refused(&answered, 413);
        return 0;
    }
    let Ok(packet) = Packet::decode(body, TAKEN) else {
        check_refused(&answered, 400);
        return 0;
    };
    let wants = |message: &&Message| !matches!(&*message.response, "" | "null");
    if answered.status != 200 {
        // Where its answers would go is too long a name; then nothing is called.
        assert_eq!(answered.status, 400);
        let is_long = |message: &Message| message.response.len() + "/onResult".len() > 65_535;
        assert!(packet.messages.iter().any(is_long));
        return 0;
    }
    let exact = PacketLimits {
        exact_lengths: true,
        ..PacketLimits::default()
    };
    let answers = Packet::decode(&answered.body, exact).expect("the answer is a packet");
    assert_eq!(answers.version, packet.version);
    assert!(answers.headers.is_empty());
    let asked: Vec<_> = packet.messages.iter().filter(wants).collect();
    assert_eq!(answers.messages.len(), asked.len());
    for (asked, answer) in asked.iter().zip(&answers.messages) {
        check_answer(&packet, asked, answer);
    }
    packet.messages.len() as u64
}

/// A gateway that has too much to do says so, in a packet.
fn refused(world: &World, body: &[u8]) {
    let answered = world.answer_when_full(post("/amf", AMF, body));
    if answered.status == 200 {
        Packet::decode(&answered.body, PacketLimits::default()).expect("the answer is a packet");
    } else {
        assert!(matches!(answered.status, 400 | 503), "{}", answered.status);
    }
}

fn check_sum(world: &World, version: Version) {
    let (forty, two) = (amf0::Value::Number(40.0), amf0::Value::Number(2.0));
    let packet = Packet {
        version,
        headers: Vec::new(),
        messages: vec![Message {
            target: "Sums.add".to_owned(),
            response: "/7".to_owned(),
            value: vec![forty, two].into(),
        }],
    };
    let body = packet.encode().expect("a packet");
    let answered = world.answer(post("/amf", AMF, &body), MOST_BYTES);
    let answer = Packet::decode(&answered.body, PacketLimits::default());
    let [message] = &answer.expect("the answer is a packet").messages[..] else {
        panic!("one call has one answer");
    };
    assert_eq!(message.target, "/7/onResult");
    let is_right = match &message.value {
        amf0::Value::Avmplus(value) => value.get("sum") == Some(&amf3::Value::Integer(42)),
        value => value.get("sum") == Some(&amf0::Value::Number(42.0)),
    };
    assert!(is_right, "{:?}", message.value);
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(body: &[u8]) {
    let world = world(false);
    let calls = checked(world, body);
    refused(world, body);
    // It goes on as if nothing had been.
    check_sum(world, Version::Amf0);
    check_sum(world, Version::Amf3);
    world.rests(2..=calls + 2);
}
