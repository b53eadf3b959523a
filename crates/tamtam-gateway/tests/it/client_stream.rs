//! Answers that our client takes while they come.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tamtam_gateway::{CallError, Client, Fault, Gateway, Method, RowStream, Service};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::world::{LIMIT, Running, kit, run, tiles};

/// Rows of a part.
const ROWS: usize = 1_000;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Of {
    parts: usize,
    /// What comes behind them.
    end: End,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum End {
    Whole,
    Fails,
    Waits,
}

/// `Kit.table` gives tiles part by part; how many were taken, and that a client has gone.
fn tables() -> (Gateway, Arc<AtomicUsize>, Arc<Notify>) {
    let (taken, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (counted, told) = (Arc::clone(&taken), Arc::clone(&gone));
    let table = Method::blocking("table", move |of: Of| {
        let (counted, told) = (Arc::clone(&counted), Arc::clone(&told));
        Ok::<_, Fault>(RowStream::new(tiles(0).schema().clone(), move |sink| {
            for _ in 0..of.parts {
                if sink.send(tiles(ROWS as u32)).is_err() {
                    told.notify_one();
                    break;
                }
                counted.fetch_add(1, Ordering::SeqCst);
            }
            match of.end {
                End::Whole => Ok(()),
                End::Fails => Err(Fault::new("Kit.Broken", "the cursor broke")),
                End::Waits => {
                    Handle::current().block_on(sink.closed());
                    told.notify_one();
                    Ok(())
                }
            }
        }))
    });
    let gateway = kit().service(Service::new("Kit2").with(table.safe()));
    (gateway, taken, gone)
}

async fn client_of(server: &Running) -> Client {
    let client = Client::connect(&format!("http://{}", server.address)).await;
    client.unwrap().patience(LIMIT)
}

#[test]
fn a_long_table_comes_part_by_part_and_whole() {
    run(|| async {
        // Compressed, and as it is.
        for threshold in [0, usize::MAX] {
            let (gateway, ..) = tables();
            let server = Running::of(gateway.compress_above(threshold)).await;
            let client = client_of(&server).await;
            for parts in [0, 1, 200] {
                let mut table = client
                    .stream("Kit2.table", &(parts, "Whole"))
                    .await
                    .unwrap();
                assert_eq!(table.schema(), tiles(0).schema());
                let mut rows = 0;
                while let Some(part) = table.next().await.unwrap() {
                    for (at, row) in (rows..).zip(0..part.len()) {
                        let expected = tamtam_rows::Value::Unsigned((at % ROWS) as u64);
                        assert_eq!(part.value(row, 0), expected);
                    }
                    rows += part.len();
                }
                assert_eq!(rows, parts * ROWS);
                assert!(table.next().await.unwrap().is_none());
            }
            // A table that is there already comes so, too.
            let mut table = client.stream("Tiles.list", &("palette", 5)).await.unwrap();
            assert_eq!(table.next().await.unwrap(), Some(tiles(5)));
            // The bytes of another form are those of the answer as a whole.
            let mut pieces = client
                .raw_stream("Kit2.table", &(50, "Whole"), "text/csv")
                .await
                .unwrap();
            assert!(pieces.content_type().starts_with("text/csv"));
            let mut bytes = Vec::new();
            while let Some(piece) = pieces.next().await.unwrap() {
                assert!(!piece.is_empty());
                bytes.extend_from_slice(&piece);
            }
            let whole = client
                .raw("Kit2.table", &(50, "Whole"), "text/csv")
                .await
                .unwrap();
            assert!(
                bytes == whole.body,
                "{} of {}",
                bytes.len(),
                whole.body.len()
            );
        }
    });
}

#[test]
fn a_table_that_is_cut_off_is_an_error_behind_the_rows_that_came() {
    run(|| async {
        for threshold in [0, usize::MAX] {
            let (gateway, ..) = tables();
            let server = Running::of(gateway.compress_above(threshold)).await;
            let client = client_of(&server).await;
            let mut table = client.stream("Kit2.table", &(40, "Fails")).await.unwrap();
            let mut rows = 0;
            let error = loop {
                match table.next().await {
                    Ok(Some(part)) => rows += part.len(),
                    Ok(None) => panic!("it ends as if it were whole, behind {rows} rows"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, CallError::Connection(_)), "{error:?}");
            assert!(rows > 0 && rows <= 40 * ROWS, "{rows}");
            assert!(table.next().await.unwrap().is_none());
            // The client goes on.
            let sum = client.call("Sums.add", &(1, 2)).await.unwrap();
            assert_eq!(sum.get("sum"), Some(&3.into()));
            // So it is with bytes.
            let mut pieces = client
                .raw_stream("Kit2.table", &(40, "Fails"), "text/csv")
                .await
                .unwrap();
            let error = loop {
                match pieces.next().await {
                    Ok(piece) => assert!(piece.is_some(), "it ends as if it were whole"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, CallError::Connection(_)), "{error:?}");
        }
    });
}

#[test]
fn a_client_that_drops_a_table_ends_its_source() {
    run(|| async {
        let (gateway, taken, gone) = tables();
        let server = Running::of(gateway).await;
        let client = client_of(&server).await;
        // One that would go on without an end, and one that waits.
        for (parts, end) in [(1_000_000, "Whole"), (20, "Waits")] {
            let mut table = client.stream("Kit2.table", &(parts, end)).await.unwrap();
            table.next().await.unwrap().expect("some rows");
            drop(table);
            gone.notified().await;
        }
        assert!(taken.load(Ordering::SeqCst) < 100_000);
        let pieces = client
            .raw_stream("Kit2.table", &(1_000_000, "Whole"), "text/csv")
            .await;
        pieces.unwrap().next().await.unwrap().expect("some bytes");
        gone.notified().await;
    });
}

#[test]
fn a_table_of_which_nothing_comes_has_the_client_s_patience() {
    run(|| async {
        let (gateway, _, gone) = tables();
        let server = Running::of(gateway.compress_above(usize::MAX)).await;
        let client = client_of(&server).await;
        // More than is held back anywhere.
        let client = client.patience(Duration::from_secs(2));
        let mut table = client.stream("Kit2.table", &(200, "Waits")).await.unwrap();
        let error = loop {
            match table.next().await {
                Ok(part) => assert!(part.is_some()),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, CallError::TimedOut(_)), "{error:?}");
        drop(table);
        gone.notified().await;
    });
}

#[test]
fn what_is_no_table_is_the_server_s_fault_or_malformed() {
    run(|| async {
        let (gateway, ..) = tables();
        let server = Running::of(gateway).await;
        let client = client_of(&server).await;
        let refused = client.stream("Sums.add", &(1, 2)).await.unwrap_err();
        assert!(
            matches!(&refused, CallError::Fault(fault) if fault.code() == "Server.NotCarried"),
            "{refused:?}"
        );
        let refused = client.stream("Tiles.list", &("none",)).await.unwrap_err();
        assert!(
            matches!(&refused, CallError::Fault(fault) if fault.code() == "Tiles.NoSet"),
            "{refused:?}"
        );
        let pieces = client
            .raw_stream("Kit2.table", &(1, "Whole"), "text/csv")
            .await
            .unwrap();
        let error = pieces.into_rows().await.unwrap_err();
        assert!(matches!(error, CallError::Malformed(_)), "{error:?}");
        // A part that is larger than the client takes.
        let small = client_of(&server).await.most_bytes(1_000);
        let error = match small.stream("Kit2.table", &(1, "Whole")).await {
            Ok(mut table) => table.next().await.unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, CallError::Malformed(_)), "{error:?}");
    });
}

#[test]
fn an_answer_that_is_too_large_once_it_is_decompressed_is_too_large() {
    run(|| async {
        const MOST: usize = 200_000;
        let server = Running::of(kit()).await;
        let client = client_of(&server).await.most_bytes(MOST);
        let whole = client_of(&server).await;
        let arguments = ("palette", 20_000);
        let answer = whole.raw("Tiles.list", &arguments, "text/csv").await;
        let answer = answer.unwrap();
        assert!(
            answer.wire_bytes < MOST && answer.body.len() > MOST,
            "{} {}",
            answer.wire_bytes,
            answer.body.len()
        );
        let error = client.raw("Tiles.list", &arguments, "text/csv").await;
        let error = error.unwrap_err();
        assert!(matches!(error, CallError::TooLarge(MOST)), "{error:?}");
    });
}

#[test]
fn a_server_that_ends_in_a_table_is_an_error() {
    run(|| async {
        // The head of an answer and some bytes, with a length that it does not keep to, and in pieces of which the last does not
        // come.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut table = Vec::new();
        tamtam_rows::packed::encode(
            &tiles(200_000),
            tamtam_rows::packed::Mode::Packed,
            &mut table,
        )
        .unwrap();
        let half = table[..table.len() / 2].to_vec();
        let chunk = format!("{:x}\r\n", half.len());
        tokio::spawn(async move {
            for (framing, length) in [
                ("content-length: 100000000", ""),
                ("transfer-encoding: chunked", &*chunk),
            ] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut asked = [0; 4_096];
                assert!(stream.read(&mut asked).await.unwrap() > 0);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/vnd.tamtam.rows\r\n{framing}\r\n\r\n{length}"
                );
                stream
                    .write_all(&[head.as_bytes(), &half].concat())
                    .await
                    .unwrap();
            }
        });
        let client = Client::connect(&url).await.unwrap().patience(LIMIT);
        for _ in 0..2 {
            let mut table = client.stream("Kit2.table", &()).await.unwrap();
            let error = loop {
                match table.next().await {
                    Ok(part) => assert!(part.is_some(), "it ends as if it were whole"),
                    Err(error) => break error,
                }
            };
            assert!(matches!(error, CallError::Connection(_)), "{error:?}");
        }
    });
}
