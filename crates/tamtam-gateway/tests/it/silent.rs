//! Clients that hold a connection and ask for nothing: each is let go of, and none that is served is.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::SinkExt;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tamtam_channel::Property;
use tamtam_gateway::{Fault, Gateway, Limits, Method, Server, Service};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

use crate::push::{Socket, figure};
use crate::world::{Running, kit, look_again, run};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// An empty frame of settings.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

fn patient(patience: Duration) -> Limits {
    Limits {
        patience,
        ..Limits::default()
    }
}

/// Where a client is not let go of for its silence until it has asked.
const PATIENT_WITH_HONEST: Duration = Duration::from_secs(1);

fn impatient() -> Limits {
    patient(Duration::from_millis(100))
}

/// Ready when the server has closed the connection, in whatever way.
async fn closed(mut stream: impl AsyncRead + Unpin) {
    let mut said = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut said).await;
}

/// Says so much, no more, and waits for the end.
async fn says_no_more(mut stream: impl AsyncRead + AsyncWrite + Unpin, bytes: &[u8]) {
    // It may have been let go of already.
    let _ = stream.write_all(bytes).await;
    closed(stream).await;
}

/// A client of HTTP/2 that keeps what is between it and the server, pings among it.
async fn http2_client(
    server: &Running,
) -> (
    http2::SendRequest<Full<Bytes>>,
    tokio::task::JoinHandle<hyper::Result<()>>,
) {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (sender, connection) = handshake.await.unwrap();
    (sender, tokio::spawn(connection))
}

fn get(server: &Running, path: &str) -> hyper::Request<Full<Bytes>> {
    let uri = format!("http://{}{path}", server.address);
    hyper::Request::get(uri).body(Full::default()).unwrap()
}

#[test]
fn a_client_that_says_nothing_gives_its_place_to_another() {
    run(|| async {
        let limits = Limits {
            connections: 1,
            ..impatient()
        };
        let server = Running::of(kit().limits(limits)).await;
        closed(TcpStream::connect(server.address).await.unwrap()).await;
        // The place is free shortly after the socket is; and a client that is late with its head is let go of, too.
        let ask = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let asked = async || -> std::io::Result<Vec<u8>> {
            let mut stream = TcpStream::connect(server.address).await?;
            stream.write_all(ask).await?;
            let mut said = Vec::new();
            stream.read_to_end(&mut said).await?;
            Ok(said)
        };
        while !asked()
            .await
            .is_ok_and(|said| said.starts_with(b"HTTP/1.1 200"))
        {
            look_again().await;
        }
    });
}

#[test]
fn a_client_that_stops_is_let_go_of_wherever_it_stops() {
    run(|| async {
        let server = Running::of(kit().limits(impatient())).await;
        let upgrade = "GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
            sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let with_settings = [PREFACE, &SETTINGS].concat();
        // A head that says that more of it follows, which does not.
        let with_head = [&with_settings[..], &[0, 0, 1, 1, 1, 0, 0, 0, 1, 0x82]].concat();
        let stops = [
            ("one byte of HTTP/1", b"G".to_vec()),
            ("a line", b"GET /metrics HTTP/1.1\r\n".to_vec()),
            ("one byte of the preface", PREFACE[..1].to_vec()),
            ("all but one of them", PREFACE[..23].to_vec()),
            ("the preface", PREFACE.to_vec()),
            ("the settings", with_settings),
            ("a part of a head of HTTP/2", with_head),
            ("a part of an upgrade", upgrade.into()),
            (
                "an upgrade whose body is left out",
                format!("{upgrade}content-length: 5\r\n\r\n").into(),
            ),
            ("an upgrade", format!("{upgrade}\r\n").into()),
        ];
        for (stop, said) in stops {
            println!("{stop}");
            let stream = TcpStream::connect(server.address).await.unwrap();
            says_no_more(stream, &said).await;
        }
    });
}

#[test]
fn a_client_that_goes_byte_by_byte_has_no_more_time() {
    run(|| async {
        let patience = Duration::from_millis(200);
        let server = Running::of(kit().limits(patient(patience))).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (reading, mut writing) = stream.into_split();
        // Before the last byte the version is open.
        let bytes = &PREFACE[..23];
        let going = async {
            let mut pace = tokio::time::interval(patience / 2);
            for byte in bytes {
                pace.tick().await;
                if writing.write_all(&[*byte]).await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            () = closed(reading) => {}
            () = going => panic!("each byte was given time of its own"),
        }
    });
}

#[cfg(unix)]
#[test]
fn a_client_that_says_nothing_to_a_unix_socket_is_let_go_of() {
    run(|| async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.sock");
        let gateway = kit().limits(impatient());
        let server = Server::bind_unix(gateway, &path).await.unwrap();
        tokio::spawn(server.serve(std::future::pending()));
        for said in [&b""[..], &PREFACE[..5]] {
            let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
            says_no_more(stream, said).await;
        }
    });
}

#[test]
fn a_client_of_http2_that_asks_for_nothing_is_told_goodbye() {
    run(|| async {
        let server = Running::of(kit().limits(patient(PATIENT_WITH_HONEST))).await;
        // It answers each ping.
        let (sender, connection) = http2_client(&server).await;
        connection.await.unwrap().expect("a goodbye");
        drop(sender);

        let (mut sender, connection) = http2_client(&server).await;
        for _ in 0..3 {
            let answered = sender.send_request(get(&server, "/metrics")).await.unwrap();
            assert_eq!(answered.status(), 200);
            answered.into_body().collect().await.unwrap();
        }
        connection.await.unwrap().expect("a goodbye");
        drop(sender);
    });
}

#[test]
fn a_client_of_http2_whose_call_takes_long_is_not_let_go_of() {
    run(|| async {
        let patience = Duration::from_millis(500);
        let long = Method::new("long", move |(): ()| async move {
            tokio::time::sleep(patience * 3).await;
            Ok::<_, Fault>("done")
        });
        let service = Service::new("Kit").with(long.safe());
        let gateway = Gateway::new().service(service).limits(patient(patience));
        let server = Running::of(gateway).await;
        let (mut sender, _connection) = http2_client(&server).await;
        let answered = sender.send_request(get(&server, "/rest/Kit/long")).await;
        let body = answered.unwrap().into_body().collect().await.unwrap();
        assert_eq!(body.to_bytes(), r#""done""#);
    });
}

#[test]
fn a_client_of_http2_that_reads_slowly_is_not_let_go_of() {
    run(|| async {
        const BYTES: usize = 400_000;
        let patience = Duration::from_millis(1_600);
        let large = Method::new("large", |(): ()| async {
            Ok::<_, Fault>("x".repeat(BYTES))
        });
        let service = Service::new("Kit").with(large.safe());
        let gateway = Gateway::new().service(service).limits(patient(patience));
        let server = Running::of(gateway).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(32 << 10);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let answered = sender.send_request(get(&server, "/rest/Kit/large")).await;
        let mut body = pin!(answered.unwrap().into_body());
        let mut read = 0;
        // The server has handed over all of it long before.
        while let Some(frame) = body.frame().await {
            read += frame.expect("it is not cut off").into_data().unwrap().len();
            tokio::time::sleep(patience / 16).await;
        }
        assert_eq!(read, BYTES + 2);
    });
}

#[test]
fn a_client_of_a_web_socket_that_takes_long_to_read_its_answer_is_not_let_go_of() {
    run(|| async {
        // More than the systems on both sides take.
        const BYTES: usize = 12 << 20;
        let patience = Duration::from_millis(500);
        let large = Method::new("large", |(): ()| async {
            Ok::<_, Fault>("x".repeat(BYTES))
        });
        let limits = Limits {
            push_bytes: 8 * BYTES,
            ..patient(patience)
        };
        let service = Service::new("Kit").with(large);
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let client = TcpSocket::new_v4().unwrap();
        client.set_recv_buffer_size(64 << 10).unwrap();
        let stream = client.connect(server.address).await.unwrap();
        let url = format!("ws://{}/socket", server.address);
        let (stream, _) = client_async(url, stream).await.unwrap();
        let mut socket = Socket::of(stream);
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"Kit.large"}"#;
        socket.stream.send(Message::text(call)).await.unwrap();
        // The answer is on its way for as long as a client that says nothing is borne, and as one that is told goodbye has to hear that.
        while figure(&server, "tamtam_gateway_push_held_bytes").await == 0 {
            look_again().await;
        }
        tokio::time::sleep(patience * 8).await;
        let answer = socket.json().await;
        assert_eq!(answer["result"].as_str().map(str::len), Some(BYTES));
    });
}

#[test]
fn a_client_of_http2_that_does_not_let_its_answer_come_is_let_go_of() {
    run(|| async {
        const BYTES: usize = 400_000;
        let large = Method::new("large", |(): ()| async {
            Ok::<_, Fault>("x".repeat(BYTES))
        });
        let service = Service::new("Kit").with(large.safe());
        let gateway = Gateway::new()
            .service(service)
            .limits(patient(PATIENT_WITH_HONEST));
        let server = Running::of(gateway).await;
        // It lets nothing of it come, or a part; and answers each ping.
        for window in [0, 1, 32 << 10] {
            let stream = TcpStream::connect(server.address).await.unwrap();
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.initial_stream_window_size(window);
            let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
            let connection = tokio::spawn(connection);
            let answered = sender.send_request(get(&server, "/rest/Kit/large")).await;
            let unread = answered.unwrap();
            // A goodbye, or without one.
            let _ = connection.await.unwrap();
            drop(unread);
        }
    });
}

#[test]
fn a_client_of_http2_that_waits_for_events_is_not_let_go_of() {
    run(|| async {
        let patience = Duration::from_millis(500);
        let slider = Arc::new(Property::new(5_u32));
        let service = Service::new("Kit").property("slider", Arc::clone(&slider));
        let gateway = Gateway::new().service(service).limits(patient(patience));
        let server = Running::of(gateway).await;
        let (mut sender, _connection) = http2_client(&server).await;
        let events = sender.send_request(get(&server, "/events/Kit.slider"));
        let mut events = pin!(events.await.unwrap().into_body());
        let mut text = String::new();
        for value in [5, 6, 7] {
            slider.set(value);
            while !text.contains(&format!("data: {value}\n")) {
                let frame = events.frame().await.expect("it goes on").unwrap();
                text += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
            }
            tokio::time::sleep(patience * 2).await;
        }
    });
}

#[cfg(feature = "tls")]
#[test]
fn a_client_of_tls_that_stops_is_let_go_of_wherever_it_stops() {
    use crate::server::tls;

    run(|| async {
        let (config, certificate) = tls::localhost();
        let server = Server::bind(kit().limits(impatient()), "127.0.0.1:0".parse().unwrap());
        let server = server.await.unwrap().tls(config);
        let address = server.address().unwrap();
        tokio::spawn(server.serve(std::future::pending()));
        // The head of a record of the handshake, and the first byte of what it holds.
        for said in [&[][..], &[22], &[22, 3, 1, 2, 0, 1]] {
            says_no_more(TcpStream::connect(address).await.unwrap(), said).await;
        }
        let connector = tokio_rustls::TlsConnector::from(Arc::new(tls::trusting(certificate)));
        for said in [&[][..], &PREFACE[..3], PREFACE] {
            // A handshake has no more time than what comes behind it.
            let stream = loop {
                let stream = TcpStream::connect(address).await.unwrap();
                if let Ok(stream) = connector.connect(tls::name(), stream).await {
                    break stream;
                }
            };
            says_no_more(stream, said).await;
        }
    });
}

#[cfg(feature = "tls")]
#[test]
fn a_handshake_that_stops_does_not_hold_the_end_up() {
    use tokio::sync::Notify;

    use crate::server::tls;

    run(|| async {
        let (config, _) = tls::localhost();
        // One of them is never over while the test runs.
        let limits = Limits {
            stop: crate::world::LIMIT * 2,
            ..patient(crate::world::LIMIT * 2)
        };
        let server = Server::bind(kit().limits(limits), "127.0.0.1:0".parse().unwrap());
        let server = server.await.unwrap().tls(config);
        let address = server.address().unwrap();
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let serving = tokio::spawn(async move { server.serve(stopped.notified()).await });
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&[22, 3, 1, 2, 0, 1]).await.unwrap();
        stop.notify_one();
        serving.await.unwrap().unwrap();
    });
}
