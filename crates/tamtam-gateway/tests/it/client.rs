//! Our client: what it says of itself, and what it makes of what it is told.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tamtam_gateway::{CallError, Client, Limits};

use crate::world::{Running, kit, run};

#[test]
fn a_call_that_lies_too_deep_or_has_too_many_values_is_told_so_over_a_socket() {
    let lists = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    run(move || async move {
        for (limits, argument) in [
            (
                Limits {
                    depth: 5,
                    ..Limits::default()
                },
                lists(10),
            ),
            // JSON is read no deeper than 128, whatever the limit.
            (
                Limits {
                    depth: 1_000,
                    ..Limits::default()
                },
                lists(200),
            ),
            (
                Limits {
                    values: 50,
                    ..Limits::default()
                },
                Json::from(vec![0; 100]),
            ),
        ] {
            let server = Running::of(kit().limits(limits)).await;
            let url = format!("http://{}", server.address);
            let client = Client::connect(&url).await.unwrap();
            let client = client.patience(Duration::from_secs(20));
            let socket = client.socket().await.unwrap();
            let called = socket.call("Echo.echo", &(argument,)).await;
            match called {
                Err(CallError::Fault(fault)) => assert_eq!(fault.code(), "Client.TooLarge"),
                other => panic!("it is no fault: {other:?}"),
            }
            // The connection goes on.
            socket.call("Echo.echo", &(1,)).await.unwrap();
        }
    });
}
