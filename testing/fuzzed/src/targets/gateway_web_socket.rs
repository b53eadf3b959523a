//! Any bytes behind the handshake of a WebSocket, while values are pushed and calls wait: all that comes back is sound, a connection that
//! is not closed answers, none holds more than the limit, and the gateway is then as it was.

use crate::gateway::{Price, World, client, table, within, world};
use futures_util::StreamExt;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value as Json, json};
use tamtam_rows::{Limits, encoding};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, Join, Sink, duplex, join, sink};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// Bytes that a connection takes, at most.
const MOST_BYTES: usize = 8 << 20;

/// All that a client sends has room on its way.
const TO_SERVER_BYTES: usize = 512 << 10;

/// What comes back has little: a server whose client does not read has to keep the rest.
const TO_CLIENT_BYTES: usize = 2 << 10;

const HANDSHAKE: &[u8] =
    b"GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

/// What the first byte says.
struct Manner {
    /// The bytes are frames; otherwise each line is the text of one.
    is_raw: bool,
    /// Nothing is read before all is written.
    is_slow: bool,
    /// Subscriptions have begun, and a call waits.
    is_busy: bool,
    /// So many bytes are written at a time.
    portion: usize,
}

impl Manner {
    fn of(byte: u8) -> Manner {
        Manner {
            is_raw: byte & 1 == 1,
            is_slow: byte & 2 == 2,
            is_busy: byte & 4 == 4,
            portion: [usize::MAX, 1, 7, 125][usize::from(byte >> 3 & 3)],
        }
    }
}

/// A connection behind its handshake.
struct Connection {
    /// Nothing when it was closed.
    to_server: Option<DuplexStream>,
    from_server: WebSocketStream<Join<DuplexStream, Sink>>,
    /// The number of the last value of the subscription that counts all of them.
    last: Option<u64>,
}

impl Connection {
    async fn open(world: &World) -> Connection {
        let (to_server, read) = duplex(TO_SERVER_BYTES);
        let (from_server, write) = duplex(TO_CLIENT_BYTES);
        let routes = world.routes.clone().layer(axum::Extension(client()));
        let service = TowerToHyperService::new(routes);
        let server =
            http1::Builder::new().serve_connection(TokioIo::new(join(read, write)), service);
        tokio::spawn(server.with_upgrades());
        let (mut to_server, mut from_server) = (to_server, from_server);
        to_server.write_all(HANDSHAKE).await.expect("there is room");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(
                from_server
                    .read_u8()
                    .await
                    .expect("an answer to the handshake"),
            );
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "));
        let stream = join(from_server, sink());
        let config = WebSocketConfig::default().max_message_size(Some(1 << 20));
        let from_server = WebSocketStream::from_raw_socket(stream, Role::Client, Some(config));
        Connection {
            to_server: Some(to_server),
            from_server: from_server.await,
            last: None,
        }
    }

    async fn write(&mut self, bytes: &[u8]) {
        if let Some(to_server) = &mut self.to_server {
            // It fails when the server has closed the connection.
            let _ = to_server.write_all(bytes).await;
        }
    }

    async fn call(&mut self, call: Json) {
        let frame = frame(call.to_string().as_bytes());
        self.write(&frame).await;
    }

    /// Looks at all that comes, up to the answer with this number; `None` if the connection has ended before.
    async fn answer(&mut self, id: &str) -> Option<Json> {
        while let Some(message) = self.from_server.next().await {
            match message {
                Ok(Message::Text(text)) => {
                    let text: Json = serde_json::from_str(&text).expect("a frame is JSON");
                    let said = match text {
                        Json::Array(answers) => answers,
                        one => vec![one],
                    };
                    assert!(!said.is_empty());
                    for one in said {
                        self.look_at(&one);
                        if one["id"] == id {
                            return Some(one);
                        }
                    }
                }
                Ok(Message::Binary(rows)) => {
                    let rows = rows.get(24..).expect("three numbers, and a table");
                    let packed = encoding::find("packed").expect("it is always there");
                    let rows = packed.decode(rows, None, &Limits::default());
                    rows.expect("a table");
                }
                Ok(Message::Close(reason)) => {
                    let code = reason.map_or(1000, |reason| reason.code.into());
                    assert!(matches!(code, 1000..=1003 | 1007..=1009), "{code}");
                    // It waits for the end.
                    self.to_server = None;
                }
                Ok(_) => {}
                Err(Error::Protocol(_) | Error::ConnectionClosed | Error::AlreadyClosed)
                    if self.to_server.is_none() =>
                {
                    return None;
                }
                Err(error) => panic!("what comes is no frame: {error}"),
            }
        }
        None
    }

    /// An answer or a value.
    fn look_at(&mut self, said: &Json) {
        assert_eq!(said["jsonrpc"], "2.0", "{said}");
        if said.get("id").is_some() {
            assert!(
                said.get("result").is_some() != said.get("error").is_some(),
                "{said}"
            );
            if said["id"] == "counted" {
                self.last = said["result"]["number"].as_u64();
            }
            return;
        }
        let params = &said["params"];
        match said["method"].as_str() {
            Some("value") => {
                let number = params["number"].as_u64().expect("a number");
                let missed = params["missed"].as_u64().unwrap_or(0);
                // The first one that was begun: of the fuzzer's own there may be any kind.
                if params["subscription"] == 1
                    && let Some(last) = self.last
                {
                    assert_eq!(last + missed + 1, number, "{said}");
                    self.last = Some(number);
                }
            }
            Some("values") => assert!(params["values"].is_array(), "{said}"),
            Some("closed") => {}
            _ => panic!("this was not asked for: {said}"),
        }
    }
}

/// A frame of text as a client sends it, masked by zeros.
fn frame(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x81];
    match text.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length => {
            frame.push(0x80 | 126);
            let length = u16::try_from(length).expect("a short text");
            frame.extend_from_slice(&length.to_be_bytes());
        }
    }
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(text);
    frame
}

fn publish(world: &World, cents: u32) {
    let price = Price {
        metal: if cents.is_multiple_of(2) {
            "tin"
        } else {
            "lead"
        }
        .to_owned(),
        cents,
        note: "n".repeat(cents as usize % 700),
    };
    let _ = world.market.prices.publish(price);
    world.market.slider.set(cents);
}

async fn tried(world: &World, manner: &Manner, bytes: &[u8]) {
    world.market.goes_on.send_replace(false);
    let mut connection = Connection::open(world).await;
    if manner.is_busy {
        let params = json!({"name": "Market.prices"});
        connection
            .call(
                json!({"jsonrpc": "2.0", "id": "counted", "method": "subscribe", "params": params}),
            )
            .await;
        connection.answer("counted").await.expect("a subscription");
        for (name, form) in [("Market.slider", "json"), ("Market.boards", "packed")] {
            let params = json!({"name": name, "form": form});
            connection
                .call(
                    json!({"jsonrpc": "2.0", "id": name, "method": "subscribe", "params": params}),
                )
                .await;
        }
        connection
            .call(json!({"jsonrpc": "2.0", "id": "waits", "method": "Kit.wait"}))
            .await;
        // It takes longer to encode than all else here.
        let _ = world
            .market
            .boards
            .publish(table("tiles").expect("it is there"));
        for cents in 0..4 {
            publish(world, cents * 311);
        }
    }
    let framed: Vec<u8> = if manner.is_raw {
        bytes.to_vec()
    } else {
        bytes.split(|byte| *byte == b'\n').flat_map(frame).collect()
    };
    for portion in framed.chunks(manner.portion) {
        connection.write(portion).await;
        tokio::task::yield_now().await;
    }
    if manner.is_slow {
        for cents in 0..8 {
            publish(world, cents * 97);
            tokio::task::yield_now().await;
        }
    }
    world.market.goes_on.send_replace(true);
    if manner.is_raw {
        // It may have begun a frame that does not end.
        connection.to_server = None;
        connection.answer("the end").await;
    } else {
        let sum =
            json!({"jsonrpc": "2.0", "id": "the end", "method": "Sums.add", "params": [40, 2]});
        connection.call(sum).await;
        if let Some(answer) = connection.answer("the end").await {
            assert_eq!(answer["result"]["sum"], 42, "{answer}");
        }
        connection.to_server = None;
        connection.answer("nothing").await;
    }
}

/// Another client's connection is not concerned.
async fn goes_on(world: &World) {
    let mut connection = Connection::open(world).await;
    let params = json!({"name": "Market.slider"});
    connection
        .call(json!({"jsonrpc": "2.0", "id": "begun", "method": "subscribe", "params": params}))
        .await;
    let begun = connection.answer("begun").await.expect("an answer");
    assert_eq!(begun["result"]["subscription"], 1, "{begun}");
    let sum = json!({"jsonrpc": "2.0", "id": "after", "method": "Sums.add", "params": [40, 2]});
    connection.call(sum).await;
    let answer = connection.answer("after").await.expect("an answer");
    assert_eq!(answer["result"]["sum"], 42, "{answer}");
    connection.to_server = None;
    connection.answer("nothing").await;
}

/// Panics where what this file promises does not hold for these bytes.
pub fn run(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else {
        return;
    };
    // What is framed has a length of 16 bits.
    if bytes.len() > 60_000 {
        return;
    }
    let world = world(true);
    let manner = Manner::of(*first);
    within(MOST_BYTES, || world.run(tried(world, &manner, bytes)));
    world.rests(0..=u64::MAX);
    world.run(goes_on(world));
    world.rests(1..=1);
}
