#![doc = include_str!("../README.md")]
// Memory between processes is for Linux so far.
#![cfg(any(target_os = "linux", tamtam_loom))]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 10 | heard, sent | ends that actors' homes listen to; what segments hold, in messages to actors |
// | 9 | condition, named | threads that wait for a change under a mutex; what lies in an arena, by a name among properties |
// | 8 | changed, mutex, slot_ready | what of these is waited for together with other things; one value, for one thread at a time |
// | 7 | carrier, channel, bytes, slot, event, property, properties, sealed_channel | what a segment holds; sealed bytes on their way |
// | 6 | home | in memory of its own, or in an arena |
// | 5 | access, arena, future, polled, sealed, wake | copies and claims in a segment; waiting as a task; memory for many things; bytes that no process can change; the threads that sleep for tasks and selects |
// | 4 | segment | memory that processes share |
// | 3 | header | what a segment begins with |
// | 2 | party, lock, exchange, published, flag | the processes that share it, and whether they live; protocols |
// | 1 | life, regions, ring, stream, claim, value, watch | a word that the kernel marks; the pieces of an arena; the slots of a channel; the counts of a stream; who is at work; what a name stands for; who waits at a bell |
// | 0 | bell, copy, error, handover, occupant, plain, service, tenancy | where a thread sleeps; copies; errors; descriptors on their way; who receives; types that are bytes; names under which programs meet; who has a channel |

mod bell;
mod claim;
mod exchange;
mod flag;
mod lock;
#[cfg_attr(tamtam_loom, allow(dead_code))]
mod occupant;
mod published;
#[cfg_attr(tamtam_loom, allow(dead_code))]
mod regions;
mod stream;
mod tenancy;
mod watch;

#[cfg(not(tamtam_loom))]
mod access;
#[cfg(not(tamtam_loom))]
mod arena;
#[cfg(not(tamtam_loom))]
mod bytes;
#[cfg(not(tamtam_loom))]
mod carrier;
#[cfg(not(tamtam_loom))]
mod changed;
#[cfg(not(tamtam_loom))]
mod channel;
#[cfg(not(tamtam_loom))]
mod condition;
#[cfg(not(tamtam_loom))]
mod copy;
#[cfg(not(tamtam_loom))]
mod error;
#[cfg(not(tamtam_loom))]
mod event;
#[cfg(not(tamtam_loom))]
mod future;
#[cfg(not(tamtam_loom))]
mod handover;
#[cfg(not(tamtam_loom))]
mod header;
#[cfg(all(feature = "link", not(tamtam_loom)))]
mod heard;
#[cfg(not(tamtam_loom))]
mod home;
#[cfg(not(tamtam_loom))]
mod life;
#[cfg(not(tamtam_loom))]
mod mutex;
#[cfg(not(tamtam_loom))]
mod named;
#[cfg(not(tamtam_loom))]
mod party;
#[cfg(not(tamtam_loom))]
mod plain;
#[cfg(not(tamtam_loom))]
mod polled;
#[cfg(not(tamtam_loom))]
mod properties;
#[cfg(not(tamtam_loom))]
mod property;
mod ring;
#[cfg(not(tamtam_loom))]
mod sealed;
#[cfg(not(tamtam_loom))]
mod sealed_channel;
#[cfg(not(tamtam_loom))]
mod segment;
#[cfg(all(feature = "link", not(tamtam_loom)))]
mod sent;
#[cfg(not(tamtam_loom))]
mod service;
#[cfg(not(tamtam_loom))]
mod slot;
#[cfg(not(tamtam_loom))]
mod slot_ready;
#[cfg(not(tamtam_loom))]
mod value;
#[cfg(not(tamtam_loom))]
mod wake;

#[cfg(not(tamtam_loom))]
pub use arena::{Arena, ArenaPlace};
#[cfg(not(tamtam_loom))]
pub use bytes::{RangeError, SharedBytes};
#[cfg(not(tamtam_loom))]
pub use carrier::{
    CarrierError, CarrierReader, CarrierSeats, CarrierWaker, CarrierWriter, SEATS, attach, carrier,
};
#[cfg(not(tamtam_loom))]
pub use changed::Changed;
#[cfg(not(tamtam_loom))]
pub use channel::bytes::{BytesReceiver, BytesSender, bytes_channel};
#[cfg(all(feature = "serde", not(tamtam_loom)))]
pub use channel::encoded::{EncodedReceiver, EncodedSender, encoded_channel};
#[cfg(all(feature = "serde", not(tamtam_loom)))]
pub use channel::error::{EncodedRecvError, EncodedSendError};
#[cfg(not(tamtam_loom))]
pub use channel::error::{LoanError, SendBatchError};
#[cfg(not(tamtam_loom))]
pub use channel::loan::{Bytes, Loan};
#[cfg(not(tamtam_loom))]
pub use channel::plain::channel;
#[cfg(not(tamtam_loom))]
pub use channel::receiver::Receiver;
#[cfg(not(tamtam_loom))]
pub use channel::selectable::Selectable;
#[cfg(not(tamtam_loom))]
pub use channel::sender::Sender;
#[cfg(not(tamtam_loom))]
pub use condition::Condition;
#[cfg(not(tamtam_loom))]
pub use error::{AttachError, CreateError};
#[cfg(not(tamtam_loom))]
pub use event::Event;
#[cfg(not(tamtam_loom))]
pub use handover::{ReceiveMemoryError, receive_memory, send_memory};
#[cfg(not(tamtam_loom))]
pub use mutex::{Holder, LockError, LockTimeoutError, Mutex, MutexGuard, TryLockError};
#[cfg(not(tamtam_loom))]
pub use named::{GetSharedError, HandOver, SetReceiverError, SetSharedError, Shareable};
#[cfg(not(tamtam_loom))]
pub use plain::Plain;
#[cfg(not(tamtam_loom))]
pub use properties::{Properties, SetPropertyError};
#[cfg(not(tamtam_loom))]
pub use property::{CompareAndSetTimeoutError, NotWholeError, Property, SetTimeoutError};
#[cfg(not(tamtam_loom))]
pub use sealed::SealedBytes;
#[cfg(not(tamtam_loom))]
pub use sealed_channel::{SealedReceiver, SealedRecvError, SealedSender, sealed_channel};
#[cfg(not(tamtam_loom))]
pub use service::{
    AcceptError, ConnectError, ListenError, Listener, Peer, Service, ServiceNameError,
};
#[cfg(not(tamtam_loom))]
pub use slot::Slot;
#[cfg(not(tamtam_loom))]
pub use slot_ready::SlotReady;
#[cfg(not(tamtam_loom))]
pub use tamtam_wait::Wait;
#[cfg(not(tamtam_loom))]
pub use value::{Reference, Value};
