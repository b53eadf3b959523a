//! What is lost, and who hears of it.

use core::cell::Cell;
use core::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tamtam_wait::contain;

use crate::ended::ProcessEnd;
use crate::id::{ActorId, Called};

/// Why a message that was accepted is never handled.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tamtam_actor::{Frame, Loss, Overflow, on_dead_letter};
///
/// let mut frame = Frame::new();
/// let actor = frame.spawner().limited(1, Overflow::DropNewest).spawn_fn(|_: u32, _| {});
/// let (seen, id) = (Arc::new(Mutex::new(Vec::new())), actor.id());
/// let losses = Arc::clone(&seen);
/// let watch = on_dead_letter(move |letter| {
///     if letter.actor == id {
///         losses.lock().unwrap().push(letter.why);
///     }
/// });
/// actor.tell(1)?;
/// actor.tell(2)?; // dropped
/// assert_eq!(*seen.lock().unwrap(), [Loss::DroppedNewest]);
/// # drop(watch);
/// # frame.pump(tamtam_actor::Budget::unlimited());
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// It was in the mailbox when the actor stopped or panicked, or came there at that time.
    Stopped,
    /// The actor panicked while it handled it.
    Panicked,
    /// The actor was [replaced](crate::Address::replace) while it handled it.
    Hung,
    /// There was no room for it, and the policy is [`Overflow::DropNewest`](crate::Overflow::DropNewest), or it came
    /// from a [timer](crate::Timer).
    DroppedNewest,
    /// There was no room for another one, and the policy is
    /// [`Overflow::DropOldest`](crate::Overflow::DropOldest).
    DroppedOldest,
    /// A later one about the same took its place: see [`Spawner::latest_by`](crate::Spawner::latest_by).
    Replaced,
    /// It was to go to another process, which is not reached any more.
    Unreachable,
    /// It was to go to another process, and cannot be written as bytes, or takes more of them than the link carries at once.
    NotEncodable,
    /// It came from another process, and its bytes are no message of the actor's type.
    NotDecodable,
    /// It went to another process, to which the link has ended: whether it was handled there is not known.
    FateUnknown,
    /// The process of the actor ended so while the actor handled the message.
    ProcessEnded(ProcessEnd),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::ProcessEnded(end) => {
                return write!(
                    f,
                    "the process of the actor ended while it handled the message: {end}"
                );
            }
            Loss::FateUnknown => {
                "the link to the process of the actor has ended, and whether the message was handled there is not known"
            }
            Loss::Stopped => "the actor stopped before it handled the message",
            Loss::Panicked => "the actor panicked while it handled the message",
            Loss::Hung => "the actor was replaced while it handled the message",
            Loss::DroppedNewest => "there was no room for the message",
            Loss::DroppedOldest => "there was no room, and the message was the oldest",
            Loss::Replaced => "a later message took its place",
            Loss::Unreachable => "the process of the actor is not reached any more",
            Loss::NotEncodable => "it could not be written as bytes for another process",
            Loss::NotDecodable => "its bytes, from another process, are no such message",
        })
    }
}

/// What is known of a message that was lost: see [`on_dead_letter`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{DeadLetter, Loss, on_dead_letter};
///
/// fn note(letter: &DeadLetter) {
///     if letter.why == Loss::Panicked {
///         eprintln!("actor {} panicked at a {}", letter.actor, letter.message_type);
///     }
/// }
///
/// let _watch = on_dead_letter(note);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The actor that should have handled it.
    pub actor: ActorId,
    /// The name that it was given by [`Spawner::name`](crate::Spawner::name), if any.
    pub name: Option<Arc<str>>,
    /// The type of the message, for people to read.
    pub message_type: &'static str,
    /// Why it was lost.
    pub why: Loss,
    /// The message as it goes between processes, where that is all there is of it: see [`Loss::NotDecodable`] and
    /// [`Loss::ProcessEnded`].
    pub bytes: Option<Arc<[u8]>>,
}

impl fmt::Display for DeadLetter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeadLetter {
            actor,
            name,
            message_type,
            why,
            bytes: _,
        } = self;
        let actor = Called(*actor, name.as_deref());
        write!(
            f,
            "a message of type {message_type} to actor {actor} was lost: {why}"
        )
    }
}

type Observer = Arc<dyn Fn(&DeadLetter) + Send + Sync>;

struct Observers {
    next: u64,
    all: Vec<(u64, Observer)>,
}

// Not of the seam: models share them, and each has none.
static OBSERVERS: Mutex<Observers> = Mutex::new(Observers {
    next: 0,
    all: Vec::new(),
});
/// How many there are, for a look without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// This thread is telling the watches of a loss.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `observer` for each message that is lost from now on, in any mailbox of this process, as long as what this
/// returns is kept.
///
/// It is called on the thread that loses the message, after the loss was counted, and under no lock; so it should be
/// quick. What is lost by what it does itself is counted, and not told. Several observers are called one after
/// the other.
///
/// For the messages themselves see [`Spawner::undelivered`](crate::Spawner::undelivered).
///
/// # Panics
///
/// A panic in it ends there.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, on_dead_letter};
///
/// let _watch = on_dead_letter(|letter| eprintln!("{letter}"));
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|(), here| here.stop());
/// actor.tell(())?; // handled
/// let _ = actor.tell(()); // refused if the actor has stopped; lost, and told, if it is about to
/// # Ok::<(), tamtam_actor::TellError<()>>(())
/// ```
pub fn on_dead_letter(observer: impl Fn(&DeadLetter) + Send + Sync + 'static) -> DeadLetterWatch {
    let mut observers = OBSERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = observers.next;
    observers.next += 1;
    observers.all.push((number, Arc::new(observer)));
    COUNT.store(observers.all.len(), Ordering::SeqCst);
    DeadLetterWatch(number)
}

/// Keeps an observer of dead letters: see [`on_dead_letter`]. Dropping it ends the watch; a call that has begun on
/// another thread goes on.
///
/// # Examples
///
/// ```
/// use tamtam_actor::on_dead_letter;
///
/// let watch = on_dead_letter(|letter| eprintln!("{letter}"));
/// drop(watch); // nothing more is told
///
/// on_dead_letter(|letter| eprintln!("{letter}")).forever();
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the watch"]
pub struct DeadLetterWatch(u64);

impl DeadLetterWatch {
    /// Lets the watch go on to the end of the process.
    pub fn forever(self) {
        core::mem::forget(self);
    }
}

impl Drop for DeadLetterWatch {
    fn drop(&mut self) {
        let gone = {
            let mut observers = OBSERVERS.lock().unwrap_or_else(PoisonError::into_inner);
            let place = observers
                .all
                .iter()
                .position(|(number, _)| *number == self.0);
            let gone = place.map(|place| observers.all.remove(place));
            COUNT.store(observers.all.len(), Ordering::SeqCst);
            gone
        };
        // The user's, so without the lock.
        drop(gone);
    }
}

/// Tells all who want to hear of a loss.
#[inline]
pub(crate) fn tell_of(letter: impl FnOnce() -> DeadLetter) {
    if COUNT.load(Ordering::SeqCst) != 0 {
        tell_observers(&letter());
    }
}

#[cold]
#[inline(never)]
fn tell_observers(letter: &DeadLetter) {
    /// Also if a thread ends in between.
    struct Told;

    impl Drop for Told {
        fn drop(&mut self) {
            let _ = TELLING.try_with(|telling| telling.set(false));
        }
    }

    if TELLING
        .try_with(|telling| telling.replace(true))
        .unwrap_or(true)
    {
        return;
    }
    let _told = Told;
    let observers: Vec<Observer> = OBSERVERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .all
        .iter()
        .map(|(_, observer)| Arc::clone(observer))
        .collect();
    for observer in observers {
        contain(|| observer(letter));
        // Perhaps the last one to have it.
        contain(move || drop(observer));
    }
}
