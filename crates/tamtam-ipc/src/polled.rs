//! Sockets that tasks and selecting threads of this process wait for, and the thread that sleeps on all of them and tells those who wait.
//!
//! What the [wake thread](crate::wake) is for words in shared memory, the poll thread is for descriptors: no sleep of the kernel is on both. The protocol
//! is that of a [watch](crate::watch) and stands in this folder's README; the kernel's list (`epoll(7)`) has the part of the bell.

use std::collections::BTreeMap;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{self, Errno};
use rustix::ioctl::{Getter, Opcode, ioctl};
use rustix::net::sockopt::socket_send_buffer_size;
use tamtam_wait::{Context, Operation, Source, Token};

use crate::watch::Watch;

/// After so long a call that the kernel had no means for is tried again: no event tells when it has.
pub(crate) const PAUSE: Duration = Duration::from_millis(1);
/// So many events the poll thread takes at a time.
const MOST_EVENTS: usize = 64;
/// The number of what calls the poll thread, among those of sockets.
const CALL: u64 = 0;
/// Tells how many bytes a socket has sent that the other side has not received.
const BYTES_UNDER_WAY: Opcode = libc::TIOCOUTQ as Opcode;

/// What times of pauses count from.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
static KERNEL_LIST: OnceLock<KernelList> = OnceLock::new();
static KEPT: Mutex<Kept> = Mutex::new(Kept {
    sockets: BTreeMap::new(),
    numbers: CALL,
    held_back: Vec::new(),
    runs: false,
});

/// What the poll thread sleeps on.
struct KernelList {
    epoll: OwnedFd,
    /// Can be read at any time, so that it is an event as soon as it is armed.
    call: OwnedFd,
}

impl KernelList {
    fn new() -> io::Result<Self> {
        let list = KernelList {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            call: eventfd(1, EventfdFlags::CLOEXEC)?,
        };
        let never = EventFlags::empty();
        epoll::add(&list.epoll, &list.call, EventData::new_u64(CALL), never)?;
        Ok(list)
    }

    fn call(&self) -> io::Result<()> {
        let once = EventFlags::IN | EventFlags::ONESHOT;
        epoll::modify(&self.epoll, &self.call, EventData::new_u64(CALL), once)
    }
}

/// What the poll thread knows of.
struct Kept {
    /// By the numbers under which the kernel's list has them.
    sockets: BTreeMap<u64, Weak<Registered>>,
    /// The last number that was given.
    numbers: u64,
    /// Those that the thread tells after a pause, whatever the kernel says of them.
    held_back: Vec<Weak<Registered>>,
    runs: bool,
}

fn lock() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// The kernel's list, on which the thread sleeps from the first need on; none if it cannot be had.
    fn list(&mut self) -> Option<&'static KernelList> {
        let list = match KERNEL_LIST.get() {
            Some(list) => list,
            None => {
                let new = KernelList::new().ok()?;
                KERNEL_LIST.get_or_init(|| new)
            }
        };
        if !self.runs {
            self.runs = thread::Builder::new()
                .name("tamtam-ipc-poll".to_owned())
                .stack_size(128 << 10)
                .spawn(|| run(list))
                .is_ok();
        }
        self.runs.then_some(list)
    }

    /// Has the kernel tell once that the socket is ready, at once if it is; or has the thread tell after a pause.
    fn arm(&mut self, registered: &Arc<Registered>) -> Option<()> {
        let list = self.list()?;
        if registered.is_held_back() {
            list.call().ok()?;
            self.held_back.push(Arc::downgrade(registered));
            return Some(());
        }
        let once = registered.side.events() | EventFlags::ONESHOT;
        let socket = &registered.socket;
        if let Some(number) = registered.number.get() {
            return epoll::modify(&list.epoll, socket, EventData::new_u64(*number), once).ok();
        }
        let number = self.numbers + 1;
        epoll::add(&list.epoll, socket, EventData::new_u64(number), once).ok()?;
        self.numbers = number;
        self.sockets.insert(number, Arc::downgrade(registered));
        registered.number.get_or_init(|| number);
        Some(())
    }
}

/// The poll thread.
fn run(list: &KernelList) {
    let mut events = Vec::with_capacity(MOST_EVENTS);
    loop {
        match epoll::wait(&list.epoll, spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => thread::sleep(PAUSE),
        }
        let mut is_called = false;
        let numbers = events.drain(..).map(|event: epoll::Event| {
            let number = event.data.u64();
            is_called |= number == CALL;
            number
        });
        tell(|kept| {
            numbers
                .filter_map(|it| kept.sockets.get(&it)?.upgrade())
                .collect()
        });
        if is_called {
            thread::sleep(PAUSE);
            tell(|kept| {
                let held_back = std::mem::take(&mut kept.held_back);
                held_back.iter().filter_map(Weak::upgrade).collect()
            });
        }
    }
}

/// Tells those who wait for these; the first who waits again arms the socket.
fn tell(told: impl FnOnce(&mut Kept) -> Vec<Arc<Registered>>) {
    let mut kept = lock();
    let told = told(&mut kept);
    told.iter().for_each(|registered| registered.watch.let_go());
    // A waker is other code, and the last share of a socket takes it out of the list.
    drop(kept);
    for registered in told {
        registered.watch.tell();
    }
}

/// What is waited for at a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// That something can be received, or the other side is gone.
    Receives,
    /// That there is room, or the other side is gone.
    Sends,
}

impl Side {
    fn flags(self) -> PollFlags {
        match self {
            Side::Receives => PollFlags::IN,
            Side::Sends => PollFlags::OUT,
        }
    }

    fn events(self) -> EventFlags {
        match self {
            Side::Receives => EventFlags::IN,
            Side::Sends => EventFlags::OUT,
        }
    }
}

struct Registered {
    socket: OwnedFd,
    side: Side,
    watch: Watch,
    /// Under which the kernel's list has it, from the first wait on.
    number: OnceLock<u64>,
    /// Until then, in nanoseconds, it is not ready, whatever the kernel says.
    held_back_until: AtomicU64,
}

impl Registered {
    fn is_held_back(&self) -> bool {
        let until = self.held_back_until.load(Ordering::Relaxed);
        until > 0 && u128::from(until) > BEGAN.elapsed().as_nanos()
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(number) = self.number.get() {
            let mut kept = lock();
            kept.sockets.remove(number);
            if let Some(list) = KERNEL_LIST.get() {
                let _ = epoll::delete(&list.epoll, &self.socket);
            }
        }
    }
}

/// A socket with two sides, of which this process has one, as a source. Clones are the same socket.
///
/// Ready when the next call would not have to wait; another thread may be quicker.
#[derive(Clone)]
pub(crate) struct Polled(Arc<Registered>);

impl Polled {
    pub(crate) fn new(socket: OwnedFd, side: Side) -> Self {
        Polled(Arc::new(Registered {
            socket,
            side,
            watch: Watch::new(),
            number: OnceLock::new(),
            held_back_until: AtomicU64::new(0),
        }))
    }

    /// A call had to be given up for a reason whose end is no event: it is not ready for a [pause](PAUSE).
    pub(crate) fn hold_back(&self) {
        let until = (BEGAN.elapsed() + PAUSE).as_nanos();
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        self.0.held_back_until.store(until, Ordering::Relaxed);
    }

    /// Waits until the next call is worth it, or so long.
    pub(crate) fn wait(&self, timeout: Option<&Timespec>) -> io::Result<bool> {
        let events = &mut [PollFd::new(&self.0.socket, self.0.side.flags())];
        match poll(events, timeout) {
            Err(Errno::INTR) => Ok(false),
            count => Ok(count? > 0),
        }
    }

    /// Whether any of these is so of the socket, now.
    pub(crate) fn is_any(&self, flags: PollFlags) -> bool {
        let mut events = [PollFd::new(&self.0.socket, flags)];
        let is_known = poll(&mut events, Some(&Timespec::default())).is_ok();
        is_known && events[0].revents().intersects(flags)
    }

    /// Whether a send finds room. The kernel says so in an event only when three quarters are free.
    fn has_room(&self) -> io::Result<bool> {
        // SAFETY: the call writes an int, the count of bytes.
        let under_way = unsafe { Getter::<BYTES_UNDER_WAY, libc::c_int>::new() };
        // SAFETY: of a socket this tells a count and does nothing.
        let under_way = unsafe { ioctl(&self.0.socket, under_way) }?;
        let most = socket_send_buffer_size(&self.0.socket)?;
        Ok(usize::try_from(under_way).is_ok_and(|under_way| under_way < most))
    }

    /// Sees to it that those in the list are told; `false`, after a pause, where the system has no means for it.
    fn attend(&self) -> bool {
        let Polled(registered) = self;
        if registered.watch.is_watched() {
            return true;
        }
        let mut kept = lock();
        let begun = registered.watch.begin(|| kept.arm(registered));
        // Asked under the lock: what has ended it since tells the list, in which the caller is.
        let is_told = begun.is_some() || registered.watch.is_watched();
        drop(kept);
        if !is_told {
            thread::sleep(PAUSE);
        }
        is_told
    }
}

impl AsFd for Polled {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }
}

impl Source for Polled {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.0.watch.list.register(operation, context);
        !self.attend() || self.is_ready()
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.0.watch.list.unregister(operation, context);
    }

    /// What cannot be told is for the next call to tell.
    fn is_ready(&self) -> bool {
        if self.0.is_held_back() {
            return false;
        }
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let has_room = || self.0.side == Side::Sends && self.has_room().unwrap_or(true);
        has_room() || self.wait(Some(&now)).unwrap_or(true)
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.0.watch.list.watch(operation, context);
        !self.attend() || self.is_ready()
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.0.watch.list.unwatch(operation, context);
    }
}

impl fmt::Debug for Polled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Polled")
            .field("side", &self.0.side)
            .field("watch", &self.0.watch)
            .finish_non_exhaustive()
    }
}
