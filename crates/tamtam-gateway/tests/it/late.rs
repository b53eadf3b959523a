//! Tables whose source gives nothing for long: the call ends in time in each protocol, and the source is told.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::Version;
use tamtam_gateway::{CachedRows, Client, Fault, Gateway, Limits, Method, RowStream, Service};
use tamtam_rows::{Compression, CompressionKind};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::amf;
use crate::push::figure;
use crate::stalled::endless;
use crate::world::{LIMIT, Running, kit, look_again, request, run, tiles};

/// So long a test waits for what comes after a fraction of a second.
const SOON: Duration = Duration::from_secs(30);

/// How many sources have begun, and have been told that their client has gone.
struct Sources {
    begun: Arc<Semaphore>,
    told: Arc<Semaphore>,
}

impl Sources {
    async fn one_is_told(&self) {
        let told = timeout(SOON, self.told.acquire()).await;
        told.expect("the source is told").unwrap().forget();
    }

    /// Calls, and waits until the source of that is told; again where it has not begun, as on a machine that is so busy that the time of the
    /// call is over before.
    async fn one_is_told_after(&self, call: impl AsyncFn()) {
        loop {
            call().await;
            if let Ok(begun) = self.begun.try_acquire() {
                begun.forget();
                return self.one_is_told().await;
            }
        }
    }
}

/// `Kit.silent` gives nothing; `Kit.slow` gives a row now and then, without an end.
fn sources() -> (Service, Sources) {
    let (begun, told) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let (begun_silent, told_silent) = (Arc::clone(&begun), Arc::clone(&told));
    let silent = Method::blocking("silent", move |(): ()| {
        let (begun, told) = (Arc::clone(&begun_silent), Arc::clone(&told_silent));
        Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), move |sink| {
            begun.add_permits(1);
            Handle::current().block_on(sink.closed());
            assert!(sink.is_closed());
            told.add_permits(1);
            Ok(())
        }))
    });
    let (begun_slow, told_slow) = (Arc::clone(&begun), Arc::clone(&told));
    let slow = Method::blocking("slow", move |(): ()| {
        let (begun, told) = (Arc::clone(&begun_slow), Arc::clone(&told_slow));
        Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), move |sink| {
            begun.add_permits(1);
            while sink.send(tiles(1)).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
            told.add_permits(1);
            Ok(())
        }))
    });
    let service = Service::new("Kit").with(silent.safe()).with(slow.safe());
    (service, Sources { begun, told })
}

fn within(time: Duration) -> Limits {
    Limits {
        time,
        // Each has to give its place back.
        requests: 1,
        ..Limits::default()
    }
}

#[test]
fn a_source_that_gives_nothing_in_time_is_a_fault_in_each_protocol_and_is_told() {
    run(|| async {
        let (service, sources) = sources();
        let limits = within(Duration::from_millis(600));
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        // Where a table goes as a whole, some of its rows are as good as none.
        for method in ["Kit.silent", "Kit.slow"] {
            let by_json_rpc = async || {
                let call = format!(r#"{{"jsonrpc":"2.0","method":"{method}","id":1}}"#);
                let told = server.json_rpc(&call).await;
                assert_eq!(told["error"]["code"], -32006, "{method}");
            };
            sources.one_is_told_after(by_json_rpc).await;

            let by_xml_rpc = async || {
                let call = format!("<methodCall><methodName>{method}</methodName></methodCall>");
                let told = server.xml_rpc(call).await;
                assert!(told.contains("<int>-32006</int>"), "{method}: {told}");
            };
            sources.one_is_told_after(by_xml_rpc).await;

            let by_amf = async || {
                let call = amf::packet(Version::Amf0, vec![(method, vec![].into())]);
                let told = amf::send(&server, &call).await;
                let code = told.messages[0].value.get("code");
                assert_eq!(
                    (&*told.messages[0].target, code),
                    ("/1/onStatus", Some(&"Server.TimedOut".into())),
                    "{method}"
                );
            };
            sources.one_is_told_after(by_amf).await;

            let path = format!("/rest/{}", method.replace('.', "/"));
            for header in [
                ("accept", "application/vnd.msgpack"),
                ("range", "rows=1000-1001"),
            ] {
                let by_url = async || {
                    let told = server.get(&path, &[header]).await;
                    assert_eq!(told.status, 504, "{method} {header:?}");
                    assert_eq!(told.json()["code"], "Server.TimedOut");
                };
                sources.one_is_told_after(by_url).await;
            }

            let client = Client::connect(&format!("http://{}", server.address)).await;
            let socket = client.unwrap().socket().await.unwrap();
            let by_socket = async || {
                let error = socket.call(method, &()).await.unwrap_err();
                assert!(error.to_string().contains("in time"), "{method}: {error}");
            };
            sources.one_is_told_after(by_socket).await;
        }
        // Where the parts are sent, the first one has to come in time.
        for accept in [
            "application/json",
            "text/csv",
            "application/vnd.tamtam.rows",
        ] {
            let by_url = async || {
                let told = server.get("/rest/Kit/silent", &[("accept", accept)]).await;
                assert_eq!(told.status, 504, "{accept}");
            };
            sources.one_is_told_after(by_url).await;
        }
    });
}

#[test]
fn a_table_that_is_sent_while_it_comes_may_take_longer_than_a_call() {
    run(|| async {
        let (service, sources) = sources();
        // Its first row has to come in this, on a busy machine, too.
        let time = Duration::from_secs(2);
        let server = Running::of(Gateway::new().service(service).limits(within(time))).await;
        let stream = TcpStream::connect(server.address).await.unwrap();
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.unwrap();
        let connection = tokio::spawn(connection);
        let asked = request("GET", "/rest/Kit/slow").header("accept", "text/csv");
        let asked = asked.body(Full::<Bytes>::default()).unwrap();
        let begun = std::time::Instant::now();
        let mut body = sender.send_request(asked).await.unwrap().into_body();
        while begun.elapsed() < time * 2 {
            let frame = timeout(SOON, body.frame()).await.expect("it goes on");
            frame.expect("it has no end").expect("it is not cut off");
        }
        drop((body, sender));
        connection.abort();
        sources.one_is_told().await;
    });
}

#[test]
fn a_source_that_has_sent_nothing_is_told_that_its_client_has_gone() {
    run(|| async {
        let (service, sources) = sources();
        let server = Running::of(Gateway::new().service(service).limits(within(LIMIT))).await;
        let call = r#"{"jsonrpc":"2.0","method":"Kit.silent","id":1}"#;
        let length = call.len();
        for asked in [
            "GET /rest/Kit/silent HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
            format!(
                "POST /jsonrpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{call}"
            ),
        ] {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            stream.write_all(asked.as_bytes()).await.unwrap();
            let begun = timeout(SOON, sources.begun.acquire()).await;
            begun.expect("it begins").unwrap().forget();
            drop(stream);
            sources.one_is_told().await;
            // Its place is given back behind that.
            while figure(&server, "tamtam_gateway_requests_at_work").await > 0 {
                look_again().await;
            }
        }
    });
}

#[test]
fn sources_that_wait_for_their_clients_keep_no_thread_from_the_work_for_others() {
    tamtam_testing::within(LIMIT, || {
        let runtime = runtime_of_few_threads();
        runtime.block_on(async {
            let service = Service::new("Endless").with(endless().0);
            let server = Running::of(kit().service(service)).await;
            let mut unread = Vec::new();
            for _ in 0..2 * FEW_THREADS {
                let stream = TcpStream::connect(server.address).await.unwrap();
                let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
                let (mut sender, connection) = handshake.await.unwrap();
                tokio::spawn(connection);
                let asked = request("GET", "/rest/Endless/endless").body(Full::<Bytes>::default());
                let begun = timeout(SOON, sender.send_request(asked.unwrap())).await;
                unread.push((begun.expect("it begins").unwrap(), sender));
            }
            let call = r#"{"jsonrpc":"2.0","method":"Sums.add","params":[1,2],"id":1}"#;
            let answered = timeout(SOON, server.send(packed_call(call))).await;
            let answered: Json = answered.expect("it is unpacked and called").json();
            assert_eq!(answered["result"]["sum"], 3);
        });
        runtime.shutdown_background();
    });
}

/// Two threads for the runtime's blocking work.
const FEW_THREADS: usize = 2;

/// A runtime whose blocking work has [`FEW_THREADS`].
fn runtime_of_few_threads() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(FEW_THREADS)
        .enable_all()
        .build()
        .unwrap()
}

/// A call that is compressed: it is unpacked on another thread.
fn packed_call(call: &str) -> hyper::Request<Full<Bytes>> {
    let compression = Compression {
        threshold_bytes: 0,
        ..Compression::new(CompressionKind::Gzip)
    };
    let mut call = call.as_bytes().to_vec();
    call.resize(1_000, b' ');
    let packed = compression.compress(call).unwrap();
    assert_eq!(packed.kind, CompressionKind::Gzip);
    let asked = request("POST", "/jsonrpc")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(Full::new(packed.bytes.into()));
    asked.unwrap()
}

#[test]
fn handlers_that_hang_keep_no_thread_from_the_work_for_others() {
    tamtam_testing::within(LIMIT, || {
        let runtime = runtime_of_few_threads();
        runtime.block_on(async {
            let (release, released) = std::sync::mpsc::channel::<()>();
            let released = Arc::new(std::sync::Mutex::new(released));
            let hang = |name: &str| {
                let released = Arc::clone(&released);
                Method::blocking(name, move |(): ()| {
                    // Until the test ends.
                    let _ = released.lock().unwrap().recv();
                    Ok::<_, Fault>(())
                })
            };
            let service = Service::new("Kit2").with(hang("one")).with(hang("other"));
            let limits = Limits {
                time: Duration::from_millis(50),
                ..Limits::default()
            };
            let server = Running::of(kit().service(service).limits(limits)).await;
            for name in ["one", "other", "one", "other"] {
                let call = format!(r#"{{"jsonrpc":"2.0","method":"Kit2.{name}","id":1}}"#);
                let answered = server.json_rpc(&call).await;
                assert_eq!(answered["error"]["code"], -32006, "{name}");
            }
            // Whoever is behind them is unpacked and called, those that may block included.
            let call = r#"{"jsonrpc":"2.0","method":"Echo.echo","params":[7],"id":1}"#;
            let answered = timeout(SOON, server.send(packed_call(call))).await;
            let answered = answered.expect("it is unpacked").json();
            assert_eq!(answered["result"], 7);
            let call = r#"{"jsonrpc":"2.0","method":"Sums.add","params":[1,2],"id":1}"#;
            // On a busy machine 50 ms are over before a thread has begun.
            while server.json_rpc(call).await["result"]["sum"] != 3 {}
            drop(release);
        });
        runtime.shutdown_background();
    });
}

/// Tables that are large in each form, and whose writing takes a while.
fn large_tables() -> Service {
    const ROWS: u32 = 50_000;
    let whole = Method::new("whole", |(): ()| async { Ok::<_, Fault>(tiles(ROWS)) });
    let parts = Method::new("parts", |(): ()| async {
        let schema = tiles(0).schema().clone();
        Ok::<_, Fault>(RowStream::new(schema, |sink| {
            sink.send(tiles(ROWS)).map_err(Fault::from)
        }))
    });
    let kept = Method::new("kept", |(): ()| async {
        // Another one for each call, of which no form is kept yet.
        Ok::<_, Fault>(CachedRows::new(tiles(ROWS)))
    });
    let methods = [whole.safe(), parts.safe(), kept.safe()].into_iter();
    methods.fold(Service::new("Large"), Service::with)
}

/// Requests for such a table, by their protocols.
fn asked_for_large_tables() -> Vec<(&'static str, String, hyper::Request<Full<Bytes>>)> {
    let posted = |path: &'static str, content_type: &str, name: String, body: Bytes| {
        let asked = request("POST", path).header("content-type", content_type);
        (path, name, asked.body(Full::new(body)).unwrap())
    };
    let mut asked = Vec::new();
    for method in ["Large.whole", "Large.parts", "Large.kept"] {
        let name = method.to_owned();
        let call = format!(r#"{{"jsonrpc":"2.0","method":"{method}","id":1}}"#);
        let json = "application/json";
        asked.push(posted("/jsonrpc", json, name.clone(), call.into()));
        let call = format!("<methodCall><methodName>{method}</methodName></methodCall>");
        asked.push(posted("/xmlrpc", "text/xml", name.clone(), call.into()));
        let several = format!(
            "<methodCall><methodName>system.multicall</methodName><params><param><value><array><data><value><struct>\
             <member><name>methodName</name><value>{method}</value></member></struct></value></data></array></value></param></params></methodCall>"
        );
        let named = format!("{method} among several");
        asked.push(posted("/xmlrpc", "text/xml", named, several.into()));
        for version in [Version::Amf0, Version::Amf3] {
            let call = amf::packet(version, vec![(method, vec![].into())]);
            let named = format!("{method} in {version:?}");
            let call = call.encode().unwrap().into();
            asked.push(posted("/amf", amf::AMF, named, call));
        }
        let message = amf::flex(
            "RemotingMessage",
            &[
                ("messageId", "1".into()),
                ("destination", "Large".into()),
                ("operation", method.trim_start_matches("Large.").into()),
                ("body", Vec::<Amf3>::new().into()),
            ],
        );
        let message = vec![amf::in_amf3(message)].into();
        let call = amf::packet(Version::Amf3, vec![("null", message)]);
        let named = format!("{method} by Flex");
        let call = call.encode().unwrap().into();
        asked.push(posted("/amf", amf::AMF, named, call));
    }
    asked
}

#[test]
fn a_large_table_is_written_on_no_thread_that_serves_sockets_in_each_protocol() {
    tamtam_testing::within(LIMIT, || {
        let runtime = runtime_of_few_threads();
        runtime.block_on(async {
            let server = Running::of(kit().service(large_tables())).await;
            let server = Arc::new(server);
            for (path, name, asked) in asked_for_large_tables() {
                // Where it is to be written, there is no thread for it as yet.
                let (release, released) = std::sync::mpsc::channel::<()>();
                let released = Arc::new(std::sync::Mutex::new(released));
                let begun = Arc::new(Semaphore::new(0));
                for _ in 0..FEW_THREADS {
                    let (released, begun) = (Arc::clone(&released), Arc::clone(&begun));
                    tokio::task::spawn_blocking(move || {
                        begun.add_permits(1);
                        let _ = released.lock().unwrap().recv();
                    });
                }
                let both = begun.acquire_many(FEW_THREADS as u32).await.unwrap();
                both.forget();
                let asking = Arc::clone(&server);
                let mut large = tokio::spawn(async move { asking.send(asked).await });
                let early = timeout(Duration::from_millis(500), &mut large).await;
                assert!(
                    early.is_err(),
                    "{path} {name}: it did not wait for a thread"
                );
                let call = r#"{"jsonrpc":"2.0","method":"Echo.echo","params":[7],"id":1}"#;
                let small = timeout(SOON, server.json_rpc(call)).await;
                assert_eq!(small.expect("it is answered")["result"], 7);
                drop(release);
                let answered = timeout(SOON, large).await.expect("it comes").unwrap();
                assert_eq!(answered.status, 200, "{path} {name}");
                let length = answered.body.len();
                assert!(length > 256 << 10, "{path} {name}: {length}");
            }
        });
        runtime.shutdown_background();
    });
}
