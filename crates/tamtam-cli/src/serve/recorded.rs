//! Another server: recorded while it lives, answered for when it is gone.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Result, bail};
use tamtam_gateway::{Gateway, Recorder, Replay};

use super::arguments::ServeArguments;

/// Puts the recorder or the recording in front, if the options name one.
///
/// # Errors
/// If the URL is none, or the file cannot be used.
pub(super) fn front(gateway: Gateway, arguments: &ServeArguments) -> Result<Gateway> {
    let has_recording = !arguments.record.is_empty() || arguments.replay.is_some();
    if has_recording && arguments.token.is_some() {
        // What was not typed is not told as if it were.
        let given = if std::env::var_os("TAMTAM_TOKEN").is_some() {
            "--token, which the variable TAMTAM_TOKEN gives as well: leave it out, or run `env -u TAMTAM_TOKEN tamtam serve ..`"
        } else {
            "--token: leave it out"
        };
        bail!("--record and --replay ask for no token, and cannot be used with {given}");
    }
    if let [url, path] = &arguments.record[..] {
        let recorder = Recorder::open(url, path)?.told(|loss| say(&loss.to_string()));
        if recorder.torn_bytes() > 0 {
            say(&torn(Path::new(path), recorder.torn_bytes(), "was cut off"));
        }
        if let Some(before) = recorder.other_server() {
            say(&format!(
                "{path} was begun with calls of {before}, and goes on with those of {url}; of the same call the later answer counts"
            ));
        }
        return Ok(gateway.recorder(recorder));
    }
    if let Some(path) = &arguments.replay {
        let replay = Replay::open(path)?;
        if replay.torn_bytes() > 0 {
            say(&torn(path, replay.torn_bytes(), "is left out"));
        }
        let (count, server) = (replay.call_count(), replay.server());
        let others = match replay.not_given_count() {
            0 => String::new(),
            others => format!(", {others} have one that cannot be given"),
        };
        say(&format!("{count} calls of {server} have an answer{others}"));
        return Ok(gateway.replay(replay));
    }
    Ok(gateway)
}

fn torn(path: &Path, bytes: u64, what: &str) -> String {
    format!(
        "the last entry of {} was not written to its end, and {what} ({bytes} bytes)",
        path.display()
    )
}

fn say(text: &str) {
    // A closed standard error leaves no reader to tell.
    let _ = writeln!(io::stderr(), "tamtam: {text}");
}
