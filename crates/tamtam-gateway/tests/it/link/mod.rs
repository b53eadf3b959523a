//! Links of pages: what is offered in these tests, and a page of another make than ours.

/// Looks until it holds, for what is told by no event; others get the processor in between.
macro_rules! until {
    ($what:literal, $holds:expr) => {
        while !$holds {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    };
}

mod bounds;
mod duties;
mod hostile;
mod talk;

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tamtam_actor::{Actor, Address, Context, Pool, Reply};
use tamtam_gateway::{Gateway, LinkRoot};
use tamtam_link::{Encoding, Inbound, Link, LinkBuilder};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::world::Running;

/// What the pages of these tests and the actor of the server say to each other.
#[derive(Serialize, Deserialize)]
pub(super) enum Count {
    Add(u64),
    Total(Reply<u64>),
    /// From now on each sum is told there.
    Watch(Address<u64>),
    /// Asks an actor of the page, and answers with twice that.
    AskBack(Address<Reply<u64>>, Reply<u64>),
    /// Bytes, whose number is answered.
    Bytes(String, Reply<u64>),
    /// Tells there so many texts of 1,000 letters each.
    Flood(Address<String>, u64),
    /// Tells there a text of so many letters, and says how that went.
    Say(Address<String>, u64, Reply<String>),
    /// How many watch.
    Watchers(Reply<u64>),
    Fail(String),
    Keep(Reply<u64>),
}

/// An actor that counts.
#[derive(Default)]
struct Counter {
    total: u64,
    watchers: Vec<Address<u64>>,
    kept: Vec<Reply<u64>>,
    _ended: Option<std::sync::mpsc::Sender<()>>,
}

impl Actor for Counter {
    type Message = Count;

    fn handle(&mut self, message: Count, cx: &mut Context<Self>) {
        match message {
            Count::Add(number) => {
                self.total += number;
                self.watchers.retain(|it| it.tell(self.total).is_ok());
            }
            Count::Total(reply) => reply.send(self.total),
            Count::Watch(watcher) => self.watchers.push(watcher),
            Count::AskBack(page, reply) => cx.ask(
                &page,
                |reply| reply,
                |_, answer: Result<u64, _>, _| {
                    if let Ok(answer) = answer {
                        reply.send(2 * answer);
                    }
                },
            ),
            Count::Bytes(bytes, reply) => reply.send(bytes.len() as u64),
            Count::Flood(page, count) => {
                for _ in 0..count {
                    if page.tell("x".repeat(1_000)).is_err() {
                        break;
                    }
                }
            }
            Count::Say(page, letters, reply) => {
                let told = page.tell("x".repeat(letters as usize));
                reply.send(told.map_or_else(|error| error.to_string(), |()| "told".to_owned()));
            }
            Count::Watchers(reply) => reply.send(self.watchers.len() as u64),
            Count::Fail(words) => panic!("{words}"),
            Count::Keep(reply) => self.kept.push(reply),
        }
    }
}

/// An actor that counts; `ended` is dropped with it.
pub(super) fn counter(pool: &Pool, ended: Option<std::sync::mpsc::Sender<()>>) -> Address<Count> {
    pool.spawn(Counter {
        _ended: ended,
        ..Counter::default()
    })
}

/// A gateway with one counter for all pages.
pub(super) fn gateway(pool: &Pool) -> Gateway {
    let counter = counter(pool, None);
    Gateway::new().link(LinkRoot::new("counter", move |_| counter.clone()))
}

/// How the server closes a socket.
pub(super) type Closed = (CloseCode, String);

/// A page: a WebSocket of another make, and the other end of the link.
pub(super) struct Page {
    pub(super) link: Link,
    /// What goes in frames of text, and what has come in such.
    pub(super) texts: (UnboundedSender<String>, UnboundedReceiver<String>),
    closed: tokio::task::JoinHandle<Option<Closed>>,
}

pub(super) async fn web_socket(
    server: &Running,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<WebSocketStream<TcpStream>, Error> {
    let address = server.address;
    let mut request = format!("ws://{address}{path}").into_client_request()?;
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    Ok(client_async(request, stream).await?.0)
}

pub(super) const PROTOCOL: (&str, &str) = ("sec-websocket-protocol", "tamtam-link.3");

impl Page {
    pub(super) async fn open(server: &Running) -> Page {
        Page::of(server, "/link/counter", &[PROTOCOL], Link::builder()).await
    }

    pub(super) async fn of(
        server: &Running,
        path: &str,
        headers: &[(&'static str, &str)],
        builder: LinkBuilder,
    ) -> Page {
        let socket = web_socket(server, path, headers)
            .await
            .expect("a WebSocket");
        let rung = Arc::new(Notify::new());
        let ring = Arc::clone(&rung);
        let builder = builder.encoding(Encoding::Json);
        let (link, inbound) = builder.build(move || ring.notify_one());
        let (to_say, says) = unbounded_channel();
        let (hears, heard) = unbounded_channel();
        let texts = (says, hears);
        let closed = tokio::spawn(carry(socket, link.clone(), inbound, rung, texts));
        let texts = (to_say, heard);
        Page {
            link,
            texts,
            closed,
        }
    }

    /// How the server closes it; nothing if it is gone without a word.
    pub(super) async fn closed(self) -> Option<Closed> {
        self.closed.await.expect("no panic")
    }

    /// Calls a method in a frame of text, and gives the next one that comes.
    pub(super) async fn call(&mut self, method: &str, params: Json) -> Json {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.texts.0.send(call.to_string()).unwrap();
        self.heard().await
    }

    /// The next frame of text.
    pub(super) async fn heard(&mut self) -> Json {
        let text = self.texts.1.recv().await.expect("the socket is open");
        serde_json::from_str(&text).unwrap()
    }

    pub(super) fn root(&self) -> Address<Count> {
        self.link.root()
    }
}

async fn carry(
    mut socket: WebSocketStream<TcpStream>,
    link: Link,
    mut inbound: Inbound,
    rung: Arc<Notify>,
    (mut says, hears): (UnboundedReceiver<String>, UnboundedSender<String>),
) -> Option<Closed> {
    loop {
        let mut bytes = Vec::new();
        link.take_outgoing(&mut bytes);
        // In messages that have nothing to do with the frames.
        for piece in bytes.chunks(1_000) {
            if socket.feed(Message::binary(piece.to_vec())).await.is_err() {
                break;
            }
        }
        let _ = socket.flush().await;
        tokio::select! {
            () = rung.notified() => {}
            Some(text) = says.recv() => drop(socket.send(Message::text(text)).await),
            came = socket.next() => match came {
                Some(Ok(Message::Binary(bytes))) => drop(inbound.receive(&bytes)),
                Some(Ok(Message::Text(text))) => drop(hears.send(text.to_string())),
                Some(Ok(Message::Close(frame))) => {
                    link.lose("the server has closed it");
                    return frame.map(|frame| (frame.code, frame.reason.to_string()));
                }
                Some(Ok(_)) => {}
                None | Some(Err(_)) => {
                    link.lose("it is gone");
                    return None;
                }
            },
        }
    }
}

/// Waits for something that blocks, beside the runtime's own threads.
pub(super) async fn blocking<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(wait).await.expect("no panic")
}

/// What an actor of a page is told.
pub(super) fn listener<M: Send + 'static>(
    pool: &Pool,
) -> (Address<M>, std::sync::mpsc::Receiver<M>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let sender = Mutex::new(sender);
    let address = pool.spawn_fn(move |message: M, _| {
        let _ = sender.lock().unwrap().send(message);
    });
    (address, receiver)
}
