//! Clients of other projects against the gateway: the program that users run, on loopback.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::servers::Server;
use super::witnesses::blazeds;
use crate::test::stage::{Stage, find_program, run, run_into, skip};

/// The programs in `testing/clients`, each of which calls the gateway at a URL.
const CLIENTS: [&str; 5] = [
    "xml_rpc_client.py",
    "json_rpc_clients.py",
    "amf_client.py",
    "arrow_client.py",
    "web_socket_client.py",
];

/// The one that is a program of Java: Adobe's client, of the BlazeDS that `scripts/setup witnesses` installs.
const ADOBE: &str = "testing/clients/blazeds/AmfConnectionClient.java";

pub(crate) fn clients(stage: &Stage) -> Result<()> {
    let python = stage.root().join("target/clients/bin/python");
    let has_python = python.exists();
    let curl = find_program("curl", &[]);
    let adobe = blazeds(stage, ADOBE)?;
    if !has_python && curl.is_none() && adobe.is_none() {
        return skip(
            "there is neither curl nor Python with the clients that scripts/setup clients installs, nor BlazeDS",
        );
    }
    let (_server, url) = serving(stage, "clients-server", &[])?;
    if has_python {
        for client in CLIENTS {
            println!("--- {client}");
            let mut command = stage.command(&python);
            command
                .arg(stage.root().join("testing/clients").join(client))
                .arg(&url);
            run(&mut command).with_context(|| client.to_owned())?;
        }
    }
    if let Some(classpath) = &adobe {
        println!("--- {ADOBE}");
        let mut command = stage.command("java");
        command.arg("-cp").arg(classpath);
        command.args(["AmfConnectionClient", &url]);
        run(&mut command).context("AMFConnection")?;
    }
    if let Some(curl) = &curl {
        by_curl(stage, curl, &url).context("curl")?;
        events_by_curl(stage, curl, &url).context("curl on events")?;
    }
    let missing = [
        (has_python, "Python with the clients of others"),
        (adobe.is_some(), "BlazeDS"),
        (curl.is_some(), "curl"),
    ];
    let missing: Vec<&str> = missing
        .into_iter()
        .filter_map(|(is_here, what)| (!is_here).then_some(what))
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => skip(format!(
            "there is no {} here; the other clients called",
            missing.join(", no ")
        )),
    }
}

/// The program that users run, serving its examples on loopback until it is dropped, and its URL.
pub(super) fn serving(stage: &Stage, log: &str, options: &[&str]) -> Result<(Server, String)> {
    // As the step `lab` builds it: one more choice of features would compile every library once more.
    run(&mut super::lab::program(stage)?).context("the program")?;
    let log = stage.log(log);
    // What the one before has said is not to be taken for what this one says.
    let _ = fs::remove_file(&log);
    let mut serve = stage.command(stage.target.join("debug/tamtam"));
    serve
        .args(["serve", "--demo", "--listen", "127.0.0.1:0"])
        .args(options);
    let mut server = Server::start("the gateway", &mut serve, &log)?;
    let mut url = None;
    server.wait_for(|| {
        url = fs::read_to_string(&log)
            .ok()
            .and_then(|said| listening(&said));
        url.is_some()
    })?;
    let url = url.context("the gateway does not say where it is")?;
    Ok((server, url))
}

/// Where a server says that it listens, once the line is whole.
fn listening(said: &str) -> Option<String> {
    let lines = said.lines().zip(said.split_inclusive('\n'));
    let mut whole = lines.filter(|(_, line)| line.ends_with('\n'));
    whole.find_map(|(line, _)| line.strip_prefix("listening on ").map(str::to_owned))
}

/// Compressed and plain answers, tags, ranges, and HTTP/2 without TLS.
fn by_curl(stage: &Stage, curl: &Path, url: &str) -> Result<()> {
    println!("--- curl");
    let list = format!("{url}/rest/Tiles/list?set=palette");
    let ask = |options: &[&str]| -> Result<String> {
        let out = stage.log("curl-output");
        let mut command = stage.command(curl);
        command
            .args(["--silent", "--show-error", "--max-time", "60"])
            .args(options);
        run_into(&mut command, &out)?;
        Ok(fs::read_to_string(out)?)
    };
    let plain = ask(&[&list])?;
    ensure!(
        plain.starts_with("[{\"slot_number\":1,"),
        "no table: {plain:.80}"
    );
    ensure!(
        ask(&["--compressed", &list])? == plain,
        "compressed it is another table"
    );
    ensure!(
        ask(&["--http2-prior-knowledge", &list])? == plain,
        "by HTTP/2 it is another table"
    );
    let code = ["--output", "/dev/null", "--write-out", "%{http_code}"];
    let head = ask(&["--head", &list])?;
    let tag = head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .context("no tag")?;
    let known = format!("If-None-Match: {}", tag.trim());
    ensure!(
        ask(&[&code[..], &["--header", &known, &list]].concat())? == "304",
        "it is sent again"
    );
    let part = ask(&[
        "--header",
        "Range: rows=10-11",
        "--header",
        "Accept: text/csv",
        &list,
    ])?;
    ensure!(
        part.lines().count() == 3 && part.contains("\n11,"),
        "no range of rows: {part}"
    );
    let simple = ask(&[&code[..], &["--data", "{}", &format!("{url}/jsonrpc")]].concat())?;
    ensure!(
        simple == "415",
        "what a form can send is not refused: {simple}"
    );
    let vault = format!("{url}/rest/Vault/open");
    ensure!(
        ask(&[&code[..], &[&vault]].concat())? == "401",
        "one that does not say who it is may call"
    );
    let opened = ask(&["--user", "ada:secret", &vault])?;
    ensure!(opened == "\"gold\"", "one that is known may not: {opened}");
    println!("curl: plain, compressed, HTTP/2, a tag, a range, a form, credentials");
    Ok(())
}

/// A stream of events, which `curl -N` reads until its time is over, and one that comes back.
fn events_by_curl(stage: &Stage, curl: &Path, url: &str) -> Result<()> {
    let listen = |last: Option<&str>| -> Result<String> {
        let mut command = stage.command(curl);
        command.args(["--silent", "--no-buffer", "--max-time", "2"]);
        if let Some(last) = last {
            command
                .arg("--header")
                .arg(format!("Last-Event-ID: {last}"));
        }
        command.arg(format!("{url}/events/Market.prices"));
        // That its time is over is no success to curl.
        let output = command.output()?;
        Ok(String::from_utf8(output.stdout)?)
    };
    let heard = listen(None)?;
    let last = heard
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("id: "));
    let last = last.with_context(|| format!("no event has an id: {heard}"))?;
    ensure!(
        heard.contains("\ndata: {\"metal\":\""),
        "no event has a price: {heard}"
    );
    let (run, number) = last.split_once('.').context("the id has no number")?;
    let next = number.parse::<u64>()? + 1;
    let again = listen(Some(last))?;
    ensure!(
        again.starts_with(&format!("id: {run}.{next}\n")),
        "one that comes back does not go on where it was ({last}): {again:.200}"
    );
    println!("curl: events, and one that came back");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::listening;

    #[test]
    fn a_url_is_read_when_its_line_is_whole() {
        assert_eq!(listening("listening on http://127.0.0.1:80"), None);
        let whole = "a warning\nlistening on http://127.0.0.1:8080\n";
        assert_eq!(listening(whole).as_deref(), Some("http://127.0.0.1:8080"));
    }
}
