//! What reads for a link over a socket: a thread of its own, or one that asks.
//!
//! A thread that waits for an answer reads it itself, as a leader among followers does (Schmidt and others, *Leader/Followers*, 2000): else the
//! answer would wake the thread that reads, and that the one which asks. Before it sleeps it looks for a while, as long as that has paid
//! before, so that an answer which comes soon wakes no thread at all.
//!
//! The thread that reads waits by an `epoll`, from which the leader takes the socket away until it has its answer; then what has come
//! meanwhile wakes that thread. So nothing waits longer for it than it would without a leader. Of two threads that ask one reads, and the other one
//! is woken when its answer is there. Where more of them ask, answers come all the time: the thread that reads stays awake by that, and leaders who
//! come and go would cost more than it does.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Wake, Waker};
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use tamtam_actor::link::{AwaitedAnswer, TakenDescriptor};
use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::{Habit, Wait};

use super::{PORTION, Room, RoomWait, has_closed};
use crate::inbound::Inbound;
use crate::link::Link;

/// Reads what is there without waiting for more.
type ReadNow = Box<dyn FnMut(&mut [u8], &mut Vec<TakenDescriptor>) -> io::Result<usize> + Send>;

/// So many threads wait at most when one of them begins to read.
const MOST_ASKING: u32 = 2;

pub(super) struct Reading {
    /// Threads that wait for answers.
    asking: AtomicU32,
    /// There as long as the link is read.
    side: Mutex<Option<Side>>,
    /// The thread that has it is the one of those that ask which reads. There until the link is over.
    leader: Mutex<Option<Leader>>,
}

/// What has come, and where it comes from.
struct Side {
    link: Link,
    inbound: Inbound,
    read: ReadNow,
    portion: Box<[u8]>,
    /// The other side is gone: what lies in the socket is little, and is read whether it has room or not.
    is_last: bool,
}

/// By what the thread that reads waits for the socket.
struct Watch {
    socket: Arc<dyn AsFd + Send + Sync>,
    epoll: OwnedFd,
}

/// By what a thread that asks waits for the socket.
struct Leader {
    watch: Arc<Watch>,
    call: Arc<LeaderCall<Eventfd>>,
    waker: Waker,
    /// How long looking for an answer has paid.
    habit: Habit,
}

/// Calls the thread that asks and sleeps at the socket, since its answer has come by another way.
struct LeaderCall<B> {
    /// It sleeps, or is about to, and has to be called; else it looks itself, before it sleeps.
    is_asleep: AtomicBool,
    bell: B,
}

/// Ends a sleep of the thread that asks, also one that it is about to begin.
trait Bell: Send + Sync + 'static {
    fn ring(&self);

    /// What was rung is not left for the next sleep.
    fn silence(&self);
}

struct Eventfd(OwnedFd);

impl Bell for Eventfd {
    fn ring(&self) {
        // It can fail by a count that is full, and then it is rung as well.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    fn silence(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl Watch {
    fn new(socket: Arc<dyn AsFd + Send + Sync>) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &*socket, EventData::new_u64(0), EventFlags::IN)?;
        Ok(Watch { socket, epoll })
    }

    /// Waits until there is something to read, or the socket is closed.
    fn wait(&self) {
        // Without a time limit it ends by an event, or by a signal, and then there is nothing to read.
        let mut event = [const { std::mem::MaybeUninit::uninit() }; 1];
        let _ = epoll::wait(&self.epoll, &mut event, None);
    }

    /// Whether the other side is gone, so that no more than lies in the socket will come.
    fn is_gone(&self) -> bool {
        has_closed(self.socket.as_fd())
    }

    /// Takes the socket away from the thread that reads, until it is given back by the drop of this.
    fn take(&self) -> TakenWatch<'_> {
        self.change(EventFlags::empty());
        TakenWatch(self)
    }

    fn change(&self, events: EventFlags) {
        // It cannot fail: the socket was added, and is kept. If it did, both would read, which is slower.
        let _ = epoll::modify(&self.epoll, &*self.socket, EventData::new_u64(0), events);
    }
}

struct TakenWatch<'a>(&'a Watch);

impl Drop for TakenWatch<'_> {
    fn drop(&mut self) {
        // What has come meanwhile wakes the thread that reads.
        self.0.change(EventFlags::IN);
    }
}

impl<B: Bell> LeaderCall<B> {
    fn new(bell: B) -> Self {
        LeaderCall {
            is_asleep: AtomicBool::new(false),
            bell,
        }
    }

    fn call(&self) {
        // SYNC leader-call: the answer is there before this, and the leader looks for it behind its own exchange.
        if self.is_asleep.swap(false, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// Sleeps, unless the answer is there; a call ends it.
    fn sleep(&self, is_there: impl FnOnce() -> bool, sleep: impl FnOnce()) {
        // SYNC leader-call
        self.is_asleep.swap(true, Ordering::SeqCst);
        if !is_there() {
            sleep();
        }
        if !self.is_asleep.swap(false, Ordering::SeqCst) {
            self.bell.silence();
        }
    }
}

impl<B: Bell> Wake for LeaderCall<B> {
    fn wake(self: Arc<Self>) {
        self.call();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.call();
    }
}

impl Leader {
    fn new(watch: Arc<Watch>) -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let call = Arc::new(LeaderCall::new(Eventfd(event)));
        Ok(Leader {
            watch,
            waker: Waker::from(Arc::clone(&call)),
            call,
            habit: Habit::new(),
        })
    }

    /// Sleeps until something has come over the socket, the answer is there, or the deadline has passed.
    fn sleep(&self, answer: &dyn AwaitedAnswer, deadline: Option<Instant>) {
        self.call
            .sleep(|| answer.is_there(), || self.poll(deadline));
    }

    fn poll(&self, deadline: Option<Instant>) {
        let timeout = deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        let (socket, event) = (self.watch.socket.as_fd(), self.call.bell.0.as_fd());
        let mut both = [&socket, &event].map(|it| PollFd::new(it, PollFlags::IN));
        match poll(&mut both, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // The system is out of memory for it.
            Err(_) => std::thread::yield_now(),
        }
    }

    /// Reads until the answer is there, the deadline has passed, or the link is over.
    fn lead(&self, reading: &Reading, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        let _taken = self.watch.take();
        loop {
            let mut patience = self.habit.begin(Wait::Adaptive, deadline);
            loop {
                // The thread that reads has the answer read behind what is before it.
                if matches!(reading.read_if_free(), Looked::Over | Looked::Full) {
                    return;
                }
                if answer.is_there() {
                    return patience.rewarded();
                }
                if !patience.look_again() {
                    break;
                }
            }
            let is_over = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if is_over || answer.poll(&self.waker) {
                return;
            }
            patience.sleeps();
            self.sleep(answer, deadline);
            patience.woken();
        }
    }
}

/// What one look at a stream has found.
#[derive(PartialEq, Eq)]
enum Looked {
    /// As much as is taken at once: there may be more.
    More,
    /// All that was there.
    Nothing,
    /// Nothing was read: too much of what has come waits for actors.
    Full,
    /// The link is over.
    Over,
}

impl Side {
    /// Reads once, if the link has room.
    fn read_portion(&mut self) -> Looked {
        if !self.is_last && !self.link.has_room() {
            return match self.link.ended() {
                Some(_) => Looked::Over,
                None => Looked::Full,
            };
        }
        loop {
            let mut descriptors = Vec::new();
            let lost = match (self.read)(&mut self.portion, &mut descriptors) {
                Ok(0) => "it has closed the stream".to_owned(),
                Ok(count) => {
                    let bytes = &self.portion[..count];
                    // With descriptors the system ends what is read at once before the rest.
                    let is_all = count < self.portion.len() && descriptors.is_empty();
                    if self.inbound.receive_with(bytes, descriptors).is_err() {
                        return Looked::Over;
                    }
                    return if is_all {
                        Looked::Nothing
                    } else {
                        Looked::More
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Looked::Nothing,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => format!("the stream cannot be read: {error}"),
            };
            self.link.lose(&lost);
            return Looked::Over;
        }
    }
}

impl Reading {
    /// What reads from a socket, and the part of it that is for a thread of its own.
    ///
    /// # Errors
    ///
    /// If the system has no descriptor for it.
    pub(super) fn new(
        socket: Arc<dyn AsFd + Send + Sync>,
    ) -> io::Result<(Arc<Self>, ReadingThread)> {
        let watch = Arc::new(Watch::new(socket)?);
        let reading = Arc::new(Reading {
            asking: AtomicU32::new(0),
            side: Mutex::new(None),
            leader: Mutex::new(Some(Leader::new(Arc::clone(&watch))?)),
        });
        let thread = ReadingThread {
            reading: Arc::clone(&reading),
            watch,
        };
        Ok((reading, thread))
    }

    fn side(&self) -> MutexGuard<'_, Option<Side>> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads once, unless another thread does. The thread has its own answer and deadline to look at, whatever the other side sends meanwhile.
    fn read_if_free(&self) -> Looked {
        match self.side.try_lock() {
            Ok(side) => Self::read(side),
            Err(TryLockError::Poisoned(poisoned)) => Self::read(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Looked::Nothing,
        }
    }

    fn read(mut side: MutexGuard<'_, Option<Side>>) -> Looked {
        let looked = side.as_mut().map_or(Looked::Over, Side::read_portion);
        if looked == Looked::Over {
            // Of those that read, this one is the last.
            *side = None;
        }
        looked
    }

    /// A thread waits for an answer, and reads meanwhile unless others do.
    pub(super) fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        let others = self.asking.fetch_add(1, Ordering::Relaxed);
        if others < MOST_ASKING && answer.is_lent() {
            let leader = match self.leader.try_lock() {
                Ok(leader) => Some(leader),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(leader) = leader.as_ref().and_then(|leader| leader.as_ref()) {
                leader.lead(self, answer, deadline);
            }
        }
        answer.wait();
        self.asking.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The thread that reads.
pub(super) struct ReadingThread {
    reading: Arc<Reading>,
    watch: Arc<Watch>,
}

impl ReadingThread {
    /// Reads until the link is over.
    pub(super) fn read_all(
        self,
        link: Link,
        inbound: Inbound,
        room: &Room,
        read: impl FnMut(&mut [u8], &mut Vec<TakenDescriptor>) -> io::Result<usize> + Send + 'static,
    ) {
        *self.reading.side() = Some(Side {
            link: link.clone(),
            inbound,
            read: Box::new(read),
            portion: vec![0; PORTION].into(),
            is_last: false,
        });
        loop {
            match Reading::read(self.reading.side()) {
                Looked::More => {}
                Looked::Nothing => self.watch.wait(),
                Looked::Full => {
                    let waited = room.wait(&link, || self.watch.is_gone());
                    if waited == RoomWait::IsLast
                        && let Some(side) = &mut *self.reading.side()
                    {
                        side.is_last = true;
                    }
                }
                Looked::Over => break,
            }
        }
        // A thread that leads is about to hear of the end.
        let leader = self.reading.leader.lock();
        leader.unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use tamtam_actor::models::model;
    use tamtam_wait::seam::{Condvar, Mutex, thread};

    use super::*;

    struct ModelBell {
        is_rung: Mutex<bool>,
        rung: Condvar,
    }

    impl Bell for Arc<ModelBell> {
        fn ring(&self) {
            *self.is_rung.lock() = true;
            self.rung.notify_one();
        }

        fn silence(&self) {
            *self.is_rung.lock() = false;
        }
    }

    /// An answer comes, and before it, or at the same time, the late call of a question that was asked before.
    #[test]
    fn loom_the_leader_is_called_when_its_answer_comes_by_another_way() {
        model(3, || {
            let bell = Arc::new(ModelBell {
                is_rung: Mutex::new(false),
                rung: Condvar::new(),
            });
            let call = Arc::new(LeaderCall::new(Arc::clone(&bell)));
            let is_there = Arc::new(AtomicBool::new(false));
            let callers = [true, false].map(|brings| {
                let (call, is_there) = (Arc::clone(&call), Arc::clone(&is_there));
                thread::spawn(move || {
                    if brings {
                        is_there.store(true, Ordering::Release);
                    }
                    call.call();
                })
            });
            while !is_there.load(Ordering::Acquire) {
                call.sleep(
                    || is_there.load(Ordering::Acquire),
                    || {
                        drop(
                            bell.rung
                                .wait_while(bell.is_rung.lock(), |is_rung| !*is_rung),
                        )
                    },
                );
            }
            callers
                .into_iter()
                .for_each(|caller| caller.join().unwrap());
        });
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;
    use std::sync::mpsc;
    use std::thread::{self, JoinHandle, ThreadId};
    use std::time::Duration;

    use rustix::net::RecvFlags;

    use super::super::rights;
    use super::*;

    /// An answer that is there when the test says so.
    #[derive(Clone, Default)]
    struct Answer(Arc<(AtomicBool, Mutex<Option<Waker>>)>);

    impl Answer {
        fn come(&self) {
            self.0.0.store(true, Ordering::SeqCst);
            let waker = self.0.1.lock().unwrap().take();
            waker.into_iter().for_each(Waker::wake);
        }
    }

    impl AwaitedAnswer for Answer {
        fn is_lent(&self) -> bool {
            true
        }

        fn is_there(&self) -> bool {
            self.0.0.load(Ordering::SeqCst)
        }

        fn poll(&mut self, waker: &Waker) -> bool {
            *self.0.1.lock().unwrap() = Some(waker.clone());
            self.is_there()
        }

        fn wait(&mut self) {}
    }

    /// A thread that is known to the system, which says whether it sleeps.
    struct Known {
        thread: JoinHandle<()>,
        state: PathBuf,
    }

    impl Known {
        fn spawn(run: impl FnOnce() + Send + 'static) -> Self {
            let (say, said) = mpsc::channel();
            let thread = thread::spawn(move || {
                let own = fs::read_link("/proc/thread-self").unwrap();
                say.send(PathBuf::from("/proc").join(own).join("stat"))
                    .unwrap();
                run();
            });
            Known {
                thread,
                state: said.recv().unwrap(),
            }
        }

        /// Waits until it sleeps, and goes on sleeping.
        fn until_asleep(&self) {
            let mut in_a_row = 0;
            while in_a_row < 5 {
                let state = fs::read_to_string(&self.state).unwrap_or_default();
                // It follows the name, which stands in parentheses.
                let state = state.rsplit_once(") ").map(|(_, state)| state);
                let sleeps = state.is_some_and(|state| state.starts_with('S'));
                in_a_row = if sleeps { in_a_row + 1 } else { 0 };
                thread::yield_now();
            }
        }

        fn id(&self) -> ThreadId {
            self.thread.thread().id()
        }
    }

    /// One end of a link, which is read, and the socket at the other one.
    struct Carried {
        reading: Arc<Reading>,
        there: UnixStream,
        /// Which thread has read something.
        reads: mpsc::Receiver<ThreadId>,
        /// Comes with what is read next.
        next: Arc<Mutex<Option<Answer>>>,
        reader: Known,
        link: Link,
    }

    impl Carried {
        fn new() -> Self {
            let (here, mut there) = UnixStream::pair().unwrap();
            // The length of a frame, of which a byte comes now and then.
            there.write_all(&1_000_000_u32.to_le_bytes()).unwrap();
            let here = Arc::new(here);
            let (reading, thread) = Reading::new(Arc::clone(&here) as _).unwrap();
            let (link, inbound) = Link::builder().build(|| {});
            let (note, reads) = mpsc::channel();
            let next = Arc::new(Mutex::new(None::<Answer>));
            let (own, came) = (link.clone(), Arc::clone(&next));
            let reader = Known::spawn(move || {
                thread.read_all(own, inbound, &Room::default(), move |bytes, descriptors| {
                    let count =
                        rights::receive_with(&here, bytes, descriptors, RecvFlags::DONTWAIT)?;
                    let _ = note.send(thread::current().id());
                    let answer = came.lock().unwrap().take();
                    answer.iter().for_each(Answer::come);
                    Ok(count)
                })
            });
            assert_eq!(reads.recv(), Ok(reader.id()));
            reader.until_asleep();
            Carried {
                reading,
                there,
                reads,
                next,
                reader,
                link,
            }
        }

        /// A thread that waits for this answer.
        fn ask(&self, answer: &Answer, deadline: Option<Instant>) -> Known {
            let (reading, mut answer) = (Arc::clone(&self.reading), answer.clone());
            Known::spawn(move || reading.while_waiting(&mut answer, deadline))
        }

        fn say(&mut self) {
            self.there.write_all(&[0]).unwrap();
        }

        /// The other side goes; what reads ends by that.
        fn end(self) {
            self.there.shutdown(Shutdown::Both).unwrap();
            self.reader.thread.join().unwrap();
            assert!(self.link.ended().is_some());
            assert!(self.reading.side().is_none());
            assert!(self.reading.leader.lock().unwrap().is_none());
        }
    }

    #[test]
    fn the_thread_that_asks_reads_its_answer_and_the_other_one_all_else() {
        let mut carried = Carried::new();
        for _ in 0..20 {
            let answer = Answer::default();
            *carried.next.lock().unwrap() = Some(answer.clone());
            let asker = carried.ask(&answer, None);
            asker.until_asleep();
            let id = asker.id();
            carried.say();
            asker.thread.join().unwrap();
            assert_eq!(carried.reads.recv(), Ok(id));
            // What comes now is not for it.
            carried.say();
            assert_eq!(carried.reads.recv(), Ok(carried.reader.id()));
            carried.reader.until_asleep();
        }
        assert!(carried.reads.try_recv().is_err());
        carried.end();
    }

    #[test]
    fn what_comes_before_the_answer_is_read_by_the_thread_that_asks_too() {
        let mut carried = Carried::new();
        let answer = Answer::default();
        let asker = carried.ask(&answer, None);
        for _ in 0..10 {
            asker.until_asleep();
            carried.say();
            assert_eq!(carried.reads.recv(), Ok(asker.id()));
        }
        asker.until_asleep();
        *carried.next.lock().unwrap() = Some(answer);
        carried.say();
        asker.thread.join().unwrap();
        carried.end();
    }

    #[test]
    fn one_that_sleeps_at_the_socket_is_called_when_its_answer_comes_by_another_way() {
        let carried = Carried::new();
        for _ in 0..20 {
            let answer = Answer::default();
            let asker = carried.ask(&answer, None);
            asker.until_asleep();
            answer.come();
            asker.thread.join().unwrap();
        }
        carried.end();
    }

    #[test]
    fn one_that_waits_in_vain_goes_at_its_deadline_and_leaves_the_socket_to_the_other_one() {
        let mut carried = Carried::new();
        let deadline = Instant::now() + Duration::from_millis(20);
        let asker = carried.ask(&Answer::default(), Some(deadline));
        asker.thread.join().unwrap();
        assert!(Instant::now() >= deadline);
        carried.say();
        assert_eq!(carried.reads.recv(), Ok(carried.reader.id()));
        carried.end();
    }

    #[test]
    fn one_that_waits_goes_at_its_deadline_however_much_comes() {
        /// A watch of actor 16,384 is over, in eight bytes: of these a portion is full.
        const FRAME: [u8; 8] = [4, 0, 0, 0, 15, 0x80, 0x80, 1];
        let (here, there) = UnixStream::pair().unwrap();
        let (reading, thread) = Reading::new(Arc::new(here) as _).unwrap();
        let (link, inbound) = Link::builder().build(|| {});
        let (other, _) = Link::builder().build(|| {});
        let mut hello = Vec::new();
        other.take_outgoing(&mut hello);
        let flood = Arc::new(Mutex::new(None::<Instant>));
        let (own, flooded) = (link.clone(), Arc::clone(&flood));
        let (note, greeted) = mpsc::channel();
        let reader = Known::spawn(move || {
            thread.read_all(own, inbound, &Room::default(), move |bytes, _| {
                if !hello.is_empty() {
                    let count = hello.len();
                    bytes[..count].copy_from_slice(&hello);
                    hello.clear();
                    let _ = note.send(());
                    return Ok(count);
                }
                match *flooded.lock().unwrap() {
                    Some(until) if until > Instant::now() => {
                        bytes.as_chunks_mut().0.fill(FRAME);
                        Ok(bytes.len())
                    }
                    Some(_) => Ok(0),
                    None => Err(io::ErrorKind::WouldBlock.into()),
                }
            });
        });
        greeted.recv().unwrap();
        reader.until_asleep();
        let last = Instant::now() + Duration::from_secs(20);
        *flood.lock().unwrap() = Some(last);
        let deadline = Instant::now() + Duration::from_millis(20);
        reading.while_waiting(&mut Answer::default(), Some(deadline));
        assert!(Instant::now() < last, "it has read all");
        assert_eq!(link.ended(), None);
        *flood.lock().unwrap() = Some(deadline);
        // What reads looks, and finds the end.
        drop(there);
        reader.thread.join().unwrap();
    }

    #[test]
    fn one_that_asks_while_another_one_reads_does_not_read() {
        let mut carried = Carried::new();
        let (first, second) = (Answer::default(), Answer::default());
        let leader = carried.ask(&first, None);
        leader.until_asleep();
        // It has nothing to wait for here but its own `wait`, which comes back at once.
        carried.ask(&second, None).thread.join().unwrap();
        *carried.next.lock().unwrap() = Some(first);
        carried.say();
        assert_eq!(carried.reads.recv(), Ok(leader.id()));
        leader.thread.join().unwrap();
        carried.end();
    }

    #[test]
    fn one_that_asks_hears_of_the_end_and_all_is_given_back() {
        let carried = Carried::new();
        let asker = carried.ask(&Answer::default(), None);
        asker.until_asleep();
        carried.there.shutdown(Shutdown::Both).unwrap();
        asker.thread.join().unwrap();
        carried.end();
    }
}
