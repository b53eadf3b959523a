//! The body notices an answer that is lost, stale or damaged.

use std::time::Duration;

use super::work::Request;
use super::*;

fn conditions(records: u64) -> Conditions {
    Conditions {
        variant: Variant::new(records, Placement::Free),
        limit: Duration::from_millis(5),
    }
}

/// A server in the calling thread that does one thing wrong, at its fourth answer.
#[derive(Debug, Clone, Copy)]
enum Faulty {
    Nothing,
    /// The answer before comes again.
    Stale,
    /// An answer without its last byte.
    Short,
    /// One digit is another one.
    Digit,
    /// No answer at all.
    Silent,
    /// The client's thread panics.
    Panics,
    /// Nothing is, and the answers are of JSON-RPC.
    NothingByJsonRpc,
    /// It is one of JSON-RPC to another call.
    OtherCall,
}

struct FaultyClient {
    fault: Faulty,
    calls: u64,
    last: Vec<u8>,
}

impl Call for Faulty {
    type Server = Faulty;

    fn open(&self, _threads: usize) -> Result<Faulty, Failure> {
        Ok(*self)
    }
}

impl CallServer for Faulty {
    type Client = FaultyClient;

    fn connect(&mut self) -> Result<FaultyClient, Failure> {
        Ok(FaultyClient {
            fault: *self,
            calls: 0,
            last: Vec::new(),
        })
    }
}

impl Client for FaultyClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        self.calls += 1;
        let mut due = answer(&request);
        if self.calls == 4 {
            match self.fault {
                Faulty::Nothing | Faulty::NothingByJsonRpc | Faulty::OtherCall => {}
                Faulty::Stale => return Ok(self.last.clone()),
                Faulty::Short => due.truncate(due.len() - 1),
                Faulty::Digit => {
                    let place = due.iter().rposition(u8::is_ascii_digit).unwrap();
                    due[place] = if due[place] == b'1' { b'2' } else { b'1' };
                }
                Faulty::Silent => return Err(Failure::Unverified("it hung up".to_owned())),
                Faulty::Panics => panic!("a client that panics, as it is meant to"),
            }
        }
        self.last.clone_from(&due);
        if self.around() == Around::Nothing {
            return Ok(due);
        }
        let is_other = matches!(self.fault, Faulty::OtherCall) && self.calls == 4;
        let id = if is_other { 2 } else { 1 };
        let due = String::from_utf8(due).unwrap();
        Ok(format!(r#"{{"jsonrpc":"2.0","result":{due},"id":{id}}}"#).into_bytes())
    }

    fn around(&self) -> Around {
        match self.fault {
            Faulty::NothingByJsonRpc | Faulty::OtherCall => Around::JsonRpc,
            _ => Around::Nothing,
        }
    }
}

#[test]
fn calls_are_counted_and_timed() {
    for clients in [1, 3] {
        let by_json_rpc = run(Faulty::NothingByJsonRpc, clients, &conditions(3)).unwrap();
        let measurement = run(Faulty::Nothing, clients, &conditions(3)).unwrap();
        // What is around a page does not count.
        let bytes = |of: &Measurement| {
            let [calls, bytes] = ["ops_per_s", "mb_per_s"].map(|metric| of.value(metric).unwrap());
            bytes * 1e6 / calls
        };
        assert!((bytes(&by_json_rpc) / bytes(&measurement) - 1.0).abs() < 0.05);
        assert!(measurement.operations >= clients as u64);
        assert_eq!(measurement.metrics[0].metric, "ops_per_s");
        let value = |metric| measurement.value(metric).unwrap();
        let calls = value("ops_per_s") * measurement.elapsed.as_secs_f64();
        assert!((calls / measurement.operations as f64 - 1.0).abs() < 1e-9);
        assert!(value("mb_per_s") > 0.0 && value("first_call_us") > 0.0);
        assert!(measurement.elapsed >= Duration::from_millis(5));
    }
}

#[test]
fn what_is_wrong_with_an_answer_is_noticed() {
    for (fault, reason) in [
        (Faulty::Stale, "from 1000006 came where that of set"),
        (Faulty::Short, "are none"),
        (Faulty::Digit, "was due"),
        (Faulty::Silent, "hung up"),
        (Faulty::Panics, "panicked"),
        (Faulty::OtherCall, "it answers 2"),
    ] {
        let outcome = run(fault, 2, &conditions(3));
        let Err(Failure::Unverified(found)) = outcome else {
            panic!("{fault:?}: {outcome:?}");
        };
        assert!(found.contains(reason), "{fault:?}: {found}");
    }
}

#[test]
fn an_answer_is_about_as_long_as_the_articles() {
    for (set, offset) in [(1, 1_000_000), (8, 5_000_000), (108, 8_999_940)] {
        let request = Request {
            set,
            offset,
            limit: RECORDS,
        };
        let length = answer(&serde_json::to_vec(&request).unwrap()).len();
        assert!((4_600..4_900).contains(&length), "{length}");
    }
}

#[test]
fn every_field_is_looked_at() {
    let request = Request {
        set: 7,
        offset: 40,
        limit: 3,
    };
    assert_eq!(request.verify(&request.page()), Ok(()));
    let changes: [fn(&mut work::Page); 8] = [
        |page| page.set += 1,
        |page| page.offset += 1,
        |page| page.records.truncate(2),
        |page| page.records[2].id += 1,
        |page| page.records[1].name.push('!'),
        |page| page.records[0].x += 0.25,
        |page| page.records[2].y += 0.25,
        |page| page.records[2].colour ^= 1,
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut page = request.page();
        change(&mut page);
        assert!(request.verify(&page).is_err(), "change {number}");
    }
}

#[test]
fn each_request_has_another_answer() {
    let of = |set, offset| {
        let request = Request {
            set,
            offset,
            limit: 1,
        };
        let record = request.page().records.remove(0);
        (
            record.name,
            record.x.to_bits(),
            record.y.to_bits(),
            record.colour,
        )
    };
    let mut all: Vec<_> = (0..1000)
        .flat_map(|offset| [of(1, offset), of(2, offset)])
        .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 2000);
}

#[test]
fn a_request_that_cannot_be_read_has_no_answer_and_none_is_too_long() {
    assert_eq!(answer(b"{\"set\":1}"), b"");
    let greedy = Request {
        set: 1,
        offset: 1,
        limit: 1 << 40,
    };
    let answer = answer(&serde_json::to_vec(&greedy).unwrap());
    let page: work::Page = serde_json::from_slice(&answer).unwrap();
    assert_eq!(page.records.len(), 10_000);
}

#[test]
fn frames_end_with_their_stream_and_have_a_limit() {
    let request = serde_json::to_vec(&Request {
        set: 1,
        offset: 1,
        limit: 2,
    })
    .unwrap();
    let mut stream = (request.len() as u32).to_le_bytes().to_vec();
    stream.extend(&request);
    let mut answers = Vec::new();
    serve_frames(&stream[..], &mut answers).unwrap();
    let mut client = Framed::new(&answers[..], std::io::sink());
    assert_eq!(client.call(request.clone()), Ok(answer(&request)));
    let hung_up = client.call(request).unwrap_err();
    assert!(hung_up.to_string().contains("hung up"), "{hung_up}");
    let error = serve_frames(&u32::MAX.to_le_bytes()[..], std::io::sink()).unwrap_err();
    assert!(error.to_string().contains("more than a call has"));
}

#[test]
fn variants_say_how_many_clients() {
    let names: Vec<String> = measures(Faulty::Nothing)
        .iter()
        .map(|measure| measure.variant().to_string())
        .collect();
    assert_eq!(
        names,
        [
            "60/free/1client",
            "60/free/8clients",
            "60/2cores/1client",
            "60/1core/1client"
        ]
    );
}
