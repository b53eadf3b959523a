//! Push: what is published in these tests, and clients that we did not write.

mod behind;
mod client;
mod duties;
mod events;
mod pace;
#[cfg(target_os = "linux")]
mod soak;
mod values;

use std::net::SocketAddr;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use tamtam_actor::Topic;
use tamtam_channel::Property;
use tamtam_gateway::{Fault, Gateway, Method, Publication, Service};
use tamtam_rows::Rows;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::world::{Running, kit};

#[derive(Clone, serde::Serialize, schemars::JsonSchema)]
pub(super) struct Price {
    pub(super) metal: String,
    pub(super) cents: u64,
    /// Makes it as large as a test needs it.
    pub(super) note: String,
}

pub(super) fn price(metal: &str, cents: u64) -> Price {
    Price {
        metal: metal.to_owned(),
        cents,
        note: String::new(),
    }
}

/// What is published in these tests.
pub(super) struct Market {
    pub(super) prices: Topic<Price>,
    pub(super) boards: Topic<Rows>,
    pub(super) slider: Arc<Property<u32>>,
}

impl Market {
    pub(super) fn new() -> (Market, Gateway) {
        Market::keeping(Publication::USUAL_MESSAGES)
    }

    pub(super) fn keeping(messages: usize) -> (Market, Gateway) {
        let market = Market {
            prices: Topic::new(),
            boards: Topic::retaining(),
            slider: Arc::new(Property::new(5)),
        };
        let prices = Publication::keyed_topic("prices", market.prices.clone(), |price: &Price| {
            price.metal.clone()
        });
        let slider = Arc::clone(&market.slider);
        let set = Method::blocking("set", move |(value,): (u32,)| {
            slider.set(value);
            Ok::<_, Fault>(())
        });
        let service = Service::new("Market")
            .with_publication(prices.keep_messages(messages).about("What metals cost."))
            .topic("boards", market.boards.clone())
            .property("slider", Arc::clone(&market.slider))
            .with(set);
        (market, kit().service(service))
    }

    /// Publishes a price of each of these numbers of cents.
    pub(super) fn publish(&self, cents: std::ops::RangeInclusive<u64>) {
        for cents in cents {
            self.prices.publish(price("tin", cents)).unwrap();
        }
    }
}

/// A client of another make than ours.
pub(super) struct Socket {
    pub(super) stream: WebSocketStream<TcpStream>,
    /// Messages that came while an answer was waited for.
    pub(super) early: Vec<Json>,
    pub(super) ids: u64,
}

impl Socket {
    pub(super) async fn open(server: &Running) -> Socket {
        Socket::try_open(server, &[]).await.expect("a WebSocket")
    }

    pub(super) async fn try_open(
        server: &Running,
        headers: &[(&'static str, &str)],
    ) -> Result<Socket, Error> {
        Socket::at(server.address, headers).await
    }

    pub(super) async fn at(
        address: SocketAddr,
        headers: &[(&'static str, &str)],
    ) -> Result<Socket, Error> {
        let mut request = format!("ws://{address}/socket").into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(address).await.unwrap();
        let (stream, _) = client_async(request, stream).await?;
        Ok(Socket::of(stream))
    }

    pub(super) fn of(stream: WebSocketStream<TcpStream>) -> Socket {
        Socket {
            stream,
            early: Vec::new(),
            ids: 0,
        }
    }

    pub(super) async fn frame(&mut self) -> Message {
        loop {
            match self.stream.next().await.expect("a frame").expect("a frame") {
                Message::Ping(_) | Message::Pong(_) => {}
                frame => return frame,
            }
        }
    }

    pub(super) async fn json(&mut self) -> Json {
        let frame = self.frame().await;
        serde_json::from_str(frame.to_text().unwrap()).unwrap_or_else(|_| panic!("{frame:?}"))
    }

    pub(super) async fn call(&mut self, method: &str, params: Json) -> Result<Json, Json> {
        self.ids += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params});
        let call = Message::text(call.to_string());
        self.stream.send(call).await.unwrap();
        loop {
            let mut answer = self.json().await;
            if answer["id"] == self.ids {
                return match answer.get("error") {
                    None => Ok(answer["result"].take()),
                    Some(error) => Err(error.clone()),
                };
            }
            self.early.push(answer);
        }
    }

    /// Subscribes: the number behind which it begins.
    pub(super) async fn subscribe(&mut self, name: &str, mut wish: Json) -> Json {
        wish["name"] = name.into();
        let answer = self.call("subscribe", wish).await;
        answer.expect("a subscription")
    }

    /// The parameters of the next value.
    pub(super) async fn value(&mut self) -> Json {
        let mut message = if self.early.is_empty() {
            self.json().await
        } else {
            self.early.remove(0)
        };
        assert_eq!(message["method"], "value", "{message}");
        message["params"].take()
    }

    /// How the server closes it.
    pub(super) async fn closed(mut self) -> (CloseCode, String) {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Close(Some(frame)))) => {
                    return (frame.code, frame.reason.to_string());
                }
                Some(Ok(_)) => {}
                other => panic!("it ended without a word: {other:?}"),
            }
        }
    }
}

/// A figure of the server's.
pub(crate) async fn figure(server: &Running, name: &str) -> u64 {
    let metrics = server.get("/metrics", &[]).await;
    let found = metrics.text().lines().find_map(|line| {
        let (known, value) = line.rsplit_once(' ')?;
        (known == name).then(|| value.parse::<f64>().unwrap() as u64)
    });
    found.unwrap_or_else(|| panic!("there is no {name} in {}", metrics.text()))
}
