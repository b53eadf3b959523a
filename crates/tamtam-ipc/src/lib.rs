#![doc = include_str!("../README.md")]
// Memory between processes is for Linux so far.
#![cfg(any(target_os = "linux", tamtam_loom))]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 5 | carrier, channel | two streams of bytes between two processes; channels of messages |
// | 4 | segment | memory that processes share |
// | 3 | header | what a segment begins with |
// | 2 | party | the processes that share it, and whether they live |
// | 1 | life, ring, stream | a word that the kernel marks; the slots of a channel; the counts of a stream |
// | 0 | bell, copy, error | where a thread sleeps; copies; errors |

mod bell;
#[cfg(not(tamtam_loom))]
mod carrier;
#[cfg(not(tamtam_loom))]
mod channel;
#[cfg(not(tamtam_loom))]
mod copy;
#[cfg(not(tamtam_loom))]
mod error;
#[cfg(not(tamtam_loom))]
mod header;
#[cfg(not(tamtam_loom))]
mod life;
#[cfg(not(tamtam_loom))]
mod party;
mod ring;
#[cfg(not(tamtam_loom))]
mod segment;
mod stream;

#[cfg(not(tamtam_loom))]
pub use carrier::{CarrierError, CarrierReader, CarrierWaker, CarrierWriter, attach, carrier};
#[cfg(not(tamtam_loom))]
pub use channel::bytes::{BytesReceiver, BytesSender, bytes_channel};
#[cfg(all(feature = "serde", not(tamtam_loom)))]
pub use channel::encoded::{EncodedReceiver, EncodedSender, encoded_channel};
#[cfg(not(tamtam_loom))]
pub use channel::error::LoanError;
#[cfg(all(feature = "serde", not(tamtam_loom)))]
pub use channel::error::{EncodedRecvError, EncodedSendError};
#[cfg(not(tamtam_loom))]
pub use channel::loan::{Bytes, Loan};
#[cfg(not(tamtam_loom))]
pub use channel::plain::{Plain, channel};
#[cfg(not(tamtam_loom))]
pub use channel::receiver::Receiver;
#[cfg(not(tamtam_loom))]
pub use channel::sender::Sender;
#[cfg(not(tamtam_loom))]
pub use error::{AttachError, CreateError};
