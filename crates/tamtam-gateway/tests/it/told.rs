//! What the gateway tells of its calls by `tracing`: each with its method, and of failures what no client is told.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread::ThreadId;

use serde_json::json;
use tamtam_gateway::{Caller, Fault, Method, RowStream, Service};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

use crate::world::{LIMIT, Running, kit, look_again, request, tiles};

/// An event of the gateway.
#[derive(Clone, Debug)]
struct Told {
    level: Level,
    fields: BTreeMap<&'static str, String>,
}

impl Told {
    fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// A span of the gateway.
#[derive(Clone, Debug)]
struct Spanned {
    metadata: &'static Metadata<'static>,
    told: Told,
    /// How often other threads than that of the test have entered it.
    elsewhere: usize,
    /// How many hold it.
    held: usize,
}

/// Keeps the events of one thread, and the spans.
#[derive(Clone, Debug, Default)]
struct Listener {
    told: Arc<Mutex<Vec<Told>>>,
    spans: Arc<Mutex<Vec<Spanned>>>,
    /// In which span the thread is that listens.
    entered: Arc<Mutex<Vec<Id>>>,
    thread: Option<ThreadId>,
}

impl Listener {
    /// What was told since the last time.
    fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.told.lock().unwrap())
    }

    /// The spans that have ended.
    fn spans(&self) -> Vec<Spanned> {
        let spans = self.spans.lock().unwrap();
        spans
            .iter()
            .filter(|span| span.held == 0)
            .cloned()
            .collect()
    }

    fn with_span<T>(&self, id: &Id, change: impl FnOnce(&mut Spanned) -> T) -> T {
        let place = id.into_u64() as usize - 1;
        change(&mut self.spans.lock().unwrap()[place])
    }

    fn is_here(&self) -> bool {
        self.thread == Some(std::thread::current().id())
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tamtam_gateway")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        let mut told = Told {
            level: *metadata.level(),
            fields: BTreeMap::new(),
        };
        attributes.record(&mut told);
        let mut spans = self.spans.lock().unwrap();
        spans.push(Spanned {
            metadata,
            told,
            elsewhere: 0,
            held: 1,
        });
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        self.with_span(id, |span| values.record(&mut span.told));
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.with_span(id, |span| span.held += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.with_span(&id, |span| {
            span.held -= 1;
            span.held == 0
        })
    }

    fn current_span(&self) -> Current {
        let entered = self.entered.lock().unwrap();
        match entered.last() {
            Some(id) => Current::new(id.clone(), self.with_span(id, |span| span.metadata)),
            None => Current::none(),
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Told {
            level: *event.metadata().level(),
            fields: BTreeMap::new(),
        };
        event.record(&mut told);
        if let Some(id) = self.entered.lock().unwrap().last() {
            told.fields.insert("in span", format!("{}", id.into_u64()));
        }
        self.told.lock().unwrap().push(told);
    }

    fn enter(&self, id: &Id) {
        if self.is_here() {
            self.entered.lock().unwrap().push(id.clone());
        } else {
            self.with_span(id, |span| span.elsewhere += 1);
        }
    }

    fn exit(&self, _: &Id) {
        if self.is_here() {
            self.entered.lock().unwrap().pop();
        }
    }
}

/// While there is but one listener in a program, `tracing` asks the thread that comes to an event first whether anyone listens to such
/// events, and remembers what it says: with this one there are two.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Listener::default()));

/// Runs a test whose tasks are all on one thread, where alone is listened: other tests have threads of their own.
fn heard<F: Future<Output = ()>>(test: impl FnOnce(Listener) -> F + Send + 'static) {
    tamtam_testing::within(LIMIT, || {
        LazyLock::force(&SECOND);
        let listener = Listener {
            thread: Some(std::thread::current().id()),
            ..Listener::default()
        };
        let _listening = tracing::subscriber::set_default(listener.clone());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(test(listener));
    });
}

#[test]
fn each_call_is_told_with_its_protocol_its_method_and_how_it_ended() {
    heard(|listener| async move {
        let server = Running::of(kit()).await;
        let call = |method: &str, params: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":1}}"#)
        };
        server.get("/rest/Tiles/list?set=a%20secret", &[]).await;
        server.json_rpc(&call("Sums.add", "[40, 2]")).await;
        server.json_rpc(&call("Sums.secret", "[]")).await;
        let xml = "<methodCall><methodName>Echo.echo</methodName></methodCall>";
        server.xml_rpc(xml.into()).await;
        let told = listener.take();
        let calls: Vec<_> = told
            .iter()
            .filter(|told| matches!(told.field("message"), "answered" | "failed"))
            .map(|told| {
                assert_eq!(told.level, Level::DEBUG);
                assert!(told.field("took").ends_with('s'), "{told:?}");
                ["protocol", "method", "message", "code"].map(|name| told.field(name))
            })
            .collect();
        assert_eq!(
            calls,
            [
                ["rest", "Tiles.list", "failed", "Tiles.NoSet"],
                ["json-rpc", "Sums.add", "answered", ""],
                ["json-rpc", "", "failed", "Client.NoMethod"],
                ["xml-rpc", "Echo.echo", "failed", "Client.Arguments"],
            ]
        );
        // Neither arguments nor names from outside are.
        assert!(!format!("{told:?}").contains("secret"), "{told:?}");
    });
}

#[test]
fn each_call_is_a_span_with_the_names_that_its_request_goes_by() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    heard(|listener| async move {
        let stream = Method::blocking("stream", |(): ()| {
            Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), |sink| {
                Ok(sink.send(tiles(10))?)
            }))
        });
        let service = Service::new("Parts").with(stream.safe());
        let server = Running::of(kit().service(service)).await;
        let ask = async |path: &str, headers: &[(&str, &str)]| {
            let before = listener.spans().len();
            server.get(path, headers).await;
            // A source of rows may hold it for a moment more.
            loop {
                match &listener.spans()[before..] {
                    [span] => break span.clone(),
                    [] => look_again().await,
                    spans => panic!("{spans:?}"),
                }
            }
        };
        let named = [("x-request-id", "abc-7"), ("traceparent", PARENT)];
        let span = ask("/rest/Sums/add?left=1&right=2", &named).await;
        let of = |span: &Spanned, names: &[&str]| -> Vec<String> {
            names
                .iter()
                .map(|name| span.told.field(name).to_owned())
                .collect()
        };
        assert_eq!(
            (span.metadata.name(), span.told.level),
            ("call", Level::INFO)
        );
        assert_eq!(
            of(
                &span,
                &[
                    "protocol",
                    "service",
                    "method",
                    "request_id",
                    "traceparent",
                    "status"
                ]
            ),
            ["rest", "Sums", "Sums.add", "abc-7", PARENT, "ok"]
        );
        assert!(span.told.field("took").ends_with('s'), "{span:?}");
        // Its handler has a thread of its own, which is in the span.
        assert!(span.elsewhere > 0, "{span:?}");
        // The event of the call is in the span.
        let told = listener.take();
        let answered = told
            .iter()
            .find(|told| told.field("message") == "answered")
            .unwrap();
        assert_ne!(answered.field("in span"), "");

        // What is too long, or no name, is not told, and nothing that comes from outside beside it.
        let long = "x".repeat(10_000);
        let named = [
            ("x-request-id", &*long),
            ("traceparent", "00-secret-00f067aa0ba902b7-01"),
        ];
        let span = ask("/rest/Tiles/secret", &named).await;
        assert_eq!(
            of(
                &span,
                &["service", "method", "request_id", "traceparent", "status"]
            ),
            ["", "", "", "", "Client.NoMethod"]
        );
        let span = ask("/rest/Tiles/list?set=secret", &[]).await;
        assert_eq!(of(&span, &["status"]), ["Tiles.NoSet"]);
        assert!(!format!("{:?}", listener.spans()).contains("secret"));
        // A table that comes part by part is in its call's span, and so is its source.
        let span = ask("/rest/Parts/stream", &[]).await;
        assert_eq!(of(&span, &["method", "status"]), ["Parts.stream", "ok"]);
        assert!(span.elsewhere > 1, "{span:?}");
        // Each call of a batch has its own.
        let before = listener.spans().len();
        let batch = r#"[{"jsonrpc":"2.0","method":"Sums.add","params":[1,2],"id":1},{"jsonrpc":"2.0","method":"Echo.echo","params":[1],"id":2}]"#;
        server.json_rpc(batch).await;
        let methods: Vec<_> = listener.spans()[before..]
            .iter()
            .map(|span| of(span, &["method"]))
            .collect();
        assert_eq!(methods, [["Sums.add"], ["Echo.echo"]]);
    });
}

#[test]
fn with_what_a_handler_panicked_is_told_here_and_not_to_its_client() {
    heard(|listener| async move {
        let check = |caller: &Caller| match caller.bearer() {
            Some("broken") => panic!("the secret of the house"),
            _ => Ok(()),
        };
        let server = Running::of(kit().authorize(check)).await;
        for (path, field, method, bearer) in [
            ("/rest/Kit/panic", "method", "Kit.panic", ""),
            (
                "/rest/Kit/panic_on_a_thread",
                "method",
                "Kit.panic_on_a_thread",
                "",
            ),
            ("/rest/Sums/set", "name", "Sums.set", "Bearer broken"),
        ] {
            let asked = request("POST", path)
                .header("content-type", "application/json")
                .header("authorization", bearer);
            let answered = server.send(asked.body("[]".into()).unwrap()).await;
            assert_eq!(answered.status, 500, "{path}");
            assert_eq!(answered.json()["code"], json!("Server.Internal"));
            assert!(!answered.text().contains("secret"), "{}", answered.text());
            let told = listener.take();
            let errors: Vec<_> = told
                .iter()
                .filter(|told| told.level == Level::ERROR)
                .collect();
            assert_eq!(errors.len(), 1, "{told:?}");
            assert_eq!(errors[0].field(field), method);
            assert_eq!(errors[0].field("panic"), "the secret of the house");
            assert!(errors[0].field("message").ends_with("panicked"));
        }
    });
}

#[test]
fn why_an_answer_was_cut_off_is_told_here() {
    heard(|listener| async move {
        let broken = Method::blocking("all", |(): ()| {
            Ok(RowStream::new(tiles(0).schema().clone(), |sink| {
                sink.send(tiles(10))?;
                Err(Fault::new("Kit.Broken", "the cursor broke"))
            }))
        });
        let service = Service::new("Broken").with(broken.safe());
        let server = Running::of(kit().service(service)).await;
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let (mut reader, mut writer) = stream.into_split();
        let ask = b"GET /rest/Broken/all HTTP/1.1\r\nhost: localhost\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut writer, ask)
            .await
            .unwrap();
        let mut came = Vec::new();
        // It ends with the connection.
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut came).await;
        assert!(!String::from_utf8_lossy(&came).contains("cursor"));
        let told = listener.take();
        let cut = told
            .iter()
            .find(|told| told.field("message") == "an answer was cut off")
            .unwrap_or_else(|| panic!("it is not told: {told:?}"));
        assert_eq!(cut.level, Level::WARN);
        let said = ["code", "description"].map(|name| cut.field(name));
        assert_eq!(said, ["Kit.Broken", "the cursor broke"]);
    });
}
