//! A server with services to call, and a client that sends what it is told to.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use tamtam_gateway::{Fault, Gateway, Method, Server, Service, Value};
use tamtam_rows::{Column, Field, Kind, Rows, Schema};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// No test takes longer, on whatever machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// Runs a test on a runtime, within the limit.
pub(crate) fn run<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    tamtam_testing::within(LIMIT, || {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(test());
    });
}

/// Between two looks at what tells nobody when it changes: a look at once would take the processor from what is to change it.
pub(crate) async fn look_again() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// A server that runs.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: tokio::task::JoinHandle<()>,
}

impl Running {
    pub(crate) async fn of(gateway: Gateway) -> Running {
        let server = Server::bind(gateway, "127.0.0.1:0".parse().unwrap());
        let server = server.await.expect("a port is free");
        let address = server.address().expect("it is TCP");
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            server.serve(stopped).await.expect("it serves");
        });
        Running {
            address,
            stop: Some(stop),
            ended,
        }
    }

    /// Tells the server to stop.
    pub(crate) fn stop(&mut self) {
        self.stop
            .take()
            .expect("it was told before")
            .send(())
            .expect("it runs");
    }

    /// Drops the server as it serves.
    pub(crate) fn abort(&self) {
        self.ended.abort();
    }

    /// Stops the server, and waits until it has stopped.
    pub(crate) async fn end(&mut self) {
        self.stop();
        let ended = &mut self.ended;
        ended.await.expect("it ends without a panic");
    }

    /// Waits until it has stopped.
    pub(crate) async fn ended(self) {
        self.ended.await.expect("it ends without a panic");
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answered {
        let stream = TcpStream::connect(self.address).await.expect("it listens");
        send_over(stream, request).await
    }

    /// A request with this body to this path.
    pub(crate) async fn post(
        &self,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> Answered {
        self.send(
            request("POST", path)
                .header(CONTENT_TYPE, content_type)
                .body(Full::new(body.into()))
                .unwrap(),
        )
        .await
    }

    pub(crate) async fn json_rpc(&self, body: &str) -> Json {
        let answered = self
            .post("/jsonrpc", "application/json", body.to_owned())
            .await;
        assert_eq!(answered.status, 200, "{}", answered.text());
        answered.json()
    }

    pub(crate) async fn xml_rpc(&self, body: String) -> String {
        let answered = self.post("/xmlrpc", "text/xml", body).await;
        assert_eq!(answered.status, 200, "{}", answered.text());
        answered.text().to_owned()
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answered {
        let mut request = request("GET", path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::default()).unwrap()).await
    }
}

pub(crate) fn request(method: &str, path: &str) -> hyper::http::request::Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "127.0.0.1")
}

pub(crate) async fn send_over<S>(stream: S, request: Request<Full<Bytes>>) -> Answered
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.expect("a connection");
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("the whole answer").to_bytes();
    drop(sender);
    let _ = connection.await;
    Answered {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body,
    }
}

pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answered {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("text"))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct ListArgs {
    set: String,
    count: Option<u32>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArgs {
    value: Value,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    left: i64,
    right: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Added {
    sum: i64,
    is_even: bool,
}

/// A table of so many rows.
pub(crate) fn tiles(count: u32) -> Rows {
    let schema = Schema::new([
        Field::new("slot", Kind::U32),
        Field::nullable("color", Kind::Text),
    ]);
    let slots: Vec<u32> = (0..count).collect();
    let colors =
        (0..count).map(|slot| (slot % 5 != 4).then_some(["ff8800", "0088ff"][slot as usize % 2]));
    Rows::new(schema.unwrap(), [Column::from(slots), colors.collect()]).unwrap()
}

/// Services with a method of each kind.
pub(crate) fn kit() -> Gateway {
    let list = Method::new("list", |args: ListArgs| async move {
        match &*args.set {
            "palette" => Ok(tiles(args.count.unwrap_or(1_000))),
            _ => {
                Err(Fault::new("Tiles.NoSet", "there is no such set").detail(Value::from(args.set)))
            }
        }
    });
    let echo = Method::new("echo", |args: EchoArgs| async move { Ok(args.value) });
    let add = Method::blocking("add", |sum: Sum| {
        let sum = sum.left.checked_add(sum.right);
        let sum =
            sum.ok_or_else(|| Fault::new("Sums.TooLarge", "it has more than 64 bits").number(7))?;
        Ok(Added {
            sum,
            is_even: sum % 2 == 0,
        })
    });
    let set = Method::new("set", |(_value,): (u32,)| async move { Ok(()) });
    let panic = Method::new("panic", |(): ()| async move {
        if tokio::runtime::Handle::try_current().is_ok() {
            panic!("the secret of the house");
        }
        Ok(())
    });
    let blocking_panic = Method::blocking("panic_on_a_thread", |(): ()| -> Result<(), Fault> {
        panic!("the secret of the house")
    });
    Gateway::new()
        .service(Service::new("Tiles").with(list.safe().about("Tiles & more.")))
        .service(Service::new("Echo").with(echo.safe()))
        .service(
            Service::new("Sums")
                .with(add.safe().about("The sum."))
                .with(set),
        )
        .service(Service::new("Kit").with(panic).with(blocking_panic))
}
