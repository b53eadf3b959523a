//! The errors: one type for each operation, and a message that could not be sent comes back in it.

use core::fmt;
use std::error::Error;

/// The error of [`Sender::send`](crate::Sender::send): all receivers are gone, or the channel is closed.
/// Holds the message.
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(1);
/// drop(receiver);
/// let error = sender.send("late").unwrap_err();
/// assert_eq!(error.into_inner(), "late"); // it comes back
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// The error of [`Sender::try_send`](crate::Sender::try_send). Holds the message.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{TrySendError, bounded};
///
/// let (sender, receiver) = bounded(1);
/// sender.send(1)?;
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// drop(receiver);
/// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// The channel is full; or, if its capacity is zero, no receiver waits at this moment.
    Full(T),
    /// All receivers are gone, or the channel is closed.
    Disconnected(T),
}

/// The error of [`Sender::send_timeout`](crate::Sender::send_timeout). Holds the message.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{SendTimeoutError, bounded};
///
/// let (sender, _receiver) = bounded(1);
/// sender.send(1)?;
/// let patience = Duration::from_millis(1);
/// assert_eq!(sender.send_timeout(2, patience), Err(SendTimeoutError::Timeout(2)));
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// The channel stayed full until the time was over.
    Timeout(T),
    /// All receivers are gone, or the channel is closed.
    Disconnected(T),
}

/// The error of [`Sender::send_many`](crate::Sender::send_many): all receivers are gone, or the channel
/// is closed. Holds the messages that were taken out of the iterator and not sent.
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(10);
/// drop(receiver);
/// let error = sender.send_many([1, 2]).unwrap_err();
/// assert_eq!(error.sent, 0);
/// assert!(!error.unsent.is_empty()); // those come back that were taken out of the iterator
/// ```
#[derive(PartialEq, Eq, Clone)]
pub struct SendManyError<T> {
    /// How many messages were sent before.
    pub sent: usize,
    /// Those that were not, in their order.
    pub unsent: Vec<T>,
}

/// The error of [`Sender::try_reserve`](crate::Sender::try_reserve).
///
/// # Examples
///
/// ```
/// use tamtam_channel::{TryReserveError, bounded};
///
/// let (sender, _receiver) = bounded(1);
/// let permit = sender.try_reserve()?; // room for one message
/// assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
/// permit.send(1);
/// # Ok::<(), TryReserveError>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryReserveError {
    /// There is no room that is not reserved.
    Full,
    /// All receivers are gone, or the channel is closed.
    Disconnected,
    /// With capacity zero messages change hands directly: there is never any room to reserve.
    CapacityZero,
}

/// The error of [`Sender::reserve`](crate::Sender::reserve).
///
/// # Examples
///
/// ```
/// use tamtam_channel::{ReserveError, bounded};
///
/// let (sender, _receiver) = bounded::<u32>(0); // a rendezvous: there is no room to keep
/// assert_eq!(sender.reserve().unwrap_err(), ReserveError::CapacityZero);
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum ReserveError {
    /// All receivers are gone, or the channel is closed.
    Disconnected,
    /// With capacity zero messages change hands directly: there is never any room to reserve.
    CapacityZero,
}

/// The error of [`Sender::reserve_timeout`](crate::Sender::reserve_timeout).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{ReserveTimeoutError, bounded};
///
/// let (sender, _receiver) = bounded(1);
/// sender.send(1)?;
/// let error = sender.reserve_timeout(Duration::from_millis(1)).unwrap_err();
/// assert_eq!(error, ReserveTimeoutError::Timeout);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum ReserveTimeoutError {
    /// There was no room until the time was over.
    Timeout,
    /// All receivers are gone, or the channel is closed.
    Disconnected,
    /// With capacity zero messages change hands directly: there is never any room to reserve.
    CapacityZero,
}

/// The error of [`Receiver::recv`](crate::Receiver::recv): the channel is empty, and all senders are
/// gone or it is closed.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{RecvError, bounded};
///
/// let (sender, receiver) = bounded(1);
/// sender.send(1).unwrap();
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok(1)); // what was sent is received
/// assert_eq!(receiver.recv(), Err(RecvError)); // and then it is over
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct RecvError;

/// The error of [`Receiver::try_recv`](crate::Receiver::try_recv).
///
/// # Examples
///
/// ```
/// use tamtam_channel::{TryRecvError, bounded};
///
/// let (sender, receiver) = bounded::<u32>(1);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty)); // perhaps later
/// drop(sender);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected)); // never again
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// The channel is empty; or, if its capacity is zero, no sender waits at this moment.
    Empty,
    /// The channel is empty, and all senders are gone or it is closed.
    Disconnected,
}

/// The error of [`Receiver::recv_timeout`](crate::Receiver::recv_timeout).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{RecvTimeoutError, bounded};
///
/// let (sender, receiver) = bounded::<u32>(1);
/// let patience = Duration::from_millis(1);
/// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
/// drop(sender);
/// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Disconnected));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum RecvTimeoutError {
    /// The channel stayed empty until the time was over.
    Timeout,
    /// The channel is empty, and all senders are gone or it is closed.
    Disconnected,
}

/// The error of [`Select::try_select`](crate::Select::try_select): no operation is ready.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Select, TrySelectError, bounded};
///
/// let (_sender, receiver) = bounded::<u32>(1);
/// let mut select = Select::new();
/// select.recv(&receiver);
/// assert_eq!(select.try_select().map(|_| ()), Err(TrySelectError));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TrySelectError;

/// The error of [`Select::select_timeout`](crate::Select::select_timeout): no operation became
/// ready until the time was over.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{Select, SelectTimeoutError, bounded};
///
/// let (_sender, receiver) = bounded::<u32>(1);
/// let mut select = Select::new();
/// select.recv(&receiver);
/// let selected = select.select_timeout(Duration::from_millis(1)).map(|_| ());
/// assert_eq!(selected, Err(SelectTimeoutError));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct SelectTimeoutError;

/// The error of [`Select::try_ready`](crate::Select::try_ready): no operation is ready.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Select, TryReadyError, bounded};
///
/// let (sender, receiver) = bounded(1);
/// let mut select = Select::new();
/// let place = select.recv(&receiver);
/// assert_eq!(select.try_ready(), Err(TryReadyError));
/// sender.send(1)?;
/// assert_eq!(select.try_ready(), Ok(place));
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TryReadyError;

/// The error of [`Select::ready_timeout`](crate::Select::ready_timeout): no operation became ready
/// until the time was over.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{ReadyTimeoutError, Select, bounded};
///
/// let (_sender, receiver) = bounded::<u32>(1);
/// let mut select = Select::new();
/// select.recv(&receiver);
/// assert_eq!(select.ready_timeout(Duration::from_millis(1)), Err(ReadyTimeoutError));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct ReadyTimeoutError;

/// The error of [`Slot::try_put`](crate::Slot::try_put): the slot is full. Holds the value.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Slot, TryPutError};
///
/// let slot = Slot::new();
/// slot.put(1);
/// assert_eq!(slot.try_put(2), Err(TryPutError(2))); // it is full, and the value comes back
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct TryPutError<T>(pub T);

/// The error of [`Slot::put_timeout`](crate::Slot::put_timeout): the slot stayed full until the
/// time was over. Holds the value.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{PutTimeoutError, Slot};
///
/// let slot = Slot::new();
/// slot.put(1);
/// assert_eq!(slot.put_timeout(2, Duration::from_millis(1)), Err(PutTimeoutError(2)));
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct PutTimeoutError<T>(pub T);

/// The error of [`Slot::take_timeout`](crate::Slot::take_timeout): the slot stayed empty until the
/// time was over.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{Slot, TakeTimeoutError};
///
/// let slot = Slot::<u32>::new();
/// assert_eq!(slot.take_timeout(Duration::from_millis(1)), Err(TakeTimeoutError));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TakeTimeoutError;

/// The error of `wait_timeout` of an [`Event`](crate::Event) or a [`Latch`](crate::Latch), and of
/// [`Property::wait_changed_timeout`](crate::Property::wait_changed_timeout): it did not come until
/// the time was over.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{Event, WaitTimeoutError};
///
/// let event = Event::manual();
/// assert_eq!(event.wait_timeout(Duration::from_millis(1)), Err(WaitTimeoutError));
/// event.set();
/// assert_eq!(event.wait_timeout(Duration::from_millis(1)), Ok(()));
/// ```
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct WaitTimeoutError;

/// `Debug`, `Display`, `Error` and `into_inner` of an error that holds one message.
macro_rules! holds_message {
    ($name:ident, $text:literal) => {
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(concat!(stringify!($name), "(..)"))
            }
        }

        impl<T> fmt::Display for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($text)
            }
        }

        impl<T: Send> Error for $name<T> {}

        impl<T> $name<T> {
            /// The message that was not passed on.
            pub fn into_inner(self) -> T {
                self.0
            }
        }
    };
}

/// `Display` and `Error` of an error that holds nothing.
macro_rules! holds_nothing {
    ($name:ident, $text:literal) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad($text)
            }
        }

        impl Error for $name {}
    };
}

holds_message!(SendError, "sending on a disconnected channel");
holds_message!(TryPutError, "putting into a full slot");
holds_message!(PutTimeoutError, "timed out waiting to put into a full slot");
holds_nothing!(RecvError, "receiving on an empty and disconnected channel");
holds_nothing!(TrySelectError, "all operations in select would block");
holds_nothing!(SelectTimeoutError, "timed out waiting on select");
holds_nothing!(TryReadyError, "no operation is ready");
holds_nothing!(ReadyTimeoutError, "timed out waiting on select");
holds_nothing!(
    TakeTimeoutError,
    "timed out waiting to take from an empty slot"
);
holds_nothing!(WaitTimeoutError, "timed out waiting");

impl<T> fmt::Debug for SendManyError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendManyError")
            .field("sent", &self.sent)
            .field("unsent", &self.unsent.len())
            .finish()
    }
}

impl<T> fmt::Display for SendManyError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("sending on a disconnected channel")
    }
}

impl<T: Send> Error for SendManyError<T> {}

impl<T> SendManyError<T> {
    /// The messages that were not sent.
    pub fn into_inner(self) -> Vec<T> {
        self.unsent
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TrySendError::Full(..) => "Full(..)",
            TrySendError::Disconnected(..) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TrySendError::Full(..) => "sending on a full channel",
            TrySendError::Disconnected(..) => "sending on a disconnected channel",
        })
    }
}

impl<T: Send> Error for TrySendError<T> {}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        TrySendError::Disconnected(error.0)
    }
}

impl<T> TrySendError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        }
    }

    /// Whether the channel was full.
    pub fn is_full(&self) -> bool {
        matches!(self, TrySendError::Full(_))
    }

    /// Whether all receivers are gone, or the channel is closed.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, TrySendError::Disconnected(_))
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendTimeoutError(..)")
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            SendTimeoutError::Timeout(..) => "timed out waiting on send operation",
            SendTimeoutError::Disconnected(..) => "sending on a disconnected channel",
        })
    }
}

impl<T: Send> Error for SendTimeoutError<T> {}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        SendTimeoutError::Disconnected(error.0)
    }
}

impl<T> SendTimeoutError<T> {
    /// The message that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Disconnected(message) => message,
        }
    }

    /// Whether the time was over.
    pub fn is_timeout(&self) -> bool {
        matches!(self, SendTimeoutError::Timeout(_))
    }

    /// Whether all receivers are gone, or the channel is closed.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, SendTimeoutError::Disconnected(_))
    }
}

const RESERVING_WHEN_CLOSED: &str = "reserving room in a disconnected channel";
const RESERVING_WITHOUT_ROOM: &str = "reserving room in a channel of capacity zero, which has none";

impl fmt::Display for TryReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TryReserveError::Full => "reserving room in a full channel",
            TryReserveError::Disconnected => RESERVING_WHEN_CLOSED,
            TryReserveError::CapacityZero => RESERVING_WITHOUT_ROOM,
        })
    }
}

impl Error for TryReserveError {}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ReserveError::Disconnected => RESERVING_WHEN_CLOSED,
            ReserveError::CapacityZero => RESERVING_WITHOUT_ROOM,
        })
    }
}

impl Error for ReserveError {}

impl fmt::Display for ReserveTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ReserveTimeoutError::Timeout => "timed out waiting to reserve room in a channel",
            ReserveTimeoutError::Disconnected => RESERVING_WHEN_CLOSED,
            ReserveTimeoutError::CapacityZero => RESERVING_WITHOUT_ROOM,
        })
    }
}

impl Error for ReserveTimeoutError {}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TryRecvError::Empty => "receiving on an empty channel",
            TryRecvError::Disconnected => "receiving on an empty and disconnected channel",
        })
    }
}

impl Error for TryRecvError {}

impl From<ReserveError> for ReserveTimeoutError {
    fn from(error: ReserveError) -> Self {
        match error {
            ReserveError::Disconnected => ReserveTimeoutError::Disconnected,
            ReserveError::CapacityZero => ReserveTimeoutError::CapacityZero,
        }
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        TryRecvError::Disconnected
    }
}

impl TryRecvError {
    /// Whether the channel was empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, TryRecvError::Empty)
    }

    /// Whether the channel is empty, and all senders are gone or it is closed.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, TryRecvError::Disconnected)
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RecvTimeoutError::Timeout => "timed out waiting on receive operation",
            RecvTimeoutError::Disconnected => "channel is empty and disconnected",
        })
    }
}

impl Error for RecvTimeoutError {}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        RecvTimeoutError::Disconnected
    }
}

impl RecvTimeoutError {
    /// Whether the time was over.
    pub fn is_timeout(&self) -> bool {
        matches!(self, RecvTimeoutError::Timeout)
    }

    /// Whether the channel is empty, and all senders are gone or it is closed.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, RecvTimeoutError::Disconnected)
    }
}

/// The error of [`Property::compare_and_set`](crate::Property::compare_and_set): the property has
/// another version. Holds the value.
///
/// # Examples
///
/// ```
/// use tamtam_channel::Property;
///
/// let best = Property::new(10);
/// let (version, _) = best.versioned();
/// best.set(30); // By another thread, meanwhile.
/// let error = best.compare_and_set(version, 20).unwrap_err();
/// // The value is not lost, and the version that was found is one to try again with.
/// assert_eq!(error.value, 20);
/// assert_eq!(error.version, best.version());
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct CompareAndSetError<T> {
    /// The version that was found.
    pub version: u64,
    /// The value that was not set.
    pub value: T,
}

impl<T> fmt::Debug for CompareAndSetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompareAndSetError")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for CompareAndSetError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the property was set by somebody else and has version {} now",
            self.version
        )
    }
}

impl<T: Send> Error for CompareAndSetError<T> {}

impl<T> CompareAndSetError<T> {
    /// The value that was not set.
    pub fn into_inner(self) -> T {
        self.value
    }
}

/// A property in [`Properties`](crate::Properties) is of another type than the one asked for.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{GetPropertyError, Properties};
///
/// let properties = Properties::new();
/// properties.set("volume", 0.8_f32)?;
/// let Err(GetPropertyError::WrongType(wrong)) = properties.get::<u32>("volume") else {
///     panic!("it is no u32");
/// };
/// assert_eq!((wrong.name.as_str(), wrong.found, wrong.wanted), ("volume", "f32", "u32"));
/// # Ok::<(), tamtam_channel::WrongType>(())
/// ```
#[derive(PartialEq, Eq, Clone, Debug)]
#[non_exhaustive]
pub struct WrongType {
    /// The property's name.
    pub name: String,
    /// The type that it has, as [`type_name`](core::any::type_name) calls it.
    pub found: &'static str,
    /// The type that was asked for.
    pub wanted: &'static str,
}

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongType {
            name,
            found,
            wanted,
        } = self;
        write!(
            f,
            "the property {name:?} is of type {found}, not {wanted}: ask for {found}, or remove it before \
             you set a {wanted}"
        )
    }
}

impl Error for WrongType {}

/// The error of [`Properties::get`](crate::Properties::get).
///
/// # Examples
///
/// ```
/// use tamtam_channel::{GetPropertyError, Properties};
///
/// let properties = Properties::new();
/// match properties.get::<f32>("volume") {
///     Err(GetPropertyError::Missing { name }) => assert_eq!(name, "volume"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(PartialEq, Eq, Clone, Debug)]
pub enum GetPropertyError {
    /// There is no property of this name.
    Missing {
        /// The name that was asked for.
        name: String,
    },
    /// It is of another type.
    WrongType(WrongType),
}

impl fmt::Display for GetPropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GetPropertyError::Missing { name } => {
                write!(
                    f,
                    "there is no property {name:?}: set it first, or wait for it"
                )
            }
            GetPropertyError::WrongType(error) => error.fmt(f),
        }
    }
}

impl Error for GetPropertyError {}

impl From<WrongType> for GetPropertyError {
    fn from(error: WrongType) -> Self {
        GetPropertyError::WrongType(error)
    }
}

/// The error of [`Properties::wait_for_timeout`](crate::Properties::wait_for_timeout).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{Properties, WaitForPropertyError};
///
/// let properties = Properties::new();
/// // No thread makes it.
/// let found = properties.wait_for_timeout::<f32>("volume", Duration::from_millis(5));
/// assert!(matches!(found, Err(WaitForPropertyError::Timeout { name }) if name == "volume"));
/// ```
#[derive(PartialEq, Eq, Clone, Debug)]
pub enum WaitForPropertyError {
    /// There was no property of this name until the time was over.
    Timeout {
        /// The name that was asked for.
        name: String,
    },
    /// It is of another type.
    WrongType(WrongType),
}

impl fmt::Display for WaitForPropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaitForPropertyError::Timeout { name } => {
                write!(f, "timed out waiting for the property {name:?}")
            }
            WaitForPropertyError::WrongType(error) => error.fmt(f),
        }
    }
}

impl Error for WaitForPropertyError {}

impl From<WrongType> for WaitForPropertyError {
    fn from(error: WrongType) -> Self {
        WaitForPropertyError::WrongType(error)
    }
}
