//! The sockets: HTTP/1.1 and 2, Unix sockets, an end that finishes what was accepted.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tamtam_gateway::{
    Client, Fault, Gateway, Limits, Method, RowStream, Server, Service, Value, Wish,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::world::{Running, kit, look_again, request, run, send_over, tiles};

#[test]
fn both_versions_of_http_are_spoken_at_one_port() {
    run(|| async {
        let server = Running::of(kit()).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let handshake =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let uri = format!("http://{}/rest/Sums/add?left=1&right=2", server.address);
        let answers = (0..20).map(|_| {
            let request = hyper::Request::get(&uri)
                .body(Full::<Bytes>::default())
                .unwrap();
            sender.send_request(request)
        });
        for response in futures_util::future::join_all(answers).await {
            let response = response.unwrap();
            assert_eq!(
                (response.status().as_u16(), response.version()),
                (200, hyper::Version::HTTP_2)
            );
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, br#"{"sum":3,"is_even":false}"#[..]);
        }
    });
}

/// A call with so many bytes of arguments, most of which say nothing.
fn long_call(bytes: usize) -> Vec<u8> {
    let mut body = br#"{"left":1,"right":2}"#.to_vec();
    body.resize(bytes, b' ');
    body
}

#[test]
fn a_long_body_of_http_2_leaves_the_connection_awake() {
    run(|| async {
        let server = Running::of(kit()).await;
        let uri = format!("http://{}/rest/Sums/add", server.address);
        // The last frame of some of these makes so much room that the connection is woken to tell the client of it, and no other one.
        for bytes in (340_000..370_000).step_by(2_000) {
            let stream = TcpStream::connect(server.address).await.unwrap();
            let handshake =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
            let (mut sender, connection) = handshake.await.unwrap();
            tokio::spawn(connection);
            let request = hyper::Request::post(&uri).header("content-type", "application/json");
            let body = Full::new(Bytes::from(long_call(bytes)));
            let answering = sender.send_request(request.body(body).unwrap());
            // Long before the server looks by a ping whether the client is there.
            let answered = tokio::time::timeout(Duration::from_secs(20), answering).await;
            let answered = answered.unwrap_or_else(|_| panic!("no answer to {bytes} bytes"));
            assert_eq!(answered.unwrap().status().as_u16(), 200, "{bytes}");
        }
    });
}

#[test]
fn a_body_in_pieces_is_taken_in_and_the_connection_goes_on() {
    run(|| async {
        let server = Running::of(kit()).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head =
            "POST /rest/Sums/add HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
        let chunked = |pieces: &[&[u8]]| {
            let mut body = b"transfer-encoding: chunked\r\n\r\n".to_vec();
            for piece in pieces {
                body.extend(format!("{:x}\r\n", piece.len()).into_bytes());
                body.extend_from_slice(piece);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\n\r\n");
            body
        };
        let counted = |body: Vec<u8>| {
            let mut all = format!("content-length: {}\r\n\r\n", body.len()).into_bytes();
            all.extend(body);
            all
        };
        for (rest, at_once) in [
            (counted(long_call(20)), 1),
            (counted(long_call(30)), 1_000),
            (counted(long_call(300_000)), 100_000),
            (counted(long_call(300_000)), 1_000_000),
            (chunked(&[br#"{"left":1"#, br#","right":2}"#, b" "]), 1_000),
            (chunked(&[br#"{"left":1"#, br#","right":2}"#]), 1),
            (chunked(&[&long_call(100_000)]), 50_000),
        ] {
            let mut request = head.as_bytes().to_vec();
            request.extend(rest);
            for piece in request.chunks(at_once) {
                stream.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
            let wanted = br#"{"sum":3,"is_even":false}"#;
            let mut answer = Vec::new();
            while !answer.ends_with(wanted) {
                let mut more = [0; 1_000];
                let count = stream.read(&mut more).await.unwrap();
                assert_ne!(count, 0, "{}", String::from_utf8_lossy(&answer));
                answer.extend_from_slice(&more[..count]);
            }
            assert!(answer.starts_with(b"HTTP/1.1 200"));
        }
    });
}

#[cfg(unix)]
#[test]
fn a_unix_socket_is_served_and_taken_away_again() {
    run(|| async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.sock");
        // What a server that has died left behind.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let server = Server::bind_unix(kit(), &path).await.unwrap();
        assert_eq!(server.url(), format!("unix:{}", path.display()));
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let serving = tokio::spawn(async move { server.serve(stopped.notified()).await });
        assert!(
            Server::bind_unix(kit(), &path).await.is_err(),
            "a server answers there"
        );
        let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        // No page reaches it: any host will do.
        let request =
            hyper::Request::get("/rest/Sums/add?left=1&right=2").header("host", "tiles.example");
        let answered = send_over(stream, request.body(Full::default()).unwrap()).await;
        assert_eq!(
            (answered.status, answered.text()),
            (200, r#"{"sum":3,"is_even":false}"#)
        );
        stop.notify_one();
        serving.await.unwrap().unwrap();
        assert!(!path.exists());
    });
}

#[cfg(unix)]
#[test]
fn of_servers_that_begin_at_once_where_one_has_died_one_gets_the_place() {
    run(|| async {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let path = folder.path().join(format!("{round}.sock"));
            // Its file stays when a socket is closed by the system.
            drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
            let begin = || {
                let path = path.clone();
                tokio::spawn(async move { Server::bind_unix(kit(), path).await })
            };
            let begun: Vec<_> = (0..8).map(|_| begin()).collect();
            let begun = futures_util::future::join_all(begun).await;
            let mut servers: Vec<_> = begun
                .into_iter()
                .filter_map(|one| one.unwrap().ok())
                .collect();
            assert_eq!(servers.len(), 1, "in round {round}");
            let serving = tokio::spawn(servers.remove(0).serve(std::future::pending()));
            let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
            let asked = request("GET", "/metrics").body(Full::default()).unwrap();
            assert_eq!(send_over(stream, asked).await.status, 200);
            serving.abort();
        }
    });
}

#[cfg(unix)]
#[test]
fn a_server_leaves_the_socket_of_another_one_where_it_is() {
    run(|| async {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.sock");
        let stop = Arc::new(Notify::new());
        let first = Server::bind_unix(kit(), &path).await.unwrap();
        // The next one takes its place before it has ended.
        std::fs::remove_file(&path).unwrap();
        let second = Server::bind_unix(kit(), &path).await.unwrap();
        tokio::spawn(second.serve(std::future::pending()));
        let stopped = Arc::clone(&stop);
        let serving = tokio::spawn(async move { first.serve(stopped.notified()).await });
        stop.notify_one();
        serving.await.unwrap().unwrap();
        let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
        let asked = request("GET", "/metrics").body(Full::default()).unwrap();
        assert_eq!(send_over(stream, asked).await.status, 200);

        // One that accepts nothing at the moment has a queue, which is full.
        let path = folder.path().join("busy.sock");
        let socket = tokio::net::UnixSocket::new_stream().unwrap();
        socket.bind(&path).unwrap();
        let busy = socket.listen(1).unwrap();
        let mut waiting = Vec::new();
        while let Ok(stream) = tokio::net::UnixStream::connect(&path).await {
            waiting.push(stream);
        }
        assert!(Server::bind_unix(kit(), &path).await.is_err());
        waiting.clear();
        tokio::spawn(async move {
            loop {
                drop(busy.accept().await);
            }
        });
        while tokio::net::UnixStream::connect(&path).await.is_err() {
            assert!(path.exists(), "the file of a server that lives was removed");
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_stop_finishes_what_was_accepted() {
    run(|| async {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, awaited) = (Arc::clone(&begun), Arc::clone(&go_on));
        let service = Service::new("Kit").method("wait", move |(): ()| {
            let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
            async move {
                told.notify_one();
                awaited.notified().await;
                Ok::<_, Fault>("done")
            }
        });
        let mut server = Running::of(Gateway::new().service(service)).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let body = Full::new(Bytes::from("[]"));
        let request = request("POST", "/rest/Kit/wait")
            .header("content-type", "application/json")
            .body(body)
            .unwrap();
        let answered = tokio::spawn(send_over(stream, request));
        // One that is idle does not hold the end up.
        let _idle = TcpStream::connect(server.address).await.unwrap();
        begun.notified().await;
        server.stop();
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        go_on.notify_one();
        let answered = answered.await.unwrap();
        assert_eq!((answered.status, answered.text()), (200, r#""done""#));
        server.ended().await;
    });
}

#[test]
fn a_stop_does_not_wait_longer_than_it_may() {
    run(|| async {
        let begun = Arc::new(Notify::new());
        let told = Arc::clone(&begun);
        let service = Service::new("Kit").method("never", move |(): ()| {
            told.notify_one();
            std::future::pending::<Result<(), Fault>>()
        });
        let limits = Limits {
            stop: Duration::from_millis(50),
            ..Limits::default()
        };
        let mut server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let call = b"POST /rest/Kit/never HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]";
        stream.write_all(call).await.unwrap();
        begun.notified().await;
        server.stop();
        server.ended().await;
        assert_eq!(
            stream.read(&mut [0; 64]).await.unwrap_or(0),
            0,
            "it was cut off"
        );
    });
}

#[test]
fn a_client_that_is_too_slow_is_told_so() {
    run(|| async {
        let limits = Limits {
            patience: Duration::from_millis(500),
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream
            .write_all(b"POST /jsonrpc HTTP/1.1\r\nhost: localhost\r\n")
            .await
            .unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).await.unwrap();
        assert!(
            said.is_empty() || said.starts_with(b"HTTP/1.1 408"),
            "{}",
            String::from_utf8_lossy(&said)
        );
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let begun = b"POST /jsonrpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n[";
        stream.write_all(begun).await.unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).await.unwrap();
        assert!(
            said.starts_with(b"HTTP/1.1 408"),
            "{}",
            String::from_utf8_lossy(&said)
        );
    });
}

#[test]
fn a_client_that_does_not_read_is_cut_off() {
    run(|| async {
        let limits = Limits {
            patience: Duration::from_millis(300),
            ..Limits::default()
        };
        let ended = Arc::new(Notify::new());
        let told = Arc::clone(&ended);
        let endless = Method::blocking("endless", move |(): ()| {
            let told = Arc::clone(&told);
            Ok(RowStream::new(tiles(0).schema().clone(), move |sink| {
                while sink.send(tiles(10_000)).is_ok() {}
                told.notify_one();
                Ok(())
            }))
        });
        let service = Service::new("Kit").with(endless.safe());
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream
            .write_all(b"GET /rest/Kit/endless HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await
            .unwrap();
        // It neither reads nor goes, and the source of its rows ends all the same.
        ended.notified().await;
        drop(stream);
    });
}

#[test]
fn a_connection_too_many_is_told_so() {
    run(|| async {
        let limits = Limits {
            connections: 1,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let mut first = TcpStream::connect(server.address).await.unwrap();
        first
            .write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await
            .unwrap();
        assert!(first.read(&mut [0; 16]).await.unwrap() > 0);
        let mut second = TcpStream::connect(server.address).await.unwrap();
        let mut said = String::new();
        second.read_to_string(&mut said).await.unwrap();
        assert!(
            said.starts_with("HTTP/1.1 503")
                && said.ends_with("too many connections; try again shortly\n"),
            "{said}"
        );
        let (_, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(
            said.contains(&format!("content-length: {}", body.len())),
            "{said}"
        );
    });
}

#[test]
fn a_client_with_too_many_connections_is_told_so_and_no_other_one_is() {
    run(|| async {
        let limits = Limits {
            connections: 8,
            connections_of_client: 2,
            // An idle one stays.
            patience: Duration::from_secs(60),
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let mut held = Vec::new();
        // A WebSocket, and one that asks for nothing.
        let mut socket = TcpStream::connect(server.address).await.unwrap();
        let upgrade = b"GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
            sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        socket.write_all(upgrade).await.unwrap();
        let mut begin = [0; 12];
        socket.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 101");
        held.push(socket);
        held.push(TcpStream::connect(server.address).await.unwrap());
        let mut third = TcpStream::connect(server.address).await.unwrap();
        let mut said = String::new();
        third.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("HTTP/1.1 503"), "{said}");

        let from_elsewhere = async || {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            let stream = socket.connect(server.address).await.unwrap();
            let asked = request("GET", "/metrics").body(Default::default());
            send_over(stream, asked.unwrap()).await
        };
        let metrics = from_elsewhere().await;
        for line in [
            "tamtam_gateway_connections 3\n",
            "tamtam_gateway_connections_refused_total 1\n",
        ] {
            assert!(metrics.text().contains(line), "{line}: {}", metrics.text());
        }
        // What is given back is there again.
        held.clear();
        while !from_elsewhere()
            .await
            .text()
            .contains("tamtam_gateway_connections 1\n")
        {
            look_again().await;
        }
        assert_eq!(server.get("/metrics", &[]).await.status, 200);
    });
}

#[cfg(feature = "tls")]
pub(crate) mod tls {
    use std::sync::Arc;

    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
    use rustls::{ClientConfig, RootCertStore, ServerConfig};
    use tamtam_gateway::rustls;

    /// What a server of the name `localhost` shows, and the certificate by which it is trusted.
    pub(crate) fn localhost() -> (ServerConfig, CertificateDer<'static>) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let certificate = made.cert.der().clone();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        (config, certificate)
    }

    /// A client that trusts this certificate.
    pub(crate) fn trusting(certificate: CertificateDer<'static>) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth()
    }

    pub(crate) fn name() -> ServerName<'static> {
        ServerName::try_from("localhost").unwrap()
    }
}

#[cfg(feature = "tls")]
#[test]
fn https_is_spoken_and_plain_http_is_not() {
    run(|| async {
        let (config, certificate) = tls::localhost();
        let server = Server::bind(kit(), "127.0.0.1:0".parse().unwrap())
            .await
            .unwrap()
            .tls(config);
        let address = server.address().unwrap();
        assert_eq!(server.url(), format!("https://{address}"));
        tokio::spawn(server.serve(std::future::pending()));

        let client = tls::trusting(certificate);
        let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
        let stream = TcpStream::connect(address).await.unwrap();
        let stream = connector.connect(tls::name(), stream).await.unwrap();
        let request = request("GET", "/rest/Sums/add?left=1&right=2")
            .body(Full::default())
            .unwrap();
        let answered = send_over(stream, request).await;
        assert_eq!(
            (answered.status, answered.text()),
            (200, r#"{"sum":3,"is_even":false}"#)
        );

        let mut plain = TcpStream::connect(address).await.unwrap();
        plain
            .write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .await
            .unwrap();
        let mut said = Vec::new();
        // It may be cut off by a reset.
        let _ = plain.read_to_end(&mut said).await;
        assert!(
            !said.starts_with(b"HTTP"),
            "{}",
            String::from_utf8_lossy(&said)
        );
    });
}

#[cfg(feature = "tls")]
#[test]
fn our_client_calls_and_subscribes_over_tls_where_it_trusts_the_server() {
    use tamtam_channel::Property;
    use tamtam_gateway::{Client, ConnectError, Service, Value, Wish};

    run(|| async {
        let (config, certificate) = tls::localhost();
        let slider = Arc::new(Property::new(5));
        let service = Service::new("Panel").property("slider", Arc::clone(&slider));
        let gateway = kit().service(service);
        let server = Server::bind(gateway, "127.0.0.1:0".parse().unwrap());
        let server = server.await.unwrap().tls(config);
        let port = server.address().unwrap().port();
        tokio::spawn(server.serve(std::future::pending()));

        let url = format!("https://localhost:{port}");
        let config = tls::trusting(certificate);
        let client = Client::connect_tls(&url, config.clone()).await.unwrap();
        let sum = client.call("Sums.add", &(40, 2)).await.unwrap();
        assert_eq!(sum.get("sum"), Some(&Value::Int(42)));
        let socket = client.socket().await.unwrap();
        let sum = socket.call("Sums.add", &(1, 2)).await.unwrap();
        assert_eq!(sum.get("sum"), Some(&Value::Int(3)));
        let subscribed = socket.subscribe("Panel.slider", Wish::new()).await;
        let mut values = subscribed.unwrap();
        for value in 5..9 {
            let pushed = values.next().await.unwrap().unwrap();
            assert_eq!(pushed.into_value(), Value::Int(value));
            slider.set(value + 1);
        }

        // By a name that is not in the certificate, and of a signer whom the system does not know.
        let by_address = format!("https://127.0.0.1:{port}");
        for refused in [
            Client::connect_tls(&by_address, config).await,
            Client::connect(&url).await,
        ] {
            let error = refused.unwrap_err();
            // A machine need not have certificates that it trusts.
            let is_known = matches!(
                error,
                ConnectError::Tls { .. } | ConnectError::Certificates(_)
            );
            assert!(is_known, "{error}");
            assert!(error.to_string().contains("certificate"), "{error}");
        }
        let plain = Client::connect(&format!("http://localhost:{port}")).await;
        let answer = plain.unwrap().call("Sums.add", &(1, 2)).await;
        assert!(answer.is_err(), "{answer:?}");
    });
}

#[test]
fn times_without_an_end_are_times() {
    run(|| async {
        let limits = Limits {
            time: Duration::MAX,
            patience: Duration::MAX,
            stalled: Duration::MAX,
            stop: Duration::MAX,
            ..Limits::default()
        };
        let later = Method::new("later", |(): ()| async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok::<u8, Fault>(7)
        });
        let level = Arc::new(tamtam_channel::Property::new(3_u8));
        let service = Service::new("Kit")
            .with(later.safe())
            .property("level", level);
        let mut server = Running::of(Gateway::new().service(service).limits(limits)).await;
        assert_eq!(server.get("/rest/Kit/later", &[]).await.text(), "7");
        let mut http2 = crate::http2::Client::with_window(server.address, 64 << 10).await;
        drop(http2.get("/rest/Kit/later").await);
        let url = format!("http://{}", server.address);
        let client = Client::connect(&url).await.unwrap().patience(Duration::MAX);
        assert_eq!(client.call("Kit.later", &()).await.unwrap(), Value::Int(7));
        let socket = client.socket().await.unwrap();
        let mut values = socket.subscribe("Kit.level", Wish::new()).await.unwrap();
        let first = values.next().await.unwrap().unwrap();
        assert_eq!(first.into_value(), Value::Int(3));
        drop((client, socket, values, http2));
        server.stop();
        server.ended().await;
    });
}

#[test]
fn a_request_names_one_host() {
    run(|| async {
        let server = Running::of(kit()).await;
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = "GET /services HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answered = String::new();
        stream.read_to_string(&mut answered).await.unwrap();
        assert!(answered.starts_with("HTTP/1.1 400"), "{answered}");
    });
}

#[test]
fn the_name_of_a_compression_has_no_case() {
    run(|| async {
        let server = Running::of(kit()).await;
        let kind = tamtam_rows::CompressionKind::Gzip;
        let compression = tamtam_rows::Compression {
            threshold_bytes: 0,
            ..tamtam_rows::Compression::new(kind)
        };
        let body = format!("{{\"left\": 40,{} \"right\": 2}}", " ".repeat(1_000));
        let body = compression.compress(body.into_bytes()).unwrap();
        assert_eq!(body.kind, kind);
        let request = request("POST", "/rest/Sums/add")
            .header("content-type", "application/json")
            .header("content-encoding", "GZIP");
        let answered = server
            .send(request.body(Full::new(body.bytes.into())).unwrap())
            .await;
        assert_eq!(
            (answered.status, &answered.json()["sum"]),
            (200, &42.into())
        );
    });
}
