//! Several calls in one request: their answers have room for so many bytes, and no call begins behind these.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::SinkExt;
use serde_json::json;
use tamtam_amf::amf0::Value as Amf0;
use tamtam_amf::packet::Version;
use tamtam_gateway::{Fault, Gateway, Limits, Method, Service};
use tokio_tungstenite::tungstenite::Message;

use crate::amf::{amf3_in, class_of, flex, in_amf3, packet, send};
use crate::push::Socket;
use crate::world::{Running, run};

/// A method with a long answer, and how often it has begun.
fn long(limits: Limits) -> (Gateway, Arc<AtomicUsize>) {
    let begun = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&begun);
    let long = Method::blocking("long", move |(): ()| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok::<String, Fault>("long ".repeat(100))
    });
    let gateway = Gateway::new().service(Service::new("Texts").with(long));
    (gateway.limits(limits), begun)
}

/// Room for one answer; the next one goes over it, and is the last one.
fn narrow() -> Limits {
    Limits {
        batch_bytes: 800,
        ..Limits::default()
    }
}

/// A batch of four calls, with one between them that wants no answer.
fn batch() -> String {
    let told = r#"{"jsonrpc":"2.0","method":"Texts.long"}"#;
    let call = |id: u8| format!(r#"{{"jsonrpc":"2.0","method":"Texts.long","id":{id}}}"#);
    let calls = [1, 2, 3].map(call).join(",");
    format!("[{calls},{told},{}]", call(4))
}

/// The first so many of the four calls were answered, and the others were not begun.
fn are_cut_off_behind(count: u8, answers: &serde_json::Value) {
    assert_eq!(answers.as_array().map(Vec::len), Some(4), "{answers}");
    for (place, id) in (1..=4).enumerate() {
        let answer = &answers[place];
        assert_eq!(answer["id"], id);
        if id <= count {
            let text = answer["result"].as_str();
            assert_eq!(text.map(str::len), Some(500), "{answer}");
        } else {
            let error = &answer["error"];
            assert_eq!(error["code"], -32003, "{answer}");
            assert_eq!(error["data"], json!({"code": "Client.TooLarge"}));
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("it was not begun"), "{message}");
        }
    }
}

#[test]
fn a_batch_of_json_rpc_has_its_bytes() {
    run(|| async {
        let (gateway, begun) = long(narrow());
        let server = Running::of(gateway).await;
        let answers = server.json_rpc(&batch()).await;
        are_cut_off_behind(2, &answers);
        let message = answers[2]["error"]["message"].as_str().unwrap();
        assert!(message.contains("800 bytes"), "{message}");
        // What wants no answer takes no room.
        assert_eq!(begun.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn a_batch_over_a_web_socket_has_an_eighth_of_what_is_held_for_it() {
    run(|| async {
        let (gateway, begun) = long(Limits {
            push_bytes: 8 * 1_200,
            ..Limits::default()
        });
        let server = Running::of(gateway).await;
        let mut socket = Socket::open(&server).await;
        socket.stream.send(Message::text(batch())).await.unwrap();
        are_cut_off_behind(3, &socket.json().await);
        assert_eq!(begun.load(Ordering::SeqCst), 4);
    });
}

#[test]
fn a_multicall_of_xml_rpc_has_its_bytes() {
    run(|| async {
        let (gateway, begun) = long(narrow());
        let server = Running::of(gateway).await;
        let call = "<value><struct><member><name>methodName</name><value>Texts.long</value></member></struct></value>";
        let calls = call.repeat(4);
        let answer = server
            .xml_rpc(format!(
                "<methodCall><methodName>system.multicall</methodName><params><param><value><array><data>{calls}\
                 </data></array></value></param></params></methodCall>"
            ))
            .await;
        let count = |text: &str| answer.matches(text).count();
        assert_eq!(count(&"long ".repeat(100)), 2, "{answer}");
        assert_eq!(count("<int>-32003</int>"), 2, "{answer}");
        assert_eq!(count("it was not begun"), 2, "{answer}");
        assert_eq!(begun.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn a_packet_of_amf_has_its_bytes_for_flash_and_for_flex() {
    run(|| async {
        let (gateway, begun) = long(narrow());
        let server = Running::of(gateway).await;
        let none = || Amf0::from(vec![]);
        let calls = vec![("Texts.long", none()); 4];
        let answer = send(&server, &packet(Version::Amf0, calls)).await;
        let targets = answer.messages.iter().map(|message| &*message.target);
        let targets: Vec<&str> = targets.collect();
        assert_eq!(
            targets,
            ["/1/onResult", "/2/onResult", "/3/onStatus", "/4/onStatus"]
        );
        let Amf0::Object(members) = &answer.messages[3].value else {
            panic!("{answer:?}")
        };
        assert!(
            members.contains(&("code".into(), "Client.TooLarge".into())),
            "{members:?}"
        );
        assert_eq!(begun.load(Ordering::SeqCst), 2);

        let message = flex(
            "RemotingMessage",
            &[
                ("destination", "Texts".into()),
                ("operation", "long".into()),
            ],
        );
        let calls = vec![("null", vec![in_amf3(message)].into()); 4];
        let answer = send(&server, &packet(Version::Amf3, calls)).await;
        let refused = &answer.messages[3];
        assert_eq!(refused.target, "/4/onStatus");
        let refused = amf3_in(&refused.value);
        assert_eq!(class_of(refused), "flex.messaging.messages.ErrorMessage");
        assert_eq!(refused.get("faultCode"), Some(&"Client.TooLarge".into()));
    });
}

#[test]
fn no_call_of_a_batch_begins_when_its_time_is_over() {
    run(|| async {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = std::sync::Mutex::new(ended);
        let begun = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&begun);
        let slow = Method::blocking("slow", move |(): ()| {
            counted.fetch_add(1, Ordering::SeqCst);
            // As long as the test lasts.
            let _ = ended.lock().unwrap().recv();
            Ok::<u8, Fault>(1)
        });
        let limits = Limits {
            time: std::time::Duration::from_secs(1),
            ..Limits::default()
        };
        let gateway = Gateway::new().service(Service::new("Kit").with(slow));
        let server = Running::of(gateway.limits(limits)).await;
        let call = |id| json!({"jsonrpc": "2.0", "method": "Kit.slow", "id": id});
        let calls: Vec<_> = (1..=20).map(call).collect();
        let answers = server.json_rpc(&json!(calls).to_string()).await;
        for (place, answer) in answers.as_array().unwrap().iter().enumerate() {
            assert_eq!(answer["id"], place + 1);
            let error = &answer["error"];
            assert_eq!(error["data"]["code"], "Server.TimedOut", "{answer}");
            let is_begun = !error["message"].as_str().unwrap().contains("not begun");
            assert_eq!(is_begun, place == 0, "{answer}");
        }
        // Its time began before its thread had to.
        while begun.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        drop(end);
    });
}
