//! tonic: gRPC over HTTP/2.

use std::net::Ipv4Addr;

use tamtam_lab::calls::{self, Call, Client, ServerApart};
use tamtam_lab::{Card, Contender, Failure, Measure, Serving};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tonic::transport::Channel;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

use generated::pages_client::PagesClient;
use generated::pages_server::{Pages, PagesServer};

/// A connection for each client, which blocks on a runtime in its own thread; bytes in a call, and in its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tonic;

const NAME: &str = "tonic";

/// What build.rs has written.
#[allow(clippy::all, unreachable_pub, missing_docs)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/lab.Pages.rs"));
}

/// A request or an answer: a message of protocol buffers.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Json {
    #[prost(bytes = "vec", tag = "1")]
    bytes: Vec<u8>,
}

struct PagesService;

#[tonic::async_trait]
impl Pages for PagesService {
    async fn page(&self, request: Request<Json>) -> Result<Response<Json>, Status> {
        let bytes = calls::answer(&request.get_ref().bytes);
        Ok(Response::new(Json { bytes }))
    }
}

impl Contender for Tonic {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: env!("VERSION_OF_TONIC"),
            ours: false,
            about: "gRPC: tonic over TCP, a connection for each client; the server on tokio's runtime",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        runtime.spawn(async move {
            tonic::transport::Server::builder()
                .add_service(PagesServer::new(PagesService))
                .serve_with_incoming(incoming)
                .await
        });
        Ok(Serving::at(format!("http://{address}"), runtime))
    }
}

impl Call for Tonic {
    type Server = ServerApart<TonicClient>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let pages = runtime.block_on(PagesClient::connect(address.to_owned()));
            Ok(TonicClient {
                pages: pages.map_err(lost)?,
                runtime,
            })
        })
    }
}

pub(crate) struct TonicClient {
    pages: PagesClient<Channel>,
    runtime: Runtime,
}

impl Client for TonicClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let page = self.pages.page(Json { bytes: request });
        let answer = self.runtime.block_on(page).map_err(lost)?;
        Ok(answer.into_inner().bytes)
    }
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
