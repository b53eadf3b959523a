//! What a process prints, and what a panic of it prints: it comes where the program's own output goes.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::thread;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Actor, AskError, Context, ProcessEnd, Reply, Restart};
use tamtam_process::{Process, Remote, is_primordial};

use crate::actors::this_program;

crate::tests! { "output":
    what_a_process_prints_comes_out_of_its_program
}

const SPEAKS: &str = "TAMTAM_TEST_SPEAKS";
/// More than pipes and buffers hold.
const LINES: u32 = 20_000;

/// Prints what it is told to.
pub(crate) struct Speaker;

#[derive(Serialize, Deserialize)]
pub(crate) enum Say {
    /// Some of a line, which goes out at once.
    Part(Reply<()>),
    /// Lines on both streams.
    Much(Reply<()>),
    /// Some of a line, which is left in the process's own buffer.
    Rest(Reply<()>),
    /// A line, some of a line among the errors, and the end.
    LastWords(Reply<()>),
    Panic(Reply<()>),
}

impl Remote for Speaker {
    type Config = ();
    const NAME: &'static str = "speaker";

    fn create((): (), _: &mut Context<Self>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Speaker)
    }
}

impl Actor for Speaker {
    type Message = Say;

    fn handle(&mut self, message: Say, _: &mut Context<Self>) {
        match message {
            Say::Part(reply) => {
                print!("a part");
                std::io::stdout().flush().unwrap();
                reply.send(());
            }
            Say::Much(reply) => {
                println!();
                for number in 0..LINES {
                    println!("line {number}");
                    eprintln!("error {number}");
                }
                reply.send(());
            }
            Say::Rest(reply) => {
                print!("the rest");
                reply.send(());
            }
            Say::LastWords(_reply) => {
                println!("the last line");
                eprint!("the last error");
                std::process::abort();
            }
            Say::Panic(_reply) => panic!("a panic of a worker"),
        }
    }
}

/// What the program does whose worker prints, if this is that.
pub(crate) fn speak_if_asked() {
    if std::env::var_os(SPEAKS).is_none() || !is_primordial() {
        return;
    }
    let speaker = Process::spawn::<Speaker>(()).unwrap();
    speaker.ask(Say::Part).unwrap();
    // Until who reads has seen it.
    std::io::stdin().lines().next().unwrap().unwrap();
    speaker.ask(Say::Much).unwrap();
    speaker.ask(Say::Rest).unwrap();
    let end = speaker.end();
    drop(speaker);
    end.wait();
    // Its buffer is written when it exits, which is soon.
    std::io::stdin().lines().next().unwrap().unwrap();
    let never = Restart::never();
    let speaker = Process::spawner()
        .restart(never.clone())
        .spawn::<Speaker>(());
    let died = Err(AskError::ProcessEnded(ProcessEnd::Killed(6)));
    assert_eq!(speaker.unwrap().ask(Say::LastWords), died);
    let speaker = Process::spawner().restart(never).spawn::<Speaker>(());
    let panicked = speaker.unwrap().ask(Say::Panic);
    assert!(
        matches!(panicked, Err(AskError::Panicked(_))),
        "{panicked:?}"
    );
    std::process::exit(0);
}

fn what_a_process_prints_comes_out_of_its_program() {
    let mut program = this_program()
        .env(SPEAKS, "1")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut go_on = program.stdin.take().unwrap();
    let mut output = BufReader::new(program.stdout.take().unwrap());
    let mut errors = program.stderr.take().unwrap();
    let errors = thread::spawn(move || {
        let mut all = String::new();
        errors.read_to_string(&mut all).unwrap();
        all
    });
    // A part of a line, while the process lives.
    let mut part = [0; 6];
    output.read_exact(&mut part).unwrap();
    assert_eq!(&part, b"a part");
    writeln!(go_on).unwrap();
    // Much, whole and in order.
    let mut line = String::new();
    for expected in
        std::iter::once("\n".to_owned()).chain((0..LINES).map(|n| format!("line {n}\n")))
    {
        line.clear();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
    }
    // What was in its buffer when it ended in order.
    let mut rest = [0; 8];
    output.read_exact(&mut rest).unwrap();
    assert_eq!(&rest, b"the rest");
    writeln!(go_on).unwrap();
    // The last line before a crash.
    let mut last = String::new();
    output.read_to_string(&mut last).unwrap();
    assert_eq!(last, "the last line\n");
    assert!(program.wait().unwrap().success());
    let errors = errors.join().unwrap();
    let mut rest = &*errors;
    for number in 0..LINES {
        let expected = format!("error {number}\n");
        rest = rest
            .strip_prefix(&*expected)
            .unwrap_or_else(|| panic!("no {expected}"));
    }
    let rest = rest.strip_prefix("the last error").unwrap();
    assert!(
        rest.contains("thread 'main'") && rest.contains("panicked at"),
        "{rest}"
    );
    assert!(rest.contains("tests/processes/output.rs:"), "{rest}");
    assert!(rest.contains("\na panic of a worker\n"), "{rest}");
}
