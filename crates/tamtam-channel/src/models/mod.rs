//! loom models: every interleaving of small programs over the channels.
//!
//! loom finds the data race where a cell is read before it is written, the message that is lost,
//! doubled or out of order, and the thread that is never woken.

mod event;
mod list;
mod permit;
mod programs;
mod rendezvous;
mod ring;
mod select;
mod slot;

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use tamtam_wait::seam::Task;

use crate::{Receiver, Sender};

type Ends<T> = (Sender<T>, Receiver<T>);

/// Bounds the search where a program has many steps: two switches away from a thread that could go
/// on are enough for every bug that these protocols had while they were written.
pub(crate) fn model(program: impl Fn() + Sync + Send + 'static) {
    bounded_model(2, program);
}

/// For programs of three threads that all may sleep: one such switch, so that they end in seconds.
pub(crate) fn wide_model(program: impl Fn() + Sync + Send + 'static) {
    bounded_model(1, program);
}

fn bounded_model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(program);
}

pub(crate) fn poll<F: Future + Unpin>(future: &mut F, task: &Task) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(task.waker()))
}

fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let task = Task::new();
    task.run(|_| poll(&mut future, &task))
}
