//! Rows out of real servers: each on loopback, in a folder of its own that is made anew.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::core::ensure_ran;
use super::servers::{Folder, Server, free_port, run_as, server_user};
use crate::test::libtest::PART;
use crate::test::programs::{self, Manner, Program};
use crate::test::stage::{Stage, find_program, run, skip};

/// A server with a database for the tests, and what they are told of it.
struct Database {
    // In the order in which they go: first the server, then its files.
    _server: Server,
    _folder: Folder,
    variable: &'static str,
    url: String,
}

pub(crate) fn database(stage: &Stage) -> Result<()> {
    let mut cargo = stage.cargo_for_debug("test --lib --test servers")?;
    cargo.args(stage.selection());
    if stage.is_whole() {
        cargo.args(["--test", "it"]);
    }
    let programs = programs::build_all(cargo)?;
    let mut asked = Vec::new();
    if let Some(server) = start_mariadb(stage)? {
        ask(stage, "MariaDB", &server, &programs, "mysql")?;
        asked.push("MariaDB");
    }
    if let Some(server) = start_postgres(stage)? {
        ask(stage, "PostgreSQL", &server, &programs, "postgres")?;
        asked.push("PostgreSQL");
    }
    match asked.as_slice() {
        [] => skip("there is neither MariaDB nor PostgreSQL here"),
        ["MariaDB"] => skip("there is no PostgreSQL here; MariaDB was asked"),
        ["PostgreSQL"] => skip("there is no MariaDB here; PostgreSQL was asked"),
        _ => Ok(()),
    }
}

/// Runs the tests that are for this server alone.
fn ask(
    stage: &Stage,
    name: &str,
    database: &Database,
    programs: &[Program],
    filter: &str,
) -> Result<()> {
    println!("{PART}{name}");
    let manner = Manner {
        arguments: vec!["--ignored".to_owned(), filter.to_owned()],
        is_timed: true,
    };
    let with_types = |program: &&Program| {
        ["tamtam-rows", "tamtam-lab", "tamtam-cli"].contains(&program.package.as_str())
    };
    let jobs: Vec<_> = programs
        .iter()
        .filter(with_types)
        .map(|program| {
            let mut job = program.job(&manner);
            job.commands[0].env(database.variable, &database.url);
            job
        })
        .collect();
    stage
        .run_jobs(1, jobs)
        .with_context(|| format!("rows out of {name}"))?;
    ensure_ran(stage, &format!("no test asked {name}"))
}

/// A command as the server's user, whose output goes to the log.
fn logged(
    command: &mut Command,
    user: Option<&nix::unistd::User>,
    log: &Path,
    failure: &'static str,
) -> Result<()> {
    run_as(command, user);
    let output = File::options().create(true).append(true).open(log)?;
    let result = run(command.stdout(output.try_clone()?).stderr(output)).context(failure);
    if result.is_err() {
        print!("{}", fs::read_to_string(log).unwrap_or_default());
    }
    result
}

/// `None` where there is no MariaDB.
fn start_mariadb(stage: &Stage) -> Result<Option<Database>> {
    let elsewhere = [PathBuf::from("/usr/sbin")];
    let find = |name: &str| find_program(name, &elsewhere);
    let (Some(server), Some(install), Some(client)) = (
        find("mariadbd"),
        find("mariadb-install-db"),
        find("mariadb"),
    ) else {
        return Ok(None);
    };
    let log = stage.log("database-mariadb.log");
    let _ = fs::remove_file(&log);
    let user = server_user("mysql")?;
    let folder = Folder::new("mariadb", user.as_ref())?;
    let data = format!("--datadir={}", folder.path().join("data").display());
    let socket = format!("--socket={}", folder.path().join("socket").display());
    let mut make = stage.command(install);
    make.args([
        "--no-defaults",
        &data,
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
    ]);
    logged(
        &mut make,
        user.as_ref(),
        &log,
        "MariaDB made no data folder",
    )?;
    let port = free_port()?;
    let mut begin = stage.command(server);
    begin
        .args(["--no-defaults", &data, &socket, "--bind-address=127.0.0.1"])
        .args(["--innodb-buffer-pool-size=32M", "--skip-log-bin"])
        .arg(format!("--port={port}"))
        .arg(format!(
            "--pid-file={}",
            folder.path().join("pid").display()
        ));
    run_as(&mut begin, user.as_ref());
    let mut server = Server::start("MariaDB", &mut begin, &log)?;
    let say = |what: &str| {
        let mut command = stage.command(&client);
        command.args(["--no-defaults", &socket, "--user=root", "--execute", what]);
        command
    };
    server.wait_until(say("select 1"))?;
    run(&mut say(
        "create database tamtam character set utf8mb4; create user tamtam@'127.0.0.1' identified by 'tamtam'; \
         grant all on tamtam.* to tamtam@'127.0.0.1'; create user tamtam@localhost identified by 'tamtam'; \
         grant all on tamtam.* to tamtam@localhost",
    ))
    .context("MariaDB has no database for the tests")?;
    Ok(Some(Database {
        _server: server,
        _folder: folder,
        variable: "TAMTAM_MYSQL_URL",
        url: format!("mysql://tamtam:tamtam@127.0.0.1:{port}/tamtam"),
    }))
}

/// `None` where there is no PostgreSQL.
fn start_postgres(stage: &Stage) -> Result<Option<Database>> {
    // Debian keeps them out of the PATH.
    let elsewhere = newest_first(Path::new("/usr/lib/postgresql"));
    // Client and server of one version.
    let find = |name: &str| {
        let known = elsewhere
            .iter()
            .map(|folder| folder.join(name))
            .find(|program| program.exists());
        known.or_else(|| find_program(name, &[]))
    };
    let (Some(install), Some(server), Some(ready)) =
        (find("initdb"), find("postgres"), find("pg_isready"))
    else {
        return Ok(None);
    };
    let log = stage.log("database-postgres.log");
    let _ = fs::remove_file(&log);
    let user = server_user("postgres")?;
    let folder = Folder::new("postgres", user.as_ref())?;
    let data = folder.path().join("data");
    // One user, who needs no password.
    let mut make = stage.command(install);
    make.arg("--pgdata").arg(&data);
    make.args([
        "--username=tamtam",
        "--auth=trust",
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
    ]);
    logged(
        &mut make,
        user.as_ref(),
        &log,
        "PostgreSQL made no data folder",
    )?;
    let port = free_port()?.to_string();
    let mut begin = stage.command(server);
    begin
        .arg("-D")
        .arg(&data)
        .args(["-h", "127.0.0.1", "-p", &port, "-F", "-k"])
        .arg(folder.path());
    run_as(&mut begin, user.as_ref());
    let mut server = Server::start("PostgreSQL", &mut begin, &log)?;
    let mut is_ready = stage.command(ready);
    is_ready.args([
        "-h",
        "127.0.0.1",
        "-p",
        &port,
        "-U",
        "tamtam",
        "-d",
        "postgres",
    ]);
    server.wait_until(is_ready)?;
    Ok(Some(Database {
        _server: server,
        _folder: folder,
        variable: "TAMTAM_POSTGRES_URL",
        url: format!("postgres://tamtam@127.0.0.1:{port}/postgres"),
    }))
}

/// The folders `VERSION/bin` in `folder`, the highest version first.
fn newest_first(folder: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    versions.into_iter().map(|(_, folder)| folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_server_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        for version in ["9", "15", "notes"] {
            fs::create_dir(folder.path().join(version)).unwrap();
        }
        let found = newest_first(folder.path());
        assert_eq!(
            found,
            [folder.path().join("15/bin"), folder.path().join("9/bin")]
        );
        assert!(newest_first(Path::new("/no/such/folder")).is_empty());
    }
}
