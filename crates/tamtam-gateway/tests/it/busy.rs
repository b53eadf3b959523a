//! What is refused since there is too much to do: Flash and Flex are told so, and nothing is done for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use tamtam_actor::{Address, AskError, Overflow, Pool, Reply};
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::{Message, Version};
use tamtam_gateway::{Caller, Fault, Gateway, Limits, Method, Service};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::amf::{amf3_in, class_of, flex, headers, in_amf3, packet, send};
use crate::world::{Running, kit, look_again, run};

/// Messages of Flex: each command, and a call of this destination and operation.
fn messages(destination: &str, operation: &str) -> [Amf3; 4] {
    let command = |operation: i32, body: &str| {
        let members = [
            ("operation", operation.into()),
            ("messageId", "A".into()),
            ("body", body.into()),
            ("headers", headers("nil")),
        ];
        flex("CommandMessage", &members)
    };
    let call = [
        ("destination", destination.into()),
        ("operation", operation.into()),
        ("messageId", "A".into()),
        ("body", Vec::<Amf3>::new().into()),
    ];
    [
        command(5, ""),
        // `ada:secret`.
        command(8, "YWRhOnNlY3JldA=="),
        command(9, ""),
        flex("RemotingMessage", &call),
    ]
}

/// Whether this is the fault of Flash that says that the server is busy.
#[track_caller]
fn assert_busy_for_flash(message: &Message) {
    assert!(message.target.ends_with("/onStatus"), "{message:?}");
    let member = |name| match &message.value {
        Amf0::Avmplus(value) => match value.get(name) {
            Some(Amf3::String(text)) => Some(text.to_string()),
            _ => None,
        },
        value => match value.get(name) {
            Some(Amf0::String(text)) => Some(text.to_string()),
            _ => None,
        },
    };
    assert_eq!(member("level").as_deref(), Some("error"), "{message:?}");
    assert_eq!(member("code").as_deref(), Some("Server.Busy"));
    assert!(member("description").unwrap().contains("try again later"));
}

/// Whether this is the `ErrorMessage` of Flex that says so.
#[track_caller]
fn assert_busy_for_flex(message: &Message) {
    assert!(message.target.ends_with("/onStatus"), "{message:?}");
    let error = amf3_in(&message.value);
    assert_eq!(class_of(error), "flex.messaging.messages.ErrorMessage");
    assert_eq!(error.get("faultCode"), Some(&"Server.Busy".into()));
    assert_eq!(error.get("correlationId"), Some(&"A".into()));
    let Some(Amf3::String(said)) = error.get("faultString") else {
        panic!("no words: {error:?}");
    };
    assert!(said.contains("try again later"), "{said}");
}

#[test]
fn a_server_with_too_much_to_do_tells_flash_and_each_message_of_flex_and_asks_no_check() {
    run(|| async {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        let check = move |_: &Caller| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        // Each request finds all places taken.
        let limits = Limits {
            requests_of_client: 0,
            ..Limits::default()
        };
        let server = Running::of(kit().authorize(check).limits(limits)).await;
        for version in [Version::Amf0, Version::Amf3] {
            let flash = vec![("Echo.echo", vec![1.0.into()].into()); 2];
            let answer = send(&server, &packet(version, flash)).await;
            assert_eq!(answer.messages.len(), 2);
            answer.messages.iter().for_each(assert_busy_for_flash);
        }
        let calls =
            messages("Tiles", "list").map(|message| ("null", vec![in_amf3(message)].into()));
        let answer = send(&server, &packet(Version::Amf3, calls.into())).await;
        assert_eq!(answer.messages.len(), 4);
        answer.messages.iter().for_each(assert_busy_for_flex);
        assert_eq!(asked.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn a_server_with_too_much_to_do_tells_its_methods_by_xml_rpc_to_no_one() {
    run(|| async {
        let limits = Limits {
            requests_of_client: 0,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        for name in ["system.listMethods", "system.methodHelp", "Echo.echo"] {
            let call = format!("<methodCall><methodName>{name}</methodName></methodCall>");
            let told = server.xml_rpc(call).await;
            assert!(told.contains("<int>-32005</int>"), "{name}: {told}");
        }
    });
}

#[test]
fn what_a_server_tells_of_itself_takes_a_place_and_its_figures_are_told_without_one() {
    run(|| async {
        let begun = Arc::new(Notify::new());
        let told = Arc::clone(&begun);
        let hang = Method::new("hang", move |(): ()| {
            told.notify_one();
            std::future::pending::<Result<(), Fault>>()
        });
        let limits = Limits {
            requests_of_client: 1,
            ..Limits::default()
        };
        let service = Service::new("Kit").with(hang.safe());
        let gateway = Gateway::new().service(service).advice(1).limits(limits);
        let server = Running::of(gateway).await;
        for path in ["/services", "/advice"] {
            assert_eq!(server.get(path, &[]).await.status, 200, "{path}");
        }
        let mut hanging = TcpStream::connect(server.address).await.unwrap();
        let ask = b"GET /rest/Kit/hang HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        hanging.write_all(ask).await.unwrap();
        begun.notified().await;
        for path in ["/services", "/advice"] {
            let refused = server.get(path, &[]).await;
            assert_eq!(
                (refused.status, refused.header("retry-after")),
                (503, "1"),
                "{path}"
            );
            assert!(refused.text().contains("try again later"), "{path}");
        }
        let metrics = server.get("/metrics", &[]).await;
        assert_eq!(metrics.status, 200);
        for line in ["requests_at_work 1\n", "requests_refused_total 2\n"] {
            assert!(metrics.text().contains(line), "{}", metrics.text());
        }
    });
}

enum Count {
    Read(Reply<u64>),
    /// Says that it has begun, and waits.
    Hold(mpsc::Sender<()>, mpsc::Receiver<()>),
}

/// An actor in whose mailbox is room for one call.
fn counter(pool: &Pool, overflow: Overflow) -> Address<Count> {
    let spawner = pool.spawner().limited(1, overflow);
    spawner.spawn_fn(|message: Count, _| match message {
        Count::Read(reply) => reply.send(7),
        Count::Hold(begun, until) => {
            begun.send(()).unwrap();
            until.recv().unwrap();
        }
    })
}

/// Keeps it in the middle of a message until something is sent to what comes back.
fn hold(counter: &Address<Count>) -> mpsc::Sender<()> {
    let (begin, begun) = mpsc::channel();
    let (release, until) = mpsc::channel();
    counter.tell(Count::Hold(begin, until)).unwrap();
    begun.recv().unwrap();
    release
}

/// What a call by a protocol came to: its answer, or that the server is busy.
async fn count_by(server: &Running, protocol: &str) -> Result<(), ()> {
    match protocol {
        "XML-RPC" => {
            let call = "<methodCall><methodName>Counter.count</methodName></methodCall>";
            let told = server.xml_rpc(call.to_owned()).await;
            if told.contains("<int>-32005</int>") {
                assert!(told.contains("try again later"), "{told}");
                return Err(());
            }
            assert!(told.contains(">7<"), "{told}");
        }
        "JSON-RPC" => {
            let call = r#"{"jsonrpc":"2.0","method":"Counter.count","params":[],"id":1}"#;
            let told = server.json_rpc(call).await;
            if told["error"]["code"] == -32005 {
                return Err(());
            }
            assert_eq!(told["result"], 7, "{told}");
        }
        "REST" => {
            let call = server.post("/rest/Counter/count", "application/json", "[]");
            let told = call.await;
            if told.status == 503 {
                assert_eq!(told.header("retry-after"), "1");
                return Err(());
            }
            assert_eq!((told.status, told.text()), (200, "7"));
        }
        _ => unreachable!(),
    }
    Ok(())
}

#[test]
fn the_policy_of_an_actors_full_mailbox_says_which_call_is_told_that_it_is_busy_in_each_protocol() {
    run(|| async {
        for overflow in [
            Overflow::Fail,
            Overflow::Wait,
            Overflow::DropNewest,
            Overflow::DropOldest,
        ] {
            for protocol in ["XML-RPC", "JSON-RPC", "REST"] {
                let what = format!("{overflow:?} by {protocol}");
                let pool = Pool::new();
                let counter = counter(&pool, overflow);
                let service = Service::new("Counter").actor("count", counter.clone(), Count::Read);
                let server = Running::of(Gateway::new().service(service)).await;
                let release = hold(&counter);
                let before = counter.ask_async(Count::Read);
                let call = count_by(&server, protocol);
                let (call, before) = match overflow {
                    Overflow::Fail | Overflow::DropNewest => {
                        // It is told while the other one still waits.
                        let call = call.await;
                        release.send(()).unwrap();
                        (call, before.await)
                    }
                    Overflow::DropOldest => {
                        let let_on = async {
                            let before = before.await;
                            release.send(()).unwrap();
                            before
                        };
                        tokio::join!(call, let_on)
                    }
                    _ => {
                        let let_on = async {
                            // Nothing shows that the call waits for room; if it does not yet, it waits for its turn.
                            look_again().await;
                            release.send(()).unwrap();
                            before.await
                        };
                        tokio::join!(call, let_on)
                    }
                };
                match overflow {
                    Overflow::Wait => assert_eq!((call, before), (Ok(()), Ok(7)), "{what}"),
                    Overflow::DropOldest => {
                        assert_eq!(call, Ok(()), "{what}");
                        assert_eq!(before, Err(AskError::Dropped(counter.id())), "{what}");
                    }
                    _ => assert_eq!((call, before), (Err(()), Ok(7)), "{what}"),
                }
            }
        }
    });
}

#[test]
fn a_call_that_waits_for_room_in_an_actors_mailbox_is_told_when_its_time_is_over() {
    run(|| async {
        let pool = Pool::new();
        let counter = counter(&pool, Overflow::Wait);
        let service = Service::new("Counter").actor("count", counter.clone(), Count::Read);
        let limits = Limits {
            time: Duration::from_millis(50),
            ..Limits::default()
        };
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let release = hold(&counter);
        let before = counter.ask_async(Count::Read);
        let call = r#"{"jsonrpc":"2.0","method":"Counter.count","params":[],"id":1}"#;
        let told = server.json_rpc(call).await;
        assert_eq!(told["error"]["data"]["code"], "Server.TimedOut", "{told}");
        release.send(()).unwrap();
        assert_eq!(before.await, Ok(7));
        // It has taken no place with it.
        let told = server.json_rpc(call).await;
        assert_eq!(told["result"], 7, "{told}");
    });
}

#[test]
fn an_actor_whose_mailbox_is_full_is_told_to_flash_and_flex() {
    run(|| async {
        let pool = Pool::new();
        let counter = counter(&pool, Overflow::Fail);
        let service = Service::new("Counter").actor("count", counter.clone(), Count::Read);
        let server = Running::of(Gateway::new().service(service)).await;
        let [ping, _, _, by_flex] = messages("Counter", "count");
        let calls = packet(
            Version::Amf3,
            vec![
                ("Counter.count", Amf0::StrictArray(vec![])),
                ("null", vec![in_amf3(by_flex)].into()),
                ("null", vec![in_amf3(ping)].into()),
            ],
        );
        // While it is held one call waits in its mailbox, and the next ones are told.
        let release = hold(&counter);
        let waiting = counter.ask_async(Count::Read);
        let answer = send(&server, &calls).await;
        assert_busy_for_flash(&answer.messages[0]);
        assert_busy_for_flex(&answer.messages[1]);
        // The server itself is not busy.
        assert_eq!(answer.messages[2].target, "/3/onResult");
        release.send(()).unwrap();
        assert_eq!(waiting.await, Ok(7));
        let answer = send(&server, &calls).await;
        assert_eq!(amf3_in(&answer.messages[0].value), &Amf3::Integer(7));
        let body = amf3_in(&answer.messages[1].value).get("body");
        assert_eq!(body, Some(&Amf3::Integer(7)));
    });
}
