//! Methods of each kind, without a socket between: types, arguments, actors.

use std::sync::mpsc;

use tamtam_actor::{Overflow, Pool, Reply};
use tamtam_gateway::{Array, Fault, Gateway, Items, Method, Object, Service, Value, Vector};

use crate::world::{Running, run};

enum Count {
    Add(u64, Reply<u64>),
    Read(Reply<u64>),
    /// Is refused.
    Take(Reply<u64>),
    /// Says that it has begun, and waits.
    Hold(mpsc::Sender<()>, mpsc::Receiver<()>),
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    more: u64,
}

fn call(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":1}}"#)
}

#[test]
fn an_actor_answers_and_its_full_mailbox_is_told_at_once() {
    run(|| async {
        let pool = Pool::new();
        let mut count = 0;
        let counter =
            pool.spawner()
                .limited(2, Overflow::Fail)
                .spawn_fn(move |message: Count, _| match message {
                    Count::Add(more, reply) => {
                        count += more;
                        reply.send(count);
                    }
                    Count::Read(reply) => reply.send(count),
                    Count::Take(reply) => reply.refuse("there is only one"),
                    Count::Hold(begun, until) => {
                        begun.send(()).unwrap();
                        until.recv().unwrap();
                    }
                });
        let service = Service::new("Counter")
            .actor("count", counter.clone(), Count::Read)
            .actor("take", counter.clone(), Count::Take)
            .with(Method::actor_with(
                "add",
                counter.clone(),
                |add: Add, reply| Count::Add(add.more, reply),
            ));
        let server = Running::of(Gateway::new().service(service)).await;
        assert_eq!(
            server.json_rpc(&call("Counter.add", "[2]")).await["result"],
            2
        );
        assert_eq!(
            server.json_rpc(&call("Counter.count", "[]")).await["result"],
            2
        );
        let refused = server.json_rpc(&call("Counter.count", "[1]")).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");

        // What it refuses has its reason.
        let refused = server.json_rpc(&call("Counter.take", "[]")).await;
        assert_eq!(refused["error"]["data"]["code"], "Refused", "{refused}");
        assert_eq!(
            refused["error"]["message"], "there is only one",
            "{refused}"
        );

        // While it is held two calls wait in its mailbox, and the next one is told.
        let (begin, begun) = mpsc::channel();
        let (release, until) = mpsc::channel();
        counter.tell(Count::Hold(begin, until)).unwrap();
        begun.recv().unwrap();
        let waiting: Vec<_> = [1, 2].map(|_| counter.ask_async(Count::Read)).into();
        let busy = server.json_rpc(&call("Counter.count", "[]")).await;
        assert_eq!(busy["error"]["code"], -32005, "{busy}");
        let answered = server
            .post("/rest/Counter/count", "application/json", "[]")
            .await;
        assert_eq!(
            (answered.status, answered.header("retry-after")),
            (503, "1")
        );
        release.send(()).unwrap();
        for answer in waiting {
            assert_eq!(answer.await, Ok(2));
        }
        counter.stop();
        while !counter.is_stopped() {
            tokio::task::yield_now().await;
        }
        let ended = server.json_rpc(&call("Counter.count", "[]")).await;
        assert_eq!(
            ended["error"]["data"]["code"], "Server.Unavailable",
            "{ended}"
        );
    });
}

#[test]
fn an_unlimited_time_ends_with_the_limit() {
    run(|| async {
        let limits = tamtam_gateway::Limits {
            time: std::time::Duration::from_millis(50),
            ..Default::default()
        };
        let service = Service::new("Kit").method("never", |(): ()| {
            std::future::pending::<Result<(), Fault>>()
        });
        let server = Running::of(Gateway::new().service(service).limits(limits)).await;
        let answer = server.json_rpc(&call("Kit.never", "[]")).await;
        assert_eq!(
            answer["error"]["data"]["code"], "Server.TimedOut",
            "{answer}"
        );
        // A batch has the time of one request, not that of each.
        let one = call("Kit.never", "[]");
        let answers = server.json_rpc(&format!("[{one},{one},{one}]")).await;
        assert_eq!(answers.as_array().unwrap().len(), 3);
    });
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i8, i8),
    Box { width: u8, height: Option<u8> },
}

#[test]
fn what_serde_writes_is_read_again() {
    let shapes = vec![
        Shape::Point,
        Shape::Circle(0.5),
        Shape::Line(-1, 1),
        Shape::Box {
            width: 3,
            height: None,
        },
    ];
    let value = Value::of(&shapes).unwrap();
    let json = serde_json::to_string(&shapes).unwrap();
    assert_eq!(value.to_json(), json);
    assert_eq!(value.to::<Vec<Shape>>().unwrap(), shapes);
    let map = std::collections::BTreeMap::from([(7, "seven"), (8, "eight")]);
    assert_eq!(
        Value::of(&map).unwrap().to_json(),
        r#"{"7":"seven","8":"eight"}"#
    );
    assert!(Value::of(&std::collections::BTreeMap::from([((1, 2), 3)])).is_err());
    assert_eq!(
        Value::of(&i128::from(u64::MAX)),
        Ok(Value::Unsigned(u64::MAX))
    );
}

#[test]
fn a_value_inside_a_struct_keeps_what_serde_has_no_words_for() {
    #[derive(serde::Deserialize)]
    struct Holder {
        any: Value,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
        at: f64,
    }
    let tile = Value::from(Object {
        class: "com.example.Tile".into(),
        sealed: 1,
        is_external: false,
        members: vec![
            ("at".into(), Value::Date(0.5)),
            (
                "list".into(),
                Array {
                    named: vec![("a".into(), Value::Undefined)],
                    list: vec![],
                }
                .into(),
            ),
            (
                "items".into(),
                Vector {
                    fixed: true,
                    items: Items::Ints(vec![1]),
                }
                .into(),
            ),
        ],
    });
    let value = Value::Map(vec![
        ("any".into(), tile.clone()),
        ("bytes".into(), Value::Bytes(vec![0, 255])),
        ("at".into(), Value::Date(1_000.0)),
    ]);
    let holder: Holder = value.to().unwrap();
    assert_eq!(
        (holder.any, holder.bytes, holder.at),
        (tile, vec![0, 255], 1_000.0)
    );
}

#[test]
#[should_panic(expected = "two methods")]
fn a_method_has_its_name_for_itself() {
    let method = || Method::new("twice", |(): ()| async { Ok(()) });
    let _ = Service::new("Kit").with(method()).with(method());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Painted {
    #[serde(alias = "colour", alias = "Color")]
    color: String,
    count: u32,
}

#[test]
fn other_names_of_a_field_take_no_place_among_the_arguments() {
    run(|| async {
        let paint = Method::new("paint", |painted: Painted| async move {
            Ok::<_, Fault>(format!("{} {}", painted.count, painted.color))
        });
        let gateway = Gateway::new().service(Service::new("Kit").with(paint));
        let server = Running::of(gateway).await;
        for arguments in [
            r#"["red", 5]"#,
            r#"{"color": "red", "count": 5}"#,
            r#"{"colour": "red", "count": 5}"#,
        ] {
            let answered = server
                .post("/rest/Kit/paint", "application/json", arguments)
                .await;
            assert_eq!(answered.text(), "\"5 red\"", "{arguments}");
        }
        let refused = server.post("/rest/Kit/paint", "application/json", r#"["red", 5, 6]"#);
        let refused = refused.await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(
            refused.text().contains("(color, count)"),
            "{}",
            refused.text()
        );
        let known = server.get("/services", &[]).await.json();
        let method = &known["services"][0]["methods"][0];
        assert_eq!(method["arguments"], serde_json::json!(["color", "count"]));
    });
}
