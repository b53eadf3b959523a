//! What is refused since there is too much to do: Flash and Flex are told so, and nothing is done for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use tamtam_actor::{Overflow, Pool, Reply};
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::{Message, Version};
use tamtam_gateway::{Caller, Gateway, Limits, Service};

use crate::amf::{amf3_in, class_of, flex, headers, in_amf3, packet, send};
use crate::world::{Running, kit, run};

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

enum Count {
    Read(Reply<u64>),
    /// Says that it has begun, and waits.
    Hold(mpsc::Sender<()>, mpsc::Receiver<()>),
}

#[test]
fn an_actor_whose_mailbox_is_full_is_told_to_flash_and_flex() {
    run(|| async {
        let pool = Pool::new();
        let spawner = pool.spawner().limited(1, Overflow::Fail);
        let counter = spawner.spawn_fn(|message: Count, _| match message {
            Count::Read(reply) => reply.send(7),
            Count::Hold(begun, until) => {
                begun.send(()).unwrap();
                until.recv().unwrap();
            }
        });
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
        let (begin, begun) = mpsc::channel();
        let (release, until) = mpsc::channel();
        counter.tell(Count::Hold(begin, until)).unwrap();
        begun.recv().unwrap();
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
