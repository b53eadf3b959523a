//! What does a call through the gateway cost, beyond the handler and a web server that has nothing else to do? Over connections that
//! are kept, a page of 4.7 KB is asked for of a bare handler of axum, by URL, and by JSON-RPC; and a table of 1,000 rows by URL, packed,
//! and by AMF0 as RecordSet, encoded for each call and kept, each beside a bare handler that has its bytes ready.
//!
//!     cargo run --release -p tamtam-gateway --example cost_of_a_call
//!
//! With names of ways it measures these beside their bare handlers, longer, over several connections:
//!
//!     cargo run --release -p tamtam-gateway --example cost_of_a_call packed-kept rest json-rpc
//!
//! With the name of a way and a count it calls that way alone, so that instructions can be counted where times are not to be trusted:
//! the difference of two counts, over the difference of the calls.
//!
//!     valgrind --tool=callgrind target/release/examples/cost_of_a_call json-rpc 1000

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam_amf::amf0;
use tamtam_amf::packet::{Encoder, Version};
use tamtam_gateway::{CachedRows, Fault, Gateway, Server, Service};
use tamtam_rows::encoding::{self, Amf0RecordSet};
use tamtam_rows::{Column, Encoding, Field, Kind, Rows, Schema, Strings};

#[derive(Deserialize, JsonSchema)]
struct Request {
    set: u64,
    offset: u64,
    limit: u64,
}

#[derive(Serialize, JsonSchema)]
struct Page {
    set: u64,
    offset: u64,
    records: Vec<Record>,
}

#[derive(Serialize, JsonSchema)]
struct Record {
    id: u64,
    name: String,
    x: f64,
    y: f64,
    colour: u32,
}

impl Request {
    fn page(self) -> Page {
        let records = (0..self.limit.min(10_000)).map(|number| {
            let id = self.offset + number;
            Record {
                id,
                name: ["amber anchor", "hollow harbour"][id as usize % 2].to_owned(),
                x: (id % 997) as f64 / 4.0 - 100.0,
                y: (id % 991) as f64 / 4.0 - 100.0,
                colour: (id * 7_919 % 0x100_0000) as u32,
            }
        });
        Page {
            set: self.set,
            offset: self.offset,
            records: records.collect(),
        }
    }
}

/// What is asked for, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A page of a bare handler.
    Axum,
    Rest,
    JsonRpc,
    /// The bytes of a packed table of a bare handler.
    PackedBytes,
    Packed,
    /// Of a table that is kept.
    PackedKept,
    /// The bytes of a RecordSet of a bare handler.
    RecordSetBytes,
    RecordSet,
    /// Of a table that is kept.
    RecordSetKept,
}

/// Each with the way of the bare handler that does the same.
const WAYS: [(Way, &str, Way); 9] = [
    (Way::Axum, "axum", Way::Axum),
    (Way::Rest, "rest", Way::Axum),
    (Way::JsonRpc, "json-rpc", Way::Axum),
    (Way::PackedBytes, "packed-bytes", Way::PackedBytes),
    (Way::Packed, "packed", Way::PackedBytes),
    (Way::PackedKept, "packed-kept", Way::PackedBytes),
    (Way::RecordSetBytes, "recordset-bytes", Way::RecordSetBytes),
    (Way::RecordSet, "recordset", Way::RecordSetBytes),
    (Way::RecordSetKept, "recordset-kept", Way::RecordSetBytes),
];

const AMF: &str = "application/x-amf";

const ASKED: &str = r#"{"set":3,"offset":1200000,"limit":66}"#;

/// How the rows lie in the table: as tiles on a board.
fn tiles() -> Result<Rows, Box<dyn Error>> {
    const ROWS: i16 = 1_000;
    // Any order will do that is not one.
    let mixed = |row: i16, among: i64| (i64::from(row) * 7_919 + 13) * 104_729 % among;
    let numbers = |among| -> Vec<i16> { (0..ROWS).map(|row| mixed(row, among) as i16).collect() };
    let mut colours = Strings::new();
    for row in 0..ROWS {
        colours.push(&format!("{:06x}", mixed(row, 0x100_0000)))?;
    }
    let schema = Schema::new([
        Field::new("slot_number", Kind::I16),
        Field::new("x", Kind::I16),
        Field::new("y", Kind::I16),
        Field::new("color", Kind::Text),
        Field::new("rotation", Kind::I16),
    ])?;
    let columns: [Column; 5] = [
        (1..=ROWS).collect::<Vec<_>>().into(),
        numbers(1_100).into(),
        numbers(1_000).into(),
        colours.into(),
        numbers(360).into(),
    ];
    Ok(Rows::new(schema, columns)?)
}

/// A packet of AMF0 that calls this method without arguments.
fn amf_call(method: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut packet = Vec::new();
    let nothing = amf0::Value::StrictArray(Vec::new());
    Encoder::new(&mut packet, Version::Amf0).write_message(method, "/1", &nothing)?;
    Ok(packet)
}

impl Way {
    fn is_bare(self) -> bool {
        matches!(self, Way::Axum | Way::PackedBytes | Way::RecordSetBytes)
    }

    /// Serves what is asked for, from a thread of its own, or from as many as there are processors for several connections.
    fn serve(self, connections: usize) -> Result<SocketAddr, Box<dyn Error>> {
        let mut builder = match connections {
            1 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime = builder.enable_all().build()?;
        let (at, served) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            runtime.block_on(async move {
                if self.is_bare() {
                    let _ = self.by_axum(&at).await;
                } else {
                    let _ = by_gateway(&at).await;
                }
            });
        });
        Ok(served.recv()?)
    }

    /// The bytes of a request.
    fn request(self) -> Result<Vec<u8>, Box<dyn Error>> {
        let json = "application/json";
        let (path, kind, more, body) = match self {
            Way::Axum | Way::PackedBytes | Way::RecordSetBytes => ("/page", json, "", ASKED.into()),
            Way::Rest => ("/rest/Pages/page", json, "", ASKED.into()),
            Way::JsonRpc => {
                let body =
                    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"Pages.page","params":{ASKED}}}"#);
                ("/jsonrpc", json, "", body.into_bytes())
            }
            Way::Packed | Way::PackedKept => {
                let more = "accept: application/vnd.tamtam.rows\r\n";
                let path = match self {
                    Way::Packed => "/rest/Pages/tiles",
                    _ => "/rest/Pages/kept",
                };
                (path, json, more, b"{}".to_vec())
            }
            Way::RecordSet => ("/amf", AMF, "", amf_call("Pages.tiles")?),
            Way::RecordSetKept => ("/amf", AMF, "", amf_call("Pages.kept")?),
        };
        let length = body.len();
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\n{more}content-length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.extend(body);
        Ok(request)
    }

    /// What has to be in the answer.
    fn wanted(self) -> Result<Vec<u8>, Box<dyn Error>> {
        let mut wanted = Vec::new();
        match self {
            Way::Axum | Way::Rest | Way::JsonRpc => wanted.extend(br#""id":1200065,"#),
            Way::Packed | Way::PackedKept | Way::PackedBytes => {
                let packed = encoding::find("packed").ok_or("no packed encoding")?;
                packed.encode(&tiles()?, &mut wanted)?;
            }
            Way::RecordSet | Way::RecordSetKept | Way::RecordSetBytes => {
                Amf0RecordSet.encode(&tiles()?, &mut wanted)?;
            }
        }
        Ok(wanted)
    }

    /// A web server as one writes it with axum.
    async fn by_axum(self, at: &At) -> Result<(), Box<dyn Error>> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let listener = listener.tap_io(|socket| {
            // A socket that keeps its delay is slow, and works.
            let _ = socket.set_nodelay(true);
        });
        let page = match self {
            Way::Axum => post(|request: Bytes| async move {
                let page = serde_json::from_slice(&request).map(Request::page);
                let body = page.and_then(|page| serde_json::to_vec(&page));
                (
                    [(CONTENT_TYPE, "application/json")],
                    body.unwrap_or_default(),
                )
            }),
            _ => {
                let ready = Bytes::from(self.wanted()?);
                post(|_: Bytes| async move { ([(CONTENT_TYPE, AMF)], ready) })
            }
        };
        at.send(address)?;
        axum::serve(listener, Router::new().route("/page", page)).await?;
        Ok(())
    }
}

type At = std::sync::mpsc::Sender<SocketAddr>;

async fn by_gateway(at: &At) -> Result<(), Box<dyn Error>> {
    let rows = Arc::new(tiles()?);
    let kept = CachedRows::new(tiles()?);
    let pages = Service::new("Pages")
        .method("page", |request: Request| async move {
            Ok::<Page, Fault>(request.page())
        })
        .method("tiles", move |_: ()| {
            let rows = Rows::clone(&rows);
            async move { Ok::<Rows, Fault>(rows) }
        })
        .method("kept", move |_: ()| {
            let kept = kept.clone();
            async move { Ok::<CachedRows, Fault>(kept) }
        });
    let server = Server::bind(Gateway::new().service(pages), "127.0.0.1:0".parse()?).await?;
    at.send(server.address().ok_or("no address")?)?;
    server.serve(std::future::pending()).await?;
    Ok(())
}

/// A connection that is kept. It knows how long each answer is from the first one, so that it costs next to nothing itself.
struct Client {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Client {
    fn connect(way: Way, address: SocketAddr) -> Result<Client, Box<dyn Error>> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut client = Client {
            stream,
            request: way.request()?,
            answer: Vec::new(),
        };
        client.learn(&way.wanted()?)?;
        Ok(client)
    }

    /// Calls once, and looks at the answer.
    fn learn(&mut self, wanted: &[u8]) -> Result<(), Box<dyn Error>> {
        self.stream.write_all(&self.request)?;
        let mut got = Vec::new();
        let length = loop {
            let mut more = [0; 4_096];
            let count = self.stream.read(&mut more)?;
            got.extend_from_slice(&more[..count]);
            let text = String::from_utf8_lossy(&got);
            let Some((head, _)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let head = head.to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.ok_or("no length")?.parse()?;
            break text.find("\r\n\r\n").ok_or("no head")? + 4 + length;
        };
        let had = got.len();
        got.resize(length, 0);
        self.stream.read_exact(&mut got[had..])?;
        let has_wanted = got.windows(wanted.len()).any(|bytes| bytes == wanted);
        if !got.starts_with(b"HTTP/1.1 200") || !has_wanted {
            return Err(format!("the answer is {}", String::from_utf8_lossy(&got)).into());
        }
        self.answer = vec![0; got.len()];
        Ok(())
    }

    fn call(&mut self) -> std::io::Result<()> {
        self.stream.write_all(&self.request)?;
        self.stream.read_exact(&mut self.answer)
    }
}

/// Connections to one server.
struct Clients {
    name: &'static str,
    /// The place of those of the bare handler.
    bare: usize,
    clients: Vec<Client>,
    /// Seconds a call, of each round.
    times: Vec<f64>,
}

impl Clients {
    fn connect(
        way: Way,
        name: &'static str,
        bare: usize,
        connections: usize,
    ) -> Result<Clients, Box<dyn Error>> {
        let address = way.serve(connections)?;
        let clients = (0..connections).map(|_| Client::connect(way, address));
        Ok(Clients {
            name,
            bare,
            clients: clients.collect::<Result<_, _>>()?,
            times: Vec::new(),
        })
    }

    /// Makes so many calls over each connection, over all at once.
    fn call(&mut self, calls: u32) -> std::io::Result<()> {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .clients
                .iter_mut()
                .map(|client| scope.spawn(move || (0..calls).try_for_each(|_| client.call())))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(std::io::Error::other("a client panicked")))
            })
        })?;
        let all = f64::from(calls) * self.clients.len() as f64;
        self.times.push(begun.elapsed().as_secs_f64() / all);
        Ok(())
    }
}

/// The one in the middle, the least and the greatest.
fn middle(values: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    (
        values[values.len() / 2],
        values[0],
        values[values.len() - 1],
    )
}

/// Rounds, in which each way has its turn.
const ROUNDS: usize = 21;

/// The way of this name.
fn find(name: &str) -> Result<(Way, &'static str, Way), String> {
    let way = WAYS.into_iter().find(|(_, known, _)| *known == name);
    let known = WAYS.map(|(_, name, _)| name).join(", ");
    way.ok_or_else(|| format!("the ways are {known}"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, count] = &*arguments
        && let Ok(count) = count.parse::<u32>()
    {
        let (way, ..) = find(name)?;
        let mut client = Client::connect(way, way.serve(1)?)?;
        for _ in 0..count {
            client.call()?;
        }
        return Ok(());
    }
    let mut ways = WAYS.to_vec();
    let mut calls = 1_000;
    if !arguments.is_empty() {
        let named: Result<Vec<_>, _> = arguments.iter().map(|name| find(name)).collect();
        let named = named?;
        let is_asked_for = |way| {
            named
                .iter()
                .any(|(one, _, bare)| way == *one || way == *bare)
        };
        ways.retain(|(way, ..)| is_asked_for(*way));
        calls = 8_000;
    }
    for connections in [1, 8] {
        let mut all: Vec<Clients> = Vec::new();
        for (way, name, bare) in &ways {
            let bare = ways.iter().position(|(way, ..)| way == bare).unwrap_or(0);
            all.push(Clients::connect(*way, name, bare, connections)?);
        }
        for _ in 0..ROUNDS {
            for clients in &mut all {
                clients.call(calls / connections as u32)?;
            }
        }
        println!("{connections} connections: time a call; of the bare handler's calls a second");
        for clients in &all {
            let (time, least, most) = middle(clients.times.iter().copied());
            let bare = &all[clients.bare].times;
            let ratios = bare
                .iter()
                .zip(&clients.times)
                .map(|(bare, own)| bare / own);
            let (ratio, worst, best) = middle(ratios);
            let micros = |seconds: f64| seconds * 1e6;
            println!(
                "{:>16}: {:6.1} µs [{:.1}..{:.1}], {ratio:.2} [{worst:.2}..{best:.2}], {} bytes",
                clients.name,
                micros(time),
                micros(least),
                micros(most),
                clients.clients[0].answer.len()
            );
        }
    }
    Ok(())
}
