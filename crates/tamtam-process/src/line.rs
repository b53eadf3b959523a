//! The link's end in a worker: what runs the actor, reads and writes, and the deputy that does so while a handler runs.
//!
//! The main thread gives the actor one message after the other, and says in shared memory which one it has begun, and how many it
//! is done with. Between messages it writes what is to go and reads what has come. While a handler runs it does neither. Where the
//! handler waits for an actor of another process, or another thread has something to send, or what it has sent itself has waited for a
//! millisecond, or for eight where handlers have been short so far, a second thread, the *deputy*, reads and writes until the handler has come back.
//!
//! The deputy **sleeps** while the process is idle, **ticks** while it is not, in a [`Rhythm`], and is **at work** when it is needed.

use std::cell::Cell;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tamtam_actor::{Budget, EndReason, Frame};
use tamtam_ipc::CarrierWaker;
use tamtam_link::{Attached, Inbound, Link, LinkEnd, TakenOut};

use crate::carried::{self, Beside, Incoming, Outgoing};
use crate::lock::lock;
use crate::progress::Progress;
use crate::rhythm::Rhythm;

/// How much is read at once.
const PORTION: usize = 64 << 10;

/// So long a worker that has nothing to do waits before it confirms what it is done with: of many messages that come one by one, each by itself
/// would cost as much as the message.
const SHORTLY: Duration = Duration::from_micros(20);

/// So many messages the actor is given in one turn at most, and for about so long: what has come since is to be read, too.
const MOST_IN_TURN: u32 = 64;
const LONGEST_TURN: Duration = Duration::from_micros(100);

thread_local! {
    /// This is the thread that runs the actor.
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// After so many ticks without a turn it sleeps.
const IDLE_TICKS: u32 = 20;

/// What the root has at hand, and what the parent can see of it.
struct AtHand<'a> {
    progress: &'a Progress,
    /// So many messages the root was given.
    given: u64,
}

impl AtHand<'_> {
    /// The next message begins.
    fn begin(&self) {
        self.progress.begin(self.given + 1);
    }

    /// No next message has begun.
    fn begin_none(&self) {
        self.progress.begin(self.given);
    }

    /// The root is done with so many.
    fn done(&self, messages: u64) {
        self.progress.done(messages);
    }

    /// It is done with what it was given, and is given the next.
    fn go_on(&mut self) {
        self.done(self.given);
        self.begin();
        self.given += 1;
    }
}

/// How many messages the root is given in one turn.
struct Pace {
    handled: u32,
    began: Option<Instant>,
    is_over: bool,
}

impl Pace {
    /// One was given.
    fn new() -> Self {
        Pace {
            handled: 1,
            began: None,
            is_over: false,
        }
    }

    /// Whether one more may be begun in this turn, and is counted: as long as nothing else is to be done.
    fn goes_on(&mut self, line: &Line) -> bool {
        let goes_on = self.handled < MOST_IN_TURN
            && !line.has_to_send.load(Ordering::SeqCst)
            // What the deputy has taken to write is written before the next message is begun.
            && !line.has_deputy.load(Ordering::SeqCst)
            && !line.link().is_over()
            && !self.is_late();
        self.handled += 1;
        self.is_over = !goes_on;
        goes_on
    }

    fn is_late(&mut self) -> bool {
        // A look at the clock costs as much as a small message.
        let began = *self.began.get_or_insert_with(Instant::now);
        self.handled > 1 && self.handled.is_power_of_two() && began.elapsed() >= LONGEST_TURN
    }
}

/// The link's end here, with what carries it.
pub(crate) struct Line {
    /// What tells the parent which way messages take, and that the actor is made.
    greeting: Mutex<Option<(UnixStream, Vec<u8>)>>,
    /// That was told: nothing else is written before.
    has_greeted: AtomicBool,
    /// For the thread that reads.
    incoming: Mutex<Incoming>,
    /// For the thread that writes, with what it writes.
    outgoing: Mutex<(Outgoing, Vec<u8>, Vec<Attached>)>,
    /// Rung for the thread that waits for what comes.
    bell: Bell,
    is_rung: AtomicBool,
    link: OnceLock<Link>,
    /// For the thread that reads and writes.
    inbound: Mutex<Option<Inbound>>,
    /// There is something to be sent.
    has_to_send: AtomicBool,
    /// How many turns were begun and ended: while it is odd a handler runs, and the main thread does not read and write. At 2^64 there
    /// was a thousand million a second for 500 years.
    turns: AtomicU64,
    does_deputy_sleep: AtomicBool,
    /// The deputy is called, or at work.
    has_deputy: AtomicBool,
    deputy: Mutex<Deputy>,
    called: Condvar,
}

/// What wakes the thread that waits for what comes.
enum Bell {
    /// It waits for the socket, and for this.
    Event(OwnedFd),
    /// It waits at shared memory.
    Memory(CarrierWaker),
}

/// What the deputy is at.
#[derive(Default)]
struct Deputy {
    is_called: bool,
    is_at_work: bool,
}

impl Line {
    /// The one of the thread that calls this.
    pub(crate) fn new(socket: UnixStream, memory: Option<OwnedFd>) -> io::Result<Self> {
        IS_MAIN.set(true);
        // Without it, or where it is of no use here, all goes over the socket; the parent is told why.
        let memory = memory.map(tamtam_ipc::attach);
        let (way, incoming, outgoing, bell) = match memory {
            Some(Ok((writer, reader))) => {
                let bell = Bell::Memory(reader.waker());
                let beside_it = Arc::new(socket.try_clone()?);
                let outgoing = Outgoing::by_memory(writer, Arc::clone(&beside_it));
                let beside = Beside::new(beside_it, reader.waker());
                let incoming = Incoming::Memory(Box::new(reader), beside);
                (vec![carried::BY_MEMORY], incoming, outgoing, bell)
            }
            other => {
                let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
                let outgoing = Outgoing::Socket(Arc::new(socket.try_clone()?));
                let incoming = Incoming::Socket(socket.try_clone()?);
                let way = match other {
                    Some(Err(error)) => carried::refusal(&error.to_string()),
                    _ => vec![carried::BY_SOCKET],
                };
                (way, incoming, outgoing, Bell::Event(bell))
            }
        };
        Ok(Line {
            greeting: Mutex::new(Some((socket, way))),
            has_greeted: AtomicBool::new(false),
            incoming: Mutex::new(incoming),
            outgoing: Mutex::new((outgoing, Vec::new(), Vec::new())),
            bell,
            is_rung: AtomicBool::new(false),
            link: OnceLock::new(),
            inbound: Mutex::new(None),
            has_to_send: AtomicBool::new(true),
            turns: AtomicU64::new(0),
            does_deputy_sleep: AtomicBool::new(false),
            has_deputy: AtomicBool::new(false),
            deputy: Mutex::default(),
            called: Condvar::new(),
        })
    }

    pub(crate) fn begin(&self, link: Link, mut inbound: Inbound) {
        lock(&self.incoming).serve_descriptors(&mut inbound);
        let _ = self.link.set(link);
        *lock(&self.inbound) = Some(inbound);
    }

    pub(crate) fn link(&self) -> &Link {
        match self.link.get() {
            Some(link) => link,
            None => unreachable!("it is set before a thread reads or writes"),
        }
    }

    fn ring(&self) {
        self.is_rung.swap(true, Ordering::SeqCst);
        match &self.bell {
            Bell::Event(event) => {
                // If it cannot be written to, it has been rung often enough.
                let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
            }
            Bell::Memory(waker) => waker.wake(),
        }
    }

    /// An actor here has mail from another thread than the main one, which looks before it waits.
    pub(crate) fn has_mail(&self) {
        self.ring();
    }

    /// The link has something to send, on whatever thread.
    pub(crate) fn has_to_send(&self) {
        self.has_to_send.store(true, Ordering::SeqCst);
        if IS_MAIN.get() && !self.has_deputy.load(Ordering::SeqCst) {
            // It looks before it waits for the socket; and if that takes long, the deputy sees it.
            return;
        }
        self.ring();
        if self.is_in_turn() {
            self.call_deputy();
        }
    }

    /// The main thread will not read and write for a while.
    pub(crate) fn call_deputy(&self) {
        let mut deputy = lock(&self.deputy);
        deputy.is_called = true;
        self.has_deputy.store(true, Ordering::SeqCst);
        drop(deputy);
        self.called.notify_all();
    }

    /// The deputy: reads and writes while the main thread does not.
    pub(crate) fn stand_in(&self) {
        let mut portion = vec![0; PORTION];
        let mut deputy = lock(&self.deputy);
        let (mut turns, mut idle_ticks, mut rhythm) = (0, 0, Rhythm::new());
        loop {
            if !deputy.is_called {
                deputy = if idle_ticks < IDLE_TICKS {
                    let ticked = self.called.wait_timeout(deputy, rhythm.pause());
                    ticked.unwrap_or_else(PoisonError::into_inner).0
                } else {
                    self.does_deputy_sleep.store(true, Ordering::SeqCst);
                    let is_idle = self.turns.load(Ordering::SeqCst) == turns;
                    let woken = if is_idle {
                        let woken = self.called.wait(deputy);
                        woken.unwrap_or_else(PoisonError::into_inner)
                    } else {
                        deputy
                    };
                    self.does_deputy_sleep.store(false, Ordering::SeqCst);
                    idle_ticks = 0;
                    woken
                };
            }
            let now = self.turns.load(Ordering::SeqCst);
            let changes = now - std::mem::replace(&mut turns, now);
            let (is_same, is_in_turn) = (changes == 0, is_of_turn(now));
            idle_ticks = if is_same && !is_in_turn {
                idle_ticks + 1
            } else {
                0
            };
            let has_to_send = is_in_turn && self.has_to_send.load(Ordering::SeqCst);
            // A handler that has sent something and goes on may be a long one.
            rhythm.learn(if has_to_send { 0 } else { changes / 2 });
            let is_late = is_same && has_to_send;
            if !std::mem::take(&mut deputy.is_called) && !is_late {
                continue;
            }
            deputy.is_at_work = true;
            self.has_deputy.store(true, Ordering::SeqCst);
            drop(deputy);
            while self.is_in_turn() {
                self.flush();
                let can_read = self.wait();
                if can_read && self.is_in_turn() && !self.read(&mut portion) {
                    // The handler that waits is told; and then the main thread finds it, too.
                    break;
                }
            }
            deputy = lock(&self.deputy);
            deputy.is_at_work = false;
            self.called.notify_all();
        }
    }

    fn is_in_turn(&self) -> bool {
        is_of_turn(self.turns.load(Ordering::SeqCst))
    }

    /// A handler is about to run.
    fn begin_turn(&self) {
        self.turns.fetch_add(1, Ordering::SeqCst);
        if self.does_deputy_sleep.load(Ordering::SeqCst) {
            drop(lock(&self.deputy));
            self.called.notify_all();
        }
    }

    /// The main thread reads and writes again.
    fn end_turn(&self) {
        self.turns.fetch_add(1, Ordering::SeqCst);
        if !self.has_deputy.load(Ordering::SeqCst) {
            return;
        }
        let mut deputy = lock(&self.deputy);
        deputy.is_called = false;
        if deputy.is_at_work {
            self.ring();
            // Where the parent does not read, and the link has ended for that, the deputy might write for ever.
            while deputy.is_at_work && !self.is_unread() {
                deputy = self
                    .called
                    .wait(deputy)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
        self.has_deputy.store(false, Ordering::SeqCst);
    }

    /// Whether the link has ended since its parent does not read: what was sent is lost.
    pub(crate) fn is_unread(&self) -> bool {
        matches!(self.link().ended(), Some(LinkEnd::Unread(_)))
    }

    /// Tells the parent that the actor is made, or cannot be, and that the rest may go.
    pub(crate) fn greet(&self) {
        if let Some((mut socket, way)) = lock(&self.greeting).take()
            && let Err(error) = socket.write_all(&way)
        {
            self.link()
                .lose(&format!("nothing can be written: {error}"));
        }
        self.has_greeted.store(true, Ordering::SeqCst);
    }

    /// Writes what is to go, once the actor is made.
    pub(crate) fn flush(&self) {
        if !self.has_greeted.load(Ordering::SeqCst)
            || !self.has_to_send.swap(false, Ordering::SeqCst)
        {
            return;
        }
        let mut outgoing = lock(&self.outgoing);
        let (outgoing, bytes, attached) = &mut *outgoing;
        bytes.clear();
        let answered = self.link().take_outgoing_with(bytes, attached);
        let written = outgoing.write_all(bytes, attached, answered);
        // What a burst has taken is given back.
        bytes.shrink_to(1 << 20);
        if let Err(error) = written {
            self.link()
                .lose(&format!("nothing can be written: {error}"));
        }
    }

    /// Waits until something has come, or the bell is rung; `true` if there is something to read.
    fn wait(&self) -> bool {
        let is_there = match (&*lock(&self.incoming), &self.bell) {
            (Incoming::Socket(socket), Bell::Event(event)) => {
                let mut fds = [
                    PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN),
                    PollFd::from_borrowed_fd(event.as_fd(), PollFlags::IN),
                ];
                // If it is interrupted the caller looks around.
                let _ = poll(&mut fds, None);
                if !fds[1].revents().is_empty() {
                    let _ = rustix::io::read(event, &mut [0; 8]);
                }
                !fds[0].revents().is_empty()
            }
            (Incoming::Memory(reader, _), _) => {
                let is_wanted = || !self.is_rung.load(Ordering::SeqCst);
                // What is wrong is found by the one who reads.
                let _ = reader.wait(None, is_wanted);
                !reader.is_empty() || is_wanted()
            }
            (Incoming::Socket(_), Bell::Memory(_)) => {
                unreachable!("both are made of one carrier")
            }
        };
        self.is_rung.store(false, Ordering::SeqCst);
        is_there
    }

    /// Waits for what comes at once, if it comes; `true` if there is something to read.
    fn wait_shortly(&self) -> bool {
        match &*lock(&self.incoming) {
            Incoming::Socket(_) => false,
            Incoming::Memory(reader, _) => {
                let is_wanted = || !self.is_rung.load(Ordering::SeqCst);
                let shortly = Instant::now().checked_add(SHORTLY);
                let _ = reader.wait(shortly, is_wanted);
                !reader.is_empty()
            }
        }
    }

    /// Reads once; `false` if the link has ended.
    fn read(&self, portion: &mut [u8]) -> bool {
        let mut descriptors = Vec::new();
        let read = lock(&self.incoming).read(portion, &mut descriptors, None);
        let count = match read {
            Ok(Some(0) | None) => {
                self.link().lose("its parent has closed it");
                return false;
            }
            Ok(Some(count)) => count,
            Err(error) => {
                self.link().lose(&format!("nothing can be read: {error}"));
                return false;
            }
        };
        match &mut *lock(&self.inbound) {
            Some(inbound) => inbound.receive_with(&portion[..count], descriptors).is_ok(),
            None => false,
        }
    }

    /// Gives the root its next message, if it is done with those before, and takes out those that come behind it.
    fn give_next(&self, taken_out: &mut TakenOut, at_hand: &mut AtHand<'_>) -> bool {
        let mut inbound = lock(&self.inbound);
        let Some(inbound) = inbound.as_mut() else {
            return false;
        };
        if !inbound.holds_any() || !inbound.root_is_idle() {
            return false;
        }
        at_hand.begin();
        let is_given = matches!(inbound.next_root(), Ok(true));
        at_hand.given += u64::from(is_given);
        if !is_given {
            // What cannot be read is no message that it is at.
            at_hand.begin_none();
        }
        if inbound.holds_any() {
            inbound.take_out(taken_out);
        }
        is_given
    }

    /// A turn of the actors here: with the message that the root was given, and with those behind it, as long as nothing else is to be
    /// done. `true` if more is left for a turn.
    fn turn(&self, frame: &mut Frame, taken_out: &mut TakenOut, at_hand: &mut AtHand<'_>) -> bool {
        let mut left = frame.pump(Budget::unlimited()).left;
        let mut pace = Pace::new();
        while !left && taken_out.has_message() && taken_out.root_is_idle() {
            let given = at_hand.given;
            let mut begin = || {
                let goes_on = pace.goes_on(self);
                if goes_on {
                    at_hand.go_on();
                }
                goes_on
            };
            taken_out.offer(&mut begin, &mut || {
                left = frame.pump(Budget::unlimited()).left;
            });
            if at_hand.given > given && !pace.is_over {
                continue;
            }
            // It takes none by itself, if one may be begun at all.
            let is_free = !left && taken_out.has_message() && taken_out.root_is_idle();
            if pace.is_over || !is_free || !pace.goes_on(self) {
                break;
            }
            at_hand.go_on();
            taken_out.give_next();
            left = frame.pump(Budget::unlimited()).left;
        }
        left
    }

    /// Puts back what the root was not given. Whether it is done with what it was given, and whether there is more for it.
    fn look(&self, taken_out: &mut TakenOut) -> (bool, bool) {
        let mut inbound = lock(&self.inbound);
        let Some(inbound) = inbound.as_mut() else {
            return (true, false);
        };
        inbound.put_back(taken_out);
        (inbound.root_is_idle(), inbound.holds_any())
    }

    /// Whether the root waits for room for what it has sent.
    fn is_root_muted(&self) -> bool {
        let inbound = lock(&self.inbound);
        inbound.as_ref().is_some_and(Inbound::root_is_muted)
    }

    /// The main thread: turns of the actors here, and between them what has come and what is to go. So many messages are confirmed
    /// at once at most.
    pub(crate) fn drive(&self, frame: &mut Frame, progress: &Progress, most_unconfirmed: u64) {
        let mut portion = vec![0; PORTION];
        let mut taken_out = TakenOut::default();
        let mut at_hand = AtHand { progress, given: 0 };
        let mut confirmed = 0_u64;
        loop {
            self.begin_turn();
            at_hand.progress.wait_for_room(false);
            let left = self.turn(frame, &mut taken_out, &mut at_hand);
            self.end_turn();
            if !self.has_greeted.load(Ordering::SeqCst) {
                // This was the turn in which the actor was made.
                self.greet();
            }
            let has_ended = self.link().is_over();
            if has_ended && self.is_unread() {
                return;
            }
            let (is_idle, holds_any) = self.look(&mut taken_out);
            let given = at_hand.given;
            // What it has panicked at it is not done with.
            let has_panicked = || self.link().own_root_end().is_some_and(|it| is_panic(&it));
            let is_done = is_idle && !(has_ended && has_panicked());
            let has_given = given > confirmed;
            let done = if has_given && !is_done {
                given - 1
            } else {
                given
            };
            // With an answer, if there is one: so the parent is woken once for both. Or when there are many; or when nothing more comes for a
            // while, see below.
            let goes_now = has_ended || (!holds_any && self.has_to_send.load(Ordering::SeqCst));
            if done > confirmed && (goes_now || done - confirmed >= most_unconfirmed) {
                self.link().confirm_root(done - confirmed);
                confirmed = done;
            }
            // What a message has led to goes before it is done, and before the next is begun, which may be the last: what this process is done
            // with is not to be lost with it. Until then the handler waits for room, where there is none, and does not hang.
            at_hand
                .progress
                .wait_for_room(is_done || self.is_root_muted());
            self.flush();
            if has_given {
                at_hand.done(done);
            }
            if has_ended {
                return;
            }
            let has_more = self.give_next(&mut taken_out, &mut at_hand);
            let has_to_send = || self.has_to_send.load(Ordering::SeqCst);
            if has_more || left || frame.has_mail() || has_to_send() {
                continue;
            }
            let can_read = if done > confirmed {
                if !self.wait_shortly() {
                    self.link().confirm_root(done - confirmed);
                    confirmed = done;
                    continue;
                }
                true
            } else {
                self.wait()
            };
            if !can_read {
                continue;
            }
            if !self.read(&mut portion) {
                self.flush();
                return;
            }
            // The next turn is that of the message that has come, unless what that has brought is to be told before.
            if !has_to_send() && !self.link().is_over() {
                self.give_next(&mut taken_out, &mut at_hand);
            }
        }
    }
}

/// Whether so many turns begun and ended leave one that is not over.
fn is_of_turn(turns: u64) -> bool {
    !turns.is_multiple_of(2)
}

/// Whether an actor that ends so has panicked.
pub(crate) fn is_panic(reason: &EndReason) -> bool {
    matches!(reason, EndReason::Panicked(_) | EndReason::GaveUp { .. })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    /// What takes longer never comes.
    fn soon() -> std::time::Instant {
        std::time::Instant::now() + std::time::Duration::from_secs(300)
    }

    use super::*;
    use crate::carrier::Carrier;

    /// The parent's side of a line that was offered this memory.
    fn agreed(
        spoil: impl FnOnce(&OwnedFd),
        offered: impl FnOnce(carried::Memory) -> (Option<OwnedFd>, Result<carried::Memory, Arc<str>>),
    ) -> Carrier {
        let (here, there) = UnixStream::pair().unwrap();
        let made = tamtam_ipc::carrier(carried::MEMORY).unwrap();
        spoil(&made.1.memory().try_clone_to_owned().unwrap());
        let (handed, kept) = offered(made);
        let line = Line::new(there, handed).unwrap();
        line.greet();
        let (outgoing, incoming, carrier) = carried::agree(here, kept, soon()).unwrap();
        let are_sockets = matches!(
            (outgoing, incoming),
            (Outgoing::Socket(_), Incoming::Socket(_))
        );
        assert_eq!(are_sockets, carrier != Carrier::SharedMemory);
        carrier
    }

    fn shared(memory: carried::Memory) -> (Option<OwnedFd>, Result<carried::Memory, Arc<str>>) {
        let handed = memory.1.memory().try_clone_to_owned().unwrap();
        (Some(handed), Ok(memory))
    }

    #[test]
    fn a_parent_hears_why_its_worker_is_reached_by_the_socket() {
        assert_eq!(agreed(|_| {}, shared), Carrier::SharedMemory);
        // The worker is of a build that lays the memory out in another way, which the header says behind eight bytes.
        let spoil = |memory: &OwnedFd| {
            let file = std::fs::File::from(memory.try_clone().unwrap());
            file.write_all_at(&99_u32.to_le_bytes(), 8).unwrap();
        };
        match agreed(spoil, shared) {
            Carrier::Socket { refused: Some(why) } => {
                let words = "it could not attach to the shared memory: the memory has layout 99";
                assert!(why.starts_with(words), "{why}");
            }
            other => panic!("{other:?}"),
        }
        let none = |_| (None, Err("none to be had".into()));
        let refused = Some("none to be had".into());
        assert_eq!(agreed(|_| {}, none), Carrier::Socket { refused });
    }

    #[test]
    fn a_long_reason_is_cut_between_letters() {
        let (here, mut there) = UnixStream::pair().unwrap();
        there
            .write_all(&carried::refusal(&"\u{e4}".repeat(1_000)))
            .unwrap();
        let (_, _, carrier) = carried::agree(here, Err("none".into()), soon()).unwrap();
        let Carrier::Socket { refused: Some(why) } = carrier else {
            panic!("{carrier:?}");
        };
        assert!(why.ends_with("\u{e4}") && why.len() < 1_200, "{why}");
    }
}
