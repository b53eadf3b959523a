//! One end of a link, as its users have it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tamtam_actor::link::{self, AwaitedAnswer, Encoding, Exported};
use tamtam_actor::{Address, EndReason, Time};

use crate::attachments::MostAttached;
use crate::core::{Cells, Core, FarName, Parts, SendAtOnce, WhileWaiting};
use crate::descriptors::Attached;
use crate::direct::DirectOutlet;
use crate::error::LinkEnd;
use crate::frame::{Frame, Hello, LEAST_FRAME, ROOT, encoding_number};
use crate::inbound::Inbound;
use crate::seats::Seats;
use crate::untrusted::Untrusted;

pub use crate::core::{AnswerReader, Supervised};
pub use crate::ending::Death;

#[cfg(all(test, tamtam_loom))]
mod loom_tests;

/// One end of a link to another process. Clones are the same end.
///
/// It does no input or output: a carrier, such as those of [`carrier`](crate::carrier), gives its [`Inbound`] half what has come
/// and takes from it what is to go.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Address, Pool, Reply};
/// use tamtam_link::Link;
///
/// let pool = Pool::new();
/// let doubler = pool.spawn_fn(|(n, reply): (u32, Reply<u32>), _| reply.send(2 * n));
///
/// // Here the two ends are in one process.
/// let (there, mut inbound_there) = Link::builder().root(&doubler).build(|| {});
/// let (here, mut inbound_here) = Link::builder().build(|| {});
/// let far: Address<(u32, Reply<u32>)> = here.root();
/// let answer = std::thread::spawn(move || far.ask(|reply| (21, reply)));
/// while !answer.is_finished() {
///     let mut bytes = Vec::new();
///     here.take_outgoing(&mut bytes);
///     inbound_there.receive(&bytes)?;
///     bytes.clear();
///     there.take_outgoing(&mut bytes);
///     inbound_here.receive(&bytes)?;
/// }
/// assert_eq!(answer.join().unwrap(), Ok(42));
/// # Ok::<(), tamtam_link::LinkEnd>(())
/// ```
#[derive(Clone)]
pub struct Link {
    core: Arc<Core>,
}

/// What a link is to be like: see [`Link::builder`].
///
/// # Examples
///
/// ```
/// use tamtam_link::Link;
///
/// let (link, inbound) = Link::builder().program("resizer").longest_frame(1 << 20).build(|| {});
/// # drop((link, inbound));
/// ```
#[must_use = "a builder makes nothing before `build`"]
pub struct LinkBuilder {
    program: String,
    longest_frame: usize,
    encoding: Encoding,
    is_trusted: bool,
    most_unhandled: usize,
    patience: Duration,
    most_unread: usize,
    pub(crate) hello_limit: Duration,
    time: Time,
    root: Option<Arc<dyn Exported>>,
    keeps_root: bool,
    holds_root: bool,
    predecessors: u64,
    carries_descriptors: bool,
    most_attached: Option<MostAttached>,
    sender: Option<Box<dyn SendAtOnce>>,
    before_wait: Option<Box<dyn Fn() + Send + Sync>>,
    while_waiting: Option<WhileWaiting>,
    has_seats: bool,
    answers: Option<Arc<dyn AnswerReader>>,
    supervised: Option<Arc<dyn Supervised>>,
    far_root: FarName,
}

impl Link {
    /// What a link is to be like.
    pub fn builder() -> LinkBuilder {
        LinkBuilder {
            program: String::new(),
            longest_frame: 16 << 20,
            encoding: Encoding::default(),
            is_trusted: true,
            most_unhandled: 16 << 20,
            patience: Duration::from_secs(30),
            most_unread: 64 << 20,
            hello_limit: Duration::from_secs(10),
            time: Time::system(),
            root: None,
            keeps_root: false,
            holds_root: false,
            predecessors: 0,
            carries_descriptors: false,
            most_attached: None,
            sender: None,
            before_wait: None,
            while_waiting: None,
            has_seats: false,
            answers: None,
            supervised: None,
            far_root: FarName {
                name: None,
                message_type: "a message to the root",
            },
        }
    }

    /// The address of the actor that the other side offers. If it offers none, those who ask it are told.
    ///
    /// The messages' type has to be the one that the actor there has: other bytes are
    /// [`NotDecodable`](tamtam_actor::AskError::NotDecodable).
    #[must_use]
    pub fn root<M: Serialize + 'static>(&self) -> Address<M> {
        link::address(self.core.root_hold())
    }

    /// Appends what is to go to the other side, in order. Empty if there is nothing; then the closure given to
    /// [`build`](LinkBuilder::build) is called when there is.
    ///
    /// What timers have for actors at the other side is done here first, on this thread.
    pub fn take_outgoing(&self, bytes: &mut Vec<u8>) {
        self.take_outgoing_with(bytes, &mut Vec::new());
    }

    /// As [`take_outgoing`](Link::take_outgoing), with the descriptors that go with it: see [`LinkBuilder::carry_descriptors`]. Gives the
    /// [seats](LinkBuilder::ask_from_seats) of those for whom there are answers in it.
    #[doc(hidden)]
    pub fn take_outgoing_with(&self, bytes: &mut Vec<u8>, attached: &mut Vec<Attached>) -> Seats {
        loop {
            let later = match self.core.take_outgoing(bytes, attached) {
                Ok(seats) => return seats,
                Err(later) => later,
            };
            for what in later {
                // A message of the user's may be encoded.
                drop(catch_unwind(AssertUnwindSafe(what)));
            }
        }
    }

    /// Lends the link what senders write to by themselves, instead of waking what carries it. All that was taken to be written is written by then.
    #[doc(hidden)]
    pub fn lend_direct(&self, direct: Box<dyn DirectOutlet>) {
        self.core.lend_direct(direct);
    }

    /// Takes back what was lent, if it was: nothing is written to it any more.
    #[doc(hidden)]
    #[must_use]
    pub fn take_direct(&self) -> Option<Box<dyn DirectOutlet>> {
        self.core.take_direct()
    }

    /// Why the link has ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<LinkEnd> {
        self.core.lock().end.clone()
    }

    /// How the process at the other side has broken the protocol, of a link that [begins again](Link::begin_again): what comes from it is not
    /// taken any more, and the link goes on with the next one.
    #[doc(hidden)]
    #[must_use]
    pub fn violation(&self) -> Option<Arc<str>> {
        self.core.lock().violation.clone()
    }

    /// Ends the link from this side: says goodbye, fails what is asked, and tells those who watch actors there. Only the first
    /// end counts.
    pub fn close(&self) {
        self.core.end(LinkEnd::Closed);
    }

    /// Ends the link from this side, with these words for the other one.
    #[doc(hidden)]
    pub fn refuse(&self, why: &str) {
        self.core.end(LinkEnd::Refused(why.into()));
    }

    /// The carrier has lost the other side, as this says.
    pub fn lose(&self, why: &str) {
        self.core.end(LinkEnd::Lost(why.into()));
    }

    /// How many of the other side's actors have an address here, and how many of this side's have one there.
    #[must_use]
    pub fn addresses(&self) -> (usize, usize) {
        let state = self.core.lock();
        (state.imports.len(), state.exports.len())
    }

    /// Ends the link unless the other side has said hello within this limit.
    #[doc(hidden)]
    pub fn expect_hello(&self, limit: Duration) {
        self.core.expect_hello(limit);
    }

    /// How much this end keeps in its tables, of each kind: for tests that nothing is left behind.
    #[doc(hidden)]
    #[must_use]
    pub fn kept(&self) -> Kept {
        let mut state = self.core.lock();
        state.count_unsent();
        let (links, linkers) = state.links.len();
        Kept {
            imports: state.imports.len(),
            exports: state.exports.len(),
            orphans: state.exports.orphans(),
            watched: state.watched.values().map(Cells::len).sum(),
            links,
            linkers,
            pending: state.pending.len(),
            unconfirmed: state.unconfirmed.len(),
            lent: state.lent.len(),
            later: state.later.len(),
            outgoing: state.outgoing.len(),
        }
    }

    /// How many messages to actors of the other side are not known to be done with there: those on their way, in a mailbox, or
    /// being handled. Questions count by their answers, see [`pending`](Link::pending), unless the actor's mailbox is made for
    /// [waiting](tamtam_actor::Overflow::Wait).
    ///
    /// A link that ends loses them: each is a dead letter, [`Unreachable`](tamtam_actor::Loss::Unreachable) if it was surely not
    /// handled, and else [`FateUnknown`](tamtam_actor::Loss::FateUnknown).
    #[must_use]
    pub fn unconfirmed(&self) -> u64 {
        self.core.unconfirmed()
    }

    /// How many messages are not known to be begun by the other side, and how many are not [confirmed](Link::unconfirmed). A message to the root whose
    /// question was answered was begun, on a link that [keeps](LinkBuilder::keep_root) them, and those before it: it may be some time until they are confirmed.
    #[doc(hidden)]
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        self.core.backlog()
    }

    /// The process at the other side has died, and another one takes its place: what its root was sent and has not begun goes there.
    /// Only of a link that [keeps](LinkBuilder::keep_root) it.
    ///
    /// # Errors
    ///
    /// The link has ended before.
    #[doc(hidden)]
    pub fn begin_again(&self, death: Death) -> Result<Inbound, LinkEnd> {
        let hello = Frame::Hello(Hello {
            program: "",
            most: self.core.longest_frame as u64,
            encoding: encoding_number(self.core.encoding),
            root: None,
        });
        self.core.begin_again(death, &hello)?;
        Ok(Inbound::new(Arc::clone(&self.core), false))
    }

    /// The process at the other side has died, and none takes its place.
    #[doc(hidden)]
    pub fn end_for_good(&self, death: Death, reason: &EndReason) {
        let why = LinkEnd::Lost(reason.to_string().into());
        if self.begin_again(death).is_ok() {
            self.core.end_for(why, reason);
        }
    }

    /// How often a process at the other side was [followed](Self::begin_again) by another one.
    #[doc(hidden)]
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.core.generation()
    }

    /// The root there is to stop, in the process of that [generation](Self::generation) and no later one.
    #[doc(hidden)]
    pub fn stop_root(&self, generation: u64) {
        self.core.write_of(generation, &Frame::Stop(ROOT));
    }

    /// The root has room for so many messages, or without an end if that is zero; a sender that finds none waits, or its message comes back.
    /// Before it is sent any.
    #[doc(hidden)]
    pub fn limit_root(&self, limit: u64, waits: bool) {
        self.core.root().open_window(limit, 0, waits);
    }

    /// How the root there has ended, if a link that [keeps](LinkBuilder::keep_root) what it is sent was told.
    #[doc(hidden)]
    #[must_use]
    pub fn root_end(&self) -> Option<EndReason> {
        self.core.root_end()
    }

    /// Whether the root there was told to end, also behind what it has been sent: then none takes its place that ends.
    #[doc(hidden)]
    #[must_use]
    pub fn is_root_told_to_end(&self) -> bool {
        self.core.is_root_told_to_end()
    }

    /// Why the root would end at once in another process, if it would: it was told to end, and nothing is left that it was sent before that. The carrier
    /// is woken when that may have changed.
    #[doc(hidden)]
    #[must_use]
    pub fn root_end_at_once(&self) -> Option<EndReason> {
        self.core.root_end_at_once()
    }

    /// Whether the link has ended, or the actor that this side offers has.
    #[doc(hidden)]
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.core.is_over()
    }

    /// How the actor that this side offers has ended, if it has.
    #[doc(hidden)]
    #[must_use]
    pub fn own_root_end(&self) -> Option<EndReason> {
        self.core.own_root_end()
    }

    /// So many more messages to the root here are done with. If that is little to move, it is said before the answers that wait to go: who
    /// hears an answer finds the actor free.
    #[doc(hidden)]
    pub fn confirm_root(&self, count: u64) {
        self.core.confirm_ahead(ROOT, count);
    }

    /// How many bytes of messages have come of another side that is not [trusted](LinkBuilder::untrusted), and wait in mailboxes or are being
    /// handled; 64 count for each message beside its own, and 512 for each address and reply in it. Always 0 of one that is trusted.
    ///
    /// What carries the link stops reading where that is [too much](LinkBuilder::most_unhandled), and is woken when it has become less. Of an actor
    /// whose messages overtake each other, or that can be replaced, those count that wait in the mailbox; one that replaces an older one counts beside it
    /// until both have gone.
    #[must_use]
    pub fn unhandled(&self) -> usize {
        let untrusted = self.core.untrusted.as_ref();
        untrusted.map_or(0, Untrusted::unhandled)
    }

    /// Whether more is to be read of the other side: not of one that is not trusted while too much of what it has sent is
    /// [unhandled](LinkBuilder::most_unhandled). What carries the link is woken when it has room again.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let untrusted = self.core.untrusted.as_ref();
        untrusted.is_none_or(Untrusted::has_room)
    }

    /// As if an actor had been given a message of so many bytes; how many it counts for.
    #[cfg(all(test, tamtam_loom))]
    pub(crate) fn count_given(&self, bytes: usize) -> usize {
        let untrusted = self.core.untrusted.as_ref();
        untrusted.map_or(0, |untrusted| untrusted.given(bytes, 0))
    }

    /// As if it were done with that.
    #[cfg(all(test, tamtam_loom))]
    pub(crate) fn count_handled(&self, counted: usize) {
        self.core.handled(counted);
    }

    /// Ends the link, which has no room, and of which nothing was handled since then, if an answer is awaited and the patience is over.
    pub(crate) fn is_stuck_since(&self, since: Instant) -> bool {
        let is_stuck =
            self.core.untrusted.as_ref().is_some_and(|untrusted| {
                since.elapsed() >= untrusted.patience && self.pending() > 0
            });
        if is_stuck {
            let end = LinkEnd::Unhandled(self.unhandled());
            self.core.end_received(&end, true);
        }
        is_stuck
    }

    /// How many answers are awaited from the other side.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.core.lock().pending.len()
    }
}

/// How much an end of a link keeps: see [`Link::kept`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Actors there that have an address here.
    pub imports: usize,
    /// Actors here that have an address there.
    pub exports: usize,
    /// Actors here that are watched from there, and have no address there.
    pub orphans: usize,
    /// Actors there that are watched from here.
    pub watched: usize,
    /// Links of actors here with those there.
    pub links: usize,
    /// Actors here that have such a link.
    pub linkers: usize,
    /// Questions that wait for their answers.
    pub pending: usize,
    /// Actors there to which messages are on their way.
    pub unconfirmed: usize,
    /// Messages whose descriptors have not been read.
    pub lent: usize,
    /// What timers have left to be done.
    pub later: usize,
    /// Bytes that wait to go.
    pub outgoing: usize,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("ended", &self.ended())
            .finish_non_exhaustive()
    }
}

impl LinkBuilder {
    /// What this program is called, for people at the other side.
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    /// The longest frame, in bytes, that is taken and sent: 16 MiB unless it is said, and 2 KiB at least. A message that would take more is
    /// refused with [`TooLarge`](tamtam_actor::Refusal::TooLarge); one that comes nevertheless ends the link. What is said for people, such as
    /// the text of a panic, is cut to what the other side takes, and ends with `…` then.
    ///
    /// What the other side takes is known once it has said hello. Before that a message is held to this side's limit alone, and ends the link where
    /// the other one takes less: say the same at both sides, or send what is long after the first answer.
    pub fn longest_frame(mut self, bytes: usize) -> Self {
        self.longest_frame = bytes.clamp(LEAST_FRAME, u32::MAX as usize);
        self
    }

    /// How messages and answers are written: by postcard unless it is said. A link whose other side has chosen otherwise ends, with words at
    /// both sides.
    ///
    /// With the feature `json` there is `Encoding::Json`, by which a program of another language needs no types of Rust.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// The other side is a program that is not trusted, such as a page in a browser. It may tell, ask and watch the actors whose addresses it
    /// has. It may not stop them, nor link its own with them: that ends the link. It hears that a handler panicked, and not what that said.
    ///
    /// What it has sent and the actors here have not handled is bounded: see [`most_unhandled`](LinkBuilder::most_unhandled).
    pub fn untrusted(mut self) -> Self {
        self.is_trusted = false;
        self
    }

    /// How many bytes of the messages of another side that is not [trusted](LinkBuilder::untrusted) may be [unhandled](Link::unhandled) when more is
    /// read of it: 16 MiB unless it is said. From then on it is held back by what carries the link, which is full soon, until the actors here have
    /// gone on; other links are not. What is read at once comes on top, and so does one [frame](LinkBuilder::longest_frame). Where the other side is
    /// gone meanwhile, that is heard at once, and what lies in the carrier is read; but over [two streams](crate::carrier::streams) it is heard later.
    ///
    /// Its answers are held back, too. An actor that waits in its handler for one of them, and is the one that would have to handle what is before
    /// it, would wait for ever: where an answer is awaited and nothing was handled for as long as `patience`, 30 seconds unless it is said, the link
    /// ends with [`LinkEnd::Unhandled`].
    pub fn most_unhandled(mut self, bytes: usize, patience: Duration) -> Self {
        self.most_unhandled = bytes.max(1);
        self.patience = patience;
        self
    }

    /// How many bytes may wait for an other side that does not read them, before the link ends: 64 MiB unless it is said.
    pub fn most_unread(mut self, bytes: usize) -> Self {
        self.most_unread = bytes;
        self
    }

    /// How long the functions of [`carrier`](crate::carrier) wait for the first words of the other side, which make it an end of a link: 10 seconds unless
    /// it is said, by the link's [time](LinkBuilder::time). What has connected and does not say hello by then, as a whole, ends the link with
    /// [`LinkEnd::Silent`], and its threads and descriptors are given back. A side that has said hello may be silent for ever.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use std::os::unix::net::UnixStream;
    /// use std::time::Duration;
    /// use tamtam_actor::Address;
    /// use tamtam_link::{Link, LinkEnd, carrier};
    ///
    /// let limit = Duration::from_millis(20);
    /// let (here, says_nothing) = UnixStream::pair()?;
    /// let link = carrier::unix(Link::builder().hello_limit(limit), here)?;
    /// let far: Address<()> = link.root();
    /// far.end().wait();
    /// assert_eq!(link.ended(), Some(LinkEnd::Silent(limit)));
    /// # drop(says_nothing);
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn hello_limit(mut self, limit: Duration) -> Self {
        self.hello_limit = limit;
        self
    }

    /// How much that comes beside the messages of the other side, such as the ends of shared memory, may be open here at a time: so many descriptors, and
    /// so many bytes of what they are of in all. Unless it is said, half of the descriptors that this process may have open, and half of
    /// the memory of this machine: so no other side takes all of either.
    ///
    /// It counts until what was made of it is dropped. A message with more cannot be read: who waits for an answer to it gets
    /// [`NotDecodable`](tamtam_actor::AskError::NotDecodable), which says how much there is, and the link goes on. Such messages come over a Unix socket
    /// alone, on Linux.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_link::Link;
    ///
    /// // A hundred pictures, a gibibyte of them.
    /// let builder = Link::builder().most_attached(100, 1 << 30);
    /// # drop(builder);
    /// ```
    pub fn most_attached(mut self, descriptors: usize, bytes: u64) -> Self {
        self.most_attached = Some(MostAttached { descriptors, bytes });
        self
    }

    /// The time by which messages are sent later to actors at the other side: the system's unless it is said.
    pub fn time(mut self, time: Time) -> Self {
        self.time = time;
        self
    }

    /// The actor that the other side may reach from the beginning. It reaches no other one unless it is sent its address.
    pub fn root<M: DeserializeOwned + Send + 'static>(mut self, address: &Address<M>) -> Self {
        self.root = Some(link::export(address));
        self
    }

    /// Keeps what the other side's root is sent until it is done with there, for [`Link::begin_again`].
    #[doc(hidden)]
    pub fn keep_root(mut self) -> Self {
        self.keeps_root = true;
        self
    }

    /// This is the process that has the other side's link after so many others, which have ended: see [`Link::begin_again`]. What is left of
    /// theirs in messages that they have not begun is known for that.
    #[doc(hidden)]
    pub fn predecessors(mut self, count: u64) -> Self {
        self.predecessors = count;
        self
    }

    /// What carries the link takes [descriptors](Link::take_outgoing_with) beside the frames, and gives those that come. Without this, a message with
    /// one is refused.
    #[doc(hidden)]
    pub fn carry_descriptors(mut self) -> Self {
        self.carries_descriptors = true;
        self
    }

    /// Has a thread that has written a question or an answer send it by this, instead of waking the carrier.
    pub(crate) fn send_at_once(mut self, sender: impl SendAtOnce + 'static) -> Self {
        self.sender = Some(Box::new(sender));
        self
    }

    /// Calls this on each thread that is about to wait for an actor of the other side.
    #[doc(hidden)]
    pub fn before_wait(mut self, call: impl Fn() + Send + Sync + 'static) -> Self {
        self.before_wait = Some(Box::new(call));
        self
    }

    /// Has each thread that waits for an answer of the other side wait by this, which waits for what it is given, and may do something else
    /// until that is there.
    #[doc(hidden)]
    pub fn while_waiting(
        mut self,
        call: impl Fn(&mut dyn AwaitedAnswer, Option<Instant>) + Send + Sync + 'static,
    ) -> Self {
        self.while_waiting = Some(Box::new(call));
        self
    }

    /// Numbers the questions of a thread so that the side that answers can tell at which [seat](crate::own_seat) it waits.
    #[doc(hidden)]
    pub fn ask_from_seats(mut self) -> Self {
        self.has_seats = true;
        self
    }

    /// Has a thread that has asked the other side in a turn, and has nothing else to do, read the answer by this.
    #[doc(hidden)]
    pub fn read_answers_by(mut self, reader: Arc<dyn AnswerReader>) -> Self {
        self.answers = Some(reader);
        self
    }

    /// A supervisor decides over the process of the other side's root, which is had by this.
    #[doc(hidden)]
    pub fn supervised(mut self, by: Arc<dyn Supervised>) -> Self {
        self.supervised = Some(by);
        self
    }

    /// What the other side's root, and the type of its messages, are called here, for people.
    #[doc(hidden)]
    pub fn call_root(mut self, name: Option<Arc<str>>, message_type: &'static str) -> Self {
        self.far_root = FarName { name, message_type };
        self
    }

    /// Keeps what the root here is sent until it is asked for, by [`Inbound::next_root`].
    #[doc(hidden)]
    pub fn hold_root(mut self) -> Self {
        self.holds_root = true;
        self
    }

    /// An end of a link. `wake` is called, on any thread and under no lock, when there is something to send and there was
    /// nothing before, and when the link has ended; also when [`Link::unhandled`] has become less.
    pub fn build(self, wake: impl Fn() + Send + Sync + 'static) -> (Link, Inbound) {
        let root = self.root.as_ref();
        let window = |root: &Arc<dyn Exported>| {
            if self.holds_root { 0 } else { root.window() }
        };
        // What a type is called inside is for those who are.
        let type_of = |root: &Arc<dyn Exported>| {
            if self.is_trusted {
                root.message_type()
            } else {
                ""
            }
        };
        let hello = Frame::Hello(Hello {
            program: &self.program,
            most: self.longest_frame as u64,
            encoding: encoding_number(self.encoding),
            root: root.map(|root| (type_of(root), window(root))),
        });
        let parts = Parts {
            longest_frame: self.longest_frame,
            encoding: self.encoding,
            untrusted: (!self.is_trusted)
                .then(|| Untrusted::new(self.most_unhandled, self.patience)),
            most_unread: self.most_unread,
            time: self.time,
            offers_root: self.root.is_some(),
            keeps_root: self.keeps_root,
            predecessors: self.predecessors,
            carries_descriptors: self.carries_descriptors,
            most_attached: match self.most_attached {
                Some(most) => most,
                None if self.carries_descriptors => MostAttached::usual(),
                None => MostAttached::NONE,
            },
            wake: Box::new(wake),
            sender: self.sender,
            before_wait: self.before_wait,
            while_waiting: self.while_waiting,
            has_seats: self.has_seats,
            answers: self.answers,
            supervised: self.supervised,
            root_name: self.far_root,
        };
        let core = Core::new(parts, &hello);
        if let Some(root) = self.root {
            core.offer_root(root);
            if self.holds_root {
                // What runs it has to know of its end also when no address is left.
                core.lock().exports.watch_here(ROOT);
            }
        }
        let inbound = Inbound::new(Arc::clone(&core), self.holds_root);
        (Link { core }, inbound)
    }
}

impl fmt::Debug for LinkBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkBuilder")
            .field("program", &self.program)
            .field("longest_frame", &self.longest_frame)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::mpsc;

    use tamtam_actor::{Address, AskError, Budget, Frame, Reply};

    use super::Link;
    use crate::error::LinkEnd;

    /// There was no end of what stood here for them.
    #[test]
    fn a_side_that_watches_ever_more_actors_of_which_it_has_no_address_ends_the_link() {
        let mut frame = Frame::new();
        let actors: Vec<Address<()>> = (0..20)
            .map(|_| frame.spawner().spawn_fn(|(), _| {}))
            .collect();
        let mut left = actors.clone();
        let giver = frame
            .spawner()
            .spawn_fn(move |reply: Reply<Address<()>>, _| {
                if let Some(actor) = left.pop() {
                    reply.send(actor);
                }
            });
        let (there, mut to_there) = Link::builder().untrusted().root(&giver).build(|| {});
        let (here, mut to_here) = Link::builder().build(|| {});
        let far: Address<Reply<Address<()>>> = here.root();
        let (sender, ends) = mpsc::channel();
        let end = actors.iter().find_map(|_| {
            let sender = sender.clone();
            // The address is given up behind the watch.
            let reply = Reply::to(move |actor: Result<Address<()>, AskError>| {
                sender.send(actor.unwrap().end()).unwrap();
            });
            far.tell(reply).unwrap();
            let mut bytes = Vec::new();
            here.take_outgoing(&mut bytes);
            if let Err(end) = to_there.receive(&bytes) {
                return Some(end);
            }
            frame.pump(Budget::unlimited());
            bytes.clear();
            there.take_outgoing(&mut bytes);
            to_here.receive(&bytes).unwrap();
            None
        });
        let words = "it watches more than 8 actors of which it has no address";
        assert_eq!(end, Some(LinkEnd::Protocol(words.into())));
        assert_eq!(there.kept().orphans, 0);
        drop(ends);
    }
}
