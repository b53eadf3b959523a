//! JSON-RPC 2.0: what the standard says, and what it leaves to the server.

use serde_json::json;
use tamtam_gateway::Limits;

use crate::world::{Running, kit, run};

#[test]
fn the_examples_of_the_standard_are_answered_as_it_says() {
    run(|| async {
        let server = Running::of(kit()).await;
        let by_place = r#"{"jsonrpc": "2.0", "method": "Sums.add", "params": [42, -23], "id": 1}"#;
        let wanted = json!({"jsonrpc": "2.0", "result": {"sum": 19, "is_even": false}, "id": 1});
        assert_eq!(server.json_rpc(by_place).await, wanted);
        let by_name = r#"{"jsonrpc": "2.0", "method": "Sums.add", "params": {"right": -23, "left": 42}, "id": "b"}"#;
        assert_eq!(server.json_rpc(by_name).await["id"], "b");

        let cases = [
            (
                r#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#,
                -32601,
                json!("1"),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#,
                -32700,
                json!(null),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#,
                -32600,
                json!(null),
            ),
            (
                r#"{"jsonrpc": "1.0", "method": "Sums.add", "id": 4}"#,
                -32600,
                json!(4),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "Sums.add", "id": {}}"#,
                -32600,
                json!(null),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "Sums.add", "params": [1], "id": 5}"#,
                -32602,
                json!(5),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "Sums.add", "params": [1, 2, 3], "id": 5}"#,
                -32602,
                json!(5),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "Sums.add", "params": {"left": 1, "wrong": 2}, "id": 5}"#,
                -32602,
                json!(5),
            ),
            (
                r#"{"jsonrpc": "2.0", "method": "Sums.add", "params": ["1", 2], "id": 5}"#,
                -32602,
                json!(5),
            ),
            ("[]", -32600, json!(null)),
            ("1", -32600, json!(null)),
        ];
        for (request, code, id) in cases {
            let answer = server.json_rpc(request).await;
            assert_eq!(answer["error"]["code"], code, "{request}: {answer}");
            assert_eq!(answer["id"], id, "{request}: {answer}");
            assert_eq!(answer.get("result"), None, "{request}: {answer}");
        }
    });
}

#[test]
fn a_batch_is_answered_without_its_notifications() {
    run(|| async {
        let server = Running::of(kit()).await;
        let batch = r#"[
            {"jsonrpc": "2.0", "method": "Echo.echo", "params": ["no answer"]},
            {"jsonrpc": "2.0", "method": "Echo.echo", "params": [1], "id": 1},
            1,
            {"jsonrpc": "2.0", "method": "no.method"},
            {"jsonrpc": "2.0", "method": "no.method", "id": 2}
        ]"#;
        let answers = server.json_rpc(batch).await;
        let answers = answers.as_array().unwrap();
        assert_eq!(answers.len(), 3, "{answers:?}");
        assert_eq!(answers[0], json!({"jsonrpc": "2.0", "result": 1, "id": 1}));
        assert_eq!(answers[1]["error"]["code"], -32600);
        assert_eq!(
            (&answers[2]["error"]["code"], &answers[2]["id"]),
            (&json!(-32601), &json!(2))
        );

        let silent = r#"[{"jsonrpc": "2.0", "method": "Echo.echo", "params": [1]}]"#;
        for notification in [silent, &silent[1..silent.len() - 1]] {
            let answered = server
                .post("/jsonrpc", "application/json", notification.to_owned())
                .await;
            assert_eq!((answered.status, answered.body.len()), (204, 0));
        }
    });
}

#[test]
fn a_fault_has_its_code_and_detail_and_a_panic_tells_nothing() {
    run(|| async {
        let server = Running::of(kit()).await;
        let call = |method: &str, params: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params},"id":1}}"#)
        };
        let answer = server.json_rpc(&call("Tiles.list", r#"["none"]"#)).await;
        let wanted = json!({"code": -32000, "message": "there is no such set", "data": {"code": "Tiles.NoSet", "detail": "none"}});
        assert_eq!(answer["error"], wanted);
        let answer = server
            .json_rpc(&call("Sums.add", "[9223372036854775807, 1]"))
            .await;
        assert_eq!(answer["error"]["code"], 7);
        for method in ["Kit.panic", "Kit.panic_on_a_thread"] {
            let answer = server.json_rpc(&call(method, "[]")).await;
            let wanted = json!({"code": -32603, "message": "the method failed", "data": {"code": "Server.Internal"}});
            assert_eq!(answer["error"], wanted, "{method}");
        }
    });
}

#[test]
fn values_come_back_as_they_went() {
    run(|| async {
        let server = Running::of(kit()).await;
        let value = r#"{"a":[1,-1,0.5,18446744073709551615,1e300,"\u0000\"é",null,true,{}],"b":{"c":[[]]},"$tamtam":1}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","method":"Echo.echo","params":[{value}],"id":1}}"#);
        let answered = server.post("/jsonrpc", "application/json", body).await;
        let sent: serde_json::Value = serde_json::from_str(value).unwrap();
        assert_eq!(answered.json()["result"], sent);
        let text = answered.text();
        assert!(
            text.contains("18446744073709551615") && text.contains(r#""$tamtam":1"#),
            "{text}"
        );
    });
}

#[test]
fn a_table_is_an_array_of_objects() {
    run(|| async {
        let server = Running::of(kit()).await;
        let call = r#"{"jsonrpc":"2.0","method":"Tiles.list","params":{"set":"palette","count":5},"id":1}"#;
        let answer = server.json_rpc(call).await;
        let rows = answer["result"].as_array().unwrap();
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[3], json!({"slot": 3, "color": "0088ff"}));
        assert_eq!(rows[4], json!({"slot": 4, "color": null}));
    });
}

#[test]
fn what_exceeds_a_limit_is_refused_as_json_rpc_has_it() {
    run(|| async {
        let limits = Limits {
            depth: 10,
            values: 100,
            batch: 3,
            ..Limits::default()
        };
        let server = Running::of(kit().limits(limits)).await;
        let deep = format!("{}{}", "[".repeat(12), "]".repeat(12));
        let wide = format!("[{}0]", "0,".repeat(200));
        let batch = format!("[{}1]", "1,".repeat(3));
        for (request, word) in [(&deep, "deep"), (&wide, "many"), (&batch, "batch")] {
            let answer = server.json_rpc(request).await;
            assert_eq!(answer["error"]["code"], -32003, "{answer}");
            assert!(
                answer["error"]["message"].as_str().unwrap().contains(word),
                "{answer}"
            );
        }
        // Deeper than any reader goes.
        let answer = server.json_rpc(&"[".repeat(100_000)).await;
        assert_eq!(answer["error"]["code"], -32003, "{answer}");
        // The client finds by the number what is refused, wherever it stands.
        for members in [
            format!(r#""id":7,"params":{deep}"#),
            format!(r#""params":{wide},"id":7"#),
        ] {
            let call = format!(r#"{{"jsonrpc":"2.0","method":"Echo.echo",{members}}}"#);
            let answer = server.json_rpc(&call).await;
            assert_eq!(answer["error"]["code"], -32003, "{answer}");
            assert_eq!(answer["id"], 7);
        }
    });
}

#[test]
fn an_id_comes_back_as_it_is_or_is_refused() {
    run(|| async {
        let server = Running::of(kit()).await;
        for (id, is_taken) in [
            ("18446744073709551615", true),
            ("-9223372036854775808", true),
            ("1.5", true),
            ("18446744073709551616", false),
            ("123456789012345678901234567890", false),
            ("-9223372036854775809", false),
        ] {
            let call =
                format!(r#"{{"jsonrpc":"2.0","method":"Echo.echo","params":[1],"id":{id}}}"#);
            let answered = server.post("/jsonrpc", "application/json", call).await;
            let told = if is_taken { id } else { "null" };
            assert!(
                answered.text().ends_with(&format!(r#""id":{told}}}"#)),
                "{}",
                answered.text()
            );
            assert_eq!(answered.json()["error"].is_null(), is_taken, "{id}");
        }
    });
}
