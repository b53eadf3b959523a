//! Any bytes as the body of a request of JSON-RPC, through the whole gateway: each request in it is answered under its own number, none
//! that wants no answer is, an echo is what was sent, and the gateway is then as it was.

use crate::gateway::{LIMITS, World, post, world};
use serde_json::{Value as Json, json};

/// Bytes that a request takes, at most.
const MOST_BYTES: usize = 8 << 20;

/// One that there are too many of, or too deep.
const TOO_LARGE: i64 = -32003;
const BUSY: i64 = -32005;

/// What is to come back for one request.
enum Wanted {
    /// A fault.
    Fault(Json),
    /// A result or a fault.
    Answer(Json),
    /// This result.
    Result(Json, Json),
    Nothing,
}

impl Wanted {
    fn of(request: &Json) -> Wanted {
        let Json::Object(members) = request else {
            return Wanted::Fault(Json::Null);
        };
        let id = members.get("id");
        if id.is_some_and(|id| id.is_boolean() || id.is_array() || id.is_object()) {
            return Wanted::Fault(Json::Null);
        }
        let params = members.get("params");
        let is_sound = members.get("jsonrpc") == Some(&json!("2.0"))
            && members.get("method").is_some_and(Json::is_string)
            && params.is_none_or(|params| params.is_array() || params.is_object());
        if !is_sound {
            return Wanted::Fault(id.cloned().unwrap_or_default());
        }
        let Some(id) = id.cloned() else {
            return Wanted::Nothing;
        };
        let echoed = match params {
            Some(Json::Array(values)) if values.len() == 1 => values.first(),
            Some(Json::Object(values)) if values.len() == 1 => values.get("value"),
            _ => None,
        };
        match echoed {
            Some(value) if members["method"] == "Echo.echo" => Wanted::Result(id, value.clone()),
            _ => Wanted::Answer(id),
        }
    }

    fn is_call(&self) -> bool {
        !matches!(self, Wanted::Fault(_))
    }
}

/// The result, or the code of the error, of one answer.
fn outcome<'a>(answer: &'a Json, id: &Json) -> Result<&'a Json, i64> {
    let members = answer.as_object().expect("an answer is an object");
    assert_eq!(members.len(), 3, "{answer}");
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), id));
    match members.get("error") {
        None => Ok(members.get("result").expect("a result or an error")),
        Some(error) => {
            assert!(error["message"].is_string(), "{answer}");
            Err(error["code"].as_i64().expect("an error has its number"))
        }
    }
}

fn depth(value: &Json) -> usize {
    match value {
        Json::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Whether one of the limits forbids it, and no doubt about that: names that come twice are not counted twice here.
fn is_within(body: &[u8], request: &Json) -> bool {
    body.len() / 2 < LIMITS.values && depth(request) <= LIMITS.depth
}

/// Sends it, and says how many calls there were in it.
fn checked(world: &World, body: &[u8]) -> u64 {
    let answered = world.answer(post("/jsonrpc", "application/json", body), MOST_BYTES);
    if body.len() > LIMITS.body_bytes {
        assert_eq!(answered.status, 413);
        return 0;
    }
    if answered.status == 204 {
        assert!(answered.body.is_empty());
    } else {
        assert_eq!(answered.status, 200);
    }
    let answer = match &answered.body[..] {
        [] => None,
        body => Some(serde_json::from_slice::<Json>(body).expect("the answer is JSON")),
    };
    let Ok(request) = serde_json::from_slice::<Json>(body) else {
        let answer = answer.expect("an error");
        let id = &answer["id"];
        let code = outcome(&answer, id).unwrap_err();
        // What exceeds the limits may be answered by its number, though there is no JSON that could be read here.
        assert!(
            (code == -32700 && id.is_null()) || code == TOO_LARGE,
            "{answer}"
        );
        return 0;
    };
    let whole = answer.as_ref().and_then(|answer| {
        let code = answer.get("error")?["code"].as_i64()?;
        let is_of_all = answer["id"].is_null() || answer["id"] == request["id"];
        (is_of_all && code == TOO_LARGE).then_some(())
    });
    let too_many = request
        .as_array()
        .is_some_and(|batch| batch.len() > LIMITS.batch);
    if whole.is_some() && (too_many || !is_within(body, &request)) {
        return 0;
    }
    assert!(!too_many, "the batch is too large");
    let (wanted, answers): (Vec<Wanted>, Vec<Json>) = match &request {
        Json::Array(batch) if batch.is_empty() => (
            vec![Wanted::Fault(Json::Null)],
            vec![answer.expect("an error")],
        ),
        Json::Array(batch) => {
            let answers = match answer {
                None => Vec::new(),
                Some(Json::Array(answers)) => answers,
                Some(other) => panic!("a batch is answered by {other}"),
            };
            (batch.iter().map(Wanted::of).collect(), answers)
        }
        one => (vec![Wanted::of(one)], answer.into_iter().collect()),
    };
    let mut answers = answers.iter();
    for wanted in &wanted {
        let mut next = || answers.next().expect("an answer for each request");
        match wanted {
            Wanted::Nothing => {}
            Wanted::Fault(id) => assert_eq!(outcome(next(), id), Err(-32600)),
            Wanted::Answer(id) => drop(outcome(next(), id)),
            Wanted::Result(id, value) => assert_eq!(outcome(next(), id), Ok(value)),
        }
    }
    assert_eq!(answers.next(), None, "an answer that was not asked for");
    wanted.iter().filter(|wanted| wanted.is_call()).count() as u64
}

/// A gateway that has too much to do says so of each call.
fn refused(world: &World, body: &[u8]) {
    let answered = world.answer_when_full(post("/jsonrpc", "application/json", body));
    let Ok(answer) = serde_json::from_slice::<Json>(&answered.body) else {
        assert!(matches!(answered.status, 204 | 503), "{}", answered.status);
        return;
    };
    let answers = match answer {
        Json::Array(answers) => answers,
        one => vec![one],
    };
    for answer in &answers {
        let code = outcome(answer, &answer["id"]).expect_err("nothing is called");
        assert!(matches!(code, BUSY | TOO_LARGE | -32600 | -32700), "{code}");
    }
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(body: &[u8]) {
    let world = world(false);
    let calls = checked(world, body);
    refused(world, body);
    // It goes on as if nothing had been.
    check_sum(world);
    world.rests(calls + 1..=calls + 1);
}

fn check_sum(world: &World) {
    let sum = br#"{"jsonrpc":"2.0","id":"after","method":"Sums.add","params":[40,2]}"#;
    let answered = world.answer(post("/jsonrpc", "application/json", sum), MOST_BYTES);
    let answer: Json = serde_json::from_slice(&answered.body).expect("the answer is JSON");
    let sum = json!({"sum": 42, "is_even": true});
    assert_eq!(outcome(&answer, &json!("after")), Ok(&sum));
}
