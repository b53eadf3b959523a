//! A client of HTTP/2 by whose hand each window is opened, and each stream is reset.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Ping, PingPong, RecvStream};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// So long a test waits for what comes after a fraction of a second, so that a busy machine is no failure.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A client of HTTP/2 that opens its windows by hand.
pub(crate) struct Client {
    pub(crate) sender: SendRequest<Bytes>,
    pings: Option<PingPong>,
    pub(crate) connection: JoinHandle<Result<(), h2::Error>>,
    address: SocketAddr,
}

impl Client {
    /// One that lets so many bytes of each answer come.
    pub(crate) async fn with_window(address: SocketAddr, bytes: u32) -> Client {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(bytes);
        // One answer that does not come does not keep the others from coming.
        builder.initial_connection_window_size(16 << 20);
        let (sender, mut connection) = builder.handshake(stream).await.unwrap();
        let pings = connection.ping_pong();
        Client {
            sender: sender.ready().await.unwrap(),
            pings,
            connection: tokio::spawn(connection),
            address,
        }
    }

    pub(crate) fn ask(&mut self, path: &str) -> ResponseFuture {
        let uri = format!("http://{}{path}", self.address);
        let request = hyper::Request::get(uri).body(()).unwrap();
        self.sender.send_request(request, true).unwrap().0
    }

    pub(crate) async fn get(&mut self, path: &str) -> RecvStream {
        let answered = timeout(SOON, self.ask(path)).await.unwrap().unwrap();
        assert_eq!(answered.status(), 200, "{path}");
        answered.into_body()
    }

    /// Sends pings, some hundred a second, until the connection ends.
    pub(crate) fn ping(&mut self) -> JoinHandle<()> {
        let mut pings = self.pings.take().unwrap();
        tokio::spawn(async move {
            while pings.ping(Ping::opaque()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    }
}

/// The next bytes of an answer, whose room is given back; nothing at the end.
pub(crate) async fn read(body: &mut RecvStream) -> Option<Result<Bytes, h2::Error>> {
    let bytes = timeout(SOON, body.data()).await.expect("something comes");
    if let Some(Ok(bytes)) = &bytes {
        let _ = body.flow_control().release_capacity(bytes.len());
    }
    bytes
}
