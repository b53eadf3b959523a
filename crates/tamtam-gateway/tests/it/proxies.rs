//! Servers that pass requests on: whose limits count behind them, and whose word does.

use std::sync::Arc;

use http_body_util::Full;
use tamtam_gateway::{Caller, Fault, ForwardedBy, Gateway, Limits, Method, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::world::{Running, request, run};

/// `Kit.wait` tells that it has begun, and waits; `Kit.where` is refused with the address from which it is called.
fn service(begun: &Arc<Notify>, go_on: &Arc<Notify>) -> Service {
    let (told, awaited) = (Arc::clone(begun), Arc::clone(go_on));
    let wait = Method::new("wait", move |(): ()| {
        let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
        async move {
            told.notify_one();
            awaited.notified().await;
            Ok::<_, Fault>(1)
        }
    });
    let told = Method::new("where", |(): ()| async { Ok::<_, Fault>(()) });
    let told = told
        .authorize(|caller: &Caller| Err(Fault::new("Kit.Where", format!("{:?}", caller.peer()))));
    Service::new("Kit").with(wait.safe()).with(told.safe())
}

fn one_request() -> Limits {
    Limits {
        requests_of_client: 1,
        ..Limits::default()
    }
}

fn of_loopback(gateway: Gateway) -> Gateway {
    gateway.trusted_proxy("127.0.0.1".parse().unwrap())
}

async fn get(server: &Running, path: &str, forwarded_for: &str) -> u16 {
    server
        .get(path, &[("x-forwarded-for", forwarded_for)])
        .await
        .status
}

#[test]
fn clients_behind_a_trusted_proxy_have_their_own_limits() {
    run(|| async {
        let (begun, go_on) = (Arc::default(), Arc::default());
        let gateway = Gateway::new()
            .service(service(&begun, &go_on))
            .limits(one_request());
        let server = Arc::new(Running::of(of_loopback(gateway)).await);
        let first = Arc::clone(&server);
        let first =
            tokio::spawn(async move { get(&first, "/rest/Kit/wait", "198.51.100.7").await });
        begun.notified().await;
        // Whatever it writes before: its place is taken.
        for same in [
            "198.51.100.7",
            "1.1.1.1, 198.51.100.7",
            "198.51.100.7:80",
            "198.51.100.7, 127.0.0.1",
        ] {
            assert_eq!(get(&server, "/rest/Kit/where", same).await, 503, "{same}");
        }
        for other in ["198.51.100.8", "198.51.100.7, 198.51.100.8", "", "unknown"] {
            assert_eq!(get(&server, "/rest/Kit/where", other).await, 500, "{other}");
        }
        go_on.notify_one();
        assert_eq!(first.await.unwrap(), 200);
        assert_eq!(get(&server, "/rest/Kit/where", "198.51.100.7").await, 500);
    });
}

#[test]
fn a_client_that_is_no_trusted_proxy_is_whom_it_connects_as() {
    run(|| async {
        for trusted in [&[][..], &["10.0.0.0/8", "127.0.0.2"]] {
            let (begun, go_on) = (Arc::default(), Arc::default());
            let gateway = Gateway::new()
                .service(service(&begun, &go_on))
                .limits(one_request());
            let gateway = trusted.iter().fold(gateway, |gateway, network| {
                gateway.trusted_proxy(network.parse().unwrap())
            });
            let server = Arc::new(Running::of(gateway).await);
            let first = Arc::clone(&server);
            let first =
                tokio::spawn(async move { get(&first, "/rest/Kit/wait", "198.51.100.7").await });
            begun.notified().await;
            assert_eq!(get(&server, "/rest/Kit/where", "198.51.100.8").await, 503);
            go_on.notify_one();
            assert_eq!(first.await.unwrap(), 200);
        }
    });
}

#[test]
fn a_check_is_told_from_where_a_trusted_proxy_says_that_a_call_comes() {
    run(|| async {
        let (begun, go_on) = (Arc::default(), Arc::default());
        let gateway = of_loopback(Gateway::new().service(service(&begun, &go_on)));
        let server = Running::of(gateway.forwarded_by(ForwardedBy::Forwarded)).await;
        for (name, value, expected) in [
            (
                "forwarded",
                "for=1.1.1.1, for=\"[2001:db8::7]:80\";proto=https",
                "Some(2001:db8::7)",
            ),
            // The header that a client may write is not the one that the proxy does.
            ("x-forwarded-for", "198.51.100.7", "Some(127.0.0.1)"),
            ("forwarded", "for=_hidden", "Some(127.0.0.1)"),
        ] {
            let told = server.get("/rest/Kit/where", &[(name, value)]).await.json();
            assert_eq!(told["description"], expected, "{name}: {value}");
        }
        let lines = request("GET", "/rest/Kit/where")
            .header("forwarded", "for=198.51.100.9")
            .header("forwarded", "for=198.51.100.7");
        let told = server
            .send(lines.body(Full::default()).unwrap())
            .await
            .json();
        assert_eq!(told["description"], "Some(198.51.100.7)");
    });
}

#[test]
fn connections_of_a_trusted_proxy_are_those_of_many() {
    run(|| async {
        let limits = Limits {
            connections: 3,
            connections_of_client: 1,
            ..Limits::default()
        };
        for is_trusted in [true, false] {
            let gateway = Gateway::new().limits(limits.clone());
            let gateway = if is_trusted {
                of_loopback(gateway)
            } else {
                gateway
            };
            let server = Running::of(gateway).await;
            let mut open = Vec::new();
            let mut statuses = Vec::new();
            for _ in 0..4 {
                let mut stream = TcpStream::connect(server.address).await.unwrap();
                let asked = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
                // One that is refused may be closed already.
                let _ = stream.write_all(asked).await;
                let mut line = [0; 12];
                stream.read_exact(&mut line).await.unwrap();
                statuses.push(String::from_utf8(line[9..].to_vec()).unwrap());
                open.push(stream);
            }
            let expected = match is_trusted {
                true => ["200", "200", "200", "503"],
                false => ["200", "503", "503", "503"],
            };
            assert_eq!(statuses, expected);
        }
    });
}
