//! Tamtam's gateway: the page as a method of a service, by JSON-RPC and by a URL.

use tamtam_gateway::{Fault, Gateway, Server, Service};
use tokio::runtime::Builder;

use super::http::HttpCaller;
use crate::calls::{self, Around, Call, Client, Page, Request, ServerApart};
use crate::{Card, Contender, Failure, Measure, Serving};

/// By JSON-RPC 2.0.
pub(super) const JSON_RPC: ThroughGateway = ThroughGateway(By::JsonRpc);
/// By a URL for the method.
pub(super) const REST: ThroughGateway = ThroughGateway(By::Rest);

/// A connection for each client, which is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThroughGateway(By);

#[derive(Debug, Clone, Copy)]
enum By {
    JsonRpc,
    Rest,
}

impl ThroughGateway {
    fn name(self) -> &'static str {
        match self.0 {
            By::JsonRpc => "gateway-json-rpc",
            By::Rest => "gateway-rest",
        }
    }
}

impl Contender for ThroughGateway {
    fn card(&self) -> Card {
        Card {
            name: self.name(),
            version: super::super::VERSION,
            ours: true,
            about: match self.0 {
                By::JsonRpc => {
                    "our gateway by JSON-RPC 2.0: a connection for each client, which is kept"
                }
                By::Rest => "our gateway by a URL: a connection for each client, which is kept",
            },
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let pages = Service::new("Pages").method("page", |request: Request| async move {
            Ok::<Page, Fault>(request.page())
        });
        let server = Server::bind(Gateway::new().service(pages), ([127, 0, 0, 1], 0).into());
        let server = runtime.block_on(server).map_err(lost)?;
        let address = server.address().ok_or_else(|| lost("no address"))?;
        runtime.spawn(server.serve(std::future::pending()));
        Ok(Serving::at(address.to_string(), runtime))
    }
}

impl Call for ThroughGateway {
    type Server = ServerApart<ThroughGatewayClient>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        let connect = match self.0 {
            By::JsonRpc => |address: &str| connect(By::JsonRpc, address),
            By::Rest => |address: &str| connect(By::Rest, address),
        };
        ServerApart::start(self.name(), connect)
    }
}

fn connect(by: By, address: &str) -> Result<ThroughGatewayClient, Failure> {
    let address = address.parse().map_err(lost)?;
    Ok(ThroughGatewayClient {
        by,
        caller: HttpCaller::new(address, true)?,
    })
}

/// What calls, and how.
#[derive(Debug)]
pub(super) struct ThroughGatewayClient {
    by: By,
    caller: HttpCaller,
}

impl Client for ThroughGatewayClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        if let By::Rest = self.by {
            return self.caller.call("/rest/Pages/page", request);
        }
        let mut asked = br#"{"jsonrpc":"2.0","id":1,"method":"Pages.page","params":"#.to_vec();
        asked.extend_from_slice(&request);
        asked.push(b'}');
        self.caller.call("/jsonrpc", asked)
    }

    fn around(&self) -> Around {
        match self.by {
            By::JsonRpc => Around::JsonRpc,
            By::Rest => Around::Nothing,
        }
    }
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
