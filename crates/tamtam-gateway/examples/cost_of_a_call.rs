//! What does a call through the gateway cost, beyond the handler and a web server that has nothing else to do? The same page of
//! 4.7 KB is asked for over one connection that is kept: of a bare handler of axum, by URL, and by JSON-RPC.
//!
//!     cargo run --release -p tamtam-gateway --example cost_of_a_call
//!
//! With the name of a way and a count it calls that way alone, so that instructions can be counted where times are not to be trusted:
//! the difference of two counts, over the difference of the calls.
//!
//!     valgrind --tool=callgrind target/release/examples/cost_of_a_call json-rpc 1000

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam_gateway::{Fault, Gateway, Server, Service};

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

/// What the page is asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Axum,
    Rest,
    JsonRpc,
}

const WAYS: [(Way, &str); 3] = [
    (Way::Axum, "axum"),
    (Way::Rest, "rest"),
    (Way::JsonRpc, "json-rpc"),
];

const ASKED: &str = r#"{"set":3,"offset":1200000,"limit":66}"#;

impl Way {
    /// Serves the page, from a thread of its own.
    fn serve(self) -> Result<SocketAddr, Box<dyn Error>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (at, served) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            runtime.block_on(async move {
                if self == Way::Axum {
                    let _ = by_axum(&at).await;
                } else {
                    let _ = by_gateway(&at).await;
                }
            });
        });
        Ok(served.recv()?)
    }

    /// The bytes of a request.
    fn request(self) -> Vec<u8> {
        let (path, body) = match self {
            Way::Axum => ("/page", ASKED.to_owned()),
            Way::Rest => ("/rest/Pages/page", ASKED.to_owned()),
            Way::JsonRpc => {
                let body =
                    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"Pages.page","params":{ASKED}}}"#);
                ("/jsonrpc", body)
            }
        };
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

type At = std::sync::mpsc::Sender<SocketAddr>;

/// A web server as one writes it with axum.
async fn by_axum(at: &At) -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    at.send(listener.local_addr()?)?;
    let listener = listener.tap_io(|socket| {
        // A socket that keeps its delay is slow, and works.
        let _ = socket.set_nodelay(true);
    });
    let page = post(|request: Bytes| async move {
        let page = serde_json::from_slice(&request).map(Request::page);
        let body = page.and_then(|page| serde_json::to_vec(&page));
        (
            [(CONTENT_TYPE, "application/json")],
            body.unwrap_or_default(),
        )
    });
    axum::serve(listener, Router::new().route("/page", page)).await?;
    Ok(())
}

async fn by_gateway(at: &At) -> Result<(), Box<dyn Error>> {
    let pages = Service::new("Pages").method("page", |request: Request| async move {
        Ok::<Page, Fault>(request.page())
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
    fn connect(way: Way) -> Result<Client, Box<dyn Error>> {
        let stream = TcpStream::connect(way.serve()?)?;
        stream.set_nodelay(true)?;
        let mut client = Client {
            stream,
            request: way.request(),
            answer: Vec::new(),
        };
        client.learn()?;
        Ok(client)
    }

    /// Calls once, and looks at the answer.
    fn learn(&mut self) -> Result<(), Box<dyn Error>> {
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
            break head.len() + 4 + length;
        };
        let had = got.len();
        got.resize(length, 0);
        self.stream.read_exact(&mut got[had..])?;
        let text = String::from_utf8(got)?;
        if !text.starts_with("HTTP/1.1 200") || !text.contains(r#""id":1200065,"#) {
            return Err(format!("the answer is {text}").into());
        }
        self.answer = vec![0; text.len()];
        Ok(())
    }

    fn call(&mut self) -> std::io::Result<()> {
        self.stream.write_all(&self.request)?;
        self.stream.read_exact(&mut self.answer)
    }
}

/// Rounds, in which each way has its turn.
const ROUNDS: usize = 21;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, count] = &*arguments {
        let way = WAYS.into_iter().find(|(_, known)| known == name);
        let (way, _) = way.ok_or("the ways are axum, rest and json-rpc")?;
        let mut client = Client::connect(way)?;
        for _ in 0..count.parse::<u32>()? {
            client.call()?;
        }
        return Ok(());
    }
    let calls = 2_000;
    let mut clients = Vec::new();
    for (way, name) in WAYS {
        clients.push((name, Client::connect(way)?, Vec::new()));
    }
    for _ in 0..ROUNDS {
        for (_, client, times) in &mut clients {
            let begun = Instant::now();
            for _ in 0..calls {
                client.call()?;
            }
            times.push(begun.elapsed() / calls);
        }
    }
    for (name, client, times) in &mut clients {
        times.sort_unstable();
        let (median, least) = (times[times.len() / 2], times[0]);
        let bytes = client.answer.len();
        println!("{name:>8}: {median:?} a call, at least {least:?}, {bytes} bytes");
    }
    Ok(())
}
