//! Pages that mean harm, or are none.

use futures_util::{SinkExt, StreamExt};
use tamtam_actor::Pool;
use tamtam_gateway::Limits;
use tamtam_link::{Encoding, Link};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{Closed, Count, PROTOCOL, Page, counter, gateway, web_socket};
use crate::world::{Running, run};

/// The end of a socket on which the server is to find fault with what was sent.
pub(super) async fn closed(mut socket: WebSocketStream<TcpStream>) -> Closed {
    loop {
        match socket.next().await {
            Some(Ok(Message::Close(Some(frame)))) => return (frame.code, frame.reason.to_string()),
            Some(Ok(_)) => {}
            other => panic!("it ended without a word: {other:?}"),
        }
    }
}

pub(super) fn hello() -> Vec<u8> {
    let (link, _inbound) = Link::builder().encoding(Encoding::Json).build(|| {});
    let mut hello = Vec::new();
    link.take_outgoing(&mut hello);
    hello
}

pub(super) fn frame(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes(), body].concat()
}

#[test]
fn what_is_no_link_is_closed_with_words() {
    run(|| async {
        let pool = Pool::new();
        let limits = Limits {
            push_bytes: 64 << 10,
            ..Limits::default()
        };
        let server = Running::of(gateway(&pool).limits(limits)).await;
        let said = |body: &[u8]| Message::binary([hello(), frame(body)].concat());
        for (message, code, words) in [
            (
                Message::binary(&b"GET / HTTP/1.1\r\n\r\n"[..]),
                CloseCode::Protocol,
                "a frame of 542393671 bytes",
            ),
            (
                Message::binary(frame(b"\x06\x00")),
                CloseCode::Protocol,
                "it has not said hello before all else",
            ),
            (
                Message::binary(frame(b"\x01TTLK\x03\x80\x80\x04\x00\x00\x00")),
                CloseCode::Protocol,
                "it writes messages by postcard, and this side as JSON",
            ),
            (
                said(b"\x02\x07\x00\x00{\"Add\":1}"),
                CloseCode::Protocol,
                "it names actor 7, of which it has no address",
            ),
            (
                said(b"\x03\x07\x00\x007"),
                CloseCode::Protocol,
                "it answers question 7, which it does not have",
            ),
            (
                said(b"\x08\x00"),
                CloseCode::Protocol,
                "it wants to stop actor 0",
            ),
            (
                said(b"\x10\x01\x00\x01\x00"),
                CloseCode::Protocol,
                "it wants to link an actor of its own with actor 0",
            ),
            (
                said(&[&b"\x02\0\0\0\""[..], &[b'x'; 20 << 10], b"\""].concat()),
                CloseCode::Protocol,
                "a frame of 20486 bytes, and this side takes 16384",
            ),
            (
                Message::binary(vec![0; 65 << 10]),
                CloseCode::Size,
                "the frame is too large or damaged",
            ),
        ] {
            let mut socket = web_socket(&server, "/link/counter", &[PROTOCOL])
                .await
                .unwrap();
            let shown = format!("{message:.40?}");
            socket.send(message).await.unwrap();
            let (said, reason) = closed(socket).await;
            assert_eq!(said, code, "{shown}: {reason}");
            assert!(reason.contains(words), "{shown}: {reason}");
        }
        // The actor has heard nothing of it.
        let page = Page::open(&server).await;
        assert_eq!(page.root().ask_async(Count::Total).await, Ok(0));
    });
}

#[test]
fn what_cannot_be_read_is_an_error_at_who_asks_and_ends_nothing() {
    run(|| async {
        let pool = Pool::new();
        let server = Running::of(gateway(&pool)).await;
        let mut socket = web_socket(&server, "/link/counter", &[PROTOCOL])
            .await
            .unwrap();
        socket.send(Message::binary(hello())).await.unwrap();
        let deep = "[".repeat(100_000);
        for text in [
            "",
            "{",
            "nonsense",
            "{\"Unknown\":1}",
            "{\"Total\":7}",
            &deep,
        ] {
            let tell = [b"\x02\0\x01\x07\0", text.as_bytes()].concat();
            socket.send(Message::binary(frame(&tell))).await.unwrap();
            let mut said = Vec::new();
            while !contains(&said, b"line 1") {
                match socket.next().await.unwrap().unwrap() {
                    Message::Binary(bytes) => said.extend_from_slice(&bytes),
                    other => panic!("{text:.20}: {other:?}"),
                }
            }
            assert!(contains(&said, b"\x04\x07\x05\0"), "{text:.20}");
        }
        let tell = b"\x02\0\x01\x09\0{\"Total\":{\"$reply\":9}}";
        socket.send(Message::binary(frame(tell))).await.unwrap();
        let answer = socket.next().await.unwrap().unwrap().into_data();
        assert_eq!(answer[..], frame(b"\x03\x09\0\x000"));
    });
}

pub(super) fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_page_reaches_only_what_it_was_given() {
    run(|| async {
        let pool = Pool::new();
        // Of another page's link; this one has not its address.
        let secret = counter(&pool, None);
        secret.tell(Count::Add(99)).unwrap();
        let server = Running::of(gateway(&pool)).await;
        let other = Page::open(&server).await;
        other.root().tell(Count::Add(1)).unwrap();
        for number in [1_u8, 2, 3, 100] {
            let mut socket = web_socket(&server, "/link/counter", &[PROTOCOL])
                .await
                .unwrap();
            let body = [&[2, number, 1, 7, 0][..], b"{\"Total\":{\"$reply\":7}}"].concat();
            let message = [hello(), frame(&body)].concat();
            socket.send(Message::binary(message)).await.unwrap();
            let (code, reason) = closed(socket).await;
            assert_eq!(code, CloseCode::Protocol);
            let words = format!("it names actor {number}, of which it has no address");
            assert_eq!(reason, words);
        }
        assert_eq!(other.root().ask_async(Count::Total).await, Ok(1));
    });
}
