//! The service browser, as a browser gets it; what it does is tested in one.

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use serde_json::json;
use tamtam_gateway::{Fault, RowStream, Service, Work, bearer};
use tamtam_rows::{Column, Field, Kind, Rows, Schema};

use crate::world::{Running, kit, run};

#[test]
fn the_page_is_embedded_and_loads_nothing_else() {
    run(|| async {
        let server = Running::of(kit().page()).await;
        let page = server.get("/", &[]).await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (200, "text/html; charset=utf-8")
        );
        let policy = page.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'"),
            "{policy}"
        );
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"),
            "{policy}"
        );
        let text = page.text();
        for inline in [
            "<style",
            " style=",
            " onclick=",
            "javascript:",
            "http://",
            "https://",
        ] {
            assert!(!text.contains(inline), "{inline}");
        }
        // Each script has an address, and each address is here.
        assert_eq!(
            text.matches("<script").count(),
            text.matches("<script type=\"module\" src=").count()
        );
        for part in text.split("=\"page/").skip(1) {
            let path = format!("/page/{}", part.split('"').next().unwrap());
            let asset = server.get(&path, &[]).await;
            assert_eq!(asset.status, 200, "{path}");
            let known = [("if-none-match", asset.header("etag"))];
            assert_eq!(server.get(&path, &known).await.status, 304);
        }
        assert_eq!(Running::of(kit()).await.get("/", &[]).await.status, 404);
    });
}

#[test]
fn an_answer_tells_its_times_where_there_is_a_page() {
    run(|| async {
        let work = |(): ()| {
            // Real work, whose CPU time can be seen.
            let sum = (0..3_000_000_u64).fold(0, |sum, next| std::hint::black_box(sum ^ next));
            Ok::<u64, Fault>(sum)
        };
        let service = || Service::new("Work").blocking("sum", work);
        let call = r#"{"jsonrpc":"2.0","method":"Work.sum","id":1}"#;
        let server = Running::of(kit().service(service()).page()).await;
        let of_page = || {
            hyper::Request::post("/jsonrpc")
                .header("host", "localhost")
                .header("content-type", "application/json")
                .header("sec-fetch-site", "same-origin")
                .body(call.into())
                .unwrap()
        };
        let answered = server.send(of_page()).await;
        let told: Vec<(String, f64)> = answered
            .header("server-timing")
            .split(", ")
            .map(|part| {
                let (name, took) = part.split_once(";dur=").expect(part);
                (name.to_owned(), took.parse().unwrap())
            })
            .collect();
        let names: Vec<&str> = told.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            ["receive", "call", "encode", "compress", "cpu", "total"]
        );
        let of = |name: &str| told.iter().find(|(known, _)| known == name).unwrap().1;
        assert!(of("call") > 0.0 && of("call") <= of("total"), "{told:?}");
        if cfg!(unix) {
            assert!(of("cpu") > 0.5, "{told:?}");
        }
        let silent = Running::of(kit().service(service())).await;
        let answered = silent.send(of_page()).await;
        assert_eq!(answered.header("server-timing"), "");
        // It is for pages of the server.
        let answered = server.post("/jsonrpc", "application/json", call).await;
        assert_eq!(answered.header("server-timing"), "");
    });
}

/// A call to a method of `Told` by JSON-RPC, as a page of the server makes it: what it gave, and the times it was told of.
async fn told(server: &Running, method: &str) -> (serde_json::Value, Vec<(String, f64)>) {
    let body = format!(r#"{{"jsonrpc":"2.0","method":"Told.{method}","id":1}}"#);
    let request = hyper::Request::post("/jsonrpc")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("sec-fetch-site", "same-origin")
        .body(body.into())
        .unwrap();
    let answered = server.send(request).await;
    let times = answered.header("server-timing").split(", ").map(|part| {
        let (name, took) = part.split_once(";dur=").expect(part);
        (name.to_owned(), took.parse().unwrap())
    });
    (answered.json()["result"].clone(), times.collect())
}

#[test]
fn a_method_tells_what_it_has_spent_its_time_on() {
    run(|| async {
        let tell = || {
            Work::Cursor.took(Duration::from_millis(3));
            Work::Rows.took(Duration::from_millis(1));
            Work::Cursor.took(Duration::from_micros(500));
            Work::is_timed()
        };
        let task = move |(): ()| async move { Ok::<bool, Fault>(tell()) };
        let stream = move |(): ()| {
            let schema = Schema::new([Field::new("n", Kind::U8)]).unwrap();
            let rows = Rows::new(schema.clone(), [Column::from(vec![7_u8])]).unwrap();
            Ok::<_, Fault>(RowStream::new(schema, move |sink| {
                // As long as it says.
                thread::sleep(Duration::from_micros(4_500));
                tell();
                Ok(sink.send(rows)?)
            }))
        };
        let timed = |(): ()| {
            // Real work, whose time can be seen.
            let sum =
                Work::Rows.timed(|| (0..3_000_000_u64).fold(0, |sum, next| black_box(sum ^ next)));
            Ok::<u64, Fault>(sum)
        };
        let service = Service::new("Told")
            .method("task", task)
            .blocking("thread", move |(): ()| Ok::<bool, Fault>(tell()))
            .blocking("stream", stream)
            .blocking("timed", timed)
            .blocking("silent", |(): ()| Ok::<bool, Fault>(Work::is_timed()));
        let server = Running::of(kit().service(service).page()).await;
        let of = |times: &[(String, f64)], name: &str| {
            let found = times.iter().find(|(known, _)| known == name);
            found.map(|(_, took)| *took)
        };
        for (method, result) in [
            ("task", json!(true)),
            ("thread", json!(true)),
            ("stream", json!([{ "n": 7 }])),
        ] {
            let (given, times) = told(&server, method).await;
            assert_eq!(given, result, "{method}");
            assert_eq!(of(&times, "cursor"), Some(3.5), "{method}: {times:?}");
            assert_eq!(of(&times, "rows"), Some(1.0), "{method}: {times:?}");
        }
        // What waits for the source waits for as long as that takes, unless it comes to that late on a busy machine.
        while of(&told(&server, "stream").await.1, "call").unwrap() < 4.5 {}
        let (_, times) = told(&server, "timed").await;
        let (rows, call) = (of(&times, "rows").unwrap(), of(&times, "call").unwrap());
        assert!(rows > 0.0 && rows <= call, "{times:?}");
        assert_eq!(of(&times, "cursor"), None);
        // The one before has told its own call alone.
        let (given, times) = told(&server, "silent").await;
        assert_eq!((given, of(&times, "rows")), (json!(true), None));
        // A call that is not of a page is not measured.
        let call = r#"{"jsonrpc":"2.0","method":"Told.task","id":1}"#;
        let answered = server.post("/jsonrpc", "application/json", call).await;
        assert_eq!(answered.json()["result"], json!(false));
    });
}

#[test]
fn an_answer_is_weighed_in_each_form_for_those_who_may_call() {
    run(|| async {
        let server = Running::of(kit().page()).await;
        let weigh = async |path: &str, body: &str| {
            let path = format!("/page/weigh/{path}");
            server
                .post(&path, "application/json", body.to_owned())
                .await
        };
        let told = weigh("Tiles/list", r#"["palette", 100]"#).await.json();
        assert_eq!(
            (&told["rows"], &told["is_table"]),
            (&json!(100), &json!(true))
        );
        let forms = told["forms"].as_array().unwrap();
        assert_eq!(forms.len(), 12);
        let path = "/rest/Tiles/list?set=palette&count=100";
        let csv = server.get(path, &[("accept", "text/csv")]).await;
        let told = forms.iter().find(|told| told["form"] == "csv").unwrap();
        assert_eq!(told["bytes"], csv.body.len());
        // What is no table has fewer forms.
        let told = weigh("Sums/add", r#"{"left":1,"right":2}"#).await.json();
        let names: Vec<_> = told["forms"]
            .as_array()
            .unwrap()
            .iter()
            .map(|told| &told["form"])
            .collect();
        assert_eq!(
            names,
            ["json", "msgpack", "json-rpc", "xml-rpc", "amf0", "amf3"]
        );
        let fault = weigh("Tiles/list", r#"["none"]"#).await;
        assert_eq!(
            (fault.status, &fault.json()["code"]),
            (500, &json!("Tiles.NoSet"))
        );

        let closed = Running::of(kit().page().authorize(bearer("let me in"))).await;
        let refused = closed
            .post("/page/weigh/Sums/add", "application/json", "[1,2]")
            .await;
        assert_eq!(refused.status, 401);
        // The page tells nothing by itself.
        let page = closed.get("/", &[]).await;
        assert!(page.status == 200 && !page.text().contains("Tiles"));
    });
}
