//! The experiment's tables behind the gateway, in this process, for a page.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use tamtam_gateway::{Fault, Gateway, Method, Server, Service};
use tokio::runtime::Runtime;

use crate::serve::demo;

/// Answers larger than this are compressed where they are compressed at all: all tables that are worth it.
const COMPRESSED_ABOVE: usize = 1_000;

/// More bytes than these are not needed to see how fast a link is.
const MOST_BYTES: usize = 64 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
struct BytesArgs {
    /// How many letters.
    count: usize,
}

/// A gateway, until it is dropped.
#[derive(Debug)]
pub(super) struct Served {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Served {
    /// The article's three tables with so many rows each, which are compressed as a client asks, or not at all.
    ///
    /// # Errors
    /// If the tables cannot be made, or no socket is to be had.
    pub(super) fn start(rows: usize, is_compressed: bool) -> Result<Served> {
        let above = if is_compressed {
            COMPRESSED_ABOVE
        } else {
            usize::MAX
        };
        let letters = Method::new(
            "bytes",
            |args: BytesArgs| async move { letters(args.count) },
        )
        .about("So many letters, by which a link is timed.")
        .safe();
        // A page of its own is told the times of its calls.
        let gateway = demo::tiles(Gateway::new().page().compress_above(above), rows)?
            .service(Service::new("Link").with(letters));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("the gateway cannot start its threads")?;
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = runtime
            .block_on(Server::bind(gateway, anywhere))
            .context("the gateway cannot be opened")?;
        let address = server.address().context("the gateway has no address")?;
        runtime.spawn(server.serve(std::future::pending()));
        Ok(Served {
            address,
            runtime: Some(runtime),
        })
    }

    #[must_use]
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Connections that a browser has kept would hold it up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn letters(count: usize) -> Result<String, Fault> {
    if count > MOST_BYTES {
        return Err(Fault::new(
            "Link.TooMany",
            "a link is timed by 64 MiB at most",
        ));
    }
    Ok("tamtam".chars().cycle().take(count).collect())
}
