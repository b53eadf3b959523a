//! `tamtam watch`: subscribes to a topic or property of a gateway, and prints its values as they come.

pub mod arguments;

use std::io::{Write, stderr};
use std::process::ExitCode;

use anyhow::Result;
use tamtam_gateway::Value;

use crate::client;
use crate::printable::{printable_json, printable_lines};
use crate::standard_output;
use arguments::{WatchArguments, Which};

/// Prints the values, one a line in JSON, and on standard error how many were missed.
///
/// # Errors
/// If the server cannot be reached, refuses, or ends.
pub fn command(arguments: &WatchArguments) -> Result<ExitCode> {
    client::run(watch(arguments), |fault, err| {
        writeln!(err, "{}", printable_lines(&fault.to_string()))
    })
}

async fn watch(arguments: &WatchArguments) -> Result<()> {
    let socket = arguments.server.connect().await?.socket().await?;
    let mut values = socket.subscribe(&arguments.name, arguments.wish()).await?;
    let mut left = arguments.messages.unwrap_or(u64::MAX);
    while left > 0
        && let Some(pushed) = values.next().await?
    {
        if pushed.missed > 0 {
            // A closed standard error leaves no reader to tell.
            let _ = writeln!(stderr().lock(), "missed {}", pushed.missed);
        }
        let line = match arguments.policy {
            Which::Batches => Value::List(pushed.values).to_json(),
            _ => pushed.into_value().to_json(),
        };
        let mut out = standard_output::lock();
        writeln!(out, "{}", printable_json(&line))?;
        out.flush()?;
        left -= 1;
    }
    Ok(())
}
