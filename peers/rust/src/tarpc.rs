//! tarpc, over a Unix socket, with its binary format.

use futures::StreamExt;
use tamtam_lab::calls::{self, Call, Client, ServerApart};
use tamtam_lab::{Card, Contender, Failure, Measure, PrivateFolder, Serving};
use tarpc::client;
use tarpc::context::{self, Context};
use tarpc::serde_transport::unix;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tokio::runtime::{Builder, Runtime};

/// A connection for each client, which blocks on a runtime in its own thread; a text in a call, and in its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tarpc;

const NAME: &str = "tarpc";

#[::tarpc::service]
trait Pages {
    /// The answer to a request, both as JSON.
    async fn page(request: String) -> String;
}

#[derive(Clone)]
struct PagesServer;

impl Pages for PagesServer {
    async fn page(self, _: Context, request: String) -> String {
        String::from_utf8(calls::answer(request.as_bytes())).unwrap_or_default()
    }
}

impl Contender for Tarpc {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: env!("VERSION_OF_TARPC"),
            ours: false,
            about: "tarpc over a Unix socket for each client, with bincode; the server on tokio's runtime",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let folder = PrivateFolder::new()?;
        let path = folder.path().join("socket");
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let mut incoming = runtime.block_on(unix::listen(&path, Bincode::default))?;
        // As much as a frame of length and bytes may have.
        incoming.config_mut().max_frame_length(16 << 20);
        runtime.spawn(async move {
            while let Some(transport) = incoming.next().await {
                let Ok(transport) = transport else { continue };
                let requests = BaseChannel::with_defaults(transport).execute(PagesServer.serve());
                tokio::spawn(requests.for_each(|request| async {
                    tokio::spawn(request);
                }));
            }
        });
        Ok(Serving::at(path.to_string_lossy(), (folder, runtime)))
    }
}

impl Call for Tarpc {
    type Server = ServerApart<TarpcClient>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let pages = runtime.block_on(async {
                let transport = unix::connect(address, Bincode::default).await?;
                Ok::<_, Failure>(PagesClient::new(client::Config::default(), transport).spawn())
            })?;
            Ok(TarpcClient { runtime, pages })
        })
    }
}

pub(crate) struct TarpcClient {
    runtime: Runtime,
    pages: PagesClient,
}

impl Client for TarpcClient {
    fn call(&mut self, request: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let request = String::from_utf8(request).map_err(lost)?;
        let page = self.pages.page(context::current(), request);
        Ok(self.runtime.block_on(page).map_err(lost)?.into_bytes())
    }
}

fn lost(error: impl std::fmt::Display) -> Failure {
    Failure::Unverified(error.to_string())
}
