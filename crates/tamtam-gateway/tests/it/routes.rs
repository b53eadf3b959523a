//! The routes of a gateway: by what methods each is reached, and among those of another server.

use std::net::SocketAddr;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::HOST;
use tamtam_gateway::Limits;
use tokio::net::{TcpListener, TcpStream};

use crate::world::{Answered, Running, kit, request, run, send_over};

#[test]
fn each_route_says_by_what_it_is_reached() {
    run(|| async {
        let server = Running::of(kit().page()).await;
        for (method, path, status, allow) in [
            ("GET", "/jsonrpc", 405, "POST"),
            ("PUT", "/rest/Sums/add", 405, "GET,HEAD,POST"),
            ("POST", "/services", 405, "GET,HEAD"),
            ("POST", "/page/page.js", 405, "GET,HEAD"),
            ("HEAD", "/services", 200, ""),
            ("GET", "/rest/Kit", 404, ""),
            ("GET", "/advice", 404, ""),
        ] {
            let asked = request(method, path).body(Full::default()).unwrap();
            let answered = server.send(asked).await;
            let told = (answered.status, answered.header("allow"));
            assert_eq!(told, (status, allow), "{method} {path}");
            assert_eq!(answered.header("x-content-type-options"), "nosniff");
            if method == "HEAD" {
                assert!(answered.body.is_empty(), "{}", answered.text());
                assert_ne!(answered.header("content-length"), "0");
            }
        }
    });
}

#[test]
fn a_gateway_stands_among_the_routes_of_another_server() {
    run(|| async {
        let limits = Limits {
            requests_of_client: 0,
            ..Limits::default()
        };
        let routes = Router::new()
            .route("/", get(async || "its own"))
            .nest("/services-of-mine", kit().router())
            .nest("/closed", kit().limits(limits).router());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let send = async |asked: Request<Full<Bytes>>| -> Answered {
            send_over(TcpStream::connect(address).await.unwrap(), asked).await
        };
        let get =
            async |path: &str| send(request("GET", path).body(Full::default()).unwrap()).await;
        let add = r#"{"jsonrpc":"2.0","id":1,"method":"Sums.add","params":[1,2]}"#;
        let call = async |path: &str| {
            let asked = request("POST", path).header("content-type", "application/json");
            send(asked.body(Full::from(add)).unwrap()).await
        };
        assert_eq!(get("/").await.text(), "its own");
        assert_eq!(
            call("/services-of-mine/jsonrpc").await.json()["result"]["sum"],
            3
        );
        let added = get("/services-of-mine/rest/Sums/add?left=1&right=2").await;
        assert_eq!(added.json()["sum"], 3);
        assert_eq!(get("/services-of-mine/nowhere").await.status, 404);
        // The client's address comes from axum.
        let refused = call("/closed/jsonrpc").await.json();
        assert_eq!(refused["error"]["data"]["code"], "Server.Busy");
        let elsewhere =
            Request::get("/services-of-mine/services").header(HOST, "elsewhere.example");
        assert_eq!(
            send(elsewhere.body(Full::default()).unwrap()).await.status,
            421
        );
    });
}
