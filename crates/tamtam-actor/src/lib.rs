#![doc = include_str!("../README.md")]
// Where no thread can wait there are no pools to end, and no sender to make room for.
#![cfg_attr(
    not(any(not(target_family = "wasm"), target_feature = "atomics")),
    allow(dead_code, unused_imports)
)]
// What only the models of this crate use is not used where another one has its own.
#![cfg_attr(all(tamtam_loom, not(test)), allow(dead_code))]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 14 | replaceable | actors of which another instance takes the place of one that hangs |
// | 13 | comm, life, listener, stepper | built on the face: other programs' callers, watches and supervisors, listeners, tests that step |
// | 12 | frame, models, worker | homes of one thread; that of models of protocols |
// | 11 | pool, spawner (one circle) | the pool, which a spawner is for unless another home is named; what is said of an actor before it is born |
// | 10 | later, line, link, topic | timers of an actor; the executor of one thread; replies and addresses on their way to another process; one message to many |
// | 9 | actor, context, first_turn, pipe, restart, runner (one circle) | the actor and its turn |
// | 8 | address | where an actor is reached |
// | 7 | reply | the answer to a question |
// | 6 | ask_future, cell, pending_answer | the mailbox with its state, whatever the actor is; a future's question, and one of a thread that goes on |
// | 5 | error | what can go wrong on the way |
// | 4 | task | what is due, where it gets its turn, and what a thread does that waits |
// | 3 | mailbox, time | queues and their policies; clock, wheel and timers |
// | 2 | observe | records, snapshots, what is told |
// | 1 | ended, waits | how actors end; who waits for whom, also through other processes |
// | 0 | id, memory, wire | the number and the name of an actor; slabs, and lists that forget; values as bytes |

mod actor;
mod address;
mod ask_future;
mod cell;
mod comm;
mod context;
mod ended;
mod error;
mod first_turn;
mod frame;
mod id;
mod later;
mod life;
mod line;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod link;
mod listener;
mod mailbox;
mod memory;
#[cfg(tamtam_loom)]
#[doc(hidden)]
pub mod models;
pub mod observe;
mod pending_answer;
mod pipe;
mod pool;
mod replaceable;
mod reply;
mod restart;
mod runner;
mod spawner;
mod stepper;
mod task;
mod time;
mod topic;
mod waits;
#[cfg(feature = "serde")]
mod wire;
mod worker;

pub use actor::Actor;
pub use address::{Address, TellFuture, WeakAddress};
pub use ask_future::AskFuture;
pub use comm::Comm;
pub use context::{Context, Here};
pub use ended::{EndReason, Ended, Panicked, ProcessEnd};
pub use error::{AskError, Fate, LinkFailure, NoThread, Refusal, Refused, TellError};
pub use frame::{Budget, Frame, FrameHandle, Pumped};
pub use id::ActorId;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use life::ReportFailure;
pub use life::{
    End, FindError, RegisterError, Registry, Restarting, Strategy, Supervision, Supervisor, Watch,
};
pub use line::Quit;
#[doc(hidden)]
pub use listener::heard;
pub use listener::{Listenable, Listener};
pub use mailbox::{
    Bounded, DeadLetter, DeadLetterWatch, Describes, Level, Loss, Overflow, Plain, Ruled, Untyped,
    on_dead_letter,
};
pub use pending_answer::PendingAnswer;
pub use pool::{Pool, PoolBuilder, Shutdown, WaitIdle, WaitIdleError};
pub use replaceable::Replaceable;
pub use reply::Reply;
pub use restart::Restart;
pub use spawner::{Hosts, Spawner};
pub use stepper::{Explored, Stepper};
pub use time::{Every, Time, Timer};
pub use topic::{
    Batch, Ending, Feed, PublishError, PublishFuture, Subscription, SubscriptionId, Topic, Until,
    WhenFull,
};
pub use waits::Cycle;
pub use worker::{Worker, WorkerBuilder};
