//! What a link between two processes needs of actors: messages, replies and addresses as bytes. For `tamtam-link`; no promise is
//! made to others.
//!
//! A [`Reply`] or an [`Address`] in a message is written as the number under which the link knows it, and a descriptor as its place among
//! those of the message. Which link that is, a thread knows by what it has in hand: see [`within`].

use core::any::{Any, TypeId};
use core::cell::Cell;
use core::fmt;
use core::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod descriptors;

pub use self::descriptors::{
    LentDescriptor, TakenDescriptor, deserialize_descriptor, lend_descriptor,
    lend_shared_descriptor, refuse_descriptor, serialize_descriptor, share_descriptor,
    take_descriptor,
};
pub use crate::address::FarHold;
pub use crate::cell::{AwaitedAnswer, Call, Encode, FarActor, FarCell, KeptActor, LinkTie};
pub use crate::id::NumberHasher;
pub use crate::reply::PendingReply;
pub use crate::task::{Flush, ReadAnswers, flush_later, read_later};
pub use crate::waits::Probe;
pub use crate::wire::{Encoding, decode, encode};

use crate::address::Address;
use crate::cell::{AnyActor, WatchKey};
use crate::ended::{EndReason, Ended, MOST_LINKED, Panicked, ProcessEnd};
use crate::error::{AskError, Fate, LinkFailure, Refused};
use crate::id::ActorId;
use crate::mailbox::{DeadLetter, Loss, tell_of};
use crate::reply::{Answered, Reply};
use crate::restart::{Decision, Policy, Restart};
use crate::time::{Alarm, Key, Time, Timer, elsewhere};
use crate::wire::say;

/// What a link has of the replies and addresses in a message that is written or read.
pub trait Tables {
    /// Takes a way back, which the other side knows by this number.
    fn lend_reply(&self, reply: Arc<dyn PendingReply>) -> Result<u64, String>;

    /// The way back that the other side knows by this number.
    fn take_reply(&self, number: u64) -> Result<FarReply, String>;

    /// Lets the other side have an address.
    fn export(&self, exported: Arc<dyn Exported>) -> Result<FarPlace, String>;

    /// The link's number for an actor at its other end; `None` for one at another link's.
    fn place_of(&self, hold: &Arc<FarHold>) -> Option<FarPlace>;

    /// What an address leads to that was received.
    fn import(&self, place: FarPlace, message_type: &'static str) -> Result<Imported, String>;

    /// Takes a descriptor, which the other side finds at this place among those of the message.
    fn lend_descriptor(&self, descriptor: LentDescriptor) -> Result<u64, String>;

    /// As `lend_descriptor`, of a descriptor that may be among them already, lent in this way.
    fn lend_shared_descriptor(&self, descriptor: LentDescriptor) -> Result<u64, String>;

    /// The descriptor that has come at this place among those of the message.
    fn take_descriptor(&self, place: u64) -> Result<TakenDescriptor, String>;

    /// A copy of the descriptor that has come at this place among those of the message.
    fn share_descriptor(&self, place: u64) -> Result<TakenDescriptor, String>;
}

/// Calls this once so much time has passed, unless the timer is cancelled before: never on the clock's thread.
pub fn call_after(time: &Time, delay: Duration, call: Call) -> Timer {
    Timer::once(time.clone(), time.set_after(delay, None, LateCall(call)))
}

/// What is called when a time is over.
struct LateCall(Call);

impl Alarm for LateCall {
    fn ring(self, _: Key) {
        elsewhere(self.0, |call| call());
    }
}

/// Where an actor is, as the side sees it that has written this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FarPlace {
    /// With the writer, who knows it by this number.
    Here(u64),
    /// With the reader, who knows it by this number.
    There(u64),
}

/// What an address leads to.
pub enum Imported {
    /// An actor at the other end.
    Far(Arc<FarHold>),
    /// One of this process.
    Own(Arc<dyn Exported>),
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Imported::Far(hold) => f.debug_tuple("Far").field(hold).finish(),
            Imported::Own(exported) => f.debug_tuple("Own").field(&exported.id()).finish(),
        }
    }
}

/// The way of an answer back to another process.
pub struct FarReply {
    /// Where it goes.
    pub asker: Arc<dyn FarAsker>,
    /// What it answers.
    pub question: FarQuestion,
}

/// A question of another process, as the link has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarQuestion {
    /// Its number.
    pub number: u64,
    /// The generation of the process that has asked.
    pub generation: u64,
}

/// What has asked: another process, at the other side of a link.
pub trait FarAsker: Send + Sync {
    /// Sends the answer.
    fn answer(&self, question: FarQuestion, encode: Encode<'_>);

    /// Says why there is none.
    fn fail(&self, question: FarQuestion, why: AskError);

    /// Whether it still waits, as far as is known.
    fn is_waiting(&self, question: FarQuestion) -> bool;
}

impl fmt::Debug for FarReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FarReply").field(&self.question).finish()
    }
}

/// Messages that an actor takes by itself.
pub trait MessageSource {
    /// Has the next message read by this, if it is to be taken now; `false` if none is.
    fn next(&mut self, read: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> bool;
}

/// An address that another process has.
pub trait Exported: Any + Send + Sync {
    /// What tells the actor, and the way to it, from others, as long as this is kept.
    fn key(&self) -> (usize, TypeId);

    /// The number of the actor in this process.
    fn id(&self) -> ActorId;

    /// The type of its messages, for people to read.
    fn message_type(&self) -> &'static str;

    /// The name of the actor.
    fn name(&self) -> Option<Arc<str>>;

    /// Gives the actor a message that was written in this way.
    ///
    /// # Errors
    ///
    /// If the bytes are no such message: then a dead letter was told with them. A message that the actor refuses is a dead
    /// letter, too; who waits for an answer to it is told.
    fn receive(&self, encoding: Encoding, bytes: &[u8]) -> Result<(), String>;

    /// Lets the actor take messages that were written in this way out of there by itself, while `run` gives it turns on this thread. It takes none
    /// that come behind others in its mailbox, and none at all if it has its turns elsewhere, or a mailbox out of the ordinary.
    fn take_from(&self, encoding: Encoding, source: &mut dyn MessageSource, run: &mut dyn FnMut());

    /// How many messages from afar may be on their way to the actor, or in its mailbox: zero unless that is made for waiting.
    fn window(&self) -> u64;

    /// Calls this when all is done with that the actor was given before on this thread: when the handler has come back that had the
    /// last of it, or has panicked, or it was lost, and that counted. Where messages do not come out of the mailbox in the order in
    /// which they went in, or the actor can be replaced, it is called when they are in.
    fn receipt(&self, then: Box<dyn FnOnce() + Send>);

    /// Calls this when all that the actor was given before on this thread has left its mailbox: as a [receipt](Exported::receipt), and where there is none
    /// for it when it was taken out, replaced or lost.
    fn when_gone(&self, then: Box<dyn FnOnce() + Send>);

    /// Whether the actor is done with all that it was given, as far as this thread can see.
    fn is_idle(&self) -> bool;

    /// Whether the actor handles no message until there is room for what it has sent.
    fn is_muted(&self) -> bool;

    /// Stops the actor.
    fn stop(&self);

    /// Lets it handle what it has, and stop then.
    fn finish(&self);

    /// What is to [link](LinkTie::tie) the actor with one at the other end of a link, at whose side that is done already.
    fn tie_with(&self, far: &Arc<FarCell>) -> LinkTie;

    /// Calls this when the actor has ended.
    fn watch(&self, then: Box<dyn FnOnce(&Ended) + Send>) -> Watching;
}

/// A watch of an actor's end, which ends with this.
pub struct Watching(Box<dyn FnMut() + Send>);

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching").finish_non_exhaustive()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A reply where values are text: it can be told from a number by one who does not know the type of the message.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Reply", deny_unknown_fields)]
struct ShownReply {
    #[serde(rename = "$reply")]
    number: u64,
}

/// An address where values are text: 0 and the writer's number for the actor, or 1 and the reader's.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Address", deny_unknown_fields)]
struct ShownAddress {
    #[serde(rename = "$address")]
    place: (u8, u64),
}

impl From<FarPlace> for ShownAddress {
    fn from(place: FarPlace) -> Self {
        ShownAddress {
            place: match place {
                FarPlace::Here(number) => (0, number),
                FarPlace::There(number) => (1, number),
            },
        }
    }
}

impl TryFrom<ShownAddress> for FarPlace {
    type Error = String;

    fn try_from(shown: ShownAddress) -> Result<Self, String> {
        match shown.place {
            (0, number) => Ok(FarPlace::Here(number)),
            (1, number) => Ok(FarPlace::There(number)),
            (side, _) => Err(format!(
                "an address begins with 0 for the side that writes it or 1 for the one that reads it, and this one with {side}"
            )),
        }
    }
}

/// The message that a thread writes or reads, as its [`Tables`]: in the frame of a function that is running.
type InHand = Option<NonNull<dyn Tables>>;

#[cfg(not(tamtam_loom))]
thread_local! {
    static IN_HAND: Cell<InHand> = const { Cell::new(None) };
}

#[cfg(tamtam_loom)]
loom::thread_local! {
    static IN_HAND: Cell<InHand> = Cell::new(None);
}

/// Runs `work`, in which this thread writes or reads the message that has these tables.
pub fn within<R>(tables: &dyn Tables, work: impl FnOnce() -> R) -> R {
    /// What was in hand before is so again, also if the work panics.
    struct PutBack(InHand);
    impl Drop for PutBack {
        fn drop(&mut self) {
            IN_HAND.with(|in_hand| in_hand.set(self.0));
        }
    }
    let tables: NonNull<dyn Tables + '_> = NonNull::from(tables);
    // SAFETY: only the lifetime changes. The pointer is read by `with_current` alone, on this thread, before this function returns or
    // unwinds: then `PutBack` has replaced it.
    let tables: NonNull<dyn Tables> = unsafe { core::mem::transmute(tables) };
    let _put_back = PutBack(IN_HAND.with(|in_hand| in_hand.replace(Some(tables))));
    work()
}

/// Asks the tables of the message in hand.
fn with_current<R>(
    of: &str,
    ask: impl FnOnce(&dyn Tables) -> Result<R, String>,
) -> Result<R, String> {
    let Some(tables) = IN_HAND.with(Cell::get) else {
        return Err(format!(
            "{of} goes through a link to another process, and nowhere else"
        ));
    };
    // SAFETY: the tables were lent to `within`, whose frame is below this one: it replaces the pointer before it returns.
    ask(unsafe { tables.as_ref() })
}

impl<R: DeserializeOwned + Send + 'static> Serialize for Reply<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = with_current("a Reply", |tables| {
            let lent = self.lend().ok_or("the Reply has been used")?;
            tables.lend_reply(lent)
        });
        let number = number.map_err(|error| S::Error::custom(say(error)))?;
        if serializer.is_human_readable() {
            return ShownReply { number }.serialize(serializer);
        }
        serializer.serialize_u64(number)
    }
}

impl<'de, R: Serialize + Send + 'static> Deserialize<'de> for Reply<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = if deserializer.is_human_readable() {
            ShownReply::deserialize(deserializer)?.number
        } else {
            u64::deserialize(deserializer)?
        };
        let far = with_current("a Reply", |tables| tables.take_reply(number));
        let far = far.map_err(|error| D::Error::custom(say(error)))?;
        Ok(Reply::to_continuation(Box::new(far)))
    }
}

impl<R: Serialize + Send> Answered<R> for FarReply {
    fn answered(self: Box<Self>, answer: Result<R, AskError>) {
        let FarReply { asker, question } = *self;
        match answer {
            Ok(answer) => asker.answer(question, &mut |encoding, bytes| {
                encoding.encode(&answer, bytes)
            }),
            Err(why) => asker.fail(question, why),
        }
    }

    fn is_awaited(&self) -> bool {
        self.asker.is_waiting(self.question)
    }
}

impl<M: DeserializeOwned + Send + 'static> Serialize for Address<M> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = with_current("an Address", |tables| {
            let far = self.far_hold();
            match far.and_then(|hold| tables.place_of(hold)) {
                Some(place) => Ok(place),
                None => tables.export(Arc::new(Export(self.clone()))),
            }
        });
        let place = place.map_err(|error| S::Error::custom(say(error)))?;
        if serializer.is_human_readable() {
            return ShownAddress::from(place).serialize(serializer);
        }
        place.serialize(serializer)
    }
}

impl<'de, M: Serialize + Send + 'static> Deserialize<'de> for Address<M> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = if deserializer.is_human_readable() {
            let shown = ShownAddress::deserialize(deserializer)?;
            FarPlace::try_from(shown).map_err(D::Error::custom)?
        } else {
            FarPlace::deserialize(deserializer)?
        };
        let address = with_current("an Address", |tables| {
            let message_type = core::any::type_name::<M>();
            match tables.import(place, message_type)? {
                Imported::Far(hold) => Ok(Address::far(hold)),
                Imported::Own(exported) => {
                    let is = exported.message_type();
                    let own: Arc<dyn Any + Send + Sync> = exported;
                    match own.downcast::<Export<M>>() {
                        Ok(export) => Ok(export.0.clone()),
                        Err(_) => Err(format!(
                            "an address for messages of type {is} came back as one for {message_type}"
                        )),
                    }
                }
            }
        });
        address.map_err(|error| D::Error::custom(say(error)))
    }
}

/// The address of an actor that another process may have.
///
/// # Errors
///
/// As those of [`Tables::export`].
pub fn export<M: DeserializeOwned + Send + 'static>(address: &Address<M>) -> Arc<dyn Exported> {
    Arc::new(Export(address.clone()))
}

/// The address of an actor at the other end of a link.
pub fn address<M: Serialize + 'static>(hold: Arc<FarHold>) -> Address<M> {
    Address::far(hold)
}

/// A probe has come to this actor: it is passed on along its waits, or has come back.
pub fn probe_arrived(at: ActorId, probe: Probe) {
    crate::waits::arrived(at, probe);
}

/// What holds the actor of an address, if it is in another process and messages go there as they are.
pub fn hold_of<M>(address: &Address<M>) -> Option<Arc<FarHold>> {
    address.far_hold().cloned()
}

struct Export<M>(Address<M>);

impl<M: DeserializeOwned + Send + 'static> Export<M> {
    fn dead(&self, why: Loss, bytes: Option<&[u8]>) {
        tell_of(|| DeadLetter {
            actor: self.0.id(),
            name: self.0.place().name(),
            message_type: core::any::type_name::<M>(),
            why,
            bytes: bytes.map(Arc::from),
        });
    }
}

impl<M: DeserializeOwned + Send + 'static> Exported for Export<M> {
    fn key(&self) -> (usize, TypeId) {
        (self.0.key(), TypeId::of::<M>())
    }

    fn id(&self) -> ActorId {
        self.0.id()
    }

    fn message_type(&self) -> &'static str {
        core::any::type_name::<M>()
    }

    fn name(&self) -> Option<Arc<str>> {
        self.0.place().name()
    }

    fn receive(&self, encoding: Encoding, bytes: &[u8]) -> Result<(), String> {
        let message = encoding
            .decode(bytes)
            .inspect_err(|_| self.dead(Loss::NotDecodable, Some(bytes)))?;
        if let Err(error) = self.0.tell_from_afar(message) {
            let why = error.loss();
            crate::reply::refuse(error);
            self.dead(why, None);
        }
        Ok(())
    }

    fn take_from(&self, encoding: Encoding, source: &mut dyn MessageSource, run: &mut dyn FnMut()) {
        let mut next = || loop {
            let mut message = None;
            let is_there = source.next(&mut |bytes| match encoding.decode(bytes) {
                Ok(read) => {
                    message = Some(read);
                    Ok(())
                }
                Err(said) => {
                    self.dead(Loss::NotDecodable, Some(bytes));
                    Err(said)
                }
            });
            if !is_there || message.is_some() {
                return message;
            }
        };
        self.0.offer(&mut next, run);
    }

    fn window(&self) -> u64 {
        self.0.window()
    }

    fn receipt(&self, then: Box<dyn FnOnce() + Send>) {
        self.0.push_receipt(then);
    }

    fn when_gone(&self, then: Box<dyn FnOnce() + Send>) {
        self.0.when_gone(then);
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    fn is_muted(&self) -> bool {
        self.0.is_muted()
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn finish(&self) {
        self.0.finish();
    }

    fn tie_with(&self, far: &Arc<FarCell>) -> LinkTie {
        let far: Arc<dyn AnyActor> = Arc::clone(far) as _;
        LinkTie::new(WatchKey::next(), &self.0.place(), &far)
    }

    fn watch(&self, then: Box<dyn FnOnce(&Ended) + Send>) -> Watching {
        let key = WatchKey::next();
        let place = self.0.place();
        let watched = Arc::downgrade(&place);
        place.watch(key, then);
        Watching(Box::new(move || {
            if let Some(place) = watched.upgrade() {
                place.forget_watcher(key);
            }
        }))
    }
}

/// Why there is no answer, or why an actor has ended, on its way to another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FarFailure {
    /// The question was dropped.
    Unanswered,
    /// The actor, of this name, panicked with this message.
    Panicked(Option<String>, String),
    /// The actor had stopped.
    Stopped,
    /// Its mailbox had no room.
    Full,
    /// Its mailbox dropped the question for others.
    Dropped,
    /// Its handler did not come back.
    Hung,
    /// The question was no message to the program there, as this says.
    NotDecodable(Fate, String),
    /// The answer could not be written, as this says.
    NotEncodable(Fate, String),
    /// The answer was too large, as this says.
    TooLarge(Fate, String),
    /// The process of the actor ended so, with the question in its hands.
    ProcessEnded(ProcessEnd),
    /// Something else, as this says.
    Other(Fate, String),
    /// The actor has refused it, for this reason.
    Refused(String),
}

impl FarFailure {
    /// What is told of this to one whose question was passed on.
    #[must_use]
    pub fn of(why: &AskError) -> Self {
        // The actor that has passed it on may have begun it.
        let fate = match why.fate() {
            Fate::NotBegun | Fate::Unknown => Fate::Unknown,
            Fate::Begun => Fate::Begun,
        };
        let text = |failure: &LinkFailure| failure.text().to_owned();
        match why {
            AskError::Unanswered => FarFailure::Unanswered,
            AskError::Panicked(panicked) => FarFailure::Panicked(
                panicked.name().map(str::to_owned),
                panicked.message().to_owned(),
            ),
            AskError::Stopped(_) => FarFailure::Stopped,
            AskError::Full(_) => FarFailure::Full,
            AskError::Dropped(_) => FarFailure::Dropped,
            AskError::Hung(_) => FarFailure::Hung,
            AskError::NotDecodable(failure) => FarFailure::NotDecodable(fate, text(failure)),
            AskError::NotEncodable(failure) => FarFailure::NotEncodable(fate, text(failure)),
            AskError::TooLarge(failure) => FarFailure::TooLarge(fate, text(failure)),
            AskError::ProcessEnded(end) => FarFailure::ProcessEnded(*end),
            AskError::Refused(refused) => FarFailure::Refused(refused.reason().to_owned()),
            other => FarFailure::Other(fate, other.to_string()),
        }
    }

    /// What is heard of it by one who has asked that actor.
    #[must_use]
    pub fn heard(self, asked: ActorId) -> AskError {
        match self {
            FarFailure::Unanswered => AskError::Unanswered,
            FarFailure::Panicked(name, message) => {
                AskError::Panicked(Panicked::told(asked, name, message))
            }
            FarFailure::Stopped => AskError::Stopped(asked),
            FarFailure::Full => AskError::Full(asked),
            FarFailure::Dropped => AskError::Dropped(asked),
            FarFailure::Hung => AskError::Hung(asked),
            FarFailure::NotDecodable(fate, text) => {
                AskError::NotDecodable(LinkFailure::new(fate, text))
            }
            FarFailure::NotEncodable(fate, text) => {
                AskError::NotEncodable(LinkFailure::new(fate, text))
            }
            FarFailure::TooLarge(fate, text) => AskError::TooLarge(LinkFailure::new(fate, text)),
            FarFailure::ProcessEnded(end) => AskError::ProcessEnded(end),
            FarFailure::Other(fate, text) => AskError::Unreachable(LinkFailure::new(fate, text)),
            FarFailure::Refused(reason) => AskError::Refused(Refused::new(reason)),
        }
    }
}

/// Why an actor has ended, on its way to another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FarEnd {
    /// It was stopped.
    Stopped,
    /// It had no addresses left.
    NoAddresses,
    /// It panicked, with this message.
    Panicked(String),
    /// Its home has ended.
    HomeEnded,
    /// It panicked too often: after so many restarts, with this message.
    GaveUp(u32, String),
    /// It was linked with another one, which was linked with another one, and so on: their names, if they have any, the nearest first;
    /// and why the last of them has ended.
    Linked(Vec<Option<String>>, Box<FarEnd>),
    /// The link to it was lost, as this says.
    LinkLost(String),
    /// Its process has ended so.
    ProcessEnded(ProcessEnd),
}

impl FarEnd {
    /// So many actors of a chain of links are named at most: the nearest ones.
    pub const MOST_LINKED: usize = MOST_LINKED;

    /// What is told of this.
    #[must_use]
    pub fn of(reason: &EndReason) -> Self {
        match reason {
            EndReason::Stopped => FarEnd::Stopped,
            EndReason::NoAddresses => FarEnd::NoAddresses,
            EndReason::Panicked(message) => FarEnd::Panicked(message.to_string()),
            EndReason::HomeEnded => FarEnd::HomeEnded,
            EndReason::GaveUp { restarts, message } => {
                FarEnd::GaveUp(*restarts, message.to_string())
            }
            EndReason::Linked(other) => {
                let mut other = other;
                let mut names = Vec::new();
                loop {
                    if names.len() < FarEnd::MOST_LINKED {
                        names.push(other.name.as_deref().map(str::to_owned));
                    }
                    match &other.reason {
                        EndReason::Linked(next) => other = next,
                        reason => break FarEnd::Linked(names, Box::new(FarEnd::of(reason))),
                    }
                }
            }
            EndReason::LinkLost(text) => FarEnd::LinkLost(text.to_string()),
            EndReason::ProcessEnded(end) => FarEnd::ProcessEnded(*end),
        }
    }

    /// What is heard of it.
    #[must_use]
    pub fn heard(self) -> EndReason {
        match self {
            FarEnd::Stopped => EndReason::Stopped,
            FarEnd::NoAddresses => EndReason::NoAddresses,
            FarEnd::Panicked(message) => EndReason::Panicked(message.into()),
            FarEnd::HomeEnded => EndReason::HomeEnded,
            FarEnd::GaveUp(restarts, message) => EndReason::GaveUp {
                restarts,
                message: message.into(),
            },
            FarEnd::Linked(names, end) => {
                names.into_iter().rev().fold(end.heard(), |reason, name| {
                    EndReason::Linked(Arc::new(Ended {
                        // No address here has that number.
                        id: ActorId::next(),
                        name: name.map(Arc::from),
                        reason,
                    }))
                })
            }
            FarEnd::LinkLost(text) => EndReason::LinkLost(text.into()),
            FarEnd::ProcessEnded(end) => EndReason::ProcessEnded(end),
        }
    }
}

/// Decides whether a process is begun again.
pub struct RestartPolicy(Policy);

impl RestartPolicy {
    /// As that says.
    #[must_use]
    pub fn new(restart: Restart) -> Self {
        RestartPolicy(Policy::own(restart))
    }

    /// Whether another one comes after one that has stopped itself.
    #[must_use]
    pub fn restarts_after_stop(&self) -> bool {
        self.0.restarts_after_stop()
    }

    /// One has ended for this reason, at this time: the pause before the next.
    ///
    /// # Errors
    ///
    /// There is no next one, for this reason.
    pub fn decide(&self, why: EndReason, now: Instant) -> Result<Duration, EndReason> {
        match self.0.decide(why.clone(), now) {
            Decision::Again(pause) => Ok(pause),
            Decision::End(why) => Err(why),
            Decision::Wait => Err(why),
        }
    }
}

impl fmt::Debug for RestartPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RestartPolicy").finish()
    }
}
