//! Our client: what it says of itself, and what it makes of what it is told.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tamtam_gateway::{CallError, Caller, Client, ConnectError, Fault, FaultKind, Limits, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::world::{Running, kit, run};

/// Why a call failed.
fn kind_of<T: std::fmt::Debug>(called: Result<T, CallError>) -> FaultKind {
    match called {
        Err(CallError::Fault(fault)) => fault.kind(),
        other => panic!("it is no fault: {other:?}"),
    }
}

#[test]
fn a_fault_of_the_gateway_has_its_kind_at_the_client() {
    run(|| async {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (told, awaited) = (Arc::clone(&begun), Arc::clone(&go_on));
        let service = Service::new("Kit2").method("wait", move |(): ()| {
            let (told, awaited) = (Arc::clone(&told), Arc::clone(&awaited));
            async move {
                told.notify_one();
                awaited.notified().await;
                Ok::<_, Fault>(())
            }
        });
        let limits = Limits {
            requests_of_client: 1,
            ..Limits::default()
        };
        let server = Running::of(kit().service(service).limits(limits)).await;
        let url = format!("http://{}", server.address);
        let client = Arc::new(Client::connect(&url).await.unwrap());
        let socket = client.socket().await.unwrap();
        for (method, kind) in [
            ("No.method", FaultKind::NoMethod),
            ("Sums.add", FaultKind::Arguments),
            ("Kit.panic", FaultKind::Internal),
        ] {
            assert_eq!(kind_of(client.call(method, &()).await), kind, "{method}");
            assert_eq!(kind_of(socket.call(method, &()).await), kind, "{method}");
        }
        let too_large = (i64::MAX, 1);
        let called = client.call("Sums.add", &too_large).await;
        assert_eq!(kind_of(called), FaultKind::Application);
        let called = socket.call("Sums.add", &too_large).await;
        assert_eq!(kind_of(called), FaultKind::Application);

        let waits = Arc::clone(&client);
        let hangs = tokio::spawn(async move { waits.call("Kit2.wait", &()).await });
        begun.notified().await;
        let sum = (40, 2);
        assert_eq!(
            kind_of(client.call("Sums.add", &sum).await),
            FaultKind::Busy
        );
        assert_eq!(
            kind_of(socket.call("Sums.add", &sum).await),
            FaultKind::Busy
        );
        go_on.notify_one();
        hangs.await.unwrap().unwrap();
    });
}

#[test]
fn a_call_that_lies_too_deep_or_has_too_many_values_is_told_so_over_a_socket() {
    let lists = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    run(move || async move {
        for (limits, argument) in [
            (
                Limits {
                    depth: 5,
                    ..Limits::default()
                },
                lists(10),
            ),
            // JSON is read no deeper than 128, whatever the limit.
            (
                Limits {
                    depth: 1_000,
                    ..Limits::default()
                },
                lists(200),
            ),
            (
                Limits {
                    values: 50,
                    ..Limits::default()
                },
                Json::from(vec![0; 100]),
            ),
        ] {
            let server = Running::of(kit().limits(limits)).await;
            let url = format!("http://{}", server.address);
            let client = Client::connect(&url).await.unwrap();
            let client = client.patience(Duration::from_secs(20));
            let socket = client.socket().await.unwrap();
            let called = socket.call("Echo.echo", &(argument,)).await;
            assert_eq!(kind_of(called), FaultKind::TooLarge);
            // The connection goes on.
            socket.call("Echo.echo", &(1,)).await.unwrap();
        }
    });
}

#[test]
fn a_name_and_a_password_in_the_url_go_as_credentials_and_not_as_a_part_of_the_host() {
    run(|| async {
        let check = |caller: &Caller| match caller.credentials() {
            Some(("ann", "let me: @home")) => Ok(()),
            other => Err(Fault::unauthenticated(format!("{other:?}"))),
        };
        let server = Running::of(kit().authorize(check)).await;
        let url = format!("http://ann:let%20me:%20%40home@{}", server.address);
        let client = Client::connect(&url).await.unwrap();
        client.call("Sums.add", &(40, 2)).await.unwrap();
        let socket = client.socket().await.unwrap();
        socket.call("Sums.add", &(40, 2)).await.unwrap();
        // A token stands in their place.
        let client = client.bearer("other");
        let called = client.call("Sums.add", &(40, 2)).await;
        assert_eq!(kind_of(called), FaultKind::Unauthenticated);

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("http://ann@{address}");
        let (client, accepted) = tokio::join!(Client::connect(&url), listener.accept());
        let (client, mut stream) = (client.unwrap(), accepted.unwrap().0);
        let asked = tokio::spawn(async move { client.services().await });
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(answer).await.unwrap();
        asked.await.unwrap().unwrap();
        let head = String::from_utf8(head).unwrap();
        let line = |name: &str| {
            let found = head.lines().find_map(|line| line.strip_prefix(name));
            found.unwrap_or_default().to_owned()
        };
        assert_eq!(line("host: "), address.to_string());
        // A name alone: the password is empty.
        assert_eq!(line("authorization: "), "Basic YW5uOg==");
    });
}

#[test]
fn an_error_that_tells_a_url_tells_no_password() {
    run(|| async {
        for (wrong, told) in [
            ("ftp://ann:secret@tiles.example/a", "ftp://tiles.example/a"),
            ("http://ann:secr?et@tiles.example", "http://tiles.example"),
            ("ann:secret@tiles.example:80", "tiles.example:80"),
        ] {
            let error = Client::connect(wrong).await.unwrap_err();
            assert!(!error.to_string().contains("secr"), "{error}");
            let ConnectError::Url { url } = error else {
                panic!("it is no URL: {error}");
            };
            assert_eq!(url, told);
        }
    });
}
