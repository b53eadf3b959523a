//! What an end of a link is made with: what carries it, and what has the other side's process.

use std::sync::Arc;
use std::time::Instant;

use tamtam_actor::Time;
use tamtam_actor::link::{AwaitedAnswer, Call, Encoding};

use super::{Core, FarName};
use crate::attachments::MostAttached;
use crate::untrusted::Untrusted;

/// What an end of a link is made with.
pub(crate) struct Parts {
    pub(crate) longest_frame: usize,
    pub(crate) encoding: Encoding,
    pub(crate) most_unread: usize,
    pub(crate) untrusted: Option<Untrusted>,
    pub(crate) time: Time,
    pub(crate) offers_root: bool,
    pub(crate) keeps_root: bool,
    pub(crate) predecessors: u64,
    pub(crate) carries_descriptors: bool,
    pub(crate) most_attached: MostAttached,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
    pub(crate) sender: Option<Box<dyn SendAtOnce>>,
    pub(crate) before_wait: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) while_waiting: Option<WhileWaiting>,
    pub(crate) has_seats: bool,
    pub(crate) answers: Option<Arc<dyn AnswerReader>>,
    pub(crate) supervised: Option<Arc<dyn Supervised>>,
    pub(crate) root_name: FarName,
}

/// How what is waited for is sent by the thread that has added it to what is outgoing.
pub(crate) trait SendAtOnce: Send + Sync {
    /// Sends what is outgoing, unless that would wait; whether it is on its way. If not, the carrier is woken up, but by the one who added to
    /// nothing, where this one did not.
    fn send_now(&self, core: &Core, had_outgoing: bool) -> bool;

    /// The thread sends it when it is through with other things. If that takes long, what carries the link does.
    fn send_soon(&self);
}

/// What a thread does while it waits for an answer: see [`FarActor::while_waiting`].
pub(crate) type WhileWaiting = Box<dyn Fn(&mut dyn AwaitedAnswer, Option<Instant>) + Send + Sync>;

/// What lets a thread read answers that has asked in a turn, and has nothing else to do until they come.
#[doc(hidden)]
pub trait AnswerReader: Send + Sync {
    /// A question was written by such a thread.
    fn asked(&self);

    /// Reads, until something was read or `goes_on` says otherwise; or does nothing.
    fn read_while(&self, goes_on: &mut dyn FnMut() -> bool);
}

/// What has the process of the other side's root, and does what the root's supervisor wants.
#[doc(hidden)]
pub trait Supervised: Send + Sync {
    /// The process has begun: its root is made, or has panicked at that.
    fn greeted(&self);

    /// Ends the process in order, and keeps what its root was sent for the next one. Then `done` is called.
    fn suspend(&self, done: Call);

    /// Lets a process begin. Then `done` is called.
    fn resume(&self, done: Option<Call>);

    /// The root is to end; `true` if there is no process, so that it need not be told.
    fn stop(&self) -> bool;

    /// Kills the process.
    fn kill(&self);
}
