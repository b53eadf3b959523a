//! Tables that come part by part and go as a whole: what is made of them is bounded, and not the columns alone.

use bytes::Bytes;
use http_body_util::Full;
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::{Packet, Version};
use tamtam_gateway::{Fault, Limits, Method, RowStream, Service};
use tamtam_rows::{Column, Field, Kind, Rows, Schema};
use tokio::net::TcpStream;

use crate::amf::{AMF, amf3_in, flex, in_amf3, packet};
use crate::apart::{self, Apart};
use crate::world::{Answered, LIMIT, Running, kit, request, run, send_over, tiles};

const MIB: usize = 1 << 20;

/// Rows of a part.
const ROWS: usize = 100_000;

/// What a table may make a gateway take: its columns, what is written of them, and as much again while that is moved to where there is more
/// room, or is compressed.
const MOST: usize = 256 * MIB;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    count: usize,
}

/// A table of one column, in parts.
fn in_parts(count: usize, kind: Kind, column: impl Fn(usize) -> Column) -> RowStream {
    let schema = Schema::new([Field::new("n", kind)]).unwrap();
    let part = Rows::new(schema.clone(), [column(ROWS)]).unwrap();
    RowStream::new(schema, move |sink| {
        for first in (0..count).step_by(ROWS) {
            sink.send(part.part(0..ROWS.min(count - first)))?;
        }
        Ok(())
    })
}

/// Tables whose rows are short in a column, and long where they have names and tags, or many digits, or escapes.
fn narrow() -> Service {
    let bytes = Method::blocking("bytes", |Count { count }| {
        let column = |rows| Column::from(vec![7_u8; rows]);
        Ok::<_, Fault>(in_parts(count, Kind::U8, column))
    });
    let digits = Method::blocking("digits", |Count { count }| {
        let column = |rows| Column::from(vec![-1e300; rows]);
        Ok::<_, Fault>(in_parts(count, Kind::F64, column))
    });
    let escapes = Method::blocking("escapes", |Count { count }| {
        let text = "\"\u{1}".repeat(50);
        let column = |rows| (0..rows).map(|_| Some(&*text)).collect();
        Ok::<_, Fault>(in_parts(count, Kind::Text, column))
    });
    let services = [bytes.safe(), digits.safe(), escapes.safe()].into_iter();
    services.fold(Service::new("Narrow"), Service::with)
}

/// No test: what the other one calls, in a process of its own.
#[test]
#[ignore = "the other test of this module starts it"]
fn serves() {
    apart::serve(|| {
        kit().page().service(narrow()).limits(Limits {
            // As long as a busy machine needs.
            time: LIMIT,
            ..Limits::default()
        })
    });
}

/// A call, and what is told of the table.
struct Asked {
    name: String,
    request: hyper::Request<Full<Bytes>>,
    /// Whether the answer is a fault that says so.
    is_told: fn(&Answered) -> bool,
}

fn by_json_rpc(method: &str, count: usize) -> Asked {
    let call = format!(
        r#"{{"jsonrpc":"2.0","method":"Narrow.{method}","params":{{"count":{count}}},"id":1}}"#
    );
    posted("/jsonrpc", "application/json", call, |answered| {
        let error = &answered.json()["error"];
        error["code"] == -32004 && says_enough(error["message"].as_str().unwrap())
    })
}

fn by_xml_rpc(method: &str, count: usize) -> Asked {
    let call = format!(
        "<methodCall><methodName>Narrow.{method}</methodName><params><param><value><int>{count}</int></value></param></params></methodCall>"
    );
    posted("/xmlrpc", "text/xml", call, |answered| {
        let text = answered.text();
        text.contains("<int>-32004</int>") && says_enough(text)
    })
}

fn by_amf(version: Version, query: &str, count: usize) -> Asked {
    let count = match version {
        Version::Amf0 => (count as f64).into(),
        Version::Amf3 => in_amf3(count as f64),
    };
    let call = packet(version, vec![("Narrow.bytes", vec![count].into())]);
    let path = format!("/amf{query}");
    posted(&path, AMF, call.encode().unwrap(), |answered| {
        let told = Packet::decode(&answered.body, Default::default()).unwrap();
        let told = format!("{:?}", told.messages[0]);
        told.contains("Server.NotCarried") && told.contains("/1/onStatus") && says_enough(&told)
    })
}

fn by_flex(count: usize) -> Asked {
    let arguments = Amf3::from(vec![Amf3::Double(count as f64)]);
    let message = flex(
        "RemotingMessage",
        &[
            ("messageId", "1".into()),
            ("destination", "Narrow".into()),
            ("operation", "bytes".into()),
            ("body", arguments),
        ],
    );
    let call = packet(Version::Amf3, vec![("null", vec![in_amf3(message)].into())]);
    posted("/amf", AMF, call.encode().unwrap(), |answered| {
        let told = Packet::decode(&answered.body, Default::default()).unwrap();
        let told = format!("{:?}", amf3_in(&told.messages[0].value));
        told.contains("Server.NotCarried") && told.contains("ErrorMessage") && says_enough(&told)
    })
}

fn by_url(method: &str, count: usize, headers: &[(&str, &str)]) -> Asked {
    let path = format!("/rest/Narrow/{method}?count={count}");
    let asked = headers
        .iter()
        .fold(request("GET", &path), |asked, (name, value)| {
            asked.header(*name, *value)
        });
    Asked {
        name: format!("{path} {headers:?}"),
        request: asked.body(Full::default()).unwrap(),
        is_told: |answered| {
            let told = answered.json();
            answered.status == 500
                && told["code"] == "Server.NotCarried"
                && says_enough(told["description"].as_str().unwrap())
        },
    }
}

fn posted(
    path: &str,
    content_type: &str,
    body: impl Into<Bytes>,
    is_told: fn(&Answered) -> bool,
) -> Asked {
    let body = body.into();
    let asked = request("POST", path).header("content-type", content_type);
    Asked {
        name: format!("{path} {}", body.escape_ascii()),
        request: asked.body(Full::new(body)).unwrap(),
        is_told,
    }
}

/// What it is, how large it may be, and what to do.
fn says_enough(told: &str) -> bool {
    let has = |part| told.contains(part);
    has("has more than") && has("MiB") && (has("ask for it by URL") || has("ask for a shorter one"))
}

#[test]
fn a_table_that_is_larger_where_it_goes_than_in_its_columns_is_refused_before_it_takes_that() {
    run(|| async {
        const MILLION: usize = 1_000_000;
        let server = Apart::start("gathered::serves");
        let range = ("range", "rows=0-99999999");
        for asked in [
            // So many rows take a byte each, and 85 and more as tags.
            by_xml_rpc("bytes", 8 * MILLION),
            by_flex(4 * MILLION),
            by_amf(Version::Amf0, "", 30 * MILLION),
            by_amf(Version::Amf0, "?rows=objects", 20 * MILLION),
            by_amf(Version::Amf3, "", 40 * MILLION),
            by_json_rpc("bytes", 40 * MILLION),
            by_url("bytes", 40 * MILLION, &[range]),
            by_url(
                "bytes",
                40 * MILLION,
                &[range, ("accept", "application/jsonl")],
            ),
            // Which ones are long is known when they are written.
            by_xml_rpc("digits", MILLION / 2),
            by_json_rpc("escapes", MILLION / 2),
            by_url("escapes", MILLION / 2, &[range, ("accept", "text/csv")]),
        ] {
            let (before, _) = server.memory();
            server.forget();
            let stream = TcpStream::connect(server.address).await.unwrap();
            let answered = send_over(stream, asked.request).await;
            let (_, most) = server.memory();
            let told = String::from_utf8_lossy(&answered.body[..answered.body.len().min(500)]);
            let name = asked.name;
            let taken = most.saturating_sub(before) / MIB;
            println!("{name}: {taken} MiB");
            assert!(taken < MOST / MIB, "{name}: {taken} MiB: {told}");
            assert!((asked.is_told)(&answered), "{name}: {told}");
        }
        server.end();
    });
}

#[test]
fn a_table_that_flex_gets_takes_no_more_as_objects_than_is_said() {
    run(|| async {
        let server = Apart::start("gathered::serves");
        let (before, _) = server.memory();
        server.forget();
        // Nearly as many as there may be.
        let asked = by_flex(800_000);
        let stream = TcpStream::connect(server.address).await.unwrap();
        let answered = send_over(stream, asked.request).await;
        let (_, most) = server.memory();
        let is_answered = memchr::memmem::find(&answered.body, b"/1/onResult").is_some();
        assert!(is_answered && answered.body.len() > 4 * 800_000);
        let taken = most.saturating_sub(before) / MIB;
        println!("{taken} MiB");
        assert!(taken < MOST / MIB, "{taken} MiB");
        server.end();
    });
}

#[test]
fn the_page_weighs_a_table_in_the_forms_that_it_is_not_too_large_for() {
    run(|| async {
        let server = Apart::start("gathered::serves");
        let (before, _) = server.memory();
        server.forget();
        let asked = posted(
            "/page/weigh/Narrow/bytes",
            "application/json",
            r#"{"count":2000000}"#,
            |_| true,
        );
        let stream = TcpStream::connect(server.address).await.unwrap();
        let answered = send_over(stream, asked.request).await;
        let (_, most) = server.memory();
        assert_eq!(answered.status, 200, "{}", answered.text());
        let told = answered.json();
        assert_eq!(told["rows"], 2_000_000);
        let forms = told["forms"].as_array().unwrap();
        let has = |form: &str| forms.iter().any(|told| told["form"] == form);
        assert!(has("json") && has("packed") && has("csv"), "{told}");
        assert!(!has("xml-rpc"), "{told}");
        let taken = most.saturating_sub(before) / MIB;
        assert!(taken < MOST / MIB, "{taken} MiB");
        server.end();
    });
}

/// The same table as a whole, and part by part.
fn twice() -> Service {
    let whole = Method::blocking("whole", |Count { count }| {
        Ok::<_, Fault>(tiles(count as u32))
    });
    let parts = Method::blocking("parts", |Count { count }| {
        let table = tiles(count as u32);
        Ok::<_, Fault>(RowStream::new(table.schema().clone(), move |sink| {
            for first in (0..count).step_by(700) {
                sink.send(table.part(first..count.min(first + 700)))?;
            }
            Ok(())
        }))
    });
    Service::new("Twice").with(whole.safe()).with(parts.safe())
}

#[test]
fn a_table_that_is_gathered_has_the_bytes_of_one_that_is_there_as_a_whole() {
    run(|| async {
        let server = Running::of(kit().service(twice())).await;
        for count in [0, 1, 10_000] {
            let json = async |method: &str| {
                let call = format!(
                    r#"[{{"jsonrpc":"2.0","method":"Twice.{method}","params":[{count}],"id":1}},{{"jsonrpc":"2.0","method":"Echo.echo","params":[2],"id":2}}]"#
                );
                let answered = server.post("/jsonrpc", "application/json", call).await;
                answered.text().to_owned()
            };
            assert!(json("whole").await == json("parts").await, "{count}");
            let xml = async |method: &str| {
                let call = format!(
                    "<methodCall><methodName>Twice.{method}</methodName><params><param><value><int>{count}</int></value></param></params></methodCall>"
                );
                server.xml_rpc(call).await
            };
            assert!(xml("whole").await == xml("parts").await, "{count}");
            let several = async |method: &str| {
                let one = format!(
                    "<value><struct><member><name>methodName</name><value>Twice.{method}</value></member><member><name>params</name><value><array><data><value><int>{count}</int></value></data></array></value></member></struct></value>"
                );
                let call = format!(
                    "<methodCall><methodName>system.multicall</methodName><params><param><value><array><data>{one}{one}</data></array></value></param></params></methodCall>"
                );
                server.xml_rpc(call).await
            };
            assert!(several("whole").await == several("parts").await, "{count}");
            for accept in [
                "application/json",
                "application/jsonl",
                "text/csv",
                "application/vnd.msgpack",
                "application/vnd.tamtam.rows",
                "application/vnd.apache.arrow.stream",
                "application/vnd.apache.parquet",
            ] {
                let headers = [("accept", accept), ("range", "rows=0-8999")];
                let of = async |method: &str| {
                    let path = format!("/rest/Twice/{method}?count={count}");
                    server.get(&path, &headers).await
                };
                let (whole, parts) = (of("whole").await, of("parts").await);
                assert_eq!(parts.status, if count == 0 { 416 } else { 206 });
                assert_eq!(whole.status, parts.status, "{accept} {count}");
                assert!(whole.body == parts.body, "{accept} {count}");
            }
        }
    });
}
