//! `tamtam serve`: tables, methods and values that are pushed, for clients of JSON-RPC, XML-RPC, REST and AMF; and recordings of other
//! servers.

pub mod arguments;
pub(crate) mod demo;
mod linked;
mod live;
mod log;
mod recorded;
mod shapes;
mod tables;
mod tls;

use std::io::{IsTerminal, Write, stdout};
use std::process::ExitCode;

use anyhow::{Context, Result};
use tamtam_gateway::{Gateway, Limits, Server};

use crate::standard_output;
use arguments::ServeArguments;

/// Serves until a signal ends it.
///
/// # Errors
/// If the socket cannot be opened, the certificate cannot be read, or there is nothing to serve.
pub fn command(arguments: &ServeArguments) -> Result<ExitCode> {
    log::begin(arguments.log);
    let mut gateway = gateway(arguments);
    if arguments.demo {
        gateway = linked::links(live::services(demo::services(gateway)?)?);
        // Who has to send the token has to for all that there is.
        if arguments.token.is_none() {
            gateway = demo::vault(gateway);
        }
    }
    if let Some(url) = &arguments.db {
        gateway = tables::services(gateway, url, arguments)?;
    }
    gateway = recorded::front(gateway, arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the server cannot start its threads")?;
    runtime.block_on(serve(gateway, arguments))?;
    Ok(ExitCode::SUCCESS)
}

/// One without services yet, as the options have it.
fn gateway(arguments: &ServeArguments) -> Gateway {
    let mut gateway = Gateway::new()
        .limits(Limits {
            body_bytes: arguments.body_bytes,
            requests: arguments.requests,
            connections: arguments.connections,
            connections_of_client: arguments.connections_of_client,
            time: arguments.time,
            ..Limits::default()
        })
        .compress_above(arguments.compress_above)
        .advice(arguments.advice);
    if !arguments.no_page {
        gateway = gateway.page();
    }
    for origin in &arguments.origins {
        gateway = gateway.origin(origin);
    }
    for host in &arguments.hosts {
        gateway = gateway.host(host);
    }
    for &network in &arguments.trusted_proxies {
        gateway = gateway.trusted_proxy(network);
    }
    gateway = gateway.forwarded_by(arguments.forwarded_by.into());
    if let Some(token) = arguments.token.clone() {
        gateway = gateway.authorize(tamtam_gateway::bearer(token));
    }
    gateway
}

async fn serve(gateway: Gateway, arguments: &ServeArguments) -> Result<()> {
    let server = open(gateway, arguments).await?;
    let server = match (&arguments.certificate, &arguments.key) {
        (Some(certificate), Some(key)) => server.tls(tls::config(certificate, key)?),
        _ => server,
    };
    let stop = stop()?;
    let mut out = standard_output::lock();
    writeln!(out, "listening on {}", server.url())?;
    // For people; a program reads the first line.
    if stdout().is_terminal() {
        let url = server.url();
        if !arguments.no_page && !url.starts_with("unix:") {
            writeln!(
                out,
                "what there is: {url} in a browser, or tamtam call {url}"
            )?;
        }
        writeln!(
            out,
            "it ends with Ctrl-C, when the calls that it has are answered"
        )?;
    }
    out.flush()?;
    drop(out);
    if arguments.token.is_none() && server.address().is_some_and(|at| !at.ip().is_loopback()) {
        tracing::warn!("other machines may call, and no --token is asked for");
    }
    server.serve(stop).await?;
    Ok(())
}

async fn open(gateway: Gateway, arguments: &ServeArguments) -> Result<Server> {
    #[cfg(unix)]
    if let Some(path) = &arguments.unix {
        return Ok(Server::bind_unix(gateway, path).await?);
    }
    Ok(Server::bind(gateway, arguments.listen).await?)
}

/// Ready when a signal asks for the end.
fn stop() -> Result<impl Future<Output = ()>> {
    let failed = "signals cannot be handled";
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context(failed)?;
    #[cfg(unix)]
    let mut interrupt = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
        .context(failed)?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    })
}
