//! The example with a window, in an X server that needs no screen.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::test::stage::{Stage, find_program, run, skip};

/// A process that ends with the step.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn window(stage: &Stage) -> Result<()> {
    // In a folder of its own, as a newcomer's build of it would be. By itself clippy would have all libraries compiled once more.
    let test = || -> Result<Command> {
        let mut cargo = stage.cargo("test --manifest-path examples/window/Cargo.toml --target-dir");
        cargo.arg(stage.target.join("window"));
        stage.look_at_ours(&mut cargo)?;
        Ok(cargo)
    };
    run(test()?.args(["--all-targets", "--no-run"]))?;
    let Some(server) = find_program("Xvfb", &[]) else {
        run(&mut test()?)?;
        return skip("there is no Xvfb: the window was compiled, and not opened");
    };
    // It says which display it has taken when it is ready.
    let mut server = Command::new(server)
        .args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "800x720x24",
            "-nolisten",
            "tcp",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map(Ends)
        .context("Xvfb")?;
    let mut display = String::new();
    let says = server.0.stdout.take().context("Xvfb's output")?;
    BufReader::new(says).read_line(&mut display)?;
    ensure!(!display.trim().is_empty(), "Xvfb did not start");
    let mut tests = test()?;
    tests.args(["--", "--include-ignored"]);
    tests
        .env("DISPLAY", format!(":{}", display.trim()))
        .env("WAYLAND_DISPLAY", "");
    run(&mut tests).context("the window")
}
