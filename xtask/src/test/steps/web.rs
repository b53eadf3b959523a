//! Steps of the TypeScript package.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::test::stage::{Stage, find_program, run, run_into, skip};

/// `npm run --silent` with these arguments; `None` where the package has not what it is made with.
fn npm(stage: &Stage) -> Option<impl Fn(&[&str]) -> Command> {
    let folder = stage.root().join("clients/web");
    let npm = find_program("npm", &[])?;
    folder
        .join("node_modules/.package-lock.json")
        .exists()
        .then_some(())?;
    Some(move |arguments: &[&str]| {
        let mut command = Command::new(&npm);
        command.current_dir(&folder).arg("--silent").args(arguments);
        command
    })
}

const NO_NODE: &str = "there is no Node, or npm could not install what clients/web needs";

pub(crate) fn web(stage: &Stage) -> Result<()> {
    let Some(npm) = npm(stage) else {
        return skip(NO_NODE);
    };
    run(&mut npm(&["run", "check"])).context("the TypeScript package does not type-check")?;
    let log = stage.log("web-output");
    let tested = run_into(&mut npm(&["test"]), &log);
    let said = fs::read_to_string(&log)?;
    print!("{said}");
    let (passed, failed) = (last_count(&said, "pass"), last_count(&said, "fail"));
    println!("{passed} passed, {failed} failed");
    tested?;
    ensure!(passed > 0, "no test ran");
    run(&mut npm(&["run", "build"])).context("the TypeScript package does not build")
}

/// The number that Node's runner gives for a word at the end: `# pass 75`.
fn last_count(said: &str, word: &str) -> u64 {
    let mut counts = said.lines().filter_map(|line| {
        let count = line
            .strip_prefix("# ")
            .or_else(|| line.strip_prefix("ℹ "))?;
        count.strip_prefix(word)?.trim().parse().ok()
    });
    counts.next_back().unwrap_or(0)
}

pub(crate) fn browser(stage: &Stage) -> Result<()> {
    let Some(npm) = npm(stage) else {
        return skip(NO_NODE);
    };
    let browsers = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let is_named = std::env::var("TAMTAM_CHROMIUM").is_ok_and(|path| !path.is_empty());
    if !is_named && !browsers.iter().any(|browser| Path::new(browser).exists()) {
        return skip("there is no Chromium");
    }
    let folder = stage.target.join("tiles");
    let _ = fs::remove_dir_all(&folder);
    let mut cargo = stage
        .cargo("build --quiet --workspace --exclude tamtam-guide --all-features --example tiles");
    run(&mut cargo).context("the program that writes the tables")?;
    let mut tiles = stage.command(stage.target.join("debug/examples/tiles"));
    run(tiles.arg(&folder).args(["0", "1", "100", "1000", "70000"]))
        .context("the program did not write the tables")?;
    run(npm(&["run", "browser", "--"]).arg(&folder)).context("the browser")?;
    println!("--- the gateway's service browser");
    let (server, url) = super::clients::serving(stage, "service-page-server", &["--advice", "1"])?;
    run(npm(&["run", "service-page-test", "--"]).arg(&url)).context("the service browser")?;
    drop(server);
    println!("--- measured, shortly");
    let figures = stage.log("browser.jsonl");
    let mut measure = npm(&["run", "measure", "--", "--payloads"]);
    measure.arg(&folder);
    measure.args([
        "--counts",
        "1000",
        "--cold-runs",
        "1",
        "--warm-runs",
        "1",
        "--warm-ms",
        "30",
    ]);
    run_into(&mut measure, &figures).context("the measurement")?;
    // Three tables in seven forms, of which one is read in three ways, cold and warm.
    let verified = fs::read_to_string(&figures)?
        .matches(r#""verified":true"#)
        .count();
    ensure!(
        verified == 54,
        "{verified} figures of 54 are there: {}",
        figures.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_nodes_runner_are_read() {
        let said = "ℹ tests 76\nℹ pass 75\nℹ fail 1\n# pass 3\n";
        assert_eq!((last_count(said, "pass"), last_count(said, "fail")), (3, 1));
        assert_eq!(last_count("pass 3", "pass"), 0);
        assert_eq!(last_count("# passed 3", "pass"), 0);
    }
}
