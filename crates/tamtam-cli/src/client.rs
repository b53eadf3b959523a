//! What the commands that ask a gateway have in common: where it is, and what becomes of a fault.

use std::io::{self, Write, stderr};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use tamtam_gateway::{CallError, Client, Fault};

/// Which server, and as whom.
#[derive(Args, Debug)]
pub struct ServerArguments {
    /// Where the server is: http://HOST:PORT, https://HOST:PORT or unix:PATH
    #[arg(value_name = "URL")]
    pub url: String,
    /// Send this token as `Authorization: Bearer TOKEN`
    #[arg(
        long,
        value_name = "TOKEN",
        env = "TAMTAM_TOKEN",
        hide_env_values = true
    )]
    pub token: Option<String>,
}

impl ServerArguments {
    pub(crate) async fn connect(&self) -> Result<Client> {
        let client = Client::connect(&self.url).await?;
        Ok(match &self.token {
            Some(token) => client.bearer(token),
            None => client,
        })
    }
}

/// Runs a client to its end. A fault that the server answers is shown by `show`, and the program ends with 1.
pub(crate) fn run(
    asking: impl Future<Output = Result<()>>,
    show: impl FnOnce(&Fault, &mut dyn Write) -> io::Result<()>,
) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the client cannot start")?;
    let Err(error) = runtime.block_on(asking) else {
        return Ok(ExitCode::SUCCESS);
    };
    match error.downcast_ref::<CallError>() {
        Some(CallError::Fault(fault)) => {
            // A closed standard error leaves no reader to tell.
            let _ = show(fault, &mut stderr().lock());
            Ok(ExitCode::FAILURE)
        }
        _ => Err(error),
    }
}
