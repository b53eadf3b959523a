//! Steps of the TypeScript package.

use std::fs::{self, File};
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
    let server = link_server(stage)?;
    let log = stage.log("web-output");
    let tested = run_into(npm(&["test"]).env("TAMTAM_LINK_SERVER", server), &log);
    let said = fs::read_to_string(&log)?;
    print!("{said}");
    let (passed, failed) = (last_count(&said, "pass"), last_count(&said, "fail"));
    println!("{passed} passed, {failed} failed");
    tested?;
    ensure!(passed > 0, "no test ran");
    run(&mut npm(&["run", "build"])).context("the TypeScript package does not build")
}

/// The program whose actors the tests of links reach. It is built as the step `tests` builds what it tests: one more choice of features would
/// compile every library once more.
fn link_server(stage: &Stage) -> Result<std::path::PathBuf> {
    let mut cargo =
        stage.cargo_for_debug("build --quiet --workspace --all-features --example link_server")?;
    run(&mut cargo).context("the program whose actors pages reach")?;
    Ok(stage.target.join("debug/examples/link_server"))
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
    let mut cargo =
        stage.cargo_for_debug("build --quiet --workspace --all-features --example tiles")?;
    run(&mut cargo).context("the program that writes the tables")?;
    let mut tiles = stage.command(stage.target.join("debug/examples/tiles"));
    run(tiles.arg(&folder).args(["0", "1", "100", "1000", "70000"]))
        .context("the program did not write the tables")?;
    run(npm(&["run", "browser", "--"]).arg(&folder)).context("the browser")?;
    println!("--- the gateway's service browser");
    let (server, url) = super::clients::serving(stage, "service-page-server", &["--advice", "1"])?;
    run(npm(&["run", "service-page-test", "--"]).arg(&url)).context("the service browser")?;
    drop(server);
    println!("--- links of pages");
    let program = link_server(stage)?;
    run(npm(&["run", "link-page-test"]).env("TAMTAM_LINK_SERVER", program)).context("a link")?;
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
    println!("--- from end to end, shortly");
    run(&mut npm(&["run", "end-to-end-test"])).context("the checks of links")?;
    end_to_end(stage)
}

/// The forms that are read from end to end: ours, that of all pages, and those whose readers are libraries of others or the lab's own.
const FORMS: [&str; 6] = [
    "packed",
    "json-objects",
    "amf3-objects",
    "arrow-ipc",
    "message-pack",
    "parquet-zstd",
];
/// Other ways to read some of them, which are measured with these.
const OTHER_WAYS: [&str; 2] = ["packed/row-objects", "arrow-ipc/row-objects"];

/// One small table in some forms, through the real gateway, over one link.
fn end_to_end(stage: &Stage) -> Result<()> {
    let figures = stage.log("end-to-end.jsonl");
    let _ = fs::remove_file(&figures);
    let mut lab = stage.command(stage.target.join("debug/tamtam"));
    lab.args(["lab", "run", "rows/100/random", "--against", "none"])
        .args(["--only", &FORMS.join(","), "--runs", "1"])
        .args(["--browser", "--end-to-end", "--links", "8"])
        .args(["--slowdowns", "1", "--json"])
        .arg(&figures);
    let progress = stage.log("end-to-end-progress.txt");
    let told = File::create(&progress).with_context(|| progress.display().to_string())?;
    let measured = run(lab.stderr(told)).context("the measurement from end to end");
    let told = fs::read_to_string(&progress)?;
    print!("{told}");
    measured?;
    // Each is read plain and compressed; the line before it is of what is measured without a browser.
    let pages = 2 * (FORMS.len() + OTHER_WAYS.len());
    let line = format!("\nround 1 of 1: {pages} of {pages} runs done\n");
    ensure!(told.contains(&line), "it does not tell how far it is");
    let written = fs::read_to_string(&figures)?;
    let figure = |variant: &str, contender: &str, metric: &str| -> Result<f64> {
        let keys = [
            format!(r#""variant":"100/random/end-to-end-{variant}""#),
            format!(r#""contender":"{contender}""#),
            format!(r#""metric":"{metric}""#),
        ];
        let line = written
            .lines()
            .find(|line| keys.iter().all(|key| line.contains(key)))
            .with_context(|| format!("there is no {metric} of {contender}, {variant}"))?;
        let (_, rest) = line
            .split_once(r#""median":"#)
            .context("it has no median")?;
        let (median, _) = rest.split_once(',').context("it ends early")?;
        Ok(median.parse()?)
    };
    let link = figure("checks", "link-8mbit", "measured_to_computed")?;
    ensure!(
        (0.9..=1.25).contains(&link),
        "a link that is {link} times as slow as it should be was not refused"
    );
    for call in ["first-cpu1", "warm-cpu1"] {
        for form in FORMS.iter().chain(&OTHER_WAYS) {
            let total = figure(call, form, "total_us_8mbit")?;
            let sent = figure(call, form, "bytes_per_row")? * 100.0;
            ensure!(
                total > sent,
                "{form}: {sent} bytes were there after {total} µs, over a link of one byte a microsecond"
            );
            let parts = ["wait_us", "transfer_us", "decode_us", "tiles_us"]
                .map(|part| figure(call, form, part));
            let mut sum = 0.0;
            for part in parts {
                sum += part?;
            }
            // Each is a median of its own.
            ensure!(
                sum > total / 2.0 && sum < total * 2.0,
                "{form}: the parts take {sum} µs, all of it {total}"
            );
            ensure!(
                figure(call, form, "server_cpu_us")? > 0.0,
                "{form} costs no CPU"
            );
        }
    }
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
