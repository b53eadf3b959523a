//! jsonrpsee: JSON-RPC 2.0 over HTTP/1.1.

use std::net::Ipv4Addr;

use jsonrpsee::RpcModule;
use jsonrpsee::core::client::ClientT;
use jsonrpsee::core::traits::ToRpcParams;
use jsonrpsee::http_client::{HttpClient, HttpClientBuilder};
use jsonrpsee::server::ServerBuilder;
use jsonrpsee::types::ErrorObjectOwned;
use serde_json::value::RawValue;
use tamtam_lab::calls::{self, Call, Client, ServerApart};
use tamtam_lab::{Card, Contender, Failure, Measure, Serving};
use tokio::runtime::{Builder, Runtime};

/// A connection for each client, which blocks on a runtime in its own thread. Requests and answers are passed on as the JSON that
/// they are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jsonrpsee;

const NAME: &str = "jsonrpsee";
const METHOD: &str = "page";

/// The parameters of a call, as they come.
struct Asked(Vec<u8>);

impl ToRpcParams for Asked {
    fn to_rpc_params(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        raw(self.0).map(Some)
    }
}

fn raw(json: Vec<u8>) -> Result<Box<RawValue>, serde_json::Error> {
    let json = String::from_utf8(json).map_err(serde::de::Error::custom)?;
    RawValue::from_string(json)
}

impl Contender for Jsonrpsee {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: env!("VERSION_OF_JSONRPSEE"),
            ours: false,
            about: "JSON-RPC 2.0: jsonrpsee over HTTP/1.1, a connection for each client, which is kept",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let mut pages = RpcModule::new(());
        pages
            .register_method(METHOD, |params, (), _| {
                let answer = calls::answer(params.as_str().unwrap_or_default().as_bytes());
                raw(answer).map_err(|error| {
                    ErrorObjectOwned::owned(-32_602, error.to_string(), None::<()>)
                })
            })
            .map_err(lost)?;
        let (address, handle) = runtime.block_on(async {
            let server = ServerBuilder::default()
                .build((Ipv4Addr::LOCALHOST, 0))
                .await?;
            let address = server.local_addr()?;
            Ok::<_, std::io::Error>((address, server.start(pages)))
        })?;
        Ok(Serving::at(format!("http://{address}"), (runtime, handle)))
    }
}

impl Call for Jsonrpsee {
    type Server = ServerApart<JsonrpseeClient>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let pages = runtime.block_on(async { HttpClientBuilder::default().build(address) });
            Ok(JsonrpseeClient {
                pages: pages.map_err(lost)?,
                runtime,
            })
        })
    }
}

pub(crate) struct JsonrpseeClient {
    pages: HttpClient,
    runtime: Runtime,
}

impl Client for JsonrpseeClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let page = self.pages.request(METHOD, Asked(request));
        let answer: Box<RawValue> = self.runtime.block_on(page).map_err(lost)?;
        Ok(answer.get().as_bytes().to_vec())
    }
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
