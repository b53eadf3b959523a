//! What a server owes: who may call, from where, how much, how often.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper_util::rt::TokioIo;
use tamtam_amf::packet::Version;
use tamtam_gateway::{
    CallError, Caller, Client, Fault, Gateway, Limits, Method, Service, Value, bearer,
};
use tamtam_rows::{Compression, CompressionKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::amf::{self, packet};
use crate::world::{Running, kit, request, run};

const LIST: &str = "/rest/Tiles/list?set=palette&count=1";

#[test]
fn what_a_form_of_a_page_can_send_is_refused() {
    run(|| async {
        let server = Running::of(kit()).await;
        let call = r#"{"jsonrpc":"2.0","method":"Sums.set","params":[1],"id":1}"#;
        for path in ["/jsonrpc", "/xmlrpc", "/amf", "/rest/Sums/set"] {
            for simple in [
                "text/plain",
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "text/plain; application/json",
                "",
            ] {
                assert_eq!(
                    server.post(path, simple, call).await.status,
                    415,
                    "{path} {simple}"
                );
            }
            let without = request("POST", path)
                .body(Full::new(Bytes::from(call)))
                .unwrap();
            assert_eq!(server.send(without).await.status, 415, "{path}");
        }
    });
}

#[test]
fn a_connection_that_has_found_the_server_by_its_name_is_refused_another_one() {
    run(|| async {
        let server = Running::of(kit()).await;
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.unwrap();
        let connection = tokio::spawn(connection);
        let hosts = [
            ("rebound.example", 421),
            ("localhost:80", 200),
            ("rebound.example", 421),
            ("localhost:81", 200),
            ("localhost:80", 200),
            ("", 421),
        ];
        for (host, status) in hosts {
            let request = hyper::Request::get(LIST).header("host", host);
            let request = request.body(Full::<Bytes>::default()).unwrap();
            let response = sender.send_request(request).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{host}");
            response.into_body().collect().await.unwrap();
            sender.ready().await.unwrap();
        }
        drop(sender);
        connection.await.unwrap().unwrap();
    });
}

/// The status of what is answered to these bytes.
async fn status_of(mut stream: impl AsyncRead + AsyncWrite + Unpin, asked: &str) -> u16 {
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut line = [0; 12];
    stream.read_exact(&mut line).await.unwrap();
    let line = std::str::from_utf8(&line).unwrap();
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn a_request_of_http_1_1_without_a_host_is_a_bad_one() {
    const ADD: &str = "/rest/Sums/add?left=1&right=2";
    run(|| async {
        let server = Running::of(kit().host("*")).await;
        #[cfg(unix)]
        let folder = tempfile::tempdir().unwrap();
        #[cfg(unix)]
        let path = folder.path().join("gateway");
        #[cfg(unix)]
        tokio::spawn({
            let at_path = tamtam_gateway::Server::bind_unix(kit(), &path).await;
            at_path.unwrap().serve(std::future::pending())
        });
        for (asked, status) in [
            (format!("GET {ADD} HTTP/1.1\r\n\r\n"), 400),
            // Its target says for whom it is, and the line has to be there all the same.
            (format!("GET http://localhost{ADD} HTTP/1.1\r\n\r\n"), 400),
            (
                format!("GET {ADD} HTTP/1.1\r\nhost: localhost\r\n\r\n"),
                200,
            ),
            // The version before it has no such line.
            (format!("GET {ADD} HTTP/1.0\r\n\r\n"), 200),
        ] {
            let stream = TcpStream::connect(server.address).await.unwrap();
            assert_eq!(status_of(stream, &asked).await, status, "{asked}");
            #[cfg(unix)]
            {
                let stream = tokio::net::UnixStream::connect(&path).await.unwrap();
                assert_eq!(status_of(stream, &asked).await, status, "{asked}");
            }
        }
    });
}

#[test]
fn other_hosts_and_origins_are_refused_unless_they_are_named() {
    run(|| async {
        let server = Running::of(kit().origin("https://game.example").host("tiles.example")).await;
        let get = async |host: &str, origin: Option<&str>| {
            let mut request = hyper::Request::get(LIST).header("host", host);
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            server.send(request.body(Full::default()).unwrap()).await
        };
        assert_eq!(get("localhost", None).await.status, 200);
        assert_eq!(get("tiles.example:8787", None).await.status, 200);
        assert_eq!(get("rebound.example", None).await.status, 421);
        assert_eq!(
            get("localhost", Some("https://evil.example")).await.status,
            403
        );
        assert_eq!(get("localhost", Some("null")).await.status, 403);
        assert_eq!(
            get("localhost:80", Some("http://localhost:80"))
                .await
                .status,
            200
        );
        let allowed = get("localhost", Some("https://game.example")).await;
        assert_eq!(allowed.status, 200);
        assert_eq!(
            allowed.header("access-control-allow-origin"),
            "https://game.example"
        );
        assert!(allowed.header("vary").contains("origin"));
        assert_eq!(allowed.header("x-content-type-options"), "nosniff");

        let preflight = async |origin: &str| {
            let request = hyper::Request::options("/jsonrpc")
                .header("host", "localhost")
                .header("origin", origin)
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "content-type");
            server.send(request.body(Full::default()).unwrap()).await
        };
        let allowed = preflight("https://game.example").await;
        assert_eq!(allowed.status, 204);
        assert_eq!(
            allowed.header("access-control-allow-headers"),
            "content-type"
        );
        assert!(
            allowed
                .header("access-control-allow-methods")
                .contains("POST")
        );
        let refused = preflight("https://evil.example").await;
        assert_eq!(
            (
                refused.status,
                refused.header("access-control-allow-origin")
            ),
            (403, "")
        );
        let policy = server.get("/crossdomain.xml", &[]).await;
        assert!(
            policy.text().contains("domain=\"game.example\""),
            "{}",
            policy.text()
        );
    });
}

#[test]
fn each_method_has_its_own_check_or_that_of_its_service_or_of_the_gateway() {
    run(|| async {
        let open = |name: &str| Method::new(name, |(): ()| async { Ok(()) }).safe();
        let closed =
            Service::new("Closed").authorize(|_: &Caller| Err(Fault::forbidden("it is closed")));
        let gateway = Gateway::new()
            .service(
                Service::new("Open")
                    .with(open("any").authorize(|_| Ok(())))
                    .with(open("usual")),
            )
            .service(
                closed
                    .with(open("never"))
                    .with(open("admin").authorize(bearer("root"))),
            )
            .authorize(bearer("let me in"));
        let server = Running::of(gateway).await;
        let status = async |method: &str, authorization: Option<&str>| {
            let headers: Vec<_> = authorization
                .map(|value| ("authorization", value))
                .into_iter()
                .collect();
            server
                .get(&format!("/rest/{method}"), &headers)
                .await
                .status
        };
        assert_eq!(status("Open/any", None).await, 200);
        assert_eq!(status("Open/usual", None).await, 401);
        assert_eq!(status("Open/usual", Some("Bearer let me in")).await, 200);
        assert_eq!(status("Open/usual", Some("Bearer wrong")).await, 401);
        assert_eq!(
            status("Open/usual", Some("Basic bGV0OiBtZSBpbg==")).await,
            401
        );
        assert_eq!(status("Closed/never", Some("Bearer let me in")).await, 403);
        assert_eq!(status("Closed/admin", Some("Bearer let me in")).await, 401);
        assert_eq!(status("Closed/admin", Some("bearer root")).await, 200);
    });
}

#[test]
fn a_body_beyond_the_limit_is_refused_however_it_is_sent() {
    run(|| async {
        let limits = Limits {
            body_bytes: 10_000,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let large = vec![b' '; 10_001];
        assert_eq!(
            server
                .post("/jsonrpc", "application/json", large)
                .await
                .status,
            413
        );
        for kind in [
            CompressionKind::Gzip,
            CompressionKind::Zstd,
            CompressionKind::Brotli,
        ] {
            let pack = |bytes: usize| {
                let compression = Compression {
                    threshold_bytes: 0,
                    ..Compression::new(kind)
                };
                let mut text = br#"{"jsonrpc":"2.0","method":"Echo.echo","params":["#.to_vec();
                text.resize(bytes, b' ');
                text.extend_from_slice(br#"1],"id":1}"#);
                compression.compress(text).unwrap().bytes
            };
            let send = async |bytes: Vec<u8>| {
                let request = request("POST", "/jsonrpc")
                    .header("content-type", "application/json")
                    .header("content-encoding", kind.content_encoding());
                server
                    .send(request.body(Full::new(bytes.into())).unwrap())
                    .await
            };
            let fine = send(pack(9_000)).await;
            assert_eq!(fine.json()["result"], 1, "{}", kind.name());
            // A bomb: 20 MB in a few bytes.
            assert_eq!(send(pack(20_000_000)).await.status, 413, "{}", kind.name());
            assert_eq!(
                send(b"none of that kind".to_vec()).await.status,
                400,
                "{}",
                kind.name()
            );
        }
    });
}

/// A body in pieces, which does not say how long it is.
fn in_pieces(path: &str, content_type: &str, body: Vec<u8>) -> hyper::Request<Pieces> {
    let pieces: Vec<_> = body
        .chunks(10_000)
        .map(|piece| Ok::<_, std::convert::Infallible>(Frame::data(Bytes::copy_from_slice(piece))))
        .collect();
    let request = request("POST", path).header("content-type", content_type);
    request
        .body(StreamBody::new(futures_util::stream::iter(pieces)))
        .unwrap()
}

type Pieces = StreamBody<
    futures_util::stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, std::convert::Infallible>>>,
>;

/// Sends a request by hand, all of it before anything is read, and gives status and body of the answer.
async fn by_hand(address: std::net::SocketAddr, bytes: &[u8]) -> (u16, Vec<u8>) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.expect("the server takes it");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("no reset");
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let status = std::str::from_utf8(&answer[9..12])
        .unwrap()
        .parse()
        .unwrap();
    (status, answer[end + 4..].to_vec())
}

#[test]
fn a_body_that_is_too_large_is_told_so_in_the_form_of_its_protocol() {
    run(|| async {
        const MOST: usize = 1_000_000;
        let limits = Limits {
            body_bytes: MOST,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let text = "x".repeat(MOST);
        let call_of_flash = |target: &str, version| {
            let value = match version {
                Version::Amf0 => vec![tamtam_amf::amf0::Value::from(&*text)].into(),
                Version::Amf3 => amf::in_amf3(vec![tamtam_amf::amf3::Value::from(&*text)]),
            };
            packet(version, vec![(target, value)]).encode().unwrap()
        };
        let two = {
            let text = tamtam_amf::amf0::Value::from(&*"x".repeat(MOST + MOST / 10));
            packet(Version::Amf0, vec![("a.b", text), ("a.b", 1.0.into())])
                .encode()
                .unwrap()
        };
        let json =
            format!(r#"{{"jsonrpc":"2.0","method":"Echo.echo","params":["{text}"],"id":1}}"#);
        let xml = format!("<methodCall><methodName>{text}</methodName></methodCall>");
        let json = json.into_bytes();
        for (path, content_type, body, status, words) in [
            (
                "/jsonrpc",
                "application/json",
                json,
                413,
                r#""code":-32003"#,
            ),
            (
                "/xmlrpc",
                "text/xml",
                xml.into_bytes(),
                200,
                "<int>-32003</int>",
            ),
            (
                "/rest/Echo/echo",
                "application/json",
                text.repeat(2).into_bytes(),
                413,
                "Client.TooLarge",
            ),
            (
                "/amf",
                "application/x-amf",
                call_of_flash("a.b", Version::Amf0),
                200,
                "/1/onStatus",
            ),
            (
                "/amf",
                "application/x-amf",
                call_of_flash("a.b", Version::Amf3),
                200,
                "/1/onStatus",
            ),
            (
                "/amf",
                "application/x-amf",
                call_of_flash("null", Version::Amf3),
                200,
                "messages.ErrorMessage",
            ),
            // The second one's place comes later than is read.
            (
                "/amf",
                "application/x-amf",
                two,
                413,
                "at most 1000000 bytes",
            ),
        ] {
            // As one that says how long it is, and as one that does not.
            let whole = server.post(path, content_type, body.clone()).await;
            let stream = tokio::net::TcpStream::connect(server.address)
                .await
                .unwrap();
            let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
            let (mut sender, connection) = handshake.unwrap();
            tokio::spawn(connection);
            let answered = sender
                .send_request(in_pieces(path, content_type, body.clone()))
                .await;
            let answered = answered.expect("an answer");
            let in_pieces = answered.status().as_u16();
            let said_in_pieces = answered.into_body().collect().await.unwrap().to_bytes();
            // A client that sends all before it reads gets it, too.
            let head = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {content_type}\r\n\
                 content-length: {}\r\n\r\n",
                body.len()
            );
            let sent_first = by_hand(server.address, &[head.as_bytes(), &body].concat()).await;
            for (given, said) in [
                (whole.status, whole.body.to_vec()),
                (in_pieces, said_in_pieces.to_vec()),
                sent_first,
            ] {
                let said = String::from_utf8_lossy(&said);
                assert_eq!(given, status, "{path}: {said}");
                assert!(said.contains(words), "{path}: {said}");
            }
        }
        // One that asks before it sends is told at once.
        let head = "POST /jsonrpc HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: 2000000\r\nexpect: 100-continue\r\n\r\n";
        let (status, said) = by_hand(server.address, head.as_bytes()).await;
        assert_eq!(status, 413);
        assert!(String::from_utf8(said).unwrap().contains("-32003"));
    });
}

#[test]
fn who_comes_when_there_is_too_much_to_do_is_told_at_once_in_its_protocol() {
    run(|| async {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, awaited) = (Arc::clone(&begun), Arc::clone(&go_on));
        let service = Service::new("Slow").method("wait", move |(): ()| {
            let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
            async move {
                told.notify_one();
                awaited.notified().await;
                Ok::<_, Fault>(1)
            }
        });
        let limits = Limits {
            requests_of_client: 1,
            ..Limits::default()
        };
        let server = Arc::new(Running::of(kit().service(service).limits(limits)).await);
        let first = Arc::clone(&server);
        let first = tokio::spawn(async move {
            first
                .post("/rest/Slow/wait", "application/json", "[]")
                .await
        });
        begun.notified().await;
        let call = r#"{"jsonrpc":"2.0","method":"Echo.echo","params":[1],"id":"mine"}"#;
        let busy = server.json_rpc(call).await;
        assert_eq!(
            (&busy["error"]["code"], &busy["id"]),
            (&(-32005).into(), &"mine".into())
        );
        let xml = "<methodCall><methodName>Echo.echo</methodName></methodCall>";
        assert!(
            server
                .xml_rpc(xml.into())
                .await
                .contains("<int>-32005</int>")
        );
        let rest = server
            .post("/rest/Echo/echo", "application/json", "[1]")
            .await;
        assert_eq!((rest.status, rest.header("retry-after")), (503, "1"));
        let call_of_flash = packet(Version::Amf0, vec![("Echo.echo", vec![1.0.into()].into())]);
        let flash = amf::send(&server, &call_of_flash).await;
        assert_eq!(
            (
                &*flash.messages[0].target,
                flash.messages[0].value.get("code")
            ),
            ("/1/onStatus", Some(&"Server.Busy".into()))
        );
        // More than is read of a body there.
        let text = "x".repeat(100_000);
        let value = vec![tamtam_amf::amf0::Value::from(&*text)].into();
        let flash = amf::send(&server, &packet(Version::Amf0, vec![("Echo.echo", value)])).await;
        assert_eq!(
            (
                &*flash.messages[0].target,
                flash.messages[0].value.get("code")
            ),
            ("/1/onStatus", Some(&"Server.Busy".into()))
        );
        let large =
            format!(r#"{{"jsonrpc":"2.0","method":"Echo.echo","params":["{text}"],"id":1}}"#);
        let large = server.post("/jsonrpc", "application/json", large).await;
        assert_eq!((large.status, large.header("retry-after")), (503, "1"));
        let busy = large.json();
        assert_eq!(
            (&busy["error"]["code"], &busy["id"]),
            (&(-32005).into(), &serde_json::Value::Null)
        );
        let xml = format!("<methodCall><methodName>{text}</methodName></methodCall>");
        assert!(server.xml_rpc(xml).await.contains("<int>-32005</int>"));
        let metrics = server.get("/metrics", &[]).await;
        assert!(
            metrics
                .text()
                .contains("tamtam_gateway_requests_refused_total 7\n"),
            "{}",
            metrics.text()
        );
        go_on.notify_one();
        assert_eq!(first.await.unwrap().status, 200);
        assert_eq!(server.json_rpc(call).await["result"], 1);
    });
}

#[test]
fn the_services_are_described_to_those_who_may_call() {
    run(|| async {
        let server = Running::of(kit().authorize(bearer("let me in"))).await;
        for path in ["/services", "/metrics"] {
            assert_eq!(server.get(path, &[]).await.status, 401, "{path}");
        }
        let authorization = ("authorization", "Bearer let me in");
        let described = server.get("/services", &[authorization]).await.json();
        let tiles = described["services"]
            .as_array()
            .unwrap()
            .iter()
            .find(|service| service["name"] == "Tiles");
        let list = &tiles.unwrap()["methods"][0];
        assert_eq!(list["arguments"], serde_json::json!(["set", "count"]));
        assert_eq!(
            (&list["about"], &list["safe"]),
            (&"Tiles & more.".into(), &true.into())
        );
        assert_eq!(list["takes"]["properties"]["set"]["type"], "string");
        assert_eq!(list["gives"]["type"], "array");

        let url = format!("http://{}", server.address);
        let client = Client::connect(&url).await.unwrap();
        assert!(matches!(client.services().await, Err(CallError::Fault(_))));
        let client = client.bearer("let me in");
        assert_eq!(
            client.services().await.unwrap().to_json().len(),
            described.to_string().len()
        );
        let rows = client.rows("Tiles.list", &("palette", 5)).await.unwrap();
        assert_eq!(rows, crate::world::tiles(5));
        assert!(client.rows("Sums.add", &(1, 2)).await.is_err());
        // At the same time, each over a connection of its own.
        let calls = (0..10).map(|left| {
            let client = &client;
            async move { client.call("Sums.add", &(left, 1)).await.unwrap() }
        });
        let sums = futures_util::future::join_all(calls).await;
        assert_eq!(sums[9].get("sum"), Some(&Value::Int(10)));
    });
}

#[test]
fn what_was_called_is_counted() {
    run(|| async {
        let server = Running::of(kit()).await;
        server.get(LIST, &[]).await;
        server.get("/rest/Tiles/list?set=none", &[]).await;
        server.get("/rest/Tiles/no-such-method", &[]).await;
        let text = server.get("/metrics", &[]).await;
        let text = text.text();
        for line in [
            r#"tamtam_gateway_calls_total{protocol="rest",method="Tiles.list",outcome="ok"} 1"#,
            r#"tamtam_gateway_calls_total{protocol="rest",method="Tiles.list",outcome="Server.Application"} 1"#,
            r#"tamtam_gateway_calls_total{protocol="rest",method="",outcome="Client.NoMethod"} 1"#,
            r#"tamtam_gateway_call_seconds_count{method="Tiles.list"} 2"#,
            "# EOF",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        // What has a name from outside is not kept.
        assert!(!text.contains("no-such"), "{text}");
    });
}
