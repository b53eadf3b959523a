//! What the gateway tells of its calls by `tracing`: each with its method, and of failures what no client is told.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::json;
use tamtam_gateway::{Caller, Fault, Method, RowStream, Service};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

use crate::world::{LIMIT, Running, kit, request, tiles};

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

/// Keeps the events of one thread.
#[derive(Clone, Debug, Default)]
struct Listener {
    told: Arc<Mutex<Vec<Told>>>,
    spans: Arc<AtomicU64>,
}

impl Listener {
    /// What was told since the last time.
    fn take(&self) -> Vec<Told> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tamtam_gateway")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1 + self.spans.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut told = Told {
            level: *event.metadata().level(),
            fields: BTreeMap::new(),
        };
        event.record(&mut told);
        self.told.lock().unwrap().push(told);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// While there is but one listener in a program, `tracing` asks the thread that comes to an event first whether anyone listens to such
/// events, and remembers what it says: with this one there are two.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Listener::default()));

/// Runs a test whose tasks are all on one thread, where alone is listened: other tests have threads of their own.
fn heard<F: Future<Output = ()>>(test: impl FnOnce(Listener) -> F + Send + 'static) {
    tamtam_testing::within(LIMIT, || {
        LazyLock::force(&SECOND);
        let listener = Listener::default();
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
