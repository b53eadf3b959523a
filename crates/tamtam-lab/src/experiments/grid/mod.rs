//! `grid`: every load that users meet, a row each, and in each row our ways beside the best of others.
//!
//! A row about channels is named `ENDS-[STYLE-]PAYLOAD-CAPACITY`: `1to1-8B-cap16`, `4to1-1KiB-unbounded`,
//! `16to16-String-cap1000`. ENDS are senders and receivers, each in a thread or a task of its own, all running at once.
//! STYLE is `batches` (up to 256 messages at a time at each end that can), `async1` and `async2` (tasks on a runtime of
//! tokio with one thread and with two), or left out: threads that block, one message at a time. A payload of bytes goes by
//! value; `String` (32 letters) and `Box` (64 bytes) are allocated where they are sent and freed where they are received.
//!
//! A run makes rounds in one channel: the first of 10,000 messages, then as many as take a twelfth of the time limit, at
//! most COUNT. `ns_per_op` is the median of these, `mean_ns_per_op` their mean, `first_ns_per_op` the first round: what
//! the fresh process pays before caches are warm and waits have learned. The time of a round is that from the first end
//! that begins to the last that is done. CPU time is that of the whole process.
//!
//! Other rows are named by what they are about: `select-8-kept` (`select`), `ring-1000`, `random-1000`, `birth`, `ask-task`,
//! `tells`, `flood` (`actors`), `topic-once` (`topics`), `timers-set` (`timers`).
//!
//! Each receiver checks each message and that every sender's come in their order; together they must have seen every number
//! once, by its count and by a sum.

mod actors;
mod channels;
mod check;
mod crew;
mod rounds;
mod rows;
mod select;
#[cfg(feature = "tokio")]
mod tasks;
mod threads;
mod timers;
mod topics;

pub use actors::{actors, asks, quiet_beside_flood};
pub use channels::{
    OneToOne, batched_fan_in, batches, batches_by_value, channel, fan_in, many_to_many, one_to_one,
};
#[cfg(feature = "tokio")]
pub use channels::{channel_of_tasks, tasks, tasks_fan_in, tasks_many};
pub use select::{LookAtAll, ReceiveAny, SelectFrom, Selecting, empty_selects, selects};
pub use timers::{Clockwork, Timers, timers};
pub use topics::{MOST_AT_ONCE, Publish, Publisher, SUBSCRIBERS, Subscriber, topics};

/// The experiment's name.
const EXPERIMENT: &str = "grid";
