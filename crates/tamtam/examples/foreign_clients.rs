//! How do clients that know nothing of Tamtam call a method of this program?
//!
//! The method is written once. Here JSON-RPC and XML-RPC call it by hand, over a plain socket, and the client in Rust by a
//! URL; Flash would call it at `/amf`.

#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tamtam::gateway::{Client, Fault, Gateway, Method, Server, Service, Value};

#[derive(Deserialize, JsonSchema)]
struct Rectangle {
    width: u32,
    height: u32,
}

#[derive(Serialize, JsonSchema)]
struct Measured {
    area: u32,
}

async fn measure(of: Rectangle) -> Result<Measured, Fault> {
    let area = of.width.checked_mul(of.height);
    let area =
        area.ok_or_else(|| Fault::new("Shapes.TooLarge", "its area has more than 32 bits"))?;
    Ok(Measured { area })
}

/// What a server says to a body that is posted to this path.
fn post(to: SocketAddr, path: &str, kind: &str, body: &str) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(to)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {to}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut said = String::new();
    stream.read_to_string(&mut said)?;
    let (_, answer) = said.split_once("\r\n\r\n").ok_or("no answer")?;
    Ok(answer.to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let shapes = Service::new("Shapes").with(Method::new("measure", measure).safe());
    let runtime = tokio::runtime::Runtime::new()?;
    let server = runtime.block_on(Server::bind(
        Gateway::new().service(shapes),
        "127.0.0.1:0".parse()?,
    ))?;
    let (address, url) = (server.address().ok_or("no address")?, server.url());
    runtime.spawn(server.serve(std::future::pending()));

    let call =
        r#"{"jsonrpc":"2.0","method":"Shapes.measure","params":{"width":6,"height":7},"id":1}"#;
    let answer = post(address, "/jsonrpc", "application/json", call)?;
    println!("JSON-RPC: {answer}");
    assert_eq!(answer, r#"{"jsonrpc":"2.0","result":{"area":42},"id":1}"#);

    let call = "<methodCall><methodName>Shapes.measure</methodName><params>\
        <param><value><int>65536</int></value></param><param><value><int>65536</int></value></param></params></methodCall>";
    let answer = post(address, "/xmlrpc", "text/xml", call)?;
    let fault = "<string>Shapes.TooLarge: its area has more than 32 bits</string>";
    println!("XML-RPC: a fault, {}", answer.contains(fault));
    assert!(answer.contains(fault), "{answer}");

    let answer = runtime.block_on(async {
        let client = Client::connect(&url).await?;
        Ok::<_, Box<dyn Error>>(client.call("Shapes.measure", &(2, 3)).await?)
    })?;
    println!("by URL: {}", answer.to_json());
    assert_eq!(answer.get("area"), Some(&Value::Int(6)));
    Ok(())
}
