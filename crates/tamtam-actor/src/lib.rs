#![doc = include_str!("../README.md")]
// Where nobody can wait there are no pools to end, and nobody to make room for.
#![cfg_attr(
    all(target_family = "wasm", not(target_feature = "atomics")),
    allow(dead_code, unused_imports)
)]

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
mod listener;
mod mailbox;
mod memory;
#[cfg(all(test, tamtam_loom))]
mod models;
pub mod observe;
mod pipe;
mod pool;
mod reply;
mod restart;
mod running;
mod spawner;
mod stepper;
mod task;
mod time;
mod topic;
mod waits;
mod worker;

pub use actor::Actor;
pub use address::{Address, TellFuture, WeakAddress};
pub use ask_future::AskFuture;
pub use comm::Comm;
pub use context::{Context, Here};
pub use ended::{EndReason, Ended, Panicked};
pub use error::{AskError, NoThread, Refusal, TellError};
pub use frame::{Budget, Frame, FrameHandle, Pumped};
pub use id::ActorId;
pub use life::{
    End, FindError, RegisterError, Registry, Restarting, Strategy, Supervision, Supervisor, Watch,
};
pub use line::Quit;
pub use listener::{Listenable, Listener};
pub use mailbox::{
    DeadLetter, DeadLetterWatch, Describes, Level, Loss, Overflow, Plain, Ruled, on_dead_letter,
};
pub use pool::{Pool, PoolBuilder, Shutdown, WaitIdle, WaitIdleError};
pub use reply::Reply;
pub use restart::Restart;
pub use spawner::{Hosts, Spawner};
pub use stepper::{Explored, Stepper};
pub use time::{Every, Time, Timer};
pub use topic::{
    AnswerError, Answers, Batch, Ending, Feed, PublishError, PublishFuture, Request, RequestTopic,
    Session, Subscription, SubscriptionId, Topic, Until, WhenFull,
};
pub use waits::Cycle;
pub use worker::{Worker, WorkerBuilder};
