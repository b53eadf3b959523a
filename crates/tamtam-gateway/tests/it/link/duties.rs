//! What a server owes with links, too: who may have one, and an end.

use serde_json::json;
use tamtam_actor::{Pool, Reply};
use tamtam_gateway::{Caller, Gateway, Limits, LinkRoot, Protocol, bearer};
use tamtam_link::{Link, LinkEnd};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{Count, PROTOCOL, Page, blocking, counter, gateway, web_socket};
use crate::world::{Running, run};

#[test]
fn a_handshake_is_judged_as_a_request_is() {
    run(|| async {
        let pool = Pool::new();
        let server = Running::of(gateway(&pool).origin("https://game.example")).await;
        for (headers, status) in [
            (&[PROTOCOL, ("origin", "https://evil.example")][..], 403),
            (&[PROTOCOL, ("origin", "null")], 403),
            (&[PROTOCOL, ("host", "rebound.example")], 421),
            (&[], 426),
            (&[("sec-websocket-protocol", "tamtam-link.2, chat")], 426),
        ] {
            match web_socket(&server, "/link/counter", headers).await {
                Err(Error::Http(response)) => assert_eq!(response.status(), status),
                other => panic!("{headers:?}: {:?}", other.err()),
            }
        }
        let game = [PROTOCOL, ("origin", "https://game.example")];
        web_socket(&server, "/link/counter", &game).await.unwrap();
        let plain = server.get("/link/counter", &[PROTOCOL]).await;
        assert_eq!(plain.status, 426);
        assert_eq!(server.post("/link/counter", "", "").await.status, 405);
    });
}

#[test]
fn the_links_are_described_to_those_who_may() {
    run(|| async {
        let pool = Pool::new();
        let root = LinkRoot::new("sums", move |_| counter(&pool, None));
        let gateway = Gateway::new().link(root.about("What one counts with."));
        let server = Running::of(gateway.authorize(bearer("let me in"))).await;
        assert_eq!(server.get("/services", &[]).await.status, 401);
        let headers = [("authorization", "Bearer let me in")];
        let described = server.get("/services", &headers).await.json();
        let links = json!([{"name": "sums", "about": "What one counts with."}]);
        assert_eq!(described, json!({"services": [], "links": links}));
    });
}

/// How a link is refused: as the socket closes, and as the link says.
async fn refused(server: &Running, path: &str, protocols: &str) -> (u16, String) {
    let headers = [("sec-websocket-protocol", protocols)];
    let page = Page::of(server, path, &headers, Link::builder()).await;
    let link = page.link.clone();
    let (code, reason) = page.closed().await.expect("a reason");
    match link.ended() {
        Some(LinkEnd::Goodbye(text)) => assert_eq!(*text, *reason),
        other => panic!("{other:?}"),
    }
    (code.into(), reason)
}

#[test]
fn a_page_that_may_not_is_told_why() {
    run(|| async {
        let pool = Pool::new();
        let root = counter(&pool, None);
        let of = move |name: &str| {
            let root = root.clone();
            LinkRoot::new(name, move |_| root.clone())
        };
        let gateway = Gateway::new()
            .authorize(bearer("let me in"))
            .link(of("counter"))
            .link(of("open").authorize(|_| Ok(())))
            .link(of("broken").authorize(|_| panic!("the secret of the house")))
            .link(LinkRoot::new(
                "panics",
                |_: &Caller| -> tamtam_actor::Address<Count> { panic!("the secret of the house") },
            ));
        let server = Running::of(gateway).await;
        let plain = "tamtam-link.3";
        // `let me in` and `let me out`.
        let (right, wrong) = (
            "tamtam-link.3, tamtam-bearer.bGV0IG1lIGlu",
            "tamtam-bearer.bGV0IG1lIG91dA, tamtam-link.3",
        );
        for (path, protocols, code, words) in [
            ("/link/counter", plain, 3000, "send the token"),
            ("/link/counter", wrong, 3000, "the token is wrong"),
            ("/link/none", right, 1008, "there is no link \"none\""),
            (
                "/link/broken",
                right,
                1011,
                "whether you may could not be found out",
            ),
            ("/link/panics", right, 1011, "the link could not be opened"),
        ] {
            let (said, reason) = refused(&server, path, protocols).await;
            assert_eq!(said, code, "{path}: {reason}");
            assert!(reason.contains(words), "{path}: {reason}");
            assert!(!reason.contains("secret"), "{reason}");
        }
        for (path, headers) in [
            ("/link/counter", &[("sec-websocket-protocol", right)][..]),
            ("/link/open", &[PROTOCOL]),
            (
                "/link/counter",
                &[PROTOCOL, ("authorization", "Bearer let me in")],
            ),
        ] {
            let page = Page::of(&server, path, headers, Link::builder()).await;
            let total = page.root().ask_async(Count::Total).await;
            assert_eq!(total, Ok(0), "{path}");
        }
    });
}

#[test]
fn the_actor_is_chosen_by_who_asks() {
    run(|| async {
        let pool = Pool::new();
        let root = LinkRoot::new("mine", move |caller: &Caller| {
            assert_eq!(caller.protocol(), Protocol::Link);
            assert!(caller.peer().is_some_and(|peer| peer.is_loopback()));
            let own = counter(&pool, None);
            if caller.bearer() == Some("let me in") {
                own.tell(Count::Add(7)).unwrap();
            }
            own
        });
        let server = Running::of(Gateway::new().link(root)).await;
        let token = "tamtam-bearer.bGV0IG1lIGlu,tamtam-link.3";
        for (protocols, total) in [(PROTOCOL.1, 0), (token, 7)] {
            let headers = [("sec-websocket-protocol", protocols)];
            let page = Page::of(&server, "/link/mine", &headers, Link::builder()).await;
            assert_eq!(page.root().ask_async(Count::Total).await, Ok(total));
        }
    });
}

#[test]
fn too_many_links_are_refused() {
    run(|| async {
        let pool = Pool::new();
        let limits = Limits {
            links_of_client: 2,
            ..Limits::default()
        };
        let server = Running::of(gateway(&pool).limits(limits)).await;
        let one = Page::open(&server).await;
        let other = Page::open(&server).await;
        for page in [&one, &other] {
            assert_eq!(page.root().ask_async(Count::Total).await, Ok(0));
        }
        let (code, reason) = refused(&server, "/link/counter", PROTOCOL.1).await;
        assert_eq!(code, 1013, "{reason}");
        assert!(reason.contains("there are too many links"), "{reason}");
        one.link.close();
        one.closed().await;
        until!("its place is given back", {
            let page = Page::open(&server).await;
            page.root().ask_async(Count::Total).await == Ok(0)
        });
        other.link.close();
    });
}

#[test]
fn a_stop_finishes_what_has_come_and_closes_links() {
    run(|| async {
        let pool = Pool::new();
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let (begun, begins) = std::sync::mpsc::channel();
        let slow = pool.spawn_fn(move |reply: Reply<u64>, _| {
            begun.send(()).unwrap();
            gate.recv().unwrap();
            reply.send(1);
        });
        let root = LinkRoot::new("slow", move |_| slow.clone());
        let mut server = Running::of(Gateway::new().link(root)).await;
        let page = Page::of(&server, "/link/slow", &[PROTOCOL], Link::builder()).await;
        let asked = page.link.root::<Reply<u64>>().ask_async(|reply| reply);
        let asked = tokio::spawn(asked);
        blocking(move || begins.recv().unwrap()).await;
        server.stop();
        // No more links are opened: the server has heard of its end.
        until!(
            "it takes no more connections",
            TcpStream::connect(server.address).await.is_err()
        );
        assert_eq!(page.link.ended(), None);
        go.send(()).unwrap();
        assert_eq!(asked.await.unwrap(), Ok(1));
        let link = page.link.clone();
        let closed = page.closed().await;
        let (code, reason) = closed.expect("a reason");
        assert_eq!((code, &*reason), (CloseCode::Away, "the server ends"));
        assert_eq!(
            link.ended(),
            Some(LinkEnd::Goodbye("the server ends".into()))
        );
        server.ended().await;
    });
}
