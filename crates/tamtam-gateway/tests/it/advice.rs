//! What a server tells of its own traffic.

use serde_json::Value as Json;
use tamtam_gateway::{Fault, Method, RowStream, Service, bearer};
use tamtam_rows::{Column, Field, Kind, Rows, Schema};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{Running, kit, look_again, run, tiles};

/// The report, once it tells of this method.
async fn told(server: &Running, method: &str) -> Json {
    loop {
        let report = server.get("/advice", &[]).await.json();
        let mut methods = report["methods"].as_array().unwrap().iter();
        if let Some(found) = methods.find(|told| told["method"] == method) {
            return found.clone();
        }
        look_again().await;
    }
}

fn of_form<'a>(link: &'a Json, form: &str) -> &'a Json {
    let mut forms = link["forms"].as_array().unwrap().iter();
    forms.find(|told| told["form"] == form).expect(form)
}

#[test]
fn the_advice_names_smaller_forms_with_the_bytes_that_they_have() {
    run(|| async {
        let server = Running::of(kit().advice(1)).await;
        let path = "/rest/Tiles/list?set=palette&count=900";
        let json = server.get(path, &[]).await;
        let link = told(&server, "Tiles.list").await["links"][0].clone();
        let sent = &link["sent"];
        assert_eq!(
            (&sent["protocol"], &sent["form"]),
            (&"rest".into(), &"json".into())
        );
        assert_eq!(sent["wire_bytes"], json.body.len() as f64, "{sent}");
        // The bytes of each form are those that a client gets who asks for it.
        let mut smallest = ("json", json.body.len());
        for (form, accept) in [
            ("packed", "application/vnd.tamtam.rows"),
            ("arrow", "application/vnd.apache.arrow.stream"),
            ("parquet", "application/vnd.apache.parquet"),
            ("jsonl", "application/jsonl"),
            ("msgpack", "application/vnd.msgpack"),
            ("csv", "text/csv"),
        ] {
            let bytes = server.get(path, &[("accept", accept)]).await.body.len();
            assert_eq!(of_form(&link, form)["bytes"], bytes as f64, "{form}");
            if bytes < smallest.1 {
                smallest = (form, bytes);
            }
        }
        let xml = "<methodCall><methodName>Tiles.list</methodName><params><param><value>palette</value></param><param><value><int>900</int></value></param></params></methodCall>";
        let xml = server.xml_rpc(xml.to_owned()).await;
        assert_eq!(of_form(&link, "xml-rpc")["bytes"], xml.len() as f64);

        let best = &link["advice"][0];
        assert_eq!(
            (&best["form"], &best["what"]),
            (&smallest.0.into(), &"form".into())
        );
        let saved = (json.body.len() - smallest.1) as f64;
        assert_eq!(best["saves"]["bytes"], saved);
        let text = best["text"].as_str().unwrap();
        let bytes = format!(": {saved} of {} bytes less", json.body.len());
        assert!(
            text.contains(&bytes) && text.contains(" in place of JSON by URL"),
            "{text}"
        );
        assert!(best["saves"]["cpu_us"].is_number(), "{best}");
    });
}

#[test]
fn a_threshold_that_leaves_much_to_be_saved_is_named() {
    run(|| async {
        let text = |(): ()| Ok::<String, Fault>("the same words again and again; ".repeat(500));
        let kit = kit().service(Service::new("Texts").blocking("long", text));
        let server = Running::of(kit.advice(1)).await;
        let zstd = [
            ("accept-encoding", "zstd"),
            ("content-type", "application/json"),
        ];
        let call = hyper::Request::post("/rest/Texts/long").header("host", "localhost");
        let call = zstd
            .iter()
            .fold(call, |call, (name, value)| call.header(*name, *value));
        let sent = server.send(call.body(Default::default()).unwrap()).await;
        assert_eq!((sent.status, sent.header("content-encoding")), (200, ""));
        let link = told(&server, "Texts.long").await["links"][0].clone();
        let best = &link["advice"][0];
        assert_eq!(
            (&best["what"], &best["compressed"]),
            (&"threshold".into(), &true.into())
        );
        let compressed = of_form(&link, "json")["compressed_bytes"].as_f64().unwrap();
        assert_eq!(best["saves"]["bytes"], sent.body.len() as f64 - compressed);
        let text = best["text"].as_str().unwrap();
        assert!(text.contains("--compress-above, now 25600"), "{text}");
    });
}

#[test]
fn a_list_of_alike_objects_is_known_as_a_table_and_parts_are_no_answers() {
    run(|| async {
        #[derive(serde::Serialize, schemars::JsonSchema)]
        struct Tile {
            slot: u32,
            color: &'static str,
        }
        let list = Method::blocking("list", |(): ()| {
            let tiles = (0..500).map(|slot| Tile {
                slot,
                color: "ff8800",
            });
            Ok::<Vec<Tile>, Fault>(tiles.collect())
        });
        let kit = kit().service(Service::new("Typed").with(list.safe()));
        let server = Running::of(kit.advice(1)).await;
        // Of a batch, of a part of a table, of a client that has the answer nothing can be told.
        server
            .json_rpc(r#"[{"jsonrpc":"2.0","method":"Sums.add","params":[1,2],"id":1},{"jsonrpc":"2.0","method":"Sums.add","params":[1,2],"id":2}]"#)
            .await;
        let part = [("range", "rows=0-4")];
        assert_eq!(
            server
                .get("/rest/Tiles/list?set=palette", &part)
                .await
                .status,
            206
        );
        server
            .json_rpc(r#"{"jsonrpc":"2.0","method":"Typed.list","id":1}"#)
            .await;
        let link = told(&server, "Typed.list").await["links"][0].clone();
        assert_eq!(link["sent"]["form"], "json-rpc");
        let packed = link["advice"].as_array().unwrap().iter();
        let mut packed = packed.filter(|told| told["form"] == "packed");
        let text = packed.next().expect("packed rows are smaller")["text"].clone();
        assert!(
            text.as_str().unwrap().contains("if it returns Rows"),
            "{text}"
        );
        let report = server.get("/advice", &[]).await.json();
        let methods: Vec<&Json> = report["methods"].as_array().unwrap().iter().collect();
        assert_eq!(methods.len(), 1, "{report}");
    });
}

#[test]
fn how_fast_a_link_is_tells_a_client_that_reads_slowly() {
    run(|| async {
        let server = Running::of(kit().advice(2)).await;
        // The first call is looked at, the second is not, the third is. A look that was not over would have the next left out.
        server.get("/rest/Sums/add?left=1&right=2", &[]).await;
        told(&server, "Sums.add").await;
        let call = |count: u32| {
            let path = format!("/rest/Tiles/list?set=palette&count={count}");
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")
        };
        let mut taken = vec![0; 256 << 10];
        let mut looks = 0;
        let link = loop {
            let mut stream = TcpStream::connect(server.address).await.unwrap();
            // More than the buffers of both sockets; a server that is slower than this client does not fill them, and is asked
            // again.
            stream.write_all(call(500_000).as_bytes()).await.unwrap();
            let mut all = Vec::new();
            while !all.ends_with(b"}]") {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                let length = stream.read(&mut taken).await.unwrap();
                all.extend_from_slice(&taken[..length]);
            }
            stream.write_all(call(50).as_bytes()).await.unwrap();
            stream.read_exact(&mut taken[..500]).await.unwrap();
            drop(stream);
            looks += 1;
            let links = loop {
                let method = told(&server, "Tiles.list").await;
                let links = method["links"].as_array().unwrap().clone();
                let samples = links.iter().map(|link| link["samples"].as_u64().unwrap());
                if samples.sum::<u64>() == looks {
                    break links;
                }
                look_again().await;
            };
            if let Some(seen) = links
                .iter()
                .find(|link| !link["bytes_per_second"].is_null())
            {
                break seen.clone();
            }
        };
        assert!(link["bytes_per_second"].as_f64().unwrap() > 0.0);
        assert!(link["link"].as_str().unwrap().ends_with("Mbit/s"), "{link}");
        // What saves time depends on how long this machine encodes; what is said of each way does not.
        for way in link["advice"].as_array().unwrap() {
            assert!(way["saves"]["time_us"].is_number(), "{link}");
        }
    });
}

/// Tables part by part, of so many rows.
fn streams() -> Service {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Count {
        count: u32,
    }
    let all = Method::blocking("all", |Count { count }| {
        Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), move |sink| {
            let table = tiles(count);
            for first in (0..count as usize).step_by(1_000) {
                sink.send(table.part(first..(first + 1_000).min(count as usize)))?;
            }
            Ok(())
        }))
    });
    Service::new("Stream").with(all.safe())
}

#[test]
fn a_table_that_is_streamed_is_estimated_by_its_first_rows() {
    run(|| async {
        const ROWS: u32 = 60_000;
        let server = Running::of(kit().service(streams()).advice(1)).await;
        let path = format!("/rest/Stream/all?count={ROWS}");
        let sent = server.get(&path, &[]).await;
        let link = told(&server, "Stream.all").await["links"][0].clone();
        assert_eq!(link["sent"]["form"], "json");
        // What was sent is no estimate.
        assert_eq!(link["sent"]["wire_bytes"], sent.body.len() as f64);
        let estimated = &link["estimated"];
        let by_rows = estimated["by_rows"].as_u64().unwrap();
        assert!((1_000..ROWS as u64 / 2).contains(&by_rows), "{estimated}");
        assert_eq!(estimated["of_rows"], ROWS);
        for (form, accept) in [
            ("json", "application/json"),
            ("csv", "text/csv"),
            ("packed", "application/vnd.tamtam.rows"),
        ] {
            let bytes = server.get(&path, &[("accept", accept)]).await.body.len() as f64;
            let told = of_form(&link, form)["bytes"].as_f64().unwrap();
            assert!(
                (0.7..1.3).contains(&(told / bytes)),
                "{form}: {told} of {bytes}"
            );
        }
        let best = &link["advice"][0];
        assert_eq!(best["what"], "form", "{best}");
        let text = best["text"].as_str().unwrap();
        let said = format!("(estimated by the first {by_rows} of {ROWS} rows)");
        assert!(text.ends_with(&said), "{text}");
    });
}

#[test]
fn a_streamed_table_that_is_compressed_on_its_way_has_the_bytes_that_went() {
    run(|| async {
        let server = Running::of(kit().service(streams()).advice(1)).await;
        let gzip = [("accept-encoding", "gzip")];
        let sent = server.get("/rest/Stream/all?count=20000", &gzip).await;
        assert_eq!(sent.header("content-encoding"), "gzip");
        let link = told(&server, "Stream.all").await["links"][0].clone();
        assert_eq!(link["sent"]["compressed"], true);
        assert_eq!(link["sent"]["wire_bytes"], sent.body.len() as f64);
        assert!(link["sent"]["bytes"].as_f64().unwrap() > 4.0 * sent.body.len() as f64);
        assert!(
            link["sent"]["compress_us"].as_f64().unwrap() > 0.0,
            "{link}"
        );
    });
}

#[test]
fn a_table_of_many_short_rows_is_estimated_by_its_first_rows() {
    run(|| async {
        const ROWS: usize = 3_000_000;
        let narrow = |(): ()| {
            let schema = Schema::new([Field::new("n", Kind::U8)]).unwrap();
            let table = Rows::new(schema, [Column::from(vec![7_u8; ROWS])]);
            Ok::<_, Fault>(table.unwrap())
        };
        let service = Service::new("Narrow").with(Method::blocking("all", narrow).safe());
        let server = Running::of(kit().service(service).advice(1)).await;
        let packed = [("accept", "application/vnd.tamtam.rows")];
        let sent = server.get("/rest/Narrow/all", &packed).await;
        assert!(sent.body.len() < 1_000, "{} bytes", sent.body.len());
        let link = told(&server, "Narrow.all").await["links"][0].clone();
        let estimated = &link["estimated"];
        let by_rows = estimated["by_rows"].as_u64().unwrap();
        assert!((100_000..ROWS as u64 / 4).contains(&by_rows), "{estimated}");
        assert_eq!(estimated["of_rows"], ROWS);
        // What was sent is no estimate.
        assert_eq!(link["sent"]["wire_bytes"], sent.body.len() as f64);
        let json = of_form(&link, "json")["bytes"].as_f64().unwrap();
        let as_json = (ROWS * r#"{"n":7},"#.len()) as f64;
        assert!((0.9..1.1).contains(&(json / as_json)), "{json}");
    });
}

#[test]
fn a_table_that_is_gathered_or_short_is_no_estimate() {
    run(|| async {
        for call in ["rest", "json-rpc"] {
            let server = Running::of(kit().service(streams()).advice(1)).await;
            if call == "rest" {
                let answered = server.get("/rest/Stream/all?count=300", &[]).await;
                assert_eq!(answered.status, 200);
            } else {
                let call =
                    r#"{"jsonrpc":"2.0","method":"Stream.all","params":{"count":300},"id":1}"#;
                server.json_rpc(call).await;
            }
            let link = told(&server, "Stream.all").await["links"][0].clone();
            assert!(link["estimated"].is_null(), "{link}");
            assert!(
                link["sent"]["wire_bytes"].as_f64().unwrap() > 5_000.0,
                "{link}"
            );
            assert!(of_form(&link, "packed")["bytes"].is_number());
        }
    });
}

#[test]
fn advice_is_off_unless_asked_for_and_for_those_who_may_call() {
    run(|| async {
        for (gateway, status) in [
            (kit(), 404),
            (kit().advice(0), 404),
            (kit().advice(1_000), 200),
            (kit().advice(1_000).authorize(bearer("let me in")), 401),
        ] {
            let server = Running::of(gateway).await;
            assert_eq!(server.get("/advice", &[]).await.status, status);
        }
    });
}
