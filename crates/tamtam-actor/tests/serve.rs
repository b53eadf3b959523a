//! A program that is looked at over its socket, by those who may and as they should, and by others.
//!
//! A program of its own: what is served is all that the process has.

#![cfg(unix)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use support::{LONG, within_limit};
use tamtam_actor::observe::{Serving, serve_at};
use tamtam_actor::{Address, Pool, Reply};

/// A folder of its own for a test, which is gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("tamtam-serve-{}-{name}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn socket(&self) -> PathBuf {
        self.0.join("s.sock")
    }

    fn entries(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A program with one actor that is served.
fn program(folder: &Folder) -> (Serving, Pool, Address<Reply<()>>) {
    let serving = serve_at(folder.socket()).unwrap();
    let pool = Pool::builder().threads(1).name("served").build().unwrap();
    let echo = pool.spawn_fn(|reply: Reply<()>, _| reply.send(()));
    echo.ask(|reply| reply).unwrap();
    (serving, pool, echo)
}

fn connect(path: &Path) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    BufReader::new(stream)
}

fn ask(client: &mut BufReader<UnixStream>, request: &str) -> String {
    client.get_mut().write_all(request.as_bytes()).unwrap();
    let mut line = String::new();
    client.read_line(&mut line).unwrap();
    line
}

#[test]
fn who_asks_is_answered_a_line_each() {
    within_limit(|| {
        let folder = Folder::new("asks");
        let (serving, _pool, echo) = program(&folder);
        assert_eq!(serving.path(), folder.socket());
        let mut client = connect(&folder.socket());
        let hello = ask(&mut client, "hello\n");
        let pid = format!("\"pid\":{},", std::process::id());
        assert!(
            hello.starts_with("{\"tamtam\":1,") && hello.ends_with("}\n"),
            "{hello}"
        );
        assert!(hello.contains(&pid), "{hello}");
        let look = ask(&mut client, "look 1 most=1000 by=handled later=thing\n");
        let actor = format!("{{\"id\":{},\"type\":", echo.id().get());
        assert!(
            look.contains("\"name\":\"served\"") && look.contains(&actor),
            "{look}"
        );
        assert!(
            !look.contains("handled_since"),
            "there is nothing before: {look}"
        );
        for _ in 0..3 {
            echo.ask(|reply| reply).unwrap();
        }
        let look = ask(&mut client, "look 1 most=1000 by=time\n");
        let of_actor = &look[look.find(&actor).unwrap()..];
        let since = of_actor.split("\"handled_since\":").nth(1).unwrap();
        assert!(since.starts_with("3,"), "{look}");
        // Sorted by the turn that goes on, and only those of that type or name.
        for (named, has_it) in [("serve", true), ("SERVE", true), ("no%20such", false)] {
            let look = ask(&mut client, &format!("look 1 by=turn named={named}\n"));
            assert_eq!(look.contains(&actor), has_it, "{look}");
            assert_eq!(look.contains("\"actors_matching\":0"), !has_it, "{look}");
        }
        // Two requests at once get two answers.
        let first = ask(&mut client, "hello\nhello\n");
        let mut second = String::new();
        client.read_line(&mut second).unwrap();
        assert_eq!(first, second);
    });
}

/// The program that is looked at runs in a container of processes; who asks runs outside of it, and has no number there.
#[cfg(target_os = "linux")]
#[test]
fn a_peer_of_this_user_that_has_no_process_number_here_is_answered() {
    const NAME: &str = "a_peer_of_this_user_that_has_no_process_number_here_is_answered";
    const PLACE: &str = "TAMTAM_SERVE_PLACE";
    within_limit(|| {
        if let Some(place) = std::env::var_os(PLACE) {
            let serving = serve_at(place).unwrap();
            // Until the test is over, which closes it.
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            return drop(serving);
        }
        let folder = Folder::new("container");
        let own = std::env::current_exe().unwrap();
        let contained = |program: &Path| {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--pid", "--fork"]);
            command.arg(program).stdin(Stdio::piped());
            command
        };
        let try_it = contained(Path::new("true")).output();
        if !try_it.is_ok_and(|tried| tried.status.success()) {
            println!("this system makes no containers for its users");
            return;
        }
        let mut contained = contained(&own)
            .args(["--exact", NAME, "--nocapture"])
            .env(PLACE, folder.socket())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while UnixStream::connect(folder.socket()).is_err() {
            assert!(contained.try_wait().unwrap().is_none(), "it has ended");
            std::thread::yield_now();
        }
        let mut client = connect(&folder.socket());
        let hello = ask(&mut client, "hello\n");
        assert!(hello.contains("\"program\""), "{hello}");
        drop(contained.stdin.take());
        assert!(contained.wait().unwrap().success());
    });
}

#[test]
fn a_request_that_is_wrong_gets_an_error() {
    within_limit(|| {
        let folder = Folder::new("wrong");
        let _program = program(&folder);
        let mut client = connect(&folder.socket());
        for request in [
            "look 2 most=1\n",
            "look\n",
            "\n",
            "GET / HTTP/1.1\r\n",
            "look 1 most=-1\n",
            "look 1 by=name\n",
        ] {
            let answer = ask(&mut client, request);
            assert!(
                answer.starts_with("{\"tamtam\":1,\"error\":\""),
                "{request}: {answer}"
            );
        }
        // The connection lives on.
        assert!(ask(&mut client, "hello\n").contains("\"program\""));
    });
}

#[test]
fn only_its_user_can_reach_the_socket_and_it_goes_with_the_service() {
    within_limit(|| {
        let folder = Folder::new("mode");
        let (serving, pool, echo) = program(&folder);
        let file = fs::symlink_metadata(folder.socket()).unwrap();
        assert!(file.file_type().is_socket());
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        assert_eq!(folder.entries(), 1, "nothing else is left");
        let mut client = connect(&folder.socket());
        assert!(ask(&mut client, "hello\n").contains("\"program\""));
        drop(serving);
        assert_eq!(folder.entries(), 0);
        let mut rest = Vec::new();
        assert_eq!(client.read_to_end(&mut rest).unwrap(), 0);
        echo.ask(|reply| reply).unwrap();
        drop(pool);
    });
}

#[test]
fn a_socket_that_was_left_behind_is_replaced_and_nothing_else() {
    within_limit(|| {
        let folder = Folder::new("stale");
        drop(UnixListener::bind(folder.socket()).unwrap());
        assert_eq!(folder.entries(), 1, "std leaves it behind");
        // A program that another test starts has it, too, until it runs.
        while UnixStream::connect(folder.socket()).is_ok() {
            std::thread::yield_now();
        }
        let (serving, ..) = program(&folder);
        let error = serve_at(folder.socket()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse, "{error}");
        assert!(error.to_string().contains("s.sock"), "{error}");
        drop(serving);
        fs::write(folder.socket(), "precious").unwrap();
        let error = serve_at(folder.socket()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{error}");
        assert_eq!(fs::read_to_string(folder.socket()).unwrap(), "precious");
        let error = serve_at(folder.0.join("no/such/folder.sock")).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
    });
}

#[test]
fn hostile_clients_keep_nobody() {
    within_limit(|| {
        let folder = Folder::new("hostile");
        let (_serving, _pool, echo) = program(&folder);
        let mut faithful = connect(&folder.socket());
        assert!(ask(&mut faithful, "hello\n").contains("\"program\""));

        // A line without an end, bytes that are no text: an error each, and the end.
        for garbage in [vec![b'a'; 100_000], vec![0xff, 0xfe, b'\n']] {
            let mut client = connect(&folder.socket());
            let _ = client.get_mut().write_all(&garbage);
            let mut answer = Vec::new();
            // What it has not read may end the connection before the answer is read.
            let _ = client.read_to_end(&mut answer);
            assert!(answer.is_empty() || answer.starts_with(b"{\"tamtam\":1,\"error\":"));
        }
        // One who hangs up after half a word, and one who asks and never reads.
        let mut client = connect(&folder.socket());
        client.get_mut().write_all(b"lo").unwrap();
        drop(client);
        let deaf = connect(&folder.socket());
        deaf.get_ref().set_nonblocking(true).unwrap();
        while deaf.get_ref().write(b"look 1 most=1000\n").is_ok() {}
        // Many who say nothing.
        let crowd: Vec<_> = (0..100).map(|_| connect(&folder.socket())).collect();
        let mut late = connect(&folder.socket());
        assert!(ask(&mut late, "hello\n").contains("\"program\""));
        assert!(ask(&mut faithful, "look 1\n").contains("\"served\""));
        echo.ask(|reply| reply).unwrap();
        drop(crowd);
    });
}
