//! The parent's side of a process: it starts one, reads what it says, and starts the next when it has died.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
#[cfg(feature = "tracing")]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tamtam_actor::link::RestartPolicy;
#[cfg(feature = "top")]
use tamtam_actor::observe::ProcessBelow;
use tamtam_actor::{EndReason, Overflow, ProcessEnd, ReportFailure, Restart};
use tamtam_link::carrier::Room;
use tamtam_link::{Death, Inbound, Link, Supervised};

use crate::begin;
use crate::carried::{self, Memory};
use crate::carrier::Carrier;
use crate::child::{self, ChildProcess};
use crate::collector;
use crate::courier::{self, Courier};
use crate::error::SpawnError;
use crate::hang_watch::{At, HangWatch, MayHang};
use crate::launcher::{gone, launch};
use crate::lock::lock;
use crate::next_life;
use crate::origin;
use crate::pause::Pause;
use crate::progress::{Reached, Watched};
use crate::reading::Reading;
#[cfg(feature = "top")]
use crate::shown::Shown;
use crate::status::ending_soon;
use crate::supervised::Control;

/// So long a process may take to end by itself once it has closed its end of the link. Then it is killed.
const TIME_TO_END: Duration = Duration::from_secs(1);

/// What a process is to be.
pub(crate) struct Plan {
    pub(crate) remote: &'static str,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) message_type: &'static str,
    pub(crate) begin: Vec<u8>,
    /// Another program than this one.
    pub(crate) program: Option<Command>,
    /// So long a process may take to begin.
    pub(crate) patience: Duration,
    /// So long its actor may be at one message.
    pub(crate) handles_within: Option<Duration>,
    pub(crate) begins_again: BeginsAgain,
    pub(crate) limit: Option<(usize, Overflow)>,
    /// So many descriptors that have come from it may be open here, of so many bytes, if that is not as usual.
    pub(crate) most_attached: Option<(usize, u64)>,
    /// So many bytes of what it has sent may wait here, and so long an answer behind them, if that is not as usual and it is not trusted.
    pub(crate) most_unhandled: Option<(usize, Duration)>,
    /// It is held to its limits, and so is what it may say.
    pub(crate) is_untrusted: bool,
}

/// What decides whether another process takes the place of one that has died.
pub(crate) enum BeginsAgain {
    /// That.
    Own(Restart),
    /// A supervisor, which is told of failures, and gives a process so long to pause. It lets the first one begin, too.
    Supervised(ReportFailure, Duration),
}

/// What is there once it has begun.
pub(crate) struct Started {
    pub(crate) link: Link,
    pub(crate) shared: Arc<Shared>,
}

/// What is known of the process as it is now.
#[derive(Default)]
pub(crate) struct Shared {
    child: Mutex<Option<ChildProcess>>,
    /// How far it has got.
    progress: Mutex<Option<Arc<Watched>>>,
    /// It was killed, for it was at one message for too long.
    is_hung: AtomicBool,
    /// A [`Presence`], as a number.
    presence: AtomicU8,
    /// How many processes there were.
    begun: AtomicU32,
    /// What carries messages to it, once it has said so.
    carrier: Mutex<Option<Carrier>>,
}

/// Whether there is a process that can do something now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Presence {
    /// There is none: it has died, and there is a pause before the next one.
    Absent = 0,
    /// One begins.
    Beginning = 1,
    /// One has begun.
    Present = 2,
}

impl Shared {
    pub(crate) fn pid(&self) -> Option<u32> {
        lock(&self.child).as_ref().map(ChildProcess::id)
    }

    pub(crate) fn kill(&self) {
        if let Some(child) = &mut *lock(&self.child) {
            child.kill();
        }
    }

    pub(crate) fn presence(&self) -> Presence {
        // It is a hint, and orders nothing.
        match self.presence.load(Ordering::Relaxed) {
            0 => Presence::Absent,
            1 => Presence::Beginning,
            _ => Presence::Present,
        }
    }

    pub(crate) fn set_presence(&self, presence: Presence) {
        self.presence.store(presence as u8, Ordering::Relaxed);
    }

    pub(crate) fn carrier(&self) -> Option<Carrier> {
        lock(&self.carrier).clone()
    }

    /// There is another one.
    fn begin(&self, child: ChildProcess, progress: &Arc<Watched>) {
        let mut held = lock(&self.child);
        *held = Some(child);
        *lock(&self.progress) = Some(Arc::clone(progress));
        self.is_hung.store(false, Ordering::Relaxed);
        self.set_presence(Presence::Beginning);
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// How the process has ended, which the system has told so.
    fn end_of_process(&self, told: ProcessEnd) -> ProcessEnd {
        match told {
            ProcessEnd::Killed(signal)
                if signal == Signal::KILL.as_raw() && self.is_hung.load(Ordering::Relaxed) =>
            {
                ProcessEnd::Hung
            }
            told => told,
        }
    }

    pub(crate) fn restarts(&self) -> u32 {
        self.begun.load(Ordering::Relaxed).saturating_sub(1)
    }
}

impl MayHang for Shared {
    fn at(&self) -> Option<At> {
        // One that has died is at nothing, also while the system is not done with it.
        if self.presence() != Presence::Present {
            return None;
        }
        let process = self.begun.load(Ordering::Relaxed);
        let reached = lock(&self.progress).as_ref()?.read();
        let is_at_one = reached.begun > reached.done && !reached.waits_for_room;
        is_at_one.then_some(At {
            process,
            message: reached.begun,
        })
    }

    fn kill_hung(&self, process: u32) {
        let mut child = lock(&self.child);
        if let Some(child) = &mut *child
            && self.begun.load(Ordering::Relaxed) == process
            && self.presence() == Presence::Present
        {
            self.is_hung.store(true, Ordering::Relaxed);
            child.kill();
        }
    }
}

/// One process, of perhaps several that take each other's place.
struct Incarnation {
    socket: UnixStream,
    /// By then it has begun.
    deadline: Instant,
    /// Or why there is none.
    memory: Result<Memory, Arc<str>>,
    progress: Arc<Watched>,
}

/// Starts processes that are all alike.
struct Recipe {
    /// What the worker is called in its reports.
    called: Arc<str>,
    /// All that was said of the program, its user and its output too. Not there only while a process is started.
    program: Mutex<Option<Command>>,
    begin: Vec<u8>,
    /// So many were started before.
    started: AtomicU64,
    patience: Duration,
}

/// What could not be done, and why.
struct Failed {
    doing: &'static str,
    source: io::Error,
}

impl Failed {
    /// As why there is no process.
    fn reason(&self) -> EndReason {
        EndReason::Panicked(format!("{}: {}", self.doing, self.source).into())
    }
}

fn failed(doing: &'static str) -> impl FnOnce(io::Error) -> Failed {
    move |source| Failed { doing, source }
}

impl Recipe {
    fn start(&self) -> Result<(Incarnation, ChildProcess), Failed> {
        let (here, there) = UnixStream::pair().map_err(failed("there is no socket"))?;
        let progress = Watched::new()
            .map(Arc::new)
            .map_err(failed("there is no memory to share"))?;
        // Without it, all goes over the socket.
        let memory = tamtam_ipc::carrier(carried::MEMORY);
        let memory = memory.map_err(|error| Arc::from(error.to_string()));
        let reports = collector::prepare().map_err(failed("there is no socket for its reports"))?;
        let origin = origin::of_this_process(&there).map_err(failed("there is no socket"))?;
        let child = self
            .launch(origin, there)
            .map_err(failed("it cannot be started"))?;
        let deadline = Instant::now() + self.patience;
        let handed = [
            Some(progress.fd()),
            memory.as_ref().ok().map(|(_, reader)| reader.memory()),
            reports.as_ref().map(|ends| ends.there.as_fd()),
        ];
        let predecessors = self.started.fetch_add(1, Ordering::Relaxed);
        // If it has died already, that is found when the socket is read.
        if let Err(error) = begin::send(&here, &self.begin, predecessors, handed, deadline)
            && !matches!(
                error.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            )
        {
            let mut child = child;
            child.kill();
            child.reap();
            return Err(failed("it cannot be told what to do")(error));
        }
        if let Some(reports) = reports {
            // Without the thread that hears them, reports are dropped and all else goes on.
            let _ = collector::hear(reports, Arc::clone(&self.called), child.id());
        }
        let socket = here;
        let incarnation = Incarnation {
            socket,
            deadline,
            memory,
            progress,
        };
        Ok((incarnation, child))
    }

    /// Starts the program, with this end of the socket.
    fn launch(&self, origin: String, socket: UnixStream) -> io::Result<ChildProcess> {
        let mut program = lock(&self.program);
        let command = program.take();
        let mut command = command.ok_or_else(gone)?;
        command
            .env(origin::WORKER, origin)
            .stdin(Stdio::from(OwnedFd::from(socket)));
        let (command, child) = launch(command);
        *program = command.map(|mut command| {
            // As long as that end of the socket is kept here, the death of the process is not seen.
            command.stdin(Stdio::null());
            command
        });
        let child = child?;
        let has_pipe = child.stdout.is_some() || child.stderr.is_some();
        let mut child = ChildProcess::from(child);
        if has_pipe {
            child.kill();
            child.reap();
            let text = "its output would go into a pipe that is not read: give it a file or a socket, or let it inherit that of this program";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Ok(child)
    }
}

/// Starts a process, and what looks after it.
pub(crate) fn start(plan: Plan) -> Result<Started, SpawnError> {
    let remote = plan.remote;
    let no_process = |failed: Failed| SpawnError::System {
        name: remote.to_owned(),
        doing: failed.doing,
        source: failed.source,
    };
    let recipe = Recipe {
        called: plan.name.clone().unwrap_or_else(|| remote.into()),
        // The file may have been replaced: what is run is the image of this process.
        program: Mutex::new(Some(
            plan.program
                .unwrap_or_else(|| Command::new("/proc/self/exe")),
        )),
        begin: plan.begin,
        started: AtomicU64::new(0),
        patience: plan.patience,
    };
    let shared = Arc::new(Shared::default());
    let (first, decides) = match plan.begins_again {
        BeginsAgain::Own(restart) => {
            let (incarnation, child) = recipe.start().map_err(no_process)?;
            shared.begin(child, &incarnation.progress);
            (Some(incarnation), Decides::Own(RestartPolicy::new(restart)))
        }
        BeginsAgain::Supervised(failed, deadline) => {
            let process = Arc::clone(&shared);
            let control = Control::new(failed, deadline, move || process.kill());
            (None, Decides::Supervisor(control))
        }
    };
    let courier = Arc::new(Courier::default());
    let reading = Arc::new(Reading::default());
    let (waking, asking) = (Arc::clone(&courier), Arc::clone(&reading));
    let room = Arc::new(Room::default());
    let pause = Arc::new(Pause::default());
    let (ring_room, ring_pause) = (Arc::clone(&room), Arc::clone(&pause));
    let mut builder = Link::builder();
    if let Decides::Supervisor(control) = &decides {
        let control: Arc<dyn Supervised> = Arc::clone(control) as _;
        builder = builder.supervised(control);
    }
    if let Some((descriptors, bytes)) = plan.most_attached {
        builder = builder.most_attached(descriptors, bytes);
    }
    if let Some((bytes, patience)) = plan.most_unhandled {
        builder = builder.most_unhandled(bytes, patience);
    }
    if plan.is_untrusted {
        builder = builder.untrusted();
    }
    let (link, inbound) = builder
        .keep_root()
        .carry_descriptors()
        .call_root(plan.name, plan.message_type)
        .before_wait(courier::note_wait)
        .while_waiting(move |answer, deadline| {
            asking.while_waiting(answer, deadline);
        })
        .ask_from_seats()
        .read_answers_by(Arc::clone(&reading) as _)
        .build(move || {
            waking.wake();
            ring_room.ring();
            ring_pause.ring();
        });
    courier.serve(link.clone());
    if let Decides::Supervisor(control) = &decides {
        control.serve(link.clone());
    }
    let (limit, overflow) = plan.limit.unwrap_or((0, Overflow::Wait));
    link.limit_root(limit as u64, overflow == Overflow::Wait);
    #[cfg(feature = "top")]
    let shown = {
        let (process, messages) = (Arc::clone(&shared), link.clone());
        let name = recipe.called.to_string();
        Shown::new(move || {
            let carrier = process.carrier();
            ProcessBelow {
                name: name.clone(),
                pid: process.pid(),
                restarts: process.restarts(),
                queued: messages.unconfirmed(),
                carrier: carrier.as_ref().map(Carrier::name),
                refused: carrier.as_ref().and_then(Carrier::refused),
                answer: None,
            }
        })
    };
    let end = |error| {
        link.close();
        courier.end();
        if let Some(mut child) = lock(&shared.child).take() {
            child.kill();
            child.reap();
        }
        no_process(failed("there is no thread for it")(error))
    };
    let hang_watch = plan.handles_within.map(|time| {
        let process: Arc<dyn MayHang> = Arc::clone(&shared) as _;
        HangWatch::begin(process, time)
    });
    let hang_watch = hang_watch.transpose().map_err(end)?;
    let monitor = Monitor {
        #[cfg(feature = "top")]
        _shown: shown,
        _hang_watch: hang_watch,
        link: link.clone(),
        shared: Arc::clone(&shared),
        courier: Arc::clone(&courier),
        reading,
        room,
        pause,
        recipe,
        decides,
        has_begun: Cell::new(false),
    };
    let writer = Arc::clone(&courier);
    thread::Builder::new()
        .name("tamtam-process-write".to_owned())
        .spawn(move || writer.write_all())
        .map_err(end)?;
    thread::Builder::new()
        .name("tamtam-process-read".to_owned())
        .spawn(move || monitor.watch_over(first, inbound))
        .map_err(end)?;
    Ok(Started { link, shared })
}

/// The thread that reads, and sees to it that there is a process.
struct Monitor {
    #[cfg(feature = "top")]
    _shown: Shown,
    _hang_watch: Option<HangWatch>,
    link: Link,
    shared: Arc<Shared>,
    courier: Arc<Courier>,
    reading: Arc<Reading>,
    /// Where it waits while too much of what has come waits for actors.
    room: Arc<Room>,
    /// Where it waits while there is no process, which no supervisor has decided.
    pause: Arc<Pause>,
    recipe: Recipe,
    decides: Decides,
    /// One of the processes so far was a worker.
    has_begun: Cell<bool>,
}

/// What decides after a death.
enum Decides {
    Own(RestartPolicy),
    Supervisor(Arc<Control>),
}

/// What follows a death.
enum Next {
    /// Another process, after so long.
    After(Inbound, Duration),
    /// What the supervisor says, once it is told why this has ended.
    WhenTold(Inbound, EndReason),
}

impl Monitor {
    fn watch_over(self, first: Option<Incarnation>, inbound: Inbound) {
        let mut next = match (first, &self.decides) {
            (Some(first), _) => Some((first, inbound)),
            (None, Decides::Supervisor(control)) => self.begin_when_told(control, inbound),
            (None, Decides::Own(_)) => unreachable!("it has begun"),
        };
        while let Some((incarnation, inbound)) = next {
            next = self.live(incarnation, inbound);
        }
        if let Decides::Supervisor(control) = &self.decides {
            control.end();
        }
        self.courier.end();
    }

    /// The next process, when the supervisor says so.
    fn begin_when_told(
        &self,
        control: &Control,
        mut inbound: Inbound,
    ) -> Option<(Incarnation, Inbound)> {
        while control.wait() {
            match self.recipe.start() {
                Ok((incarnation, child)) => {
                    self.shared.begin(child, &incarnation.progress);
                    return Some((incarnation, inbound));
                }
                Err(failed) => {
                    let why = failed.reason();
                    // A word to stop may have been meant for it, and is none to the next one.
                    control.note_over();
                    inbound = self
                        .link
                        .begin_again(next_life::unbegun(why.clone()))
                        .ok()?;
                    control.ended(why);
                }
            }
        }
        self.end_without_process(EndReason::Stopped);
        None
    }

    /// It is over while there is no process.
    fn end_without_process(&self, why: EndReason) {
        self.link
            .end_for_good(next_life::unbegun(why.clone()), &why);
    }

    /// The life of one process; the next one, if there is one.
    fn live(&self, incarnation: Incarnation, inbound: Inbound) -> Option<(Incarnation, Inbound)> {
        let Incarnation {
            socket,
            deadline,
            memory,
            progress,
        } = incarnation;
        let is_unfit = match carried::agree(socket, memory, deadline) {
            Ok((outgoing, incoming, carrier)) => {
                self.has_begun.set(true);
                self.shared.set_presence(Presence::Present);
                self.note_carrier(carrier);
                self.courier.write_to(outgoing);
                self.reading
                    .read_all(incoming, inbound, &self.link, &self.room);
                self.link
                    .violation()
                    .map(|text| format!("it does not keep to the protocol: {text}"))
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                let patience = self.recipe.patience;
                Some(format!(
                    "it has not begun within {patience:?}: it is no worker, was stopped, or its actor takes longer to be made"
                ))
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Some(error.to_string()),
            // It has died before it could say so.
            Err(_) => None,
        };
        self.shared.set_presence(Presence::Absent);
        // What it does further is not heard.
        if is_unfit.is_some() {
            self.shared.kill();
        }
        // Its memory may take long to be freed. How far it has got is known once its main thread runs no more.
        let early = self.shared.pid().and_then(ending_soon);
        let end = early.unwrap_or_else(|| self.reap());
        *lock(&self.shared.carrier) = None;
        // What was being written was for this one.
        self.courier.take_back();
        let next = self.go_on(&progress, end, is_unfit);
        if early.is_some() {
            self.reap();
        }
        let (inbound, pause) = match next? {
            Next::WhenTold(inbound, why) => {
                let Decides::Supervisor(control) = &self.decides else {
                    unreachable!("a supervisor has decided so");
                };
                control.ended(why);
                return self.begin_when_told(control, inbound);
            }
            Next::After(inbound, pause) => (inbound, pause),
        };
        self.begin_after(pause, inbound)
    }

    /// Says what carries messages to the process that has begun, and tells of it where that is not what it should be.
    fn note_carrier(&self, carrier: Carrier) {
        #[cfg(feature = "tracing")]
        if let Carrier::Socket { refused: Some(why) } = &carrier
            && let Some(pid) = self.shared.pid()
        {
            // The subscriber is the user's.
            let tell = || crate::retold::no_shared_memory(&self.recipe.called, pid, why);
            let _ = catch_unwind(AssertUnwindSafe(tell));
        }
        *lock(&self.shared.carrier) = Some(carrier);
    }

    /// The next process, as its own policy says, unless it would end at once.
    fn begin_after(
        &self,
        mut pause: Duration,
        mut inbound: Inbound,
    ) -> Option<(Incarnation, Inbound)> {
        loop {
            let over = self.pause.wait(pause, || self.link.root_end_at_once());
            if let Some(why) = over {
                self.end_without_process(why);
                return None;
            }
            if self.link.ended().is_some() {
                return None;
            }
            match self.recipe.start() {
                Ok((incarnation, child)) => {
                    self.shared.begin(child, &incarnation.progress);
                    return Some((incarnation, inbound));
                }
                Err(failed) => match self.decide(next_life::unbegun(failed.reason()))? {
                    Next::After(again, longer) => (inbound, pause) = (again, longer),
                    Next::WhenTold(..) => unreachable!("no supervisor decides here"),
                },
            }
        }
    }

    /// What follows from the end of a process, which was killed if it was unfit: who waits for what is over is told. `None` if there is no next
    /// one.
    fn go_on(&self, progress: &Watched, end: ProcessEnd, is_unfit: Option<String>) -> Option<Next> {
        if self.link.ended().is_some() {
            return None;
        }
        let Reached { begun, done, .. } = progress.read();
        let why = match (self.link.root_end(), is_unfit) {
            (Some(reason), _) => reason,
            (None, Some(text)) => {
                let text = format!("its process was killed: {text}").into();
                if self.has_begun.get() {
                    EndReason::Panicked(text)
                } else {
                    // The next one would be as this one is.
                    EndReason::LinkLost(text)
                }
            }
            (None, None) => EndReason::ProcessEnded(self.shared.end_of_process(end)),
        };
        self.decide(Death { done, begun, why })
    }

    fn decide(&self, death: Death) -> Option<Next> {
        let why = death.why.clone();
        if let Decides::Supervisor(control) = &self.decides {
            // Before the link is the next one's.
            control.note_over();
        }
        let decided = match &self.decides {
            Decides::Own(policy) => {
                next_life::decide(&self.link, policy, &why, Instant::now()).map(Some)
            }
            Decides::Supervisor(control) if control.is_to_stop() => Err(EndReason::Stopped),
            Decides::Supervisor(control) if next_life::has_failed(&why) || control.is_pausing() => {
                Ok(None)
            }
            Decides::Supervisor(_) => Err(why.clone()),
        };
        match decided {
            Ok(Some(pause)) => Some(Next::After(self.link.begin_again(death).ok()?, pause)),
            Ok(None) => Some(Next::WhenTold(self.link.begin_again(death).ok()?, why)),
            Err(reason) => {
                self.link.end_for_good(death, &reason);
                None
            }
        }
    }

    /// Waits for the end of a process that says no more.
    fn reap(&self) -> ProcessEnd {
        // It is left where it can be killed from any thread.
        let name = lock(&self.shared.child)
            .as_ref()
            .and_then(ChildProcess::name);
        if let Some(name) = name {
            child::wait_for_end(&name, TIME_TO_END);
        }
        let child = lock(&self.shared.child).take();
        let Some(mut child) = child else {
            unreachable!("it is there as long as it is read");
        };
        // If it still lives.
        child.kill();
        child.reap()
    }
}
