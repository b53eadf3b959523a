//! A channel whose messages a frame, a pool's thread or a worker hands to a function.

use core::fmt;
use core::task::{self, Poll};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use tamtam_channel::{Receiver, RecvStream, mpsc};

use crate::actor::Actor;
use crate::address::Address;
use crate::context::Context;
use crate::frame::{Frame, FrameHandle};
use crate::line::Line;
use crate::pool::Pool;
use crate::worker::Worker;

/// So many messages a listener on a pool or a worker handles before others have their turn.
const MOST_MESSAGES: u32 = 64;

/// A receiver that can be listened to: of a channel of whatever kind, also [`after`](tamtam_channel::after) and
/// [`tick`](tamtam_channel::tick), or of [`spsc`](tamtam_channel::spsc) or [`mpsc`](tamtam_channel::mpsc). With the feature `link` of `tamtam-ipc` also one
/// of a channel between processes: a worker sleeps for it and for its mail at once; for a pool and a frame a thread of that crate does.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Listenable, Listener, Pool};
/// use tamtam_channel::{bounded, mpsc};
///
/// /// Does nothing but listen.
/// fn ignore<L: Listenable>(pool: &Pool, receiver: L) -> Listener {
///     pool.on(receiver, |_| {})
/// }
///
/// let pool = Pool::new();
/// let (lines, received) = bounded::<String>(10);
/// let (numbers, counted) = mpsc::unbounded::<u32>();
/// let listeners = (ignore(&pool, received), ignore(&pool, counted));
/// lines.send("of one kind".to_owned())?;
/// numbers.send(2)?;
/// # drop(listeners);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Listenable: heard::Listenable {}

impl<L: heard::Listenable> Listenable for L {}

/// For receivers of other crates of this project; no part of the interface.
pub mod heard {
    use core::task::{Context, Poll};
    use std::sync::Weak;

    pub use crate::line::SharedSource;

    /// What can be listened to.
    pub trait Listenable: Send + 'static {
        /// What the handler gets.
        type Message: Send + 'static;

        /// As the listener uses it.
        fn into_heard(self) -> Box<dyn Heard<Self::Message>>;
    }

    /// A receiver as a listener uses it.
    pub trait Heard<T>: Send {
        /// The next message; `None` at the end. Takes nothing that it does not bring.
        fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<T>>;

        /// So many messages are there.
        fn count(&self) -> usize;

        /// What a thread that sleeps by itself may wait for in memory of several processes; none for what lies in this one.
        fn at_words(&self) -> Option<Weak<SharedSource>> {
            None
        }

        /// As [`poll_next`](Heard::poll_next) of what is [at words](Heard::at_words), but the waker of no task is kept for what comes later.
        fn try_next(&mut self) -> Poll<Option<T>> {
            Poll::Pending
        }
    }
}

use heard::Heard;

macro_rules! can_be_listened_to {
    ($($receiver:ident, $stream:ident);+) => {$(
        impl<T: Send + 'static> Heard<T> for $stream<'static, T> {
            fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Option<T>> {
                $stream::poll_next(self, context)
            }

            fn count(&self) -> usize {
                self.receiver().len()
            }
        }

        impl<T: Send + 'static> heard::Listenable for $receiver<T> {
            type Message = T;

            fn into_heard(self) -> Box<dyn Heard<T>> {
                Box::new(self.into_stream())
            }
        }
    )+};
}

use mpsc::{Receiver as LaneReceiver, RecvStream as LaneStream};

can_be_listened_to!(Receiver, RecvStream; LaneReceiver, LaneStream);

/// What listens to a channel: see [`Pool::on`], [`Worker::on`] and [`Frame::on`].
///
/// Dropping this ends the listening, when the handler is through with the message that it is at, or that it is just about
/// to take, which may be one sent after the drop: at most this one is heard afterwards, and nothing once
/// [`has_ended`](Listener::has_ended) is true. [`detach`](Listener::detach) lets it listen on by itself.
///
/// It ends also when the channel is empty and has no sender any more, or is closed; when its handler panics; and when its
/// home ends. In each case it drops its receiver, and with it what is in the channel, if that was the last one.
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
/// use tamtam_channel::bounded;
///
/// let pool = Pool::new();
/// let (lines, received) = bounded(10);
/// let (sender, heard) = bounded(10);
/// let listener = pool.on(received, move |line: &str| sender.send(line).unwrap());
/// lines.send("hello")?;
/// assert_eq!(heard.recv()?, "hello");
/// listener.stop();
/// // The listener goes, and with it its handler, which had the only sender.
/// assert!(heard.recv().is_err());
/// assert!(listener.has_ended());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it ends the listening; see `detach`"]
pub struct Listener {
    address: Address<ListenerLook>,
    detached: bool,
}

impl Listener {
    /// Ends the listening; the same as dropping it, but one may look afterwards whether it [has ended](Listener::has_ended).
    pub fn stop(&self) {
        self.address.stop();
    }

    /// Lets it listen on for as long as the channel has senders, and its home turns.
    pub fn detach(mut self) {
        self.detached = true;
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.address.is_stopped()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if !self.detached {
            self.stop();
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("ended", &self.has_ended())
            .finish()
    }
}

/// Something may be in the channel.
struct ListenerLook;

/// Wakes a listener.
struct ListenerBell(Address<ListenerLook>);

impl Wake for ListenerBell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Nothing is lost with it if the listener has ended.
        let _ = self.0.tell(ListenerLook);
    }
}

/// The actor that listens: awaits the next message, and handles it.
struct Listening<T, F> {
    heard: Box<dyn Heard<T>>,
    handler: F,
    waker: Option<Waker>,
}

impl<T, F> Actor for Listening<T, F>
where
    T: Send + 'static,
    F: FnMut(T) + 'static,
{
    type Message = ListenerLook;

    fn started(&mut self, cx: &mut Context<Self>) {
        // With an address of its own it does not end for want of others. Nor by itself with its home, if nothing is sent on
        // the channel any more, as after `after`: it would keep itself for ever.
        cx.here().to_arc().be_told_of_close();
        self.waker = Some(Waker::from(Arc::new(ListenerBell(cx.address()))));
    }

    fn handle(&mut self, _: ListenerLook, cx: &mut Context<Self>) {
        let Some(waker) = &self.waker else { return };
        let mut context = task::Context::from_waker(waker);
        // What comes meanwhile is for another turn.
        let there = u32::try_from(self.heard.count()).unwrap_or(u32::MAX);
        let long_enough = Duration::from_micros(cx.here().cell().turn_limits().micros.into());
        let at_words = self.heard.at_words().filter(|_| Line::sleeps_at_words());
        let mut began = None;
        let mut beside = 0_u32;
        loop {
            let next = match at_words {
                Some(_) => self.heard.try_next(),
                None => self.heard.poll_next(&mut context),
            };
            match next {
                Poll::Ready(Some(message)) => (self.handler)(message),
                Poll::Ready(None) => return cx.stop(),
                Poll::Pending => {
                    if let Some(source) = at_words {
                        Line::wake_when_ready(source, waker);
                    }
                    return;
                }
            }
            let is_long = (beside + 1).is_power_of_two() && {
                let now = Instant::now();
                now.duration_since(*began.get_or_insert(now)) >= long_enough
            };
            let is_last = is_long
                || beside + 1 >= there
                || cx.here().cell().has_system()
                || !Line::one_more(beside, MOST_MESSAGES);
            if is_last {
                // Perhaps there is more; and if not, the next look says where to wake us.
                return waker.wake_by_ref();
            }
            beside += 1;
        }
    }
}

fn listening<L: Listenable, F>(receiver: L, handler: F) -> Listening<L::Message, F> {
    Listening {
        heard: receiver.into_heard(),
        handler,
        waker: None,
    }
}

fn begin(address: Address<ListenerLook>) -> Listener {
    // If its home is gone it has ended already.
    let _ = address.tell(ListenerLook);
    Listener {
        address,
        detached: false,
    }
}

macro_rules! has_listeners {
    ($($home:ty),+) => {$(
        impl $home {
            /// Listens to a channel: `handler` is called here for each message, one by one, in the order of the channel.
            ///
            /// No thread waits for it. Nothing is taken out of the channel before the handler is ready for it: where
            /// the channel is bounded its senders wait for a slow handler, as for any other receiver. Other receivers
            /// of the channel get their share.
            ///
            /// # Examples
            ///
            /// ```
            /// use tamtam_actor::{Pool, Worker};
            /// use tamtam_channel::bounded;
            ///
            /// let (worker, pool) = (Worker::new(), Pool::new());
            /// let (sender, receiver) = bounded(10);
            /// let (squares, squared) = bounded(10);
            /// let squaring = worker.on(receiver, move |number: u32| squares.send(number * number).unwrap());
            /// let (sums, summed) = bounded(1);
            /// let mut sum = 0;
            /// let summing = pool.on(squared, move |square| {
            ///     sum += square;
            ///     if square == 9 {
            ///         sums.send(sum).unwrap();
            ///     }
            /// });
            /// for number in 1..=3 {
            ///     sender.send(number)?;
            /// }
            /// assert_eq!(summed.recv()?, 14);
            /// drop((squaring, summing)); // they listen no more
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn on<L: Listenable>(
                &self,
                receiver: L,
                handler: impl FnMut(L::Message) + Send + 'static,
            ) -> Listener {
                begin(self.spawn(listening(receiver, handler)))
            }
        }
    )+};
}

has_listeners!(Pool, Worker, FrameHandle);

impl Frame {
    /// Listens to a channel: `handler` is called for each message, one by one, in the order of the channel, when the
    /// frame is pumped. It need not be `Send`.
    ///
    /// A message in the channel counts as mail, for [`on_mail`](Frame::on_mail), too. Nothing is taken out of the
    /// channel before the handler is ready for it. To find out that the channel is empty counts as a message handled.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use std::rc::Rc;
    /// use tamtam_actor::{Budget, Frame};
    /// use tamtam_channel::unbounded;
    ///
    /// let mut frame = Frame::new();
    /// let (sender, receiver) = unbounded();
    /// let shown = Rc::new(RefCell::new(String::new()));
    /// let text = Rc::clone(&shown);
    /// let listener = frame.on(receiver, move |letter| text.borrow_mut().push(letter));
    /// for letter in "hello".chars() {
    ///     sender.send(letter)?;
    /// }
    /// frame.pump(Budget::unlimited());
    /// assert_eq!(*shown.borrow(), "hello");
    /// drop(sender);
    /// frame.pump(Budget::unlimited());
    /// assert!(listener.has_ended());
    /// # Ok::<(), tamtam_channel::SendError<char>>(())
    /// ```
    pub fn on<L: Listenable>(
        &self,
        receiver: L,
        handler: impl FnMut(L::Message) + 'static,
    ) -> Listener {
        begin(self.spawn(listening(receiver, handler)))
    }
}
