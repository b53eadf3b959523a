//! HTTP/1.1: a web server as one writes it with axum, and hyper as its client.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{Request, StatusCode};
use axum::routing::post;
use axum::serve::ListenerExt;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::calls::{self, Call, CallServer, Client, answer};
use crate::{Card, Contender, Failure, Measure, ServerProcess, Serving};

/// Those that the manifest asks for.
const VERSION: &str = "hyper 1 to axum 0.8";

/// One connection for all clients, which is kept: they take turns on it.
pub(super) const KEPT: Http = Http(Connections::One);
/// A connection for each client, which is kept.
pub(super) const EACH: Http = Http(Connections::OneEach);
/// A new connection for each call.
pub(super) const NEW: Http = Http(Connections::OneACall);

/// Where the page is.
const PAGE: &str = "/page";

/// HTTP over TCP within the machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Http(Connections);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connections {
    One,
    OneEach,
    OneACall,
}

impl Http {
    fn name(self) -> &'static str {
        match self.0 {
            Connections::One => "http-kept",
            Connections::OneEach => "http-each",
            Connections::OneACall => "http-new",
        }
    }
}

impl Contender for Http {
    fn card(&self) -> Card {
        Card {
            name: self.name(),
            version: VERSION,
            ours: false,
            about: match self.0 {
                Connections::One => {
                    "HTTP/1.1, hyper to axum: one connection that is kept, on which all clients take turns"
                }
                Connections::OneEach => {
                    "HTTP/1.1, hyper to axum: a connection for each client, which is kept"
                }
                Connections::OneACall => "HTTP/1.1, hyper to axum: a new connection for each call",
            },
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let runtime = Builder::new_multi_thread().enable_io().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let listener = listener.tap_io(|socket| {
            // A socket that keeps its delay is slow, and works.
            let _ = socket.set_nodelay(true);
        });
        let page = post(|request: Bytes| async move {
            ([(CONTENT_TYPE, "application/json")], answer(&request))
        });
        runtime.spawn(async move { axum::serve(listener, Router::new().route(PAGE, page)).await });
        Ok(Serving::at(address.to_string(), runtime))
    }
}

impl Call for Http {
    type Server = HttpServer;

    fn open(&self, _threads: usize) -> Result<HttpServer, Failure> {
        let process = ServerProcess::start(self.name())?;
        let address = process.address().parse().map_err(lost)?;
        Ok(HttpServer {
            connections: self.0,
            address,
            shared: None,
            process,
        })
    }
}

/// The server, and the connection that all clients share.
#[derive(Debug)]
pub(super) struct HttpServer {
    connections: Connections,
    address: SocketAddr,
    shared: Option<Arc<Mutex<HttpCaller>>>,
    process: ServerProcess,
}

impl CallServer for HttpServer {
    type Client = HttpClient;

    fn connect(&mut self) -> Result<HttpClient, Failure> {
        let keeps = self.connections != Connections::OneACall;
        if self.connections != Connections::One {
            return Ok(HttpClient::Own(HttpCaller::new(self.address, keeps)?));
        }
        let shared = match &self.shared {
            Some(shared) => Arc::clone(shared),
            None => Arc::new(Mutex::new(HttpCaller::new(self.address, keeps)?)),
        };
        self.shared = Some(Arc::clone(&shared));
        Ok(HttpClient::Shared(shared))
    }

    fn process(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }
}

/// A client, with its own connection or with that of all.
#[derive(Debug)]
pub(super) enum HttpClient {
    Own(HttpCaller),
    Shared(Arc<Mutex<HttpCaller>>),
}

impl Client for HttpClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        match self {
            HttpClient::Own(caller) => caller.call(PAGE, request),
            HttpClient::Shared(caller) => caller
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .call(PAGE, request),
        }
    }
}

/// What makes requests: a runtime in the calling thread, and the connection that is kept.
#[derive(Debug)]
pub(super) struct HttpCaller {
    runtime: Runtime,
    address: SocketAddr,
    keeps: bool,
    kept: Option<SendRequest<Full<Bytes>>>,
}

impl HttpCaller {
    pub(super) fn new(address: SocketAddr, keeps: bool) -> Result<Self, Failure> {
        Ok(HttpCaller {
            runtime: Builder::new_current_thread().enable_io().build()?,
            address,
            keeps,
            kept: None,
        })
    }

    pub(super) fn call(&mut self, path: &str, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let mut request = Request::post(path)
            .header(HOST, self.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(request)))
            .map_err(lost)?;
        if !self.keeps {
            let close = axum::http::HeaderValue::from_static("close");
            request.headers_mut().insert("connection", close);
        }
        let (kept, address) = (self.kept.take(), self.address);
        let called = self.runtime.block_on(async move {
            let mut connection = match kept {
                Some(connection) => connection,
                None => connect(address).await?,
            };
            connection.ready().await.map_err(lost)?;
            let response = connection.send_request(request).await.map_err(lost)?;
            if response.status() != StatusCode::OK {
                return Err(lost(response.status()));
            }
            let body = response.into_body().collect().await.map_err(lost)?;
            Ok((connection, body.to_bytes()))
        });
        let (connection, body) = called?;
        self.kept = self.keeps.then_some(connection);
        Ok(body.into())
    }
}

/// A connection, which a task of the runtime drives.
async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>, Failure> {
    let socket = TcpStream::connect(address).await?;
    socket.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(socket)).await.map_err(lost)?;
    tokio::spawn(connection);
    Ok(sender)
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
