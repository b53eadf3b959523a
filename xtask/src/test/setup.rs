//! `scripts/setup` beside the steps: what is needed later is installed while others compile. Downloads wait for the network, and what
//! is unpacked takes one core.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};

/// What the first steps need, and without which the script fails.
const REQUIRED: [&str; 2] = ["rust", "lint"];

/// What the script says while it runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// This need has been seen to: what it asks for is there, or cannot be had.
    Ready(String),
    /// It has ended, well or not.
    Ended { is_well: bool },
}

/// Sees to what is required before anything runs, and gives the other needs, for [`Later`].
///
/// # Errors
///
/// If something that is required is missing.
pub(crate) fn require(script: &mut Command, needs: &[String]) -> Result<Vec<String>> {
    let is_required = |need: &&String| REQUIRED.contains(&need.as_str());
    let (required, later): (Vec<_>, Vec<_>) = needs.iter().partition(is_required);
    let status = script.args(required).status().context("scripts/setup")?;
    ensure!(status.success(), "something that is required is missing");
    Ok(later.into_iter().cloned().collect())
}

/// Needs that are seen to while steps run.
#[derive(Debug, Default)]
pub(crate) struct Later {
    missing: BTreeSet<String>,
    /// The script was started, and has not ended.
    is_running: bool,
}

impl Later {
    /// Starts the script for these needs; `on` hears, in another thread, what it says.
    ///
    /// When this program has ended, the script sees to the need it is at and to no other: nothing is left half installed.
    ///
    /// # Errors
    ///
    /// If the script cannot be started.
    pub(crate) fn begin(
        mut script: Command,
        needs: &[String],
        on: impl Fn(Said) + Send + 'static,
    ) -> Result<Self> {
        if needs.is_empty() {
            return Ok(Later::default());
        }
        let child = script
            .arg("--tell")
            .args(needs)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("scripts/setup")?;
        thread::spawn(move || follow(child, on));
        Ok(Later {
            missing: needs.iter().cloned().collect(),
            is_running: true,
        })
    }

    /// Takes what the script has said.
    ///
    /// # Errors
    ///
    /// If it has failed.
    pub(crate) fn hear(&mut self, said: Said) -> Result<()> {
        match said {
            Said::Ready(need) => {
                self.missing.remove(&need);
            }
            Said::Ended { is_well } => {
                self.is_running = false;
                ensure!(is_well, "scripts/setup failed");
                self.missing.clear();
            }
        }
        Ok(())
    }

    /// Whether all of this has been seen to.
    pub(crate) fn has(&self, needs: &[String]) -> bool {
        needs.iter().all(|need| !self.missing.contains(need))
    }

    /// Whether the script has nothing more to do.
    pub(crate) fn is_done(&self) -> bool {
        !self.is_running
    }
}

fn follow(mut child: Child, on: impl Fn(Said)) {
    let output = child.stdout.take().expect("it is piped");
    for need in BufReader::new(output).lines().map_while(Result::ok) {
        on(Said::Ready(need));
    }
    let is_well = child.wait().is_ok_and(|status| status.success());
    on(Said::Ended { is_well });
}
