//! The worker: a process that runs one actor, on the very thread that reads the link.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use tamtam_actor::{Context, Frame};
use tamtam_link::{Link, LinkEnd};

use crate::begin::{self, Begin};
use crate::carried;
use crate::inherited;
use crate::limits::Limits;
use crate::line::{Line, is_panic};
use crate::origin;
use crate::progress::Progress;
use crate::remote::Remote;
use crate::reporter::Reporter;

/// How a worker ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Its actor has ended in order, or its parent is gone.
    InOrder,
    /// Its actor has panicked.
    Panicked,
    /// It could not begin.
    Unfit,
    /// It has sent more than its parent has read, and its link has ended for that.
    Unread,
}

impl Exit {
    pub(crate) fn code(self) -> i32 {
        match self {
            Exit::InOrder => 0,
            // As Rust's own programs.
            Exit::Panicked => 101,
            Exit::Unfit => 102,
            Exit::Unread => 103,
        }
    }
}

/// What a worker has to do.
pub(crate) struct Errand {
    begin: Begin,
    socket: UnixStream,
    progress: Progress,
    /// The memory that carries its link, if there is any.
    carrier: Option<OwnedFd>,
    /// Where it reports.
    reports: Option<OwnedFd>,
    predecessors: u64,
}

/// Does what this worker was started for. `find` gives what runs the actor of a name.
pub(crate) fn serve(find: impl FnOnce(&str) -> Option<fn(Errand) -> Exit>, names: &[&str]) -> Exit {
    match prepare() {
        Ok(errand) => {
            let name = errand.begin.remote.as_str();
            match find(name) {
                Some(run) => run(errand),
                None => refuse(
                    &errand.socket,
                    &format!("no actor {name:?} is registered in this program, only {names:?}"),
                ),
            }
        }
        Err(error) => {
            eprintln!(
                "a worker of process {} could not begin: {error}",
                origin::parent().unwrap_or(0)
            );
            Exit::Unfit
        }
    }
}

/// Takes what the parent hands over.
fn prepare() -> io::Result<Errand> {
    // A worker does not outlive its parent, which may have died before it was said that this is to be so.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let parent = getppid().map(|pid| pid.as_raw_pid().cast_unsigned());
    if parent != origin::parent() {
        let text = "its parent is not, or not any more, the process that has started it";
        return Err(io::Error::other(text));
    }
    // The socket has come as the standard input; what reads that is to find it empty.
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    let socket = UnixStream::from(socket);
    let (begin, handed) = begin::receive(&socket)?;
    let progress = Progress::map(&handed.progress)?;
    Ok(Errand {
        begin,
        socket,
        progress,
        carrier: handed.carrier,
        reports: handed.reports,
        predecessors: handed.predecessors,
    })
}

/// Says why there will be no actor.
fn refuse(mut socket: &UnixStream, why: &str) -> Exit {
    let (link, _inbound) = Link::builder().build(|| {});
    link.refuse(why);
    let mut bytes = vec![carried::BY_SOCKET];
    link.take_outgoing(&mut bytes);
    let _ = socket.write_all(&bytes);
    Exit::Unfit
}

/// A worker that is kept from files, sockets or processes is kept from those, too, that its parent has open and has not given to it.
fn close_inherited(limits: &Limits) -> Result<(), String> {
    if !limits.walled() {
        return Ok(());
    }
    // SAFETY: `start` comes first in a program, so this is its one thread, and no code has opened anything but what Rust has, with `FD_CLOEXEC`: so it
    // was with all that the parent has handed over.
    let closed = unsafe { inherited::close() };
    closed.map_err(|error| format!("what it has inherited is not known: {error}"))
}

/// Runs an actor, until it ends or the parent is gone.
pub(crate) fn run<A: Remote>(errand: Errand) -> Exit {
    let Errand {
        begin,
        socket,
        progress,
        carrier,
        reports,
        predecessors,
    } = errand;
    // Before there is another thread, and before a byte is read that is not the parent's own.
    let applied = close_inherited(&begin.limits).and_then(|()| {
        let applied = begin.limits.apply();
        applied.map_err(|error| error.to_string())
    });
    if let Err(said) = applied {
        return refuse(&socket, &format!("its limits cannot be set: {said}"));
    }
    if let Some(reports) = reports
        && let Err(error) = Reporter::begin(reports)
    {
        return refuse(&socket, &format!("it cannot report: {error}"));
    }
    if begin.observes {
        tamtam_actor::observe::observe_all();
    }
    let config: A::Config = match tamtam_actor::link::decode(&begin.config) {
        Ok(config) => config,
        Err(said) => {
            return refuse(
                &socket,
                &format!("its configuration is not understood: {said}"),
            );
        }
    };
    let line = match Line::new(socket, carrier) {
        Ok(line) => Arc::new(line),
        Err(error) => {
            eprintln!("a worker has nothing to talk to its parent by: {error}");
            return Exit::Unfit;
        }
    };
    let mut frame = Frame::new();
    let mail = Arc::clone(&line);
    frame.on_mail_from_elsewhere(move || mail.has_mail());
    let mut spawner = frame.spawner();
    if let Some(name) = begin.name {
        spawner = spawner.name(name);
    }
    let root = spawner.spawn_with(move |cx: &mut Context<A>| match A::create(config, cx) {
        Ok(actor) => actor,
        Err(error) => panic!("it could not be made: {error}"),
    });
    let (to_send, waiting) = (Arc::clone(&line), Arc::clone(&line));
    let (link, inbound) = Link::builder()
        .program(A::NAME)
        .root(&root)
        .hold_root()
        .predecessors(predecessors)
        .carry_descriptors()
        // It trusts its parent, which could do with it what it likes.
        .most_attached(usize::MAX, u64::MAX)
        .before_wait(move || waiting.call_deputy())
        .build(move || to_send.has_to_send());
    // From now on the parent alone has the actor.
    drop(root);
    line.begin(link, inbound);
    let deputy = Arc::clone(&line);
    let there = thread::Builder::new()
        .name("tamtam-deputy".to_owned())
        .spawn(move || deputy.stand_in());
    if let Err(error) = there {
        line.link()
            .refuse(&format!("it has no second thread: {error}"));
        line.greet();
        line.flush();
        return Exit::Unfit;
    }
    line.drive(&mut frame, &progress, begin.most_unconfirmed);
    drop(frame);
    match line.link().own_root_end() {
        Some(reason) if is_panic(&reason) => Exit::Panicked,
        _ => match line.link().ended() {
            Some(end @ LinkEnd::Unread(_)) => {
                eprintln!(
                    "the process of the actor {:?} ends, and what it has sent is lost: {end}",
                    A::NAME
                );
                Exit::Unread
            }
            _ => Exit::InOrder,
        },
    }
}
