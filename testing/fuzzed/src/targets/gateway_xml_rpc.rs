//! Any bytes as the body of a request of XML-RPC, through the whole gateway: the answer is XML that a strict reader takes, an echo is
//! what was sent, and the gateway is then as it was.

use std::ops::RangeInclusive;

use crate::gateway::{LIMITS, World, XmlAnswer, XmlSent, post, world, xml_answer, xml_call};

/// Bytes that a request takes, at most.
const MOST_BYTES: usize = 8 << 20;

const TOO_LARGE: i64 = -32003;
const BUSY: i64 = -32005;

fn answer_of(body: &[u8]) -> XmlAnswer {
    xml_answer(body).unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(body)))
}

/// Sends it, and says how many calls there may have been in it.
fn checked(world: &World, body: &[u8]) -> RangeInclusive<u64> {
    let answered = world.answer(post("/xmlrpc", "text/xml", body), MOST_BYTES);
    assert_eq!(answered.status, 200);
    let answer = answer_of(&answered.body);
    if body.len() > LIMITS.body_bytes {
        let is_refused = matches!(answer, XmlAnswer::Fault(TOO_LARGE, _));
        assert!(is_refused, "what is too large is answered: {answer:?}");
        return 0..=0;
    }
    let any = 0..=LIMITS.batch as u64;
    let Some((method, params)) = xml_call(body) else {
        return any;
    };
    if params.iter().any(has_date) {
        // The calendar may not have it.
        return any;
    }
    let code = match &answer {
        XmlAnswer::Fault(code, _) => *code,
        XmlAnswer::Value(_) => 0,
    };
    assert!(
        !matches!(code, -32700 | -32600),
        "a sound call is refused: {answer:?}"
    );
    let method = method.trim();
    if let ("Echo.echo", [value]) = (method, &params[..]) {
        match answer {
            XmlAnswer::Value(echoed) => assert_eq!(echoed, *value),
            XmlAnswer::Fault(TOO_LARGE, _) => {}
            XmlAnswer::Fault(code, said) => panic!("{code}: {said}"),
        }
    }
    // Those of the server itself are no calls of a service; of several in one there may be any number.
    if method.starts_with("system.") {
        return any;
    }
    let calls = u64::from(code != TOO_LARGE);
    calls..=calls
}

fn has_date(value: &XmlSent) -> bool {
    match value {
        XmlSent::Date => true,
        XmlSent::List(values) => values.iter().any(has_date),
        XmlSent::Struct(members) => members.iter().any(|(_, value)| has_date(value)),
        _ => false,
    }
}

/// A gateway that has too much to do says so.
fn refused(world: &World, body: &[u8]) {
    let answered = world.answer_when_full(post("/xmlrpc", "text/xml", body));
    if answered.status != 200 {
        assert_eq!(answered.status, 503);
        return;
    }
    let answer = answer_of(&answered.body);
    match xml_call(body) {
        // The calendar may not have a date.
        Some((method, params))
            if !method.trim().starts_with("system.") && !params.iter().any(has_date) =>
        {
            assert!(
                matches!(answer, XmlAnswer::Fault(BUSY | TOO_LARGE, _)),
                "{answer:?}"
            )
        }
        _ => {}
    }
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(body: &[u8]) {
    let world = world(false);
    let calls = checked(world, body);
    refused(world, body);
    // It goes on as if nothing had been.
    let sum = b"<methodCall><methodName>Sums.add</methodName><params><param><value><int>40</int></value></param>\
        <param><value><int>2</int></value></param></params></methodCall>";
    let answered = world.answer(post("/RPC2", "text/xml", sum), MOST_BYTES);
    let sum = XmlSent::Struct(vec![
        ("sum".to_owned(), XmlSent::Int(42)),
        ("is_even".to_owned(), XmlSent::Bool(true)),
    ]);
    assert_eq!(answer_of(&answered.body), XmlAnswer::Value(sum));
    world.rests(calls.start() + 1..=calls.end() + 1);
}
