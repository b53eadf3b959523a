//! `tamtam top` as a person and a script use it, beside a program that runs.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use crate::program::{Ended, Place};
use serde_json::Value;
use tamtam_actor::{Actor, Pool, Reply, observe};

/// Where the program finds that it is to be one that is looked at.
const SERVE: &str = "TAMTAM_TEST_SERVES";

/// Does not come back.
struct Shaft;

impl Actor for Shaft {
    type Message = std::sync::mpsc::Sender<()>;

    fn handle(&mut self, enter: Self::Message, _: &mut tamtam_actor::Context<Self>) {
        enter.send(()).unwrap();
        loop {
            thread::park();
        }
    }
}

/// A program that is looked at: this very test in a process of its own. It works until its input ends.
#[test]
fn a_program_that_serves() {
    if std::env::var_os(SERVE).is_none() {
        return;
    }
    let serving = observe::serve().unwrap();
    // One of them is kept; the cook has another, and should that be preempted for long in a turn, then a third is free.
    let pool = Pool::builder().threads(3).name("kitchen").build().unwrap();
    let cook = pool.spawn_fn(|reply: Reply<()>, _| reply.send(()));
    let (enter, entered) = std::sync::mpsc::channel();
    let stuck = pool.spawn_fn(move |(): (), _| {
        enter.send(()).unwrap();
        // For ever, as far as anybody who looks can see.
        loop {
            thread::park();
        }
    });
    for _ in 0..3 {
        stuck.tell(()).unwrap();
    }
    entered.recv().unwrap();
    // Its only thread is kept, and what may block is elsewhere.
    let cellar = Pool::builder().threads(1).name("cellar").build().unwrap();
    let (enter, entered) = std::sync::mpsc::channel();
    let keep = move |(): (), _: &mut tamtam_actor::Here<()>| {
        enter.send(()).unwrap();
        loop {
            thread::park();
        }
    };
    let spawners = [
        cellar.spawner().name("the mouse"),
        cellar.spawner().name("the drain").blocking(),
    ];
    let kept = spawners.map(|spawner| spawner.spawn_fn(keep.clone()));
    for actor in &kept {
        actor.tell(()).unwrap();
        entered.recv().unwrap();
    }
    // One that hangs was replaced, and its thread left behind.
    let attic = Pool::builder().threads(1).name("attic").build().unwrap();
    let shaft = attic.spawner().replaceable().spawn_with(|_| Shaft);
    let (enter, entered) = std::sync::mpsc::channel();
    shaft.tell(enter).unwrap();
    entered.recv().unwrap();
    assert!(shaft.replace());
    println!("\nserves at {}", serving.path().display());
    let asker = thread::spawn(move || while cook.ask(|reply| reply).is_ok() {});
    // Only the end matters.
    let _ = std::io::stdin().read_line(&mut String::new());
    drop((serving, asker));
    std::process::exit(0);
}

struct Program {
    child: Child,
    input: Option<ChildStdin>,
    path: String,
}

impl Program {
    /// One that has its socket in this folder.
    fn start(runtime: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "top::a_program_that_serves", "--nocapture"])
            .env(SERVE, "1")
            .env("XDG_RUNTIME_DIR", runtime)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let path = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("serves at ").map(str::to_owned))
            .expect("it serves");
        Program {
            input: child.stdin.take(),
            child,
            path,
        }
    }

    fn number(&self) -> String {
        self.child.id().to_string()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn top(place: &Place, words: &[&str]) -> Ended {
    let words: Vec<_> = ["top"].iter().chain(words).copied().collect();
    let output = place
        .command(&words)
        .env("XDG_RUNTIME_DIR", place.path("run"))
        .output()
        .unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn place() -> Place {
    let place = Place::empty();
    fs::create_dir(place.path("run")).unwrap();
    place
}

#[test]
fn a_running_program_is_shown() {
    let place = place();
    let program = Program::start(&place.path("run"));
    assert!(
        program
            .path
            .ends_with(&format!("{}.sock", program.number()))
    );

    // By its number, as JSON.
    let shown = top(
        &place,
        &[
            &program.number(),
            "--once",
            "--json",
            "--interval",
            // On a busy machine, too, all that works has a turn in it.
            "2",
            "--by",
            "time",
        ],
    );
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    assert_eq!(shown.stdout.lines().count(), 1);
    let answer: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(answer["tamtam"], 1);
    assert_eq!(answer["pid"], program.child.id());
    assert!(answer["since_ns"].as_u64().unwrap() >= 2_000_000_000);
    let kitchen = &answer["homes"][0];
    assert_eq!(
        (&kitchen["kind"], &kitchen["name"], &kitchen["threads"]),
        (&"pool".into(), &"kitchen".into(), &3.into())
    );
    assert_eq!(
        (&kitchen["actors"]["living"], &answer["actors_observed"]),
        (&2.into(), &5.into())
    );
    let actors = answer["actors"].as_array().unwrap();
    let stuck = actors
        .iter()
        .find(|actor| actor["message"] == "()" && actor["home"] == "kitchen")
        .unwrap();
    assert_eq!(
        (&stuck["handled"], &stuck["queued"]),
        (&1.into(), &2.into())
    );
    assert!(stuck["at_work_ns"].as_u64().unwrap() >= 2_000_000_000);
    assert_eq!(stuck["handled_since"], 0);
    let cook = actors
        .iter()
        .find(|actor| actor["message"] != "()")
        .unwrap();
    assert!(cook["handled_since"].as_u64().unwrap() > 0, "{cook}");

    // The only one there is, by its path, and as text, since the output is no terminal.
    for words in [
        &["--interval", "0.1"][..],
        &[&program.path, "--once", "--interval", "0.1"],
    ] {
        let shown = top(&place, words);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
        assert!(
            shown.stdout.contains(&format!("({})", program.number())),
            "{}",
            shown.stdout
        );
        let lines: Vec<_> = shown.stdout.lines().collect();
        let row = |begin: &str| {
            lines
                .iter()
                .find(|line| line.trim_start().starts_with(begin))
        };
        assert!(
            row("HOME").is_some() && row("kitchen").is_some(),
            "{}",
            shown.stdout
        );
        // The one that has mail is the first.
        let heading = lines
            .iter()
            .position(|line| line.contains("ACTOR  "))
            .unwrap();
        assert!(
            lines[heading + 1].contains("fn in top::a_program_that_serves"),
            "{}",
            shown.stdout
        );
        assert_eq!(
            lines[heading + 1].split_whitespace().nth(7),
            Some("2"),
            "{}",
            shown.stdout
        );
    }
    let socket = program.path.clone();
    drop(program);
    assert!(!Path::new(&socket).exists());
}

#[test]
fn a_pool_without_a_free_thread_is_warned_of_and_those_who_keep_it_are_found() {
    let place = place();
    let program = Program::start(&place.path("run"));
    let shown = top(&place, &["--interval", "0.1", "--by", "turn"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let warnings: Vec<_> = shown
        .stdout
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .collect();
    assert_eq!(warnings.len(), 2, "{}", shown.stdout);
    assert!(
        warnings[1].starts_with("warning: attic: a thread was left behind"),
        "{}",
        shown.stdout
    );
    assert!(
        warnings[0].starts_with("warning: cellar: its only thread is in a long turn"),
        "{}",
        shown.stdout
    );
    // The one that began first is at it for the longest.
    let heading = shown
        .stdout
        .lines()
        .position(|line| line.contains("ACTOR  "));
    let first = shown.stdout.lines().nth(heading.unwrap() + 1).unwrap();
    assert!(
        first.contains("a_program_that_serves") && first.contains("kitchen"),
        "{first}"
    );
    // By name, in capitals or not, with a space; and by type.
    for (named, count) in [
        ("THE MOUSE", 1),
        ("the ", 2),
        ("a_program_that", 4),
        ("100 %", 0),
    ] {
        let words = ["--interval", "0.1", "--once", "--json", "--named", named];
        let shown = top(&place, &words);
        let answer: Value = serde_json::from_str(&shown.stdout).unwrap();
        let actors = answer["actors"].as_array().unwrap();
        assert_eq!(
            (actors.len(), &answer["actors_matching"]),
            (count, &count.into()),
            "{named}"
        );
    }
    let shown = top(&place, &["--interval", "0.1", "--named", "drain"]);
    let row = shown.stdout.lines().find(|line| line.contains("the drain"));
    assert!(
        row.unwrap().contains("cellar (blocking)"),
        "{}",
        shown.stdout
    );
    assert!(!shown.stdout.contains("the mouse"), "{}", shown.stdout);
    let shown = top(&place, &["--interval", "0.1", "--named", "nobody"]);
    assert!(
        shown.stdout.contains("No actor has such a name"),
        "{}",
        shown.stdout
    );
    drop(program);
}

#[test]
fn of_several_programs_one_is_to_be_named() {
    let place = place();
    let programs = [0, 1].map(|_| Program::start(&place.path("run")));
    let shown = top(&place, &["--once", "--interval", "0.1"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""));
    for program in &programs {
        assert!(shown.stderr.contains(&program.number()), "{}", shown.stderr);
        let shown = top(&place, &[&program.number(), "--once", "--interval", "0.1"]);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    }
    let shown = top(&place, &["bakery"]);
    assert_eq!(shown.code, Some(2));
    assert!(
        shown.stderr.contains("no program is called bakery"),
        "{}",
        shown.stderr
    );
}

#[test]
fn where_there_is_no_program_it_is_said_what_to_do() {
    let place = place();
    let shown = top(&place, &["/no/such/place.sock"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""));
    assert!(
        shown.stderr.contains("/no/such/place.sock") && shown.stderr.contains("observe::serve()"),
        "{}",
        shown.stderr
    );

    // Killed, a program leaves its socket behind; it is found out, and removed.
    let mut program = Program::start(&place.path("run"));
    program.child.kill().unwrap();
    program.child.wait().unwrap();
    assert!(Path::new(&program.path).exists());
    let shown = top(&place, &[&program.path, "--once"]);
    assert!(shown.stderr.contains("has ended"), "{}", shown.stderr);
    let shown = top(&place, &[&program.number(), "--once"]);
    assert_eq!(shown.code, Some(2), "{}", shown.stdout);
    assert!(!Path::new(&program.path).exists());
}

#[test]
fn an_interval_has_to_be_one() {
    for interval in ["0", "-1", "soon", "NaN", "1e9"] {
        let shown = place().run(&["top", &format!("--interval={interval}")]);
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""));
        assert!(shown.stderr.contains("0.05 to 3600"), "{}", shown.stderr);
    }
}

/// Somebody who answers whatever he likes.
fn impostor(place: &Place, answer: &'static [u8]) -> (String, thread::JoinHandle<()>) {
    let path = place.path(format!("{}.sock", answer.len()));
    let listener = UnixListener::bind(&path).unwrap();
    let answers = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = String::new();
        BufReader::new(stream.try_clone().unwrap())
            .read_line(&mut request)
            .unwrap();
        // Whoever has heard enough hangs up.
        let _ = stream.write_all(answer);
    });
    (path.to_str().unwrap().to_owned(), answers)
}

#[test]
fn what_answers_nonsense_is_refused_in_words() {
    const HUGE: &[u8] = &[b'a'; 20 << 20];
    let place = place();
    let cases: [(&[u8], &str); 7] = [
        (b"", "has gone"),
        (b"{\"tamtam\":1", "has gone"),
        (b"hello to you, too\n", "no program with Tamtam"),
        (b"{\"tamtam\":99}\n", "version 99"),
        (
            b"{\"tamtam\":1,\"error\":\"only on \\u001b[31mSundays\"}\n",
            "refuses: only on ·[31mSundays",
        ),
        (b"\xff\xfe\n", "no text"),
        (HUGE, "16 MiB"),
    ];
    for (answer, said) in cases {
        let (path, answers) = impostor(&place, answer);
        let shown = top(&place, &[&path, "--once"]);
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""), "{said}");
        assert!(shown.stderr.contains(said), "{said}: {}", shown.stderr);
        assert!(!shown.stderr.contains('\u{1b}'));
        answers.join().unwrap();
    }
}

/// The pipe that broke was taken for the reader of the output, and the program ended as if all were well.
#[test]
fn a_program_that_goes_between_two_looks_is_said_to_have_gone() {
    let place = place();
    let (path, answers) = impostor(&place, b"{\"tamtam\":1,\"program\":\"short\"}\n");
    // Well before the second look it has closed.
    let shown = top(&place, &[&path, "--once", "--interval", "0.5"]);
    answers.join().unwrap();
    assert_eq!(
        (shown.code, shown.stdout.as_str()),
        (Some(2), ""),
        "{}",
        shown.stderr
    );
    assert!(
        shown.stderr.contains("the program has gone"),
        "{}",
        shown.stderr
    );
}

/// It hung, and with it each look for programs.
#[test]
fn a_program_that_takes_no_more_connections_gives_no_answer() {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket};
    let place = place();
    fs::create_dir(place.path("run/tamtam")).unwrap();
    let path = place.path("run/tamtam/7.sock");
    let stopped = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&stopped, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&stopped, 0).unwrap();
    // One may wait where none are to.
    let waiting = UnixStream::connect(&path).unwrap();
    for words in [
        &[path.to_str().unwrap(), "--once"][..],
        &["--once"],
        &["8", "--once"],
    ] {
        let shown = top(&place, words);
        assert_eq!((shown.code, shown.stdout.as_str()), (Some(2), ""));
        assert!(shown.stderr.contains("no answer: "), "{}", shown.stderr);
        assert!(path.exists(), "{}", shown.stderr);
    }
    drop((stopped, waiting));
}

#[test]
fn what_may_not_be_reached_is_said_to_be_so() {
    let place = place();
    let program = Program::start(&place.path("run"));
    fs::set_permissions(&program.path, Permissions::from_mode(0o000)).unwrap();
    let shown = top(&place, &[&program.path, "--once", "--interval", "0.1"]);
    // Root may do everything.
    if shown.code != Some(0) {
        assert!(
            shown.stderr.contains("only the user who runs the program"),
            "{}",
            shown.stderr
        );
    }
}
