#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// Channels, slots, properties, events and latches between threads: the whole of the crate `tamtam-channel`,
/// its error types included.
///
/// The names that most programs use are at the root of this crate, too. A reader who comes from
/// `crossbeam-channel` can write `use tamtam::channel as crossbeam_channel;` and change nothing else.
#[cfg(feature = "channel")]
pub use tamtam_channel as channel;

/// Actors: state that handles messages one by one, on a pool of threads: the whole of the crate `tamtam-actor`,
/// its error types included.
#[cfg(feature = "actor")]
pub use tamtam_actor as actor;

/// Actors of other processes behind the same addresses, over sockets and pipes: the whole of the crate `tamtam-link`.
#[cfg(feature = "link")]
pub use tamtam_link as link;

/// Actors in processes of their own, begun again when they die: the whole of the crate `tamtam-process`.
#[cfg(feature = "process")]
pub use tamtam_process as process;

/// Memory that processes share, for Linux: channels, slots, properties, events and locks in it: the whole of the crate
/// `tamtam-ipc`, its error types included. Elsewhere there is nothing in it.
#[cfg(feature = "ipc")]
pub use tamtam_ipc as ipc;

/// Tables on their way: the row set and its packed encoding: the whole of the crate `tamtam-rows` as it is without
/// features. Programs that want its other forms depend on that crate beside this one.
#[cfg(feature = "rows")]
pub use tamtam_rows as rows;

/// One service for foreign clients: JSON-RPC, XML-RPC, REST and AMF over HTTP: the whole of the crate `tamtam-gateway`,
/// as it is without features. Programs that serve HTTPS depend on that crate beside this one.
#[cfg(feature = "gateway")]
pub use tamtam_gateway as gateway;

#[cfg(feature = "actor")]
#[doc(inline)]
pub use tamtam_actor::{
    Actor, Address, Context, Frame, Here, Pool, Reply, Stepper, Topic, WeakAddress, Worker,
};

#[cfg(feature = "channel")]
#[doc(inline)]
pub use tamtam_channel::{
    Event, Latch, Properties, Property, Receiver, Select, SelectedOperation, Sender, Slot, Wait,
    after, at, bounded, broadcast, mpsc, never, select, select_biased, spsc, tick, unbounded,
};
