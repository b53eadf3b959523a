//! Code of the user that panics where it is asked who may, or writes an answer: a fault, which tells nothing of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::json;
use tamtam_actor::Pool;
use tamtam_amf::amf3::Value as Amf3;
use tamtam_amf::packet::Version;
use tamtam_gateway::{Caller, Fault, Gateway, LinkRoot, Method, Service};

use crate::amf::{amf3_in, flex, headers, in_amf3, packet, send};
use crate::push::{Market, Socket};
use crate::world::{Running, kit, run};

const SECRET: &str = "the secret of the house";

/// A gateway with one of each that is asked for, whose check panics.
fn broken(pool: Pool) -> Gateway {
    let (_, gateway) = Market::new();
    let root = LinkRoot::new("counter", move |_: &Caller| {
        pool.spawn_fn(|_: u64, _| panic!("it was reached"))
    });
    let gateway = gateway.page().advice(1).link(root);
    gateway.authorize(|_: &Caller| panic!("{SECRET}"))
}

#[test]
fn a_check_that_panics_lets_no_one_pass_and_tells_nothing() {
    run(|| async {
        let server = Running::of(broken(Pool::new())).await;
        let reason = "whether you may could not be found out";
        for path in [
            "/rest/Tiles/list?set=palette",
            "/services",
            "/metrics",
            "/advice",
            "/events/Market.prices",
        ] {
            let answered = server.get(path, &[]).await;
            assert_eq!(answered.status, 500, "{path}");
            assert!(
                answered.text().contains(reason),
                "{path}: {}",
                answered.text()
            );
            assert!(!answered.text().contains(SECRET), "{path}");
        }
        for path in ["/rest/Echo/echo", "/page/weigh/Echo/echo"] {
            let answered = server.post(path, "application/json", "[1]").await;
            assert_eq!(answered.status, 500, "{path}");
            assert!(
                answered.text().contains(reason),
                "{path}: {}",
                answered.text()
            );
        }
        let told = json!({"code": -32603, "message": reason, "data": {"code": "Server.Internal"}});
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"Echo.echo","params":[1]}"#;
        assert_eq!(server.json_rpc(call).await["error"], told);
        let call = "<methodCall><methodName>Echo.echo</methodName></methodCall>";
        let answer = server.xml_rpc(call.to_owned()).await;
        assert!(
            answer.contains(&format!("Server.Internal: {reason}")),
            "{answer}"
        );
        let mut socket = Socket::open(&server).await;
        assert_eq!(
            socket.call("Echo.echo", json!([1])).await,
            Err(told.clone())
        );
        let subscribed = socket.call("subscribe", json!({"name": "Market.prices"}));
        assert_eq!(subscribed.await, Err(told));
    });
}

#[test]
fn one_who_is_not_known_is_told_how_to_say_who_it_is() {
    run(|| async {
        let gateway = kit()
            .advice(1)
            .authorize(tamtam_gateway::bearer("let me in"));
        let server = Running::of(gateway).await;
        for path in [
            "/services",
            "/metrics",
            "/advice",
            "/rest/Sums/add?left=1&right=2",
        ] {
            let refused = server.get(path, &[]).await;
            let told = refused.header("www-authenticate");
            assert_eq!((refused.status, told), (401, "Bearer"), "{path}");
        }
    });
}

#[test]
fn a_login_whose_check_panics_begins_no_session() {
    run(|| async {
        let server = Running::of(broken(Pool::new())).await;
        let login = flex(
            "CommandMessage",
            &[("operation", 8.into()), ("body", "YWRhOnNlY3JldA==".into())],
        );
        let calls = vec![("null", vec![in_amf3(login)].into())];
        let answer = send(&server, &packet(Version::Amf3, calls)).await;
        let refused = amf3_in(&answer.messages[0].value);
        assert_eq!(refused.get("faultCode"), Some(&"Server.Internal".into()));
        assert_eq!(answer.messages[0].target, "/1/onStatus");
    });
}

#[test]
fn a_login_that_no_check_would_let_call_anything_is_refused() {
    run(|| async {
        let only = |name: &'static str| {
            move |caller: &Caller| match caller.credentials() {
                Some((known, "secret")) if known == name => Ok(()),
                _ => Err(Fault::unauthenticated("name and password are not known")),
            }
        };
        let method = |name: &str| Method::new(name, |(): ()| async { Ok::<_, Fault>(1) });
        let gateway = Gateway::new()
            .service(Service::new("Open").with(method("any")))
            .service(
                Service::new("Ada")
                    .with(method("any"))
                    .authorize(only("ada")),
            )
            .service(Service::new("Bob").with(method("any").authorize(only("bob"))));
        let server = Running::of(gateway).await;
        // `ada:secret`, `bob:secret`, `ada:wrong`, `eve:secret`.
        for (credentials, target) in [
            ("YWRhOnNlY3JldA==", "/1/onResult"),
            ("Ym9iOnNlY3JldA==", "/1/onResult"),
            ("YWRhOndyb25n", "/1/onStatus"),
            ("ZXZlOnNlY3JldA==", "/1/onStatus"),
        ] {
            let login = flex(
                "CommandMessage",
                &[("operation", 8.into()), ("body", credentials.into())],
            );
            let calls = vec![("null", vec![in_amf3(login)].into())];
            let answer = send(&server, &packet(Version::Amf3, calls)).await;
            assert_eq!(answer.messages[0].target, target, "{credentials}");
        }
    });
}

#[test]
fn a_login_is_of_the_session_that_its_client_has_already() {
    run(|| async {
        let check = |caller: &Caller| match caller.credentials() {
            Some(("ada" | "bob", "secret")) => Ok(()),
            _ => Err(Fault::unauthenticated("who are you?")),
        };
        let server = Running::of(kit().authorize(check)).await;
        let say = async |class: &str, members: &[(&str, Amf3)]| {
            let calls = vec![("null", vec![in_amf3(flex(class, members))].into())];
            let answer = send(&server, &packet(Version::Amf3, calls)).await;
            let message = &answer.messages[0];
            let session = amf3_in(&message.value).get("headers");
            let session = session.and_then(|headers| headers.get("DSId")).cloned();
            (message.target.ends_with("/onResult"), session)
        };
        let command = async |operation: i32, body: &str, session: &str| {
            let members = [
                ("operation", operation.into()),
                ("body", body.into()),
                ("headers", headers(session)),
            ];
            say("CommandMessage", &members).await
        };
        let may_call = async |session: &str| {
            let members = [
                ("destination", "Sums".into()),
                ("operation", "add".into()),
                ("body", vec![1.into(), 2.into()].into()),
                ("headers", headers(session)),
            ];
            say("RemotingMessage", &members).await.0
        };
        let (_, Some(Amf3::String(session))) = command(5, "", "nil").await else {
            panic!("a ping gives no session");
        };
        // A client of Flex names what its first ping gave for as long as it runs, whatever it is told then.
        assert!(!may_call(&session).await);
        // `ada:wrong`; `ada:secret`, `bob:secret`.
        assert_eq!(command(8, "YWRhOndyb25n", &session).await, (false, None));
        assert!(!may_call(&session).await);
        for credentials in ["YWRhOnNlY3JldA==", "Ym9iOnNlY3JldA=="] {
            let named = Some(Amf3::String(session.clone()));
            assert_eq!(
                command(8, credentials, &session).await,
                (true, named.clone())
            );
            assert!(may_call(&session).await);
            assert_eq!(command(5, "", &session).await, (true, named));
            assert!(may_call(&session).await);
            assert!(command(9, "", &session).await.0);
            assert!(!may_call(&session).await);
        }
        // What is no id is none.
        for odd in ["nil", "", "a"] {
            let (true, Some(Amf3::String(given))) = command(8, "YWRhOnNlY3JldA==", odd).await
            else {
                panic!("{odd:?}: a login gives no session");
            };
            assert_ne!(&*given, odd);
            assert!(may_call(&given).await && !may_call(odd).await, "{odd:?}");
        }
    });
}

#[test]
fn a_login_with_more_than_a_session_keeps_is_refused() {
    run(|| async {
        let server = Running::of(kit()).await;
        for (bytes, target) in [(1_000, "/1/onResult"), (3_000_000, "/1/onStatus")] {
            let credentials = STANDARD.encode(format!("ada:{}", "p".repeat(bytes)));
            let login = flex(
                "CommandMessage",
                &[("operation", 8.into()), ("body", (&*credentials).into())],
            );
            let calls = vec![("null", vec![in_amf3(login)].into())];
            let answer = send(&server, &packet(Version::Amf3, calls)).await;
            assert_eq!(answer.messages[0].target, target, "{bytes}");
        }
    });
}

#[derive(schemars::JsonSchema)]
struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("{SECRET}")
    }
}

#[test]
fn an_answer_whose_writing_panics_is_a_fault_in_each_form() {
    run(|| async {
        let bomb = Method::new("bomb", |(): ()| async { Ok::<_, Fault>(vec![Bomb]) });
        let gateway = Gateway::new().service(Service::new("Kit").with(bomb.safe()));
        let server = Running::of(gateway).await;
        for accept in ["application/json", "application/vnd.msgpack"] {
            let answered = server.get("/rest/Kit/bomb", &[("accept", accept)]).await;
            assert_eq!(answered.status, 500, "{accept}");
            let told = json!({"code": "Server.Internal", "description": "the method failed"});
            assert_eq!(answered.json(), told, "{accept}");
        }
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"Kit.bomb"}"#;
        let wrong = r#"{"jsonrpc":"2.0","id":2,"method":"Kit.none"}"#;
        let answers = server.json_rpc(&format!("[{call},{wrong}]")).await;
        let error = json!({"code": -32603, "message": "the method failed", "data": {"code": "Server.Internal"}});
        // What was written of it is taken back.
        assert_eq!(
            answers[0],
            json!({"jsonrpc": "2.0", "error": error, "id": 1})
        );
        assert_eq!(answers[1]["error"]["code"], -32601);
        let call = "<methodCall><methodName>Kit.bomb</methodName></methodCall>";
        let answer = server.xml_rpc(call.to_owned()).await;
        assert!(
            answer.contains("Server.Internal: the method failed"),
            "{answer}"
        );
        let none = tamtam_amf::amf0::Value::from(vec![]);
        let calls = packet(Version::Amf0, vec![("Kit.bomb", none)]);
        let answer = send(&server, &calls).await;
        assert_eq!(answer.messages[0].target, "/1/onStatus");
    });
}
